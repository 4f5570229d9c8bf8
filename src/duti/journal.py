"""Long work in stages that are kept: what was killed goes on after its last finished stage.

A stage is kept as one file of NumPy arrays and JSON, never pickle, that appears whole or not at all.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

Kept = TypeVar("Kept")


class Memory(Protocol):
    """Who remembers what was found, or does not."""

    def recalled(self, stage: str, work: Callable[[], Kept]) -> Kept:
        """What this stage came to: as remembered, or by doing the work."""
        ...


class Forgetful:
    """Does the work every time."""

    def recalled(self, stage: str, work: Callable[[], Kept]) -> Kept:  # noqa: ARG002
        """Do it."""
        return work()


FORGETFUL = Forgetful()


class Journal:
    """Remembers stages in a folder; what they are made of (dataclasses and enums) is named beforehand.

    >>> import tempfile
    >>> journal = Journal(Path(tempfile.mkdtemp()), ())
    >>> journal.recalled("sum", lambda: (np.arange(3), 0.5)), journal.recalled("sum", lambda: None)
    ((array([0, 1, 2]), 0.5), (array([0, 1, 2]), 0.5))
    """

    def __init__(self, folder: Path, types: Iterable[type]) -> None:
        self.folder, self.types = folder, {kind.__name__: kind for kind in types}

    def recalled(self, stage: str, work: Callable[[], Kept]) -> Kept:
        """What this stage came to: as kept, or by doing the work and keeping it."""
        file = self.folder / f"{re.sub(r'[^a-z0-9.]+', '-', stage.lower())}.npz"
        kept = self._read(file)
        if kept is not None:
            return kept  # type: ignore[no-any-return]
        found = work()
        self._write(file, found)
        return found

    def _write(self, file: Path, value: Any) -> None:
        from duti.files import atomically

        arrays: dict[str, Any] = {}
        tree = json.dumps(_tree(value, arrays))
        self.folder.mkdir(parents=True, exist_ok=True)
        with atomically(file) as part, part.open("wb") as out:
            np.savez(out, tree=np.frombuffer(tree.encode(), np.uint8), **arrays)

    def _read(self, file: Path) -> Any:
        """None if it is absent, or damaged in any way (in the archive, in NumPy, in JSON)."""
        try:
            with file.open("rb") as opened, np.load(opened, allow_pickle=False) as stored:
                return self._value(json.loads(stored["tree"].tobytes()), stored)
        except Exception:
            return None

    def _value(self, tree: Any, arrays: Any) -> Any:
        if not isinstance(tree, dict):
            return tree
        ((kind, content),) = tree.items()
        if kind == "array":
            return arrays[content]
        if kind in ("list", "tuple"):
            return {"list": list, "tuple": tuple}[kind](self._value(item, arrays) for item in content)
        if kind == "dict":
            return {name: self._value(item, arrays) for name, item in content.items()}
        if isinstance(content, str):
            return self.types[kind][content]  # type: ignore[index]
        return self.types[kind](**{name: self._value(item, arrays) for name, item in content.items()})


def _tree(value: Any, arrays: dict[str, Any]) -> Any:
    """A value as JSON, its arrays put aside."""
    if isinstance(value, np.ndarray):
        name = f"array{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Enum):
        return {type(value).__name__: value.name}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [_tree(item, arrays) for item in value]}
    if isinstance(value, dict):
        return {"dict": {name: _tree(item, arrays) for name, item in value.items()}}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: _tree(getattr(value, f.name), arrays) for f in dataclasses.fields(value) if f.init}
        return {type(value).__name__: fields}
    return value
