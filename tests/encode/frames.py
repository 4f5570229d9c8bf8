"""Frames that the tests of the encoding share."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from duti.arrays import Array, Matrix

LIBRARIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "pyarrow": pa.table,
}


def dense(matrix: Matrix) -> Array:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def german_credit() -> pd.DataFrame:
    return pd.read_csv(str(files("duti.datasets") / "files" / "german_credit.csv.gz"))


def adult() -> pd.DataFrame:
    return pd.read_parquet(str(files("duti.datasets") / "files" / "adult.parquet"))


REVIEWS = [
    "the soup was cold and the waiter was rude",
    "best soup in town, a very friendly waiter",
    "we waited an hour for a cold dinner",
    "lovely dinner and a friendly host",
    "never again, the dinner was cold",
    "a lovely evening with very good soup",
]
