"""From lines of results to means, differences run by run, and intervals."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from scipy.stats import t

from benchmarks.quality.contenders import NAMES, OURS, PEERS
from benchmarks.quality.tasks import TASKS, Task
from duti.arrays import Array
from duti.metrics import standard_error

Measure = Literal["ap", "fixes", "brier", "seconds"]
LOWER_IS_BETTER = ("brier", "seconds")
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
    """The default call against one peer."""

    peer: str
    difference: Paired


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
            name: np.array([_number(r["contenders"].get(name, {}), measure) for r in self.records])
            for name in NAMES
        }
        return {name: row for name, row in rows.items() if np.isfinite(row).any()}

    def means(self, measure: Measure) -> dict[str, float]:
        return {name: float(np.nanmean(row)) for name, row in self.values(measure).items()}

    def best_peer(self, measure: Measure) -> str | None:
        """By the mean over the runs; the oracle does not count."""
        peers = {name: mean for name, mean in self.means(measure).items() if name in PEERS}
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

    def failures(self) -> dict[str, str]:
        """Contenders that did not finish some run, with the reason of the first."""
        return {
            name: found["failed"]
            for record in reversed(self.records)
            for name, found in record["contenders"].items()
            if "failed" in found
        }


def _number(found: dict[str, Any], measure: Measure) -> float:
    """NaN where it was not measured, or means nothing: there is no average precision without bugs."""
    value = found.get(measure)
    return np.nan if value is None else float(value)


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
            if "asked" not in record:
                continue  # of an earlier page, with other seeds
            key = record["task"], record["seed"]
            before = records.get(key, {"contenders": {}, "asked": []})
            contenders = before["contenders"] | record["contenders"]
            asked = [name for name in NAMES if name in (*before["asked"], *record["asked"])]
            records[key] = before | record | {"contenders": contenders, "asked": asked}
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
