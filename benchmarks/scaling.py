"""Scaling: what the whole path costs as n grows, in cold fits and in seconds."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from benchmarks.data import bands
from benchmarks.engine import REPEATS, speed
from benchmarks.measurement import Report, at_most

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
FEATURES = 400
QUICK, QUICK_FEATURES = (250, 500), 5
MOST_GROWTH = 1.3
"""Passes over ten times as many rows, relative to those before."""


def measure(quick: bool) -> Report:
    report, sizes, D = Report(), QUICK if quick else SIZES, QUICK_FEATURES if quick else FEATURES
    for n in sizes:
        data = bands(np.random.default_rng(0), n, D, k=2, m=10 if quick else 200)
        report.figures.append(asdict(speed(data, 1e-3, 1 if quick or n > 100_000 else REPEATS)))
    passes = {figure["n"]: figure["path_passes"] for figure in report.figures}
    few, many = sizes[-3 if len(sizes) > 2 else 0], sizes[-1]
    growth = at_most(
        f"passes of a path at n={many:,} / at n={few:,}, D={D}, k=2",
        passes[many] / passes[few],
        MOST_GROWTH,
        f"{passes[many]:.0f} and {passes[few]:.0f}",
    )
    report.measurements.append(growth)
    return report
