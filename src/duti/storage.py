"""Findings as frames and as files: Arrow tables and JSON in one zip archive, never pickle."""

from __future__ import annotations

import dataclasses
import importlib.util
import io
import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa

from duti.arrays import Labels
from duti.errors import DutiError, ProblemError
from duti.findings import Findings
from duti.learners import LEARNERS
from duti.path import Status, Step

FORMAT = 1
FRAME_LIBRARIES = ("pandas", "polars", "pyarrow")


def to_frame(findings: Findings, library: str | None = None) -> Any:
    """One row for each training row, most suspicious first, as a frame of some library."""
    order = findings.ranking
    first_step = findings.first_step[order]
    never = first_step == 0
    columns = {
        "row": _arrow(findings.row_ids[order]),
        "rank": pa.array(np.arange(1, len(order) + 1)),
        "given_label": _arrow(findings.given_labels[order]),
        "suggested_label": _arrow(findings.suggested_labels[order]),
        "label_quality": pa.array(findings.label_quality[order]),
        "first_step": pa.array(first_step, mask=never),
        "deviation": pa.array(findings.deviation[order], mask=never),
    }
    library = library or _library_of(findings)
    if library not in FRAME_LIBRARIES:
        raise ProblemError(f"library is {library!r}; use one of {', '.join(map(repr, FRAME_LIBRARIES))}.")
    table = pa.table(columns)
    return nw.from_arrow(table, backend=nw.Implementation.from_string(library)).to_native()


def _library_of(findings: Findings) -> str:
    if findings.frame_library in FRAME_LIBRARIES:
        return findings.frame_library
    return "pandas" if importlib.util.find_spec("pandas") else "pyarrow"


def _arrow(values: Labels) -> Any:
    return pa.array(values.tolist() if values.dtype.kind in "OU" else values)


def save(findings: Findings, path: str | os.PathLike[str]) -> None:
    """Write findings to one file; the file appears whole or not at all."""
    fields = {f.name: getattr(findings, f.name) for f in dataclasses.fields(findings)}
    arrays = {name: value for name, value in fields.items() if isinstance(value, np.ndarray)}
    meta = {
        "format": FORMAT,
        "status": findings.status.name,
        "notes": list(findings.notes),
        "budget": findings.budget,
        "gamma_max": findings.gamma_max,
        "learner": {"name": type(findings.learner).__name__, **dataclasses.asdict(findings.learner)},  # type: ignore[call-overload]
        "frame_library": findings.frame_library,
        "dtypes": {name: value.dtype.str for name, value in arrays.items()},
    }
    members = {"meta.json": json.dumps(meta, indent=1).encode(), "path.arrow": _path_bytes(findings.path)}
    members |= {f"{name}.arrow": _bytes(pa.table({name: _arrow(value)})) for name, value in arrays.items()}
    _write_atomically(Path(path), members)


def load(path: str | os.PathLike[str]) -> Findings:
    """Read findings that `Findings.save` wrote.

    >>> import duti, tempfile, pathlib
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], ["a", "b", "b", "b"]
    >>> findings = duti.debug(X, y, [[0.1]], ["a"], learner=duti.KernelLogistic(0.3, 0.01))
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "findings.duti"
    >>> findings.save(file)
    >>> duti.load(file).ranking.tolist() == findings.ranking.tolist()
    True
    """
    try:
        with zipfile.ZipFile(path) as archive:
            meta = json.loads(archive.read("meta.json"))
            if meta["format"] != FORMAT:
                raise DutiError(f"{path} has format {meta['format']}; this version of duti reads {FORMAT}.")
            arrays = {
                name: _numpy(_table(archive.read(f"{name}.arrow"))[name], dtype)
                for name, dtype in meta["dtypes"].items()
            }
            steps = _read_path(_table(archive.read("path.arrow")))
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError, pa.ArrowInvalid) as error:
        raise DutiError(f"{path} is not a findings file, or it is damaged ({error}).") from error
    learner = meta["learner"]
    return Findings(
        **arrays,
        path=steps,
        status=Status[meta["status"]],
        notes=tuple(meta["notes"]),
        budget=meta["budget"],
        gamma_max=meta["gamma_max"],
        learner=LEARNERS[learner.pop("name")](**learner),
        frame_library=meta["frame_library"],
    )


def _numpy(column: Any, dtype: str) -> Labels:
    return np.asarray(column.to_pylist(), dtype=dtype)


def _bytes(table: Any) -> bytes:
    buffer = io.BytesIO()
    with pa.ipc.new_file(buffer, table.schema) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def _table(data: bytes) -> Any:
    return pa.ipc.open_file(pa.BufferReader(data)).read_all()


def _path_bytes(steps: tuple[Step, ...]) -> bytes:
    """One row for each step; δ is flattened, as its width follows from the number of rows."""
    columns = {
        "gamma": pa.array([s.gamma for s in steps], pa.float64()),
        "objective": pa.array([s.objective for s in steps], pa.float64()),
        "rows": pa.array([s.rows for s in steps], pa.list_(pa.int64())),
        "delta": pa.array([s.delta.ravel() for s in steps], pa.list_(pa.float64())),
        "width": pa.array([s.delta.shape[1] if s.delta.ndim == 2 else 0 for s in steps], pa.int64()),
        "flagged": pa.array([s.flagged for s in steps], pa.list_(pa.int64())),
        "accuracy": pa.array([s.accuracy for s in steps], pa.float64()),
        "status": pa.array([s.status.name for s in steps], pa.string()),
    }
    return _bytes(pa.table(columns))


def _read_path(table: Any) -> tuple[Step, ...]:
    steps = []
    for row in table.to_pylist():
        delta, width = np.asarray(row["delta"], dtype=np.float64), row["width"]
        steps.append(
            Step(
                gamma=row["gamma"],
                objective=row["objective"],
                rows=np.asarray(row["rows"], dtype=np.int64),
                delta=delta.reshape(-1, width) if width else delta,
                flagged=np.asarray(row["flagged"], dtype=np.int64),
                accuracy=row["accuracy"],
                status=Status[row["status"]],
            )
        )
    return tuple(steps)


def _write_atomically(path: Path, members: dict[str, bytes]) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
