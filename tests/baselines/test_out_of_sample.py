from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from duti import DutiError, KernelLogistic, Logistic, Problem, ProblemError, Ridge
from duti.baselines import Cleanlab, NormalizedMargin, SelfConfidence, out_of_sample
from duti.baselines.out_of_sample import held_out_scores
from duti.datasets import harry_potter, sine

POTTER = KernelLogistic(bandwidth=0.5, ridge=2e-3)


def three_classes(seed: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    return Problem(X + y[:, None], y, X[:3], y[:3])


def test_with_as_many_folds_as_rows_each_row_is_left_out_by_itself() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    scores = held_out_scores(Problem(X, y, X[:1], y[:1]), Ridge(0.1), folds=12)
    for row in range(12):
        A, b = np.delete(X, row, axis=0), np.delete(y, row)
        theta = np.linalg.solve(A.T @ A + 11 * 0.1 * np.eye(2), A.T @ b)
        assert scores[row] == pytest.approx(X[row] @ theta, rel=1e-7)


def test_the_only_row_of_a_class_is_held_out_too() -> None:
    X, y = [[0.0], [0.1], [0.2], [0.9], [1.0], [5.0]], ["a", "a", "a", "b", "b", "c"]
    findings = SelfConfidence(Logistic(0.01), folds=3).rank(Problem(X, y, [[0.0]], ["a"]))
    assert findings.ranking[0] == 5


def test_flags_and_fixes_are_where_another_class_is_predicted() -> None:
    problem = three_classes()
    predicted = held_out_scores(problem, Logistic(0.1)).argmax(axis=1)
    for detector in (SelfConfidence(Logistic(0.1), budget=60), NormalizedMargin(Logistic(0.1), budget=60)):
        findings = detector.rank(problem)
        np.testing.assert_array_equal(np.sort(findings.flagged), np.flatnonzero(predicted != problem.y))
        np.testing.assert_array_equal(findings.suggested_labels, predicted)


def test_regression_ranks_by_the_residual() -> None:
    data = sine(np.random.default_rng(0))
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
    findings = SelfConfidence(Ridge(0.1)).rank(problem)
    scores = held_out_scores(problem, Ridge(0.1))
    np.testing.assert_array_equal(findings.ranking, np.argsort(-abs(scores - data.y)))


@pytest.mark.parametrize("folds", [1, 101])
def test_impossible_folds_are_refused(folds: int) -> None:
    data = harry_potter(np.random.default_rng(0))
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
    with pytest.raises(ProblemError, match=f"folds is {folds}, but must lie between 2 and the 100 rows"):
        SelfConfidence(POTTER, folds=folds).rank(problem)


@pytest.mark.parametrize(
    "method, ours", [("self_confidence", SelfConfidence), ("normalized_margin", NormalizedMargin)]
)
def test_scores_agree_with_cleanlab(method: Any, ours: Any) -> None:
    pytest.importorskip("cleanlab", reason="cleanlab is not installed; pip install duti[cleanlab]")
    problem, learner = three_classes(), Logistic(0.1)
    theirs = Cleanlab(learner, method=method).rank(problem)
    np.testing.assert_allclose(ours(learner).rank(problem).deviation, theirs.deviation, atol=1e-10)


def test_cleanlab_has_a_third_score() -> None:
    pytest.importorskip("cleanlab", reason="cleanlab is not installed; pip install duti[cleanlab]")
    findings = Cleanlab(Logistic(0.1), method="confidence_weighted_entropy").rank(three_classes())
    assert sorted(findings.ranking) == list(range(60))


def test_a_regression_is_refused_before_anything_is_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    def trained(*_: Any) -> Any:
        raise AssertionError("a learner was tuned")

    monkeypatch.setattr(out_of_sample, "tuned", trained)
    data = sine(np.random.default_rng(0))
    for detector in (NormalizedMargin(), Cleanlab()):
        with pytest.raises(ProblemError, match=f"{type(detector).__name__} is for classification"):
            detector.rank(Problem(data.X, data.y, data.X_trusted, data.y_trusted))


def test_cleanlab_refuses_an_unknown_method_and_a_regression() -> None:
    with pytest.raises(ProblemError, match="method is 'entropy'; use one of 'self_confidence'"):
        Cleanlab(method="entropy").rank(three_classes())  # type: ignore[arg-type]
    data = sine(np.random.default_rng(0))
    with pytest.raises(ProblemError, match="Cleanlab is for classification"):
        Cleanlab().rank(Problem(data.X, data.y, data.X_trusted, data.y_trusted))


def test_without_cleanlab_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name="cleanlab")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(DutiError, match=r"pip install duti\[cleanlab\]"):
        Cleanlab(POTTER).rank(three_classes())
