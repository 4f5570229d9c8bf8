"""The door: what a problem accepts, what it makes of it, and what it says when it refuses."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.utils.multiclass import type_of_target

import duti
from duti import DutiError, LearnerError, Problem, ProblemError
from duti.problem import PAPER_CONFIDENCE, listed

NAN = float("nan")
X = np.array([[0.0, 5.0], [1.0, 4.0], [2.0, 3.0], [3.0, 1.0]])
GIVEN: dict[str, Any] = {
    "X": X,
    "y": ["no", "no", "yes", "yes"],
    "X_trusted": [[0.5, 4.5]],
    "y_trusted": ["no"],
}


def problem(**changes: Any) -> Problem:
    return Problem(**{**GIVEN, **changes})


def dense(matrix: Any) -> Any:
    return matrix.toarray() if sp.issparse(matrix) else matrix


# What a problem holds


def test_a_classification_holds_sorted_classes_and_codes() -> None:
    found = problem(y=["b", "a", "c", "b"], y_trusted=["c"])
    assert found.task == "classification"
    assert found.classes is not None
    assert found.classes.tolist() == ["a", "b", "c"]
    assert found.y.tolist() == [1, 0, 2, 1]
    assert found.y_trusted.tolist() == [2]
    assert found.decode(found.y).tolist() == ["b", "a", "c", "b"]
    assert (found.n, found.m, found.k) == (4, 1, 3)


def test_a_regression_holds_values() -> None:
    found = problem(y=[0.5, 1.5, 2.5, 3.5], y_trusted=[1])
    assert found.task == "regression"
    assert found.classes is None
    assert found.k == 0
    assert found.decode(found.y).tolist() == [0.5, 1.5, 2.5, 3.5]
    assert found.y_trusted.tolist() == [1.0]


@pytest.mark.parametrize("y", [[1, 2, 3, 4], [True, False, True, True], np.array([1, 2, 3, 4], dtype=object)])
def test_labels_of_a_regression_are_floats_so_that_fixes_fit_in(y: Any) -> None:
    found = problem(y=y, y_trusted=[1], task="regression")
    assert found.given.dtype == np.float64
    assert found.given.tolist() == list(y)


def test_single_precision_labels_of_a_regression_stay_so() -> None:
    assert problem(y=np.array([0.5, 1, 2, 3], dtype=np.float32), y_trusted=[1]).given.dtype == np.float32


def test_the_given_labels_are_safe_from_later_changes() -> None:
    y = np.array([0.5, 1.0, 2.0, 3.0])
    found = problem(y=y, y_trusted=[1], verified={3: 0.0})
    y[0] = 100
    assert found.given.tolist() == [0.5, 1.0, 2.0, 3.0]
    assert found.y.tolist() == [0.5, 1.0, 2.0, 0.0]


def as_frame(frame: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda rows: frame({"a": rows[:, 0], "b": rows[:, 1]})


@pytest.mark.parametrize(
    "read",
    [
        np.ndarray.tolist,
        sp.csr_array,
        sp.csc_array,
        sp.coo_array,
        *map(as_frame, [pd.DataFrame, pl.DataFrame, pa.table]),
    ],
)
@pytest.mark.parametrize("read_trusted", [np.asarray, sp.csr_array, as_frame(pd.DataFrame)])
def test_trusted_rows_are_stored_like_the_training_rows(
    read: Callable[[Any], Any], read_trusted: Callable[[Any], Any]
) -> None:
    trusted = np.array([[0.5, 4.5], [1.5, 3.5]])
    found = problem(X=read(X), X_trusted=read_trusted(trusted), y_trusted=["no", "yes"], verified={3: "no"})
    assert type(found.X) is type(found.X_trusted)
    np.testing.assert_array_equal(dense(found.X), X)
    np.testing.assert_array_equal(dense(found.X_trusted), [*trusted, X[3]])


# The task


@pytest.mark.parametrize(
    "y",
    [
        ["a", "b", "a", "b"],
        [True, False, True, True],
        [1, 2, 3, 1],
        [1.0, 2.0, 3.0, 1.0],
        [1.0, 2.5, 3.0, 1.0],
        [-1, 1, 1, -1],
        np.array([1, 2, 2, 1], dtype=np.uint8),
        np.array(["a", "b", "a", "b"], dtype=object),
        np.array([0.1, 1, 2, 3], dtype=np.float32),
        pd.Series(["a", "b", "a", "b"], dtype="category"),
    ],
)
def test_the_task_is_what_scikit_learn_reads_from_the_labels(y: Any) -> None:
    kind = type_of_target(y)
    expected = "regression" if kind == "continuous" else "classification"
    assert problem(y=y, y_trusted=[y[0]]).task == expected


@pytest.mark.parametrize(
    "y", [np.arange(30), np.arange(30.0), np.arange(30).astype(object), pd.Series(range(30))]
)
def test_many_whole_numbers_ask_for_the_task(y: Any) -> None:
    rows = np.arange(30.0)[:, None]
    message = r"y holds 30 distinct whole numbers in 30 rows.*say task='classification' or task='regression'"
    with pytest.raises(ProblemError, match=message):
        Problem(rows, y, rows[:1], y[:1])
    assert Problem(rows, y, rows[:1], y[:1], task="regression").k == 0
    assert Problem(rows, y, rows[:1], y[:1], task="classification").k == 30


def test_a_few_whole_numbers_in_many_rows_are_classes() -> None:
    rows = np.arange(300.0)[:, None]
    assert Problem(rows, np.arange(300) % 50, rows[:1], [0]).k == 50
    with pytest.raises(ProblemError, match="y holds 51 distinct whole numbers in 300 rows"):
        Problem(rows, np.arange(300) % 51, rows[:1], [0])


def test_reading_the_task_gives_no_warning_of_its_own() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = np.arange(30.0)[:, None]
        Problem(rows, [f"label {i}" for i in range(30)], rows[:1], ["label 0"])


# Labels come back as they went in

LABELS = {
    "text": ["no", "no", "yes", "yes"],
    "text array": np.array(["no", "no", "yes", "yes"]),
    "text objects": np.array(["no", "no", "yes", "yes"], dtype=object),
    "integers": [3, 3, 7, 7],
    "small integers": np.array([3, 3, 7, 7], dtype=np.int8),
    "integer objects": np.array([3, 3, 7, 7], dtype=object),
    "booleans": [False, False, True, True],
    "boolean objects": np.array([False, False, True, True], dtype=object),
    "whole floats": [1.0, 1.0, 2.0, 2.0],
    "column": np.array([["no"], ["no"], ["yes"], ["yes"]]),
    "pandas str": pd.Series(["no", "no", "yes", "yes"]),
    "pandas string": pd.Series(["no", "no", "yes", "yes"], dtype="string"),
    "pandas categorical": pd.Series(["no", "no", "yes", "yes"], dtype="category"),
    "pandas Int64": pd.Series([3, 3, 7, 7], dtype="Int64"),
    "pandas boolean": pd.Series([False, False, True, True], dtype="boolean"),
    "polars text": pl.Series(["no", "no", "yes", "yes"]),
    "polars categorical": pl.Series(["no", "no", "yes", "yes"], dtype=pl.Categorical),
    "polars integers": pl.Series([3, 3, 7, 7]),
    "arrow text": pa.chunked_array([["no", "no", "yes", "yes"]]),
    "arrow booleans": pa.chunked_array([[False, False, True, True]]),
}


def plain(y: Any) -> list[Any]:
    """The labels as Python values."""
    return [
        value[0] if isinstance(value, list) else value for value in getattr(y, "tolist", lambda: list(y))()
    ]


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS.keys())
@pytest.mark.parametrize("library, recipe", [("pandas", "auto"), ("polars", "paper"), ("pyarrow", "paper")])
def test_labels_come_back_as_they_went_in(y: Any, library: str, recipe: str) -> None:
    before = plain(y.to_pylist() if isinstance(y, pa.ChunkedArray) else y)
    learner = duti.KernelLogistic(bandwidth=1.0, ridge=0.01)
    trusted: dict[str, Any] = {"X_trusted": [X[1]], "y_trusted": [before[3]], "verified": {0: before[0]}}
    findings = duti.debug(X, y, **trusted, learner=learner, budget=4, recipe=recipe)
    corrected = findings.corrected_labels(top=len(findings.flagged) if recipe == "paper" else 3)
    assert corrected.tolist() != before
    assert findings.given_labels.tolist() == before
    frame = findings.to_frame(library)
    columns = ("given_label", "suggested_label", "candidate_label")
    in_frame = [pa.array(frame[column]).to_pylist() for column in columns]
    for found in (
        findings.given_labels.tolist(),
        findings.suggested_labels.tolist(),
        corrected.tolist(),
        *in_frame,
    ):
        assert {type(label) for label in found} == {type(label) for label in before}
        assert set(found) <= set(before)
    assert in_frame[0] == [before[row] for row in findings.ranking]
    assert in_frame[1] == findings.suggested_labels[findings.ranking].tolist()
    dtype = findings.given_labels.dtype
    assert findings.suggested_labels.dtype == corrected.dtype == dtype
    if isinstance(y, np.ndarray):
        assert dtype == y.dtype


def test_fixes_of_whole_numbers_in_a_regression_need_not_be_whole() -> None:
    rows = np.arange(8.0)[:, None]
    y = np.array([0, 1, 2, 3, 4, 5, 6, -7])
    learner = duti.Ridge(ridge=1e-6)
    findings = duti.debug(rows, y, [[8.0]], [8], learner=learner, task="regression", budget=1)
    assert findings.flagged.tolist() == [7]
    assert findings.candidate_labels[7] == pytest.approx(7, abs=0.5)
    assert findings.candidate_labels[7] != round(findings.candidate_labels[7])
    assert findings.corrected_labels(top=1)[7] == findings.candidate_labels[7]


# Lengths, shapes, emptiness


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"y": ["no", "yes", "no"]}, "X has 4 rows but y has 3; drop or align the extra rows"),
        ({"y_trusted": ["no", "yes"]}, "X_trusted has 1 rows but y_trusted has 2; drop or align"),
        ({"X_trusted": [[1.0]]}, "X_trusted has 1 columns but X has 2; they must be the same features"),
        ({"X_trusted": sp.csr_array([[1.0]])}, "X_trusted has 1 columns but X has 2"),
        ({"X": np.empty((0, 2)), "y": []}, r"X has 0 row\(s\) \(n_samples=0\); at least 2 are needed"),
        ({"X": X[:1], "y": ["no"]}, r"X has 1 row\(s\) \(n_samples=1\); at least 2 are needed"),
        ({"X": np.empty((4, 0))}, "X has 0 columns; at least one feature is needed"),
        ({"X": pd.DataFrame(index=range(4))}, "X has 0 columns; at least one feature is needed"),
        ({"X": []}, r"X is empty \(n_samples=0\)"),
        ({"X": [1.0, 2.0, 3.0, 4.0]}, "X has 1 dimension"),
        ({"X": [[1.0], [2.0, 3.0], [1.0], [1.0]]}, r"X has rows of different lengths \(1, 2\)"),
        ({"X": X + 1j}, "X holds complex128"),
        ({"X_trusted": [[NAN, 1.0]]}, r"X_trusted contains NaN in 1 cell\(s\) \(column 0: 1\)"),
        ({"y_trusted": [None]}, "y_trusted contains NaN or missing labels in 1 of 1 rows"),
        ({"y": ["no", "no", NAN, "yes"]}, "y contains NaN or missing labels in 1 of 4 rows"),
        ({"y": ["no", "no", 1, "yes"]}, "y mixes labels of the types int, str; use one type"),
        ({"y": ["no"] * 4}, r"y holds one class only \('no'\); debugging needs at least two"),
        ({"y": [1] * 4, "y_trusted": [1]}, r"y holds one class only \(1\)"),
        (
            {"y_trusted": [" Yes"]},
            r"y_trusted row 0: label ' Yes' .* labels 'no', 'yes'\. Did you mean 'yes'\?",
        ),
        ({"y_trusted": [1]}, r"y_trusted row 0: label 1 is not among the training labels 'no', 'yes'"),
        (
            {"task": "regression"},
            r"y holds labels such as .*no.*, which are not numbers; regression needs numbers",
        ),
        ({"task": "clustering"}, "task is 'clustering'; use 'classification' or 'regression'"),
        ({"task": np.array(["a", "b"])}, r"task is array\(.*; use 'classification' or 'regression'"),
        ({"y": [0.5, 1, 2, 3]}, "y_trusted holds labels such as .*no.*regression needs numbers"),
    ],
)
def test_bad_input_names_the_thing_the_number_and_the_remedy(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        problem(**changes)


@pytest.mark.parametrize(
    "X_trusted, y_trusted", [(None, None), ([], []), (np.empty((0, 2)), []), (np.empty((0, 2)), np.array([]))]
)
def test_no_trusted_items_are_refused_with_both_remedies(X_trusted: Any, y_trusted: Any) -> None:
    with pytest.raises(ProblemError, match="no trusted items; give X_trusted and y_trusted, or verified="):
        problem(X_trusted=X_trusted, y_trusted=y_trusted)
    assert problem(X_trusted=X_trusted, y_trusted=y_trusted, verified={0: "no"}).m == 1


@pytest.mark.parametrize("missing", ["X_trusted", "y_trusted"])
def test_half_of_the_trusted_items_is_refused(missing: str) -> None:
    with pytest.raises(ProblemError, match=f"{missing} is missing; X_trusted and y_trusted belong together"):
        problem(**{missing: None})


@pytest.mark.parametrize(
    "make_learner", [duti.KernelLogistic, lambda: duti.KernelLogistic(1.0, 0.1), lambda: None]
)
def test_a_kernel_learner_refuses_sparse_rows_and_names_the_alternative(
    make_learner: Callable[[], Any],
) -> None:
    with pytest.raises(LearnerError, match=r"sparse X.*use Logistic or Ridge.*X\.toarray\(\)"):
        duti.debug(**{**GIVEN, "X": sp.csr_array(X)}, learner=make_learner())


# Column names


FRAMES: list[Callable[[dict[str, Any]], Any]] = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("trusted_frame", FRAMES)
def test_trusted_columns_in_another_order_are_aligned_by_name(frame: Any, trusted_frame: Any) -> None:
    rows = frame({"a": X[:, 0], "b": X[:, 1]})
    found = problem(X=rows, X_trusted=trusted_frame({"b": [20.0], "a": [10.0]}))
    assert dense(found.X_trusted).tolist() == [[10.0, 20.0]]
    assert found.columns == ("a", "b")


@pytest.mark.parametrize(
    "columns, message",
    [
        ({"a": [1.0]}, "X_trusted lacks the columns b of X; name the columns alike in both"),
        (
            {"a": [1.0], "B": [1.0]},
            "X_trusted lacks the columns b of X and has the columns B, which X has not",
        ),
        ({"a": [1.0], "b": [1.0], "c": [1.0]}, "X_trusted has the columns c, which X has not"),
    ],
)
@pytest.mark.parametrize("frame", FRAMES)
def test_trusted_columns_that_differ_are_named(frame: Any, columns: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        problem(X=frame({"a": X[:, 0], "b": X[:, 1]}), X_trusted=frame(columns))


# Confidence


@pytest.mark.parametrize(
    "confidence, expected",
    [
        (None, [100.0, 100.0]),
        (7, [7.0, 7.0]),
        (0, [0.0, 0.0]),
        ([1, 2], [1.0, 2.0]),
        (np.float32(0.5), [0.5, 0.5]),
        (pd.Series([1, 2]), [1.0, 2.0]),
    ],
)
def test_confidence_is_one_number_or_one_for_each_item(confidence: Any, expected: list[float]) -> None:
    found = problem(X_trusted=X[:2], y_trusted=["no", "yes"], confidence=confidence)
    assert found.confidence.tolist() == expected


def test_verified_rows_take_the_confidence_of_all_or_the_paper_s() -> None:
    assert problem(verified={0: "no"}, confidence=7).confidence.tolist() == [7.0, 7.0]
    assert problem(verified={0: "no"}, confidence=[7]).confidence.tolist() == [7.0, PAPER_CONFIDENCE]
    assert problem(verified={0: "no"}, confidence=[7, 8]).confidence.tolist() == [7.0, 8.0]


@pytest.mark.parametrize(
    "confidence, message",
    [
        (-1, r"confidence -1\.0 is not possible"),
        ([-0.5], r"confidence -0\.5 is not possible \(1 such\); use numbers from 0 to 1e\+30"),
        (NAN, "confidence nan is not possible"),
        ([NAN], "confidence nan is not possible"),
        (float("inf"), "confidence inf is not possible"),
        (
            [1, 2],
            r"confidence has shape \(2,\) but there are 1 trusted items and 0 verified rows; give one number",
        ),
        ([[1]], r"confidence has shape \(1, 1\) but there are 1 trusted items"),
        ([], r"confidence has shape \(0,\)|confidence is \[\]"),
        ("high", "confidence is 'high'; give a number, or one for each item"),
        ([None], r"confidence is \[None\]; give a number"),
        (1j, "confidence is 1j; give a number"),
        ([1, [2]], r"confidence is \[1, \[2\]\]; give a number"),
    ],
)
def test_impossible_confidence_is_refused(confidence: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        problem(confidence=confidence)


# Budget


@pytest.mark.parametrize("budget, expected", [(None, 1), (1, 1), (4, 4), (np.int64(2), 2)])
def test_budget_is_a_number_of_rows(budget: Any, expected: int) -> None:
    assert problem().budget(budget) == expected


def test_budget_is_a_tenth_of_the_rows_if_not_said() -> None:
    rows = np.arange(57.0)[:, None]
    assert Problem(rows, ["a", "b", "b"] * 19, rows[:1], ["a"]).budget(None) == 5


@pytest.mark.parametrize("budget", [0, -1, 5])
def test_budget_outside_the_rows_is_refused(budget: int) -> None:
    with pytest.raises(ProblemError, match=f"budget is {budget}, but must lie between 1 and the 4 rows"):
        problem().budget(budget)


@pytest.mark.parametrize("budget", [True, 2.0, "2", NAN, [2]])
def test_budget_that_is_no_whole_number_is_refused(budget: Any) -> None:
    with pytest.raises(ProblemError, match=r"budget is .*; give a whole number of rows from 1 to 4"):
        problem().budget(budget)


# Verified rows

INDEXES: dict[str, Any] = {
    "text": pd.Index(["a", "b", "c", "d"]),
    "numbers": pd.Index([30, 10, 20, 40]),
    "floats": pd.Index([0.5, 1.5, 2.5, 3.5]),
    "times": pd.date_range("2024-01-01", periods=4),
    "nanoseconds": pd.to_datetime([10**18, 10**18 + 1, 10**18 + 2, 10**18 + 3]),
    "time zone": pd.date_range("2024-01-01", periods=4, tz="Europe/Berlin"),
    "durations": pd.to_timedelta([1, 2, 3, 4], unit="D"),
    "tuples": pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1), ("b", 2)]),
    "periods": pd.period_range("2024-01", periods=4, freq="M"),
    "default": pd.RangeIndex(4),
}


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES.keys())
def test_a_verified_row_is_found_by_the_index_of_the_frame(index: Any) -> None:
    found = problem(X=pd.DataFrame(X, index=index), X_trusted=None, y_trusted=None, verified={index[2]: "no"})
    assert found.frozen.tolist() == [False, False, True, False]


@pytest.mark.parametrize("name", ["text", "times", "time zone", "tuples"])
def test_a_position_is_understood_where_the_index_has_no_numbers(name: str) -> None:
    found = problem(X=pd.DataFrame(X, index=INDEXES[name]), verified={np.int64(2): "no"})
    assert found.frozen.tolist() == [False, False, True, False]


def test_a_verified_row_is_found_by_the_index_of_the_labels() -> None:
    found = problem(y=pd.Series(GIVEN["y"], index=["a", "b", "c", "d"]), verified={"d": "no"})
    assert found.frozen.tolist() == [False, False, False, True]


@pytest.mark.parametrize("row", [2, np.int32(2)])
@pytest.mark.parametrize("read", [np.asarray, pl.DataFrame, sp.csr_array])
def test_a_verified_row_is_replaced_frozen_and_trusted(row: Any, read: Callable[[Any], Any]) -> None:
    found = problem(X=read(X), verified={row: "no"})
    assert found.y.tolist() == [0, 0, 0, 1]
    assert found.given.tolist() == GIVEN["y"]
    assert found.frozen.tolist() == [False, False, True, False]
    assert dense(found.X_trusted).tolist() == [[0.5, 4.5], [2.0, 3.0]]
    assert found.y_trusted.tolist() == [0, 0]
    assert found.m == 2


def test_verified_rows_come_last_with_their_label_and_the_quality_of_the_given_one() -> None:
    learner = duti.KernelLogistic(bandwidth=1.0, ridge=0.01)
    findings = duti.debug(X, GIVEN["y"], learner=learner, verified={2: "no"}, budget=4)
    assert findings.ranking[-1] == 2
    assert findings.label_quality[2] == 0  # "yes" was wrong
    assert 2 not in findings.flagged
    assert findings.corrected_labels(top=0).tolist() == ["no", "no", "no", "yes"]


def test_verified_values_of_a_regression_replace_the_given_ones() -> None:
    found = problem(y=[0.5, 1.5, 2.5, 3.5], y_trusted=[1], verified={3: 7})
    assert found.y.tolist() == [0.5, 1.5, 2.5, 7.0]
    assert found.y_trusted.tolist() == [1.0, 7.0]


@pytest.mark.parametrize("row", [4, -1, "a", 1.5, True, None, (0,)])
def test_a_verified_row_that_does_not_exist_is_refused(row: Any) -> None:
    with pytest.raises(ProblemError, match=r"verified names row .*, but the rows are 0 to 3"):
        problem(verified={row: "no"})


@pytest.mark.parametrize(
    "name, row", [(name, row) for name in INDEXES for row in ("zebra", -1, ("a", 9), None)]
)
def test_a_verified_row_that_is_not_in_the_index_is_refused(name: str, row: Any) -> None:
    with pytest.raises(ProblemError, match=r"verified names row .*, which stands 0 times in the index"):
        problem(X=pd.DataFrame(X, index=INDEXES[name]), verified={row: "no"})


def test_a_position_is_not_guessed_where_the_index_has_numbers() -> None:
    with pytest.raises(ProblemError, match="verified names row 2, which stands 0 times in the index"):
        problem(X=pd.DataFrame(X, index=[30, 10, 20, 40]), verified={2: "no"})


def test_a_verified_row_that_stands_twice_in_the_index_is_refused() -> None:
    with pytest.raises(ProblemError, match="verified names row 'a', which stands 2 times in the index"):
        problem(X=pd.DataFrame(X, index=["a", "b", "a", "c"]), verified={"a": "no"})


def test_a_row_that_is_verified_twice_is_refused() -> None:
    with pytest.raises(
        ProblemError, match="verified names the same row twice: b, 1; keep one label for each"
    ):
        problem(X=pd.DataFrame(X, index=["a", "b", "c", "d"]), verified={"b": "no", 1: "yes"})


@pytest.mark.parametrize(
    "verified, message",
    [
        ({0: "no", 2: "No"}, r"verified row 2: label 'No' .* Did you mean 'no'\?"),
        ({2: None}, "verified contains NaN or missing labels in 1 of 1 rows"),
        ({0: "no", 2: 1}, "verified mixes labels of the types int, str"),
        ([(0, "no")], r"verified is a list; give a dict \{row: label\}"),
        (pd.Series(["no"]), r"verified is a Series; give a dict"),
        ({0: "no", 1: "no", 2: "yes", 3: "yes"}, "all 4 rows are verified; there is nothing left to debug"),
    ],
)
def test_impossible_verified_labels_are_refused(verified: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        problem(verified=verified)


# Notes


def test_ordinary_input_gets_no_notes() -> None:
    assert problem().notes == ()


@pytest.mark.parametrize("read", [np.asarray, sp.csr_array])
def test_constant_columns_are_noted(read: Callable[[Any], Any]) -> None:
    rows = np.column_stack([X, np.zeros(4), np.ones(4)])
    notes = problem(X=read(rows), X_trusted=[[0.5, 4.5, 0.0, 1.0]]).notes
    assert notes == ("Constant columns carry no information: 2, 3.",)


def test_constant_columns_of_a_frame_are_noted_by_name() -> None:
    notes = problem(X=pd.DataFrame({"a": X[:, 0], "b": 1.0}), X_trusted=[[0.5, 1.0]]).notes
    assert notes == ("Constant columns carry no information: 'b'.",)


@pytest.mark.parametrize("read", [np.asarray, sp.csr_array, pl.DataFrame])
def test_duplicate_rows_are_noted(read: Callable[[Any], Any]) -> None:
    notes = problem(X=read(X[[0, 1, 0, 0]])).notes
    assert notes == ("2 rows duplicate the features of an earlier row: 2 (of 0), 3 (of 0).",)


def test_duplicate_rows_are_called_by_their_index() -> None:
    notes = problem(X=pd.DataFrame(X[[0, 1, 0, 3]], index=["a", "b", "c", "d"])).notes
    assert notes == ("1 rows duplicate the features of an earlier row: c (of a).",)


def test_a_long_list_of_duplicates_is_cut_short() -> None:
    rows = np.ones((30, 1))
    rows[0] = 2
    (note,) = Problem(rows, ["a", "b"] * 15, [[3.0]], ["a"]).notes
    assert note.startswith("28 rows duplicate")
    assert note.endswith("11 (of 1) and 18 more.")


def test_duplicate_trusted_items_are_noted() -> None:
    notes = problem(X_trusted=[[1.0, 1.0], [2.0, 1.0], [1.0, 1.0]], y_trusted=["no", "no", "no"]).notes
    assert notes == ("Trusted items 0, 2 are duplicates: the same features, labels 'no', 'no'.",)


def test_contradictory_trusted_items_are_noted() -> None:
    notes = problem(X_trusted=[[1.0, 1.0], [2.0, 1.0], [1.0, 1.0]], y_trusted=["no", "no", "yes"]).notes
    assert notes == ("Trusted items 0, 2 contradict each other: the same features, labels 'no', 'yes'.",)


def test_a_verified_row_that_contradicts_a_trusted_item_is_noted() -> None:
    notes = problem(X_trusted=[X[3]], y_trusted=["yes"], verified={3: "no"}).notes
    assert notes[0] == (
        "Trusted items 0, verified row 3 contradict each other: the same features, labels 'yes', 'no'."
    )


def test_values_of_the_same_features_scatter_and_do_not_contradict_each_other() -> None:
    notes = Problem(X, [0.5, 1.5, 2.5, 3.5], [[9.0, 9.0], [9.0, 9.0]], [1.0, 1.25]).notes
    assert notes == ("Trusted items 0, 1 are duplicates: the same features, labels 1.0, 1.25.",)


def test_only_the_first_groups_of_alike_trusted_items_are_noted() -> None:
    items = np.repeat(np.arange(13.0), 2)
    notes = problem(X_trusted=np.column_stack([items, items]), y_trusted=["no"] * 26).notes
    alike = [note for note in notes if "the same features" in note]
    assert len(alike) == 11
    assert alike[-1] == "3 more groups of trusted items have the same features."


def test_labels_with_another_index_than_the_rows_are_noted() -> None:
    rows = pd.DataFrame(X, index=list("abcd"))
    y = pd.Series(GIVEN["y"], index=list("abcd"))
    assert problem(X=rows, y=y).notes == ()
    (note,) = problem(X=rows, y=y.set_axis(list("dcba"))).notes
    assert note == "X and y have different indexes; rows and labels were paired by position."


def test_notes_reach_the_findings() -> None:
    learner = duti.KernelLogistic(bandwidth=1.0, ridge=0.01)
    findings = duti.debug(X[[0, 1, 2, 2]], GIVEN["y"], [X[1]], ["no"], learner=learner)
    assert findings.notes[0] == "1 rows duplicate the features of an earlier row: 3 (of 2)."


def test_long_lists_say_how_many_more() -> None:
    assert listed([1, 2, 3]) == "1, 2, 3"
    assert listed([1, 2, 3], most=2) == "1, 2 and 1 more"
    assert listed([1, 2], most=2, of=5) == "1, 2 and 3 more"


# Properties

FINITE = st.floats(-1e30, 1e30, allow_nan=False).map(lambda x: x if abs(x) > 1e-99 else 0.0)
LABEL_LISTS = st.one_of(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=12),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=12),
    st.lists(st.booleans(), min_size=2, max_size=12),
)


@given(st.data(), LABEL_LISTS.filter(lambda y: len(set(y)) > 1))
def test_any_finite_rows_and_labels_make_a_problem_that_decodes_back(
    data: st.DataObject, y: list[Any]
) -> None:
    rows = data.draw(hnp.arrays(np.float64, (len(y), data.draw(st.integers(1, 3))), elements=FINITE))
    as_sparse = data.draw(st.booleans())
    row = data.draw(st.integers(0, len(y) - 1))
    found = Problem(
        sp.csr_array(rows) if as_sparse else rows, y, verified={row: y[row]}, task="classification"
    )
    assert found.classes is not None
    assert found.decode(found.y).tolist() == y
    assert found.classes.tolist() == sorted(set(y))
    np.testing.assert_array_equal(dense(found.X), rows)
    np.testing.assert_array_equal(dense(found.X_trusted), rows[[row]])


@given(st.data(), st.lists(FINITE, min_size=2, max_size=12))
def test_any_finite_values_make_a_regression_that_decodes_back(data: st.DataObject, y: list[float]) -> None:
    rows = data.draw(hnp.arrays(np.float64, (len(y), 2), elements=FINITE))
    found = Problem(rows, y, rows[:1], y[:1], task="regression")
    assert found.decode(found.y).tolist() == y
    assert found.given.tolist() == y


SCRAPS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.floats() | st.none() | st.text(max_size=2), max_size=4),
    st.lists(st.lists(st.floats() | st.integers() | st.none(), min_size=1, max_size=2), max_size=4),
    st.dictionaries(st.integers(-1, 4) | st.text(max_size=2), st.text(max_size=2) | st.floats(), max_size=3),
    hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=4)),
    hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=4)).map(pd.DataFrame),
)


@given(
    st.dictionaries(
        st.sampled_from(["X", "y", "X_trusted", "y_trusted", "confidence", "verified", "task"]),
        SCRAPS,
        min_size=1,
        max_size=3,
    )
)
def test_junk_makes_a_problem_or_a_duti_error(junk: dict[str, Any]) -> None:
    try:
        found = problem(**junk)
    except DutiError:
        return
    assert len(found.y) == found.n
    assert len(found.y_trusted) == len(found.confidence) == found.m
    assert found.X.shape[1] == found.X_trusted.shape[1]


@given(SCRAPS)
def test_a_junk_budget_is_a_number_of_rows_or_a_duti_error(junk: Any) -> None:
    try:
        budget = problem().budget(junk)
    except DutiError:
        return
    assert 1 <= budget <= 4
