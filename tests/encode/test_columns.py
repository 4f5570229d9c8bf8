"""What each column is, and what is left out with a reason."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from duti import ProblemError
from duti.encode import Column, Encoder, Layout
from tests.encode.frames import LIBRARIES, REVIEWS

N = 40
HALF = ["red", "blue"] * (N // 2)


def column(values: Any, layout: Layout | None = None) -> Column:
    """What becomes of a column "a" next to one that can always be used."""
    frame = values if isinstance(values, pa.Table) else pa.table({"a": values, "z": HALF[: len(values)]})
    return Encoder.fit(frame, layout or Layout()).columns[0]


def note(values: Any, layout: Layout | None = None) -> str:
    frame = pa.table({"a": values, "z": HALF[: len(values)]})
    return " ".join(Encoder.fit(frame, layout or Layout()).notes[1:])


DAYS = [date(2024, 1, 1) + timedelta(days=3 * i) for i in range(N)]


@pytest.mark.parametrize(
    "values, kind, features",
    [
        ([0.5 * i for i in range(N)], "number", 1),
        ([None, *range(1, N)], "number", 2),
        ([float("nan"), *range(1, N)], "number", 2),
        ([5, 7] * (N // 2), "number", 1),
        ([Decimal("1.5"), Decimal("2")] * (N // 2), "number", 1),
        ([timedelta(days=i) for i in range(N)], "number", 1),
        ([3, None] * (N // 2), "number", 2),
        ([True, False] * (N // 2), "yes/no", 1),
        ([True, None] * (N // 2), "yes/no", 2),
        (["x", "y"] * (N // 2), "category", 2),
        (["x", "y", None, "x"] * (N // 4), "category", 3),
        (["yes", None] * (N // 2), "category", 2),
        (pa.array(["x", "y"] * (N // 2)).dictionary_encode(), "category", 2),
        (pa.array([10, 20] * (N // 2)).dictionary_encode(), "number", 1),
        (DAYS[:2] * (N // 2), "date", 1),
        (DAYS, "date", 3),
        ([datetime(2024, 1, 1) + timedelta(hours=300 * i) for i in range(N)], "date", 7),
        ([None, *DAYS[1:]], "date", 4),
        ([f"{review} on day {i}" for i in range(7) for review in REVIEWS][:N], "text", None),
        ([[0.1, float(i)] for i in range(N)], "embedding", 2),
        (pa.array([[1, i] for i in range(N)], pa.list_(pa.int64(), 2)), "embedding", 2),
    ],
)
def test_the_kind_of_a_column_is_read_from_its_values(values: Any, kind: str, features: int | None) -> None:
    found = column(values)
    assert found.kind == kind
    assert features is None or found.features == features


@pytest.mark.parametrize(
    "values, reason",
    [
        ([None] * N, r"every value is missing; fill it in to use it\.$"),
        (pa.array([None] * N, pa.float64()), r"every value is missing"),
        ([7] * N, r"it is 7 in every row, which tells no row from another\.$"),
        (["x"] * N, r"it is 'x' in every row"),
        ([True] * N, r"it is True in every row"),
        ([DAYS[0]] * N, r"in every row"),
        (list(range(N)), r"it counts the rows from 0 to 39, like an id; name it in `keep` to use it\.$"),
        (list(range(N, 0, -1)), r"it counts the rows from 1 to 40, like an id"),
        ([f"id{i}" for i in range(N)], r"its 40 values are 40 different ones, like an id; name it in `keep`"),
        ([f"Ann Other{i % 30}" for i in range(N)], r"its 40 values are 30 different ones, like an id"),
        ([{"k": i} for i in range(N)], r"it holds struct<k: int64>; make it numbers or text to use it"),
        ([b"\x00", b"\x01"] * (N // 2), r"it holds binary; make it numbers or text"),
        ([[1.0], [1.0, 2.0]] * (N // 2), r"its lists are .*of different lengths"),
        ([[1.0], None] * (N // 2), r"its lists are missing"),
        ([[1.0, None]] * N, r"its lists .*lack numbers"),
        ([[1.0, float("nan")]] * N, r"its lists .*lack numbers"),
        ([["x"], ["y"]] * (N // 2), r"it holds list"),
    ],
)
def test_what_cannot_help_is_left_out_with_a_note_that_says_why(values: Any, reason: str) -> None:
    found = column(values)
    assert (found.kind, found.features) == ("left out", 0)
    with pytest.raises(AssertionError, match=f"X column 'a' is left out: .*{reason}"):
        raise AssertionError(note(values))


def test_a_value_of_too_few_rows_to_learn_from_is_not_a_category() -> None:
    values = [f"v{i % 250}" for i in range(1000)]
    encoder = Encoder.fit(pa.table({"a": values, "z": ["x", "y"] * 500}))
    assert "none of its 250 values stands in 10 rows" in encoder.notes[1]
    assert (
        Encoder.fit(pa.table({"a": values, "z": ["x", "y"] * 500}), Layout(text=("a",))).columns[0].features
    )


@pytest.mark.parametrize("values", [list(range(N)), [f"id {i % 30}" for i in range(N)]])
def test_what_looks_like_an_id_is_kept_if_asked(values: list[Any]) -> None:
    assert column(values).kind == "left out"
    kept = column(values, Layout(keep=("a",)))
    assert kept.kind in ("number", "category")
    assert kept.features


@pytest.mark.parametrize("values", [list(range(5)), list("abcde"), ["a", "b", "c", "d", "e"]])
def test_nothing_looks_like_an_id_in_a_few_rows(values: list[Any]) -> None:
    assert column(values).kind in ("number", "category")


def test_integers_that_do_not_count_the_rows_are_numbers() -> None:
    assert column(list(range(2, N + 2))).kind == "number"
    assert column([0, *range(N - 1)]).kind == "number"
    assert column([float(i) for i in range(N)]).kind == "number"


def test_a_few_long_answers_are_categories() -> None:
    assert column(["I do not agree at all"] * 20 + ["I agree more or less"] * 20).kind == "category"


def test_dates_know_the_cycles_they_go_through() -> None:
    mondays = [date(2024, 1, 1) + timedelta(days=7 * i) for i in range(80)]
    encoder = Encoder.fit(pa.table({"a": mondays}))
    assert encoder.feature_names == ("a", "a: sine of the year", "a: cosine of the year")
    assert encoder.columns[0].treatment == "the number of days, standardised, and where in the year it is"


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([1, "x"] * (N // 2), dtype=object),
        pd.Series([1j, 2j] * (N // 2)),
        pd.Series([10**30, "x"] * (N // 2), dtype=object),
        pd.Series([object(), object()] * (N // 2)),
        pd.Series(["\ud800", "b"] * (N // 2), dtype=object),
        pd.Series(pd.period_range("2024-01", periods=N, freq="M")),
        pd.Series(pd.interval_range(0, N)),
    ],
)
def test_a_mixture_or_a_strange_type_of_pandas_is_left_out(series: pd.Series[Any]) -> None:
    encoder = Encoder.fit(pd.DataFrame({"a": series, "z": HALF}))
    assert encoder.columns[0].kind == "left out"
    assert "X column 'a' is left out: it holds " in encoder.notes[1]


@pytest.mark.parametrize(
    "series, kind",
    [
        (pd.Series(["x", "y"] * 20, dtype="category"), "category"),
        (pd.Series(["x", None] * 20, dtype="string"), "category"),
        (pd.Series(["x", None] * 20, dtype=object), "category"),
        (pd.Series([True, None] * 20, dtype="boolean"), "yes/no"),
        (pd.Series([True, None] * 20, dtype=object), "yes/no"),
        (pd.Series([1, None] * 20, dtype="Int64"), "number"),
        (pd.Series([1.0, np.nan] * 20), "number"),
        (pd.Series([1.0, 2.0] * 20, dtype=pd.SparseDtype(float, 0.0)), "number"),
        (pd.Series(pd.date_range("2024", periods=40, tz="Europe/Berlin")), "date"),
        (pd.Series([date(2024, 1, 1), None] * 20, dtype=object), "date"),
        (pd.Series([[1.0, 2.0], [3.0, 4.0]] * 20), "embedding"),
        (pd.Series([np.ones(2), np.zeros(2)] * 20), "embedding"),
    ],
)
def test_types_of_pandas(series: pd.Series[Any], kind: str) -> None:
    assert Encoder.fit(pd.DataFrame({"a": series, "z": HALF})).columns[0].kind == kind


@pytest.mark.parametrize(
    "series, kind",
    [
        (pl.Series(["x", "y"] * 20, dtype=pl.Categorical), "category"),
        (pl.Series(["x", None] * 20, dtype=pl.Enum(["x", "y"])), "category"),
        (pl.Series([1.0, float("nan")] * 20), "number"),
        (pl.Series([1, 2] * 20, dtype=pl.Decimal(10, 2)), "number"),
        (pl.Series([datetime(2024, 1, 1), None] * 20), "date"),
        (pl.Series([timedelta(1), timedelta(2)] * 20), "number"),
        (pl.Series([datetime(2024, 1, 1, 8).time(), None] * 20), "number"),
        (pl.Series([[1.0, 2.0]] * 40, dtype=pl.Array(pl.Float64, 2)), "embedding"),
        (pl.Series([[1, 2], [3, 4]] * 20), "embedding"),
        (pl.Series([{"k": 1}, {"k": 2}] * 20), "left out"),
    ],
)
def test_types_of_polars(series: pl.Series, kind: str) -> None:
    assert Encoder.fit(pl.DataFrame({"a": series, "z": HALF})).columns[0].kind == kind


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES.keys())
def test_the_user_has_the_last_word(library: Callable[[Any], Any]) -> None:
    frame = library({"a": ["up", "down"] * 20, "b": HALF, "c": [1, 2] * 20})
    encoder = Encoder.fit(frame, Layout(drop=("b",), text=("a",)))
    assert [found.kind for found in encoder.columns] == ["text", "left out", "number"]
    assert encoder.columns[1].treatment == "left out: as asked"
    assert len(encoder.notes) == 1


@pytest.mark.parametrize(
    "layout", [Layout(drop=("agee",)), Layout(text=("agee",)), Layout(keep=("agee",)), Layout(image="agee")]
)
def test_a_layout_that_names_no_column_is_refused(layout: Layout) -> None:
    with pytest.raises(ProblemError, match=r"'agee' is not a column of X; its columns are 'age', 'z'\."):
        Encoder.fit(pa.table({"age": [1, 2], "z": ["x", "y"]}), layout)


def test_a_layout_of_letters_is_refused() -> None:
    with pytest.raises(ProblemError, match=r"text is 'review'; give a tuple of column names, \('review',\)"):
        Layout(text="review")  # type: ignore[arg-type]


def test_a_frame_of_which_nothing_can_be_used_is_refused_with_the_reasons() -> None:
    with pytest.raises(ProblemError, match=r"no column of X can be used \('a': every value is missing"):
        Encoder.fit(pa.table({"a": [None, None]}))
    with pytest.raises(ProblemError, match=r"no column of X can be used \(it has none"):
        Encoder.fit(pd.DataFrame(index=range(3)))


def test_text_without_words_is_left_out() -> None:
    assert "there is no word in it" in column(["?", "!"] * 20, Layout(text=("a",))).treatment
