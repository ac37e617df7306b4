"""Suggested policies of linked tables: which columns link them, which table has the persons, and that they run."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.methods.stages import silent
from sqlanon.model.policy.linked_policy import given_policy
from sqlanon.run.linked import anonymize_linked
from tests.commands import document, sqlanon
from tests.engines import engine_of

HOSPITAL = """
    CREATE TABLE patients AS
    SELECT
        i AS patient_id,
        'canary ' || i AS name,
        1925 + CAST(hash(i, 1) % 80 AS INTEGER) AS born,
        ['f', 'm'][1 + CAST(hash(i, 2) % 2 AS INTEGER)] AS sex
    FROM range(600) AS t (i);
    CREATE TABLE visits AS
    SELECT
        row_number() OVER (ORDER BY i, j) AS visit_id,
        i AS patient_id,
        DATE '2024-01-01' + CAST(hash(i, j, 4) % 700 AS INTEGER) AS day,
        ['surgery', 'oncology', 'neurology'][1 + CAST(hash(i, j, 5) % 3 AS INTEGER)] AS department,
        'D' || hash(i, j, 6) % 9 AS diagnosis
    FROM range(600) AS t (i), range(6) AS u (j)
    WHERE hash(i, j, 7) % 3 = 0;
    CREATE TABLE drugs AS
    SELECT visit_id, patient_id, 'drug ' || hash(visit_id, k, 8) % 7 AS drug
    FROM visits, range(2) AS v (k);
    CREATE TABLE departments AS
    SELECT * FROM (VALUES ('surgery', 1), ('oncology', 2), ('neurology', 3)) AS t (department, floor);
"""


def suggested(sql: str, sources: Sequence[str] | None = None, **settings: Any) -> sa.LinkedSuggestion:
    with sa.connect() as session:
        session.connection.execute(sql)
        return session.suggest_linked(sources, **settings)


def links(found: sa.LinkedSuggestion) -> dict[str, tuple[str | None, str | None, str | None, bool]]:
    return {each.name: (each.parent, each.key, each.row_key, each.is_undecided) for each in found.tables}


def roles(found: sa.LinkedSuggestion, table: str) -> Mapping[str, str]:
    [own] = (each for each in found.tables if each.name == table)
    return {each.name: each.role for each in own.columns}


class TestHospital:
    def test_tables_hang_from_persons(self) -> None:
        found = suggested(HOSPITAL)
        assert links(found) == {
            "patients": (None, None, "patient_id", False),
            "visits": ("patients", "patient_id", "visit_id", False),
            "drugs": ("visits", "visit_id", None, False),
        }
        assert found.left_out == ("departments",)
        assert roles(found, "drugs") == {"patient_id": "identifier", "drug": "sensitive"}
        assert roles(found, "patients") == {"name": "identifier", "born": "quasi-identifier", "sex": "quasi-identifier"}

    def test_it_runs_as_it_is(self, tmp_path: Path) -> None:
        with sa.connect() as session:
            session.connection.execute(HOSPITAL)
            files = session.suggest_linked().write(tmp_path / "policy.toml")
            policy = sa.LinkedPolicy.from_toml(files[0])
            engine = engine_of(session)
            sources = {name: engine.resolve(name) for name in policy.tables}
            into = f"{tmp_path}/released/"
            done = anonymize_linked(engine, sources, policy, into, replace=False, progress=silent)
        assert policy.known_rows == sa.KnownRows(5, m=1)
        assert [*done.tables] == ["patients", "visits", "drugs"]
        assert all(known.k >= 5 for number, known in done.report.measured.known.items() if number < 2)

    def test_counts_are_those_of_the_rows(self) -> None:
        with duckdb.connect() as connection:
            connection.execute(HOSPITAL)
            owners = [owner for (owner,) in connection.sql("SELECT patient_id FROM visits").fetchall()]
        visits = sorted(map(owners.count, {*owners}))
        usual = visits[-(-len(visits) * 99 // 100) - 1]
        above = sum(each > usual for each in visits)
        text = suggested(HOSPITAL).to_toml()
        assert f"all {len(owners):,} rows have a key of patients, which use {len({*owners})} of its 600 keys" in text
        assert above and f"# 99 % of the persons with rows have at most {usual}; {above} have more:" in text
        assert not {"at_most", "above"} & tomllib.loads(text)["tables"]["visits"].keys()

    def test_a_choice_of_tables_and_a_profile(self) -> None:
        found = suggested(HOSPITAL, ["patients", "visits"], profile="public")
        assert [*links(found)] == ["patients", "visits"]
        assert (found.k, roles(found, "visits")["diagnosis"]) == (10, "quasi-identifier")
        assert links(found)["visits"][2] is None  # no other table has its key

    def test_safe_harbor_is_by_table(self, tmp_path: Path) -> None:
        found = suggested(HOSPITAL.replace("AS born", "AS birth_year"), profile="hipaa-safe-harbor")
        policy = sa.LinkedPolicy.from_toml(found.write(tmp_path / "policy.toml")[0])
        assert policy.minimum_levels["visits.day"] == 1
        assert [*policy.tables["patients"].bottom_coding] == ["birth_year"]

    def test_tables_without_a_link_are_refused(self) -> None:
        with pytest.raises(sa.PolicyError, match='no table of "departments" and "other" has a column with the keys'):
            suggested("CREATE TABLE departments AS SELECT 1 AS a; CREATE TABLE other AS SELECT 'x' AS b")

    def test_columns_that_may_have_fractions_are_no_keys(self) -> None:
        made = "CREATE TABLE patients AS SELECT CAST(i AS DOUBLE) AS patient_id FROM range(9) AS t (i)"
        with pytest.raises(sa.PolicyError, match="DOUBLE columns are no keys there, and need a cast"):
            suggested(f"{made}; CREATE TABLE visits AS FROM patients")


class TestLinks:
    def test_names_of_any_kind(self, tmp_path: Path) -> None:
        persons, stays = 'pa"ti.ents; --', "sélect 'x'\n"
        sql = f"""
            CREATE TABLE "pa""ti.ents; --" AS SELECT i AS "per""son id", i % 2 = 0 AS sex FROM range(100) AS t (i);
            CREATE TABLE "{stays}" AS
            SELECT i % 90 AS "per""son id", 'w' || i % 3 AS "select", DATE '2024-01-01' + CAST(i % 40 AS INTEGER) AS key
            FROM range(300) AS t (i)
        """
        found = suggested(sql)
        assert links(found)[stays] == (persons, 'per"son id', None, False)
        policy = sa.LinkedPolicy.from_toml(found.write(tmp_path / "policy.toml")[0])
        assert policy.root == persons
        assert policy.tables[stays].key == 'per"son id'

    def test_small_whole_numbers_are_no_keys_by_chance(self) -> None:
        """Each is among 1 … n; only a name, or most of the keys, says more."""
        sql = """
            CREATE TABLE patients AS SELECT i AS id, i % 2 = 0 AS sex FROM range(1, 1001) AS t (i);
            CREATE TABLE visits AS
            SELECT i AS id, 1 + i % 950 AS patient_id, 1 + i % 90 AS age, 1 + i % 12 AS month
            FROM range(1, 2001) AS t (i);
            CREATE TABLE bills AS
            SELECT i AS id, 1 + i * 7 % 1999 AS item, 1 + i % 300 AS visit FROM range(1, 5001) AS t (i)
        """
        found = suggested(sql)
        assert links(found) == {
            "patients": (None, None, "id", False),
            "visits": ("patients", "patient_id", "id", False),
            "bills": ("visits", "visit", None, False),
        }
        by_values = suggested(sql.replace("AS visit FROM", "AS amount FROM"))
        assert links(by_values)["bills"] == ("visits", "item", None, True)
        assert "by values alone, not by name" in by_values.to_toml()

    def test_a_few_of_many_codes_are_no_key(self) -> None:
        """As airports of origin: all of them are airports, and they use a few."""
        sql = """
            CREATE TABLE planes AS SELECT 'N' || i AS tailnum, 1950 + i % 60 AS year FROM range(400) AS t (i);
            CREATE TABLE airports AS SELECT 'A' || i AS faa FROM range(1458) AS t (i);
            CREATE TABLE flights AS
            SELECT
                CASE WHEN i % 134 = 0 THEN NULL WHEN i % 7 = 0 THEN 'X' || i % 30 ELSE 'N' || i % 400 END AS tailnum,
                'A' || i % 3 AS origin
            FROM range(10000) AS t (i);
        """
        found = suggested(sql)
        assert links(found) == {"planes": (None, None, "tailnum", True), "flights": ("planes", "tailnum", None, True)}
        values = [None if i % 134 == 0 else "X" if i % 7 == 0 else "N" for i in range(10_000)]
        missing, orphans = values.count(None), values.count("X")
        text = found.to_toml()
        left_out = f"{missing + orphans:,} rows belong to no row of planes ({missing} have no key)"
        assert f'orphans = "drop"  # ? {left_out}' in text
        tables = tomllib.loads(text)["tables"]
        assert tables["flights"]["suppression_limit"] == 0.25  # 10 % and 14.9 %, rounded up
        assert text.index("? most tables hang from it") < text.index("[tables.flights]")

    def test_less_than_four_fifths_is_no_link(self) -> None:
        sql = """
            CREATE TABLE patients AS SELECT i AS patient_id FROM range(1000) AS t (i);
            CREATE TABLE visits AS
            SELECT CASE WHEN i % 100 < 21 THEN -1 - i ELSE i END AS patient_id FROM range(1000) AS t (i)
        """
        with pytest.raises(sa.PolicyError, match="no table of"):
            suggested(sql)
        assert links(suggested(sql.replace("21", "20")))["visits"] == ("patients", "patient_id", None, True)

    def test_a_column_of_many_values_is_sieved_and_counted(self) -> None:
        sql = """
            CREATE TABLE patients AS SELECT 'p' || i AS patient_id FROM range(60000) AS t (i);
            CREATE TABLE visits AS SELECT 'p' || i AS patient_id FROM range(100, 60100) AS t (i), range(2)
        """
        [_, visits] = suggested(sql).tables
        assert visits.reason == "119,800 of 120,000 rows have a key of patients, which use 59,900 of its 60,000 keys"

    def test_declared_keys_are_taken(self) -> None:
        sql = """
            CREATE TABLE Units (U INTEGER PRIMARY KEY, sex VARCHAR);
            CREATE TABLE facts (a INTEGER, b INTEGER REFERENCES units (u));
            INSERT INTO units SELECT i, 'f' FROM range(1000) AS t (i);
            INSERT INTO facts SELECT i, CASE WHEN i > 10 THEN i % 20 END FROM range(100) AS t (i)
        """
        found = suggested(sql)
        assert links(found)["facts"] == ("Units", "b", None, False)
        text = found.to_toml()
        assert "declared as a foreign key; 89 of 100 rows have a key of Units" in text
        assert 'orphans = "drop"' in text

    def test_the_table_of_persons_is_that_of_its_name(self) -> None:
        """Although more tables hang from the wards, and details have the same key."""
        sql = """
            CREATE TABLE wards AS SELECT i AS ward_id FROM range(20) AS t (i);
            CREATE TABLE beds AS SELECT i % 20 AS ward_id FROM range(50) AS t (i);
            CREATE TABLE details AS SELECT i AS customer_id, i % 7 AS grade FROM range(300) AS t (i);
            CREATE TABLE customers AS SELECT i AS customer_id, 'f' AS sex FROM range(300) AS t (i);
            CREATE TABLE orders AS SELECT i % 290 AS customer_id, i % 20 AS ward_id FROM range(900) AS t (i)
        """
        found = suggested(sql)
        assert {name: each[:2] for name, each in links(found).items()} == {
            "customers": (None, None),
            "details": ("customers", "customer_id"),
            "orders": ("customers", "customer_id"),
        }
        assert {*found.left_out} == {"wards", "beds"}

    def test_a_row_belongs_to_one_person(self) -> None:
        sql = """
            CREATE TABLE patients AS SELECT i AS id, uuid() AS number FROM range(100) AS t (i);
            CREATE TABLE letters AS
            SELECT i % 100 AS from_patient_id, (i + 1) % 100 AS to_patient_id FROM range(300) AS t (i);
            CREATE TABLE bills AS SELECT number AS patient_number FROM patients, range(2)
        """
        found = suggested(sql)
        assert links(found)["letters"][:2] == ("patients", "from_patient_id")
        assert roles(found, "letters") == {"to_patient_id": "identifier"}
        assert found.left_out == ("bills",)
        assert found.notes[1:] == (
            'bills: "patient_number" has keys of patients, but those in its "number", not in "id"',
            'letters: "to_patient_id" has keys of patients, too, and is dropped: a row belongs to one row of another',
            "patients: no column was taken for a quasi-identifier: a policy needs at least one, which you must name",
        )
        assert not found.runs

    def test_files_are_linked_by_name(self, tmp_path: Path) -> None:
        with sa.connect() as session:
            session.connection.execute(HOSPITAL)
            for name in ("patients", "visits"):
                session.connection.execute(f"COPY {name} TO '{tmp_path}/{name}.csv'")
        with sa.connect() as session:
            found = session.suggest_linked({name: tmp_path / f"{name}.csv" for name in ("patients", "visits")})
        assert links(found)["visits"] == ("patients", "patient_id", None, False)

    def test_many_tables_hang_from_one(self) -> None:
        rows = "SELECT i % 50 AS person_id, i AS id, i % 7 AS a FROM range(200) AS t (i)"
        made = (f"CREATE TABLE t{number} AS {rows}" for number in range(12))
        found = suggested(";".join(["CREATE TABLE persons AS SELECT i AS id FROM range(50) AS t (i)", *made]))
        assert len(found.tables) == 13
        assert {each.parent for each in found.tables[1:]} == {"persons"}


class TestCommand:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        with duckdb.connect(str(tmp_path / "hospital.duckdb")) as connection:
            connection.execute(HOSPITAL)
        return tmp_path

    def test_all_tables_of_a_database(self, folder: Path) -> None:
        done = sqlanon("init", "--db", "hospital.duckdb", folder=folder)
        assert done.returncode == 0, done.stderr
        assert "Wrote policy.toml." in done.stderr
        assert "sqlanon run --db hospital.duckdb --policy policy.toml --into released_k5/" in done.stderr
        assert sa.LinkedPolicy.from_toml(folder / "policy.toml").root == "patients"

    def test_some_tables_as_json(self, folder: Path) -> None:
        asked = ("init", "patients", "v=visits", "--db", "hospital.duckdb", "--k", "7", "--json")
        found = document(sqlanon(*asked, folder=folder))
        assert [(each["name"], each["parent"]) for each in found["tables"]] == [("patients", None), ("v", "patients")]
        assert found["next"] == ["sqlanon run v=visits --db hospital.duckdb --policy policy.toml --into released_k7/"]

    def test_what_is_not_for_linked_tables_is_refused(self, folder: Path) -> None:
        database = ("--db", "hospital.duckdb")
        for asked in ([*database, "--clean", "x.sql"], [], ["patients", "patients", *database]):
            done = sqlanon("init", *asked, folder=folder)
            assert done.returncode == 2, done.stderr
            assert not (folder / "policy.toml").exists()


def test_labels_of_a_dropped_column(tmp_path: Path) -> None:
    """A column may have the labels of another one, and be dropped itself."""
    roles: dict[str, dict[str, Any]] = {
        "patients": {"row_key": "id", "quasi_identifiers": ["city"], "identifiers": ["STATE"]}
        | {"taxonomies": {"city": {"kind": "columns", "columns": ["state"]}}},
        "visits": {"parent": "patients", "key": "id", "quasi_identifiers": ["ward"]} | {"taxonomies": {"ward": "flat"}},
    }
    with sa.connect() as session:
        session.connection.execute("""
            CREATE TABLE patients AS
            SELECT i AS id, 'town ' || i % 40 AS city, 'state ' || i % 2 AS state FROM range(80) AS t (i);
            CREATE TABLE visits AS SELECT i % 80 AS id, 'ward ' || i % 2 AS ward FROM range(160) AS t (i)
        """)
        engine = engine_of(session)
        policy = given_policy({"tables": roles, "privacy": [sa.KnownRows(5)]})
        assert isinstance(policy, sa.LinkedPolicy)
        sources = {name: engine.resolve(name) for name in roles}
        anonymize_linked(engine, sources, policy, f"{tmp_path}/out/", replace=False, progress=silent)
        read = session.connection.sql(f"SELECT * FROM '{tmp_path}/out/patients.parquet'")
        assert read.columns == ["id", "city"]
        assert {city for _, city in read.fetchall()} == {"state 0", "state 1"}
