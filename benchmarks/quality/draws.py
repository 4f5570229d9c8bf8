"""Data with known bugs, or without any, drawn from a generator.

Rows and trusted items come from one table; what whoever labels the rows would have called the trusted
items is kept, since it tells whether any item touches the bug.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.quality import sources
from duti.arrays import Array, Ints, Labels
from duti.datasets import LabelledBugs, harry_potter, sine
from duti.datasets.toys import fair, ministry
from duti.experiments.experiment import Draw

FLIPPED = 0.2
CONFUSED = {1: 7, 3: 8, 4: 9, 5: 6}
ALL_IMAGES, TRUSTED_IMAGES = 50_000, 150
POSITIVES = 0.02
"""The share of the rarer class where it is rare."""
SKEWED_ROWS, SKEWED_COLUMNS = 1000, 20


def clean(table: sources.Table, m: int, n: int | None, rng: np.random.Generator) -> LabelledBugs:
    """So many trusted items of a table, and so many other rows (all if None), with their true labels."""
    X, truth = table()
    order = rng.permutation(len(truth))
    return parted(X, truth, order[m:][:n], order[:m])


def parted(X: Array, truth: Labels, rows: Ints, trusted: Ints) -> LabelledBugs:
    """Rows and trusted items of one table, before any label is changed."""
    columns = tuple(f"x{j}" for j in range(X.shape[1]))
    right, items, none = truth[rows], truth[trusted], np.zeros(len(rows), dtype=bool)
    return LabelledBugs(X[rows], right, X[trusted], items, right, none, columns, given_trusted=items)


def relabelled(data: LabelledBugs, y: Labels, given_trusted: Labels | None) -> LabelledBugs:
    return replace(data, y=y, is_bug=y != data.truth, given_trusted=given_trusted)


def touched(data: LabelledBugs) -> int | None:
    """How many trusted items would have got a wrong label; None where that is not known."""
    if data.given_trusted is None or data.truth.dtype.kind == "f":
        return None
    return int((data.given_trusted != data.y_trusted).sum())


# What can be done to any draw.


def remembered(draw: Draw) -> Draw:
    """The same draw, made once for each state of the generator: some train a classifier for their truth."""
    known: dict[str, tuple[LabelledBugs, Any]] = {}

    def draw_once(rng: np.random.Generator) -> LabelledBugs:
        before = str(rng.bit_generator.state)
        if before not in known:
            known[before] = draw(rng), rng.bit_generator.state
        data, rng.bit_generator.state = known[before]
        return data

    return draw_once


def without_bugs(draw: Draw, rng: np.random.Generator) -> LabelledBugs:
    """The same rows with their true labels."""
    data = draw(rng)
    return relabelled(data, data.truth, data.y_trusted)


def flipped(draw: Draw, rng: np.random.Generator, share: float = FLIPPED) -> LabelledBugs:
    """The true labels, a share of them changed at random."""
    data = draw(rng)
    classes, codes = np.unique(data.truth, return_inverse=True)
    bugs = rng.permutation(len(codes))[: round(share * len(codes))]
    codes[bugs] += rng.integers(1, len(classes), len(bugs))
    return relabelled(data, classes[codes % len(classes)], None)


def trusting(data: LabelledBugs, items: Any) -> LabelledBugs:
    """The same rows with some of the trusted items."""
    given = None if data.given_trusted is None else data.given_trusted[items]
    return replace(
        data, X_trusted=data.X_trusted[items], y_trusted=data.y_trusted[items], given_trusted=given
    )


def trusting_few(draw: Draw, m: int, rng: np.random.Generator) -> LabelledBugs:
    """So many of the trusted items, chosen at random."""
    data = draw(rng)
    return trusting(data, rng.permutation(len(data.y_trusted))[:m])


def unseen(draw: Draw, rng: np.random.Generator) -> LabelledBugs:
    """Without the trusted items that lie in the bug."""
    data = draw(rng)
    return trusting(data, data.given_trusted == data.y_trusted)


def untrusted_class(draw: Draw, rng: np.random.Generator) -> LabelledBugs:
    """Without the trusted items of one class, chosen at random."""
    data = draw(rng)
    return trusting(data, data.y_trusted != rng.choice(np.unique(data.truth)))


def rare(draw: Draw, m: int, rng: np.random.Generator) -> LabelledBugs:
    """Without bugs, and with so few of the rarer class that they are 2 % of all, rows and items alike."""
    data = draw(rng)
    X, truth = np.vstack([data.X, data.X_trusted]), np.concatenate([data.truth, data.y_trusted])
    classes, counts = np.unique(truth, return_counts=True)
    rarer = truth == classes[counts.argmin()]
    number = round(POSITIVES / (1 - POSITIVES) * (~rarer).sum())
    kept = np.concatenate([np.flatnonzero(~rarer), rng.permutation(np.flatnonzero(rarer))[:number]])
    order = rng.permutation(kept)
    return parted(X, truth, order[m:], order[:m])


def verified_rows(draw: Draw, m: int, rng: np.random.Generator) -> LabelledBugs:
    """So many rows of the table itself, taken out of it, are the trusted items."""
    data = draw(rng)
    order = rng.permutation(len(data.y))
    items, rows = order[:m], order[m:]
    return replace(
        parted(data.X, data.truth, rows, items),
        y=data.y[rows],
        is_bug=data.is_bug[rows],
        columns=data.columns,
        given_trusted=data.y[items],
    )


# Bugs of one kind each.


def fair_students(m: int, rng: np.random.Generator) -> LabelledBugs:
    """Harry Potter with so many trusted students from anywhere, not two that were chosen well."""
    data, X = harry_potter(rng), rng.uniform(size=(m, 2))
    return replace(data, X_trusted=X, y_trusted=fair(X), given_trusted=ministry(X))


def confused_digits(m: int, rng: np.random.Generator) -> LabelledBugs:
    """500 scanned digits; every other 1, 3, 4 and 5 is taken for a 7, 8, 9 and 6."""
    pixels, truth = sources.scanned_digits()
    order = rng.permutation(len(truth))
    data = parted(pixels, truth, order[:500], order[500 : 500 + m])
    mistaken = np.array([CONFUSED.get(digit, digit) for digit in range(10)])
    y = np.where(rng.random(500) < 0.5, mistaken[data.truth], data.truth)
    return relabelled(data, y, mistaken[data.y_trusted])


def corner(
    d: int, k: int, m: int, rng: np.random.Generator, *, n: int = 200, edge: float = 0.6
) -> LabelledBugs:
    """Rows in the unit cube; all in one corner, which the items may or may not reach, have the label 0."""
    X = rng.uniform(size=(n + m, d))
    truth = (X[:, 0] + X[:, 1] > 1).astype(np.int64) if k == 2 else np.floor(k * X[:, 0]).astype(np.int64)
    given = np.where((X[:, 0] > edge) & (X[:, 1] > edge), 0, truth)
    return relabelled(parted(X, truth, np.arange(n), np.arange(n, n + m)), given[:n], given[n:])


def missed_defects(m: int, rng: np.random.Generator) -> LabelledBugs:
    """Columns as skewed as counts of lines; 2 % positives, of which the smaller half are all missed."""
    n = SKEWED_ROWS + m
    size = rng.normal(size=n)
    X = np.exp(size[:, None] + rng.normal(size=(n, SKEWED_COLUMNS)))
    score = size + np.log(X[:, :3]).sum(axis=1) + rng.normal(size=n)
    truth = (score > np.quantile(score, 1 - POSITIVES)).astype(np.int64)
    large = size > np.median(size[truth == 1])
    given = np.where(large, truth, 0)
    rows, items = np.arange(SKEWED_ROWS), np.arange(SKEWED_ROWS, n)
    return relabelled(parted(X, truth, rows, items), given[rows], given[items])


def human_labels(kind: str, n: int, rng: np.random.Generator) -> LabelledBugs:
    """CIFAR-10N: images labelled by people, and 150 trusted ones; all other images if n is 50 000."""
    X, labels = sources.images()
    order = rng.permutation(len(X))
    rows, items = order[TRUSTED_IMAGES:][:n], order[:TRUSTED_IMAGES]
    return relabelled(parted(X, labels["clean_label"], rows, items), labels[kind][rows], labels[kind][items])


def software_defects(release: str, m: int, rng: np.random.Generator) -> LabelledBugs:
    """Files of a release, called defective by a heuristic; so many of them are trusted."""
    X, given, truth = sources.defects(release)
    order = rng.permutation(len(truth))
    rows, items = order[m:], order[:m]
    return relabelled(parted(X, truth, rows, items), given[rows], given[items])


def news_topics(m: int, rng: np.random.Generator) -> LabelledBugs:
    """Yoruba news titles, a frame with one column of text, whose topics were given by rules."""
    table = sources.news()
    order = rng.permutation(len(table))
    items, rows = (table.iloc[some].reset_index(drop=True) for some in (order[:m], order[m:]))
    given, truth, mistaken, trusted = (
        part[name].to_numpy(dtype=str) for part in (rows, items) for name in ("given", "truth")
    )
    X, X_trusted = rows[["title"]], items[["title"]]
    return LabelledBugs(X, given, X_trusted, trusted, truth, given != truth, ("title",), mistaken)


# Regressions.


def honest_sine(m: int, rng: np.random.Generator) -> LabelledBugs:
    """The sine of the paper as it was before its peak was flipped, with trusted items from anywhere."""
    data, x = sine(rng), rng.uniform(0, 2, m)
    return replace(
        data,
        y=np.where(data.is_bug, -data.y, data.y),
        is_bug=np.zeros(len(data.y), dtype=bool),
        X_trusted=x[:, None],
        y_trusted=np.sin(2 * np.pi * x),
    )


def uneven_sine(rng: np.random.Generator) -> LabelledBugs:
    """The sine with noise whose deviation grows from 0.05 to 0.25."""
    data = sine(rng)
    x, unflipped = data.X[:, 0], np.where(data.is_bug, -data.y, data.y)
    noisy = data.truth + (0.5 + x) * (unflipped - data.truth)
    y = np.where((x > 1) & (x <= 1.8), -abs(noisy), noisy)
    return replace(data, y=y, is_bug=y != noisy)


def drifting_sensor(rng: np.random.Generator) -> LabelledBugs:
    """Air Quality: CO by a cheap sensor, calibrated in the first weeks, against an analyser.

    Other sensors, the weather and the time are the features. A label is a bug where it is off by more than
    three robust standard deviations of the error in those weeks.
    """
    X, given, truth, bug = sources.air()
    order = rng.permutation(len(X))
    rows = order[:1000]
    data = parted(X, truth, rows, order[1000:1030])
    return replace(data, y=given[rows], is_bug=bug[rows], given_trusted=None)
