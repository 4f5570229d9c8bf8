"""From weighed hypotheses to probabilities, fixes, a number and a verdict."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from duti import Problem, Verdict
from duti.arrays import Array, Ints, Mask
from duti.automatic.evidence import Evidence
from duti.automatic.posterior import (
    CERTAIN,
    INTERVAL,
    WIDEST,
    Posterior,
    _with_mean,
    in_words,
    number_of_bugs,
    posterior,
    verdict_of,
)
from duti.automatic.predictions import Kind
from duti.datasets import LabelledBugs
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
    problem_of,
    said,
)


@pytest.fixture(scope="module")
def tables() -> list[Evidence]:
    """Of every kind, with three classes, too."""
    return [
        evidence_of(problem_of(corner(0)), NARROW),
        evidence_of(problem_of(corner(1, m=30, k=3)), NARROW),
        evidence_of(problem_of(flips(0)), FEW),
        evidence_of(problem_of(clean(0, noise=0.5)), FEW),
    ]


def test_a_label_is_changed_only_if_wrong_is_more_probable_than_right_and_than_the_candidate(
    tables: list[Evidence],
) -> None:
    for evidence in tables:
        found = posterior(evidence)
        assert ((found.wrong >= 0) & (found.wrong <= 1)).all()
        assert (found.wrong[found.changed] > 1 / 2).all()
        assert (found.candidates != evidence.problem.y).all()
        np.testing.assert_array_equal(found.flagged, found.wrong > 1 / 2)
        if evidence.problem.k == 2:  # the candidate is the only other label
            np.testing.assert_array_equal(found.changed, found.flagged)


def test_a_row_is_flagged_but_not_changed_if_no_candidate_is_more_probable_than_its_label() -> None:
    k, n, m = 11, 220, 44
    problem, doubted = coded(n, m, k), first(22, n)
    given = by_hand(problem, first(0, n), first(6, m), 0.99)

    def changed(scores: Array) -> tuple[Mask, Mask]:
        """By learners of the trusted items that say so of some rows, and agree with the others."""
        rows = np.where(doubted[:, None], scores, said(problem.y, 0.99, k))
        alone = replace(given, kind=Kind.TRUSTED, rows=rows, trusted=said(problem.y_trusted, 0.99, k))
        found = posterior(Evidence(problem, [given, alone]), systematic=1.0)
        np.testing.assert_array_equal(found.changed, found.changed & found.flagged)
        return found.flagged, found.changed

    anything = np.where(np.eye(k)[problem.y] > 0, -5.0, 0.0)  # any label but the given one
    flagged, fixed = changed(anything)
    np.testing.assert_array_equal(flagged, doubted)
    assert not fixed.any()
    flagged, fixed = changed(said((problem.y + 1) % k, 0.99, k))
    np.testing.assert_array_equal(fixed, doubted)


def test_systematic_is_told_if_and_only_if_there_is_evidence_of_bugs(tables: list[Evidence]) -> None:
    told = {(found.verdict, found.systematic is None) for found in map(posterior, tables)}
    assert {verdict for verdict, untold in told if untold} == {Verdict.NO_EVIDENCE}
    assert Verdict.NO_EVIDENCE not in {verdict for verdict, untold in told if not untold}


def test_rows_of_a_class_without_trusted_items_are_hardly_ever_changed_by_systematic_evidence() -> None:
    data = corner(1, n=200, m=60, k=3)
    kept = data.y_trusted != 1
    problem = Problem(data.X, data.y, data.X_trusted[kept], data.y_trusted[kept], task="classification")
    found = posterior(evidence_of(problem, NARROW), systematic=1.0)
    unseen = data.y == 1
    assert found.changed[unseen].mean() < 0.05
    assert found.flagged[~unseen].any()


def test_what_kind_of_bugs_there_are_may_be_said_and_whether_there_are_any_may_not() -> None:
    for data, learner in ((corner(0, m=40), NARROW), (flips(1), FEW)):
        evidence = evidence_of(problem_of(data), learner)
        random, systematic = (posterior(evidence, systematic) for systematic in (0.0, 1.0))
        assert random.verdict is not Verdict.SYSTEMATIC
        assert random.systematic in (None, 0.0)
        assert systematic.verdict is Verdict.SYSTEMATIC
        assert systematic.systematic == 1
    nothing = evidence_of(problem_of(clean(0)), FEW)
    for kind in (0.0, 1.0):
        assert posterior(nothing, kind).verdict is Verdict.NO_EVIDENCE
        assert posterior(nothing, kind).systematic is None


@pytest.mark.parametrize("mean", [0.01, 0.1, 0.5, 0.9])
def test_probabilities_with_another_mean_have_it_and_keep_their_order(mean: float) -> None:
    score = np.random.default_rng(0).beta(0.3, 1, 200).clip(CERTAIN, 1 - CERTAIN)
    shifted = _with_mean(score, mean)
    assert shifted.mean() == pytest.approx(mean, rel=1e-6)
    assert (np.diff(shifted[np.argsort(score, kind="stable")]) >= -1e-12).all()
    shift = np.log(shifted / (1 - shifted)) - np.log(score / (1 - score))
    np.testing.assert_allclose(shift, shift[0], atol=1e-6)


def bell(centre: float, width: float, skew: float = 1.0) -> tuple[Array, Array]:
    numbers = np.arange(0, 201.0)
    width_here = np.where(numbers > centre, skew * width, width)
    return numbers, np.exp(-(((numbers - centre) / width_here) ** 2) / 2)


@pytest.mark.parametrize(("centre", "skew"), [(100, 1.0), (60, 1.6), (3, 1.0)])
def test_the_interval_is_the_shortest_that_is_probable_enough(centre: float, skew: float) -> None:
    numbers, weights = bell(centre, 8, skew)
    found = number_of_bugs(numbers, weights, centre, 1000)
    assert found is not None
    mass = np.concatenate([[0], np.cumsum(weights) / weights.sum()])
    widths = [
        int(np.searchsorted(mass, mass[low] + INTERVAL)) - 1 - low
        for low in range(201)
        if mass[low] + INTERVAL <= 1
    ]
    assert found.high - found.low == pytest.approx(min(widths), abs=2.5)  # whole labels, rounded outwards
    inside = (numbers >= found.low) & (numbers <= found.high)
    assert weights[inside].sum() / weights.sum() == pytest.approx(INTERVAL, abs=0.06)


def test_a_number_is_told_only_if_its_interval_is_not_too_wide() -> None:
    numbers, even = np.arange(0, 201.0), np.ones(201)
    assert number_of_bugs(numbers, even, 100, 200) is None
    # Of very many rows so wide an interval is narrow.
    assert number_of_bugs(numbers, even, 100, int(200 / WIDEST)) is not None
    told = [number_of_bugs(*bell(100, width), 100, 300) is not None for width in (2, 10, 20, 60)]
    assert told == sorted(told, reverse=True)
    assert told[0]
    assert not told[-1]


def test_the_expected_number_lies_in_its_interval() -> None:
    for expected in (0.0, 100.0, 190.0):
        found = number_of_bugs(*bell(100, 5), expected, 300)
        assert found is not None
        assert 0 <= found.low <= found.expected <= found.high <= 300


def test_without_bugs_the_number_is_none_of_them() -> None:
    found = number_of_bugs(np.array([0.0, 10.0]), np.array([1.0, 0.0]), 0.0, 100)
    assert found is not None
    assert (found.low, found.expected, found.high) == (0, 0, 0)


@pytest.mark.parametrize(
    ("hypotheses", "expected", "verdict"),
    [
        ((0.9, 0.05, 0.05), 0.5, Verdict.NO_EVIDENCE),
        ((0.2, 0.6, 0.2), 10, Verdict.RANDOM),
        ((0.2, 0.2, 0.6), 10, Verdict.SYSTEMATIC),
        ((0.2, 0.2, 0.6), 0.9, Verdict.NO_EVIDENCE),  # less than one bug
        ((0.4, 0.3, 0.3), 10, Verdict.CANNOT_TELL),
        ((0.3, 0.4, 0.3), 10, Verdict.CANNOT_TELL),
    ],
)
def test_the_verdict_is_what_is_more_probable_than_all_else(
    hypotheses: tuple[float, ...], expected: float, verdict: Verdict
) -> None:
    assert verdict_of(np.array(hypotheses), expected) is verdict


def test_no_probability_in_words_is_certain() -> None:
    told = in_words(np.array([1.0, 0.0, 0.0]))
    assert "100 %" not in told
    assert " 0 %" not in told
    assert in_words(np.array([0.5, 0.3, 0.2])).count(" %") == 3


def test_the_reason_tells_how_many_items_are_right_and_how_many_were_expected() -> None:
    problem = coded(200, 40)
    found = posterior(Evidence(problem, [by_hand(problem, first(4, 200), first(10, 40), 0.98)]))
    assert "39.2 of 40 trusted items and is right on 30." in found.reason


def test_bugs_that_no_learner_can_locate_are_bugs() -> None:
    """As after an interrupt, when there are learners of the labels as given only."""
    problem = coded(200, 40)
    found = posterior(Evidence(problem, [by_hand(problem, first(4, 200), first(10, 40), 0.98)]))
    assert "no wrong labels < 1 %" in found.reason
    assert found.verdict is not Verdict.NO_EVIDENCE
    assert not found.changed.any()


def drawn(wrong: int, right: int, *, at_random: bool) -> Posterior:
    """So many rows were checked and found wrong, and right."""
    data = corner(0, n=200, m=40)
    rows = *np.flatnonzero(data.is_bug)[:wrong].tolist(), *np.flatnonzero(~data.is_bug)[:right].tolist()
    verified = {row: int(data.truth[row]) for row in rows}
    return posterior(evidence_of(problem_of(data, verified=verified, verified_at_random=at_random), NARROW))


@pytest.mark.parametrize(("wrong", "right", "more"), [(12, 12, True), (2, 60, False)])
def test_rows_drawn_at_random_tell_the_number_and_others_do_not(wrong: int, right: int, more: bool) -> None:
    chosen, at_random = (drawn(wrong, right, at_random=at_random) for at_random in (False, True))
    told, untold = (float(found.score.mean()) for found in (at_random, chosen))
    assert (told > untold) == more
    assert abs(told - wrong / (wrong + right)) < abs(untold - wrong / (wrong + right))
    assert at_random.verdict is chosen.verdict
    np.testing.assert_array_equal(at_random.candidates, chosen.candidates)


def verifying(data: LabelledBugs, rows: Ints, *, right: bool) -> Array:
    """P(wrong) of all rows after some were checked."""
    labels = data.y if right else data.truth
    problem = problem_of(data, verified={int(row): int(labels[row]) for row in rows})
    wrong = np.zeros(len(data.y))
    wrong[~problem.frozen] = posterior(evidence_of(problem, FEW)).wrong
    return wrong


def test_suspicious_rows_that_turn_out_right_make_the_others_less_suspicious() -> None:
    data = flips(1)
    before = posterior(evidence_of(problem_of(data), FEW)).wrong
    top, rest = np.split(np.argsort(-before), [20])
    assert data.is_bug[top].all()
    right, wrong = (verifying(data, top, right=found)[rest].sum() for found in (True, False))
    assert right < wrong


@pytest.mark.parametrize("seed", [0, 7])
def test_a_single_checked_row_that_surprises_does_not_make_every_row_suspicious(seed: int) -> None:
    """Nor the least suspicious row the most."""
    data = corner(seed, n=200, m=40)
    away = ~(data.X_trusted > 0.55).all(axis=1)  # nothing is trusted where the bugs are
    row = int(np.flatnonzero(data.is_bug)[0])
    items = data.X_trusted[away], data.y_trusted[away]
    problem = Problem(data.X, data.y, *items, task="classification", verified={row: int(data.truth[row])})
    evidence = evidence_of(problem, NARROW)
    found = posterior(evidence)
    assert found.flagged.sum() <= 2 * data.is_bug.sum()
    assert np.corrcoef(found.wrong, evidence.disputed)[0, 1] > 0
