"""The automatic recipe on regressions: what it claims, what it changes, and when it finds nothing."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import Ridge as SklearnRidge

import duti
from duti import Findings, KernelRidge, Problem, Verdict
from duti.arrays import Array
from duti.automatic import Automatic
from duti.automatic.candidates import MANY_ITEMS, Candidate
from duti.automatic.leave_one_out import folded
from duti.automatic.models import held_out_values, model_predictions
from duti.automatic.noise import Noise, contaminated, likeliest, noises_of
from duti.automatic.predictions import Kind, Prediction
from duti.automatic.value_fits import ValueFits
from duti.automatic.values import Values, posterior_of_values
from duti.datasets import LabelledBugs, sine
from duti.metrics import average_precision
from duti.objective import Objective
from duti.path import Status

FEW = KernelRidge(bandwidth=0.4, intercept=True)
"""One bandwidth: a sixth of the learners."""


def wave(seed: int, noise: str = "normal", m: int = 20, n: int = 120) -> LabelledBugs:
    """A clean regression; trusted values are as noisy as the rows."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 3, n + m)
    draws = {"normal": rng.normal(size=n + m), "heavy": rng.standard_t(3, n + m)}
    scatter = draws["normal"] * (0.2 + x) if noise == "uneven" else draws[noise]
    truth = np.sin(2 * x)
    y = truth + 0.1 * scatter
    X, none = x[:, None], np.zeros(n, dtype=bool)
    return LabelledBugs(X[m:], y[m:], X[:m], y[:m], truth[m:], none, ("x",))


def with_outliers(seed: int) -> LabelledBugs:
    data, rng = wave(seed), np.random.default_rng(seed)
    is_bug = rng.random(len(data.y)) < 0.08
    y = data.y + np.where(is_bug, rng.choice([-3, 3], len(data.y)), 0)
    return LabelledBugs(data.X, y, data.X_trusted, data.y_trusted, data.truth, is_bug, ("x",))


def with_region(seed: int) -> LabelledBugs:
    """Half of the range is 1.5 too high."""
    data = wave(seed)
    is_bug = data.X[:, 0] > 2
    y = data.y + 1.5 * is_bug
    return LabelledBugs(data.X, y, data.X_trusted, data.y_trusted, data.truth, is_bug, ("x",))


def debugged(data: LabelledBugs, **settings: object) -> Findings:
    return Automatic(**{"learner": FEW, "random_state": 0, **settings}).rank(problem_of(data))  # type: ignore[arg-type]


def problem_of(data: LabelledBugs, **given: object) -> Problem:
    return Problem(data.X, data.y, data.X_trusted, data.y_trusted, task="regression", **given)  # type: ignore[arg-type]


@cache
def region() -> tuple[LabelledBugs, Findings]:
    data = with_region(1)
    return data, debugged(data)


def error(labels: Array, data: LabelledBugs) -> float:
    return float(abs(labels - data.truth).mean())


WILD = pytest.mark.xfail(reason="a single trusted value, 13 noise scales off, counts as a systematic bug")


@pytest.mark.parametrize(
    ("noise", "seed"),
    [
        ("normal", 1),
        ("normal", 2),
        ("heavy", 1),
        pytest.param("heavy", 2, marks=WILD),
        ("heavy", 3),
        ("uneven", 1),
        ("uneven", 2),
    ],
)
def test_a_clean_regression_has_no_bugs(noise: str, seed: int) -> None:
    data = wave(seed, noise)
    found = debugged(data)
    assert found.verdict is Verdict.NO_EVIDENCE
    assert found.systematic is None
    assert (found.corrected_labels() == data.y).all()
    assert (1 - found.label_quality).sum() < 3


def test_trusted_values_without_noise_are_no_evidence_of_bugs() -> None:
    data = wave(3)
    exact = LabelledBugs(
        data.X, data.y, data.X_trusted, np.sin(2 * data.X_trusted[:, 0]), data.truth, data.is_bug, ("x",)
    )
    found = debugged(exact)
    assert found.verdict is Verdict.NO_EVIDENCE
    assert not len(found.flagged)


def test_a_region_that_is_off_is_systematic_and_fixes_lower_the_error() -> None:
    data, found = region()
    assert found.verdict is Verdict.SYSTEMATIC
    assert found.systematic is not None
    assert found.systematic > 0.9
    assert average_precision(found.ranking, data.is_bug) > 0.95
    assert error(found.corrected_labels(), data) < 0.5 * error(data.y, data)


def test_all_rows_that_are_more_probably_wrong_than_right_are_flagged() -> None:
    data, found = region()
    assert set(found.flagged) == set(np.flatnonzero(found.label_quality < 0.5))
    assert data.is_bug[found.flagged].mean() > 0.9
    assert len(found.flagged) > 0.7 * data.is_bug.sum()


def test_a_budget_is_spent_on_rows_that_may_well_be_wrong_and_changes_no_more_labels() -> None:
    data, free = region()
    few = debugged(data, budget=5)
    assert few.flagged.tolist() == few.ranking[:5].tolist()
    assert few.suggested_labels.tolist() == free.suggested_labels.tolist()


@pytest.mark.parametrize("seed", [1, 2])
def test_outliers_are_random_and_counted(seed: int) -> None:
    data = with_outliers(seed)
    found = debugged(data)
    assert found.verdict is Verdict.RANDOM
    assert set(np.flatnonzero(data.is_bug)) <= set(found.flagged)
    assert found.expected_bugs is not None
    assert found.expected_bugs.low <= data.is_bug.sum() <= found.expected_bugs.high
    assert error(found.corrected_labels(), data) < 0.6 * error(data.y, data)


def test_the_sine_of_the_paper_is_found_and_repaired() -> None:
    data = sine(np.random.default_rng(7))
    found = duti.debug(data.X, data.y, data.X_trusted, data.y_trusted)
    assert average_precision(found.ranking, data.is_bug) > 0.95
    assert found.verdict is Verdict.SYSTEMATIC
    assert error(found.corrected_labels(), data) < 0.5 * error(data.y, data)
    assert sum(learner.weight for learner in found.learners) == pytest.approx(1)


def test_values_that_are_wrong_for_certain_are_ranked_by_how_far_they_are_off() -> None:
    data = wave(7)
    y = data.y.copy()
    y[[11, 5, 40]] += [200.0, 100.0, 300.0]
    found = duti.debug(data.X, y, data.X_trusted, data.y_trusted, learner=FEW)
    assert found.ranking[:3].tolist() == [40, 11, 5]


def test_a_change_of_units_changes_nothing() -> None:
    data, found = region()
    other = LabelledBugs(
        data.X,
        1e4 * data.y + 7e5,
        data.X_trusted,
        1e4 * data.y_trusted + 7e5,
        data.truth,
        data.is_bug,
        ("x",),
    )
    same = debugged(other)
    assert same.verdict is found.verdict
    np.testing.assert_allclose(same.label_quality, found.label_quality, atol=1e-3)


def test_every_row_has_a_candidate_and_learners_tell_their_losses() -> None:
    data, found = region()
    assert (found.candidate_labels != data.y).all()
    best = found.learners[0]
    assert best.trusted_loss is not None
    assert best.row_loss is not None
    assert best.trusted_loss < best.row_loss
    assert found.power is not None
    assert found.power.items == len(data.y_trusted)
    assert "trusted items" in found.verdict_reason


def test_only_many_trusted_values_are_learnt_from_alone() -> None:
    data = wave(2, m=MANY_ITEMS)
    fewer = LabelledBugs(
        data.X, data.y, data.X_trusted[1:], data.y_trusted[1:], data.truth, data.is_bug, ("x",)
    )
    kinds = [{learner.kind for learner in debugged(some).learners} for some in (data, fewer)]
    assert str(Kind.TRUSTED) in kinds[0]
    assert str(Kind.TRUSTED) not in kinds[1]


def test_predictions_that_the_user_gives_are_among_the_candidates() -> None:
    data = with_region(2)
    truths = {"pred_probs": data.truth, "pred_probs_trusted": np.sin(2 * data.X_trusted[:, 0])}
    found = Automatic(learner=FEW).rank(problem_of(data, **truths))
    assert "the given probabilities" in {learner.name for learner in found.learners}


def test_models_of_other_libraries_are_cross_fitted() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    inside, outside = held_out_values(LinearRegression(), X, y, X)
    assert abs(inside - y).mean() > 1.05 * abs(outside - y).mean()
    kinds = [p.kind for p in model_predictions(problem_of(wave(1)), [SklearnRidge()])]
    assert kinds == [Kind.GIVEN, Kind.TRUSTED]


def test_verified_rows_tell_where_bugs_are() -> None:
    data, rng = with_region(3), np.random.default_rng(0)
    rows = rng.choice(len(data.y), 20, replace=False)
    right = np.where(data.is_bug, data.y - 1.5, data.y)
    found = Automatic(learner=FEW).rank(
        Problem(data.X, data.y, verified={int(row): right[row] for row in rows}, task="regression")
    )
    assert found.verdict is Verdict.SYSTEMATIC
    assert (found.corrected_labels()[rows] == right[rows]).all()
    others = np.setdiff1d(found.ranking, rows, assume_unique=True)
    ranked = found.ranking[np.isin(found.ranking, others)]
    assert data.is_bug[ranked[: int(data.is_bug[others].sum()) // 2]].mean() > 0.9


class Stop:
    """Interrupts after so many reports."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, *_: object) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


def test_an_interrupt_keeps_what_was_trained() -> None:
    data = wave(1)
    found = debugged(data, progress=Stop(5))
    assert found.status is Status.INTERRUPTED
    assert sorted(found.ranking.tolist()) == list(range(len(data.y)))


def ridge_fits(n: int = 30) -> tuple[ValueFits, Array]:
    data = wave(4, n=n)
    learner = FEW.with_(ridge=1e-3)
    objective = Objective(problem_of(data), learner)
    features = objective.rows.Z, objective.trusted_rows.Z
    return ValueFits(problem_of(data), Candidate(learner, *features)), objective.rows.Z


def test_rows_are_left_out_exactly() -> None:
    fits, Z = ridge_fits()
    y, n = fits.problem.y, len(fits.problem.y)
    predicted = fits.given().rows
    for row in (0, 7):
        kept = np.arange(n) != row
        penalty = n * np.diag(fits.objective.erm.penalty / 2)
        theta = np.linalg.solve(Z[kept].T @ Z[kept] + penalty, Z[kept].T @ y[kept])
        assert predicted[row] == pytest.approx(Z[row] @ theta, rel=1e-6)


def test_items_are_left_out_by_learners_of_the_trusted_items() -> None:
    fits, _ = ridge_fits()
    moved = ridge_fits()[0]
    moved.problem.y_trusted[3] += 100.0
    before, after = fits.of_the_trusted().trusted, moved.of_the_trusted().trusted
    assert after[3] == pytest.approx(before[3])
    assert abs(after - before).max() > 1


def test_folds_cover_every_item_once() -> None:
    assert folded(7, lambda _, out: out.astype(np.float64)).tolist() == list(range(7))


def law_of(residuals: Array) -> Noise:
    return likeliest(noises_of(residuals, 1e-9), residuals)


def test_noise_is_learnt_with_its_tails() -> None:
    rng = np.random.default_rng(0)
    heavy, normal = (law_of(some) for some in (0.3 * rng.standard_t(2, 3000), rng.normal(size=3000)))
    assert heavy.tails < 4 < normal.tails
    assert heavy.scale == pytest.approx(0.3, rel=0.1)


def test_heavy_tails_are_not_taken_for_bugs_but_a_gap_is() -> None:
    rng = np.random.default_rng(1)
    tails = rng.standard_t(4, 500)
    assert contaminated(tails, law_of(tails), fixed=True).share < 0.02
    bugs = np.where(np.arange(500) < 50, 30.0, tails)
    assert contaminated(bugs, Noise(4.0, 1.0)).share == pytest.approx(0.1, abs=0.03)


def test_a_row_is_wrong_only_as_far_as_trusted_items_bear_it_out() -> None:
    """A prediction that differs from the rows, but that items contradict, makes nothing wrong."""
    data = wave(5)
    problem, rng = problem_of(data), np.random.default_rng(0)
    right = np.sin(2 * data.X_trusted[:, 0])
    given = Prediction(Kind.GIVEN, "right", data.truth, right)
    shifted = Prediction(
        Kind.POOLED, "shifted", data.truth + 1, right + 1 + 0.01 * rng.normal(size=problem.m)
    )
    assert posterior_of_values(Values(problem, [given, shifted])).wrong.max() < 0.1
    borne_out = Problem(data.X, data.y, data.X_trusted, data.y_trusted + 1, task="regression")
    judged = posterior_of_values(Values(borne_out, [given, shifted]))
    assert judged.verdict is Verdict.SYSTEMATIC
    assert judged.wrong.mean() > 0.4


@pytest.mark.parametrize("trusted", [3.0, 5.0])
def test_labels_that_are_all_the_same_are_judged(trusted: float) -> None:
    X = np.arange(12.0)[:, None]
    found = duti.debug(X, np.full(12, 3.0), [[0.5], [7.5]], [3.0, trusted], task="regression")
    assert np.isfinite(found.label_quality).all()
    assert np.isfinite(found.candidate_labels).all()
