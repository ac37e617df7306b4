"""Declared ranges that are not listed: labels for what occurs, losses by all values, and the same releases."""

from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.binding import carried_taxonomies

RULES: dict[str, Any] = {
    "age": {"kind": "intervals", "widths": [5, 10], "minimum": -7, "maximum": 99, "below": 20, "above": 80},
    "pay": {"kind": "intervals", "widths": [0.5, 250], "origin": 3, "minimum": 0, "maximum": 3000},
}
ROWS = """
    SELECT
        CASE WHEN i % 17 <> 0 THEN CAST(i * i % 103 - 7 AS {0}) END AS age,
        CAST(i * 37 % 3001 AS BIGINT) AS pay, i % 5 AS s
    FROM range(200) AS rows (i)
"""
CASES = [
    ("people", {"privacy": [sa.KAnonymity(2), sa.TCloseness("s", 0.4)], "quality": sa.NCP(), "suppression": "mask"}),
    pytest.param("floats", {"privacy": [sa.KAnonymity(4), sa.KMap(5, population="town")]}, marks=pytest.mark.deep),
]
"""The last one sees how values are spelled: in the source, and in another table beside it."""


def policy(**more: Any) -> sa.Policy:
    given = {"quasi_identifiers": ["age", "pay"], "sensitive": ["s"], "suppression_limit": 0.3, "quality": sa.LM()}
    return sa.Policy(**{**given, "taxonomies": RULES, "earlier": "none", **more})


@pytest.fixture
def session() -> Any:
    with sa.connect() as opened:
        opened.connection.execute(f"CREATE TABLE people AS {ROWS.format('INTEGER')}")
        opened.connection.execute(f"CREATE TABLE floats AS {ROWS.format('DOUBLE')}")
        yield opened


def outcome(session: sa.Session, source: str, asked: sa.Policy) -> list[Any]:
    nodes = session.lattice(source, asked).to_pylist() if source == "people" else []
    report = session.anonymize(source, asked, "out", replace=True).report
    rows = session.connection.execute("FROM out ORDER BY ALL").fetchall()
    facts = report.model_dump(exclude={"seconds"})
    return [nodes, facts, rows, hashes(session)]


def hashes(session: sa.Session) -> str:
    provenance = session.provenance("out")
    assert provenance is not None
    return provenance[provenance.index("taxonomy_sha256") :][:400]


def rounded(value: Any) -> Any:
    """A value with its floats in ten digits: DuckDB adds them up in the order of its threads."""
    match value:
        case float():
            return float(f"{value:.10g}")
        case dict():
            return {name: rounded(each) for name, each in value.items()}
        case list() | tuple():
            return [rounded(each) for each in value]
    return value


@pytest.mark.parametrize(("source", "more"), CASES)
def test_nothing_differs(
    session: sa.Session, source: str, more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    session.connection.execute(f"CREATE TABLE town AS FROM {source} UNION ALL SELECT 98, 2999, 0 FROM range(3)")
    listed = outcome(session, source, policy(**more))
    monkeypatch.setattr(carried_taxonomies, "MAX_LISTED_VALUES", 1)
    computed = outcome(session, source, policy(**more))
    session.verify("out", policy(**more), source=source)
    assert rounded(computed[1:]) == rounded(listed[1:])
    assert len(computed[0]) == len(listed[0])
    for node, same in zip(computed[0], listed[0], strict=True):
        losses = {name: value for name, value in same.items() if isinstance(value, float)}
        assert {name: node[name] for name in losses} == pytest.approx(losses, rel=1e-12)  # sums in another order
        assert {**node, **losses} == same


def made(asked: sa.Policy) -> Any:
    return {name: rule.taxonomy() for name, rule in asked.taxonomies.items()}


def test_other_methods_list_all_that_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """What private ones draw must not depend on which values occur. Their runs are as they are for short ranges."""
    monkeypatch.setattr(carried_taxonomies, "MAX_LISTED_VALUES", 1)
    budget = sa.Budget(1, "1e-6")
    for method in (
        sa.IPA(budget=budget),
        sa.Histogram(budget=budget),
        sa.EpsilonSafe(k=10, beta="1/2", epsilon_sampling=1),
        sa.Relocation(k=4, limit=0.3),
        sa.HCeiling(k=2, h=0.9),
    ):
        role = "identifiers" if isinstance(method, sa.EpsilonSafe) else "sensitive"
        asked = sa.Policy(**{"quasi_identifiers": ["age", "pay"], role: ["s"], "taxonomies": RULES, "method": method})
        assert carried_taxonomies.large_ranges(asked, made(asked)) == []
    listed = policy(privacy=[sa.KAnonymity(4)])
    assert carried_taxonomies.large_ranges(listed, made(listed)) == ["age", "pay"]


def test_a_run_stores_rows_for_what_occurs_and_the_ends(session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = {"kind": "intervals", "widths": [1000], "minimum": 0, "maximum": 199_999}
    seen: list[int] = []
    counted = carried_taxonomies.count_ranges

    def spied(engine: Any, wanted: Any) -> None:
        table = engine.taxonomy.sql("duckdb")
        seen.append(session.connection.execute(f"SELECT count(*) FROM {table} WHERE level = 0").fetchall()[0][0])
        counted(engine, wanted)

    monkeypatch.setattr("sqlanon.binding.carried_taxonomies.count_ranges", spied)
    asked = policy(quasi_identifiers=["pay"], taxonomies={"pay": rule}, privacy=[sa.KAnonymity(2)])
    report = session.anonymize("SELECT pay, s FROM people", asked, "out").report
    assert seen == [200 + 1]  # 0 is an end that occurs
    assert report.heights == {"pay": 2}


def test_values_out_of_the_range_and_columns_of_nothing(session: sa.Session, tmp_path: Path) -> None:
    rule = {"kind": "intervals", "widths": [1000], "minimum": 0, "maximum": 99_999}
    asked = policy(quasi_identifiers=["n"], sensitive=[], taxonomies={"n": rule}, privacy=[sa.KAnonymity(2)])
    with pytest.raises(sa.TaxonomyError, match='"n": 2 distinct values in 2 rows'):
        session.anonymize("SELECT unnest([-1, 0, 5, 99999, 100000]) AS n", asked, "out")
    nothing = "SELECT CAST(NULL AS INTEGER) AS n FROM range(3)"
    assert session.anonymize(nothing, asked, tmp_path / "n.csv").report.rows.released == 3
    text = "SELECT unnest(['5', '5', '05', 'x']) AS n"
    with pytest.raises(sa.TaxonomyError, match='"n": 2 distinct values in 2 rows'):
        session.anonymize(text, asked, "out")


@pytest.mark.deep
def test_a_fit_lists_the_range_for_parts_with_other_values(session: sa.Session, tmp_path: Path) -> None:
    rule = {"kind": "intervals", "widths": [1000], "minimum": 0, "maximum": 19_999}
    asked = policy(quasi_identifiers=["n"], sensitive=[], taxonomies={"n": rule}, privacy=[sa.KAnonymity(2)])
    session.partitions.fit("SELECT i % 3 AS n FROM range(9) AS rows (i)", asked, tmp_path / "n.fit")
    part = "SELECT 15000 + i % 3 AS n FROM range(9) AS rows (i)"
    assert session.partitions.apply(part, tmp_path / "n.fit", into=tmp_path / "1.csv").report.rows.released == 9


def test_numbers_at_the_ends_of_types() -> None:
    """No run overflows, and no digit of a label is lost."""
    end = 2**63
    cases = [
        (f"{end - 1} - i % 50", {"widths": [100]}, {f"[{end - 108}, {end - 8})", f"[{end - 8}, {end + 92})"}),
        (
            "if(i % 2 = 0, 1e22, 5.0)",
            {"widths": [100]},
            {"[0, 100)", "[10000000000000000000000, 10000000000000000000100)"},
        ),
        (f"{end * 2 - 1}::UBIGINT - (i % 2)::UBIGINT", {"widths": [7]}, {f"[{end * 2 - 2}, {end * 2 + 5})"}),
    ]
    with sa.connect() as session:
        for value, rule, labels in cases:
            session.connection.execute(f"CREATE OR REPLACE TABLE far AS SELECT {value} AS x FROM range(200) AS r (i)")
            given = {"taxonomies": {"x": {"kind": "intervals", **rule}}, "minimum_levels": {"x": 1}}
            asked = sa.Policy(quasi_identifiers=["x"], privacy=[sa.KAnonymity(2)], **given)
            release = session.anonymize("far", asked, "out", replace=True)
            assert {*release.to_arrow()["x"].to_pylist()} == labels
            assert session.verify("out", asked, source="far").met
    with pytest.raises(sa.PolicyError, match="must be below 2\\^63 - 1"):
        policy(taxonomies={"pay": RULES["pay"], "age": {**RULES["age"], "minimum": end - 100, "maximum": end - 1}})
