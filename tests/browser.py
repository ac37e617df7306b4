"""Pages in a headless Chromium that playwright drives; tests are skipped where there is none."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from playwright.sync_api import Page as Tab

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

PATIENCE = 60_000
"""Milliseconds until a page that does not come to what a test expects fails it: a busy machine is slow."""

expect.set_options(timeout=PATIENCE)


class Page:
    """An open page: what it computes, and what went wrong in it.

    Attributes:
        problems: messages of its console, exceptions, and what its policy refused.
        requests: what it loaded, besides itself.
    """

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self.problems: list[str] = []
        self.requests: list[str] = []
        tab.on("console", lambda found: self.problems.append(found.text))
        tab.on("pageerror", lambda error: self.problems.append(str(error)))
        tab.on("request", lambda sent: self.requests.append(sent.url))

    def open(self, url: str) -> None:
        """Go to an address, which may differ from the present one in its fragment alone."""
        self._tab.goto("about:blank")
        self.requests.clear()
        self._tab.goto(url)
        self.requests.remove(url.partition("#")[0])

    def value(self, expression: str) -> Any:
        return self._tab.evaluate(expression)

    def text(self, name: str) -> str:
        return str(self._tab.locator(f"[id='{name}']").text_content())

    def sheets(self) -> int:
        """The number of sheets that the page is printed on, in the size that it asks for."""
        return len(re.findall(rb"/Type\s*/Page\b", self._tab.pdf(prefer_css_page_size=True)))

    def press(self, key: str) -> None:
        """Press a key in what has the focus."""
        self._tab.keyboard.press(key)


@contextmanager
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def browser() -> Iterator[Page]:
    with chromium() as opened:
        yield Page(opened.new_page(viewport={"width": 1100, "height": 900}))


def address(path: Path, fragment: str = "") -> str:
    return path.resolve().as_uri() + fragment
