"""Two known rows, against attackers and covers by brute force; persons have rows in one or two tables."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlglot import exp

import sqlanon as sa
from sqlanon.binding.linked import bound_linked
from sqlanon.methods.linked.encoded import EncodedLinked, encode_linked
from sqlanon.methods.linked.known_pairs import KnownPairsCounter
from sqlanon.methods.linked.node_counts import NodeCounts, is_within_limits, loss_of
from sqlanon.model.known_rows import KnownRows
from sqlanon.model.lattice import Levels
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.queries.kit.nodes import Relation, Step, select
from tests.engines import engine_of
from tests.linked_oracle import Row, is_good
from tests.sql.test_oracle import EXAMPLES, ask, connection, table_call

LETTERS = {"a": "a", "b": "b", "b'": "b", "c": "c"}
LEVELS = {
    "persons": {"f": ["f", "*"], "m": ["m", "*"]},
    "stays": {value: [value, label, "*"] for value, label in LETTERS.items()},
    "tests": {"x": ["x", "*"], "y": ["y", "*"]},
}
ORDER = ["a", "c", "b", "b'", "x", "y", "*"]  # of labels in a table, by the number of their leaves, from the top down
NODES = [*product((0, 1), (0, 1), (0, 1)), (0, 2, 0)]

Person = tuple[str, Sequence[tuple[str, str]]]
"""The own value, and the tables and values of the rows."""
Label = tuple[str, str]
"""The table and the label of a row."""

ROWS = st.sampled_from([*(("stays", value) for value in LETTERS), ("tests", "x"), ("tests", "y")])
SOMEBODY: Person = ("m", [("stays", "c"), ("tests", "y")])
PERSONS = st.lists(st.tuples(st.sampled_from("ffm"), st.lists(ROWS, max_size=4)), max_size=6).map(
    lambda persons: [*persons, SOMEBODY]
)


def policy(k: int) -> LinkedPolicy:
    tables: dict[str, Any] = {
        name: {
            "quasi_identifiers": ["label"],
            "taxonomies": {"label": {"kind": "rows", "rows": [*found.values()]}},
            **({"row_key": "id"} if name == "persons" else {"parent": "persons", "key": "id", "sensitive": ["note"]}),
            "suppression_limit": 1.0,
        }
        for name, found in LEVELS.items()
    }
    tables["persons"].pop("suppression_limit")
    return LinkedPolicy(tables=tables, privacy=(KnownRows(k, m=2),), suppression_limit=1.0)


def load(session: sa.Session, persons: Sequence[Person]) -> None:
    connection = engine_of(session).connection
    connection.execute("CREATE OR REPLACE TABLE persons (id INTEGER, label VARCHAR)")
    for name in ("stays", "tests"):
        connection.execute(f"CREATE OR REPLACE TABLE {name} (id INTEGER, label VARCHAR, note INTEGER)")
    for number, (own, rows) in enumerate(persons):
        connection.execute("INSERT INTO persons VALUES (?, ?)", [number, own])
        for note, (table, value) in enumerate(rows):
            connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", [number, value, note])


@contextmanager
def counted(persons: Sequence[Person], k: int) -> Iterator[tuple[sa.Session, EncodedLinked, KnownPairsCounter]]:
    with sa.connect() as session:
        load(session, persons)
        engine, linked = engine_of(session), policy(k)
        sources = {name: engine.resolve(name) for name in linked.tables}
        with bound_linked(engine, sources, linked) as bound, engine.scratch():
            encoded = encode_linked(engine, bound)
            yield session, encoded, KnownPairsCounter(engine, encoded)


def shown(session: sa.Session, counter: KnownPairsCounter, levels: Levels) -> list[tuple[str, Counter[Label]]]:
    """What is shown of each person: the label, and the tables and labels of rows."""
    for place, found in enumerate(counter.show(levels).values()):
        engine_of(session).run(
            Step(Relation(f"anon_shown_{place}", "row"), select([exp.Star()], found.labelled()), "rows")
        )
    rows = (
        engine_of(session)
        .connection.execute(
            """
        SELECT shown_persons.anon_row, any_value(shown_persons."persons.label"),
            list((below.name, below.label)) FILTER (below.label IS NOT NULL)
        FROM temp.anon_shown_0 AS shown_persons
        LEFT JOIN (
            SELECT 'stays' AS name, anon_person, "stays.label" AS label FROM temp.anon_shown_1
            UNION ALL
            SELECT 'tests' AS name, anon_person, "tests.label" AS label FROM temp.anon_shown_2
        ) AS below ON below.anon_person = shown_persons.anon_row
        GROUP BY ALL
        """
        )
        .fetchall()
    )
    return [(own, Counter(below or [])) for _, own, below in rows]


def labels_at(persons: Sequence[Person], levels: Sequence[int]) -> list[tuple[str, Counter[Label]]]:
    at = dict(zip(LEVELS, levels, strict=True))
    name_of = {table: {value: up[at[table]] for value, up in found.items()} for table, found in LEVELS.items()}
    return [
        (name_of["persons"][own], Counter((table, name_of[table][value]) for table, value in rows))
        for own, rows in persons
    ]


def as_record(person: tuple[str, Counter[Label]]) -> Row:
    own, rows = person
    return Row("persons", (own,), tuple(sorted(Row(table, (label,)) for table, label in rows.elements())))


def greedy(labels: Sequence[tuple[str, Counter[Label]]], k: int) -> dict[str, Counter[Label]]:
    """What a class may show of each item, as the definition says it, edge by edge."""
    found: dict[str, Counter[Label]] = {}
    for own in {own for own, _ in labels}:
        of_class = [rows for each, rows in labels if each == own]
        most: Counter[Label] = Counter()
        for item in {item for rows in of_class for item in rows}:
            if sum(item in rows for rows in of_class) >= k and len(of_class) >= k:
                twice = sum(rows[item] > 1 for rows in of_class)
                most[item] = 1 if 1 <= twice < k else 99
        order = {
            (table, label): (
                sum(min(rows[table, label], most[table, label]) for rows in of_class),
                table,
                ORDER.index(label),
            )
            for table, label in most
        }
        edges = [
            sorted(pair, key=order.__getitem__)
            for pair in combinations(most, 2)
            if 1 <= sum(set(pair) <= rows.keys() for rows in of_class) < k
        ]
        cover: set[Label] = set()
        for light, heavy in sorted(edges, key=lambda edge: (order[edge[0]], order[edge[1]])):
            if not cover & {light, heavy}:
                cover.add(light)
        for item in sorted(cover, key=order.__getitem__, reverse=True):
            if all(cover & {*edge} - {item} for edge in edges if item in edge):
                cover.remove(item)
        found[own] = Counter({item: count for item, count in most.items() if item not in cover})
    return found


def fewest(labels: Sequence[tuple[str, Counter[Label]]], k: int) -> dict[str, int]:
    """By table, the fewest rows that can be hidden by class, whatever is hidden of the other."""
    least: Counter[str] = Counter()
    for own in {own for own, _ in labels}:
        of_class = [rows for each, rows in labels if each == own]
        items = sorted({item for rows in of_class for item in rows})
        tried = []
        for most in product(*([range(max(rows[item] for rows in of_class) + 1) for item in items])):
            records = [Counter({i: min(rows[i], n) for i, n in zip(items, most, strict=True)}) for rows in of_class]
            if is_good(map(as_record, [(own, rows) for rows in records]), k, 2):
                gone = [rows - record for rows, record in zip(of_class, records, strict=True)]
                tried.append({t: sum(n for g in gone for (name, _), n in g.items() if name == t) for t in LEVELS})
        if len(of_class) < k:
            tried = [{t: sum(n for g in of_class for (name, _), n in g.items() if name == t) for t in LEVELS}]
        least += Counter({table: min(each[table] for each in tried) for table in LEVELS})
    return {**dict.fromkeys(LEVELS, 0), **least}


def left_out(counts: NodeCounts) -> dict[str, int]:
    return {name: each.left_out for name, each in counts.tables.items()}


@EXAMPLES
@given(PERSONS, st.integers(2, 3), st.sampled_from(NODES))
def test_what_is_shown_protects_from_two_known_rows(persons: list[Person], k: int, levels: Levels) -> None:
    labels = labels_at(persons, levels)
    with counted(persons, k) as (session, _, counter):
        [counts] = counter.counts([levels], with_losses=False)
        records = shown(session, counter, levels)
    assert is_good(map(as_record, records), k, 2)
    most, sizes = greedy(labels, k), Counter(own for own, _ in labels)
    expected = [(own, rows & most[own]) for own, rows in labels if sizes[own] >= k]
    assert sorted(map(as_record, records)) == sorted(map(as_record, expected))
    gone = Counter(table for _, rows in persons for table, _ in rows)
    gone -= Counter(table for _, rows in records for table, _ in rows.elements())
    assert left_out(counts) == {"stays": 0, "tests": 0, **gone, "persons": len(persons) - len(records)}


@EXAMPLES
@given(PERSONS, st.integers(2, 3))
@example([("f", [("stays", "a"), ("stays", "a")]), SOMEBODY], 2)  # at level 0 nobody is shown
def test_what_is_certain_is_hidden_at_every_finer_node(persons: list[Person], k: int) -> None:
    with counted(persons, k) as (_, encoded, counter):
        certain = dict(zip(NODES, counter.bounds(NODES), strict=True))
        for low in NODES:
            least = fewest(labels_at(persons, low), k)
            for high in NODES:
                if all(a <= b for a, b in zip(low, high, strict=True)):
                    for name in ("stays", "tests"):
                        assert certain[high].tables[name].certain <= least[name]
            # Beyond the limits, as where nobody is shown, one known row bounds what is left out.
            for name in ("stays", "tests") if is_within_limits(encoded, certain[low]) else ():
                assert least[name] <= certain[low].tables[name].left_out


def persons_below(records: Sequence[tuple[str, Counter[Label]]], k: int) -> list[int]:
    """By number of known stays, the persons who have too few like them, as the macro measures what is shown."""
    connection().execute("CREATE OR REPLACE TABLE shown_persons (id INTEGER, label VARCHAR)")
    connection().execute("CREATE OR REPLACE TABLE shown_stays (id INTEGER, label VARCHAR)")
    for number, (own, rows) in enumerate(records):
        connection().execute("INSERT INTO shown_persons VALUES (?, ?)", [number, own])
        for _, label in rows.elements():
            connection().execute("INSERT INTO shown_stays VALUES (?, ?)", [number, label])
    tables = ("shown_persons", "id", ["label"], "shown_stays", "id", ["label"])
    return [row["persons_below"] for row in ask(table_call("known_rows", *tables, 2, k))]


def test_the_second_heart_and_the_knee_of_seven_persons_go() -> None:
    """Fact L1 of spec/linked.md."""
    wards = {"heart": "a", "lung": "b", "knee": "c"}
    stays = [["heart", "lung"], ["heart", "lung"], ["heart"], ["heart", "heart"], ["lung"], ["lung", "knee"], []]
    persons = [("f" if n < 4 else "m", [("stays", wards[each]) for each in own]) for n, own in enumerate(stays)]
    with counted([*persons, ("m", [("tests", "x")])], 2) as (session, _, counter):
        [counts] = counter.counts([(0, 0, 1)], with_losses=True)
        assert counts.tables["stays"].left_out == 2
        records = shown(session, counter, (0, 0, 1))
        assert persons_below(records, 2) == [0, 0, 0]
    expected = ["a b", "a b", "a", "a", "b", "b", "", ""]
    assert sorted(sorted(label for _, label in rows) for _, rows in records) == sorted(
        each.split() for each in expected
    )


def test_what_a_cover_leaves_out_is_not_certain() -> None:
    """The counterexample of spec/linked.md, section 3.4: a more general node hides more rows."""
    persons = [("f", [("stays", value) for value in own.split()]) for own in ["b", "b", "c", "b' c"]]
    with counted([*persons, ("f", [("tests", "x")])], 2) as (_, _, counter):
        finer, coarser = counter.counts([(0, 0, 1), (0, 1, 1)], with_losses=False)
    assert [finer.tables["stays"].left_out, coarser.tables["stays"].left_out] == [1, 2]
    assert coarser.tables["stays"].certain == 1


def test_the_order_of_rows_changes_nothing() -> None:
    persons = [("f", [("stays", value) for value in own.split()]) for own in ["a b", "b c", "c a", "a b b", "c c", "c"]]
    found = []
    for rows in (persons, persons[::-1]):
        with counted([*rows, ("f", [("tests", "x")])], 2) as (session, encoded, counter):
            [counts] = counter.counts([(0, 0, 0)], with_losses=True)
            records = shown(session, counter, (0, 0, 0))
            found.append((counts, loss_of(encoded, counts), sorted(map(as_record, records))))
    assert found[0] == found[1]


def test_rows_that_are_left_out_lose_1() -> None:
    persons = [("f", [("stays", value) for value in own.split()]) for own in ["a b", "b'", "b", "c b", "c", "c"]]
    with counted([*persons, ("f", [("tests", "x")])], 2) as (_, _, counter):
        [counts] = counter.counts([(0, 1, 1)], with_losses=True)
    # The pair of b and c goes with c, the less frequent one; a is of one person. Four rows of b lose 1 / 3.
    assert counts.tables["stays"].left_out == 4
    assert counts.tables["stays"].loss == pytest.approx((4 + 4 / 3) / 8)


def test_a_release_meets_what_it_promises(tmp_path: Path) -> None:
    """The run measures what it wrote by the macros of joins, which know nothing of items."""
    persons = [("f" if n % 3 else "m", [("stays", "ab"[(n + i) % 2]) for i in range(n % 4)]) for n in range(20)]
    with sa.connect() as session:
        load(session, [*persons, SOMEBODY])
        into = f"{tmp_path}/released/"
        release = session.anonymize({name: name for name in LEVELS}, policy(3), into=into)
    measured = release.report.measured.known
    assert all(measured[known].k >= 3 for known in (0, 1, 2))
    assert release.report.tables["stays"].hidden
