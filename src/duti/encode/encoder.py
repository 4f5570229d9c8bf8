"""Frames of numbers, categories, dates, text, vectors and images → matrices, by scikit-learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy.sparse import csr_array

from duti.arrays import Labels, Matrix
from duti.encode.layout import Column, Layout
from duti.encode.reading import LARGEST, frame_or_same, index_of, listed, place
from duti.encode.tables import Table
from duti.errors import ProblemError

# scikit-learn and pyarrow are imported where they are used: tables of plain numbers need neither.
if TYPE_CHECKING:
    from sklearn.compose import ColumnTransformer

    from duti.encode.columns import Choice

_ANY = Layout()


@dataclass(frozen=True, eq=False)
class Encoder:
    """What was learned from the training rows about turning a frame into a matrix.

    Numbers and dates: the median where they are missing, with a feature that says so, then standardised;
    dates also as points on the circles of the year, the week and the day. Yes and no: 1 and 0. Categories:
    a feature for each value, those of few rows share one. Text: TF-IDF, which makes the matrix sparse.
    Lists of numbers: as they are. Images: 16 × 16 shades of gray. Other rows, such as the trusted ones,
    are encoded by what the training rows have taught.

    >>> import pyarrow as pa
    >>> rows = pa.table({"age": [20, None, 40], "job": ["cook", "judge", "cook"]})
    >>> encoder = Encoder.fit(rows)
    >>> encoder.feature_names
    ('age', 'age is missing', 'job=cook', 'job=judge')
    >>> encoder.transform(pa.table({"job": ["judge"], "age": [30]}), "X").round(3)
    array([[ 0.   , -0.707,  0.   ,  1.   ]])
    """

    columns: tuple[Column, ...]
    notes: tuple[str, ...]
    feature_names: tuple[str, ...]
    transformer: ColumnTransformer
    """Fitted; its columns are those that are not left out."""
    choices: tuple[Choice, ...]
    """What was decided of the columns that are not left out."""
    layout: Layout

    @classmethod
    def fit(cls, rows: Any, layout: Layout = _ANY, name: str = "X") -> Encoder:
        """Learn from the training rows."""
        return cls.fit_transform(rows, layout, name)[0]

    @classmethod
    def fit_transform(cls, rows: Any, layout: Layout = _ANY, name: str = "X") -> tuple[Encoder, Matrix]:
        """Learn from the training rows, and encode them."""
        from duti.encode.transform import Columns, features, transformer
        from duti.encode.words import notes, told

        frame = frame_of(rows, name)
        n = len(frame)
        if n < 2:
            raise ProblemError(f"{name} has {n} row(s) (n_samples={n}); at least 2 are needed.")
        choices, cells = _chosen(frame, layout, name)
        used = tuple(choice for choice in choices if choice.kind != "left out")
        if not used:
            reasons = "; ".join(f"{choice.name!r}: {choice.reason}" for choice in choices[:5])
            raise ProblemError(f"no column of {name} can be used ({reasons or 'it has none'}).")
        fitted = transformer(used, n)
        values = fitted.fit_transform(Columns([_read(choice, cells, layout, name) for choice in used]))
        names = features(fitted, used)
        counts = Counter(column for column, _ in names)
        encoder = cls(
            columns=tuple(told(choice, counts[choice.name], n) for choice in choices),
            notes=tuple(notes(choices, len(names), name)),
            feature_names=tuple(feature for _, feature in names),
            transformer=fitted,
            choices=used,
            layout=layout,
        )
        return encoder, encoder._checked(values, name)

    def transform(self, frame: Any, name: str) -> Matrix:
        """Encode other rows as the training rows were."""
        return self.transform_with_notes(frame, name)[0]

    def transform_with_notes(self, frame: Any, name: str) -> tuple[Matrix, tuple[str, ...]]:
        """Encode other rows, and say what they hold that the training rows do not."""
        from duti.encode.arrow import as_numbers, cells_of, is_text
        from duti.encode.transform import Columns

        frame = frame_of(frame, name)
        series = dict(zip(map(str, frame.columns), frame.iter_columns(), strict=True))
        lacking = [choice.name for choice in self.choices if choice.name not in series]
        if lacking:
            raise ProblemError(
                f"{name} lacks the columns {listed(lacking)} of the training rows; add them, "
                "or drop them from the training rows."
            )
        extra = sorted(series.keys() - {column.name for column in self.columns})
        new = f"{name} has columns that the training rows have not, ignored: {listed(extra)}."
        notes = (new,) if extra else ()
        if len(frame) == 0:
            empty = np.empty((0, len(self.feature_names)))
            return csr_array(empty) if self._is_sparse else empty, notes
        cells = {choice.name: cells_of(series[choice.name]) for choice in self.choices}
        for choice in self.choices:
            if choice.odd is not None and is_text(cells[choice.name].type):
                cells[choice.name], _ = as_numbers(cells[choice.name])
        arrays = [_read(choice, cells, self.layout, name) for choice in self.choices]
        values = self._checked(self.transformer.transform(Columns(arrays)), name)
        return values, (*notes, *self._surprises(cells, arrays, name))

    @property
    def _is_sparse(self) -> bool:
        return any(choice.kind == "text" for choice in self.choices)

    def _checked(self, values: Any, name: str) -> Matrix:
        """The matrix in its final form; refuses values that are astronomically far from the training rows."""
        matrix = (
            csr_array(values, dtype=np.float64) if self._is_sparse else np.asarray(values, dtype=np.float64)
        )
        data = matrix if isinstance(matrix, np.ndarray) else matrix.data
        if data.size and not (data.max() <= LARGEST and data.min() >= -LARGEST):
            raise ProblemError(
                f"{name} holds numbers which are more than {LARGEST:g} standard deviations from the mean; "
                "repair them."
            )
        return matrix

    def _surprises(self, cells: dict[str, Any], arrays: list[Labels], name: str) -> Iterator[str]:
        """Notes on values that the training rows do not have."""
        known = self._known_values()
        for choice, array in zip(self.choices, arrays, strict=True):
            where, lacking = place(name, choice.name), cells[choice.name].null_count
            if lacking and not choice.missing and choice.kind != "text":
                yield f"{where} lacks {lacking} value(s), which no training row does."
            values, share = known.get(choice.name, (set(), False))
            if values and (new := sorted(set(array) - values - {None})):
                fate = "they count as rare ones" if share else "they count as none of the known ones"
                shown = listed([repr(value) for value in new])
                yield f"{where} holds values that no training row has; {fate}: {shown}."

    def _known_values(self) -> dict[str, tuple[set[Any], bool]]:
        """The values of each column of categories, and whether rare ones share a feature."""
        names = [choice.name for choice in self.choices if choice.kind == "category"]
        if not names:
            return {}
        one_hot = self.transformer.named_transformers_["categories"]
        infrequent = one_hot.infrequent_categories_
        return {
            column: (set(values), shared is not None)
            for column, values, shared in zip(names, one_hot.categories_, infrequent, strict=True)
        }


def encoded_table(X: Any, layout: Layout, name: str) -> tuple[Table, Encoder]:
    """A frame of training rows as a matrix, and how it became one."""
    encoder, values = Encoder.fit_transform(X, layout, name)
    frame = frame_of(X, name)
    library = frame.implementation.name.lower()
    return Table(values, encoder.feature_names, index_of(frame), library), encoder


def frame_of(given: Any, name: str) -> nw.DataFrame[Any]:
    """A frame of any library, with columns of different names."""
    frame = frame_or_same(given, name)
    if not isinstance(frame, nw.DataFrame):
        raise ProblemError(
            f"{name} is of type {type(given).__name__}, but a frame with named columns is needed "
            "(pandas, polars or Arrow)."
        )
    columns = list(map(str, frame.columns))
    if len(set(columns)) < len(columns):
        raise ProblemError(f"{name} has columns of the same name ({', '.join(columns)}); rename them.")
    return frame


def _chosen(frame: nw.DataFrame[Any], layout: Layout, name: str) -> tuple[list[Choice], dict[str, Any]]:
    """What is made of each column, and what is in it."""
    from duti.encode.arrow import are_mostly_numbers, as_numbers, cells_of
    from duti.encode.columns import choose, require_columns

    columns = tuple(map(str, frame.columns))
    require_columns(layout, columns, name)
    pairs = zip(columns, frame.iter_columns(), strict=True)
    cells: dict[str, Any] = {
        column: None if column in layout.drop else cells_of(series) for column, series in pairs
    }
    choices = []
    for column in columns:
        odd, written = None, cells[column]
        if column not in (*layout.drop, *layout.text, layout.image) and are_mostly_numbers(written):
            cells[column], rows = as_numbers(written)
            odd = tuple((row, written[row].as_py()) for row in rows.tolist())
        choices.append(replace(choose(column, cells[column], layout, place(name, column)), odd=odd))
    return choices, cells


def _read(choice: Choice, columns: dict[str, Any], layout: Layout, name: str) -> Any:
    """The cells of a column as the transformers take them."""
    from duti.encode import arrow

    where, cells = place(name, choice.name), columns[choice.name]
    match choice.kind:
        case "number":
            return arrow.numbers(cells, where)
        case "yes/no":
            return arrow.truths(cells, where)
        case "date":
            return arrow.days(cells, where)
        case "category":
            return arrow.texts(cells, where)
        case "text":
            return arrow.texts(cells, where, nothing="")
        case "embedding":
            return arrow.vectors(cells, where, choice.length)
    from duti.encode.images import pixels

    return pixels(arrow.texts(cells, where), layout.image_folder, where)
