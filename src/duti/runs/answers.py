"""What people answered about rows, kept with the run: labels, doubts, comments."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from duti.arrays import Labels
from duti.errors import ProblemError
from duti.files import write_json
from duti.problem import listed
from duti.report.text import visible
from duti.runs.answer_files import ANSWER, answered
from duti.runs.folder import Folder
from duti.runs.outputs import plain

APOSTROPHE = "'"
"""What a spreadsheet needs before text that looks like a formula."""
UNSURE = ("?", "unsure")
"""Answers that change nothing, unless they are labels of the table."""


@dataclass(frozen=True)
class Kept:
    """By the place of the row in the file."""

    answers: dict[int, Any] = field(default_factory=dict)
    """The right labels."""
    unsure: frozenset[int] = frozenset()
    """Rows that somebody looked at and could not judge."""
    comments: dict[int, str] = field(default_factory=dict)

    def __or__(self, new: Kept) -> Kept:
        """Both; what is new counts where they differ, but a doubt takes no answer back."""
        answers, comments = self.answers | new.answers, self.comments | new.comments
        return Kept(answers, (self.unsure | new.unsure) - answers.keys(), comments)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "answers": sorted(map(list, self.answers.items())),
            "unsure": sorted(self.unsure),
            "comments": sorted(map(list, self.comments.items())),
        }

    @classmethod
    def of_json(cls, plain: dict[str, Any]) -> Kept:
        """From what `to_json` made."""
        answers, comments = (
            {int(row): value for row, value in plain.get(name, [])} for name in ("answers", "comments")
        )
        return cls(answers, frozenset(map(int, plain.get("unsure", []))), comments)


@dataclass(frozen=True)
class Answers:
    """The answers of a run."""

    folder: Folder

    @property
    def file(self) -> Path:
        """Where they are kept."""
        return self.folder.path / "answers.json"

    @property
    def kept(self) -> Kept:
        """All so far about this very table; those about another one do not count."""
        if not self.file.exists():
            return Kept()
        try:
            read = json.loads(self.file.read_text(encoding="utf-8"))
            about, kept = read["train"], Kept.of_json(read)
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ProblemError(f"{self.file} is damaged ({error!r}); import the answers again.") from None
        return kept if about == self._train else Kept()

    @property
    def known(self) -> dict[int, Any]:
        """The labels."""
        return self.kept.answers

    @property
    def _train(self) -> str:
        return str(self.folder.record["checksums"]["train"])

    def take(self, path: Path) -> Kept:
        """Read answers from a file in any of the export formats, and keep them with those before."""
        found = self._read(path)
        if not (found.answers or found.unsure or found.comments):
            raise ProblemError(f"{path.name} has no answers; fill in {ANSWER}, the right label of a row.")
        write_json({"train": self._train} | (self.kept | found).to_json(), self.file)
        return found

    def _read(self, path: Path) -> Kept:
        inputs, labels, unsure, comments = self.folder.inputs, dict[int, Any](), set[int](), dict[int, str]()
        rows = _Rows(inputs.ids)
        label_of = _value if inputs.problem.classes is None else _Classes(inputs.problem.classes).label
        for one in answered(path):
            if _is_blank(one.answer) and not one.comment.strip():
                continue
            place = rows.place(one.row)
            if place is None:
                raise ProblemError(f"{one.where}: there is no row {one.row!r} in {inputs.rows.path.name}.")
            if one.comment.strip():
                comments[place] = one.comment
            label = None if _is_blank(one.answer) else label_of(one.answer, one.where)
            if label is None:
                unsure |= set() if _is_blank(one.answer) else {place}
                continue
            if labels.get(place, label) != label:
                both = f"{labels[place]!r} and {label!r}"
                raise ProblemError(f"{one.where}: row {one.row!r} has two answers, {both}; keep one.")
            labels[place] = label
        return Kept(labels, frozenset(unsure) - labels.keys(), comments)


def _is_blank(answer: Any) -> bool:
    return answer is None or (isinstance(answer, str) and not answer.strip()) or answer != answer


def _is_unsure(answer: Any) -> bool:
    return str(answer).strip().casefold() in UNSURE


class _Rows:
    """Where rows are, by what they are called; programs in between may have changed how that is written."""

    def __init__(self, ids: Labels) -> None:
        names = [str(plain(name)) for name in ids]
        self.exact = {name: place for place, name in enumerate(names)}
        numbers = Counter(number for name in names if (number := _number(name)) is not None)
        self.numbers = {
            number: place
            for place, name in enumerate(names)
            if (number := _number(name)) is not None and numbers[number] == 1
        }

    def place(self, row: Any) -> int | None:
        name = str(row)
        for written in (name, name.strip(), name.strip().removeprefix(APOSTROPHE)):
            if written in self.exact:
                return self.exact[written]
        number = _number(name)
        return None if number is None else self.numbers.get(number)


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def _value(answer: Any, where: str) -> float | None:
    """The number that is meant; None if somebody was unsure."""
    number = _number(str(answer))
    if number is None and _is_unsure(answer):
        return None
    if number is None or not math.isfinite(number):
        raise ProblemError(f"{where}: the answer {answer!r} is not a number; labels are numbers.")
    return number


class _Classes:
    """Answers as labels, however they are written."""

    def __init__(self, classes: Labels) -> None:
        self.labels = classes.tolist()
        # A file for Label Studio shows what cannot be seen.
        self.exact = {visible(str(label)): label for label in self.labels}
        self.exact |= {str(label): label for label in self.labels}

    def label(self, answer: Any, where: str) -> Any:
        """The label that is meant; None if somebody was unsure."""
        text = str(answer)
        for written in (text, text.strip(), text.strip().removeprefix(APOSTROPHE)):
            if written in self.exact:
                return self.exact[written]
        folded = [label for label in self.labels if str(label).casefold() == text.strip().casefold()]
        same = [label for label in self.labels if _number(str(label)) == _number(text) is not None]
        for meant in (folded, same):
            if len(meant) == 1:
                return meant[0]
        if _is_unsure(answer):
            return None
        shown = listed(self.labels)
        raise ProblemError(f"{where}: the answer {answer!r} is not among the labels {shown}.")


def accepted(folder: Folder) -> dict[int, Any]:
    """Answers that differ from the labels in the file, by the place of their row."""
    inputs, answers = folder.inputs, Answers(folder).known
    given = dict(
        zip(inputs.labelled.tolist(), np.asarray(folder.findings.given_labels).tolist(), strict=True)
    )
    return {row: label for row, label in answers.items() if given.get(row) != label}
