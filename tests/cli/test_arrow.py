"""Columns of every type that Arrow has, as what a user may take them for."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from duti.cli import main
from duti.files.columnar import plain

N = 40
COLUMNS: dict[str, Any] = {
    "list": pa.array([[i] for i in range(N)]),
    "struct": pa.array([{"a": i} for i in range(N)]),
    "map": pa.array([[("k", i)] for i in range(N)], pa.map_(pa.string(), pa.int64())),
    "year 36 billion": pa.array([2**60 + i for i in range(N)], pa.timestamp("s")),
    "year 148108": pa.array([2**62 + i for i in range(N)], pa.timestamp("us")),
    "day of the year 29378": pa.array([10**7 + i for i in range(N)], pa.date32()),
    "time on Mars": pa.array([i * 10**6 for i in range(N)], pa.timestamp("us", tz="Mars/Olympus")),
    "string view": pa.array([f"name {i}" for i in range(N)], pa.string_view()),
    "binary view": pa.array([b"%d" % i for i in range(N)], pa.binary_view()),
    "beyond 2^63": pa.array([2**63 + i for i in range(N)], pa.uint64()),
    "binary": pa.array([b"\xff%d" % i for i in range(N)]),
    "decimal": pa.array([Decimal(i) for i in range(N)]),
    "duration": pa.array(list(range(N)), pa.duration("s")),
    "time of day": pa.array(list(range(N)), pa.time64("us")),
    "null": pa.nulls(N),
    "boolean": pa.array([i % 2 == 0 for i in range(N)]),
    "half": pa.array(np.arange(N, dtype=np.float16)),
}
NO_NAMES = {"list", "struct", "map", "null", "boolean"}
"""Columns that cannot name rows."""


def debugged(column: Any, folder: Path, *options: str) -> Any:
    rng = np.random.default_rng(0)
    rows = pa.table(
        {
            "x": rng.normal(size=N),
            "z": rng.normal(size=N),
            "y": np.where(np.arange(N) % 2, "a", "b"),
            "odd": column,
        }
    )
    for name, some in (("rows", rows), ("trusted", rows.slice(0, 10))):
        pyarrow.feather.write_feather(some, str(folder / f"{name}.arrow"), compression="uncompressed")
    files = [str(folder / f"{name}.arrow") for name in ("rows", "trusted")]
    words = ["debug", *files, "--label", "y", "--recipe", "paper", "--out", str(folder / "out"), *options]
    return CliRunner().invoke(main, words, catch_exceptions=False)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_any_type_may_be_there_and_be_a_group(kind: str, tmp_path: Path) -> None:
    found = debugged(COLUMNS[kind], tmp_path, "--group", "odd")
    assert found.exit_code == 0, found.output
    written = pyarrow.feather.read_table(tmp_path / "out" / "corrected.arrow")
    assert written.column("odd").type == COLUMNS[kind].type
    assert written.column("odd").combine_chunks().equals(COLUMNS[kind])


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_any_type_names_rows_or_is_refused(kind: str, tmp_path: Path) -> None:
    found = debugged(COLUMNS[kind], tmp_path, "--id", "odd")
    assert found.exit_code == (2 if kind in NO_NAMES else 0), found.output
    if kind in NO_NAMES:
        assert "--id" in found.output
    else:
        assert pq.read_table(tmp_path / "out" / "findings.parquet").num_rows == N


@pytest.mark.parametrize("kind", COLUMNS)
def test_labels_of_any_type_are_labels_or_are_refused(kind: str, tmp_path: Path) -> None:
    found = debugged(COLUMNS[kind], tmp_path, "--label", "odd")
    assert found.exit_code == (0 if kind in ("boolean", "string view") else 2), found.output


def test_times_that_have_no_name_are_said_to_be_numbers_or_in_utc() -> None:
    table = pa.table({name: COLUMNS[name] for name in ("year 148108", "time on Mars", "time of day")})
    found = plain(table, "rows.parquet")
    assert [str(kind) for kind in found.table.schema.types] == ["int64", "timestamp[us]", "time64[us]"]
    assert found.notes == (
        "times beyond the years 1 to 9999 are read as numbers in 'year 148108'",
        "the time zone is unknown, so times are in UTC in 'time on Mars'",
    )
