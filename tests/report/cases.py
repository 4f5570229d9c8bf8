"""Debugging runs to report on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from PIL import Image
from scipy.sparse import csr_array

import duti
from duti import datasets
from duti.arrays import Array, Labels
from duti.reasons import reasons
from duti.report import Case

NAMES = np.array(["not hired", "hired"])


def case_of(
    problem: duti.Problem, findings: duti.Findings, rows: pa.Table, trusted: pa.Table, **more: Any
) -> Case:
    why = reasons(problem, findings, random_state=0)
    settings = {"duti": duti.__version__, "seed": "0", "training.csv": "sha256 " + 64 * "0"}
    told = {"label": "label", "settings": settings, "title": "training.csv"} | more
    return Case(problem, findings, why, rows, trusted, **told)


def table(X: Array, columns: tuple[str, ...], labels: Labels) -> pa.Table:
    return pa.table({name: X[:, j] for j, name in enumerate(columns)} | {"label": labels})


def harry_potter(budget: int = 12, detector: duti.Detector | None = None, **options: Any) -> Case:
    data = datasets.harry_potter(np.random.default_rng(0))
    y, y_trusted = (NAMES[(labels == 1).astype(int)] for labels in (data.y, data.y_trusted))
    problem = duti.Problem(data.X, y, data.X_trusted, y_trusted)
    found = (detector or duti.Automatic(budget=budget, random_state=0)).rank(problem)
    rows, trusted = table(data.X, data.columns, y), table(data.X_trusted, data.columns, y_trusted)
    columns = tuple((name, "number", "standardised") for name in data.columns)
    return case_of(problem, found, rows, trusted, columns=columns, title="students.csv", **options)


def sine() -> Case:
    data = datasets.sine(np.random.default_rng(0))
    problem = duti.Problem(data.X, data.y, data.X_trusted, data.y_trusted)
    found = duti.Automatic(random_state=0, budget=25).rank(problem)
    rows, trusted = table(data.X, data.columns, data.y), table(data.X_trusted, data.columns, data.y_trusted)
    return case_of(problem, found, rows, trusted, columns=(("x", "number", "as it is"),), title="sine.csv")


def digits(folder: Path, n: int = 240, m: int = 40) -> Case:
    """Images of ten digits in files, some of them labelled with the next digit."""
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(0)
    images, truth = load_digits(return_X_y=True)
    order = rng.permutation(len(truth))[: n + m]
    images, truth = images[order] / 16, truth[order]
    for i, image in enumerate(images[: n + m]):
        picture = Image.fromarray((255 - 255 * image.reshape(8, 8)).astype(np.uint8))
        picture.resize((32, 32), Image.Resampling.NEAREST).save(folder / f"{i}.png")
    labels = truth[:n].astype(str)
    labels[truth[:n] == 3] = np.where(rng.random((truth[:n] == 3).sum()) < 0.7, "8", "3")
    X, X_trusted = images[:n], images[n:]
    y_trusted = truth[n:].astype(str)
    problem = duti.Problem(X, labels, X_trusted, y_trusted)
    learner = duti.Logistic(ridge=1e-2)
    found = duti.Automatic(learner, budget=20, random_state=0).rank(problem)
    names = [f"{i}.png" for i in range(n + m)]
    ink = images.mean(axis=1)
    rows = pa.table({"file": names[:n], "ink": ink[:n], "label": labels})
    trusted = pa.table({"file": names[n:], "ink": ink[n:], "label": y_trusted})
    columns = (("file", "image", "8 × 8 grey pixels"), ("ink", "number", "left out"))
    return case_of(
        problem, found, rows, trusted, columns=columns, image="file", image_folder=folder, title="digits.csv"
    )


TOPICS = {
    "sport": "match goal team score player league coach season win stadium referee cup defender striker",
    "cooking": "oven butter sugar flour recipe salt onion simmer bake garlic pan sauce dough whisk",
    "travel": "train hotel flight beach passport museum map island ticket harbour guide ferry tour",
}


def texts(n: int = 300, m: int = 24) -> Case:
    """Sparse words of three topics; texts about cooking that name an oven are filed under travel."""
    rng = np.random.default_rng(0)
    topics, vocabulary = list(TOPICS), sorted(" ".join(TOPICS.values()).split())
    truth = rng.integers(3, size=n + m)
    written = [_text(rng, TOPICS[topics[code]].split(), vocabulary) for code in truth]
    counts = np.array([[text.split().count(word) for word in vocabulary] for text in written], dtype=float)
    labels = np.array(topics)[truth]
    wrong = (truth[:n] == 1) & np.array(["oven" in text for text in written[:n]])
    y = labels[:n].copy()
    y[wrong] = "travel"
    X = csr_array(counts)
    problem = duti.Problem(X[:n], y, X[n:], labels[n:])
    found = duti.Automatic(duti.Logistic(ridge=1e-2), budget=30, random_state=0).rank(problem)
    source = np.array(["desk A", "desk B"])[(rng.random(n + m) < 0.3).astype(int)]
    rows = pa.table({"source": source[:n], "body": written[:n], "label": y})
    trusted = pa.table({"source": source[n:], "body": written[n:], "label": labels[n:]})
    columns = (("body", "text", "counts of words"), ("source", "category", "left out"))
    return case_of(
        problem,
        found,
        rows,
        trusted,
        columns=columns,
        text="body",
        groups=("source",),
        title="articles.jsonl",
    )


def _text(rng: np.random.Generator, own: list[str], words: list[str]) -> str:
    length = int(rng.integers(12, 70))
    return " ".join(rng.choice(own if rng.random() < 0.6 else words) for _ in range(length))
