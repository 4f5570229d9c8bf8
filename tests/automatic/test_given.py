"""What the labels as given are like: floors, factors, and flips."""

from __future__ import annotations

import numpy as np
import pytest

from duti.arrays import Array
from duti.automatic.candidates import candidates
from duti.automatic.fits import Fits
from duti.automatic.given import FLOORS, RATES, Given, average, flipped
from duti.automatic.predictions import Kind, Prediction, losses
from duti.datasets import LabelledBugs
from tests.automatic.tables import FEW, by_hand, clean, coded, first, flips, problem_of, said


def given_by(data: LabelledBugs) -> Given:
    problem = problem_of(data).trusting(1.0)
    return average([Fits(problem, candidate).given() for candidate in candidates(problem, FEW)], problem)


def distribution(k: int) -> Array:
    return np.random.default_rng(k).dirichlet(np.ones(k))


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.5])
def test_flips_follow_the_rule_of_total_probability(k: int, rate: float) -> None:
    p = distribution(k)
    # joint[t, g]: the label was t, and is given as g.
    joint = p[:, None] * np.where(np.eye(k) > 0, 1 - rate, rate / (k - 1))
    np.testing.assert_allclose(flipped(p, rate, k), joint.sum(axis=0))


def test_without_flips_nothing_changes() -> None:
    p = np.array([0.0, 0.3, 1.0])
    np.testing.assert_array_equal(flipped(p, 0.0, 4), p)


def test_flips_leave_a_floor_however_sure_a_learner_was() -> None:
    p = np.linspace(0, 1, 50)
    assert flipped(p, 0.2, 2).min() == pytest.approx(0.2)


@pytest.mark.parametrize("seed", range(3))
def test_rows_with_a_fifth_of_flips_prefer_a_floor_of_a_fifth(seed: int) -> None:
    data = flips(seed)
    given = given_by(data)
    assert abs(FLOORS[given.best] - data.is_bug.mean()) <= 0.06


@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_clean_rows_have_hardly_any_floor(seed: int, noise: float) -> None:
    given = given_by(clean(seed, noise))
    assert FLOORS[given.best] <= 0.03 + 0.07 * noise


def test_the_floor_of_flips_is_found_whatever_the_scale_of_the_scores() -> None:
    problem = coded(200, 10)
    sure = by_hand(problem, first(20, 200), first(0, 10), 0.99)
    for scale in (1.0, 3.0):
        scaled = Prediction(Kind.GIVEN, "by hand", scale * sure.rows, scale * sure.trusted)
        given = average([scaled], problem)
        p = flipped(given.rows(given.best), float(FLOORS[given.best]), 2)[np.arange(200), problem.y]
        np.testing.assert_allclose(p, np.where(first(20, 200), 0.1, 0.9), atol=0.01)


def test_weights_of_the_average_sum_to_one_and_prefer_who_predicts_held_out_rows_better() -> None:
    problem = coded(200, 10)
    better, worse = (by_hand(problem, first(wrong, 200), first(0, 10), 0.9) for wrong in (10, 30))
    weights = average([worse, better], problem).weights
    assert weights.sum() == pytest.approx(1)
    assert weights[1] > 100 * weights[0]
    np.testing.assert_allclose(average([better, better], problem).weights, 0.5)


def test_the_average_of_learners_that_agree_is_as_each_of_them() -> None:
    problem = coded(60, 6)
    one = by_hand(problem, first(6, 60), first(1, 6), 0.9)
    alone, twice = average([one], problem), average([one, one], problem)
    for floor in range(len(FLOORS)):
        np.testing.assert_allclose(alone.rows(floor), twice.rows(floor))
        np.testing.assert_allclose(alone.trusted(floor), twice.trusted(floor))
    assert alone.prediction.name == "by hand"
    assert twice.prediction.name == "the average of 2 learners"


def test_calibration_makes_a_learner_as_sure_as_it_is_right() -> None:
    problem = coded(400, 10)
    rng = np.random.default_rng(0)
    chance = rng.uniform(0.5, 1, 400)  # of the given label, near and far from where classes meet
    wrong = rng.random(400) < 1 - chance
    true = np.where(wrong, 1 - problem.y, problem.y)
    scores = np.log(np.where(np.eye(2)[true] > 0, chance[:, None], 1 - chance[:, None]))
    over_sure = Prediction(Kind.GIVEN, "by hand", 4 * scores, said(problem.y_trusted, 0.9))
    given = average([over_sure], problem)
    p = flipped(given.rows(given.best), float(FLOORS[given.best]), 2)
    mean_loss = -np.log(p[np.arange(400), problem.y]).mean()
    assert mean_loss < losses(over_sure.rows, problem.y).mean()
    assert p.max(axis=1).mean() == pytest.approx((p.argmax(axis=1) == problem.y).mean(), abs=0.05)


def test_rates_are_the_floors_that_are_not_zero() -> None:
    assert FLOORS[0] == 0
    np.testing.assert_array_equal(FLOORS[1:], RATES)
    assert (np.diff(FLOORS) > 0).all()
