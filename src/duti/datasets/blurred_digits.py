"""The paper's digits: an annotator with poor eyesight labels images of digits.

The annotator f* is a network with one layer of an autoencoder and a softmax layer. It reads clear
images well, and here it reads blurred ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from scipy.special import expit, softmax

from duti.arrays import Array, Ints
from duti.datasets.glyphs import SIDE, draw
from duti.datasets.toys import LabelledBugs

TRAINING, TRUSTED = 40, 16
"""Images of each digit."""
BLUR = 2.33
"""Standard deviation of the Gaussian filter in pixels, at which f* gets a third of the labels wrong."""

READER_IMAGES, READER_SEED = 500, 2018
"""f* learns from so many images of each digit, always the same."""
HIDDEN = 100
RIDGE = 2e-4
SPARSITY, SPARSITY_WEIGHT = 0.1, 0.5
"""The mean activity that a hidden unit of the autoencoder should have, and the weight of that wish."""
PRETRAINING, FINE_TUNING = 5, 50
"""Epochs."""
BATCH, RATE = 100, 0.01

Single: TypeAlias = NDArray[np.float32]
"""Single precision: it is enough for a network, and twice as fast."""
Weights: TypeAlias = tuple[Single, ...]
Gradient: TypeAlias = Callable[[Weights, Single, Single], Weights]


def digits(rng: np.random.Generator) -> LabelledBugs:
    """400 images of digits (40 of each), labelled as f* reads them when blurred, and 160 trusted ones.

    X holds the clear images, 28 × 28 pixels in a row; `images` gives them back their shape. About 133
    labels are wrong, as in the paper. f* is trained when first needed, which takes some seconds, and
    then kept. It is the same in every run, but for the rounding of another machine's arithmetic.
    """
    truth, trusted = (np.repeat(np.arange(10), number) for number in (TRAINING, TRUSTED))
    X, X_trusted = draw(truth, rng), draw(trusted, rng)
    y, mistaken = (reader().read(blurred(clear)) for clear in (X, X_trusted))
    pixels = tuple(f"pixel {row},{column}" for row in range(SIDE) for column in range(SIDE))
    return LabelledBugs(X, y, X_trusted, trusted, truth, y != truth, pixels, given_trusted=mistaken)


def images(X: Array) -> Array:
    """Rows of 784 pixels as images.

    >>> images(np.zeros((5, 784))).shape
    (5, 28, 28)
    """
    return X.reshape(-1, SIDE, SIDE)


def blurred(X: Array) -> Array:
    """The images under a Gaussian filter.

    >>> point = np.zeros((1, 784))
    >>> point[0, 14 * 28 + 14] = 1.0
    >>> round(float(blurred(point).max()), 3), round(float(blurred(point).sum()), 3)
    (0.029, 1.0)
    """
    soft: Array = gaussian_filter(images(X), (0.0, BLUR, BLUR))
    return soft.reshape(X.shape)


@dataclass(frozen=True, eq=False)
class Reader:
    """softmax(σ(x W + b) U + c)."""

    weights: Weights

    def read(self, X: Array) -> Ints:
        """The digit in each image."""
        W, b, U, c = self.weights
        return np.asarray((expit(X @ W + b) @ U + c).argmax(axis=1))


@cache
def reader() -> Reader:
    """The network f*: an autoencoder's first layer, then a softmax layer, then both tuned together."""
    rng = np.random.default_rng(READER_SEED)
    labels = np.repeat(np.arange(10), READER_IMAGES)
    X, Y = draw(labels, rng).astype(np.float32), np.eye(10, dtype=np.float32)[labels]
    d, reach = X.shape[1], np.sqrt(6 / (X.shape[1] + HIDDEN))
    W, V = (rng.uniform(-reach, reach, shape).astype(np.float32) for shape in ((d, HIDDEN), (HIDDEN, d)))
    W, b, *_ = _trained(_d_autoencoder, (W, _zeros(HIDDEN), V, _zeros(d)), X, X, PRETRAINING, rng)
    softmax_layer = _zeros(HIDDEN, 10), _zeros(10)
    return Reader(_trained(_d_network, (W, b, *softmax_layer), X, Y, FINE_TUNING, rng))


def _d_autoencoder(theta: Weights, X: Single, _: Single) -> Weights:
    """Of (1/2n)‖σ(HV + c) − X‖² + a KL divergence of the mean activity from SPARSITY, H = σ(XW + b)."""
    W, b, V, c = theta
    H = expit(X @ W + b)
    R = expit(H @ V + c)
    d_output = (R - X) * R * (1 - R) / len(X)
    active = H.mean(axis=0)
    d_active = SPARSITY_WEIGHT * ((1 - SPARSITY) / (1 - active) - SPARSITY / active)
    return _layers((X, H), (W, V), (d_output @ V.T + d_active / len(X), d_output))


def _d_network(theta: Weights, X: Single, Y: Single) -> Weights:
    """Of the mean log loss."""
    W, b, U, c = theta
    H = expit(X @ W + b)
    d_output = (softmax(H @ U + c, axis=1) - Y) / len(X)
    return _layers((X, H), (W, U), (d_output @ U.T, d_output))


def _layers(inputs: Weights, weights: Weights, d_outputs: Weights) -> Weights:
    """Derivatives by both layers, of the weights with their ridge and of the offsets."""
    X, H = inputs
    d_hidden, d_output = d_outputs[0] * H * (1 - H), d_outputs[1]
    return (
        X.T @ d_hidden + RIDGE * weights[0],
        d_hidden.sum(axis=0),
        H.T @ d_output + RIDGE * weights[1],
        d_output.sum(axis=0),
    )


def _trained(
    gradient: Gradient, theta: Weights, X: Single, Y: Single, epochs: int, rng: np.random.Generator
) -> Weights:
    """θ after some epochs of Adam, whose rate falls to zero."""
    mean, square = ([np.zeros_like(weights) for weights in theta] for _ in range(2))
    batches = [batch for _ in range(epochs) for batch in rng.permutation(len(X)).reshape(-1, BATCH)]
    for t, batch in enumerate(batches, start=1):
        rate = RATE * (1 - (t - 1) / len(batches)) / (1 - 0.9**t)
        for m, v, d in zip(mean, square, gradient(theta, X[batch], Y[batch]), strict=True):
            m += 0.1 * (d - m)
            v += 0.001 * (d**2 - v)
        theta = tuple(
            w - rate * m / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
            for w, m, v in zip(theta, mean, square, strict=True)
        )
    return theta


def _zeros(*shape: int) -> Single:
    return np.zeros(shape, dtype=np.float32)
