"""Every format is read into the same typed table, and what was noticed is said."""

from __future__ import annotations

import codecs
import datetime
import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

from duti.errors import DutiError
from duti.files import Sheet, read
from tests.files.cases import BYTES, TABLE, arrow, huggingface, npz, parquet, written


def csv(folder: Path, text: str | bytes, name: str = "rows.csv") -> Sheet:
    return read(written(folder, name, text))


def column(folder: Path, *cells: str, name: str = "rows.csv") -> list[Any]:
    """The values of a column with these cells, next to another column."""
    text = "\n".join(["v\tother", *(f"{cell}\tx" for cell in cells)])
    values: list[Any] = csv(folder, text, name).table["v"].to_pylist()
    return values


# Formats


@pytest.mark.parametrize("suffix", [suffix for suffix in BYTES if suffix != "npz"])
def test_every_format_gives_the_same_table(suffix: str, tmp_path: Path) -> None:
    sheet = read(written(tmp_path, f"rows.{suffix}", BYTES[suffix]))
    assert sheet.table.equals(TABLE)
    assert sheet.suffix == suffix
    assert sheet.checksum == hashlib.sha256(BYTES[suffix]).hexdigest()


@pytest.mark.parametrize(
    ("suffix", "name"),
    [
        ("csv.gz", "csv"),
        ("tsv", "tsv"),
        ("ndjson", "jsonl"),
        ("ipc", "arrow"),
        ("feather", "arrow"),
        ("npz", "npz"),
    ],
)
def test_the_name_of_the_format(suffix: str, name: str, tmp_path: Path) -> None:
    assert read(written(tmp_path, f"rows.{suffix}", BYTES[suffix])).format == name


def test_names_may_be_in_capitals_and_have_dots(tmp_path: Path) -> None:
    assert read(written(tmp_path, "v1.2.rows.CSV", BYTES["csv"])).suffix == "csv"


def test_a_path_may_be_text(tmp_path: Path) -> None:
    assert read(str(written(tmp_path, "rows.csv", BYTES["csv"]))).table.num_rows == 5


def test_what_pandas_and_polars_write_is_read(tmp_path: Path) -> None:
    import polars as pl

    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    frame.to_csv(tmp_path / "p.csv")
    frame.to_parquet(tmp_path / "p.parquet")
    frame.to_feather(tmp_path / "p.feather")
    frame.to_json(tmp_path / "p.jsonl", orient="records", lines=True)
    pl.DataFrame({"a": [1, 2], "b": ["x", None]}).write_ipc(tmp_path / "q.arrow")
    for path in sorted(tmp_path.iterdir()):
        assert read(path).table.select(["a", "b"]).to_pylist() == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]


def test_the_index_that_pandas_writes_without_a_name_gets_one(tmp_path: Path) -> None:
    sheet = csv(tmp_path, ",a\n0,5\n1,6\n")
    assert sheet.table.column_names == ["Unnamed: 0", "a"]
    assert sheet.notes == ("column 1 has no name; it is called 'Unnamed: 0'",)


def test_matrices_become_columns(tmp_path: Path) -> None:
    data = npz(
        X=np.arange(6).reshape(3, 2), extra=np.ones((3, 2)), y=np.array([1, 2, 3]), version=np.array(7)
    )
    sheet = read(written(tmp_path, "rows.npz", data))
    assert sheet.table.column_names == ["x0", "x1", "extra0", "extra1", "y"]
    assert sheet.table["x1"].to_pylist() == [1, 3, 5]
    assert sheet.notes == ("single values are left out: 'version'",)


def test_arrays_of_all_ordinary_types_are_read(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {
        "half": np.array([1.5, np.nan], np.float16),
        "big": np.array([1, 2], ">i4"),
        "text": np.array(["ä", "b"]),
        "bytes": np.array(["ä".encode(), b"b"]),
        "flag": np.array([True, False]),
        "day": np.array(["2020-01-01", "NaT"], "datetime64[D]"),
        "long": np.array([1.5, 2.5], np.longdouble),
    }
    table = read(written(tmp_path, "rows.npz", npz(compressed=True, **arrays))).table.to_pydict()
    assert table == {
        "half": [1.5, None],
        "big": [1, 2],
        "text": ["ä", "b"],
        "bytes": ["ä", "b"],
        "flag": [True, False],
        "day": [datetime.date(2020, 1, 1), None],
        "long": [1.5, 2.5],
    }


def test_categories_decimals_and_nan_become_plain(tmp_path: Path) -> None:
    table = pa.table(
        {
            "kind": pa.array(["a", "b", None]).dictionary_encode(),
            "price": pa.array([1, 2, None], pa.decimal128(5, 2)),
            "value": pa.array([1.0, float("nan"), None]),
        }
    )
    for name, data in (("t.parquet", parquet(table)), ("t.arrow", arrow(table, stream=True))):
        sheet = read(written(tmp_path, name, data))
        assert sheet.table.schema.types == [pa.string(), pa.float64(), pa.float64()]
        assert sheet.table["value"].null_count == 2
        assert sheet.notes == ("decimals are read as floats in 'price'",)


def test_a_saved_hugging_face_dataset_is_read_with_its_class_names(tmp_path: Path) -> None:
    folder = huggingface(tmp_path / "reviews")
    sheet = read(folder)
    assert sheet.table.to_pydict() == {"text": list("abcde"), "label": ["pos", "neg", "neg", "pos", None]}
    assert (sheet.format, sheet.suffix) == ("huggingface", "huggingface")
    files = ["dataset_info.json", "state.json", "data-00000-of-00002.arrow", "data-00001-of-00002.arrow"]
    assert sheet.checksum == hashlib.sha256(b"".join((folder / f).read_bytes() for f in files)).hexdigest()


# Where a row stands


def test_a_row_is_placed_by_its_line_where_there_are_lines(tmp_path: Path) -> None:
    sheet = csv(tmp_path, 'a,b\n1,"x\ny"\n\n2,z\r\n3,w')
    assert [sheet.place(row) for row in range(3)] == [f"rows.csv line {line}" for line in (2, 5, 6)]
    assert sheet.notes == ("1 blank line skipped",)
    lines = read(written(tmp_path, "rows.jsonl", '{"a": 1}\n\n{"a": 2}\n'))
    assert lines.place(1) == "rows.jsonl line 3"
    assert lines.notes == ("1 blank line skipped",)
    assert read(written(tmp_path, "x.parquet", BYTES["parquet"])).place(4) == "x.parquet row 5"


# Encodings


@pytest.mark.parametrize(
    ("data", "note"),
    [
        ("n,s\n1,né\n".encode(), ()),
        (codecs.BOM_UTF8 + "n,s\n1,né\n".encode(), ()),
        (codecs.BOM_UTF16_LE + "n,s\n1,né\n".encode("utf-16-le"), ("read as UTF-16",)),
        (codecs.BOM_UTF16_BE + "n,s\n1,né\n".encode("utf-16-be"), ("read as UTF-16",)),
        ("n,s\n1,né\n".encode("cp1252"), ("not UTF-8 (line 2); read as cp1252",)),
    ],
)
def test_encodings(data: bytes, note: tuple[str, ...], tmp_path: Path) -> None:
    sheet = csv(tmp_path, data)
    assert sheet.table.to_pydict() == {"n": [1], "s": ["né"]}
    assert sheet.notes == note


def test_bytes_that_cp1252_does_not_know_are_latin_1(tmp_path: Path) -> None:
    sheet = csv(tmp_path, b"n,s\n1,\xe9\x81\n")
    assert sheet.table["s"].to_pylist() == ["é\x81"]
    assert sheet.notes == ("not UTF-8 (line 2); read as latin-1",)


# Delimiters, quotes and line ends


@pytest.mark.parametrize(
    ("delimiter", "words"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars"), (",", None)]
)
def test_the_delimiter_is_found(delimiter: str, words: str | None, tmp_path: Path) -> None:
    text = "a,b,c\n1,x,2020-01-01\n2,y,2020-01-02\n".replace(",", delimiter)
    sheet = csv(tmp_path, text)
    assert sheet.table.to_pydict()["b"] == ["x", "y"]
    assert sheet.notes == ((f"cells are separated by {words}",) if words else ())


def test_a_tsv_with_commas_is_noticed(tmp_path: Path) -> None:
    assert csv(tmp_path, "a,b\n1,2\n", "rows.tsv").notes == ("cells are separated by commas",)


def test_text_with_other_delimiters_does_not_mislead(tmp_path: Path) -> None:
    sheet = csv(tmp_path, 'text,label\n"one; two; three",a\n"x | y",b\n')
    assert sheet.table.to_pydict() == {"text": ["one; two; three", "x | y"], "label": ["a", "b"]}


def test_a_single_column_has_no_delimiter(tmp_path: Path) -> None:
    assert csv(tmp_path, 'label\nyes\n""\nno\n').table.to_pydict() == {"label": ["yes", None, "no"]}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_quotes_and_line_ends(end: str, tmp_path: Path) -> None:
    text = end.join(["a,b", '"x,1","say ""hi"""', f'"two{end}lines",5" disk', ""])
    rows = [{"a": "x,1", "b": 'say "hi"'}, {"a": f"two{end}lines", "b": '5" disk'}]
    assert csv(tmp_path, text).table.to_pylist() == rows


def test_a_cell_longer_than_a_block_is_read(tmp_path: Path) -> None:
    long = "word " * 700_000 + "end"
    table = csv(tmp_path, f'a,b\n1,"{long}"\n' + "2,x\n" * 10).table
    assert table["b"][0].as_py() == long
    assert table.num_rows == 11


def test_spaces_around_names_and_cells_are_ignored(tmp_path: Path) -> None:
    sheet = csv(tmp_path, "age, job\n39, State-gov\n 50, ?\n")
    assert sheet.table.to_pydict() == {"age": [39, 50], "job": ["State-gov", None]}
    assert sheet.notes == (
        "spaces around cells are ignored in 'age', 'job'",
        "'?' means missing in 'job' (1 cell)",
    )


# Types


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", "-2", ""], [1, -2, None]),
        (["+1", "-1"], [1, -1]),
        (["1", "2.5"], [1.0, 2.5]),
        (["1e3", ".5"], [1000.0, 0.5]),
        (["007", "12"], ["007", "12"]),
        (["-05", "12"], ["-05", "12"]),
        (["0x1F", "0x20"], ["0x1F", "0x20"]),
        (["0", "0.5"], [0.0, 0.5]),
        (["12345678901234567890", "1"], ["12345678901234567890", "1"]),
        (["1", "two"], ["1", "two"]),
        (["3,5", "4", "-0,25"], [3.5, 4.0, -0.25]),
        (["1,234", "5,678"], [1.234, 5.678]),
        (["3,5", "4.5"], ["3,5", "4.5"]),
        (["1,5", "b,c"], ["1,5", "b,c"]),
        (["true", "False", "TRUE", ""], [True, False, True, None]),
        (["true", "maybe"], ["true", "maybe"]),
        (["yes", "no"], ["yes", "no"]),
        (["NA", "3"], [None, 3]),
        (["NAN", "3.5"], [None, 3.5]),
        (["-", "3"], [None, 3]),
        (["-", "+"], ["-", "+"]),
        (["none", "null"], ["none", None]),
        (["  ", "x"], [None, "x"]),
        (["12:30", "13:45"], ["12:30", "13:45"]),
        (["2020-01-31", "2021-02-28"], [datetime.date(2020, 1, 31), datetime.date(2021, 2, 28)]),
        (["2020-01-31", "-"], [datetime.date(2020, 1, 31), None]),
        (["2020-01-31", "2020-02-30"], ["2020-01-31", "2020-02-30"]),
        (
            ["2020-01-31 10:00", "2020-01-31"],
            [datetime.datetime(2020, 1, 31, 10), datetime.datetime(2020, 1, 31)],
        ),
        (["31.1.2020", "01.02.2020"], [datetime.date(2020, 1, 31), datetime.date(2020, 2, 1)]),
        (["31.02.2020", "01.02.2020"], ["31.02.2020", "01.02.2020"]),
        (["1/31/2020", "2/1/2020"], [datetime.date(2020, 1, 31), datetime.date(2020, 2, 1)]),
        (["31/1/2020", "1/2/2020"], [datetime.date(2020, 1, 31), datetime.date(2020, 2, 1)]),
        (["1/2/2020", "3/4/2020"], ["1/2/2020", "3/4/2020"]),
        (["", "NA"], [None, None]),
    ],
    ids=lambda cells: " ".join(map(str, cells)),
)
def test_the_type_of_a_column_is_the_narrowest_that_fits(
    cells: list[str], values: list[Any], tmp_path: Path
) -> None:
    found = column(tmp_path, *cells)
    assert found == values
    assert list(map(type, found)) == list(map(type, values))


def test_one_odd_cell_far_below_makes_a_column_text(tmp_path: Path) -> None:
    cells = [*map(str, range(300_000)), "odd"]
    assert column(tmp_path, *cells) == cells


def test_times_with_a_zone_are_times_in_utc(tmp_path: Path) -> None:
    hour = column(tmp_path, "2020-01-31T10:00:00+01:00")[0]
    assert hour == datetime.datetime(2020, 1, 31, 9, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('p,q\n"3,5",a\n"4,25",b\n', "decimal commas in 'p'"),
        ('p,q\n"1,234",a\n"5,678",b\n', "'p': '1,234' may be thousands or a decimal comma, so it stays text"),
        ("p,q\n1/2/2020,a\n3/4/2020,b\n", "'p': day and month cannot be told apart, so the dates stay text"),
        ("p,q\n1/22/2020,a\n3/4/2020,b\n", "'p': dates read as month/day/year"),
        ("p,q\nNA,a\n1,NA\nNA,c\n", "'NA' means missing in 'p', 'q' (3 cells)"),
        ("39,x\n40,a\n", "column names that are numbers: '39'; is the first line a header?"),
    ],
)
def test_what_was_noticed_is_said(text: str, note: str, tmp_path: Path) -> None:
    assert csv(tmp_path, text).notes == (note,)


def test_columns_may_be_numbered(tmp_path: Path) -> None:
    assert csv(tmp_path, "0,1,label\n5,6,a\n").notes == ()


# JSON lines


def test_json_lines_keep_types_and_fill_what_is_not_there(tmp_path: Path) -> None:
    text = '{"a": 1, "b": "x", "d": "2020-01-01"}\r\n{"b": true, "a": 2.5}\n{"c": [1, 2.5], "a": NaN}'
    sheet = read(written(tmp_path, "rows.jsonl", text))
    assert sheet.table.to_pydict() == {
        "a": [1.0, 2.5, None],
        "b": ["x", "true", None],
        "d": [datetime.date(2020, 1, 1), None, None],
        "c": [None, None, [1.0, 2.5]],
    }


def test_nested_json_is_kept_as_text(tmp_path: Path) -> None:
    sheet = read(
        written(tmp_path, "rows.jsonl", '{"a": {"b": ["ü"]}, "n": 12345678901234567890}\n{"a": null}')
    )
    assert sheet.table.to_pydict() == {"a": ['{"b": ["ü"]}', None], "n": ["12345678901234567890", None]}
    assert sheet.notes == ("nested values are kept as text in 'a'",)


def test_json_text_that_says_missing_is_missing(tmp_path: Path) -> None:
    sheet = read(written(tmp_path, "rows.jsonl", '{"a": ""}\n{"a": "NA"}\n{"a": "x"}\n'))
    assert sheet.table["a"].to_pylist() == [None, None, "x"]
    assert sheet.notes == ("'' means missing in 'a' (1 cell)", "'NA' means missing in 'a' (1 cell)")


def test_numbers_in_json_text_stay_text(tmp_path: Path) -> None:
    assert read(written(tmp_path, "rows.jsonl", '{"zip": "50667"}')).table["zip"].to_pylist() == ["50667"]


# The library itself


def test_reading_loads_no_pickle(tmp_path: Path) -> None:
    data = npz(y=np.array([{"a": 1}], dtype=object))
    with pytest.raises(DutiError, match=r"rows.npz: array 'y' holds Python objects, which are never loaded"):
        read(written(tmp_path, "rows.npz", data))


def test_reading_needs_neither_pandas_nor_scikit_learn() -> None:
    code = "import sys, duti.files; print(sorted({'pandas', 'sklearn', 'matplotlib'} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "text, values, note",
    [
        ("a;b\n1.234,5;x\n12;y\n", [1234.5, 12.0], "'a': '.' between thousands is left out"),
        ('a,b\n"1,234.5",x\n12,y\n', [1234.5, 12.0], "'a': ',' between thousands is left out"),
        ("a;b\n83,7%;x\n5 %;y\n", [83.7, 5.0], "'a': % signs are left out"),
    ],
)
def test_numbers_as_spreadsheets_write_them(
    text: str, values: list[float], note: str, tmp_path: Path
) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(text, encoding="utf-8")
    sheet = read(file)
    assert sheet.table["a"].to_pylist() == values
    assert note in sheet.notes


def test_columns_without_a_name_get_one(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("a;b;\n1;2;\n", encoding="utf-8")
    assert read(file).table.column_names == ["a", "b", "Unnamed: 2"]


@pytest.mark.parametrize(
    ("cells", "is_date"),
    [
        (["2013/08/31", "2014/1/2"], True),
        (["31 Aug 2013", "01 FEB 2014"], True),
        (["Aug 31, 2013", "Feb 1, 2014"], True),
        (["31 Feb 2013", "1 Feb 2014"], False),
        (["2013/13/31", "2014/1/2"], False),
        (["31 Aug 2013", "soon"], False),
    ],
)
def test_dates_as_people_write_them_are_dates(cells: list[str], is_date: bool, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(
        "when;y\n" + "".join(f"{cell};a\n" for cell in cells), encoding="utf-8"
    )
    found = read(tmp_path / "rows.csv").table["when"].type
    assert pa.types.is_date(found) == is_date
