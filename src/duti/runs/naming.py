"""The files of a run, and messages in terms of them: a problem names its arguments and counts rows."""

from __future__ import annotations

import ast
import csv
import io
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from duti.arrays import Ints
from duti.errors import ProblemError
from duti.files import Sheet
from duti.runs.predictions import predicted_rows
from duti.runs.settings import Settings

SENTENCES = (
    (r"^(\w+)( is for (?:classification|recipe)| is True| lacks| holds)\b", "_option"),
    (r"^verified row (.*?)(?=: label )", "_verified"),
    (r"^(y_trusted|pred_probs_trusted|pred_probs)( row (\d+))", "_row"),
    (r"^(X_trusted|X) (column ('[^']*'|\"[^\"]*\")), row (\d+)", "_cell"),
    (r"^(The columns of )?(X_trusted|y_trusted|pred_probs_trusted|pred_probs|X|y)\b", "_argument"),
    (r"(?<=, the label of )y row (\d+)(?=; add it\.$)", "_given"),
    (r"\bclasses=\[(.*)\](?=\.$)", "_classes"),
)
"""What stands at the beginning is a name, and some remedies at the end; elsewhere it may be data."""
OPTIONS = ("classes", "pred_probs", "pred_probs_trusted", "systematic", "verified_at_random")


@dataclass(frozen=True, eq=False)
class Files:
    """What a run reads, and which rows of it count."""

    settings: Settings
    rows: Sheet
    trusted: Sheet | None
    labelled: Ints
    items: Ints
    predictions: Mapping[str, Sheet]

    def predicted(self, role: str) -> Any:
        """The predictions for rows with a label, or for trusted rows that are not empty, if there are any."""
        if role not in self.predictions:
            return None
        rows, some = (self.rows, self.labelled) if role == "pred_probs" else (self.trusted, self.items)
        return None if rows is None else predicted_rows(self.predictions[role], rows, some)

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Errors, in terms of files."""
        try:
            yield
        except ProblemError as error:
            raise ProblemError(self.translate(str(error))) from error

    def translate(self, message: str) -> str:
        """A message about arguments as one about files and options."""
        for pattern, name in SENTENCES:
            message = re.sub(pattern, getattr(self, name), message)
        message = re.sub(r"\b(task|recipe)='(\w+)'", r"--\1 \2", message)
        message = re.sub(r"(?<=use )verified=\{row: label\}(?=\.$)", "--trusted-column", message)
        return message.replace(
            "give verified={row: label} for rows of X that", "give --trusted-column for rows that"
        )

    def _sheet(self, name: str) -> Sheet | None:
        if name in self.predictions:
            return self.predictions[name]
        return self.trusted if name.endswith("trusted") else self.rows

    def _option(self, found: re.Match[str]) -> str:
        if found[1] not in OPTIONS:
            return found[0]
        return f"--{found[1].replace('_', '-')}{found[2].replace(' is True', ' is given')}"

    def _verified(self, found: re.Match[str]) -> str:
        id = self.settings.id
        names = map(
            str, range(1, self.rows.table.num_rows + 1) if id is None else self.rows.table[id].to_pylist()
        )
        return next((self.rows.place(row) for row, name in enumerate(names) if name == found[1]), found[0])

    def _row(self, found: re.Match[str]) -> str:
        sheet, rows = self._sheet(found[1]), self.items if found[1].endswith("trusted") else self.labelled
        return found[0] if sheet is None else sheet.place(int(rows[int(found[3])]))

    def _cell(self, found: re.Match[str]) -> str:
        sheet, rows = (self.rows, self.labelled) if found[1] == "X" else (self.trusted, self.items)
        return found[0] if sheet is None else f"{sheet.place(int(rows[int(found[4])]))}: {found[2]}"

    def _argument(self, found: re.Match[str]) -> str:
        sheet = self._sheet(found[2])
        if sheet is None:
            return found[0]
        column = f" column {self.settings.label!r}" if found[2].startswith("y") else ""
        return f"{found[1] or ''}{sheet.path.name}{column}"

    def _given(self, found: re.Match[str]) -> str:
        return self.rows.place(int(self.labelled[int(found[1])]))

    def _classes(self, found: re.Match[str]) -> str:
        try:
            labels = ast.literal_eval(f"[{found[1]}]")
        except (SyntaxError, ValueError):  # "…": there are too many to show
            return "--classes and all labels, with commas between"
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(labels)
        return f"--classes {shlex.quote(line.getvalue())}"
