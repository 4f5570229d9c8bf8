"""Whether what ours says of a table is true: fixes, verdicts, numbers of bugs, probabilities.

Everything is computed from records of draws; `said` are those that the default call has answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from benchmarks.quality.contenders import OURS
from benchmarks.quality.summary import Outcome

VERDICTS = ("no_evidence", "random", "systematic", "cannot_tell")
CLEAN, RANDOM, SYSTEMATIC = ("clean",), ("flips",), ("paper", "corners", "confusion")
"""Groups whose verdict is known."""
MANY_ITEMS = 20
WIDEST, WIDEST_SHARE = 0.5, 0.02
"""A number is told if its interval reaches no farther to either side: of its middle, or of the rows."""
HARMLESS, HARMLESS_SHARE = 1.0, 0.005
"""On a clean table an interval is right if it starts at so many bugs, or so large a share of the rows."""
ROUNDING = 1e-3
"""Numbers in the file are rounded, so that the widest intervals may seem a little wider."""


@dataclass(frozen=True)
class Said:
    """One draw, and what the default call said."""

    group: str
    facts: dict[str, Any]
    found: dict[str, Any]

    @property
    def clean(self) -> bool:
        return bool(self.facts["bugs"] == 0)

    @property
    def changed(self) -> float:
        """The share of the labels that were changed."""
        return float(self.found["changed"] / self.facts["n"])

    @property
    def worse(self) -> bool:
        """More wrong labels than before, by more than one; in regression a larger mean error."""
        if "wrong_after" in self.found:
            return bool(self.found["wrong_after"] > self.found["wrong_before"] + 1)
        return bool(self.found["error_after"] > self.found["error_before"])

    @property
    def expected_verdict(self) -> str | None:
        """What the verdict must be; None where nothing is promised."""
        if self.facts["m"] < MANY_ITEMS or (not self.facts["k"] and self.found["verdict"] is None):
            return None
        if self.group in CLEAN:
            return "no_evidence"
        if self.group in RANDOM:
            return "random"
        # Where nobody knows whether an item lies in the bug, one is taken to.
        return "systematic" if self.group in SYSTEMATIC and self.facts["touched"] != 0 else None


def said(outcomes: Iterable[Outcome]) -> list[Said]:
    """Draws that the default call has finished; verified rows are compared elsewhere."""
    return [
        Said(outcome.task.group, record, found)
        for outcome in outcomes
        for record in outcome.records
        if outcome.task.group != "verified" and "verdict" in (found := record["contenders"].get(OURS, {}))
    ]


def share(flags: Iterable[bool]) -> float:
    """Of those that are true; NaN of none."""
    flags = list(flags)
    return sum(flags) / len(flags) if flags else float("nan")


def remaining(outcome: Outcome) -> float | None:
    """Wrong labels after the fixes ÷ before, over all draws of a task; None in regression or without bugs."""
    runs = [run.found for run in said([outcome]) if "wrong_after" in run.found]
    before = sum(run["wrong_before"] for run in runs)
    return sum(run["wrong_after"] for run in runs) / before if before else None


def confusion(runs: Iterable[Said]) -> dict[str, Counter[str]]:
    """How often each group got each verdict; "none" where there was none."""
    counts: dict[str, Counter[str]] = {}
    for run in runs:
        counts.setdefault(run.group, Counter())[run.found["verdict"] or "none"] += 1
    return counts


def recalls(runs: Iterable[Said]) -> dict[str, float]:
    """The share of right verdicts among draws that have each of the three; "cannot tell" is wrong."""
    hits: dict[str, list[bool]] = {}
    for run in runs:
        if run.expected_verdict is not None:
            hits.setdefault(run.expected_verdict, []).append(run.found["verdict"] == run.expected_verdict)
    return {verdict: share(hits[verdict]) for verdict in VERDICTS if verdict in hits}


@dataclass(frozen=True)
class Counting:
    """How the number of bugs was told."""

    runs: int = 0
    told: int = 0
    """Intervals that are narrow enough to be of use."""
    covering: int = 0
    """Those with the true number in them."""
    width: float = 0.0
    """The sum of their widths, as shares of the rows."""

    def __add__(self, other: Self) -> Counting:
        mine, others = vars(self), vars(other)
        return Counting(**{name: mine[name] + others[name] for name in mine})


def counted(run: Said) -> Counting:
    """One draw."""
    interval, n, bugs = run.found["expected_bugs"], run.facts["n"], run.facts["bugs"]
    if interval is None:
        return Counting(1)
    low, _, high = interval
    half = (high - low) / 2
    if half > (1 + ROUNDING) * max(WIDEST * (low + high) / 2, WIDEST_SHARE * n):
        return Counting(1)
    right = low <= max(HARMLESS, HARMLESS_SHARE * n) if run.clean else low <= bugs <= high
    return Counting(1, 1, int(right), (high - low) / n)


def counting(runs: Iterable[Said]) -> Counting:
    """Over some draws."""
    return sum((counted(run) for run in runs), start=Counting())


def calibration_error(draws: Sequence[list[list[float]]]) -> float:
    """Σ_bins |mean probability − share of bugs|, weighed by rows; every draw weighs the same.

    A draw is the number of rows, the sum of the probabilities and the number of bugs in each bin.
    """
    if not draws:
        return float("nan")
    gaps = [(np.array(p) - np.array(bugs)) / np.sum(number) for number, p, bugs in draws]
    return float(abs(np.mean(gaps, axis=0)).sum())


def bins_of(outcomes: Iterable[Outcome], name: str) -> list[list[list[float]]]:
    """The bins of a contender in all draws of some tasks."""
    found = (record["contenders"].get(name, {}) for outcome in outcomes for record in outcome.records)
    return [kept["bins"] for kept in found if "bins" in kept]
