"""A taxonomy made in Python, spelled as the rule of a policy."""

from __future__ import annotations

from typing import Any

from sqlanon.errors import TaxonomyError
from sqlanon.model.taxonomy.domains import DateRange, IntegerRange
from sqlanon.model.taxonomy.taxonomy import Taxonomy

Settings = dict[str, Any]


def spelled(taxonomy: Taxonomy) -> Settings:
    """The kind and the settings of the rule that makes a taxonomy.

    Raises:
        TaxonomyError: it comes from a query, which a policy cannot hold.
    """
    if taxonomy.query is not None:
        raise TaxonomyError(
            "a taxonomy from a query cannot be written in a policy: store it with session.taxonomies.load, which every "
            "policy of that warehouse can use"
        )
    if taxonomy.file is not None:
        return {"kind": "file", "file": taxonomy.file, "delimiter": taxonomy.delimiter}
    if taxonomy.rows is not None:
        return {"kind": "rows", "rows": taxonomy.rows}
    if taxonomy.coarser is not None:
        return {"kind": "columns", "columns": taxonomy.coarser}
    rules = taxonomy.rules or ()
    kind, setting = BY_MACRO[rules[0].macro] if rules else ("flat", None)
    found: Settings = {"kind": kind}
    if setting:
        found[setting] = [rule.arguments[0] for rule in rules]
    if kind == "intervals":
        found |= zip(("origin", "below", "above"), rules[0].arguments[1:], strict=True)
    return {**found, **_domain(taxonomy)}


BY_MACRO = {
    "interval_label": ("intervals", "widths"),
    "bin_label": ("cuts", "breaks"),
    "date_label": ("dates", "units"),
    "prefix_label": ("prefixes", "keep"),
    "icd9_label": ("icd9", None),
    "icd10_label": ("icd10", None),
    "ipv4_label": ("ipv4", "bits"),
}
"""The kind that labels by each macro, and the setting with an item a level, which is the first argument."""


def _domain(taxonomy: Taxonomy) -> Settings:
    match taxonomy.values:
        case IntegerRange() as numbers:
            return {"minimum": numbers.minimum, "maximum": numbers.maximum}
        case DateRange() as days:
            return {"first": days.first, "last": days.last}
        case None:
            return {}
        case values:
            return {"values": values}
