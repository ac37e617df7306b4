"""The tables of a release of several, as they are found, beside their policy, their record and their sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt

from sqlglot import exp

from sqlanon.binding.carried_taxonomies import verified_with
from sqlanon.binding.coding import beyond_bounds
from sqlanon.binding.stored_taxonomies import unchanged
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.model.labels import NodeRecord
from sqlanon.model.names import folded, in_quotes
from sqlanon.model.policy.linked_policy import LinkedPolicy, TableRoles, qualified
from sqlanon.model.release.linked import LinkedMeasurement
from sqlanon.queries import linked_measures as queries
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import names
from sqlanon.queries.linked import qualified_rows
from sqlanon.queries.measures import generalized
from sqlanon.queries.source import fractional_types, spelled_taxonomy
from sqlanon.queries.source_rows import without_unknown
from sqlanon.verification.found_linked import FoundLinked
from sqlanon.verification.verify import LabelsCheck, labels_of_top

NOT_COMPARED = "the labels of {} are not compared with their taxonomies: those of the release are not loaded here"


class ReleasedTables:
    """The tables of a release as they are found, beside the policy that they are to meet.

    Columns are named as the taxonomies of a run are, ``"visits.day"``.
    """

    def __init__(self, engine: Engine, found: FoundLinked, policy: LinkedPolicy) -> None:
        self._engine = engine
        self._policy = policy
        self._found = found
        self._linked = None if found.record is None else found.record.linked
        self._columns = {
            name: [each.name for each in engine.describe(table.relation)] for name, table in found.tables.items()
        }
        self.named = {
            name: ResolvedSource(self._qualified(name), table.description) for name, table in found.tables.items()
        }

    def _qualified(self, name: str) -> exp.Subquery:
        own = {folded(each): each for each in self._policy.tables[name].columns} if name in self._policy.tables else {}
        names = {each: qualified(name, own.get(folded(each), each)) for each in self._columns[name]}
        return qualified_rows(self._found.tables[name].relation, names)

    @property
    def _tables(self) -> list[str]:
        """The tables of the policy that are there."""
        return [name for name in self._policy.ordered if name in self.named]

    @property
    def is_whole(self) -> bool:
        """Whether all columns are there that the promise is about."""
        return all(name in self.named and not self._lacking(name) for name in self._policy.tables)

    def _lacking(self, name: str) -> list[str]:
        roles, there = self._policy.tables[name], {*map(folded, self._columns[name])}
        return [each for each in (*self._keys(name), *roles.quasi_identifiers) if folded(each) not in there]

    def _keys(self, name: str) -> list[str]:
        """The released keys of a table: fresh ones of rows that others belong to, and those of the rows above."""
        return [each for each in (self._policy.row_key(name), self._policy.tables[name].key) if each is not None]

    def misfits(self) -> Iterator[str]:
        """Yield tables and columns that are missing, or that the policy does not release."""
        for name in self.named:
            if name not in self._policy.tables:
                yield f'it has the table "{name}", which is none of the policy'
        for name, roles in self._policy.tables.items():
            if name in self.named:
                yield from self._misfits(name, roles)
            else:
                yield f'it lacks the table "{name}"'

    def _misfits(self, name: str, roles: TableRoles) -> Iterator[str]:
        released = [*self._keys(name), *roles.quasi_identifiers, *roles.sensitive, *roles.insensitive]
        identifiers = {*map(folded, (*roles.identifiers, *roles.keys))}
        wanted, there = {*map(folded, released)}, {*map(folded, self._columns[name])}
        for each in self._columns[name]:
            if folded(each) not in wanted:
                what = "identifier" if folded(each) in identifiers else "column"
                yield f'"{name}" has the {what} "{each}", which the policy does not release'
        for each in released:
            if folded(each) not in there:
                yield f'"{name}" lacks the column "{each}", which the policy releases'

    def other_keys(self) -> Iterator[str]:
        for name in self._tables:
            if (row_key := self._policy.row_key(name)) is not None:
                found = self._engine.fetch(queries.keys(self._found.tables[name].relation, row_key), "new keys")[0]
                if found["numbered_keys"] != found["row_count"]:
                    yield f'the keys of "{name}" are not the numbers 1 to {found["row_count"]:,}, each in one row'

    def other_counts(self, measurement: LinkedMeasurement) -> Iterator[str]:
        """Yield other rows, and levels that the policy does not allow, by the record."""
        recorded = {} if self._linked is None else self._linked.tables
        for name in (each for each in self._tables if each in recorded):
            rows, released = measurement.rows[name], recorded[name].rows.released
            if rows != released:
                yield f'"{name}" has {rows:,} rows where {released:,} were released'
            for column, level in self._levels(name).items():
                least = self._policy.minimum_levels.get(column, level)
                most = self._policy.maximum_levels.get(column, level)
                if not least <= level <= most:
                    yield f'"{column}" is at level {level}, where the policy asks for {least} to {most}'

    def _levels(self, name: str) -> dict[str, int]:
        table = None if self._linked is None else self._linked.tables.get(name)
        node = None if table is None else table.node
        return {qualified(name, each): level for each, level in (node or {}).items()}

    def attributes(self, *, has_source: bool) -> set[str]:
        """Return the columns whose taxonomies can be made: some read their values from the source."""
        if not self._tables:
            return set()
        paths = (self._policy.path_policy(name) for name in self._tables)
        return {each for path in paths for each in verified_with(path, has_source=has_source)}

    def other_labels(self) -> tuple[list[str], list[str]]:
        """Return columns with labels of other levels than were released, and those that cannot be compared."""
        foreign, unknown = [], []
        for name in self._tables:
            known = self._known_levels(name)
            labels = NodeRecord(levels=known)
            if known:
                roots = labels_of_top(self._engine, self._policy.path_policy(name), labels)
                check = LabelsCheck(self._engine, labels, roots)
                foreign += [
                    f'"{row["attribute"]}" has {row["foreign_labels"]:,} labels, in {row["foreign_rows"]:,} rows, that '
                    f"{check.mismatch(row['attribute'])} of the release"
                    for row in check.foreign_in_rows(self.named[name].relation)
                ]
            own = (qualified(name, each) for each in self._policy.tables[name].quasi_identifiers)
            unknown += [each for each in own if each not in known]
        return foreign, [NOT_COMPARED.format(", ".join(map(in_quotes, unknown)))] if unknown else []

    def _known_levels(self, name: str) -> dict[str, int]:
        """Return the recorded levels of columns whose taxonomies are those of the release."""
        levels, record = self._levels(name), self._found.record
        if record is None:
            return {}
        there = {*map(folded, self._columns[name])}
        names = [each for each in levels if folded(each.removeprefix(qualified(name, ""))) in there]
        return {each: levels[each] for each in unchanged(self._engine, names, record.taxonomy_sha256)}

    def beyond_bounds(self) -> Iterator[str]:
        for name in self._tables:
            roles, path = self._policy.tables[name], self._policy.path_policy(name)
            yield from beyond_bounds(self._engine, self.named[name].relation, path, self._kept(name, roles))

    def _kept(self, name: str, roles: TableRoles) -> list[str]:
        """Return the columns with values of the source."""
        there = {*map(folded, self._columns[name])}
        return [qualified(name, each) for each in (*roles.sensitive, *roles.insensitive) if folded(each) in there]

    def differences(self, sources: Mapping[str, ResolvedSource]) -> Iterator[str]:
        """Yield values that the sources lack, and keys that are not drawn anew."""
        for name in self._tables:
            roles, released, source = self._policy.tables[name], self.named[name].relation, sources[name].relation
            kept = self._kept(name, roles)
            if kept:
                query = table_call("added_values", released.copy(), source.copy(), names(kept))
                added = self._engine.fetch(query, "values of the source")[0]["added_rows"]
                if added:
                    yield (
                        f'"{name}" has {added:,} rows with sensitive and insensitive values that its source lacks, or '
                        "has less often"
                    )
            yield from self._kept_keys(name, roles, kept, source)

    def _kept_keys(self, name: str, roles: TableRoles, kept: Sequence[str], source: exp.Expr) -> Iterator[str]:
        row_key, node = self._policy.row_key(name), self._known_levels(name)
        if row_key is None or len(node) < len(roles.quasi_identifiers) or self._lacking(name):
            return
        old = [qualified(name, each) for each in dict.fromkeys((row_key, *roles.keys, *roles.identifiers))]
        if node:
            types = fractional_types(self._engine.describe(source), node)
            taxonomy = spelled_taxonomy(self._engine.taxonomy, types)
            # Rows with values that the run labels at the top are not compared: the taxonomy does not have them.
            source = generalized(without_unknown(source, [*node], taxonomy), node, taxonomy, [*old, *kept])
        for each in old:
            query = queries.kept_keys(self.named[name].relation, qualified(name, row_key), source, each, [*node, *kept])
            found = self._engine.fetch(query, "keys of the source")[0]
            expected = found["matched"] * float(found["chance"])
            # Six standard deviations of a count by chance, and a few rows where hardly any would match.
            if found["alike"] > expected + 6 * sqrt(expected) + 3:
                yield (
                    f'the keys of "{name}" are not drawn anew: {found["alike"]:,} are "{each}" of a row of the source '
                    f"that looks alike, where {expected:,.0f} would be by chance"
                )
