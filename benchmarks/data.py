"""Problems of any size with a systematic bug, seen through random Fourier features of two columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from duti.arrays import Array
from duti.datasets import LabelledBugs

BLOCK = 16_384
REGION = (0.2, 0.4)
"""The square of the regression's bug: 4 % of the rows."""


def bands(rng: np.random.Generator, n: int, D: int, k: int, m: int = 200) -> LabelledBugs:
    """k classes in bands of education; low heritage costs a class. Features are float32.

    With two classes low heritage needs an education of 0.85 instead of 0.5; with more, each class of
    the upper half becomes the one below it. One row of each class is known to be clean. The
    trusted items are m more rows, with clean labels.
    """
    raw = rng.uniform(size=(n + m, 2))
    raw[:k] = np.column_stack([np.full(k, 0.9), (np.arange(k) + 0.5) / k])
    heritage, education = raw.T
    truth = np.minimum((k * education).astype(np.int64), k - 1)
    given = np.where(education < 0.85, 0, truth) if k == 2 else np.where(truth >= k // 2, truth - 1, truth)
    y = np.where(heritage < 0.35, given, truth)
    X = fourier(rng, raw, D, 0.15, np.float32)
    return _split(X, y, truth, n)


def waves(rng: np.random.Generator, n: int, D: int, m: int = 30) -> LabelledBugs:
    """A smooth function of two columns plus noise of 0.1; the labels of one square are 1 too high.

    The trusted items lie in a square of twice that side around it, without noise. Features are float64.
    """
    low, high = REGION
    side = high - low
    raw = rng.uniform(size=(n + m, 2))
    raw[n:] = low - side / 2 + 2 * side * raw[n:]
    clean = np.sin(2 * np.pi * raw[:, 0]) + 2 * (raw[:, 1] - 0.5) ** 2
    truth = clean + np.where(np.arange(n + m) < n, rng.normal(0, 0.1, n + m), 0.0)
    wrong = ((raw >= low) & (raw < high)).all(axis=1)
    X = fourier(rng, raw, D, 0.3, np.float64)
    return _split(X, truth + wrong, truth, n)


def fourier(
    rng: np.random.Generator, raw: Array, D: int, bandwidth: float, dtype: type[np.floating[Any]]
) -> NDArray[Any]:
    """√(2/D) cos(xW + b): their inner products are about exp(−‖x − x'‖²/(2 bandwidth²)).

    Built in blocks of rows, so that nothing larger than the features themselves is ever in memory.
    """
    W = rng.standard_normal((raw.shape[1], D)) / bandwidth
    phase = rng.uniform(0, 2 * np.pi, D)
    X: NDArray[Any] = np.empty((len(raw), D), dtype=dtype)
    for start in range(0, len(raw), BLOCK):
        X[start : start + BLOCK] = np.sqrt(2 / D) * np.cos(raw[start : start + BLOCK] @ W + phase)
    return X


def _split(X: NDArray[Any], y: NDArray[Any], truth: NDArray[Any], n: int) -> LabelledBugs:
    """The first n rows are the training set, the others the trusted items."""
    return LabelledBugs(X[:n], y[:n], X[n:], truth[n:], truth[:n], y[:n] != truth[:n], columns=())
