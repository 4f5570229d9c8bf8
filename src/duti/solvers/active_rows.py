"""Regression's active rows: those whose labels move, among the candidates that may.

A system of the active rows needs sums over them alone, which change with the few rows that turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duti.arrays import Array, Ints, Mask
from duti.features.rows import Rows

BLOCK = 1024
"""Rows that are gathered and multiplied at once."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The rows that may move; the others are taken to stay, until a pass over all rows says otherwise."""

    all_rows: Rows
    all_y: Array
    all_free: Mask
    index: Ints
    rows: Rows
    """Copies of these rows, side by side."""
    storage: NDArray[Any] | None = None
    """Where dense copies grow; memory that is not yet used costs nothing."""

    @classmethod
    def all_of(cls, rows: Rows, y: Array, free: Mask) -> Candidates:
        """Every row."""
        return cls(rows, y, free, np.arange(rows.n), rows)

    @classmethod
    def some_of(cls, rows: Rows, y: Array, free: Mask, index: Ints) -> Candidates:
        """Some rows, to which others may come."""
        nothing = np.arange(0)
        return cls(rows, y, free, nothing, rows.subset(nothing)).grown(index)

    @cached_property
    def y(self) -> Array:
        """Their labels."""
        return self.all_y[self.index]

    @cached_property
    def free(self) -> Mask:
        """Which of them may move."""
        return self.all_free[self.index]

    @property
    def everything(self) -> bool:
        """Whether all rows are candidates."""
        return self.rows is self.all_rows

    def grown(self, more: Ints) -> Candidates:
        """More candidates, after those that there are."""
        index, old = np.concatenate([self.index, more]), len(self.index)
        Z = self.all_rows.Z
        if not isinstance(Z, np.ndarray):
            return replace(self, index=index, rows=self.all_rows.subset(index))
        storage = np.empty_like(Z) if self.storage is None else self.storage
        np.take(Z, more, axis=0, out=storage[old : len(index)], mode="clip")
        return replace(self, index=index, rows=Rows(storage[: len(index)]), storage=storage)


@dataclass(frozen=True, eq=False)
class ActiveRows:
    """The active ones among the candidates, and the sums over them that a system needs."""

    among: Candidates
    signs: Array
    gram: Array
    """Z_AᵀZ_A."""
    Zy: Array
    """Z_Aᵀy."""
    Zs: Array
    """Z_Aᵀs."""

    @classmethod
    def none(cls, among: Candidates) -> ActiveRows:
        """Nothing is active."""
        D = among.rows.D
        return cls(among, np.zeros(len(among.y)), np.zeros((D, D)), np.zeros(D), np.zeros(D))

    def grown(self, among: Candidates) -> ActiveRows:
        """The same active rows among more candidates."""
        signs = np.zeros(len(among.index))
        signs[: len(self.signs)] = self.signs
        return replace(self, among=among, signs=signs)

    @property
    def count(self) -> int:
        """|A|."""
        return int(np.count_nonzero(self.signs))

    def moved(self, signs: Array) -> ActiveRows:
        """Other signs; only rows whose sign changes are touched, in blocks."""
        among, gram, Zy, Zs = self.among, self.gram.copy(), self.Zy.copy(), self.Zs.copy()
        turns = abs(signs) - abs(self.signs)
        for turn in (1.0, -1.0, 0.0):
            rows = np.flatnonzero((turns == turn) & (signs != self.signs))
            for block in np.split(rows, range(BLOCK, len(rows), BLOCK)):
                Z = among.rows.take(block)
                if turn:
                    gram += turn * (Z.T @ Z)
                    Zy += turn * (Z.T @ among.y[block])
                Zs += Z.T @ (signs[block] - self.signs[block])
        return ActiveRows(among, signs, gram, Zy, Zs)


@dataclass(frozen=True, eq=False)
class Step:
    """δ on the candidates at η."""

    eta: float
    reached: float
    """Where the active rows are right: at η, or at the larger η from which the way on was not found."""
    active: ActiveRows
    delta: Array
    evidence: Array
    """Zh on the candidates."""
    Zy: Array
    """Zᵀ(y + δ)."""

    def grown(self, more: Ints, evidence: Array) -> Step:
        """The same δ on more candidates, with the evidence for all rows."""
        among = self.active.among.grown(more)
        delta = np.zeros(len(among.index))
        delta[: len(self.delta)] = self.delta
        return replace(self, active=self.active.grown(among), delta=delta, evidence=evidence[among.index])
