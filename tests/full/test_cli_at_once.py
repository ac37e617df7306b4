"""The command line with others at work: readers, writers, locks and signals; lakes, hostile names and taken targets."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import duckdb
import pytest

import sqlanon as sa
from sqlanon.lakes import store
from tests.commands import document, ended, environment, sqlanon
from tests.effort import some
from tests.stories import test_cli
from tests.stories.test_cli import POLICY, published, tables
from tests.stories.test_kept_taxonomies import ROWS, TOML

clinic, folder, loaded, raw = test_cli.clinic, test_cli.folder, test_cli.loaded, test_cli.raw


HOSTILE = 'a"b; drop table x --'


@pytest.mark.parametrize("arguments", [["run", "--help"], published("explain")])
def test_a_reader_that_has_had_enough(clinic: Path, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = ended([sys.executable, "-m", "sqlanon", *arguments], clinic, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["schema"], ["releases", "--db", "clinic.duckdb"]])
def test_a_full_disk_under_stdout_is_reported(clinic: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        result = ended([sys.executable, "-m", "sqlanon", *arguments], clinic, stdout=full)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "cannot be written" in result.stderr


def test_an_output_that_is_not_open_for_writing(clinic: Path) -> None:
    for arguments in (["--help"], ["run", "--help"], ["guide"]):
        with Path(os.devnull).open() as shut:
            done = ended([sys.executable, "-m", "sqlanon", *arguments], clinic, stdout=shut)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert "the output cannot be written" in done.stderr


def test_a_chosen_node_is_published(clinic: Path) -> None:
    run = document(sqlanon(*published("run", "--node", "age=1,sex=1", "--into", "k3", "--json"), folder=clinic))
    assert run["node"] == {"age": 1, "sex": 1}
    assert (run["report"]["search"], run["report"]["checked_nodes"]) == ("given", 1)
    shown = sqlanon(*published("run", "--node", "sex=1", "--node", "age=2", "--into", "k3", "--replace"), folder=clinic)
    assert "the node was given" in shown.stdout
    refused = sqlanon(*published("run", "--node", "age=0,sex=0", "--into", "raw"), folder=clinic)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "the given node does not meet the policy" in refused.stderr
    wrong = sqlanon(*published("run", "--node", "age=7,six=0", "--into", "raw"), folder=clinic)
    assert wrong.returncode == 2
    assert '"six" is not a quasi-identifier; did you mean "sex"?' in wrong.stderr
    assert '"age" has levels 0 to 2, so not 7' in wrong.stderr
    for text in ("age", "age=1,", "age=1," * 40 + "sex", "age=1,age=2"):
        assert sqlanon(*published("run", "--node", text, "--into", "raw"), folder=clinic).returncode == 2


def test_releases_are_listed_and_forgotten(clinic: Path) -> None:
    """Files that are published from a warehouse, too."""
    listing = ["releases", "--db", "clinic.duckdb"]
    assert "no release is on the list" in sqlanon(*listing, folder=clinic).stdout
    for into in ("k3", "k3/", "k3.parquet"):
        run = document(sqlanon(*published("run", "--into", into, "--json"), folder=clinic))
        assert not [note for note in run["report"].get("notes", []) if "anon.releases" in note]
    shown = sqlanon(*listing, folder=clinic)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert all(word in shown.stdout for word in ("k3", "k3.parquet", "there", "visits", "full-domain"))
    slip = sqlanon("releases", "forget", "k33", *listing[1:], "--reason", "a slip", folder=clinic)
    assert (slip.returncode, 'did you mean "k3"?' in slip.stderr) == (2, True)
    assert "sqlanon guide releases-of-a-warehouse" in slip.stderr
    forgotten = sqlanon("releases", "forget", "k3", *listing[1:], "--reason", "a rehearsal", "--json", folder=clinic)
    assert [each["forgotten_reason"] for each in document(forgotten)["releases"]] == ["a rehearsal"]
    targets = ["k3", f"{clinic}/k3/", f"{clinic}/k3.parquet"]
    of_visits, of_others = (
        [each["target"] for each in document(sqlanon(*listing, "--json", *more, folder=clinic))["releases"]]
        for more in (["--dataset", "FROM visits", "--all"], ["--dataset", "age.csv", "--all"])
    )
    assert (of_visits, of_others) == (targets, [])
    remaining = document(sqlanon(*listing, "--json", folder=clinic))["releases"]
    assert [(each["target"], each["state"], each["min_class_size"] >= 3) for each in remaining] == [
        (target, "there", True) for target in targets[1:]
    ]
    with sa.connect(clinic / "clinic.duckdb") as session:
        session.anonymize("visits", clinic / "policy.toml", targets[-1], replace=True)
        (*_, other) = session.releases.list().releases
    facts = other.model_dump(mode="json", exclude={"made_at", "record_sha256"})
    assert {name: remaining[-1][name] for name in facts if name in remaining[-1]} == {**facts, "state": "there"}
    assert remaining[-1]["record_sha256"] != remaining[0]["record_sha256"] != ""


def test_a_file_is_listed_while_others_read_the_warehouse(clinic: Path) -> None:
    listing = ["releases", "--db", "clinic.duckdb", "--json"]
    with duckdb.connect(str(clinic / "clinic.duckdb"), read_only=True):
        run = sqlanon(*published("run", "--into", "k3.parquet"), folder=clinic)
        (waiting,) = document(sqlanon(*listing, folder=clinic))["releases"]
    assert (run.returncode, "anon.releases" in run.stdout, waiting["state"]) == (0, False, "there")
    assert sqlanon(*published("fit", "--fit", "k3.fit"), folder=clinic).returncode == 0
    for as_json in ((), ("--json",)):
        into = ["--db", "clinic.duckdb", "--fit", "k3.fit", "--into", "part.parquet", *as_json]
        assert sqlanon("apply", "visits", *into, folder=clinic).returncode == 0
    of_fit = {"target": f"{clinic}/k3.fit", "state": "there", "datasets": ["visits"]}
    found, part = document(sqlanon(*listing, folder=clinic))["releases"]
    assert (found, {name: part[name] for name in of_fit}) == (waiting, of_fit)
    with duckdb.connect(str(clinic / "clinic.duckdb"), read_only=True) as reader:
        assert reader.execute("SELECT count(*) FROM anon.releases").fetchall() == [(2,)]
    assert not list(clinic.glob(".*"))


def test_a_run_waits_while_another_one_lists_its_release(clinic: Path) -> None:
    with duckdb.connect(str(clinic / "clinic.duckdb")) as writer, ThreadPoolExecutor() as pool:
        run = pool.submit(sqlanon, *published("run", "--into", "k3.parquet"), folder=clinic)
        time.sleep(0.5)
        writer.close()
        assert run.result().returncode == 0, run.result().stderr


def test_hostile_names_of_tables_and_columns(folder: Path) -> None:
    quoted = HOSTILE.replace('"', '""')
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute(f'CREATE TABLE "{quoted}" AS SELECT id, age AS "{quoted}", sex, diagnosis FROM visits')
        connection.execute("CREATE TABLE x AS SELECT 1")
    (folder / "policy.toml").write_text(POLICY.replace('"age"', json.dumps(HOSTILE)))
    for name, file in ((HOSTILE, "age.csv"), ("sex", "sex.csv")):
        loaded = sqlanon("taxonomy", "load", "--db", "clinic.duckdb", name, file, "--source", HOSTILE, folder=folder)
        assert loaded.returncode == 0, loaded.stderr
    for command in ("measure", "lattice", "explain"):
        assert "Error" not in sqlanon(*published(command, source=HOSTILE), folder=folder).stderr
    target = f"{HOSTILE} [red]\x1b[31m"
    run = sqlanon(*published("run", "--into", target, source=HOSTILE), folder=folder)
    assert run.returncode == 0, run.stderr
    assert "\x1b" not in run.stdout
    assert {"x", target, HOSTILE, "visits"} <= tables(folder / "clinic.duckdb")


def test_a_target_that_exists_is_kept(clinic: Path) -> None:
    (clinic / "there.parquet").write_text("precious")
    for target in ("visits", "there.parquet"):
        refused = sqlanon(*published("run", "--into", target), folder=clinic)
        assert refused.returncode == 2
        assert "--replace" in refused.stderr
        assert "replace=True" not in refused.stderr
    replaced = sqlanon(*published("run", "--into", "there.parquet", "--replace"), folder=clinic)
    assert replaced.returncode == 1
    assert "--replace-anything" in replaced.stderr
    assert (clinic / "there.parquet").read_text() == "precious"
    assert sqlanon(*published("run", "--into", "there.parquet", "--replace-anything"), folder=clinic).returncode == 0
    both = sqlanon(*published("run", "--into", "x", "--replace", "--replace-anything"), folder=clinic)
    assert (both.returncode, "one of" in both.stderr) == (2, True)


def started_with(changes: str, clinic: Path) -> subprocess.CompletedProcess[str]:
    """A run in a new Python whose command line is changed."""
    command = ["sqlanon", *published("run", "--into", "t", "--json")]
    program = (
        f"import os, signal, sys; sys.argv = {command}; from sqlanon.cli import app, main\n"
        f"given = app.command_line\n{changes}main()"
    )
    return ended([sys.executable, "-c", program], clinic)


INTERRUPTIONS = {
    "a library turns it into an error": """
def changed(name):
    try: os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt: raise RuntimeError('a schema') from None
""",
    # As DuckDB 1.5 does for the first value that is bound: it takes what is raised there for a sign that there is none.
    "it comes in the middle of an import": """
def changed(name):
    try: import interrupted
    except BaseException: pass
    return given(name)
""",
    "it comes in a finalizer, whose errors Python prints": """
class Closing:
    def __del__(self): os.kill(os.getpid(), signal.SIGINT)
def changed(name):
    Closing()
    return given(name)
""",
}


@pytest.mark.repeated
@pytest.mark.parametrize("how", some(INTERRUPTIONS, "a library turns it into an error"))
def test_interruptions_that_do_not_reach_the_command(clinic: Path, how: str) -> None:
    # Ctrl-C is pressed again every 0.05 s: not just when the import ends, where what is raised is swallowed, too.
    (clinic / "interrupted.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(0.125)\n"
    )
    done = started_with(f"{INTERRUPTIONS[how]}app.command_line = changed\n", clinic)
    assert (done.returncode, document(done)["error"]["kind"]) == (130, "Interrupted")


def test_a_store_that_cannot_be_reached_is_no_wrong_usage(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler tries again after exit code 1, and asks a person after 2."""
    monkeypatch.setattr(store, "opened", Mock(side_effect=OSError("connection refused")))
    for release, code, hint in (("s3://bucket/released/", 1, False), ("visits", 2, True)):
        refused = sqlanon("verify", release, "--policy", "policy.toml", folder=folder)
        assert (refused.returncode, "a table needs --db" in refused.stderr) == (code, hint), refused.stderr


@pytest.mark.parametrize(
    ("happens", "code", "said"),
    [
        pytest.param("os.kill(os.getpid(), signal.SIGHUP)", 130, "interrupted", marks=pytest.mark.deep),
        ("os.kill(os.getpid(), signal.SIGINT)", 130, "interrupted"),
        pytest.param("raise MemoryError", 1, "out of memory", marks=pytest.mark.deep),
        ("raise OSError(errno.EMFILE, 'Too many open files')", 1, "Too many open files"),
    ],
)
def test_what_happens_while_modules_are_loaded(tmp_path: Path, happens: str, code: int, said: str) -> None:
    program = f"""
import errno, os, signal, sys
from sqlanon.cli import main
class Finder:
    def find_spec(self, name, *_):
        if name == "sqlanon.cli.app":
            {happens}
sys.meta_path.insert(0, Finder())
sys.argv = ["sqlanon", "demo", "--db", "demo.duckdb"]  # long enough to be interrupted after an import
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # which nohup has ignored
    )
    assert (done.returncode, done.stderr.startswith("Error: "), said in done.stderr) == (code, True, True), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("error", "words"), [(MemoryError(), "ran out of memory"), (OSError(errno.EMFILE, "x"), "ulimit -n")]
)
def test_what_the_system_lacks_is_no_bug(
    clinic: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    monkeypatch.setattr("sqlanon.api.session.Session.measure", Mock(side_effect=error))
    refused = sqlanon(*published("measure"), folder=clinic)
    assert (refused.returncode, words in refused.stderr, "bug" in refused.stderr) == (1, True, False)


def test_devices_and_pipes_are_refused_at_once(clinic: Path) -> None:
    """Whoever opens them waits for another program, or reads for ever."""
    for name in ("p.parquet", "p.csv", "p.toml", "p.duckdb", "p.fit", "noted.csv.sqlanon.json"):
        os.mkfifo(clinic / name)
    (clinic / "zero.toml").symlink_to("/dev/zero")
    (clinic / "link.parquet").symlink_to("p.parquet")
    run = published("run", "--into", "k3.parquet")
    targets = [
        published("run", "--into", into, replace)
        for into in ("p.parquet", "p.csv", "link.parquet", "noted.csv")
        for replace in ("--replace", "--replace-anything")
    ]
    policies = [[*run, "--policy", policy] for policy in ("p.toml", "zero.toml")]
    codebooks = [["init", "age.csv", "--out", "i.toml", "--codebook", name] for name in ("p.toml", "/dev/zero")]
    others = [[*run, "--db", "p.duckdb"], published("fit", "--fit", "p.fit", "--replace")]
    for command in (*targets, *policies, *codebooks, *others):
        refused = sqlanon(*command, folder=clinic)
        assert refused.returncode in (1, 2), command
        assert "is a device or a pipe" in refused.stderr or "not a file, but the note" in refused.stderr, command
    assert all(path.is_fifo() for path in clinic.glob("p.*"))


def test_a_program_that_waits_for_a_library_ends_soon(tmp_path: Path) -> None:
    program = (
        "import ctypes\nfrom sqlanon.cli.interrupt import interrupt_once\ninterrupt_once()\n"
        "ctypes.CDLL(None).system(b'echo; exec sleep 30 >/dev/null 2>&1')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        _, said = process.communicate(timeout=20)
    assert (process.returncode, said[:18]) == (130, b"Error: interrupted")


def test_a_target_that_is_not_free_is_wrong_usage(clinic: Path) -> None:
    """As the exit codes say it of all commands; so is a fit that is not there."""
    (clinic / "taken.html").write_text("mine")
    sqlanon(*published("run", "--into", "k3.csv"), folder=clinic)
    for arguments in (
        published("run", "--into", "visits"),
        published("lattice", "--out", "taken.html"),
        ["report", "k3.csv", "--out", "taken.html"],
        ["init", "visits", "--db", "clinic.duckdb", "--out", "taken.html"],
        ["fit", *published("fit", "--fit", "taken.html")[1:]],
        ["apply", "visits", "--db", "clinic.duckdb", "--fit", "none.fit", "--into", "part.parquet"],
    ):
        refused = sqlanon(*arguments, folder=clinic)
        assert refused.returncode == 2, (arguments, refused.stderr)
        assert "exist" in refused.stderr
    assert (clinic / "taken.html").read_text() == "mine"


def test_partitions_from_fit_to_verify(clinic: Path) -> None:
    early, late = "FROM visits WHERE id < 50", "FROM visits WHERE id >= 50"
    fitted = sqlanon(*published("fit", "--fit", "visits.fit", "--json", source=early), folder=clinic)
    assert fitted.returncode == 0, fitted.stderr
    assert document(fitted)["rows"] == 50

    def applied(source: str, into: str, *more: str) -> subprocess.CompletedProcess[str]:
        options = ["--db", "clinic.duckdb", "--fit", "visits.fit", "--into", into, *more]
        return sqlanon("apply", source, *options, folder=clinic)

    refused = applied("FROM visits WHERE id = 0", "alone.parquet", "--json")
    assert (refused.returncode, document(refused)["error"]["kind"]) == (3, "UnsatisfiableError")
    unused = applied(early, "early", "--taxonomy", "id=any.csv")
    assert (unused.returncode, 'the policy uses no taxonomy of "id"' in unused.stderr) == (2, True), unused.stderr
    first = applied(early, "early")
    assert (first.returncode, first.stdout[:16]) == (0, "Published early:"), first.stderr
    second = document(applied(late, "late", "--json"))["report"]
    assert (second["partitions"], second["union"]["released"]) == (2, 60)
    kept = applied("FROM visits WHERE id > 40", "late")
    assert kept.returncode == 1
    assert "--replace" in kept.stderr
    union = published("verify", source="FROM early UNION ALL FROM late")
    assert sqlanon(*union, folder=clinic).returncode == 3
    assert sqlanon(*union, "--without-provenance", folder=clinic).returncode == 0


def test_run_makes_the_warehouse_of_its_table_and_takes_it_back_if_it_fails(tmp_path: Path) -> None:
    duckdb.sql(ROWS).write_csv(str(tmp_path / "people.csv"))
    (tmp_path / "policy.toml").write_text(TOML)
    command = ["run", "people.csv", "--policy", "policy.toml", "--db", "new.duckdb", "--into", "k3"]
    refused = sqlanon(*command, "--k", "1000", folder=tmp_path)
    assert (refused.returncode, sorted(file.name for file in tmp_path.iterdir())) == (3, ["people.csv", "policy.toml"])
    done = sqlanon(*command, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    with duckdb.connect(str(tmp_path / "new.duckdb")) as client:
        assert client.execute("SELECT DISTINCT attribute FROM anon.taxonomy").fetchall() == [("age",)]
        assert client.execute("FROM anon.k_anonymity('k3', ['age'])").fetchone() is not None
