"""What a person or a machine reads on the terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.markup import escape as without_markup
from rich.table import Table

from duti.report.summary import summary
from duti.report.text import cell, probability, visible
from duti.runs.folder import Folder
from duti.runs.outputs import plain, why
from duti.runs.run import Outcome, Preview

SHOWN = 10
"""Flagged rows that are printed."""
WRITTEN = {"report": "report.html", "findings": "findings.csv", "record": "run.json"}


class Screen(Console):
    """A console whose broken pipe is an error like any other, which the command line answers."""

    def on_broken_pipe(self) -> None:
        """Whoever read has gone."""
        raise BrokenPipeError


def escape(text: str) -> str:
    """Text from data: neither markup nor what a terminal obeys.

    >>> escape("[red]\x1b[2J")
    '\\\\[red][U+001B][2J'
    """
    return without_markup(visible(text))


def show(told: Mapping[str, Any], sentence: str, *, quiet: bool, as_json: bool) -> None:
    """One JSON object, or a sentence, or nothing."""
    if as_json:
        print(json.dumps(told, default=str))
    elif not quiet:
        Screen(soft_wrap=True).print(escape(sentence), highlight=False)


def show_outcome(outcome: Outcome, *, quiet: bool, as_json: bool) -> None:
    """What was found, the top rows with their fixes, and where everything is."""
    if as_json:
        print(json.dumps(_told(outcome), default=str))
        return
    if quiet:
        return
    console, found = Screen(), summary(outcome.case)
    if len(outcome.findings.flagged):
        console.print(_table(outcome))
    console.print(f"[bold]{escape(found.sentence)}[/]", highlight=False)
    for sentence in found.more:
        console.print(escape(sentence), highlight=False)
    for note in (*outcome.inputs.notes, *outcome.findings.notes):
        console.print(f"[dim]Note: {escape(note)}[/]", highlight=False)
    files = ", ".join((outcome.corrected, "findings.csv", "findings.parquet", "run.json"))
    console.print(
        f"Report: {escape(str(outcome.folder.report_file))} (also there: {escape(files)})",
        highlight=False,
        soft_wrap=True,
    )
    if outcome.interrupted:
        console.print("Interrupted: this is what was found so far; --resume goes on.", highlight=False)


def _table(outcome: Outcome) -> Table:
    findings, inputs = outcome.findings, outcome.inputs
    shown = min(len(findings.flagged), SHOWN)
    table = Table(title=f"The {shown} most suspicious of {len(findings.ranking)} rows")
    automatic = outcome.case.automatic
    doubt = "wrong?" if automatic else "score"
    name = escape(inputs.settings.id or "row")
    for heading in ("rank", name, "given", "candidate", "applied", doubt, "because of"):
        table.add_column(heading, justify="right" if heading in ("rank", "row", doubt) else "left")
    said, applied = why(inputs, outcome.reasons), set(outcome.case.fixed.tolist())
    for rank, row in enumerate(findings.flagged[:SHOWN].tolist(), 1):
        wrong = float(1 - findings.label_quality[row])
        cells = (
            cell(inputs.ids[inputs.labelled[row]]),
            cell(plain(findings.given_labels[row])),
            cell(plain(findings.candidate_labels[row])),
            "yes" if row in applied else "no",
            probability(wrong) if automatic else f"{wrong:.2f}",
            said.get(row, "–"),
        )
        table.add_row(str(rank), *map(escape, cells))
    return table


def _told(outcome: Outcome) -> dict[str, Any]:
    findings, inputs = outcome.findings, outcome.inputs
    bugs, power, found = findings.expected_bugs, findings.power, summary(outcome.case)
    said = why(inputs, outcome.reasons)
    return {
        "verdict": findings.verdict and findings.verdict.name.lower(),
        "verdict_sentence": found.sentence,
        "verdict_reason": findings.verdict_reason,
        "power": power and asdict(power) | {"sentence": power.sentence},
        "summary": list(found.more),
        "status": findings.status.name.lower(),
        "rows": len(findings.ranking),
        "flagged": len(findings.flagged),
        "budget": findings.budget,
        "changed": len(findings.fixed),
        "systematic": findings.systematic,
        "expected_bugs": None if bugs is None else [bugs.low, bugs.expected, bugs.high],
        "top": [
            {
                "row": plain(inputs.ids[inputs.labelled[row]]),
                "given": plain(findings.given_labels[row]),
                "suggested": plain(findings.suggested_labels[row]),
                "candidate": plain(findings.candidate_labels[row]),
                "label_quality": float(findings.label_quality[row]),
                "why": said.get(row),
            }
            for row in findings.flagged[:SHOWN].tolist()
        ],
        "notes": [*inputs.notes, *findings.notes],
        "folder": str(outcome.folder.path),
        "report": str(outcome.folder.report_file),
        "corrected": str(outcome.folder.path / outcome.corrected),
    }


def show_preview(preview: Preview, folder: Folder, *, quiet: bool, as_json: bool) -> None:
    """What a run would do."""
    problem, told = preview.inputs.problem, preview.told(folder)
    if as_json:
        print(json.dumps(told, default=str))
        return
    if quiet:
        return
    console = Screen(soft_wrap=True)
    console.print(
        escape(
            f"{problem.task}: {problem.n} rows, {problem.m} trusted items, {problem.X.shape[1]} features"
            + (f", {problem.k} classes" if problem.k else "")
        ),
        highlight=False,
    )
    for column in told["columns"]:
        console.print(escape(f"  {column['name']}: {column['kind']}; {column['treatment']}"), highlight=False)
    for note in told["notes"]:
        console.print(escape(f"Note: {note}"), highlight=False)
    console.print(escape(f"It would take {preview.estimate}; written to {folder.path}."), highlight=False)
