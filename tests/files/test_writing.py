"""Tables and text for people and machines: harmless, exact, and whole or not at all."""

from __future__ import annotations

import csv
import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from duti.errors import DutiError
from duti.files import atomically, read, write_csv, write_json, write_parquet, write_relabelled, write_text
from tests.files.cases import TABLE, huggingface

FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "=cmd|' /C calc'!A0",
    "＝1+1",
    "＠SUM(A1)",
    "\u200b=1",
    "\ufeff+1",
    '=HYPERLINK("http://x")',
]


def cells(path: Path) -> list[list[str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_no_text_is_a_formula(formula: str, kind: Any, tmp_path: Path) -> None:
    table = pa.table({formula: pa.array([formula, "a=b", None]).cast(kind), "n": [1, 2, 3]})
    write_csv(table, tmp_path / "out.csv")
    assert cells(tmp_path / "out.csv") == [
        [f"'{formula}", "n"],
        [f"'{formula}", "1"],
        ["a=b", "2"],
        ["", "3"],
    ]


def test_text_inside_of_bytes_and_lists_is_no_formula_either(tmp_path: Path) -> None:
    table = pa.table({"bytes": [b"=1", b"\xff"], "list": [["=1"], None], "time": [datetime.time(1), None]})
    write_csv(table, tmp_path / "out.csv")
    rows = cells(tmp_path / "out.csv")
    assert rows[0] == ["bytes", "list", "time"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)


def test_numbers_dates_and_truth_stay_as_they_are(tmp_path: Path) -> None:
    table = pa.table(
        {"n": [-1.5, 0.1 + 0.2], "i": [-3, None], "d": [datetime.date(2020, 1, 2), None], "b": [True, False]}
    )
    write_csv(table, tmp_path / "out.csv")
    assert read(tmp_path / "out.csv").table.equals(table)
    assert cells(tmp_path / "out.csv")[1] == ["-1.5", "-3", "2020-01-02", "true"]


def test_parquet_is_exact(tmp_path: Path) -> None:
    table = TABLE.append_column("=f", pa.array(["=1", None, "", "x", "y"]))
    write_parquet(table, tmp_path / "out.parquet")
    assert read(tmp_path / "out.parquet").table.equals(table)


def test_text_and_json(tmp_path: Path) -> None:
    write_text("ä\r\nb\n", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == "ä\r\nb\n".encode()
    value = {"n": np.float64(0.5), "v": np.arange(2), "p": Path("x"), "bad": [float("inf"), None], 3: ("é",)}
    write_json(value, tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_bytes()) == {
        "n": 0.5,
        "v": [0, 1],
        "p": "x",
        "bad": [None, None],
        "3": ["é"],
    }


# Whole or not at all


def write_half(out: Path, error: BaseException) -> None:
    with atomically(out) as temporary:
        assert temporary.parent == out.parent
        temporary.write_bytes(b"half")
        raise error


def write_half_a_folder(out: Path) -> None:
    with atomically(out) as temporary:
        temporary.mkdir()
        (temporary / "new").write_bytes(b"")
        raise KeyboardInterrupt


@pytest.mark.parametrize("before", [None, b"what was there"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt(), MemoryError()], ids=repr)
def test_an_error_while_writing_leaves_everything_as_it_was(
    before: bytes | None, error: BaseException, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    if before is not None:
        out.write_bytes(before)
    with pytest.raises(type(error)):
        write_half(out, error)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == ([] if before is None else [before])


def test_an_error_while_writing_a_folder_leaves_everything_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_bytes(b"")
    with pytest.raises(KeyboardInterrupt):
        write_half_a_folder(tmp_path / "out")
    assert [str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*")] == ["out", "out/old"]


def test_a_folder_behind_a_link_is_left_alone(tmp_path: Path) -> None:
    sheet = read(huggingface(tmp_path / "d"))
    kept = huggingface(tmp_path / "kept")
    (tmp_path / "out").symlink_to(kept)
    write_relabelled(sheet, "label", {0: "neg"}, tmp_path / "out")
    assert read(kept).table["label"][0].as_py() == "pos"
    assert read(tmp_path / "out").table["label"][0].as_py() == "neg"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["d", "kept", "out"]


def test_writing_nothing_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomically(tmp_path / "out"):
        pass
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", ["nowhere/out.csv", "folder"])
def test_a_place_that_cannot_be_written_is_named(place: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    out, message = tmp_path / place, rf"{place} cannot be written \(.*\); check the folder and the disk"
    with pytest.raises(DutiError, match=message):
        write_csv(TABLE, out)
    with pytest.raises(DutiError, match=message):
        write_parquet(TABLE, out)
    with pytest.raises(DutiError, match=message):
        write_text("a", out)
    assert [file.name for file in tmp_path.rglob("*")] == ["folder"]


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    sheet = read(huggingface(tmp_path / "d"))
    with pytest.raises(DutiError, match="cannot be written"):
        write_relabelled(sheet, "label", {0: "neg"}, tmp_path / "nowhere" / "out")
    assert [file.name for file in tmp_path.iterdir()] == ["d"]
