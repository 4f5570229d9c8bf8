"""How large a bug would have been called."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from duti.arrays import Array
from duti.automatic.evidence import Evidence, systematic_if
from duti.automatic.given import RATES
from duti.automatic.power import DRAWS, power
from duti.claims import Power
from tests.automatic.tables import by_hand, coded, first


def power_of(sure: Array, k: int = 2) -> Power:
    """By the evidence of contradictions."""
    return power(sure, k, partial(systematic_if, k=k))


def called(items: int, sure: float) -> float:
    """Infinite if none would be."""
    found = power_of(np.full(items, sure)).called
    return np.inf if found is None else found


def test_more_items_call_smaller_bugs() -> None:
    found = [called(items, 0.98) for items in (5, 10, 20, 40, 80, 160)]
    assert (np.diff([size for size in found if np.isfinite(size)]) <= 0).all()
    assert found[0] > found[2] > found[4] > found[5]


def test_surer_learners_call_smaller_bugs() -> None:
    found = [called(40, sure) for sure in (0.7, 0.85, 0.98)]
    assert found[0] > found[1] > found[2]


@pytest.mark.parametrize(("items", "sure"), [(1, 0.99), (2, 0.6), (10, 0.55)])
def test_few_items_and_unsure_learners_call_nothing(items: int, sure: float) -> None:
    assert power_of(np.full(items, sure)).called is None


def test_what_is_called_is_touched_at_least_as_probably() -> None:
    for items in (10, 40, 160):
        found = power_of(np.full(items, 0.98))
        assert found.items == items
        assert found.called is None or found.called >= found.touched


def test_the_same_items_say_the_same() -> None:
    sure = np.random.default_rng(0).uniform(0.6, 1, 50)
    assert power_of(sure, 3) == power_of(sure.copy(), 3)


def test_very_many_items_are_not_all_simulated() -> None:
    found = power_of(np.full(50 * DRAWS, 0.98))
    assert found.items == 50 * DRAWS
    assert found.called == called(DRAWS, 0.98)


def test_a_bug_of_the_size_that_is_told_is_called_by_the_hypotheses_themselves() -> None:
    """By all of them, random bugs included, which the simulation leaves out."""
    n, m, sure, rng = 200, 40, 0.98, np.random.default_rng(1)
    problem, systematic = coded(n, m), list[float]()
    share = called(m, sure)
    assert share in RATES
    for _ in range(20):
        inside = rng.random(m) < share
        wrong = np.where(inside, rng.random(m) < sure, rng.random(m) > sure)
        learner = by_hand(problem, first(n * (1 - sure), n), wrong, sure)
        systematic.append(Evidence(problem, [learner]).hypotheses.probabilities[2])
    assert np.mean(np.array(systematic) > 1 / 2) >= 0.85
