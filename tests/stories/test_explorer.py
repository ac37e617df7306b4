"""The page of a lattice: it has what the table has, its choice is that of SQL, and its commands run as they are."""

import itertools
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.run.explorer import Explorer
from tests.case_tables import session_of
from tests.effort import examples
from tests.strategies import Case, cases

CANARY = "CANARY"
"""Begins the values that no page may show."""

PEOPLE = f"""
CREATE TABLE people AS
SELECT
    '{CANARY}' || i AS name,
    20 + (i * 37) % 60 AS age,
    CASE WHEN i % 4 = 1 THEN '{CANARY}ville' || i ELSE ['Bonn', 'Ulm', 'Jena'][1 + i % 3] END AS town,
    ['burn', 'flu', 'gout'][1 + i % 3] AS illness
FROM range(4000) AS _ (i)
"""
TAXONOMIES: dict[str, Any] = {
    "age": {"kind": "intervals", "widths": [2, 4, 12, 24], "minimum": 20, "maximum": 79},
    "town": {"kind": "flat"},
    "illness": {"kind": "flat", "values": ["burn", "flu", "gout"]},
}


def policy(**more: Any) -> sa.Policy:
    roles: dict[str, Any] = {
        "quasi_identifiers": ["age", "town", "illness"],
        "identifiers": ["name"],
        "privacy": [sa.KAnonymity(4)],
        "suppression_limit": 0.3,
        "taxonomies": TAXONOMIES,
    }
    return sa.Policy(**{**roles, **more})


@contextmanager
def people() -> Iterator[sa.Session]:
    with sa.connect(threads=1) as opened:
        opened.connection.execute(PEOPLE)
        yield opened


@pytest.fixture
def session() -> Iterator[sa.Session]:
    """Of a test that changes the people."""
    with people() as opened:
        yield opened


@pytest.fixture(scope="module")
def shared() -> Iterator[sa.Session]:
    with people() as opened:
        yield opened


@pytest.fixture(scope="module")
def explored(shared: sa.Session) -> Explorer:
    return shared.explore("people", policy())


def content(html: str) -> dict[str, Any]:
    """What a page has as JSON, its losses added up."""
    found: dict[str, Any] = json.loads(html.partition('id="data">')[2].partition("</script>")[0])
    for each in (found["nodes"], *found["others"]):
        each["losses"] = list(itertools.accumulate(each["losses"]))
    return found


def nodes_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The nodes of a page with the names of the lattice table."""
    columns = found["columns"]
    lattice = list(itertools.product(*(range(each["least"], each["most"] + 1) for each in columns)))
    names = [each["name"] for each in columns]
    of_nodes = found["nodes"]
    return [
        {
            "node": dict(zip(names, lattice[place], strict=True)),
            "loss": of_nodes["losses"][index] * found["loss_unit"],
            "best_k": of_nodes["best_k"][index],
            "suppressed_rows": of_nodes["suppressed_rows"][index],
            "class_count": of_nodes["class_counts"][index],
        }
        for index, place in enumerate(of_nodes["places"])
    ]


def table_of(session: sa.Session, source: str, wanted: sa.Policy) -> list[dict[str, Any]]:
    return [{**row, "node": dict(row["node"])} for row in session.lattice(source, wanted).to_pylist()]


@settings(max_examples=examples(25))
@given(
    cases(min_rows=1, max_rows=14, max_quasi_identifiers=3),
    st.integers(2, 4),
    st.sampled_from([sa.LM(), sa.Entropy(), sa.DM(), sa.AECS(), sa.NCP(), sa.LM(aggregate="geometric")]),
)
def test_a_page_has_what_the_table_has(case: Case, k: int, quality: Any) -> None:
    wanted = policy_of(case, k, quality)
    with session_of(case) as session:
        table = {json.dumps(row["node"]): row for row in table_of(session, "given", wanted)}
        found = content(session.explore("given", wanted).to_html())
        counts = {name: values_of(session, name) for name in case.quasi_identifiers}
        others = {other["k"]: table_of(session, "given", wanted.with_k(other["k"])) for other in found["others"]}
    nodes = nodes_of(found)
    assert len(nodes) == len(table) == found["node_count"]
    ranks = [(float(f"{table[json.dumps(node['node'])]['loss']:.11g}")) for node in nodes]
    assert ranks == sorted(ranks)
    for node in nodes:
        row = table[json.dumps(node["node"])]
        assert node["loss"] == pytest.approx(row["loss"], abs=found["loss_unit"])
        assert node["best_k"] == (row["best_k"] or 0)
        assert (node["best_k"] >= k) is row["satisfies"]
        assert node["class_count"] == row["class_count"]
        assert node["suppressed_rows"] == (None if 0 < row["suppressed_rows"] < k else row["suppressed_rows"])
    for other in found["others"]:
        rows = {json.dumps(row["node"]): row for row in others[other["k"]] if row["satisfies"]}
        assert {json.dumps(nodes[position]["node"]) for position in other["order"]} == rows.keys()
        losses = [rows[json.dumps(nodes[position]["node"])]["loss"] for position in other["order"]]
        assert losses == sorted(losses, key=lambda loss: float(f"{loss:.11g}"))
        assert other["losses"] == pytest.approx([loss / found["loss_unit"] for loss in losses], abs=1)
        for position, suppressed in zip(other["order"], other["suppressed_rows"], strict=True):
            at_k = rows[json.dumps(nodes[position]["node"])]["suppressed_rows"]
            assert suppressed == (None if 0 < at_k < k else at_k)
    for column in found["columns"]:
        value, *_ = column["example"]
        most = max((rows for each, rows in counts[column["name"]].items() if each is not None), default=0)
        assert counts[column["name"]].get(value, 0) >= k or most < k


def policy_of(case: Case, k: int, quality: Any) -> sa.Policy:
    others = [name for name in case.columns if name not in case.quasi_identifiers]
    return sa.Policy(
        quasi_identifiers=case.quasi_identifiers,
        insensitive=others,
        privacy=[sa.KAnonymity(k)],
        quality=quality,
        suppression_limit=0.3,
    )


def values_of(session: sa.Session, name: str) -> dict[str | None, int]:
    column = '"' + name.replace('"', '""') + '"'
    query = f"SELECT CAST({column} AS VARCHAR), count(*) FROM given GROUP BY ALL"
    return dict(session.connection.execute(query).fetchall())


def test_examples_are_values_of_enough_rows_or_declared(session: sa.Session) -> None:
    session.connection.execute(f"UPDATE people SET town = '{CANARY}' || rowid, illness = 'flu' WHERE rowid >= 0")
    age, town, illness = session.explore("people", policy()).columns
    assert age.example[0] is not None
    assert town.example == ()
    assert illness.example == ("flu", "*")
    alone = "SELECT * REPLACE (CAST(20 + row_number() OVER () % 60 AS INTEGER) AS age) FROM people LIMIT 60"
    assert session.explore(alone, policy()).columns[0].example[0] == "20"  # the least of those that are declared


def test_an_example_is_not_of_rows_of_few_persons(session: sa.Session) -> None:
    session.connection.execute("CREATE TABLE visits AS SELECT 'p' || rowid // 2000 AS person, * FROM people")
    asked = policy(identifiers=["name", "person"], individual="person", privacy=[sa.KAnonymity(2)])
    age, town, _ = session.explore("visits", asked).columns
    assert (age.example[0], town.example) == ("20", ())


def test_a_page_shows_no_rare_value_and_loads_nothing(explored: Explorer) -> None:
    html = explored.to_html()
    assert CANARY not in html
    assert re.search("Bonn|Ulm|Jena", html)
    assert "default-src 'none'; style-src 'sha256-" in html
    assert "unsafe" not in html
    assert not re.search(r"<(link|img|iframe|object)|@import|url\(|https?:|\bfetch\(|XMLHttpRequest", html)


def test_numbers_of_few_rows_are_not_shown(session: sa.Session) -> None:
    session.connection.execute(f"CREATE TABLE few AS FROM people WHERE town NOT LIKE '{CANARY}%' OR rowid = 1")
    table = {json.dumps(row["node"]): row["suppressed_rows"] for row in table_of(session, "few", policy())}
    assert 1 in table.values()
    found = session.explore("few", policy())
    for node in nodes_of(found.model_dump()):
        assert node["suppressed_rows"] == {1: None}.get(rows := table[json.dumps(node["node"])], rows)
