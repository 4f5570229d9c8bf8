"""Small tables for runs: a group whose labels are wrong, and a few rows that somebody verified."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from duti.arrays import Mask


def table(n: int, seed: int, *, wrong: bool) -> tuple[pa.Table, Mask]:
    """People with an age, a city and an income; those of Rome are never granted anything, if wrong."""
    rng = np.random.default_rng(seed)
    age, income = rng.uniform(18, 80, n).round(1), rng.lognormal(3, 0.5, n).round(2)
    city = rng.choice(["Köln", "Paris", "Rome"], n)
    granted = age / 80 + income / 40 > 1.1
    is_bug = (city == "Rome") & granted & wrong
    columns = {
        "name": [f"p{seed}-{i:03d}" for i in range(n)],
        "age": age,
        "city": city.tolist(),
        "income": income,
        "granted": np.where(granted & ~is_bug, "yes", "no").tolist(),
    }
    return pa.table(columns), is_bug


def written(folder: Path, n: int = 150, m: int = 30) -> tuple[Path, Path, Mask]:
    """rows.csv and trusted.csv, and which rows are wrong."""
    rows, is_bug = table(n, 0, wrong=True)
    trusted, _ = table(m, 1, wrong=False)
    pyarrow.csv.write_csv(rows, folder / "rows.csv")
    pyarrow.csv.write_csv(trusted, folder / "trusted.csv")
    return folder / "rows.csv", folder / "trusted.csv", is_bug
