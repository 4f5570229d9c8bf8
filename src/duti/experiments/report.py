"""Files of an experiment: raw results, figures and a table; and one page that shows them all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from duti.experiments.catalogue import BY_NAME
from duti.experiments.drawings import figures
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
    found = dict(json.loads((folder / "results.json").read_text(encoding="utf-8")))
    assert found["format"] == FORMAT
    return found


def draw(folder: Path) -> None:
    """Figures and table, from the raw results alone."""
    found = read(folder)
    experiment = BY_NAME[found["experiment"]]
    for name, figure in figures(experiment, found):
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        figure.savefig(folder / f"{name}.png", dpi=130)
    _replace(folder / "table.md", markdown(found))


def table(found: dict[str, Any]) -> list[dict[str, str]]:
    """One row for each detector, cells as text."""
    experiment, rows = BY_NAME[found["experiment"]], []
    theirs = published().get(experiment.published or "", {})
    for score in scores(found):
        row = {"detector": score.name, "setting": score.setting}
        if np.isfinite(score.areas).all():
            row["area"] = f"{score.area:.3f} ± {score.error:.3f}"
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
    seeds = f"seeds {runs[0]['seed']}–{runs[-1]['seed']}" if len(runs) > 1 else f"seed {runs[0]['seed']}"
    spread = f"{np.mean(bugs):.0f} ({min(bugs)}–{max(bugs)})" if len(runs) > 1 else str(bugs[0])
    return f"{len(runs)} run(s), {seeds}; n = {runs[0]['n']}, m = {runs[0]['m']}; bugs: {spread}."


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
        pictures = [figure for figure, _ in figures(experiment, found)]
        rows = table(found)
        sections.append(
            {
                "experiment": experiment,
                "facts": facts(found),
                "pictures": pictures,
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
