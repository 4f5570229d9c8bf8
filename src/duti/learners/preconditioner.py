"""Approximate inverses of the Hessian (1/n) Zᵀ ℓ'' Z + Λ of a learner, for conjugate gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from duti.arrays import Array
from duti.features.rows import Rows
from duti.learners.losses import zero_sum_basis

DENSE_FEATURES = 3000
"""Up to this many features a D×D Cholesky factor, above it a diagonal."""
COUPLED_FEATURES = 1500
"""Up to this many unknowns D(k − 1) of three or more classes the Hessian is factored whole."""
ORTHOGONAL_FEATURES = 200
"""As many for orthogonal features, for which a diagonal is nearly as good."""
SAMPLED_ROWS = 40
"""Rows of a sample for each feature: enough for eigenvalues within a third of the exact ones."""


@dataclass(frozen=True, eq=False)
class BlockPreconditioner:
    """One factor for all columns of θ, or one for each class."""

    factors: tuple[Any, ...]
    """Cholesky factors, or diagonals."""

    def solve(self, B: Array, column: int) -> Array:
        """The approximate inverse of the block of one column of θ, times B."""
        factor = self.factors[column % len(self.factors)]
        if isinstance(factor, np.ndarray):
            return np.asarray((B.T / factor).T)
        return np.asarray(cho_solve(factor, B, check_finite=False))

    def __call__(self, R: Array) -> Array:
        """Columns that sum to zero stay so: the gauge of a softmax."""
        if len(self.factors) == 1:
            return self.solve(R, 0)
        X = np.column_stack([self.solve(R[:, j], j) for j in range(R.shape[1])])
        return np.asarray(X - X.mean(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class CoupledPreconditioner:
    """The whole Hessian, in coordinates in which the columns of θ need not sum to zero."""

    factor: Any
    basis: Array
    """C: θ = θ' Cᵀ."""

    def __call__(self, R: Array) -> Array:
        """H⁻¹ R."""
        X = cho_solve(self.factor, (R @ self.basis).ravel(), check_finite=False)
        return np.asarray(X.reshape(len(R), -1) @ self.basis.T)


def coupled_preconditioner(rows: Rows, blocks: Array, penalty: Array) -> CoupledPreconditioner:
    """H itself, for few features and classes: exact also where classes compete."""
    D, b = rows.D, blocks.shape[1]
    H = np.empty((D, b, D, b))
    for i in range(b):
        for j in range(i + 1):
            H[:, i, :, j] = rows.cross_gram(blocks[:, i, j] / rows.n)
            H[:, j, :, i] = H[:, i, :, j].T
    factor = _factor(H.reshape(D * b, D * b), np.repeat(penalty, b))
    return CoupledPreconditioner(factor, zero_sum_basis(b + 1))


def block_preconditioner(rows: Rows, weights: Array, penalty: Array) -> BlockPreconditioner:
    """For curvatures `weights` of the rows: (n, 1), or (n, k) with one column for each class."""
    if (ORTHOGONAL_FEATURES if rows.orthogonal else DENSE_FEATURES) < rows.D:
        return BlockPreconditioner(tuple(_diagonal(rows, w, penalty) for w in weights.T))
    if rows.n > SAMPLED_ROWS * rows.D:
        rows, weights = _sample(rows, weights)
    return BlockPreconditioner(tuple(_factor(rows.gram(w / rows.n), penalty) for w in weights.T))


def _diagonal(rows: Rows, weights: Array, penalty: Array) -> Array:
    diagonal = rows.gram_diagonal(weights / rows.n) + penalty
    return np.asarray(np.maximum(diagonal, 1e-14 * diagonal.max()))


def _factor(H: Array, penalty: Array) -> Any:
    # An unpenalised intercept of rows that are all certain has no curvature left: keep H regular.
    H[np.diag_indices_from(H)] += penalty + 1e-14 * (np.trace(H) / len(H) + penalty.max())
    return cho_factor(H, lower=True, check_finite=False, overwrite_a=True)


def _sample(rows: Rows, weights: Array) -> tuple[Rows, Array]:
    """Rows drawn half by their curvature, half evenly, with weights that keep the Gram unbiased."""
    size = weights.sum(axis=1)
    chance = 0.5 * size / max(size.sum(), np.finfo(float).tiny) + 0.5 / rows.n
    number = SAMPLED_ROWS * rows.D
    drawn = np.random.default_rng(0).choice(rows.n, number, p=chance / chance.sum())
    return rows.subset(drawn), weights[drawn] / (rows.n * chance[drawn])[:, None]
