"""Linked tables, naively: persons with rows below them, over plain Python values; it shares no code with the package.

A person is a :class:`Row` with rows below it. The definitions are those of spec/linked.md, sections 1 to 3; attackers
match values with the labels that a release shows, one row with another, and compare no labels.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from operator import mul
from typing import Any, NamedTuple

Value = str | int | None
Label = str | None
Levels = tuple[int, ...]
"""A level for each quasi-identifier of a table."""

Cell = tuple[int, Label]
"""What a release shows of a value: the level, and the label there."""

Position = tuple[int, ...]
"""Where a row is: the number of the person, that of the row below, and so on."""

Taxonomy = Sequence[Mapping[Value, Label]]
"""By level the label of each value. The values of level 0 are the domain."""


class Row(NamedTuple):
    """A row, or what a release shows of it: values, or cells; with the rows below it, in an order that says nothing."""

    table: str
    values: tuple[Any, ...] = ()
    below: tuple["Row", ...] = ()


Persons = Sequence[Row]


@dataclass(frozen=True)
class Node:
    """The levels of tables by name; a table that has none is left out, with those below it.

    Attributes:
        levels: by table.
        once: the tables whose rows are shown once if they look alike.
    """

    levels: tuple[tuple[str, Levels], ...]
    once: frozenset[str] = frozenset()

    @classmethod
    def at(cls, levels: Mapping[str, Levels], once: Iterable[str] = ()) -> "Node":
        return cls(tuple(sorted(levels.items())), frozenset(once))

    def of(self, table: str) -> Levels | None:
        return dict(self.levels).get(table)

    def is_below(self, other: "Node") -> bool:
        """Whether the other shows a function of what this one shows."""
        own, above = dict(self.levels), dict(other.levels)
        return above.keys() <= own.keys() and all(
            all(one <= more for one, more in zip(own[table], levels, strict=True))
            and (table not in self.once or table in other.once)
            for table, levels in above.items()
        )


@dataclass(frozen=True)
class Schema:
    """The taxonomies of the quasi-identifiers of each table, the table of persons first."""

    taxonomies: Mapping[str, Sequence[Taxonomy]]
    labelled: dict[Any, Row] = field(default_factory=dict, compare=False)

    def nodes(self) -> Iterator[Node]:
        """All nodes that leave no table out."""
        ranges = {name: [range(len(each)) for each in found] for name, found in self.taxonomies.items()}
        for chosen in product(*(product(*each) for each in ranges.values())):
            yield Node.at(dict(zip(ranges, chosen, strict=True)))

    @property
    def columns(self) -> list[tuple[str, int]]:
        """The quasi-identifiers by table and place."""
        return [(table, place) for table, found in self.taxonomies.items() for place in range(len(found))]

    def cells(self, row: Row, levels: Levels) -> tuple[Cell, ...]:
        """What is shown of the values of a row."""
        found = zip(self.taxonomies[row.table], levels, row.values, strict=True)
        return tuple((level, label_of(taxonomy, level, value)) for taxonomy, level, value in found)

    def label(self, row: Row, node: Node) -> Row:
        """The label of a row: its cells, and the labels of the rows below it."""
        found = self.labelled.get((row, node))
        if found is None:
            levels = node.of(row.table)
            assert levels is not None
            below = [self.label(each, node) for each in row.below if node.of(each.table) is not None]
            below = [each for at, each in enumerate(below) if each.table not in node.once or each not in below[:at]]
            found = self.labelled[row, node] = Row(row.table, self.cells(row, levels), in_order(below))
        return found

    def covers(self, cell: Cell, table: str, place: int, value: Value) -> bool:
        """Whether a value may be what a cell of a column shows."""
        level, label = cell
        return value in covered(self.taxonomies[table][place], level, label)


def label_of(taxonomy: Taxonomy, level: int, value: Value) -> Label:
    """The label of a value. NULL stays NULL, except at the top."""
    if value in taxonomy[level]:
        return taxonomy[level][value]
    assert value is None
    return next(iter(taxonomy[level].values())) if 0 < level == len(taxonomy) - 1 else None


def covered(taxonomy: Taxonomy, level: int, label: Label) -> set[Value]:
    return {value for value in [*taxonomy[0], None] if label_of(taxonomy, level, value) == label}


def share_lost(taxonomy: Taxonomy, level: int, value: Value) -> Fraction:
    """The share of the other values of the domain that the label of a value also stands for."""
    label = label_of(taxonomy, level, value)
    leaves = sum(other == label for other in taxonomy[level].values())
    return Fraction(max(0, leaves - 1), len(taxonomy[0]) - 1) if len(taxonomy[0]) > 1 else Fraction(0)


@cache
def _text(row: Row) -> str:
    return repr(row)


def in_order(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(sorted(rows, key=_text))


# Patterns


@cache
def subtrees(row: Row, m: int) -> frozenset[Row]:
    """What may be known of a row and the rows below it: subtrees from the row with at most m leaves below it."""
    return frozenset(found for found, _ in _counted_subtrees(row, m))


@cache
def _counted_subtrees(row: Row, m: int) -> frozenset[tuple[Row, int]]:
    chosen: set[tuple[tuple[Row, ...], int]] = {((), 0)}
    for each in row.below:
        more = [(found, max(1, leaves)) for found, leaves in _counted_subtrees(each, m)]
        chosen |= {((*rows, found), n + leaves) for rows, n in chosen for found, leaves in more if n + leaves <= m}
    return frozenset((Row(row.table, row.values, in_order(rows)), n) for rows, n in chosen)


def supports(records: Iterable[Row], m: int) -> Counter[Row]:
    """How many records have each pattern of at most m facts."""
    return Counter(pattern for record in records for pattern in subtrees(record, m))


def facts(pattern: Row) -> int:
    """The number of leaves below a row."""
    return sum(max(1, facts(each)) for each in pattern.below)


def known_rows(records: Collection[Row], m: int) -> dict[int, tuple[int, int, int]]:
    """By number of facts: the persons who have the rarest pattern, the patterns, and those of one person."""
    found: dict[int, list[int]] = defaultdict(list)
    for pattern, persons in supports(records, m).items():
        found[facts(pattern)].append(persons)
    return {number: (min(sizes), len(sizes), sizes.count(1)) for number, sizes in sorted(found.items())}


def is_good(records: Iterable[Row], k: int, m: int | None) -> bool:
    """Whether each pattern of up to m facts, or with None each whole tree, is of k persons."""
    found = Counter(records) if m is None else supports(records, m)
    return all(persons >= k for persons in found.values())


# Persons suppressed


def classes(records: Sequence[Row]) -> dict[Row, list[int]]:
    """The numbers of persons by what is shown of them."""
    found: dict[Row, list[int]] = defaultdict(list)
    for person, record in enumerate(records):
        found[record].append(person)
    return found


def suppressed(records: Sequence[Row], k: int, m: int | None) -> frozenset[int]:
    """Who goes, again and again: those who have a pattern, or with None a tree, of fewer than k persons."""
    left = set(range(len(records)))
    while True:
        own = {person: records[person] for person in left}
        found = Counter(own.values()) if m is None else supports(own.values(), m)
        gone = {
            person
            for person, record in own.items()
            if any(found[pattern] < k for pattern in ([record] if m is None else subtrees(record, m)))
        }
        if not gone:
            return frozenset(range(len(records))) - left
        left -= gone


def rounds(records: Sequence[Row], k: int, m: int) -> list[set[int]]:
    """Who goes in each round."""
    left, found = dict(enumerate(records)), []
    while gone := {
        person
        for person, record in left.items()
        if any(supports(left.values(), m)[pattern] < k for pattern in subtrees(record, m))
    }:
        found.append(gone)
        left = {person: record for person, record in left.items() if person not in gone}
    return found


# Rows hidden by class


def rows_of(persons: Persons) -> dict[Position, Row]:
    """All rows by position."""

    def below(position: Position, row: Row) -> Iterator[tuple[Position, Row]]:
        yield position, row
        for number, each in enumerate(row.below):
            yield from below((*position, number), each)

    return {place: each for number, person in enumerate(persons) for place, each in below((number,), person)}


def path_of(persons: Persons, position: Position, schema: Schema, node: Node) -> tuple[Any, ...] | None:
    """The tables and cells of a row and of those above it; None if its table is left out."""
    found, row = [], persons[position[0]]
    for number in (*position[1:], None):
        levels = node.of(row.table)
        if levels is None:
            return None
        found.append((row.table, schema.cells(row, levels)))
        row = row if number is None else row.below[number]
    return tuple(found)


def hidden_rows(persons: Persons, schema: Schema, node: Node, k: int) -> frozenset[Position]:
    """The rows, persons among them, that are left out for attackers who know one row: their path is of fewer than k.

    A path begins with the cells of the person, so all persons of a class of fewer than k go, with all of their rows.
    """
    paths = {place: path_of(persons, place, schema, node) for place in rows_of(persons)}
    owners: dict[Any, set[int]] = defaultdict(set)
    for place, path in paths.items():
        owners[path].add(place[0])
    return frozenset(
        place
        for place, path in paths.items()
        if path is None or any(len(owners[path[:n]]) < k for n in range(1, len(path) + 1))
    )


def mixed_rows(
    persons: Persons, schema: Schema, of_person: Levels, chains: Mapping[str, Sequence[Levels]], k: int
) -> dict[Position, Levels]:
    """Persons and their rows that are shown, each row at the first rung where k persons of its class have its label.

    Those that are not named are left out.
    """
    own = [schema.cells(person, of_person) for person in persons]
    large = {cells for cells, persons_of_class in Counter(own).items() if persons_of_class >= k}
    shown: dict[Position, Levels] = {(number,): of_person for number, cells in enumerate(own) if cells in large}
    for table, chain in chains.items():
        left = {place: row for place, row in rows_of(persons).items() if row.table == table and place[:1] in shown}
        for rung in chain:
            labels = {place: (own[place[0]], schema.cells(row, rung)) for place, row in left.items()}
            owners: dict[Any, set[int]] = defaultdict(set)
            for place, label in labels.items():
                owners[label].add(place[0])
            found = {place for place, label in labels.items() if len(owners[label]) >= k}
            shown |= dict.fromkeys(found, rung)
            left = {place: row for place, row in left.items() if place not in found}
    return shown


def ladder(persons: Persons, rungs: Sequence[Callable[[Row], Row]], k: int) -> dict[int, Row]:
    """What is shown of each person: the first rung on which k of those who are left look alike; others are left out."""
    shown: dict[int, Row] = {}
    for rung in rungs:
        left = {number: rung(person) for number, person in enumerate(persons) if number not in shown}
        alike = Counter(left.values())
        shown |= {number: label for number, label in left.items() if alike[label] >= k}
    return shown


def shown_rows(persons: Persons, node: Node, left_out: Collection[Position]) -> dict[Position, Levels]:
    """The levels at which rows are shown, at a node that leaves some rows out."""
    return {
        place: levels
        for place, row in rows_of(persons).items()
        if (levels := node.of(row.table)) is not None and place not in left_out
    }


def records_of(persons: Persons, schema: Schema, shown: Mapping[Position, Levels]) -> dict[int, Row]:
    """What is shown of each person who is not suppressed."""

    def record(position: Position, row: Row) -> Row:
        below = [
            record((*position, number), each) for number, each in enumerate(row.below) if (*position, number) in shown
        ]
        return Row(row.table, schema.cells(row, shown[position]), in_order(below))

    return {number: record((number,), person) for number, person in enumerate(persons) if (number,) in shown}


def shown_parts(persons: Persons, shown: Collection[Position]) -> dict[int, Row]:
    """The values of the rows that are shown of each person."""

    def part(position: Position, row: Row) -> Row:
        below = [
            part((*position, number), each) for number, each in enumerate(row.below) if (*position, number) in shown
        ]
        return Row(row.table, row.values, in_order(below))

    return {number: part((number,), person) for number, person in enumerate(persons) if (number,) in shown}


def is_by_class(persons: Persons, schema: Schema, node: Node, left_out: Collection[Position]) -> bool:
    """Two tables: whether persons of a class show equally many rows of a label, or all that they have."""
    all_of: dict[Any, Counter[int]] = defaultdict(Counter)
    shown: dict[Any, Counter[int]] = defaultdict(Counter)
    for place in rows_of(persons):
        if len(place) > 1 and place[:1] not in left_out:
            path = path_of(persons, place, schema, node)
            all_of[path][place[0]] += 1
            shown[path][place[0]] += place not in left_out
    return all(
        any(
            all(shown[path][person] == min(count, most) for person, count in counts.items())
            for most in range(max(counts.values()) + 1)
        )
        for path, counts in all_of.items()
    )


def is_safe(
    persons: Persons, schema: Schema, node: Node, left_out: Collection[Position], k: int, m: int | None
) -> bool:
    """Two tables: whether what is shown by class, each pattern of up to m facts, is of k persons."""
    records = records_of(persons, schema, shown_rows(persons, node, left_out))
    return is_good(records.values(), k, m) and is_by_class(persons, schema, node, left_out)


# Loss and search


Weights = Mapping[tuple[str, int], int]
"""Those of quasi-identifiers by table and place; others have 1."""


def loss(
    persons: Persons, schema: Schema, shown: Mapping[Position, Levels], weights: Weights | None = None
) -> Fraction:
    """The mean over all quasi-identifiers of the mean over all rows of their table; a row that is not shown loses 1."""
    rows, weights = rows_of(persons), weights or {}
    means = [_column_loss(rows, schema, shown, *column) for column in schema.columns]
    weighed = [weights.get(column, 1) for column in schema.columns]
    return sum(map(mul, means, weighed), Fraction(0)) / sum(weighed)


def _column_loss(
    rows: Mapping[Position, Row], schema: Schema, shown: Mapping[Position, Levels], table: str, place: int
) -> Fraction:
    lost = [
        share_lost(schema.taxonomies[table][place], shown[at][place], row.values[place]) if at in shown else Fraction(1)
        for at, row in rows.items()
        if row.table == table
    ]
    return sum(lost, Fraction(0)) / len(lost) if lost else Fraction(0)


Model = Callable[[Persons, Schema, Node], Collection[Position]]
"""The positions of the rows and persons that a model leaves out at a node."""


def whole_persons(k: int, m: int | None) -> Model:
    """Persons suppressed, with all of their rows: for attackers who know m rows, or whole trees."""

    def left_out(persons: Persons, schema: Schema, node: Node) -> set[Position]:
        gone = suppressed([schema.label(person, node) for person in persons], k, m)
        return {place for place in rows_of(persons) if place[0] in gone}

    return left_out


def rows_by_class(k: int) -> Model:
    """Rows hidden by class, for attackers who know one row."""
    return lambda persons, schema, node: hidden_rows(persons, schema, node, k)


def with_cut_rows(model: Model, kept: Persons) -> Model:
    """A model that sees what is kept of persons; the rows that are cut are left out, too."""

    def left_out(persons: Persons, schema: Schema, node: Node) -> set[Position]:
        return {*model(kept, schema, node)} | (rows_of(persons).keys() - rows_of(kept).keys())

    return left_out


Limits = Mapping[str, float]
"""The share of rows of tables that may be left out."""


def is_within(
    persons: Persons, left_out: Collection[Position], limits: Limits, orphans: Mapping[str, int] | None = None
) -> bool:
    """Whether no more rows of any table are left out than its limit allows, and somebody is released.

    Rows that belong to nobody count among those of their table, and are left out.
    """
    rows, others = rows_of(persons), Counter(orphans or {})
    gone = Counter(rows[place].table for place in left_out) + others
    sizes = Counter(row.table for row in rows.values()) + others
    allowed = {table: int(Decimal(str(limit)) * sizes[table]) for table, limit in limits.items()}
    root = persons[0].table
    return all(gone[table] <= most for table, most in allowed.items()) and gone[root] < len(persons)


def best_nodes(
    persons: Persons,
    schema: Schema,
    model: Model,
    limits: Limits,
    *,
    weights: Weights | None = None,
    orphans: Mapping[str, int] | None = None,
) -> tuple[Fraction, dict[Node, Collection[Position]]] | None:
    """The least loss within the limits, and what the nodes that have it leave out; None without such a node."""
    found: dict[Fraction, dict[Node, Collection[Position]]] = defaultdict(dict)
    for node in schema.nodes():
        left_out = model(persons, schema, node)
        if is_within(persons, left_out, limits, orphans):
            found[loss(persons, schema, shown_rows(persons, node, left_out), weights)][node] = left_out
    return min(found.items(), key=lambda each: each[0]) if found else None


# Attackers


def fits(known: Row, record: Row, schema: Schema, *, whole: bool, once: bool = False) -> bool:
    """Whether a record may be of somebody with these values: by every way to match known rows with shown ones.

    Args:
        known: rows with values.
        record: rows with cells.
        schema: the taxonomies.
        whole: whether all rows are known; if not, the person may have others.
        once: whether a row that is shown may be several.
    """
    if known.table != record.table:
        return False
    shown = enumerate(zip(record.values, known.values, strict=True))
    if not all(schema.covers(cell, known.table, place, value) for place, (cell, value) in shown):
        return False
    number, places = len(known.below), range(len(record.below))
    ways = product(places, repeat=number) if once else permutations(places, number)
    return any(
        (not whole or {*way} == {*places})
        and all(
            fits(each, record.below[at], schema, whole=whole, once=once)
            for each, at in zip(known.below, way, strict=True)
        )
        for way in ways
    )


def candidates(known: Row, records: Iterable[Row], schema: Schema, *, whole: bool = False, once: bool = False) -> int:
    """How many records may be of somebody with these values."""
    return sum(fits(known, record, schema, whole=whole, once=once) for record in records)


def attacks(part: Row, m: int | None) -> Collection[Row]:
    """What attackers know of a person: up to m of the rows that are shown with those above them, or with None all."""
    return [part] if m is None else subtrees(part, m)


def fewest_candidates(persons: Persons, schema: Schema, shown: Mapping[Position, Levels], m: int | None) -> int | None:
    """The fewest records that any attacker is left with who knows somebody who is released; None if nobody is."""
    records = [*records_of(persons, schema, shown).values()]
    return min(
        (
            candidates(known, records, schema, whole=m is None)
            for part in {*shown_parts(persons, shown).values()}
            for known in attacks(part, m)
        ),
        default=None,
    )
