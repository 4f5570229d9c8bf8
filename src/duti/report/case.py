"""All that a report is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from duti.arrays import Ints
from duti.findings import Findings
from duti.problem import Problem
from duti.reasons import Reasons

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Case:
    """A debugging run: what went in, what came out, and why."""

    problem: Problem
    findings: Findings
    reasons: Reasons
    rows: pa.Table
    """The training rows as read, the label column included."""
    trusted: pa.Table
    """The trusted rows as read; verified rows of the training set are not among them."""
    label: str
    """Name of the label column."""
    groups: tuple[str, ...] = ()
    """Columns by whose values flags are to be counted."""
    text: str | None = None
    image: str | None = None
    image_folder: Path | None = None
    """Where relative paths of images start."""
    columns: tuple[tuple[str, str, str], ...] = ()
    """Name, kind, and what was done to it, for every column."""
    row_name: str = "row"
    """What the names of rows are called: the column they are from."""
    counted: bool = False
    """Whether rows have no other names than their numbers from 1."""
    settings: Mapping[str, str] | None = None
    """What it takes to run it again."""
    title: str = "training set"

    @property
    def automatic(self) -> bool:
        """Whether learners were weighed, so that qualities are probabilities, verdict or not."""
        return self.findings.probabilistic or bool(self.findings.learners)

    @cached_property
    def fixed(self) -> Ints:
        """Rows whose suggested label is another one than the given."""
        return self.findings.fixed
