"""Findings: privacy risks that a policy leaves open on the data of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import (
    Exposure,
    Findings,
    HomogeneousColumn,
    RepeatedIdentifier,
    Report,
    SuppressedGroup,
    Suppression,
)
from sqlanon.queries import examination
from sqlanon.queries import exposures as queries
from sqlanon.queries.kit.nodes import counted_rows, select
from sqlanon.release.kept_columns import (
    KeptValues,
    identifying_pairs,
    nearly_unique_columns,
    released_values,
    revealing_columns,
)
from sqlanon.release.publishing import GroupedRows, PublishedNode

MAX_GROUPS = 20  # maximum number of labels of a level at which suppression is compared
MIN_GROUP_ROWS = 30  # minimum number of rows of a label: the share of fewer says little


@dataclass(frozen=True)
class Examined:
    findings: Findings
    notes: tuple[str, ...]  # on nearly unique columns
    before: Exposure | None  # exposure of the source's rows; None if it was not counted


def examine(engine: Compute, groups: GroupedRows) -> Examined:
    node, bound = groups.node, groups.bound
    kept = released_values(engine, bound.policy, bound.traits, groups.relation)
    released = examine_kept(engine, kept)
    revealing, columns_left = ([], []) if node is None else revealing_columns(engine, node, kept)
    changes = {
        "repeated_identifiers": tuple(_repeated_identifiers(engine, groups)),
        "homogeneous_columns": tuple(_homogeneous_columns(engine, groups)),
        "revealing_columns": tuple(revealing),
        "suppression": () if node is None else tuple(suppression(engine, node)),
        "finer_nodes": () if node is None else node.finer,
        "unexamined_columns": tuple(columns_left),
    }
    table, before = groups.table, None
    # Cells without suppressed rows, or at minimum levels, would understate the exposure of the source.
    if table is not None and not table.unknown.suppressed and not any(bound.policy.minimum_levels.values()):
        counts = engine.fetch(queries.exposure(table.encoding), "the classes of the source")[0]
        before = Exposure(**counts) if counts["k"] else None
    return replace(released, findings=released.findings.model_copy(update=changes), before=before)


def examine_kept(engine: Compute, kept: KeptValues) -> Examined:
    """Find what kept columns reveal without their class: any reader of the release can count it."""
    pairs, pairs_left, pairs_left_count = identifying_pairs(engine, kept)
    findings = Findings(
        identifying_pairs=tuple(pairs),
        unexamined_pairs=pairs_left_count,
        unexamined_pairs_listed=tuple(pairs_left),
    )
    return Examined(findings, nearly_unique_columns(kept), None)


def with_findings(report: Report, examined: Examined) -> Report:
    few = () if report.joint is None else report.joint.few_in_common
    findings = examined.findings.model_copy(update={"few_in_common": few})
    return report.model_copy(update={"findings": findings, "before": examined.before})


def _repeated_identifiers(engine: Compute, groups: GroupedRows) -> Iterator[RepeatedIdentifier]:
    bound, names, one_in = groups.bound, groups.counted_identifiers, groups.one_in
    if not names:
        return
    found = groups.identifier_counts or _identifier_counts(engine, groups)
    for place, name in enumerate(names):
        values, filled = found[f"values_{place}"] * one_in, found[f"filled_{place}"]
        if found[f"values_{place}"] < found[f"rows_{place}"]:
            # A ward, or a yes and no, has few values of many rows each.
            is_person = values > filled / values
            can_be_named = is_person and filled == found["source_rows"]
            can_be_named = can_be_named and is_accepted(bound.policy, {"individual": name})
            yield RepeatedIdentifier(
                column=name,
                rows=filled,
                values=values,
                is_exact=one_in == 1,
                is_person=is_person,
                proposal=f"individual = {json.dumps(name, ensure_ascii=False)}" if can_be_named else None,
            )


def _identifier_counts(engine: Compute, groups: GroupedRows) -> Mapping[str, int]:
    """Count identifiers like ``queries.identifier_counts``; Spark cannot unnest several lists at once."""
    bound, names, one_in = groups.bound, groups.counted_identifiers, groups.one_in
    if engine.is_far(bound.source):
        counts = select(queries.identifier_counts(names, one_in), bound.source.copy())
        return engine.fetch(counts, "values of identifiers")[0]
    (rows,) = engine.fetch(counted_rows(bound.source), "rows of the source")
    of_columns = queries.value_counts(bound.source, bound.traits, names, one_in)
    found = {row["place"]: row for row in engine.fetch(of_columns, "values of identifiers")}
    none = dict.fromkeys(("filled", "rows", "values"), 0)
    return {"source_rows": rows["rows"]} | {
        f"{what}_{place}": found.get(place, none)[what] for place in range(len(names)) for what in none
    }


def _homogeneous_columns(engine: Compute, groups: GroupedRows) -> Iterator[HomogeneousColumn]:
    policy = groups.bound.policy
    protected = {column for model in policy.privacy for column in model.columns}
    names = [name for name in policy.sensitive if name not in protected]
    if not names:
        return
    query = queries.homogeneous_rows(groups.relation, groups.labels, groups.bound.traits, names)
    found = engine.fetch(query, "classes with a single value")[0]
    if not found["rows"]:
        return
    for place, name in enumerate(names):
        model = {"model": "distinct-l-diversity", "column": name, "l": 2}
        models = [*(each.model_dump(mode="json") for each in policy.privacy), model]
        # JSON strings are valid TOML strings.
        lines = [f"{setting} = {json.dumps(value, ensure_ascii=False)}" for setting, value in model.items()]
        yield HomogeneousColumn(
            column=name,
            homogeneous_rows=found[f"homogeneous_{place}"],
            released_rows=found["rows"],
            proposal="\n".join(["[[privacy]]", *lines]) if is_accepted(policy, {"privacy": models}) else None,
            is_perturbed=name in policy.perturbed_columns,
        )


def is_accepted(policy: Policy, changes: Mapping[str, Any]) -> bool:
    """Return whether a policy stays valid with changed fields."""
    try:
        Policy(**{**policy.model_dump(mode="json"), **changes})
    except PolicyError:
        return False
    return True


def suppression(engine: Compute, published: PublishedNode) -> Iterator[Suppression]:
    """Yield the labels with the largest and the smallest share of suppressed rows, per quasi-identifier.

    They are labels of the finest level with at most ``MAX_GROUPS`` labels, not of the published level.
    """
    table, node = published.table, published.summary
    depths: dict[int, int] = {}  # by position, the finest level with 2 to MAX_GROUPS labels
    for position, labels in enumerate(table.context.losses.distinct_labels):
        level = next((level for level, count in enumerate(labels) if 2 <= count <= MAX_GROUPS), None)
        if level is not None:
            depths[position] = level
    if not (published.suppresses and node.suppressed_rows and depths):
        return
    engine.run(examination.judged_cells(table.encoding, node.levels))
    found = engine.fetch(examination.rows_by_label(table.encoding, depths, MIN_GROUP_ROWS), "suppressed rows by label")
    engine.drop(examination.JUDGED_CELLS)
    for position, level in depths.items():
        groups = sorted(
            (row for row in found if row["position"] == position),
            key=lambda row: (row["suppressed_rows"] / row["rows"], row["rows"], str(row["label"])),
        )
        if len(groups) > 1:
            shape = table.bound.shapes[position]
            # A label that was read off the data is a value of the source: show it only on demand.
            is_named = level > 0 or shape.domain != "observed" or engine.shows_values
            yield Suppression(
                quasi_identifier=table.bound.policy.quasi_identifiers[position],
                level=level,
                groups=len(groups),
                most=_group(groups[-1], is_named=is_named),
                least=_group(groups[0], is_named=is_named),
            )


def _group(row: dict[str, Any], *, is_named: bool) -> SuppressedGroup:
    return SuppressedGroup(
        label=row["label"] if is_named else None, rows=row["rows"], suppressed_rows=row["suppressed_rows"]
    )
