"""Facts and counterexamples of spec/linked.md: where a naive variant fails, and the rule does not."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement
from typing import Any

from tests.linked_oracle import (
    Node,
    Persons,
    Position,
    Row,
    Schema,
    Taxonomy,
    candidates,
    classes,
    hidden_rows,
    is_good,
    is_safe,
    known_rows,
    records_of,
    rounds,
    rows_of,
    shown_rows,
    subtrees,
    supports,
    suppressed,
)
from tests.linked_universes import (
    Setting,
    binary,
    certainly_hidden,
    databases_of,
    examine_what_is_possible,
    fewest_hidden,
    schema_of,
)


def leveled(labels: Mapping[Any, str]) -> Taxonomy:
    """Values, and their labels above."""
    return [{value: value for value in labels}, {**labels}]


EVERYBODY: Taxonomy = [{"-": "-"}]
WARDS = leveled(dict.fromkeys(["heart", "lung", "knee"], "*"))
HOSPITAL = Schema({"persons": [leveled({"f": "*", "m": "*"})], "stays": [WARDS]})
LETTERS = {"a": "a", "b": "b", "b'": "b", "c": "c"}
LETTERED = Schema({"persons": [EVERYBODY], "stays": [leveled(LETTERS)]})
FINEST = Node.at({"persons": (0,), "stays": (0,)})
NO_WARDS = Node.at({"persons": (0,), "stays": (1,)})


def person(own: str, *rows: str) -> Row:
    return Row("persons", (own,), tuple(Row("stays", (row,)) for row in rows))


SEVEN = [
    person("f", "heart", "lung"),
    person("f", "lung", "heart"),
    person("f", "heart"),
    person("f", "heart", "heart"),
    person("m", "lung"),
    person("m", "lung", "knee"),
    person("m"),
]


def lettered(*persons: str) -> list[Row]:
    return [person("-", *rows.split()) for rows in persons]


def labels(persons: Persons, node: Node, schema: Schema = HOSPITAL) -> list[Row]:
    return [schema.label(each, node) for each in persons]


# L1


def test_the_trees_of_the_seven_persons() -> None:
    sizes = {node: [len(found) for found in classes(labels(SEVEN, node)).values()] for node in (FINEST, NO_WARDS)}
    assert [(min(found), len(found), found.count(1)) for found in sizes.values()] == [(1, 6, 5), (1, 5, 4)]
    assert suppressed(labels(SEVEN, FINEST), 2, None) == {2, 3, 4, 5, 6}


def test_the_known_rows_of_the_seven_persons() -> None:
    assert known_rows(labels(SEVEN, FINEST), 2) == {0: (3, 2, 0), 1: (1, 4, 1), 2: (1, 3, 2)}
    assert {known: k for known, (k, _, _) in known_rows(labels(SEVEN, NO_WARDS), 2).items()} == {0: 3, 1: 2, 2: 1}


def test_who_goes_of_the_seven_persons() -> None:
    assert rounds(labels(SEVEN, FINEST), 2, 1) == [{5}, {4}, {6}]
    assert suppressed(labels(SEVEN, FINEST), 2, 1) == {4, 5, 6}


def test_the_rows_that_go_of_the_seven_persons() -> None:
    knee, second_heart = (5, 1), (3, 1)
    assert hidden_rows(SEVEN, HOSPITAL, FINEST, 2) == {knee}
    assert not is_safe(SEVEN, HOSPITAL, FINEST, {knee}, 2, 2)
    assert is_safe(SEVEN, HOSPITAL, FINEST, {knee, second_heart}, 2, 2)
    alone = [hidden for hidden in combinations(rows_of(SEVEN), 1) if is_safe(SEVEN, HOSPITAL, FINEST, hidden, 2, 2)]
    assert alone == []


# L8


def test_rows_of_one_value_are_counted() -> None:
    schema = Schema({"persons": [EVERYBODY], "stays": [[{"0": "0"}]]})
    persons = [person("-", *["0"] * count) for count in (1, 2, 3)]
    assert len(classes(labels(persons, FINEST, schema))) == 3


# Section 3.3: blanks, and rows hidden one by one


def test_records_that_fit_if_rows_may_be_hidden_are_not_candidates() -> None:
    persons = lettered("a", "a b")
    records = labels(persons, FINEST, LETTERED)
    whole = persons[1]
    fits_with_blanks = sum({*record.below} <= {*records[1].below} for record in records)
    assert fits_with_blanks == 2
    assert candidates(whole, records, LETTERED, whole=True) == 1
    assert suppressed(records, 2, None) == {0, 1}


def test_no_set_of_single_rows_is_the_least_to_hide() -> None:
    persons = lettered("a b", "a", "b")
    least = [*_least_hidden(persons, FINEST, 2)]
    assert len(least) > 1
    common = frozenset.intersection(*least)
    shown = records_of(persons, LETTERED, shown_rows(persons, FINEST, common))
    assert not is_good(shown.values(), 2, None)


def test_rows_hidden_one_by_one_are_not_monotone() -> None:
    """The third person is alone, and the rarer of two labels goes: at one node b, at the other c."""
    persons = lettered("c", "c", "b c", "b'", "b'", "b'")
    assert _one_by_one(persons, FINEST) == {(2, 0)}
    assert _one_by_one(persons, NO_WARDS) == {(2, 1)}
    rows = [*chain.from_iterable(combinations_with_replacement(LETTERS, count) for count in range(3))]
    for chosen in combinations_with_replacement(rows, 3):
        some = lettered(*map(" ".join, chosen))
        assert hidden_rows(some, LETTERED, NO_WARDS, 2) <= hidden_rows(some, LETTERED, FINEST, 2)


def _one_by_one(persons: Persons, node: Node) -> frozenset[Position]:
    """What goes if the first person with a tree of one person alone loses the rarest row, until nobody is alone."""
    rows = {place: LETTERED.label(row, node) for place, row in rows_of(persons).items() if len(place) > 1}
    rarity = Counter(rows.values())
    gone: set[Position] = set()
    while True:
        records = records_of(persons, LETTERED, shown_rows(persons, node, gone))
        sizes = Counter(records.values())
        alone = next((number for number, record in records.items() if sizes[record] < 2), None)
        if alone is None:
            return frozenset(gone)
        left = [place for place in rows if place[0] == alone and place not in gone]
        gone.add(min(left, key=lambda place: rarity[rows[place]]) if left else (alone,))


def _least_hidden(persons: Persons, node: Node, k: int) -> Iterator[frozenset[Position]]:
    """The sets of rows and persons that leave trees of k persons if they are hidden, without those that have more."""
    places = [*rows_of(persons)]
    found: list[frozenset[Position]] = []
    for count in range(len(places) + 1):
        for hidden in map(frozenset, combinations(places, count)):
            records = records_of(persons, LETTERED, shown_rows(persons, node, hidden))
            if not any(other <= hidden for other in found) and is_good(records.values(), k, None):
                found.append(hidden)
                yield hidden


# Section 3.4: two known rows, and the cap


def test_the_cover_for_two_known_rows_is_not_monotone_but_its_bound_is() -> None:
    persons = lettered("b", "b", "c", "b' c")
    fewest = [fewest_hidden(persons, LETTERED, node, 2) for node in (FINEST, NO_WARDS)]
    certain = [certainly_hidden(labels(persons, node, LETTERED), 2) for node in (FINEST, NO_WARDS)]
    assert fewest == [1, 2]
    assert certain == [1, 1]
    assert is_safe(persons, LETTERED, FINEST, {(3, 0)}, 2, 2)
    assert not is_safe(persons, LETTERED, NO_WARDS, {(3, 0)}, 2, 2)


def test_the_cap_speaks_if_it_is_known() -> None:
    persons = lettered("a", "b b", "b b")
    hidden = hidden_rows(persons, LETTERED, FINEST, 2)
    assert hidden == {(0, 0)}
    records = [*records_of(persons, LETTERED, shown_rows(persons, FINEST, hidden)).values()]
    possible = {most: sum(_has_room(record, "a", most) for record in records) for most in (2, 3)}
    assert possible == {2: 1, 3: 3}
    universe = Setting(3, 2, 3, 2, has_values=False)
    assert examine_what_is_possible(universe, 0).faults > 0
    assert examine_what_is_possible(universe, 1).faults == 0


def _has_room(record: Row, hidden: str, most: int) -> bool:
    """Whether somebody with a hidden row and at most as many rows may have a record that does not show it."""
    return len(record.below) + 1 <= most and all(label != hidden for row in record.below for _, label in row.values)


# Section 4: diversity of the values of rows


def ill(*rows: str) -> frozenset[tuple[str, str]]:
    """Rows of a ward and a disease."""
    return frozenset((row[0], row[1:]) for row in rows)


def test_two_distinct_values_do_not_keep_everybody_from_having_one() -> None:
    persons = [ill("as"), ill("as", "an")]
    values = [{disease for _, disease in rows} for rows in persons]
    assert len(set.union(*values)) == 2
    assert _share(values, "s") == 1


def test_how_often_two_distinct_values_are_no_protection() -> None:
    kinds = [ward + disease for ward in "ab" for disease in "sn"]
    rows = [chosen for count in range(3) for chosen in combinations_with_replacement(kinds, count)]
    people = [(own, chosen) for own in "fm" for chosen in rows]
    found = [0, 0, 0]
    for persons in combinations_with_replacement(people, 3):
        diverse = [
            groups
            for groups in (_groups(persons, own, ward) for own in (0, 1) for ward in (0, 1))
            if all(len(values) >= 2 and len(set.union(*values)) >= 2 for values in groups)
        ]
        everybody = any(_share(values, "s") == 1 for groups in diverse for values in groups)
        found = [found[0] + 1, found[1] + bool(diverse), found[2] + everybody]
    assert found == [4_960, 1_508, 504]


def test_shares_of_persons_are_monotone_over_trees() -> None:
    kinds = [ward + disease for ward in "ab" for disease in "sn"]
    rows = [chosen for count in range(3) for chosen in combinations_with_replacement(kinds, count)]
    for persons in combinations_with_replacement([("f", chosen) for chosen in rows], 3):
        low, high = (max(_share(values, "s") for values in _groups(persons, 0, ward)) for ward in (0, 1))
        assert high <= low


def test_shares_of_persons_with_known_rows_are_not_monotone() -> None:
    persons = [ill(), ill("as"), ill("bs"), ill("an", "bn")]
    low, high = (_largest_share(persons, labels, "s") for labels in ({"a": "a", "b": "b"}, {"a": "*", "b": "*"}))
    assert (low, high) == (Fraction(1, 2), Fraction(2, 3))


def _share(values: Sequence[set[str]], value: str) -> Fraction:
    return Fraction(sum(value in each for each in values), len(values))


def _groups(persons: Sequence[tuple[str, Sequence[str]]], own: int, ward: int) -> list[list[set[str]]]:
    """The sets of diseases of the persons of each class of trees; a level of 1 leaves one label."""
    found: dict[object, list[set[str]]] = {}
    for label, rows in persons:
        tree = ("*" if own else label, tuple(sorted("*" if ward else row[0] for row in rows)))
        found.setdefault(tree, []).append({row[1:] for row in rows})
    return [*found.values()]


def _largest_share(persons: Sequence[frozenset[tuple[str, str]]], wards: Mapping[str, str], value: str) -> Fraction:
    """The largest share of persons with a disease among those who have a pattern of at most one ward."""
    shown = [Row("persons", (), tuple(Row("stays", (wards[ward],)) for ward, _ in rows)) for rows in persons]
    diseases = [{disease for _, disease in rows} for rows in persons]
    return max(
        _share(
            [values for values, record in zip(diseases, shown, strict=True) if pattern in subtrees(record, 1)], value
        )
        for pattern in supports(shown, 1)
    )


# Three tables


def test_a_diagnosis_is_known_with_its_visit() -> None:
    """Two diagnoses of one visit, or of two: the trees differ, and so do pairs, but no single fact does."""
    schema = schema_of(Setting(4, 2, 2, 2, most_below=2, has_values=False))
    node = next(node for node in schema.nodes())
    visits = {count: Row("visits", ("0",), (Row("diagnoses", ("0",)),) * count) for count in (1, 2)}
    together, apart = Row("persons", (), (visits[2],)), Row("persons", (), (visits[1], visits[1]))
    persons = [together, together, apart, apart]
    shown = labels(persons, node, schema)
    assert len(classes(shown)) == 2
    assert known_rows(shown, 1) == {0: (4, 1, 0), 1: (4, 2, 0)}
    assert known_rows(shown, 2)[2] == (2, 4, 0)
    assert suppressed(shown[:3], 2, None) == {2}
    assert suppressed(shown[:3], 2, 1) == frozenset()
    assert suppressed(shown[:3], 2, 2) == {2}


def test_rows_below_hidden_rows_go_with_them() -> None:
    schema = schema_of(Setting(3, 2, 2, 2, most_below=1, has_values=False))
    node = next(node for node in schema.nodes())
    common, rare = (Row("visits", (value,), (Row("diagnoses", ("0",)),)) for value in "01")
    without = Row("visits", ("0",), (Row("diagnoses", ("1",)),))
    persons = [Row("persons", (), rows) for rows in ((common,), (common, rare), (without,))]
    assert hidden_rows(persons, schema, node, 2) == {(1, 1), (1, 1, 0), (2, 0, 0)}


def test_a_database_of_each_universe_is_there_once() -> None:
    setting = Setting(2, 1, 2, 2)
    assert len({*databases_of(setting)}) == len([*databases_of(setting)]) == 21
    assert binary() == [{"0": "0", "1": "1"}, {"0": "*", "1": "*"}]
