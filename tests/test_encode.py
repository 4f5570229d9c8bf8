"""What comes in as a matrix or as labels, and what is refused with a sentence."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
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

import duti
from duti import DutiError, Problem, ProblemError, encode

MATRIX = np.array([[0.0, 2.0, 1.0], [1.0, 3.0, 1.0]])
NAN, INF = float("nan"), float("inf")


def table(X: Any) -> encode.Table:
    return encode.table(X, "X")


def labels(y: Any) -> Any:
    return encode.vector(y, "y")[0]


# Matrices that work


@pytest.mark.parametrize(
    "read",
    [
        np.ndarray.tolist,
        lambda X: [tuple(row) for row in X],
        lambda X: list(X),
        lambda X: X.astype(int),
        lambda X: X.astype(np.uint8),
        lambda X: X.astype(np.float32),
        lambda X: X.astype(np.float16),
        lambda X: X.astype(">f8"),
        lambda X: X.astype(np.longdouble),
        lambda X: X.astype(object),
        lambda X: [[Decimal(x) for x in row] for row in X],
        lambda X: [[Fraction(x) for x in row] for row in X],
        np.asfortranarray,
        np.ma.array,
        pd.DataFrame,
        lambda X: pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])),
        lambda X: pd.DataFrame(X).astype("Int64"),
        lambda X: pd.DataFrame(X).astype("Float64"),
        lambda X: pd.DataFrame(X).astype("int64[pyarrow]"),
        lambda X: pd.DataFrame(X).astype(object),
        lambda X: pd.DataFrame(X).astype(pd.SparseDtype(float, 0.0)),
        pl.DataFrame,
        lambda X: pl.DataFrame(X).cast(pl.Decimal(10, 2)),
        lambda X: pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}),
        lambda X: pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}).to_batches()[0],
    ],
)
def test_every_kind_of_matrix_gives_the_same_numbers(read: Callable[[Any], Any]) -> None:
    values = table(read(MATRIX)).values
    assert isinstance(values, np.ndarray)
    assert values.dtype in (np.float64, np.float32)
    assert values.dtype.isnative
    np.testing.assert_array_equal(values, MATRIX)


@pytest.mark.parametrize(
    "read",
    [
        lambda X: X > 1,
        lambda X: (X > 1).astype(object),
        lambda X: pd.DataFrame(X > 1),
        lambda X: pd.DataFrame(X > 1).astype("boolean"),
        lambda X: pl.DataFrame(X > 1),
        lambda X: pa.table({"a": X[:, 0] > 1, "b": X[:, 1] > 1, "c": X[:, 2] > 1}),
        lambda X: sp.csr_array(X > 1).toarray(),
    ],
)
def test_booleans_are_zeros_and_ones(read: Callable[[Any], Any]) -> None:
    np.testing.assert_array_equal(np.asarray(table(read(MATRIX)).values), MATRIX > 1)


@pytest.mark.parametrize(
    "kind",
    [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.lil_array, sp.dia_array, sp.bsr_array],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool])
def test_sparse_matrices_stay_sparse(kind: Any, dtype: Any) -> None:
    values = table(kind(MATRIX.astype(dtype))).values
    assert isinstance(values, sp.csr_array)
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values.toarray(), MATRIX.astype(dtype))


def test_sparse_entries_that_stand_twice_are_added_without_touching_the_input() -> None:
    X = sp.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2, 2])), shape=(2, 1))
    values: Any = table(X).values
    assert values.toarray().tolist() == [[3.0], [0.0]]
    assert X.data.tolist() == [1.0, 2.0]


def test_floats_are_not_copied() -> None:
    assert np.shares_memory(np.asarray(table(MATRIX).values), MATRIX)


def test_a_frame_keeps_its_column_names_index_and_library() -> None:
    found = table(pd.DataFrame({"a": [1, 2], "b": [3, 4]}, index=["x", "y"]))
    assert found.columns == ("a", "b")
    assert found.index is not None
    assert found.index.tolist() == ["x", "y"]
    assert found.library == "pandas"


@pytest.mark.parametrize("read", [pl.DataFrame, pa.table])
def test_a_frame_without_an_index_has_none(read: Callable[[Any], Any]) -> None:
    assert table(read({"a": [1, 2]})).index is None


@pytest.mark.parametrize(
    "index, expected",
    [
        (pd.Index([3, 1]), [3, 1]),
        (pd.Index([0.5, 1.5]), [0.5, 1.5]),
        (pd.Index([3, 1], dtype="Int64"), [3, 1]),
        (pd.CategoricalIndex(["b", "a"]), ["b", "a"]),
        (pd.Index(["b", 1]), ["b", "1"]),
        (pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]), ["('a', 1)", "('b', 2)"]),
        (pd.period_range("2024-01", periods=2, freq="M"), ["2024-01", "2024-02"]),
    ],
)
def test_an_index_is_kept_or_becomes_text(index: Any, expected: list[Any]) -> None:
    found = table(pd.DataFrame({"a": [1, 2]}, index=index)).index
    assert found is not None
    assert found.tolist() == expected


# Matrices that are refused


@pytest.mark.parametrize(
    "bad, kind", [(NAN, "NaN in 2"), (INF, "NaN or infinity in 2"), (-INF, "infinity in 2")]
)
@pytest.mark.parametrize("read", [np.asarray, np.ndarray.tolist, sp.csr_array, sp.csc_array])
def test_a_bad_cell_names_the_column_and_how_many(read: Callable[[Any], Any], bad: float, kind: str) -> None:
    X = MATRIX.copy()
    X[:, 1] = bad
    with pytest.raises(ProblemError, match=rf"X contains .*{kind} cell\(s\) \(column 1: 2\); impute or drop"):
        table(read(X))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0, 2.0], "age": [NAN, 1.0]}),
        pd.DataFrame({"a": [1, 2], "age": pd.array([None, 1], "Int64")}),
        pd.DataFrame({"a": [1, 2], "age": pd.array([None, 1.0], "Float64")}),
        pd.DataFrame({"a": [1, 2], "age": pd.array([None, True], "boolean")}),
        pd.DataFrame({"a": [1, 2], "age": pd.array([None, 1], "int64[pyarrow]")}),
        pd.DataFrame({"a": [1, 2], "age": np.array([None, 1], dtype=object)}),
        pd.DataFrame({"a": [1, 2], "age": np.array([pd.NA, 1], dtype=object)}),
        pl.DataFrame({"a": [1, 2], "age": [None, 1]}),
        pl.DataFrame({"a": [1, 2], "age": [NAN, 1.0]}),
        pl.DataFrame({"a": [1, 2], "age": [None, True]}),
        pa.table({"a": [1, 2], "age": [None, 1]}),
        pa.table({"a": [1, 2], "age": [None, True]}),
    ],
    ids=lambda frame: f"{type(frame).__module__.split('.')[0]}",
)
def test_nan_in_a_frame_names_the_column(frame: Any) -> None:
    with pytest.raises(ProblemError, match=r"X contains NaN in 1 cell\(s\) \(column 'age': 1\); impute"):
        table(frame)


def test_only_the_first_few_bad_columns_are_listed() -> None:
    with pytest.raises(
        ProblemError, match=r"in 14 cell\(s\) \(column 0: 2, .*column 4: 2, and 2 more columns\)"
    ):
        table(np.full((2, 7), NAN))


@pytest.mark.parametrize(
    "X",
    [
        np.ma.array(MATRIX, mask=MATRIX == 3),
        [[1.0, None], [2.0, 3.0]],
        [[1.0, NAN], [2.0, 3.0]],
        [[1, Decimal("NaN")], [2, 3]],
    ],
)
def test_masked_and_missing_cells_count_as_nan(X: Any) -> None:
    with pytest.raises(ProblemError, match=r"X contains NaN in 1 cell\(s\) \(column 1: 1\)"):
        table(X)


@pytest.mark.parametrize("huge", [1e101, -1e300, 10**200])
def test_numbers_whose_squares_overflow_ask_to_be_rescaled(huge: float) -> None:
    with pytest.raises(ProblemError, match=r"beyond ±1e\+30 in 1 cell\(s\) \(column 0: 1\); rescale"):
        table([[huge], [1.0]])


def test_a_whole_number_beyond_all_floats_is_refused() -> None:
    with pytest.raises(ProblemError, match=r"infinity in 1 cell\(s\) \(column 0: 1\)"):
        table([[10**400], [1]])


@pytest.mark.parametrize(
    "X, message",
    [
        ([[1, 2], [3, "dog"]], r"X column 1, row 1 holds 'dog', not a number; encode text"),
        (np.array([["1", "2"], ["3", "4"]]), r"X column 0, row 0 holds '1', not a number"),
        (np.array([[1, {}], [3, 4]], dtype=object), r"X column 1, row 0 holds \{\}, not a number"),
        (np.array([[1, 1j], [3, 4]], dtype=object), r"X column 1, row 0 holds 1j, not a number"),
        (np.array([[1, 1j], [3, 4]]), r"X holds complex128, not real numbers; encode"),
        (np.array([["2024-01-01"]], dtype="M8[D]"), r"X holds datetime64\[D\], not real numbers"),
        (np.zeros(2, dtype=[("a", float)])[:, None], r"X holds .*'a'.*, not real numbers"),
        (sp.csr_array([[1j, 0]]), r"X is sparse with 2 dimension\(s\) of complex128; use .* real"),
        (
            pd.DataFrame({"a": ["x", "y"]}),
            r"X column 'a' holds String, not numbers; encode it first .* or drop it",
        ),
        (pd.DataFrame({"a": pd.Categorical([1, 2])}), r"X column 'a' holds Categorical"),
        (pd.DataFrame({"a": pd.to_datetime(["2024", "2025"])}), r"X column 'a' holds Datetime"),
        (
            pd.DataFrame({"a": np.array([1, "x"], dtype=object)}),
            r"X column 'a', row 1 holds 'x', not a number",
        ),
        (pd.DataFrame({"a": [1j, 2j]}), r"X column 'a' holds complex128, not numbers"),
        (pl.DataFrame({"a": ["x", "y"]}), r"X column 'a' holds String"),
        (pl.DataFrame({"a": [[1], [2]]}), r"X column 'a' holds List"),
        (pa.table({"a": ["x", "y"]}), r"X column 'a' holds String"),
    ],
)
def test_what_is_not_a_number_is_named_with_its_place(X: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        table(X)


@pytest.mark.parametrize(
    "X, message",
    [
        ([1.0, 2.0], r"X has 1 dimension, .* use X\.reshape\(-1, 1\)"),
        (pd.Series([1.0, 2.0]), r"X has 1 dimension, .* use X\.reshape\(-1, 1\)"),
        (np.zeros((2, 2, 2)), r"X has 3 dimensions, .* use X\.reshape\(len\(X\), -1\)"),
        (sp.coo_array(np.ones(3)), r"X is sparse with 1 dimension\(s\)"),
        ([[1.0, 2.0], [3.0]], r"X has rows of different lengths \(1, 2\), .* every row needs every column"),
        ([[1.0, 2.0], 3.0], r"X has rows of different lengths \(1, 2\)"),
        ([], r"X is empty \(n_samples=0\), but rows"),
        (None, r"X is of type NoneType, but rows"),
        ("text", r"X is of type str, but rows"),
        ({"a": 1}, r"X is of type dict, but rows"),
        (pl.LazyFrame({"a": [1]}), r"X is of type LazyFrame, .* call \.collect\(\) first"),
    ],
)
def test_what_is_not_a_matrix_is_refused_with_a_remedy(X: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        table(X)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(MATRIX, columns=["a", "a", "b"]),
        pd.DataFrame(MATRIX, columns=[0, "0", "b"]),
        pa.table([[1], [2]], names=["a", "a"]),
    ],
)
def test_columns_of_the_same_name_are_refused(frame: Any) -> None:
    with pytest.raises(ProblemError, match="name"):
        table(frame)


def test_an_object_that_fails_to_become_an_array_is_refused() -> None:
    class Tensor:
        def __array__(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("this tensor lives on another device")

    with pytest.raises(ProblemError, match="X cannot be read as an array: this tensor lives"):
        table(Tensor())


# Repeated rows and constant columns


def test_rows_are_alike_whatever_their_place_and_the_sign_of_zero() -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -0.0], [0.0, 0.0], [1.0, 0.0]])
    assert encode.originals(X).tolist() == [0, 1, 0, 3, 0]


@given(
    hnp.arrays(
        np.float64, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.sampled_from([-1.0, 0, 1, 2])
    )
)
def test_repeated_rows_are_those_that_are_equal(X: Any) -> None:
    rows = [tuple(row) for row in X.tolist()]
    expected = [rows.index(row) for row in rows]
    assert encode.originals(X).tolist() == expected
    assert encode.originals(sp.csr_array(X)).tolist() == expected


def test_explicit_zeros_do_not_make_sparse_rows_different() -> None:
    X = sp.csr_array((np.array([1.0, 0.0, 1.0]), np.array([0, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    assert encode.originals(X).tolist() == [0, 0]


def test_many_different_rows_of_small_numbers_are_not_confused() -> None:
    # Whole numbers differ only in the highest bits of a float: a weak hash would lose them.
    grid = np.stack(np.meshgrid(*[np.arange(40.0)] * 3), axis=-1).reshape(-1, 3)
    assert encode.originals(grid).tolist() == list(range(len(grid)))


@pytest.mark.parametrize("read", [np.asarray, sp.csr_array])
def test_constant_columns_are_found_in_dense_and_sparse_rows(read: Callable[[Any], Any]) -> None:
    X = np.array([[0.0, 1.0, 2.0, 0.0], [0.0, 1.0, 3.0, 5.0]])
    assert encode.constant_columns(read(X)).tolist() == [0, 1]


# Labels that work


@pytest.mark.parametrize(
    "y, expected",
    [
        (["no", "yes"], np.array(["no", "yes"])),
        (("no", "yes"), np.array(["no", "yes"])),
        ([1, 2], np.array([1, 2])),
        ([True, False], np.array([True, False])),
        ([1, 2.5], np.array([1.0, 2.5])),
        (range(2), np.array([0, 1])),
        (np.array(["no", "yes"]), np.array(["no", "yes"])),
        (np.array(["no", "yes"], dtype=object), np.array(["no", "yes"], dtype=object)),
        (np.array([1, 2], dtype=object), np.array([1, 2], dtype=object)),
        (np.array([1, 2], dtype=np.int8), np.array([1, 2], dtype=np.int8)),
        (np.array([1, 2], dtype=">i4"), np.array([1, 2], dtype=np.int32)),
        (np.array([1.5, 2], dtype=np.float32), np.array([1.5, 2], dtype=np.float32)),
        (np.array([1.5, 2], dtype=np.longdouble), np.array([1.5, 2])),
        (np.array(["no", "yes"], dtype=np.dtypes.StringDType()), np.array(["no", "yes"], dtype=object)),
        (np.array([["no"], ["yes"]]), np.array(["no", "yes"])),
        ([["no"], ["yes"]], np.array(["no", "yes"])),
        (np.ma.array([1, 2]), np.array([1, 2], dtype=object)),
        (pd.Series(["no", "yes"]), np.array(["no", "yes"], dtype=object)),
        (pd.Series(["no", "yes"], dtype="string"), np.array(["no", "yes"], dtype=object)),
        (pd.Series(["no", "yes"], dtype="category"), np.array(["no", "yes"], dtype=object)),
        (pd.Series([1, 2], dtype="category"), np.array([1, 2])),
        (pd.Series([1, 2], dtype="Int64"), np.array([1, 2])),
        (pd.Series([True, False], dtype="boolean"), np.array([True, False])),
        (pd.Series([1.5, 2], dtype="Float64"), np.array([1.5, 2])),
        (pd.Index(["no", "yes"]), np.array(["no", "yes"], dtype=object)),
        (pd.Categorical(["no", "yes"]), np.array(["no", "yes"], dtype=object)),
        (pd.DataFrame({"y": ["no", "yes"]}), np.array(["no", "yes"], dtype=object)),
        (pd.DataFrame([1, 2]), np.array([1, 2])),
        (pl.Series(["no", "yes"], dtype=pl.Categorical), np.array(["no", "yes"], dtype=object)),
        (pl.Series(["no", "yes"], dtype=pl.Enum(["no", "yes"])), np.array(["no", "yes"], dtype=object)),
        (pl.Series([True, False]), np.array([True, False])),
        (pl.Series([Decimal("1.5"), Decimal("2")]), np.array([1.5, 2])),
        (pl.DataFrame({"y": [1, 2]}), np.array([1, 2])),
        (pa.chunked_array([["no"], ["yes"]]), np.array(["no", "yes"], dtype=object)),
        (
            pa.chunked_array([pa.array(["no", "yes"]).dictionary_encode()]),
            np.array(["no", "yes"], dtype=object),
        ),
        (pa.array([1, 2]), np.array([1, 2])),
    ],
)
def test_labels_keep_their_type_and_values(y: Any, expected: Any) -> None:
    found = labels(y)
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()


def test_text_of_polars_comes_as_text() -> None:
    assert labels(pl.Series(["no", "yes"])).tolist() == ["no", "yes"]


@pytest.mark.parametrize("dtype", [int, float, bool, object, "<U3"])
def test_labels_are_a_copy_that_later_changes_do_not_reach(dtype: Any) -> None:
    y = np.array([0, 1]).astype(dtype)
    found = labels(y)
    assert not np.shares_memory(found, y)
    found[0] = found[1]  # and may be written to


def test_text_that_numpy_would_cut_short_stays_whole() -> None:
    assert labels(["a\0", "a"]).tolist() == ["a\0", "a"]


def test_the_index_of_a_series_comes_along() -> None:
    _, index = encode.vector(pd.Series([1, 2], index=["a", "b"]), "y")
    assert index is not None
    assert index.tolist() == ["a", "b"]


# Labels that are refused


@pytest.mark.parametrize(
    "y",
    [
        [1.0, NAN, 2.0],
        ["a", NAN, "b"],
        ["a", None, "b"],
        [1, None, 2],
        np.array([1.0, NAN, 2.0]),
        np.array([1.0, NAN, 2.0], dtype=np.float32),
        np.array(["a", NAN, "b"], dtype=object),
        np.array(["a", pd.NA, "b"], dtype=object),
        np.array(["a", pd.NaT, "b"], dtype=object),
        np.array([[1.0], [NAN], [2.0]]),
        np.ma.array([1, 2, 3], mask=[False, True, False]),
        pd.Series(["a", None, "b"]),
        pd.Series(["a", None, "b"], dtype="category"),
        pd.Series([1, None, 2], dtype="Int64"),
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series([1.0, NAN, 2.0]),
        pl.Series(["a", None, "b"]),
        pl.Series([1.0, NAN, 2.0]),
        pl.Series([1, None, 2]),
        pa.chunked_array([[1, None, 2]]),
        pa.array(["a", None, "b"]),
    ],
)
def test_missing_labels_are_counted(y: Any) -> None:
    with pytest.raises(
        ProblemError, match=r"y contains NaN or missing labels in 1 of 3 rows; drop those rows"
    ):
        labels(y)


@pytest.mark.parametrize("y", [[1.0, INF], np.array([1.0, -INF]), np.array([1, INF], dtype=object)])
def test_infinite_labels_are_counted(y: Any) -> None:
    with pytest.raises(ProblemError, match=r"y contains infinity in 1 of 2 rows; drop or repair"):
        labels(y)


@pytest.mark.parametrize(
    "y, kinds",
    [
        ([1, "a"], "int, str"),
        ([True, 2], "bool, int"),
        ([True, "a"], "bool, str"),
        (np.array([1.5, "a"], dtype=object), "float, str"),
        (pd.Series([1, "a"], dtype=object), "int, str"),
    ],
)
def test_mixed_labels_name_their_types(y: Any, kinds: str) -> None:
    with pytest.raises(ProblemError, match=f"y mixes labels of the types {kinds}; use one type"):
        labels(y)


@pytest.mark.parametrize(
    "y, kind",
    [
        ([1j, 2j], "complex"),
        (np.array([1j, 2j]), "complex128"),
        ([[1], [1, 2]], "list"),
        ([{}, "a"], "dict"),
        ([b"a", b"b"], "bytes"),
        (np.array([b"a", b"b"]), r"\|S1"),
        (np.array(["2024", "2025"], dtype="M8[Y]"), r"datetime64\[Y\]"),
        (pd.Series(pd.to_datetime(["2024", "2025"])), r"datetime64\[us\]"),
        (pl.Series([[1], [2, 3]]), "ndarray"),
        ([Decimal("1"), Decimal("2")], "Decimal"),
    ],
)
def test_labels_of_other_types_are_refused(y: Any, kind: str) -> None:
    with pytest.raises(
        ProblemError, match=f"y holds labels of the type {kind}; use text, numbers or booleans"
    ):
        labels(y)


@pytest.mark.parametrize("y", [[10**30, 1], [2**63, -1]])
def test_whole_numbers_beyond_64_bits_ask_for_text(y: Any) -> None:
    with pytest.raises(
        ProblemError, match=rf"y holds whole numbers beyond 64 bits, such as {y[0]}; use text"
    ):
        labels(y)


@pytest.mark.parametrize(
    "y, shape",
    [
        (np.zeros((2, 2)), r"ndarray\) has shape \(2, 2\)"),
        (pd.DataFrame({"a": [1, 2], "b": [1, 2]}), r"DataFrame\) has shape \(2, 2\)"),
        (sp.csr_array(np.ones((2, 1))), r"csr_array\) has shape \(\)"),
        ("text", r"str\) has shape \(\)"),
        (None, r"NoneType\) has shape \(\)"),
        ((label for label in "ab"), r"generator\) has shape \(\)"),
    ],
)
def test_labels_of_another_shape_are_refused(y: Any, shape: str) -> None:
    with pytest.raises(ProblemError, match=rf"y \({shape}, but one label for each row is needed"):
        labels(y)


# Codes


def test_regression_refuses_text_even_if_it_looks_like_numbers() -> None:
    with pytest.raises(ProblemError, match=r"y holds labels such as .*1\.5.*regression needs numbers"):
        encode.real_labels(np.array(["1.5", "2.5"]), "y")


def test_regression_refuses_labels_whose_squares_overflow() -> None:
    with pytest.raises(ProblemError, match=r"y contains numbers beyond ±1e\+30 in 1 rows; rescale"):
        encode.real_labels(np.array([1.0, 1e200]), "y")


@pytest.mark.parametrize("scale", [1e-120, 1e-175, 5e-324])
def test_regression_refuses_labels_whose_squares_vanish(scale: float) -> None:
    X, y = np.arange(8.0)[:, None], scale * np.arange(8.0)
    with pytest.raises(ProblemError, match=r"y has no label beyond ±.*; rescale the labels"):
        Problem(X, y, [[0.5]], [0.0], task="regression")


@pytest.mark.parametrize("scale", [1e-90, 1e29])
def test_labels_of_any_other_scale_have_qualities(scale: float) -> None:
    rng = np.random.default_rng(0)
    X, X_trusted = rng.normal(size=(40, 2)), rng.normal(size=(6, 2))
    found = duti.debug(X, scale * X[:, 0], X_trusted, scale * X_trusted[:, 0], task="regression")
    assert np.isfinite(found.label_quality).all()
    assert np.isfinite(found.candidate_labels).all()


def test_text_that_is_not_unicode_is_refused() -> None:
    with pytest.raises(ProblemError, match="y holds text that is not valid Unicode"):
        encode.sorted_classes(np.array(["a", "\ud800"], dtype=object), "y")


@pytest.mark.parametrize(
    "classes, label, nearest",
    [
        (["good", "bad"], "Goood", "'good'"),
        (["GOOD", "bad"], "good", "'GOOD'"),
        ([0, 5, 10], 7, "5"),
        ([0.5, 1.5], 1.4, "1.5"),
        ([1, 2], "2", "2"),
        ([False, True], "true", "True"),
    ],
)
def test_an_unknown_label_comes_with_the_nearest_known_one(classes: Any, label: Any, nearest: str) -> None:
    known = encode.sorted_classes(labels(classes), "y")
    message = (
        rf"trusted row 1: label {label!r} is not among the training labels .*\. Did you mean {nearest}\?"
    )
    with pytest.raises(ProblemError, match=message):
        encode.codes(np.array([classes[0], label], dtype=object), known, lambda row: f"trusted row {row}")


def test_only_the_first_ten_known_labels_are_listed() -> None:
    with pytest.raises(ProblemError, match=r"labels 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …\. Did you mean 11\?"):
        encode.codes(np.array([20]), np.arange(12), lambda row: f"y row {row}")


LABELS = st.one_of(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1),
    st.lists(st.booleans(), min_size=1),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1),
)


@given(LABELS, st.booleans())
def test_codes_decode_back_to_the_labels(y: list[Any], as_objects: bool) -> None:
    found = labels(np.array(y, dtype=object) if as_objects else y)
    classes = encode.sorted_classes(found, "y")
    decoded = classes[encode.codes(found, classes, str)]
    assert decoded.dtype == found.dtype
    assert decoded.tolist() == y
    assert set(map(type, decoded.tolist())) == set(map(type, y))
    assert classes.tolist() == sorted(set(y))


DTYPES: Any = st.sampled_from([object, float, complex, "M8[D]"])
JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text()
    | st.binary()
    | st.decimals(allow_nan=False)
    | st.sampled_from([pd.NA, pd.NaT, pd.Timestamp(0), Ellipsis, object(), int, np.float32(1), np.array(3)]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(), inner, max_size=3)
        | st.lists(inner, max_size=4).map(lambda items: pd.Series(items, dtype=object))
        | hnp.arrays(DTYPES, hnp.array_shapes(max_dims=3))
    ),
    max_leaves=12,
)


@given(JUNK)
def test_junk_is_a_matrix_or_a_duti_error(junk: Any) -> None:
    try:
        values = table(junk).values
    except DutiError:
        return
    assert values.ndim == 2
    assert np.isfinite(np.asarray(values)).all()


@given(JUNK)
def test_junk_is_a_vector_of_labels_or_a_duti_error(junk: Any) -> None:
    try:
        found = labels(junk)
    except DutiError:
        return
    assert found.ndim == 1
    assert found.dtype.kind in "biufUO"
