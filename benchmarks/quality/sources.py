"""Tables that bugs are planted in, or that came with them: read once, and kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from duti.arrays import Array, Ints, Labels, Mask

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
"""Data that may not go into this repository."""
IMAGES, HUMAN_LABELS = SHARED / "cifar10_train_effnetlite0_pca128.npz", SHARED / "cifar10n_labels.npz"
AIR, DEFECTS, NEWS = (
    SHARED / name for name in ("reg_airquality_uci.csv.gz", "defects.parquet", "yoruba_news.parquet")
)
RELEASES = (
    *("activemq-5.0.0", "derby-10.2.1.6", "hbase-0.94.0", "hive-0.9.0"),
    *("jruby-1.1", "lucene-2.3.0", "wicket-1.3.0"),
)
NO_METRICS = ("release", "File", "HeuBug", "HeuBugCount", "RealBug", "RealBugCount")
SENSORS = ("PT08_S2_NMHC", "PT08_S3_NOx", "PT08_S4_NO2", "PT08_S5_O3", "T", "RH", "AH")
CALIBRATION_DAYS, TOLERANCE = 28, 3.0
"""The sensor is calibrated in the first days; labels off by more standard deviations than this are bugs."""

Table = Callable[[], tuple[Array, Labels]]
"""Features and true labels."""


@cache
def cancer() -> tuple[Array, Labels]:
    """Breast Cancer Wisconsin: 569 × 30, two classes."""
    from sklearn.datasets import load_breast_cancer

    return _read(load_breast_cancer)


@cache
def wine() -> tuple[Array, Labels]:
    """178 × 13, three classes, in columns of very different scale."""
    from sklearn.datasets import load_wine

    return _read(load_wine)


@cache
def iris() -> tuple[Array, Labels]:
    """150 × 4, three classes."""
    from sklearn.datasets import load_iris

    return _read(load_iris)


@cache
def scanned_digits() -> tuple[Array, Labels]:
    """1797 images of 8 × 8 pixels in [0, 1], ten classes."""
    from sklearn.datasets import load_digits

    X, truth = _read(load_digits)
    return X / 16, truth


@cache
def diabetes() -> tuple[Array, Labels]:
    """442 × 10: the progression of the disease, in hundreds: whole numbers might be classes."""
    from sklearn.datasets import load_diabetes

    X, truth = _read(load_diabetes)
    return X, truth / 100


def _read(load: Callable[..., Any]) -> tuple[Array, Labels]:
    X, y = load(return_X_y=True)
    return np.asarray(X, dtype=np.float64), np.asarray(y)


@cache
def images() -> tuple[Array, dict[str, Ints]]:
    """CIFAR-10N: features of the images, and their labels by kind."""
    with np.load(HUMAN_LABELS) as labels, np.load(IMAGES) as features:
        return features["emb"].astype(np.float64), {kind: labels[kind].astype(np.int64) for kind in labels}


@cache
def air() -> tuple[Array, Array, Array, Mask]:
    """Features, labels by the sensor, labels by the analyser, and which of the former are bugs."""
    import pandas as pd

    table = pd.read_csv(AIR)
    table = table[(table[[*SENSORS, "CO_GT", "PT08_S1_CO"]] != -200).all(axis=1)]
    time = pd.to_datetime(table["Date"] + " " + table["Time"], format="%d/%m/%Y %H:%M:%S")
    days, angle = (time - time.iloc[0]).dt.total_seconds() / 86400, time.dt.hour * 2 * np.pi / 24
    X = np.column_stack([table[list(SENSORS)], days, np.sin(angle), np.cos(angle)]).astype(np.float64)
    sensor, truth = (table[name].to_numpy(dtype=np.float64) for name in ("PT08_S1_CO", "CO_GT"))
    early = days.to_numpy() < CALIBRATION_DAYS
    given = np.polyval(np.polyfit(sensor[early], truth[early], 1), sensor)
    error = given - truth
    deviation = 1.4826 * np.median(abs(error[early] - np.median(error[early])))
    return X, given, truth, abs(error) > TOLERANCE * deviation


@cache
def defects(release: str) -> tuple[Array, Ints, Ints]:
    """65 metrics of the files of a release, which of them a heuristic calls defective, and which are."""
    import pandas as pd

    table = pd.read_parquet(DEFECTS)
    table = table[table["release"] == release]
    given, truth = (table[name].to_numpy(dtype=np.int64) for name in ("HeuBug", "RealBug"))
    return table.drop(columns=list(NO_METRICS)).to_numpy(dtype=np.float64), given, truth


@cache
def news() -> Any:
    """A frame: `title`, and its topic `given` by rules and in `truth`."""
    import pandas as pd

    return pd.read_parquet(NEWS)
