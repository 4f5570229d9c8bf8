"""Classification: the whole path against one fit of its learner, and against a peer's cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks.data import bands
from benchmarks.engine import REPEATS, Speed, speed
from benchmarks.measurement import Measurement, Report, at_most

MOST_PEER_FITS = 1.5
"""A cold fit may cost this many of scikit-learn's, so that the ratio cannot be won by a slow fit."""


@dataclass(frozen=True)
class Setting:
    n: int
    D: int
    k: int
    ridge: float
    most_fits: float
    most_cross_validations: float


SETTINGS = (
    Setting(100_000, 400, 2, 1e-3, most_fits=3, most_cross_validations=1),
    Setting(60_000, 300, 10, 1e-3, most_fits=3, most_cross_validations=1),
    Setting(100_000, 400, 2, 1e-5, most_fits=7, most_cross_validations=2),
)
QUICK = (Setting(250, 5, 2, 1e-1, 3, 1), Setting(250, 5, 3, 1e-1, 3, 1))


def measure(quick: bool) -> Report:
    report = Report()
    for setting in QUICK if quick else SETTINGS:
        data = bands(np.random.default_rng(0), setting.n, setting.D, setting.k, m=10 if quick else 200)
        found = speed(data, setting.ridge, repeats=1 if quick else REPEATS)
        report.figures.append(asdict(found))
        report.measurements.extend(compared(found, setting))
    return report


def compared(found: Speed, setting: Setting) -> Iterator[Measurement]:
    fit = f"cold fit {found.cold_fit:.2f} s, {found.cold_fit_passes:.0f} passes"
    peer = f"scikit-learn {found.peer_fit:.2f} s"
    yield at_most(
        f"{found.where}: cold fit / scikit-learn's fit",
        found.cold_fit / found.peer_fit,
        MOST_PEER_FITS,
        f"{fit}; {peer}",
    )
    yield at_most(
        f"{found.where}: whole path / cold fit",
        found.path / found.cold_fit,
        setting.most_fits,
        f"path {found.path:.2f} s, {found.path_passes:.0f} passes, {found.steps} steps; {fit}",
    )
    yield at_most(
        f"{found.where}: fit and path / five scikit-learn fits",
        (found.given_fit + found.path) / (5 * found.peer_fit),
        setting.most_cross_validations,
        f"fit {found.given_fit:.2f} s, path {found.path:.2f} s; {peer}",
    )
