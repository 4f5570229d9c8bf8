"""A path → a sheet: by the end of its name, and only if the bytes agree."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from duti.errors import DutiError
from duti.files.columnar import Arrow, Parquet
from duti.files.delimited import Delimited
from duti.files.huggingface import Folder, opened_folder
from duti.files.jsonlines import JsonLines
from duti.files.npz import Npz
from duti.files.sheet import Content, Format, Sheet
from duti.files.text import FEWER, TEXT_COPIES, decoded, unzipped
from duti.memory import require

CSV, TSV, JSONL = Delimited("csv", ","), Delimited("tsv", "\t"), JsonLines()
TEXTS: dict[str, Format] = {"csv": CSV, "tsv": TSV, "jsonl": JSONL, "ndjson": JSONL}
BINARIES: dict[str, Format] = {
    "parquet": Parquet(),
    "arrow": Arrow(),
    "feather": Arrow(),
    "ipc": Arrow(),
    "npz": Npz(),
}
FORMATS: dict[str, Format] = TEXTS | {f"{suffix}.gz": found for suffix, found in TEXTS.items()} | BINARIES
ODD = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
HUGGING_FACE = "huggingface"
KINDS = {
    b"PAR1": ("Parquet", (".parquet",)),
    b"ARROW1": ("Arrow", (".arrow", ".feather", ".ipc")),
    b"\x1f\x8b\x08": ("gzip", (".gz",)),
    b"PK\x03\x04": ("a zip archive (as .npz and .xlsx are)", (".npz",)),
    b"\xd0\xcf\x11\xe0": ("an old Excel or Word document", ()),
    b"%PDF": ("PDF", ()),
}
"""How files of some kinds start, and the ends of names that go with them."""


def read(path: str | os.PathLike[str]) -> Sheet:
    """Read a table from a file, or from a folder saved by Hugging Face `datasets`.

    The format goes by the end of the name: .csv, .tsv, .jsonl, .ndjson (each also with .gz), .parquet,
    .arrow, .feather, .ipc or .npz.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = path.write_text("age;label\\n3,5;yes\\n4;no\\n")
    >>> sheet = read(path)
    >>> sheet.table.to_pydict()
    {'age': [3.5, 4.0], 'label': ['yes', 'no']}
    >>> sheet.notes
    ('cells are separated by semicolons', "decimal commas in 'age'")
    """
    path = Path(path)
    if path.is_dir():
        folder = folder_at(path)
        return _sheet(path, HUGGING_FACE, folder.read(), folder.checksum)
    data = bytes_at(path)
    suffix = suffix_of(path)
    content = FORMATS[suffix].read(_fitting(checked_bytes(data, path), suffix, path), path.name)
    return _sheet(path, FORMATS[suffix].name, content, hashlib.sha256(data).hexdigest(), suffix)


def read_written(path: str | os.PathLike[str]) -> Sheet:
    """A CSV or TSV file whose cells are left as they are written, all of them text."""
    path = Path(path)
    data, suffix = bytes_at(path), suffix_of(path)
    delimited = FORMATS[suffix]
    assert isinstance(delimited, Delimited), suffix
    content = delimited.written(_fitting(checked_bytes(data, path), suffix, path), path.name)
    return _sheet(path, delimited.name, content, hashlib.sha256(data).hexdigest(), suffix)


def _fitting(data: bytes, suffix: str, path: Path) -> bytes:
    """The bytes, if a table of so much text fits into memory."""
    if suffix not in BINARIES:
        require(TEXT_COPIES * len(data), path.name, FEWER)
    return data


def read_text(path: Path) -> str:
    """The text of a file in any encoding that tables may have."""
    return decoded(bytes_at(path), path.name).data.decode()


def bytes_at(path: Path) -> bytes:
    """What is in a file."""
    try:
        kind = path.stat().st_mode
        if not stat.S_ISREG(kind):  # a pipe would wait, and a device may never end
            what = next((what for is_one, what in ODD if is_one(kind)), "something else")
            raise DutiError(f"{path} is {what}, not a file; save the table in a file.")
        require(path.stat().st_size, path.name, FEWER)
        return path.read_bytes()
    except DutiError:
        raise
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def folder_at(path: Path) -> Folder:
    """What is in the folder of a saved dataset."""
    try:
        return opened_folder(path)
    except OSError as error:
        raise _unreadable(path, error) from error


def suffix_of(path: Path) -> str:
    """The end of a file's name that says how it is to be read."""
    ends = [end.lower().removeprefix(".") for end in path.suffixes]
    for suffix in (".".join(ends[-2:]), ends[-1] if ends else ""):
        if suffix in FORMATS:
            return suffix
    known = ", ".join(f".{suffix}" for suffix in FORMATS)
    raise DutiError(
        f"{path}: a table is read from {known} or a saved Hugging Face dataset; save it as one of these."
    )


def checked_bytes(data: bytes, path: Path) -> bytes:
    """The bytes of a file, unzipped, unless they are of another kind than its name says."""
    if not data:
        raise DutiError(f"{path.name} is empty; it needs column names and rows.")
    for start, (kind, ends) in KINDS.items():
        if data.startswith(start) and path.suffix.lower() not in ends:
            remedy = f"name it {ends[0]}" if ends else "save it as .csv"
            raise DutiError(f"{path.name} is {kind} by its content, not {path.suffix}; {remedy}.")
    return unzipped(data, path.name) if path.suffix.lower() == ".gz" else data


def _sheet(path: Path, name: str, content: Content, checksum: str, suffix: str = HUGGING_FACE) -> Sheet:
    if not content.table.num_columns:
        raise DutiError(f"{path.name} has no columns; it needs some, and rows.")
    if not content.table.num_rows:
        raise DutiError(f"{path.name} has no rows; add some.")
    return Sheet(
        path, name, content.table, content.notes, checksum, suffix, content.lines, content.decimal_commas
    )


def _unreadable(path: Path, error: OSError | ValueError) -> DutiError:
    if isinstance(error, FileNotFoundError):
        missing = path if error.filename is None else error.filename
        return DutiError(f"{missing}: no such file; check the name and the folder.")
    if isinstance(error, PermissionError):
        return DutiError(f"{path}: no permission to read it; change its permissions or copy it.")
    reason = error.strerror if isinstance(error, OSError) else error
    return DutiError(f"{path} cannot be read ({reason}); check the name and the disk.")
