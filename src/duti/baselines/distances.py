"""Distances between rows, each feature divided by its standard deviation over the training rows."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.spatial.distance import cdist

from duti.arrays import Array, Matrix
from duti.encode import constant_columns
from duti.problem import Problem


def normalised(problem: Problem) -> tuple[Matrix, Matrix]:
    """Training rows and trusted items with features of deviation 1; constant features are left out.

    Distances do not see a shift, so sparse rows are not centred and stay sparse.

    >>> normalised(Problem([[0.0, 1.0], [2.0, 1.0]], ["a", "b"], [[1.0, 9.0]], ["a"]))[1]
    array([[0., 0.]])
    """
    X = problem.X
    if isinstance(X, np.ndarray):
        mean, scale = X.mean(axis=0), X.std(axis=0)
        # Rounding leaves a tiny deviation in a constant column; dividing by it would amplify noise.
        scale[scale <= 1e-12 * np.maximum(1.0, abs(mean))] = np.inf
        return (X - mean) / scale, (problem.X_trusted - mean) / scale
    variance = np.asarray(X.multiply(X).mean(axis=0) - X.mean(axis=0) ** 2).ravel()
    variance[constant_columns(X)] = np.inf
    weights = diags_array(1 / np.sqrt(np.maximum(variance, np.finfo(float).tiny)))
    return csr_array(X @ weights), csr_array(problem.X_trusted @ weights)


def distances(A: Matrix, B: Matrix) -> Array:
    """‖a − b‖ for all pairs of rows.

    >>> distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[5.]])
    """
    if isinstance(A, np.ndarray):
        return np.asarray(cdist(A, B))
    from sklearn.metrics.pairwise import euclidean_distances

    return np.asarray(euclidean_distances(A, B))
