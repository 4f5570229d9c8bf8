"""What somebody asked for: files, columns, options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self, get_args

from duti.errors import ProblemError
from duti.problem import Task

FILES = ("train", "trusted", "pred_probs", "pred_probs_trusted")
"""The settings that are files: what a run reads."""


_IS: dict[str, Callable[[Any], bool]] = {
    "Path": lambda value: isinstance(value, str),
    "str": lambda value: isinstance(value, str),
    "Task": lambda value: value in get_args(Task),
    "int": lambda value: type(value) is int,
    "float": lambda value: type(value) in (int, float),
    "bool": lambda value: type(value) is bool,
    "tuple[str, ...]": lambda value: isinstance(value, tuple) and all(isinstance(one, str) for one in value),
    "None": lambda value: value is None,
}
"""Whether a value of run.json is of the type of a setting."""


@dataclass(frozen=True)
class Settings:
    """One debugging run of a table, as asked for.

    >>> Settings(train=Path("rows.csv"), trusted=Path("trusted.csv"), label="y").budget is None
    True
    """

    train: Path
    label: str
    trusted: Path | None = None
    trusted_column: str | None = None
    """A column of the training rows that marks those whose label is right, or holds the right label."""
    budget: int | None = None
    confidence: str | None = None
    """A number, or the name of a column of the trusted rows."""
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    image: str | None = None
    images_from: Path | None = None
    """The folder of the images; that of the table if None."""
    verified_at_random: bool = False
    """Whether the rows of the trusted column were drawn at random."""
    classes: tuple[str, ...] = ()
    """All labels there are, in the order of the columns of predictions; those of the files if empty."""
    pred_probs: Path | None = None
    pred_probs_trusted: Path | None = None
    """Files of predictions for the rows of the training and of the trusted file."""
    groups: tuple[str, ...] = ()
    id: str | None = None
    task: Task | None = None
    recipe: str = "auto"
    systematic: float | None = None
    seed: int = 0
    sample: int | None = None
    """How many rows are debugged, drawn at random; all if None."""
    with_columns: bool = False
    """Whether the table of findings has the columns of the training rows, too."""

    def __post_init__(self) -> None:
        for path in filter(None, (getattr(self, role) for role in FILES)):
            try:
                str(path).encode()
            except UnicodeEncodeError:
                raise ProblemError(f"{str(path)!r} is not a name in UTF-8; rename the file.") from None
        if self.trusted is None and self.trusted_column is None:
            raise ProblemError(
                f"nothing is trusted: give a file of trusted rows after {self.train.name}, "
                "or --trusted-column for a column that marks them."
            )
        self._check_predictions()

    def _check_predictions(self) -> None:
        if self.pred_probs_trusted is not None and self.trusted is None:
            raise ProblemError(
                "--pred-probs-trusted is for a file of trusted rows, but there is none; leave it out "
                "(trusted rows of the table have their predictions in --pred-probs)."
            )
        if (self.pred_probs is None) != (self.pred_probs_trusted is None) and self.trusted is not None:
            missing = "--pred-probs" if self.pred_probs is None else "--pred-probs-trusted"
            raise ProblemError(
                f"{missing} is missing; predictions are needed for {self.train.name} and {self.trusted.name}."
            )

    @property
    def default_folder(self) -> Path:
        """Next to the training table.

        >>> Settings(train=Path("data/rows.csv.gz"), trusted_column="known", label="y").default_folder.name
        'rows-duti'
        """
        name = self.train.name or self.train.resolve().name
        return self.train.parent / f"{name.split('.')[0] or 'table'}-duti"

    @property
    def suffix(self) -> str:
        """How the name of the corrected table ends.

        >>> Settings(train=Path("rows.csv.gz"), trusted_column="known", label="y").suffix
        'csv.gz'
        """
        from duti.files.reading import HUGGING_FACE, suffix_of

        return HUGGING_FACE if self.train.is_dir() else suffix_of(self.train)

    @property
    def image_folder(self) -> Path | None:
        """Outside of which no image is opened."""
        return None if self.image is None else self.images_from or self.train.parent

    def to_json(self) -> dict[str, Any]:
        """As plain values, for run.json."""
        found = asdict(self)
        paths = {name: str(found[name].resolve()) for name in (*FILES, "images_from") if found[name]}
        return found | paths

    @classmethod
    def of_json(cls, plain: Mapping[str, Any]) -> Self:
        """From what `to_json` made."""
        known = {field.name: str(field.type).split(" | ") for field in fields(cls)}
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in plain.items()
            if name in known
        }
        for name, value in values.items():
            if not any(_IS[kind](value) for kind in known[name]):
                raise TypeError(f"{name} is {value!r}")
        paths = {name: Path(values[name]) for name in (*FILES, "images_from") if values.get(name)}
        return cls(**(values | paths))
