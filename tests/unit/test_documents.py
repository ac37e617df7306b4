"""Documents: what every renderer shows of the same parts, what none lets through, and plain values as YAML."""

import io
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from math import inf

from rich.console import Console

from sqlanon.model.release.measurement import ModelResult, models_table
from sqlanon.report import console, html
from sqlanon.report.document import (
    Bar,
    Bars,
    Code,
    Document,
    Notes,
    Points,
    Section,
    SideBySide,
    Steps,
    Table,
    Text,
    facts,
    notes,
    paragraph,
    printable,
)
from sqlanon.run.contract import as_yaml

HOSTILE = "<script src='http://x.test/'>[red]\x1b[2J"

DOCUMENT = Document(
    HOSTILE,
    (
        paragraph("Published ", Text(HOSTILE, "strong")),
        facts([("rows", 1_234.5), ("ties", [{"age": 1}]), ("nothing", None)], HOSTILE),
        Table(
            ("name", "of rows", "shown"),
            [(HOSTILE, "12", Bar((0.5, 0.25, 0.25)))],
            numbers=(1,),
            scale="shares",
            legend=("lost", "between", "shown"),
        ),
        Notes("Notes", (HOSTILE, "one\ntwo")),
    ),
)


def on_console(document: Document = DOCUMENT, *, encoding: str = "utf-8") -> str:
    written = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace")
    Console(file=written, width=200).print(*console.rendered(document))
    written.seek(0)
    return written.read()


CHARTS = Document(
    "Charts",
    (
        Section(
            "Sizes",
            (
                SideBySide((("good", (paragraph("left"),)), ("bad", (paragraph("right"),)))),
                Bars("by group", "group", ("a", "b"), (("before", (0.25, 0.75)), ("after", (0.5, 0.5)))),
                Steps("up to a size", "size", ((2, "two"), (9, "nine")), (("rows", ((2, 0.125), (9, 1.0))),)),
                Points("by k", "k", ((2, 0.25, 1, True),), ((2, 0.25), (5, 0.0625)), (2, 0.25, "here")),
                Code("k = 2", "policy.toml"),
            ),
            "of all",
        ),
    ),
)


def test_charts_are_tables_of_their_shares_on_a_console() -> None:
    lines = [" ".join(line.split()) for line in on_console(CHARTS).splitlines() if line.strip()]
    assert [line for line in lines if "─" not in line] == [
        *("Sizes", "of all", "left", "right"),
        *("by group", "group before after", "a 25.0 % 50.0 %", "b 75.0 % 50.0 %"),
        *("up to a size", "size rows", "two 12.5 %", "nine 100.0 %"),
        *("by k", "k share", "2 25.0 %", "5 6.2 %"),
        *("policy.toml", "k = 2"),
    ]


def texts_of(page: str) -> str:
    """The texts between the tags; every tag is closed in order."""
    found: list[str] = []
    opened: list[str] = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert not {"src", "href", "onload"} & {name for name, _ in attrs}
            if tag not in ("br", "meta"):
                opened.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

        def handle_data(self, data: str) -> None:
            found.append(data)

    Parser().feed(page)
    assert not opened
    return " ".join(found)


def test_every_renderer_shows_every_text() -> None:
    shown = [on_console(), texts_of(html.in_notebook(DOCUMENT)), texts_of(html.page(DOCUMENT))]
    for text in ("Published", "1,234.5", "age=1", "of rows", "12", "shares", "between", "Notes", "two", "[red]"):
        assert all(text in each for each in shown), text
    assert printable(HOSTILE) in shown[2].split("Published")[0], "a page has the title, too"


def test_many_notes_that_differ_in_a_column_and_in_numbers_are_one() -> None:
    def sentences(names: Sequence[str]) -> list[str]:
        return [f'of "{name}", {place}.5 % of the rows\ncolumn = "{name}"' for place, name in enumerate(names)]

    names = [f"q{place} a" for place in range(2_000)]
    (found,) = notes("Notes", ["first", *sentences(names), 'of "age", nothing', *sentences(['a""b'])])
    likewise = ", ".join(f'"{name}"' for name in names[1:10])
    assert found.sentences == (
        "first",
        f'of "q0 a" (likewise {likewise} and 1,991 more, all of them listed in JSON), 0.5 % of the rows'
        '\ncolumn = "q0 a"',
        'of "age", nothing',
    )
    few = [
        "7 rows",
        *sentences(names[:10]),
        *(f'"{name}" shows "zip {name}"' for name in names[:20]),
        *(f"{rows} rows" for rows in range(8, 30)),
    ]
    assert [each.sentences for each in notes("Notes", few)] == [tuple(few)]
    assert not notes("Notes", [])


def test_no_markup_of_a_text_is_obeyed() -> None:
    assert "\x1b" not in on_console()
    for page in (html.in_notebook(DOCUMENT), html.page(DOCUMENT)):
        assert "<script" not in page
        assert "&lt;script" in page


def test_a_page_asks_for_nothing() -> None:
    page = html.page(DOCUMENT)
    assert page.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in page
    assert not re.search(r"<(script|link|img|iframe|object)|@import|url\(| style=|unsafe-inline", page)
    policy, style = re.search(r'style-src ([^"]+)">.*<style>(.*)</style>', page, re.DOTALL).groups()  # type: ignore[union-attr]
    assert policy == html.allowed(style)


def test_a_fragment_stands_twice_on_a_page_of_a_strict_policy() -> None:
    both = Document("Both", (*DOCUMENT.parts, *CHARTS.parts))
    fragment = html.fragment(both)
    assert fragment in html.page(both)
    assert not re.search(r" (style|id|on[a-z]+)=", fragment)
    (first, before), (heading, charts) = html.sections(both)
    assert (first, heading) == ("", "Sizes")
    assert fragment == f"{before}<section><h2>Sizes</h2>{charts}</section>"


def test_bars_have_the_lengths_of_their_shares() -> None:
    assert "·" * 15 + "▒" * 7 + "█" * 8 in on_console()
    assert "." * 15 + "-" * 7 + "#" * 8 in on_console(encoding="ascii")
    assert re.findall(r"width:([\d.]+)em", html.in_notebook(DOCUMENT))[:3] == ["6.00", "3.00", "3.00"]


def test_mappings_and_lists_in_blocks() -> None:
    value = {"name": "a: b # c", "list": [{"x": 1, "y": [True, None]}, "- z"], "empty": [], "none": {}}
    assert as_yaml(value).splitlines() == [
        'name: "a: b # c"',
        "list:",
        "  - x: 1",
        "    y:",
        "      - true",
        "      - null",
        '  - "- z"',
        "empty: []",
        "none: {}",
    ]


def test_texts_of_several_lines_stand_as_they_are() -> None:
    assert as_yaml({"text": "one:\n- two"}).splitlines() == ["text: |-", "  one:", "  - two"]
    assert as_yaml({"text": "one\n two"}) == 'text: "one\\n two"\n'


def test_what_yaml_does_not_take_is_escaped() -> None:
    assert as_yaml({"text": 'é🙂"\x7f\x85\u2028'}) == 'text: "é🙂\\"\\U0000007f\\U00000085\\U00002028"\n'


def test_bounds_of_one_model_are_called_by_their_measures() -> None:
    def result(model: str, measure: str, attained: float = 0.5) -> ModelResult:
        return ModelResult(
            model=model, measure=measure, column=None, comparison="<=", required=1, attained=attained, met=True
        )

    shown = models_table([result("one", "uniques", inf), result("two", "poisson_risk"), result("two", "other_risk")])
    assert [row[:2] for row in shown.rows] == [
        ("one", "no estimate"), ("two: poisson risk", "0.5"), ("two: other risk", "0.5")
    ]  # fmt: skip
