"""The trusted items: what the learner makes of them before and after the fixes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from duti.arrays import Array, Ints, Mask
from duti.report.case import Case
from duti.report.marks import Marks
from duti.report.summary import agreements, errors
from duti.report.svg import element
from duti.report.text import cell, counted, number, probability

SHOWN = 100
"""Trusted items on the page, those that change or disagree first."""
BESIDE = 4
"""Columns next to an item."""


@dataclass(frozen=True)
class Said:
    """What a learner says of an item."""

    label: str
    key: Markup
    value: str
    """The probability of the trusted label, or the error."""
    agrees: bool | None


@dataclass(frozen=True)
class Item:
    """A trusted item."""

    item: int
    name: str
    label: str
    key: Markup
    before: Said
    after: Said
    change: Markup
    cells: tuple[str, ...]


@dataclass(frozen=True)
class TrustedTable:
    """The items on the page."""

    items: tuple[Item, ...]
    columns: tuple[str, ...]
    total: int
    summary: str


def item_names(case: Case) -> tuple[str, ...]:
    """What the trusted items are called; a number alone would say nothing."""
    names = case.problem.item_names
    return tuple(f"item {name}" if name.isdigit() else cell(name) for name in names)


def trusted_table(case: Case, marks: Marks, names: tuple[str, ...]) -> TrustedTable:
    """The items, those that tell something first."""
    order = _order(case)[:SHOWN]
    records, columns = _records(case)
    truth = case.problem.decode(case.problem.y_trusted)
    keys = marks.keys(truth)
    before, after = (
        _said(case, marks, told) for told in (case.reasons.trusted_before, case.reasons.trusted_after)
    )
    changes = _changes(case)
    items = tuple(
        Item(
            item=i,
            name=names[i],
            label=cell(truth.tolist()[i], 40),
            key=keys[i],
            before=before[i],
            after=after[i],
            change=changes[i],
            cells=tuple(cell(records[i].get(column)) for column in columns),
        )
        for i in order.tolist()
    )
    return TrustedTable(items, columns, case.problem.m, _summary(case))


def _summary(case: Case) -> str:
    m = case.problem.m
    if case.problem.task == "regression":
        low, high = (number(error) for error in errors(case))
        return f"Mean error on {counted(m, 'trusted item')}: {low} before, {high} after."
    before, after = agreements(case)
    return f"The learner agrees with {before} of {counted(m, 'trusted item')} before and with {after} after."


def _order(case: Case) -> Ints:
    """Items that a learner gets wrong before or after come first; in regression by their error."""
    truth, why = case.problem.y_trusted, case.reasons
    if case.problem.task == "regression":
        return np.argsort(-abs(why.trusted_before - truth), kind="stable")
    right: Mask = (why.trusted_before.argmax(axis=1) == truth) & (why.trusted_after.argmax(axis=1) == truth)
    return np.argsort(right, kind="stable")


def _said(case: Case, marks: Marks, told: Array) -> list[Said]:
    truth = case.problem.y_trusted
    if case.problem.task == "regression":
        shown = [
            (number(value), number(abs(value - right))) for value, right in zip(told, truth, strict=True)
        ]
        return [Said(value, Markup(""), error, None) for value, error in shown]
    best = told.argmax(axis=1)
    labels = case.problem.decode(best)
    shares = told[np.arange(len(truth)), truth]
    columns = labels.tolist(), marks.keys(labels), shares.tolist(), (best == truth).tolist()
    return [
        Said(cell(label, 40), key, probability(share), agrees)
        for label, key, share, agrees in zip(*columns, strict=True)
    ]


def _changes(case: Case) -> list[Markup]:
    """From the hollow dot to the full one: the probability of the trusted label, or the error."""
    truth, why = case.problem.y_trusted, case.reasons
    told = why.trusted_before, why.trusted_after
    if case.problem.task == "regression":
        before, after = (abs(values - truth) for values in told)
        top = max(float(before.max()), float(after.max())) or 1.0
        before, after = before / top, after / top
    else:
        before, after = (shares[np.arange(len(truth)), truth] for shares in told)
    return [_change(float(a), float(b)) for a, b in zip(before, after, strict=True)]


def _change(before: float, after: float) -> Markup:
    old, new = 6 + 88 * before, 6 + 88 * after
    return element(
        "svg",
        element("path", d="M6 7h88", class_="track"),
        element("path", d=f"M{old:.1f} 7H{new:.1f}", class_="move"),
        element("circle", cx=old, cy=7, r=3.5, class_="old"),
        element("circle", cx=new, cy=7, r=4, class_="new"),
        viewBox="0 0 100 14",
        class_="change",
        aria_hidden="true",
    )


def _records(case: Case) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The cells of all items, and the columns that are shown: groups first, no images."""
    records = case.trusted.to_pylist()
    rows = _verified_rows(case)
    if rows is None:
        records += [{}] * (case.problem.m - len(records))
    else:
        records += case.rows.take(rows).to_pylist()
    source = case.trusted if case.trusted.num_columns else case.rows
    names = [name for name in dict.fromkeys(source.column_names) if name not in (case.label, case.image)]
    first = (*case.groups, case.text)
    return records, tuple(sorted(names, key=lambda name: name not in first)[:BESIDE])


def _verified_rows(case: Case) -> Ints | None:
    """The rows that are verified, if the last trusted items are these rows in their order."""
    rows, problem = np.flatnonzero(case.problem.frozen), case.problem
    theirs, ours = problem.X_trusted[case.trusted.num_rows :], problem.X[rows]
    if theirs.shape != ours.shape:
        return None
    different = theirs != ours
    same = not different.any() if isinstance(different, np.ndarray) else different.nnz == 0
    return rows if same else None
