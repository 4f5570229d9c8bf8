"""The command line under attack: thousands of odd tables, options and answers; none may end in a traceback.

`python -m benchmarks.attack --inputs 3000` makes tables as people and programs leave them (and worse), debugs
them, exports, answers, imports, applies and reports. What counts as broken: an exception or a warning, more
than a minute, a raw control character on the terminal, and a cell of the corrected table that differs without
a fix. Each input is made from its number alone, so that what broke can be looked at again.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import re
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
from click.testing import CliRunner, Result

from benchmarks.machine import single_threaded
from duti.cli import main as duti
from duti.files import read

SECONDS = 60
CODES = {0, 2, 3, 4}
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
ODD_WORDS = (
    "",
    " ",
    "NA",
    "n.a.",
    "missing",
    "-",
    "?",
    "None",
    "4o.2",
    "=1+1",
    "@SUM(A1)",
    "＝1",
    "\u200b=1",
    "<script>alert(1)</script>",
    "[red]x[/red]",
    "\x1b[2J",
    "\u202eabc",
    "a\u2028b",
    "{{ 7*7 }}",
    "%s",
    "'; DROP TABLE x",
    "ß",
    "日本",
    "🙂",
    "x" * 3000,
    "1e400",
    "-999",
    "0x1F",
    "007",
    "1,5",
    "1.234,5",
    "2013/08/31",
    "31 Aug 2013",
)
Rng = np.random.Generator


@dataclass(frozen=True)
class Broken:
    """What must not happen."""

    number: int
    what: str
    words: str


def attacked(number: int) -> list[Broken]:
    """What broke of one input."""
    rng, found = np.random.default_rng(number), list[Broken]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = _case(rng, folder)
        result, broken = _run(words)
        found += [Broken(number, what, " ".join(words)) for what in broken]
        if result is not None and result.exit_code == 0:
            found += [Broken(number, what, " ".join(words)) for what in _cells(folder, words)]
            for more in _afterwards(rng, folder):
                _, broken = _run(more)
                found += [Broken(number, what, " ".join(more)) for what in broken]
    return found


def _run(words: list[str]) -> tuple[Result | None, list[str]]:
    began, broken = time.perf_counter(), list[str]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = CliRunner().invoke(duti, words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        broken.append("".join(traceback.format_exception(result.exception)[-3:]))
    elif result.exit_code not in CODES:
        broken.append(f"exit code {result.exit_code}: {result.output[-300:]}")
    if raw := RAW.search(result.output):
        broken.append(f"a raw {raw[0]!r} is printed")
    if time.perf_counter() - began > SECONDS:
        broken.append("more than a minute")
    return result, broken


def _case(rng: Rng, folder: Path) -> list[str]:
    """Files, and the words of a command about them."""
    rows, trusted = _tables(rng)
    kind = str(rng.choice(list(WRITERS)))
    files = [folder / f"{name}.{kind}" for name in ("rows", "trusted")]
    for file, table in zip(files, (rows, trusted), strict=True):
        try:
            file.write_bytes(_damaged(rng, WRITERS[kind](rng, table)))
        except (pa.ArrowException, UnicodeError, ValueError, OverflowError):  # no such file can be made
            file.write_bytes(b"")
    if rng.random() < 0.03:
        files.reverse()
    return ["debug", *map(str, files), *_options(rng, rows, folder)]


def _tables(rng: Rng) -> tuple[Any, Any]:
    n, m = int(rng.integers(2, 60)), int(rng.integers(1, 20))
    columns = {}
    for place in range(int(rng.integers(1, 7))):
        name = f"c{place}" if rng.random() < 0.8 else str(rng.choice(ODD_WORDS)) + str(place)
        made = COLUMNS[rng.integers(len(COLUMNS))](rng, n + m)
        columns[name] = made
    columns["y"] = _labels(rng, n + m)
    table = pa.table(columns)
    return table.slice(0, n), table.slice(n)


def _labels(rng: Rng, n: int) -> Any:
    kind = rng.integers(6)
    if kind == 0:
        return pa.array(rng.normal(size=n) * 10.0 ** rng.integers(-5, 6))
    if kind == 1:
        return pa.array(rng.integers(0, 4, n))
    if kind == 2:
        return pa.array(rng.random(n) < 0.5)
    words = ["yes", "no", "Yes", "maybe", *map(str, rng.choice(ODD_WORDS, 2))]
    cells: list[Any] = rng.choice(words[: int(rng.integers(2, 7))], n).tolist()
    if kind == 3:
        cells = [None if rng.random() < 0.1 else cell for cell in cells]
    return pa.array(cells, pa.string())


def _numbers(rng: Rng, n: int) -> Any:
    values = rng.normal(size=n) * 10.0 ** rng.integers(-8, 9)
    return pa.array(np.where(rng.random(n) < rng.choice([0, 0.2, 0.95]), np.nan, values))


def _words(rng: Rng, n: int) -> Any:
    return pa.array(rng.choice(ODD_WORDS, n).tolist(), pa.string())


def _mixed(rng: Rng, n: int) -> Any:
    cells = [f"{value:.3g}" for value in rng.normal(size=n)]
    for row in rng.choice(n, max(1, n // 20)).tolist():
        cells[row] = str(rng.choice(ODD_WORDS))
    return pa.array(cells, pa.string())


def _dates(rng: Rng, n: int) -> Any:
    unit = str(rng.choice(["s", "ms", "us", "ns"]))
    zone = rng.choice(["", "UTC", "Mars/Olympus", "+02:00"])
    one = rng.random() < 0.3
    values = np.full(n, 10**9) if one else rng.integers(0, 2 ** int(rng.integers(20, 62)), n)
    return pa.array(values, pa.timestamp(unit, str(zone) or None))


COLUMNS: tuple[Callable[[Rng, int], Any], ...] = (
    _numbers,
    _words,
    _mixed,
    _dates,
    lambda rng, n: pa.array(rng.choice(list("abc"), n).tolist()),
    lambda _, n: pa.array(np.arange(n)),
    lambda rng, n: pa.array(rng.random(n) < 0.5),
    lambda _, n: pa.nulls(n),
    lambda _, n: pa.array([1.0] * n),
    lambda rng, n: pa.array(np.uint64(2**63) + rng.integers(0, 9, n).astype(np.uint64)),
    lambda rng, n: pa.array([rng.normal(size=3).tolist() for _ in range(n)]),
    lambda rng, n: pa.array([{"a": int(v)} for v in rng.integers(0, 9, n)]),
    lambda rng, n: pa.array([bytes([int(v)]) for v in rng.integers(0, 255, n)]),
    lambda rng, n: pa.array(rng.choice(list("ab"), n).tolist()).dictionary_encode(),
    lambda rng, n: pa.array(rng.integers(0, 10**6, n), pa.duration("us")),
    lambda rng, n: pa.array(rng.integers(-(10**7), 10**7, n).astype(np.int32), pa.date32()),
)


def _delimited(delimiter: str) -> Callable[[Rng, Any], bytes]:
    def written(rng: Rng, table: Any) -> bytes:
        ends = str(rng.choice(["\n", "\r\n", "\r"]))
        cells = [
            ["" if value is None else str(value) for value in _plain(column)] for column in table.columns
        ]
        lines = [table.column_names, *zip(*cells, strict=True)]
        text = ends.join(delimiter.join(_quoted(cell, delimiter) for cell in line) for line in lines)
        encoding = str(rng.choice(["utf-8", "utf-8", "utf-8-sig", "cp1252", "utf-16"]))
        return text.encode(encoding, errors="replace")

    return written


def _plain(column: Any) -> list[Any]:
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError, pa.ArrowException, KeyError):  # times that Python has no name for
        return list(range(len(column)))


def _quoted(cell: str, delimiter: str) -> str:
    needs = any(letter in cell for letter in f'"\r\n{delimiter}')
    return '"' + cell.replace('"', '""') + '"' if needs else cell


def _jsonl(_: Rng, table: Any) -> bytes:
    rows = zip(*(_plain(column) for column in table.columns), strict=True)
    lines = (json.dumps(dict(zip(table.column_names, row, strict=True)), default=str) for row in rows)
    return "\n".join(lines).encode()


def _parquet(_: Rng, table: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def _arrow(_: Rng, table: Any) -> bytes:
    out = io.BytesIO()
    pyarrow.feather.write_feather(table, out, compression="uncompressed")
    return out.getvalue()


def _npz(_: Rng, table: Any) -> bytes:
    out = io.BytesIO()
    arrays = {f"a{place}": np.asarray(_plain(column)) for place, column in enumerate(table.columns[:-1])}
    simple: dict[str, Any] = {name: array for name, array in arrays.items() if array.dtype.kind in "biufU"}
    np.savez(out, **simple, y=np.asarray([str(label) for label in _plain(table["y"])]))
    return out.getvalue()


WRITERS: dict[str, Callable[[Rng, Any], bytes]] = {
    "csv": _delimited(","),
    "tsv": _delimited("\t"),
    "csv.gz": lambda rng, table: gzip.compress(_delimited(";")(rng, table)),
    "jsonl": _jsonl,
    "parquet": _parquet,
    "arrow": _arrow,
    "npz": _npz,
}


def _damaged(rng: Rng, data: bytes) -> bytes:
    """Mostly as it is; sometimes cut off, or with other bytes."""
    kind = rng.integers(20)
    if kind == 0:
        return data[: int(rng.integers(0, len(data) + 1))]
    if kind == 1 and data:
        changed = bytearray(data)
        for place in rng.integers(0, len(data), int(rng.integers(1, 6))).tolist():
            changed[place] = int(rng.integers(256))
        return bytes(changed)
    return data


def _options(rng: Rng, rows: Any, folder: Path) -> Iterator[str]:
    names = [str(name) for name in rows.column_names]
    yield from ("--label", "y" if rng.random() < 0.97 else str(rng.choice(names)))
    yield from ("--out", str(folder / "out"), "--recipe", "paper" if rng.random() < 0.7 else "auto")
    some: dict[str, Callable[[], Any]] = {
        "--group": lambda: rng.choice(names),
        "--id": lambda: rng.choice(names),
        "--drop": lambda: rng.choice(names),
        "--keep": lambda: rng.choice(names),
        "--text": lambda: rng.choice(names),
        "--trusted-column": lambda: rng.choice(names),
        "--confidence": lambda: rng.choice(["1", "100", "-1", "x", *names]),
        "--budget": lambda: rng.choice([1, 5, 10_000, 0]),
        "--task": lambda: rng.choice(["classification", "regression"]),
        "--classes": lambda: rng.choice(["yes,no", "a", "yes,no,maybe,Yes"]),
        "--systematic": lambda: rng.choice(["0.5", "2"]),
        "--sample": lambda: rng.choice([2, 20, 10**6]),
        "--seed": lambda: rng.integers(100),
    }
    for option, value in some.items():
        if rng.random() < 0.08:
            yield from (option, str(value()))
    if rng.random() < 0.05:
        yield "--dry-run"
    if rng.random() < 0.2:
        yield "--json"


def _cells(folder: Path, words: Sequence[str]) -> Iterator[str]:
    """Cells of the corrected table that differ, though no fix names them."""
    corrected = next((folder / "out").glob("corrected.*"), None)
    if corrected is None:
        return
    before, after = read(Path(words[1])).table, read(corrected).table
    label = words[words.index("--label") + 1]
    if before.column_names != after.column_names or before.num_rows != after.num_rows:
        yield "the corrected table has another shape"
        return
    findings = pq.read_table(folder / "out" / "findings.parquet")
    fixes = sum(
        row["given_label"] is not None and row["given_label"] != row["suggested_label"]
        for row in findings.select(["given_label", "suggested_label"]).to_pylist()
    )
    for name in before.column_names:
        old, new = (_plain(table[name]) for table in (before, after))
        changed = sum(a != b and not (a != a and b != b) for a, b in zip(old, new, strict=True))
        if changed > (fixes if name == label else 0):
            yield f"{changed} cells of {name!r} differ with {fixes} fixes"


def _afterwards(rng: Rng, folder: Path) -> Iterator[list[str]]:
    """What people do next, in files that other programs have damaged."""
    out = str(folder / "out")
    if not (folder / "out").exists():  # a dry run
        return
    to = str(rng.choice(["csv", "jsonl", "label-studio"]))
    yield ["export", out, "--to", to]
    file = folder / "out" / {"csv": "flagged.csv", "jsonl": "flagged.jsonl"}.get(to, "label-studio.json")
    if file.exists():
        text = file.read_text(encoding="utf-8")
        for old in ('"duti_answer": null', ",,"):
            text = text.replace(
                old, old[:-4] + json.dumps(str(rng.choice(ODD_WORDS))) if "null" in old else ",yes,", 2
            )
        file.write_bytes(_damaged(rng, text.encode(str(rng.choice(["utf-8", "utf-16"])))))
        yield ["import", out, str(file), *(["--rerun"] if rng.random() < 0.3 else [])]
    yield [
        "apply",
        out,
        *(["--top", "3"] if rng.random() < 0.3 else ["--accepted"] if rng.random() < 0.3 else []),
    ]
    yield ["report", out]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("benchmarks.attack", description=__doc__)
    parser.add_argument("--inputs", type=int, default=3000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    numbers = range(options.first, options.first + options.inputs)
    with ProcessPoolExecutor(options.workers, get_context("spawn"), single_threaded) as pool:
        broken = [one for found in pool.map(attacked, numbers, chunksize=10) for one in found]
    for one in broken[:20]:
        print(f"--- input {one.number}: duti {one.words}\n{one.what}")
    kinds = Counter(one.what.strip().splitlines()[-1][:120] for one in broken)
    for what, times in kinds.most_common():
        print(f"{times} × {what}")
    print(f"{len(broken)} of {options.inputs} inputs broke something")
    return min(len(broken), 1)


if __name__ == "__main__":
    raise SystemExit(main())
