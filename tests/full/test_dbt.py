"""A dbt project in a file and in memory, with threads: releases of Python models, their records, and generic tests."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.commands import DBT, ended
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(not DBT.exists(), reason="dbt is not installed here: pip install -e '.[dbt]'")

HOSTILE = 'a"b"); drop table x --'
SECRET = "alice-1970"  # noqa: S105

PROFILES = """\
clinic:
  target: file
  outputs:
    file: &file
      type: duckdb
      path: clinic.duckdb
      threads: 4
      plugins:
        - module: sqlanon.integrations.dbt
    memory:
      <<: *file
      path: ":memory:"
      disable_transactions: true
    bare:
      type: duckdb
      path: bare.duckdb
"""

PEOPLE = """\
SELECT
    18 + i % 60 AS age,
    'town ' || i % 3 AS town,
    CASE WHEN i = 7 THEN 'alice' || -1970 ELSE 'flu ' || i % 2 END AS illness,
    i AS "a""b""); drop table x --",
    'it''s ' || i % 4 AS "it's"
FROM range(400) AS people (i)
"""

RELEASE = """\
import sqlanon as sa


def model(dbt, session):
    policy = sa.Policy(
        quasi_identifiers=["age", "town"],
        sensitive=["illness"],
        identifiers=['a"b"); drop table x --', "it's"],
        privacy=[sa.KAnonymity(10)],
        suppression_limit=0.1,
        taxonomies={"age": sa.Taxonomy.intervals([5, 20], minimum=0, maximum=99), "town": "flat"},
    )
    with sa.connect(session) as anonymizer:
        anonymizer.anonymize(dbt.ref("people"), policy, into=f"temp.{dbt.this.identifier}")
    return session.table(f"temp.{dbt.this.identifier}")
"""

COPY = """\
def model(dbt, session):
    return dbt.ref("people")
"""

POLICY = sa.Policy(quasi_identifiers=["age", "town"], sensitive=["illness"], privacy=[sa.KAnonymity(10)])
RELEASES = ["released_1", "released_2", "released_3"]
IN_A_TRANSACTION = "after_a_pre_hook"
DOCUMENTED = "documented"
NOT_RELEASED = "copied"


def k_anonymous(name: str, quasi_identifiers: Any, k: Any, **config: Any) -> dict[str, Any]:
    arguments = {"quasi_identifiers": quasi_identifiers, "k": k}
    return {"sqlanon.k_anonymous": {"name": name, "arguments": arguments, "config": config}}


def l_diverse(name: str, quasi_identifiers: Any, sensitive: Any, l: Any) -> dict[str, Any]:  # noqa: E741
    arguments = {"quasi_identifiers": quasi_identifiers, "sensitive": sensitive, "l": l}
    return {"sqlanon.distinct_l_diverse": {"name": name, "arguments": arguments}}


TESTS = [
    k_anonymous("met", ["it's"], 100),
    k_anonymous("not_met", ["it's"], 101),
    k_anonymous("hostile_met", [HOSTILE, "AGE"], 1),
    k_anonymous("hostile", [HOSTILE, "age"], 2),
    k_anonymous("part", ["town"], 134, where="town <> 'town 0'"),
    k_anonymous("variable", ["town"], "{{ var('k', 133) }}"),
    k_anonymous("tolerated", ["illness"], 10, error_if=">1"),
    k_anonymous("stored", ["illness"], 200, store_failures=True),
    l_diverse("diverse", ["town"], "illness", 2),
    l_diverse("not_diverse", ["town"], "illness", 3),
    l_diverse("hostile_diverse", ["town"], HOSTILE, 133),
    k_anonymous("missing", ["age", "nowhere"], 2),
    k_anonymous("no_list", "age", 2),
    k_anonymous("no_text", [1], True),
    l_diverse("all_wrong", [], ["illness"], "2"),
]

NAMES = [arguments["name"] for test in TESTS for arguments in test.values()]

CALLS = """
import json, sys
from dbt.cli.main import dbtRunner
answers = []
for arguments in json.loads(sys.argv[1]):
    done = dbtRunner().invoke(["--quiet", *arguments])
    answers.append([done.success, {each.node.name: [str(each.status), each.message] for each in done.result.results}])
json.dump(answers, open("answers.json", "w"))
"""


def schema() -> dict[str, Any]:
    kept: dict[str, Any] = {"post_hook": "{{ sqlanon.keep_record() }}"}
    models: list[dict[str, Any]] = [
        {"name": name, "config": kept, "data_tests": [k_anonymous(f"of_{name}", ["age", "town"], 10)]}
        for name in RELEASES
    ]
    models[0]["config"] = {**kept, "pre_hook": {"sql": "SELECT 1", "transaction": False}}
    models += [
        {"name": "people", "data_tests": TESTS},
        {"name": IN_A_TRANSACTION, "config": {**kept, "pre_hook": "SELECT 1"}},
        {"name": DOCUMENTED, "description": "A release.", "config": {**kept, "persist_docs": {"relation": True}}},
        {"name": NOT_RELEASED, "config": {**kept, "materialized": "incremental"}},
    ]
    return {"models": models}


def dbt(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return ended([str(DBT), *arguments], folder, DO_NOT_TRACK="1")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "models").mkdir()
    files = {
        "dbt_project.yml": "name: clinic\nprofile: clinic\n",
        "profiles.yml": PROFILES,
        "models/people.sql": PEOPLE,
        "models/schema.yml": json.dumps(schema()),
        f"models/{NOT_RELEASED}.py": COPY,
        **{f"models/{name}.py": RELEASE for name in (*RELEASES, IN_A_TRANSACTION, DOCUMENTED)},
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "dbt_packages").mkdir()  # what dbt deps makes, as the test of the guide has it do
    (folder / "dbt_packages" / "sqlanon").symlink_to(ROOT / "sqlanon" / "integrations" / "dbt")
    return folder


@pytest.fixture(scope="module")
def answers(project: Path) -> list[tuple[bool, dict[str, tuple[str, str | None]]]]:
    """What some calls of dbt came to, which one process makes one after the other."""
    calls = [
        ["run"],
        ["build", "--select", *RELEASES],
        ["build", "--target", "memory", "--exclude", DOCUMENTED, NOT_RELEASED, *NAMES],
        ["test", "--target", "bare", "--select", "met"],
    ]
    done = ended([sys.executable, "-c", CALLS, json.dumps(calls)], project, DO_NOT_TRACK="1")
    assert done.returncode == 0, done.stdout + done.stderr
    found: list[Any] = json.loads((project / "answers.json").read_text())
    return found


class TestReleases:
    def test_models_publish_them_in_threads(self, answers: Any) -> None:
        _, results = answers[0]
        assert [name for name in ("people", *RELEASES) if results[name][0] != "success"] == []

    @pytest.mark.parametrize("call", [1, 2], ids=["again", "in memory"])
    def test_they_are_tested(self, answers: Any, call: int) -> None:
        done, results = answers[call]
        assert done, results
        assert {name for name in results if name.startswith("of_")} == {f"of_{name}" for name in RELEASES}

    def test_their_records_travel(self, answers: Any, project: Path) -> None:
        with sa.connect(project / "clinic.duckdb", read_only=True) as session:
            for name in RELEASES:
                assert session.verify(name, POLICY).met

    def test_a_pre_hook_opens_a_transaction(self, answers: Any) -> None:
        status, message = answers[0][1][IN_A_TRANSACTION]
        assert status == "error"
        assert "the connection is in the middle of a transaction" in message
        assert answers[2][1][IN_A_TRANSACTION][0] == "success"

    def test_a_record_that_is_not_there_or_would_be_lost(self, answers: Any) -> None:
        _, results = answers[0]
        assert "wrote no release to temp.copied" in results[NOT_RELEASED][1]
        assert "materialized as incremental keeps no record" in results[NOT_RELEASED][1]
        assert "persist_docs would replace the record" in results[DOCUMENTED][1]


@pytest.fixture(scope="module")
def tested(project: Path) -> dict[str, dict[str, Any]]:
    """What each test of the people came to; none of it, nor the log, has a value of the table."""
    done = dbt(project, "build", "--select", "people")
    assert done.returncode == 1
    written = done.stdout + done.stderr + (project / "target" / "run_results.json").read_text()
    assert SECRET not in written
    results = json.loads((project / "target" / "run_results.json").read_text())["results"]
    return {result["unique_id"].split(".")[2]: result for result in results}


class TestTests:
    @pytest.mark.parametrize("name", ["met", "hostile_met", "variable", "diverse", "hostile_diverse"])
    def test_what_is_met(self, tested: dict[str, dict[str, Any]], name: str) -> None:
        assert (tested[name]["status"], tested[name]["failures"]) == ("pass", 0)

    @pytest.mark.parametrize(
        ("name", "status", "small_rows"),
        [
            ("not_met", "fail", 400),
            ("hostile", "fail", 400),
            ("part", "fail", 266),
            ("tolerated", "warn", 1),
            ("stored", "fail", 200),
            ("not_diverse", "fail", 267),
        ],
    )
    def test_what_is_not_met(self, tested: dict[str, dict[str, Any]], name: str, status: str, small_rows: int) -> None:
        assert (tested[name]["status"], tested[name]["failures"]) == (status, small_rows)

    @pytest.mark.parametrize(
        ("name", "problems"),
        [
            ("missing", ['Column "nowhere" was selected but was not found']),
            ("no_list", ["quasi_identifiers is a list of columns, such as [age, sex]"]),
            ("no_text", ["put it in quotes", "k is a whole number of at least 1"]),
            ("all_wrong", ["quasi_identifiers is a list", "sensitive is the name of", "l is a whole number"]),
        ],
    )
    def test_what_cannot_run(self, tested: dict[str, dict[str, Any]], name: str, problems: list[str]) -> None:
        assert tested[name]["status"] == "error"
        assert [problem for problem in problems if problem not in tested[name]["message"]] == []

    def test_stored_failures_are_counts(self, tested: dict[str, dict[str, Any]], project: Path) -> None:
        with duckdb.connect(str(project / "clinic.duckdb"), read_only=True) as connection:
            rows = connection.execute("FROM main_dbt_test__audit.stored").fetchall()
        assert rows == [(1, 2, 200)]

    def test_a_database_without_the_macros(self, answers: Any) -> None:
        done, results = answers[3]
        assert not done
        assert (
            "the database has no macro anon.class_sizes: name the plugin sqlanon.integrations.dbt" in results["met"][1]
        )
