"""Files of an experiment: raw results, figures and a table; and one page that shows them all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from duti.errors import DutiError
from duti.experiments.catalogue import BY_NAME
from duti.experiments.drawings import CAPTIONS, figures
from duti.experiments.harness import FORMAT, to_json
from duti.experiments.summary import flagged_point, published, scores


def write(found: dict[str, Any], out: Path) -> Path:
    """Write raw results, figures (SVG and PNG) and a table into a folder of the experiment's name."""
    folder = out / str(found["experiment"])
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / "results.json", to_json(found))
    draw(folder)
    return folder


def read(folder: Path) -> dict[str, Any]:
    """The raw results in a folder."""
    path = folder / "results.json"
    found = dict(json.loads(path.read_text(encoding="utf-8")))
    if (seen := found.get("format")) != FORMAT:
        raise DutiError(
            f"{path} has format {seen}; this version of duti reads {FORMAT}, "
            "so remove the file or run the experiment again."
        )
    return found


def draw(folder: Path) -> None:
    """Figures and table, from the raw results alone; the same results give the same files."""
    from matplotlib import rc_context

    found = read(folder)
    # Names inside an SVG are drawn at random unless there is a salt to make them from.
    with rc_context({"svg.hashsalt": "duti"}):
        for name, figure in figures(BY_NAME[found["experiment"]], found):
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            figure.savefig(folder / f"{name}.png", dpi=130)
    _replace(folder / "table.md", markdown(found))


def table(found: dict[str, Any]) -> list[dict[str, str]]:
    """One row for each detector, cells as text."""
    experiment, rows = BY_NAME[found["experiment"]], []
    theirs = published().get(experiment.published or "", {})
    for score in scores(found):
        row = {"detector": score.name}
        if np.isfinite(score.areas).all():
            spread = f" ± {score.error:.3f}" if len(score.areas) > 1 else ""
            row["area"] = f"{score.area:.3f}{spread}"
            if score.name == "LND":
                recall, precision = flagged_point(found, score.name)
                row["area"] = f"point ({recall:.2f}, {precision:.2f})"
            row["published"] = _published(theirs.get(score.name))
            row["average precision"] = f"{score.average_precisions.mean():.3f}"
        if np.isfinite(score.fix_errors).all():
            pooled = np.sqrt(np.average(score.fix_errors**2, weights=[len(r["bugs"]) for r in found["runs"]]))
            row["fix error"] = f"{pooled:.3f}"
        elif np.isfinite(score.areas).all():
            row["right fixes in 200 flags"] = f"{score.fixed.mean():.1f}"
        row["seconds"] = f"{score.seconds:.2f}"
        row["setting"] = score.setting
        rows.append(row)
    return rows


def _published(curve: dict[str, Any] | None) -> str:
    if curve is None:
        return ""
    return f"{curve['area']:.3f}" if "area" in curve else "point ({:.2f}, {:.2f})".format(*curve["points"][0])


def facts(found: dict[str, Any]) -> str:
    """How many runs, rows, trusted items and bugs."""
    runs = found["runs"]
    bugs = [len(run["bugs"]) for run in runs]
    made, spread = f"1 run, seed {runs[0]['seed']}", str(bugs[0])
    if len(runs) > 1:
        made = f"{len(runs)} runs, seeds {runs[0]['seed']}–{runs[-1]['seed']}"
        spread = f"{np.mean(bugs):.0f} on average ({min(bugs)}–{max(bugs)})"
    return f"{made}; n = {runs[0]['n']} rows, m = {runs[0]['m']} trusted items; bugs: {spread}."


def markdown(found: dict[str, Any]) -> str:
    """The table as Markdown."""
    rows = table(found)
    headings = _headings(rows)
    lines = [headings, ["---"] * len(headings), *([row.get(h, "") for h in headings] for row in rows)]
    body = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    return f"# {BY_NAME[found['experiment']].title}\n\n{facts(found)}\n\n{body}\n"


def _headings(rows: list[dict[str, str]]) -> list[str]:
    """The columns of the fullest row."""
    fullest: dict[str, str] = {}
    for row in rows:
        fullest = row if len(row) > len(fullest) else fullest
    return list(fullest)


def page(out: Path) -> Path:
    """One page with every experiment that has results in a folder."""
    from jinja2 import Environment, PackageLoader, select_autoescape

    sections = []
    for name, experiment in BY_NAME.items():
        if not (out / name / "results.json").exists():
            continue
        found = read(out / name)
        drawn = {picture.stem for picture in (out / name).glob("*.svg")}
        rows = table(found)
        sections.append(
            {
                "experiment": experiment,
                "facts": facts(found),
                "pictures": [(picture, text) for picture, text in CAPTIONS.items() if picture in drawn],
                "headings": _headings(rows),
                "rows": rows,
            }
        )
    environment = Environment(
        loader=PackageLoader("duti.experiments", "."), autoescape=select_autoescape(["html"])
    )
    _replace(out / "index.html", environment.get_template("page.html").render(sections=sections))
    return out / "index.html"


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
