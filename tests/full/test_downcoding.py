"""What follows from labels that are the finest which all rows of a class share, as the guide to local recoding says."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import sqlanon as sa


def interval(value: int, width: int) -> str:
    return f"[{value // width * width}, {value // width * width + width})"


PATHS = {
    "age": {f"{value}": (f"{value}", *(interval(value, width) for width in (5, 10, 20, 40))) for value in range(80)},
    "sex": {value: (value,) for value in "fm"},
    "city": {f"c{value}": (f"c{value}", f"region {value // 5}", f"part {value // 15}") for value in range(30)},
}
"""By column and value, its labels from the value up, without the root."""


class Shares(NamedTuple):
    """Of labels above the values: that have rows under two or more labels below; and what follows from that.

    Attributes:
        spread: the share of labels whose rows stand under two or more of the finer labels.
        apart: the share of rows in classes of two rows with such a label.
        last: the share of rows whose finer label follows for who knows all other rows of the class.
    """

    spread: float
    apart: float
    last: float


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect() as session:
        session.connection.execute(
            """
            CREATE TABLE people AS
            SELECT
                i AS person, (hash(i) % 80)::INTEGER AS age, ['f', 'm'][1 + i % 2] AS sex,
                'c' || (hash(i, 2) % 30) AS city
            FROM range(3000) AS numbers (i)
            """
        )
        for name, paths in PATHS.items():
            session.taxonomies.load(name, sa.Taxonomy.from_rows([(*path, "*") for path in paths.values()]))
        yield session


def shares(session: sa.Session, k: int, **options: Any) -> Shares:
    policy = sa.Policy(
        quasi_identifiers=[*PATHS],
        insensitive=["person"],
        privacy=[sa.KAnonymity(k)],
        method=sa.LocalRecoding(**options),
        earlier="none",
    )
    session.anonymize("people", policy, "released", replace=True)
    classes = defaultdict(list)
    rows = session.connection.execute(
        "SELECT r.age, r.sex, r.city, p.age::VARCHAR, p.sex, p.city FROM released AS r JOIN people AS p USING (person)"
    ).fetchall()
    for *row, age, sex, city in rows:
        classes[tuple(row)].append((age, sex, city))
    above, spread, apart, finer, last = 0, 0, 0, 0, 0
    for labels, members in classes.items():
        found = [Counter(below) for below in zip(*(below_labels(labels, row) for row in members), strict=True)]
        found = [below for below in found if None not in below]
        above += len(found)
        spread += sum(len(below) > 1 for below in found)
        apart += len(members) * (len(members) == 2 and bool(found))
        finer += len(found) * len(members)
        last += sum(list(below.values()).count(1) for below in found if len(below) == 2)
    return Shares(spread / above, apart / len(rows), last / finer)


def below_labels(labels: tuple[str, ...], row: tuple[str, ...]) -> list[str | None]:
    """By column, the label of a row right below that of its class; None where the class shows the value itself."""
    found: list[str | None] = []
    for paths, label, value in zip(PATHS.values(), labels, row, strict=True):
        path = (*paths[value], "*")
        place = path.index(label)
        found.append(path[place - 1] if place else None)
    return found


def test_every_label_has_rows_under_several_finer_ones(session: sa.Session) -> None:
    found = {k: shares(session, k) for k in (2, 3, 5, 10)}
    assert {each.spread for each in found.values()} == {1}
    assert [round(each.apart, 2) for each in found.values()] == [0.3, 0, 0, 0]
    assert [round(each.last, 2) for each in found.values()] == [0.58, 0.08, 0.01, 0]


@pytest.mark.deep
def test_min_share_changes_little(session: sa.Session) -> None:
    before, after = shares(session, 2), shares(session, 2, min_share=0.01)
    assert abs(before.last - after.last) < 0.05
    assert abs(before.apart - after.apart) < 0.05


def test_the_guarantee_says_so(session: sa.Session) -> None:
    policy = sa.Policy(
        quasi_identifiers=[*PATHS], rest="identifier", privacy=[sa.KAnonymity(9)], method="local-recoding"
    )
    guarantee = session.anonymize("people", policy, "released", replace=True).guarantee
    assert any("may learn that of the last (downcoding)" in line for line in guarantee.not_covered)
