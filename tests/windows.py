"""The app in a Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from sqlanon.app.app_command import served
from sqlanon.app.desk import Desk, Place
from sqlanon.app.office import Office
from tests.browser import PATIENCE

REFUSAL = re.compile(r"Failed to load resource: the server responded with a status of 4\d\d")
"""What Chromium itself says of a form that was refused."""

UNLABELLED = """() => [...document.querySelectorAll("input:not([type=hidden]), select, textarea, button, svg")]
    .filter(each => !(each.getAttribute("aria-label") || each.title || each.closest("[aria-hidden=true]") ||
        [...(each.labels || [])].some(label => label.textContent.trim()) ||
        (["BUTTON", "svg"].includes(each.tagName) && each.textContent.trim())))
    .map(each => each.outerHTML.slice(0, 200))"""
WIDTHS = (420, 800, 1200)


class Window:
    """A page of the app, and what must not happen in it: messages, exceptions, dialogs, requests to elsewhere."""

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1200, "height": 860}, **options)
        self.problems: list[str] = []
        self.page = self.another()
        self.page.goto(address)
        self.page.wait_for_selector("#content")

    def another(self) -> Page:
        """Open another tab."""
        page = self.context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda found: REFUSAL.match(found.text) or self.problems.append(found.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        page.on("request", lambda sent: self.problems.append(sent.url) if "//127.0.0.1:" not in sent.url else None)
        return page

    def go(self, step: str) -> None:
        """Go to a step by its link."""
        self.page.click(f"#steps a:has-text('{step}')")
        self.page.wait_for_selector(f"h1:text-is('{step}')")

    def rests(self, milliseconds: int = PATIENCE) -> None:
        """Wait until no answer and no job is awaited, and no column is to be counted."""
        quiet = "html:not([aria-busy]):not(:has([data-again], #job[data-state=running]))"
        self.page.wait_for_selector(quiet, timeout=milliseconds)

    def focused(self) -> str:
        return str(self.page.evaluate("document.activeElement.id"))

    def looks_well(self) -> None:
        """Assert that the page fits into each width, light and dark, has one heading, and a label for each field."""
        page = self.page
        assert page.locator("h1").count() == 1
        assert page.evaluate(UNLABELLED) == []
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 860})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (page.url, width)
        page.emulate_media(color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 23, 29)"
        page.emulate_media(color_scheme="light")


@contextmanager
def watched(browser: Browser, address: str, **options: Any) -> Iterator[Window]:
    """Open an address, and assert at the end that nothing went wrong."""
    opened = Window(browser, address, **options)
    try:
        yield opened
    finally:
        opened.context.close()
    assert opened.problems == []


@contextmanager
def app(
    browser: Browser, source: str, folder: Path, database: Path | None = None, **options: Any
) -> Iterator[tuple[Window, Desk]]:
    """Open the app on a source, in a browser; its policy and its releases are in the folder."""
    with Office(Place(source, database, folder / "policy.toml", (folder,))) as office, served(office) as door:
        assert office.desk is not None
        with watched(browser, door.address(), **options) as window:
            yield window, office.desk
