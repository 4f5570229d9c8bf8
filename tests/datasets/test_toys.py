from __future__ import annotations

import numpy as np

from duti.datasets import harry_potter, sine


def test_harry_potter_discriminates_only_against_low_heritage_and_high_education() -> None:
    data = harry_potter(np.random.default_rng(0))
    heritage, education = data.X[data.is_bug].T
    assert (heritage < 0.5).all()
    assert (education > 0.5).all()
    assert (data.y[data.is_bug] == -1).all()
    np.testing.assert_array_equal(data.truth, np.where(data.X[:, 1] > 0.5, 1, -1))


def test_sine_flips_its_second_peak() -> None:
    counts = []
    for seed in range(20):
        data = sine(np.random.default_rng(seed))
        x = data.X[data.is_bug, 0]
        assert ((x > 1) & (x <= 1.8)).all()
        assert (data.y[data.is_bug] < 0).all()
        assert ((data.X_trusted[:, 0] >= 0.9) & (data.X_trusted[:, 0] <= 1.15)).all()
        counts.append(data.is_bug.sum())
    assert 23 <= np.mean(counts) <= 27


def test_toys_follow_their_generator() -> None:
    for toy in (harry_potter, sine):
        first, second = (toy(np.random.default_rng(5)) for _ in range(2))
        np.testing.assert_array_equal(first.X, second.X)
        np.testing.assert_array_equal(first.y, second.y)
        assert (toy(np.random.default_rng(6)).y != first.y).any()
