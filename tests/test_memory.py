"""How much memory there is, and files that would need more."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from duti.cli import main
from duti.errors import ResourceError
from duti.files import read
from duti.memory import available_memory
from tests.runs.tables import written

GIB = 2**30


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


MACHINE = {"proc/meminfo": "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n"}
GROUP = "sys/fs/cgroup/jobs"


def test_the_machine_says_what_memory_it_has(tmp_path: Path) -> None:
    assert available_memory(write(tmp_path, MACHINE)) == 8 * GIB


@pytest.mark.parametrize(
    "files",
    [
        {
            "proc/self/cgroup": "0::/jobs/one\n",
            f"{GROUP}/one/memory.max": "max\n",
            f"{GROUP}/one/memory.current": "5\n",
            f"{GROUP}/memory.max": f"{4 * GIB}\n",
            f"{GROUP}/memory.current": f"{3 * GIB}\n",
            f"{GROUP}/memory.stat": f"anon 1\ninactive_file {GIB}\n",
        },
        {
            "proc/self/cgroup": "2:cpu:/jobs\n1:memory:/jobs\n",
            "sys/fs/cgroup/memory/jobs/memory.limit_in_bytes": f"{4 * GIB}\n",
            "sys/fs/cgroup/memory/jobs/memory.usage_in_bytes": f"{3 * GIB}\n",
            "sys/fs/cgroup/memory/jobs/memory.stat": f"total_inactive_file {GIB}\n",
        },
    ],
    ids=["version 2, a limit on the parent", "version 1"],
)
def test_a_control_group_leaves_less_than_the_machine_has(tmp_path: Path, files: dict[str, str]) -> None:
    assert available_memory(write(tmp_path, MACHINE | files)) == 2 * GIB


def test_unknown_memory_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sysconf_names", {})
    assert available_memory(tmp_path) is None


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are counted on Linux")
def test_a_limit_of_address_space_counts() -> None:
    check = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 * 10**9, 3 * 10**9))\n"
        "from duti.memory import available_memory; print(available_memory())"
    )
    told = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True).stdout
    assert 1e9 < float(told) < 3e9


def gzip_bomb(folder: Path) -> Path:
    file = folder / "rows.csv.gz"
    file.write_bytes(gzip.compress(b"a,b\n" + 10_000_000 * b"1,2\n"))
    return file


def parquet_bomb(folder: Path) -> Path:
    file = folder / "rows.parquet"
    pq.write_table(pa.table({"a": np.zeros(5_000_000)}), file)
    return file


def npz_bomb(folder: Path) -> Path:
    file, array = folder / "rows.npz", io.BytesIO()
    np.save(array, np.zeros(5_000_000))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", array.getvalue())
    return file


def large_text(folder: Path) -> Path:
    file = folder / "rows.csv"
    file.write_bytes(b"a,b\n" + 4_000_000 * b"1,2\n")
    return file


@pytest.mark.parametrize("made", [gzip_bomb, parquet_bomb, npz_bomb, large_text])
def test_what_does_not_fit_is_refused_before_it_is_unpacked(
    made: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = made(tmp_path)
    for place in ("duti.memory", "duti.files.text"):
        monkeypatch.setattr(f"{place}.available_memory", lambda: 50e6)
    with pytest.raises(ResourceError, match=r"^rows\..*; use a file with some of the rows, or fewer columns"):
        read(file)


def test_a_table_that_fits_is_read_from_a_file_of_any_kind(tmp_path: Path) -> None:
    for made in (gzip_bomb, parquet_bomb, npz_bomb):
        assert read(made(tmp_path)).table.num_rows >= 5_000_000


def test_a_run_that_does_not_fit_is_refused_with_a_sample_that_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, trusted, _ = written(tmp_path, n=1500)
    words = ["debug", str(train), str(trusted), "--label", "granted", "--out", str(tmp_path / "out")]
    monkeypatch.setattr("duti.resources.available_memory", lambda: 12e6)
    for more in (["--dry-run"], []):
        found = CliRunner().invoke(main, [*words, *more])
        assert found.exit_code == 3, found.output
        assert "use --sample " in found.output
        assert "leave columns out with --drop" in found.output
        assert "components" not in found.output  # the command line has no such option
    assert not (tmp_path / "out").exists()
    rows = found.output.partition("--sample ")[2].partition(",")[0]
    again = CliRunner().invoke(main, [*words, "--sample", rows])
    assert again.exit_code == 0, again.output
    assert f"{int(rows):,} of 1,500 rows are debugged (--sample)" in again.output.replace("\n", " ")


def test_of_a_sample_only_its_rows_are_ranked_and_all_are_written(tmp_path: Path) -> None:
    train, trusted, _ = written(tmp_path)
    words = ["debug", str(train), str(trusted), "--label", "granted", "--id", "name", "--sample", "60"]
    found = CliRunner().invoke(main, [*words, "--recipe", "paper", "--out", str(tmp_path / "out")])
    assert found.exit_code == 0, found.output
    table = pq.read_table(tmp_path / "out" / "findings.parquet").to_pylist()
    assert len(table) == 150
    assert sum(row["rank"] is not None for row in table) == 60
    before, after = (file.read_text().splitlines() for file in (train, tmp_path / "out" / "corrected.csv"))
    changed = {old.split(",")[0].strip('"') for old, new in zip(before, after, strict=True) if old != new}
    assert changed <= {row["name"] for row in table if row["flagged"]}


def test_rows_that_are_trusted_themselves_are_in_every_sample(tmp_path: Path) -> None:
    train, _, _ = written(tmp_path)
    lines = train.read_text(encoding="utf-8").splitlines()
    marks = ["known", *("x" if i >= 110 else "" for i in range(150))]
    train.write_text("\n".join(map(",".join, zip(lines, marks, strict=True))), encoding="utf-8")
    words = ["debug", str(train), "--label", "granted", "--drop", "name", "--trusted-column", "known"]
    words += ["--sample", "30", "--recipe", "paper", "--out", str(tmp_path / "out")]
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 0, found.output
    table = pq.read_table(tmp_path / "out" / "findings.parquet").to_pylist()
    assert sum(bool(row["verified"]) for row in table) == 40
