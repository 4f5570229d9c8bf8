"""What the contenders compete on: data with known bugs, drawn from a seed.

Settings of the recipe were chosen on other seeds of tasks like these (1000 to 1059, 2000 to 2003).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from duti.arrays import Array, Ints, Labels
from duti.datasets import LabelledBugs, adult_income, digits, german_loan, harry_potter, sine
from duti.experiments.experiment import Draw
from duti.learners import KernelLogistic, Learner

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
"""Data that may not go into this repository."""
IMAGES, HUMAN_LABELS = SHARED / "cifar10_train_effnetlite0_pca128.npz", SHARED / "cifar10n_labels.npz"
AIR = SHARED / "reg_airquality_uci.csv.gz"
ENCODED = KernelLogistic(standardize=False)
"""For pixels, and for zeros and ones: standardising would make rare values the most important ones."""
TEN_CLASSES = 10
"""Draws of tasks with ten classes, each of which takes minutes; `--seeds` adds more to what is there."""
FLIPPED = 0.2
CONFUSED = {1: 7, 3: 8, 4: 9, 5: 6}
ALL_IMAGES, TRUSTED_IMAGES = 50_000, 150
SENSORS = ("PT08_S2_NMHC", "PT08_S3_NOx", "PT08_S4_NO2", "PT08_S5_O3", "T", "RH", "AH")
CALIBRATION_DAYS, TOLERANCE = 28, 3.0
"""The sensor is calibrated in the first days; labels off by more standard deviations than this are bugs."""


@dataclass(frozen=True)
class Task:
    """Data with known bugs, and how often they are drawn."""

    name: str
    group: str
    draw: Draw
    learner: Learner | None = None
    """What is left open in it is tuned, or varied by the automatic recipe; the default learner if None."""
    seeds: int = 30
    large: bool = False
    """So many rows that a run has the machine to itself."""
    needs: tuple[Path, ...] = ()

    @property
    def missing(self) -> str | None:
        """Why it cannot be run here, if it cannot."""
        absent = [file.name for file in self.needs if not file.exists()]
        return f"{self.name} needs {', '.join(absent)} in ../shared/data" if absent else None


def flipped(draw: Draw, rng: np.random.Generator) -> LabelledBugs:
    """The true labels, a fifth of them changed at random."""
    data = draw(rng)
    classes, codes = np.unique(data.truth, return_inverse=True)
    bugs = rng.permutation(len(codes))[: round(FLIPPED * len(codes))]
    codes[bugs] += rng.integers(1, len(classes), len(bugs))
    return _relabelled(data, classes[codes % len(classes)])


def trusting_few(draw: Draw, m: int, rng: np.random.Generator) -> LabelledBugs:
    """So many of the trusted items, chosen at random."""
    data = draw(rng)
    chosen = rng.permutation(len(data.y_trusted))[:m]
    return replace(data, X_trusted=data.X_trusted[chosen], y_trusted=data.y_trusted[chosen])


def fair_students(m: int, rng: np.random.Generator) -> LabelledBugs:
    """Harry Potter with so many trusted students from anywhere, not two that were chosen well."""
    data = harry_potter(rng)
    X = rng.uniform(size=(m, 2))
    return replace(data, X_trusted=X, y_trusted=np.where(X[:, 1] > 0.5, 1, -1))


def confused_digits(m: int, rng: np.random.Generator) -> LabelledBugs:
    """500 scanned digits; every other 1, 3, 4 and 5 is taken for a 7, 8, 9 and 6."""
    from sklearn.datasets import load_digits

    pixels, truth = load_digits(return_X_y=True)
    order = rng.permutation(len(truth))
    rows, trusted = order[:500], order[500 : 500 + m]
    data = _clean(pixels / 16, truth, rows, trusted)
    mistaken = np.array([CONFUSED.get(digit, digit) for digit in range(10)])
    return _relabelled(data, np.where(rng.random(500) < 0.5, mistaken[data.truth], data.truth))


def corner(d: int, k: int, m: int, rng: np.random.Generator) -> LabelledBugs:
    """Rows in the unit cube; all in one corner, which the items may or may not reach, have the label 0."""
    X = rng.uniform(size=(200 + m, d))
    truth = (X[:, 0] + X[:, 1] > 1).astype(np.int64) if k == 2 else np.floor(k * X[:, 0]).astype(np.int64)
    data = _clean(X, truth, np.arange(200), np.arange(200, 200 + m))
    return _relabelled(data, np.where((data.X[:, 0] > 0.6) & (data.X[:, 1] > 0.6), 0, data.truth))


def human_labels(kind: str, n: int, rng: np.random.Generator) -> LabelledBugs:
    """CIFAR-10N: images labelled by people, and 150 trusted ones; all other images if n is 50 000."""
    X, labels = _images()
    order = rng.permutation(len(X))
    rows = order[TRUSTED_IMAGES:][:n]
    data = _clean(X, labels["clean_label"], rows, order[:TRUSTED_IMAGES])
    return _relabelled(data, labels[kind][rows])


def drifting_sensor(rng: np.random.Generator) -> LabelledBugs:
    """Air Quality: CO by a cheap sensor, calibrated in the first weeks, against an analyser.

    Other sensors, the weather and the time are the features. A label is a bug where it is off by more than
    three robust standard deviations of the error in those weeks.
    """
    X, given, truth, bug = _air()
    order = rng.permutation(len(X))
    data = _clean(X, truth, order[:1000], order[1000:1030])
    return replace(data, y=given[order[:1000]], is_bug=bug[order[:1000]])


def uneven_sine(rng: np.random.Generator) -> LabelledBugs:
    """The sine with noise whose deviation grows from 0.05 to 0.25."""
    data = sine(rng)
    x, unflipped = data.X[:, 0], np.where(data.is_bug, -data.y, data.y)
    clean = data.truth + (0.5 + x) * (unflipped - data.truth)
    y = np.where((x > 1) & (x <= 1.8), -abs(clean), clean)
    return replace(data, y=y, is_bug=y != clean)


def _clean(X: Array, truth: Labels, rows: Ints, trusted: Ints) -> LabelledBugs:
    """Rows and trusted items of one table, before any label is changed."""
    columns = tuple(f"x{j}" for j in range(X.shape[1]))
    given, none = truth[rows], np.zeros(len(rows), dtype=bool)
    return LabelledBugs(X[rows], given, X[trusted], truth[trusted], given, none, columns)


def _relabelled(data: LabelledBugs, y: Labels) -> LabelledBugs:
    return replace(data, y=y, is_bug=y != data.truth)


@cache
def _images() -> tuple[Array, dict[str, Ints]]:
    with np.load(HUMAN_LABELS) as labels, np.load(IMAGES) as images:
        return images["emb"].astype(np.float64), {kind: labels[kind].astype(np.int64) for kind in labels}


@cache
def _air() -> tuple[Array, Array, Array, Any]:
    """Features, labels by the sensor, labels by the analyser, and which of the former are bugs."""
    import pandas as pd

    table = pd.read_csv(AIR)
    table = table[(table[[*SENSORS, "CO_GT", "PT08_S1_CO"]] != -200).all(axis=1)]
    time = pd.to_datetime(table["Date"] + " " + table["Time"], format="%d/%m/%Y %H:%M:%S")
    days, angle = (time - time.iloc[0]).dt.total_seconds() / 86400, time.dt.hour * 2 * np.pi / 24
    X = np.column_stack([table[list(SENSORS)], days, np.sin(angle), np.cos(angle)]).astype(np.float64)
    sensor, truth = (table[name].to_numpy(dtype=np.float64) for name in ("PT08_S1_CO", "CO_GT"))
    early = days.to_numpy() < CALIBRATION_DAYS
    given = np.polyval(np.polyfit(sensor[early], truth[early], 1), sensor)
    error = given - truth
    deviation = 1.4826 * np.median(abs(error[early] - np.median(error[early])))
    return X, given, truth, abs(error) > TOLERANCE * deviation


def _tasks() -> Iterator[Task]:
    real = {"german": german_loan, "adult": adult_income, "digits": digits}
    seeds = {"german": 30, "adult": 30, "digits": TEN_CLASSES}
    yield Task("harry-potter", "paper", harry_potter, seeds=100)
    yield Task("sine", "paper", sine, seeds=100)
    for name, draw in real.items():
        yield Task(name, "paper", draw, ENCODED, seeds[name])
    for name, draw in real.items():
        yield Task(f"{name}-flips", "flips", partial(flipped, draw), ENCODED, seeds[name])
    for m in (2, 5, 10, 20, 40, 100, 200):
        group = "confusion" if m == 40 else "items"
        yield Task(f"optdigits-m{m}", group, partial(confused_digits, m), ENCODED, TEN_CLASSES)
    for d, k, m in product((2, 8), (2, 3, 5), (6, 12, 40)):
        yield Task(f"corner-d{d}-k{k}-m{m}", "corners", partial(corner, d, k, m))
    for name, draw in real.items():
        for m in (3, 5, 10, 20):
            yield Task(f"{name}-m{m}", "items", partial(trusting_few, draw, m), ENCODED, seeds[name])
    for m in (2, 5, 10, 20, 100, 200):
        yield Task(f"potter-m{m}", "items", partial(fair_students, m))
    yield Task("sine-uneven", "regression", uneven_sine)
    yield Task("air-quality", "regression", drifting_sensor, needs=(AIR,))
    for n, kind in product((500, ALL_IMAGES), ("aggre_label", "random_label1", "worse_label")):
        yield Task(
            f"cifar-{kind.removesuffix('1').removesuffix('_label')}-{n}",
            "cifar",
            partial(human_labels, kind, n),
            ENCODED,
            seeds=5 if n == ALL_IMAGES else 20,
            large=n == ALL_IMAGES,
            needs=(IMAGES, HUMAN_LABELS),
        )


TASKS = tuple(_tasks())
BY_NAME = {task.name: task for task in TASKS}
GROUPS = tuple(dict.fromkeys(task.group for task in TASKS))
QUICK = ("harry-potter", "sine", "potter-m2", "potter-m5")
"""The fastest ones, of every kind that a plot shows."""


def selected(names: list[str]) -> list[Task]:
    """Tasks by their names and by those of their groups; all if none is named."""
    return [task for task in TASKS if not names or task.name in names or task.group in names]
