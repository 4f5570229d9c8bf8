"""What the user's data says is text, wherever it stands: nothing of it runs, nothing becomes markup."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import duti
from duti.findings import scored
from duti.reasons import reasons
from duti.report import Case, html
from tests.report.conftest import Opener

RUN = "window.hacked=1"
PAYLOADS = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"</style><script>{RUN}</script>",
    f"</title><script>{RUN}</script>",
    f"</textarea><script>{RUN}</script>",
    f"<ScRiPt>{RUN}</sCrIpT>",
    f"<<script>{RUN}//<</script>",
    "<script src=https://example.org/x.js></script>",
    f"<img src=x onerror={RUN}>",
    f'"><img src=x onerror={RUN}>',
    f"'><img src=x onerror={RUN}>",
    f"<img src=x onerror={RUN}//",
    f"<svg onload={RUN}>",
    f"<svg/onload={RUN}>",
    f"</svg><svg onload={RUN}>",
    f"</text></svg><script>{RUN}</script>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f"<math><mtext></mtext><img src=x onerror={RUN}></math>",
    f"<body onload={RUN}>",
    f"<iframe src=javascript:{RUN}></iframe>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'>",
    f"<object data=javascript:{RUN}>",
    f"<embed src=javascript:{RUN}>",
    f"<a href=javascript:{RUN}>click</a>",
    f"javascript:{RUN}",
    f"jAvAsCrIpT&colon;{RUN}",
    f"data:text/html,<script>{RUN}</script>",
    f"<details open ontoggle={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<select autofocus onfocus={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f"<audio src=x onerror={RUN}>",
    f"<marquee onstart={RUN}>x</marquee>",
    f"<form action=javascript:{RUN}><input type=submit>",
    f"<button onclick={RUN}>x</button>",
    "<meta http-equiv=refresh content=0;url=https://example.org>",
    "<base href=https://example.org/>",
    "<link rel=stylesheet href=https://example.org/x.css>",
    "<style>*{display:none}</style>",
    "<style>@import 'https://example.org/x.css'</style>",
    f'" onmouseover="{RUN}" x="',
    f"' onmouseover='{RUN}' x='",
    f"` onmouseover=`{RUN}",
    '" autofocus onfocus="' + RUN,
    "{{ 7*7 }}",
    "{% for x in [1] %}x{% endfor %}",
    "${7*7}",
    "{{ ''.__class__.__mro__ }}",
    "<!-- ",
    "--><b>",
    "]]><b>",
    "<![CDATA[ <b> ]]>",
    "<?xml version='1.0'?>",
    "</td></tr></table><h1>x</h1>",
    "</bdi></th></tr>",
    "<plaintext>",
    "<noscript><p title='</noscript><img src=x>'>",
    "&lt;script&gt;" + RUN + "&lt;/script&gt;",
    "&#60;img src=x onerror=" + RUN + "&#62;",
    "\0<script\0>" + RUN + "</script>",
    "\u202e<b>txt.exe\u202c",
    "\u2066<i>\u2069",
    "\ufeff<b>",
    "\x1b[31m<b>",
    "\ud800<b>",
    "=cmd|' /C calc'!A0",
    "\r\n<b>\u2028\u2029",
    "%3Cscript%3E" + RUN + "%3C/script%3E",
    "\\u003cscript\\u003e" + RUN,
]
# Both lists are in the same order, so that classes have the same codes.
WORDS = sorted(PAYLOADS)
HARMLESS = [f"word{i:02d}" for i in range(len(WORDS))]
STRUCTURE = """
[...document.querySelectorAll('*')].map(e => e.tagName + ' ' + e.getAttributeNames().join(' '))
"""


def hostile(words: list[str]) -> Case:
    """A run in which everything that a user can name has one of the words."""
    rng, n, m, k = np.random.default_rng(0), 80, 20, 14
    classes = np.array(words[:: len(words) // k][:k], dtype=object)
    codes = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    X, y = pd.DataFrame(rng.normal(size=(n, 2)), columns=[words[7], words[30]]), classes[codes]
    problem = duti.Problem(X, y, X[:m], y[:m])
    learner = duti.Logistic(ridge=0.1)
    found = scored(
        problem,
        rng.random(n),
        (problem.y + 1) % k,
        np.arange(n) % 2 == 0,
        budget=n,
        learner=learner,
        notes=tuple(words),
    )
    ids = [words[i % len(words)] for i in range(n)]
    columns = {word: [words[(i + j) % 20] for i in range(n)] for j, word in enumerate(words)}
    columns |= {"text": ids, "image": ids[::-1], "label": y.tolist()}
    rows = pa.table({_utf8(name): [_utf8(value) for value in values] for name, values in columns.items()})
    return Case(
        problem=problem,
        findings=replace(found, row_ids=np.array(ids, dtype=object)),
        reasons=reasons(problem, found),
        rows=rows,
        trusted=rows.slice(0, m),
        label="label",
        groups=(words[3], words[41]),
        text="text",
        image="image",
        image_folder=Path("/nonexistent"),
        columns=tuple((word, word, word) for word in words),
        settings={word: word for word in words},
        title=words[25],
    )


def _utf8(text: str) -> str:
    """Arrow holds no halves of characters."""
    return text.encode("utf-8", "replace").decode()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("hostile")
    paths = {}
    for name, words in (("payloads", WORDS), ("harmless", HARMLESS)):
        paths[name] = folder / f"{name}.html"
        paths[name].write_text(html(hostile(words)), encoding="utf-8")
    return paths


def test_there_are_enough_payloads() -> None:
    assert len(set(PAYLOADS)) >= 50


def test_nothing_runs_and_nothing_is_fetched(pages: dict[str, Path], look: Opener) -> None:
    seen = look(pages["payloads"])
    page = seen.page
    page.locator("#find").fill("<script")
    page.locator("#change").select_option(index=1)
    for heading in page.locator("#flagged thead button").all()[:8]:
        heading.click()
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    for element in page.locator(".ring, #flagged td").all()[:20]:
        element.dispatch_event("mouseover")
    assert page.evaluate("window.hacked") is None
    assert seen.heard.messages == []
    assert seen.heard.requests == [pages["payloads"].as_uri()]
    assert page.url == pages["payloads"].as_uri()


def test_payloads_change_no_element_and_no_attribute(pages: dict[str, Path], look: Opener) -> None:
    payloads, harmless = (look(pages[name]).page.evaluate(STRUCTURE) for name in ("payloads", "harmless"))
    assert len(harmless) > 1000
    assert payloads == harmless


def test_payloads_are_seen_as_they_are(pages: dict[str, Path], look: Opener) -> None:
    page = look(pages["payloads"]).page
    shown = page.locator(".settings dt").all_inner_texts()
    for word in WORDS:
        if word.isprintable():
            assert word.strip() in shown
    assert "[U+202E]<b>txt.exe[U+202C]" in shown
    assert "[U+0000]<script[U+0000]>window.hacked=1</script>" in shown
    assert page.title() == f"{WORDS[25]}: labels debugged"


def test_no_address_is_of_the_users_making(pages: dict[str, Path], look: Opener) -> None:
    page = look(pages["payloads"]).page
    links = page.evaluate("[...document.querySelectorAll('[href], [src]')].map(e => e.getAttribute('href'))")
    assert links
    assert all(re.fullmatch(r"#trusted-\d+", link) for link in links)


def test_even_markup_that_slipped_in_would_not_run(
    pages: dict[str, Path], look: Opener, tmp_path: Path
) -> None:
    broken = pages["harmless"].read_text(encoding="utf-8")
    slipped = (
        f"<script>{RUN}</script><img src=x onerror={RUN}><svg onload={RUN}></svg><p style='color:red'>x</p>"
    )
    path = tmp_path / "broken.html"
    path.write_text(broken.replace("</main>", f"{slipped}</main>"), encoding="utf-8")
    seen = look(path)
    assert seen.page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in message for message in seen.heard.messages)
    assert (
        seen.page.evaluate("getComputedStyle(document.querySelector('main > p')).color") != "rgb(255, 0, 0)"
    )
