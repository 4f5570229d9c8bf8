"""Folders written by Hugging Face's `datasets.save_to_disk`, read without that library."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from duti.errors import DutiError
from duti.files.columnar import ARROW_FILE, arrow_bytes, opened_arrow, plain, with_labels
from duti.files.sheet import Content, Edit

STATE, INFO, SPLITS = "state.json", "dataset_info.json", "dataset_dict.json"


@dataclass(frozen=True)
class Folder:
    """The bytes of a saved dataset, by the names of its files, in order."""

    name: str
    files: dict[str, bytes]

    @property
    def checksum(self) -> str:
        """SHA-256 of all its files, one after another."""
        return hashlib.sha256(b"".join(self.files.values())).hexdigest()

    @property
    def parts(self) -> dict[str, bytes]:
        """The files that hold rows."""
        return {name: data for name, data in self.files.items() if name not in (STATE, INFO)}

    def read(self) -> Content:
        """All rows, with the names of classes for their numbers."""
        tables = [opened_arrow(data, f"{self.name}/{name}") for name, data in self.parts.items()]
        try:
            table = pa.concat_tables(tables)
        except pa.ArrowException as error:
            raise DutiError(f"{self.name}: its files have different columns; save it again.") from error
        content = plain(table, self.name)
        table = content.table
        for column, names in self.class_names().items():
            if column in table.column_names and pa.types.is_integer(table[column].type):
                place = table.column_names.index(column)
                table = table.set_column(place, column, self._named(column, table[column], names))
        return replace(content, table=table)

    def _named(self, column: str, codes: Any, names: list[str]) -> Any:
        """Names for numbers of classes; -1 means that there is no label."""
        codes = pc.if_else(pc.equal(codes, -1), pa.scalar(None, codes.type), codes)
        bounds = pc.min_max(codes).as_py()
        if bounds["min"] is not None and not 0 <= bounds["min"] <= bounds["max"] < len(names):
            raise DutiError(
                f"{self.name}: column {column!r} holds class {bounds['max']}, but {INFO} names {len(names)} "
                "classes; save the dataset again."
            )
        return pa.chunked_array([pa.array(names, pa.string())]).take(codes)

    def class_names(self) -> dict[str, list[str]]:
        """The names of the classes of each column that has some."""
        features = self._json(INFO).get("features") or {}
        found = {}
        for column, feature in features.items() if isinstance(features, dict) else ():
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel":
                names = feature.get("names")
                if isinstance(names, list) and all(isinstance(name, str) for name in names):
                    found[column] = names
        return found

    def relabelled(self, edit: Edit) -> dict[str, bytes]:
        """The same files with other labels, and another fingerprint, by which caches know the content."""
        names = self.class_names().get(edit.column)
        labels = edit.labels if names is None else _codes(edit, names)
        files, start = dict(self.files), 0
        for name, data in self.parts.items():
            table = opened_arrow(data, f"{self.name}/{name}")
            here = {row - start: label for row, label in labels.items() if start <= row < start + len(table)}
            start += len(table)
            if here:
                fixed = with_labels(table, replace(edit, labels=here))
                _refuse_other_types(table, fixed, edit)
                files[name] = arrow_bytes(fixed, data.startswith(ARROW_FILE))
        state = self._json(STATE)
        state["_fingerprint"] = hashlib.sha256(b"".join(files.values())).hexdigest()[:16]
        files[STATE] = json.dumps(state, indent=2).encode()
        return files

    def _json(self, name: str) -> dict[str, Any]:
        return _json_object(self.files[name], f"{self.name}/{name}")


def opened_folder(path: Path) -> Folder:
    """The files of a saved dataset; any other folder is an error."""
    if (path / SPLITS).is_file():
        found = _json_object((path / SPLITS).read_bytes(), f"{path.name}/{SPLITS}").get("splits", [])
        raise DutiError(
            f"{path} holds the datasets {', '.join(map(str, found))}; name one, as in {path}/train."
        )
    if not (path / STATE).is_file():
        raise DutiError(
            f"{path} is a folder, and no saved Hugging Face dataset ({STATE} is missing); name a file."
        )
    files = {INFO: b"{}"} if not (path / INFO).is_file() else {INFO: (path / INFO).read_bytes()}
    files[STATE] = (path / STATE).read_bytes()
    for name in _data_files(files[STATE], path):
        files[name] = (path / name).read_bytes()
    return Folder(path.name, files)


def _data_files(state: bytes, path: Path) -> list[str]:
    where = f"{path.name}/{STATE}"
    listed = _json_object(state, where).get("_data_files")
    parts = listed if isinstance(listed, list) else []
    names = [str(part["filename"]) for part in parts if isinstance(part, dict) and part.get("filename")]
    if not set(names) - {STATE, INFO}:
        raise DutiError(f"{where} names no data files; save the dataset again with save_to_disk.")
    if outside := [name for name in names if Path(name).name != name]:
        raise DutiError(
            f"{where} names {outside[0]!r}, which is outside of the folder; save the dataset again."
        )
    return names


def _json_object(data: bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DutiError(f"{where} is not JSON; save the dataset again with save_to_disk.") from error
    if not isinstance(found, dict):
        raise DutiError(f"{where} holds no object; save the dataset again with save_to_disk.")
    return found


def _refuse_other_types(table: Any, fixed: Any, edit: Edit) -> None:
    """The types are written in several places of a dataset, so they stay as they are."""
    if fixed.schema.types != table.schema.types:
        kind = table.schema.field(edit.position).type
        raise DutiError(
            f"{edit.file}: column {edit.column!r} is of type {kind}, but a label is not whole; "
            "save the dataset with floats."
        )


def _codes(edit: Edit, names: list[str]) -> dict[int, int]:
    for label in edit.labels.values():
        if label not in names:
            raise DutiError(
                f"{edit.file}: {label!r} is not a class of column {edit.column!r} ({', '.join(names)}); "
                "give one of these."
            )
    return {row: names.index(label) for row, label in edit.labels.items()}
