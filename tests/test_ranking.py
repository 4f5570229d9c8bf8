from __future__ import annotations

import numpy as np

from duti.arrays import Array
from duti.ranking import Tally
from duti.relabelling import Shifts
from duti.solvers import Solution


def solution(gamma: float, delta: list[float], evidence: list[float]) -> Solution:
    values = np.array(delta)
    return Solution(gamma, values, 1.0, np.zeros(len(delta)), np.array(evidence), 0.0, converged=True)


def tally(frozen: list[bool], *steps: Solution) -> Tally:
    y: Array = np.zeros(len(frozen))
    found = Tally(Shifts(y, np.array(frozen)), solution(0.0, [0.0] * len(frozen), [0.0] * len(frozen)))
    for step in steps:
        found.add(step)
    return found


def test_rows_rank_by_first_flag_then_deviation_then_margin() -> None:
    found = tally(
        [False] * 5,
        solution(8.0, [0, 0, 1, 3, 0], [0] * 5),
        solution(4.0, [9, 0, 1, 3, 0], [9, 1, 2, 3, -2]),
    )
    assert found.ranking().tolist() == [3, 2, 0, 4, 1]
    assert found.first_step.tolist() == [2, 0, 1, 1, 0]


def test_a_fix_comes_from_the_last_step_that_flags_the_row() -> None:
    found = tally([False] * 2, solution(8.0, [5, 1], [0, 0]), solution(4.0, [0, 2], [0, 0]))
    assert found.fixes.tolist() == [5, 2]
    assert found.deviation.tolist() == [5, 1]


def test_verified_rows_come_last() -> None:
    found = tally([True, False, False], solution(8.0, [0, 1, 0], [50, 1, 0]))
    assert found.ranking().tolist() == [1, 2, 0]


def test_without_steps_rows_rank_by_margin() -> None:
    start = Solution(0.0, np.zeros(3), 1.0, np.zeros(3), np.array([1.0, -3.0, 2.0]), 0.0, converged=True)
    found = Tally(Shifts(np.zeros(3), np.zeros(3, dtype=bool)), start)
    assert found.ranking().tolist() == [1, 2, 0]
    assert found.flagged == 0
