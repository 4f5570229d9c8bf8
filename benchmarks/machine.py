"""What the figures were measured on, and how much memory a process took."""

from __future__ import annotations

import os
import platform
import resource
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from threadpoolctl import threadpool_info, threadpool_limits

LIBRARIES = ("duti", "numpy", "scipy", "scikit-learn", "skglm", "celer", "cleanlab")


def peak_memory() -> int:
    """The most bytes that this process, or one that it started and saw end, has had in memory so far."""
    units = 1 if sys.platform == "darwin" else 1024
    processes = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return units * max(resource.getrusage(who).ru_maxrss for who in processes)


def single_threaded() -> None:
    """One thread for this process: many that fight for few cores are slower.

    What a library brings can be limited only once it is there: a fit of 5000 rows in two processes at a time
    took 3.3 s without the BLAS of scipy, 0.5 s with it; boosting of ten classes up to ten minutes without
    scikit-learn's OpenMP.
    """
    import scipy.linalg  # noqa: F401
    import sklearn.ensemble  # noqa: F401

    threadpool_limits(1)


def environment() -> dict[str, Any]:
    """Cores, threads of the linear algebra, and versions."""
    pools: list[dict[str, Any]] = threadpool_info()
    blas = next((pool for pool in pools if pool["user_api"] == "blas"), {})
    return {
        "cores": os.cpu_count(),
        "blas": " ".join(str(blas.get(key, "")) for key in ("internal_api", "version")).strip(),
        "blas_threads": blas.get("num_threads"),
        "python": platform.python_version(),
        **{name: _version(name) for name in LIBRARIES},
    }


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None
