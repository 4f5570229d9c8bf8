"""How labels may change: the two meanings of δ, and everything that differs between them.

Classification: δ_i in the simplex Δ_k is the new soft label; its distance to the given one is
1 − δ_{i,y_i}. Regression: δ_i is added to y_i; its distance is |δ_i|.

In both, E = s − u (scores less adjoint scores) is the evidence for each label: a row wants to
leave its given label when its margin exceeds the price γ.
"""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np

from duti.arrays import Array, Ints, Mask, Targets
from duti.problem import Problem


class Relabelling(Protocol):
    """One task's meaning of δ."""

    y: Targets
    """The labels before any change: codes or values."""
    start: Array
    """δ⁽⁰⁾: nothing changed."""
    frozen: Mask
    """Rows where δ may not move."""

    def take(self, rows: Ints) -> Self:
        """The same for some of the rows."""
        ...

    def labels(self, delta: Array) -> Array:
        """The labels the learner is trained on."""
        ...

    def distance(self, delta: Array) -> float:
        """How far the labels moved, summed over rows."""
        ...

    def d_distance(self, delta: Array) -> Array:
        """Its derivative."""
        ...

    def flagged(self, delta: Array) -> Mask:
        """F: the rows whose label changed."""
        ...

    def deviation(self, delta: Array) -> Array:
        """How far each label moved."""
        ...

    def margin(self, evidence: Array) -> Array:
        """How much each row wants to leave its given label, in the units of γ."""
        ...

    def fixes(self, delta: Array) -> Targets:
        """The label that δ suggests for each row; for flagged rows never the given one."""
        ...

    def gamma_max(self, evidence: Array) -> float:
        """γ⁽⁰⁾ for the evidence at δ⁽⁰⁾: at or above it nothing changes."""
        ...


class SoftLabels:
    """δ_i in the simplex: the new label of row i, as probabilities over the classes."""

    def __init__(self, y: Ints, k: int, frozen: Mask) -> None:
        self.y, self.frozen = y, frozen
        self.start = np.asfortranarray(np.eye(k)[y])

    def take(self, rows: Ints) -> SoftLabels:
        """The same for some of the rows."""
        return SoftLabels(self.y[rows], self.start.shape[1], self.frozen[rows])

    def labels(self, delta: Array) -> Array:
        """δ itself."""
        return delta

    def distance(self, delta: Array) -> float:
        """Σ_i (1 − δ_{i,y_i})."""
        return float(self.deviation(delta).sum())

    def d_distance(self, delta: Array) -> Array:  # noqa: ARG002
        """−1 at the given class."""
        return -self.start

    def flagged(self, delta: Array) -> Mask:
        """argmax_j δ_ij ≠ y_i."""
        return np.asarray(delta.max(axis=1) > self._given(delta))

    def deviation(self, delta: Array) -> Array:
        """1 − δ_{i,y_i}."""
        return np.asarray(1 - self._given(delta))

    def margin(self, evidence: Array) -> Array:
        """max_{j≠y_i} E_ij − E_{i,y_i}: the γ at which the row wants to flip."""
        return np.asarray(self._others(evidence).max(axis=1) - self._given(evidence))

    def fixes(self, delta: Array) -> Ints:
        """The other class with the most mass."""
        return np.asarray(self._others(delta).argmax(axis=1))

    def gamma_max(self, evidence: Array) -> float:
        """The largest margin of a row that may change."""
        return float(self.margin(evidence)[~self.frozen].max())

    def _given(self, values: Array) -> Array:
        """The value of the given class of each row."""
        return np.asarray(np.einsum("ij,ij->i", values, self.start))

    def _others(self, values: Array) -> Array:
        return np.where(self.start > 0, -np.inf, values)


class Shifts:
    """δ_i real: the label of row i becomes y_i + δ_i."""

    def __init__(self, y: Array, frozen: Mask) -> None:
        self.y, self.frozen = y, frozen
        self.start = np.zeros(len(y))

    def take(self, rows: Ints) -> Shifts:
        """The same for some of the rows."""
        return Shifts(self.y[rows], self.frozen[rows])

    def labels(self, delta: Array) -> Array:
        """y + δ."""
        return self.y + delta

    def distance(self, delta: Array) -> float:
        """‖δ‖₁."""
        return float(abs(delta).sum())

    def d_distance(self, delta: Array) -> Array:
        """sign δ, with sign 0 = 0."""
        return np.sign(delta)

    def flagged(self, delta: Array) -> Mask:
        """δ_i ≠ 0."""
        return np.asarray(delta != 0)

    def deviation(self, delta: Array) -> Array:
        """|δ_i|."""
        return np.asarray(abs(delta))

    def margin(self, evidence: Array) -> Array:
        """2 |E_i − y_i|: the γ at which the row wants to move."""
        return np.asarray(2 * abs(evidence - self.y))

    def fixes(self, delta: Array) -> Array:
        """y + δ."""
        return self.y + delta

    def gamma_max(self, evidence: Array) -> float:
        """The largest margin of a row that may change."""
        return float(self.margin(evidence)[~self.frozen].max())


def relabelling_of(problem: Problem) -> Relabelling:
    """The meaning of δ for the task of a problem."""
    if problem.classes is None:
        return Shifts(problem.y.astype(np.float64), problem.frozen)
    return SoftLabels(problem.y.astype(np.int64), len(problem.classes), problem.frozen)
