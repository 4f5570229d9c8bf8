from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

import duti
from duti import DUTIClassifier, DUTIRegressor, KernelLogistic, KernelRidge, Logistic, Ridge
from duti.datasets import LabelledBugs, harry_potter, sine
from duti.features.nystroem import EXACT_ROWS
from duti.learners import default_learner
from duti.learners.losses import softmax
from duti.learners.model import train
from duti.tune import tune

HARRY_POTTER = KernelLogistic(bandwidth=0.5, ridge=2e-3)
SINE = KernelRidge(bandwidth=0.7, ridge=3.8e-6)

CHECKED = (
    DUTIClassifier(),
    DUTIRegressor(),
    DUTIClassifier(learner=KernelLogistic(bandwidth=1.0, ridge=0.01)),
    DUTIClassifier(learner=Logistic(ridge=0.01)),  # the linear learners also take the checks of sparse X
    DUTIRegressor(learner=Ridge(ridge=0.01, intercept=True)),
)


def _repeats_a_slow_check(estimator: Any, check: Any) -> bool:
    """Training on memory-mapped rows: 12 s each with tuning, so left to the learners that need none."""
    name = check.func.__name__
    return estimator.learner is None and name == "check_classifiers_train" and bool(check.keywords)


CHECKS = [
    (estimator, check)
    for given in CHECKED
    for estimator, check in estimator_checks_generator(given)
    if not _repeats_a_slow_check(estimator, check)
]


def _check_id(value: Any) -> str:
    name = getattr(getattr(value, "func", value), "__name__", None)
    learner = getattr(value, "learner", None)
    return name or f"{type(value).__name__}-{type(learner).__name__ if learner else 'default'}"


@pytest.fixture(scope="module")
def hogwarts() -> LabelledBugs:
    return harry_potter(np.random.default_rng(0))


@pytest.fixture(scope="module")
def wave() -> LabelledBugs:
    return sine(np.random.default_rng(0))


@pytest.mark.parametrize("estimator, check", CHECKS, ids=_check_id)
def test_scikit_learn_accepts_the_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("seed", range(3))
def test_repaired_classifier_is_closer_to_the_truth_than_the_plain_learner(seed: int) -> None:
    data = harry_potter(np.random.default_rng(seed))
    plain = DUTIClassifier(learner=HARRY_POTTER).fit(data.X, data.y)
    repaired = DUTIClassifier(learner=HARRY_POTTER, recipe="paper", budget=20)
    repaired.fit(data.X, data.y, data.X_trusted, data.y_trusted)
    assert repaired.score(data.X, data.truth) >= plain.score(data.X, data.truth) + 0.04


@pytest.mark.parametrize("seed", range(3))
def test_repaired_regressor_is_closer_to_the_truth_than_the_plain_learner(seed: int) -> None:
    data = sine(np.random.default_rng(seed))
    plain = DUTIRegressor(learner=SINE).fit(data.X, data.y)
    repaired = DUTIRegressor(learner=SINE, budget=20)
    repaired.fit(data.X, data.y, data.X_trusted, data.y_trusted)
    before, after = (np.sqrt(np.mean((e.predict(data.X) - data.truth) ** 2)) for e in (plain, repaired))
    assert after < before / 3  # only labels that are more probably wrong than right change


def test_fit_gives_the_findings_of_debug_and_the_learner_trained_on_their_labels(
    hogwarts: LabelledBugs,
) -> None:
    X, y, X_trusted, y_trusted = hogwarts.X, hogwarts.y, hogwarts.X_trusted, hogwarts.y_trusted
    options: dict[str, Any] = {"learner": HARRY_POTTER, "budget": 7, "random_state": 3}
    estimator = DUTIClassifier(**options).fit(X, y, X_trusted, y_trusted, confidence=[0.0, 5.0])
    findings = duti.debug(X, y, X_trusted, y_trusted, confidence=[0.0, 5.0], **options)
    assert estimator.findings_ is not None
    assert_array_equal(estimator.findings_.ranking, findings.ranking)
    assert_array_equal(estimator.findings_.flagged, findings.flagged)
    corrected = (findings.corrected_labels() == 1).astype(np.int64)
    assert_allclose(
        estimator.predict_proba(X), softmax(train(HARRY_POTTER, X, corrected, 2).scores(X)), rtol=1e-6
    )


def test_without_trusted_items_the_estimator_is_the_tuned_default_learner(wave: LabelledBugs) -> None:
    estimator = DUTIRegressor(random_state=1).fit(wave.X, wave.y)
    tuned = tune(default_learner("regression"), wave.X, wave.y, 0, 1).best
    assert estimator.findings_ is None
    assert estimator.learner_ == tuned
    assert estimator.learner is None
    assert_array_equal(estimator.predict(wave.X), train(tuned, wave.X, wave.y, 0, 1).scores(wave.X))


@pytest.mark.parametrize("trusted", [{}, {"X_trusted": [[1.0, 0.0, 0.0]], "y_trusted": [0.7]}])
def test_random_state_shuffles_the_folds_of_the_tuning(trusted: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = 0.7 * X[:, 0] + rng.normal(size=30)  # weak enough for the folds to matter
    seeds = range(8)
    unfitted = [DUTIRegressor(learner=Ridge(), recipe="paper", random_state=seed) for seed in seeds]
    estimators = [estimator.fit(X, y, **trusted) for estimator in unfitted]
    tuned = [estimator.learner_ for estimator in estimators]
    assert tuned == [tune(Ridge(), X, y, 0, seed).best for seed in range(8)]
    assert len(set(tuned)) > 1, "every seed tunes alike, so this data cannot show that the seed is used"


def test_random_state_draws_the_landmarks_of_large_training_sets() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(EXACT_ROWS + 1, 5))
    learner = KernelRidge(bandwidth=1.0, ridge=1e-3)
    predicted = DUTIRegressor(learner=learner, random_state=1).fit(X, X[:, 0]).predict(X[:9])
    assert_array_equal(predicted, train(learner, X, X[:, 0], 0, 1).scores(X[:9]))
    assert not np.allclose(predicted, train(learner, X, X[:, 0], 0, 2).scores(X[:9]), rtol=1e-6)


@pytest.mark.parametrize(
    "labels", [["bad", "good"], [False, True], [3, 7], np.array(["u", "v"], dtype=object)]
)
def test_labels_come_back_as_they_went_in(hogwarts: LabelledBugs, labels: Any) -> None:
    names = np.asarray(labels)
    y, y_trusted = names[(hogwarts.y > 0).astype(int)], names[(hogwarts.y_trusted > 0).astype(int)]
    estimator = DUTIClassifier(learner=HARRY_POTTER).fit(hogwarts.X, y, hogwarts.X_trusted, y_trusted)
    numbers = DUTIClassifier(learner=HARRY_POTTER)
    numbers.fit(hogwarts.X, hogwarts.y, hogwarts.X_trusted, hogwarts.y_trusted)
    predicted = estimator.predict(hogwarts.X)
    assert predicted.dtype == names.dtype
    assert estimator.classes_.tolist() == names.tolist()
    assert_array_equal(predicted, names[(numbers.predict(hogwarts.X) > 0).astype(int)])


def test_whole_numbers_are_repaired_by_fractions(wave: LabelledBugs) -> None:
    y, trusted = np.round(10 * wave.y).astype(int), (wave.X_trusted, 10 * wave.y_trusted)
    whole = DUTIRegressor(learner=SINE, budget=20).fit(wave.X, y, *trusted)
    real = DUTIRegressor(learner=SINE, budget=20).fit(wave.X, y.astype(float), *trusted)
    assert_array_equal(whole.predict(wave.X), real.predict(wave.X))


def test_class_whose_every_row_is_corrected_away_is_still_a_class() -> None:
    X, y = [[0.0], [0.1], [0.9], [1.0], [2.0]], ["a", "b", "b", "b", "b"]
    estimator = DUTIClassifier(learner=KernelLogistic(0.3, 0.01), budget=1, recipe="paper")
    estimator.fit(X, y, X_trusted=[[0.0], [0.05]], y_trusted=["b", "b"])
    assert estimator.findings_ is not None
    assert set(estimator.findings_.corrected_labels()) == {"b"}
    assert estimator.classes_.tolist() == ["a", "b"]
    assert (estimator.predict_proba(X)[:, 1] > 0.9).all()


def test_the_estimator_without_a_learner_finds_what_debug_finds(hogwarts: LabelledBugs) -> None:
    data = (hogwarts.X, hogwarts.y, hogwarts.X_trusted, hogwarts.y_trusted)
    found, expected = DUTIClassifier(random_state=0).fit(*data).findings_, duti.debug(*data, random_state=0)
    assert found is not None
    assert_array_equal(found.label_quality, expected.label_quality)
    assert found.learners == expected.learners


def test_decision_of_two_classes_is_the_log_odds_of_the_second(hogwarts: LabelledBugs) -> None:
    estimator = DUTIClassifier(learner=HARRY_POTTER).fit(hogwarts.X, hogwarts.y)
    P = estimator.predict_proba(hogwarts.X)
    assert_allclose(estimator.decision_function(hogwarts.X), np.log(P[:, 1] / P[:, 0]), rtol=1e-8)


def test_decision_of_three_classes_has_a_column_for_each() -> None:
    X = np.linspace(0, 3, 30)[:, None]
    estimator = DUTIClassifier(learner=KernelLogistic(0.5, 1e-3)).fit(X, X[:, 0].astype(int).clip(max=2))
    decision, P = estimator.decision_function(X), estimator.predict_proba(X)
    assert decision.shape == (30, 3)
    assert_allclose(decision - decision[:, :1], np.log(P / P[:, :1]), rtol=1e-8)


def test_clone_keeps_the_parameters_and_forgets_the_fit(hogwarts: LabelledBugs) -> None:
    estimator = DUTIClassifier(learner=HARRY_POTTER, budget=5, random_state=2).fit(hogwarts.X, hogwarts.y)
    copy = clone(estimator)
    assert copy.get_params() == {"learner": HARRY_POTTER, "budget": 5, "recipe": "auto", "random_state": 2}
    assert not hasattr(copy, "model_")


def test_set_params_replaces_the_learner() -> None:
    assert DUTIRegressor().set_params(learner=SINE).get_params()["learner"] == SINE


@pytest.mark.parametrize(
    "learners", [[Logistic(ridge=0.01), HARRY_POTTER], [HARRY_POTTER, Logistic(ridge=0.01)]]
)
def test_grid_search_chooses_among_learners(hogwarts: LabelledBugs, learners: list[duti.Learner]) -> None:
    inside = (np.linalg.norm(hogwarts.X - 0.5, axis=1) < 0.35).astype(int)  # a disc: no task for a line
    search = GridSearchCV(DUTIClassifier(), {"learner": learners}, cv=3, error_score="raise")
    search.fit(hogwarts.X, inside)
    assert search.best_params_ == {"learner": HARRY_POTTER}
    assert search.best_estimator_.learner_ == HARRY_POTTER


def test_grid_search_hands_on_the_trusted_items(wave: LabelledBugs) -> None:
    search = GridSearchCV(DUTIRegressor(learner=SINE), {"budget": [10, 20]}, cv=3, error_score="raise")
    search.fit(wave.X, wave.y, X_trusted=wave.X_trusted, y_trusted=wave.y_trusted)
    assert search.best_estimator_.findings_.budget == search.best_params_["budget"]


def test_cross_validation_scores_both_estimators(hogwarts: LabelledBugs, wave: LabelledBugs) -> None:
    accuracy = cross_val_score(DUTIClassifier(learner=HARRY_POTTER), hogwarts.X, hogwarts.truth, cv=5)
    shuffled = np.random.default_rng(0).permutation(len(wave.X))
    r2 = cross_val_score(DUTIRegressor(learner=SINE), wave.X[shuffled], wave.truth[shuffled], cv=5)
    assert accuracy.mean() > 0.9
    assert r2.mean() > 0.9


def test_pipeline_scales_the_rows_before_the_learner(hogwarts: LabelledBugs) -> None:
    learner = Logistic(ridge=0.1)
    pipeline = make_pipeline(StandardScaler(), DUTIClassifier(learner=learner)).fit(hogwarts.X, hogwarts.y)
    scaled = StandardScaler().fit_transform(hogwarts.X)
    alone = DUTIClassifier(learner=learner).fit(scaled, hogwarts.y)
    assert_array_equal(pipeline.predict_proba(hogwarts.X), alone.predict_proba(scaled))


def test_pipeline_transforms_the_trusted_items_too(hogwarts: LabelledBugs) -> None:
    X, y, X_trusted, y_trusted = hogwarts.X, hogwarts.y, hogwarts.X_trusted, hogwarts.y_trusted
    scaler = StandardScaler().fit(X)
    by_hand, untransformed = DUTIClassifier(learner=HARRY_POTTER), DUTIClassifier(learner=HARRY_POTTER)
    by_hand.fit(scaler.transform(X), y, scaler.transform(X_trusted), y_trusted)
    untransformed.fit(scaler.transform(X), y, X_trusted, y_trusted)
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = DUTIClassifier(learner=HARRY_POTTER).set_fit_request(X_trusted=True, y_trusted=True)
        pipeline = Pipeline([("scale", StandardScaler()), ("duti", estimator)], transform_input=["X_trusted"])
        pipeline.fit(X, y, X_trusted=X_trusted, y_trusted=y_trusted)
    ranking = pipeline["duti"].findings_.ranking
    assert by_hand.findings_ is not None
    assert untransformed.findings_ is not None
    assert_array_equal(ranking, by_hand.findings_.ranking)
    assert not np.array_equal(ranking, untransformed.findings_.ranking)


@pytest.mark.parametrize("container", [csr_array, csr_matrix])
@pytest.mark.parametrize(
    "linear", [DUTIClassifier(learner=Logistic(ridge=0.01)), DUTIRegressor(learner=Ridge())]
)
def test_linear_learner_gives_the_same_on_sparse_rows(
    hogwarts: LabelledBugs, linear: Any, container: Any
) -> None:
    X, y, X_trusted, y_trusted = hogwarts.X, hogwarts.y, hogwarts.X_trusted, hogwarts.y_trusted
    dense = clone(linear).fit(X, y, X_trusted, y_trusted)
    sparse = clone(linear).fit(container(X), y, container(X_trusted), y_trusted)
    assert get_tags(linear).input_tags.sparse
    assert_array_equal(sparse.findings_.flagged, dense.findings_.flagged)
    assert_allclose(sparse.model_.scores(csr_array(X)), dense.model_.scores(X), rtol=1e-6, atol=1e-9)
    assert_allclose(sparse.predict(container(X)), sparse.predict(X), rtol=1e-12)


@pytest.mark.parametrize("kernel", [DUTIClassifier(), DUTIClassifier(learner=HARRY_POTTER)])
def test_kernel_learner_refuses_sparse_rows(hogwarts: LabelledBugs, kernel: DUTIClassifier) -> None:
    assert not get_tags(kernel).input_tags.sparse
    with pytest.raises(duti.LearnerError, match=r"X is sparse, which KernelLogistic cannot use.*toarray"):
        kernel.fit(csr_array(hogwarts.X), hogwarts.y)


def test_kernel_model_refuses_sparse_rows_to_predict(hogwarts: LabelledBugs) -> None:
    estimator = DUTIClassifier(learner=HARRY_POTTER).fit(hogwarts.X, hogwarts.y)
    with pytest.raises(duti.LearnerError, match="X is sparse"):
        estimator.predict(csr_array(hogwarts.X))


def test_findings_call_the_rows_by_the_index_of_the_frame(hogwarts: LabelledBugs) -> None:
    X = pd.DataFrame(hogwarts.X, columns=list(hogwarts.columns), index=[f"pupil {i}" for i in range(100)])
    trusted = pd.DataFrame(hogwarts.X_trusted, columns=list(hogwarts.columns))
    estimator = DUTIClassifier(learner=HARRY_POTTER)
    estimator.fit(X, hogwarts.y, trusted[["education", "heritage"]], hogwarts.y_trusted)
    arrays = DUTIClassifier(learner=HARRY_POTTER)
    arrays.fit(hogwarts.X, hogwarts.y, hogwarts.X_trusted, hogwarts.y_trusted)
    assert estimator.feature_names_in_.tolist() == ["heritage", "education"]
    assert estimator.findings_ is not None
    assert estimator.findings_.row_ids.tolist() == X.index.tolist()
    assert_array_equal(estimator.predict(X), arrays.predict(hogwarts.X))


def test_findings_of_a_pipeline_call_the_rows_by_the_index_of_the_labels(wave: LabelledBugs) -> None:
    y = pd.Series(np.round(10 * wave.y).astype(int), index=np.arange(100) + 1000)
    pipeline = make_pipeline(StandardScaler(), DUTIRegressor(learner=SINE))
    pipeline.fit(wave.X, y, dutiregressor__X_trusted=[[0.0]], dutiregressor__y_trusted=[3.0])
    assert pipeline[-1].findings_.row_ids.tolist() == y.index.tolist()


@pytest.mark.parametrize("learner", [Ridge(), Logistic, LogisticRegression(), "logistic"], ids=repr)
def test_classifier_refuses_what_is_not_a_learner_for_classification(learner: Any) -> None:
    remedy = r"use duti\.KernelLogistic\(\) or duti\.Logistic\(\)\."
    with pytest.raises(duti.LearnerError, match=rf"DUTIClassifier needs one for classification; {remedy}"):
        DUTIClassifier(learner=learner).fit([[0.0], [1.0]], [0, 1])


def test_regressor_refuses_a_classifier() -> None:
    with pytest.raises(duti.LearnerError, match=r"DUTIRegressor needs one for regression; .*duti\.Ridge\(\)"):
        DUTIRegressor(learner=Logistic()).fit([[0.0], [1.0]], [0.0, 1.0])


def test_one_class_is_refused() -> None:
    with pytest.raises(duti.ProblemError, match="one class only"):
        DUTIClassifier(learner=HARRY_POTTER).fit([[0.0], [1.0]], ["a", "a"])


@pytest.mark.parametrize(
    "y, message",
    [(["a", 1, "b"], "mixes labels of the types int, str"), (["a", None, "b"], "missing labels in 1")],
)
def test_mixed_and_missing_classes_are_refused(y: list[Any], message: str) -> None:
    with pytest.raises(duti.ProblemError, match=message):
        DUTIClassifier(learner=HARRY_POTTER).fit([[0.0], [1.0], [2.0]], np.array(y, dtype=object))


def test_text_is_refused_by_the_regressor() -> None:
    with pytest.raises(duti.ProblemError, match="regression needs numbers"):
        DUTIRegressor(learner=SINE).fit([[0.0], [1.0]], ["low", "high"])


@pytest.mark.parametrize(
    "trusted, message",
    [
        ({"confidence": 5.0}, "no trusted items"),
        ({"X_trusted": [[0.5]]}, "y_trusted is missing"),
        ({"y_trusted": ["a"]}, "X_trusted is missing"),
    ],
)
def test_half_a_set_of_trusted_items_is_refused(trusted: dict[str, Any], message: str) -> None:
    with pytest.raises(duti.ProblemError, match=message):
        DUTIClassifier(learner=HARRY_POTTER).fit([[0.0], [1.0]], ["a", "b"], **trusted)


def test_repaired_estimator_survives_pickling(wave: LabelledBugs) -> None:
    estimator = DUTIRegressor(learner=SINE).fit(wave.X, wave.y, wave.X_trusted, wave.y_trusted)
    copy = pickle.loads(pickle.dumps(estimator))
    assert_array_equal(copy.predict(wave.X), estimator.predict(wave.X))
    assert_array_equal(copy.findings_.ranking, estimator.findings_.ranking)  # type: ignore[union-attr]


def test_interrupted_fit_stops_and_leaves_the_model_alone(
    wave: LabelledBugs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> Any:
        raise KeyboardInterrupt

    estimator = DUTIRegressor(learner=SINE, recipe="paper").fit(wave.X, wave.y)
    before = estimator.predict(wave.X)
    monkeypatch.setattr("duti.detector.follow", interrupted)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(wave.X, wave.y, wave.X_trusted, wave.y_trusted)
    assert estimator.findings_ is None
    assert_array_equal(estimator.predict(wave.X), before)
