"""Averages of alike learners, and their log-linear pool."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from duti.arrays import Mask
from duti.automatic.given import SLIPS
from duti.automatic.predictions import Kind, Prediction
from duti.automatic.stacking import families, pooled, softened, stacked, suited
from tests.automatic.tables import by_hand, coded, first, said

ALL = tuple(Kind)


def test_families_are_learners_of_a_kind_and_name() -> None:
    problem = coded(60, 12)
    given = by_hand(problem, first(0, 60), first(0, 12), 0.9)
    forest = replace(given, name="a forest")
    alone = replace(given, kind=Kind.TRUSTED)
    found = families([given, forest, alone, given], problem.y, problem.y_trusted)
    assert set(found) == {(Kind.GIVEN, "by hand"), (Kind.GIVEN, "a forest"), (Kind.TRUSTED, "by hand")}
    assert len(found[Kind.GIVEN, "by hand"].predictions) == 2
    for one in found.values():
        assert one.weights.sum() == pytest.approx(1)
        np.testing.assert_allclose(one.rows.sum(axis=1), 1)
        np.testing.assert_allclose(one.trusted.sum(axis=1), 1)


def test_learners_of_the_given_labels_are_weighed_by_rows_and_others_by_items() -> None:
    problem = coded(200, 40)
    better_rows = by_hand(problem, first(0, 200), first(20, 40), 0.9)
    better_items = by_hand(problem, first(60, 200), first(0, 40), 0.9)
    for kind, best in (
        (Kind.GIVEN, 0),
        (Kind.POOLED, 0),
        (Kind.TRUSTED, 1),
        (Kind.DEBUGGED, 1),
    ):
        alike = [replace(one, kind=kind) for one in (better_rows, better_items)]
        weights = families(alike, problem.y, problem.y_trusted)[kind, "by hand"].weights
        assert weights[best] > 0.9


def test_a_pool_of_learners_that_know_different_rows_knows_both() -> None:
    n, m = 100, 40
    problem = coded(n, m)
    some, others = first(n / 2, n), first(m / 2, m)

    def half(rows: Mask, items: Mask, kind: Kind) -> Prediction:
        """Sure of some, without an opinion of others."""
        sure, toss = 0.95, 0.5
        return replace(
            by_hand(problem, first(0, n), first(0, m), sure),
            kind=kind,
            rows=np.where(rows[:, None], said(problem.y, sure), said(problem.y, toss)),
            trusted=np.where(items[:, None], said(problem.y_trusted, sure), said(problem.y_trusted, toss)),
        )

    learners = [half(some, others, Kind.TRUSTED), half(~some, ~others, Kind.DEBUGGED)]
    averages = families(learners, problem.y, problem.y_trusted)
    pool = pooled(averages, ALL, problem.y_trusted)
    right = pool.rows[np.arange(n), problem.y]
    assert right.min() > 0.8


def test_weights_of_learners_that_err_as_one_are_shared() -> None:
    logs = np.log(softened(said(np.arange(40) % 2, 0.8)))
    alone = stacked(logs[None], np.arange(40) % 2)
    twice = stacked(np.array([logs, logs]), np.arange(40) % 2)
    assert twice[0] == pytest.approx(twice[1])
    assert twice.sum() < 2 * alone.sum()


def test_who_predicts_the_items_worse_than_a_coin_has_no_weight() -> None:
    labels = np.arange(60) % 2
    knows, misleads = np.log(softened(said(labels, 0.9))), np.log(softened(said(1 - labels, 0.9)))
    weights = stacked(np.array([knows, misleads]), labels)
    assert weights[1] == 0 < weights[0]


def test_without_items_all_families_count_the_same() -> None:
    weights = stacked(np.zeros((4, 0, 3)), np.zeros(0, dtype=int))
    np.testing.assert_allclose(weights, 1 / 4)


def test_a_pool_of_kinds_that_are_not_there_is_that_of_all() -> None:
    problem = coded(60, 12)
    given = by_hand(problem, first(0, 60), first(0, 12), 0.9)
    averages = families([given], problem.y, problem.y_trusted)
    assert set(pooled(averages, {Kind.TRUSTED}, problem.y_trusted).weights) == set(averages)


def test_no_probability_is_quite_zero() -> None:
    assert softened(np.array([[0.0, -1e6, -1e6]])).min() == pytest.approx(SLIPS / 3)


def test_the_factor_of_few_items_is_not_wild() -> None:
    scores = said(np.zeros(1, dtype=int), 0.9)
    factor, _ = suited(scores, np.zeros(1, dtype=int))
    assert factor < 3
    many = said(np.zeros(400, dtype=int), 0.6)
    assert suited(many, np.zeros(400, dtype=int))[0] > 3
