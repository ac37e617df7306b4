"""Taxonomies: how the values of a column become more general, with the rows of each label."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlanon.app import rule_words
from sqlanon.app.columns_screen import profile
from sqlanon.app.desk import Desk
from sqlanon.app.drawings import strip
from sqlanon.app.panel import least_shown
from sqlanon.app.requests import Fields, Refused, Shown
from sqlanon.app.rule_words import KINDS, Labels
from sqlanon.app.screen import Screen
from sqlanon.errors import SqlanonError
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.suggestion.policy_file import GivenTaxonomy, PolicyFile

MAX_LABELS = 80  # labels of a level that are listed
MAX_VALUES = 400  # values of a column whose groups can be edited here; more are edited in their file


def values(desk: Desk, fields: Fields, given: GivenTaxonomy | None = None) -> dict[str, Any]:
    """Return the preview of a column's taxonomy: that of the policy, or one that somebody types."""
    file = desk.versions.file
    columns = [name for name, each in file.roles.items() if each.role == "quasi-identifier"]
    column = fields.one("column", columns[0] if columns else "")
    if columns and column not in columns:
        raise Refused(422, "only quasi-identifiers have taxonomies: choose that role for the column first")
    rule = rule_words.rules_of(file).get(column)
    form = {**rule_words.fields_of(rule), **{name: text[0] for name, text in fields.given.items()}}
    shows_rare = fields.has("rare")
    found, problem = None, ""
    if columns:
        taxonomy = rule_words.taxonomy_of(file, column) if given is None else given
        try:
            found = _preview(desk, taxonomy, column, shows_rare=shows_rare)
        except SqlanonError as error:
            problem = str(error)
    return {
        "columns": columns,
        "column": column,
        "kinds": {
            name: kind for name, kind in KINDS.items() if values_of(desk, column) in kind.of or name == form["kind"]
        },
        "kind": KINDS.get(form["kind"]),
        "form": form,
        "rule": rule,
        "is_stored": bool(columns) and rule is None,
        "is_saved": given is None,
        "preview": found,
        "groups": _groups(found) if found is not None and form["kind"] == "labels" else None,
        "strip": strip,
        "least": least_shown(desk),
        "shows_rare": shows_rare,
        **({"problem": problem} if problem else {}),
    }


def _preview(desk: Desk, taxonomy: Any, column: str, *, shows_rare: bool = False) -> Any:
    with desk.session() as session:
        return session.taxonomies.preview(
            taxonomy,
            desk.place.source,
            column,
            least=least_shown(desk),
            labels=MAX_LABELS,
            values=MAX_VALUES,
            rare=shows_rare,
        )


def values_of(desk: Desk, column: str) -> rule_words.Values:
    """Return what kind of values a column of the source has."""
    kind = desk.types().get(column, "").upper()
    if kind.startswith(("DATE", "TIME")):
        return "dates"
    return "numbers" if kind.endswith(("INT", "INTEGER", "FLOAT", "DOUBLE")) or kind.startswith("DEC") else "texts"


def _groups(preview: Any) -> list[list[tuple[str | None, int, int]]]:
    """Return the values as lines of a table: per level that begins a new label, the label, its rows, and its height."""
    rows: dict[tuple[int, str | None], int] = {}
    spans: dict[tuple[int, str | None], int] = {}
    for value in preview.values:
        for level, label in enumerate((value.value, *value.labels)):
            rows[level, label] = rows.get((level, label), 0) + value.rows
            spans[level, label] = spans.get((level, label), 0) + 1
    lines: list[list[tuple[str | None, int, int]]] = []
    last: dict[int, str | None] = {}
    for value in preview.values:
        line: list[tuple[str | None, int, int]] = [(value.value, value.rows, 1)]
        for level, label in enumerate(value.labels, start=1):
            if level not in last or last[level] != label:
                line.append((label, rows[level, label], spans[level, label]))
                last[level] = label
        lines.append(line)
    return lines


def save_taxonomy(desk: Desk, fields: Fields) -> str | Shown:
    """Keep the rule of the form, or show what it would make (``only`` = preview)."""
    column, kind = fields.one("column"), fields.one("kind")
    if fields.one("was", kind) != kind:  # levels of another kind mean nothing here
        fields = Fields({**fields.given, "levels": [_first_levels(desk, column, kind)], "only": ["preview"]})
    given: GivenTaxonomy
    if kind == "labels":
        given = _labels(desk, column)
    elif kind == "file":
        given = {"kind": "file", "file": str(desk.target(fields.one("levels")))}
    else:
        given = rule_words.rule_in(fields)
    if fields.one("only", "save") == "preview":
        return Shown("taxonomies", values(desk, fields, given))
    _preview(desk, Taxonomy.from_rows(given) if isinstance(given, list) else given, column)
    return _kept(desk, fields, column, given, rule_words.words_of(given if isinstance(given, dict) else "labels"))


def _first_levels(desk: Desk, column: str, kind: str) -> str:
    """Propose levels for a kind: intervals of two, four and eight bins of the histogram."""
    profiled = profile(desk, column, hides=False) if kind == "intervals" else None
    if profiled is not None and profiled.histogram is not None and profiled.histogram.edges is not None:
        first, second = profiled.histogram.edges[:2]
        if isinstance(first, int | float) and isinstance(second, int | float):
            return ", ".join(f"{(second - first) * factor:g}" for factor in (2, 4, 8))
    return KINDS[kind].first if kind in KINDS else ""


def _edit_labels(change: Callable[[Labels, Fields], Labels], what: str) -> Callable[[Desk, Fields], str | Shown]:
    def edit(desk: Desk, fields: Fields) -> str | Shown:
        column = fields.one("column")
        labels = change(_labels(desk, column), fields)
        _preview(desk, Taxonomy.from_rows(labels), column)
        return _kept(desk, fields, column, labels, what)

    return edit


def own(desk: Desk, fields: Fields) -> str | Shown:
    """Copy the stored taxonomy of a column into the policy."""
    column = fields.one("column")
    return _kept(desk, fields, column, _labels(desk, column), "a taxonomy of its own")


def _kept(desk: Desk, fields: Fields, column: str, given: GivenTaxonomy, what: str) -> str:
    def edit(file: PolicyFile) -> PolicyFile:
        return file.with_taxonomy(column, given)

    desk.versions.add(f"{column}: {what}", edit, fields.whole("version"))
    return f"taxonomies?{fields.query('column', 'rare')}"


def _labels(desk: Desk, column: str) -> Labels:
    """Return the labels of a column's taxonomy: those of its file, or what its rule makes of the values."""
    if (kept := desk.versions.file.labels(column)) is not None:
        return [["" if label is None else label for label in row] for row in kept]
    with desk.session() as session:
        found = session.taxonomies.preview(
            rule_words.taxonomy_of(desk.versions.file, column),
            desk.place.source,
            column,
            values=MAX_VALUES + 1,
            rare=True,
        )
    if len(found.values) > MAX_VALUES:
        raise Refused(422, f"groups of more than {MAX_VALUES} values are edited in a file: load an ARX hierarchy")
    labels = [[str(each.value), *map(str, each.labels)] for each in found.values]
    is_flat = all(len(row) == 2 for row in labels)
    return rule_words.with_level(labels) if is_flat else labels


def _mark(desk: Desk) -> str:
    if desk.versions.current is None:
        return ""
    return str(sum(each.role == "quasi-identifier" for each in desk.versions.file.roles.values()))


SCREEN = Screen(
    "taxonomies",
    "Taxonomies",
    values,
    {
        "save_taxonomy": save_taxonomy,
        "own": own,
        "merge": _edit_labels(
            lambda labels, fields: rule_words.merged(labels, fields.many("value"), fields.one("label")), "values merged"
        ),
        "take_out": _edit_labels(
            lambda labels, fields: rule_words.taken_out(labels, fields.many("value")), "values taken out"
        ),
        "rename": _edit_labels(
            lambda labels, fields: rule_words.renamed(
                labels, fields.whole("level"), fields.one("old"), fields.one("label")
            ),
            "a label renamed",
        ),
        "level": _edit_labels(lambda labels, _fields: rule_words.with_level(labels), "another level"),
    },
    _mark,
)
