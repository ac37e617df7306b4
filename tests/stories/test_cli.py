"""The command line from outside: exit codes, data on stdout and talk on stderr, and what failures leave behind."""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from sqlanon.cli.app import command_line
from tests.commands import document, ended, environment, sqlanon, started

VALUE = "alice-1970"

POLICY = """
quasi_identifiers = ["age", "sex"]
sensitive = ["diagnosis"]
identifiers = ["id"]
suppression_limit = 0.1

[[privacy]]
model = "k-anonymity"
k = 3
"""


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse of 60 rows, files of taxonomies and a policy; tests get a copy."""
    raw = tmp_path_factory.mktemp("raw")
    with duckdb.connect(str(raw / "clinic.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i AS id, 20 + i % 40 AS age, if(i % 2 = 0, 'f', 'm') AS sex, "
            f"if(i = 7, '{VALUE}', 'flu ' || i % 5) AS diagnosis FROM range(60) AS rows (i)"
        )
    (raw / "policy.toml").write_text(POLICY)
    rows = [f"{age};[{age // 10 * 10}, {age // 10 * 10 + 10});*" for age in range(20, 60)]
    (raw / "age.csv").write_text("\n".join(rows))
    (raw / "sex.csv").write_text("f;*\nm;*\n")
    return raw


@pytest.fixture(scope="module")
def loaded(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with the taxonomies in the warehouse."""
    loaded = copied(raw, tmp_path_factory.mktemp("loaded"))
    for name in ("age", "sex"):
        given = [name, f"{name}.csv", "--db", "clinic.duckdb"]
        done = sqlanon("taxonomy", "load", *given, "--source", "visits", folder=loaded)
        assert done.returncode == 0, done.stderr
    return loaded


@pytest.fixture
def folder(raw: Path, tmp_path: Path) -> Path:
    """A folder with a warehouse of 60 rows, its taxonomies and a policy."""
    return copied(raw, tmp_path)


@pytest.fixture
def clinic(loaded: Path, tmp_path: Path) -> Path:
    return copied(loaded, tmp_path)


def copied(folder: Path, into: Path) -> Path:
    return shutil.copytree(folder, into, dirs_exist_ok=True)


def published(command: str, *more: str, source: str = "visits") -> list[str]:
    return [command, source, "--db", "clinic.duckdb", "--policy", "policy.toml", *more]


def tables(path: Path) -> set[str]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


def test_help_and_version(tmp_path: Path) -> None:
    assert "taxonomy" in started(folder=tmp_path).stdout
    version = sqlanon("--version", folder=tmp_path)
    assert (version.returncode, version.stdout.split()[0]) == (0, "sqlanon")
    done = sqlanon("--debug", folder=tmp_path)
    assert (done.returncode, "Missing command" in done.stderr) == (2, True)


def commands(command: Any, name: str = "sqlanon") -> Iterator[tuple[str, Any]]:
    yield name, command
    for below, found in getattr(command, "commands", {}).items():
        yield from commands(found, f"{name} {below}")


def test_every_command_has_an_example_in_the_words_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    found = {}
    for name, command in commands(command_line()):
        text = command.get_help(command.make_context(name, [], resilient_parsing=True))
        found[name] = " ".join(f"{text} {capsys.readouterr().out}".split())
    groups = {name.rpartition(" ")[0] for name in found} - {"sqlanon releases"}
    assert [name for name in {*found} - groups if f"Example: {name}" not in found[name]] == []
    wrong = ("<bool>", "<str>", "<int", "<float>", "<path>", "<list", "None", "True", "Session")
    assert [(name, word) for name, text in found.items() for word in wrong if word in text] == []


def test_install_makes_macros_that_a_plain_client_can_call(tmp_path: Path) -> None:
    assert sqlanon("install", "--db", "new.duckdb", folder=tmp_path).returncode == 0
    with duckdb.connect(str(tmp_path / "new.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a FROM range(4)")
        assert connection.execute("SELECT k FROM anon.k_anonymity('t', ['a'])").fetchall() == [(4,)]


def test_sql_can_be_read_by_duckdb_and_the_schema_as_json(tmp_path: Path) -> None:
    script = sqlanon("sql", folder=tmp_path)
    assert script.stderr == ""
    with duckdb.connect() as connection:
        connection.execute(script.stdout)
    assert "quasi_identifiers" in document(sqlanon("schema", folder=tmp_path))["properties"]


def test_the_process_ends_with_the_code_and_all_that_was_written(tmp_path: Path) -> None:
    for arguments, code in ((["schema"], 0), (["schema", "more"], 2)):
        done, inside = (run(*arguments, folder=tmp_path) for run in (started, sqlanon))
        assert (done.returncode, done.stdout, done.stderr) == (code, inside.stdout, inside.stderr)


def test_a_shell_completes_commands_and_options(tmp_path: Path) -> None:
    for words, completed in (("sqlanon verif", "verify"), ("sqlanon run --replace-if", "--replace-if-changed")):
        asked = {"_SQLANON_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        done = started(folder=tmp_path, **asked)
        assert (done.returncode, done.stdout.split()) == (0, [completed]), done.stderr


def test_a_run_from_load_to_verify(clinic: Path) -> None:
    run = started(*published("run", "--into", "visits_k3", "--json"), folder=clinic)
    assert run.returncode == 0, run.stderr
    assert document(run)["report"]["min_class_size"] >= 3
    assert sqlanon(*published("verify", source="visits_k3"), folder=clinic).returncode == 0
    measured = sqlanon(*published("measure", "--json", source="visits_k3"), folder=clinic)
    assert document(measured)["met"] is True
    shown = sqlanon(*published("run", "--into", "shown"), folder=clinic)
    assert "--replace" in sqlanon(*published("run", "--into", "shown"), folder=clinic).stderr
    assert shown.returncode == 0
    (proposed,) = shown.stderr.splitlines()
    assert proposed.endswith(
        "sqlanon report shown --db clinic.duckdb --policy policy.toml --source visits --out report.html"
    )
    assert "Guarantee" in shown.stdout
    assert VALUE not in shown.stdout


def test_a_raw_table_is_not_met(clinic: Path) -> None:
    for command in ("measure", "verify"):
        assert document(sqlanon(*published(command, "--json"), folder=clinic))["met"] is False
        shown = sqlanon(*published(command), folder=clinic)
        assert shown.returncode == 3
        assert "Not met" in shown.stderr


def test_lattice_shows_what_a_run_would_choose(clinic: Path) -> None:
    """A CSV has a column for every level."""
    found = document(sqlanon(*published("lattice", "--into", "lattice.csv", "--json"), folder=clinic))
    assert found["nodes"] == len(found["table"]) == 6
    best = found["table"][0]["node"]
    assert best == document(sqlanon(*published("run", "--into", "k3", "--json"), folder=clinic))["node"]
    assert (clinic / "lattice.csv").read_text().startswith("node.age,node.sex,height")
    shown = sqlanon(*published("lattice", "--into", "lattice.parquet"), folder=clinic)
    assert (shown.returncode, shown.stderr) == (0, "Wrote 6 nodes to lattice.parquet.\n")
    assert pq.read_table(clinic / "lattice.parquet").num_rows == 6
    assert sqlanon(*published("lattice", "--into", "lattice.csv"), folder=clinic).returncode == 2
    assert sqlanon(*published("lattice", "--into", "lattice.csv", "--replace"), folder=clinic).returncode == 0


def test_parquet_needs_no_warehouse_and_a_node_keeps_the_order_of_the_policy(folder: Path) -> None:
    """Also where the report is that of a release that was there already."""
    (folder / "policy.toml").write_text(POLICY.replace('["age", "sex"]', '["sex", "age"]'))
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute(f"COPY visits TO '{folder / 'visits.parquet'}' (FORMAT parquet)")
    policy = ["--policy", "policy.toml"]
    taxonomies = [*policy, "--taxonomy", "age=age.csv", "--taxonomy", "sex=sex.csv"]
    given = [*taxonomies, "--json"]
    for unchanged in (False, True):
        run = document(sqlanon("run", "visits.parquet", *given, "--into", "k3.parquet", folder=folder))
        assert run["unchanged"] is unchanged
        for found in (run["node"], run["report"]["node"], run["report"]["heights"], run["report"]["ties"][0]):
            assert list(found) == ["sex", "age"]
    other = sqlanon("run", "visits.parquet", *given, "--node", "sex=1,age=1", "--into", "k3.parquet", folder=folder)
    assert other.returncode == 2, "it is there at the node that was searched for"
    assert "at another node" in other.stderr
    assert sqlanon("verify", "k3.parquet", *policy, folder=folder).returncode == 0
    assert sqlanon("lattice", "visits.parquet", *taxonomies, folder=folder).returncode == 0
    assert sqlanon("run", "visits.parquet", *policy, "--into", "table", folder=folder).returncode == 2
    assert [path.name for path in folder.iterdir() if "staged" in path.name] == []


def test_a_taxonomy_that_is_not_used_is_refused(folder: Path) -> None:
    before = (folder / "clinic.duckdb").read_bytes()
    given = ["--taxonomy", "age=age.csv", "--taxonomy", "sec=sex.csv", "--into", "k3"]
    refused = sqlanon(*published("run", *given), folder=folder)
    assert refused.returncode == 2
    assert '"sec"; did you mean "sex"?' in refused.stderr
    assert (folder / "clinic.duckdb").read_bytes() == before


def test_the_warehouse_is_an_option_everywhere(folder: Path) -> None:
    name = ["--db", "new.duckdb"]
    assert sqlanon("taxonomy", "load", "age", "age.csv", *name, folder=folder).returncode == 0
    sex = ["--db=new.duckdb", "sex", "flat", "--value", "f", "--value", "m"]
    assert sqlanon("taxonomy", "make", *sex, folder=folder).returncode == 0
    assert list(document(sqlanon("taxonomy", "list", *name, "--json", folder=folder))["taxonomies"]) == ["age", "sex"]
    assert sqlanon("taxonomy", "check", *name, folder=folder).returncode == 0
    missing = sqlanon("taxonomy", "make", "age", "flat", "--value", "1", folder=folder)
    assert missing.returncode == 2
    assert "--db" in missing.stderr


def test_messages_speak_the_words_of_the_command_line(clinic: Path) -> None:
    missing = sqlanon("apply", "visits", "--db", "clinic.duckdb", "--fit", "no.fit", "--into", "x", folder=clinic)
    assert "sqlanon fit" in missing.stderr
    assert "Session" not in missing.stderr


def test_explain_prints_sql_and_runs_nothing(clinic: Path) -> None:
    before = (clinic / "clinic.duckdb").read_bytes()
    shown = sqlanon(*published("explain"), folder=clinic)
    assert shown.stdout.startswith("-- 1. ")
    steps = document(sqlanon(*published("explain", "--json"), folder=clinic))["steps"]
    assert {"purpose", "makes", "sql"} == set(steps[0])
    assert (clinic / "clinic.duckdb").read_bytes() == before


def test_a_file_of_a_view_leaves_the_warehouse_as_it_is(folder: Path) -> None:
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute("CREATE VIEW grown AS SELECT * FROM visits WHERE age >= 30")
    before = (folder / "clinic.duckdb").read_bytes()
    taxonomies = ["--taxonomy", "age=age.csv", "--taxonomy", "sex=sex.csv"]
    run = sqlanon(*published("run", *taxonomies, "--into", "k3.parquet", source="grown"), folder=folder)
    assert run.returncode == 0, run.stderr
    assert (folder / "clinic.duckdb").read_bytes() == before


def test_every_command_that_opens_a_warehouse_can_be_bounded(folder: Path) -> None:
    commands = command_line().commands  # type: ignore[attr-defined]
    for group in ("taxonomy", "ledger", "plan", "releases"):
        commands |= {f"{group} {name}": command for name, command in commands.pop(group).commands.items()}
    bounded = {name for name, command in commands.items() if "threads" in {each.name for each in command.params}}
    assert set(commands) - bounded == {"delta", "demo", "guide", "plan epsilon-safe", "schema", "sql"}
    refused = sqlanon(*published("measure"), "--memory-limit", "lots", "--threads", "0", folder=folder)
    assert refused.returncode == 2
    assert '--memory-limit "lots" is not a size' in refused.stderr
    assert "threads is 0" in refused.stderr


REFUSED: list[tuple[list[str], int, str]] = [
    (["run", "visits", "--policy", "policy.toml"], 2, "UsageError"),
    (["measure", "visits", "--policy", "policy.toml"], 2, "UsageError"),
    (["measure", "visits", "--db", "no.duckdb", "--policy", "policy.toml"], 2, "UsageError"),
    (["run", "visits", "--db", "no.duckdb", "--policy", "policy.toml", "--into", "t"], 2, "UsageError"),
    (["taxonomy", "list", "--db", "no.duckdb"], 2, "UsageError"),
    (["taxonomy", "load", "--db", ":memory:", "age", "age.csv"], 2, "UsageError"),
    (["taxonomy", "make", "--db", "clinic.duckdb", "age", "dates", "--width", "5"], 2, "UsageError"),
    (["taxonomy", "make", "--db", "clinic.duckdb", "age", "intervals"], 2, "UsageError"),
    (["taxonomy", "make", "--db", "clinic.duckdb", "age", "intervals", "--width", "5"], 2, "TaxonomyError"),
    (["taxonomy", "make", "--db", "clinic.duckdb", "age", "cuts", "--breaks", "18,old"], 2, "TaxonomyError"),
    (["taxonomy", "make", "--db", "clinic.duckdb", "age", "groups", "--groups", "{'a'}"], 2, "UsageError"),
    (["taxonomy", "make", "--db", "clinic.duckdb", "age", "columns", "--coarser", "sex"], 2, "TaxonomyError"),
    (["taxonomy", "load", "--db", "clinic.duckdb", "age", "no.csv"], 2, "TaxonomyError"),
    (["taxonomy", "export", "--db", "clinic.duckdb", "zip", "zip.csv"], 2, "TaxonomyError"),
    (published("measure", source="nothing"), 1, "EngineError"),
    (["measure", "visits", "--db", "clinic.duckdb", "--policy", "no.toml"], 2, "PolicyError"),
    (["measure", "visits", "--db", "age.csv", "--policy", "policy.toml"], 1, "EngineError"),
    (published("run", "--into", "t"), 2, "TaxonomyError"),
    (["releases"], 2, "UsageError"),
    (["releases", "--db", "no.duckdb"], 2, "UsageError"),
    (["releases", "forget", "t", "--db", "clinic.duckdb"], 2, "UsageError"),
    (["releases", "forget", "t", "--db", "clinic.duckdb", "--reason", "a test"], 2, "PolicyError"),
]


def test_refusals(folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    for command, code, kind in REFUSED:
        result = sqlanon(*command, "--json", folder=folder)
        assert (result.returncode, document(result)["error"]["kind"]) == (code, kind), command
        assert result.stderr.startswith("Error: "), command
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_setting_below_the_first_table_of_a_policy(folder: Path) -> None:
    (folder / "late.toml").write_text(POLICY + '[taxonomies]\nage = "flat"\nsex = "flat"\nmethod = "local-recoding"\n')
    refused = sqlanon("measure", "visits.parquet", "--policy", "late.toml", folder=folder)
    assert refused.returncode == 2
    assert "method = … of the policy must stand above the first [table]" in refused.stderr


def test_an_invalid_policy_names_the_file_and_all_problems(folder: Path) -> None:
    (folder / "policy.toml").write_text("this is = = not TOML")
    assert "policy.toml" in sqlanon(*published("measure"), folder=folder).stderr
    (folder / "policy.toml").write_text('quasi_identifiers = []\nsupression_limit = 0.1\n[[privacy]]\nmodel = "k"\n')
    refused = sqlanon(*published("measure", "--json"), folder=folder)
    assert refused.returncode == 2
    assert len(document(refused)["error"]["problems"]) == 3


def test_an_unknown_column_is_named(clinic: Path) -> None:
    (clinic / "policy.toml").write_text(POLICY.replace('"age"', '"aeg"'))
    for command in (published("measure"), published("run", "--into", "t")):
        refused = sqlanon(*command, folder=clinic)
        assert refused.returncode == 2
        assert '"aeg"' in refused.stderr


def test_an_unsatisfiable_policy(clinic: Path) -> None:
    (clinic / "policy.toml").write_text(POLICY.replace("k = 3", "k = 300"))
    refused = sqlanon(*published("run", "--into", "t", "--json"), folder=clinic)
    assert refused.returncode == 3
    assert document(refused)["error"]["kind"] == "UnsatisfiableError"
    assert "t" not in tables(clinic / "clinic.duckdb")


def test_values_without_a_label_are_counted_and_not_quoted(folder: Path) -> None:
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute(f"UPDATE visits SET sex = '{VALUE}' WHERE id = 3")
    refused = sqlanon(
        "taxonomy", "load", "--db", "clinic.duckdb", "sex", "sex.csv", "--source", "visits", "--json", folder=folder
    )
    assert refused.returncode == 2
    assert "1 distinct value in 1 row" in refused.stderr
    assert VALUE not in refused.stdout + refused.stderr


def test_a_failing_query_does_not_quote_data(clinic: Path) -> None:
    query = "SELECT id, CAST(diagnosis AS INTEGER) AS age, sex, diagnosis FROM visits"
    refused = sqlanon(*published("measure", "--json", source=query), folder=clinic)
    assert refused.returncode == 1
    assert "flu" not in refused.stdout + refused.stderr
    debugged = sqlanon("--debug", *published("measure", source=query), folder=clinic)
    assert debugged.returncode == 1
    assert "Traceback" in debugged.stderr


def test_a_bug_is_one_line_without_its_text(tmp_path: Path) -> None:
    code = (
        "import sys, sqlanon.cli.app as app\n"
        "import sqlanon.queries.kit.macros as macros\n"
        f"def broken(): raise ValueError('{VALUE}')\n"
        "macros.install_script = broken\n"
        "sys.argv = ['sqlanon', 'sql', *sys.argv[1:]]\n"
        "app.main()\n"
    )
    for more, quoted in (([], False), (["--debug"], True)):
        result = ended([sys.executable, "-c", code, *more], tmp_path)
        assert result.returncode == 1
        assert "ValueError" in result.stderr
        assert (VALUE in result.stderr, "Traceback" in result.stderr) == (quoted, quoted)


def test_interrupted_in_the_middle_of_a_run(clinic: Path) -> None:
    before = tables(clinic / "clinic.duckdb")
    endless = "SELECT visits.* FROM visits, range(1000000000)"
    command = [sys.executable, "-m", "sqlanon", *published("run", "--into", "t", "--json", source=endless)]
    with subprocess.Popen(
        command, cwd=clinic, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_until_open(process.pid, "clinic.duckdb")
        process.send_signal(signal.SIGINT)
        try:
            stdout, stderr = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 130, stderr
    assert json.loads(stdout)["error"]["kind"] == "Interrupted"
    assert "Traceback" not in stderr
    assert tables(clinic / "clinic.duckdb") == before


def wait_until_open(process: int, name: str) -> None:
    """Wait until a process has opened a file, and has had a moment to work on it."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and name not in open_files(process):
        time.sleep(0.02)
    time.sleep(0.3)


def open_files(process: int) -> set[str]:
    """The names of the files that a process has open, as far as the system tells."""
    names = set()
    with suppress(OSError):
        for link in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                names.add(link.readlink().name)
    return names


TAXONOMIES = {
    "age intervals --width 5 --width 10 --minimum 0 --maximum 99 --origin 0 --below 20 --above 80": [100, 14, 8, 1],
    "age intervals --width 2.5 --minimum 0 --maximum 9": [10, 4, 1],
    "age cuts --breaks -5,18,65.5 --breaks 18 --minimum 0 --maximum 99": [100, 3, 2, 1],
    "day dates --first 2024-12-30 --last 2025-01-12 --unit week --unit isoyear": [14, 2, 1, 1],
    'city groups --groups {"DE":{"Rhine":["Bonn","Köln"]},"FR":{"Alsace":["Colmar"]}}': [3, 2, 2, 1],
    "patient_id columns --coarser sex --source SOURCE": [40, 2, 1],
    "zip prefixes --keep 3 --keep 1 --value 10115 --value 10117 --value 20095": [3, 2, 2, 1],
    "zip zip --value 10115 --value 10127": [2, 2, 1, 1, 1, 1],
    "code icd10 --value E11.6 --value J45.9": [2, 2, 2, 1],
    "code icd9 --value 250.01 --value 401": [2, 2, 2, 1],
    "address ipv4 --bits 16 --value 10.1.2.3 --value 10.1.9.9": [2, 1, 1],
    "age flat --source visits": [40, 1],
}
"""Arguments of ``taxonomy make``, and the labels of each level."""


class TestTaxonomies:
    def test_every_kind(self, folder: Path) -> None:
        by_id = "SELECT age AS patient_id, age % 2 AS sex FROM visits"
        for arguments, labels in TAXONOMIES.items():
            given = [by_id if argument == "SOURCE" else argument for argument in arguments.split()]
            made = sqlanon("taxonomy", "make", "--db", "clinic.duckdb", *given, "--json", folder=folder)
            assert made.returncode == 0, made.stderr
            assert document(made)["labels"] == labels, arguments

    def test_a_query(self, folder: Path) -> None:
        query = "SELECT DISTINCT age, age // 10 * 10, '*' FROM visits"
        name = ["--db", "clinic.duckdb", "age"]
        made = sqlanon("taxonomy", "make", *name, "query", "--query", query, "--json", folder=folder)
        assert document(made)["labels"] == [40, 4, 1]
        assert document(made)["domain"] == "observed"

    def test_list_check_and_export(self, clinic: Path) -> None:
        listed = sqlanon("taxonomy", "list", "--db", "clinic.duckdb", "--json", folder=clinic)
        assert set(document(listed)["taxonomies"]) == {"age", "sex"}
        assert sqlanon("taxonomy", "check", "--db", "clinic.duckdb", folder=clinic).returncode == 0
        exported = sqlanon("taxonomy", "export", "--db", "clinic.duckdb", "age", "again.csv", folder=clinic)
        assert exported.returncode == 0, exported.stderr
        assert sqlanon("taxonomy", "export", "--db", "clinic.duckdb", "age", "again.csv", folder=clinic).returncode == 2
        loaded = sqlanon("taxonomy", "load", "--db", "other.duckdb", "age", "again.csv", folder=clinic)
        assert loaded.returncode == 0, loaded.stderr

    def test_a_malformed_taxonomy_is_found(self, clinic: Path) -> None:
        with duckdb.connect(str(clinic / "clinic.duckdb")) as connection:
            connection.execute("DELETE FROM anon.taxonomy WHERE attribute = 'age' AND level = 1 AND value = '20'")
        checked = sqlanon("taxonomy", "check", "--db", "clinic.duckdb", "--json", folder=clinic)
        assert checked.returncode == 2
        assert set(document(checked)["problems"]) == {"age"}
        assert '"age"' in checked.stderr

    def test_another_delimiter_and_column(self, folder: Path) -> None:
        (folder / "sex.csv").write_text("f|*\nm|*\n")
        arguments = ["taxonomy", "load", "--db", "clinic.duckdb", "gender", "sex.csv"]
        assert sqlanon(*arguments, folder=folder).returncode == 2
        more = ["--delimiter", "|", "--source", "visits", "--column", "sex"]
        assert sqlanon(*arguments, *more, folder=folder).returncode == 0
        assert sqlanon(*arguments, "--delimiter", "|", "--column", "sex", folder=folder).returncode == 2


def test_a_name_of_a_file_is_no_table(clinic: Path) -> None:
    """Not one of a warehouse that is missing, either."""
    for command in (published("run"), ["run", "visits.parquet", "--policy", "policy.toml"]):
        refused = sqlanon(*command, "--into", "out.json", folder=clinic)
        assert refused.returncode == 2
        assert "unsupported output format .json; use .parquet or .csv" in refused.stderr
    assert "out.json" not in tables(clinic / "clinic.duckdb")
