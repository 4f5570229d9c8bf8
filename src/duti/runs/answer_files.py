"""Answers of people in files: what `duti export` wrote, filled in by hand or by other programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duti.errors import ProblemError
from duti.files import read, read_text, read_written

ROW, ANSWER, COMMENT = "duti_row", "duti_answer", "duti_comment"


@dataclass(frozen=True)
class Answered:
    """What somebody said of a row."""

    where: str
    """The place in the file."""
    row: Any
    """What the row is called."""
    answer: Any
    comment: str = ""


def answered(path: Path) -> Iterator[Answered]:
    """All rows of a file, those without an answer too."""
    if path.suffix.lower() == ".json":
        yield from _of_label_studio(path)
        return
    is_text = {".csv", ".tsv"} & {suffix.lower() for suffix in path.suffixes[-2:]}
    # Cells exactly as they are written: an answer may read None, and the name of a row 007.
    sheet = read_written(path) if is_text else read(path)
    _require_answers(sheet.table.column_names, path)
    columns = [
        sheet.table[name].to_pylist() if name in sheet.table.column_names else [None] * sheet.table.num_rows
        for name in (ROW, ANSWER, COMMENT)
    ]
    for number, (row, answer, comment) in enumerate(zip(*columns, strict=True)):
        yield Answered(sheet.place(number), row, answer, "" if comment is None else str(comment))


def _require_answers(names: Iterable[str], path: Path) -> None:
    for name in (ROW, ANSWER):
        if name not in names:
            raise ProblemError(
                f"{path.name} has no column {name!r}; import what `duti export` wrote, "
                f"with {ANSWER} filled in."
            )


def _of_label_studio(path: Path) -> Iterator[Answered]:
    """Its JSON export, in full or short."""
    text = read_text(path)
    try:
        tasks = json.loads(text)
    except (ValueError, RecursionError) as error:
        what = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ProblemError(f"{path.name} is not JSON ({what}); import what Label Studio exports.") from None
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
            yield Answered(where, data[ROW], _only(task.get("label", data.get(ANSWER)), where))
            continue
        for value in _results(task["annotations"]):
            yield Answered(where, data[ROW], _only(value.get("number", value.get("choices")), where))


def _only(answer: Any, where: str) -> Any:
    """A single choice, however it is wrapped."""
    if isinstance(answer, dict):
        answer = answer.get("choices")
    if not isinstance(answer, list):
        return answer
    if len(answer) > 1:
        raise ProblemError(f"{where} has {len(answer)} answers, {', '.join(map(repr, answer))}; keep one.")
    return _only(answer[0], where) if answer else None


def _results(annotations: Any) -> Iterator[Mapping[str, Any]]:
    for annotation in annotations if isinstance(annotations, list) else ():
        if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
            continue
        results = annotation.get("result")
        for result in results if isinstance(results, list) else ():
            if isinstance(result, dict) and isinstance(result.get("value"), dict):
                yield result["value"]
