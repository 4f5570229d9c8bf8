"""Tables: what reading, encoding, explaining, writing and the report cost, next to the least that others do.

A CSV file of numbers with missing values, categories and a date is debugged from file to files. All but
the debugging itself is compared with a plain read by pyarrow and a ColumnTransformer that is fitted to it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks.measurement import Report, at_most, timed
from duti.runs.folder import Folder
from duti.runs.run import perform
from duti.runs.settings import Settings

ROWS, TRUSTED, NUMBERS, CATEGORIES = 100_000, 200, 18, 11
MOST, SPARE = 2.0, 3.0
"""At most so many times what the others take, and so many seconds more."""
EVERYTHING_ELSE = ("reading and encoding", "explaining", "writing", "report")


def measure(quick: bool) -> Report:
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, 300 if quick else ROWS, 20 if quick else TRUSTED)
        baseline, _ = timed(lambda: least(folder / "rows.csv"))
        settings = Settings(train=folder / "rows.csv", trusted=folder / "trusted.csv", label="y")
        perform(Folder(folder / "out"), settings)
        seconds = Folder(folder / "out").record["seconds"]
    ours = sum(seconds[part] for part in EVERYTHING_ELSE)
    shown = ", ".join(f"{part} {seconds[part]:.1f} s" for part in seconds)
    report.measurements.append(
        at_most(
            f"{300 if quick else ROWS:,} × 30 cells: all but debugging, less {SPARE:g} s / read and encode",
            (ours - SPARE) / baseline,
            MOST,
            f"{ours:.1f} s against {baseline:.1f} s; {shown}",
        )
    )
    report.figures.append(seconds | {"baseline": baseline})
    return report


def write_tables(folder: Path, n: int, m: int) -> None:
    """rows.csv and trusted.csv; labels of one category of the first column are often wrong."""
    rng = np.random.default_rng(0)
    for name, number, wrong in (("rows", n, True), ("trusted", m, False)):
        pyarrow.csv.write_csv(table(rng, number, wrong=wrong), folder / f"{name}.csv")


def table(rng: np.random.Generator, n: int, *, wrong: bool) -> pa.Table:
    numbers = rng.normal(size=(n, NUMBERS)).round(4)
    categories = rng.integers(0, 8, (n, CATEGORIES))
    y = numbers[:, 0] + numbers[:, 1] + 0.5 * (categories[:, 1] > 4) > 0
    y ^= (categories[:, 0] == 3) & y & wrong
    days = np.datetime64("2020-01-01") + rng.integers(0, 900, n)
    columns = {f"x{j}": pa.array(numbers[:, j], mask=rng.random(n) < 0.03) for j in range(NUMBERS)}
    columns |= {
        f"c{j}": pa.array([f"value {code}" for code in categories[:, j]], mask=rng.random(n) < 0.02)
        for j in range(CATEGORIES)
    }
    return pa.table(columns | {"day": pa.array(days), "y": np.where(y, "yes", "no").tolist()})


def least(file: Path) -> None:
    """A read and a ColumnTransformer, as somebody would write them."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    frame = pyarrow.csv.read_csv(file).to_pandas()
    frame["day"] = (frame["day"] - frame["day"].min()).map(lambda passed: passed.days)
    numbers = [name for name in frame if name[0] in "xd"]
    categories = [name for name in frame if name[0] == "c"]
    numeric = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    ColumnTransformer([("n", numeric, numbers), ("c", OneHotEncoder(), categories)]).fit_transform(frame)
