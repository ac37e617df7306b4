"""Reports of releases that were published: from their rows, their provenance, and the source if it is there."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlglot import exp

from sqlanon.binding import taxonomies
from sqlanon.binding.carried_taxonomies import own_taxonomies, verified_with
from sqlanon.binding.coding import coded
from sqlanon.engines.base import Compute, Engine
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.errors import PolicyError
from sqlanon.methods.base import method_of
from sqlanon.methods.progress import silent
from sqlanon.model.extras import installed_version
from sqlanon.model.labels import LabelsRecord, NodeRecord
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Record
from sqlanon.model.release import Exposure, Spent
from sqlanon.model.release.alternatives import Alternatives
from sqlanon.model.release.class_sizes import ClassSizes, Sizes, class_sizes
from sqlanon.model.release.marginals import MeasuredMarginal
from sqlanon.model.release.release_report import Edition, ReleaseReport
from sqlanon.model.release.reported_columns import LabelRows, Level, ReportedColumn
from sqlanon.publish.provenance import without_place
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import names, string, subquery
from sqlanon.queries.tables import taxonomies as taxonomy_queries
from sqlanon.report.document import percent
from sqlanon.run.alternatives import alternatives_of
from sqlanon.run.earlier import with_joint_classes
from sqlanon.run.lattice import lattice
from sqlanon.run.listed_others import others_of
from sqlanon.run.recorded import ROLES, recorded_release
from sqlanon.run.report_facts import of_files, of_partitions, titled
from sqlanon.verification.published import Published
from sqlanon.verification.verify import OTHER_POLICY, verify_found

SQL = Queries("report")

MAX_LABELS = 12
"""The most labels of a column that are listed with their rows."""

MAX_PIECES = 1_000
"""The most labels of a level that are drawn."""


@dataclass(frozen=True)
class ReportRequest:
    """What is asked of a report.

    Attributes:
        policy: a policy with the files of the taxonomies, which the recorded one lacks; None without any.
        source: the table that the release was made from; None if it is not there.
        edition: who may read it.
        alternatives: whether all nodes of the lattice are looked at.
    """

    policy: Policy | None = None
    source: Source | None = None
    edition: Edition = "custodian"
    alternatives: bool = False


def release_report(
    engine: Engine, release: Source, asked: ReportRequest, resolve: Callable[[Source], ResolvedSource]
) -> ReleaseReport:
    """The report of a release.

    Args:
        engine: the database.
        release: what the user calls it.
        asked: what is asked.
        resolve: finds what the user names.

    Raises:
        EngineError: there is none, or it has no provenance of a release.
        PolicyError, TaxonomyError: it lacks a column, or the policy or its taxonomies do not fit it.
    """
    found, record, recorded = recorded_release(engine, release, resolve)
    policy = recorded if asked.policy is None else _with_places(recorded, asked.policy)
    if asked.alternatives:
        _refuse_alternatives(asked, policy, record)
    _refuse_lost_columns(found, policy)
    engine.read_as(policy.csv, policy.timezone)
    source = None if asked.source is None or asked.edition == "public" else resolve(asked.source)
    table = _Reported(engine, policy, record, found, None if source is None else coded(engine, source, policy))
    attributes = verified_with(policy, has_source=source is not None)
    with own_taxonomies(engine, source or found.source, policy, attributes):
        verification = verify_found(engine, found, policy, source)
        if policy.held_with:
            verification = with_joint_classes(engine, verification, str(release), policy, source)
        columns = tuple(table.columns())
        alternatives = table.alternatives() if asked.alternatives else None
        others, left = ((), 0) if source is None else others_of(engine, source, found, policy, str(release))
    if asked.policy is None:  # it is the same, but for the places of files
        notes = tuple(note for note in verification.notes if note != OTHER_POLICY)
        verification = verification.model_copy(update={"notes": notes})
    facts = {} if record.report is None else record.report.as_json
    rows, exposure = record.rows, verification.measurement.exposure
    left_out = None if rows is None or rows.source is None else rows.source - rows.released
    return ReleaseReport(
        edition=asked.edition,
        release=found.source.description,
        source=None if source is None else source.description,
        method=policy.method.name,
        about_rows=method_of(policy).about_rows,
        version=installed_version(),
        k=None if policy.has_private_method else policy.criteria.k,
        source_rows=None if rows is None else rows.source,
        released_rows=verification.measurement.row_count,
        left_out_rows=left_out,
        before=table.exposure_before(),
        after=exposure,
        individuals=facts.get("individuals"),
        quality=facts.get("quality"),
        loss=facts.get("loss"),
        search=_search_of(facts),
        promise=None if record.promise is None else record.promise.guarantee,
        verification=verification,
        columns=columns,
        sizes=tuple(table.sizes()),
        alternatives=alternatives,
        other_releases=others,
        uncompared_releases=left,
        stamp=record.stamp,
        spent=tuple(Spent(**each) for each in facts.get("spent", ())),
        thresholds=facts.get("thresholds", {}),
        marginals=tuple(MeasuredMarginal(**each) for each in facts.get("measured", ())),
        facts={**of_partitions(record.fit), **titled(facts, policy), **of_files(source)},
        policy="" if record.policy is None else _policy_text(record.policy.as_json),
        check=tuple(_commands(str(release), policy)),
    )


def _with_places(recorded: Policy, given: Policy) -> Policy:
    """A recorded policy with what records leave out: files of taxonomies, and sources and keys of earlier releases."""
    changes: dict[str, Any] = {"taxonomies": given.taxonomies, "csv": given.csv or recorded.csv}
    named = [without_place(each.release) for each in given.held_with]
    if named and named == [each.release for each in recorded.held_with]:
        changes["earlier"] = given.held_with
    return recorded.changed(changes)


def _refuse_alternatives(asked: ReportRequest, policy: Policy, record: Record) -> None:
    if not isinstance(policy.method, FullDomain) or not isinstance(record.labels, NodeRecord):
        raise PolicyError(f"alternatives are nodes of full domains, and the {policy.method} has none to choose from")
    if asked.source is None or asked.edition == "public":
        raise PolicyError("alternatives are counted on the source: give it, for the edition of the custodian")


def _refuse_lost_columns(found: Published, policy: Policy) -> None:
    """Refuse a release without columns whose values are counted, which it had, or which its record alone has."""
    there = {folded(name) for name in found.columns}
    counted = () if policy.has_private_method else (*policy.quasi_identifiers, *policy.sensitive)
    if lost := [f'column "{name}" is not there' for name in counted if folded(name) not in there]:
        heading = f"{found.source.description} is not the release that its provenance is about:"
        raise PolicyError(heading, [*lost, "what else was changed: sqlanon verify"])


def _search_of(facts: Mapping[str, Any]) -> str:
    if facts.get("proven_optimal"):
        return f"proven least by checking {facts['checked_nodes']:,} of {facts['lattice_nodes']:,} nodes"
    gap = facts.get("gap")
    return "not proven least" if gap is None else f"no method loses less than {percent(facts['loss'] - gap)}"


def _policy_text(fields: Mapping[str, Any]) -> str:
    """A policy as JSON: a line for each of its fields that is not empty, and one for each taxonomy."""
    said = {name: value for name, value in fields.items() if value not in (None, {}, [])}
    lines = []
    for name, value in said.items():
        inner = [f"    {_json(key)}: {_json(each)}" for key, each in value.items()] if name == "taxonomies" else []
        lines.append(f"  {_json(name)}: " + ("{\n" + ",\n".join(inner) + "\n  }" if inner else _json(value)))
    return "{\n" + ",\n".join(lines) + "\n}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _commands(release: str, policy: Policy) -> Iterator[str]:
    yield shlex.join(["sqlanon", "verify", release, "--policy", "policy.toml"])
    if not policy.has_private_method:
        columns = ", ".join(string(name).sql("duckdb") for name in policy.quasi_identifiers)
        yield f"FROM anon.k_anonymity({string(release).sql('duckdb')}, [{columns}]);"


@dataclass(frozen=True)
class _Reported:
    """A release with what is known of it.

    Attributes:
        engine: the database.
        policy: its policy.
        record: its provenance.
        found: its rows.
        source: those of its source, with numbers coded; None if it is not to be compared.
    """

    engine: Engine
    policy: Policy
    record: Record
    found: Published
    source: ResolvedSource | None

    def exposure_before(self) -> Exposure | None:
        """How exposed the rows of the source are."""
        if self.policy.has_private_method:
            return None
        found = self._sizes_before
        rows, classes = sum(size * each for size, each in found), sum(each for _, each in found)
        alone = sum(each for size, each in found if size == 1)
        return Exposure(row_count=rows, class_count=classes, k=found[0][0], unique_rows=alone) if found else None

    def sizes(self) -> Iterator[ClassSizes]:
        """The rows by the size of their class."""
        if self.policy.has_private_method:
            return
        after = size_counts(self.engine, self.found.source, self.policy)
        yield from class_sizes(after, self._sizes_before, self.policy.criteria.k)

    def alternatives(self) -> Alternatives | None:
        """What else could have been published of the source."""
        assert self.source is not None
        assert isinstance(self.record.labels, NodeRecord)
        nodes = lattice(self.engine, self.source, self.policy, silent, None, replace=False)
        return alternatives_of(nodes, self.record.labels.levels)

    def columns(self) -> Iterator[ReportedColumn]:
        """The columns of the release by role; quasi-identifiers have labels, and levels if taxonomies are known."""
        known = self._known_taxonomies()
        for field, role in ROLES.items():
            for name in getattr(self.policy, field):
                match role:
                    case "quasi-identifier":
                        yield self._generalized(name, is_known=name in known)
                    case "sensitive":
                        yield self._sensitive(name)
                    case _:
                        yield ReportedColumn(name=name, role=role)

    def _known_taxonomies(self) -> list[str]:
        """The quasi-identifiers whose taxonomies here are those that the release was made with."""
        shapes, recorded = taxonomies.shapes(self.engine, self.policy.quasi_identifiers), self.record.taxonomy_sha256
        return [name for name, shape in shapes.items() if shape.sha256 == recorded.get(name)]

    def _generalized(self, name: str, *, is_known: bool) -> ReportedColumn:
        after = self._labels_after(name)
        pieces = self._pieces(name) if is_known else []
        of_labels = _levels_of_labels(after, self.record.labels, name)
        levels = _levels(pieces, after, of_labels)
        losses = {(piece["level"], piece["label"]): piece["lost"] for piece in pieces}
        labels = self._compared(after, self._before(name) if is_known else {})
        lost = sum(rows * losses.get((of_labels.get(label), label), 1.0) for label, rows in after.items())
        return ReportedColumn(
            name=name,
            role="quasi-identifier",
            levels=levels,
            labels=labels,
            lost=lost / max(sum(after.values()), 1) if levels else None,
        )

    def _sensitive(self, name: str) -> ReportedColumn:
        """A column whose values are released as they are."""
        if self.policy.has_private_method:
            return ReportedColumn(name=name, role="sensitive")
        columns = names(list(self.policy.quasi_identifiers))
        query = table_call("homogeneous_rows", self.found.source.relation.copy(), columns, string(name))
        homogeneous = int(self.engine.fetch(query, "classes of one value")[0]["homogeneous_rows"])
        before = {} if self.source is None else self._label_rows(self.source.relation, name)
        labels = self._compared(self._labels_after(name), before)
        return ReportedColumn(name=name, role="sensitive", homogeneous_rows=homogeneous, labels=labels)

    @property
    def _fewest_shown(self) -> int:
        """The rows from which a number of them is shown."""
        return 1 if self.policy.has_private_method else self.policy.criteria.k

    def _labels_after(self, name: str) -> dict[str | None, int]:
        """The labels of the release that are not rare, with their rows, the most frequent first."""
        found = self._label_rows(self.found.source.relation, name)
        return {label: rows for label, rows in found.items() if rows >= self._fewest_shown}

    def _compared(self, after: Mapping[str | None, int], before: Mapping[str | None, int]) -> tuple[LabelRows, ...]:
        """The most frequent labels of the release, beside their rows in the source."""
        return tuple(
            LabelRows(label=label, before=unless_few(before.get(label), rows, self._fewest_shown), after=rows)
            for label, rows in list(after.items())[:MAX_LABELS]
        )

    def _label_rows(self, relation: exp.Expr, name: str) -> dict[str | None, int]:
        query = SQL.query("label_rows", source=relation, name=name, most=MAX_PIECES)
        return {row["label"]: row["label_rows"] for row in self.engine.fetch(query, "rows of labels", "class")}

    def _before(self, name: str) -> dict[str | None, int]:
        """The rows of the source under each label of the released level."""
        labels = self.record.labels
        if self.source is None or not isinstance(labels, NodeRecord) or self.policy.has_private_method:
            return {}
        query = SQL.query(
            "source_rows",
            source=self.source.relation,
            name=name,
            labels=subquery(self._taxonomy(name), "anon_labels"),
            level=labels.levels[name],
        )
        found = self.engine.fetch(query, "rows of labels in the source", "class")
        return {row["label"]: row["label_rows"] for row in found}

    def _pieces(self, name: str) -> list[dict[str, Any]]:
        query = SQL.query("pieces", labels=subquery(self._taxonomy(name), "anon_labels"), most=MAX_PIECES)
        return self.engine.fetch(query, "a taxonomy from left to right", "node")

    def _taxonomy(self, name: str) -> exp.Query:
        return taxonomy_queries.at(table_call("taxonomy_levels", string(name)), self.engine.taxonomy)

    @cached_property
    def _sizes_before(self) -> Sizes:
        """The sizes of the classes of the source; none if it is not to be compared."""
        return [] if self.source is None else size_counts(self.engine, self.source, self.policy)


def released_sizes(engine: Engine, release: ResolvedSource, policy: Policy) -> tuple[ClassSizes, ...]:
    """The rows of a release by the size of their class; nothing of a private one."""
    if policy.has_private_method:
        return ()
    return tuple(class_sizes(size_counts(engine, release, policy), (), policy.criteria.k))


def size_counts(engine: Compute, source: ResolvedSource, policy: Policy) -> Sizes:
    """The sizes of the classes of a table, the smallest first, each with how many classes have it."""
    columns = names(list(policy.quasi_identifiers))
    sizes = subquery(table_call("class_sizes", source.relation.copy(), columns), "anon_sizes")
    found = engine.fetch(SQL.query("class_sizes", sizes=sizes), "sizes of classes", "class")
    return [(row["class_size"], row["classes"]) for row in found]


def _levels_of_labels(labels: Iterable[str | None], recorded: LabelsRecord | None, name: str) -> dict[str | None, int]:
    """The level of each label of a column, as far as it is recorded."""
    match recorded:
        case None:
            return {}
        case NodeRecord():
            return dict.fromkeys(labels, recorded.levels[name])
        case _:
            return {label: level for level, label in recorded.labels.get(name, ()) if level is not None}


def _levels(
    pieces: Sequence[Mapping[str, Any]], after: Mapping[str | None, int], of_labels: Mapping[str | None, int]
) -> tuple[Level, ...]:
    """The levels of a taxonomy, with the labels that the release shows; without NULL, where that does not occur."""
    if not of_labels:
        return ()
    pieces, rows = [piece for piece in pieces if piece["label"] is not None or None in after], sum(after.values()) or 1
    levels = []
    for level in dict.fromkeys(piece["level"] for piece in pieces):
        here = [piece for piece in pieces if piece["level"] == level]
        # Without the mask of suppressed rows, which is of no level.
        shown = {piece["label"] for piece in here if of_labels.get(piece["label"]) == level} & after.keys()
        labels = tuple((piece["leaves"], piece["label"] if piece["label"] in shown else None) for piece in here)
        share = sum(after[label] for label in shown) / rows
        levels.append(Level(level=level, labels=labels, label_count=len(labels), shown=share))
    return tuple(levels)


# guarded: tests/unit/test_guarded_releases.py
def unless_few(before: int | None, after: int, k: int) -> int | None:
    """The rows before, unless they differ by few rows: no count and no difference of counts is from 1 to k - 1."""
    return None if before is None or 0 < abs(before - after) < k else before
