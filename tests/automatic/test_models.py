"""Models of other libraries, and the user's own predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from duti import Problem
from duti.automatic.candidates import CHOSEN_ON
from duti.automatic.given import SLIPS
from duti.automatic.models import THE_USERS, default_models, held_out, model_predictions, users_predictions
from duti.automatic.predictions import Kind
from tests.automatic.tables import corner, flips, problem_of


def small_forest(**settings: Any) -> RandomForestClassifier:
    return RandomForestClassifier(n_estimators=20, oob_score=True, random_state=0, **settings)


MODELS = [small_forest(), LogisticRegression(), KNeighborsClassifier(1)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_row_is_predicted_by_a_model_that_has_not_seen_it(model: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)  # nothing can be learnt
    inside, seen = held_out(model, X, y, X, 2)
    np.testing.assert_allclose(inside.sum(axis=1), 1)
    assert (inside.argmax(axis=1) == y).mean() < 0.65
    if not isinstance(model, LogisticRegression):
        assert (seen.argmax(axis=1) == y).mean() > 0.9


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_classes_of_few_rows_and_of_none_are_no_problem(model: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.array([0] * 20 + [2] * 9 + [4])
    inside, outside = held_out(model, X, y, X[:5], 5)
    assert inside.shape == (30, 5)
    assert outside.shape == (5, 5)
    assert np.isfinite(inside).all()
    assert not inside[:, [1, 3]].any()


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_forest_of_a_tiny_table_says_something_of_every_row(n: int) -> None:
    """And does not warn of rows that every tree has seen: warnings are errors here."""
    X, y = np.arange(float(n))[:, None], np.arange(n) % 2
    model = small_forest().set_params(n_estimators=2)
    given = next(iter(model_predictions(Problem(X, y, X, y, task="classification"), [model])))
    assert np.isfinite(given.rows).all()
    never_left_out = ~held_out(model, X, y, X, 2)[0].any(axis=1)
    assert never_left_out.any()
    np.testing.assert_array_equal(given.rows[never_left_out, 0], given.rows[never_left_out, 1])


def test_trees_see_as_many_rows_as_they_are_to_but_no_more_than_there_are() -> None:
    data = flips(0)
    model = small_forest(max_samples=100)
    for rows in (200, 50):
        held_out(model, data.X[:rows], data.y[:rows], data.X[:0], 2)
    assert model.max_samples == 100  # the user's own model stays as it is
    assert not hasattr(model, "estimators_")


def test_the_forest_of_many_rows_has_trees_of_fewer() -> None:
    few, many = (problem_of(corner(0, n=n)) for n in (50, CHOSEN_ON + 1))
    (small,), (large,) = default_models(few, 0), default_models(many, 0)
    assert isinstance(small, RandomForestClassifier)
    assert (small.max_samples, large.max_samples) == (None, CHOSEN_ON)
    assert default_models(few, 0)[0].random_state == small.random_state


def test_models_learn_from_the_trusted_items_alone_only_if_these_show_every_class() -> None:
    data = corner(0, m=14)
    problem = problem_of(data)
    assert [p.kind for p in model_predictions(problem, [LogisticRegression()])] == [Kind.GIVEN, Kind.TRUSTED]
    zeros = data.y_trusted == 0
    one_class = Problem(data.X, data.y, data.X_trusted[zeros], data.y_trusted[zeros], task="classification")
    assert [p.kind for p in model_predictions(one_class, [LogisticRegression()])] == [Kind.GIVEN]


def test_predictions_of_models_have_shapes_settings_and_no_certainty() -> None:
    problem = problem_of(corner(0, k=3, m=30))
    for prediction in model_predictions(problem, [small_forest()]):
        assert prediction.rows.shape == (problem.n, 3)
        assert prediction.trusted.shape == (30, 3)
        assert prediction.rows.min() == pytest.approx(np.log(SLIPS / 3))
        assert prediction.name == "RandomForestClassifier"
        assert prediction.settings["n_estimators"] == 20


def test_probabilities_of_the_user_are_a_learner_of_the_labels_as_given() -> None:
    data = corner(0)
    probabilities, items = (np.tile([0.25, 0.75], (number, 1)) for number in (150, 14))
    problem = problem_of(data, pred_probs=probabilities, pred_probs_trusted=items)
    (prediction,) = users_predictions(problem)
    assert (prediction.kind, prediction.name) == (Kind.GIVEN, THE_USERS)
    np.testing.assert_allclose(np.exp(prediction.rows), probabilities)
    np.testing.assert_allclose(np.exp(prediction.trusted), items)
    assert not list(users_predictions(problem_of(data)))
