"""Labels of any kind → checked arrays, and codes of classes."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from duti.arrays import Array, Ints, Labels
from duti.encode.reading import LARGEST, array_of, frame_or_same, index_of, is_missing
from duti.errors import ProblemError


def vector(y: Any, name: str) -> tuple[Labels, Labels | None]:
    """A copy of one-dimensional labels with their own type, and their index if they had one.

    >>> vector(["no", "yes"], "y")[0]
    array(['no', 'yes'], dtype='<U3')
    """
    series, index = frame_or_same(y, name), None
    values: Labels
    if isinstance(series, nw.DataFrame) and len(series.columns) == 1:
        series = next(series.iter_columns())
    if isinstance(series, nw.Series):
        _refuse_missing(int(series.null_count()), len(series), name)
        index = index_of(series)
        values = (series.cast(nw.Float64) if series.dtype == nw.Decimal else series).to_numpy()
    else:
        values = array_of(y, name)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ProblemError(
            f"{name} ({type(y).__name__}) has shape {values.shape}, but one label for each row is needed."
        )
    values = _checked(values, name)
    if isinstance(y, list | tuple):
        typed = np.asarray(values.tolist())
        values = typed if typed.tolist() == values.tolist() else values
    return values, index


def _checked(values: Labels, name: str) -> Labels:
    """A copy in native byte order: text, numbers or booleans, none of them missing."""
    kind = values.dtype.kind
    if kind in "OT":
        _check_objects(values.tolist(), name)
        return values.astype(object)
    if kind not in "biufU":
        raise ProblemError(f"{name} holds labels of the type {values.dtype}; use text, numbers or booleans.")
    if kind == "f":
        _refuse_missing(int(np.isnan(values).sum()), len(values), name)
        _refuse_infinite(values, name)
        values = np.asarray(values, dtype=np.float64) if values.dtype.itemsize > 8 else values
    return values.astype(values.dtype.newbyteorder("="))


def _check_objects(labels: list[Any], name: str) -> None:
    kinds = set(map(type, labels))
    if kinds <= {str}:
        return
    _refuse_missing(sum(map(is_missing, labels)), len(labels), name)
    families = {family(kind) for kind in kinds}
    if None in families:
        odd = ", ".join(sorted(kind.__name__ for kind in kinds if family(kind) is None))
        raise ProblemError(f"{name} holds labels of the type {odd}; use text, numbers or booleans.")
    if len(families) > 1:
        shown = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ProblemError(f"{name} mixes labels of the types {shown}; use one type.")
    if families == {"number"}:
        numbers = np.asarray(labels)
        are_whole = all(issubclass(kind, int | np.integer) for kind in kinds)
        if numbers.dtype.kind not in ("iu" if are_whole else "f") or numbers.tolist() != labels:
            raise ProblemError(f"{name} holds whole numbers beyond 64 bits, such as {max(labels)}; use text.")
        _refuse_infinite(numbers, name)


def family(kind: type) -> str | None:
    """Labels of one family can be told apart and put in order.

    >>> family(int), family(str), family(bytes)
    ('number', 'text', None)
    """
    if issubclass(kind, bool | np.bool_):
        return "boolean"
    if issubclass(kind, int | float | np.integer | np.floating):
        return "number"
    return "text" if issubclass(kind, str) else None


def _refuse_missing(missing: int, n: int, name: str) -> None:
    if missing:
        raise ProblemError(
            f"{name} contains NaN or missing labels in {missing} of {n} rows; drop those rows "
            "(an unknown label is not a wrong one)."
        )


def _refuse_infinite(values: Labels, name: str) -> None:
    infinite = int(np.isinf(values).sum())
    if infinite:
        raise ProblemError(
            f"{name} contains infinity in {infinite} of {len(values)} rows; drop or repair those rows."
        )


def natural(values: Labels) -> Labels:
    """Numbers and booleans that came as Python objects, as an array of their own type.

    >>> natural(np.array([True, False], dtype=object)).dtype
    dtype('bool')
    """
    is_text = values.dtype.kind != "O" or (len(values) > 0 and isinstance(values[0], str))
    return values if is_text else np.asarray(values.tolist())


SMALLEST = 1e-100
"""Squares of numbers that are all much smaller would vanish."""


def real_labels(values: Labels, name: str) -> Array:
    """Labels of a regression as floats."""
    values = natural(values)
    if values.dtype.kind not in "biuf":
        raise ProblemError(
            f"{name} holds labels such as {values[0]!r}, which are not numbers; "
            "regression needs numbers (or say task='classification')."
        )
    reals = values.astype(np.float64)
    huge = int((abs(reals) > LARGEST).sum())
    if huge:
        raise ProblemError(f"{name} contains numbers beyond ±{LARGEST:g} in {huge} rows; rescale the labels.")
    return reals


def refuse_tiny(reals: Array, name: str) -> None:
    """Labels of a regression that are all next to nothing.

    >>> refuse_tiny(np.array([0.0, 1e-9]), "y")
    """
    largest = float(abs(reals).max(initial=0.0))
    if 0 < largest < SMALLEST:
        raise ProblemError(
            f"{name} has no label beyond ±{largest:g}; rescale the labels, by {1 / SMALLEST:g} say."
        )


def sorted_classes(values: Labels, name: str) -> Labels:
    """The distinct labels, sorted: the order of the columns of δ."""
    if values.dtype.kind in "biuf":
        return np.unique(values)
    classes = sorted(set(values.tolist()))
    try:
        "".join(map(str, classes)).encode()
    except UnicodeEncodeError as error:
        raise ProblemError(f"{name} holds text that is not valid Unicode ({error}); repair it.") from error
    return np.asarray(classes, dtype=values.dtype)


def codes(values: Labels, classes: Labels, place: Callable[[int], str]) -> Ints:
    """Position of each label among the training classes; `place` says where one stands, for a message.

    >>> codes(np.array(["b", "a", "b"]), np.array(["a", "b"]), lambda row: f"y row {row}")
    array([1, 0, 1])
    """
    labels, position = values.tolist(), {label: code for code, label in enumerate(classes.tolist())}
    found = np.asarray([position.get(label, -1) for label in labels], dtype=np.int64)
    unknown = np.flatnonzero(found < 0)
    if len(unknown):
        first = int(unknown[0])
        raise unknown_label(place(first), labels[first], classes.tolist())
    return found


def unknown_label(
    place: str, label: Any, known: list[Any], meant: Any = None, remedy: str = ""
) -> ProblemError:
    """What to say of a label that is none of the known ones; `meant` is the nearest of them if None."""
    shown = ", ".join(map(repr, known[:10])) + (", …" if len(known) > 10 else "")
    meant = _nearest(label, known) if meant is None else meant
    return ProblemError(
        f"{place}: label {label!r} is not among the training labels {shown}. Did you mean {meant!r}?{remedy}"
    )


def _nearest(label: Any, known: list[Any]) -> Any:
    if all(isinstance(value, int | float) for value in [label, *known]):
        return min(known, key=lambda value: abs(value - label))
    similarity = [
        difflib.SequenceMatcher(None, str(label).casefold(), str(value).casefold()).ratio() for value in known
    ]
    return known[int(np.argmax(similarity))]
