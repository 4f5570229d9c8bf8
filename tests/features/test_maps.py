from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from duti import KernelLogistic, KernelRidge, LearnerError
from duti.arrays import Array
from duti.features import FeatureMap, features_of, with_ones
from duti.features.fourier import Fourier, FourierMap
from duti.features.linear import Linear
from duti.features.nystroem import RBF, Nystroem, centres, exact_map, squared_distances
from duti.features.rows import Rows
from duti.features.scale import Standardized
from duti.learners.hyperparameters import Approximation

RNG = np.random.default_rng(0)


def test_exact_features_reproduce_the_kernel_on_any_rows() -> None:
    X, new = RNG.normal(size=(60, 2)), RNG.normal(size=(7, 2))
    fitted = Nystroem(RBF(0.8)).fit(X, RNG)
    expected = np.exp(-cdist(X, X, "sqeuclidean") / (2 * 0.8**2))
    np.testing.assert_allclose(fitted(X) @ fitted(X).T, expected, atol=1e-9)
    expected = np.exp(-cdist(new, X, "sqeuclidean") / (2 * 0.8**2))
    np.testing.assert_allclose(fitted(new) @ fitted(X).T, expected, atol=1e-6)


def test_nystroem_approximates_the_kernel_with_few_features() -> None:
    X = RNG.normal(size=(500, 2))
    fitted = Nystroem(RBF(1.5), exact_rows=100, landmarks=80).fit(X, np.random.default_rng(0))
    Z = fitted(X)
    assert Z.shape[1] <= 80
    assert abs(Z @ Z.T - np.exp(-cdist(X, X, "sqeuclidean") / (2 * 1.5**2))).max() < 0.05


def test_standardising_makes_units_irrelevant() -> None:
    X = RNG.normal(size=(30, 3))
    scaled = X * [1, 1000, 0.001] + [5, -7, 0]
    maps = [Standardized(Nystroem(RBF(1.0))).fit(rows, RNG)(rows) for rows in (X, scaled)]
    np.testing.assert_allclose(maps[0] @ maps[0].T, maps[1] @ maps[1].T, atol=1e-9)


def test_a_constant_column_does_not_amplify_rounding() -> None:
    X = np.column_stack([RNG.normal(size=20), np.full(20, 0.1)])
    both = Standardized(Nystroem(RBF(1.0))).fit(X, RNG)(X)
    one = Standardized(Nystroem(RBF(1.0))).fit(X[:, :1], RNG)(X[:, :1])
    np.testing.assert_allclose(both @ both.T, one @ one.T, atol=1e-9)


def test_landmarks_at_the_centres_approximate_better_than_rows_drawn_at_random() -> None:
    X, kernel = RNG.normal(size=(1500, 5)) * [3, 1, 1, 1, 1], RBF(1.5)
    K = kernel(X, X)

    def error(landmarks: Array) -> float:
        Z = exact_map(kernel, landmarks)(X)
        return float(np.linalg.norm(K - Z @ Z.T))

    drawn = np.mean(
        [error(X[rng.choice(1500, 60, replace=False)]) for rng in map(np.random.default_rng, range(3))]
    )
    assert error(centres(X, 60, np.random.default_rng(0))) < 0.8 * drawn


def test_centres_of_repeated_rows_are_those_rows() -> None:
    X = np.repeat([[0.0, 1.0], [5.0, 5.0]], 50, axis=0)
    assert set(map(tuple, centres(X, 10, RNG))) == {(0.0, 1.0), (5.0, 5.0)}


def test_distances_by_products_survive_an_offset() -> None:
    X, Y = RNG.normal(size=(20, 30)), RNG.normal(size=(7, 30))
    np.testing.assert_allclose(squared_distances(X + 1e6, Y + 1e6), cdist(X, Y, "sqeuclidean"), rtol=1e-6)


def test_orthogonal_frequencies_approximate_the_kernel_better_than_independent_ones() -> None:
    X = RNG.normal(size=(200, 10))
    K = RBF(3.0)(X, X)

    def error(fitted: FourierMap) -> float:
        return float(np.linalg.norm(fitted(X) @ fitted(X).T - K) / np.linalg.norm(K))

    rngs = [np.random.default_rng(seed) for seed in range(5)]
    orthogonal = np.mean([error(Fourier(3.0, 400).fit(X, rng)) for rng in rngs])
    independent = np.mean([error(FourierMap(rng.normal(size=(200, 10)) / 3.0)) for rng in rngs])
    assert orthogonal < 0.1
    assert orthogonal < 0.8 * independent


@pytest.mark.parametrize(
    "recipe",
    [
        Linear(),
        Fourier(1.0, 31),
        Nystroem(RBF(1.0), exact_rows=10, landmarks=7),
        Nystroem(RBF(1.0)),
        Standardized(Fourier(1.0, 8)),
    ],
    ids=repr,
)
def test_the_width_is_known_before_the_map(recipe: FeatureMap) -> None:
    X = RNG.normal(size=(40, 3))
    assert recipe.fit(X, RNG)(X).shape[1] == recipe.width(40, 3)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_features_in_blocks_are_those_of_the_map(
    sparse: bool, intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duti.features.BLOCK_ROWS", 4)
    X = RNG.normal(size=(10, 3)).astype(np.float32)
    recipe = Linear() if sparse else Nystroem(RBF(1.0), exact_rows=0, landmarks=5)
    fitted = recipe.fit(X, RNG)
    Z = features_of(fitted, csr_array(X) if sparse else X, np.float32, intercept=intercept)
    whole = np.asarray(fitted(X.astype(np.float64)))
    expected = np.column_stack([whole, np.ones(10)]) if intercept else whole
    assert Z.dtype == np.float32
    np.testing.assert_allclose(
        Z if isinstance(Z, np.ndarray) else Z.toarray(), expected, rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize(
    "approximation,components,n,width",
    [
        ("auto", None, 2000, 2000),
        ("auto", None, 2001, 1000),
        ("auto", 300, 5000, 300),
        ("exact", None, 5000, 5000),
        ("nystroem", 50, 100, 50),
        ("fourier", 50, 100, 50),
    ],
)
def test_kernel_learners_choose_their_features(
    approximation: Approximation, components: int | None, n: int, width: int
) -> None:
    learner = KernelRidge(1.0, 0.1, approximation=approximation, components=components)
    assert learner.features().width(n, 3) == width


def test_chosen_features_are_in_the_repr_and_others_are_not() -> None:
    learner = KernelLogistic(0.5, 0.1, approximation="fourier", components=64)
    assert repr(learner).endswith("standardize=False, approximation='fourier', components=64)")
    assert eval(repr(learner)) == learner
    assert "approximation" not in repr(KernelRidge())


@pytest.mark.parametrize(
    "options,message",
    [
        (
            {"approximation": "rff"},
            "approximation is 'rff'; use one of 'auto', 'exact', 'nystroem', 'fourier'",
        ),
        ({"components": 0}, "components is 0; use a whole number above 0"),
        ({"components": 2.5}, "components is 2.5; use a whole number above 0"),
        ({"components": 9, "approximation": "exact"}, "components is 9.*drop one"),
    ],
)
def test_impossible_features_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LearnerError, match=message):
        KernelLogistic(**options)


@pytest.mark.parametrize(
    "kernel", [Nystroem(RBF(1.0)), Standardized(Nystroem(RBF(1.0))), Fourier(1.0, 8)], ids=repr
)
def test_kernels_refuse_sparse_rows_with_a_remedy(kernel: FeatureMap) -> None:
    with pytest.raises(LearnerError, match=r"sparse.*use Logistic or Ridge.*toarray"):
        kernel.fit(csr_array(np.eye(3)), RNG)


def test_wide_linear_rows_keep_their_inner_products() -> None:
    X = RNG.normal(size=(8, 30))
    fitted = Linear().fit(X, RNG)
    assert fitted(X).shape == (8, 8)
    np.testing.assert_allclose(fitted(X) @ fitted(X).T, X @ X.T, atol=1e-10)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
def test_rows_products_are_those_of_the_plain_matrix(sparse: bool, intercept: bool) -> None:
    X, w = RNG.normal(size=(9, 4)), RNG.uniform(size=9)
    Z = np.column_stack([X, np.ones(9)]) if intercept else X
    stored = csr_array(X) if sparse else X
    rows = Rows(with_ones(stored) if intercept else stored)
    V, R, some = RNG.normal(size=(rows.D, 2)), RNG.normal(size=(9, 2)), np.array([3, 1])
    assert (rows.n, rows.D) == Z.shape
    np.testing.assert_allclose(rows.times(V), Z @ V)
    np.testing.assert_allclose(rows.transposed_times(R), Z.T @ R)
    np.testing.assert_allclose(rows.gram(), Z.T @ Z)
    np.testing.assert_allclose(rows.gram(w), Z.T @ np.diag(w) @ Z)
    np.testing.assert_allclose(rows.gram_diagonal(w), np.diag(Z.T @ np.diag(w) @ Z))
    np.testing.assert_allclose(rows.take(some), Z[some])
    np.testing.assert_allclose(rows.subset(some).times(V), Z[some] @ V)
    np.testing.assert_allclose(rows.through(V, lambda _, image: 3 * image), 3 * Z.T @ Z @ V)


def test_passes_over_rows_are_counted_and_those_over_a_few_as_parts() -> None:
    rows = Rows(RNG.normal(size=(10, 3)))
    rows.times(np.ones(3))
    rows.transposed_times(np.ones(10))
    rows.through(np.ones((3, 1)), lambda _, image: image)
    rows.subset(np.array([1, 2])).times(np.ones(3))
    assert rows.passes == pytest.approx(2.1)
