"""The matrix: equal to one by hand, the same for every library, learned from the training rows alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from duti import DutiError, ProblemError
from duti.encode import Encoder, Layout, texts
from tests.encode.frames import LIBRARIES, REVIEWS, adult, dense, german_credit


def by_hand(rows: pd.DataFrame, trusted: pd.DataFrame, min_frequency: int) -> tuple[Any, Any]:
    """The matrices of a ColumnTransformer as anybody would write it."""
    numbers = [name for name in rows if rows[name].dtype.kind in "if"]
    categories = [name for name in rows if name not in numbers]
    one_hot = OneHotEncoder(
        min_frequency=min_frequency,
        max_categories=50,
        handle_unknown="infrequent_if_exist",
        sparse_output=False,
    )
    impute = SimpleImputer(strategy="median", add_indicator=True)
    transformer = ColumnTransformer(
        [("numbers", make_pipeline(impute, StandardScaler()), numbers), ("categories", one_hot, categories)]
    )
    return transformer.fit_transform(rows), transformer.transform(trusted)


def with_holes(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return frame.assign(**{name: frame[name].mask(rng.random(len(frame)) < 0.1) for name in columns})


@pytest.mark.parametrize("read", [lambda f: f, pl.from_pandas, pa.Table.from_pandas], ids=LIBRARIES.keys())
@pytest.mark.parametrize("holes", [[], ["duration_months", "age", "housing", "job"]])
def test_german_credit_is_encoded_as_by_hand(read: Callable[[Any], Any], holes: list[str]) -> None:
    frame = with_holes(german_credit().drop(columns="class"), holes)
    rows, trusted = frame[:900], frame[900:]
    encoder, X = Encoder.fit_transform(read(rows))
    expected, expected_trusted = by_hand(rows, trusted, min_frequency=9)
    assert_allclose(dense(X), expected, rtol=0, atol=1e-12)
    assert_allclose(dense(encoder.transform(read(trusted), "X")), expected_trusted, rtol=0, atol=1e-12)
    assert X.shape[1] == len(encoder.feature_names) == sum(column.features for column in encoder.columns)
    assert [column.name for column in encoder.columns] == list(frame)


@pytest.mark.parametrize("read", [lambda f: f, pl.from_pandas, pa.Table.from_pandas], ids=LIBRARIES.keys())
def test_adult_is_encoded_as_by_hand(read: Callable[[Any], Any]) -> None:
    frame = with_holes(adult().drop(columns=["income", "split"]), ["hours_per_week", "workclass"])
    rows, trusted = frame[:8000], frame[8000:8200]
    encoder, X = Encoder.fit_transform(read(rows))
    expected, expected_trusted = by_hand(rows, trusted, min_frequency=10)
    assert_allclose(dense(X), expected, rtol=0, atol=1e-12)
    assert_allclose(dense(encoder.transform(read(trusted), "X")), expected_trusted, rtol=0, atol=1e-12)
    assert "native_country is rare" in encoder.feature_names


def test_text_is_encoded_as_by_hand_and_stays_sparse() -> None:
    frame = pd.DataFrame({"stars": range(2, 8), "review": REVIEWS, "z": ["x", "y"] * 3})
    encoder, X = Encoder.fit_transform(frame, Layout(text=("review",)))
    assert isinstance(X, csr_array)
    tfidf = TfidfVectorizer(ngram_range=(1, 2)).fit(REVIEWS)
    terms = [j for j, name in enumerate(encoder.feature_names) if name.startswith("review: ")]
    assert_allclose(X[:, terms].toarray(), tfidf.transform(REVIEWS).toarray(), atol=1e-12)
    assert encoder.feature_names[terms[0]] == f"review: {tfidf.get_feature_names_out()[0]}"
    new = pa.table({"z": ["x"], "review": ["cold soup, unheard-of words"], "stars": [3]})
    found = encoder.transform(new, "X_trusted")
    assert isinstance(found, csr_array)
    assert_allclose(
        found[:, terms].toarray(), tfidf.transform(new["review"].to_pylist()).toarray(), atol=1e-12
    )


def test_much_text_is_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MANY_TEXTS", 5)
    encoder, X = Encoder.fit_transform(pa.table({"review": REVIEWS}), Layout(text=("review",)))
    counts = HashingVectorizer(ngram_range=(1, 2), n_features=1 << 15, alternate_sign=False, norm=None)
    expected = TfidfTransformer().fit_transform(counts.transform(REVIEWS))
    assert_array_equal(dense(X), expected.toarray())
    assert len(encoder.feature_names) == X.shape[1] == 1 << 15


def mixed(n: int, shift: int = 0) -> dict[str, Any]:
    """Columns of every kind but text and images."""
    rng = np.random.default_rng(n)
    numbers = rng.normal(size=n).tolist()
    return {
        "number": [None if i % 7 == 3 else number for i, number in enumerate(numbers)],
        "integer": rng.integers(0, 9, n).tolist(),
        "truth": [bool(i % 3) for i in range(n)],
        "category": [None if i % 11 == 5 else "abc"[i % 3] for i in range(n)],
        "day": [date(2023, 1, 1) + timedelta(days=11 * i + shift) for i in range(n)],
        "vector": rng.normal(size=(n, 3)).tolist(),
    }


def test_every_library_gives_the_same_matrix() -> None:
    found = [Encoder.fit_transform(read(mixed(60)))[1] for read in LIBRARIES.values()]
    trusted = [
        Encoder.fit(LIBRARIES["pandas"](mixed(60))).transform(read(mixed(9, shift=4)), "X_trusted")
        for read in LIBRARIES.values()
    ]
    for matrices in (found, trusted):
        assert_array_equal(dense(matrices[0]), dense(matrices[1]))
        assert_array_equal(dense(matrices[0]), dense(matrices[2]))


def test_other_rows_are_encoded_by_what_the_training_rows_taught() -> None:
    encoder, X = Encoder.fit_transform(pa.table(mixed(60)))
    part = {name: values[10:13] for name, values in mixed(60).items()}
    assert_allclose(dense(encoder.transform(pa.table(part), "X")), dense(X)[10:13], atol=1e-15)


def test_columns_are_matched_by_name_and_those_left_out_are_not_needed() -> None:
    columns = {**mixed(60), "id": [f"id{i}" for i in range(60)], "dropped": ["x"] * 60}
    encoder, X = Encoder.fit_transform(pa.table(columns), Layout(drop=("dropped",)))
    reversed_columns = dict(reversed(mixed(60).items()))
    assert_array_equal(dense(encoder.transform(pa.table(reversed_columns), "X")), dense(X))


def test_no_rows_give_no_rows() -> None:
    encoder = Encoder.fit(pa.table(mixed(60)))
    assert encoder.transform(pa.table(mixed(60)).slice(0, 0), "X").shape == (0, len(encoder.feature_names))
    sparse = Encoder.fit(pa.table({"a": REVIEWS}), Layout(text=("a",)))
    assert isinstance(sparse.transform(pa.table({"a": REVIEWS}).slice(0, 0), "X"), csr_array)


def test_a_date_is_where_it_is_in_the_year_and_in_the_week() -> None:
    days = [date(2023, 1, 1) + timedelta(days=2 * i) for i in range(400)]
    encoder, X = Encoder.fit_transform(pa.table({"day": days}))
    since_1970 = np.array([(day - date(1970, 1, 1)).days for day in days])
    expected = [(since_1970 - since_1970.mean()) / since_1970.std()]
    for period in (365.2425, 7):
        expected += [np.sin(2 * np.pi * since_1970 / period), np.cos(2 * np.pi * since_1970 / period)]
    assert_allclose(dense(X), np.column_stack(expected), atol=1e-9)
    missing = dense(encoder.transform(pa.table({"day": pa.array([None], pa.date32())}), "X"))
    assert_array_equal(missing[0, 1:], [0, 0, 0, 0])


# Notes and errors about other rows

TRAINING: dict[str, list[Any]] = {
    "age": [20.5, 30.0, 41.0] * 10,
    "ok": [True, False, True] * 10,
    "job": ["cook", "judge", "cook"] * 10,
    "day": [date(2024, 1, 1), date(2024, 1, 5), date(2024, 3, 1)] * 10,
    "vector": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]] * 10,
}
GOOD: dict[str, Any] = {name: values[:2] for name, values in TRAINING.items()}


def trusted(**changes: Any) -> tuple[Any, str]:
    encoder = Encoder.fit(pa.table(TRAINING))
    columns = {name: values for name, values in {**GOOD, **changes}.items() if values is not None}
    matrix, notes = encoder.transform_with_notes(pd.DataFrame(columns), "X_trusted")
    return dense(matrix), " ".join(notes)


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"age": ["31", "old"]},
            r"X_trusted column 'age', row 1 holds 'old', but the column is for numbers; repair",
        ),
        ({"age": [None, "31"]}, r"X_trusted column 'age', row 1 holds '31', but the column is for numbers"),
        ({"age": [31, "old"]}, r"X_trusted column 'age', row 1 holds 'old', but the column is for numbers"),
        ({"age": [np.inf, 1.0]}, r"X_trusted column 'age' contains infinity or numbers beyond .* in 1 cell"),
        ({"age": [1e29, -1e31]}, r"X_trusted column 'age' contains infinity or numbers beyond"),
        (
            {"ok": ["yes", "no"]},
            r"X_trusted column 'ok', row 0 holds 'yes', but the column is for True or False",
        ),
        ({"ok": [1, 2]}, r"X_trusted column 'ok', row 0 holds 1, but the column is for True or False"),
        (
            {"day": ["2024-01-01", "soon"]},
            r"X_trusted column 'day', row 0 holds '2024-01-01', but the column is for dates",
        ),
        (
            {"job": [["cook"], ["judge"]]},
            r"X_trusted column 'job', row 0 holds \['cook'\], but the column is for text",
        ),
        ({"job": ["cook", 1j]}, r"X_trusted column 'job', row 1 holds 1j, but the column is for text"),
        (
            {"vector": [[1.0, 2.0], [3.0]]},
            r"X_trusted column 'vector', row 1 holds \[3\.0\], but the column is for lists of 2",
        ),
        (
            {"vector": [[1.0, 2.0], None]},
            r"X_trusted column 'vector', row 1 holds None, but the column is for lists of 2 numbers",
        ),
        ({"vector": [[1.0, 2.0], [3.0, np.nan]]}, r"X_trusted column 'vector', row 1 holds \[3\.0, None\]"),
        (
            {"vector": [None, None]},
            r"X_trusted column 'vector', row 0 holds None, but the column is for lists of 2 numbers",
        ),
        (
            {"vector": ["a", "b"]},
            r"X_trusted column 'vector', row 0 holds 'a', but the column is for lists of 2 numbers",
        ),
        ({"age": None, "job": None}, r"X_trusted lacks the columns age, job of the training rows; add them"),
    ],
)
def test_what_does_not_fit_the_training_rows_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message) as error:
        trusted(**changes)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "changes, note",
    [
        ({}, ""),
        ({"new": [1, 2]}, "X_trusted has columns that the training rows have not, ignored: new."),
        ({"age": [np.nan, 1.0]}, "X_trusted column 'age' lacks 1 value(s), which no training row does."),
        ({"ok": [None, None]}, "X_trusted column 'ok' lacks 2 value(s), which no training row does."),
        ({"job": ["cook", None]}, "X_trusted column 'job' lacks 1 value(s), which no training row does."),
        (
            {"job": ["poet", "cook"]},
            "X_trusted column 'job' holds values that no training row has; "
            "they count as none of the known ones: 'poet'.",
        ),
    ],
)
def test_what_the_training_rows_do_not_have_is_noted(changes: dict[str, Any], note: str) -> None:
    matrix, notes = trusted(**changes)
    assert notes == note
    assert np.isfinite(matrix).all()


def test_a_missing_number_of_other_rows_is_the_median_of_the_training_rows() -> None:
    assert trusted(age=[np.nan, 30.0])[0][:, 0].tolist() == [trusted()[0][1, 0]] * 2


def test_an_unknown_value_belongs_to_no_category_or_to_the_rare_ones() -> None:
    job = [Encoder.fit(pa.table(TRAINING)).feature_names.index(f"job={name}") for name in ("cook", "judge")]
    assert trusted(job=["poet", "cook"])[0][:, job].tolist() == [[0, 0], [1, 0]]
    encoder = Encoder.fit(pa.table({"a": ["x"] * 600 + ["y"] * 395 + ["z", "u"] * 2 + [None]}))
    assert encoder.feature_names == ("a=x", "a=y", "a is rare")
    matrix, notes = encoder.transform_with_notes(pa.table({"a": ["z", "new", "x", None]}), "X_trusted")
    assert dense(matrix).tolist() == [[0, 0, 1], [0, 0, 1], [1, 0, 0], [0, 0, 1]]
    assert notes == (
        "X_trusted column 'a' holds values that no training row has; they count as rare ones: 'new'.",
    )


def test_numbers_of_other_rows_match_categories_that_look_like_numbers() -> None:
    encoder = Encoder.fit(pa.table({"code": ["1", "2", "A"] * 5}))
    assert dense(encoder.transform(pa.table({"code": [2]}), "X")).tolist() == [[0, 1, 0]]


def test_numbers_astronomically_far_from_the_training_rows_are_refused() -> None:
    encoder = Encoder.fit(pa.table({"a": [0.0, 1e-90]}))
    with pytest.raises(ProblemError, match=r"X_trusted holds numbers which are more than 1e\+30 standard"):
        encoder.transform(pa.table({"a": [1e10]}), "X_trusted")


@pytest.mark.parametrize(
    "given", [np.eye(2), [[1, 2]], "frame.csv", pl.LazyFrame({"a": [1]}), pd.Series([1, 2])]
)
def test_what_is_no_frame_is_refused(given: Any) -> None:
    with pytest.raises(ProblemError, match=r"X is of type .*, but a frame with named columns is needed"):
        Encoder.fit(given)


def test_columns_of_the_same_name_are_refused() -> None:
    with pytest.raises(ProblemError, match="name"):
        Encoder.fit(pd.DataFrame([[1, "a"], [2, "b"]], columns=["a", "a"]))
    with pytest.raises(ProblemError, match="X has columns of the same name"):
        Encoder.fit(pd.DataFrame([[1, "a"], [2, "b"]], columns=[0, "0"]))


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_rows_are_refused(n: int) -> None:
    with pytest.raises(ProblemError, match=rf"X has {n} row\(s\)"):
        Encoder.fit(pa.table(TRAINING).slice(0, n))


def test_the_treatments_are_sentences() -> None:
    encoder = Encoder.fit(pa.table({**mixed(60), "id": [f"id{i}" for i in range(60)]}))
    assert {column.name: column.treatment for column in encoder.columns} == {
        "number": "standardised; 9 missing values are the median, with an indicator",
        "integer": "standardised",
        "truth": "1 for yes, 0 for no",
        "category": "a column of zeros and ones for each value, and for missing ones",
        "day": "the number of days, standardised, and where in the year and week it is",
        "vector": "its numbers as they are",
        "id": "left out: its 60 values are 60 different ones, like an id; "
        "name it in `keep` to use it as categories, or in `text` to use its words",
    }
    assert encoder.notes[0] == (
        "The columns of X were encoded as 16 features (numbers are standardised): "
        "2 numbers, 1 yes/no, 1 category, 1 date and 1 embedding."
    )


# Any frame at all

CELLS = [
    st.integers(-5, 5),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
    st.booleans(),
    st.sampled_from(["a", "b", "c"]),
    st.text(max_size=30),
    st.dates(),
    st.datetimes(),
    st.timedeltas(),
    st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-1000, max_value=1000),
    st.lists(st.floats(-1, 1), min_size=2, max_size=2),
    st.lists(st.integers(0, 1), max_size=2),
    st.binary(max_size=3),
    st.none(),
]


@st.composite
def tables(draw: st.DrawFn) -> tuple[Any, Any, Layout]:
    """A frame of training rows, one of other rows, mostly of the same kinds, and a layout."""
    n, m = draw(st.integers(0, 30)), draw(st.integers(0, 4))
    rows, others = {}, {}
    for name in draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True)):
        cell = draw(st.sampled_from(CELLS))
        other = draw(st.sampled_from([cell, cell, cell, draw(st.sampled_from(CELLS))]))
        missing = draw(st.booleans())
        rows[name], others[name] = (
            draw(st.lists(kind | st.none() if missing else kind, min_size=size, max_size=size))
            for kind, size in ((cell, n), (other, m))
        )
    names = st.lists(st.sampled_from(sorted(rows)), max_size=1).map(tuple)
    layout = Layout(draw(names), draw(names), draw(names))
    read, read_others = (LIBRARIES[draw(st.sampled_from(sorted(LIBRARIES)))] for _ in range(2))
    try:
        return read(rows), read_others(others), layout
    except (pa.ArrowException, OverflowError, TypeError, pl.exceptions.PolarsError):
        return pd.DataFrame(rows), pd.DataFrame(others), layout


@settings(max_examples=250, deadline=None)
@given(tables())
def test_any_frame_gives_a_finite_matrix_of_the_same_width_or_an_error(
    given: tuple[Any, Any, Layout],
) -> None:
    rows, others, layout = given
    try:
        encoder, X = Encoder.fit_transform(rows, layout)
        assert X.shape == (len(rows), len(encoder.feature_names))
        assert np.isfinite(dense(X)).all()
        found = encoder.transform(others, "X_trusted")
    except DutiError:
        return
    assert found.shape == (len(others), X.shape[1])
    assert type(found) is type(X)
    assert np.isfinite(dense(found)).all()


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_odd_cells_among_numbers_are_missing_numbers_and_named(
    library: Callable[[Any], Any],
) -> None:
    cells = [str(i / 2) for i in range(40)]
    cells[3], cells[7] = "4o.2", "n.a."
    encoder = Encoder.fit(library({"age": cells}))
    assert encoder.feature_names == ("age", "age is missing")
    odd = "X column 'age', row 3: '4o.2' is no number, nor is 1 more cell ('n.a.'); they count as missing."
    assert odd in encoder.notes
    numbers = encoder.transform(library({"age": [2.0, 3.0]}), "X_trusted")
    texts = encoder.transform(library({"age": ["2", " 3.0"]}), "X_trusted")
    np.testing.assert_allclose(numbers, texts)
    assert dense(encoder.transform(library({"age": ["unknown"]}), "X_trusted"))[0, 1] > dense(numbers)[0, 1]


@pytest.mark.parametrize(
    "cells",
    [
        ["007", "012"] * 15 + ["x"],  # codes
        ["1", "2", "x"] * 10,  # a third are none
        ["a", "b"] * 10,
    ],
    ids=["codes", "many odd ones", "words"],
)
def test_categories_stay_categories(cells: list[str]) -> None:
    encoder = Encoder.fit(pa.table({"code": cells}))
    assert all("=" in name or "infrequent" in name for name in encoder.feature_names)


def test_a_column_that_is_named_as_text_stays_text() -> None:
    cells = ["1", "2", "3"] * 10 + ["words"]
    encoder = Encoder.fit(pa.table({"note": cells}), Layout(text=("note",)))
    assert encoder.columns[0].kind == "text"


@pytest.mark.parametrize(
    ("cells", "noted"),
    [
        ([18, 30, -999, 45, -999], True),
        ([0.1, 0.5, 9999.0, 0.2, 9999.0], True),
        ([18, 30, -999, 45, 50], False),  # once, it may be anything
        ([500, 300, 999, 450, 999], False),  # not far beyond the others
        ([None, 99, 99, 1, 2], True),
    ],
)
def test_numbers_that_may_mean_missing_are_asked_about(cells: list[Any], noted: bool) -> None:
    encoder = Encoder.fit(pa.table({"age": cells}))
    assert any("if it means missing, leave these cells empty" in note for note in encoder.notes) == noted
