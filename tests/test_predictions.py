"""Predictions that users bring, verified rows as pairs, models to be asked: what the door makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.svm import SVC

import duti
from duti import LearnerError, Problem, ProblemError
from duti.detector import checked_models

X = np.array([[0.0, 5.0], [1.0, 4.0], [2.0, 3.0], [3.0, 1.0]])
Y = ["no", "no", "yes", "yes"]
ITEM = [[0.5, 4.5]]
PROBS = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.0, 1.0]])
OF_ITEM = np.array([[0.7, 0.3]])
GIVEN: dict[str, Any] = {
    "X": X,
    "y": Y,
    "X_trusted": ITEM,
    "y_trusted": ["no"],
    "pred_probs": PROBS,
    "pred_probs_trusted": OF_ITEM,
}
VALUES: dict[str, Any] = GIVEN | {
    "y": [0.5, 1.5, 2.5, 3.5],
    "y_trusted": [1.0],
    "pred_probs": [1.0, 1.5, 2.0, 3.0],
    "pred_probs_trusted": [0.75],
}
NO_PREDICTIONS: tuple[Any, ...] = (None, [], np.empty((0, 2)))


def problem(**changes: Any) -> Problem:
    return Problem(**{**GIVEN, **changes})


def probs(found: Problem) -> Any:
    assert found.pred_probs is not None
    return found.pred_probs


# Shapes and orders


@pytest.mark.parametrize(
    "make", [np.asarray, list, np.ndarray.tolist, np.float32, sp.csr_array, pd.DataFrame, pl.DataFrame]
)
def test_probabilities_come_in_any_container(make: Callable[[Any], Any]) -> None:
    found = problem(pred_probs=make(PROBS), pred_probs_trusted=make(OF_ITEM))
    np.testing.assert_allclose(probs(found), PROBS, atol=1e-7)
    np.testing.assert_allclose(np.asarray(found.pred_probs_trusted), OF_ITEM, atol=1e-7)
    assert probs(found).dtype == np.float64


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("names", [("yes", "no"), ("Yes", " no")])
def test_columns_with_the_names_of_classes_are_aligned_by_name(frame: Any, names: tuple[str, str]) -> None:
    of_rows = frame({names[0]: PROBS[:, 1], names[1]: PROBS[:, 0]})
    np.testing.assert_array_equal(probs(problem(pred_probs=of_rows)), PROBS)
    np.testing.assert_array_equal(probs(problem(pred_probs=of_rows, classes=["no", "yes"])), PROBS)


def test_columns_without_names_are_in_the_order_of_classes_or_of_the_sorted_labels() -> None:
    assert probs(problem(classes=["yes", "no"])).tolist() == PROBS[:, ::-1].tolist()
    frame = pd.DataFrame(PROBS, columns=["p1", "p2"])
    np.testing.assert_array_equal(probs(problem(pred_probs=frame)), PROBS)


def test_the_columns_of_a_frame_of_an_array_are_no_names() -> None:
    found = problem(y=[1, 1, 2, 2], y_trusted=[1], pred_probs=pd.DataFrame(PROBS))
    np.testing.assert_array_equal(probs(found), PROBS)


def test_a_class_that_only_trusted_items_have_needs_a_column() -> None:
    with pytest.raises(
        ProblemError, match=r"pred_probs has 2 column\(s\), but there are 3 classes.*'maybe', 'no'"
    ):
        problem(y_trusted=["maybe"])
    zeros = np.column_stack([np.zeros(4), PROBS]), [[0.5, 0.25, 0.25]]
    assert probs(problem(y_trusted=["maybe"], pred_probs=zeros[0], pred_probs_trusted=zeros[1])).shape == (
        4,
        3,
    )


def test_rounded_rows_are_made_to_sum_to_one() -> None:
    rounded = np.array([[0.333, 0.666], [0.5, 0.5], [0.1, 0.9], [-1e-9, 1 + 1e-9]])
    np.testing.assert_allclose(probs(problem(pred_probs=rounded)).sum(axis=1), 1, rtol=1e-15)
    assert probs(problem(pred_probs=rounded)).min() >= 0


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"pred_probs": PROBS[:3]}, "pred_probs has 3 rows but y has 4; drop or align"),
        ({"pred_probs_trusted": PROBS}, "pred_probs_trusted has 4 rows but y_trusted has 1"),
        (
            {"pred_probs": PROBS[:, 1]},
            r"pred_probs has 1 column\(s\), but there are 2 classes; give one column",
        ),
        ({"pred_probs": PROBS[:, :, None]}, "pred_probs has 3 dimensions"),
        ({"pred_probs": PROBS - [[0, 0.2]]}, "pred_probs row 0 holds -0.1"),
        (
            {"pred_probs": 100 * PROBS},
            r"pred_probs row 0 holds 90 \(4 such rows\), which is no probability; give",
        ),
        ({"pred_probs": np.full((4, 2), np.inf)}, "pred_probs row 0 holds inf"),
        ({"pred_probs": PROBS * 0.9}, r"pred_probs row 0 sums to 0.9 \(4 of 4 rows do not sum to 1\); give"),
        (
            {"pred_probs": [[0.5, None]] * 4},
            "pred_probs contains NaN in 4 of 4 rows, the first is row 0; give",
        ),
        ({"pred_probs": [[0.5, "b"]] * 4}, "pred_probs column 1, row 0 holds 'b', not a number"),
        ({"pred_probs": "probs.csv"}, "pred_probs is of type .*, but rows and columns of numbers are needed"),
        (
            {"pred_probs": pd.DataFrame(PROBS, columns=["no", "maybe"])},
            "pred_probs has the columns no, maybe, but the classes are 'no', 'yes'; name all columns after",
        ),
        (
            {"pred_probs": pd.DataFrame({"id": 1, "no": PROBS[:, 0], "yes": PROBS[:, 1]})},
            "pred_probs has the columns id besides the classes 'no', 'yes'; drop them",
        ),
        (
            {"pred_probs_trusted": None},
            "pred_probs_trusted is missing, but pred_probs is given; both are needed",
        ),
        ({"pred_probs": None}, "pred_probs is missing, but pred_probs_trusted is given; both are needed"),
        (
            {"X_trusted": None, "y_trusted": None, "verified": {0: "no"}},
            "pred_probs_trusted is given, but there are no items of X_trusted; leave it out",
        ),
    ],
)
def test_impossible_probabilities_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        problem(**changes)


def test_a_regression_takes_one_value_for_each_row() -> None:
    found = Problem(**VALUES, verified={3: 9.0})
    assert probs(found).tolist() == [1.0, 1.5, 2.0, 3.0]
    assert np.asarray(found.pred_probs_trusted).tolist() == [0.75, 3.0]
    column = pd.DataFrame({"value": [1.0, 1.5, 2.0, 3.0]})
    for given in (column, column["value"], np.array([[1.0], [1.5], [2.0], [3.0]])):
        assert probs(Problem(**VALUES | {"pred_probs": given})).tolist() == [1.0, 1.5, 2.0, 3.0]


@pytest.mark.parametrize(
    "values, message",
    [
        (PROBS, "pred_probs has 2 columns, but a regression needs one predicted value for each row"),
        ([1.0, 2.0, np.nan, 3.0], "pred_probs contains NaN in 1 of 4 rows, the first is row 2"),
        ([1.0, 2.0, np.inf, 3.0], "pred_probs row 2 is inf"),
        ([1.0, 2.0], "pred_probs has 2 rows but y has 4"),
    ],
)
def test_impossible_values_are_refused(values: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Problem(**VALUES | {"pred_probs": values})


# Without X


def test_predictions_are_the_features_if_there_are_no_others() -> None:
    found = problem(X=None, X_trusted=None, verified={3: "no"})
    np.testing.assert_allclose(np.asarray(found.X), np.log(PROBS.clip(1e-6)))
    np.testing.assert_allclose(np.asarray(found.X_trusted)[0], np.log(OF_ITEM[0]))
    assert (found.n, found.m) == (4, 2)
    values = Problem(**VALUES | {"X": None, "X_trusted": None})
    assert np.asarray(values.X).tolist() == [[1.0], [1.5], [2.0], [3.0]]


def test_rows_with_the_same_predictions_are_no_duplicates_and_contradict_nobody() -> None:
    alike = {"pred_probs": np.full((4, 2), 0.5), "pred_probs_trusted": np.full((2, 2), 0.5)}
    found = problem(X=None, X_trusted=None, y_trusted=["no", "yes"], **alike)
    assert found.notes == ()


def test_rows_without_features_keep_the_index_of_y() -> None:
    found = problem(X=None, X_trusted=None, y=pd.Series(Y, index=list("abcd")), verified={"b": "yes"})
    assert found.item_names == ("0", "verified row b")
    assert found.notes == ()


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"pred_probs": None, "pred_probs_trusted": None},
            "X is missing; give the features of the rows, or pred_p",
        ),
        ({"X_trusted": ITEM}, "X_trusted is given, but X is not; give both, or neither"),
        ({"y_trusted": None}, "there are no trusted items"),
    ],
)
def test_without_features_predictions_are_needed(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        problem(**{"X": None, "X_trusted": None} | changes)


def test_rows_are_debugged_by_their_predictions_alone() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    p = np.where(truth, 0.9, 0.1) + rng.uniform(-0.08, 0.08, 60)
    of_rows = np.column_stack([1 - p, p])
    y = truth.copy()
    y[:4] = 1 - y[:4]
    options: dict[str, Any] = {"learner": duti.Logistic(1e-2), "budget": 4, "random_state": 0}
    found = duti.debug(
        None, y, None, [0, 1], pred_probs=of_rows, pred_probs_trusted=[[0.9, 0.1], [0.1, 0.9]], **options
    )
    assert sorted(found.ranking[:4]) == [0, 1, 2, 3]


# Verified rows


def test_a_verified_row_is_a_pair_of_given_and_right_label() -> None:
    found = problem(verified={2: "no", 0: "no"})
    assert found.given_y.tolist() == [0, 0, 1, 1]
    assert found.y.tolist() == [0, 0, 0, 1]
    assert found.item_rows.tolist() == [-1, 2, 0]
    np.testing.assert_allclose(np.asarray(found.pred_probs_trusted), [OF_ITEM[0], PROBS[2], PROBS[0]])
    assert not found.verified_at_random


def test_values_as_given_are_kept_beside_the_verified_ones() -> None:
    found = Problem(**VALUES, verified={3: 9.0})
    assert found.given_y.tolist() == [0.5, 1.5, 2.5, 3.5]
    assert found.y.tolist() == [0.5, 1.5, 2.5, 9.0]
    assert found.item_rows.tolist() == [-1, 3]


def test_verified_rows_alone_need_no_other_predictions() -> None:
    for nothing in NO_PREDICTIONS:
        found = problem(X_trusted=None, y_trusted=None, pred_probs_trusted=nothing, verified={1: "yes"})
        assert np.asarray(found.pred_probs_trusted).tolist() == [PROBS[1].tolist()]


def test_some_rows_keep_their_pairs_and_predictions() -> None:
    found = problem(verified={2: "no", 0: "no"}).subset(np.array([3, 2]))
    assert found.item_rows.tolist() == [-1, 1, -1]
    assert found.given_y.tolist() == [1, 1]
    np.testing.assert_array_equal(probs(found), PROBS[[3, 2]])
    assert np.asarray(found.pred_probs_trusted).shape == (3, 2)


def test_some_items_keep_their_rows_names_and_predictions() -> None:
    found = problem(verified={2: "no", 0: "no"}).with_items(np.array([2, 0]))
    assert found.item_rows.tolist() == [0, -1]
    assert found.item_names == ("verified row 0", "0")
    np.testing.assert_allclose(np.asarray(found.pred_probs_trusted), [PROBS[0], OF_ITEM[0]])


def test_rows_drawn_at_random_must_be_verified() -> None:
    assert problem(verified={2: "no"}, verified_at_random=True).verified_at_random
    with pytest.raises(
        ProblemError, match="verified_at_random is True, but no row is verified; give verified="
    ):
        problem(verified_at_random=True)
    with pytest.raises(ProblemError, match="verified_at_random is 'yes'; say True or False"):
        problem(verified={2: "no"}, verified_at_random="yes")


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, np.float32])
def test_trusted_items_with_the_features_of_a_row_are_noted(make: Any) -> None:
    (note,) = problem(
        X=make(X),
        X_trusted=make(X[[3, 0]] + [[0], [0.5]]),
        y_trusted=["no"] * 2,
        pred_probs=None,
        pred_probs_trusted=None,
    ).notes
    assert note == (
        "Trusted items with the features of a row (1): 0 (row 3). "
        "If they are these rows, use verified={row: label}."
    )


def test_verified_rows_are_no_items_with_the_features_of_a_row() -> None:
    assert problem(verified={2: "no"}).notes == ()


# duti.debug


@pytest.mark.parametrize(
    "name, value",
    [
        ("models", [RandomForestClassifier()]),
        ("pred_probs", PROBS),
        ("pred_probs_trusted", OF_ITEM),
        ("classes", ["no", "yes"]),
        ("systematic", 0.5),
    ],
)
def test_the_papers_recipe_refuses_what_it_has_no_use_for(name: str, value: Any) -> None:
    with pytest.raises(
        ProblemError, match=rf"^{name} is for recipe='auto'; the paper's recipe .*: leave it out\."
    ):
        duti.debug(X, Y, ITEM, ["no"], recipe="paper", **{name: value})


def test_an_unknown_recipe_is_refused_before_anything_else() -> None:
    with pytest.raises(ProblemError, match="recipe is 'best'; use one of 'auto', 'paper'"):
        duti.debug(X, Y, ITEM, ["no"], recipe="best")


def test_systematic_is_refused_in_regression() -> None:
    with pytest.raises(ProblemError, match="systematic is for classification, but the task is regression"):
        duti.debug(X, [0.5, 1.5, 2.5, 3.5], ITEM, [1.0], systematic=0.5)


@pytest.mark.parametrize(
    "models, message",
    [
        (
            RandomForestClassifier(),
            r"models is RandomForestClassifier\(\); give a list of scikit-learn classif",
        ),
        ("forest", "models is 'forest'; give a list"),
        ([RandomForestClassifier], r"models\[0\] is the class RandomForestClassifier; give an instance"),
        ([RandomForestClassifier(), SVC()], r"models\[1\] is SVC\(\), which has no predict_proba; give a"),
        ([RandomForestRegressor()], r"models\[0\] is RandomForestRegressor\(\), which has no predict_proba"),
        ([3], r"models\[0\] is 3, which has no fit"),
    ],
)
def test_models_that_cannot_do_what_is_needed_are_refused(models: Any, message: str) -> None:
    with pytest.raises(LearnerError, match=message):
        duti.debug(X, Y, ITEM, ["no"], models=models)


def test_a_regression_asks_regressors() -> None:
    forest = RandomForestRegressor()
    assert checked_models([forest], "regression") == (forest,)
    with pytest.raises(LearnerError, match=r"models\[0\] is .*, a classifier, but the task is regression"):
        checked_models([RandomForestClassifier()], "regression")
