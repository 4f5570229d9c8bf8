"""The page of the benchmark: tables and a plot, from its results alone."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.measurement import Measurement, table

INTRODUCTION = """# Benchmarks

Written by `make bench`; the numbers behind it are in `benchmarks.json`. Unless a row says otherwise: 200
trusted items (30 in regression), a budget of as many rows as there are bugs, confidence 100, ridge 1e-3.
Ratios are measured in one process, in turns, and each time is the least of three (above 100,000 rows
*Scaling* has one). One *pass* is one product with Z and one with Zᵀ. *Classification* is the mean of five
draws of the data: how many steps a path takes depends on the last digits of a draw.

- A *cold fit* is the learner of the path from θ = 0 to max|∇| ≤ 1e-4, scikit-learn's default tolerance;
  *scikit-learn's fit* is its lbfgs `LogisticRegression` on the same matrix, to the same tolerance.
- The *path* is timed from the fit to the given labels on. That fit has a sharper tolerance than a cold one;
  *fit and path* is both.
- In regression the solver factors the ridge system itself, so its path is all the time beyond one ridge fit.
"""
PLOT = Path("images") / "benchmarks.png"
INK, BLUE, RED, GREY = "#1a1a2e", "#2f6fb0", "#c8102e", "#9aa0a6"


def write(folder: Path, parts: Mapping[str, Any]) -> None:
    """benchmarks.md, and its plot if the costs at several n are known."""
    page = [INTRODUCTION]
    if "scaling" in parts:
        (folder / PLOT).parent.mkdir(exist_ok=True)
        draw(parts["scaling"]["figures"]).savefig(folder / PLOT, dpi=130)
        page.append(f"![Cost of a path against the number of rows]({PLOT.as_posix()})\n")
    page += [section(part, results) + "\n" for part, results in parts.items()]
    (folder / "benchmarks.md").write_text("\n".join(page))


def section(part: str, results: Mapping[str, Any]) -> str:
    """The table of one part, and what it was measured on."""
    rows = [Measurement(**row) for row in results["measurements"]]
    title = (import_module(f"benchmarks.{part}").__doc__ or "").splitlines()[0]
    return f"## {title.rstrip('.')}\n\n{table(rows)}\n\n{_circumstances(results)}"


def _circumstances(results: Mapping[str, Any]) -> str:
    machine = results["environment"]
    libraries = [f"{name} {machine[name]}" for name in ("python", "numpy", "scipy", "scikit-learn")]
    libraries += [f"{name} {machine[name]}" for name in ("skglm", "celer") if machine[name]]
    quick = "A quick run, whose figures mean nothing. " if results["quick"] else ""
    return (
        f"{quick}{results['seconds']:.0f} s in all, peak memory {results['peak_memory'] / 1e9:.2f} GB; "
        f"{machine['cores']} cores, {machine['blas_threads']} thread(s) of {machine['blas']}; "
        f"{', '.join(libraries)}."
    )


def draw(figures: list[dict[str, Any]]) -> Any:
    """Left: the path in cold fits. Right: seconds of path and fits."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    fits, seconds = figure.subplots(1, 2)
    n = [row["n"] for row in figures]
    setting = f"k={figures[0]['k']}, D={figures[0]['D']}, ridge {figures[0]['ridge']:g}"
    fits.plot(n, [row["path"] / row["cold_fit"] for row in figures], "o-", color=RED)
    fits.axhline(3, color=GREY, linestyle="--", linewidth=1)
    fits.annotate("target at n = 100,000", (n[0], 3), xytext=(0, 4), textcoords="offset points", color=GREY)
    fits.set(title=f"Whole path in cold fits ({setting})", ylabel="cold fits", ylim=(0, None))
    for name, label, colour in (
        ("path", "whole path", RED),
        ("cold_fit", "cold fit", BLUE),
        ("peer_fit", "scikit-learn's fit", INK),
    ):
        seconds.plot(n, [row[name] for row in figures], "o-", color=colour, label=label)
    seconds.set(title="Seconds", yscale="log", ylabel="seconds")
    seconds.legend(frameon=False)
    for axes in (fits, seconds):
        axes.set(xscale="log", xlabel="rows n")
        axes.spines[["top", "right"]].set_visible(False)
    return figure
