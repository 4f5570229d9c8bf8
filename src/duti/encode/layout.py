"""What a user says about the columns of a frame, and what is said back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from duti.errors import ProblemError

Kind = Literal["number", "yes/no", "category", "date", "text", "embedding", "image", "left out"]


@dataclass(frozen=True)
class Layout:
    """What a user says about the columns of a frame; whatever is not said is read from the data.

    >>> Layout(drop=("row",), text=("review",)).text
    ('review',)
    """

    drop: tuple[str, ...] = ()
    """Columns to leave out."""
    keep: tuple[str, ...] = ()
    """Columns to use although they look like an id."""
    text: tuple[str, ...] = ()
    """Columns of free text."""
    image: str | None = None
    """The column of the paths of image files."""
    image_folder: Path | None = None
    """Where relative paths of images start, and outside of which none is opened; if None, the working
    directory, and any file."""

    def __post_init__(self) -> None:
        for role in ("drop", "keep", "text"):
            names = getattr(self, role)
            if isinstance(names, str):
                raise ProblemError(f"{role} is {names!r}; give a tuple of column names, ({names!r},).")

    @property
    def named(self) -> tuple[str, ...]:
        """All columns that are mentioned."""
        return (*self.drop, *self.keep, *self.text, *(() if self.image is None else (self.image,)))


@dataclass(frozen=True)
class Column:
    """What became of a column of the frame."""

    name: str
    kind: Kind
    treatment: str
    """What was done to it, in a sentence."""
    features: int
    """How many columns of the matrix it gave."""
