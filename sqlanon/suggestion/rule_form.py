"""Rules of taxonomies in words and as fields with texts, and the rules that other texts make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sqlanon.errors import TaxonomyError
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.suggestion.policy_file import PolicyFile
from sqlanon.suggestion.suggested_taxonomies import words_of_levels

if TYPE_CHECKING:
    from sqlanon.model.release.profiles import ColumnProfile

Values = Literal["numbers", "dates", "texts"]


@dataclass(frozen=True)
class RuleKind:
    """A kind of rules as a form offers it."""

    words: str
    of: tuple[Values, ...]  # the values that it can generalize
    setting: str = ""  # the list with an item per level
    hint: str = ""  # what to type for it
    ends: tuple[str, ...] = ()  # the ends of a declared domain
    first: str = ""  # levels to begin with


RULE_KINDS: Mapping[str, RuleKind] = {
    "intervals": RuleKind(
        "intervals",
        ("numbers",),
        "widths",
        "widths, finest first, such as 5, 10, 20",
        ("minimum", "maximum"),
        "10, 20, 40",
    ),
    "cuts": RuleKind("cuts", ("numbers",), "breaks", "breaks, a semicolon between levels: 18, 30, 65; 30, 65"),
    "dates": RuleKind(
        "parts of dates",
        ("dates",),
        "units",
        "of day, week, month, quarter, year, decade",
        ("first", "last"),
        "month, quarter, year",
    ),
    "prefixes": RuleKind(
        "first characters", ("texts", "numbers"), "keep", "characters that are kept, most first: 4, 3, 2", (), "3, 2, 1"
    ),
    "zip": RuleKind("US ZIP codes", ("texts", "numbers")),
    "icd10": RuleKind("ICD-10 codes", ("texts",)),
    "icd9": RuleKind("ICD-9 codes", ("texts",)),
    "ipv4": RuleKind(
        "IPv4 addresses", ("texts",), "bits", "bits that are kept, most first: 24, 16, 8", (), "24, 16, 8"
    ),
    "flat": RuleKind("the value, or *", ("texts", "numbers", "dates")),
    "labels": RuleKind("groups of values", ("texts", "numbers", "dates")),
    "file": RuleKind("an ARX hierarchy", ("texts", "numbers", "dates"), "file", "the name of a file in the folder"),
}


OF_LABELS = ("file", "rows", "groups")  # kinds that a form shows as groups of values


def taxonomy_of(file: PolicyFile, column: str) -> Taxonomy | Mapping[str, Any] | str:
    """Return a column's taxonomy as a preview takes it."""
    labels = file.labels(column)
    return Taxonomy.from_rows(labels) if labels is not None else file.rules.get(column, "stored")


def words_of(rule: Mapping[str, Any] | None) -> str:
    """Say how a column is generalized, such as "intervals of 5, 10"."""
    if rule is None:
        return "as the warehouse stores it"
    kind = str(rule.get("kind", ""))
    if kind in OF_LABELS:
        return "groups of values"
    if kind == "cuts":
        return f"cuts at {fields_of(rule)['levels']}"
    known = RULE_KINDS.get(kind)
    levels = None if known is None else rule.get(known.setting)
    return words_of_levels(kind, levels) if isinstance(levels, Sequence) else kind if known is None else known.words


def fields_of(rule: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the texts of the fields that show a rule: its kind, its levels, and the ends of its domain."""
    if rule is None or rule.get("kind") in OF_LABELS:
        return {"kind": "flat" if rule is None else "labels", "levels": ""}
    kind = str(rule.get("kind"))
    levels = rule.get(RULE_KINDS[kind].setting, ()) if kind in RULE_KINDS else ()
    if kind == "cuts":
        nested = levels if levels and isinstance(levels[0], list) else [levels]
        text = "; ".join(", ".join(map(str, each)) for each in nested)
    else:
        text = ", ".join(map(str, levels))
    ends = {name: str(rule[name]) for name in (RULE_KINDS[kind].ends if kind in RULE_KINDS else ()) if name in rule}
    return {"kind": kind, "levels": text} | ends


def rule_in(texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the rule that texts of the fields make; what is wrong with its values, the taxonomy says itself.

    Raises:
        TaxonomyError: the kind is unknown, or a level is not a number.
    """
    kind = texts.get("kind", "")
    known = RULE_KINDS.get(kind)
    if known is None or kind in ("labels", "file"):
        raise TaxonomyError(
            f"a rule has one of the kinds {', '.join(name for name in RULE_KINDS if name not in ('labels', 'file'))}"
        )
    rule: dict[str, Any] = {"kind": kind}
    levels = texts.get("levels", "").strip()
    if known.setting and levels:
        if kind == "cuts":
            rule[known.setting] = [[_number(item) for item in each.split(",")] for each in levels.split(";")]
        elif kind == "dates":
            rule[known.setting] = [item.strip() for item in levels.split(",")]
        else:
            rule[known.setting] = [_number(item) for item in levels.split(",")]
    for name in known.ends:
        if end := texts.get(name, "").strip():
            rule[name] = end if kind == "dates" else _number(end)
    return rule


def first_levels(kind: str, profile: ColumnProfile | None) -> str:
    """Propose levels for a kind: intervals of two, four and eight bins of the histogram, if there is one."""
    histogram = None if profile is None else profile.histogram
    if kind == "intervals" and histogram is not None and histogram.edges is not None:
        first, second = histogram.edges[:2]
        if isinstance(first, int | float) and isinstance(second, int | float):
            return ", ".join(f"{(second - first) * factor:g}" for factor in (2, 4, 8))
    return RULE_KINDS[kind].first if kind in RULE_KINDS else ""


def values_of(column_type: str) -> Values:
    """Return the values that a type of DuckDB has for taxonomies."""
    kind = column_type.upper()
    if kind.startswith(("DATE", "TIME")):
        return "dates"
    return "numbers" if kind.endswith(("INT", "INTEGER", "FLOAT", "DOUBLE")) or kind.startswith("DEC") else "texts"


def _number(text: str) -> int | float:
    for read in (int, float):
        try:
            return read(text.strip())
        except ValueError:
            continue
    raise TaxonomyError("levels are numbers with commas between them, such as 5, 10, 20")
