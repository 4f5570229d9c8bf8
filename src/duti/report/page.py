"""The page: everything put together, escaped, and closed to the outside."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Any, TypeVar

from markupsafe import Markup

from duti.claims import LearnerSummary
from duti.path import Status
from duti.report.bias import bias
from duti.report.case import Case
from duti.report.flagged import flagged_table
from duti.report.marks import Marks
from duti.report.path_chart import path_chart
from duti.report.summary import summary
from duti.report.svg import bar
from duti.report.text import MISSING, cell, number, percent, visible
from duti.report.trusted import item_names, trusted_table
from duti.report.view import view

Drawn = TypeVar("Drawn")
LEARNERS = 6
"""Learners on the page at most."""
COUNTING = 0.005
"""A learner with less weight is not shown."""


@dataclass(frozen=True)
class Weighed:
    """A learner and how much it counts."""

    kind: str
    learner: str
    gamma: str
    row_loss: str
    trusted_loss: str
    weight: str
    bar: Markup


@dataclass(frozen=True)
class Lost:
    """In place of a chart."""

    lost: str
    """Why it is not there."""


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
        summary=summary(case),
        table=flagged_table(case, marks, names),
        trusted=trusted,
        shown_items={item.item for item in trusted.items},
        bias=_drawn(lambda: bias(case)),
        path=_drawn(lambda: path_chart(case)),
        view=_drawn(lambda: view(case, marks)),
        learners=_learners(case),
        interrupted=case.findings.status == Status.INTERRUPTED,
    )


def _drawn(draw: Callable[[], Drawn]) -> Drawn | Lost:
    """A chart of odd data that cannot be drawn is left out: it costs neither the report nor the findings.

    >>> _drawn(lambda: 1 / 0)
    Lost(lost='This chart could not be drawn (ZeroDivisionError). All else on this page holds without it.')
    """
    try:
        return draw()
    except Exception as error:
        name = type(error).__name__
        return Lost(f"This chart could not be drawn ({name}). All else on this page holds without it.")


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


def _learners(case: Case) -> list[Weighed]:
    """The learners with the largest weights."""
    heaviest = sorted(case.findings.learners, key=lambda learner: -learner.weight)[:LEARNERS]
    return [
        Weighed(
            kind=learner.kind,
            learner=_named(learner),
            gamma=_number(learner.gamma),
            row_loss=_number(learner.row_loss),
            trusted_loss=_number(learner.trusted_loss),
            weight=percent(learner.weight),
            bar=bar(learner.weight, "pull"),
        )
        for learner in heaviest
        if learner.weight >= COUNTING
    ]


def _named(learner: LearnerSummary) -> str:
    """A learner with the settings that are set, numbers to four digits.

    >>> settings = {"bandwidth": 3.57028789256536, "ridge": 1e-06, "components": None}
    >>> _named(LearnerSummary("the labels as given", "KernelRidge", settings, None, 1.0, None, None))
    'KernelRidge(bandwidth=3.57, ridge=1e-06)'
    """
    told = [f"{name}={cell(value)}" for name, value in learner.settings.items() if value is not None]
    return f"{learner.name}({', '.join(told)})" if told else learner.name


def _number(value: float | None) -> str:
    return MISSING if value is None else number(value)
