"""Which learners are trained, and what they predict of what they have not seen."""

from __future__ import annotations

import numpy as np
import pytest

from duti import KernelLogistic, Logistic, Problem
from duti.automatic.candidates import RIDGES, approximated, candidates, for_all_rows, number_of
from duti.automatic.fits import Fits
from duti.automatic.predictions import Kind
from duti.datasets import harry_potter
from tests.automatic.tables import corner, problem_of


def test_what_the_user_gives_stays_as_it_is() -> None:
    problem = problem_of(harry_potter(np.random.default_rng(0)))
    asked = [candidate.learner for candidate in candidates(problem, KernelLogistic(bandwidth=0.5))]
    assert {getattr(learner, "bandwidth", None) for learner in asked} == {0.5}
    assert [learner.ridge for learner in asked] == list(RIDGES["classification"])
    assert [candidate.learner for candidate in candidates(problem, KernelLogistic(0.5, 0.01))] == [
        KernelLogistic(0.5, 0.01)
    ]


@pytest.mark.parametrize("learner", [KernelLogistic(), KernelLogistic(2.0), Logistic(), Logistic(0.1)])
def test_as_many_learners_are_trained_as_were_announced(learner: KernelLogistic | Logistic) -> None:
    problem = problem_of(corner(0))
    found = [candidate.learner for candidate in candidates(problem, learner)]
    assert len(set(found)) == len(found) == number_of(problem, learner)
    assert all(not one.untuned for one in found)


def test_of_a_whole_grid_one_learner_can_follow_any_labels() -> None:
    problem = problem_of(corner(0))
    grid = list(candidates(problem, KernelLogistic()))
    (follows,) = (candidate.learner for candidate in grid if candidate.interpolating)
    assert follows.ridge == min(RIDGES["classification"])
    bandwidths = [getattr(candidate.learner, "bandwidth", 0.0) for candidate in grid]
    assert getattr(follows, "bandwidth", None) == min(bandwidths)
    assert not any(c.interpolating for c in candidates(problem, KernelLogistic(1.0, 0.1)))


def test_features_that_a_ridge_shrinks_to_nothing_are_left_out_and_predictions_stay() -> None:
    problem = problem_of(corner(0)).trusting(1.0)
    for candidate in candidates(problem, KernelLogistic(0.5)):
        (whole,) = candidates(problem, KernelLogistic(0.5, min(RIDGES["classification"])))
        assert candidate.Z.shape[1] <= whole.Z.shape[1]
        full = type(candidate)(candidate.learner, whole.Z, whole.Z_trusted)
        few, all_features = (Fits(problem, one).given().rows for one in (candidate, full))
        np.testing.assert_allclose(few, all_features, atol=0.05)


def test_the_kernel_of_many_rows_is_approximated() -> None:
    few, many = (problem_of(corner(0, n=n)) for n in (100, 600))
    assert approximated(few, KernelLogistic()).approximation == "auto"  # type: ignore[attr-defined]
    assert approximated(many, KernelLogistic()).approximation == "nystroem"  # type: ignore[attr-defined]
    exact = KernelLogistic(approximation="exact")
    assert approximated(many, exact) == exact


def test_a_prior_counts_the_same_against_more_rows() -> None:
    chosen = KernelLogistic(2.0, 0.1, approximation="nystroem", components=50)
    found = for_all_rows(chosen, KernelLogistic(2.0), share=0.25)
    assert found == KernelLogistic(2.0, 0.025)
    assert for_all_rows(Logistic(0.1), Logistic(0.1), share=0.25) == Logistic(0.1)


@pytest.mark.parametrize(("labels", "heard"), [([0, 1], False), ([0, 0, 0, 1], True), ([0, 0, 0, 0], False)])
def test_trusted_items_are_learnt_from_alone_if_they_show_every_class_and_are_not_too_few(
    labels: list[int], heard: bool
) -> None:
    data = corner(0)
    X_trusted = data.X_trusted[: len(labels)]
    problem = Problem(data.X, data.y, X_trusted, labels, task="classification").trusting(1.0)
    (candidate,) = candidates(problem, KernelLogistic(2.0, 0.01))
    kinds = [prediction.kind for prediction in Fits(problem, candidate).with_the_trusted()]
    assert kinds == [Kind.POOLED, *[Kind.TRUSTED] * heard, Kind.DEBUGGED]


def test_a_learner_that_follows_any_labels_is_not_debugged() -> None:
    problem = problem_of(corner(0)).trusting(1.0)
    for candidate in candidates(problem, KernelLogistic(ridge=None)):
        if candidate.interpolating:
            assert Kind.DEBUGGED not in [p.kind for p in Fits(problem, candidate).with_the_trusted()]


def test_trusted_items_are_left_out_by_learners_of_them_alone() -> None:
    data = corner(0, m=30)
    problem, learner = problem_of(data).trusting(1.0), KernelLogistic(0.5, 0.05)
    (candidate,) = candidates(problem, learner)
    quick = Fits(problem, candidate).of_the_trusted()
    for item in range(0, 30, 7):
        kept = np.delete(np.arange(30), item)
        fewer = problem.with_items(kept)
        # Without one item the mean is over m − 1: the same prior has the ridge m λ/(m − 1).
        stiffer = type(candidate)(learner.with_(ridge=0.05 * 30 / 29), candidate.Z, candidate.Z_trusted[kept])
        erm = stiffer.learner.erm(Fits(fewer, stiffer).objective.trusted_rows, 2)
        theta = erm.fit(Fits(fewer, stiffer).objective.trusted_labels).theta
        slow = candidate.Z_trusted[item] @ theta
        scores = slow - np.mean(slow)
        np.testing.assert_allclose(quick.trusted[item] - quick.trusted[item].mean(), scores, atol=0.1)
    assert quick.rows.shape == (problem.n, 2)


def test_debugging_brings_trusted_items_nearer() -> None:
    data = corner(0, n=200, m=40)
    problem = problem_of(data).trusting(1.0)
    (candidate,) = candidates(problem, KernelLogistic(0.4, 1e-3))
    fits = Fits(problem, candidate)
    given, debugged = fits.given(), fits.debugged()
    right = [(p.trusted.argmax(axis=1) == data.y_trusted).mean() for p in (given, debugged)]
    assert right[1] > right[0]
    assert debugged.path
    assert not given.path
    assert np.isinf(given.gamma)
    assert np.isfinite(debugged.gamma)
