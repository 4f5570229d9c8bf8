"""Recipe: how long the default call takes on one core, where somebody waits for it."""

from __future__ import annotations

import numpy as np

import duti
from benchmarks.measurement import Report, at_most, timed
from benchmarks.quality.tasks import BY_NAME

MOST_SECONDS = {"adult": 2.0, "digits": 6.0, "air-quality": 6.0}
"""A thousand rows of two classes, four hundred of ten, a regression of a thousand."""
DRAWS = 3


def measure(quick: bool) -> Report:
    report = Report()
    for name, most in {"harry-potter": 6.0}.items() if quick else MOST_SECONDS.items():
        task, times = BY_NAME[name], []
        for seed in range(1 if quick else DRAWS):
            data = task.draw(np.random.default_rng(seed))
            problem = duti.Problem(data.X, data.y, data.X_trusted, data.y_trusted)
            detector = duti.Automatic(task.learner, threads=1)
            times.append(min(timed(lambda: detector.rank(problem))[0] for _ in range(2)))  # noqa: B023
        kind = f"k={problem.k}" if problem.task == "classification" else problem.task
        where = f"{name}: n={problem.n}, {kind}, {problem.m} trusted items"
        shown = ", ".join(f"{seconds:.2f}" for seconds in times)
        report.measurements.append(
            at_most(
                f"{where}: seconds of the default call, one thread",
                float(np.mean(times)),
                most,
                f"{shown} s, a draw each",
            )
        )
        report.figures.append({"task": name, "seconds": times})
    return report
