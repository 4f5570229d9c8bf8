from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from duti.arrays import Array
from duti.relabelling import Shifts, SoftLabels

NONE_FROZEN = np.zeros(4, dtype=bool)
Y = np.array([0, 1, 2, 1])


def test_nothing_is_flagged_at_the_start() -> None:
    soft, shift = SoftLabels(Y, 3, NONE_FROZEN), Shifts(np.arange(4.0), NONE_FROZEN)
    for relabelling in (soft, shift):
        assert not relabelling.flagged(relabelling.start).any()
        assert relabelling.distance(relabelling.start) == 0
        np.testing.assert_array_equal(
            relabelling.labels(relabelling.start), [soft.start, shift.y][relabelling is shift]
        )


def test_a_tie_with_the_given_class_is_not_a_flag() -> None:
    soft = SoftLabels(np.array([1]), 2, np.zeros(1, dtype=bool))
    assert not soft.flagged(np.array([[0.5, 0.5]])).any()
    assert soft.flagged(np.array([[0.51, 0.49]])).all()


@given(arrays(float, (4, 3), elements=st.floats(0, 1)))
def test_a_class_fix_is_never_the_given_class(delta: Array) -> None:
    assert (SoftLabels(Y, 3, NONE_FROZEN).fixes(delta) != Y).all()


@given(arrays(float, (4, 3), elements=st.floats(-50, 50)), st.floats(-5, 5))
def test_margins_ignore_a_constant_in_the_row(evidence: Array, constant: float) -> None:
    soft = SoftLabels(Y, 3, NONE_FROZEN)
    np.testing.assert_allclose(soft.margin(evidence + constant), soft.margin(evidence), atol=1e-9)


def test_frozen_rows_do_not_set_gamma_max() -> None:
    frozen = np.array([True, False, False, False])
    evidence = np.array([100.0, 1.0, 2.0, 3.5])
    assert Shifts(np.arange(4.0), frozen).gamma_max(evidence) == 1.0
    assert Shifts(np.arange(4.0), NONE_FROZEN).gamma_max(evidence) == 200.0
