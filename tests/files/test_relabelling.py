"""The corrected file is the input with other labels, and nothing else."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duti.errors import DutiError
from duti.files import read, write_relabelled
from tests.files.cases import BYTES, CSV, arrow, huggingface, npz, parquet, written


def relabelled(
    folder: Path, name: str, data: bytes | str, labels: dict[int, Any], column: str = "label"
) -> bytes:
    """The bytes of the corrected file."""
    sheet = read(written(folder, name, data))
    out = folder / f"corrected.{sheet.suffix}"
    write_relabelled(sheet, column, labels, out)
    return out.read_bytes()


# Text: byte for byte


CELLS = st.text(st.sampled_from('ab1 ,;|\t"\n\réÜ€'), max_size=6)
LABELS = st.sampled_from(["yes", "no", 'so "so"', "a,b", "two\nlines", "é"])


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(st.tuples(CELLS, LABELS, CELLS), min_size=1, max_size=8),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    data=st.data(),
)
def test_only_label_cells_change(
    rows: list[tuple[str, ...]], quoting: Any, end: str, encoding: str, tmp_path: Path, data: st.DataObject
) -> None:
    if end == "\n":  # the csv module of Python 3.11 leaves \r without quotes then, and cannot read it back
        rows = [tuple(cell.replace("\r", "") for cell in row) for row in rows]
    rows = [("fïrst", "label", "last"), *rows]  # without ï, cp1252 might be UTF-8
    changes = data.draw(st.dictionaries(st.integers(0, len(rows) - 2), LABELS))
    before = csv_text(rows, quoting, end)
    fixed = relabelled(tmp_path, "rows.csv", before.encode(encoding), changes).decode(encoding)
    wanted = [rows[0], *((a, changes.get(row, b), c) for row, (a, b, c) in enumerate(rows[1:]))]
    # A label is quoted as in the file, or in its manner: as the csv module would.
    assert fixed == csv_text(wanted, quoting, end)


def csv_text(rows: list[tuple[str, ...]], quoting: Any, end: str) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, quoting=quoting, lineterminator=end).writerows(rows)
    return out.getvalue()


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "ndjson", "csv.gz", "tsv.gz", "jsonl.gz"])
def test_no_changes_are_no_changes(suffix: str, tmp_path: Path) -> None:
    same = relabelled(tmp_path, f"rows.{suffix}", BYTES[suffix], {})
    if suffix.endswith("gz"):
        assert gzip.decompress(same) == gzip.decompress(BYTES[suffix])
    else:
        assert same == BYTES[suffix]


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        ("x,label\n1,01\n2,02\n", {1: "01"}, "x,label\n1,01\n2,01\n"),
        ("x, label\n1, yes\n2, no\n", {1: "yes"}, "x, label\n1, yes\n2, yes\n"),
        ("x,label\n1,1.0\n2,2.0\n", {1: 1.0}, "x,label\n1,1.0\n2,1.0\n"),
        ("x;label\n1;3,50\n2;4\n", {1: 3.5}, "x;label\n1;3,50\n2;3,50\n"),
        ("x;label\n1;3,5\n2;4\n", {1: 2.25}, "x;label\n1;3,5\n2;2,25\n"),
        ('x,label\n1,"3,5"\n2,"4"\n', {1: 2.25}, 'x,label\n1,"3,5"\n2,"2,25"\n'),
        ("x,label\n1,3\n2,4\n", {1: np.float64(5.0), 0: np.int64(4)}, "x,label\n1,4\n2,5\n"),
        ("x,label\n1,3\n2,4\n", {1: 0.1 + 0.2}, "x,label\n1,3\n2,0.30000000000000004\n"),
        ("x,label\n1,TRUE\n2,False\n", {1: True}, "x,label\n1,TRUE\n2,TRUE\n"),
        ('x,label\n1,"a"\n2,"b"\n', {1: "new"}, 'x,label\n1,"a"\n2,"new"\n'),
        ('x,label\n1,"a"\n2,b\n', {1: "new"}, 'x,label\n1,"a"\n2,new\n'),
        ("x,label\n1,a\n2,b", {1: "c, d"}, 'x,label\n1,a\n2,"c, d"'),
        ("x,label\n1,a\n2,b", {0: 'say "hi"'}, 'x,label\n1,"say ""hi"""\n2,b'),
        ("label,x\n\na,1\n\n\nb,2\n", {1: "a"}, "label,x\n\na,1\n\n\na,2\n"),
        ("label\na\n\nb\n", {1: "a"}, "label\na\n\na\n"),
        ("x,label\n1,\n2,b\n", {0: "b"}, "x,label\n1,b\n2,b\n"),
        ('x,label\n5" disk,a\n"6"" disk",b\n', {0: "b"}, 'x,label\n5" disk,b\n"6"" disk",b\n'),
        (
            "x,label\n1,2020-01-02\n2,2021-01-01\n",
            {1: np.datetime64("2020-01-02")},
            "x,label\n1,2020-01-02\n2,2020-01-02\n",
        ),
    ],
)
def test_labels_are_spelled_as_in_the_file(
    before: str, changes: dict[int, Any], after: str, tmp_path: Path
) -> None:
    assert relabelled(tmp_path, "rows.csv", before, changes).decode() == after


def test_a_label_that_the_encoding_lacks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        DutiError, match=r"rows.csv is in cp1252, which cannot write '日' of a new label; save"
    ):
        relabelled(tmp_path, "rows.csv", "x,label\n1,é\n".encode("cp1252"), {0: "日"})
    assert not (tmp_path / "corrected.csv").exists()


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        (
            '{"label": "a", "x": 1}\r\n{ "x":2 ,"label":"b" }',
            {1: "a"},
            '{"label": "a", "x": 1}\r\n{ "x":2 ,"label":"a" }',
        ),
        ('{"label": 1.0}\n\n{"label": 2}\n', {1: 1}, '{"label": 1.0}\n\n{"label": 1.0}\n'),
        ('{"label": 1}\n{"label": 2}\n', {1: 3.0}, '{"label": 1}\n{"label": 3}\n'),
        ('{"label": 1}\n{"label": 2}\n', {1: 2.5}, '{"label": 1}\n{"label": 2.5}\n'),
        ('{"label": "\\u00e9"}\n{"label": "b"}\n', {1: "é"}, '{"label": "\\u00e9"}\n{"label": "\\u00e9"}\n'),
        ('{"label": "é"}\n{"label": "b"}\n', {1: "ü"}, '{"label": "é"}\n{"label": "ü"}\n'),
        ('{"label": "a"}\n{"label": "b"}\n', {1: "ü"}, '{"label": "a"}\n{"label": "\\u00fc"}\n'),
        (
            '{"x": {"label": 3}, "label": "a", "label": "b"}\n',
            {0: "c"},
            '{"x": {"label": 3}, "label": "a", "label": "c"}\n',
        ),
        ('{"label": "a"}\n{"x": 1}\n', {1: "a"}, '{"label": "a"}\n{"x": 1, "label": "a"}\n'),
        ('{"label": "a"}\n{ }\n', {1: "a"}, '{"label": "a"}\n{ "label": "a"}\n'),
        ('{"label": true}\n{"label": false}\n', {1: True}, '{"label": true}\n{"label": true}\n'),
        ('{"label": null}\n{"label": "x"}\n', {0: "x"}, '{"label": "x"}\n{"label": "x"}\n'),
    ],
)
def test_json_lines_change_in_the_value_alone(
    before: str, changes: dict[int, Any], after: str, tmp_path: Path
) -> None:
    assert relabelled(tmp_path, "rows.jsonl", before, changes).decode() == after


def test_marks_and_compression_stay(tmp_path: Path) -> None:
    text = codecs.BOM_UTF16_BE + "x\tlabel\n1\tä\n2\tb\n".encode("utf-16-be")
    fixed = gzip.decompress(relabelled(tmp_path, "rows.tsv.gz", gzip.compress(text), {1: "ä"}))
    assert fixed == codecs.BOM_UTF16_BE + "x\tlabel\n1\tä\n2\tä\n".encode("utf-16-be")


# Typed formats: whole tables


RICH = pa.table(
    {
        "id": pa.array([7, 8, 9], pa.uint8()),
        "when": pa.array([1, None, 3], pa.timestamp("ns", "Europe/Berlin")),
        "vector": pa.array([[1.5], None, []], pa.list_(pa.float32())),
        "part": pa.array([{"a": 1}, {"a": 2}, None], pa.struct([("a", pa.int16())])),
        "price": pa.array([1, 2, 3], pa.decimal128(7, 2)),
        "kind": pa.array(["u", "v", "u"]).dictionary_encode(),
        "label": pa.array(["a", "b", None]),
    },
)
RICH = RICH.replace_schema_metadata({"made": "by hand"})
LABEL_COLUMNS: list[tuple[Any, dict[int, Any], list[Any]]] = [
    (pa.array(["a", "b", None]), {0: "b", 2: "new"}, ["b", "b", "new"]),
    (pa.array(["a", "b", None], pa.large_string()), {2: "a"}, ["a", "b", "a"]),
    (pa.array(["a", "b", None]).dictionary_encode(), {0: "b", 2: "new"}, ["b", "b", "new"]),
    (pa.array([1, 2, 3], pa.int8()), {1: 3.0}, [1, 3, 3]),
    (pa.array([1.5, None, 3], pa.float32()), {1: 2.5}, [1.5, 2.5, 3.0]),
    (pa.array([True, False, None]), {1: np.True_}, [True, True, None]),
]


@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow", "rows.ipc"])
@pytest.mark.parametrize(
    ("labels", "changes", "after"), LABEL_COLUMNS, ids=lambda value: getattr(value, "type", "")
)
def test_tables_keep_everything_else(
    name: str, labels: Any, changes: dict[int, Any], after: list[Any], tmp_path: Path
) -> None:
    field = pa.field("label", labels.type, metadata={"unit": "none"})
    table = RICH.set_column(6, field, labels)
    fixed = table_in(relabelled(tmp_path, name, bytes_of(table, name), changes), name)
    assert fixed.schema.equals(table_in(bytes_of(table, name), name).schema, check_metadata=True)
    assert fixed.drop_columns("label").equals(table.drop_columns("label"))
    assert fixed["label"].to_pylist() == after


def bytes_of(table: Any, name: str) -> bytes:
    return (
        parquet(table, row_group_size=2)
        if name.endswith("parquet")
        else arrow(table, stream=name.endswith("ipc"))
    )


def table_in(data: bytes, name: str) -> Any:
    if name.endswith("parquet"):
        return pq.read_table(pa.BufferReader(data))
    return (pa.ipc.open_stream if name.endswith("ipc") else pa.ipc.open_file)(data).read_all()


def test_parquet_keeps_its_row_groups_and_compression(tmp_path: Path) -> None:
    data = parquet(RICH, row_group_size=2, compression={"id": "zstd", "label": "gzip"})
    before = pq.ParquetFile(pa.BufferReader(data)).metadata
    after = pq.ParquetFile(pa.BufferReader(relabelled(tmp_path, "rows.parquet", data, {0: "b"}))).metadata
    assert after.num_row_groups == before.num_row_groups == 2
    for column in range(before.num_columns):
        assert after.row_group(0).column(column).compression == before.row_group(0).column(column).compression


def test_arrow_keeps_its_record_batches(tmp_path: Path) -> None:
    after = pa.ipc.open_file(relabelled(tmp_path, "rows.arrow", arrow(RICH, max_chunksize=2), {0: "b"}))
    assert [after.get_batch(batch).num_rows for batch in range(after.num_record_batches)] == [2, 1]


@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow"])
def test_whole_numbers_become_floats_for_a_label_that_is_not_whole(name: str, tmp_path: Path) -> None:
    data = bytes_of(pa.table({"label": [1, 2, 3]}), name)
    fixed = table_in(relabelled(tmp_path, name, data, {1: 2.5}), name)
    assert fixed["label"].type == pa.float64()
    assert fixed["label"].to_pylist() == [1.0, 2.5, 3.0]


def test_a_label_of_another_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        DutiError, match=r"rows.parquet: column 'label' is of type int64, which the label 'x' does"
    ):
        relabelled(tmp_path, "rows.parquet", parquet(pa.table({"label": [1, 2]})), {0: "x"})


@pytest.mark.parametrize(
    ("labels", "changes", "after"),
    [
        (np.array(["no", "yes"]), {0: "perhaps"}, np.array(["perhaps", "yes"])),
        (np.array([b"no", b"yes"]), {0: "perhaps"}, np.array([b"perhaps", b"yes"])),
        (np.array([1, 2], np.int8), {0: 2}, np.array([2, 2], np.int8)),
        (np.array([1, 2], ">i4"), {0: 2}, np.array([2, 2], ">i4")),
        (np.array([1, 2]), {0: 2.5}, np.array([2.5, 2.0])),
        (np.array([1.5, 2], np.float32), {0: 2.5}, np.array([2.5, 2.0], np.float32)),
        (np.array([True, False]), {1: True}, np.array([True, True])),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
@pytest.mark.parametrize("compressed", [False, True])
def test_npz_changes_in_one_array_alone(
    labels: Any, changes: dict[int, Any], after: Any, compressed: bool, tmp_path: Path
) -> None:
    data = npz(compressed, X=np.ones((2, 3)), label=labels, version=np.array(3))
    fixed = relabelled(tmp_path, "rows.npz", data, changes)
    arrays = np.load(io.BytesIO(fixed))
    assert arrays["label"].dtype == after.dtype
    np.testing.assert_array_equal(arrays["label"], after)
    old, new = zipfile.ZipFile(io.BytesIO(data)), zipfile.ZipFile(io.BytesIO(fixed))
    assert new.namelist() == old.namelist()
    for name in ("X.npy", "version.npy"):
        assert new.read(name) == old.read(name)
        assert new.getinfo(name).compress_type == old.getinfo(name).compress_type


def test_a_label_may_be_a_column_of_a_matrix(tmp_path: Path) -> None:
    data = npz(X=np.zeros((2, 3)), y=np.zeros((2, 2)))
    fixed = np.load(io.BytesIO(relabelled(tmp_path, "rows.npz", data, {1: 5.0}, "y1")))
    assert fixed["y"].tolist() == [[0.0, 0.0], [0.0, 5.0]]


def test_a_dataset_keeps_its_layout_and_gets_another_fingerprint(tmp_path: Path) -> None:
    folder = huggingface(tmp_path / "reviews")
    sheet = read(folder)
    for labels in ({1: "neg"}, {1: "pos", 4: "neg"}):  # the second run replaces what the first wrote
        write_relabelled(sheet, "label", labels, tmp_path / "corrected.huggingface")
    fixed = read(tmp_path / "corrected.huggingface")
    assert fixed.table["label"].to_pylist() == ["pos", "pos", "neg", "pos", "neg"]
    assert fixed.table["text"].equals(sheet.table["text"])
    for file in folder.iterdir():
        new = tmp_path / "corrected.huggingface" / file.name
        if file.suffix == ".arrow":
            before, after = pa.ipc.open_stream(file.read_bytes()), pa.ipc.open_stream(new.read_bytes())
            assert after.schema.equals(before.schema, check_metadata=True)
        elif file.name == "state.json":
            before, after = json.loads(file.read_text()), json.loads(new.read_text())
            assert before.pop("_fingerprint") != after.pop("_fingerprint")
            assert before == after
        else:
            assert new.read_bytes() == file.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corrected.huggingface", "reviews"]


def test_a_class_that_a_dataset_does_not_have_is_refused(tmp_path: Path) -> None:
    sheet = read(huggingface(tmp_path / "d"))
    with pytest.raises(DutiError, match=r"d: 'maybe' is not a class of column 'label' \(neg, pos\)"):
        write_relabelled(sheet, "label", {0: "maybe"}, tmp_path / "out")


def test_whole_numbers_of_a_dataset_stay_whole(tmp_path: Path) -> None:
    folder = huggingface(tmp_path / "d")
    (folder / "dataset_info.json").write_text("{}")
    with pytest.raises(DutiError, match=r"d: column 'label' is of type int64, but a label is not whole"):
        write_relabelled(read(folder), "label", {0: 2.5}, tmp_path / "out")


def test_a_folder_that_is_no_dataset_is_not_replaced(tmp_path: Path) -> None:
    sheet = read(huggingface(tmp_path / "d"))
    written(tmp_path, "precious", b"mine")
    with pytest.raises(DutiError, match=r"precious exists and is no saved dataset, so it is not replaced"):
        write_relabelled(sheet, "label", {}, tmp_path / "precious")
    assert (tmp_path / "precious").read_bytes() == b"mine"


# What is refused


def test_the_input_is_never_overwritten(tmp_path: Path) -> None:
    path = written(tmp_path, "rows.csv", CSV)
    os.link(path, tmp_path / "link.csv")
    (tmp_path / "soft.csv").symlink_to(path)
    for out in (path, tmp_path / "." / "rows.csv", tmp_path / "link.csv", tmp_path / "soft.csv"):
        with pytest.raises(DutiError, match=r"is the input itself, which is never overwritten"):
            write_relabelled(read(path), "label", {0: "no"}, out)
    folder = huggingface(tmp_path / "d")
    with pytest.raises(DutiError, match=r"is the input itself, which is never overwritten"):
        write_relabelled(read(folder), "label", {0: "neg"}, folder)
    assert path.read_bytes() == CSV


def test_a_file_that_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    sheet = read(written(tmp_path, "rows.csv", CSV))
    written(tmp_path, "rows.csv", CSV.replace(b"Ulm", b"Hof"))
    with pytest.raises(DutiError, match=r"rows.csv has changed since it was read; run again"):
        write_relabelled(sheet, "label", {0: "no"}, tmp_path / "out.csv")
    (tmp_path / "rows.csv").unlink()
    with pytest.raises(DutiError, match=r"rows.csv: no such file"):
        write_relabelled(sheet, "label", {0: "no"}, tmp_path / "out.csv")


@pytest.mark.parametrize(
    ("column", "labels", "message"),
    [
        ("labels", {}, r"rows.csv has no column 'labels'; it has age, city, label"),
        ("label", {5: "no"}, r"rows.csv has 5 rows, so none is row 5 counted from 0"),
    ],
)
def test_columns_and_rows_that_are_not_there(
    column: str, labels: dict[int, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(DutiError, match=message):
        write_relabelled(read(written(tmp_path, "rows.csv", CSV)), column, labels, tmp_path / "out.csv")
