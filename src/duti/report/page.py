"""The page: everything put together, escaped, and closed to the outside."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from duti.path import Status
from duti.report.bias import bias
from duti.report.case import Case
from duti.report.flagged import flagged_table
from duti.report.marks import Marks
from duti.report.path_chart import path_chart
from duti.report.svg import bar
from duti.report.text import number, percent, visible
from duti.report.trusted import item_names, trusted_table
from duti.report.verdict import verdict
from duti.report.view import view

BELIEVED = 6
"""Opinions on the page at most."""
HEARD = 0.005
"""An opinion with less weight is not told."""


@dataclass(frozen=True)
class Belief:
    """How far a learner was believed."""

    learner: str
    learnt_from: str
    gamma: str
    loss: str
    weight: str
    bar: Markup


def html(case: Case) -> str:
    """A page that needs nothing but a browser: no network, no other file.

    Text of the user is escaped wherever it goes; the browser is told to run nothing but the script of the
    page itself, by its hash, and to fetch nothing.
    """
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("duti.report", "."),
        autoescape=True,
        finalize=_seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = _own("page.css"), _own("page.js")
    marks, names = Marks.of(case), item_names(case)
    trusted = trusted_table(case, marks, names)
    return environment.get_template("page.html").render(
        case=case,
        style=style,
        script=script,
        policy=_policy(style, script),
        verdict=verdict(case),
        table=flagged_table(case, marks, names),
        trusted=trusted,
        shown_items={item.item for item in trusted.items},
        bias=bias(case),
        path=path_chart(case),
        view=view(case, marks),
        beliefs=_beliefs(case),
        believed=len(case.findings.opinions),
        interrupted=case.findings.status == Status.INTERRUPTED,
    )


def _rounded(learner: str) -> str:
    """A learner with hyperparameters to four digits.

    >>> _rounded("KernelRidge(bandwidth=3.57028789256536, ridge=1e-06)")
    'KernelRidge(bandwidth=3.57, ridge=1e-06)'
    """
    return re.sub(r"\d+\.\d{4,}(e[-+]\d+)?", lambda match: number(float(match[0])), learner)


def _seen(value: Any) -> Any:
    """Text of the user with nothing hidden in it; markup is our own and stays as it is."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _own(name: str) -> Markup:
    return Markup((files("duti.report") / name).read_text(encoding="utf-8"))


def _policy(style: str, script: str) -> str:
    def hashed(text: str) -> str:
        return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; style-src {hashed(style)}; script-src {hashed(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _beliefs(case: Case) -> list[Belief]:
    """The opinions with the largest weights."""
    told = sorted(case.findings.opinions, key=lambda opinion: -opinion.weight)[:BELIEVED]
    told = [opinion for opinion in told if opinion.weight >= HEARD]
    return [
        Belief(
            learner=_rounded(str(opinion.learner)),
            learnt_from=opinion.learnt_from,
            gamma="–" if opinion.gamma == float("inf") else number(opinion.gamma),
            loss=number(opinion.trusted_loss),
            weight=percent(opinion.weight),
            bar=bar(opinion.weight, "pull"),
        )
        for opinion in told
    ]
