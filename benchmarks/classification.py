"""Classification: the whole path against one fit of its learner, and against a peer's cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks.data import bands
from benchmarks.engine import REPEATS, Speed, speed
from benchmarks.measurement import Measurement, Report, at_most

DRAWS = 5
"""How many steps a path needs depends on the last digits of a draw: one alone says little."""
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
        n, D, k, m = setting.n, setting.D, setting.k, 10 if quick else 200
        found = [
            speed(bands(np.random.default_rng(seed), n, D, k, m), setting.ridge, 1 if quick else REPEATS)
            for seed in range(2 if quick else DRAWS)
        ]
        report.figures.extend(asdict(one) for one in found)
        report.measurements.extend(compared(found, setting))
    return report


def compared(found: Sequence[Speed], setting: Setting) -> Iterator[Measurement]:
    """Ratios as the mean over draws, with the smallest and the largest."""
    where = found[0].where

    def mean(number: Callable[[Speed], float]) -> float:
        return float(np.mean([number(one) for one in found]))

    def ratio(what: str, number: Callable[[Speed], float], most: float, detail: str) -> Measurement:
        each = [number(one) for one in found]
        spread = f"{min(each):.2f} to {max(each):.2f} in {len(each)} draws"
        return at_most(f"{where}: {what}", mean(number), most, f"{spread}; {detail}")

    cold_fit, peer_fit = mean(lambda one: one.cold_fit), mean(lambda one: one.peer_fit)
    fit = f"cold fit {cold_fit:.2f} s, {mean(lambda one: one.cold_fit_passes):.0f} passes"
    path, passes = mean(lambda one: one.path), mean(lambda one: one.path_passes)
    steps, peer = mean(lambda one: one.steps), f"scikit-learn {peer_fit:.2f} s"
    yield ratio(
        "cold fit / scikit-learn's fit",
        lambda one: one.cold_fit / one.peer_fit,
        MOST_PEER_FITS,
        f"{fit}; {peer}",
    )
    yield ratio(
        "whole path / cold fit",
        lambda one: one.path / one.cold_fit,
        setting.most_fits,
        f"path {path:.2f} s, {passes:.0f} passes, {steps:.0f} steps; {fit}",
    )
    yield ratio(
        "fit and path / five scikit-learn fits",
        lambda one: (one.given_fit + one.path) / (5 * one.peer_fit),
        setting.most_cross_validations,
        f"fit {mean(lambda one: one.given_fit):.2f} s, path {path:.2f} s; {peer}",
    )
