"""What every baseline has in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import duti
from duti import Detector, KernelLogistic, KernelRidge, LearnerError, Logistic, Problem, ProblemError
from duti.baselines import (
    Influence,
    KNNShapley,
    LabelNoise,
    NearestTrusted,
    NormalizedMargin,
    Pooled,
    SelfConfidence,
    TrainingLoss,
    TrustedOnly,
)
from duti.datasets import LabelledBugs, harry_potter, sine
from duti.metrics import average_precision

POTTER = KernelLogistic(bandwidth=0.5, ridge=2e-3)
SINE = KernelRidge(bandwidth=0.7, ridge=3.8e-6)

# The mean average precision on seeds 0 to 9 is a little above these; most baselines are no good here.
ON_POTTER: list[tuple[Detector, float]] = [
    (Influence(POTTER), 0.30),
    (Influence(POTTER, centred=False), 0.85),
    (NearestTrusted(), 0.87),
    (TrainingLoss(POTTER), 0.25),
    (SelfConfidence(POTTER), 0.25),
    (NormalizedMargin(POTTER), 0.25),
    (KNNShapley(), 0.83),
    (TrustedOnly(POTTER), 0.87),
    (Pooled(POTTER), 0.95),
]
ON_SINE: list[tuple[Detector, float]] = [
    (Influence(SINE), 0.63),
    (NearestTrusted(), 0.55),
    (TrainingLoss(SINE), 0.45),
    (SelfConfidence(SINE), 0.43),
    (TrustedOnly(KernelRidge(0.3, 1e-3, intercept=True)), 0.6),
    (Pooled(SINE), 0.84),
]
WITHOUT_CHANCE = [
    (Influence(POTTER), Influence(SINE)),
    (NearestTrusted(), NearestTrusted()),
    (TrainingLoss(POTTER), TrainingLoss(SINE)),
    (KNNShapley(), None),
    (TrustedOnly(POTTER), TrustedOnly(SINE)),
    (Pooled(POTTER), Pooled(KernelRidge(0.3, 1e-3))),
    (LabelNoise(0, 12), None),
]
WITH_LEARNER: list[Any] = [Influence, TrainingLoss, SelfConfidence, NormalizedMargin, TrustedOnly, Pooled]


def name_of(value: Any) -> str:
    return type(value).__name__ if not isinstance(value, type) else value.__name__


def problem_of(data: LabelledBugs, **options: Any) -> Problem:
    return Problem(data.X, data.y, data.X_trusted, data.y_trusted, **options)


def mean_precision(detector: Detector, make: Any) -> float:
    data = [make(np.random.default_rng(seed)) for seed in range(10)]
    return float(np.mean([average_precision(detector.rank(problem_of(d)).ranking, d.is_bug) for d in data]))


@pytest.mark.parametrize("detector, least", ON_POTTER, ids=name_of)
def test_harry_potter(detector: Detector, least: float) -> None:
    assert mean_precision(detector, harry_potter) >= least


@pytest.mark.parametrize("detector, least", ON_SINE, ids=name_of)
def test_sine(detector: Detector, least: float) -> None:
    assert mean_precision(detector, sine) >= least


@pytest.mark.parametrize("detector", [detector for detector, _ in ON_POTTER], ids=name_of)
def test_verified_rows_come_last_and_are_not_flagged(detector: Detector) -> None:
    data = harry_potter(np.random.default_rng(0))
    verified = {int(row): int(data.truth[row]) for row in np.flatnonzero(data.is_bug)[:4]} | {
        3: int(data.y[3])
    }
    findings = detector.rank(problem_of(data, verified=verified))
    assert set(findings.ranking[-5:].tolist()) == set(verified)
    assert not set(findings.flagged.tolist()) & set(verified)


@pytest.mark.parametrize("detector", [detector for detector, _ in ON_POTTER], ids=name_of)
def test_fixes_of_flagged_rows_are_other_labels(detector: Detector) -> None:
    findings = detector.rank(problem_of(harry_potter(np.random.default_rng(1))))
    changed = np.flatnonzero(findings.suggested_labels != findings.given_labels)
    np.testing.assert_array_equal(changed, np.sort(findings.flagged))


@pytest.mark.parametrize("for_classes, for_values", WITHOUT_CHANCE, ids=name_of)
def test_the_order_of_rows_and_the_confidence_do_not_matter(
    for_classes: Detector, for_values: Detector | None
) -> None:
    order = np.random.default_rng(7).permutation(100)
    for detector, make in ((for_classes, harry_potter), (for_values, sine)):
        if detector is not None:
            data = make(np.random.default_rng(0))
            findings = detector.rank(problem_of(data))
            shuffled = Problem(
                data.X[order],
                data.y[order],
                data.X_trusted,
                data.y_trusted,
                confidence=[7.0, 0.5, 2.0][: len(data.y_trusted)],
            )
            again = detector.rank(shuffled)
            np.testing.assert_allclose(again.deviation, findings.deviation[order], rtol=1e-6, atol=1e-9)
            np.testing.assert_array_equal(again.first_step, findings.first_step[order])


@pytest.mark.parametrize("detector", WITH_LEARNER, ids=name_of)
def test_a_learner_that_is_not_given_is_tuned(detector: Any) -> None:
    findings = detector(budget=7).rank(problem_of(harry_potter(np.random.default_rng(0))))
    assert findings.learner.untuned == ()
    assert isinstance(findings.learner, KernelLogistic)
    assert len(findings.flagged) <= 7


@pytest.mark.parametrize("detector", WITH_LEARNER, ids=name_of)
def test_a_learner_of_the_other_task_is_refused(detector: Any) -> None:
    problem = problem_of(harry_potter(np.random.default_rng(0)))
    with pytest.raises(
        LearnerError, match="KernelRidge learns regression, but the labels are a classification"
    ):
        detector(SINE).rank(problem)


@pytest.mark.parametrize(
    "detector, name",
    [
        (NormalizedMargin(), "NormalizedMargin"),
        (KNNShapley(), "KNNShapley"),
        (LabelNoise(1, 1), "LabelNoise"),
    ],
    ids=name_of,
)
def test_a_regression_is_refused_by_those_for_classes(detector: Detector, name: str) -> None:
    with pytest.raises(ProblemError, match=f"{name} is for .*the labels are a regression; use "):
        detector.rank(problem_of(sine(np.random.default_rng(0))))


@pytest.mark.parametrize(
    "detector",
    [
        Influence(Logistic(0.01)),
        NearestTrusted(),
        KNNShapley(),
        LabelNoise(2, 3),
        SelfConfidence(Logistic(0.01)),
        TrainingLoss(Logistic(0.01)),
        TrustedOnly(Logistic(0.01)),
        Pooled(Logistic(0.01)),
    ],
    ids=name_of,
)
def test_sparse_rows_give_what_dense_rows_give(detector: Detector) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)) * (rng.random((40, 5)) < 0.5)
    X[:, 4] = 2.0
    X_trusted = X[:6] + np.array([0.1, 0, 0, 0, 5.0])
    y = (X[:, 0] + 0.3 * rng.normal(size=40) > 0).astype(int)
    dense = detector.rank(Problem(X, y, X_trusted, y[:6]))
    sparse = detector.rank(Problem(csr_array(X), y, csr_array(X_trusted), y[:6]))
    np.testing.assert_allclose(sparse.deviation, dense.deviation, atol=1e-6)


def test_findings_can_be_saved(tmp_path: Any) -> None:
    findings = NearestTrusted().rank(problem_of(harry_potter(np.random.default_rng(0))))
    findings.save(tmp_path / "findings.duti")
    np.testing.assert_array_equal(duti.load(tmp_path / "findings.duti").ranking, findings.ranking)
