"""A release as a notebook and a prompt show it: a sentence, six figures, the node and some rows."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlanon.model.release.measurement import Exposure
from sqlanon.model.release.reports import Report

SHOWN_ROWS = 10

MAX_READ_ROWS = 1_000
"""The most rows among which examples of labels are looked for."""

MAX_SHOWN_LABELS = 3
"""The most labels of a column that are given as examples."""

NOTHING_LOST = {"prec", "entropy", "lm", "ncp"}
"""The losses that are 0 of a table as it is."""


def in_text(into: str, report: Report) -> str:
    """The release in lines of text."""
    figures = [f"  {what}: {before} -> {after}" for what, before, after in _figures(report)]
    levels = [f'  "{name}": {words}' for name, words in report.generalization.items()]
    return "\n".join([_sentence(into, report), *figures, *levels])


def in_html(into: str, report: Report, rows: Sequence[Mapping[str, Any]]) -> str:
    """The release in HTML; every text of it is escaped."""
    levels = [(name, words, _examples(name, rows)) for name, words in report.generalization.items()]
    parts = [
        f"<p>{html.escape(_sentence(into, report))}</p>",
        _table(("", "before", "after"), _figures(report)),
        _table(("quasi-identifier", "generalized to", "such as"), levels) if levels else "",
        _table(list(rows[0]), [list(row.values()) for row in rows[:SHOWN_ROWS]]) if rows else "",
    ]
    return "".join(parts)


def _sentence(into: str, report: Report) -> str:
    models = "; ".join(dict.fromkeys(result.model for result in report.models))
    return f"Published {into} from {report.source}: {report.rows_in_words} Verified: {models}."


def _figures(report: Report) -> list[tuple[str, str, str]]:
    """What is measured, of the source and of the release; a dash for what was not counted."""
    before, after = report.before, report.after
    assert report.rows is not None
    left_out = report.rows.dropped + report.rows.unknown
    nothing = "0" if report.quality in NOTHING_LOST else "-"
    return [
        ("rows in the smallest class (k)", *_of_both(before, after, lambda each: f"{each.k:,}")),
        ("rows alone in their class", *_of_both(before, after, lambda each: f"{each.unique_rows:,}")),
        ("highest risk of re-identification", *_of_both(before, after, lambda each: _percent(each.highest_risk))),
        ("average risk of re-identification", *_of_both(before, after, lambda each: _percent(each.average_risk))),
        ("rows left out", "0", f"{left_out:,} ({_percent(left_out / report.rows.source)})"),
        (f"detail lost ({report.quality})", nothing, f"{report.loss:.3g}"),
    ]


def _of_both(before: Exposure | None, after: Exposure | None, figure: Any) -> tuple[str, str]:
    one, other = ("-" if each is None else figure(each) for each in (before, after))
    return one, other


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _examples(name: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """Labels of a column among some rows."""
    found = list(dict.fromkeys("NULL" if row[name] is None else str(row[name]) for row in rows if name in row))
    return ", ".join([*found[:MAX_SHOWN_LABELS], *(["..."] if len(found) > MAX_SHOWN_LABELS else [])])


def _table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    head = "".join(f"<th style='text-align:left'>{html.escape(each)}</th>" for each in headings)
    lines = ("".join(f"<td style='text-align:left'>{_cell(each)}</td>" for each in row) for row in rows)
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _cell(value: Any) -> str:
    return "NULL" if value is None else html.escape(str(value))
