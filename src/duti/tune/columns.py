"""Columns of Z made orthogonal, so that ridge systems with any ridge are nearly diagonal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from duti.arrays import Array, Matrix
from duti.features.nystroem import LinearKernel, exact_map

NEGLIGIBLE = 2e-3
"""A feature that keeps less than this fraction of itself under a ridge is left out of the fit."""


def orthogonal(Z: Matrix) -> Array:
    """Z rotated until its columns are orthogonal, the shortest first: the same inner products."""
    if Z.shape[1] > Z.shape[0]:
        Z = exact_map(LinearKernel(), Z)(Z)
    dense = Z if isinstance(Z, np.ndarray) else Z.toarray()
    gram = dense.T @ dense
    e = np.diag(gram)
    if abs(gram - np.diag(e)).max(initial=0.0) > 1e-8 * e.max(initial=0.0):
        e, V = eigh(gram)
        dense = dense @ V
    return dense[:, np.argsort(e, kind="stable")]


class Columns:
    """Orthogonal columns Z; an intercept is a last column of ones, which need not be orthogonal."""

    def __init__(self, Z: Array, *, intercept: bool) -> None:
        self.intercept = intercept
        self.Z = np.hstack([Z, np.ones((len(Z), 1))]) if intercept else Z
        self.lengths = (self.Z**2).sum(axis=0)
        self.border = self.Z[:, -1] @ self.Z

    def number_kept(self, ridge: float) -> int:
        """The number of columns, from the last, that a softmax learner does not shrink to nothing.

        The curvature of a logistic loss is at most ¼, so a fit keeps at most a fraction e/4 / (nλ)
        of a feature with a small squared length e.
        """
        e = self.lengths[: len(self.lengths) - self.intercept]
        number = int((e > 4 * NEGLIGIBLE * len(self.Z) * ridge).sum())
        return min(max(number, 1), len(e)) + self.intercept

    def penalty(self, ridge: float, D: int) -> Array:
        """The diagonal of Λ for the last D columns: nothing for the intercept."""
        diagonal = np.full(D, ridge)
        diagonal[D - self.intercept :] = 0.0
        return diagonal

    def inverse(self, scale: Array | float, penalty: Array) -> BorderedInverse:
        """(scale ZᵀZ + Λ)⁻¹ over the last columns, as many as have a penalty."""
        D = len(penalty)
        diagonal, border = scale * self.lengths[-D:] + penalty, scale * self.border[-D:]
        inner, border = diagonal[..., :-1], border[..., :-1]
        shrunk = border / inner
        corner = diagonal[..., -1:] - (border * shrunk).sum(axis=-1, keepdims=True)
        return BorderedInverse(inner, shrunk, corner)


@dataclass(frozen=True, eq=False)
class BorderedInverse:
    """The inverse of a diagonal matrix with a border, its last row and column, by elimination."""

    inner: Array
    shrunk: Array
    """The border, divided by the diagonal."""
    corner: Array

    def __call__(self, R: Array) -> Array:
        """The inverse times each row of R."""
        solution = np.empty_like(R)
        last = (R[..., -1:] - (R[..., :-1] * self.shrunk).sum(axis=-1, keepdims=True)) / self.corner
        np.subtract(R[..., :-1] / self.inner, self.shrunk * last, out=solution[..., :-1])
        solution[..., -1:] = last
        return solution
