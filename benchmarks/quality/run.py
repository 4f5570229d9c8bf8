"""The comparison: `make quality`, or a part of it with `make quality ONLY="corners german"`.

Each draw of a task is a job, and its results a line that is appended to quality.jsonl: a run that was
stopped goes on where it was, and files of several runs are merged by putting one after the other. The page
and the plots are drawn from that file alone. `--contenders ours` and `--contenders peers` may be measured one
after the other, in any order.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.machine import environment, single_threaded
from benchmarks.quality.contenders import NAMES, OURS, ROLES
from benchmarks.quality.document import write
from benchmarks.quality.measures import measured
from benchmarks.quality.summary import Results
from benchmarks.quality.tasks import BY_NAME, GROUPS, QUICK, selected

FIRST_SEED = 7000
"""Seeds below are those of `duti reproduce`, and those on which numbers were chosen or once reported."""


@dataclass(frozen=True)
class Job:
    """A draw of a task, and the contenders that are asked to answer, as far as they can."""

    task: str
    seed: int
    asked: tuple[str, ...] = NAMES

    def run(self) -> dict[str, Any]:
        return measured(self.task, self.seed, self.asked) | {"asked": list(self.asked)}

    def done(self, results: Results) -> bool:
        record = results.records.get((self.task, self.seed))
        return record is not None and set(self.asked) <= set(record["asked"])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("benchmarks.quality", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="TASK", help="tasks or groups of tasks")
    parser.add_argument("--contenders", nargs="+", default=ROLES, choices=(*ROLES, *NAMES), metavar="NAME")
    parser.add_argument("--seeds", type=int, help="draws of each task (as many as the task says)")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--again", action="store_true", help="measure what is there already, too")
    parser.add_argument("--draw", action="store_true", help="measure nothing: only write the page")
    parser.add_argument("--quick", action="store_true", help="one draw of a few tiny tasks: does it all run?")
    parser.add_argument("--out", type=Path, help="folder of the results (docs, or out for a quick run)")
    options = parser.parse_args(arguments)
    unknown = set(options.only) - BY_NAME.keys() - set(GROUPS)
    if unknown:
        known_names = ", ".join((*GROUPS, *BY_NAME))
        parser.error(f"no task is called {', '.join(sorted(unknown))}; use some of {known_names}")
    folder: Path = options.out or Path("out" if options.quick else "docs")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "quality.jsonl"
    if not options.draw:
        known = Results.read(file)
        chosen = [job for job in jobs(options) if options.again or not job.done(known)]
        measure(chosen, file, options.workers)
    results = Results.read(file)
    if not options.draw:
        results.save(file)
    write(folder, results)
    print(f"Results: {folder / 'quality.md'}")


def jobs(options: argparse.Namespace) -> Iterator[Job]:
    """What was asked for, and can be had here."""
    only = options.only or (list(QUICK) if options.quick else [])
    asked = {name for given in options.contenders for name in ROLES.get(given, (given,))}
    for task in selected(only):
        if task.missing:
            print(f"Skipped: {task.missing}.")
            continue
        number = options.seeds or (1 if options.quick else task.seeds)
        for seed in range(options.first_seed, options.first_seed + number):
            yield Job(task.name, seed, tuple(name for name in NAMES if name in asked))


def measure(chosen: list[Job], file: Path, workers: int) -> None:
    """Run jobs, and append the results as they come."""
    small = [job for job in chosen if not BY_NAME[job.task].large]
    large = [job for job in chosen if BY_NAME[job.task].large]
    with file.open("a", encoding="utf-8") as lines:
        print(json.dumps({"environment": environment()}), file=lines)
        for number, record in enumerate(chain(_run(small, workers), _run(large, 1)), start=1):
            print(json.dumps(record), file=lines, flush=True)
            _report(f"[{number}/{len(chosen)}]", record)


def _run(chosen: list[Job], workers: int) -> Iterator[dict[str, Any]]:
    if workers == 1 or len(chosen) < 2:
        yield from (job.run() for job in chosen)
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), single_threaded) as pool:
        yield from (future.result() for future in as_completed([pool.submit(job.run) for job in chosen]))


def _report(progress: str, record: dict[str, Any]) -> None:
    precisions = {name: found.get("ap") for name, found in record["contenders"].items()}
    peers = {name: ap for name, ap in precisions.items() if name != OURS and ap is not None}
    best = max(peers, key=peers.__getitem__, default="–")
    seconds = sum(found.get("seconds", 0) for found in record["contenders"].values())
    print(
        f"{progress} {record['task']} {record['seed']}: AP {precisions.get(OURS)}, "
        f"best peer {peers.get(best)} ({best}), {seconds:.1f} s",
        flush=True,
    )
