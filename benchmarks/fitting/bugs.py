"""Bugs that are planted in tables: each takes a draw without any, and changes its labels."""

from __future__ import annotations

import numpy as np

from benchmarks.quality.draws import relabelled
from duti.arrays import Array, Ints, Labels, Mask
from duti.datasets import LabelledBugs
from duti.experiments.experiment import Draw

ATTEMPTS = 50
"""So many regions or groups are tried until one has about the right size."""


def region(draw: Draw, rng: np.random.Generator, share: float = 0.17) -> LabelledBugs:
    """A corner of two columns has one label, such that about this share of all labels is wrong."""
    data = draw(rng)
    X, truth = everything(data)
    ranks = np.argsort(np.argsort(X, axis=0), axis=0) / len(X)
    columns = [j for j in range(X.shape[1]) if len(np.unique(X[:, j])) > 3] or list(range(X.shape[1]))
    found = truth
    for _ in range(ATTEMPTS):
        some = rng.choice(columns, 2, replace=len(columns) < 2)
        mirrored = np.where(rng.choice([True, False], 2), ranks[:, some], 1 - ranks[:, some])
        inside = (mirrored > 1 - np.sqrt(1.7 * share)).all(axis=1)
        classes = np.unique(truth)
        wrong = np.array([(inside & (truth != label)).mean() for label in classes])
        best = int(abs(wrong - share).argmin())
        found = np.where(inside, classes[best], truth)
        if share / 2 < wrong[best] < 1.6 * share:
            break
    return given(data, found)


def standard(draw: Draw, rng: np.random.Generator) -> LabelledBugs:
    """Half of the rows, by one column, are judged otherwise: the less certain of one class lose it."""
    from sklearn.ensemble import RandomForestClassifier

    data = draw(rng)
    X, truth = everything(data)
    forest = RandomForestClassifier(random_state=0, min_samples_leaf=3).fit(X, truth)
    certain = forest.predict_proba(X)[np.arange(len(truth)), truth]
    group, judged = np.zeros(len(truth), dtype=bool), 0
    for _ in range(ATTEMPTS):
        column = X[:, rng.integers(X.shape[1])]
        above = (np.argsort(np.argsort(column + 1e-9 * rng.normal(size=len(X)))) / len(X)) > rng.uniform(
            0.35, 0.65
        )
        judged = int(rng.integers(2))
        group = (above if rng.random() < 0.5 else ~above) & (truth == judged)
        if group.mean() > 0.12:
            break
    least = np.quantile(certain[group], rng.uniform(0.4, 0.9))
    return given(data, np.where(group & (certain <= least), 1 - judged, truth))


def confused(draw: Draw, rng: np.random.Generator, rate: float = 0.5) -> LabelledBugs:
    """Half of the labels of some classes become those of others; trusted items show the rule itself."""
    data = draw(rng)
    truth = everything(data)[1]
    classes = rng.permutation(np.unique(truth))
    number = max(1, 2 * len(classes) // 5) if len(classes) > 3 else 1
    mistaken = dict(zip(classes[:number].tolist(), classes[number : 2 * number].tolist(), strict=True))
    taken = np.array([mistaken.get(label, label) for label in truth.tolist()])
    is_row = np.arange(len(truth)) < len(data.truth)
    return given(data, np.where(is_row & (rng.random(len(truth)) >= rate), truth, taken))


def poor_eyesight(draw: Draw, rng: np.random.Generator) -> LabelledBugs:
    """All labels are those of a support vector machine that sees a third of the columns of 200 rows."""
    from sklearn.svm import SVC

    data = draw(rng)
    X, truth = everything(data)
    seen = rng.permutation(X.shape[1])[: max(1, X.shape[1] // 3)]
    Z = scaled(X[:, seen])
    some = rng.permutation(len(truth))[:200]
    return given(data, SVC().fit(Z[some], truth[some]).predict(Z))


def heuristic(draw: Draw, rng: np.random.Generator) -> LabelledBugs:
    """A rule of thumb, a tree of two levels that saw half of the columns of 60 rows; a third is put right."""
    from sklearn.tree import DecisionTreeClassifier

    data = draw(rng)
    X, truth = everything(data)
    some, seen = rng.permutation(len(truth))[:60], rng.permutation(X.shape[1])[: max(2, X.shape[1] // 2)]
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[np.ix_(some, seen)], truth[some])
    return given(data, np.where(rng.random(len(truth)) < 0.35, truth, tree.predict(X[:, seen])))


def human(draw: Draw, rng: np.random.Generator, rate: float = 0.2) -> LabelledBugs:
    """People err where classes are alike: labels become those of neighbours."""
    from sklearn.neighbors import NearestNeighbors

    data = draw(rng)
    X, truth = everything(data)
    classes, Z = np.unique(truth), scaled(X)
    near = (
        NearestNeighbors(n_neighbors=min(16, len(Z) - 1)).fit(Z).kneighbors(Z, return_distance=False)[:, 1:]
    )
    unlike = 0.05 + (truth[near] != truth[:, None]).mean(axis=1)
    found = truth.copy()
    for row in np.flatnonzero(rng.random(len(truth)) < rate * unlike / unlike.mean()).tolist():
        others = truth[near[row]]
        others = others[others != truth[row]]
        found[row] = rng.choice(others if len(others) else classes[classes != truth[row]])
    return given(data, found)


def missed(draw: Draw, rng: np.random.Generator) -> LabelledBugs:
    """Half of the positives, by one column, are all missed."""
    data = draw(rng)
    X, truth = everything(data)
    column = X[:, rng.integers(X.shape[1])]
    return given(data, np.where((truth == 1) & (column <= np.median(column[truth == 1])), 0, truth))


def everything(data: LabelledBugs) -> tuple[Array, Ints]:
    """Rows and trusted items of one table, with the labels that they should have."""
    return np.vstack([data.X, data.X_trusted]), np.concatenate([data.truth, data.y_trusted])


def given(data: LabelledBugs, labels: Labels) -> LabelledBugs:
    """The same rows with these labels, which are those of the trusted items, too."""
    n = len(data.truth)
    return relabelled(data, labels[:n], labels[n:])


def scaled(X: Array) -> Array:
    """Columns with the deviation 1."""
    return np.asarray((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), np.finfo(float).tiny))


def some(mask: Mask) -> bool:
    """Whether anything is wrong."""
    return bool(mask.any())
