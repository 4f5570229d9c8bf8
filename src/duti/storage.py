"""Findings as frames and as files: Arrow tables and JSON in one zip archive, never pickle."""

from __future__ import annotations

import dataclasses
import importlib.util
import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa

from duti.arrays import Labels
from duti.claims import BugCount, LearnerSummary, Power, Verdict
from duti.errors import DutiError, ProblemError
from duti.files.atomic import atomically
from duti.learners import LEARNERS
from duti.path import Status, Step

FORMAT, READABLE = 3, (1, 2, 3)
"""Formats 1 and 2 have no candidates and no verdict; 1 has no learners either."""
Library = Literal["pandas", "polars", "pyarrow"]
FRAME_LIBRARIES: tuple[Library, ...] = ("pandas", "polars", "pyarrow")
Stored = TypeVar("Stored")


def to_frame(findings: Any, library: str | None = None) -> Any:
    """One row for each training row, most suspicious first, as a frame of some library."""
    backend = _library_of(findings) if library is None else _installed(library)
    order = findings.ranking
    first_step = findings.first_step[order]
    never = first_step == 0
    columns = {
        "row": _arrow(findings.row_ids[order]),
        "rank": pa.array(np.arange(1, len(order) + 1)),
        "given_label": _arrow(findings.given_labels[order]),
        "suggested_label": _arrow(findings.suggested_labels[order]),
        "candidate_label": _arrow(findings.candidate_labels[order]),
        "label_quality": pa.array(findings.label_quality[order]),
        "first_step": pa.array(first_step, mask=never),
        "deviation": pa.array(findings.deviation[order], mask=never),
    }
    return nw.from_arrow(pa.table(columns), backend=backend).to_native()


def _library_of(findings: Any) -> Library:
    """The library that X came in; it may be missing where findings are loaded."""
    usable = (name for name in (findings.frame_library, "pandas", "pyarrow") if name and _is_installed(name))
    return _installed(next(name for name in usable if name in FRAME_LIBRARIES))


def _installed(library: str) -> Library:
    for known in FRAME_LIBRARIES:
        if known == library and _is_installed(known):
            return known
    if library in FRAME_LIBRARIES:
        raise ProblemError(f"library is {library!r}, which is not installed; install it or use another.")
    raise ProblemError(f"library is {library!r}; use one of {', '.join(map(repr, FRAME_LIBRARIES))}.")


def _is_installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def _arrow(values: Labels) -> Any:
    if values.dtype.kind not in "OU":
        return pa.array(values)
    if _are_timestamps(values):
        import pandas as pd

        return pa.array(pd.DatetimeIndex(values))  # as Python objects they would lose their nanoseconds
    plain = values.tolist()
    huge = any(isinstance(value, int) and value > np.iinfo(np.int64).max for value in plain)
    return pa.array(plain, pa.uint64()) if huge else pa.array(plain)


def _are_timestamps(values: Labels) -> bool:
    """Whether these are times with a time zone, which NumPy has no type for."""
    return len(values) > 0 and type(values[0]).__name__ == "Timestamp"


def _numpy(column: Any, dtype: str) -> Labels:
    if np.dtype(dtype).kind not in "OU":
        return np.asarray(column.to_numpy()).astype(dtype)
    if pa.types.is_timestamp(column.type) and _is_installed("pandas"):
        return np.asarray(column.to_pandas(), dtype=object)
    return np.asarray(column.to_pylist(), dtype=dtype)


def save(findings: Any, path: str | os.PathLike[str]) -> None:
    """Write findings to one file; the file appears whole or not at all."""
    fields = {f.name: getattr(findings, f.name) for f in dataclasses.fields(findings)}
    arrays = {name: fields.pop(name) for name, value in list(fields.items()) if isinstance(value, np.ndarray)}
    steps = fields.pop("path")
    fields |= {"status": findings.status.name, "learner": _learner_fields(findings.learner)}
    fields["learners"] = [_summary_fields(learner) for learner in findings.learners]
    fields["verdict"] = findings.verdict and findings.verdict.name
    for name in ("expected_bugs", "power"):
        fields[name] = fields[name] and dataclasses.asdict(fields[name])
    meta = {"format": FORMAT, "dtypes": {name: value.dtype.str for name, value in arrays.items()}, **fields}
    members = {
        "meta.json": json.dumps(meta, indent=1, default=lambda number: number.item()).encode(),
        "path.arrow": _bytes(_path_table(steps)),
        **{f"{name}.arrow": _bytes(pa.table({name: _arrow(value)})) for name, value in arrays.items()},
    }
    _write(Path(path), members)


def read(path: str | os.PathLike[str], build: Callable[..., Stored]) -> Stored:
    """Build from the fields in a file; anything that cannot be decoded or built is a damaged file."""
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return build(**_fields(archive, path))
        except DutiError:
            raise
        # A damaged file can fail anywhere: in zlib, in Arrow, in JSON, in a missing field.
        except Exception as error:
            raise DutiError(f"{path} is not a findings file, or it is damaged ({error!r}).") from error


def _fields(archive: zipfile.ZipFile, path: str | os.PathLike[str]) -> dict[str, Any]:
    fields = json.loads(archive.read("meta.json"))
    if (found := fields.pop("format")) not in READABLE:
        raise DutiError(f"{path} has format {found}; this version of duti reads up to {FORMAT}: update duti.")
    for name, dtype in fields.pop("dtypes").items():
        fields[name] = _numpy(_table(archive.read(f"{name}.arrow"))[name], dtype)
    fields = fields if found == FORMAT else _of_today(fields)
    return {
        **fields,
        "path": _steps(_table(archive.read("path.arrow"))),
        "status": Status[fields["status"]],
        "notes": tuple(fields["notes"]),
        "learner": _learner(fields["learner"]),
        "learners": tuple(LearnerSummary(**learner) for learner in fields["learners"]),
        "expected_bugs": fields["expected_bugs"] and BugCount(**fields["expected_bugs"]),
        "verdict": fields["verdict"] and Verdict[fields["verdict"]],
        "power": fields["power"] and Power(**fields["power"]),
    }


def _of_today(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields of formats 1 and 2 as those of format 3."""
    learners = [_old_summary(opinion) for opinion in fields.pop("opinions", ())]
    blank = {"expected_bugs": None, "verdict": None, "power": None}
    return blank | fields | {"learners": learners, "candidate_labels": fields["suggested_labels"]}


def _old_summary(opinion: dict[str, Any]) -> dict[str, Any]:
    settings = dict(opinion["learner"])
    return {
        "kind": opinion["learnt_from"],
        "name": settings.pop("name"),
        "settings": settings,
        "gamma": None if opinion["gamma"] == float("inf") else opinion["gamma"],
        "weight": opinion["weight"],
        "row_loss": None,
        "trusted_loss": opinion["trusted_loss"],
    }


def _summary_fields(learner: LearnerSummary) -> dict[str, Any]:
    """A learner of any library may have settings that JSON does not know; they are there to be read."""
    fields = dataclasses.asdict(learner)
    fields["settings"] = json.loads(json.dumps(fields["settings"], default=_readable))
    return fields


def _readable(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else repr(value)


def _learner(fields: dict[str, Any] | None) -> Any:
    if fields is None:
        return None
    return LEARNERS[fields["name"]](**{key: value for key, value in fields.items() if key != "name"})


def _learner_fields(learner: Any) -> dict[str, Any] | None:
    if learner is None:
        return None
    name = type(learner).__name__
    if LEARNERS.get(name) is not type(learner):
        raise DutiError(
            f"findings of the learner {name} cannot be saved, only those of {', '.join(LEARNERS)}; "
            "use to_frame() to keep the ranking."
        )
    return {"name": name, **dataclasses.asdict(learner)}


def _bytes(table: Any) -> bytes:
    buffer = io.BytesIO()
    with pa.ipc.new_file(buffer, table.schema) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def _table(data: bytes) -> Any:
    return pa.ipc.open_file(pa.BufferReader(data)).read_all()


def _path_table(steps: tuple[Step, ...]) -> Any:
    """One row for each step; δ is flattened next to its width (0 if it is one-dimensional)."""
    ints, floats = pa.large_list(pa.int64()), pa.large_list(pa.float64())
    return pa.table(
        {
            "gamma": pa.array([s.gamma for s in steps], pa.float64()),
            "objective": pa.array([s.objective for s in steps], pa.float64()),
            "rows": pa.array([s.rows for s in steps], ints),
            "delta": pa.array([s.delta.ravel() for s in steps], floats),
            "width": pa.array([s.delta.shape[1] if s.delta.ndim == 2 else 0 for s in steps], pa.int64()),
            "flagged": pa.array([s.flagged for s in steps], ints),
            "accuracy": pa.array([s.accuracy for s in steps], pa.float64()),
            "status": pa.array([s.status.name for s in steps], pa.string()),
        }
    )


def _steps(table: Any) -> tuple[Step, ...]:
    steps = []
    for row in range(table.num_rows):
        step = {name: table[name][row] for name in table.column_names}
        delta, width = np.array(step["delta"].values, dtype=np.float64), step["width"].as_py()
        steps.append(
            Step(
                gamma=step["gamma"].as_py(),
                objective=step["objective"].as_py(),
                rows=np.array(step["rows"].values, dtype=np.int64),
                delta=delta.reshape(-1, width) if width else delta,
                flagged=np.array(step["flagged"].values, dtype=np.int64),
                accuracy=step["accuracy"].as_py(),
                status=Status[step["status"].as_py()],
            )
        )
    return tuple(steps)


def _write(path: Path, members: dict[str, bytes]) -> None:
    with atomically(path) as temporary, zipfile.ZipFile(temporary, "x", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
