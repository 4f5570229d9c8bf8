"""The automatic recipe as a whole, on classifications: what it says, what it changes, what it leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import duti
from duti import Findings, KernelLogistic, Logistic, Problem, Verdict
from duti.arrays import Ints
from duti.automatic import Automatic
from duti.automatic.candidates import CHOSEN_ON, FINALISTS, number_of
from duti.automatic.notes import note_on_far_rows
from duti.automatic.predictions import Kind
from duti.datasets import LabelledBugs
from duti.detector import STAGES
from duti.journal import Journal, Kept
from duti.metrics import average_precision
from duti.path import Status
from tests.automatic.tables import FEW, NARROW, clean, corner, expected, flips, problem_of


@cache
def debugged(table: Callable[..., LabelledBugs], seed: int, learner: KernelLogistic | None = FEW) -> Findings:
    """With forty items if the table has a number of its own."""
    data = corner(seed, n=200, m=40) if table is corner else table(seed)
    return Automatic(learner, random_state=0).rank(problem_of(data))


def overlapping(seed: int) -> LabelledBugs:
    return clean(seed, noise=0.7)


def wrong_before_and_after(data: LabelledBugs, found: Findings) -> tuple[int, int]:
    return int((data.y != data.truth).sum()), int((found.corrected_labels() != data.truth).sum())


def test_where_classes_are_far_apart_and_nothing_is_wrong_there_is_no_evidence_and_no_change() -> None:
    for found in (debugged(clean, 0, None), *(debugged(clean, seed) for seed in range(6))):
        assert found.verdict is Verdict.NO_EVIDENCE
        assert found.systematic is None
        assert not len(found.fixed)


def test_where_classes_overlap_and_nothing_is_wrong_there_is_hardly_ever_evidence_and_hardly_a_change() -> (
    None
):
    for learner in (None, FEW):
        found = [debugged(overlapping, seed, learner) for seed in range(5)]
        assert sum(one.verdict is Verdict.NO_EVIDENCE for one in found) >= 4
        assert sum(len(one.fixed) for one in found) <= 10  # of 1000 rows


def test_a_clean_table_has_hardly_any_bugs_by_its_number() -> None:
    number = debugged(clean, 1).expected_bugs
    assert number is not None
    assert number.low == 0
    assert number.expected < 1


def test_labels_flipped_at_random_are_called_so_and_are_flipped_back() -> None:
    found = [debugged(flips, seed) for seed in range(6)]
    assert sum(one.verdict is Verdict.RANDOM for one in found) >= 5
    for seed, one in enumerate(found):
        assert one.systematic is not None
        assert (one.systematic < 1 / 2) == (one.verdict is Verdict.RANDOM)
        before, after = wrong_before_and_after(flips(seed), one)
        assert after < before / 2
        assert average_precision(one.ranking, flips(seed).is_bug) > 0.9


def test_where_many_classes_overlap_fixes_leave_fewer_wrong_labels() -> None:
    """A label among twenty is improbable by nature: a flip is so to a nineteenth of the rate."""
    k, n, wrong = 20, 400, list[tuple[int, int]]()
    for seed in range(3):
        rng = np.random.default_rng(seed)
        centres, truth = 4 * rng.normal(size=(k, 2)), rng.integers(0, k, n + 100)
        X = centres[truth] + rng.normal(size=(n + 100, 2))
        y = np.where(rng.random(n) < 0.1, rng.integers(0, k, n), truth[:n])
        found = duti.debug(X[:n], y, X[n:], truth[n:], random_state=0, task="classification")
        wrong.append((int((y != truth[:n]).sum()), int((found.corrected_labels() != truth[:n]).sum())))
    before, after = np.array(wrong).T
    assert after.sum() < before.sum()


def test_the_number_of_random_bugs_lies_in_its_interval() -> None:
    numbers = [debugged(flips, seed).expected_bugs for seed in range(6)]
    told = [(seed, number) for seed, number in enumerate(numbers) if number is not None]
    assert told
    assert (
        sum(number.low <= flips(seed).is_bug.sum() <= number.high for seed, number in told) >= len(told) - 1
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_corner_that_is_labelled_wrongly_is_systematic_and_fixes_leave_fewer_wrong_labels(
    seed: int,
) -> None:
    data, found = corner(seed, n=200, m=40), debugged(corner, seed, NARROW)
    assert found.verdict is Verdict.SYSTEMATIC
    assert found.systematic is not None
    assert found.systematic > 0.9
    before, after = wrong_before_and_after(data, found)
    assert after < 0.7 * before
    assert average_precision(found.ranking, data.is_bug) > 0.85


def test_the_default_call_finds_a_wrong_corner() -> None:
    data = corner(0, n=200, m=40)
    found = duti.debug(data.X, data.y, data.X_trusted, data.y_trusted, random_state=0)
    assert found.verdict is Verdict.SYSTEMATIC
    before, after = wrong_before_and_after(data, found)
    assert after < before / 2
    names = {learner.name for learner in found.learners}
    assert names == {"KernelLogistic", "RandomForestClassifier"}
    scaled = {
        learner.settings["standardize"] for learner in found.learners if learner.name == "KernelLogistic"
    }
    assert scaled == {True, False}


@pytest.mark.parametrize(("table", "learner"), [(corner, NARROW), (flips, FEW), (overlapping, FEW)])
def test_flags_are_the_rows_that_are_more_probably_wrong_than_right_in_rank_order(
    table: Callable[[int], LabelledBugs], learner: KernelLogistic
) -> None:
    found = debugged(table, 1, learner)
    wrong = 1 - found.label_quality
    assert set(found.flagged.tolist()) == set(np.flatnonzero(wrong > 1 / 2).tolist())
    np.testing.assert_array_equal(found.flagged, found.ranking[: len(found.flagged)])
    assert found.budget is None
    # Of two classes the other one is the only candidate.
    np.testing.assert_array_equal(found.fixed, found.flagged)
    assert (found.candidate_labels != found.given_labels).all()


@pytest.mark.parametrize("budget", [1, 10, 60])
def test_a_budget_is_for_rows_to_look_at_and_changes_no_label_more_or_less(budget: int) -> None:
    found, alone = Automatic(FEW, budget, random_state=0).rank(problem_of(flips(1))), debugged(flips, 1)
    assert len(found.flagged) == budget
    np.testing.assert_array_equal(found.flagged, found.ranking[:budget])
    np.testing.assert_array_equal(found.label_quality, alone.label_quality)
    np.testing.assert_array_equal(found.suggested_labels, alone.suggested_labels)
    unchanged = np.setdiff1d(found.flagged, found.fixed)
    assert (found.candidate_labels[found.flagged] != found.given_labels[found.flagged]).all()
    assert (found.suggested_labels[unchanged] == found.given_labels[unchanged]).all()


def test_qualities_are_probabilities_that_are_better_than_the_rate_alone() -> None:
    data, found = flips(1), debugged(flips, 1)
    assert ((found.label_quality >= 0) & (found.label_quality <= 1)).all()
    brier = ((1 - found.label_quality - data.is_bug) ** 2).mean()
    assert brier < 0.5 * data.is_bug.mean() * (1 - data.is_bug.mean())


def test_qualities_sum_to_the_expected_number_of_bugs_where_it_is_in_its_interval() -> None:
    found = debugged(corner, 0, NARROW)
    assert found.expected_bugs is not None
    number = found.expected_bugs
    within = min(max(expected(found.label_quality), number.low), number.high)
    assert number.expected == pytest.approx(within)


def test_labels_that_cannot_be_predicted_are_hardly_ever_evidence_and_are_not_changed() -> None:
    verdicts = list[Verdict | None]()
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(200, 2)), (rng.random(200) < 0.1).astype(int)
        X_trusted, y_trusted = rng.normal(size=(30, 2)), (rng.random(30) < 0.1).astype(int)
        found = Automatic(FEW).rank(Problem(X, y, X_trusted, y_trusted, task="classification"))
        assert not len(found.fixed)
        verdicts.append(found.verdict)
    assert verdicts.count(Verdict.NO_EVIDENCE) >= 4


def test_weights_of_learners_sum_to_one_and_the_best_has_the_path() -> None:
    found = debugged(corner, 0, NARROW)
    assert sum(learner.weight for learner in found.learners) == pytest.approx(1)
    weights = [learner.weight for learner in found.learners]
    assert weights == sorted(weights, reverse=True)
    assert {learner.kind for learner in found.learners} == set(Kind)
    best = next(learner for learner in found.learners if learner.kind == Kind.DEBUGGED)
    assert found.learner is not None
    assert best.settings["ridge"] == found.learner.ridge
    assert found.path
    assert all(
        learner.row_loss is not None and learner.trusted_loss is not None for learner in found.learners
    )
    assert all((learner.gamma is None) == (learner.kind != Kind.DEBUGGED) for learner in found.learners)


def test_where_bugs_are_systematic_the_labels_as_given_count_for_less() -> None:
    share = {}
    for table, learner in ((clean, FEW), (corner, NARROW)):
        of = debugged(table, 0, learner).learners
        share[table] = sum(one.weight for one in of if one.kind == Kind.GIVEN)
    assert share[corner] < 0.1 < 0.25 < share[clean]


def test_an_override_decides_what_kind_of_bugs_there_are() -> None:
    problem = problem_of(flips(1))
    found = Automatic(FEW, systematic=0.25).rank(problem)
    assert found.systematic == pytest.approx(0.25)
    for wrong in (2, -0.1):
        with pytest.raises(duti.ProblemError, match=rf"systematic is {wrong}; give a probability"):
            Automatic(systematic=wrong).rank(problem)


def test_systematic_is_for_the_automatic_recipe() -> None:
    with pytest.raises(duti.ProblemError, match="systematic is for recipe='auto'"):
        duti.debug([[0.0], [1.0]], ["a", "b"], [[0.0]], ["a"], systematic=1.0, recipe="paper")


def test_a_given_learner_is_trained_as_it_is_and_without_a_forest() -> None:
    found = Automatic(KernelLogistic(0.5, 0.01)).rank(problem_of(corner(0)))
    assert found.learner == KernelLogistic(0.5, 0.01)
    assert {learner.name for learner in found.learners} == {"KernelLogistic"}
    assert {one.kind for one in found.learners} == set(Kind)
    assert len(found.learners) == 4


def test_given_models_replace_the_forest_and_may_go_with_a_given_learner() -> None:
    problem, models = problem_of(corner(0)), [LogisticRegression()]
    for learner, names in (
        (KernelLogistic(0.5, 0.01), {"KernelLogistic", "LogisticRegression"}),
        (None, {"KernelLogistic", "LogisticRegression"}),
    ):
        found = Automatic(learner, models=models).rank(problem)
        assert {one.name for one in found.learners} == names
    assert not hasattr(models[0], "coef_")  # the user's own model is not trained


def test_probabilities_of_a_model_that_knows_the_truth_are_believed() -> None:
    """Where the learner that was given knows nothing: one feature says the truth, and it has only another."""
    data, rng = flips(1), np.random.default_rng(0)
    sure, items = (
        rng.uniform(0.6, 0.99, len(labels))[:, None] * np.eye(2)[labels]
        for labels in (data.truth, data.y_trusted)
    )
    sure, items = (np.where(P > 0, P, 1 - P.max(axis=1, keepdims=True)) for P in (sure, items))
    blind = replace(data, X=data.X[:, 1:], X_trusted=data.X_trusted[:, 1:])
    problem = problem_of(blind, pred_probs=sure, pred_probs_trusted=items)
    found, alone = Automatic(Logistic(0.1)).rank(problem), Automatic(Logistic(0.1)).rank(problem_of(blind))
    assert found.learners[0].name == "the given probabilities"
    assert (
        average_precision(found.ranking, data.is_bug)
        > 0.95
        > 0.5
        > average_precision(alone.ranking, data.is_bug)
    )
    wrong = 1 - found.label_quality
    assert wrong[data.is_bug].mean() > 3 * wrong[~data.is_bug].mean()


@pytest.mark.parametrize("n", [2, 3, 6])
def test_tiny_tables_are_judged_without_a_warning(n: int) -> None:
    X, y = np.arange(float(n))[:, None], np.arange(n) % 2
    found = Automatic(random_state=0).rank(Problem(X, y, [[0.2]], [0], task="classification"))
    assert np.isfinite(found.label_quality).all()
    assert not len(found.fixed)


def test_many_rows_are_judged_by_the_learners_that_a_sample_chose() -> None:
    data = corner(3, n=CHOSEN_ON + 500, m=30)
    found = Automatic(Logistic(), budget=400).rank(problem_of(data))
    assert len({str(learner.settings) for learner in found.learners}) == FINALISTS
    assert len(found.ranking) == CHOSEN_ON + 500


def to_come(found: Findings) -> float:
    """The number of wrong labels that is expected among rows that nobody verified."""
    return expected(found.label_quality[~found.verified])


def verifying(data: LabelledBugs, rows: Ints, *, wrong: bool = True, at_random: bool = False) -> Findings:
    """Some rows were checked: with the truth, or confirmed whatever they are."""
    labels = data.truth if wrong else data.y
    verified = {int(row): int(labels[row]) for row in rows}
    problem = problem_of(data, verified=verified, verified_at_random=at_random)
    return Automatic(NARROW, random_state=0).rank(problem)


def test_verified_rows_are_never_flagged_and_have_their_right_label() -> None:
    data = corner(4)
    bugs = np.flatnonzero(data.is_bug)[:3]
    found = verifying(data, bugs)
    assert not set(bugs) & set(found.flagged)
    assert set(found.ranking[-3:]) == set(bugs)
    assert (found.label_quality[bugs] == 0).all()
    confirmed = np.flatnonzero(~data.is_bug)[:3]
    assert (verifying(data, confirmed).label_quality[confirmed] == 1).all()
    np.testing.assert_array_equal(found.corrected_labels()[bugs], data.truth[bugs])


def test_rows_that_were_found_wrong_raise_the_expected_number_of_bugs() -> None:
    data = corner(0, n=200, m=40)
    bugs = np.flatnonzero(data.is_bug)[:6]
    right, wrong = (verifying(data, bugs, wrong=found, at_random=True) for found in (False, True))
    assert to_come(wrong) > 2 * to_come(right)


def test_that_rows_were_verified_at_random_changes_the_number_of_bugs_and_nothing_else() -> None:
    data = corner(0, n=200, m=40)
    rows = np.concatenate([np.flatnonzero(data.is_bug)[:10], np.flatnonzero(~data.is_bug)[:10]])
    chosen, drawn = (verifying(data, rows, at_random=at_random) for at_random in (False, True))
    assert to_come(drawn) > 1.2 * to_come(chosen)
    assert (chosen.verdict, chosen.systematic) == (drawn.verdict, drawn.systematic)
    assert chosen.learners == drawn.learners
    np.testing.assert_array_equal(chosen.candidate_labels, drawn.candidate_labels)


@pytest.mark.parametrize("seed", [0, 2])
def test_flips_that_somebody_found_do_not_make_bugs_systematic(seed: int) -> None:
    data, before = flips(seed), debugged(flips, seed)
    assert before.verdict is Verdict.RANDOM
    verified = {int(row): int(data.truth[row]) for row in before.ranking[:20]}
    found = Automatic(FEW, random_state=0).rank(problem_of(data, verified=verified))
    assert found.verdict is not Verdict.SYSTEMATIC


def test_findings_are_saved_and_read(tmp_path: Path) -> None:
    found = debugged(flips, 1)
    found.save(tmp_path / "findings.duti")
    read = duti.load(tmp_path / "findings.duti")
    assert read.learners == found.learners
    assert read.expected_bugs == found.expected_bugs
    assert (read.verdict, read.verdict_reason, read.systematic, read.power) == (
        found.verdict,
        found.verdict_reason,
        found.systematic,
        found.power,
    )
    np.testing.assert_array_equal(read.candidate_labels, found.candidate_labels)


def test_a_suspicious_label_without_trusted_items_is_named() -> None:
    data = flips(1)
    ones = data.y_trusted == 1
    problem = Problem(data.X, data.y, data.X_trusted[ones], data.y_trusted[ones], task="classification")
    found = Automatic(FEW, budget=20).rank(problem)
    assert any("No trusted item has the label 0" in note for note in found.notes)


def test_suspicious_rows_far_from_every_trusted_item_are_named() -> None:
    data = corner(2, n=200, m=40)
    near = data.X_trusted[:, 0] < 0.3  # nothing is trusted where the bugs are
    problem = Problem(data.X, data.y, data.X_trusted[near], data.y_trusted[near], task="classification")
    learner = KernelLogistic(standardize=False)
    bugs = np.flatnonzero(data.is_bug)
    assert "suspicious rows" in note_on_far_rows(problem, learner, bugs)[0]
    assert note_on_far_rows(problem_of(data), learner, bugs) == ()


def test_the_same_call_gives_the_same_answer() -> None:
    problem = problem_of(flips(5, n=80, m=10))
    first, second = (Automatic(random_state=1).rank(problem) for _ in range(2))
    np.testing.assert_array_equal(first.ranking, second.ranking)
    np.testing.assert_array_equal(first.label_quality, second.label_quality)


def test_names_of_classes_make_no_difference() -> None:
    data, found = flips(1), debugged(flips, 1)
    names = np.array(["yes", "no"])
    problem = Problem(data.X, names[data.y], data.X_trusted, names[data.y_trusted])
    renamed = Automatic(FEW, random_state=0).rank(problem)
    np.testing.assert_allclose(renamed.label_quality, found.label_quality, atol=1e-3)
    np.testing.assert_array_equal(renamed.corrected_labels(), names[found.corrected_labels()])


class Stop:
    """A user who presses Ctrl-C after so many reports."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, *_: object) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


def test_what_was_trained_before_an_interrupt_is_kept() -> None:
    problem = problem_of(corner(1))
    found = Automatic(NARROW, progress=Stop(3)).rank(problem)
    assert found.status is Status.INTERRUPTED
    assert 1 <= len(found.learners) <= 3
    assert sum(learner.weight for learner in found.learners) == pytest.approx(1)
    assert sorted(found.ranking.tolist()) == list(range(problem.n))


def test_an_interrupt_before_any_learner_is_an_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt):
        Automatic(NARROW, progress=Stop(0)).rank(problem_of(corner(1)))


class Diary(Journal):
    """A journal that knows what was done again."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, STAGES)
        self.done = list[str]()

    def recalled(self, stage: str, work: Callable[[], Kept]) -> Kept:
        def noted() -> Kept:
            self.done.append(stage)
            return work()

        return super().recalled(stage, noted)


def stages(folder: Path, problem: Problem, learner: KernelLogistic = NARROW) -> list[str]:
    """What had to be computed."""
    diary = Diary(folder)
    Automatic(learner, memory=diary).rank(problem)
    return diary.done


def test_a_stage_is_kept_by_what_it_computes(tmp_path: Path) -> None:
    data = corner(0, n=60)
    problem = problem_of(data)
    done = stages(tmp_path, problem)
    assert len(done) == len(set(done)) == 2 * number_of(problem, NARROW)
    assert stages(tmp_path, problem) == []
    # One of these learners alone has been trained before, as given and with the trusted items.
    assert stages(tmp_path, problem, KernelLogistic(0.4, 0.01)) == []
    assert len(stages(tmp_path, problem, KernelLogistic(0.5, 0.01))) == 2
    # Other labels, or a row less, are other work.
    other = Problem(data.X, 1 - data.y, data.X_trusted, data.y_trusted, task="classification")
    assert len(stages(tmp_path, other)) == len(done)
    assert len(stages(tmp_path, problem_of(data, verified={0: int(data.truth[0])}))) == len(done)
