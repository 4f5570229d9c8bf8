"""How values scatter: by Student's t; or, where some are wrong, by a mixture of it with a wider one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, gammaln, logit

from duti.arrays import Array

TAILS = (2.0, 4.0, 8.0, 32.0)
"""ν, from noise with very heavy tails to noise that is as good as normal."""
WIDER = 3.0
"""Wrong labels scatter at least so many times as far as right ones: a label that is off by less is noise."""
EM_STEPS = 50


@dataclass(frozen=True)
class Noise:
    """t with ν degrees of freedom, at some scale."""

    tails: float
    """ν."""
    scale: float

    def log_density(self, residuals: Array) -> Array:
        """Of each residual.

        >>> Noise(32.0, 1.0).log_density(np.zeros(1)).round(2)
        array([-0.93])
        """
        nu = self.tails
        peak = gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(nu * np.pi) / 2 - np.log(self.scale)
        return np.asarray(peak - (nu + 1) / 2 * np.log1p((residuals / self.scale) ** 2 / nu))

    def wider(self, factor: float) -> Noise:
        """The same law at another scale."""
        return replace(self, scale=factor * self.scale)

    def fitted(self, squares: Array, counts: Array, least: float) -> Noise:
        """One EM step of the scale for residuals that count so much each; at least `least`."""
        weights = counts * (self.tails + 1) / (self.tails + squares / self.scale**2)
        return replace(self, scale=max(float(np.sqrt((weights @ squares) / counts.sum())), least))


@dataclass(frozen=True, eq=False)
class Contaminated:
    """Labels are right, with this noise, or wrong, with a wider one."""

    noise: Noise
    """Of right labels."""
    factor: float
    """How many times as far wrong labels scatter."""
    share: float
    """Of wrong labels."""
    loglik: float
    """The mean log-likelihood of the rows."""

    def wrong(self, residuals: Array) -> Array:
        """The probability that each label is wrong."""
        return np.asarray(expit(self._log_odds(residuals)))

    def right(self, residuals: Array) -> Array:
        """The probability that each label is right."""
        return np.asarray(expit(-self._log_odds(residuals)))

    def log_density(self, residuals: Array) -> Array:
        """Of each residual."""
        right = np.log1p(-self.share) + self.noise.log_density(residuals)
        return np.asarray(right + np.logaddexp(0, self._log_odds(residuals)))

    def _log_odds(self, residuals: Array) -> Array:
        wide = self.noise.wider(self.factor).log_density(residuals)
        return np.asarray(logit(self.share) + wide - self.noise.log_density(residuals))


def noises_of(residuals: Array, least: float) -> tuple[Noise, ...]:
    """The law of the highest likelihood with each of the tails."""
    squares, ones = residuals**2, np.ones(len(residuals))
    found = [Noise(tails, max(float(np.median(abs(residuals))), least)) for tails in TAILS]
    for _ in range(EM_STEPS):
        found = [noise.fitted(squares, ones, least) for noise in found]
    return tuple(found)


def likeliest(noises: Iterable[Noise], residuals: Array) -> Noise:
    """The law of the highest likelihood.

    >>> rng = np.random.default_rng(0)
    >>> normal, heavy = rng.normal(size=1000), rng.standard_t(2, 1000)
    >>> [likeliest(noises_of(some, 1e-9), some).tails for some in (normal, heavy)]
    [32.0, 2.0]
    """
    return max(noises, key=lambda noise: float(noise.log_density(residuals).mean()))


def contaminated(residuals: Array, right: Noise, *, fixed: bool = False) -> Contaminated:
    """The mixture of the highest likelihood, by EM from this noise, which stays if it is `fixed`.

    >>> mixed = contaminated(np.array([0.1, -0.5, 1.0, -1.5, 0.3, 50.0]), Noise(32.0, 1.0))
    >>> mixed.wrong(np.array([1.0, 50.0])).round(2)
    array([0.01, 1.  ])
    """
    squares, n, least = residuals**2, len(residuals), right.scale / WIDER
    found = Contaminated(right, 2 * WIDER, 1 / WIDER**2, -np.inf)
    for _ in range(EM_STEPS):
        wrong = found.wrong(residuals)
        share = float(np.clip(wrong.mean(), 1 / (1 + n), 1 / 2))
        wide = found.noise.wider(found.factor).fitted(squares, wrong, WIDER * found.noise.scale)
        right = right if fixed else found.noise.fitted(squares, 1 - wrong, least)
        found = Contaminated(right, max(wide.scale / right.scale, WIDER), share, -np.inf)
    return replace(found, loglik=float(found.log_density(residuals).mean()))
