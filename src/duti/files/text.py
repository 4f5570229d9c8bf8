"""Bytes of a text file → UTF-8 without a mark, and back exactly as they were."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from dataclasses import dataclass

from duti.errors import DutiError, ResourceError
from duti.files.sheet import one_line
from duti.memory import available_memory, size

GZIP_LEVEL = 6
TEXT_COPIES = 7
"""A table of text needs so many times its size while it is read: 6.2 times of 57 MB with 20 columns."""
FEWER = "use a file with some of the rows, or fewer columns, or a machine with more memory"
UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
NAMES = {"utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "cp1252": "cp1252", "latin-1": "latin-1"}


@dataclass(frozen=True)
class Text:
    """UTF-8 text without a byte order mark, and how it was written in the file."""

    data: bytes
    encoding: str = "utf-8"
    mark: bytes = b""
    notes: tuple[str, ...] = ()

    def encoded(self, data: bytes, file: str) -> bytes:
        """Other UTF-8 text, written as this one was."""
        if self.encoding == "utf-8":
            return self.mark + data
        try:
            return self.mark + data.decode().encode(self.encoding)
        except UnicodeEncodeError as error:
            letter = error.object[error.start]
            raise DutiError(
                f"{file} is in {NAMES[self.encoding]}, which cannot write {letter!r} of a new label; "
                "save the file as UTF-8 and run again."
            ) from error


def decoded(data: bytes, file: str) -> Text:
    """UTF-8, or UTF-16 with a byte order mark, or else cp1252 or Latin-1.

    >>> decoded(b"caf\\xe9", "menu.csv").notes
    ('not UTF-8 (line 1); read as cp1252',)
    """
    text = _decoded(data, file)
    if (position := text.data.find(b"\0")) >= 0:
        raise DutiError(
            f"{file} line {line_at(text.data, position)}: a NUL byte; this is no text file, "
            "or UTF-16 without a byte order mark: save it as UTF-8."
        )
    return text


def _decoded(data: bytes, file: str) -> Text:
    if data.startswith(codecs.BOM_UTF8):
        rest = data[len(codecs.BOM_UTF8) :]
        if (bad := _first_invalid(rest)) is not None:
            raise DutiError(
                f"{file} line {line_at(rest, bad)}: not UTF-8, though it says so; save it as UTF-8 again."
            )
        return Text(rest, mark=codecs.BOM_UTF8)
    if (mark := data[:2]) in UTF_16:
        return _from_utf_16(data[2:], mark, file)
    if (bad := _first_invalid(data)) is None:
        return Text(data)
    encoding = "cp1252" if _decodes(data, "cp1252") else "latin-1"
    note = f"not UTF-8 (line {line_at(data, bad)}); read as {encoding}"
    return Text(data.decode(encoding).encode(), encoding, notes=(note,))


def _from_utf_16(data: bytes, mark: bytes, file: str) -> Text:
    try:
        return Text(data.decode(UTF_16[mark]).encode(), UTF_16[mark], mark, ("read as UTF-16",))
    except UnicodeError as error:
        raise DutiError(
            f"{file}: the file says it is UTF-16 but is not, or it is cut off ({one_line(error)}); "
            "save it as UTF-8."
        ) from error


def _first_invalid(data: bytes) -> int | None:
    """Where UTF-8 ends, if it does before the data do."""
    if data.isascii():
        return None
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def line_at(data: bytes, position: int) -> int:
    r"""The line, counted from 1, on which a byte stands; lines end in \n, \r\n or \r.

    >>> line_at(b"a\nb\r\nc", 5)
    3
    """
    before = data[:position]
    return 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")


def unzipped(data: bytes, file: str) -> bytes:
    """What a gzip file holds, as long as a table of so much text fits into memory."""
    available = available_memory()
    most = -1 if available is None else int(available / TEXT_COPIES)
    try:
        with gzip.open(io.BytesIO(data)) as zipped_:
            found = zipped_.read(most)
            if most >= 0 and zipped_.read(1):
                problem = f"{file} holds more than {size(most)} of text, for which there is not enough memory"
                raise ResourceError(problem, FEWER)
        return found
    except (OSError, EOFError, zlib.error) as error:
        raise DutiError(
            f"{file} is not a gzip file, or it is cut off or damaged ({one_line(error)}); copy it again."
        ) from error


def zipped(data: bytes) -> bytes:
    """A gzip file that holds these bytes; without a time, so that it is the same every time."""
    return gzip.compress(data, GZIP_LEVEL, mtime=0)
