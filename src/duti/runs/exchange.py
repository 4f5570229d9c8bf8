"""Flagged rows out to people who check them, and their answers back in.

Every exported row carries `duti_row` (what the row is called) and has a place for `duti_answer`: the right
label. Rows without an answer are left alone.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa

import duti
from duti.arrays import Labels
from duti.errors import ProblemError
from duti.files import read, write_csv, write_json, write_text
from duti.problem import listed
from duti.runs.folder import Folder
from duti.runs.inputs import Inputs
from duti.runs.outputs import plain

FORMATS = ("label-studio", "jsonl", "csv")
ROW, ANSWER = "duti_row", "duti_answer"
APOSTROPHE = "'"
"""What a spreadsheet needs before text that looks like a formula."""


def export(folder: Folder, outcome_why: Mapping[int, str], to: str) -> list[Path]:
    """Write the flagged rows in a format; the files that were written."""
    flagged = list(_flagged(folder, outcome_why))
    if to == "csv":
        out = folder.path / "flagged.csv"
        write_csv(pa.Table.from_pylist(flagged) if flagged else pa.table({ROW: [], ANSWER: []}), out)
        return [out]
    if to == "jsonl":
        out = folder.path / "flagged.jsonl"
        write_text("".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in flagged), out)
        return [out]
    tasks, config = folder.path / "label-studio.json", folder.path / "label-studio.xml"
    write_json([_task(folder, row) for row in flagged], tasks)
    write_text(_config(folder.inputs), config)
    return [tasks, config]


def _flagged(folder: Folder, said: Mapping[int, str]) -> Iterator[dict[str, Any]]:
    inputs, findings = folder.inputs, folder.findings
    rows = inputs.labelled[findings.flagged]
    cells = inputs.rows.table.take(rows).to_pylist()
    for place, position, cell in zip(rows.tolist(), findings.flagged.tolist(), cells, strict=True):
        yield {
            ROW: plain(inputs.ids[place]),
            "duti_given": plain(findings.given_labels[position]),
            "duti_suggested": plain(findings.suggested_labels[position]),
            "duti_candidate": plain(findings.candidate_labels[position]),
            "duti_label_quality": float(findings.label_quality[position]),
            "duti_why": said.get(position),
            ANSWER: None,
        } | {name: value for name, value in cell.items() if not name.startswith("duti_")}


def _task(folder: Folder, row: dict[str, Any]) -> dict[str, Any]:
    """A task of Label Studio with the candidate as its prediction."""
    shown = {name: value for name, value in row.items() if not name.startswith("duti_")}
    text = "\n".join(f"{name}: {value}" for name, value in shown.items())
    fix, regression = row["duti_candidate"], folder.inputs.problem.classes is None
    answer = {"number": fix} if regression else {"choices": [str(fix)]}
    result = {
        "from_name": "label",
        "to_name": "row",
        "type": "number" if regression else "choices",
        "value": answer,
    }
    return {
        "data": json.loads(json.dumps(row | {"duti_text": text}, default=str)),
        "predictions": [
            {
                "model_version": f"duti {duti.__version__}",
                "score": 1 - row["duti_label_quality"],
                "result": [result],
            }
        ],
    }


def _config(inputs: Inputs) -> str:
    """The labelling interface for these tasks."""
    view, settings = ElementTree.Element("View"), inputs.settings
    if settings.image is not None:
        ElementTree.SubElement(view, "Image", name="row", value=f"${settings.image}")
        ElementTree.SubElement(view, "Text", name="cells", value="$duti_text")
    else:
        ElementTree.SubElement(view, "Text", name="row", value="$duti_text")
    if inputs.problem.classes is None:
        ElementTree.SubElement(view, "Number", name="label", toName="row")
    else:
        choices = ElementTree.SubElement(view, "Choices", name="label", toName="row")
        for label in inputs.problem.classes.tolist():
            ElementTree.SubElement(choices, "Choice", value=str(label))
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


@dataclass(frozen=True)
class Answers:
    """Labels that somebody verified, by the place of their row in the file."""

    folder: Folder

    @property
    def file(self) -> Path:
        """Where they are kept."""
        return self.folder.path / "answers.json"

    @property
    def known(self) -> dict[int, Any]:
        """All answers so far about this very table; those about another one do not count."""
        if not self.file.exists():
            return {}
        try:
            kept = json.loads(self.file.read_text(encoding="utf-8"))
            about, answers = kept["train"], {int(row): label for row, label in kept["answers"]}
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ProblemError(f"{self.file} is damaged ({error!r}); import the answers again.") from None
        return answers if about == self._train else {}

    @property
    def _train(self) -> str:
        return str(self.folder.record["checksums"]["train"])

    def take(self, path: Path) -> dict[int, Any]:
        """Read answers from a file in any of the export formats, and keep them with those before."""
        found = self._read(path)
        if not found:
            raise ProblemError(f"{path.name} has no answers; fill in {ANSWER}, the right label of a row.")
        answers = [[row, label] for row, label in sorted((self.known | found).items())]
        write_json({"train": self._train, "answers": answers}, self.file)
        return found

    def _read(self, path: Path) -> dict[int, Any]:
        inputs, found = self.folder.inputs, dict[int, Any]()
        rows = _Rows(inputs.ids)
        label_of = _value if inputs.problem.classes is None else _Classes(inputs.problem.classes).label
        for where, row, answer in _answered(path):
            if answer is None or (isinstance(answer, str) and not answer.strip()) or answer != answer:
                continue
            place = rows.place(row)
            if place is None:
                raise ProblemError(f"{where}: there is no row {row!r} in {inputs.rows.path.name}.")
            label = label_of(answer, where)
            if found.get(place, label) != label:
                raise ProblemError(
                    f"{where}: row {row!r} has two answers, {found[place]!r} and {label!r}; keep one."
                )
            found[place] = label
        return found


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


def _value(answer: Any, where: str) -> float:
    number = _number(str(answer))
    if number is None or not math.isfinite(number):
        raise ProblemError(f"{where}: the answer {answer!r} is not a number; labels are numbers.")
    return number


class _Classes:
    """Answers as labels, however they are written."""

    def __init__(self, classes: Labels) -> None:
        self.labels = classes.tolist()
        self.exact = {str(label): label for label in self.labels}

    def label(self, answer: Any, where: str) -> Any:
        """The label that is meant."""
        text = str(answer)
        for written in (text, text.strip(), text.strip().removeprefix(APOSTROPHE)):
            if written in self.exact:
                return self.exact[written]
        folded = [label for label in self.labels if str(label).casefold() == text.strip().casefold()]
        same = [label for label in self.labels if _number(str(label)) == _number(text) is not None]
        for meant in (folded, same):
            if len(meant) == 1:
                return meant[0]
        shown = listed(self.labels)
        raise ProblemError(f"{where}: the answer {answer!r} is not among the labels {shown}.")


def _answered(path: Path) -> Iterator[tuple[str, Any, Any]]:
    """Where each answer stands, the row it is about, and what it is."""
    kind = path.suffix.lower()
    if kind == ".json":
        yield from _of_label_studio(path)
    elif kind in (".csv", ".tsv"):
        yield from _of_cells(path)
    else:
        sheet = read(path)
        _require_answers(sheet.table.column_names, path)
        pairs = zip(sheet.table[ROW].to_pylist(), sheet.table[ANSWER].to_pylist(), strict=True)
        for number, (row, answer) in enumerate(pairs):
            yield sheet.place(number), row, answer


def _of_cells(path: Path) -> Iterator[tuple[str, str, str]]:
    """Cells exactly as they are written: an answer may read None, and the name of a row 007."""
    sheet = read(path)  # refuses what is no table
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    for delimiter in ",;\t|":
        lines = csv.DictReader(text.splitlines(keepends=True), delimiter=delimiter)
        if ROW in (lines.fieldnames or ()):
            break
    _require_answers(lines.fieldnames or (), path)
    for number, cells in enumerate(lines):
        yield sheet.place(number), cells[ROW], cells[ANSWER] or ""


def _require_answers(names: Iterable[str], path: Path) -> None:
    for name in (ROW, ANSWER):
        if name not in names:
            raise ProblemError(
                f"{path.name} has no column {name!r}; import what `duti export` wrote, "
                f"with {ANSWER} filled in."
            )


def _of_label_studio(path: Path) -> Iterator[tuple[str, Any, Any]]:
    """Its JSON export, in full or short."""
    try:
        tasks = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ProblemError(f"{path} cannot be read ({error.strerror}); check the name.") from None
    except ValueError as error:
        raise ProblemError(f"{path.name} is not JSON ({error}); import what Label Studio exports.") from None
    if not isinstance(tasks, list):
        raise ProblemError(
            f"{path.name} holds {type(tasks).__name__}, not the list of tasks that Label Studio exports."
        )
    for number, task in enumerate(tasks, 1):
        where = f"{path.name} task {number}"
        data = task.get("data", task) if isinstance(task, dict) else None
        if not isinstance(data, dict) or ROW not in data:
            raise ProblemError(f"{where} has no {ROW}; import what came from `duti export`.")
        if "annotations" not in task:
            yield where, data[ROW], task.get("label", data.get(ANSWER))
            continue
        for value in _results(task["annotations"]):
            answer = value.get("number", value.get("choices"))
            yield where, data[ROW], answer[0] if isinstance(answer, list) and answer else answer


def _results(annotations: Any) -> Iterable[Mapping[str, Any]]:
    for annotation in annotations if isinstance(annotations, list) else ():
        if isinstance(annotation, dict) and not annotation.get("was_cancelled"):
            for result in annotation.get("result", ()):
                if isinstance(result, dict) and isinstance(result.get("value"), dict):
                    yield result["value"]


def accepted(folder: Folder) -> dict[int, Any]:
    """Answers that differ from the labels in the file, by the place of their row."""
    inputs, answers = folder.inputs, Answers(folder).known
    given = dict(
        zip(inputs.labelled.tolist(), np.asarray(folder.findings.given_labels).tolist(), strict=True)
    )
    return {row: label for row, label in answers.items() if given.get(row) != label}
