"""Recipe: how long the default call takes on one core, where somebody waits for it.

What is timed is `duti.debug(X, y, X_trusted, y_trusted, threads=1)`, reading the arrays included.
"""

from __future__ import annotations

import numpy as np

import duti
from benchmarks.measurement import Report, at_most, timed
from benchmarks.quality.tasks import BY_NAME
from duti.datasets import LabelledBugs

SLOWER = 1.5
"""How many times as long as before there was a verdict it may take."""
MOST_SECONDS = {
    name: SLOWER * before for name, before in (("adult", 0.92), ("digits", 3.7), ("air-quality", 4.1))
}
"""A thousand rows of two classes, four hundred of ten, a regression of a thousand."""
DRAWS = 3


def measure(quick: bool) -> Report:
    report = Report()
    for name, most in {"harry-potter": 6.0}.items() if quick else MOST_SECONDS.items():
        drawn = [BY_NAME[name].draw(np.random.default_rng(seed)) for seed in range(1 if quick else DRAWS)]
        times = [min(_seconds(data) for _ in range(2)) for data in drawn]
        data = drawn[0]
        kind = "regression" if data.truth.dtype.kind == "f" else f"k={len(np.unique(data.y))}"
        where = f"{name}: n={len(data.y)}, {kind}, {len(data.y_trusted)} trusted items"
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


def _seconds(data: LabelledBugs) -> float:
    return timed(lambda: duti.debug(data.X, data.y, data.X_trusted, data.y_trusted, threads=1))[0]
