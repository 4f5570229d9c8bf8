"""Trusted items → rows of the same columns as X, and a confidence for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from duti.arrays import Array, Matrix
from duti.encode.encoder import Encoder
from duti.encode.reading import LARGEST, listed
from duti.encode.tables import Table, table
from duti.errors import ProblemError

PAPER_CONFIDENCE = 100.0


def trusted_rows(X_trusted: Any, rows: Table, encoder: Encoder | None) -> tuple[Matrix, tuple[str, ...]]:
    """The trusted items in the columns of X, and what is new in them."""
    if X_trusted is None or (isinstance(X_trusted, list | tuple) and not X_trusted):
        return rows.values[:0], ()
    if encoder is not None:
        return encoder.transform_with_notes(X_trusted, "X_trusted")
    values = _aligned(table(X_trusted, "X_trusted"), rows)
    if isinstance(rows.values, np.ndarray):
        return values if isinstance(values, np.ndarray) else values.toarray(), ()
    return csr_array(values), ()


def _aligned(trusted: Table, rows: Table) -> Matrix:
    """Columns are matched by name where both sides have names, else by position."""
    values, d = trusted.values, rows.values.shape[1]
    if trusted.columns is None or rows.columns is None:
        if values.shape[1] != d:
            raise ProblemError(
                f"X_trusted has {values.shape[1]} columns but X has {d}; they must be the same features."
            )
        return values
    place = {column: j for j, column in enumerate(trusted.columns)}
    lacking = [column for column in rows.columns if column not in place]
    extra = place.keys() - set(rows.columns)
    if lacking or extra:
        differences = [f"lacks the columns {listed(lacking)} of X"] if lacking else []
        differences += [f"has the columns {listed(sorted(extra))}, which X has not"] if extra else []
        raise ProblemError(f"X_trusted {' and '.join(differences)}; name the columns alike in both.")
    return values[:, [place[column] for column in rows.columns]]


def stacked(first: Matrix, second: Matrix) -> Matrix:
    """One below the other."""
    return csr_array(vstack([first, second])) if issparse(first) else np.vstack([first, second])


def confidences(confidence: Any, given: int, m: int) -> Array:
    """One confidence for each trusted item; verified rows past the given ones get the paper's."""
    try:
        values = np.asarray(PAPER_CONFIDENCE if confidence is None else confidence)
    except ValueError:
        values = np.asarray(confidence, dtype=object)
    if values.dtype.kind not in "iuf":
        raise ProblemError(f"confidence is {confidence!r}; give a number, or one for each item.")
    values = values.astype(np.float64)
    if values.ndim > 1 or (values.ndim == 1 and len(values) not in (given, m)):
        raise ProblemError(
            f"confidence has shape {values.shape} but there are {given} trusted items "
            f"and {m - given} verified rows; give one number, or one for each item."
        )
    bad = ~((values >= 0) & (values <= LARGEST))
    if bad.any():
        raise ProblemError(
            f"confidence {values[bad].flat[0]} is not possible ({int(bad.sum())} such); "
            f"use numbers from 0 to {LARGEST:g}."
        )
    filled = np.full(m, PAPER_CONFIDENCE)
    filled[: m if values.ndim == 0 else len(values)] = values
    return filled
