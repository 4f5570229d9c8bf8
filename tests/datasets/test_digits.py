from __future__ import annotations

import subprocess
import sys

import numpy as np

from duti.datasets import digits, images
from duti.datasets.blurred_digits import blurred, reader
from duti.datasets.glyphs import FONTS, SIDE, draw

FRESH = np.repeat(np.arange(10), 100)


def test_sizes_and_labels() -> None:
    data = digits(np.random.default_rng(0))
    assert data.X.shape == (400, len(data.columns)) == (400, SIDE**2)
    assert data.X_trusted.shape == (160, SIDE**2)
    assert (np.bincount(data.truth) == 40).all()
    assert (np.bincount(data.y_trusted) == 16).all()
    assert set(data.y) <= set(range(10))
    np.testing.assert_array_equal(data.is_bug, data.y != data.truth)
    assert data.X.min() >= 0
    assert data.X.max() <= 1
    assert images(data.X)[7, 14, 3] == data.X[7, data.columns.index("pixel 14,3")]


def test_digits_follow_their_generator() -> None:
    first, second, other = (digits(np.random.default_rng(seed)) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)
    np.testing.assert_array_equal(first.X_trusted, second.X_trusted)
    assert (first.X != other.X).any()


def test_digits_have_ink_and_fit_into_the_image() -> None:
    drawn = images(draw(np.repeat(np.arange(10), 20 * len(FONTS)), np.random.default_rng(1)))
    ink = drawn.sum(axis=(1, 2))
    assert ink.min() > 20
    border = drawn.sum(axis=(1, 2)) - drawn[:, 1:-1, 1:-1].sum(axis=(1, 2))
    assert (border > 0.05 * ink).mean() < 0.001


def test_the_reader_reads_clear_images() -> None:
    assert (reader().read(draw(FRESH, np.random.default_rng(2))) == FRESH).mean() >= 0.95


def test_blur_makes_a_third_of_the_labels_wrong() -> None:
    X = draw(FRESH, np.random.default_rng(3))
    assert 0.28 < (reader().read(blurred(X)) != FRESH).mean() < 0.38
    numbers = [digits(np.random.default_rng(seed)).is_bug.sum() for seed in range(3)]
    assert all(100 <= number <= 168 for number in numbers)


def test_importing_the_data_sets_is_light() -> None:
    heavy = "{'matplotlib', 'PIL', 'pyarrow', 'sklearn', 'pandas'}"
    code = f"import sys, duti.datasets; print(sorted({heavy} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
