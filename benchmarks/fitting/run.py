"""`make fitting`: plants bugs in tables, fits the weights of `duti/automatic/fitted.py`, prints them.

What they are worth is told by tables that were left out: an eighth of them at a time.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from benchmarks.fitting.cases import SYSTEMATIC, Case, case
from benchmarks.fitting.fit import Fit, fitted
from benchmarks.fitting.tables import planted
from benchmarks.machine import single_threaded
from benchmarks.quality.claims import calibration_error
from benchmarks.quality.measures import bins
from duti.metrics import average_precision

SEEDS = 4
"""Draws of each task; the first has the sizes that tasks say, others have half or twice as many or so."""
FOLDS = 8
MANY_ITEMS = 20


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("benchmarks.fitting", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="draws of each task")
    parser.add_argument("--only", nargs="+", default=[], metavar="TABLE", help="tables")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    jobs = [
        (place, seed)
        for seed in range(options.seeds)
        for place, task in enumerate(planted(vary=seed > 0))
        if not options.only or task.table in options.only
    ]
    with ProcessPoolExecutor(options.workers, get_context("spawn"), single_threaded) as pool:
        cases = [found for found in pool.map(drawn, jobs) if found is not None]
    report(cases)


def drawn(job: tuple[int, int]) -> Case | None:
    """One case; none where a draw left a single class."""
    place, seed = job
    task = list(planted(vary=seed > 0))[place]
    data = task.draw(np.random.default_rng(seed))
    if min(len(np.unique(labels)) for labels in (data.y, data.truth)) < 2 or len(data.y_trusted) < 2:
        return None
    return case(task.kind, task.table, seed, data)


def report(cases: Sequence[Case]) -> None:
    """Print the weights, and what those that were fitted without a table say of it."""
    fit = fitted(cases)
    for name, weights in vars(fit).items():
        print(name, weights)
    if len({one.table for one in cases}) < FOLDS:
        print(f"What they are worth is told by {FOLDS} tables or more.")
        return
    outside = list(left_out(cases))
    print("verdicts, balanced", recalls(outside))
    print("kind: cases, AP, labels wrong and probably wrong, calibration error")
    kinds = defaultdict(list)
    for one, without in outside:
        kinds[one.kind].append((one, without.wrong(one)))
    for kind, found in kinds.items():
        aps = [average_precision(np.argsort(-p, kind="stable"), c.is_bug) for c, p in found if c.is_bug.any()]
        shares = np.mean([(c.is_bug.mean(), (p > 1 / 2).mean()) for c, p in found], axis=0)
        error = calibration_error([bins(p, c.is_bug) for c, p in found])
        shown = f"{np.mean(aps):.3f}" if aps else "–"
        print(f"{kind}: {len(found)}, {shown}, {shares[0]:.3f} and {shares[1]:.3f}, {error:.3f}")


def left_out(cases: Sequence[Case]) -> Iterator[tuple[Case, Fit]]:
    """Each case with weights that no case of its table had a part in."""
    tables = sorted({one.table for one in cases})
    folds = dict(
        zip(
            np.random.default_rng(0).permutation(tables).tolist(), np.arange(len(tables)) % FOLDS, strict=True
        )
    )
    for number in range(FOLDS):
        inside = [one for one in cases if folds[one.table] != number]
        without = fitted(inside)
        yield from ((one, without) for one in cases if folds[one.table] == number)


def recalls(outside: Sequence[tuple[Case, Fit]]) -> dict[str, float]:
    """The share of right verdicts with many items: where nothing is wrong, of flips, of systematic bugs."""
    hits = defaultdict(list)
    for one, fit in outside:
        bugs, systematic = fit.hypotheses(one)
        told = {"clean": 1 - bugs, "flips": bugs * (1 - systematic), "systematic": bugs * systematic}
        expected = "systematic" if one.kind in SYSTEMATIC and one.touched else one.kind
        if expected in told and one.items >= MANY_ITEMS:
            hits[expected].append(told[expected] > 1 / 2)
    return {name: round(float(np.mean(found)), 3) for name, found in hits.items()}
