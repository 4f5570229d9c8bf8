"""A lasso for all η at once: δ is linear in η between the events at which a row enters or leaves.

The target may depend on η too: min_δ ½‖Xδ − Y − ηY'‖² + η‖δ‖₁. For active columns A with signs s,
X_A = QR and v = R⁻ᵀs − QᵀY',

    δ_A = R⁻¹(QᵀY − ηv),   Xᵀ(Y + ηY' − Xδ) = Xᵀ(I − QQᵀ)Y + ηXᵀ(Y' + Qv)

so the next event below η, a δ_i that reaches 0 or a slope that reaches ±η, has a closed form
(Osborne, Presnell and Turlach, A new approach to variable selection in least squares problems, 2000).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, qr, qr_delete, qr_insert, solve_triangular

from duti.arrays import Array, Mask

DEPENDENT = 1e-14
"""A column that is closer than this to the span of the active ones cannot enter."""
MOST_EVENTS = 10
"""Events a column, after which a path is taken to cycle on rounding errors."""


@dataclass(frozen=True)
class Event:
    """A row that enters with a sign, or leaves (sign 0), at η."""

    eta: float
    row: int
    sign: float


@dataclass(frozen=True, eq=False)
class Target:
    """Y + ηY'."""

    constant: Array
    d_eta: Array


@dataclass(frozen=True, eq=False)
class Homotopy:
    """argmin_δ ½‖Xδ − Y − ηY'‖² + η‖δ‖₁ at the last η, and the events on the way down to it."""

    eta: float
    delta: Array
    events: list[Event]


def homotopy(X: Array, Y: Target, free: Mask, high: float, low: float, signs: Array) -> Homotopy:
    """Follow the minimiser over the free δ from η = high, where its signs are known, down to low.

    >>> target = Target(np.array([-2.0, 3.0]), np.zeros(2))
    >>> found = homotopy(np.eye(2), target, np.array([True, True]), 3.0, 1.0, signs=np.zeros(2))
    >>> found.delta, [event.row for event in found.events]
    (array([-1.,  2.]), [1, 0])
    """
    active, eta, events = _ActiveColumns(X, Y, free, signs), high, list[Event]()
    while len(events) < MOST_EVENTS * X.shape[1]:
        event = active.next_event(eta)
        if event.eta <= low:
            return Homotopy(low, active.delta(low), events)
        eta = event.eta
        if active.apply(event):
            events.append(event)
    return Homotopy(eta, active.delta(eta), events)


class _ActiveColumns:
    """The active columns in their order of entry, as a QR factor."""

    def __init__(self, X: Array, Y: Target, free: Mask, signs: Array) -> None:
        self.X, self.Y = X, Y
        self.XY, self.d_XY = X.T @ Y.constant, X.T @ Y.d_eta
        self.signs, self.may_enter = signs.copy(), free & (signs == 0)
        self.rows: list[int] = np.flatnonzero(signs).tolist()
        self.Q, self.R = qr(X[:, self.rows], mode="economic", check_finite=False)
        self.undoing: tuple[float, int] | None = None  # the event that would undo the last one

    def delta(self, eta: float) -> Array:
        """δ at η."""
        delta = np.zeros(len(self.signs))
        delta[self.rows] = self._solve(self.Q.T @ self.Y.constant - eta * self._price())
        return delta

    def next_event(self, eta: float) -> Event:
        """The first event at or below η."""
        image, price = self.Q.T @ self.Y.constant, self._price()
        fitted, pull = (self.X.T @ (self.Q @ np.column_stack([image, price]))).T
        slope, d_eta = self.XY - fitted, self.d_XY + pull
        rate = self._solve(price)
        at = {sign: np.full(len(slope), -np.inf) for sign in (0.0, 1.0, -1.0)}
        with np.errstate(divide="ignore", invalid="ignore"):
            shrinks = self.signs[self.rows] * rate < 0  # as η falls
            at[0.0][self.rows] = np.where(shrinks, self._solve(image) / rate, -np.inf)
            for sign in (1.0, -1.0):
                reaches = self.may_enter & (sign * d_eta < 1)
                at[sign] = np.where(reaches, sign * slope / (1 - sign * d_eta), -np.inf)
        if self.undoing is not None:
            sign, row = self.undoing
            at[sign][row] = -np.inf
        sign = max(at, key=lambda sign: at[sign].max())
        row = int(at[sign].argmax())
        return Event(min(float(at[sign][row]), eta), row, sign)

    def apply(self, event: Event) -> bool:
        """Let the row of the event enter or leave; a column that depends on the active ones cannot."""
        row, sign = event.row, event.sign
        if sign:
            if not self._append(self.X[:, row]):
                self.may_enter[row] = False
                return False
            self.rows.append(row)
        else:
            self._delete(self.rows.index(row))
            self.rows.remove(row)
        self.undoing = (0.0 if sign else float(self.signs[row])), row
        self.signs[row], self.may_enter[row] = sign, not sign
        return True

    def _append(self, column: Array) -> bool:
        try:
            self.Q, self.R = qr_insert(
                self.Q, self.R, column, len(self.rows), which="col", rcond=DEPENDENT, check_finite=False
            )
        except LinAlgError:
            return False
        return True

    def _delete(self, position: int) -> None:
        k = len(self.rows) - 1
        Q, R = qr_delete(self.Q, self.R, position, which="col", check_finite=False)
        self.Q, self.R = Q[:, :k], R[:k]

    def _price(self) -> Array:
        """v = R⁻ᵀs − QᵀY'."""
        signs = self.signs[self.rows]
        return np.asarray(
            solve_triangular(self.R, signs, trans="T", check_finite=False) - self.Q.T @ self.Y.d_eta
        )

    def _solve(self, b: Array) -> Array:
        """R⁻¹b."""
        return np.asarray(solve_triangular(self.R, b, check_finite=False))
