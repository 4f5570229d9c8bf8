"""Runs that are killed again and again, and resumed: they must find what an undisturbed run finds.

`python -m benchmarks.kills --series 200`. A series debugs a table with the command line, sends it a signal
(KILL, TERM or INT) at a random moment of its time, resumes it, and so on; the last resume is left alone. Half
of the tables have 400 rows and half 5000, and half of the runs are by the paper's recipe.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from tests.runs.tables import written

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
SIZES, RECIPES = (400, 5000), ("auto", "paper")
KILLS = 4
"""In a series, at most."""


@dataclass(frozen=True)
class Kind:
    """What is run."""

    n: int
    recipe: str


@dataclass
class Whole:
    """An undisturbed run of a kind."""

    folder: Path
    seconds: float

    @property
    def found(self) -> object:
        return pq.read_table(self.folder / "out" / "findings.parquet").to_pydict()


def command(folder: Path, kind: Kind, out: str, *more: str) -> list[str]:
    files = [str(folder / name) for name in ("rows.csv", "trusted.csv")]
    options = ["--label", "granted", "--drop", "name", "--recipe", kind.recipe, "--out", str(folder / out)]
    return [sys.executable, "-m", "duti", "debug", *files, *options, "--quiet", *more]


def whole(kind: Kind, folder: Path) -> Whole:
    folder.mkdir()
    written(folder, n=kind.n, m=30)
    began = time.perf_counter()
    subprocess.run(command(folder, kind, "out"), check=True, env=_one_thread(), capture_output=True)
    return Whole(folder, time.perf_counter() - began)


def series(number: int, kind: Kind, undisturbed: Whole) -> tuple[int, bool]:
    """How often it was killed in the middle, and whether it found the same in the end."""
    rng, killed = random.Random(number), 0
    out = f"killed-{number}"
    more: list[str] = []
    for _ in range(rng.randint(1, KILLS)):
        process = subprocess.Popen(
            command(undisturbed.folder, kind, out, *more),
            env=_one_thread(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            process.wait(timeout=rng.uniform(0.2, 1.0) * undisturbed.seconds)
            break  # it was faster
        except subprocess.TimeoutExpired:
            process.send_signal(rng.choice(SIGNALS))
            process.wait()
            killed += 1
        # Killed before it said what it does, there is nothing to resume.
        more = ["--resume"] if (undisturbed.folder / out / "run.json").exists() else []
    subprocess.run(
        command(undisturbed.folder, kind, out, *more), env=_one_thread(), capture_output=True, check=False
    )
    findings = undisturbed.folder / out / "findings.parquet"
    same = findings.exists() and pq.read_table(findings).to_pydict() == undisturbed.found
    return killed, same and (undisturbed.folder / out / "report.html").exists()


def _one_thread() -> dict[str, str]:
    return os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("benchmarks.kills", description=__doc__)
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    kinds = [Kind(n, recipe) for n in SIZES for recipe in RECIPES]
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(options.workers) as pool:
        undisturbed = [whole(kind, Path(name) / str(place)) for place, kind in enumerate(kinds)]
        jobs = [
            pool.submit(series, number, kinds[number % len(kinds)], undisturbed[number % len(kinds)])
            for number in range(options.series)
        ]
        found = [job.result() for job in jobs]
    different = [number for number, (_, same) in enumerate(found) if not same]
    killed, several = sum(kills > 0 for kills, _ in found), sum(kills for kills, _ in found)
    told = f"{len(found)} series, {killed} of them killed, {several} times in all"
    print(f"{told}; different: {different or 'none'}")
    return min(len(different), 1)


if __name__ == "__main__":
    raise SystemExit(main())
