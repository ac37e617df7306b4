"""The conversation about the catalog: counts of classes go up, groups come down; of a node that may have none."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
from sqlglot import exp

from sqlanon.engines.base import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.h_ceiling import queries
from sqlanon.methods.h_ceiling.catalog.classes import FilledClasses
from sqlanon.methods.h_ceiling.catalog.flow import ConditionF
from sqlanon.methods.h_ceiling.catalog.grouping import Catalog, grouped
from sqlanon.methods.h_ceiling.catalog.lemma import Lemma
from sqlanon.methods.h_ceiling.catalog.link import Links
from sqlanon.methods.h_ceiling.catalog.worlds import Link
from sqlanon.methods.h_ceiling.counterfeits import Filled
from sqlanon.model.methods.h_ceiling import HCeiling
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.kit.nodes import column, number


@dataclass(frozen=True)
class Cataloged:
    """A catalog that can be published.

    Attributes:
        groups: how many groups of classes it describes.
        effective_k: the least effective k of a group, or a number that it is at least; k if there is no group.
        is_exact: whether it is just that.
    """

    groups: int
    effective_k: float
    is_exact: bool


def group_classes(engine: Compute, filled: Filled) -> Catalog | None:
    """Group the classes of a node, and make the tables of the groups; None if they cannot be grouped."""
    settings = filled.settings
    _number_classes(engine, filled)
    classes = _classes(engine, filled, settings)
    found = grouped(ConditionF(classes) if settings.catalog == "strict" else Lemma(classes))
    if found is not None:
        _put(engine, found)
    return found


def group_again(engine: Compute, filled: Filled, catalog: Catalog) -> None:
    """Make the tables of the groups of a node again, whose classes are filled up as before."""
    _number_classes(engine, filled)
    _put(engine, catalog)


def linked(catalog: Catalog, settings: HCeiling) -> Cataloged:
    """What a catalog leaves of k, which may take a while to reckon.

    Of a strict one that leaves too little: what the first group leaves that is found to.
    """
    links, least = Links(catalog.classes), settings.least_effective_k if settings.catalog == "strict" else 0
    found = [Link(Fraction(1, settings.k), exact=True)]
    # Those of few classes take the least time.
    for group in sorted(catalog.groups, key=len):
        found.append(links.of(group))
        if float(found[-1].effective_k) < least:
            break
    highest = max(found, key=lambda link: (link.probability, link.exact))
    return Cataloged(len(catalog.groups), float(highest.effective_k), highest.exact)


def catalog_rows(filled: Filled) -> exp.Query:
    """The rows of the catalog."""
    if filled.settings.has_catalog_of_values:
        return queries.catalog(filled.table.encoding, filled.levels)
    return queries.SQL.query("catalog_of_counts", k=filled.settings.k)


def with_class_ids(filled: Filled, groups: exp.Query) -> exp.Query:
    """Groups of equal rows, with the ids of classes if a catalog names these."""
    if not filled.settings.has_catalog:
        return groups
    groups.set("order", None)  # that of the query around it
    return queries.about(filled.table.encoding).query("class_ids", groups=groups)


def catalog_shortfalls(engine: Compute, filled: Filled, release: ResolvedSource, written: ResolvedSource) -> list[str]:
    """How the catalog that was written is not the one that was to be, or does not fit the rows beside it."""
    wanted = catalog_rows(filled)
    wanted.set("order", None)
    mismatches = queries.SQL.query(
        "catalog_mismatches", wanted=wanted, written=written.relation, columns=wanted.named_selects
    )
    found = {"are not as they were to be": engine.fetch(mismatches, "the catalog as it was written")[0]["mismatches"]}
    if filled.settings.has_catalog_of_values:
        more = queries.about(filled.table.encoding).query(
            "more_counterfeits_than_rows", release=release.relation, written=written.relation
        )
        rows = engine.fetch(more, "rows of the catalog")[0]["rows"]
        found["count more counterfeits than there are rows"] = rows
    return [f"{count:,} rows of the catalog {what}" for what, count in found.items() if count]


def _number_classes(engine: Compute, filled: Filled) -> None:
    encoding, levels = filled.table.encoding, filled.levels
    cells = queries.cells_by_key(encoding, levels, ROW_COUNT)
    engine.run(queries.about(encoding, levels).step(queries.CLASSES, "numbered_classes", cells=cells))


def _classes(engine: Compute, filled: Filled, settings: HCeiling) -> FilledClasses:
    """The classes that counterfeits can be in, or that can conceal them: of just k rows, or any by lemma 1."""
    is_asked: exp.Expr = exp.true()
    if settings.catalog == "strict":
        is_asked = column("anon_class_size", "anon_classes").eq(number(settings.k))
    rows = engine.fetch(
        queries.about(filled.table.encoding, filled.levels).query("class_value_counts", is_asked=is_asked),
        "values of classes with counterfeits",
        "class",
    )
    columns = (
        np.array([row[name] for row in rows], dtype=np.int64)
        for name in ("class", "value", "published", "counterfeits")
    )
    return FilledClasses.of_columns(settings.k, *columns)


def _put(engine: Compute, found: Catalog) -> None:
    numbers, identifiers = found.members
    engine.put(queries.GROUPS, pa.table({"anon_group": numbers, "anon_class_number": identifiers}))
    group, value, count = found.totals
    totals = {"anon_group": group, "anon_value_code": value, "anon_counterfeit_count": count}
    engine.put(queries.TOTALS, pa.table(totals))
