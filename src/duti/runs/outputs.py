"""What a run leaves behind: findings, the corrected table, a report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from duti.errors import ProblemError
from duti.files import write_csv, write_parquet, write_relabelled, write_text
from duti.findings import Findings
from duti.reasons import Reasons
from duti.report.text import SPACE, percent
from duti.runs.folder import Folder
from duti.runs.inputs import Inputs


def write_findings(folder: Folder, inputs: Inputs, findings: Findings, reasons: Reasons) -> None:
    """findings.duti, findings.parquet and findings.csv; and the corrected table."""
    table = findings_table(inputs, findings, reasons)
    findings.save(folder.findings_file)
    write_parquet(table, folder.path / "findings.parquet")
    write_csv(table, folder.path / "findings.csv")
    write_corrected(folder, inputs, fixes(inputs, findings))


def fixes(
    inputs: Inputs, findings: Findings, top: int | None = None, at_least: float | None = None
) -> dict[int, Any]:
    """New labels by the place of their row in the file: the fixes, and verified labels that differ."""
    try:
        labels = findings.corrected_labels(top, at_least)
    except ProblemError as error:
        raise ProblemError(_in_options(str(error))) from error
    changed = np.flatnonzero(labels != findings.given_labels)
    return {int(inputs.labelled[row]): plain(labels[row]) for row in changed}


def _in_options(message: str) -> str:
    """A message about the arguments of `corrected_labels` as one about options.

    >>> _in_options("at_least is 0.5, but these are scores; use top, or debug with recipe='auto'.")
    '--at-least is 0.5, but these are scores; use --top, or debug with --recipe auto.'
    """
    message = re.sub(r"^(top|at_least)(?= is )|(?<=use )(top)\b", lambda name: f"--{name[0]}", message)
    return message.replace("--at_least", "--at-least").replace("recipe='auto'", "--recipe auto")


def plain(value: Any) -> Any:
    """A label as Python writes it.

    >>> plain(np.int64(3)), plain("a")
    (3, 'a')
    """
    return value.item() if isinstance(value, np.generic) else value


def corrected_file(folder: Folder, inputs: Inputs) -> Path:
    """The training rows with fixes, in the format that they came in."""
    return folder.path / f"corrected.{inputs.rows.suffix}"


def write_corrected(folder: Folder, inputs: Inputs, labels: dict[int, Any], out: Path | None = None) -> Path:
    """The training rows with other labels in some cells and nothing else changed; the file it is in."""
    written = out or corrected_file(folder, inputs)
    for sheet in inputs.sheets.values():
        if written.exists() and written.samefile(sheet.path):
            raise ProblemError(
                f"{written} is an input of the run, which is never overwritten; give another --out."
            )
    kind = f".{inputs.rows.suffix}"
    if not (written.name.endswith(kind) or inputs.rows.path.is_dir()):
        raise ProblemError(f"{written.name}: the table is written as it came, as {kind}; name it so.")
    write_relabelled(inputs.rows, inputs.settings.label, labels, written)
    return written


def write_report(folder: Folder, page: str) -> None:
    """report.html."""
    write_text(page, folder.report_file)


def findings_table(inputs: Inputs, findings: Findings, reasons: Reasons) -> Any:
    """Every row of the input, most suspicious first; those without a label last and without a rank."""
    n, labelled = inputs.rows.table.num_rows, inputs.labelled
    unlabelled = np.setdiff1d(np.arange(n), labelled)
    order = np.concatenate([labelled[findings.ranking], unlabelled])
    blank, ranking = len(unlabelled), findings.ranking
    flagged = np.isin(ranking, findings.flagged)
    said = why(inputs, reasons)
    name, ids = inputs.settings.id, pa.array(order + 1)
    columns = {
        "rank": _padded(np.arange(1, len(labelled) + 1).tolist(), blank),
        "flagged": _padded(flagged.tolist(), blank),
        "given_label": _padded(findings.given_labels[ranking].tolist(), blank),
        "suggested_label": _padded(findings.suggested_labels[ranking].tolist(), blank),
        "candidate_label": _padded(findings.candidate_labels[ranking].tolist(), blank),
        "label_quality": _padded(findings.label_quality[ranking].tolist(), blank),
        "verified": _padded(findings.verified[ranking].tolist(), blank),
        "why": pa.array([said.get(int(row)) for row in ranking] + [None] * blank, pa.string()),
    }
    if inputs.settings.with_columns:
        columns |= _own_columns(inputs, order, {*columns, name or "row"})
    if name is not None:
        name, ids = f"{name} (id)" if name in columns else name, inputs.rows.table[name].take(order)
    return pa.table({name or "row": ids} | columns)


def _own_columns(inputs: Inputs, order: Any, taken: set[str]) -> dict[str, Any]:
    """The columns of the training rows but for id and label; "(column)" follows a name that is taken."""
    table, found = inputs.rows.table, dict[str, Any]()
    for name in table.column_names:
        if name in (inputs.settings.id, inputs.settings.label):
            continue
        unique = name
        while unique in taken | found.keys():
            unique += " (column)"
        found[unique] = table[name].take(pa.array(order))
    return found


def why(inputs: Inputs, reasons: Reasons) -> dict[int, str]:
    """For each flagged row the trusted items that ask for the change, with their share of all pull."""
    told, names = {}, inputs.problem.item_names
    for place, row in enumerate(reasons.rows.tolist()):
        shares = (
            f"{names[item]} ({percent(abs(share)).replace(SPACE, ' ')}{'' if share >= 0 else ' against'})"
            for item, share in reasons.named(place)
        )
        if said := ", ".join(shares):
            told[row] = said
    return told


def _padded(values: list[Any], blank: int) -> Any:
    return pa.array(values + [None] * blank)
