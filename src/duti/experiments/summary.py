"""From raw results to curves, areas and tables; and what the paper has published."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from duti.arrays import Array
from duti.metrics import (
    Average,
    Curve,
    average_curve,
    average_precision,
    correct_fixes,
    fix_error,
    ranking_curve,
    standard_error,
)

FIXES_WITHIN = 200
"""Flags within which the paper counts correct fixes of digits."""


@cache
def published() -> dict[str, Any]:
    """The curves of the paper's figures, as numbers.

    >>> published()["harry_potter"]["DUTI"]["area"]
    0.8969
    """
    text = files("duti.experiments").joinpath("published.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


@dataclass(frozen=True, eq=False)
class Score:
    """A detector over all runs of an experiment."""

    name: str
    setting: str
    areas: Array
    """Of each run; NaN without bugs."""
    average_precisions: Array
    fixed: Array
    """Correct fixes of bugs within the first 200 flags."""
    fix_errors: Array
    """Root mean square error of the suggested values on the bugs; NaN for classes."""
    seconds: float
    """The median."""

    @property
    def area(self) -> float:
        """The mean over the runs."""
        return float(self.areas.mean())

    @property
    def error(self) -> float:
        """The standard error of that mean."""
        return float(standard_error(self.areas))


def scores(found: dict[str, Any]) -> Iterator[Score]:
    """Every detector of an experiment, in order."""
    for name, setting in found["settings"].items():
        outcomes = [(run, run["detectors"][name]) for run in found["runs"]]
        yield Score(
            name,
            setting,
            np.array([_curve(run, o).area if run["bugs"] else np.nan for run, o in outcomes]),
            np.array([_average_precision(run, o) for run, o in outcomes]),
            np.array([fixes_by_flags(run, o)[-1] for run, o in outcomes]),
            np.array([_fix_error(run, o) for run, o in outcomes]),
            float(np.median([o["seconds"] for _, o in outcomes])),
        )


def mean_curve(found: dict[str, Any], name: str) -> Average:
    """The average precision-recall curve of a detector."""
    return average_curve([_curve(run, run["detectors"][name]) for run in found["runs"]])


def flagged_point(found: dict[str, Any], name: str) -> tuple[float, float]:
    """Mean recall and precision of what a detector flags, all of it: for one that has no ranking."""
    points = []
    for run in found["runs"]:
        outcome = run["detectors"][name]
        hits = len(set(outcome["ranking"][: outcome["flagged"]]) & set(run["bugs"]))
        points.append((hits / max(len(run["bugs"]), 1), hits / max(outcome["flagged"], 1)))
    recall, precision = np.mean(points, axis=0)
    return float(recall), float(precision)


def fixes_by_flags(run: dict[str, Any], outcome: dict[str, Any], within: int = FIXES_WITHIN) -> Array:
    """How many bugs have their right label after each of the first flags; the last number stays."""
    flagged = np.array(outcome["ranking"][: outcome["flagged"]], dtype=np.int64)
    truth, suggested = np.array(run["truth"]), np.array(outcome["suggested"])
    counts = correct_fixes(flagged, suggested, truth, _is_bug(run))[:within]
    last = counts[-1] if len(counts) else 0
    return np.append(counts, np.full(within - len(counts), last)).astype(np.float64)


def _curve(run: dict[str, Any], outcome: dict[str, Any]) -> Curve:
    return ranking_curve(np.array(outcome["ranking"]), _is_bug(run))


def _average_precision(run: dict[str, Any], outcome: dict[str, Any]) -> float:
    if not run["bugs"]:
        return float("nan")
    return average_precision(np.array(outcome["ranking"]), _is_bug(run))


def _fix_error(run: dict[str, Any], outcome: dict[str, Any]) -> float:
    truth = np.array(run["truth"])
    if truth.dtype.kind != "f" or not run["bugs"]:
        return float("nan")
    return fix_error(np.array(outcome["suggested"]), truth, _is_bug(run))


def _is_bug(run: dict[str, Any]) -> Any:
    is_bug = np.zeros(run["n"], dtype=bool)
    is_bug[run["bugs"]] = True
    return is_bug
