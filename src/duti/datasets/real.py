"""The paper's real data: decisions on people of two groups, one of them treated worse than the other.

People are drawn into three disjoint sets. A classifier f* is trained on set C, in which all are of the
favoured group, with the labels in the file. It is the truth: the trusted items (A) get its labels, and
a row of the training set (B), which keeps the label in the file, is a bug where f* disagrees.

f* is of the same kind as the paper's learner, kernel logistic regression, with its hyperparameters
chosen by 10-fold cross-validation on C. Columns of numbers are standardised with the mean and
deviation of everyone in the file; each value of another column becomes a column of zeros and ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import Any

import numpy as np

from duti.arrays import Array, Ints, Labels, Mask
from duti.datasets.toys import LabelledBugs
from duti.learners import KernelLogistic
from duti.learners.model import train
from duti.tune import tune

YOUNG = 25
"""The last age at which applicants for a loan count as young."""
SPOUSES = "relationship=Husband", "relationship=Wife"


def german_loan(rng: np.random.Generator) -> LabelledBugs:
    """Applicants for a loan, who are good or bad risks; those of up to 25 years are declined more often.

    Trusted are 20 young and 20 older applicants, the training set has 170 and 170, and f* is trained
    on the other 620 older ones. Their age is removed. About 95 labels are bugs; the paper has 96.

    >>> data = german_loan(np.random.default_rng(0))
    >>> data.X.shape, data.X_trusted.shape
    ((340, 60), (40, 60))
    >>> 80 < int(data.is_bug.sum()) < 112, sorted(set(data.y.tolist()))
    (True, ['bad', 'good'])
    """
    table = _read("german_credit.csv.gz")
    labels = np.where(table.pop("class") == 1, "good", "bad")
    split = Split.draw(table.pop("age") > YOUNG, trusted=20, training=170, reference=620, rng=rng)
    return _with_bugs(table, labels, split, rng)


def adult_income(rng: np.random.Generator) -> LabelledBugs:
    """People of the US census of 1994, who earn more than $50,000 a year or do not.

    Trusted are 20 men and 20 women, the training set has 500 and 500, and f* is trained on 2000 other
    men. Sex is removed, and so are the columns for the values "Husband" and "Wife" of the relationship.
    About 133 labels are bugs. The paper has 218, which no reading of its text gave with a tuned f*; one
    that always says "<=50K" would give about 217.
    """
    table = _read("adult.parquet")
    labels = table.pop("income")
    del table["split"]  # the file that a row came from
    split = Split.draw(table.pop("sex") == "Male", trusted=20, training=500, reference=2000, rng=rng)
    return _with_bugs(table, labels, split, rng, removed=SPOUSES)


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of three disjoint sets; in the first two, the favoured group comes last."""

    trusted: Ints
    training: Ints
    reference: Ints

    @classmethod
    def draw(
        cls, favoured: Mask, *, trusted: int, training: int, reference: int, rng: np.random.Generator
    ) -> Split:
        """So many rows of each group, and the reference from the favoured group alone.

        >>> favoured = np.arange(9) > 2
        >>> Split.draw(favoured, trusted=1, training=2, reference=3, rng=np.random.default_rng(0))
        Split(trusted=array([2, 8]), training=array([0, 1, 6, 5]), reference=array([7, 4, 3]))
        """
        groups = [rng.permutation(np.flatnonzero(group)) for group in (~favoured, favoured)]
        used = trusted + training
        return cls(
            np.concatenate([rows[:trusted] for rows in groups]),
            np.concatenate([rows[trusted:used] for rows in groups]),
            groups[1][used : used + reference],
        )


def _with_bugs(
    table: dict[str, Labels],
    labels: Labels,
    split: Split,
    rng: np.random.Generator,
    removed: Collection[str] = (),
) -> LabelledBugs:
    """Steps 2-4 of the paper: train f* on C, relabel A, and compare B with f*."""
    parts = split.trusted, split.training, split.reference
    rows = np.concatenate(parts)
    encoded = {name: column for name, column in _encoded(table, rows) if name not in removed}
    A, B, C = np.split(np.column_stack(list(encoded.values())), np.cumsum([len(part) for part in parts[:2]]))
    classes, codes = np.unique(labels[split.reference], return_inverse=True)
    # Zeros and ones stay as they are: standardising them would make rare values the most important.
    learner = tune(KernelLogistic(standardize=False), C, codes, len(classes), rng).best
    f_star = train(learner, C, codes, len(classes), rng)
    trusted, truth = (classes[f_star.scores(X).argmax(axis=1)] for X in (A, B))
    given = labels[split.training]
    return LabelledBugs(
        B, given, A, trusted, truth, given != truth, tuple(encoded), given_trusted=labels[split.trusted]
    )


def _encoded(table: dict[str, Labels], rows: Ints) -> Iterator[tuple[str, Array]]:
    """Names and columns of numbers of some rows; which columns there are does not depend on the rows."""
    for name, column in table.items():
        drawn = column[rows]
        if column.dtype.kind in "if":
            yield name, (drawn - column.mean()) / column.std()
        else:
            for value in np.unique(column):
                yield f"{name}={value}", (drawn == value).astype(np.float64)


def _read(name: str) -> dict[str, Labels]:
    """The columns of a data file: arrays of numbers or of text."""
    from pyarrow import csv, parquet

    read: Any = parquet.read_table if name.endswith(".parquet") else csv.read_csv
    with as_file(files("duti.datasets") / "files" / name) as path:
        table = read(path)
    return {column: _plain(table[column].to_numpy()) for column in table.column_names}


def _plain(values: Labels) -> Labels:
    """Text as an array of text rather than of objects."""
    return values.astype(str) if values.dtype.kind == "O" else values
