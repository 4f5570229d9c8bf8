"""One browser for all, and reports to look at with it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from duti.demo import debugged_students
from duti.report import Case, html
from tests.report import cases

CHROMIUM = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
LAPTOP, PHONE = {"width": 1366, "height": 768}, {"width": 360, "height": 740}


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("chromium is not installed (Debian: apt install chromium), so pages are not looked at")
    # The sandbox of the browser does not start for the super-user, who runs tests in containers.
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=options)
        yield opened
        opened.close()


@dataclass
class Heard:
    """What a page says and asks for that nobody sees."""

    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@dataclass
class Look:
    """A page in a browser."""

    page: Page
    heard: Heard


Opener = Callable[..., Look]


@pytest.fixture
def look(browser: Browser) -> Iterator[Opener]:
    """Open a file; the pages are closed after the test."""
    opened: list[Page] = []

    def opener(path: Path, viewport: dict[str, int] = LAPTOP, scheme: str = "light") -> Look:
        page, heard = browser.new_page(viewport=viewport, color_scheme=scheme), Heard()  # type: ignore[arg-type]
        opened.append(page)
        page.on("console", lambda message: heard.messages.append(message.text))
        page.on("pageerror", lambda error: heard.messages.append(str(error)))
        page.on("dialog", lambda dialog: heard.messages.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: heard.requests.append(request.url))
        page.goto(path.as_uri())
        return Look(page, heard)

    yield opener
    for page in opened:
        page.close()


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The reports of some runs, in files."""
    folder = tmp_path_factory.mktemp("reports")
    images = folder / "images"
    images.mkdir()
    made: dict[str, Callable[[], Case]] = {
        "sine": cases.sine,
        "digits": lambda: cases.digits(images),
        "texts": cases.texts,
    }
    paths = {}
    for name, case in made.items():
        paths[name] = folder / f"{name}.html"
        paths[name].write_text(html(case()), encoding="utf-8")
    outcome, _ = debugged_students(folder / "demo", seed=0)  # what `make demo` makes
    return paths | {"harry_potter": outcome.folder.report_file}
