"""All small linked databases, and attackers who try them: spec/linked.md, section 3.5. No code is the package's.

Columns are binary or have three values; their taxonomies have two levels. A database is a multiset of persons.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import ceil

from tests.linked_oracle import (
    Cell,
    Levels,
    Node,
    Persons,
    Position,
    Row,
    Schema,
    Taxonomy,
    fits,
    hidden_rows,
    in_order,
    is_good,
    ladder,
    mixed_rows,
    path_of,
    records_of,
    rows_of,
    shown_parts,
    shown_rows,
    subtrees,
    suppressed,
)

MODELS = (None, 1, 2)
"""Whole trees, and known rows by their number."""

NAMES = {None: "A", 1: "B(1)", 2: "B(2)"}


@dataclass(frozen=True)
class Setting:
    """Persons with rows of one table, or of two; the table below the rows has rows of its own.

    Attributes:
        persons: how many there are.
        most_rows: how many rows a person has at most.
        values: how many values a row has.
        k: how many persons must look alike.
        most_below: how many rows a row has at most.
        has_values: whether persons have a column of their own.
    """

    persons: int
    most_rows: int
    values: int
    k: int
    most_below: int = 0
    has_values: bool = True


TWO_TABLES = (
    Setting(3, 2, 2, 2),
    Setting(3, 2, 2, 3),
    Setting(4, 2, 2, 2),
    Setting(4, 2, 2, 3),
    Setting(3, 3, 2, 2),
    Setting(3, 2, 3, 2),
)
THREE_TABLES = (
    Setting(3, 2, 2, 2, most_below=1, has_values=False),
    Setting(3, 2, 2, 3, most_below=1, has_values=False),
    Setting(3, 1, 2, 2, most_below=2, has_values=False),
)


def binary(values: int = 2) -> Taxonomy:
    """Values that have one label at the top."""
    names = [str(value) for value in range(values)]
    return [dict(zip(names, names, strict=True)), dict.fromkeys(names, "*")]


def paired(values: int) -> Taxonomy:
    """Pairs of values that share a label at the top."""
    names = [str(value) for value in range(values)]
    return [dict(zip(names, names, strict=True)), {name: str(int(name) // 2) for name in names}]


def schema_of(setting: Setting, taxonomy: Taxonomy | None = None) -> Schema:
    found = {"persons": [binary()] if setting.has_values else [], "visits": [taxonomy or binary(setting.values)]}
    return Schema(found | ({"diagnoses": [binary(setting.values)]} if setting.most_below else {}))


def some_of(rows: Sequence[Row], most: int) -> Iterator[tuple[Row, ...]]:
    return (chosen for count in range(most + 1) for chosen in combinations_with_replacement(rows, count))


def trees_of(setting: Setting) -> list[Row]:
    """All persons with all rows that they can have."""
    values = [str(value) for value in range(setting.values)]
    below = [*some_of([Row("diagnoses", (value,)) for value in values], setting.most_below)]
    visits = [Row("visits", (value,), found) for value in values for found in below]
    own: list[tuple[str, ...]] = [("0",), ("1",)] if setting.has_values else [()]
    return [Row("persons", each, rows) for each in own for rows in some_of(visits, setting.most_rows)]


def databases_of(setting: Setting) -> Iterator[Persons]:
    return combinations_with_replacement(trees_of(setting), setting.persons)


def nodes_of(schema: Schema) -> list[Node]:
    """All levels; of two tables also with rows that look alike shown once, and without rows."""
    whole = [*schema.nodes()]
    if len(schema.taxonomies) > 2:
        return whole
    without = {Node(tuple(each for each in node.levels if each[0] == "persons")) for node in whole}
    once = [Node(node.levels, frozenset(["visits"])) for node in whole]
    return [*whole, *once, *sorted(without, key=repr)]


@dataclass
class Found:
    """What attackers and comparisons of nodes found.

    Attributes:
        databases: how many were tried.
        attacks: those tried, by what attackers know.
        pairs: nodes compared, once for each model.
        below: attacks that leave fewer than k persons.
        not_monotone: pairs where more is left out at the higher node.
        not_largest: databases and nodes with a good set that has somebody who was suppressed.
        not_in_chain: where a weaker attacker had more persons suppressed.
    """

    databases: int = 0
    attacks: Counter[str] = field(default_factory=Counter)
    pairs: int = 0
    below: Counter[str] = field(default_factory=Counter)
    not_monotone: Counter[str] = field(default_factory=Counter)
    not_largest: int = 0
    not_in_chain: int = 0

    def add(self, other: "Found") -> None:
        self.databases += other.databases
        self.attacks += other.attacks
        self.pairs += other.pairs
        self.below += other.below
        self.not_monotone += other.not_monotone
        self.not_largest += other.not_largest
        self.not_in_chain += other.not_in_chain

    @property
    def faults(self) -> int:
        return self.below.total() + self.not_monotone.total() + self.not_largest + self.not_in_chain


class Attackers:
    """Who tries what is known of a person on each record of a release; the answer of a record is kept."""

    def __init__(self, schema: Schema, found: Found, k: int) -> None:
        self.found = found
        self.k = k
        self.fits = cache(lambda known, record, whole, once: fits(known, record, schema, whole=whole, once=once))

    def try_all(self, name: str, parts: Iterable[Row], records: Sequence[Row], m: int | None, *, once: bool) -> None:
        for part in parts:
            for known in [part] if m is None else subtrees(part, m):
                persons = sum(self.fits(known, record, m is None, once) for record in records)
                self.found.attacks[name] += 1
                self.found.below[name] += persons < self.k


def examine(setting: Setting) -> Found:
    """Suppress persons at all nodes of all databases, for each model, and try all attackers."""
    schema, found = schema_of(setting), Found()
    nodes = nodes_of(schema)
    pairs = [(low, high) for low in nodes for high in nodes if low.is_below(high)]
    attackers = Attackers(schema, found, setting.k)
    for persons in databases_of(setting):
        found.databases += 1
        labels = {node: [schema.label(person, node) for person in persons] for node in nodes}
        gone = {(node, m): suppressed(labels[node], setting.k, m) for node in nodes for m in MODELS}
        for node in nodes:
            known = [_without(person, node) for person in persons]
            found.not_in_chain += not gone[node, 1] <= gone[node, 2] <= gone[node, None]
            for m in MODELS:
                left = [number for number in range(len(persons)) if number not in gone[node, m]]
                found.not_largest += not _is_largest(labels[node], gone[node, m], setting.k, m)
                records, parts = [labels[node][each] for each in left], [known[each] for each in left]
                attackers.try_all(NAMES[m], parts, records, m, once=bool(node.once))
        for m in MODELS:
            found.pairs += len(pairs)
            found.not_monotone[NAMES[m]] += sum(not gone[high, m] <= gone[low, m] for low, high in pairs)
    return found


def _without(row: Row, node: Node) -> Row:
    """A row without the tables that a node leaves out."""
    return Row(row.table, row.values, tuple(_without(each, node) for each in row.below if node.of(each.table)))


def _is_largest(labels: Sequence[Row], gone: frozenset[int], k: int, m: int | None) -> bool:
    """Whether the set without those who are gone is good, and no good set has any of them."""
    everybody = range(len(labels))
    sets = (chosen for count in everybody for chosen in combinations(everybody, count + 1)) if gone else ()
    left = [label for number, label in enumerate(labels) if number not in gone]
    return is_good(left, k, m) and not any(
        gone.intersection(chosen) and is_good([labels[number] for number in chosen], k, m) for chosen in sets
    )


def examine_hidden_rows(setting: Setting) -> Found:
    """Hide rows by class at all nodes of all databases, for attackers who know one row."""
    schema, found = schema_of(setting), Found()
    nodes = [*schema.nodes()]
    pairs = [(low, high) for low in nodes for high in nodes if low.is_below(high)]
    attackers = Attackers(schema, found, setting.k)
    for persons in databases_of(setting):
        found.databases += 1
        hidden = {node: hidden_rows(persons, schema, node, setting.k) for node in nodes}
        for node in nodes:
            shown = shown_rows(persons, node, hidden[node])
            records = [*records_of(persons, schema, shown).values()]
            attackers.try_all("B(1)", shown_parts(persons, shown).values(), records, 1, once=False)
        found.pairs += len(pairs)
        found.not_monotone["B(1)"] += sum(not hidden[high] <= hidden[low] for low, high in pairs)
    return found


def examine_mixed_levels(setting: Setting) -> Found:
    """Show each row at the first rung with k persons, in all databases, to attackers who know one row."""
    schema, found = schema_of(setting, paired(setting.values)), Found()
    attackers = Attackers(schema, found, setting.k)
    chains = {"visits": [(0,), (1,)]}
    for persons in databases_of(setting):
        found.databases += 1
        for level in (0, 1):
            shown = mixed_rows(persons, schema, (level,), chains, setting.k)
            records = [*records_of(persons, schema, shown).values()]
            attackers.try_all("B(1)", shown_parts(persons, shown).values(), records, 1, once=False)
    return found


# Rows hidden for attackers who know two of them


def vocabularies(persons: Persons, schema: Schema, node: Node) -> Iterator[frozenset[Position]]:
    """Two tables, persons of one class: what can be hidden by class: of each label the rows from some number on."""
    items: dict[object, dict[int, list[Position]]] = {}
    for place in rows_of(persons):
        if len(place) > 1:
            items.setdefault(path_of(persons, place, schema, node), {}).setdefault(place[0], []).append(place)

    def choices(left: Sequence[dict[int, list[Position]]]) -> Iterator[frozenset[Position]]:
        if not left:
            yield frozenset()
            return
        for most in range(max(map(len, left[0].values())) + 1):
            hidden = [place for places in left[0].values() for place in places[most:]]
            yield from (rest.union(hidden) for rest in choices(left[1:]))

    return choices([*items.values()])


def fewest_hidden(persons: Persons, schema: Schema, node: Node, k: int) -> int:
    """The fewest rows that can be hidden by class from attackers who know two rows: the weighted cover."""
    return min(
        len(hidden)
        for hidden in vocabularies(persons, schema, node)
        if is_good(records_of(persons, schema, shown_rows(persons, node, hidden)).values(), k, 2)
    )


def certainly_hidden(labels: Sequence[Row], k: int) -> int:
    """The bound of spec/linked.md, section 3.4: of rows that are hidden at any finer node, however they are chosen.

    A person whose v pairs on t items are of fewer than k persons loses v / (t - 1) rows at least.
    """
    pairs = Counter(pair for label in labels for pair in {*combinations(label.below, 2)})
    rows = Counter(row for label in labels for row in {*label.below})
    rare = sum(rows[row] < k for label in labels for row in label.below)
    lost = 0
    for label in labels:
        broken = [pair for pair in {*combinations(label.below, 2)} if pairs[pair] < k]
        items = len(label.below)
        lost += ceil(len(broken) / (items - 1)) if broken else 0
    return max(rare, lost)


# Worlds: whoever knows how a release is made thinks through what may have been


def examine_what_is_possible(setting: Setting, more_rows: int, *, mixed: bool = False) -> Found:
    """Try attackers who know one row, hidden or not, and which labels are shown of each class.

    Args:
        setting: the universe.
        more_rows: how many more rows than in the universe a person may have, for all that is known.
        mixed: whether rows are shown at the first of all levels with k persons, else at each node.
    """
    schema, found = schema_of(setting, paired(setting.values)), Found()
    trees = trees_of(replace(setting, most_rows=setting.most_rows + more_rows))

    @cache
    def could_be(known: Row, record: Row, of_person: tuple[int, ...], labels: frozenset[tuple[Levels, Row]]) -> bool:
        """Whether somebody with this row, and others or none, is shown as this record."""
        return any(
            known in subtrees(tree, 1) and _shown_by(schema, tree, of_person, labels) == record for tree in trees
        )

    for persons in databases_of(setting):
        found.databases += 1
        for node in schema.nodes():
            of_person, of_rows = node.of("persons"), node.of("visits")
            assert of_person is not None
            assert of_rows is not None
            if mixed and of_rows != (0,):
                continue
            chain = [(0,), (1,)] if mixed else [of_rows]
            shown = mixed_rows(persons, schema, of_person, {"visits": chain}, setting.k)
            records = records_of(persons, schema, shown)
            for number, record in records.items():
                alike = [other for other in records.values() if other.values == record.values]
                labels = frozenset(_labels_of(persons, schema, shown, record.values))
                for known in subtrees(persons[number], 1):
                    left = sum(could_be(known, other, of_person, labels) for other in alike)
                    found.attacks["B(1)"] += 1
                    found.below["B(1)"] += left < setting.k
    return found


def _labels_of(
    persons: Persons, schema: Schema, shown: Mapping[Position, Levels], of_class: tuple[Cell, ...]
) -> Iterator[tuple[Levels, Row]]:
    """The labels that are shown of rows of a class, with their levels."""
    for (number, *below), levels in shown.items():
        if below and schema.cells(persons[number], shown[number,]) == of_class:
            row = persons[number].below[below[0]]
            yield levels, Row(row.table, schema.cells(row, levels))


def _shown_by(schema: Schema, tree: Row, of_person: Levels, labels: Iterable[tuple[Levels, Row]]) -> Row:
    """What is shown of a person if these are the labels that are shown: of each row the lowest."""
    below = []
    for row in tree.below:
        at = [(levels, label) for levels, label in labels if label.values == schema.cells(row, levels)]
        below += [min(at)[1]] if at else []
    return Row(tree.table, schema.cells(tree, of_person), in_order(below))


def examine_worlds(setting: Setting, release: Callable[[Persons], Mapping[int, Row]], m: int | None) -> Found:
    """Try attackers who think through all databases with the same release, and so whom a record may be of."""
    found, databases = Found(), [*databases_of(setting)]
    owners: dict[tuple[Row, ...], dict[Row, set[Row]]] = {}
    releases = [release(persons) for persons in databases]
    for persons, shown in zip(databases, releases, strict=True):
        of_release = owners.setdefault(in_order(shown.values()), {})
        for number, record in shown.items():
            for known in [persons[number]] if m is None else subtrees(persons[number], m):
                of_release.setdefault(known, set()).add(record)
    for persons, shown in zip(databases, releases, strict=True):
        found.databases += 1
        records = in_order(shown.values())
        for number in shown:
            for known in [persons[number]] if m is None else subtrees(persons[number], m):
                left = sum(record in owners[records][known] for record in records)
                found.attacks[NAMES[m]] += 1
                found.below[NAMES[m]] += left < setting.k
    return found


def persons_left(schema: Schema, node: Node, k: int, m: int | None) -> Callable[[Persons], Mapping[int, Row]]:
    """A release at a node with persons suppressed."""

    def release(persons: Persons) -> Mapping[int, Row]:
        labels = [schema.label(person, node) for person in persons]
        gone = suppressed(labels, k, m)
        return {number: label for number, label in enumerate(labels) if number not in gone}

    return release


def on_a_ladder(schema: Schema, of_person: Levels, k: int) -> Callable[[Persons], Mapping[int, Row]]:
    """A release of whole trees on the rungs: both levels of all rows, the first row, none."""

    def at(level: int, most: int) -> Callable[[Row], Row]:
        node = Node.at({"persons": of_person, "visits": (level,)})
        return lambda person: schema.label(Row(person.table, person.values, person.below[:most]), node)

    rungs = [at(0, 9), at(1, 9), at(1, 1), at(1, 0)]
    return lambda persons: ladder(persons, rungs, k)
