"""One draw of a task, ranked by every contender, as numbers that are small enough to keep."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measurement import time_limit, timed
from benchmarks.quality.contenders import CONFIDENT, LARGE, OURS, Rival, rivals
from benchmarks.quality.tasks import BY_NAME
from duti.arrays import Array, Labels, Mask
from duti.baselines.fitted import tuned
from duti.datasets import LabelledBugs
from duti.findings import Findings
from duti.learners import Learner
from duti.learners.model import train
from duti.metrics import average_precision
from duti.problem import Problem

BINS = 10
PATIENCE = 900.0
"""Seconds of a processor after which a contender counts as not done."""
DRAWN = (OURS, CONFIDENT)
"""Whose probabilities a plot shows."""
DIGITS = 4
"""Significant ones, of what is kept."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A draw, and the learner that was tuned on its labels as given."""

    data: LabelledBugs
    problem: Problem
    tuned: Learner

    def retrained_error(self, labels: Labels) -> float:
        """Error rate or RMSE of the tuned learner, trained on some labels, against the truth of the rows."""
        classes, truth = self.problem.classes, self.data.truth
        y = labels if classes is None else np.searchsorted(classes, labels)
        scores = train(self.tuned, self.problem.X, y, self.problem.k).scores(self.problem.X)
        if classes is None:
            return float(np.sqrt(((scores - truth) ** 2).mean()))
        return float((classes[scores.argmax(axis=1)] != truth).mean())


def measured(name: str, seed: int, wanted: Collection[str] = ()) -> dict[str, Any]:
    """All contenders, or those that are wanted, on one draw of a task."""
    task = BY_NAME[name]
    data = task.draw(np.random.default_rng(seed))
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
    seconds, learner = timed(lambda: tuned(problem, task.learner))
    trial = Trial(data, problem, learner)
    small = problem.n <= LARGE
    return {
        "task": name,
        "seed": seed,
        "n": problem.n,
        "m": problem.m,
        "k": problem.k,
        "bugs": int(data.is_bug.sum()),
        "tuning_seconds": rounded(seconds),
        "error_as_given": rounded(trial.retrained_error(data.y)) if small else None,
        "error_of_truth": rounded(trial.retrained_error(data.truth)) if small else None,
        "contenders": {
            rival.name: outcome(rival, trial)
            for rival in rivals(data, problem, task.learner, learner)
            if not wanted or rival.name in wanted
        },
    }


def outcome(rival: Rival, trial: Trial) -> dict[str, Any]:
    """What is kept of one contender; the reason if it did not finish."""
    data, began = trial.data, time.perf_counter()
    try:
        with time_limit(PATIENCE):
            findings = rival.detector.rank(trial.problem)
    except Exception as error:  # hours of other results must not be lost with one contender
        return {"failed": f"{type(error).__name__}: {error}"}
    seconds, within = time.perf_counter() - began, findings.ranking[: data.is_bug.sum()]
    suggested = findings.suggested_labels
    kept: dict[str, Any] = {
        "ap": average_precision(findings.ranking, data.is_bug),
        "fixes": float((repaired(data, suggested) & data.is_bug)[within].mean()),
        "seconds": seconds,
    }
    if trial.problem.n <= LARGE:
        labels = findings.given_labels.copy()
        labels[within] = suggested[within]
        kept["error"] = trial.retrained_error(labels)
    if rival.probability is not None:
        p = rival.probability(findings)
        kept["brier"] = float(((p - data.is_bug) ** 2).mean())
        if rival.name in DRAWN:
            kept["bins"] = bins(p, data.is_bug)
    return {name: rounded(value) for name, value in (kept | told(findings)).items()}


def repaired(data: LabelledBugs, suggested: Labels) -> Mask:
    """Rows with the true label; in regression those whose label is at most half as wrong as the given one."""
    if data.truth.dtype.kind != "f":
        return np.asarray(suggested == data.truth)
    return np.asarray(abs(suggested - data.truth) <= abs(data.y - data.truth) / 2)


def bins(p: Array, is_bug: Mask) -> list[list[float]]:
    """How many probabilities fall into each tenth, their sum, and how many of them belong to bugs."""
    tenth = np.minimum((BINS * p).astype(np.int64), BINS - 1)
    return [np.bincount(tenth, weights, BINS).tolist() for weights in (None, p, is_bug)]


def told(findings: Findings) -> dict[str, Any]:
    """What the automatic recipe says besides."""
    if findings.systematic is None and not findings.opinions:
        return {}
    count = findings.expected_bugs
    interval = None if count is None else [count.low, count.expected, count.high]
    return {"expected_bugs": interval, "systematic": findings.systematic}


def rounded(value: Any) -> Any:
    """Numbers with few digits, to keep the file small; what is whole stays whole."""
    if isinstance(value, list):
        return [rounded(item) for item in value]
    if isinstance(value, float):
        short = float(f"{value:.{DIGITS}g}")
        return int(short) if short == int(short) else short
    return value
