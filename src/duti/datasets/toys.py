"""The paper's toy problems, with the settings of its authors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duti.arrays import Array, Labels, Mask


@dataclass(frozen=True, eq=False)
class LabelledBugs:
    """A training set, trusted items, and what is wrong with the training set."""

    X: Array
    y: Labels
    X_trusted: Array
    y_trusted: Labels
    truth: Labels
    """The clean labels."""
    is_bug: Mask
    columns: tuple[str, ...]
    given_trusted: Labels | None = None
    """What whoever labelled the rows would have called the trusted items; None where nobody knows."""


def harry_potter(rng: np.random.Generator) -> LabelledBugs:
    """Hogwarts students hired (+1) or not (−1) by a Ministry that discriminates against low heritage.

    A fair decision would be education > ½. The trusted items are one student on each side of it.
    The authors' learner is `KernelLogistic(bandwidth=0.5, ridge=2e-3)`.

    >>> data = harry_potter(np.random.default_rng(0))
    >>> data.X.shape, int(data.is_bug.sum())
    ((100, 2), 13)
    """
    grid = np.arange(10) / 10 + 0.05
    X = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2) + rng.normal(0, 0.03, (100, 2))
    X_trusted = np.array([[0.3, 0.4], [0.2, 0.6]])
    truth, y = fair(X), ministry(X)
    columns = "heritage", "education"
    return LabelledBugs(
        X, y, X_trusted, fair(X_trusted), truth, y != truth, columns, given_trusted=ministry(X_trusted)
    )


def fair(X: Array) -> Labels:
    """Whom a fair Ministry would hire: education > ½.

    >>> fair(np.array([[0.3, 0.4], [0.2, 0.6]]))
    array([-1,  1])
    """
    return np.where(X[:, 1] > 0.5, 1, -1)


def ministry(X: Array) -> Labels:
    """Whom the Ministry hires: low heritage has to be made up for.

    >>> ministry(np.array([[0.3, 0.4], [0.2, 0.6], [0.8, 0.6]]))
    array([-1, -1,  1])
    """
    heritage, education = X.T
    biased = (education < 4 * (heritage - 0.5) ** 2 + 0.5) & (heritage < 0.5)
    return np.where(biased, -1, fair(X))


def sine(rng: np.random.Generator, n: int = 100) -> LabelledBugs:
    """A noisy sine whose second peak is flipped; the three trusted items sit at one side of the peak.

    The authors' learner is `KernelRidge(bandwidth=0.7, ridge=3.8e-6)`.

    >>> data = sine(np.random.default_rng(0))
    >>> data.X.shape, int(data.is_bug.sum())
    ((100, 1), 25)
    """
    x = 2 * np.arange(1, n + 1) / n
    clean = np.sin(2 * np.pi * x) + rng.normal(0, 0.1, n)
    position = np.arange(1, n + 1)
    y = np.where((position > n / 2) & (position <= 0.9 * n), -abs(clean), clean)
    x_trusted = np.array([0.9, 1.0, 1.1]) + 0.05 * rng.uniform(size=3)
    y_trusted = np.sin(2 * np.pi * x_trusted)
    return LabelledBugs(
        x[:, None], y, x_trusted[:, None], y_trusted, np.sin(2 * np.pi * x), y != clean, ("x",)
    )
