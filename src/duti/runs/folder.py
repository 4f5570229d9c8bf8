"""The folder of a run: what was asked, how far it got, what was found, what somebody answered."""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duti
from duti.detector import STAGES
from duti.errors import FileError, ProblemError
from duti.files import atomically, write_json
from duti.findings import Findings, load
from duti.journal import Journal
from duti.runs.inputs import Inputs
from duti.runs.inputs import load as load_inputs
from duti.runs.settings import Settings

FINISHED, INTERRUPTED, RUNNING = "finished", "interrupted", "running"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "pyarrow")
FORMAT = 1
WRITTEN = ("findings.duti", "findings.parquet", "findings.csv", "report.html")
"""What a run writes besides run.json and the corrected table."""
ROUNDS = "rounds"
"""Where what was before an import is kept, and what people filled in."""


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
        except (OSError, ValueError, RecursionError) as error:
            raise ProblemError(f"{file} cannot be read ({error}); debug again.") from None
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise ProblemError(f"{file} is not of this version of duti; debug again.")
        if not _is_record(record):
            raise ProblemError(f"{file} was changed, so that it says no run; debug again.")
        return record

    @property
    def state(self) -> str | None:
        """How far it got; None if there is no run."""
        return str(self.record.get("state")) if (self.path / "run.json").exists() else None

    @property
    def settings(self) -> Settings:
        """What was asked."""
        try:
            return Settings.of_json(self.record["settings"])
        except (TypeError, KeyError) as error:
            problem = f"{self.path / 'run.json'} was changed, so that it says no run ({error}); debug again."
            raise ProblemError(problem) from None

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
        state, corrected = self.state, f"corrected.{settings.suffix}"
        strange = [name for name in (*WRITTEN, corrected) if state is None and (self.path / name).exists()]
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
        """Remove what duti wrote in another run, and say that one has begun."""
        if self.state:
            self.refuse_foreign(*_outputs(inputs), *(() if resume else self.owned))
        if not resume:
            self.tidy()
            for name in (self.owned or WRITTEN) if self.state else ():
                removed(self.path / name)
        self.write_record(inputs, RUNNING)

    @property
    def owned(self) -> dict[str, str | None]:
        """Files that duti wrote, and their checksums then; None of what a run under way writes."""
        return dict(self.record.get("files", {}))

    def is_foreign(self, name: str) -> bool:
        """Whether a file is there that duti did not write, or that somebody has changed since."""
        file = self.path / name
        if not file.exists() or "files" not in self.record:  # records did not say so once
            return False
        checksum = self.owned.get(name, "not written")
        return checksum is not None and checksum != checksum_of(file)

    def refuse_foreign(self, *names: str) -> None:
        """Never write over what is somebody else's."""
        if foreign := [name for name in names if self.is_foreign(name)]:
            raise ProblemError(
                f"{self.path / foreign[0]} is not as duti wrote it, so it is yours; move it away, or use "
                "another --out."
            )

    def own(self, *names: str) -> None:
        """Remember that duti wrote these files."""
        files = self.owned | {name: checksum_of(self.path / name) for name in names}
        write_json(self.record | {"files": files}, self.path / "run.json")
        self.__dict__.pop("record", None)

    def keep_round(self) -> None:
        """Keep what was found, exported and filled in so far, where the next run does not write.

        A round appears whole or not at all, and only then its files make room.
        """
        if self.state not in (FINISHED, INTERRUPTED):
            return
        names = [file.name for file in sorted(self.path.iterdir()) if self._is_of_the_round(file.name)]
        if not names:
            return
        number = 1 + max((int(old.name) for old in self._rounds()), default=0)
        if number > 1 and self._is_kept(self.path / ROUNDS / str(number - 1), names):
            number -= 1  # killed between keeping it and making room
        with atomically(self.path / ROUNDS / str(number)) as temporary:
            temporary.mkdir(parents=True)
            for name in (*names, "run.json", "answers.json"):
                source = self.path / name
                if source.is_dir():
                    shutil.copytree(source, temporary / name)
                elif source.exists():
                    shutil.copy2(source, temporary / name)
        # From here on the run is one that was interrupted, with nothing to show yet.
        write_json(self.record | {"state": INTERRUPTED, "files": {}}, self.path / "run.json")
        self.__dict__.pop("record", None)
        for name in names:
            removed(self.path / name)

    def _rounds(self) -> list[Path]:
        folder = self.path / ROUNDS
        return [old for old in folder.iterdir() if old.name.isdigit()] if folder.is_dir() else []

    def _is_kept(self, kept: Path, names: list[str]) -> bool:
        return all(
            (kept / name).exists() and checksum_of(kept / name) == checksum_of(self.path / name)
            for name in names
        )

    def _is_of_the_round(self, name: str) -> bool:
        made = name in WRITTEN or name in self.owned
        return made or name.startswith(("corrected.", "flagged", "label-studio"))

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
        """run.json: enough to run it again, and the checksums of what was written.

        Of a run that is under way none is known: what a kill left behind is its own.
        """
        files = {name: known for name, known in (self.owned if self.state else {}).items() if self._has(name)}
        for name in _outputs(inputs):
            files[name] = None if state == RUNNING or not self._has(name) else checksum_of(self.path / name)
        labelled = set(inputs.labelled.tolist())
        record = {
            "format": FORMAT,
            "state": state,
            "settings": inputs.settings.to_json(),
            "checksums": {role: sheet.checksum for role, sheet in inputs.sheets.items()},
            "verified": [[row, label] for row, label in inputs.answers.items() if row in labelled],
            "versions": {"duti": duti.__version__, "python": platform.python_version()}
            | {name: version(name) for name in LIBRARIES},
            "files": files,
            **(told or {}),
        }
        write_json(record, self.path / "run.json")
        self.__dict__.pop("record", None)

    def _has(self, name: str) -> bool:
        return (self.path / name).exists()

    def abandon(self) -> None:
        """Remove what a run left that cannot go on."""
        self.tidy()
        (self.path / "run.json").unlink(missing_ok=True)

    def tidy(self) -> None:
        """Remove the stages, which a finished run does not need, and what a kill left half written."""
        shutil.rmtree(self.path / ".stages", ignore_errors=True)
        for place in (self.path, self.path / ROUNDS):
            for left in (*place.glob(".*.part"), *place.glob(".*.old")):
                removed(left)


def _is_record(record: dict[str, Any]) -> bool:
    """Whether all that is read of it later has the types that it was written with."""
    files, verified = record.get("files", {}), record.get("verified")
    return (
        record.get("state") in (FINISHED, INTERRUPTED, RUNNING)
        and isinstance(record.get("settings"), dict)
        and isinstance(record.get("checksums"), dict)
        and isinstance(verified, list)
        and all(isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int for pair in verified)
        and isinstance(files, dict)
        and all(known is None or isinstance(known, str) for known in files.values())
    )


def _outputs(inputs: Inputs) -> tuple[str, ...]:
    """What a run writes besides run.json."""
    return *WRITTEN, f"corrected.{inputs.rows.suffix}"


def checksum_of(path: Path) -> str:
    """SHA-256 of a file, or of the names and files of a folder."""
    if not path.is_dir():
        return sha256(path.read_bytes()).hexdigest()
    files = (file for file in sorted(path.rglob("*")) if file.is_file())
    told = [f"{file.relative_to(path)} {checksum_of(file)}" for file in files]
    return sha256("\n".join(told).encode()).hexdigest()


def removed(path: Path) -> None:
    """Whatever is there is there no longer."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
