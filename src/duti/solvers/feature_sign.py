"""A lasso by feature-sign search: one row at a time, always downhill. Slow and sure."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular

from duti.arrays import Array, Ints, Mask

OPTIMAL = 1e-11
"""Fraction of η up to which the optimality conditions may be violated."""


def feature_sign(X: Array, Y: Array, eta: float, start: Array, free: Mask) -> Array:
    """argmin_δ ½‖Xδ − Y‖² + η‖δ‖₁ over the free entries of δ.

    Starts from any δ; every step lowers the objective, so the active sets cannot cycle
    (Lee, Battle, Raina and Ng, Efficient sparse coding algorithms, 2006).
    """
    delta, signs = start.copy(), np.sign(start)
    stuck = np.zeros(len(delta), dtype=bool)  # entries whose sign rounding cannot decide
    for _ in range(20 * len(delta)):
        delta, signs = _settle(X, Y, eta, delta, signs)
        slope = X.T @ (X @ delta - Y)
        violation = np.where(free & (signs == 0) & ~stuck, abs(slope) - eta, -np.inf)
        worst = int(violation.argmax())
        if violation[worst] <= OPTIMAL * eta:
            break
        signs[worst] = -np.sign(slope[worst])
        moved, _ = _settle(X, Y, eta, delta, signs)
        stuck[worst] = moved[worst] == 0
    return delta


def _settle(X: Array, Y: Array, eta: float, delta: Array, signs: Array) -> tuple[Array, Array]:
    """Descend with the given signs; entries that reach zero leave. Ends optimal on what is left."""
    delta, signs = delta.copy(), signs.copy()
    while signs.any():
        active = np.flatnonzero(signs)
        target = _optimum(X[:, active], Y, eta * signs[active])
        length, stopped = _until_zero(delta[active], target, signs[active])
        delta[active] += length * (target - delta[active])
        if length == 1.0:
            break
        delta[active[stopped]] = signs[active[stopped]] = 0.0
    return delta, signs


def _optimum(X: Array, Y: Array, price: Array) -> Array:
    """argmin ½‖Xδ − Y‖² + ⟨price, δ⟩ by a QR factor of X, refined twice."""
    Q, R = qr(X, mode="economic", check_finite=False)
    size = abs(np.diag(R))
    R[np.diag_indices_from(R)] += np.where(size > 1e-15 * size.max(), 0.0, 1e-15 * size.max() + 1e-300)

    def whiten(g: Array) -> Array:
        return np.asarray(solve_triangular(R, solve_triangular(R, g, trans="T"), check_finite=False))

    delta = solve_triangular(R, Q.T @ Y, check_finite=False) - whiten(price)
    for _ in range(2):
        delta -= whiten(X.T @ (X @ delta - Y) + price)
    return np.asarray(delta)


def _until_zero(start: Array, target: Array, signs: Array) -> tuple[float, Ints]:
    """How far one can go from start to target before an entry changes its sign, and which do."""
    leaving = target * signs <= 0
    if not leaving.any():
        return 1.0, np.empty(0, dtype=np.int64)
    lengths = np.where(leaving, start / np.where(start == target, 1.0, start - target), np.inf)
    length = float(lengths.min())
    return min(length, 1.0), np.flatnonzero(lengths <= length)
