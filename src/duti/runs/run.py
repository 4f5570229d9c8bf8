"""A run from files to files, in stages that survive a crash."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import duti
from duti.automatic import Automatic
from duti.detector import detector_of, learner_for
from duti.errors import DutiError, ResourceError
from duti.findings import Findings
from duti.learners import default_learner
from duti.path import Status
from duti.progress import Progress, silent
from duti.reasons import Reasons, reasons
from duti.report import Case, html
from duti.resources import Estimate, estimate, foresee, measured_speed
from duti.runs.folder import FINISHED, INTERRUPTED, Folder
from duti.runs.inputs import Inputs
from duti.runs.inputs import load as load_inputs
from duti.runs.outputs import corrected_file, why, write_findings, write_report
from duti.runs.settings import FILES, Settings


@dataclass
class Clock:
    """How long each part took."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timing(self, part: str) -> Iterator[None]:
        """Of this part, the seconds."""
        began = time.perf_counter()
        yield
        self.seconds[part] = round(time.perf_counter() - began, 3)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a run."""

    folder: Folder
    inputs: Inputs
    findings: Findings
    reasons: Reasons
    case: Case

    @property
    def corrected(self) -> str:
        """The name of the corrected table."""
        return corrected_file(self.folder, self.inputs).name

    @property
    def interrupted(self) -> bool:
        """Whether there is more to be done."""
        return self.findings.status is Status.INTERRUPTED


def perform(
    folder: Folder,
    settings: Settings,
    *,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    answers: dict[int, Any] | None = None,
) -> Outcome:
    """Read, debug, explain, write. Killed at any time, it goes on with `resume` after its last stage."""
    clock = Clock()
    folder.admit(settings, resume=resume, overwrite=overwrite)
    if resume and folder.state == FINISHED:
        return reported(folder)
    with clock.timing("reading and encoding"):
        inputs = folder.inputs if resume and folder.state else load_inputs(settings, answers)
    with folder.locked():
        if answers is not None:
            folder.keep_round()
        folder.begin(inputs, resume=resume)
        return _performed(folder, inputs, progress, clock)


def _performed(folder: Folder, inputs: Inputs, progress: Progress, clock: Clock) -> Outcome:
    with clock.timing("debugging"):
        try:
            findings = debugged(folder, inputs, progress)
        except ResourceError as error:
            folder.abandon()
            raise _in_options(error) from error
        except DutiError:  # it cannot be done: there is nothing to resume
            folder.abandon()
            raise
    with clock.timing("explaining"):
        said = reasons(inputs.problem, findings, inputs.settings.seed)
    with clock.timing("writing"):
        write_findings(folder, inputs, findings, said)
    case = case_of(inputs, findings, said)
    with clock.timing("report"):
        write_report(folder, html(case))
    outcome = Outcome(folder, inputs, findings, said, case)
    told = {
        "seconds": clock.seconds,
        "flagged": len(findings.flagged),
        "status": str(findings.status),
        "verdict": findings.verdict and findings.verdict.name.lower(),
    }
    folder.write_record(inputs, INTERRUPTED if outcome.interrupted else FINISHED, told)
    if not outcome.interrupted:
        folder.tidy()
    return outcome


def _in_options(error: ResourceError) -> ResourceError:
    """What the command line has against too little memory."""
    sample = "" if error.rows is None else f"use --sample {max(error.rows, 2)}, or "
    return ResourceError(error.problem, f"{sample}leave columns out with --drop", error.rows)


def debugged(folder: Folder, inputs: Inputs, progress: Progress) -> Findings:
    """The findings, by stages that are kept in the folder."""
    settings, problem = inputs.settings, inputs.problem
    detector = detector_of(
        settings.recipe,
        systematic=settings.systematic,
        learner=learner_for(problem, None),
        budget=settings.budget,
        random_state=settings.seed,
        progress=progress,
        memory=folder.journal,
    )
    return detector.rank(problem)


def reported(folder: Folder) -> Outcome:
    """A finished run once more: its report is written anew."""
    inputs, findings = folder.inputs, folder.findings
    said = reasons(inputs.problem, findings, inputs.settings.seed)
    case = case_of(inputs, findings, said)
    folder.refuse_foreign(folder.report_file.name)
    write_report(folder, html(case))
    folder.own(folder.report_file.name)
    return Outcome(folder, inputs, findings, said, case)


def reasons_of(folder: Folder) -> dict[int, str]:
    """Why the rows of a finished run are flagged, in a few words each."""
    inputs = folder.inputs
    return why(inputs, reasons(inputs.problem, folder.findings, inputs.settings.seed))


@dataclass(frozen=True, eq=False)
class Preview:
    """What a run would do."""

    inputs: Inputs
    estimate: Estimate

    def told(self, folder: Folder) -> dict[str, Any]:
        """As plain values."""
        problem, encoder = self.inputs.problem, self.inputs.problem.encoder
        return {
            "task": problem.task,
            "rows": problem.n,
            "trusted": problem.m,
            "features": problem.X.shape[1],
            "classes": problem.k or None,
            "columns": [asdict(column) for column in encoder.columns] if encoder else [],
            "notes": [*self.inputs.notes, *problem.notes],
            "seconds": self.estimate.seconds,
            "bytes": self.estimate.bytes,
            "folder": str(folder.path),
        }


def preview(settings: Settings) -> Preview:
    """Read and encode, and estimate the rest."""
    inputs = load_inputs(settings)
    problem = inputs.problem
    learner = learner_for(problem, None) or default_learner(problem.task)
    automatic = Automatic(learner)
    try:
        if settings.recipe == "auto":
            automatic.foresee(problem, silent)
        else:
            foresee(problem, learner, silent)
    except ResourceError as error:
        raise _in_options(error) from error
    if settings.recipe == "auto":
        return Preview(inputs, automatic.estimate(problem, measured_speed()))
    return Preview(inputs, estimate(problem, learner, measured_speed()))


def case_of(inputs: Inputs, findings: Findings, said: Reasons) -> Case:
    """What the report tells."""
    settings, encoder = inputs.settings, inputs.problem.encoder
    rows, columns = inputs.rows.table.take(inputs.labelled), () if encoder is None else encoder.columns
    return Case(
        problem=inputs.problem,
        findings=findings,
        reasons=said,
        rows=rows,
        trusted=rows.slice(0, 0) if inputs.trusted is None else inputs.trusted.table.take(inputs.items),
        label=settings.label,
        groups=settings.groups,
        text=next((column.name for column in columns if column.kind == "text"), None),
        image=settings.image,
        image_folder=settings.image_folder,
        columns=tuple((column.name, column.kind, column.treatment) for column in columns),
        row_name=settings.id or "row",
        counted=settings.id is None,
        settings=_shown(inputs),
        title=inputs.rows.path.name,
    )


def _shown(inputs: Inputs) -> dict[str, str]:
    """Settings for the end of the report, with names of files but no folders."""
    asked = {
        name.replace("_", " "): ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        for name, value in inputs.settings.to_json().items()
        if value not in (None, (), []) and value is not False and name not in FILES
    }
    files = {f"{role}: {sheet.path.name}": sheet.checksum for role, sheet in inputs.sheets.items()}
    return asked | files | {"duti": duti.__version__}
