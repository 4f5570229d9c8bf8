"""How true labels become given ones."""

from __future__ import annotations

import numpy as np
import pytest

from duti.arrays import Array, Ints
from duti.automatic.transitions import transitions
from tests.automatic.tables import said


def drawn(T: Array, n: int, sure: float = 0.97) -> tuple[Array, Ints]:
    """q of rows whose true labels take turns, and the labels that T makes of them."""
    k, rng = len(T), np.random.default_rng(0)
    truth = np.arange(n) % k
    y = np.array([rng.choice(k, p=T[label]) for label in truth])
    return np.exp(said(truth, sure, k)), y


@pytest.mark.parametrize("classwise", [False, True])
@pytest.mark.parametrize("rate", [0.05, 0.2, 0.4])
def test_the_rate_of_flips_is_found(classwise: bool, rate: float) -> None:
    T = np.where(np.eye(3) > 0, 1 - rate, rate / 2)
    found = transitions(*drawn(T, 3000), classwise=classwise).matrix
    np.testing.assert_allclose(found, T, atol=0.06)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_confused_classes_are_found_and_flips_cannot_explain_them() -> None:
    T = np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    q, y = drawn(T, 3000)
    flips, confusions = (transitions(q, y, classwise=one) for one in (False, True))
    np.testing.assert_allclose(confusions.matrix, T, atol=0.08)
    assert confusions.told > flips.told + 0.1
    assert confusions.rate == confusions.matrix[0, 1]


def test_what_is_confused_by_chance_is_drawn_to_flips() -> None:
    T = np.where(np.eye(4) > 0, 0.8, 0.2 / 3)
    q, y = drawn(T, 120)
    flips, confusions = (transitions(q, y, classwise=one) for one in (False, True))
    assert confusions.told - flips.told < 0.1
    assert (confusions.matrix > 0).all()


def test_labels_that_are_right_have_hardly_a_transition() -> None:
    q, y = drawn(np.eye(3), 300)
    assert transitions(q, y, classwise=True).rate < 0.03
