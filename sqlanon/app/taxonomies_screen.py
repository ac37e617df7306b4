"""Taxonomies: how the values of a column become more general, with the rows of each label."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from sqlanon.app.columns_screen import profile
from sqlanon.app.desk import Desk
from sqlanon.app.drawings import strip
from sqlanon.app.panel import has_individual, least_shown
from sqlanon.app.requests import Fields, Refused, Shown
from sqlanon.app.screen import Screen
from sqlanon.errors import SqlanonError
from sqlanon.model.taxonomy.hierarchies import Labels, merged, renamed, taken_out, with_level
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.report.document import at_least
from sqlanon.suggestion.policy_file import GivenTaxonomy, PolicyFile
from sqlanon.suggestion.rule_form import (
    RULE_KINDS,
    fields_of,
    first_levels,
    rule_in,
    taxonomy_of,
    values_of,
    words_of,
)

MAX_LABELS = 80  # labels of a level that are listed
NEVER = 2**62  # as the rows that a label must have to be shown
MAX_VALUES = 400  # values of a column whose groups can be edited here; more are edited in their file


def values(desk: Desk, fields: Fields, given: GivenTaxonomy | None = None) -> dict[str, Any]:
    """Return the preview of a column's taxonomy: that of the policy, or one that somebody types."""
    file = desk.versions.file
    columns = file.columns_of("quasi-identifier")
    column = fields.one("column", columns[0] if columns else "")
    if columns and column not in columns:
        raise Refused(422, "only quasi-identifiers have taxonomies: choose that role for the column first")
    rule = file.rules.get(column)
    form = {**fields_of(rule), **{name: text[0] for name, text in fields.given.items()}}
    shows_rare = fields.has("rare") or (has_individual(desk) and column in desk.shown)
    kind_of_values = values_of(desk.types().get(column, ""))
    found, problem = None, ""
    if columns and file.roles[column].is_undecided and column not in desk.shown:
        problem = f'decide on the column "{column}" first: until then its values are hidden'
    elif columns:
        taxonomy = taxonomy_of(file, column) if given is None else given
        try:
            found = _preview(desk, taxonomy, column, shows_rare=shows_rare)
        except SqlanonError as error:
            problem = str(error)
    return {
        "columns": columns,
        "column": column,
        "kinds": {name: each for name, each in RULE_KINDS.items() if kind_of_values in each.of or name == form["kind"]},
        "kind": RULE_KINDS.get(form["kind"]),
        "form": form,
        "rule": rule,
        "is_stored": bool(columns) and rule is None,
        "is_saved": given is None,
        "preview": found,
        "groups": found.groups() if found is not None and form["kind"] == "labels" else None,
        "strip": strip,
        "least": least_shown(desk),
        "at_least": at_least,
        "hides": has_individual(desk) and not shows_rare,
        "shows_rare": shows_rare,
        **({"problem": problem} if problem else {}),
    }


def _preview(desk: Desk, taxonomy: Any, column: str, *, shows_rare: bool = False) -> Any:
    least = least_shown(desk)
    if has_individual(desk) and not shows_rare:
        least = NEVER  # many rows of a value may be one person's
    with desk.session() as session:
        return session.taxonomies.preview(
            taxonomy,
            desk.place.source,
            column,
            least=least,
            labels=MAX_LABELS,
            values=MAX_VALUES,
            rare=shows_rare,
        )


def save_taxonomy(desk: Desk, fields: Fields) -> str | Shown:
    """Keep the rule of the form, or show what it would make (``only`` = preview)."""
    column, kind = fields.one("column"), fields.one("kind")
    if fields.one("was", kind) != kind:  # levels of another kind mean nothing here
        levels = first_levels(kind, profile(desk, column, hides=False) if kind == "intervals" else None)
        fields = Fields({**fields.given, "levels": [levels], "only": ["preview"]})
    given: GivenTaxonomy
    place = desk.target(fields.one("levels")).resolve() if kind == "file" else None
    if kind == "labels":
        given = _labels(desk, column)
    elif place is not None:
        given = {"kind": "file", "file": str(place)}
    else:
        given = rule_in({name: text[0] for name, text in fields.given.items()})
    if fields.one("only", "save") == "preview":
        return Shown("taxonomies", values(desk, fields, given))
    _preview(desk, Taxonomy.from_rows(given) if isinstance(given, list) else given, column)
    words = words_of(given if isinstance(given, dict) else {"kind": "rows"})
    if place is not None:  # a run reads it relative to the policy
        given = {"kind": "file", "file": os.path.relpath(place, desk.place.policy_file.parent.resolve())}
    return _kept(desk, fields, column, given, words)


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
            taxonomy_of(desk.versions.file, column),
            desk.place.source,
            column,
            values=MAX_VALUES + 1,
            rare=True,
        )
    if len(found.values) > MAX_VALUES:
        raise Refused(422, f"groups of more than {MAX_VALUES} values are edited in a file: load an ARX hierarchy")
    labels = [[str(each.value), *map(str, each.labels)] for each in found.values]
    is_flat = all(len(row) == 2 for row in labels)
    return with_level(labels) if is_flat else labels


def _mark(desk: Desk) -> str:
    if desk.versions.current is None:
        return ""
    return str(len(desk.versions.file.columns_of("quasi-identifier")))


SCREEN = Screen(
    "taxonomies",
    "Taxonomies",
    values,
    {
        "save_taxonomy": save_taxonomy,
        "own": own,
        "merge": _edit_labels(lambda old, form: merged(old, form.many("value"), form.one("label")), "values merged"),
        "take_out": _edit_labels(lambda old, form: taken_out(old, form.many("value")), "values taken out"),
        "rename": _edit_labels(
            lambda old, form: renamed(old, form.whole("level"), form.one("old"), form.one("label")), "a label renamed"
        ),
        "level": _edit_labels(lambda old, _form: with_level(old), "another level"),
    },
    _mark,
)
