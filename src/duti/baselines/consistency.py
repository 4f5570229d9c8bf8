"""The most consistent relabelling with given numbers of changes: a quadratic problem in signs.

    max  f(η) = ηᵀQη + 2 bᵀη,   η ∈ {−1, 1}ⁿ with a given number of −1 in each group of rows

With x = (1 − η)/2 ∈ {0, 1}ⁿ, which says who is flagged, and c = 4 (diag Q − Q1 − b),

    f = f(1) + Σ_i c_i x_i + 4 Σ_{i≠j} Q_ij x_i x_j

Small problems are solved exactly, larger ones by local search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import csc_array

from duti.arrays import Array, Ints
from duti.randomness import Seed, generator

EXACT_ROWS, EXACT_CHOICES = 100, 20
"""Up to so many rows that may be flagged, and so many that are, the problem is solved exactly,"""
SECONDS = 10
"""unless that takes longer than this; a few seconds are usual."""
STARTS = 20
"""Local searches, of which the best counts."""


@dataclass(frozen=True, eq=False)
class Group:
    """Rows with the same given label, and how many of these labels are wrong."""

    rows: Ints
    wrong: int


@dataclass(frozen=True, eq=False)
class Consistency:
    """f and its constraints. Q is that of a kernel: positive semidefinite, so f is convex."""

    Q: Array
    b: Array
    """What fixed points, which are not to be relabelled, add to Qη."""
    groups: tuple[Group, ...]

    def value(self, eta: Array) -> float:
        """f(η)."""
        return float(eta @ (self.Q @ eta) + 2 * self.b @ eta)

    def agreement(self, eta: Array) -> Array:
        """How much all other points, relabelled, speak for each given label."""
        return np.asarray(self.Q @ eta + self.b - np.diag(self.Q) * eta)

    @property
    def c(self) -> Array:
        """What flagging one row alone adds to f."""
        return -4 * self.agreement(np.ones(len(self.b)))

    def lowest(self, g: Array) -> Array:
        """argmin ⟨g, x⟩ as signs: the rows with the lowest g of each group are flagged."""
        eta = np.ones(len(self.b))
        for group in self.groups:
            eta[group.rows[np.argsort(g[group.rows], kind="stable")[: group.wrong]]] = -1
        return eta

    @property
    def bound(self) -> float:
        """No f is larger: each flagged row has the best company it could have (Gilmore & Lawler)."""
        off_diagonal, gain = self.Q - np.diag(np.diag(self.Q)), self.c
        for group in self.groups:
            company = -np.sort(-off_diagonal[:, group.rows], axis=1)[:, : group.wrong]
            company[group.rows, group.wrong - 1 :] = 0  # a row of the group has one companion fewer in it
            gain = gain + 4 * company.sum(axis=1)
        return self.value(np.ones(len(self.b))) + float(gain[self.lowest(-gain) < 0].sum())

    @property
    def choices(self) -> int:
        """How many rows are to be chosen: to be flagged, or not to be, whichever are fewer."""
        return sum(min(group.wrong, len(group.rows) - group.wrong) for group in self.groups)

    @property
    def small(self) -> bool:
        """Whether it can be solved exactly in seconds."""
        free = sum(len(group.rows) for group in self.groups if group.wrong)
        return free <= EXACT_ROWS and self.choices <= EXACT_CHOICES


@dataclass(frozen=True, eq=False)
class Relabelling:
    """The best η found, and how good it is known to be."""

    eta: Array
    how: str


def most_consistent(problem: Consistency, random_state: Seed = None) -> Relabelling:
    """Exact if few rows may be flagged, else the best of several local searches.

    >>> Q = np.array([[1.0, 0.9, -0.8], [0.9, 1.0, -0.5], [-0.8, -0.5, 1.0]])
    >>> groups = Group(np.array([0, 1]), wrong=0), Group(np.array([2]), wrong=1)
    >>> most_consistent(Consistency(Q, np.zeros(3), groups)).eta
    array([ 1.,  1., -1.])
    """
    solved = exact(problem) if problem.small else None
    if solved is not None:
        return Relabelling(solved, "solved exactly")
    eta = local_optimum(problem, random_state)
    value = problem.value(eta)
    gap = 100 * (problem.bound - value) / max(abs(value), np.finfo(float).tiny)
    return Relabelling(eta, f"local optimum of {STARTS} starts; the best is at most {gap:.2g} % better")


def exact(problem: Consistency) -> Array | None:
    """η by mixed-integer linear programming, the products w_ij = x_i x_j as variables of their own.

    None if it takes too long.

    >>> Q, groups = np.array([[1.0, 0.9], [0.9, 1.0]]), (Group(np.array([0, 1]), wrong=1),)
    >>> exact(Consistency(Q, np.array([0.3, 0.1]), groups))
    array([ 1., -1.])
    """
    eta = problem.lowest(np.zeros(len(problem.b)))
    if not problem.choices:
        return eta
    groups = [group for group in problem.groups if group.wrong]
    rows = np.concatenate([group.rows for group in groups])
    Q = problem.Q[np.ix_(rows, rows)]
    gain = np.concatenate([problem.c[rows], 8 * Q[np.triu_indices(len(rows), 1)]])
    solution = milp(
        -gain,
        integrality=np.arange(len(gain)) < len(rows),
        bounds=(0, 1),
        constraints=_tied_products(groups),
        options={"mip_rel_gap": 0, "time_limit": SECONDS},
    )
    if solution.status != 0:
        return None
    eta[rows] = 1 - 2 * np.round(solution.x[: len(rows)])
    return eta


def _tied_products(groups: list[Group]) -> list[LinearConstraint]:
    """What makes w_ij = x_i x_j; variables are x, group after group, then w_ij for all i < j.

        Σ_{i∈G} x_i = wrong_G,   Σ_{j∈G, j≠i} w_ij = (wrong_G − [i ∈ G]) x_i    for all groups G, rows i
        w_ij ≤ x_i,   w_ij ≤ x_j,   x_i + x_j − w_ij ≤ 1

    The sums of w follow from the rest for whole x; they make the relaxation tight (Adams & Sherali).
    """
    own = np.repeat(np.arange(len(groups)), [len(group.rows) for group in groups])
    x = np.arange(len(own))
    i, j = np.triu_indices(len(x), 1)
    w = len(x) + np.arange(len(i))

    def lines(number: int, *terms: tuple[Ints, Ints, Any]) -> csc_array:
        """Terms are (line, variable, coefficient)."""
        entries = np.concatenate([np.broadcast_to(np.asarray(a, float), len(line)) for line, _, a in terms])
        places = np.concatenate([line for line, _, _ in terms]), np.concatenate([v for _, v, _ in terms])
        return csc_array((entries, places), shape=(number, len(x) + len(w)))

    p = np.arange(len(w))
    wrong = np.array([group.wrong for group in groups])
    constraints = [
        LinearConstraint(lines(len(groups), (own, x, 1)), wrong, wrong),
        LinearConstraint(lines(len(w), (p, w, 1), (p, i, -1)), ub=0),
        LinearConstraint(lines(len(w), (p, w, 1), (p, j, -1)), ub=0),
        LinearConstraint(lines(len(w), (p, i, 1), (p, j, 1), (p, w, -1)), ub=1),
    ]
    for g, group in enumerate(groups):
        with_j, with_i = own[j] == g, own[i] == g
        share = (own == g) - float(group.wrong)
        sums = lines(len(x), (i[with_j], w[with_j], 1), (j[with_i], w[with_i], 1), (x, x, share))
        constraints.append(LinearConstraint(sums, 0, 0))
    return constraints


def local_optimum(problem: Consistency, random_state: Seed = None, starts: int = STARTS) -> Array:
    """The best of several local searches: from the least consistent rows, and from random places.

    A random start flags the rows that resemble one row most: wrong labels often come in clusters.

    >>> Q, groups = np.array([[1.0, 0.9], [0.9, 1.0]]), (Group(np.array([0, 1]), wrong=1),)
    >>> local_optimum(Consistency(Q, np.array([0.3, 0.1]), groups))
    array([ 1., -1.])
    """
    n = len(problem.b)
    centres = generator(random_state).integers(n, size=starts - 1)
    orders = [problem.agreement(np.ones(n)), *(-abs(problem.Q[centre]) for centre in centres)]
    return max((_climb(problem, problem.lowest(order)) for order in orders), key=problem.value)


def _climb(problem: Consistency, eta: Array) -> Array:
    """Ascent until no exchange of a flagged row for another of its group raises f."""
    eta = _linear_steps(problem, eta)
    g = problem.agreement(eta)
    exchanged = True
    while exchanged:
        exchanged = False
        for group in problem.groups:
            while (pair := _best_exchange(problem, group.rows, eta, g)) is not None:
                back, new = pair
                g += 2 * problem.Q[back] - 2 * problem.Q[new]
                g[back] -= 2 * problem.Q[back, back]
                g[new] += 2 * problem.Q[new, new]
                eta[back], eta[new] = 1, -1
                exchanged = True
    return eta


def _linear_steps(problem: Consistency, eta: Array) -> Array:
    """η ← argmax ⟨∇f(η), η'⟩ until nothing changes: f is convex, so no step lowers it."""
    while True:
        moved = problem.lowest(problem.Q @ eta + problem.b)
        if problem.value(moved) <= problem.value(eta) * (1 + 1e-12):
            return eta
        eta = moved


def _best_exchange(problem: Consistency, rows: Ints, eta: Array, g: Array) -> tuple[int, int] | None:
    """The flagged row to take back and the one to flag instead that raise f most; None if none does."""
    flagged, others = rows[eta[rows] < 0], rows[eta[rows] > 0]
    if not len(flagged) or not len(others):
        return None
    # f(η) changes by 4 (g_i − g_j − 2 Q_ij) when i is taken back and j is flagged.
    gain = g[flagged][:, None] - g[others] - 2 * problem.Q[np.ix_(flagged, others)]
    i, j = np.unravel_index(gain.argmax(), gain.shape)
    return (int(flagged[i]), int(others[j])) if gain[i, j] > 1e-10 else None
