"""A file that cannot be read is one DutiError in one line, whatever is wrong with it."""

from __future__ import annotations

import codecs
import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duti.errors import DutiError
from duti.files import read, write_relabelled
from tests.files.cases import BYTES, arrow, huggingface, npz, parquet, written

NOTHING = pa.table({"a": pa.array([], pa.int64())})


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("rows.csv", b"", "rows.csv is empty; it needs column names and rows."),
        ("rows.csv", b"\n \r\n", "rows.csv is empty; it needs a line of column names, and rows."),
        (
            "rows.csv.gz",
            gzip.compress(b"", mtime=0),
            "rows.csv.gz is empty; it needs a line of column names, and rows.",
        ),
        ("rows.csv", b"a,b\n", "rows.csv has a line of column names but no rows below it; add rows."),
        ("rows.csv", b"a,b\n1,2\n\n1,2,3\n", "rows.csv line 4: 3 cells, but the header has 2; quote cells"),
        (
            "rows.csv",
            b'a,b\n1,"x\ny"\n1\n',
            "rows.csv line 4: 1 cell, but the header has 2; is the line cut off?",
        ),
        ("rows.csv", b"a,b,a\n1,2,3\n", "rows.csv line 1: columns 1 and 3 are both called 'a'; rename one."),
        ("rows.csv", b"a,b\n1,x\0\n", "rows.csv line 2: a NUL byte; this is no text file"),
        ("rows.csv", b'a,b\n1,2\n3,"x\n4,5\n', "rows.csv line 3: a quote is opened but never closed"),
        ("rows.csv", codecs.BOM_UTF8 + b"a,b\n1,\xff\n", "rows.csv line 2: not UTF-8, though it says so"),
        (
            "rows.csv",
            codecs.BOM_UTF16_LE + b"a\0,",
            "rows.csv: the file says it is UTF-16 but is not, or it is cut",
        ),
        ("rows.csv", BYTES["parquet"], "rows.csv is Parquet by its content, not .csv; name it .parquet."),
        ("rows.csv", BYTES["csv.gz"], "rows.csv is gzip by its content, not .csv; name it .gz."),
        (
            "rows.csv",
            BYTES["npz"],
            "rows.csv is a zip archive (as .npz and .xlsx are) by its content, not .csv",
        ),
        (
            "rows.parquet",
            BYTES["arrow"],
            "rows.parquet is Arrow by its content, not .parquet; name it .arrow.",
        ),
        ("rows.parquet", BYTES["csv"], "rows.parquet is not a file of Parquet, or it is cut off or damaged"),
        ("rows.csv.gz", BYTES["csv"], "rows.csv.gz is not a gzip file, or it is cut off or damaged"),
        ("rows.csv.gz", BYTES["csv.gz"][:-9], "rows.csv.gz is not a gzip file, or it is cut off or damaged"),
        ("rows.jsonl", b'{"a": 1}\n{"a": }\n', "rows.jsonl line 2: not JSON (Expecting value at letter 7)"),
        ("rows.jsonl", b'{"a": 1}\n[1, 2]\n', "rows.jsonl line 2: a list, where an object {...} is needed"),
        ("rows.jsonl", b"3\n", "rows.jsonl line 1: a number or boolean, where an object {...} is needed"),
        ("rows.jsonl", b"{}\n", "rows.jsonl holds no values"),
        ("rows.jsonl", b"\n", "rows.jsonl holds no values"),
        ("rows.jsonl", b'{"": 1}\n', "rows.jsonl: a value has the empty name ''"),
        ("rows.jsonl", b'{"a": "\\ud800"}\n', "rows.jsonl: column 'a' holds text that is not valid Unicode"),
        ("rows.jsonl", b'{"\\ud800": 1}\n', "rows.jsonl: the name '\\ud800' is not valid Unicode"),
        (
            "rows.jsonl",
            b'{"a": ' + b"[" * 99999,
            "rows.jsonl line 1: numbers are too long or nesting is too deep",
        ),
        ("rows.jsonl", b'{"a": ' + b"1" * 9999 + b"}", "rows.jsonl line 1: numbers are too long or nesting"),
        ("rows.parquet", BYTES["parquet"][:-20], "rows.parquet is not a file of Parquet, or it is cut off"),
        (
            "rows.arrow",
            BYTES["arrow"][:-20],
            "rows.arrow is not a file of Arrow, or it is cut off or damaged",
        ),
        ("rows.arrow", BYTES["ipc"][:100], "rows.arrow is not a file of Arrow, or it is cut off or damaged"),
        ("rows.npz", BYTES["npz"][:-20], "rows.npz is not a file of NumPy arrays (.npz), or it is cut off"),
        ("rows.parquet", parquet(NOTHING), "rows.parquet has no rows; add some."),
        ("rows.arrow", arrow(NOTHING), "rows.arrow has no rows; add some."),
        ("rows.npz", npz(y=np.zeros(0)), "rows.npz has no rows; add some."),
        ("rows.npz", npz(), "rows.npz holds no arrays"),
        (
            "rows.npz",
            npz(a=np.ones(2), b=np.ones(3)),
            "rows.npz: arrays have different numbers of rows ('a' has 2",
        ),
        ("rows.npz", npz(a=np.ones((2, 2, 2))), "rows.npz: array 'a' has 3 dimensions; reshape it"),
        (
            "rows.npz",
            npz(a=np.ones(2, complex)),
            "rows.npz: array 'a' is of type complex128, which cannot be read",
        ),
        ("rows.npz", npz(a=np.array([b"\xff"])), "rows.npz: array 'a' holds bytes that are not UTF-8 text"),
        ("rows.npz", npz(X=np.ones((1, 1)), x0=np.ones(1)), "rows.npz: columns 1 and 2 are both called 'x0'"),
        ("rows.xlsx", b"PK\x03\x04", "rows.xlsx: a table is read from .csv, .tsv, .jsonl, .ndjson, .csv.gz,"),
        ("rows", b"a,b", "rows: a table is read from .csv"),
        ("rows.parquet.gz", b"a,b", "rows.parquet.gz: a table is read from .csv"),
    ],
)
def test_the_message_names_the_file_the_place_and_the_remedy(
    name: str, data: bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(DutiError) as error:
        read(written(tmp_path, name, data))
    text = str(error.value).replace(f"{tmp_path}/", "")
    assert text.startswith(message)
    assert "\n" not in text


def test_a_table_of_two_columns_of_one_name_is_refused(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(DutiError, match=r"t.arrow: columns 1 and 2 are both called 'a'; rename one"):
        read(written(tmp_path, "t.arrow", arrow(table)))


def test_a_missing_file_is_named_with_its_folder(tmp_path: Path) -> None:
    with pytest.raises(DutiError, match=r"nowhere/rows.csv: no such file; check the name and the folder"):
        read(tmp_path / "nowhere" / "rows.csv")
    with pytest.raises(DutiError, match=r"cannot be read"):
        read("a\0.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path: Path) -> None:
    path = written(tmp_path, "rows.csv", b"a\n1\n")
    path.chmod(0)
    with pytest.raises(DutiError, match=r"rows.csv: no permission to read it"):
        read(path)


def test_an_ordinary_folder_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").mkdir()
    with pytest.raises(
        DutiError, match=r"rows.csv is a folder, and no saved Hugging Face dataset \(state.json"
    ):
        read(tmp_path / "rows.csv")


def test_a_folder_of_several_datasets_names_them(tmp_path: Path) -> None:
    huggingface(tmp_path / "all" / "train")
    (tmp_path / "all" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    with pytest.raises(DutiError, match=r"all holds the datasets train, test; name one, as in .*all/train"):
        read(tmp_path / "all")


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"_data_files": None}, "d/state.json names no data files"),
        ({"_data_files": [{"filename": "../../secret.arrow"}]}, "which is outside of the folder"),
        ({"_data_files": [{"filename": "data-9.arrow"}]}, "data-9.arrow: no such file"),
        ({"_data_files": [{"filename": "state.json"}]}, "d/state.json names no data files"),
    ],
)
def test_a_dataset_whose_state_is_wrong(state: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(DutiError, match=message):
        read(huggingface(tmp_path / "d", **state))


def test_a_dataset_with_more_classes_than_names(tmp_path: Path) -> None:
    with pytest.raises(
        DutiError, match=r"d: column 'label' holds class 7, but dataset_info.json names 2 classes"
    ):
        read(huggingface(tmp_path / "d", codes=(0, 1, 7, 0, 1)))


# Damaged at random


@st.composite
def damages(draw: st.DrawFn, data: bytes) -> bytes:
    """The data cut off, with some bits flipped, with a piece replaced, or nothing of it."""
    way = draw(st.sampled_from(["cut", "flip", "replace", "random"]))
    if way == "cut":
        return data[: draw(st.integers(0, len(data) - 1))]
    if way == "flip":
        broken = bytearray(data)
        for bit in draw(st.lists(st.integers(0, 8 * len(data) - 1), min_size=1, max_size=8)):
            broken[bit // 8] ^= 1 << (bit % 8)
        return bytes(broken)
    if way == "replace":
        start = draw(st.integers(0, len(data) - 1))
        return data[:start] + draw(st.binary(max_size=20)) + data[start + draw(st.integers(0, 20)) :]
    return draw(st.binary(max_size=300))


def read_or_refuse(path: Path) -> None:
    """Anything but success or one line of explanation fails; what can be read can be written again."""
    try:
        use(path)
    except DutiError as error:
        message = str(error)
    else:
        return
    assert "\n" not in message


def use(path: Path) -> None:
    sheet = read(path)
    rows = sheet.table.to_pylist()
    sheet.place(len(rows) - 1)
    column = sheet.table.column_names[-1]
    write_relabelled(sheet, column, {0: rows[0][column]}, path.with_name(f"out.{sheet.suffix}"))


@pytest.mark.parametrize("suffix", BYTES)
@settings(max_examples=90, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_damaged_files_are_read_or_refused(suffix: str, tmp_path: Path, data: st.DataObject) -> None:
    original = BYTES[suffix]
    if suffix.endswith(".gz") and data.draw(st.booleans()):
        broken = gzip.compress(data.draw(damages(gzip.decompress(original))))
    else:
        broken = data.draw(damages(original))
    read_or_refuse(written(tmp_path, f"rows.{suffix}", broken))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_damaged_datasets_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    folder = tmp_path / "dataset"
    shutil.rmtree(folder, ignore_errors=True)
    file = data.draw(st.sampled_from(sorted(huggingface(folder).iterdir())))
    file.write_bytes(data.draw(damages(file.read_bytes())))
    read_or_refuse(folder)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=st.text(st.sampled_from('a1,;\t"\n\r |é.-'), max_size=60))
def test_any_text_is_a_csv_file_or_is_refused(text: str, tmp_path: Path) -> None:
    read_or_refuse(written(tmp_path, "rows.csv", text))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(st.dictionaries(st.sampled_from(["a", "b", ""]), JSON) | JSON, min_size=1, max_size=4))
def test_any_json_is_a_table_or_is_refused(rows: list[Any], tmp_path: Path) -> None:
    read_or_refuse(written(tmp_path, "rows.jsonl", "\n".join(map(json.dumps, rows))))
