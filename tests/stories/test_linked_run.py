"""Linked tables from the outside: the commands and the verbs of a session, and what failures leave behind."""

import itertools
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.commands import document, environment, sqlanon

POLICY = ("--policy", "clinic.linked.toml")
WAREHOUSE = ("--db", "clinic.duckdb", *POLICY)
FILES = ("patients=patients.csv", "treatments=treatments.csv")
TYPES = ("--csv", "types.zip=VARCHAR")
K = 5


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of the demo, its policies, and its linked tables as CSV files."""
    folder = tmp_path_factory.mktemp("hospital")
    made = sqlanon("demo", "--db", "clinic.duckdb", "--rows", "200", folder=folder)
    assert made.returncode == 0, made.stderr
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        for table in ("patients", "treatments"):
            connection.execute(f"COPY {table} TO '{folder / table}.csv'")
    return folder


@pytest.fixture
def clinic(hospital: Path, tmp_path: Path) -> Path:
    return shutil.copytree(hospital, tmp_path / "clinic")


@pytest.fixture(scope="module")
def released(hospital: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clinic with a release from its files in ``released``."""
    folder = shutil.copytree(hospital, tmp_path_factory.mktemp("released") / "clinic")
    done = sqlanon("run", *FILES, *TYPES, *POLICY, "--into", "released/", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


def least_known(patients: str, treatments: str, connection: duckdb.DuckDBPyConnection) -> int:
    """The fewest patients with the same labels and one treatment in common, or with the same labels alone."""
    query = f"""
        WITH joined AS (FROM {patients} LEFT JOIN {treatments} USING (patient_id))
        SELECT least(
            (SELECT min(persons) FROM (SELECT count(*) AS persons FROM {patients} GROUP BY born, sex, zip)),
            (SELECT min(persons) FROM (
                SELECT count(DISTINCT patient_id) AS persons FROM joined WHERE department IS NOT NULL
                GROUP BY born, sex, zip, day, department
            ))
        )
    """
    [(least,)] = connection.execute(query).fetchall()
    return int(least)


def reported(folder: Path) -> Any:
    return document(sqlanon("report", "released/", "--json", folder=folder))["report"]


def policy(**changes: Any) -> sa.LinkedPolicy:
    roles = {
        "people": sa.TableRoles(row_key="id", quasi_identifiers=["sex"], taxonomies={"sex": "flat"}),
        "stays": sa.TableRoles(
            parent="people",
            key="person",
            quasi_identifiers=["ward"],
            taxonomies={"ward": "flat"},
            suppression_limit=0.5,
        ),
    }
    return sa.LinkedPolicy(**{"tables": roles, "privacy": [sa.KnownRows(2)], **changes})


def small(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE people AS SELECT i AS id, ['f', 'm'][1 + i % 2] AS sex FROM range(40) AS rows (i)")
    connection.execute("CREATE TABLE stays AS SELECT i % 40 AS person, 'w' || i % 3 AS ward FROM range(90) AS rows (i)")


class TestCommands:
    def test_files_are_released_to_a_folder(self, released: Path) -> None:
        there = released / "released"
        assert sorted(file.name for file in there.iterdir()) == [
            "_sqlanon.json", "patients.parquet", "treatments.parquet",
        ]  # fmt: skip
        with duckdb.connect() as connection:
            patients, treatments = (f"'{there / name}.parquet'" for name in ("patients", "treatments"))
            assert least_known(patients, treatments, connection) >= K
            raw = [f"'{released / name}.csv'" for name in ("patients", "treatments")]
            assert least_known(raw[0], raw[1], connection) == 1
            keys = f"SELECT min(patient_id), max(patient_id), count(DISTINCT patient_id), count(*) FROM {patients}"
            assert connection.execute(keys).fetchall() == [(1, 2000, 2000, 2000)]
            strangers = f"SELECT count(*) FROM {treatments} ANTI JOIN {patients} USING (patient_id)"
            assert connection.execute(strangers).fetchall() == [(0,)]

    def test_a_release_is_verified_alone_and_beside_its_sources(self, released: Path) -> None:
        for sources in ((), FILES, ("patients=patients.csv", "--db", "clinic.duckdb")):
            done = sqlanon("verify", "released/", *sources, *TYPES, *POLICY, folder=released)
            assert (done.returncode, done.stdout.count("left with fewer than 5")) == (0, 1), done.stderr
        shown = document(sqlanon("verify", "released/", *POLICY, "--json", folder=released))
        assert shown["met"] and shown["measurement"]["known"]["1"]["k"] >= K
        given = ("--record-sha256", shown["record_sha256"])
        assert sqlanon("verify", "released/", *POLICY, *given, folder=released).returncode == 0
        other = sqlanon("verify", "released/", *POLICY, "--record-sha256", "0" * 64, folder=released)
        assert (other.returncode, "given hash" in other.stderr) == (3, True)

    def test_a_release_is_reported_on_with_and_without_its_policy(self, released: Path) -> None:
        for more in ((), POLICY, (*FILES, *TYPES, *POLICY)):
            shown = sqlanon("report", "released/", *more, folder=released)
            assert shown.returncode == 0, shown.stderr
            assert [words for words in ("m = 1", "not promised", "belong to nobody") if words not in shown.stdout] == []
        page = sqlanon("report", "released/", "--out", "page.html", "--replace", "--json", folder=released)
        assert document(page)["report"]["tables"]["patients"]["released"] == 2000
        assert "the person and two rows" in (released / "page.html").read_text()

    def test_a_file_of_another_release_falls_short(self, released: Path, tmp_path: Path) -> None:
        folder = shutil.copytree(released, tmp_path / "clinic")
        again = sqlanon("run", *FILES, *TYPES, *POLICY, "--into", "other/", "--json", folder=folder)
        assert document(again)["node"] == reported(folder)["node"]
        own = (folder / "released" / "treatments.parquet").read_bytes()
        shutil.copy(folder / "other" / "treatments.parquet", folder / "released" / "treatments.parquet")
        done = sqlanon("verify", "released/", *POLICY, folder=folder)
        assert (done.returncode, '"treatments": its file was changed' in done.stderr) == (3, True)
        changed = sqlanon("run", *WAREHOUSE, "--into", "released/", "--replace", folder=folder)
        assert (changed.returncode, "changed since" in changed.stderr) == (1, True)
        (folder / "released" / "treatments.parquet").write_bytes(own)
        taken = sqlanon("run", *WAREHOUSE, "--into", "released/", folder=folder)
        assert (taken.returncode, "--replace" in taken.stderr) == (2, True)
        assert sqlanon("run", *WAREHOUSE, "--into", "released/", "--replace", folder=folder).returncode == 0
        assert sqlanon("verify", "released/", *POLICY, folder=folder).returncode == 0

    def test_tables_of_the_warehouse_are_released_to_a_schema(self, clinic: Path) -> None:
        done = sqlanon("run", *WAREHOUSE, "--into", "released", "--k", "7", "--time-limit", "60", folder=clinic)
        assert done.returncode == 0, done.stderr
        with duckdb.connect(str(clinic / "clinic.duckdb")) as connection:
            assert least_known("released.patients", "released.treatments", connection) >= 7
        done = sqlanon("verify", "released", *WAREHOUSE, "patients=patients", folder=clinic)
        assert done.returncode == 0, done.stderr
        assert sqlanon("report", "released", "--db", "clinic.duckdb", folder=clinic).returncode == 0

    def test_what_is_raw_is_measured(self, released: Path) -> None:
        raw = sqlanon("measure", *WAREHOUSE, folder=released)
        assert (raw.returncode, "and one row" in raw.stderr) == (3, True)
        files = (f"{name}=released/{name}.parquet" for name in ("patients", "treatments"))
        shown = sqlanon("measure", *files, *POLICY, "--json", folder=released)
        assert (shown.returncode, document(shown)["met"]) == (0, True)

    def test_the_first_equals_sign_ends_the_name(self, clinic: Path) -> None:
        shutil.move(clinic / "patients.csv", clinic / "year=2025.csv")
        files = ("patients=year=2025.csv", "treatments=treatments.csv")
        done = sqlanon("run", *files, *TYPES, *POLICY, "--into", "released/", folder=clinic)
        assert done.returncode == 0, done.stderr


BOTH_FORMS = ("patients=patients.csv visits=visits.csv", '"visits.csv"')
TO = ("--into", "out/")

REFUSED: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "one source": (("run", "patients", *WAREHOUSE, *TO), BOTH_FORMS),
    "several sources of one": (("run", *FILES, "--policy", "clinic.policy.toml", *TO), BOTH_FORMS),
    "a pair of one": (("run", FILES[0], "--policy", "clinic.policy.toml", *TO), BOTH_FORMS),
    "a column": (("measure", "patients=treatments.csv", FILES[1], *POLICY), ('"patients" has no column "born"',)),
    "measured": (("measure", "patients", *WAREHOUSE), BOTH_FORMS),
    "verified": (("verify", "out/", *POLICY, "--source", "patients"), BOTH_FORMS),
    "reported": (("report", "visits_k5", "--db", "clinic.duckdb", *FILES), BOTH_FORMS),
    "no source": (("run", "--policy", "clinic.policy.toml", *TO), ("SOURCE",)),
    "no warehouse": (("run", FILES[0], *POLICY, *TO), ('"treatments"', *BOTH_FORMS)),
    "another table": (("run", *FILES, "wards=wards.csv", *POLICY, *TO), ("wards",)),
    "a table twice": (("run", *FILES, FILES[0], *POLICY, *TO), ("two sources",)),
    "a file": (("run", *WAREHOUSE, "--into", "out.parquet"), ("folder", "schema")),
    "the same again": (("run", *WAREHOUSE, *TO, "--replace-if-changed"), ("drawn anew", "--replace")),
    "a node": (("run", *WAREHOUSE, *TO, "--node", "born=1"), ("--node",)),
    "a layout": (("run", *WAREHOUSE, *TO, "--rows-per-file", "9"), ("--rows-per-file",)),
    "a ledger": (("run", *WAREHOUSE, *TO, "--ledger", "ledger.duckdb"), ("--ledger",)),
    "a seed": (("run", *WAREHOUSE, *TO, "--seed", "1"), ("--seed",)),
    "taxonomies": (("run", *WAREHOUSE, *TO, "--taxonomy", "sex=sex.csv"), ("--taxonomy",)),
    "a lattice": (("lattice", "patients", *WAREHOUSE), ("several tables",)),
    "an explanation": (("explain", "patients", *WAREHOUSE), BOTH_FORMS),
    "a fit": (("fit", "patients", *WAREHOUSE, "--fit", "clinic.fit"), ("several tables",)),
    "a risk": (("risk", "patients", *WAREHOUSE), ("several tables",)),
    "the app": (("app", "patients", *WAREHOUSE, "--no-browser"), ("several tables", "--db")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_says_what_is_meant_and_leaves_nothing(name: str, clinic: Path) -> None:
    arguments, words = REFUSED[name]
    before = {file.name for file in clinic.iterdir()}
    refused = sqlanon(*arguments, folder=clinic)
    assert refused.returncode == 2, refused.stderr
    assert [word for word in words if word not in refused.stderr] == []
    assert "Traceback" not in refused.stderr
    assert {file.name for file in clinic.iterdir()} == before


def test_an_interrupted_command_leaves_nothing(clinic: Path) -> None:
    command = [sys.executable, "-m", "sqlanon", "run", *WAREHOUSE, *TO, "--events", "--json"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=clinic, env=environment(), **pipes) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if json.loads(line)["stage"] == "search":
                break
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=60)
    assert (process.returncode, json.loads(stdout)["error"]["kind"]) == (130, "Interrupted")
    assert not (clinic / "out").exists()
    assert not [file for file in clinic.iterdir() if file.name.startswith(".")]


class TestSession:
    def test_frames_and_tables_of_the_warehouse_are_sources(self) -> None:
        with sa.connect() as session:
            small(session.connection)
            seen: list[str] = []
            stays = session.connection.table("stays").to_arrow_table()
            session.connection.execute("DROP TABLE stays")
            given = {"people": None, "stays": stays}
            release = session.anonymize(given, policy(), "released", progress=lambda event: seen.append(event.stage))
            assert release.tables.keys() == {"people", "stays"}
            assert release.node.keys() == {"people.sex", "stays.ward"}
            assert seen[-1] == "publish"
            assert "people" in release._repr_html_()
            assert session.verify("released", policy(), source=given).met
            assert session.report("released", policy()).verification.met
            assert session.measure({"people": "released.people", "stays": "released.stays"}, policy()).known[1].k >= 2

    def test_fields_and_files_are_policies_of_several_tables(self, hospital: Path) -> None:
        with sa.connect() as session:
            small(session.connection)
            fields = policy().model_dump(mode="json")
            assert session.anonymize({}, fields, "by_fields").report.tables["people"].released == 40
            files = {name: hospital / f"{name}.csv" for name in ("patients", "treatments")}
            measured = session.measure(files, hospital / "clinic.linked.toml")
            assert measured.rows["patients"] == 2000

    def test_files_of_taxonomies_need_not_be_there_for_a_report(self, tmp_path: Path) -> None:
        (tmp_path / "ward.csv").write_text("".join(f"w{number};any\n" for number in range(3)))
        roles = policy().model_dump(mode="json")["tables"]
        roles["stays"]["taxonomies"] = {"ward": str(tmp_path / "ward.csv")}
        with sa.connect() as session:
            small(session.connection)
            session.anonymize({}, policy(tables=roles), "released", stop=lambda: True, listed=False)
            (tmp_path / "ward.csv").unlink()
            report = session.report("released")
            assert isinstance(report, sa.LinkedReleaseReport)
            assert report.verification.met
            assert [note for note in report.verification.notes if "other than" in note] == []
            record = json.loads(session.provenance("released") or "{}")["sqlanon"]
            assert str(tmp_path) not in json.dumps(record)
            assert record["report"]["tables"]["people"]["released"] == 40

    def test_one_source_and_several_are_refused_for_the_other(self) -> None:
        one = sa.Policy(quasi_identifiers=["sex"], identifiers=["id"], privacy=[sa.KAnonymity(2)])
        with sa.connect() as session:
            small(session.connection)
            several: Any = {"people": "people", "stays": "stays"}
            calls: list[Callable[[], object]] = [
                lambda: session.anonymize("people", policy(), "out"),  # type: ignore[call-overload]
                lambda: session.anonymize(several, one, "out"),
                lambda: session.measure(several, one),
                lambda: session.measure("people", policy()),  # type: ignore[call-overload]
            ]
            for call in calls:
                with pytest.raises(sa.PolicyError, match=r"(?s)a source for each.*takes one"):
                    call()

    def test_unknown_values_are_not_to_be_suppressed(self) -> None:
        wards = sa.Taxonomy.from_rows([("w0", "*"), ("w1", "*")])
        tables = policy().tables
        stays = sa.TableRoles(parent="people", key="person", quasi_identifiers=["ward"], taxonomies={"ward": wards})
        with sa.connect() as session:
            small(session.connection)
            with pytest.raises(sa.TaxonomyError, match="in the policy label the values at the top") as refused:
                session.anonymize({}, policy(tables={**tables, "stays": stays}), "out")
        assert '"stays.ward": 1 distinct value in 30 rows' in str(refused.value)
        assert "suppress" not in str(refused.value)

    def test_what_does_not_apply_is_refused_by_name(self) -> None:
        with sa.connect() as session:
            small(session.connection)
            linked: Any = policy()
            with pytest.raises(sa.PolicyError, match="csv_formulas=, node= and dataset= are not for several"):
                session.anonymize({}, linked, "out", node={"people.sex": 0}, dataset="x", csv_formulas="keep")
            for verb in ("lattice", "explore", "exploration", "risk", "sample_rows", "fit"):
                given: dict[str, Any] = {"policy": linked}
                if verb == "sample_rows":
                    given["release"] = "people"
                if verb == "fit":
                    given["sidecar"] = "out.fit"
                call = getattr(session.partitions if verb == "fit" else session, verb)
                with pytest.raises(sa.PolicyError, match=f"{verb} is not for several tables yet"):
                    call("people", **given)
            with pytest.raises(sa.PolicyError, match="drawn anew"):
                session.anonymize({}, linked, "out", replace="changed")
            nothing: Any = {"tables": {}, "public": (), "partition_by": ""}
            with pytest.raises(sa.UnsatisfiableError, match="max_loss"):
                session.anonymize({}, policy(privacy=[sa.KnownRows(21)]), "out", max_loss=0, **nothing)
            with pytest.raises(sa.PolicyError, match='"visits" is not a table of the policy'):
                session.anonymize({"visits": "stays"}, linked, "out")
            assert {name for (name,) in session.connection.sql("SHOW TABLES").fetchall()} == {"people", "stays"}

    @pytest.mark.parametrize("stage", ["encode", "search", "release", "verify"])
    def test_an_error_in_a_stage_leaves_the_release_that_was_there(self, stage: str, tmp_path: Path) -> None:
        def fail(event: sa.Event) -> None:
            if event.stage == stage:
                raise ZeroDivisionError

        with sa.connect() as session:
            small(session.connection)
            for into in (f"{tmp_path}/released/", "released"):
                session.anonymize({}, policy(), into)
                before = session.verify(into, policy()).record_sha256
                with pytest.raises(ZeroDivisionError):
                    session.anonymize({}, policy(), into, replace=True, progress=fail)
                assert session.verify(into, policy()).record_sha256 == before
        assert [file.name for file in tmp_path.iterdir()] == ["released"]

    def test_orphans_are_refused_with_their_number_or_dropped(self) -> None:
        with sa.connect() as session:
            small(session.connection)
            session.connection.execute("INSERT INTO stays VALUES (NULL, 'w0'), (99, 'w0'), (99, 'w1')")
            with pytest.raises(sa.PolicyError, match=r"(?s)stays.person.*3 rows belong to no row"):
                session.anonymize({}, policy(), "out")
            tables = policy().tables
            dropping = policy(tables={**tables, "stays": tables["stays"].model_copy(update={"orphans": "drop"})})
            release = session.anonymize({}, dropping, "out")
            assert release.report.tables["stays"].orphans == 3

    @pytest.mark.parametrize("model", [sa.KnownRows, lambda k: sa.KnownRows(k, m=2), sa.KAnonymity, "local-recoding"])
    def test_rows_of_nobody_and_of_persons_who_are_left_out_go(self, model: Any) -> None:
        """Of 41 persons 20 look alike, 20 others do, and one is alone, whose rows are like theirs; 20 have a row w5."""
        with sa.connect() as session:
            session.connection.execute(
                "CREATE TABLE people AS SELECT i AS id, CASE WHEN i = 40 THEN 'x' ELSE 's' || i % 2 END AS sex "
                "FROM range(41) AS rows (i)"
            )
            session.connection.execute(
                "CREATE TABLE stays AS SELECT i % 40 AS person, 'w' || i % 2 AS ward FROM range(80) AS rows (i) "
                "UNION ALL VALUES (40, 'w0'), (40, 'w1') UNION ALL SELECT 99, 'w9' FROM range(50) "
                "UNION ALL SELECT 2 * i, 'w5' FROM range(20) AS rows (i)"
            )
            tables = policy().tables
            dropping = {
                **tables,
                "stays": tables["stays"].model_copy(update={"orphans": "drop", "suppression_limit": 0.9}),
            }
            method = {"method": model} if model == "local-recoding" else {"maximum_levels": {"stays.ward": 0}}
            for k in (20,) if model is sa.KAnonymity else (20, 21):
                privacy = [(sa.KnownRows if isinstance(model, str) else model)(k)]
                own = policy(tables=dropping, privacy=privacy, suppression_limit=0.1, **method)
                rows = session.anonymize({}, own, f"k_{k}").report.tables
                assert (rows["people"].suppressed, rows["stays"].suppressed) == ((1, 2) if k == 20 else (0, 0))
                assert rows["stays"].orphans == 50
                assert rows["stays"].released + rows["stays"].hidden == (100 if k == 20 else 102)
                assert rows["stays"].hidden >= (0 if k == 20 else 20)
                fewest = session.measure({name: f"k_{k}.{name}" for name in tables}, own)
                assert fewest.known[1].k >= k
            wards = session.connection.sql(
                "SELECT ward, count(*) FROM k_20.stays GROUP BY ward ORDER BY ward"
            ).fetchall()
            assert wards == [("w0", 40), ("w1", 40), ("w5", 20)]
            assert session.connection.sql("SELECT count(*) FROM k_20.people WHERE sex = 'x'").fetchall() == [(0,)]

    def test_nothing_is_left_of_keys_and_of_the_order_of_rows(self) -> None:
        """New keys have no order of the source, and another one in each release; rows are sorted by their values."""
        tables = policy().tables
        kept = {
            "people": sa.TableRoles(**{**tables["people"].model_dump(), "insensitive": ("place",)}),
            "stays": sa.TableRoles(**{**tables["stays"].model_dump(), "insensitive": ("number",)}),
        }
        with sa.connect() as session:
            session.connection.execute(
                "CREATE TABLE people AS SELECT 500 - i AS id, 'f' AS sex, i AS place FROM range(200) AS rows (i)"
            )
            session.connection.execute(
                "CREATE TABLE stays AS "
                "SELECT 301 + i % 200 AS person, 'w' AS ward, -i AS number FROM range(600) AS rows (i)"
            )
            released = []
            for into in ("one", "another"):
                session.anonymize({}, policy(tables=kept), into)
                [(keys,)] = session.connection.sql(f"SELECT list(id ORDER BY place) FROM {into}.people").fetchall()
                assert sorted(keys) == [*range(1, 201)]
                # By chance 200 pairs of neighbours are rising or falling half of the time, with a deviation of 4.
                assert 60 < sum(one < next_one for one, next_one in itertools.pairwise(keys)) < 140
                stays = session.connection.sql(f"SELECT person, number FROM {into}.stays").fetchall()
                assert stays == sorted(stays)
                owners = f"SELECT place - number % 200 FROM {into}.stays JOIN {into}.people ON id = person"
                assert {*session.connection.sql(owners).fetchall()} == {(199,)}
                released.append(keys)
            assert released[0] != released[1]

    def test_names_of_keys_are_quoted_as_in_sql(self) -> None:
        tables = policy().tables
        named = policy(tables={**tables, "people": tables["people"].model_copy(update={"row_key": 'i"d'})})
        with sa.connect() as session:
            small(session.connection)
            session.connection.execute("INSERT INTO people VALUES (NULL, 'f')")
            session.connection.execute('ALTER TABLE people RENAME id TO "i""d"')
            with pytest.raises(sa.PolicyError, match=r'"people\.i""d" is NULL in 1 row: each row needs'):
                session.anonymize({}, named, "out")

    @pytest.mark.parametrize("kind", ["DOUBLE", "DECIMAL(9, 2)", "VARCHAR", "BOOLEAN"])
    def test_keys_that_are_written_in_other_ways_are_refused(self, kind: str) -> None:
        """A frame with missing keys has 1.0 where the persons have 1: nobody's rows would be orphans."""
        with sa.connect() as session:
            small(session.connection)
            session.connection.execute(f"ALTER TABLE stays ALTER person TYPE {kind}")
            with pytest.raises(sa.PolicyError, match=r"stays\.person.*people\.id.*BIGINT: cast one of them"):
                session.anonymize({}, policy(), "out")
            session.connection.execute(
                "CREATE VIEW whole AS SELECT CAST(range % 40 AS UTINYINT) AS person, ward "
                "FROM range(90), (FROM stays LIMIT 1) AS one"
            )
            assert session.anonymize({"stays": "whole"}, policy(), "out").report.tables["stays"].orphans == 0

    def test_labels_of_fractional_numbers_are_verified_beside_their_source(self) -> None:
        """Years with missing ones are 1980.0 in a frame, and 1980 in a declared range."""
        with sa.connect() as session:
            small(session.connection)
            session.connection.execute("ALTER TABLE people ADD COLUMN born DOUBLE")
            session.connection.execute("UPDATE people SET born = 1980 + id % 3 WHERE id > 3")
            tables = policy().tables
            roles: dict[str, Any] = {
                "quasi_identifiers": ("sex", "born"),
                "taxonomies": {"sex": "flat", "born": sa.Taxonomy.intervals([10], minimum=1980, maximum=1999)},
            }
            changed = policy(tables={**tables, "people": sa.TableRoles(row_key="id", **roles)})
            for at_least in (0, 1):
                changed = changed.model_copy(update={"minimum_levels": {"people.born": at_least}})
                session.anonymize({}, changed, "released", replace=True)
                assert session.verify("released", changed, source={}).met

    def test_unknown_values_at_the_top_are_verified_beside_their_source(self) -> None:
        tables = policy().tables
        people = sa.TableRoles(
            row_key="id",
            quasi_identifiers=("sex",),
            taxonomies={"sex": sa.Taxonomy.groups({"f": ["f"]})},
            unknown={"sex": "top"},
        )
        with sa.connect() as session:
            small(session.connection)
            own = policy(tables={**tables, "people": people})
            session.anonymize({}, own, "released")
            assert session.verify("released", own, source={}).met

    def test_hostile_names_are_names(self, tmp_path: Path) -> None:
        person, event, key, label = "it's; DROP", 'a "b" = c', "sum(1)", "key"
        roles = {
            person: sa.TableRoles(row_key=key, quasi_identifiers=[label], taxonomies={label: "flat"}),
            event: sa.TableRoles(
                parent=person, key=key, quasi_identifiers=[label], taxonomies={label: "flat"}, suppression_limit=0.5
            ),
        }
        with sa.connect() as session:
            small(session.connection)
            sources = {
                person: 'SELECT id AS "sum(1)", sex AS "key" FROM people',
                event: 'SELECT person AS "sum(1)", ward AS "key" FROM stays',
            }
            for into in (f"{tmp_path}/released/", "released"):
                release = session.anonymize(sources, policy(tables=roles), into)
                assert release.report.tables[person].released == 40
                assert session.verify(into, policy(tables=roles), source=sources).met
                assert session.report(into, policy(tables=roles)).verification.met
