"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomically(out: Path) -> Iterator[Path]:
    """A path in the folder of `out` to write to; it replaces `out` at the end and is removed on an error.

    What is written may be a file or a folder. Neither half a file nor a temporary one is ever left.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomically(folder / "a.txt") as temporary:
    ...     _ = temporary.write_text("all of it")
    >>> [file.name for file in folder.iterdir()]
    ['a.txt']
    """
    temporary = out.with_name(f".{secrets.token_hex(8)}.part")
    try:
        yield temporary
        if temporary.is_dir() and out.is_dir():
            _replace_folder(temporary, out)
        else:
            os.replace(temporary, out)
    finally:
        _remove(temporary)


def _replace_folder(new: Path, out: Path) -> None:
    """A folder cannot replace another in one step: the old one steps aside, and comes back if that fails."""
    old = out.with_name(f".{secrets.token_hex(8)}.old")
    os.replace(out, old)
    try:
        os.replace(new, out)
    except BaseException:
        os.replace(old, out)
        raise
    _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
