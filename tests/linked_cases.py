"""Random linked databases for the engine and the oracle: tables, a policy, and what is shown of it as records.

Each row carries its position in a column ``tag`` that no release generalizes, so that a test knows whose row it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from hypothesis import assume
from hypothesis import strategies as st

from tests.linked_oracle import Levels, Persons, Position, Row, Schema, Taxonomy, Value, in_order, label_of, rows_of
from tests.linked_universes import Setting, databases_of, schema_of

SHAPES: dict[str, dict[str, str | None]] = {
    "two tables": {"persons": None, "visits": "persons"},
    "three tables": {"persons": None, "visits": "persons", "diagnoses": "visits"},
    "two children": {"persons": None, "visits": "persons", "bills": "persons"},
}
"""By name the tables with their parents."""

KEYS = {"persons": 7, "visits": 3, "diagnoses": 0, "bills": 0}
"""Keys of rows are their places times ten, and this more: those of two tables differ."""


@dataclass(frozen=True)
class LinkedCase:
    """Persons with all rows, and what a policy says of them.

    Attributes:
        parents: the tables by name, with their parents.
        schema: the taxonomies of the columns of each table, which are named ``c0``, ``c1`` ...
        persons: the database.
        k: the number of persons.
        limits: the share of rows that may be left out, by table.
        weights: of columns by table and place; 1 if not given.
        most: how many visits a person may have; the others are cut.
        orphans: how many visits belong to nobody.
    """

    parents: Mapping[str, str | None]
    schema: Schema
    persons: Persons
    k: int
    limits: Mapping[str, float]
    weights: Mapping[tuple[str, int], int] = field(default_factory=dict)
    most: int | None = None
    orphans: int = 0

    @property
    def kept(self) -> Persons:
        """The persons without the visits that are cut, which are their last rows: the first ones by tag are left."""
        return [Row(person.table, person.values, person.below[: self.most]) for person in self.persons]

    @property
    def rows(self) -> dict[str, dict[Position, Row]]:
        """The rows of each table by position."""
        found: dict[str, dict[Position, Row]] = {table: {} for table in self.parents}
        for position, row in rows_of(self.persons).items():
            found[row.table][position] = row
        return found

    def columns(self, table: str) -> list[str]:
        return [f"c{place}" for place in range(len(self.schema.taxonomies[table]))]

    def tables(self) -> dict[str, pa.Table]:
        """The sources, with keys; rows that belong to nobody are the last visits."""
        found, rows = {}, self.rows
        keys = {position: number for own in rows.values() for number, position in enumerate(own)}
        for table, own in rows.items():
            orphans = self.orphans if table == "visits" else 0
            parent = self.parents[table]
            columns: dict[str, Any] = {"tag": pa.array([*map(tag_of, own), *["nobody"] * orphans], pa.string())}
            if table in self.parents.values():
                numbers = range(len(own) + orphans)
                columns["id"] = pa.array([10 * number + KEYS[table] for number in numbers], pa.int64())
            if parent is not None:
                above = [10 * keys[each[:-1]] + KEYS[parent] for each in own]
                columns["above"] = pa.array([*above, *[None, -1, None][:orphans]], pa.int64())
            for place, name in enumerate(self.columns(table)):
                values = [row.values[place] for row in own.values()]
                columns[name] = pa.array([*values, *["0"] * orphans], pa.string())
            found[table] = pa.table(columns)
        return found

    def policy(self, privacy: Sequence[Mapping[str, Any]], **fields: Any) -> dict[str, Any]:
        """The fields of a policy for the tables."""
        weights = {f"{table}.c{place}": weight for (table, place), weight in self.weights.items()}
        return {
            "privacy": [*privacy],
            "quality": {"model": "lm", "weights": weights},
            "suppression_limit": self.limits["persons"],
            "tables": {table: self._roles(table) for table in self.parents},
            **fields,
        }

    def _roles(self, table: str) -> dict[str, Any]:
        parent = self.parents[table]
        roles: dict[str, Any] = {
            "quasi_identifiers": self.columns(table),
            "insensitive": ["tag"],
            "taxonomies": {
                name: {"kind": "rows", "rows": rows_of_taxonomy(taxonomy)}
                for name, taxonomy in zip(self.columns(table), self.schema.taxonomies[table], strict=True)
            },
        }
        if table in self.parents.values():
            roles["row_key"] = "id"
        if parent is not None:
            roles |= {"parent": parent, "key": "above", "suppression_limit": self.limits[table]}
        if table == "visits" and self.orphans:
            roles["orphans"] = "drop"
        if table == "visits" and self.most is not None:
            roles |= {"at_most": self.most, "above": "first", "order": ["tag"]}
        return roles


def tag_of(position: Position) -> str:
    return ".".join(map(str, position))


def position_of(tag: str) -> Position:
    return tuple(map(int, tag.split(".")))


def rows_of_taxonomy(taxonomy: Taxonomy) -> list[list[Any]]:
    return [[level[value] for level in taxonomy] for value in taxonomy[0]]


@dataclass(frozen=True)
class Written:
    """What a release shows: the labels of each row by position, and the position of the row that it is joined with."""

    labels: Mapping[Position, tuple[str | None, ...]]
    joined: Mapping[Position, Position]
    levels: Mapping[Position, Levels]
    records: Sequence[Row]


def written(case: LinkedCase, released: Mapping[str, Sequence[Mapping[str, Any]]]) -> Written:
    """Join the rows of a release by their keys; persons first. Values of rows become cells: a level and a label.

    The labels of levels differ, so that a label has one level; NULL has that of values.
    """
    labels: dict[Position, tuple[str | None, ...]] = {}
    joined: dict[Position, Position] = {}
    levels: dict[Position, Levels] = {}
    joinable: dict[str, dict[int, list[Mapping[str, Any]]]] = {table: {} for table in released}
    for table, rows in released.items():
        for row in rows if case.parents[table] else ():
            joinable[table].setdefault(row["above"], []).append(row)

    def cells(table: str, row: Mapping[str, Any]) -> tuple[tuple[int, str | None], ...]:
        taxonomies = case.schema.taxonomies[table]
        return tuple(
            (level_of(taxonomy, row[name]), row[name])
            for taxonomy, name in zip(taxonomies, case.columns(table), strict=True)
        )

    def record(table: str, row: Mapping[str, Any], above: Position = ()) -> Row:
        position = position_of(row["tag"])
        labels[position] = tuple(row[name] for name in case.columns(table))
        joined[position] = above
        levels[position] = tuple(level for level, _ in cells(table, row))
        children = [child for child, parent in case.parents.items() if parent == table]
        below = [record(child, each, position) for child in children for each in joinable[child].get(row["id"], [])]
        return Row(table, cells(table, row), in_order(below))

    records = [record("persons", row) for row in released["persons"]]
    return Written(labels, joined, levels, records)


def level_of(taxonomy: Taxonomy, label: str | None) -> int:
    return next((level for level, labels in enumerate(taxonomy) if label in labels.values()), 0)


def labels_at(case: LinkedCase, shown: Mapping[Position, Levels]) -> dict[Position, tuple[str | None, ...]]:
    """The labels of rows at the levels at which they are shown."""
    rows = rows_of(case.persons)
    return {
        position: tuple(
            label_of(taxonomy, level, value)
            for taxonomy, level, value in zip(
                case.schema.taxonomies[rows[position].table], levels, rows[position].values, strict=True
            )
        )
        for position, levels in shown.items()
    }


# Universes


def in_one_database(setting: Setting) -> LinkedCase:
    """All databases of a universe as one: a column of persons, which no node may generalize, has its number."""
    schema = schema_of(setting)
    numbered = [*enumerate(databases_of(setting))]
    names: dict[Value, str | None] = {f"d{number}": f"d{number}" for number, _ in numbered}
    one_for_all: dict[Value, str | None] = dict.fromkeys(names, "*")
    persons = [
        Row(person.table, (f"d{number}", *person.values), person.below)
        for number, found in numbered
        for person in found
    ]
    taxonomies = {**schema.taxonomies, "persons": [[names, one_for_all], *schema.taxonomies["persons"]]}
    parents = SHAPES["three tables" if setting.most_below else "two tables"]
    return LinkedCase(parents, Schema(taxonomies), persons, setting.k, dict.fromkeys(parents, 1.0))


# Strategies


@st.composite
def taxonomies(draw: st.DrawFn, most: int = 4) -> Taxonomy:
    """Two to four values under groups, or at once under one label."""
    values = [str(value) for value in range(draw(st.integers(2, most)))]
    own: dict[Value, str | None] = {value: value for value in values}
    top: dict[Value, str | None] = dict.fromkeys(values, "*")
    if draw(st.booleans()):
        return [own, top]
    return [own, {value: f"g{draw(st.integers(0, 1))}" for value in values}, top]


@st.composite
def linked_cases(draw: st.DrawFn, shapes: Sequence[str] = tuple(SHAPES), most_persons: int = 7) -> LinkedCase:
    parents = SHAPES[draw(st.sampled_from(shapes))]
    columns = {
        table: draw(st.lists(taxonomies(), min_size=1, max_size=2 if table == "persons" else 1)) for table in parents
    }
    if draw(st.booleans()):
        columns["visits"] = [*columns["visits"], draw(taxonomies(2))]
    schema = Schema(columns)
    rows = {table: _rows(table, parents, columns) for table in reversed(parents)}
    count = draw(st.integers(1, most_persons))
    persons = [draw(rows["persons"](rows)) for _ in range(count)]
    if draw(st.booleans()):  # persons who look alike leave something to release
        persons += draw(st.lists(st.sampled_from(persons), min_size=1, max_size=4))
    limits = {table: draw(st.sampled_from([0.0, 0.2, 0.5, 1.0])) for table in parents}
    weights = draw(st.dictionaries(st.sampled_from(schema.columns), st.integers(1, 3), max_size=2))
    assume({*parents} == {row.table for row in rows_of(persons).values()})
    case = LinkedCase(parents, schema, persons, draw(st.integers(2, 3)), limits, weights)
    if "bills" in parents or draw(st.booleans()):
        return case
    return replace(case, most=draw(st.sampled_from([None, 1, 2])), orphans=draw(st.integers(0, 3)))


RowsOf = Mapping[str, "Callable[[RowsOf], st.SearchStrategy[Row]]"]


def _rows(
    table: str, parents: Mapping[str, str | None], columns: Mapping[str, Sequence[Taxonomy]]
) -> Callable[[RowsOf], st.SearchStrategy[Row]]:
    """A strategy for a row of a table with all rows below it."""
    values = st.tuples(*(st.sampled_from([*taxonomy[0], None]) for taxonomy in columns[table]))
    children = [child for child, parent in parents.items() if parent == table]

    def of(rows: RowsOf) -> st.SearchStrategy[Row]:
        most = 3 if table == "persons" else 2
        below = st.tuples(*(st.lists(rows[child](rows), max_size=most) for child in children))
        return st.builds(
            lambda own, found: Row(table, own, tuple(row for each in found for row in each)), values, below
        )

    return of
