"""A reported release: its class sizes, labels, taxonomies, columns, and a few example rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlglot import exp

from sqlanon.binding import stored_taxonomies
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.stages import silent
from sqlanon.model.labels import LabelsRecord, NodeRecord, RungsRecord
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Record
from sqlanon.model.release import Exposure
from sqlanon.model.release.pictures import Alternatives, ClassSizes, Sizes, alternatives_of, class_sizes
from sqlanon.model.release.reported_columns import ExampleRow, LabelRows, Level, ReportedColumn
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.macros import table_call, text
from sqlanon.queries.kit.named import Queries, Role
from sqlanon.queries.kit.nodes import Grain, column, names, string, subquery
from sqlanon.run.lattice_table import lattice
from sqlanon.run.recorded import ROLES
from sqlanon.verification.found_release import FoundRelease

SQL = Queries("report")

MAX_LABELS = 12  # maximum number of labels of a column that are listed with their rows
MAX_PIECES = 1_000  # maximum number of labels of a level that are drawn
MAX_COMPARED_COLUMNS = 100  # maximum number of insensitive columns compared with the source: each takes a GROUP BY
MAX_EXAMPLES = 5  # maximum number of rows of the source that are shown beside their labels
EXAMPLES_AMONG = 1_000  # rows searched first for examples: labelling all took most of a report's time
ALL_ROWS = 2**40  # more rows than a source has
MAX_EXAMPLE_COLUMNS = 10


@dataclass(frozen=True)
class ReportedRelease:
    engine: Engine
    policy: Policy
    record: Record
    found: FoundRelease
    source: ResolvedSource | None  # with coded numbers; None if the release is not compared with it
    source_columns: tuple[str, ...]  # empty without a source
    recorded_taxonomies: Collection[str]  # columns whose taxonomies the record has in full, not as a file name

    def exposure_before(self) -> Exposure | None:
        if self.policy.has_private_method:
            return None
        found = self._sizes_before
        rows, classes = sum(size * each for size, each in found), sum(each for _, each in found)
        alone = sum(each for size, each in found if size == 1)
        return Exposure(row_count=rows, class_count=classes, k=found[0][0], unique_rows=alone) if found else None

    def sizes(self) -> Iterator[ClassSizes]:
        if self.policy.has_private_method:
            return
        after = size_counts(self.engine, self.found.source, self.policy)
        yield from class_sizes(after, self._sizes_before, self.policy.criteria.k)

    def alternatives(self) -> Alternatives | None:
        assert self.source is not None
        assert self._levels is not None
        nodes = lattice(self.engine, self.source, self.policy, silent, None, replace=False)
        return alternatives_of(nodes, self._levels)

    def columns(self) -> Iterator[ReportedColumn]:
        """Describe the columns by role; quasi-identifiers have labels, and levels if taxonomies are known."""
        for field, role in ROLES.items():
            for name in getattr(self.policy, field):
                if role == "quasi-identifier":
                    yield self._generalized(name)
                elif role == "pseudonym" or self.policy.has_private_method:
                    yield ReportedColumn(name=name, role=role)
                else:
                    yield self._kept(name, role)
        yield from (ReportedColumn(name=name, role="identifier") for name in self.policy.identifiers)
        named = {folded(name) for name in self.policy.columns}
        rest = [name for name in self.source_columns if folded(name) not in named]
        yield from (ReportedColumn(name=name, role="rest") for name in rest)

    def _generalized(self, name: str) -> ReportedColumn:
        is_known, after = name in self._known_taxonomies, self._labels_after(name)
        pieces: list[dict[str, Any]] = []
        if is_known:
            pieces = self._fetch("pieces", "a taxonomy from left to right", name, "node", most=MAX_PIECES)
        of_labels = _levels_of_labels(after, self.record.labels, name)
        levels = _shown_levels(pieces, after, of_labels)
        losses = {(piece["level"], piece["label"]): piece["lost"] for piece in pieces}
        lost = sum(rows * losses.get((of_labels.get(label), label), 1.0) for label, rows in after.items())
        before = self._labels_before(name) if is_known else {}
        vanished = self._vanished_labels(name) if is_known else []
        return ReportedColumn(
            name=name,
            role="quasi-identifier",
            levels=levels,
            level=None if self._levels is None else self._levels[name],
            height=self._facts.get("heights", {}).get(name),
            lost=lost / max(sum(after.values()), 1) if levels else None,
            unused_labels=self._unused_labels(name) if is_known else None,
            **self._shown_labels(vanished, after, before),
        )

    def _kept(self, name: str, role: str) -> ReportedColumn:
        vanished = self._vanished_values(name)
        change = dict(self.policy.changes).get(name)
        words = None if change is None else change.in_words
        if role == "insensitive":
            return ReportedColumn(name=name, role=role, perturbation=words, **self._shown_labels(vanished, {}, {}))
        columns = names(list(self.policy.quasi_identifiers))
        query = table_call("homogeneous_rows", self.found.source.relation.copy(), columns, string(name))
        homogeneous = int(self.engine.fetch(query, "classes of one value")[0]["homogeneous_rows"])
        before = {} if self.source is None else self._label_rows(self.source.relation, name)
        labels = self._shown_labels(vanished, self._labels_after(name), before)
        return ReportedColumn(name=name, role=role, perturbation=words, homogeneous_rows=homogeneous, **labels)

    def _shown_labels(
        self, vanished: Sequence[Mapping[str, Any]], after: Mapping[str | None, int], before: Mapping[str | None, int]
    ) -> dict[str, Any]:
        """List vanished labels that may be shown, the number of others, and the most frequent labels."""
        k = self._min_shown_count
        many = [row for row in vanished if row["label_rows"] >= k][:MAX_LABELS]
        others = [row for row in vanished if row not in many]
        compared = [
            LabelRows(label=label, before=unless_few(before.get(label), rows, k), after=rows)
            for label, rows in list(after.items())[:MAX_LABELS]
        ]
        return {
            "labels": (*(LabelRows(label=row["label"], before=row["label_rows"], after=0) for row in many), *compared),
            "other_vanished_labels": len(others),
            "other_vanished_rows": sum(row["label_rows"] for row in others),
        }

    def _vanished_labels(self, name: str) -> list[dict[str, Any]]:
        if self.source is None or self.policy.has_private_method or self.record.labels is None:
            return []
        levels = self._levels
        is_released = exp.true() if levels is None else column("level", "anon_labels").eq(levels[name])
        return self._fetch("vanished_labels", "labels without a row", name, is_released_level=is_released)

    def _vanished_values(self, name: str) -> list[dict[str, Any]]:
        if self.source is None or folded(name) not in map(folded, self.found.columns):
            return []
        if name in self.policy.insensitive[MAX_COMPARED_COLUMNS:]:
            return []
        return self._fetch("vanished_values", "values without a row", name, fewest=self._min_shown_count)

    def _unused_labels(self, name: str) -> tuple[int, int] | None:
        """Count the labels of the released level without a row, and all; None if the rows determined the labels.

        The counts follow from the release and the taxonomy that its recorded policy declares.
        """
        is_declared = self._facts.get("domains", {}).get(name) == "declared" and name in self.recorded_taxonomies
        if self._levels is None or not is_declared:
            return None
        [row] = self._fetch("unused_labels", "labels of a taxonomy without a row", name, level=self._levels[name])
        return row["unused"], row["labels"]

    def examples(self) -> tuple[ExampleRow, ...]:
        """Pick a few rows of the source whose classes are released, each with its labels."""
        levels, policy, source = self._levels, self.policy, self.source
        # With other methods, the row may be missing from the release, or its place there unknown.
        if not isinstance(policy.method, FullDomain) or source is None or levels is None:
            return ()
        if self.engine.is_far(source.relation):  # rows stay on their server
            return ()
        if policy.held_with or policy.unknown or {*policy.quasi_identifiers} != self._known_taxonomies:
            return ()
        kept = [name for name in (*policy.sensitive, *policy.insensitive) if name in self.found.columns]
        generalized, shown = policy.quasi_identifiers, (*policy.quasi_identifiers, *kept)[:MAX_EXAMPLE_COLUMNS]

        def label_of(name: str) -> exp.Subquery:
            value = column(name, "anon_source")
            return exp.Subquery(
                this=SQL.query("label_of", labels=self._taxonomy(name), value=value, level=levels[name])
            )

        found: list[dict[str, Any]] = []
        for among in (EXAMPLES_AMONG, ALL_ROWS):
            if len(found) < MAX_EXAMPLES:
                found = self._fetch(
                    "example_rows",
                    "rows before and after",
                    befores=[text(column(name, "anon_source")) for name in shown],
                    labels=[label_of(name) for name in generalized],
                    shown=[text(column(name, "anon_released")) for name in generalized],
                    among=among,
                    most=MAX_EXAMPLES,
                )
        return tuple(
            ExampleRow(
                tuple(shown),
                tuple(row["anon_before"]),
                (*row["anon_after"], *row["anon_before"][len(generalized) :])[: len(shown)],
            )
            for row in found
        )

    def _labels_after(self, name: str) -> dict[str | None, int]:
        found = self._label_rows(self.found.source.relation, name)
        return {label: rows for label, rows in found.items() if rows >= self._min_shown_count}

    def _labels_before(self, name: str) -> dict[str | None, int]:
        if self.source is None or self._levels is None or self.policy.has_private_method:
            return {}
        found = self._fetch("source_rows", "rows of labels in the source", name, level=self._levels[name])
        return {row["label"]: row["label_rows"] for row in found}

    def _label_rows(self, relation: exp.Expr, name: str) -> dict[str | None, int]:
        found = self._fetch("label_rows", "rows of labels", name, source=relation, most=MAX_PIECES)
        return {row["label"]: row["label_rows"] for row in found}

    def _fetch(
        self, query: str, purpose: str, name: str = "", grain: Grain = "class", **roles: Role
    ) -> list[dict[str, Any]]:
        queries = SQL.given(released=self.found.source.relation)
        if self.source is not None:
            queries = queries.given(source=self.source.relation)
        if name:
            queries = queries.given(name=name, labels=self._taxonomy(name))
        return self.engine.fetch(queries.query(query, **roles), purpose, grain)

    def _taxonomy(self, name: str) -> exp.Subquery:
        levels = taxonomies.at(table_call("taxonomy_levels", string(name)), self.engine.taxonomy)
        return subquery(levels, "anon_labels")

    @property
    def _levels(self) -> Mapping[str, int] | None:
        return self.record.labels.levels if isinstance(self.record.labels, NodeRecord) else None

    @property
    def _facts(self) -> Mapping[str, Any]:
        return {} if self.record.report is None else self.record.report.as_json

    @property
    def _min_shown_count(self) -> int:
        return 1 if self.policy.has_private_method else self.policy.criteria.k

    @cached_property
    def _known_taxonomies(self) -> set[str]:
        """The quasi-identifiers whose taxonomies here are those of the release."""
        return {*stored_taxonomies.unchanged(self.engine, self.policy.quasi_identifiers, self.record.taxonomy_sha256)}

    @cached_property
    def _sizes_before(self) -> Sizes:
        return [] if self.source is None else size_counts(self.engine, self.source, self.policy)


def released_sizes(engine: Engine, release: ResolvedSource, policy: Policy) -> tuple[ClassSizes, ...]:
    if policy.has_private_method:
        return ()
    return tuple(class_sizes(size_counts(engine, release, policy), (), policy.criteria.k))


def size_counts(engine: Compute, source: ResolvedSource, policy: Policy) -> Sizes:
    columns = names(list(policy.quasi_identifiers))
    sizes = subquery(table_call("class_sizes", source.relation.copy(), columns), "anon_sizes")
    found = engine.fetch(SQL.query("class_sizes", sizes=sizes), "sizes of classes", "class")
    return [(row["class_size"], row["classes"]) for row in found]


def _levels_of_labels(labels: Iterable[str | None], recorded: LabelsRecord | None, name: str) -> dict[str | None, int]:
    match recorded:
        case None | RungsRecord():
            return {}
        case NodeRecord():
            return dict.fromkeys(labels, recorded.levels[name])
        case _:
            return {label: level for level, label in recorded.labels.get(name, ()) if level is not None}


def _shown_levels(
    pieces: Sequence[Mapping[str, Any]], after: Mapping[str | None, int], of_labels: Mapping[str | None, int]
) -> tuple[Level, ...]:
    """List the levels of a taxonomy with the labels that the release shows; NULL only if it occurs."""
    if not of_labels:
        return ()
    pieces, rows = [piece for piece in pieces if piece["label"] is not None or None in after], sum(after.values()) or 1
    levels = []
    for level in dict.fromkeys(piece["level"] for piece in pieces):
        here = [piece for piece in pieces if piece["level"] == level]
        # The mask of suppressed rows has no level.
        shown = {piece["label"] for piece in here if of_labels.get(piece["label"]) == level} & after.keys()
        labels = tuple((piece["leaves"], piece["label"] if piece["label"] in shown else None) for piece in here)
        share = sum(after[label] for label in shown) / rows
        levels.append(Level(level=level, labels=labels, label_count=len(labels), shown=share))
    return tuple(levels)


# guarded: tests/unit/test_guarded_releases.py
def unless_few(before: int | None, after: int, k: int) -> int | None:
    """Return the rows before, unless the difference is from 1 to k - 1."""
    return None if before is None or 0 < abs(before - after) < k else before
