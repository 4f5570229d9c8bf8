"""The folder of a run: what was asked, how far it got, what was found, what somebody answered."""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duti
from duti.detector import STAGES
from duti.errors import FileError, ProblemError
from duti.files import write_json
from duti.findings import Findings, load
from duti.journal import Journal
from duti.runs.inputs import Inputs
from duti.runs.inputs import load as load_inputs
from duti.runs.settings import Settings

FINISHED, INTERRUPTED, RUNNING = "finished", "interrupted", "running"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "pyarrow")
FORMAT = 1
WRITTEN = ("findings.duti", "findings.parquet", "findings.csv", "report.html")
EXPORTED = ("flagged.csv", "flagged.jsonl", "label-studio.json", "label-studio.xml")
"""What a run writes besides run.json and the corrected table, and what is made of it."""


@dataclass(frozen=True)
class Folder:
    """Where a run keeps everything."""

    path: Path

    @property
    def findings_file(self) -> Path:
        """All that was found, for duti itself."""
        return self.path / "findings.duti"

    @property
    def report_file(self) -> Path:
        """The page for people."""
        return self.path / "report.html"

    @property
    def journal(self) -> Journal:
        """The stages of a run that is not finished."""
        return Journal(self.path / ".stages", STAGES)

    @cached_property
    def record(self) -> dict[str, Any]:
        """run.json."""
        file = self.path / "run.json"
        try:
            record = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ProblemError(
                f"{self.path} holds no run of duti (there is no run.json); give the folder that "
                "`duti debug … --out` wrote."
            ) from None
        except (OSError, ValueError) as error:
            raise ProblemError(f"{file} cannot be read ({error}); debug again.") from None
        if not isinstance(record, dict) or record.get("format") != FORMAT or "settings" not in record:
            raise ProblemError(f"{file} is not of this version of duti; debug again.")
        return record

    @property
    def state(self) -> str | None:
        """How far it got; None if there is no run."""
        return str(self.record.get("state")) if (self.path / "run.json").exists() else None

    @property
    def settings(self) -> Settings:
        """What was asked."""
        return Settings.of_json(self.record["settings"])

    @cached_property
    def findings(self) -> Findings:
        """What was found."""
        if not self.findings_file.exists():
            raise ProblemError(f"the run in {self.path} is not finished; go on with duti debug … --resume.")
        return load(self.findings_file)

    @cached_property
    def inputs(self) -> Inputs:
        """The files of the run, which must be the same as then."""
        inputs = load_inputs(self.settings, {int(row): label for row, label in self.record["verified"]})
        for role, sheet in inputs.sheets.items():
            if sheet.checksum != self.record["checksums"].get(role):
                raise ProblemError(f"{sheet.path} has changed since it was debugged; debug it again.")
        return inputs

    def admit(self, settings: Settings, *, resume: bool, overwrite: bool) -> None:
        """Make sure that the folder may hold a run, or the rest of one; nothing is written yet."""
        if self.path.exists() and not self.path.is_dir():
            raise ProblemError(f"{self.path} is a file; give a folder with --out.")
        state = self.state
        strange = [name for name in WRITTEN if state is None and (self.path / name).exists()]
        if strange:
            raise ProblemError(
                f"{self.path} holds {strange[0]}, but no run.json: it is not of a run; use another --out."
            )
        if resume and state is not None and self.settings.to_json() != settings.to_json():
            raise ProblemError(
                f"{self._difference(settings)}; resume with the options of then, or --overwrite."
            )
        if state is not None and not resume and not overwrite:
            remedy = "see its report.html" if state == FINISHED else "go on with --resume"
            raise ProblemError(
                f"{self.path} already holds a run that is {state}; {remedy}, use --overwrite "
                "or another --out."
            )

    def begin(self, inputs: Inputs, *, resume: bool) -> None:
        """Remove what is left of another run, and say that one has begun."""
        if not resume:
            self.tidy()
            for name in (*WRITTEN, *EXPORTED) if self.state else ():
                (self.path / name).unlink(missing_ok=True)
        self.write_record(inputs, RUNNING)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others out: two runs in one folder would take each other's files away."""
        lock = self.path / ".lock"
        self._make()
        with lock.open("wb") as file:
            try:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except ImportError:  # Windows has no such locks
                pass
            except OSError:
                raise ProblemError(
                    f"another run is at work in {self.path}; wait, or use another --out."
                ) from None
            try:
                yield
            finally:
                lock.unlink(missing_ok=True)
                with suppress(OSError):  # it is not empty, unless nothing came of it
                    self.path.rmdir()

    def _make(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"{self.path} cannot be made ({error.strerror}); give another --out."
            raise FileError(problem) from None

    def _difference(self, settings: Settings) -> str:
        then, now = self.settings.to_json(), settings.to_json()
        name = next(name for name in now if then.get(name) != now[name])
        return f"{self.path} holds a run with {name} {then.get(name)!r}, but now it is {now[name]!r}"

    def write_record(self, inputs: Inputs, state: str, told: Mapping[str, Any] | None = None) -> None:
        """run.json: enough to run it again."""
        labelled = set(inputs.labelled.tolist())
        record = {
            "format": FORMAT,
            "state": state,
            "settings": inputs.settings.to_json(),
            "checksums": {role: sheet.checksum for role, sheet in inputs.sheets.items()},
            "verified": [[row, label] for row, label in inputs.answers.items() if row in labelled],
            "versions": {"duti": duti.__version__, "python": platform.python_version()}
            | {name: version(name) for name in LIBRARIES},
            **(told or {}),
        }
        write_json(record, self.path / "run.json")
        self.__dict__.pop("record", None)

    def abandon(self) -> None:
        """Remove what a run left that cannot go on."""
        self.tidy()
        (self.path / "run.json").unlink(missing_ok=True)

    def tidy(self) -> None:
        """Remove the stages, which a finished run does not need, and what a kill left half written."""
        shutil.rmtree(self.path / ".stages", ignore_errors=True)
        for file in self.path.glob(".*.part"):
            file.unlink(missing_ok=True)
