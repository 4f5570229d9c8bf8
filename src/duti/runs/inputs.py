"""The tables of a run → the problem to be debugged; whatever is wrong is named by file and line."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from duti.arrays import Ints, Labels
from duti.detector import refuse_for_paper, refuse_systematic
from duti.encode import Layout, vector
from duti.errors import ProblemError
from duti.files import Sheet, read
from duti.problem import Problem, Task, listed, task_of
from duti.randomness import generator
from duti.runs.naming import Files
from duti.runs.predictions import read_predictions, typed_classes
from duti.runs.settings import Settings

MARKS = {"yes": True, "no": False, "true": True, "false": False, "1": True, "0": False, "x": True}
"""How people write that a row is trusted, or not."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """The files of a run as read, and the problem they pose."""

    settings: Settings
    rows: Sheet
    trusted: Sheet | None
    labelled: Ints
    """The rows that have a label: those of the problem."""
    items: Ints
    """The rows of the trusted file that are not empty."""
    answers: Mapping[int, Any]
    """Labels that were verified since, by the place of their row in the file."""
    predictions: Mapping[str, Sheet]
    """Files of predictions, by the setting that names them."""
    problem: Problem
    notes: tuple[str, ...]

    @property
    def sheets(self) -> dict[str, Sheet]:
        """The files by what they are for."""
        found = {"train": self.rows, "trusted": self.trusted, **self.predictions}
        return {role: sheet for role, sheet in found.items() if sheet is not None}

    @cached_property
    def ids(self) -> Labels:
        """What the rows of the file are called: by the id column, else they are counted from 1."""
        return _ids(self.settings, self.rows)


def _ids(settings: Settings, rows: Sheet) -> Labels:
    if settings.id is None:
        return np.arange(1, rows.table.num_rows + 1)
    return np.asarray(rows.table[settings.id].to_pylist(), dtype=object)


def load(settings: Settings, answers: Mapping[int, Any] | None = None) -> Inputs:
    """Read the files; `answers` are labels of rows, by their place in the file, that were verified since."""
    rows = read(settings.train)
    trusted = None if settings.trusted is None else read(settings.trusted)
    _require_columns(settings, rows, trusted)
    _require_unique_ids(settings, rows)
    values = _plain(rows.table[settings.label])
    labelled = np.flatnonzero(~np.asarray(values.is_null()))
    if len(labelled) == 0:
        raise ProblemError(
            f"{rows.path.name}: no row has a label in column {settings.label!r}; fill some in."
        )
    answers, items = answers or {}, _items(trusted)
    with_label = len(labelled)
    labelled = _sampled(settings, rows, labelled, answers)
    predictions = {
        role: read_predictions(path)
        for role in ("pred_probs", "pred_probs_trusted")
        if (path := getattr(settings, role)) is not None
    }
    files = Files(settings, rows, trusted, labelled, items, predictions)
    with files.translated():
        _check_recipe(settings)
        labels = _Labels.of(settings, rows, values, labelled)
        verified, read_as = labels.marked(answers)
        problem = _posed(files, labels, verified, at_random=settings.verified_at_random and not answers)
        # before anything is written or taken away
        problem.budget(settings.budget)
        refuse_systematic(settings.systematic, problem.task)
    problem.notes = tuple(map(files.translate, problem.notes))
    return Inputs(
        settings=settings,
        rows=rows,
        trusted=trusted,
        labelled=labelled,
        items=items,
        answers=answers,
        predictions=predictions,
        problem=problem,
        notes=(
            *_notes(rows, trusted, values, items),
            *read_as,
            *_note_on_answers(settings, answers),
            *_note_on_sample(len(labelled), with_label),
        ),
    )


def _sampled(settings: Settings, rows: Sheet, labelled: Ints, answers: Mapping[int, Any]) -> Ints:
    """Some of the rows, and all that are trusted themselves."""
    if settings.sample is None or settings.sample >= len(labelled):
        return labelled
    if settings.sample < 2:
        raise ProblemError(f"--sample is {settings.sample}; give a number of rows from 2 on.")
    drawn = generator(settings.seed).choice(labelled, settings.sample, replace=False)
    trusted = [*answers]
    if settings.trusted_column is not None:
        trusted += np.flatnonzero(np.asarray(rows.table[settings.trusted_column].is_valid())).tolist()
    return np.intersect1d(labelled, np.union1d(drawn, np.asarray(trusted, dtype=np.int64)))


def _note_on_sample(number: int, of: int) -> Iterator[str]:
    if number < of:
        yield f"{number:,} of {of:,} rows are debugged (--sample); the others are left as they are."


def _items(trusted: Sheet | None) -> Ints:
    """The rows of the trusted file that are not empty altogether, as spreadsheets leave some."""
    if trusted is None:
        return np.empty(0, dtype=np.int64)
    filled = np.zeros(trusted.table.num_rows, dtype=bool)
    for column in trusted.table.columns:
        filled |= np.asarray(column.is_valid())
    return np.flatnonzero(filled)


def _notes(rows: Sheet, trusted: Sheet | None, values: Any, items: Ints) -> Iterator[str]:
    """What was noticed while reading, and rows that are left out."""
    for sheet in (rows, trusted):
        if sheet is not None:
            yield from (f"{sheet.path.name}: {note}" for note in sheet.notes)
    missing = np.flatnonzero(np.asarray(values.is_null()))
    if len(missing):
        places = listed([rows.place(int(row)) for row in missing[:5]], of=len(missing))
        yield f"Rows without a label are left as they are ({len(missing)}): {places}."
    if trusted is not None and len(items) < trusted.table.num_rows:
        yield f"{trusted.path.name}: empty rows are left out ({trusted.table.num_rows - len(items)})."


def _note_on_answers(settings: Settings, answers: Mapping[int, Any]) -> Iterator[str]:
    if settings.verified_at_random and answers:
        yield (
            "Rows that were flagged and then checked are not drawn at random: with their answers, "
            "--verified-at-random no longer holds."
        )


def _check_recipe(settings: Settings) -> None:
    own = ("pred_probs", "pred_probs_trusted", "systematic")
    refuse_for_paper(
        settings.recipe, classes=settings.classes or None, **{name: getattr(settings, name) for name in own}
    )


def _posed(files: Files, labels: _Labels, verified: dict[int, Any], *, at_random: bool) -> Problem:
    settings, rows, trusted, items = files.settings, files.rows, files.trusted, files.items
    if trusted is None and not verified:
        raise ProblemError(
            f"{rows.path.name}: no row with a label is trusted by column {settings.trusted_column!r}; "
            "mark some with yes, or fill in their right labels."
        )
    ids = _ids(settings, rows)
    features = _features(settings, rows)
    is_alone = not features.num_columns and settings.pred_probs is not None  # predictions are all there is
    return Problem(
        None if is_alone else features.take(labels.labelled),
        labels.given,
        None if trusted is None or is_alone else _features(settings, trusted).take(items),
        None if trusted is None else labels.trusted(trusted, items),
        confidence=_confidence(settings, trusted, items, len(verified)),
        verified={ids[row]: label for row, label in verified.items()},
        verified_at_random=at_random,
        task=labels.task,
        classes=typed_classes(settings.classes, labels.given),
        pred_probs=files.predicted("pred_probs"),
        pred_probs_trusted=files.predicted("pred_probs_trusted"),
        ids=ids[labels.labelled],
        item_ids=None if trusted is None else [f"trusted row {row + 1}" for row in items.tolist()],
        layout=Layout(
            keep=settings.keep, text=settings.text, image=settings.image, image_folder=settings.image_folder
        ),
    )


@dataclass(frozen=True, eq=False)
class _Labels:
    """The labels of the rows, and what they are compared with."""

    settings: Settings
    rows: Sheet
    labelled: Ints
    given: Labels
    text: bool
    """Whether labels are text: then those of trusted rows are read as text too."""
    task: Task

    @classmethod
    def of(cls, settings: Settings, rows: Sheet, values: Any, labelled: Ints) -> _Labels:
        given = vector(values.take(labelled), f"{rows.path.name} column {settings.label!r}")[0]
        return cls(
            settings, rows, labelled, given, pa.types.is_string(values.type), task_of(given, settings.task)
        )

    def trusted(self, sheet: Sheet, items: Ints) -> Labels:
        """The labels of the trusted rows, all of them known."""
        return self._known(sheet, sheet.table[self.settings.label], items)

    def marked(self, answers: Mapping[int, Any]) -> tuple[dict[int, Any], tuple[str, ...]]:
        """Labels of rows that are trusted themselves, by their place in the file; and how they were read."""
        found = dict(zip(self.labelled.tolist(), self.given.tolist(), strict=True))
        right: dict[int, Any] = {}
        read_as = list[str]()
        if self.settings.trusted_column is not None:
            column, name = _plain(self.rows.table[self.settings.trusted_column]), self.settings.trusted_column
            marks = _marks(column, set(self.given.tolist()), f"{self.rows.path.name} column {name!r}")
            if marks is not None:
                right = {row: found[row] for row in np.flatnonzero(marks).tolist() if row in found}
                read_as.append(f"Column {name!r} marks trusted rows: {len(right)}.")
            else:
                some = np.flatnonzero(~np.asarray(column.is_null()))
                right = dict(zip(some.tolist(), self._known(self.rows, column, some).tolist(), strict=True))
                self._require_some_label(right.values())
                read_as.append(f"Column {name!r} holds the right labels of rows: {len(right)}.")
        known = {row: label for row, label in sorted((right | dict(answers)).items()) if row in found}
        return known, tuple(read_as)

    def _require_some_label(self, right: Collection[Any]) -> None:
        """Marks in other words than ours are no labels that nobody gave."""
        known = {*self.given.tolist(), *(typed_classes(self.settings.classes, self.given) or ())}
        if self.task == "classification" and right and known.isdisjoint(right):
            shown = listed([repr(value) for value in sorted(set(right), key=str)])
            raise ProblemError(
                f"{self.rows.path.name} column {self.settings.trusted_column!r} holds {shown}, neither marks "
                f"({', '.join(MARKS)}) nor labels of column {self.settings.label!r}; use one of these, "
                "or name all labels with --classes."
            )

    def _known(self, sheet: Sheet, column: Any, some: Ints) -> Labels:
        values = _plain(column)
        if self.text and not pa.types.is_string(values.type):
            try:
                values = pc.cast(values, pa.string())
            except pa.ArrowException as error:
                raise ProblemError(
                    f"{sheet.path.name}: right labels are of type {values.type}, but labels are text; "
                    "write them as text."
                ) from error
        missing = some[np.asarray(values.is_null())[some]]
        if len(missing):
            raise ProblemError(
                f"{sheet.place(int(missing[0]))}: a trusted row has no label in column "
                f"{self.settings.label!r}; fill it in or remove the row."
            )
        return vector(values.take(some), f"{sheet.path.name} column {self.settings.label!r}")[0]


def _features(settings: Settings, sheet: Sheet) -> Any:
    """The columns that learners see, for rows that have them."""
    apart = {settings.label, settings.id, settings.trusted_column, settings.confidence, *settings.drop}
    return sheet.table.select([name for name in sheet.table.column_names if name not in apart])


def _plain(column: Any) -> Any:
    """A column as one array, categories as what they stand for."""
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(values, pa.ChunkedArray):  # several chunks that are too long for one
        values = pa.concat_arrays(values.chunks)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_large_string(values.type) or pa.types.is_string_view(values.type):
        values = pc.cast(values, pa.string())
    return values


def _marks(column: Any, labels: set[Any], place: str) -> Labels | None:
    """Which rows are marked, if the column holds marks (yes/no, true/false, 1/0, x); None if it holds labels.

    Labels may look like marks. Then a column without empty cells holds marks, one with empty cells labels,
    unless there is but one value, which might be either.
    """
    if pa.types.is_nested(column.type):
        raise ProblemError(f"{place} holds {column.type}, neither marks nor labels; name another column.")
    cells = column.to_pylist()
    values = set(cells) - {None}
    words = {value: str(value).strip().casefold() for value in values}
    if not set(words.values()) <= set(MARKS):
        return None
    if None in cells and values <= labels:
        if len(values) == 1:
            raise ProblemError(
                f"{place} is {next(iter(values))!r} or empty, which may mark rows or be their right label; "
                "to mark rows, use x, or write no where they are not trusted."
            )
        return None
    return np.asarray([cell is not None and MARKS[words[cell]] for cell in cells])


def _confidence(settings: Settings, trusted: Sheet | None, items: Ints, verified: int) -> Any:
    if settings.confidence is None:
        return None
    if trusted is not None and settings.confidence in trusted.table.column_names:
        values = _plain(trusted.table[settings.confidence]).take(items)
        if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)) or values.null_count:
            raise ProblemError(
                f"{trusted.path.name} column {settings.confidence!r} holds {values.type} with "
                f"{values.null_count} missing; give every row a number from 0 on."
            )
        # Rows that are trusted themselves count as much as the surest item.
        return np.concatenate([np.asarray(values, dtype=float), np.full(verified, np.max(values))])
    try:
        return float(settings.confidence)
    except ValueError:
        known = "a number" if trusted is None else f"a number, or a column of {trusted.path.name}"
        raise ProblemError(f"--confidence is {settings.confidence!r}; give {known}.") from None


def _require_columns(settings: Settings, rows: Sheet, trusted: Sheet | None) -> None:
    wanted = [("--label", settings.label), ("--id", settings.id), ("--image", settings.image)]
    wanted += [("--trusted-column", settings.trusted_column)]
    for option, names in (("--drop", settings.drop), ("--keep", settings.keep), ("--text", settings.text)):
        wanted += [(option, name) for name in names]
    wanted += [("--group", name) for name in settings.groups]
    for option, name in wanted:
        if name is not None:
            _require(name, rows.table.column_names, rows, option)
    if trusted is not None:
        _require(settings.label, trusted.table.column_names, trusted, "--label")
    apart = {"--trusted-column": settings.trusted_column, "--id": settings.id, "--image": settings.image}
    apart |= {"--drop": settings.label if settings.label in settings.drop else None}
    for option, name in apart.items():
        if name == settings.label:
            raise ProblemError(f"{option} is {name!r}, but that is the label; give another column.")


def _require(name: str, known: Iterable[str], sheet: Sheet, option: str) -> None:
    names = list(known)
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.0)
        raise ProblemError(
            f"{sheet.path.name} has no column {name!r} ({option}); it has {listed(names)}. "
            f"Did you mean {near[0]!r}?"
        )


def _require_unique_ids(settings: Settings, rows: Sheet) -> None:
    if settings.id is None:
        return
    column = _plain(rows.table[settings.id])
    if pa.types.is_nested(column.type):
        raise ProblemError(
            f"{rows.path.name} column {settings.id!r} holds {column.type}, which is no name for a row "
            "(--id); use a column of text or numbers, or leave --id out."
        )
    if column.null_count or len(pc.unique(column)) < len(column):
        seen: dict[Any, int] = {}
        for row, value in enumerate(column.to_pylist()):
            if value is None or value in seen:
                what = "is missing" if value is None else f"{value!r} stands at {rows.place(seen[value])} too"
                raise ProblemError(
                    f"{rows.place(row)}: the id {what} (--id {settings.id}); "
                    "every row needs an id of its own."
                )
            seen[value] = row
