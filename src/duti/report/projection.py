"""Rows of many features in two dimensions."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, svds

from duti.arrays import Array, Matrix


def projection(X: Matrix, others: Matrix) -> tuple[Array, Array, float]:
    """X and other rows along the two directions in which X varies most, and their share of its variance.

    The mean is subtracted inside the products, so sparse rows stay sparse.

    >>> X = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 1.0, 0.1]])
    >>> xy, _, share = projection(X, X[:1])
    >>> xy.shape, share > 0.99
    ((4, 2), True)
    """
    n, d = X.shape
    largest = float(abs(X).max())
    if largest > 1:  # squares of very large numbers are infinite
        X, others = X / largest, others / largest
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = X**2 if isinstance(X, np.ndarray) else X.multiply(X)
    total = float(np.asarray(squares.mean(axis=0)).ravel().sum() - (mean**2).sum())
    if total <= n * np.finfo(float).eps * float((mean**2).sum()):  # no row differs from another
        return np.zeros((n, 2)), np.zeros((others.shape[0], 2)), 1.0
    if min(n, d) <= 3:
        centred = (X if isinstance(X, np.ndarray) else X.toarray()) - mean
        directions = np.linalg.svd(centred, full_matrices=False)[2][:2].T
    else:
        centred = LinearOperator(
            X.shape,
            matvec=lambda v: X @ v.ravel() - mean @ v.ravel(),
            rmatvec=lambda u: X.T @ u.ravel() - mean * u.sum(),
            dtype=np.float64,
        )
        # From a random start: one-hot columns map ones to zero.
        directions = svds(centred, k=2, random_state=0)[2][::-1].T
    if directions.shape[1] < 2:
        directions = np.hstack([directions, np.zeros((d, 1))])
    xy, trusted = (np.asarray(rows @ directions - mean @ directions) for rows in (X, others))
    return xy, trusted, float(xy.var(axis=0).sum() / total)
