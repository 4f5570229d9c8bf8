"""Reports in a real browser: what is seen, where, and by whom."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.report.conftest import LAPTOP, PHONE, Opener

Reports = dict[str, Path]
NAMES = ["harry_potter", "sine", "digits", "texts"]
AXE = files("axe_playwright_python") / "axe.min.js"


def column(page: Page, number: int) -> list[str]:
    """What stands in a column of the flagged rows that are not filtered out."""
    cells = page.locator(f"#flagged tbody tr:not([hidden]) > :nth-child({number})")
    return [text.strip() for text in cells.all_inner_texts()]


def below(page: Page, selector: str) -> float:
    """Where an element ends, in pixels from the top of the page."""
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_quiet_and_asks_for_nothing(name: str, reports: Reports, look: Opener) -> None:
    seen = look(reports[name])
    assert seen.heard.messages == []
    assert [url for url in seen.heard.requests if not url.startswith("data:")] == [reports[name].as_uri()]


@pytest.mark.parametrize(
    "name, device, scheme",
    [
        ("harry_potter", "laptop", "light"),
        ("harry_potter", "laptop", "dark"),
        ("harry_potter", "phone", "light"),
        ("harry_potter", "phone", "dark"),
        ("sine", "laptop", "light"),
        ("digits", "phone", "dark"),
        ("texts", "laptop", "dark"),
    ],
)
def test_axe_finds_nothing(name: str, device: str, scheme: str, reports: Reports, look: Opener) -> None:
    page = look(reports[name], {"laptop": LAPTOP, "phone": PHONE}[device], scheme).page
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate("axe.run().then(found => found.violations)")
    told = [(one["id"], [node["target"] for node in one["nodes"]][:5]) for one in found]
    assert told == []


@pytest.mark.parametrize("name", NAMES)
def test_a_phone_scrolls_down_but_not_sideways(name: str, reports: Reports, look: Opener) -> None:
    page = look(reports[name], PHONE).page
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    right = "[...document.querySelectorAll('.card, h1, .lead')].map(e => e.getBoundingClientRect().right)"
    assert max(page.evaluate(right)) <= PHONE["width"]


def test_all_that_matters_is_within_two_screens_of_a_laptop(reports: Reports, look: Opener) -> None:
    page = look(reports["harry_potter"]).page
    assert below(page, "h1") < 768 / 4
    assert below(page, ".view") < 768  # boundary and flagged rows at first sight
    # Each row names the trusted items that ask for its change, up to three below each other.
    assert page.locator("#flagged tbody tr").nth(3).bounding_box()["y"] < 768  # type: ignore[index]
    for selector in (".flags", ".view", ".trusted-items", ".path"):
        assert below(page, selector) < 2 * 768
    assert page.locator(".view .border").count() == 2  # before and after
    assert page.locator(".ring[data-row]").count() == page.locator("#flagged tbody tr").count() == 12


def test_rows_are_sorted_by_a_click_on_a_heading(reports: Reports, look: Opener) -> None:
    page = look(reports["harry_potter"]).page
    heading = page.get_by_role("button", name="heritage")
    for direction, order in (("ascending", False), ("descending", True)):
        heading.click()
        assert page.locator("#flagged th[aria-sort]").get_attribute("aria-sort") == direction
        heritage = [float(value) for value in column(page, 6)]
        assert heritage == sorted(heritage, reverse=order)
    page.get_by_role("button", name="rank").click()
    assert column(page, 1) == [str(rank) for rank in range(1, 13)]


def test_text_is_sorted_as_text_and_probabilities_by_their_value(reports: Reports, look: Opener) -> None:
    page = look(reports["texts"]).page
    page.get_by_role("button", name="source").click()
    assert column(page, 7) == sorted(column(page, 7))
    page.get_by_role("button", name="P(wrong)").click()
    values = page.locator("#flagged tbody td[data-sort]:nth-child(4)")
    doubts = [float(cell.get_attribute("data-sort") or "") for cell in values.all()]
    assert doubts == sorted(doubts)


def test_rows_are_filtered_by_text_and_by_change(reports: Reports, look: Opener) -> None:
    page = look(reports["digits"]).page
    total = page.locator("#flagged tbody tr").count()
    assert page.locator("#count").inner_text() == f"{total} of {total} rows"
    page.locator("#change").select_option(label="8 → 3")
    shown = column(page, 3)
    assert 0 < len(shown) < total
    assert all("8" in text and "3" in text for text in shown)
    row = column(page, 2)[0]
    page.locator("#find").fill(f"  {row} ")
    assert 1 <= len(column(page, 2)) < len(shown)
    page.locator("#find").fill("no such text")
    assert column(page, 2) == []
    assert page.locator("#count").inner_text() == f"0 of {total} rows"


def test_pointing_at_a_row_shows_where_it_is(reports: Reports, look: Opener) -> None:
    page = look(reports["harry_potter"]).page
    row = page.locator("#flagged tbody tr").nth(2)
    row.hover()
    lit = page.locator(".ring.lit")
    assert lit.count() == 1
    assert lit.get_attribute("data-row") == row.get_attribute("data-row")
    page.locator("h1").hover()
    assert lit.count() == 0


def test_a_reason_leads_to_its_trusted_item(reports: Reports, look: Opener) -> None:
    page = look(reports["harry_potter"]).page
    page.locator(".why a").first.click()
    assert page.locator("tr:target").locator("th").inner_text() == page.locator(".why a").first.inner_text()


def test_images_are_seen(reports: Reports, look: Opener) -> None:
    page = look(reports["digits"]).page
    sizes = page.evaluate("[...document.images].map(i => [i.naturalWidth, i.naturalHeight])")
    assert sizes == [[32, 32]] * page.locator("#flagged tbody tr").count()


def test_paper_shows_everything_and_no_controls(reports: Reports, look: Opener) -> None:
    page = look(reports["texts"]).page
    details = page.locator("#flagged details").first
    whole = details.locator("bdi").last
    assert not whole.is_visible()
    page.locator("#find").fill("no such text")
    page.emulate_media(media="print")
    assert whole.is_visible()
    assert page.locator("#flagged tbody tr").last.is_visible()
    assert not page.locator("#find").is_visible()
    assert page.evaluate("document.querySelector('.flags .box').clientHeight") > 1500
    assert page.pdf().startswith(b"%PDF")


def test_dark_is_dark_and_light_is_light(reports: Reports, look: Opener) -> None:
    shades = []
    for scheme in ("light", "dark"):
        page = look(reports["sine"], LAPTOP, scheme).page
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        shades.append(sum(int(part) for part in colour[4:-1].split(",")))
    assert shades[0] > 700
    assert shades[1] < 100
