"""Suggested policies: what they say of tables in many forms, and that they run as they are."""

import re
import shlex
import shutil
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlanon as sa
from sqlanon.suggestion.column_words import read_codebook
from tests import oracle
from tests.commands import document, sqlanon
from tests.conftest import open_clinic
from tests.effort import some
from tests.engines import engine_of

PEOPLE = """
    SELECT
        i AS member_no,
        'Canary' || i AS last_name,
        format('canary{}@example.org', i) AS mail_box,
        18 + hash(i) % 70 AS age,
        hash(1000000 + i) % 2 = 0 AS female,
        CAST(hash(1000000 + i) % 2 AS VARCHAR) || '-' AS twin_of_nothing,
        lpad(CAST(1000 + hash(2000000 + i) % 7000 AS VARCHAR), 5, '0') AS zip,
        DATE '1940-01-01' + CAST(hash(3000000 + i) % 20000 AS INTEGER) AS birth_date,
        TIMESTAMP '2023-01-01 08:00:00' + INTERVAL (hash(4000000 + i) % 600) HOUR AS admitted,
        'canary town ' || hash(5000000 + i) % 40 AS city,
        'canary state ' || hash(5000000 + i) % 40 % 8 AS state,
        CASE
            WHEN i % 99 < 3 THEN ['canary smith', 'canary baker', 'canary mason'][1 + i % 99]
            ELSE ['clerk', 'nurse', 'cook', 'judge', 'pilot'][1 + (hash(6000000 + i) % 5)::INTEGER]
        END AS job,
        CASE WHEN hash(8000000 + i) % 10 > 0 THEN CAST(hash(8000000 + i) % 5 AS DOUBLE) END AS kids,
        CAST(hash(9000000 + i) % 90000 / 100.0 AS DECIMAL(9, 2)) AS income,
        ['A01.1', 'E11.65', 'J45.0'][1 + (hash(10000000 + i) % 3)::INTEGER] AS dx,
        'the canary came back on day ' || i AS what_happened,
        hash(11000000 + i) % 7 AS q17,
        NULL AS empty_one,
        'x' AS wave
    FROM range(600) AS people (i)
"""


@pytest.fixture
def session() -> Iterator[sa.Session]:
    with sa.connect(threads=1) as found:
        yield found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made")
    with duckdb.connect(made / "w.duckdb") as connection:
        connection.execute(f"CREATE TABLE people AS {PEOPLE}; COPY people TO '{made / 'people.csv'}'")
    return made


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


@pytest.fixture(scope="module")
def suggested() -> sa.Suggestion:
    with sa.connect(threads=1) as session:
        return session.suggest(PEOPLE)


def roles(suggestion: Any) -> dict[str, str]:
    return {each.name: "?" if each.is_undecided else each.role for each in suggestion.columns}


def heading_of(policy: Path) -> str:
    return "\n".join(line for line in policy.read_text().splitlines() if line.startswith("#"))


EXPECTED = {
    "member_no": "identifier", "last_name": "identifier", "mail_box": "identifier", "age": "quasi-identifier",
    "female": "quasi-identifier", "twin_of_nothing": "?", "zip": "quasi-identifier",
    "birth_date": "quasi-identifier", "admitted": "quasi-identifier", "city": "quasi-identifier",
    "state": "quasi-identifier", "job": "quasi-identifier", "kids": "quasi-identifier", "income": "sensitive",
    "dx": "sensitive", "what_happened": "identifier", "q17": "?", "empty_one": "insensitive", "wave": "insensitive",
}  # fmt: skip


class TestPeople:
    def test_each_column_has_a_role(self, suggested: sa.Suggestion) -> None:
        assert roles(suggested) == EXPECTED
        assert suggested.undecided == ("twin_of_nothing", "q17")

    def test_rules_follow_the_values(self, suggested: sa.Suggestion, tmp_path: Path) -> None:
        suggested.write(tmp_path / "policy.toml")
        read = tomllib.loads((tmp_path / "policy.toml").read_text())
        assert read["taxonomies"] == {
            "age": {"kind": "intervals", "widths": [5, 10, 20, 40], "minimum": 0, "maximum": 99},
            "female": {"kind": "flat"},
            "zip": {"kind": "prefixes", "keep": [4, 3, 2, 1]},
            "birth_date": {"kind": "dates", "units": ["year", "decade"]},
            "admitted": {"kind": "dates", "units": ["day", "week"]},
            "city": {"kind": "columns", "columns": ["state"]},
            "state": {"kind": "flat"},
            "job": "policy_job.csv",
            "kids": {"kind": "intervals", "widths": [2, 4], "origin": 0, "minimum": 0, "maximum": 4},
        }
        assert read["privacy"][1:] == [
            {"model": "distinct-l-diversity", "column": name, "l": 2} for name in ("income", "dx")
        ]

    def test_what_is_proposed_runs(self, folder: Path) -> None:
        source = "people", "--db", "w.duckdb"
        first = sqlanon("init", *source, "--json", folder=folder)
        files = {path.name: path.read_bytes() for path in folder.glob("policy*")}
        assert {*files} == {"policy.toml", "policy_job.csv", "policy_job.csv.sqlanon.json"}
        assert [stat.S_IMODE((folder / name).stat().st_mode) for name in sorted(files)[1:]] == [0o600, 0o600]
        found = document(first)
        assert len(found["next"]) == 2
        for command in found["next"]:
            ran = sqlanon(*shlex.split(command)[1:], folder=folder)
            assert ran.returncode == 0, ran.stderr
        printed = sqlanon("init", *source, "--replace", folder=folder)
        assert printed.returncode == 0
        assert [line.strip() for line in printed.stderr.splitlines() if "sqlanon" in line] == found["next"]
        assert {name: (folder / name).read_bytes() for name in files} == files, "two runs write the same"
        shown = first.stdout + first.stderr + printed.stdout + printed.stderr
        assert "anary" not in shown + files["policy.toml"].decode(), "neither Canary nor canary"

    def test_a_file_and_a_query_are_the_same(self, suggested: sa.Suggestion, session: sa.Session, made: Path) -> None:
        found = suggested, session.suggest(str(made / "people.csv"))
        of_query, of_file = (tomllib.loads(each.to_toml()) for each in found)
        assert of_query.pop("taxonomies").keys() == of_file.pop("taxonomies").keys()
        assert of_query == of_file

    def test_a_policy_does_not_say_where_its_source_lies(self, folder: Path) -> None:
        ran = sqlanon("init", str(folder / "people.csv"), "--k", "7", "--profile", "public", folder=folder)
        assert ran.returncode == 0
        policy = (folder / "policy.toml").read_text()
        assert policy.startswith("# A policy for people.csv, ")
        assert str(folder) not in policy
        assert "anary" not in ran.stdout + ran.stderr + policy
        assert tomllib.loads(policy)["privacy"][0] == {"model": "k-anonymity", "k": 7}
        assert "sqlanon run" in ran.stderr

    def test_nothing_is_replaced_unasked(self, suggested: sa.Suggestion, folder: Path) -> None:
        (folder / "policy.toml").write_text("mine")
        (folder / "few.csv").write_text("age,sex\n" + "30,f\n40,m\n" * 9)
        refused = sqlanon("init", "few.csv", folder=folder)
        assert refused.returncode == 2
        assert "--replace" in refused.stderr
        assert {path.name: path.read_text() for path in folder.glob("*policy*")} == {"policy.toml": "mine"}
        (folder / "policy.toml").rename(folder / "policy_job.csv")
        with pytest.raises(sa.SqlanonError, match=r"policy_job\.csv"):
            suggested.write(folder / "policy.toml")
        assert {path.name: path.read_text() for path in folder.glob("*policy*")} == {"policy_job.csv": "mine"}

    def test_public_releases_show_nothing_as_it_is(self, session: sa.Session) -> None:
        found = session.suggest(PEOPLE, profile="public")
        assert found.k == 10
        assert {each.role for each in found.columns} == {"identifier", "quasi-identifier"}
        assert roles(found)["income"] == "quasi-identifier"

    def test_stored_taxonomies_are_taken_and_may_be_in_the_way(self, tmp_path: Path) -> None:
        with duckdb.connect(tmp_path / "clinic.duckdb") as connection:
            clinic = open_clinic(connection)
            connection.execute(
                "ALTER TABLE visits ADD admission DATE; UPDATE visits SET admission = DATE '2026-01-01' + 40 * id; "
                "INSERT INTO visits SELECT visits.* REPLACE (100 * i + id AS id) FROM visits, range(1, 20) AS r (i)"
            )
            clinic.taxonomies.load("admission", sa.Taxonomy.dates(["day", "week"]), source="visits")
        asked = ("init", "visits", "--db", "clinic.duckdb")
        found = document(sqlanon(*asked, "--json", folder=tmp_path))
        stored = {each["name"] for each in found["columns"] if "warehouse stores" in (each["taxonomy"] or "")}
        assert stored == {"age", "sex", "zip", "admission"}
        assert sqlanon(*shlex.split(found["next"][0])[1:], folder=tmp_path).returncode == 0
        asked = (*asked, "--profile", "hipaa-safe-harbor", "--replace")
        found = document(sqlanon(*asked, "--json", folder=tmp_path))
        assert (found["in_the_way"], found["next"]) == (["admission", "zip"], [])
        shown = " ".join(sqlanon(*asked, folder=tmp_path).stdout.split())
        assert "DELETE FROM anon.taxonomy WHERE attribute IN ('admission', 'zip')" in shown

    def test_wrong_options_are_refused(self, folder: Path) -> None:
        for wrong in (("--k", "1"), ("--profile", "secret"), ("--codebook", "none.csv")):
            assert sqlanon("init", "people.csv", *wrong, folder=folder).returncode == 2, wrong
        assert not (folder / "policy.toml").exists()


class TestMeasures:
    @pytest.mark.parametrize(
        ("columns", "values"),
        [
            (1, 5),
            pytest.param(2, 60, marks=pytest.mark.deep),
            (3, 2),
            pytest.param(6, 5, marks=pytest.mark.deep),
            (6, 60),
        ],
    )
    def test_agree_with_the_oracle(self, columns: int, values: int, session: sa.Session) -> None:
        """Whether halves of the columns repeat their combinations or not."""
        names = [f"age{'_' * place}{place}" for place in range(columns)]
        drawn = ", ".join(
            f"nullif(hash({place}, i) % {values + place}, 0)::INTEGER AS {name}" for place, name in enumerate(names)
        )
        session.connection.execute(NUMBER.format(drawn, 120))
        rows = session.connection.execute("FROM t").fetchall()
        table: oracle.Rows = [dict(zip(names, row, strict=True)) for row in rows]
        found = session.suggest("t")
        assert found.quasi_identifiers is not None and found.quasi_identifiers.columns == tuple(names)
        assert [each.columns for each in found.alone] == [(name,) for name in names]
        assert [{*names} - {*each.columns} for each in found.without] == [{name} for name in names]
        for each in (found.quasi_identifiers, *found.alone, *found.without):
            sizes = oracle.class_sizes(table, each.columns) if each.columns else [len(rows)]
            assert (each.k, each.unique_rows) == (min(sizes), sizes.count(1)), each.columns
            assert each.distinction == pytest.approx(len(sizes) / len(rows))
            if each.columns:
                assert each.separation == pytest.approx(oracle.separation(table, each.columns))


NUMBER = "CREATE TABLE t AS SELECT {} FROM range({}) AS r (i)"

Table = tuple[str, str]

ODD_TABLES: dict[str, Table] = {
    "no row": (NUMBER.format("i AS age, 'x' AS name, i AS q", 0), "there are no rows"),
    "one row": (NUMBER.format("i AS age, 'x' AS name, i AS q", 1), "fewer than 5 rows"),
    "no quasi-identifier": (NUMBER.format("i AS q, i % 3 AS r", 90), "no column was taken for a quasi-identifier"),
    "all missing": (NUMBER.format("NULL AS age, NULL::DATE AS birth, NULL::VARCHAR AS q", 50), "no column was taken"),
}

FINE_COLUMNS = {
    "hostile names": 'i % 40 AS "a""ge", i % 3 AS "se\'x; --", i % 5 AS "city\nname", \'x\' || i % 4 AS '
    '"state # ]", i AS "äö"',
    "missing values, empty texts and decimals": ""
    "CASE WHEN i % 2 = 0 THEN i % 50 END AS age, NULLIF('c' || i % 30, 'c3') AS city, "
    "CASE WHEN i % 9 > 0 THEN 'c' || i % 30 ELSE '' END AS town, "
    "CAST(i % 80 AS DECIMAL(38, 9)) / 4 AS weight, CAST(i % 11 AS DECIMAL(4, 1)) AS educ",
    "no numbers, negative ones and enums": ""
    "CASE WHEN i % 7 = 0 THEN 'NaN'::DOUBLE ELSE i % 50 END AS age, i % 90 - 45 AS height, "
    "(i % 1000) / 7.0 - 60 AS latitude, ['f', 'm', 'd'][i % 3 + 1]::ENUM ('f', 'm', 'd') AS sex",
    "huge, tiny and long numbers and a long tail": ""
    "i * 4e300 AS height, i * 4e-9 AS weight, 9000000000000000000 + i AS age, i % 9 AS sex, "
    "CASE WHEN i < 3 THEN 90000 * i ELSE i % 60 END AS experience",
    "numbers and dates as texts": "CAST(i % 60 AS VARCHAR) AS age, lpad(CAST(i % 20 AS VARCHAR), 3, '0') AS region, "
    "CAST(DATE '2020-01-01' + CAST(i % 300 AS INTEGER) AS VARCHAR) AS joined",
    "times and no spaces": "TIME '08:00:00' + INTERVAL (i % 9) HOUR AS admission, i % 9 AS sex, "
    "TIMESTAMPTZ '2020-01-01 12:00:00+00' + INTERVAL (i) HOUR AS joined, "
    "'Bonn; \"x\"' || i % 30 AS city, E'a\\nb' || least(i % 20, i % 31) AS town",
    "infinite dates, lists and structs": ""
    "CASE WHEN i = 7 THEN 'infinity'::DATE ELSE DATE '2020-01-01' + i::INTEGER END AS joined, "
    "[i] AS city, {'a': i} AS state, MAP {i: i} AS region, i % 4 AS sex, 'x'::BLOB AS photo",
    "persons with several rows": "i // 3 AS patient_id, i // 3 % 20 AS age, i % 7 AS visit",
    "many columns": ", ".join(f"hash(i, {n}) % {n + 2} AS x{n}" for n in range(60)) + ", i % 9 AS age",
    "many quasi-identifiers": ", ".join(f"hash(i, {n}) % 500 AS age{'_' * n}{n}" for n in range(12)),
}
NUMBERS = "no numbers, negative ones and enums", "numbers and dates as texts"
FINE_TABLES = {name: NUMBER.format(columns, 150) for name, columns in FINE_COLUMNS.items()}


class TestTables:
    @pytest.mark.repeated
    @pytest.mark.parametrize("name", some(FINE_TABLES, "hostile names", *NUMBERS, "persons with several rows"))
    def test_a_suggestion_runs_as_it_is(self, name: str, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute(FINE_TABLES[name])
        found = session.suggest("t")
        assert found.quasi_identifiers is not None, roles(found)
        found.write(tmp_path / "policy.toml")
        release = session.anonymize("t", tmp_path / "policy.toml", into="out", time_limit=60)
        assert release.report.rows.released > 0
        individual = tomllib.loads((tmp_path / "policy.toml").read_text()).get("individual")
        assert individual == ("patient_id" if name == "persons with several rows" else None)
        are_many = any("12 quasi-identifiers" in note for note in found.notes)
        assert are_many == (name == "many quasi-identifiers")

    @pytest.mark.parametrize("name", ODD_TABLES)
    def test_a_table_without_a_release_says_so(self, name: str, session: sa.Session, tmp_path: Path) -> None:
        statement, note = ODD_TABLES[name]
        session.connection.execute(statement)
        found = session.suggest("t")
        assert any(note in each for each in found.notes), found.notes
        found.write(tmp_path / "policy.toml")
        tomllib.loads((tmp_path / "policy.toml").read_text())
        assert "age" not in [each.name for each in found.columns if each.role == "sensitive"]

    def test_no_command_is_proposed_that_fails(self, tmp_path: Path) -> None:
        (tmp_path / "one.csv").write_text("age,name\n30,Ada\n")
        ran = sqlanon("init", "one.csv", folder=tmp_path)
        assert ran.returncode == 0
        assert "Next" not in ran.stderr
        assert "Ada" not in ran.stdout + ran.stderr

    def test_individuals_are_seen_by_what_does_not_change(self, session: sa.Session) -> None:
        session.connection.execute(
            NUMBER.format(
                "'p' || (i // 6) AS v1, i AS v2, hash(i // 6) % 2 = 0 AS sex, 'f' || (i // 3) AS v3, "
                "DATE '2000-01-01' + CAST(hash(i // 6) % 900 AS INTEGER) AS birth, i % 3 AS grade, i // 60 AS v4",
                1200,
            )
        )
        found = session.suggest("t")
        assert tomllib.loads(found.to_toml())["individual"] == "v1"
        why = {each.name: each.reason for each in found.columns}["v1"]
        assert why == '200 values, each on several rows that agree in "sex" and "birth"'

    def test_what_is_on_few_rows_by_chance_names_no_individual(self, session: sa.Session) -> None:
        session.connection.execute(
            NUMBER.format("CASE WHEN i < 10 THEN i + 10 ELSE i END AS v1, i % 2 AS sex, i % 10 AS age", 100)
        )
        assert "individual" not in tomllib.loads(session.suggest("t").to_toml())

    def test_numbers_with_a_decimal_comma_are_read_as_such(self, folder: Path) -> None:
        rows = "".join(f"{i % 9};{i % 37},{i % 10};{i * 7 % 100},{i % 90 + 10}\n" for i in range(300))
        (folder / "it's.csv").write_text("age;height;v1\n" + rows)
        ran = sqlanon("init", "it's.csv", folder=folder)
        assert ran.returncode == 0
        assert '# [csv] decimal = ",": "height" and "v1" have decimal commas' in heading_of(folder / "policy.toml")
        policy = tomllib.loads((folder / "policy.toml").read_text())
        assert (policy["csv"], policy["taxonomies"]["height"]["kind"]) == ({"decimal": ","}, "intervals")

    def test_texts_of_a_table_with_a_decimal_comma_are_noted(self, session: sa.Session) -> None:
        session.connection.execute(NUMBER.format("(i % 40) || ',5' AS height, i % 9 AS age", 400))
        session.connection.execute("UPDATE t SET height = 'k.A.' WHERE height = '7,5' AND age = 0")
        [note] = (
            note for note in session.suggest("t").notes if note.startswith('"height" has numbers with a decimal comma')
        )
        [number] = re.findall(r"missing: (TRY_CAST\(.*\))$", note)
        found = session.suggest(f"SELECT * REPLACE ({number} AS height) FROM t")
        assert tomllib.loads(found.to_toml())["taxonomies"]["height"]["kind"] == "intervals"

    def test_nearly_unique_sensitive_values_are_noted(self, session: sa.Session) -> None:
        session.connection.execute(
            "CREATE TABLE t AS SELECT i % 7 AS age, i / 10 AS salary, i % 3 AS score FROM range(90) r (i)"
        )
        notes = session.suggest("t").notes
        assert [note for note in notes if "nearly unique" in note] == [note for note in notes if '"salary"' in note]
        assert any('"salary" stays as it is and is nearly unique' in note for note in notes)

    def test_a_source_that_is_not_there(self, session: sa.Session) -> None:
        with pytest.raises(sa.EngineError):
            session.suggest("nothing")

    def test_of_twins_one_is_left(self, session: sa.Session) -> None:
        session.connection.execute(
            NUMBER.format("'e' || i % 12 AS education, i % 12 AS education_num, ln(1 + i % 12) AS v9", 400)
        )
        assert roles(session.suggest("t")) == {
            "education": "quasi-identifier", "education_num": "identifier", "v9": "identifier"
        }  # fmt: skip

    def test_of_nearly_unique_numbers_are_those_in_one_order(self, session: sa.Session) -> None:
        session.connection.execute(
            NUMBER.format(
                "CASE WHEN i % 3 > 0 THEN 100 + hash(i) % 100000 / 7.0 END AS wage, ln(wage) AS v1, -wage AS v2, "
                "CASE WHEN i % 3 > 0 THEN i * 7919 % 100003 / 7.0 END AS v3, i % 9 AS sex",
                400,
            )
        )
        found = {each.name: (each.role, each.kind, each.is_undecided) for each in session.suggest("t").columns}
        assert found["wage"] == ("sensitive", "money", False)
        assert found["v1"] == found["v2"] == ("identifier", "twin", False)
        assert found["v3"][2], "unique numbers are no twins of others"

    def test_a_twin_gives_a_text_its_order(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute(NUMBER.format("'e' || (i * 7) % 12 AS education, i % 12 AS education_num", 400))
        session.suggest("t").write(tmp_path / "policy.toml")
        lines = (tmp_path / "policy_education.csv").read_text().splitlines()
        assert [line.split(";")[0] for line in lines] == [f"e{i * 7 % 12}" for i in range(12)]
        assert lines[2].split(";") == ["e2", "e2 – e9", "e0 – e9", "e0 – e1", "*"]
        assert session.anonymize("t", tmp_path / "policy.toml", into="out").report.rows.released == 400


class TestCleaning:
    def test_one_query_mends_all_and_runs_as_it_is(self, session: sa.Session, folder: Path) -> None:
        rows = [
            (
                str(number), str([1067, 1069, 4103, 41061][number % 4]),
                "unbekannt" if number % 50 == 0 else f"{number % 28 + 1:02}.{number % 12 + 1:02}.{1950 + number % 9}",
                ["f", "F ", "m", "M"][number // 5 % 4], ["E11.9", "e11.9", "I10"][number % 3], f"{number % 9}/3/2020",
            )
            for number in range(300)
        ]  # fmt: skip
        text = "".join(";".join(row) + "\n" for row in [("id", "plz", "birth", "sex", "dx", "visit_date"), *rows])
        (folder / "messy.csv").write_text(text)
        ran = sqlanon("init", "messy.csv", "--clean", "clean.sql", "--json", folder=folder)
        found = document(ran)
        assert found["cleaning"] is None
        assert found["files"][:2] == ["policy.toml", "clean.sql"]
        policy = tomllib.loads((folder / "policy.toml").read_text())
        assert policy["taxonomies"]["birth"] == {"kind": "dates", "units": ["year", "decade"]}
        cleaned = sqlanon(*shlex.split(found["next"][0])[1:], folder=folder)
        assert (cleaned.returncode, "clean.sql" in found["next"][0]) == (0, True), cleaned.stderr
        assert sqlanon(*shlex.split(found["next"][1])[1:], folder=folder).returncode == 0
        query = (folder / "clean.sql").read_text().replace("messy.csv", str(folder / "messy.csv"))
        engine = engine_of(session)
        with engine.reading_frames():
            engine.read_as(sa.Policy.from_toml(folder / "policy.toml").csv)
            read = engine.resolve(query).relation.sql("duckdb")
        session.connection.execute(f"CREATE TABLE c AS FROM {read}")
        assert session.connection.execute(
            "SELECT count(*), count(birth), typeof(any_value(birth)) FROM c"
        ).fetchall() == [(300, 294, "DATE")]
        for column, expected in {
            "plz": ["01067", "01069", "04103", "41061"], "sex": ["f", "m"], "dx": ["E11.9", "I10"],
            "visit_date": sorted({row[5] for row in rows}),
        }.items():  # fmt: skip
            values = session.connection.execute(f"SELECT DISTINCT {column} FROM c ORDER BY ALL").fetchall()
            assert [value for (value,) in values] == expected, column
        again = sqlanon("init", "messy.csv", "--clean", "clean.sql", "--out", "other.toml", folder=folder)
        assert (again.returncode, (folder / "other.toml").exists()) == (2, False)

    def test_what_is_wrong_is_said_of_each_column(self, session: sa.Session) -> None:
        session.connection.execute(
            NUMBER.format(
                "[' x', 'X', 'y'][1 + i % 3] AS city, ['a', 'b '][1 + i % 2] AS region, "
                "CASE WHEN i % 90 = 0 THEN 'n/a' ELSE '2024-01-0' || 1 + i % 9 END AS admitted, "
                "format('{:02}/{:02}/1970', 1 + i % 12, 1 + i % 28) AS born, "
                "CASE WHEN i % 90 = 0 THEN '' ELSE 'c' || i % 3 END AS country, 501 + i % 2 * 12000 AS zip, "
                "1000.0::DOUBLE + i % 9 AS postcode, ['Ab', 'aB'][1 + i % 2] || i AS name",
                360,
            )
        )
        found = session.suggest("t")
        said = {note.split('"')[1]: note for note in found.notes if note.startswith('"') and ": " in note}
        assert said == {
            "city": '"city" has 3 texts, 2 without regard to case and blanks: LOWER(TRIM("city"))',
            "admitted": '"admitted" has dates as texts; other texts become missing in 4 rows: '
            "CAST(TRY_STRPTIME(TRIM(\"admitted\"), ['%Y-%m-%d', '%Y-%m-%d %H:%M:%S', '%Y-%m-%dT%H:%M:%S', "
            "'%Y-%m-%d %H:%M', '%Y-%m-%d %H:%M:%S.%f']) AS DATE)",
            "born": '"born" has dates as texts: CAST(TRY_STRPTIME(TRIM("born"), '
            "['%m/%d/%Y', '%m-%d-%Y', '%m.%d.%Y', '%Y-%m-%d']) AS DATE)",
            "zip": '"zip" has codes of 3 to 5 digits, as if zeros at their beginning were lost: '
            "FORMAT('{:05d}', CAST(\"zip\" AS BIGINT))",
        }
        assert found.cleaning is not None
        session.connection.execute(f"CREATE TABLE c AS {found.cleaning}")
        zips = session.connection.execute("SELECT DISTINCT zip FROM c ORDER BY ALL").fetchall()
        assert zips == [("00501",), ("12501",)]
        assert session.suggest("c").cleaning is None
        events: list[sa.Event] = []
        assert session.suggest("t", clean=True, progress=events.append).query == found.cleaning
        started = [event.stage for event in events if event.state == "started"]
        assert started == ["read", "suggest", "read", "suggest", "try"], "no policy is tried that another one replaces"

    def test_what_cannot_be_told_apart_stays(self, session: sa.Session) -> None:
        session.connection.execute(
            NUMBER.format(
                "format('{:02}/{:02}/1970', 1 + i % 12, 1 + i % 11) AS born, i % 5 AS age, 1000 + i % 9 AS zip, "
                "['12345', '1234', '12345-6789'][1 + i % 3] AS postcode, "
                "CASE WHEN i % 2 = 0 THEN 'A' ELSE 'a' END || i AS last_name",
                360,
            )
        )
        assert session.suggest("t").cleaning is None

    def test_amounts_of_one_currency_are_numbers(self, session: sa.Session) -> None:
        amounts = {
            "salary": ("$1,234.50", "-$12", "$ 7.25"), "pay": ("12,50 €", "€ 1.234", "€-3"),
            "fee": ("CHF 1'234.5", "3 chf"),
            "wage": ("$85,000", "$12"), "income": ("1 234,50 EUR", "EUR 12"), "cost": ("€ 12", "€ 7"),
            "tax": ("1,234 €", "12 €"), "fare": ("$5", "€ 5"), "loan": ("$5", "7"), "rent": ("$5", "$1.2.3"),
            "debt": ("$5", "$12,34.5"), "bonus": ("ABC 12", "ABC 3"),
        }  # fmt: skip
        rows = {
            name: [texts[row // place % len(texts)] for row in range(60)]
            for place, (name, texts) in enumerate(amounts.items(), 1)
        }
        session.connection.register("rows", pa.table(rows)).execute("CREATE TABLE t AS FROM rows")
        found = session.suggest("t")
        session.connection.execute(f"CREATE TABLE c AS {found.cleaning}")
        row = "SELECT " + ", ".join(f"list_sort(list(DISTINCT {name}))" for name in amounts) + " FROM c"
        cleaned = dict(zip(amounts, session.connection.execute(row).fetchall()[0], strict=True))
        assert {name: each for name, each in cleaned.items() if each != sorted(amounts[name])} == {
            "salary": [-12, 7.25, 1234.5], "pay": [-3, 12.5, 1234], "fee": [3, 1234.5], "wage": [12, 85000],
            "income": [12, 1234.5], "cost": [7, 12],
        }  # fmt: skip
        assert any(note.startswith('"cost" has amounts of money') for note in found.notes)

    @pytest.mark.parametrize("word", ["TOTAL", '" Grand total: "'])
    def test_a_line_of_totals_is_left_out(self, folder: Path, word: str) -> None:
        rows = [f"{'' if number == 3 else f'p{number}'};{30 + number % 9};{number % 7}" for number in range(60)]
        (folder / "stays.csv").write_text("\n".join(["patient;age;stays", *rows, f"{word};;1,234", ""]))
        with sa.connect() as session:
            found = session.suggest(folder / "stays.csv")
            assert "1 row looks like a line of totals and is counted as a person: leave it out" in found.notes
            cleaned = session.suggest(folder / "stays.csv", clean=True)
            assert (cleaned.row_count, cleaned.cleaning, cleaned.query) == (60, None, found.cleaning)
            assert "the query leaves out 1 row: lines of totals, by their first text" in cleaned.notes
            assert not any("looks like a line" in each for each in cleaned.notes)
            kept = session.suggest(
                "SELECT * FROM (VALUES ('Total', 1), ('partial', 2), ('total', 3)) AS t (surgery, age)"
            )
            assert not any("line of totals" in each for each in kept.notes)

    def test_a_frame_gets_advice_and_no_query(self, session: sa.Session) -> None:
        frame = pa.table({"sex": ["f", "F"] * 40, "age": [*range(40)] * 2})
        found = session.suggest(frame)
        assert (found.cleaning, any("2 texts, 1 without" in note for note in found.notes)) == (None, True)

    def test_decimal_commas_of_a_query_are_mended(self, folder: Path) -> None:
        (folder / "lab.csv").write_text(
            "sex;HbA1c\n" + "".join(f"{'fm'[i % 2]};{7 + i % 3},{i % 10}\n" for i in range(80)) + "f;k.A.\n"
        )
        source = "FROM read_csv('lab.csv', all_varchar = true, delim = ';')"
        ran = sqlanon("init", source, "--clean", "lab.sql", folder=folder)
        assert ran.returncode == 0, ran.stderr
        assert "TRY_CAST(REPLACE(\"HbA1c\", ',', '.') AS DOUBLE)" in (folder / "lab.sql").read_text()
        assert sqlanon("init", "lab.sql", "--out", "again.toml", folder=folder).returncode == 0
        assert "comma" not in heading_of(folder / "again.toml")

    def test_zeros_that_were_lost_are_noted_at_a_run(self, session: sa.Session) -> None:
        session.connection.execute(NUMBER.format("[1067, 1069, 41061][1 + i % 3] AS plz", 60))
        policy = {"quasi_identifiers": ["plz"], "privacy": [{"model": "k-anonymity", "k": 5}]}
        policy["taxonomies"] = {"plz": {"kind": "prefixes", "keep": [3]}}
        notes = session.anonymize("t", policy, into="out").report.notes
        assert any('"plz" has values of 4 to 5 digits' in note for note in notes)
        comments = session.connection.execute("SELECT comment FROM duckdb_tables() WHERE table_name = 'out'").fetchone()
        assert comments and "digits" not in comments[0], "a row that is left out may be the one"
        padded = session.anonymize(
            "SELECT lpad(plz::VARCHAR, 5, '0') AS plz FROM t", policy, into="padded"
        ).report.notes
        assert not any("digits" in note for note in padded)


class TestTrials:
    def test_of_full_domains_that_say_nothing_ask_for_local_recoding(self, session: sa.Session, tmp_path: Path) -> None:
        rare = (
            f"CASE WHEN i % 9 = {place} THEN 2 + hash(i) % 4 ELSE hash(i + {place}000) % 2 END || '{name}' AS {name}"
            for place, name in enumerate(["city", "job", "country", "education", "marital"])
        )
        session.connection.execute(NUMBER.format(", ".join(rare), 400))
        found = session.suggest("t")
        assert found.trial is not None
        assert found.trial.rows == found.trial.source_rows == 400
        assert len(found.trial.at_top) >= 3
        assert found.method == "local-recoding"
        found.write(tmp_path / "policy.toml")
        local = session.anonymize("t", tmp_path / "policy.toml", into="local")
        without = sa.Policy.from_toml(tmp_path / "policy.toml").changed(
            {"method": sa.FullDomain(suppression_limit=0.05)}
        )
        full = session.anonymize("t", without, into="full")
        assert full.report.loss == pytest.approx(found.trial.loss)
        assert local.report.loss == pytest.approx(found.trial.local_loss, abs=0.1)
        shown = " ".join(found.notes)
        assert f"{found.trial.loss:.2g} of 1, with * in all rows of " in shown
        assert f"local recoding loses about {found.trial.local_loss:.2g} there, so the policy asks for it" in shown

    def test_of_useful_full_domains_leave_the_method(self, suggested: sa.Suggestion, session: sa.Session) -> None:
        session.connection.execute(NUMBER.format("i % 50 AS age, i % 2 AS sex", 30_000))
        found = session.suggest("t")
        assert found.trial is not None
        assert (found.method, found.trial.rows, found.trial.loss) == ("full-domain", 10_000, 0.0)
        assert '\n# method = "local-recoding"  # local recoding loses about 0, full domains lose 0\n' in found.to_toml()
        assert any("in a trial on 10,000 of 30,000 rows" in note for note in found.notes)

    def test_leave_nothing_in_the_warehouse(self, folder: Path) -> None:
        def tables() -> list[tuple[str, ...]]:
            with duckdb.connect(folder / "w.duckdb", read_only=True) as connection:
                return connection.execute("SELECT schema_name, table_name FROM duckdb_tables()").fetchall()

        before = tables()
        with sa.connect(folder / "w.duckdb") as session:
            found = session.suggest("people")
            assert session.connection.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchone() == (0,)
        assert found.trial is not None
        assert tables() == before

    def test_that_make_no_release_say_why(self, session: sa.Session) -> None:
        session.connection.execute(NUMBER.format("'p' || i // 5 AS patient_id, i % 50 AS age, i % 2 AS sex", 100))
        [note] = (note for note in session.suggest("t", k=60).notes if "trial" in note)
        assert note.startswith("a trial on all 100 rows made no release: ")


class TestDescriptions:
    STATEMENT = NUMBER.format("i % 50 AS v1, i % 9 AS v2, i % 4 AS v3", 300)
    CODEBOOK = "Column;Description\nV1;Age of the respondent in years\nv2;Monthly income (net)\n"

    def test_a_codebook_gives_roles(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute(self.STATEMENT)
        (tmp_path / "codes.csv").write_text(self.CODEBOOK)
        assert [*roles(session.suggest("t")).values()] == ["?", "?", "?"]
        found = session.suggest("t", codebook=tmp_path / "codes.csv")
        assert [*roles(found).values()] == ["quasi-identifier", "sensitive", "?"]
        assert roles(found) == roles(session.suggest("t", codebook={"V1": "age", "V2": "income"}))

    @pytest.mark.parametrize("header", ["variable,label", "Name;Label", "field,Meaning,type", "Variable\tBeschreibung"])
    def test_a_codebook_is_headed_as_others_write_it(self, header: str, tmp_path: Path) -> None:
        delimiter = next(sign for sign in ",;\t" if sign in header)
        (tmp_path / "codes.csv").write_text(header + f"\nV1{delimiter}Age{delimiter}x\n")
        assert read_codebook(tmp_path / "codes.csv") == {"v1": "Age"}

    def test_a_codebook_without_descriptions_says_what_it_has(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "codes.csv").write_text("variable,codes\nv1,x\n")
        with pytest.raises(
            sa.PolicyError, match=r'"description" or "label".*has 2 fields, and not these names'
        ) as caught:
            session.suggest("SELECT 1 AS a", codebook=tmp_path / "codes.csv")
        assert caught.value.guide == "suggested-policies"

    def test_comments_on_columns_give_roles(self, session: sa.Session) -> None:
        session.connection.execute(self.STATEMENT)
        session.connection.execute("COMMENT ON COLUMN t.v1 IS 'Alter in Jahren'")
        session.connection.execute("COMMENT ON COLUMN t.v3 IS 'nothing of use'")
        assert [*roles(session.suggest("t")).values()] == ["quasi-identifier", "?", "?"]

    def test_comments_on_the_columns_of_a_view_give_roles(self, session: sa.Session) -> None:
        session.connection.execute(self.STATEMENT)
        session.connection.execute("CREATE VIEW v AS FROM t; COMMENT ON COLUMN v.v1 IS 'Age, in years'")
        session.connection.execute("COMMENT ON VIEW v IS 'income of persons'")
        assert [*roles(session.suggest("v")).values()] == ["quasi-identifier", "?", "?"]

    def test_metadata_of_fields_of_parquet_files_give_roles(self, session: sa.Session, tmp_path: Path) -> None:
        fields = [
            pa.field("V1", pa.int64(), metadata={"description": "Age, in years", "comment": "income"}),
            pa.field("v2", pa.int64(), metadata={b"comment": b"Monthly income \xff"}),
            pa.field("v3", pa.int64(), metadata={"PARQUET:field_id": "3"}),
        ]
        table = pa.table([[i % n for i in range(300)] for n in (50, 9, 4)], schema=pa.schema(fields))
        pq.write_table(table, tmp_path / "t.parquet")
        source = str(tmp_path / "t.parquet")
        assert [*roles(session.suggest(source)).values()] == ["quasi-identifier", "sensitive", "?"]
        suggested = session.suggest(source, codebook={"v1": "nothing of use"})
        assert [*roles(suggested).values()] == ["?", "sensitive", "?"]

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (None, "cannot be read"),
            ("", "needs a header"),
            ("a,b\nname,meaning\n", "needs a header"),
            ("variable;label\nv2;männlich\n", "is not UTF-8: save it as UTF-8, with `iconv -f windows-1252 -t utf-8`"),
        ],
    )
    def test_a_codebook_that_is_none_is_refused(self, text: str | None, reason: str, tmp_path: Path) -> None:
        if text is not None:
            (tmp_path / "codes.csv").write_text(text, encoding="latin-1")
        with pytest.raises(sa.PolicyError, match=f"codebook .*{reason}"):
            read_codebook(tmp_path / "codes.csv")


def test_json_has_a_schema() -> None:
    schema = sa.Suggestion.model_json_schema()
    assert {"columns", "quasi_identifiers", "alone", "without"} <= schema["properties"].keys()
