"""Seeds and generators: the same call gives the same answer unless a caller wants otherwise."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Seed: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def generator(seed: Seed) -> np.random.Generator:
    """A generator for a seed; None is the seed 0, so that runs repeat by default."""
    if isinstance(seed, np.random.RandomState):
        return np.random.default_rng(seed.randint(2**31))
    return np.random.default_rng(0 if seed is None else seed)
