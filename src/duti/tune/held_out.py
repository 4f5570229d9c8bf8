"""Held-out losses for a sequence of ridges, all folds at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import solve

from duti.arrays import Array, Ints
from duti.learners.losses import Curvature, Softmax
from duti.tune.columns import Columns

SETTLED = 1e-4
"""A fit is good enough when Newton's step promises less than this fraction of its risk."""
NEWTON_STEPS = 50
CG_STEPS, CG_RTOL = 200, 0.3


def squared_errors(
    columns: Columns, targets: Array, folds: Ints, ridges: tuple[float, ...]
) -> Iterator[Array]:
    """Held-out squared errors of the rows for each ridge, without training once for each fold.

    With the hat matrix S of all rows, the residuals of rows F when they are left out are
    (I − S_FF)⁻¹ (y − Sy)_F.
    """
    Z, Zy = columns.Z, targets @ columns.Z
    members = [np.flatnonzero(folds == fold) for fold in range(folds.max() + 1)]
    for ridge in ridges:
        errors = []
        for F in members:
            # The learner that does not see F averages over n − |F| rows: its penalty is (n − |F|)λ.
            penalty = columns.penalty((len(Z) - len(F)) * ridge, Z.shape[1])
            hat = columns.inverse(1.0, penalty)(Z[F])
            left_out = solve(np.eye(len(F)) - hat @ Z[F].T, targets[F] - hat @ Zy, assume_a="pos")
            errors.append(left_out**2)
        yield np.concatenate([np.empty(0), *errors])


def log_losses(columns: Columns, targets: Array, folds: Ints, ridges: tuple[float, ...]) -> Iterator[Array]:
    """Held-out log losses of the rows for each ridge, warm-started from the one before."""
    fits = FoldFits(columns, targets, folds)
    theta = np.zeros((targets.shape[1], fits.K, 0))
    for ridge in ridges:
        D = columns.number_kept(ridge)
        theta = np.pad(theta, ((0, 0), (0, 0), (D - theta.shape[2], 0)))
        theta, scores = fits.fit(theta, columns.penalty(ridge, D))
        yield fits.held_out_losses(scores)


class FoldFits:
    """Softmax learners of all folds, trained at once: each product with Z serves them all.

    Fold f minimises (1/n_f) Σ_{i ∉ f} ℓ(z_i θ_f, y_i) + ½ θ_fᵀΛθ_f. θ has the shape (k, K, D) for
    k classes, K folds and D features, which are the last of Z; it sums to zero over the classes, and
    so does all that is computed from it. The loss sees K n rows of scores, fold after fold.
    """

    def __init__(self, columns: Columns, targets: Array, folds: Ints) -> None:
        self.columns, self.n, self.K = columns, len(targets), int(folds.max()) + 1
        held = folds == np.arange(self.K)[:, None]
        self.held = held.ravel()
        self.weights = (~held / (self.n - held.sum(axis=1, keepdims=True))).ravel()
        self.labels = np.asfortranarray(np.tile(targets, (self.K, 1)))
        self.loss = Softmax()

    def fit(self, theta: Array, penalty: Array) -> tuple[Array, Array]:
        """θ and its scores, by Newton's method."""
        scores = self._times(theta)
        for _ in range(NEWTON_STEPS):
            gradient = self._transposed_times(self.loss.d_scores(scores, self.labels), theta.shape)
            gradient += penalty * theta
            step = self._newton_step(self.loss.curvature(scores), gradient, penalty)
            risk, slope = self._risk(theta, scores, penalty), _dot(gradient, step)
            length, moved = np.ones((self.K, 1)), self._times(step)
            while True:  # halve the steps that do not lower the risk
                trial, trial_scores = theta + length * step, scores + length.repeat(self.n, axis=0) * moved
                reached = self._risk(trial, trial_scores, penalty)
                worse = reached > risk + 1e-4 * length[:, 0] * slope + 1e-14 * risk
                if not worse.any() or length.min() < 1e-10:
                    break
                length[worse] /= 2
            theta, scores = trial, trial_scores
            if (-slope <= SETTLED * risk).all():
                break
        return theta, scores

    def held_out_losses(self, scores: Array) -> Array:
        """Losses of the rows in the fold that did not train on them."""
        return self.loss.values(scores[self.held], self.labels[self.held])

    def _newton_step(self, curvature: Curvature, gradient: Array, penalty: Array) -> Array:
        """−H⁻¹ gradient by conjugate gradients, preconditioned as if all rows had the same curvature."""
        mean = self._means(curvature.weights.mean(axis=1))[:, None] + np.finfo(float).eps
        precondition = self.columns.inverse(mean / self.n, penalty)
        step, R = np.zeros_like(gradient), -gradient
        direction = precondition(R)
        size = _dot(R, direction)
        target = CG_RTOL**2 * size
        for _ in range(CG_STEPS):
            running = size > target
            if not running.any():
                break
            bent = self._transposed_times(curvature.times(self._times(direction)), direction.shape)
            bent += penalty * direction
            length = np.divide(size, _dot(direction, bent), out=np.zeros(self.K), where=running)
            step += length[:, None] * direction
            R -= length[:, None] * bent
            Y = precondition(R)
            size, previous = _dot(R, Y), size
            kept = np.divide(size, previous, out=np.zeros(self.K), where=running)
            direction = Y + kept[:, None] * direction
        return step

    def _times(self, theta: Array) -> Array:
        """Scores of all rows in all folds: (K n, k), column by column in memory."""
        k, K, D = theta.shape
        image = theta[:-1].reshape((k - 1) * K, D) @ self.columns.Z[:, -D:].T
        return _zero_sum(image.reshape(k - 1, K * self.n)).T

    def _transposed_times(self, R: Array, shape: tuple[int, ...]) -> Array:
        """Zᵀ R/n_f, over the rows that each fold trains on."""
        k, K, D = shape
        image = (R.T[:-1] * self.weights).reshape((k - 1) * K, self.n) @ self.columns.Z[:, -D:]
        return _zero_sum(image.reshape(k - 1, K, D))

    def _risk(self, theta: Array, scores: Array, penalty: Array) -> Array:
        return self._means(self.loss.values(scores, self.labels)) + 0.5 * _dot(theta, penalty * theta)

    def _means(self, values: Array) -> Array:
        """(1/n_f) Σ_{i ∉ f} for each fold."""
        return np.asarray((values * self.weights).reshape(self.K, self.n).sum(axis=1))


def _zero_sum(A: Array) -> Array:
    """All classes, from all but the last."""
    return np.concatenate([A, -A.sum(axis=0, keepdims=True)])


def _dot(A: Array, B: Array) -> Array:
    """⟨a, b⟩ for each fold."""
    return np.asarray(np.einsum("jkd,jkd->k", A, B))
