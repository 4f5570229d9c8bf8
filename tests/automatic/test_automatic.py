from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import duti
from duti import KernelLogistic, KernelRidge, Logistic, Problem
from duti.arrays import Array, Ints
from duti.automatic import Automatic, hearing
from duti.automatic.candidates import (
    BANDWIDTHS,
    CHOSEN_ON,
    FINALISTS,
    MANY_ITEMS,
    RIDGES,
    WIDER,
    candidates,
)
from duti.automatic.confusion import confusions
from duti.automatic.judgement import PLAUSIBLE, judge
from duti.automatic.leave_one_out import block_inverse, leverages, rows_left_out
from duti.automatic.mixture import contradiction, mixed, replacements
from duti.automatic.notes import note_on_far_rows
from duti.automatic.values import Value, weighed
from duti.automatic.voices import CLOSER, Kind, Voice, Witness, losses
from duti.datasets import LabelledBugs, harry_potter, sine
from duti.learners.model import label_targets
from duti.metrics import average_precision
from duti.objective import Objective
from duti.path import Status


def corner(seed: int, n: int = 150, m: int = 14, k: int = 2) -> LabelledBugs:
    """Bands of one feature; every row of one corner has the label of the first."""
    rng = np.random.default_rng(seed)
    X, X_trusted = rng.uniform(size=(n, 2)), rng.uniform(size=(m, 2))

    def truth(X: Array) -> Ints:
        return np.asarray(np.minimum((k * X[:, 0]).astype(int), k - 1))

    y = np.where((X > 0.6).all(axis=1), 0, truth(X))
    return LabelledBugs(X, y, X_trusted, truth(X_trusted), truth(X), y != truth(X), ("a", "b"))


def noisy(seed: int, n: int = 150, m: int = 20) -> LabelledBugs:
    """Two bands, a fifth of the labels flipped at random."""
    rng = np.random.default_rng(seed)
    X, X_trusted = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
    truth, y_trusted = (X[:, 0] > 0).astype(int), (X_trusted[:, 0] > 0).astype(int)
    is_bug = rng.random(n) < 0.2
    return LabelledBugs(
        X, np.where(is_bug, 1 - truth, truth), X_trusted, y_trusted, truth, is_bug, ("a", "b")
    )


def problem_of(data: LabelledBugs, **options: float) -> Problem:
    return Problem(data.X, data.y, data.X_trusted, data.y_trusted, task="classification", **options)  # type: ignore[arg-type]


def test_systematic_bugs_are_found_and_named_so() -> None:
    data = corner(0, m=20)
    found = Automatic(budget=int(data.is_bug.sum())).rank(problem_of(data))
    assert found.systematic is not None
    assert found.systematic > 0.8
    assert any("systematic" in note for note in found.notes)
    assert average_precision(found.ranking, data.is_bug) > 0.9
    right = found.suggested_labels[found.flagged] == data.truth[found.flagged]
    assert right.mean() > 0.8


def test_random_bugs_are_found_and_are_not_systematic() -> None:
    data = noisy(0)
    found = Automatic().rank(problem_of(data))
    assert found.systematic is not None
    assert found.systematic < 0.2
    assert average_precision(found.ranking, data.is_bug) > 0.85
    assert found.expected_bugs is not None
    assert found.expected_bugs.low <= data.is_bug.sum() <= found.expected_bugs.high


def test_a_budget_is_spent_on_labels_that_may_well_be_wrong_and_on_no_others() -> None:
    data = noisy(0)
    unasked, asked = (Automatic(budget=budget).rank(problem_of(data)) for budget in (None, len(data.y)))
    wrong = 1 - asked.label_quality
    assert asked.flagged.tolist()[: len(unasked.flagged)] == unasked.flagged.tolist()
    assert len(asked.flagged) > len(unasked.flagged)
    assert wrong[asked.flagged].min() >= PLAUSIBLE > np.delete(wrong, asked.flagged).max()
    assert (asked.suggested_labels != data.y)[asked.flagged].all()


def test_qualities_are_probabilities_in_the_order_of_the_ranking() -> None:
    data = noisy(1)
    found = Automatic(budget=150).rank(problem_of(data))
    quality = found.label_quality[found.ranking]
    assert ((quality >= 0) & (quality <= 1)).all()
    number = len(found.flagged)
    assert (np.diff(quality[:number]) >= 0).all()
    assert (np.diff(quality[number:]) >= 0).all()
    brier = ((1 - found.label_quality - data.is_bug) ** 2).mean()
    assert brier < 0.6 * data.is_bug.mean() * (1 - data.is_bug.mean())


def test_qualities_sum_to_the_expected_number_of_bugs() -> None:
    found = Automatic().rank(problem_of(noisy(0)))
    assert found.expected_bugs is not None
    assert (1 - found.label_quality).sum() == pytest.approx(found.expected_bugs.expected, rel=1e-6)


def test_learners_whose_errors_explain_all_disputes_do_not_tell_the_number_of_bugs() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), (rng.random(200) < 0.1).astype(int)  # nothing can be learnt
    X_trusted, y_trusted = rng.normal(size=(30, 2)), np.repeat([0, 1], [20, 10])
    found = Automatic(systematic=0.0).rank(Problem(X, y, X_trusted, y_trusted, task="classification"))
    assert found.expected_bugs is None


def test_weights_sum_to_one_and_the_best_learner_has_the_path() -> None:
    found = Automatic().rank(problem_of(corner(1)))
    assert sum(opinion.weight for opinion in found.opinions) == pytest.approx(1.0)
    debugged = [opinion for opinion in found.opinions if opinion.learnt_from == Kind.DEBUGGED]
    assert debugged[0].learner == found.learner
    assert found.path
    assert {opinion.learnt_from for opinion in found.opinions} == {str(kind) for kind in Kind} - {
        Kind.CORRECTED
    }


def share(found: duti.Findings, kind: Kind) -> float:
    return sum(opinion.weight for opinion in found.opinions if opinion.learnt_from == kind)


def test_an_override_decides_what_kind_of_bugs_there_are() -> None:
    problem = problem_of(corner(2))
    at_random = Automatic(systematic=0.0).rank(problem)
    assert at_random.systematic == 0
    assert share(at_random, Kind.DEBUGGED) < 0.5
    certain = Automatic(systematic=1.0).rank(problem)
    assert share(certain, Kind.GIVEN) + share(certain, Kind.POOLED) == pytest.approx(0.0)
    with pytest.raises(duti.ProblemError, match=r"systematic is 2; give a probability"):
        Automatic(systematic=2).rank(problem)


@pytest.mark.parametrize(("noise", "most"), [(0.0, 0.1), (0.5, 0.5)], ids=["clear", "a toss-up"])
def test_hard_trusted_items_do_not_open_the_gate(noise: float, most: float) -> None:
    opened = list[float]()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 2))
        y = (X[:, 0] + rng.normal(0, 0.5, 300) > 0).astype(int)  # noisy near the border, and no bugs
        X_trusted = np.column_stack([rng.normal(0, 0.3, 20), rng.normal(size=20)])
        y_trusted = (X_trusted[:, 0] + rng.normal(0, noise, 20) > 0).astype(int)
        problem = Problem(X, y, X_trusted, y_trusted, task="classification").trusting(1.0)
        said = [Witness(problem, candidate).given() for candidate in candidates(problem, KernelLogistic(2.0))]
        opened.append(contradiction(problem, said))
    assert np.mean(opened) < most


def test_learners_that_get_worse_and_hopeless_are_not_asked_on(monkeypatch: pytest.MonkeyPatch) -> None:
    data = corner(0, n=200, m=60, k=5)
    found = duti.debug(data.X, data.y, data.X_trusted, data.y_trusted)
    monkeypatch.setattr(hearing, "HOPELESS", 0.0)
    all_heard = duti.debug(data.X, data.y, data.X_trusted, data.y_trusted)
    asked, grid = (
        {opinion.learner for opinion in f.opinions if opinion.learnt_from == Kind.GIVEN}
        for f in (found, all_heard)
    )
    assert len(grid) == len(RIDGES["classification"]) * len(BANDWIDTHS)
    assert asked < grid
    np.testing.assert_allclose(found.label_quality, all_heard.label_quality, atol=1e-3)


def test_what_the_user_gives_stays_as_it_is() -> None:
    problem = problem_of(harry_potter(np.random.default_rng(0)))
    asked = [candidate.learner for candidate in candidates(problem, KernelLogistic(bandwidth=0.5))]
    assert {getattr(learner, "bandwidth", None) for learner in asked} == {0.5}
    assert [learner.ridge for learner in asked] == list(RIDGES["classification"])
    one = list(candidates(problem, KernelLogistic(0.5, 0.01)))
    assert len(one) == 1
    assert len(list(candidates(problem, KernelLogistic()))) == len(BANDWIDTHS) * len(RIDGES["classification"])
    found = duti.debug(
        problem.X, problem.given, problem.X_trusted, [-1, 1], recipe="auto", learner=KernelLogistic(0.5, 0.01)
    )
    assert found.learner == KernelLogistic(0.5, 0.01)


def test_leaving_rows_out_is_as_training_without_them() -> None:
    data = noisy(3, n=60)
    problem, learner = problem_of(data, confidence=1.0), KernelLogistic(1.0, 0.05)
    objective = Objective(problem, learner)
    labels = label_targets(problem.y, 2)
    fit = objective.erm.fit(labels)
    leverage = leverages(objective.erm, block_inverse(objective.erm, fit.scores))
    quick = rows_left_out(objective.erm, leverage, fit.scores, labels)
    for row in range(0, 60, 7):
        kept = np.delete(np.arange(60), row)
        # Without one row the mean is over n − 1: the same prior has the ridge n λ/(n − 1).
        erm = learner.with_(ridge=0.05 * 60 / 59).erm(objective.rows.subset(kept), 2)
        slow = objective.rows.take(np.array([row])) @ erm.fit(labels[kept]).theta
        moved = abs(slow - fit.scores[row]).max()
        assert abs(slow - quick[row]).max() <= 0.15 * moved + 1e-3


def test_confusion_follows_the_trusted_items() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) + 4 * np.eye(3, 2)[rng.integers(0, 3, 300)]
    truth = np.argmin(((X[:, None] - 4 * np.eye(3, 2)) ** 2).sum(axis=2), axis=1)
    y = np.where((truth == 0) & (rng.random(300) < 0.5), 1, truth)
    items = rng.choice(300, 40, replace=False)
    problem = Problem(X, y, X[items], truth[items], task="classification").trusting(1.0)
    candidate = next(iter(candidates(problem, Logistic(ridge=1e-3))))
    witness = Witness(problem, candidate)
    mixture = mixed(problem, [witness.given(), *witness.debugged()])
    R = replacements(problem, mixture)
    np.testing.assert_allclose(R.sum(axis=1), 1)
    assert R[1, 0] > 1.5 * R[1, 2]
    assert R[1, 0] > 1.5 * R[0, 1]


def voice_of(scores: Array, trusted: Array, y: Ints, y_trusted: Ints) -> Voice:
    rows, items = float(losses(scores, y).mean()), float(losses(trusted, y_trusted).mean())
    missed = float((scores.argmax(axis=1) != y).mean())
    return Voice(Kind.GIVEN, Logistic(0.1), np.inf, scores, scores, rows, missed, trusted, items, items)


@pytest.mark.parametrize(
    ("sure", "contradicts", "opens"), [(4.0, True, True), (4.0, False, False), (0.3, True, False)]
)
def test_only_items_that_contradict_a_sure_learner_open_the_gate(
    sure: float, contradicts: bool, opens: bool
) -> None:
    y = np.array([0, 1] * 50)
    wrong = np.arange(100) % 100 < 100 / (1 + np.exp(2 * sure))  # as often as a calibrated learner is wrong
    scores = sure * np.where(np.eye(2)[np.where(wrong, 1 - y, y)] > 0, 1.0, -1.0)
    y_trusted = np.array([0, 1] * 4)
    said = y_trusted.copy()
    said[:2] = 1 - said[:2] if contradicts else said[:2]
    trusted = sure * np.where(np.eye(2)[said] > 0, 1.0, -1.0)
    problem = Problem(np.arange(100.0)[:, None], y, np.zeros((8, 1)), y_trusted, task="classification")
    assert (contradiction(problem, [voice_of(scores, trusted, y, y_trusted)]) > 0.5) is opens


def test_few_items_are_believed_as_far_as_they_say_what_most_rows_say() -> None:
    y, y_trusted = np.array([0, 1] * 50), np.array([0, 1] * 4)
    problem = Problem(np.arange(100.0)[:, None], y, np.zeros((8, 1)), y_trusted, task="classification")
    trusted = np.eye(2)[y_trusted]
    given = voice_of(np.eye(2)[y], trusted, y, y_trusted)
    agrees, differs = (
        voice_of(np.eye(2)[np.where(np.arange(100) < wrong, 1 - y, y)], trusted, y, y_trusted)
        for wrong in (20, 40)
    )
    alone = [replace(voice, kind=Kind.TRUSTED) for voice in (agrees, differs)]
    weights = mixed(problem, [given, replace(given, kind=Kind.DEBUGGED), *alone], systematic=1.0).weights
    assert weights[0] == 0
    assert weights[2] > 10 * weights[3]
    assert weights[2] > weights[1] > weights[3]


@pytest.mark.parametrize("n", [20, 100, 1000])
def test_few_items_do_not_outvote_many_rows(n: int) -> None:
    y, y_trusted = np.array([0, 1] * (n // 2)), np.array([0, 1] * 20)
    problem = Problem(np.arange(float(n))[:, None], y, np.zeros((40, 1)), y_trusted, task="classification")
    given = voice_of(np.eye(2)[y], np.eye(2)[y_trusted], y, y_trusted)
    others = [replace(given, kind=kind) for kind in (Kind.DEBUGGED, Kind.TRUSTED)]
    weights = mixed(problem, [given, *others], systematic=0.0).weights
    assert weights[2] == pytest.approx(min(40 / n, 1.0) * weights[0])


def test_items_tell_learners_apart_but_very_many_no_better() -> None:
    def preferred(m: int) -> float:
        y, y_trusted = np.array([0, 1] * 50), np.array([0, 1] * (m // 2))
        problem = Problem(np.arange(100.0)[:, None], y, np.zeros((m, 1)), y_trusted, task="classification")
        wrong = np.arange(m) < m // 10
        better, worse = (
            voice_of(np.eye(2)[y], 2 * np.eye(2)[said], y, y_trusted)
            for said in (y_trusted, np.where(wrong, 1 - y_trusted, y_trusted))
        )
        debugged = replace(better, kind=Kind.DEBUGGED)
        weights = mixed(problem, [better, worse, debugged], systematic=0.0).weights
        return float(weights[0] / weights[1])

    assert 1 < preferred(20) < preferred(40)
    assert preferred(200) == pytest.approx(preferred(40))


@pytest.mark.parametrize(("labels", "heard"), [([0, 1], False), ([0, 0, 0, 1], True), ([0, 0, 0, 0], False)])
def test_trusted_items_are_heard_alone_if_they_show_every_class_and_are_not_too_few(
    labels: list[int], heard: bool
) -> None:
    data = corner(0)
    X_trusted = data.X_trusted[: len(labels)]
    problem = Problem(data.X, data.y, X_trusted, labels, task="classification").trusting(1.0)
    (candidate,) = candidates(problem, KernelLogistic(2.0, 0.01))
    assert bool(list(Witness(problem, candidate).of_the_trusted())) is heard


def test_labels_that_are_right_are_also_followed_more_closely() -> None:
    problem, smallest = problem_of(corner(0)).trusting(1.0), min(RIDGES["classification"])
    closest = next(candidate for candidate in candidates(problem, KernelLogistic()) if candidate.closest)
    ridges = [voice.learner.ridge for voice in Witness(problem, closest).of_the_trusted()]
    assert ridges == [smallest, CLOSER * smallest]
    (fixed,) = candidates(problem, KernelLogistic(2.0, 0.01))
    assert [voice.learner.ridge for voice in Witness(problem, fixed).of_the_trusted()] == [0.01]


def test_few_items_do_not_convince_that_most_labels_are_wrong() -> None:
    def number_of_bugs(m: int) -> float:
        y, y_trusted = np.array([0, 1] * 50), np.array([0, 1] * (m // 2))
        scores = 4 * np.eye(2)[np.where(np.arange(100) < 60, 1 - y, y)]
        problem = Problem(np.arange(100.0)[:, None], y, np.zeros((m, 1)), y_trusted, task="classification")
        given = voice_of(scores, 4 * np.eye(2)[y_trusted], y, y_trusted)
        mixture = mixed(problem, [given, replace(given, kind=Kind.DEBUGGED)], systematic=0.0)
        return float((1 - judge(problem, mixture).quality).sum())

    assert number_of_bugs(2) < 35 < 50 < number_of_bugs(200) < 60


def test_many_rows_are_judged_by_a_sample() -> None:
    data = corner(3, n=CHOSEN_ON + 500, m=30)
    found = Automatic(Logistic(), budget=400).rank(problem_of(data))
    assert len({opinion.learner for opinion in found.opinions}) == FINALISTS
    assert len(found.ranking) == CHOSEN_ON + 500


def test_verified_rows_are_never_flagged() -> None:
    data = corner(4)
    bugs = np.flatnonzero(data.is_bug)[:3]
    verified = {int(row): int(data.truth[row]) for row in bugs}
    found = duti.debug(
        data.X,
        data.y,
        data.X_trusted,
        data.y_trusted,
        task="classification",
        verified=verified,
        recipe="auto",
    )
    assert not set(bugs) & set(found.flagged)
    assert (found.label_quality[bugs] == 1).all()


def test_findings_with_opinions_are_saved_and_read(tmp_path: Path) -> None:
    found = Automatic().rank(problem_of(noisy(4)))
    found.save(tmp_path / "findings.duti")
    read = duti.load(tmp_path / "findings.duti")
    assert read.opinions == found.opinions
    assert read.expected_bugs == found.expected_bugs
    assert read.systematic == found.systematic


def test_the_flipped_peak_of_a_sine_is_found_and_straightened() -> None:
    data = sine(np.random.default_rng(7))
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
    found = Automatic().rank(problem)
    assert average_precision(found.ranking, data.is_bug) > 0.97
    assert data.is_bug[found.flagged].mean() > 0.9
    wrong = found.flagged[data.is_bug[found.flagged]]
    error = np.sqrt(((found.suggested_labels[wrong] - data.truth[wrong]) ** 2).mean())
    assert error < 0.25
    assert sum(opinion.weight for opinion in found.opinions) == pytest.approx(1.0)
    assert found.systematic is None


def test_values_that_are_wrong_for_certain_are_ranked_by_how_far_they_are_off() -> None:
    data = sine(np.random.default_rng(7))
    y = data.truth.copy()
    y[[11, 5, 40]] += [200.0, 100.0, 300.0]
    found = duti.debug(data.X, y, data.X_trusted, data.y_trusted)
    assert (found.label_quality[[11, 5, 40]] == 0).all()
    assert found.ranking[:3].tolist() == [40, 11, 5]


def test_many_trusted_values_are_heard_alone_and_choose_among_wider_kernels() -> None:
    data, rng = sine(np.random.default_rng(7)), np.random.default_rng(7)
    some = rng.choice(len(data.y), MANY_ITEMS, replace=False)
    heard = {}
    for m in (MANY_ITEMS - 1, MANY_ITEMS):
        found = duti.debug(data.X, data.y, data.X[some[:m]], data.truth[some[:m]])
        heard[m] = {kind: [o for o in found.opinions if o.learnt_from == kind] for kind in Kind}
        assert sum(opinion.weight for opinion in found.opinions) == pytest.approx(1)
        assert found.path
    number = len(RIDGES["regression"]) * (len(WIDER) + len(BANDWIDTHS))
    assert not heard[MANY_ITEMS - 1][Kind.TRUSTED]
    assert len(heard[MANY_ITEMS][Kind.TRUSTED]) == len(heard[MANY_ITEMS][Kind.DEBUGGED]) == number
    alone = heard[MANY_ITEMS][Kind.TRUSTED][0]
    folds = np.arange(MANY_ITEMS) % 5
    X, y, squares = data.X[some], data.truth[some], 0.0
    for fold in range(5):
        kept, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        objective = Objective(Problem(data.X, data.y, X[kept], y[kept]), alone.learner)
        fit = alone.learner.erm(objective.trusted_rows, 0).fit(objective.trusted_labels)
        mapped = Objective(Problem(data.X, data.y, X[out], y[out]), alone.learner).trusted_rows
        squares += float(((mapped.times(fit.theta) - y[out]) ** 2).sum())
    assert alone.trusted_loss == pytest.approx(np.sqrt(squares / MANY_ITEMS), rel=0.01)


def test_of_values_that_err_alike_stiffer_ones_count_more_if_there_are_many_items() -> None:
    def value(kind: Kind, ridge: float, error: float) -> Value:
        nothing = np.zeros(3)
        return Value(kind, KernelRidge(1.0, ridge), 1.0, nothing, nothing == 0, error, ())

    supple, stiff, worse = (
        value(Kind.DEBUGGED, ridge, error) for ridge, error in ((1e-4, 1.0), (1e-2, 1.0), (1e-2, 1.5))
    )
    np.testing.assert_allclose(weighed(3, [supple, stiff]), 0.5)
    np.testing.assert_allclose(weighed(30, [supple, stiff]), np.array([1, np.sqrt(10)]) / (1 + np.sqrt(10)))
    # As before, errors count, and items beyond some tell learners apart no better.
    np.testing.assert_allclose(weighed(3, [stiff, worse]), np.array([1.5**1.5, 1]) / (1 + 1.5**1.5))
    assert weighed(10, [stiff, worse])[1] > weighed(15, [stiff, worse])[1]
    np.testing.assert_allclose(weighed(15, [stiff, worse]), weighed(100, [stiff, worse]))
    # Stiffness does not decide between debugged learners and those that never saw a wrong label.
    alone = value(Kind.TRUSTED, 1e-6, 1.0)
    np.testing.assert_allclose(weighed(30, [alone, supple]), [2 / 3, 1 / 3])
    np.testing.assert_allclose(weighed(30, [alone, stiff]), [2 / 3, 1 / 3])


def test_a_budget_of_values_is_spent_on_all_that_are_farther_away_than_noise() -> None:
    data = sine(np.random.default_rng(7))
    alone, asked = (
        duti.debug(data.X, data.y, data.X_trusted, data.y_trusted, budget=budget) for budget in (None, 45)
    )
    assert len(alone.flagged) < len(asked.flagged) <= 45
    assert set(alone.flagged) <= set(asked.flagged)
    residuals = abs(asked.suggested_labels - data.y)[asked.flagged]
    # the noise of the sine has a standard deviation of 0.1
    assert residuals.min() > 0.05


def test_a_single_trusted_value_is_enough() -> None:
    data = sine(np.random.default_rng(8))
    found = Automatic().rank(Problem(data.X, data.y, data.X_trusted[:1], data.y_trusted[:1]))
    assert np.isfinite(found.label_quality).all()


def test_systematic_is_for_the_automatic_recipe() -> None:
    with pytest.raises(duti.ProblemError, match="systematic is for recipe='auto'"):
        duti.debug([[0.0], [1.0]], ["a", "b"], [[0.0]], ["a"], systematic=1.0, recipe="paper")


def test_a_label_without_trusted_items_is_named() -> None:
    data = corner(5, k=3)
    kept = data.y_trusted != 0
    found = duti.debug(
        data.X, data.y, data.X_trusted[kept], data.y_trusted[kept], task="classification", recipe="auto"
    )
    assert any("No trusted item has the label 0" in note for note in found.notes)


def test_the_same_call_gives_the_same_answer() -> None:
    problem = problem_of(noisy(5))
    first, second = (Automatic().rank(problem) for _ in range(2))
    np.testing.assert_array_equal(first.ranking, second.ranking)
    np.testing.assert_array_equal(first.label_quality, second.label_quality)


class Stop:
    """A user who presses Ctrl-C after so many reports."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, *_: object) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("data", [corner(1), sine(np.random.default_rng(0))], ids=["classes", "values"])
def test_what_was_heard_before_an_interrupt_is_kept(data: LabelledBugs) -> None:
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
    found = Automatic(progress=Stop(3)).rank(problem)
    assert found.status is Status.INTERRUPTED
    heard = {opinion.learner for opinion in found.opinions if opinion.learnt_from != Kind.TRUSTED}
    assert 1 <= len(heard) <= 3
    assert sorted(found.ranking.tolist()) == list(range(problem.n))
    with pytest.raises(KeyboardInterrupt):
        Automatic(progress=Stop(0)).rank(problem)


def test_suspicious_rows_far_from_every_trusted_item_are_named() -> None:
    data = corner(2, n=200, m=40)
    near = data.X_trusted[:, 0] < 0.3  # nothing is trusted where the bugs are
    problem = Problem(data.X, data.y, data.X_trusted[near], data.y_trusted[near], task="classification")
    learner = KernelLogistic(standardize=False)
    bugs = np.flatnonzero(data.is_bug)
    assert "suspicious rows" in note_on_far_rows(problem, learner, bugs)[0]
    assert note_on_far_rows(problem_of(data), learner, bugs) == ()


def test_a_learner_of_confused_labels_knows_the_truth_behind_them() -> None:
    """Half of the rows of class 1 have the label 2: a learner cannot tell, but trusted items can."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    X = np.eye(3)[truth] + rng.normal(0, 0.2, (300, 3))
    y = np.where((truth == 1) & (rng.random(300) < 0.5), 2, truth)
    labels = np.repeat([0, 1, 2], 4)
    X_trusted = np.eye(3)[labels] + rng.normal(0, 0.2, (12, 3))
    problem = Problem(X, y, X_trusted, labels, confidence=1.0, task="classification")
    witness = Witness(problem, next(iter(candidates(problem, Logistic(ridge=1e-3)))))
    given = witness.given()
    better = witness.corrected(given)
    assert better.calibrated_loss < given.calibrated_loss
    precisions = [average_precision(np.argsort(-losses(v.evidence, y)), y != truth) for v in (given, better)]
    assert precisions[0] < 0.8
    assert precisions[1] > 0.95


def test_one_of_many_items_makes_no_difference_to_the_confusions(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 500)
    said = 0.8 * np.eye(3)[labels] + 0.2 / 3
    T, others = confusions(said, labels)
    monkeypatch.setattr("duti.automatic.confusion.FEW", 100)
    same, same_for_each = confusions(said, labels)
    np.testing.assert_array_equal(same, T)
    assert same_for_each is same
    np.testing.assert_allclose(others, np.broadcast_to(T, others.shape), atol=5e-3)
