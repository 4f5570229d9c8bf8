"""Random Fourier features of the RBF kernel: for many columns and rows, at the price of some noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duti.arrays import Array, Matrix
from duti.features import dense


@dataclass(frozen=True)
class Fourier:
    """z(x) = √(2/D) (cos Wx, sin Wx) with D/2 frequencies W, so that z(x)·z(x') ≈ k(x, x').

    The rows of W have the distribution N(0, I/bandwidth²) each, and are orthogonal in groups of d:
    they then cover the directions evenly, and the error is smaller than that of independent ones.

    >>> X = np.array([[0.0, 0.0], [0.3, 0.4]])
    >>> Z = Fourier(bandwidth=0.5, components=2000).fit(X, np.random.default_rng(0))(X)
    >>> (Z @ Z.T).round(1), np.exp(-0.5).round(1)
    (array([[1. , 0.6],
           [0.6, 1. ]]), np.float64(0.6))
    """

    bandwidth: float
    components: int

    def fit(self, X: Matrix, rng: np.random.Generator) -> FourierMap:
        """Draw the frequencies; of X only the number of columns matters."""
        d, frequencies = dense(X).shape[1], self.width(*X.shape) // 2
        groups = [_orthogonal_directions(d, frequencies, rng) for _ in range(-(-frequencies // d))]
        lengths = np.sqrt(rng.chisquare(d, size=frequencies)) / self.bandwidth
        return FourierMap(lengths[:, None] * np.vstack(groups)[:frequencies])

    def width(self, n: int, d: int) -> int:  # noqa: ARG002
        """The components, which come in pairs."""
        return self.components + self.components % 2


def _orthogonal_directions(d: int, wanted: int, rng: np.random.Generator) -> Array:
    Q, R = np.linalg.qr(rng.normal(size=(d, min(d, wanted))))
    return np.asarray((Q * np.sign(np.diag(R))).T)  # the signs make them uniformly distributed


@dataclass(frozen=True, eq=False)
class FourierMap:
    """The fitted map: one row of W for each frequency."""

    W: Array

    def __call__(self, X: Matrix) -> Array:
        """The features of the rows of X."""
        angles = X @ self.W.T
        return np.asarray(np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(len(self.W)))
