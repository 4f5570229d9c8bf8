from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from duti import LearnerError
from duti.features.linear import Linear
from duti.features.nystroem import RBF, Nystroem
from duti.features.rows import Rows
from duti.features.scale import Standardized

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


@pytest.mark.parametrize("kernel", [Nystroem(RBF(1.0)), Standardized(Nystroem(RBF(1.0)))])
def test_kernels_refuse_sparse_rows_with_a_remedy(kernel: Nystroem | Standardized) -> None:
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
    rows = Rows(csr_array(X) if sparse else X, intercept=intercept)
    V, R, some = RNG.normal(size=(rows.D, 2)), RNG.normal(size=(9, 2)), np.array([3, 1])
    assert (rows.n, rows.D) == Z.shape
    np.testing.assert_allclose(rows.times(V), Z @ V)
    np.testing.assert_allclose(rows.transposed_times(R), Z.T @ R)
    np.testing.assert_allclose(rows.gram(), Z.T @ Z)
    np.testing.assert_allclose(rows.gram(w), Z.T @ np.diag(w) @ Z)
    np.testing.assert_allclose(rows.gram_diagonal(w), np.diag(Z.T @ np.diag(w) @ Z))
    np.testing.assert_allclose(rows.take(some), Z[some])
    np.testing.assert_allclose(rows.subset(some).times(V), Z[some] @ V)
