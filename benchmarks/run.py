"""The benchmark: `make bench`, or one part of it with `make bench ONLY=classification`.

Each part runs in a process of its own, so that its peak memory is its own, and replaces its former
results in benchmarks.json. The table and the plot are drawn from that file alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.document import section, write
from benchmarks.machine import environment, peak_memory
from benchmarks.measurement import timed

PARTS = (
    "classification",
    "scaling",
    "million",
    "regression",
    "peers",
    "robustness",
    "ranking",
    "recipe",
    "tables",
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS, help="the parts to measure")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything run?")
    parser.add_argument("--out", type=Path, help="folder of the results (docs, or out for a quick run)")
    options = parser.parse_args(arguments)
    folder: Path = options.out or Path("out" if options.quick else "docs")
    # A quick run shares one process: starting one takes longer than the part itself.
    tasks = None if options.quick else 1
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=tasks) as pool:
        for part in options.only:
            results = pool.submit(measured, part, options.quick).result()
            parts = merge(folder, part, results)
            print(f"\n{section(part, results)}", flush=True)
    write(folder, parts)
    print(f"\nResults: {folder / 'benchmarks.md'}")


def measured(part: str, quick: bool) -> dict[str, Any]:
    """The report of one part, with what it was measured on, as it goes into the file."""
    baseline = peak_memory()
    seconds, report = timed(lambda: import_module(f"benchmarks.{part}").measure(quick))
    return {
        "quick": quick,
        "seconds": seconds,
        "peak_memory": peak_memory() - baseline,
        "environment": environment(),
        "measurements": [plain(asdict(row)) for row in report.measurements],
        "figures": plain(report.figures),
    }


def plain(value: Any) -> Any:
    """What JSON knows: no NumPy scalars, and null for what could not be measured."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def merge(folder: Path, part: str, results: dict[str, Any]) -> dict[str, Any]:
    """Put the results of a part into the file, and return all that is there."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "benchmarks.json"
    parts = json.loads(file.read_text()) if file.exists() else {}
    parts[part] = results
    parts = {name: parts[name] for name in PARTS if name in parts}
    file.write_text(json.dumps(parts, indent=1, allow_nan=False) + "\n")
    return parts


if __name__ == "__main__":
    main()
