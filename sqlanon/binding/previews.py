"""Preview a taxonomy on a column: the labels of each level with their rows. Nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlglot import exp

from sqlanon.binding import stored_taxonomies
from sqlanon.binding.coding import with_written_values
from sqlanon.binding.loading import (
    STAGED,
    TaxonomyLoad,
    drop_repeated_rows,
    malformed,
    stage,
    stage_missing_values,
    uncovered,
    unfit,
)
from sqlanon.binding.unknown_values import unknown_in
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, TaxonomyError
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy_value import did_you_mean
from sqlanon.model.privacy import KAnonymity
from sqlanon.model.release.profiles import PreviewedLabel, PreviewedLevel, PreviewedValue, TaxonomyPreview
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.nodes import Relation, Step, string
from sqlanon.queries.source import SourceColumn, fractional_types, spelled_taxonomy
from sqlanon.queries.value_counts import COUNTS, SQL, counted_values

TEXTS = Relation("anon_counted_texts", "cell")
LEVELS = Relation("anon_previewed_taxonomy", "node")
LABELS = Relation("anon_previewed_labels", "node")


@dataclass(frozen=True)
class Shown:
    """What a preview shows; see :meth:`sqlanon.api.session_taxonomies.Taxonomies.preview`."""

    least: int
    labels: int
    values: int
    rare: bool

    def check(self) -> None:
        given = {"least": (self.least, 1), "labels": (self.labels, 0), "values": (self.values, 0)}
        if problems := [
            f"{name} is {found}, not {most} or more" for name, (found, most) in given.items() if found < most
        ]:
            raise PolicyError("the preview cannot be made:", problems)


def preview(engine: Engine, given: Taxonomy | None, source: ResolvedSource, name: str, shown: Shown) -> TaxonomyPreview:
    """Preview a taxonomy, or without one the taxonomy that the warehouse stores for the column.

    Raises:
        TaxonomyError: malformed, not stored, or not covering the column, which may be missing.
    """
    shown.check()
    found = _column(engine, source, name)
    if found.traits.is_list:
        source = replace(source, relation=taxonomies.items_of(source.relation, found.name))
        found = _column(engine, source, name)
    if given is not None and given.query is None and source.csv is not None:
        source = _as_a_run_reads(engine, given, source, found.name)
    with engine.scratch():
        engine.run(counted_values(source.relation, found))
        engine.run(SQL.step(TEXTS, "counted_texts"))
        if given is None:
            domain = _take_stored(engine, found.name)
        else:
            domain = given.domain
            _stage(engine, given, source, found)
        types = {} if domain == "observed" else fractional_types([found], [found.name])
        labelled = spelled_taxonomy(LEVELS.table if given is None else STAGED.table, types)
        [counts] = engine.fetch(SQL.query("labelled_rows", texts=TEXTS, taxonomy=labelled), "values without a label")
        if counts["unlabelled_values"]:
            _refuse_uncovered(engine, given, source, found)
        return _previewed(engine, labelled, found.name, counts, shown)


def _column(engine: Engine, source: ResolvedSource, name: str) -> SourceColumn:
    columns = engine.describe(source.relation)
    found = next((each for each in columns if folded(each.name) == folded(name)), None)
    if found is None:
        meant = did_you_mean(name, [each.name for each in columns])
        problem = f'column "{name}" is not in {source.description}{meant}'
        raise TaxonomyError(f'the taxonomy of "{name}" cannot be made:', [problem])
    return found


def _as_a_run_reads(engine: Engine, given: Taxonomy, source: ResolvedSource, name: str) -> ResolvedSource:
    """Read numbers and days of a CSV file as a run does whose policy has the taxonomy."""
    settings: dict[str, Any] = {"taxonomies": {name: given}, "csv": source.csv}
    return with_written_values(engine, source, Policy(quasi_identifiers=[name], privacy=[KAnonymity(2)], **settings))


def _take_stored(engine: Engine, name: str) -> str:
    """Make :data:`LEVELS` of a stored taxonomy, under the name of the column; return the origin of its values."""
    attribute, shape = stored_taxonomies.stored(engine, name)
    if problems := stored_taxonomies.malformed_of(engine, {attribute: shape}).get(attribute):
        raise TaxonomyError("stored taxonomies are malformed; load them anew:", problems)
    rows = taxonomies.SQL.query("rows_of", taxonomy=engine.taxonomy, attributes=[string(attribute)])
    levels = taxonomies.SQL.query("staged_taxonomy", attribute=string(name), levels=rows)
    engine.run(Step(LEVELS, levels, "the stored taxonomy"))
    return shape.domain


def _stage(engine: Engine, given: Taxonomy, source: ResolvedSource, found: SourceColumn) -> None:
    """Make the rows of a taxonomy for the values of the column; refuse it if it is malformed."""
    whole = TaxonomyLoad(found.name, given, source, found.name)
    for error in unfit(engine, [whole]).values():
        raise error
    # Values are read from their counts, unless their labels are in other columns of the source.
    counted = ResolvedSource(COUNTS.table, source.description)
    wanted = whole
    if given.coarser is None:
        wanted = TaxonomyLoad(found.name, given, counted, "anon_value", (COUNTS.table,))
    stage(engine, [wanted])
    if given.needs_source:
        stage_missing_values(engine, [wanted])
    refused = malformed(engine, [wanted])
    if refused:
        drop_repeated_rows(engine)
        refused = malformed(engine, [wanted])
    for error in refused.values():
        raise error


def _refuse_uncovered(engine: Engine, given: Taxonomy | None, source: ResolvedSource, found: SourceColumn) -> None:
    if given is not None:
        for error in uncovered(engine, [TaxonomyLoad(found.name, given, source, found.name)], STAGED.table).values():
            raise error
    known = taxonomies.values_of(engine.taxonomy, stored_taxonomies.stored(engine, found.name)[0])
    problem = unknown_in(engine, source.relation, found.name, known, known)
    raise TaxonomyError(f"{source.description} has values that their stored taxonomy does not have:", [str(problem)])


def _previewed(
    engine: Engine, labelled: exp.Expr, name: str, counts: Mapping[str, Any], shown: Shown
) -> TaxonomyPreview:
    sql = SQL.given(texts=TEXTS, taxonomy=labelled, labels=LABELS)
    engine.run(sql.step(LABELS, "previewed_labels"))
    figures = engine.fetch(sql.query("level_figures", least=shown.least), "labels of each level")
    listed = engine.fetch(sql.query("shown_labels", most=shown.labels), "labels of each level", "node")
    labels = {level: list(rows) for level, rows in groupby(listed, key=itemgetter("level"))}
    least = 0 if shown.rare else shown.least
    levels = []
    for each in figures:
        rows = labels.get(each["level"])
        named = (
            None
            if rows is None
            else tuple(
                PreviewedLabel(label=row["label"] if row["row_count"] >= least else None, rows=row["row_count"])
                for row in rows
            )
        )
        levels.append(PreviewedLevel(**each, labels=named))
    values: Sequence[Mapping[str, Any]] = ()
    if shown.values:
        query = sql.query("shown_values", most=shown.values, least=least)
        values = engine.fetch(query, "values with their labels", "cell")
    return TaxonomyPreview(
        column=name,
        rows=counts["row_count"],
        missing=counts["missing_rows"],
        value_count=counts["value_count"],
        least=shown.least,
        levels=tuple(levels),
        values=tuple(
            PreviewedValue(value=each["value"], rows=each["row_count"], labels=tuple(each["labels"] or ()))
            for each in values
        ),
    )
