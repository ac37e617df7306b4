"""The app without a network: its pages as a browser gets them, on a messy table."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from sqlanon.app.desk import Desk, Place
from sqlanon.app.office import Office
from sqlanon.app.serving import Pages

HOSTILE = 'a"b; drop table x --'
SCRIPT = "<script>alert(1)</script>"
CANARIES = (
    "Canary Person",
    "rare-canary",
    "undecided-canary",
)  # values of an identifier, a rare one, an undecided column


POLICY = """\
quasi_identifiers = ["Geb.-Datum", "Stadt", "Größe (cm)"]
sensitive = ["Diagnose"]  # not to be learned
identifiers = [
    "Pat. Name",  # a name
    "a\\"b; drop table x --",  # ? undecided
]
insensitive = ["Gewicht, kg"]
suppression_limit = 0.05

[[privacy]]
model = "k-anonymity"
k = 5

[csv]
decimal = ","
dates = "dmy"

[taxonomies]
"Geb.-Datum" = { kind = "dates", units = ["year", "decade"] }
Stadt = { kind = "flat" }
"Größe (cm)" = { kind = "intervals", widths = [10, 20, 40] }
"""


def write_messy(path: Path, rows: int = 400) -> None:
    """Write a CSV file with semicolons, umlauts, German dates, decimal commas, a hostile name and values."""
    cities = ["Köln", "Koeln", "Bonn", SCRIPT]
    lines = [f'Pat. Name;Geb.-Datum;Stadt;Größe (cm);Gewicht, kg;"{HOSTILE.replace(chr(34), chr(34) * 2)}";Diagnose']
    for row in range(rows):
        name = CANARIES[0] if row == 7 else f"Name{row} Müller"
        city = CANARIES[1] if row == 9 else cities[row % 4]
        odd = CANARIES[2] if row == 11 else f"q{row % 3}"
        day = f"{row % 28 + 1:02d}.{row % 12 + 1:02d}.{1940 + row % 60}"
        lines.append(f"{name};{day};{city};{150 + row % 40};{60 + row % 30},5;{odd};{['J45', 'I10', 'E11'][row % 3]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


class Browser:
    """Pages of one app, and its forms."""

    def __init__(self, office: Office) -> None:
        self.office = office
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._client = TestClient(Pages(office).program, base_url="http://127.0.0.1")

    @property
    def desk(self) -> Desk:
        assert self.office.desk is not None
        return self.office.desk

    def get(self, page: str, status: int = 200) -> str:
        """Return a page, which parses and has each id once."""
        answer = self._client.get(f"/x/{page}")
        assert answer.status_code == status, alert(answer.text) or answer.text[-2000:]
        return _checked(answer.text)

    def post(self, action: str, status: int = 200, **fields: Any) -> str:
        """Send a form, follow its redirect, and return the page; fields without a version have the present one."""
        given: dict[str, Any] = {"version": self.desk.versions.number} | fields
        given["version"] = f"{self.desk.number}-{given['version']}"
        answer = self._client.post(f"/x/{action}", data=given)
        assert answer.status_code == status, alert(answer.text) or answer.text[-2000:]
        return _checked(answer.text)

    def wait(self, seconds: float = 120) -> None:
        """Wait for the end of the job, which must not have failed."""
        job = self.desk.job
        assert job is not None
        job.wait(seconds)
        assert job.state == "done", job.sentence


@contextmanager
def app(source: str, folder: Path, database: Path | None = None, *, waits: bool = True) -> Iterator[Browser]:
    """Open the app on a source; the suggestion is there, if it waits for that."""
    with Office(Place(source, database, folder / "policy.toml", (folder,))) as office:
        browser = Browser(office)
        if waits and office.desk is not None and office.desk.job is not None:
            browser.wait()
        yield browser


class _Ids(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        assert not {"style", "onclick", "onload"} & names.keys(), (tag, attrs)
        assert tag != "script" or "src" in names, "an inline script"
        if names.get("id"):
            self.ids.append(str(names["id"]))


def _checked(text: str) -> str:
    if text.startswith("<!DOCTYPE"):
        parser = _Ids()
        parser.feed(text)
        assert len(parser.ids) == len({*parser.ids}), [each for each in parser.ids if parser.ids.count(each) > 1]
    return text


def alert(page: str) -> str:
    """Return the sentence above the page."""
    found = re.search(r'role="alert" class="problem">(.*?)</p>', page, re.DOTALL)
    return found[1] if found else ""
