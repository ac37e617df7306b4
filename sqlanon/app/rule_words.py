"""Rules of taxonomies in words and as the fields of a form, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlanon.app.requests import Fields, Refused
from sqlanon.errors import PolicyError
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.suggestion.policy_file import PolicyFile
from sqlanon.suggestion.suggested_taxonomies import words_of_levels

Values = Literal["numbers", "dates", "texts"]


@dataclass(frozen=True)
class Kind:
    words: str
    of: tuple[Values, ...]  # the values that it can generalize
    setting: str = ""  # the list with an item per level
    hint: str = ""  # what to type for it
    ends: tuple[str, ...] = ()  # the ends of a declared domain
    first: str = ""  # levels to begin with


KINDS: Mapping[str, Kind] = {
    "intervals": Kind(
        "intervals",
        ("numbers",),
        "widths",
        "widths, finest first, such as 5, 10, 20",
        ("minimum", "maximum"),
        "10, 20, 40",
    ),
    "cuts": Kind("cuts", ("numbers",), "breaks", "breaks, a semicolon between levels: 18, 30, 65; 30, 65"),
    "dates": Kind(
        "parts of dates",
        ("dates",),
        "units",
        "of day, week, month, quarter, year, decade",
        ("first", "last"),
        "month, quarter, year",
    ),
    "prefixes": Kind(
        "first characters", ("texts", "numbers"), "keep", "characters that are kept, most first: 4, 3, 2", (), "3, 2, 1"
    ),
    "zip": Kind("US ZIP codes", ("texts", "numbers")),
    "icd10": Kind("ICD-10 codes", ("texts",)),
    "icd9": Kind("ICD-9 codes", ("texts",)),
    "ipv4": Kind("IPv4 addresses", ("texts",), "bits", "bits that are kept, most first: 24, 16, 8", (), "24, 16, 8"),
    "flat": Kind("the value, or *", ("texts", "numbers", "dates")),
    "labels": Kind("groups of values", ("texts", "numbers", "dates")),
    "file": Kind("an ARX hierarchy", ("texts", "numbers", "dates"), "file", "the name of a file in the folder"),
}

Labels = list[list[str]]  # a row per value: the value, and its labels from level 1 to the top


def rules_of(file: PolicyFile | None) -> Mapping[str, Any]:
    """Return the rules of a policy's taxonomies, or the names of their files, by column; none if it is not TOML."""
    try:
        found: Mapping[str, Any] = {} if file is None else file.values.get("taxonomies", {})
    except PolicyError:
        return {}
    return found


def taxonomy_of(file: PolicyFile, column: str) -> Taxonomy | Mapping[str, Any] | str:
    """Return a column's taxonomy as a preview takes it."""
    labels = file.labels(column)
    return Taxonomy.from_rows(labels) if labels is not None else rules_of(file).get(column, "stored")


def words_of(rule: Mapping[str, Any] | str | None) -> str:
    """Say how a column is generalized, such as "intervals of 5, 10"."""
    if rule is None:
        return "as the warehouse stores it"
    kind = "file" if isinstance(rule, str) else str(rule.get("kind", ""))
    if kind in ("file", "rows", "groups"):
        return "groups of values"
    known = KINDS.get(kind)
    levels = rule.get(known.setting) if known is not None and not isinstance(rule, str) else None
    return words_of_levels(kind, levels) if isinstance(levels, Sequence) else kind if known is None else known.words


def fields_of(rule: Mapping[str, Any] | str | None) -> dict[str, str]:
    """Return the fields of the form that show a rule."""
    if rule is None or isinstance(rule, str) or rule.get("kind") in ("file", "rows", "groups"):
        return {"kind": "flat" if rule is None else "labels", "levels": ""}
    kind = str(rule.get("kind"))
    levels = rule.get(KINDS[kind].setting, ()) if kind in KINDS else ()
    if kind == "cuts":
        nested = levels if levels and isinstance(levels[0], list) else [levels]
        text = "; ".join(", ".join(map(str, each)) for each in nested)
    else:
        text = ", ".join(map(str, levels))
    ends = {name: str(rule[name]) for name in (KINDS[kind].ends if kind in KINDS else ()) if name in rule}
    return {"kind": kind, "levels": text} | ends


def rule_in(fields: Fields) -> dict[str, Any]:
    """Return the rule that somebody typed; what is wrong with its values, the taxonomy says itself."""
    kind = fields.one("kind")
    known = KINDS.get(kind)
    if known is None or kind in ("labels", "file"):
        raise Refused(400, "a taxonomy has one of the kinds on the page")
    rule: dict[str, Any] = {"kind": kind}
    levels = fields.one("levels", "").strip()
    if known.setting and levels:
        if kind == "cuts":
            rule[known.setting] = [[_number(item) for item in each.split(",")] for each in levels.split(";")]
        elif kind == "dates":
            rule[known.setting] = [item.strip() for item in levels.split(",")]
        else:
            rule[known.setting] = [_number(item) for item in levels.split(",")]
    for name in known.ends:
        if end := fields.one(name, "").strip():
            rule[name] = end if kind == "dates" else _number(end)
    return rule


def _number(text: str) -> int | float:
    for read in (int, float):
        try:
            return read(text.strip())
        except ValueError:
            continue
    raise Refused(422, "levels are numbers with commas between them, such as 5, 10, 20")


def merged(labels: Labels, values: Sequence[str], label: str) -> Labels:
    """Put values into a group of level 1, with the levels above the first of them, so that labels nest."""
    chosen = [row for row in labels if row[0] in values]
    if not chosen or not label.strip():
        raise Refused(422, "choose values, and type the name of their group")
    same = [row for row in labels if row[1] == label]
    above = (same or chosen)[0][2:]
    return [[row[0], label, *above] if row[0] in values else row for row in labels]


def renamed(labels: Labels, level: int, label: str, name: str) -> Labels:
    """Rename a label of a level above the values."""
    if not 1 <= level < len(labels[0]) - 1 or not name.strip():
        raise Refused(422, "choose a label between the values and the top, and type its new name")
    return [[*row[:level], name if row[level] == label else row[level], *row[level + 1 :]] for row in labels]


def taken_out(labels: Labels, values: Sequence[str]) -> Labels:
    """Let values stand for themselves at level 1."""
    return [[row[0], row[0], *row[2:]] if row[0] in values else row for row in labels]


def with_level(labels: Labels) -> Labels:
    """Add a level below the top, which repeats the one below it until somebody merges its labels."""
    return [[*row[:-1], row[-2], row[-1]] for row in labels]
