"""The tables of a release of several, as they are found, beside their policy, their record and their sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import sqrt

from sqlglot import exp

from sqlanon.binding.carried_taxonomies import verified_with
from sqlanon.binding.coding import beyond_bounds
from sqlanon.binding.stored_taxonomies import unchanged
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.model.labels import NodeRecord
from sqlanon.model.names import in_quotes, speller
from sqlanon.model.policy.linked_policy import LinkedPolicy, qualified
from sqlanon.queries import linked_measures as queries
from sqlanon.queries.linked import qualified_rows
from sqlanon.queries.measures import generalized
from sqlanon.queries.source import fractional_types, spelled_taxonomy
from sqlanon.queries.source_rows import without_unknown
from sqlanon.verification.found_linked import FoundLinked
from sqlanon.verification.verify import LABELS_NOT_COMPARED, LabelsCheck, added_rows, labels_of_top, other_levels


class ReleasedTables:
    """The tables of a release as they are found, beside the policy that they are to meet.

    Columns are named as the taxonomies of a run are, ``"visits.day"``, in the spelling of the policy.
    """

    def __init__(self, engine: Engine, found: FoundLinked, policy: LinkedPolicy) -> None:
        self._engine = engine
        self._policy = policy
        self._record = found.record
        self._columns: dict[str, list[str]] = {}  # without the names of tables
        self.named: dict[str, ResolvedSource] = {}
        for name, table in found.tables.items():
            spelled = speller(policy.tables[name].columns if name in policy.tables else ())
            own = {each.name: spelled(each.name) for each in engine.describe(table.relation)}
            named = qualified_rows(
                table.relation, {each: qualified(name, of_policy) for each, of_policy in own.items()}
            )
            self._columns[name] = [*own.values()]
            self.named[name] = ResolvedSource(named, table.description)

    @property
    def _tables(self) -> list[str]:
        """The tables of the policy that are there."""
        return [name for name in self._policy.ordered if name in self.named]

    @property
    def is_whole(self) -> bool:
        """Whether all columns are there that the promise is about."""
        return all(name in self.named and self._has_keys_and_labels(name) for name in self._policy.tables)

    def _has_keys_and_labels(self, name: str) -> bool:
        return {*self._keys(name), *self._policy.tables[name].quasi_identifiers} <= {*self._columns[name]}

    def _keys(self, name: str) -> list[str]:
        """The released keys of a table: fresh ones of rows that others belong to, and those of the rows above."""
        return [each for each in (self._policy.row_key(name), self._policy.tables[name].key) if each is not None]

    def misfits(self) -> Iterator[str]:
        """Yield tables and columns that are missing, or that the policy does not release."""
        for name in self.named:
            if name not in self._policy.tables:
                yield f'it has the table "{name}", which the policy lacks'
        for name in self._policy.tables:
            if name in self.named:
                yield from self._misfits(name)
            else:
                yield f'it lacks the table "{name}"'

    def _misfits(self, name: str) -> Iterator[str]:
        roles, there = self._policy.tables[name], self._columns[name]
        released = (*self._keys(name), *roles.quasi_identifiers, *roles.sensitive, *roles.insensitive)
        for each in there:
            if each not in released:
                what = "identifier" if each in roles.columns else "column"
                yield f'"{name}" has the {what} "{each}", which the policy does not release'
        for each in released:
            if each not in there:
                yield f'"{name}" lacks the column "{each}", which the policy releases'

    def other_keys(self) -> Iterator[str]:
        for name in self._tables:
            if (row_key := self._policy.row_key(name)) is not None:
                query = queries.keys(self.named[name].relation, qualified(name, row_key))
                found = self._engine.fetch(query, "new keys")[0]
                if found["numbered_keys"] != found["row_count"]:
                    yield f'the keys of "{name}" are not the numbers 1 to {found["row_count"]:,}, each in one row'

    @property
    def recorded_rows(self) -> dict[str, int]:
        """The rows that were released, by table."""
        linked = None if self._record is None else self._record.linked
        recorded = {} if linked is None else linked.tables
        return {name: recorded[name].rows.released for name in self._tables if name in recorded}

    def other_levels(self) -> Iterator[str]:
        """Yield levels that the policy does not allow, by the record."""
        if self._record is not None:
            levels = {column: level for name in self._tables for column, level in self._levels(name).items()}
            labels = NodeRecord(levels=levels)
            yield from other_levels(self._record.model_copy(update={"labels": labels}), self._policy)

    def _levels(self, name: str) -> dict[str, int]:
        linked = None if self._record is None else self._record.linked
        table = None if linked is None else linked.tables.get(name)
        node = None if table is None else table.node
        return {qualified(name, each): level for each, level in (node or {}).items()}

    def attributes(self, *, has_source: bool) -> set[str]:
        """Return the columns whose taxonomies can be made: some read their values from the source."""
        paths = (self._policy.path_policy(name) for name in self._tables)
        return {each for path in paths for each in verified_with(path, has_source=has_source)}

    def other_labels(self) -> tuple[list[str], list[str]]:
        """Return columns with labels of other levels than were released, and those that cannot be compared."""
        foreign: list[str] = []
        unknown: list[str] = []
        for name in self._tables:
            known = self._known_levels(name)
            if known:
                labels = NodeRecord(levels=known)
                roots = labels_of_top(self._engine, self._policy.path_policy(name), labels)
                foreign += LabelsCheck(self._engine, labels, roots).shortfalls(self.named[name].relation)
            own = (qualified(name, each) for each in self._policy.tables[name].quasi_identifiers)
            unknown += [each for each in own if each not in known]
        return foreign, [LABELS_NOT_COMPARED.format(", ".join(map(in_quotes, unknown)))] if unknown else []

    def _known_levels(self, name: str) -> dict[str, int]:
        """Return the recorded levels of columns whose taxonomies are those of the release."""
        if self._record is None:
            return {}
        levels, there = self._levels(name), self._there(name, self._policy.tables[name].quasi_identifiers)
        names = [each for each in levels if each in there]
        return {each: levels[each] for each in unchanged(self._engine, names, self._record.taxonomy_sha256)}

    def _there(self, name: str, columns: tuple[str, ...]) -> list[str]:
        return [qualified(name, each) for each in columns if each in self._columns[name]]

    def _kept(self, name: str) -> list[str]:
        """Return the columns with values of the source."""
        roles = self._policy.tables[name]
        return self._there(name, (*roles.sensitive, *roles.insensitive))

    def beyond_bounds(self) -> Iterator[str]:
        for name in self._tables:
            path = self._policy.path_policy(name)
            yield from beyond_bounds(self._engine, self.named[name].relation, path, self._kept(name))

    def differences(self, sources: Mapping[str, ResolvedSource]) -> Iterator[str]:
        """Yield values that the sources lack, and keys that are not drawn anew."""
        for name in self._tables:
            source = sources[name].relation
            if added := added_rows(self._engine, self.named[name].relation, source, self._kept(name)):
                yield (
                    f'"{name}" has {added:,} rows with sensitive and insensitive values that its source lacks, or '
                    "has less often"
                )
            yield from self._kept_keys(name, source)

    def _kept_keys(self, name: str, source: exp.Expr) -> Iterator[str]:
        roles, row_key, node = self._policy.tables[name], self._policy.row_key(name), self._known_levels(name)
        if row_key is None or len(node) < len(roles.quasi_identifiers) or not self._has_keys_and_labels(name):
            return
        old = [qualified(name, each) for each in dict.fromkeys((row_key, *roles.keys, *roles.identifiers))]
        kept = self._kept(name)
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
