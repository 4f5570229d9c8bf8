"""Flagged rows out to people who check them.

Every exported row carries `duti_row` (what the row is called) and has places for `duti_answer`, the right
label, and for `duti_comment`. What was answered before is filled in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa

import duti
from duti.files import write_csv, write_json, write_text
from duti.report.text import visible
from duti.runs.answer_files import ANSWER, COMMENT, ROW
from duti.runs.answers import Answers
from duti.runs.folder import Folder
from duti.runs.inputs import Inputs
from duti.runs.outputs import plain

FORMATS = {
    "csv": ("flagged.csv",),
    "jsonl": ("flagged.jsonl",),
    "label-studio": ("label-studio.json", "label-studio.xml"),
}
"""The files of each format."""


def export(folder: Folder, outcome_why: Mapping[int, str], to: str) -> list[Path]:
    """Write the flagged rows in a format; the files that were written, never over what somebody filled in."""
    flagged = list(_flagged(folder, outcome_why))
    files = _free(folder, FORMATS[to])
    if to == "csv":
        write_csv(_table(flagged), files[0])
    elif to == "jsonl":
        lines = (json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in flagged)
        write_text("".join(lines), files[0])
    else:
        write_json([_task(folder, row) for row in flagged], files[0])
        write_text(_config(folder.inputs), files[1])
    folder.own(*(file.name for file in files))
    return files


def _table(flagged: list[dict[str, Any]]) -> Any:
    if not flagged:
        return pa.table({ROW: [], ANSWER: []})
    return pa.table({name: _column([row[name] for row in flagged]) for name in flagged[0]})


def _column(cells: list[Any]) -> Any:
    """Of any type; whole numbers beyond the largest of Arrow as text, since all of it will be text."""
    try:
        return pa.array(cells)
    except (OverflowError, pa.ArrowException):
        return pa.array([None if cell is None else str(cell) for cell in cells])


def _free(folder: Folder, names: tuple[str, ...]) -> list[Path]:
    """These files, or, if somebody changed one of them, the same with a number."""
    number, tried = 1, names
    while any(folder.is_foreign(name) for name in tried):
        number += 1
        tried = tuple(f"{Path(name).stem}-{number}{Path(name).suffix}" for name in names)
    return [folder.path / name for name in tried]


def _flagged(folder: Folder, said: Mapping[int, str]) -> Iterator[dict[str, Any]]:
    inputs, findings, kept = folder.inputs, folder.findings, Answers(folder).kept
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
            ANSWER: kept.answers.get(place, "?" if place in kept.unsure else None),
            COMMENT: kept.comments.get(place),
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
            ElementTree.SubElement(choices, "Choice", value=visible(str(label)))
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"
