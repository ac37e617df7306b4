"""What reports find in columns that show more than is published, in pairs of columns, and in what is suppressed."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest

import sqlanon as sa
from sqlanon.release import kept_columns
from sqlanon.run import pipeline
from tests.commands import sqlanon
from tests.conftest import open_clinic
from tests.golden.recording import Recorder
from tests.stories.test_findings import found_by, policy

PERSONS = """
    CREATE OR REPLACE TABLE persons AS
    SELECT
        20 + i % 60 AS age,
        CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex,
        'town ' || (hash(i) % 12) AS town,
        20 + i % 60 >= 65 AS older,
        1 + (hash(i) % 12) // 3 AS coast,
        hash(i, 1) % 200 AS weight,
        hash(i, 2) % 150 AS height,
        hash(i, 3) % 5 AS mood,
        false AS never
    FROM range(1500) AS numbers (i)
"""

TOWNS = [[f"town {number}", f"region {number // 3}", "*"] for number in range(12)]


@pytest.fixture(scope="module")
def persons() -> Iterator[sa.Session]:
    """Fifteen hundred persons: ``older`` is a matter of age, and each of three towns of a region has its ``coast``."""
    with duckdb.connect(config={"threads": 1}) as connection:
        session = open_clinic(connection)
        connection.execute(PERSONS)
        session.taxonomies.load("age", sa.Taxonomy.intervals([20], minimum=20, maximum=79), source="persons")
        session.taxonomies.load("town", sa.Taxonomy.from_rows(TOWNS), source="persons")
        yield session


MEASURED = ("older", "weight", "height")
KEPT = ("older", "coast", "weight", "height", "mood", "never")


def of_persons(levels: dict[str, int], kept: tuple[str, ...] = KEPT, **changes: Any) -> sa.Policy:
    dropped = [name for name in KEPT if name not in kept]
    bounds = {"minimum_levels": levels, "maximum_levels": levels}
    return policy(
        quasi_identifiers=[*levels],
        identifiers=[*dropped, *(name for name in ("age", "sex", "town") if name not in levels)],
        sensitive=[],
        insensitive=[*kept],
        **{**bounds, **changes},
    )


def revealed(found: sa.Findings) -> list[tuple[str, str, int | None, int]]:
    return [(each.column, each.quasi_identifier, each.revealed_level, each.rows) for each in found.revealing_columns]


def found_under(session: sa.Session, wanted: sa.Policy, source: str, *limits: dict[str, int]) -> Iterator[sa.Findings]:
    """What is found of one release under limits of :mod:`kept_columns`, one after the other."""
    found: list[sa.Findings] = []
    examine = pipeline.examine

    def examine_under(engine: Any, publication: Any) -> Any:
        for each in limits:
            with mock.patch.multiple(kept_columns, **each), engine.scratch():
                examined = examine(engine, publication)
                found.append(examined.findings)
        return examined

    with mock.patch.object(pipeline, "examine", examine_under):
        found_by(session, wanted, source)
    yield from found


def test_dependencies_are_named_and_counted_in_one_scan(persons: sa.Session) -> None:
    recorder = Recorder(persons.connection)
    with sa.connect(recorder) as session:  # type: ignore[arg-type]
        found = found_by(session, of_persons({"age": 2, "town": 2}), "persons")
    assert revealed(found) == [("older", "age", None, 1500), ("coast", "town", 1, 1500)]
    for sentence in (
        '"older" depends on "age", which is published at level 2, and splits its labels in 1,500 of 1,500',
        '"coast" determines level 1 of "town", which is published at level 2',
    ):
        assert sentence in " ".join(found.sentences)
    assert len([text for text in recorder.statements if text.startswith("CREATE") and '"anon_pairs" AS' in text]) == 1


def test_only_rows_whose_label_is_split_are_counted_and_nothing_that_is_published_as_fine(persons: sa.Session) -> None:
    # Of the labels of twenty years each, the one from sixty on has both.
    found = found_by(persons, of_persons({"age": 1, "town": 0}), "persons")
    assert revealed(found) == [("older", "age", None, 500)]
    assert found.suppression == (), "nothing is suppressed"
    assert revealed(found_by(persons, of_persons({"age": 0, "town": 1}, suppression_limit=0.2), "persons")) == []


def test_dependencies_of_changed_rows(persons: sa.Session) -> None:
    """A missing value is a value, as is a missing label; and one exception refutes."""
    missing = "CASE WHEN age <> 70 THEN older END AS never, nullif(age, 40) AS age"
    changed = f"SELECT * REPLACE ({missing}) FROM persons"
    source = f"{changed} UNION ALL (SELECT * REPLACE (NOT older AS older) FROM ({changed}) LIMIT 1)"
    limits = [{"FEW_ROWS": few} for few in (10, 5_000)]
    for found in found_under(persons, of_persons({"age": 2, "town": 0}), source, *limits):
        assert revealed(found) == [("never", "age", None, 1501)]


def test_nothing_depends_on_values_of_one_event(persons: sa.Session) -> None:
    """Whatever stands beside a unique number depends on it by chance alone.

    Two rows in three share their pair with one other, as those of an event share its time.
    """
    numbered = "SELECT *, row_number() OVER () AS number, number * 2 // 3 AS pair FROM persons"
    source = f"SELECT * REPLACE (hash(pair) % 2 = 0 AS older) FROM ({numbered})"
    numbers = dict.fromkeys(("number", "pair"), sa.Taxonomy.intervals([500], minimum=0, maximum=1999))
    wanted = of_persons({"number": 2, "pair": 2, "town": 0}, taxonomies=numbers)
    assert revealed(found_by(persons, wanted, source)) == []


def test_columns_that_are_too_many_to_look_at_are_named(persons: sa.Session) -> None:
    limits = {"MAX_COLUMNS": 2}, {"MAX_COLUMNS": 2, "MAX_COUNTED": 0}
    some, none = found_under(persons, of_persons({"age": 2, "town": 0}), "persons", *limits)
    assert revealed(some) == [("older", "age", None, 1500)]
    assert set(some.unexamined_columns) == {"weight", "height", "mood"}
    assert revealed(none) == []
    assert "older" in none.unexamined_columns
    assert '"older"' in none.sentences[-1] + none.sentences[-2]


def test_random_tables_have_the_dependencies_of_a_naive_search() -> None:
    session = sa.connect(threads=1)
    names = tuple(f"{kind}{seed}" for seed in range(3) for kind in "abcd")
    columns = [
        f"hash(age, {seed}) % 3 AS a{seed}, hash(i, {seed} + 2) % 3 AS b{seed}, (age + {seed}) // 2 AS c{seed}, "
        f"CASE WHEN i % 300 = {seed} THEN 9 ELSE (age + {seed}) % 8 END AS d{seed}"
        for seed in range(3)
    ]
    session.connection.execute(
        f"CREATE TABLE persons AS SELECT hash(i) % 8 AS age, hash(i, 1) % 2 AS sex, {', '.join(columns)} "
        "FROM range(400) AS n (i)"
    )
    session.taxonomies.load("age", sa.Taxonomy.intervals([2, 4], minimum=0, maximum=7), source="persons")
    wanted = policy(
        quasi_identifiers=["age"], identifiers=["sex"], sensitive=[], insensitive=[*names],
        minimum_levels={"age": 2}, maximum_levels={"age": 2},
    )  # fmt: skip
    rows = session.connection.sql(f"SELECT age, {', '.join(names)} FROM persons").fetchall()
    found = {name: level for name, _, level, _ in revealed(found_by(session, wanted, "persons"))}
    assert found == naive_dependencies(rows, names, 2)


def naive_dependencies(rows: list[tuple[int, ...]], names: tuple[str, ...], published: int) -> dict[str, int | None]:
    """By column, the finest level of age below the published one that it determines, None if it depends on age."""

    def label(age: int, level: int) -> int:
        return age // (1, 2, 4, 8)[level]

    def determines(pairs: set[tuple[int, int]]) -> bool:
        return len(pairs) == len({first for first, _ in pairs}) and len({second for _, second in pairs}) > 1

    found: dict[str, int | None] = {}
    for place, name in enumerate(names, 1):
        levels = [
            level for level in range(published) if determines({(row[place], label(row[0], level)) for row in rows})
        ]
        if levels:
            found[name] = levels[0]
        elif determines({(row[0], row[place]) for row in rows}) and not determines(
            {(label(row[0], published), row[place]) for row in rows}
        ):
            found[name] = None
    return found


def test_h_ceiling_names_no_dependency_that_counterfeits_break(persons: sa.Session) -> None:
    node = {"age": 2, "town": 0}
    columns = {"quasi_identifiers": ["age", "town"], "sensitive": ["older"], "rest": "identifier"}
    bounds = {"minimum_levels": node, "maximum_levels": node}
    assert revealed(found_by(persons, policy(identifiers=[], **columns, **bounds), "persons"))
    found = found_by(persons, policy(identifiers=[], privacy=[], **columns, method=sa.HCeiling(5)), "persons")
    assert (found.revealing_columns, found.suppression, found.finer_nodes) == ((), (), ())


# Pairs of columns


def test_columns_that_are_nearly_unique_together_are_named(persons: sa.Session) -> None:
    """A sieve changes no number, and a sample estimates it."""
    wanted = of_persons({"age": 2, "town": 2}, kept=MEASURED)
    limits = {"MAX_COUNTED": 20}, {"SIEVED_ROWS": 300}, {"SIEVED_ROWS": 300, "COUNTED_ROWS": 300}
    found, sieved, sampled = found_under(persons, wanted, "persons", *limits)
    (pair,), (estimated,) = found.identifying_pairs, sampled.identifying_pairs
    rare = "SELECT sum(n)::BIGINT FROM (SELECT count(*) AS n FROM released GROUP BY weight, height) WHERE n < 5"
    assert pair.columns == ("weight", "height")
    assert [(pair.rare_rows,)] == persons.connection.sql(rare).fetchall()
    assert pair.rare_rows > 1450
    assert f"{pair.rare_rows:,} of 1,500 released rows have a pair of values that fewer than 5 rows have" in " ".join(
        found.sentences
    )
    assert found.unexamined_pairs == 0
    assert sieved.identifying_pairs == (pair,)
    assert not estimated.is_exact
    assert abs(estimated.rare_rows - pair.rare_rows) < 300


def test_pairs_that_are_too_many_to_look_at_are_listed(persons: sa.Session) -> None:
    """A column that is nearly unique alone is in none of them."""
    kept = [f"c{number}" for number in range(5)]
    columns = ", ".join(f"hash(i, {number}) % 100 AS {name}" for number, name in enumerate(kept))
    source = f"SELECT i % 2 AS half, {columns}, i AS own FROM range(1500) AS n (i)"
    given = {"identifiers": [], "sensitive": [], "taxonomies": {"half": "flat"}}
    wanted = policy(quasi_identifiers=["half"], insensitive=[*kept, "own"], **given)
    found, few = found_under(persons, wanted, source, {"MAX_PAIRS": 100}, {"MAX_PAIRS": 3})
    assert len(found.identifying_pairs) == 10
    assert not any("own" in pair.columns for pair in found.identifying_pairs)
    assert "5 more pairs of columns are nearly unique together" in " ".join(found.sentences)
    assert len(few.identifying_pairs) == 3
    assert (few.unexamined_pairs, len(few.unexamined_pairs_listed)) == (7, 7)
    assert "7 more pairs of columns have enough values" in " ".join(few.sentences)


def test_hardly_any_rows(persons: sa.Session) -> None:
    source = "SELECT persons.* FROM persons, range(2) AS n (i) ORDER BY weight, height LIMIT 2"
    assert found_by(persons, of_persons({"age": 2, "town": 2}, privacy=[sa.KAnonymity(2)]), source).sentences == ()


# How suppression falls, and what else would do


@pytest.fixture(scope="module")
def town() -> Iterator[sa.Session]:
    """Of a hundred rows each, those of ages from 40 on are spread over many jobs, and those of the old over more."""
    with duckdb.connect(config={"threads": 1}) as connection:
        session = open_clinic(connection)
        add_people(session)
        yield session


def add_people(session: sa.Session) -> None:
    session.connection.execute(
        "CREATE OR REPLACE TABLE people AS "
        "SELECT 20 + i // 100 * 10 AS age, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex, "
        "'job ' || CASE WHEN i < 200 THEN i % 5 ELSE i % 7 + hash(i) % (i // 20) END AS job, i % 3 AS grade "
        "FROM range(400) AS numbers (i)"
    )
    session.taxonomies.load("age", sa.Taxonomy.intervals([10, 20, 40], minimum=0, maximum=79), source="people")
    session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
    jobs = [[f"job {number}", f"jobs {number // 5}", f"field {number // 20}", "*"] for number in range(60)]
    session.taxonomies.load("job", sa.Taxonomy.from_rows(jobs), source="people")


def of_town(**changes: Any) -> sa.Policy:
    fields = {
        "quasi_identifiers": ["age", "sex", "job"],
        "identifiers": ["grade"],
        "sensitive": [],
        "suppression_limit": 0.4,
        **changes,
    }
    return policy(**fields)


def test_the_most_and_the_least_suppressed_groups_are_named(town: sa.Session) -> None:
    node = {"age": 0, "sex": 0, "job": 0}
    wanted = of_town(suppression_limit=0.9)
    report = town.anonymize("people", wanted, into="released", node=node, replace=True).report
    assert isinstance(report, sa.Report)
    assert report.findings is not None
    assert report.findings.finer_nodes == (), "a node that was given has no alternatives"
    found = {each.quasi_identifier: each for each in report.findings.suppression}
    sex = found["sex"]
    assert sex.most.rows + sex.least.rows == 400
    assert sex.most.suppressed_rows + sex.least.suppressed_rows == report.suppressed_rows > 0
    assert set(found) == {"age", "sex", "job"}
    published = dict(town.connection.sql("SELECT age, count(*) FROM released GROUP BY age").fetchall())
    shares = {str(age): 1 - published.get(str(age), 0) / 100 for age in (20, 30, 40, 50)}
    assert (found["age"].level, found["age"].groups) == (0, 4)
    assert found["age"].most.share == pytest.approx(max(shares.values()))
    assert found["age"].least.share == pytest.approx(min(shares.values())) == 0
    assert found["age"].most.label == max(shares, key=lambda age: shares[age])
    # Sixty jobs are too many to compare: their twelve groups are.
    assert found["job"].level == 1


def test_masked_rows_are_counted_at_any_node(town: sa.Session) -> None:
    wanted = of_town(suppression="mask", maximum_levels={"job": 2})
    report = town.anonymize("people", wanted, into="released", replace=True).report
    assert isinstance(report, sa.Report)
    assert report.findings is not None
    (sex,) = (each for each in report.findings.suppression if each.quasi_identifier == "sex")
    assert sex.most.rows + sex.least.rows == 400
    assert sex.most.suppressed_rows + sex.least.suppressed_rows == report.suppressed_rows > 0


def test_groups_at_the_top_are_compared_at_a_finer_level(town: sa.Session) -> None:
    node = {"age": 3, "sex": 1, "job": 0}
    wanted = of_town(minimum_levels=node, maximum_levels=node, privacy=[sa.KAnonymity(20)], suppression_limit=0.9)
    found = {each.quasi_identifier: each for each in found_by(town, wanted, "people").suppression}
    assert found["age"].level == 0
    assert {found["sex"].most.label, found["sex"].least.label} == {"f", "m"}


def test_values_that_were_read_off_the_data_are_named_only_on_request(town: sa.Session, tmp_path: Path) -> None:
    source = tmp_path / "people.parquet"
    town.connection.sql("FROM people").write_parquet(str(source))
    carried = {"age": {"kind": "intervals", "widths": [10, 20, 40]}, "sex": "flat", "job": "flat"}
    for shown, labels in ((False, {None}), (True, {"f", "m"})):
        with sa.connect(show_values=shown) as session:
            found = found_by(session, of_town(taxonomies=carried), str(source))
        (sex,) = (each for each in found.suppression if each.quasi_identifier == "sex")
        assert {sex.most.label, sex.least.label} == labels


@pytest.mark.parametrize(
    ("search", "quality"), [("optimal", "lm"), ("optimal", "dm"), ("exhaustive", "ncp"), ("ola", "entropy")]
)
def test_finer_nodes_satisfy_and_lose_what_the_lattice_says(town: sa.Session, search: str, quality: str) -> None:
    wanted = of_town(quality={"model": quality}, search=search, suppression_limit=0.1)
    released = town.anonymize("people", wanted, into="released", replace=True)
    assert isinstance(released.report, sa.Report)
    assert released.report.findings is not None
    found = released.report.findings.finer_nodes
    lattice = {
        tuple(level for _, level in row["node"]): row
        for row in town.lattice("people", wanted).to_pylist()
        if row["satisfies"]
    }
    best = tuple(released.node.values())
    for each in found:
        row = lattice[tuple(each.node.values())]
        assert (each.loss, each.suppressed_rows) == (pytest.approx(row["loss"]), row["suppressed_rows"])
        assert each.loss_difference == pytest.approx(each.loss - released.report.loss)
        assert each.finer == {name: level for name, level in each.node.items() if level < released.node[name]} != {}
        assert each.coarser == {name: level for name, level in each.node.items() if level > released.node[name]}
    assert [each.loss for each in found] == sorted(each.loss for each in found)
    # A search that checks all nodes leaves none out.
    if search == "exhaustive":
        for place, name in enumerate(released.node):
            finer = [row["loss"] for node, row in lattice.items() if node[place] < best[place]]
            named = [each.loss for each in found if name in each.finer]
            assert (min(named) if named else None) == (pytest.approx(min(finer)) if finer else None)


def test_the_command_line_shows_how_suppression_falls(tmp_path: Path, town: sa.Session) -> None:
    town.connection.execute(f"COPY (FROM people WHERE age < 50 OR grade = 0) TO '{tmp_path}/people.parquet'")
    shown = {}
    for k in (40, 60):
        (tmp_path / f"{k}.toml").write_text(
            'quasi_identifiers = ["age", "sex"]\nrest = "identifier"\nsuppression_limit = 0.4\n'
            f'[[privacy]]\nmodel = "k-anonymity"\nk = {k}\n'
            '[taxonomies]\nsex = { kind = "flat", values = ["f", "m"] }\n'
            'age = { kind = "intervals", widths = [20, 40], minimum = 0, maximum = 79 }\n'
        )
        run = sqlanon("run", "people.parquet", "--policy", f"{k}.toml", "--into", f"{k}.parquet", folder=tmp_path)
        shown[k] = " ".join(run.stdout.split())
    assert "How suppression falls" in shown[40]
    assert re.search(r"age 0 50 100.0 % of 3\d \d+ 0.0 % of 100", shown[40])
    assert "of the nodes that were checked, the cheapest with a finer column has" in shown[60]


@pytest.mark.deep
def test_a_fit_finds_what_a_run_finds(town: sa.Session, tmp_path: Path) -> None:
    wanted = of_town(sensitive=["grade"], identifiers=[], suppression_limit=0.2)
    expected = found_by(town, wanted, "people")
    fitted = town.partitions.fit("people", wanted, tmp_path / "people.fit", accept_observed_domain=True)
    # Hints for a whole table, and its other releases, are none of a fit.
    apart = {"local_recoding": None, "other_releases": (), "uncompared_releases": 0}
    assert fitted.findings == expected.model_copy(update=apart)
    assert expected.homogeneous_columns
    assert expected.suppression
    assert expected.finer_nodes
    assert b"homogeneous_columns" not in (tmp_path / "people.fit").read_bytes()
    report = town.partitions.apply("people", tmp_path / "people.fit", "part").report
    assert "findings" not in report.model_dump()
