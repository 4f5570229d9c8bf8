"""Free text → how often words and pairs of words occur, weighed by how rare they are (TF-IDF)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

MANY_TEXTS = 50_000
"""From here on words are hashed: a dictionary of all pairs of words would not fit into memory."""
MOST_WORDS = 20_000
HASHES = 1 << 15
_NGRAMS = (1, 2)
_WORD = re.compile(r"\b\w\w+\b")


def vectorizer(n: int) -> Any:
    """TF-IDF of the words and pairs of words of n texts."""
    if n < MANY_TEXTS:
        return TfidfVectorizer(ngram_range=_NGRAMS, max_features=MOST_WORDS)
    hashing = HashingVectorizer(ngram_range=_NGRAMS, n_features=HASHES, alternate_sign=False, norm=None)
    return make_pipeline(hashing, TfidfTransformer())


def terms(fitted: Any) -> list[str]:
    """What each feature of a fitted vectorizer stands for."""
    if isinstance(fitted, TfidfVectorizer):
        return [str(term) for term in fitted.get_feature_names_out()]
    return [f"words {j}" for j in range(HASHES)]


def has_words(texts: Iterable[str]) -> bool:
    """Whether there is a word of two letters or more, as scikit-learn's vectorizers want them.

    >>> has_words(["?", "a b"]), has_words(["!", "no"])
    (False, True)
    """
    return any(_WORD.search(text) for text in texts)
