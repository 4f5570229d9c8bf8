"""From lines of results to means, differences run by run, and intervals."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from scipy.stats import t

from benchmarks.quality.contenders import NAMES, ORACLE, OURS
from benchmarks.quality.tasks import TASKS, Task
from duti.arrays import Array
from duti.metrics import standard_error
from duti.opinions import WIDEST

Measure = Literal["ap", "fixes", "error", "brier", "seconds"]
LOWER_IS_BETTER = ("error", "brier", "seconds")
SURE = 0.95


@dataclass(frozen=True)
class Paired:
    """The mean of differences run by run, with its interval; NaN for a single run."""

    mean: float
    low: float
    high: float


def paired(ours: Array, theirs: Array) -> Paired:
    """Over the runs in which both finished."""
    difference = (ours - theirs)[np.isfinite(ours - theirs)]
    mean = float(difference.mean()) if len(difference) else np.nan
    half = float(t.ppf((1 + SURE) / 2, max(len(difference) - 1, 1)) * standard_error(difference))
    return Paired(mean, mean - half, mean + half)


@dataclass(frozen=True)
class Duel:
    """The automatic recipe against one peer."""

    peer: str
    difference: Paired


@dataclass(frozen=True)
class Counting:
    """How the number of bugs was told."""

    runs: int
    told: int
    covering: int
    """Intervals with the true number in them."""
    narrow: int
    """Intervals that reach no more than half their middle to either side."""

    def __add__(self, other: Self) -> Counting:
        mine, others = vars(self), vars(other)
        return Counting(**{name: mine[name] + others[name] for name in mine})


@dataclass(frozen=True, eq=False)
class Outcome:
    """All runs of a task."""

    task: Task
    records: list[dict[str, Any]]

    @property
    def name(self) -> str:
        return self.task.name

    @property
    def m(self) -> int:
        return int(self.records[0]["m"])

    def mean(self, fact: str) -> float:
        """Of what does not depend on the contenders."""
        return float(np.mean([record[fact] for record in self.records]))

    def values(self, measure: Measure) -> dict[str, Array]:
        """One number a run for each contender that has any; NaN in a run where it has none."""
        rows = {
            name: np.array([r["contenders"].get(name, {}).get(measure, np.nan) for r in self.records], float)
            for name in NAMES
        }
        return {name: row for name, row in rows.items() if np.isfinite(row).any()}

    def means(self, measure: Measure) -> dict[str, float]:
        return {name: float(np.nanmean(row)) for name, row in self.values(measure).items()}

    def best_peer(self, measure: Measure) -> str | None:
        """By the mean over the runs; the oracle does not count."""
        peers = {name: mean for name, mean in self.means(measure).items() if name not in (OURS, ORACLE)}
        choice = min if measure in LOWER_IS_BETTER else max
        return choice(peers, key=peers.__getitem__) if peers else None

    def against(self, peer: str | None, measure: Measure) -> Duel | None:
        """None if one of the two was not measured."""
        values = self.values(measure)
        if peer not in values or OURS not in values:
            return None
        return Duel(peer, paired(values[OURS], values[peer]))

    def against_best(self, measure: Measure) -> Duel | None:
        return self.against(self.best_peer(measure), measure)

    def counting(self) -> Counting:
        """Over the runs of the automatic recipe."""
        found = [(r["bugs"], r["contenders"].get(OURS, {})) for r in self.records]
        intervals = [(bugs, ours["expected_bugs"]) for bugs, ours in found if "expected_bugs" in ours]
        told = [(bugs, low, high) for bugs, interval in intervals if interval for low, _, high in [interval]]
        return Counting(
            len(intervals),
            len(told),
            sum(low <= bugs <= high for bugs, low, high in told),
            # Numbers in the file are rounded, so that the widest intervals may seem a little wider.
            sum(high - low <= (WIDEST + 1e-3) * (low + high) for _, low, high in told),
        )

    def failures(self) -> dict[str, str]:
        """Contenders that did not finish some run, with the reason of the first."""
        return {
            name: found["failed"]
            for record in reversed(self.records)
            for name, found in record["contenders"].items()
            if "failed" in found
        }


@dataclass(frozen=True, eq=False)
class Results:
    """All that was measured."""

    records: dict[tuple[str, int], dict[str, Any]]
    """By task and seed."""
    environment: dict[str, Any]

    @classmethod
    def read(cls, file: Path) -> Self:
        """A file of lines, later ones before earlier ones; nothing if there is no file."""
        records: dict[tuple[str, int], dict[str, Any]] = {}
        environment: dict[str, Any] = {}
        for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
            record = json.loads(line)
            if "environment" in record:
                environment = record["environment"]
                continue
            key = record["task"], record["seed"]
            before = records.get(key, {"contenders": {}, "complete": False})
            contenders = before["contenders"] | record["contenders"]
            complete = before["complete"] or record["complete"]
            records[key] = before | record | {"contenders": contenders, "complete": complete}
        return cls(records, environment)

    def save(self, file: Path) -> None:
        """One line a run, in the order of tasks and seeds."""
        ordered = [record for outcome in self.outcomes() for record in outcome.records]
        lines = [json.dumps(line) for line in ({"environment": self.environment}, *ordered)]
        new = file.with_suffix(".new")
        new.write_text("\n".join(lines) + "\n", encoding="utf-8")
        new.replace(file)

    def outcomes(self) -> list[Outcome]:
        """Tasks that were run, in their order."""
        found = []
        for task in TASKS:
            seeds = sorted(seed for name, seed in self.records if name == task.name)
            if seeds:
                found.append(Outcome(task, [self.records[task.name, seed] for seed in seeds]))
        return found
