"""No bugs, random ones, systematic ones: which of them rows and trusted items speak for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from duti import KernelLogistic, Problem
from duti.arrays import Array
from duti.automatic.candidates import candidates
from duti.automatic.evidence import DISPUTING, SLIPS, Evidence, contradicted, tempered
from duti.automatic.fits import Fits
from duti.automatic.given import RATES
from duti.automatic.predictions import Kind
from tests.automatic.tables import (
    NARROW,
    by_hand,
    coded,
    corner,
    evidence_of,
    first,
    problem_of,
    said,
    unverified,
)


def weighed(problem: Problem, rows_wrong: int, items_wrong: int, sure: float) -> Evidence:
    """A learner that does not predict so many rows and items."""
    learner = by_hand(problem, first(rows_wrong, problem.n), first(items_wrong, problem.m), sure)
    return Evidence(problem, [learner])


def favourite(evidence: Evidence) -> str:
    return ("none", "random", "systematic")[int(evidence.weights.hypotheses.argmax())]


def test_probabilities_of_all_hypotheses_sum_to_one() -> None:
    weights = evidence_of(problem_of(corner(0)), NARROW).weights
    assert weights.hypotheses.sum() == pytest.approx(1)
    assert weights.shares.sum() == pytest.approx(1)
    assert 0 <= weights.located <= 1
    assert weights.random[0] == 0  # flips at the rate 0 are none


@pytest.mark.parametrize(
    ("rows_wrong", "items_wrong", "sure", "best"),
    [
        (0, 0, 0.98, "none"),
        (1, 0, 0.98, "none"),  # a single outlier
        (0, 10, 0.98, "systematic"),  # sure, and contradicted
        (40, 0, 0.98, "random"),  # items are easier than rows
        (40, 8, 0.8, "none"),  # items are as hard as rows: noise by nature
    ],
)
def test_what_is_contradicted_is_systematic_and_what_is_easier_for_items_is_random(
    rows_wrong: int, items_wrong: int, sure: float, best: str
) -> None:
    assert favourite(weighed(coded(200, 40), rows_wrong, items_wrong, sure)) == best


def test_only_items_that_contradict_a_sure_learner_speak_for_systematic_bugs() -> None:
    contradicted, agreeing, unsure = (
        weighed(coded(100, 8), round(100 * (1 - sure)), items, sure).weights.systematic
        for items, sure in ((3, 0.99), (0, 0.99), (3, 0.6))
    )
    assert contradicted > 0.5 > unsure
    assert agreeing < 0.2


def test_more_contradictions_make_systematic_bugs_more_probable() -> None:
    found = [weighed(coded(200, 40), 2, wrong, 0.98).weights.systematic for wrong in range(8)]
    assert (np.diff(found) > 0).all()


def test_a_single_slip_of_somebody_trusted_is_no_evidence() -> None:
    assert favourite(weighed(coded(400, 40), 0, 1, 0.999)) == "none"


@pytest.mark.parametrize(("noise", "most"), [(0.0, 0.15), (0.5, 0.4)], ids=["clear", "a toss-up"])
def test_hard_trusted_items_are_not_taken_for_systematic_bugs(noise: float, most: float) -> None:
    found = list[float]()
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 2))
        y = (X[:, 0] + rng.normal(0, 0.5, 200) > 0).astype(int)  # noisy near the border, and no bugs
        X_trusted = np.column_stack([rng.normal(0, 0.3, 20), rng.normal(size=20)])
        y_trusted = (X_trusted[:, 0] + rng.normal(0, noise, 20) > 0).astype(int)
        problem = Problem(X, y, X_trusted, y_trusted, task="classification").trusting(1.0)
        (candidate,) = candidates(problem, KernelLogistic(2.0, 0.01))
        found.append(Evidence(problem, [Fits(problem, candidate).given()]).weights.systematic)
    assert np.mean(found) < most


def test_a_learner_that_says_what_g_says_disputes_nothing() -> None:
    problem = coded(100, 10)
    given = by_hand(problem, first(0, 100), first(0, 10), 0.9)
    evidence = Evidence(problem, [given, replace(given, kind=Kind.TRUSTED)])
    assert evidence.disputed.max() < 0.02
    other = replace(
        given, kind=Kind.TRUSTED, rows=said(np.where(first(7, 100), 1 - problem.y, problem.y), 0.9)
    )
    disputed = Evidence(problem, [given, other]).disputed
    assert disputed[:7].min() > 0.5 > 0.02 > disputed[7:].max()


def test_kinds_of_learners_count_the_same_however_many_of_each_there_are() -> None:
    problem = coded(100, 10)
    given = by_hand(problem, first(0, 100), first(0, 10), 0.9)
    alone = replace(given, kind=Kind.TRUSTED, rows=said(1 - problem.y, 0.9))
    debugged = replace(given, kind=Kind.DEBUGGED)
    once, often = (Evidence(problem, [given, alone, *[debugged] * number]) for number in (1, 5))
    np.testing.assert_allclose(once.disputed, often.disputed)
    np.testing.assert_allclose(once.q, often.q)
    np.testing.assert_allclose(once.q_helped, often.q_helped)


def test_rows_of_a_class_without_trusted_items_are_not_disputed() -> None:
    data = corner(1, m=30, k=3)
    kept = data.y_trusted != 1
    problem = Problem(data.X, data.y, data.X_trusted[kept], data.y_trusted[kept], task="classification")
    evidence = evidence_of(problem, NARROW)
    np.testing.assert_array_equal(evidence.judged, data.y != 1)
    assert not evidence.disputed[data.y == 1].any()
    assert evidence.disputed[data.y != 1].any()


def test_learners_that_predict_left_out_items_better_count_more_but_a_few_items_do_not_decide() -> None:
    def preferred(items: int) -> float:
        weights = tempered(items * np.log([0.9, 0.6]))
        assert weights.sum() == pytest.approx(1)
        return float(weights[0] / weights[1])

    assert preferred(0) == 1 < preferred(2) < 2 < 1.5**5 < preferred(50)


def test_learners_with_scores_that_are_not_finite_are_left_out() -> None:
    problem = coded(50, 6)
    fine = by_hand(problem, first(0, 50), first(0, 6), 0.9)
    broken = replace(fine, rows=np.full((50, 2), np.nan))
    evidence = Evidence(problem, [broken, fine, replace(broken, kind=Kind.DEBUGGED)])
    assert evidence.learners == [fine]
    assert not evidence.disputing


def test_weights_of_learners_sum_to_one_with_and_without_trusted_learners() -> None:
    problem = problem_of(corner(0))
    evidence = evidence_of(problem, NARROW)
    only_given = Evidence(problem, evidence.learners)
    for some in (evidence, only_given):
        assert sum(weight for _, weight in some.shared_weights()) == pytest.approx(1)
    shares = dict.fromkeys(Kind, 0.0)
    for prediction, weight in evidence.shared_weights():
        shares[prediction.kind] += weight
    assert shares[Kind.TRUSTED] == pytest.approx(shares[Kind.DEBUGGED])
    assert shares[Kind.TRUSTED] + shares[Kind.DEBUGGED] == pytest.approx(evidence.weights.systematic)


def test_contradictions_are_flips_of_g() -> None:
    g = np.array([0.9, 0.5, 0.01])
    by_formula = np.log((1 - RATES[:, None]) * g + RATES[:, None] * (1 - g) / 3)
    np.testing.assert_allclose(contradicted(g, 4), by_formula)


def test_no_single_item_is_impossible() -> None:
    evidence = weighed(coded(200, 10), 0, 10, 1 - 1e-12)
    assert evidence.g_items.min() >= SLIPS / 2 - 1e-12
    assert np.isfinite(evidence.weights.hypotheses).all()


def checked(wrong: bool, rows: int = 6, **options: Any) -> Problem:
    """The corner without trusted items in it; some of its rows were checked, and found wrong or not."""
    data = corner(0, n=200, m=40)
    away = ~(data.X_trusted > 0.5).all(axis=1)
    labels = data.truth if wrong else data.y
    verified = {int(row): int(labels[row]) for row in np.flatnonzero(data.is_bug)[:rows]}
    return Problem(
        data.X,
        data.y,
        data.X_trusted[away],
        data.y_trusted[away],
        task="classification",
        verified=verified,
        **options,
    )


def test_verified_rows_tell_whether_there_are_bugs() -> None:
    none, some = (evidence_of(checked(wrong), NARROW) for wrong in (False, True))
    assert not none.found_wrong.any()
    assert some.found_wrong.all()
    assert none.weights.hypotheses[0] > 0.5
    assert some.weights.systematic > 0.9


def test_rows_found_wrong_are_impossible_without_bugs_and_likely_where_learners_dispute_them() -> None:
    evidence = evidence_of(checked(wrong=True), NARROW)
    assert evidence.weights.hypotheses[0] < 1e-6
    assert ((evidence.disputed_pairs >= 0) & (evidence.disputed_pairs <= 1)).all()


def test_a_checked_row_is_predicted_by_learners_that_know_neither_its_given_nor_its_right_label() -> None:
    data = corner(0, n=200, m=40)
    row = int(np.flatnonzero(data.is_bug)[0])

    def predicted(given: int, right: int) -> list[Array]:
        y = data.y.copy()
        y[row] = given
        problem = unverified(problem_of(replace(data, y=y), verified={row: right}))
        assert problem.n == 199
        return [Fits(problem, candidate).given().trusted[-1] for candidate in candidates(problem, NARROW)]

    for given, right in ((1, 1), (0, 0), (1, 0)):
        np.testing.assert_array_equal(predicted(0, 1), predicted(given, right))


def test_a_checked_row_is_an_item_like_any_other_for_learners() -> None:
    data = corner(0, n=200, m=40)
    row = int(np.flatnonzero(data.is_bug)[0])
    rest = np.delete(np.arange(200), row)
    items = np.vstack([data.X_trusted, data.X[row]]), np.append(data.y_trusted, data.truth[row])
    verified = evidence_of(problem_of(data, verified={row: int(data.truth[row])}), NARROW)
    apart = evidence_of(Problem(data.X[rest], data.y[rest], *items, task="classification"), NARROW)
    np.testing.assert_allclose(verified.g_rows, apart.g_rows)
    np.testing.assert_allclose(verified.disputed, apart.disputed)
    assert len(verified.found_wrong) == 1
    assert not len(apart.found_wrong)


def test_only_rows_verified_at_random_tell_the_share_of_bugs() -> None:
    chosen, drawn = (evidence_of(checked(True, verified_at_random=said), NARROW) for said in (False, True))
    np.testing.assert_array_equal(chosen.weights.hypotheses, drawn.weights.hypotheses)
    assert chosen.weights.located == drawn.weights.located
    np.testing.assert_array_equal(chosen.disputed, drawn.disputed)
    assert drawn.weights.shares @ RATES > 1.2 * (chosen.weights.shares @ RATES)
    right = [evidence_of(checked(False, verified_at_random=said), NARROW).weights for said in (False, True)]
    assert right[1].shares @ RATES < right[0].shares @ RATES


def test_the_share_of_bugs_is_how_much_more_often_rows_are_mispredicted_than_items() -> None:
    """Whatever else the learner is wrong about: a = s + b − s b k/(k − 1)."""
    rng = np.random.default_rng(0)
    for k, share, wrong in ((2, 0.2, 0.1), (5, 0.3, 0.2), (3, 0.0, 0.25)):
        problem = coded(20_000, 10_000, k)
        rows = np.where(
            rng.random(problem.n) < share, (problem.y + rng.integers(1, k, problem.n)) % k, problem.y
        )
        rows, items = (
            np.where(rng.random(len(y)) < wrong, (y + rng.integers(1, k, len(y))) % k, y)
            for y in (rows, problem.y_trusted)
        )
        given = by_hand(problem, first(0, problem.n), first(0, problem.m), 0.98)
        sure = said(rows, 1 - 1e-6, k), said(items, 1 - 1e-6, k)
        alone = replace(given, kind=Kind.TRUSTED, rows=sure[0], trusted=sure[1])
        found, error = Evidence(problem, [given, alone]).share
        # The items make the learner less sure, which shrinks both rates alike.
        assert found == pytest.approx(share, abs=0.03)
        assert 0 < error < 0.02


def test_labels_that_are_flips_of_q_speak_for_random_bugs_and_labels_that_only_g_predicts_do_not() -> None:
    """Both leave as many rows where q and the given labels disagree."""
    k, n, m = 2, 400, 40
    problem = coded(n, m, k)
    wrong = first(80, n)
    alone = by_hand(problem, wrong, first(0, m), 0.98)
    alone = replace(alone, kind=Kind.TRUSTED)
    unsure = replace(by_hand(problem, wrong, first(0, m), 0.8))
    knowing = by_hand(problem, first(0, n), first(0, m), 0.98)
    random, learnt = (Evidence(problem, [given, alone]) for given in (unsure, knowing))
    assert random._flipped.max() > learnt._flipped.max() + 5
    assert RATES[random._flipped[1:].argmax()] == pytest.approx(0.2, abs=0.05)


def test_half_of_what_a_debugged_learner_gains_on_g_counts() -> None:
    problem = coded(100, 20)
    given = by_hand(problem, first(0, 100), first(8, 20), 0.9)
    alone, debugged = (
        replace(by_hand(problem, first(0, 100), first(0, 20), 0.9), kind=kind)
        for kind in (Kind.TRUSTED, Kind.DEBUGGED)
    )
    evidence = Evidence(problem, [given, alone, debugged])
    gained = [evidence.stacks[kind].likelihood - np.log(evidence.g_items).sum() for kind in DISPUTING]
    assert gained[1] == pytest.approx(gained[0] / 2)


def test_g_contradicts_itself_only_beyond_what_it_is_unsure_of() -> None:
    found = [weighed(coded(200, 40), 20, wrong, 0.9).contradicting for wrong in (0, 4, 12)]
    assert found[0] < 0.1 < 0.3 < found[1] < 0.7 < 0.99 < found[2]


def test_hypotheses_that_are_known_from_more_learners_stay_as_they_are() -> None:
    """Learners that were chosen because they suit the items suit them, whether or not there are bugs."""
    evidence = evidence_of(problem_of(corner(0, m=30)), NARROW)
    assert evidence.weights.systematic > 0.5
    predictions = [p for stack in evidence.stacks.values() for p in stack.predictions]
    known = np.array([0.7, 0.2, 0.1])
    weights = Evidence(evidence.problem, predictions, known).weights
    np.testing.assert_allclose(weights.hypotheses, known)
    np.testing.assert_allclose(weights.shares, evidence.weights.shares)
