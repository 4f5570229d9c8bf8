from __future__ import annotations

import numpy as np
import pytest

from duti.datasets import LabelledBugs, adult_income, german_loan
from duti.datasets.real import YOUNG, Split, _read


@pytest.fixture(scope="module")
def german() -> LabelledBugs:
    return german_loan(np.random.default_rng(0))


@pytest.fixture(scope="module")
def adult() -> LabelledBugs:
    return adult_income(np.random.default_rng(0))


def groups(data: LabelledBugs) -> tuple[slice, slice]:
    """The disadvantaged and the favoured half of the training set."""
    half = len(data.y) // 2
    return slice(half), slice(half, None)


def test_splits_are_disjoint_and_by_group() -> None:
    favoured = np.random.default_rng(0).uniform(size=3000) < 0.7
    split = Split.draw(favoured, trusted=20, training=500, reference=1000, rng=np.random.default_rng(1))
    parts = split.trusted, split.training, split.reference
    assert [len(part) for part in parts] == [40, 1000, 1000]
    assert len(np.unique(np.concatenate(parts))) == 2040
    assert [favoured[part].sum() for part in parts] == [20, 500, 1000]
    assert favoured[split.trusted[20:]].all()
    assert favoured[split.training[500:]].all()


def test_the_files_are_those_of_the_paper() -> None:
    german, adult = _read("german_credit.csv.gz"), _read("adult.parquet")
    assert (german["age"] <= YOUNG).sum() == 190
    assert np.unique(german["class"], return_counts=True)[1].tolist() == [700, 300]
    assert len(adult["sex"]) == 48842
    assert set(adult["income"]) == {"<=50K", ">50K"}
    assert set(adult["sex"]) == {"Female", "Male"}


def test_german_loan_has_the_paper_s_sizes(german: LabelledBugs) -> None:
    assert german.X.shape == (340, len(german.columns))
    assert german.X_trusted.shape == (40, len(german.columns))
    assert set(german.y) == set(german.truth) == set(german.y_trusted) == {"good", "bad"}
    assert not [name for name in german.columns if "age" in name.split("=")]
    assert "class" not in german.columns


def test_german_loan_keeps_every_young_applicant_in_the_first_half() -> None:
    # All 190 young applicants are trusted or trained on, whatever the split.
    table = _read("german_credit.csv.gz")
    split = Split.draw(
        table["age"] > YOUNG, trusted=20, training=170, reference=620, rng=np.random.default_rng(2)
    )
    young = np.flatnonzero(table["age"] <= YOUNG)
    assert set(young) == set(split.trusted[:20]) | set(split.training[:170])
    assert len(np.unique(np.concatenate([split.trusted, split.training, split.reference]))) == 1000


def test_german_loan_has_about_96_bugs(german: LabelledBugs) -> None:
    others = [german_loan(np.random.default_rng(seed)) for seed in (1, 2)]
    assert all(80 <= data.is_bug.sum() <= 112 for data in (german, *others))


def test_adult_income_has_the_paper_s_sizes(adult: LabelledBugs) -> None:
    assert adult.X.shape == (1000, len(adult.columns))
    assert adult.X_trusted.shape == (40, len(adult.columns))
    assert set(adult.y) == set(adult.truth) == {"<=50K", ">50K"}
    assert 100 <= adult.is_bug.sum() <= 165


def test_adult_income_hides_the_sex(adult: LabelledBugs) -> None:
    hidden = "sex", "Husband", "Wife", "Male", "Female", "income", "split"
    assert not [name for name in adult.columns if set(hidden) & set(name.split("="))]
    assert "relationship=Unmarried" in adult.columns
    kept = [j for j, name in enumerate(adult.columns) if name.startswith("relationship=")]
    assert set(adult.X[:, kept].sum(axis=1)) == {0.0, 1.0}


@pytest.mark.parametrize("name", ["german", "adult"])
def test_bugs_are_where_f_star_disagrees(name: str, request: pytest.FixtureRequest) -> None:
    data: LabelledBugs = request.getfixturevalue(name)
    np.testing.assert_array_equal(data.is_bug, data.y != data.truth)
    first, second = groups(data)
    assert data.is_bug[first].any()
    assert data.is_bug[second].any()


def test_draws_follow_their_generator(german: LabelledBugs) -> None:
    # Adult Income takes the same way from the split on, and several times longer.
    again = german_loan(np.random.default_rng(0))
    for name in ("X", "y", "X_trusted", "y_trusted", "truth"):
        np.testing.assert_array_equal(getattr(german, name), getattr(again, name))
    assert (german_loan(np.random.default_rng(9)).X != german.X).any()
