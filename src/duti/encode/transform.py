"""The ColumnTransformer, out of plain scikit-learn transformers, and what its features are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from duti.arrays import Array
from duti.encode.columns import CYCLES, MOST_CATEGORIES, Choice, rare
from duti.encode.texts import terms, vectorizer

Feature = tuple[str, str]
"""The column that a feature came from, and what the feature is called."""


@dataclass(frozen=True)
class Columns:
    """Columns of different types which scikit-learn can index as if they were one array.

    `columns[:, [0, 2]]` is a matrix of the type of those columns, `columns[:, 1]` the column itself.
    Numbers stay an array of floats next to text, and no frame library is needed.
    """

    arrays: list[Any]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.arrays[0]), len(self.arrays)

    def __getitem__(self, key: tuple[slice, Any]) -> Any:
        rows, columns = key
        if np.ndim(columns) == 0:
            return self.arrays[columns][rows]
        return np.column_stack([self.arrays[j][rows] for j in columns])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.column_stack([array.astype(object) for array in self.arrays])


def around(days: Array, period: float) -> Array:
    """Days as points of a circle that is gone around once in a period: all sines, then all cosines.

    >>> around(np.array([[0.0], [7.0], [1.75]]), period=7.0).round(3)
    array([[0., 1.],
           [0., 1.],
           [1., 0.]])
    """
    angles = 2 * np.pi / period * np.mod(days, period)
    return np.hstack([np.sin(angles), np.cos(angles)])


def transformer(choices: tuple[Choice, ...], n: int) -> ColumnTransformer:
    """Transformers for n rows of the columns that are used, by their position."""

    def places(*kinds: str) -> list[int]:
        return [j for j, choice in enumerate(choices) if choice.kind in kinds]

    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    categories = OneHotEncoder(
        min_frequency=rare(n),
        max_categories=MOST_CATEGORIES,
        handle_unknown="infrequent_if_exist",
        sparse_output=False,
    )
    parts = [
        ("numbers", numbers, places("number", "date")),
        *_circles(choices),
        ("yes/no", SimpleImputer(strategy="most_frequent", add_indicator=True), places("yes/no")),
        ("categories", categories, places("category")),
        *((f"text {j}", vectorizer(n), j) for j in places("text")),
        ("vectors", "passthrough", places("embedding", "image")),
    ]
    used = [part for part in parts if part[2] != []]
    has_text = bool(places("text"))
    return ColumnTransformer(used, sparse_threshold=1.0 if has_text else 0.0)


def _circles(choices: tuple[Choice, ...]) -> list[tuple[str, Any, list[int]]]:
    """Where in the year, week and day the dates are; a missing date is in the middle of the circle."""
    parts = []
    for cycle, period in CYCLES.items():
        circle = FunctionTransformer(around, kw_args={"period": period})
        middle = SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True)
        columns = [j for j, choice in enumerate(choices) if cycle in choice.cycles]
        parts.append((cycle, make_pipeline(circle, middle), columns))
    return parts


def features(fitted: ColumnTransformer, choices: tuple[Choice, ...]) -> tuple[Feature, ...]:
    """The features of a fitted transformer, in the order of the matrix."""
    found: list[Feature] = []
    for part, inner, columns in fitted.transformers_:
        names = [choices[j].name for j in np.atleast_1d(columns).tolist()]
        if part in ("numbers", "yes/no"):
            imputer = inner[0] if part == "numbers" else inner
            found += [(name, name) for name in names] + _indicators(imputer, names)
        elif part in CYCLES:
            found += [
                (name, f"{name}: {wave} of the {part}") for wave in ("sine", "cosine") for name in names
            ]
        elif part == "categories":
            found += _one_hot(inner, names)
        elif part == "vectors":
            found += _entries([choices[j] for j in columns])
        else:
            found += [(names[0], f"{names[0]}: {term}") for term in terms(inner)]
    return tuple(found)


def _indicators(imputer: SimpleImputer, names: list[str]) -> list[Feature]:
    return [(names[j], f"{names[j]} is missing") for j in imputer.indicator_.features_]


def _one_hot(encoder: OneHotEncoder, names: list[str]) -> list[Feature]:
    found = []
    for name, values, infrequent in zip(names, encoder.categories_, rare_values(encoder), strict=True):
        found += [(name, _called(name, value)) for value in values if value not in infrequent]
        found += [(name, f"{name} is rare")] if infrequent else []
    return found


def rare_values(encoder: OneHotEncoder) -> list[set[Any]]:
    """The values of each column that share a feature."""
    return [set() if values is None else set(values) for values in encoder.infrequent_categories_]


def _called(name: str, value: str | None) -> str:
    return f"{name} is missing" if value is None else f"{name}={value}"


def _entries(choices: list[Choice]) -> list[Feature]:
    return [(choice.name, f"{choice.name}[{j}]") for choice in choices for j in range(choice.length)]
