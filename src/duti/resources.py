"""Memory, time and threads: what the work will need, said before anything large is allocated."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from duti.errors import ProblemError, ResourceError
from duti.learners import Learner
from duti.learners.preconditioner import DENSE_FEATURES
from duti.memory import available_memory, size
from duti.objective import SINGLE_PRECISION
from duti.problem import Problem
from duti.progress import Report, silent

LONG_SECONDS, LARGE_BYTES = 20.0, 1e9
"""Work that needs more of either is announced."""

# Calibrated on runs of 20 000 to 100 000 rows; see docs/features.md.
COPIES = 2
"""Arrays of the size of Z at the peak."""
SCORE_ARRAYS = 40
"""Arrays of one number for each row and class at the peak."""
PREDICTED = 12
"""More of them for each of several learners."""
TRAININGS, AT_LEAST = {"classification": 4, "regression": 1}, 0.05
"""One of several learners takes so many times as long as its path, and so many seconds more."""
PATH_PASSES = 100
"""Products of Z and its transpose along a path; regression has few passes and GRAMS products ZᵀZ."""
GRAMS = 8
SYSTEMS = 150
"""The D×D systems of a regression take as long as ZᵀZ of so many rows for each feature, at most 4n."""
KERNEL_ENTRY = 1000
"""Multiplications that take as long as one entry of a kernel matrix."""


@dataclass(frozen=True)
class Speed:
    """What this machine does in a second."""

    multiplications: float = 1e9
    """Of numbers in a product of matrices. The defaults are those of a slow machine."""
    bytes: float = 1e9
    """Of a matrix that is multiplied by a vector."""


@dataclass(frozen=True)
class Estimate:
    """Time and memory of some work, to within a small factor.

    >>> print(Estimate(bytes=3.14e9, seconds=130.0))
    about 2 minutes and 3.1 GB of memory
    """

    bytes: float
    seconds: float

    @property
    def is_large(self) -> bool:
        """Whether somebody should be told before it starts."""
        return self.seconds > LONG_SECONDS or self.bytes > LARGE_BYTES

    def __str__(self) -> str:
        return f"about {_duration(self.seconds)} and {size(self.bytes)} of memory"


def foresee(problem: Problem, learner: Learner, report: Report, learners: int = 1) -> None:
    """Refuse work that cannot fit into memory, and report an estimate of work that is large.

    So many learners like this one are debugged, one after the other.
    """
    expected = estimate(problem, learner, Speed(), learners)
    available = available_memory()
    if available is not None and expected.bytes > available:
        share = available / estimate(problem, learner, Speed(), learners).bytes
        raise ResourceError(
            f"{type(learner).__name__} needs about {size(expected.bytes)} of memory for {problem.n:,} rows "
            f"with {_width(problem, learner):,} features, but {size(available)} are available",
            _remedies(problem, learner, available, learners),
            _rounded_down(share * problem.n),
        )
    if report is not silent and expected.is_large:
        expected = estimate(problem, learner, measured_speed(), learners)
        if expected.is_large:
            report(f"expecting {expected}", 0, 0)


def estimate(problem: Problem, learner: Learner, speed: Speed, learners: int = 1) -> Estimate:
    """Memory at the peak and time until the findings.

    The features Z are n×D numbers of 4 or 8 bytes; for up to 3000 features, and always in regression,
    there are a few D×D matrices. A pass over Z reads it twice for each class but one, and a path is
    so many passes. Tuning is not counted: it looks at a sample of the rows.
    """
    n, D = problem.n, _width(problem, learner)
    k, classify = max(problem.k, 1), problem.task == "classification"
    entries = n * D if isinstance(problem.X, np.ndarray) else min(n * D, problem.X.nnz + n)
    itemsize = 4 if classify and entries > SINGLE_PRECISION else 8
    factored = D if D <= DENSE_FEATURES or not classify else 0
    # Of many learners one is in memory at a time, but what they said of the rows is kept; and one more
    # copy of Z has the trusted items among the rows.
    copies, arrays = (
        (COPIES + 1, SCORE_ARRAYS + PREDICTED * learners) if learners > 1 else (COPIES, SCORE_ARRAYS)
    )
    memory = copies * entries * itemsize + arrays * n * k * 8 + (k + 2) * factored**2 * 8
    if getattr(learner, "standardize", False):
        memory = max(memory, 2 * n * problem.X.shape[1] * 8)  # before there is a Z
    one_pass = 2 * entries * itemsize * (k - 1) / speed.bytes
    gram = entries * D * (1 + min(SYSTEMS * D / n, 4)) / speed.multiplications
    seconds = _map_operations(problem, learner, D) / speed.multiplications
    path = PATH_PASSES * one_pass if classify else GRAMS * gram
    each = AT_LEAST + TRAININGS[problem.task] * (seconds + path) if learners > 1 else seconds + path
    return Estimate(memory, learners * each)


def _width(problem: Problem, learner: Learner) -> int:
    """D: the features and the intercept."""
    known = learner.with_(**dict.fromkeys(learner.untuned, 1.0))
    return known.features().width(*problem.X.shape) + learner.intercept


def _map_operations(problem: Problem, learner: Learner, D: int) -> float:
    """Of making Z: for a kernel, its entries and the product with the projection."""
    if not hasattr(learner, "components"):
        return 0.0
    d = problem.X.shape[1]
    return float(problem.n * D * (D + d + KERNEL_ENTRY) + 10 * D**3)


def _remedies(problem: Problem, learner: Learner, available: float, learners: int) -> str:
    """What to reduce, most painless first, with numbers that fit."""

    def fits(other: Learner) -> bool:
        return estimate(problem, other, Speed(), learners).bytes <= available

    remedies = []
    if getattr(learner, "approximation", None) == "exact":
        remedies.append('use approximation="nystroem"')
    elif hasattr(learner, "components"):
        components = _width(problem, learner) // 2
        while components > 10 and not fits(learner.with_(components=components)):
            components //= 2
        remedies.append(f"use fewer components, such as {components}")
    else:
        remedies.append("use fewer columns")
    share = available / estimate(problem, learner, Speed(), learners).bytes
    remedies.append(f"debug a sample of about {_rounded_down(share * problem.n):,} rows")
    if hasattr(learner, "components") and problem.X.shape[1] < _width(problem, learner):
        linear = "Logistic" if problem.task == "classification" else "Ridge"
        remedies.append(f"use the linear learner duti.{linear}()")
    return ", or ".join(remedies)


def measured_speed() -> Speed:
    """The best of a few products, in a fraction of a second: others may be using the machine too."""
    A = np.ones((4000, 5000))  # larger than a cache
    left, right, v = A[:1000, :1000], A[1000:2000, :1000], A[0]
    product = min(_seconds(lambda: left @ right) for _ in range(3))
    stream = min(_seconds(lambda: A @ v) for _ in range(3))
    return Speed(left.size * len(right) / product, A.nbytes / stream)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@contextmanager
def limited_threads(threads: int | None) -> Iterator[None]:
    """At most so many threads in products of matrices; None leaves it to the library.

    Where scipy brings a BLAS of its own, that one gets a single thread: the two would wait for each
    other's cores, and what scipy is asked for is small. (A Cholesky factor of 400 features in between
    products of numpy: 42 ms with two pools of threads on two cores, 1 ms with one.)
    """
    if threads is not None and not (isinstance(threads, int) and threads > 0):
        raise ProblemError(f"threads is {threads!r}; use a whole number above 0, or None for all.")
    from threadpoolctl import ThreadpoolController

    libraries = ThreadpoolController().select(user_api="blas")
    second = [library.filepath for library in libraries.lib_controllers if "scipy.libs" in library.filepath]
    with libraries.limit(limits=threads), libraries.select(filepath=second).limit(limits=1):
        yield


def _duration(seconds: float) -> str:
    for unit, length in (("hour", 3600.0), ("minute", 60.0), ("second", 1.0)):
        if seconds >= 1.5 * length:
            return f"{_rounded(seconds / length):,} {unit}s"
    return "a second"


def _rounded(number: float) -> int:
    """One significant digit from ten on."""
    return int(round(number, min(1 - len(str(int(number))), 0)))


def _rounded_down(number: float) -> int:
    """Two significant digits, never more than the number."""
    step = 10 ** max(len(str(int(number))) - 2, 0)
    return int(number // step * step)
