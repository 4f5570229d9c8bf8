"""The flagged rows: what they are, what their labels should be, and which trusted items say so."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from duti.arrays import Labels
from duti.report.case import Case
from duti.report.marks import Marks
from duti.report.svg import bar
from duti.report.text import cell, percent, probability, shortened
from duti.report.thumbnails import thumbnail

EMBEDDED = 200
"""Rows on the page; more are in the table of findings."""
BESIDE, BESIDE_LONG = 6, 3
"""Columns next to a row, and next to a row that has a text or an image; the others open on demand."""
NARROW = 3
"""So many columns go with half of the page."""
EXCERPT, LONGEST = 150, 2000
"""Characters of a text that are seen, and that open on demand."""


@dataclass(frozen=True)
class Pull:
    """One trusted item that asks for a change, or asks not to make it."""

    item: int
    name: str
    label: str
    key: Markup
    share: str
    bar: Markup


@dataclass(frozen=True)
class Flag:
    """One row to look at."""

    row: int
    rank: int
    name: str
    given: str
    candidate: str
    applied: bool
    """Whether the corrected labels have the candidate in place of the given label."""
    given_key: Markup
    candidate_key: Markup
    change: int
    """The position of its change among all changes."""
    doubt: float
    doubt_shown: str
    doubt_bar: Markup
    pulls: tuple[Pull, ...]
    cells: tuple[str, ...]
    rest: tuple[tuple[str, str], ...]
    excerpt: str
    text: str
    image: str | None


@dataclass(frozen=True)
class FlaggedTable:
    """The rows on the page, and what their table is called."""

    flags: tuple[Flag, ...]
    columns: tuple[str, ...]
    changes: tuple[str, ...]
    """The kinds of change, the most frequent first."""
    doubt: str
    """What the number for each row is called."""
    total: int
    wide: bool
    """Whether there is too much in a row for half of the page."""


def flagged_table(case: Case, marks: Marks, names: tuple[str, ...]) -> FlaggedTable:
    """The first rows in rank order; `names` are those of the trusted items."""
    rows = case.reasons.rows[:EMBEDDED]
    labels = case.findings.given_labels, case.findings.candidate_labels
    given, candidates = (_shown(some[rows]) for some in labels)
    kinds, applied = _kinds(case, given, candidates), np.isin(rows, case.fixed)
    changes = [kind for kind, _ in Counter(kinds).most_common()]
    beside, rest = _columns(case)
    records = case.rows.take(rows).to_pylist()
    trusted = _shown(case.problem.decode(case.problem.y_trusted))
    trusted_keys = marks.keys(case.problem.decode(case.problem.y_trusted))
    keys = [marks.keys(some[rows]) for some in labels]
    flags = []
    for i, (row, record) in enumerate(zip(rows.tolist(), records, strict=True)):
        doubt = 1 - float(case.findings.label_quality[row])
        long = "" if case.text is None else cell(record[case.text], LONGEST)
        flags.append(
            Flag(
                row=row,
                rank=i + 1,
                name=cell(case.findings.row_ids[row]),
                given=given[i],
                candidate=candidates[i],
                applied=bool(applied[i]),
                given_key=keys[0][i],
                candidate_key=keys[1][i],
                change=changes.index(kinds[i]),
                doubt=doubt,
                doubt_shown=probability(doubt) if case.automatic else f"{doubt:.3f}",
                doubt_bar=bar(doubt, "doubt"),
                pulls=_pulls(case.reasons.named(i), names, trusted, trusted_keys),
                cells=tuple(cell(record[column]) for column in beside),
                rest=tuple((column, cell(record[column], 500)) for column in rest),
                excerpt=shortened(long, EXCERPT),
                text=long if len(long) > EXCERPT else "",
                image=None if case.image is None else thumbnail(record[case.image], case.image_folder),
            )
        )
    doubt_name = "P(wrong)" if case.automatic else "score"
    wide = case.text is not None or case.image is not None or len(beside) > NARROW
    return FlaggedTable(tuple(flags), beside, tuple(changes), doubt_name, len(case.findings.flagged), wide)


def _shown(labels: Labels) -> list[str]:
    return [cell(label, 40) for label in labels.tolist()]


def _kinds(case: Case, given: list[str], candidates: list[str]) -> list[str]:
    """given → candidate; in regression whether the candidate is higher or lower."""
    if case.problem.task == "classification":
        return [f"{old} → {new}" for old, new in zip(given, candidates, strict=True)]
    rows = case.reasons.rows[: len(given)]
    higher = case.findings.candidate_labels[rows] > case.findings.given_labels[rows]
    return ["candidate higher" if more else "candidate lower" for more in higher.tolist()]


def _columns(case: Case) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns next to a row, the groups first, and those that open on demand."""
    apart = {case.label, case.text, case.image}
    names = [name for name in dict.fromkeys(case.rows.column_names) if name not in apart]
    ordered = sorted(names, key=lambda name: name not in case.groups)
    most = BESIDE if case.text is None and case.image is None else BESIDE_LONG
    return tuple(ordered[:most]), tuple(ordered[most:])


def _pulls(
    named: list[tuple[int, float]], names: tuple[str, ...], labels: list[str], keys: list[Markup]
) -> tuple[Pull, ...]:
    """The items that are named, with their share of all that is pulled in either direction."""
    told = []
    for item, share in named:
        kind = "pull" if share >= 0 else "against"
        shown = percent(share) if share >= 0 else f"{percent(-share)} against"
        told.append(Pull(item, names[item], labels[item], keys[item], shown, bar(abs(share), kind)))
    return tuple(told)
