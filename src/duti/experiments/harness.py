"""Experiments × seeds × detectors → raw results that need nothing else to draw figures from."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np

from duti.datasets import LabelledBugs
from duti.experiments.catalogue import BY_NAME
from duti.experiments.experiment import Contender, Experiment
from duti.problem import Problem
from duti.progress import Report, silent

FORMAT = 1
MOST_COLUMNS = 2
"""Rows with so many features are kept in the results, so that pictures can show them."""


@dataclass(frozen=True, eq=False)
class Run:
    """One draw of the data."""

    seed: int
    raw: dict[str, Any]
    """What every detector made of it."""
    scene: dict[str, Any]
    """What pictures show of it."""


def results(name: str, seeds: Sequence[int], report: Report = silent, workers: int = 1) -> dict[str, Any]:
    """Run an experiment for some seeds.

    >>> found = results("sine", [0])
    >>> found["runs"][0]["detectors"]["DUTI"]["ranking"][:3]
    [53, 54, 52]
    """
    experiment, done = BY_NAME[name], dict[int, Run]()
    report(experiment.title, 0, len(seeds))
    for run in _runs(name, list(seeds), workers):
        done[run.seed] = run
        report(experiment.title, len(done), len(seeds))
    return {
        "format": FORMAT,
        "experiment": name,
        "versions": {"python": platform.python_version()}
        | {package: importlib.metadata.version(package) for package in ("duti", "numpy", "scipy")},
        "settings": {c.name: c.setting for c in experiment.contenders},
        "runs": [done[seed].raw for seed in seeds],
        "scene": done[seeds[0]].scene,
    }


def _runs(name: str, seeds: list[int], workers: int) -> Iterator[Run]:
    if workers == 1 or len(seeds) == 1:
        yield from (run(name, seed) for seed in seeds)
        return
    # One thread of linear algebra for each process: many that fight for few cores are slower.
    with ProcessPoolExecutor(workers, get_context("spawn"), _single_threaded) as pool:
        futures = [pool.submit(run, name, seed) for seed in seeds]
        yield from (future.result() for future in as_completed(futures))


def _single_threaded() -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def run(name: str, seed: int) -> Run:
    """One draw of the data, seen by every detector."""
    experiment = BY_NAME[name]
    data = experiment.draw(np.random.default_rng(seed))
    raw = {
        "seed": seed,
        "n": len(data.y),
        "m": len(data.y_trusted),
        "bugs": np.flatnonzero(data.is_bug).tolist(),
        "given": data.y.tolist(),
        "truth": data.truth.tolist(),
        "detectors": {c.name: _outcome(c, data) for c in experiment.contenders},
    }
    return Run(seed, raw, _scene(experiment, data))


def _outcome(contender: Contender, data: LabelledBugs) -> dict[str, Any]:
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted, confidence=contender.confidence)
    began = time.perf_counter()
    findings = contender.detector(data).rank(problem)
    return {
        "ranking": findings.ranking.tolist(),
        "flagged": len(findings.flagged),
        "suggested": findings.suggested_labels.tolist(),
        "learner": repr(findings.learner),
        "status": findings.status.name,
        "notes": list(findings.notes),
        "seconds": round(time.perf_counter() - began, 3),
    }


def _scene(experiment: Experiment, data: LabelledBugs) -> dict[str, Any]:
    """What pictures show of a draw: rows of few features, or images of some bugs."""
    if data.X.shape[1] <= MOST_COLUMNS:
        return {
            "columns": list(data.columns),
            "X": data.X.tolist(),
            "X_trusted": data.X_trusted.tolist(),
            "y_trusted": data.y_trusted.tolist(),
        }
    if experiment.images:
        bugs = np.flatnonzero(data.is_bug)
        chosen = bugs[np.unique(data.truth[bugs], return_index=True)[1]].tolist()  # the first of each digit
        return {"rows": chosen, "images": np.round(data.X[chosen], 2).tolist()}
    return {}


def default_workers() -> int:
    """One process for each core."""
    return os.cpu_count() or 1


def to_json(found: dict[str, Any]) -> str:
    """The results as text; the same results give the same text."""
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))
