"""What rows and trusted items say: statistics of a table, signs of its rows, and three hypotheses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from duti import KernelLogistic, Problem
from duti.arrays import Array
from duti.automatic.candidates import candidates
from duti.automatic.evidence import (
    STATISTICS,
    Evidence,
    Hypotheses,
    contrary,
    flattened,
    surprise,
    systematic_if,
)
from duti.automatic.fits import Fits
from duti.automatic.fitted import BUGS, LABELS, SYSTEMATIC
from duti.automatic.given import RATES, SLIPS, contradicted
from duti.automatic.predictions import Kind
from tests.automatic.tables import (
    FEW,
    NARROW,
    by_hand,
    clean,
    coded,
    corner,
    evidence_of,
    first,
    flips,
    predictions_of,
    problem_of,
    said,
    unverified,
)


def weighed(problem: Problem, rows_wrong: int, items_wrong: int, sure: float) -> Evidence:
    """A learner that does not predict so many rows and items."""
    learner = by_hand(problem, first(rows_wrong, problem.n), first(items_wrong, problem.m), sure)
    return Evidence(problem, [learner])


def replaced(problem: Problem, y: Array) -> Problem:
    """The same with other labels."""
    return Problem(problem.X, y, problem.X_trusted, problem.y_trusted, task="classification")


def named(wrong: int, items: int = 40, sure: float = 0.98) -> dict[str, float]:
    """Statistics of a table of which a sure learner predicts the rows, and so many items not."""
    return weighed(coded(200, items), 4, wrong, sure).statistics


def test_probabilities_of_all_hypotheses_sum_to_one() -> None:
    found = evidence_of(problem_of(corner(0)), NARROW).hypotheses
    assert found.probabilities.sum() == pytest.approx(1)
    assert (found.probabilities >= 0).all()
    np.testing.assert_allclose(Hypotheses(0.5, 0.8).probabilities, [0.5, 0.1, 0.4])


@pytest.mark.parametrize(
    ("table", "learner", "best"),
    [(clean, FEW, "none"), (flips, FEW, "random"), (corner, NARROW, "systematic")],
)
def test_each_kind_of_bugs_is_the_most_probable_where_it_is(
    table: Any, learner: KernelLogistic, best: str
) -> None:
    found = list[str]()
    for seed in range(3):
        data = corner(seed, n=200, m=40) if table is corner else table(seed)
        probabilities = evidence_of(problem_of(data), learner).hypotheses.probabilities
        found.append(("none", "random", "systematic")[int(probabilities.argmax())])
    assert found == [best] * 3


def test_statistics_have_names_and_weights_ask_for_no_others() -> None:
    evidence = evidence_of(problem_of(corner(0)), NARROW)
    assert set(evidence.statistics) == set(STATISTICS)
    assert set(BUGS.weights) | set(SYSTEMATIC.weights) == set(STATISTICS)
    assert set(evidence.features(evidence.rows)) == set(LABELS.weights)
    assert all(np.isfinite(value) for value in evidence.statistics.values())


def test_more_contradictions_are_more_contrary_and_more_surprising() -> None:
    found = [named(wrong) for wrong in range(8)]
    for name in ("contrary", "surprise"):
        assert (np.diff([one[name] for one in found]) > 0).all()
    assert found[0]["contrary"] < 0 < found[7]["contrary"]


def test_more_contradictions_make_systematic_bugs_more_probable() -> None:
    found = [weighed(coded(200, 40), 4, wrong, 0.98).hypotheses.probabilities[2] for wrong in (0, 2, 4, 6, 8)]
    assert (np.diff(found) > 0).all()
    assert found[0] < 0.1 < 0.5 < found[-1]


def test_a_learner_that_is_right_as_often_as_it_expects_does_not_surprise() -> None:
    rng = np.random.default_rng(0)
    g = rng.dirichlet(np.ones(3), 20_000)
    drawn = np.array([rng.choice(3, p=p) for p in g])
    right = g[np.arange(len(g)), drawn]
    assert abs(float(surprise(right, g))) < 3
    several = [
        float(surprise(part, of)) for part, of in zip(np.split(right, 100), np.split(g, 100), strict=True)
    ]
    assert np.std(several) == pytest.approx(1, abs=0.25)


def test_flips_leave_a_floor_and_noise_by_nature_or_labels_without_rhyme_do_not() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(440, 2))
    tossed = (rng.random(440) < 0.1).astype(int)
    nothing = Problem(X[:400], tossed[:400], X[400:], tossed[400:], task="classification")
    problems = problem_of(flips(0)), problem_of(clean(0, noise=0.7)), nothing
    flipped, natural, tossed_up = (evidence_of(one, FEW).statistics["floor"] for one in problems)
    assert flipped > 1 > 0.5 > max(natural, tossed_up)


def test_items_that_are_easier_than_rows_speak_for_flips() -> None:
    """A learner of which a fifth of the rows are flipped is unsure, and right on all items."""
    rows_flipped, as_hard = (weighed(coded(200, 40), 40, wrong, 0.8).statistics["easier"] for wrong in (0, 8))
    assert rows_flipped > 1 > 0 > as_hard


def test_confused_classes_are_a_bias_and_flips_are_none() -> None:
    """A learner of the trusted items knows the truth; half of the labels of a class are those of another."""
    n, m, k = 300, 30, 3
    problem, rng = coded(n, m, k), np.random.default_rng(0)
    truth = problem.y.copy()
    confused = np.where((truth == 0) & (rng.random(n) < 0.5), 1, truth)
    tossed = np.where(rng.random(n) < 1 / 6, (truth + rng.integers(1, k, n)) % k, truth)
    bias = list[float]()
    for y in (confused, tossed):
        wrong = replaced(problem, y)
        given = by_hand(wrong, first(0, n), first(0, m), 0.8)
        alone = replace(given, kind=Kind.TRUSTED, rows=said(truth, 0.95, k))
        bias.append(Evidence(wrong, [given, alone]).statistics["bias"])
    assert bias[0] > 2 > bias[1]


def test_what_predicts_items_better_than_g_is_a_gain() -> None:
    problem = coded(100, 20)
    given = by_hand(problem, first(10, 100), first(2, 20), 0.9)
    knows = replace(by_hand(problem, first(0, 100), first(0, 20), 0.9), kind=Kind.TRUSTED)
    alone, helped = (Evidence(problem, some).statistics["gain"] for some in ([given], [given, knows]))
    assert abs(alone) < 1 < helped


def test_power_simulates_what_contradicts_g_alone() -> None:
    """With the statistics of the evidence itself, all others being zero."""
    evidence = weighed(coded(200, 40), 4, 6, 0.98)
    known = dict.fromkeys(STATISTICS, 0.0) | {
        name: value
        for name, value in evidence.statistics.items()
        if name in ("items", "contrary", "surprise")
    }
    sure = evidence.g_trusted.max(axis=1)
    alone = float(systematic_if(evidence.g_items[None], sure, 2)[0])
    named = flattened(known)
    expected = 1 / (1 + np.exp(-BUGS(named))) / (1 + np.exp(-SYSTEMATIC(named)))
    assert alone == pytest.approx(expected, abs=0.02)


def test_a_single_slip_of_somebody_trusted_is_no_evidence() -> None:
    assert weighed(coded(400, 40), 0, 1, 0.999).hypotheses.bugs < 0.5


@pytest.mark.parametrize(("noise", "most"), [(0.0, 0.3), (0.5, 0.4)], ids=["clear", "a toss-up"])
def test_hard_trusted_items_are_not_taken_for_systematic_bugs(noise: float, most: float) -> None:
    found = list[float]()
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 2))
        y = (X[:, 0] + rng.normal(0, 0.5, 200) > 0).astype(int)  # noisy near the border, and no bugs
        X_trusted = np.column_stack([rng.normal(0, 0.3, 20), rng.normal(size=20)])
        y_trusted = (X_trusted[:, 0] + rng.normal(0, noise, 20) > 0).astype(int)
        problem = Problem(X, y, X_trusted, y_trusted, task="classification").trusting(1.0)
        found.append(evidence_of(problem, FEW).hypotheses.probabilities[2])
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
    np.testing.assert_allclose(once.truth.rows, often.truth.rows)
    np.testing.assert_allclose(once.helped.rows, often.helped.rows)


def test_rows_of_a_class_without_trusted_items_are_not_disputed() -> None:
    data = corner(1, m=30, k=3)
    kept = data.y_trusted != 1
    problem = Problem(data.X, data.y, data.X_trusted[kept], data.y_trusted[kept], task="classification")
    evidence = evidence_of(problem, NARROW)
    np.testing.assert_array_equal(evidence.judged, data.y != 1)
    assert not evidence.disputed[data.y == 1].any()
    assert evidence.disputed[data.y != 1].any()


def test_rows_of_a_class_without_trusted_items_are_judged_by_learners_of_the_given_labels_alone() -> None:
    data = corner(1, m=30, k=3)
    kept = data.y_trusted != 1
    problem = Problem(data.X, data.y, data.X_trusted[kept], data.y_trusted[kept], task="classification")
    predictions, unseen = predictions_of(problem, NARROW), data.y == 1
    found = Evidence(unverified(problem), predictions)
    alone = Evidence(unverified(problem), [p for p in predictions if p.kind is Kind.GIVEN])
    for pool in (found.truth, found.helped):
        np.testing.assert_allclose(pool.rows[unseen], alone.truth.rows[unseen])
        assert not np.allclose(pool.rows[~unseen], alone.truth.rows[~unseen])


def test_learners_with_scores_that_are_not_finite_are_left_out() -> None:
    problem = coded(50, 6)
    fine = by_hand(problem, first(0, 50), first(0, 6), 0.9)
    broken = replace(fine, rows=np.full((50, 2), np.nan))
    evidence = Evidence(problem, [broken, fine, replace(broken, kind=Kind.DEBUGGED)])
    assert evidence.learners == [fine]
    assert set(evidence.averages) == {(Kind.GIVEN, fine.name)}


def test_weights_of_learners_sum_to_one_with_and_without_trusted_learners() -> None:
    evidence = evidence_of(problem_of(corner(0)), NARROW)
    for some in (evidence, Evidence(evidence.problem, evidence.learners)):
        weights = [weight for _, weight in some.shared_weights()]
        assert sum(weights) == pytest.approx(1)
        assert min(weights) >= 0


def test_contradictions_are_flips_of_g() -> None:
    g = np.array([0.9, 0.5, 0.01])
    by_formula = np.log((1 - RATES[:, None]) * g + RATES[:, None] * (1 - g) / 3)
    np.testing.assert_allclose(contradicted(g, 4), by_formula)


def test_contrary_is_the_mean_over_shares_of_which_small_ones_are_more_probable() -> None:
    g = np.array([0.9, 0.8, 0.05])
    prior = np.exp(-10 * RATES)
    likelihood = np.exp(contradicted(g, 2).sum(axis=-1)) / g.prod()
    assert float(contrary(g, 2)) == pytest.approx(np.log(prior @ likelihood / prior.sum()))


def test_no_single_item_is_impossible() -> None:
    evidence = weighed(coded(200, 10), 0, 10, 1 - 1e-12)
    assert evidence.g_items.min() >= SLIPS / 2 - 1e-12
    assert np.isfinite(evidence.hypotheses.probabilities).all()


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
    assert none.hypotheses.bugs < 0.5
    assert some.hypotheses.bugs > 1 - 1e-6


def test_rows_found_wrong_where_learners_doubt_them_say_more_than_those_that_turn_out_right() -> None:
    data = flips(1)
    before = evidence_of(problem_of(data), FEW)
    top = np.argsort(-before.wrong(before.rows, before.hypotheses))[:10]
    assert data.is_bug[top].all()
    right, wrong = (
        evidence_of(
            problem_of(data, verified={int(row): int(labels[row]) for row in top}), FEW
        ).hypotheses.bugs
        for labels in (data.y, data.truth)
    )
    assert right < before.hypotheses.bugs < wrong


def test_signs_of_verified_rows_are_those_of_rows() -> None:
    evidence = evidence_of(checked(wrong=True), NARROW)
    assert set(evidence.features(evidence.pairs)) == set(LABELS.weights)
    wrong = evidence.wrong(evidence.pairs, Hypotheses(1.0, 1.0))
    assert wrong.shape == (6,)
    assert ((wrong > 0) & (wrong < 1)).all()


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


def test_how_rows_were_chosen_for_verification_does_not_change_the_evidence() -> None:
    chosen, drawn = (evidence_of(checked(True, verified_at_random=said), NARROW) for said in (False, True))
    np.testing.assert_array_equal(chosen.hypotheses.probabilities, drawn.hypotheses.probabilities)
    np.testing.assert_array_equal(chosen.disputed, drawn.disputed)


def test_hypotheses_that_are_known_from_more_learners_stay_as_they_are() -> None:
    """Learners that were chosen because they suit the items suit them, whether or not there are bugs."""
    problem = problem_of(corner(0, m=30))
    known = Hypotheses(0.3, 1 / 3)
    assert Evidence(unverified(problem), predictions_of(problem, NARROW), known).hypotheses is known
