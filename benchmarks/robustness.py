"""Robustness: random settings far beyond the usual ones, against the plain solver where it converges."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from typing import Self

import numpy as np

import duti
from benchmarks.data import bands
from benchmarks.engine import budget_of, problem_of
from benchmarks.machine import single_threaded
from benchmarks.measurement import Measurement, Report, at_most, time_limit, timed
from duti.objective import Evaluation, Objective
from duti.path import Step
from duti.solvers import Solution
from duti.solvers.frank_wolfe import relative_gap
from duti.solvers.projected_gradient import ProjectedGradient

SETTINGS = 200
PLAIN_SECONDS = 10
"""Of a processor, for a whole path of the plain solver; then it has not converged."""
LONGEST = 3600
"""Seconds of a processor after which a path counts as one that does not end."""
WORST_RATIO = 1.01
GAP_SLACK, SMALLEST_GAP = 2.0, 1e-3
"""A step that says it converged has, evaluated anew, at most the gap it states times this, or this much."""


@dataclass(frozen=True)
class Setting:
    seed: int
    n: int
    D: int
    k: int
    m: int
    ridge: float
    confidence: float

    @classmethod
    def drawn(cls, seed: int) -> Self:
        """n 20…20 000, m 2…500, ridge 1e-7…1e-1, confidence 0.1…1e4, evenly on a log scale; k 2…10."""
        rng = np.random.default_rng(seed)

        def between(low: float, high: float) -> float:
            return float(np.exp(rng.uniform(np.log(low), np.log(high))))

        return cls(
            seed=seed,
            n=round(between(20, 20_000)),
            D=round(between(10, 300)),
            k=int(rng.integers(2, 11)),
            m=round(between(2, 500)),
            ridge=between(1e-7, 1e-1),
            confidence=between(0.1, 1e4),
        )


QUICK = (Setting(0, 60, 5, 2, 3, 1e-2, 1.0), Setting(1, 250, 5, 3, 3, 1e-1, 1.0))


@dataclass(frozen=True)
class Outcome:
    setting: Setting
    ended: str
    """The name of the status, or what went wrong."""
    honest: bool
    seconds: float
    steps: int
    compared: int
    """Steps at which the plain solver converged in time."""
    ratio: float
    """The largest objective relative to the plain solver's at those steps; NaN if there are none."""


def measure(quick: bool) -> Report:
    return summary(list(in_parallel(QUICK if quick else [Setting.drawn(seed) for seed in range(SETTINGS)])))


def summary(outcomes: Sequence[Outcome]) -> Report:
    number = len(outcomes)
    ended = Counter(outcome.ended for outcome in outcomes)
    honest = sum(outcome.honest for outcome in outcomes)
    compared = [outcome for outcome in outcomes if outcome.compared]
    worst = max((outcome.ratio for outcome in compared), default=np.nan)
    steps = sum(outcome.compared for outcome in compared)
    larger = sum(outcome.ratio > WORST_RATIO for outcome in compared)
    return Report(
        [
            Measurement(
                f"{number} random settings: end with an honest status",
                "all",
                f"{honest} ({', '.join(f'{name} {count}' for name, count in ended.most_common())})",
                honest == number,
            ),
            at_most(
                f"{number} random settings: largest objective / the plain solver's where that one converges",
                worst,
                WORST_RATIO,
                f"{steps} steps of {len(compared)} settings, {larger} of which have a larger one; "
                f"{PLAIN_SECONDS} s each for the plain solver",
            ),
        ],
        [asdict(outcome) for outcome in outcomes],
    )


def in_parallel(settings: Sequence[Setting]) -> Iterator[Outcome]:
    """One process for each core, each with one thread of linear algebra."""
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), single_threaded) as pool:
        yield from pool.map(tried, settings)


def tried(setting: Setting) -> Outcome:
    """Debug one problem; then check what was claimed, and compare with the plain solver."""
    data = bands(np.random.default_rng(setting.seed), setting.n, setting.D, setting.k, setting.m)
    problem, learner = problem_of(data, setting.confidence), duti.Logistic(ridge=setting.ridge)
    objective = Objective(problem, learner)
    try:
        with time_limit(LONGEST):
            seconds, findings = timed(lambda: duti.Duti(learner, budget_of(data)).rank(problem))
            exact = evaluated(objective, findings.path)
    except Exception as error:
        return Outcome(setting, f"{type(error).__name__}: {error}", False, np.nan, 0, 0, np.nan)
    ratios = []
    try:
        with time_limit(PLAIN_SECONDS):
            for ours, plain in zip(exact, plain_path(objective, findings.path), strict=True):
                ratios += [ours.value / plain.value] if plain.converged else []
    except TimeoutError:
        pass
    return Outcome(
        setting,
        findings.status.name,
        all(is_honest(objective, at, step) for at, step in zip(exact, findings.path, strict=True)),
        seconds,
        len(findings.path),
        compared=len(ratios),
        ratio=max(ratios, default=np.nan),
    )


def evaluated(objective: Objective, path: tuple[Step, ...]) -> list[Evaluation]:
    """O_γ at the labels of each step, with a sharply fitted learner."""
    exact: list[Evaluation] = []
    for step in path:
        delta = objective.relabelling.start.copy()
        delta[step.rows] = step.delta
        exact.append(objective.evaluate(delta, step.gamma, start=exact[-1] if exact else None, tol=1e-13))
    return exact


def plain_path(objective: Objective, path: tuple[Step, ...]) -> Iterator[Solution]:
    """The plain solver at the same γ, one after another."""
    solver = ProjectedGradient().prepare(objective)
    at = solver.start()
    for step in path:
        at = solver.solve(step.gamma, at)
        yield at


def is_honest(objective: Objective, exact: Evaluation, step: Step) -> bool:
    """Whether a step has an objective, and the gap that it claims if it says that it converged."""
    if step.status is not duti.Status.CONVERGED:
        return bool(np.isfinite(step.objective))
    gap = relative_gap(objective, exact.delta, exact.evidence, step.gamma, exact.value)
    return gap <= max(GAP_SLACK * step.accuracy, SMALLEST_GAP)
