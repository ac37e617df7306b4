"""Runs that are killed at random moments: the old release stays whole, or the new one is there, and the next run works.

The moments are chosen by a seed: the n-th call that changes a name or opens a file, of which publishing consists, or a
time, which also falls into what the database does.
"""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from tests.commands import environment
from tests.conftest import ROOT
from tests.effort import examples

ROW_COUNT = 2000
KILLS = 50
LOCAL_KILLS = 20
TABLE_KILLS = 6
LISTED_KILLS = 12
TAXONOMY_TABLES = ("taxonomy", "taxonomy_domain", "taxonomy_origin")
COMMAND_KILLS = examples(15)
WAITING = ".w.duckdb.releases"
"""The folder of rows of the list that wait for somebody who may write the warehouse."""
PAUSE = 5
"""Kills between two runs that are left alone."""

ROLES: dict[str, Any] = {"quasi_identifiers": ["age"], "insensitive": ["illness"], "identifiers": ["id"]}
OLD = sa.Policy(privacy=[sa.KAnonymity(5)], quality=sa.Prec(), search="exhaustive", **ROLES)
NEW = OLD.model_copy(update={"suppression_limit": 0.5})
TOML = """
quasi_identifiers = ["age"]
insensitive = ["illness"]
identifiers = ["id"]
search = "exhaustive"
quality = { model = "prec" }
privacy = [{ model = "k-anonymity", k = 5 }]
"""
"""The policy of the old release, as a file."""
SOURCE = "people.parquet"
CEILED = {
    k: sa.Policy(
        quasi_identifiers=["id"],
        sensitive=["illness"],
        identifiers=["age"],
        taxonomies={"id": {"kind": "intervals", "widths": [10], "minimum": 0, "maximum": ROW_COUNT - 1}},
        method=sa.HCeiling(k, h=0.01, catalog="paper"),
    )
    for k in (11, 12)
}
"""The old release and the new one, each with a catalog of its counterfeits, which are other ones in each."""
LOCAL = {
    k: sa.Policy(
        quasi_identifiers=["age", "id"],
        sensitive=["illness"],
        privacy=[sa.KAnonymity(k), sa.DistinctLDiversity("illness", 2)],
        method=sa.LocalRecoding(),
    )
    for k in (5, 9)
}
"""The old release and the new one by local recoding, each with classes of its own in its record."""
CATALOG_KILLS = examples(20)
LAYOUTS: dict[str, dict[str, Any]] = {
    "published.parquet": {},
    "published.csv": {},
    "pieces/": {"rows_per_file": 700},
    "parts/": {"partition_by": "illness"},
    "published": {},
    "cataloged": {"tables": {"catalog": "catalog"}},
    "far/": {},
}

PROGRAM = """
import json, os, signal, sys, time
import sqlanon as sa
from sqlanon.queries.kit.macros import macros
from sqlanon.publish import folders
from sqlanon.publish.provenance import code_sha256

rows = sys.argv[2] or None
if rows:
    import pyspark.sql.connect.session

EVENTS = {"open", "os.rename", "os.link", "os.remove", "os.rmdir", "os.mkdir", "os.listdir", "os.scandir"}
EVENTS.add("ctypes.dlsym")  # right before two folders trade places
macros(), code_sha256()
if not rows:  # a fork is to publish, and not to import and to parse what a run takes
    with sa.connect("w.duckdb", read_only=True, threads=1) as practice:
        practice.explain("people.parquet", sa.Policy(**json.loads(sys.argv[1])))

def run(into, layout, number):
    if into == "parts/":
        folders.exchange = lambda *_: False  # a file system that cannot swap folders
    policy = sa.Policy(**json.loads(sys.argv[1]))
    read_only = into not in ("published", "cataloged") and not into.startswith("listed")
    with sa.connect("w.duckdb", read_only=read_only, threads=1, rows=rows) as session:
        count = 0
        def count_event(event, arguments):
            nonlocal count
            here = any(str(argument).startswith((os.getcwd(), "<CDLL")) for argument in arguments[:1])
            if event in EVENTS and here:
                count += 1
                if count == number:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(count_event)
        start = time.perf_counter()
        session.anonymize("people.parquet", policy, into=into, replace=True, **layout)
        return {"events": count, "seconds": time.perf_counter() - start}

for line in sys.stdin:
    into, layout, number, delay = json.loads(line)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, json.dumps(run(into, layout, number)).encode())
        os._exit(0)
    os.close(writer)
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    answer = os.read(reader, 1000)
    os.close(reader)
    print(json.dumps({"code": os.waitstatus_to_exitcode(status), **json.loads(answer or "{}")}), flush=True)
"""


class Victims:
    """A program that forks a run, which replaces the old release, and tells how it ended."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def run(self, into: str, *, number: int = -1, delay: float | None = None) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([into, LAYOUTS.get(into, {}), number, delay]) + "\n")
        self.process.stdin.flush()
        ended: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert ended["code"] in (0, -signal.SIGKILL)
        return ended


@contextmanager
def victims(folder: Path, policy: sa.Policy = NEW, rows: str = "") -> Iterator[Victims]:
    command = [sys.executable, "-c", PROGRAM, policy.model_dump_json(), rows]
    # Threads of NumPy's linear algebra would not survive a fork.
    environment = {"PYTHONPATH": str(ROOT), "PATH": "", "TMPDIR": str(folder.parent), "OPENBLAS_NUM_THREADS": "1"}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=folder, env=environment, **pipes) as process:
        try:
            yield Victims(process)
        finally:
            process.kill()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "lake"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with sa.connect("w.duckdb") as session:
        session.taxonomies.load("age", sa.Taxonomy.flat(range(9)))
        session.connection.execute(
            f"COPY (SELECT hash(i) % 9 AS age, 'illness ' || hash(i * 7) % 3 AS illness, i AS id "
            f"FROM range({ROW_COUNT}) AS r (i)) TO '{SOURCE}'"
        )
    return folder


def is_new(session: sa.Session, into: str, old: sa.Policy = OLD, new: sa.Policy = NEW) -> bool:
    """Whether the release is the new one; it is whole and verified, whichever it is."""
    text = session.provenance(into)
    assert text is not None
    found = sa.Policy(**json.loads(text)["sqlanon"]["policy"])
    assert found in (old, new)
    assert session.verify(into, found).measurement.row_count == ROW_COUNT
    return found == new


def listed_there(session: sa.Session, into: str) -> str:
    """The hash of the policy of the one release that the list has at a target."""
    (found,) = (each for each in session.releases.list().releases if each.state == "there" and each.target == into)
    return found.policy_sha256


# More than six parameters: what is killed, and how often.
def kill_runs(
    folder: Path, old: sa.Policy, new: sa.Policy, targets: Sequence[str], kills: int, rows: str = ""
) -> dict[str, int]:
    """Kill runs that replace a release by a new one, and count the kills of each target.

    ``rows`` is the address of a server that has the rows of the runs which are killed.
    """
    moments = random.Random(4)  # noqa: S311
    layouts = {into: LAYOUTS[into] for into in targets}
    killed = dict.fromkeys(layouts, 0)
    with sa.connect("w.duckdb", read_only=True, threads=1) as session, victims(folder, new, rows) as killer:
        whole = {}
        for into, layout in layouts.items():
            session.anonymize(SOURCE, old, into, **layout)
            whole[into] = killer.run(into)
            assert is_new(session, into, old, new)
            session.anonymize(SOURCE, old, into, replace=True, **layout)
        visible = sorted(path.name for path in folder.iterdir() if path.name != WAITING)
        while sum(killed.values()) < kills:
            into = moments.choice(list(layouts))
            if moments.random() < 0.5:
                ended = killer.run(into, number=moments.randint(1, whole[into]["events"]))
            else:
                ended = killer.run(into, delay=moments.uniform(0, whole[into]["seconds"]))
            was_killed = ended["code"] != 0
            killed[into] += was_killed
            replaced = is_new(session, into, old, new)
            assert replaced or was_killed
            assert listed_there(session, f"{folder}/{into}") == (new if replaced else old).sha256()
            assert sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")) == visible
            if replaced or sum(killed.values()) % PAUSE == 0:
                session.anonymize(SOURCE, old, into, replace=True, **LAYOUTS[into])
                assert not is_new(session, into, old, new)
                assert not list(folder.glob(f".{into.rstrip('/')}*"))
        for into, layout in layouts.items():
            session.anonymize(SOURCE, old, into, replace=True, **layout)
        assert sorted(path.name for path in folder.iterdir() if path.name != WAITING) == visible
    return killed


def test_files_and_folders(folder: Path) -> None:
    targets = [into for into in LAYOUTS if Path(into).suffix or into in ("pieces/", "parts/")]
    killed = kill_runs(folder, OLD, NEW, targets, KILLS)
    assert min(killed.values()) > 0
    assert (folder / "published.csv.sqlanon.json").exists()


def test_local_recoding(folder: Path) -> None:
    with sa.connect("w.duckdb") as session:
        session.taxonomies.load("id", sa.Taxonomy.intervals([10, 100], minimum=0, maximum=ROW_COUNT - 1))
    killed = kill_runs(folder, LOCAL[5], LOCAL[9], ["published.parquet", "published.csv"], LOCAL_KILLS)
    assert min(killed.values()) > 0


def test_tables(folder: Path) -> None:
    moments = random.Random(5)  # noqa: S311
    with sa.connect("w.duckdb") as session:
        session.anonymize(SOURCE, OLD, "published")
    with victims(folder) as killer:
        seconds = killer.run("published")["seconds"]
        killed = 0
        while killed < TABLE_KILLS:
            ended = killer.run("published", delay=moments.uniform(0, 1.5 * seconds))
            killed += ended["code"] != 0
            with sa.connect("w.duckdb") as session:
                assert is_new(session, "published") or ended["code"] != 0
                session.anonymize(SOURCE, OLD, "published", replace=True)
                assert not is_new(session, "published")
                tables = session.connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
                assert tables == [(name,) for name in ("published", "releases", *TAXONOMY_TABLES)]
                states = [each.state for each in session.releases.list().releases]
                assert states == [*("replaced" for _ in states[1:]), "there"], "a table and its row come together"


@pytest.mark.parametrize("into", ["listed.parquet", "listed.csv", "listed/"])
def test_a_release_that_is_there_is_on_the_list(folder: Path, into: str) -> None:
    moments, killed, states = random.Random(7), 0, set()  # noqa: S311
    with sa.connect("w.duckdb") as session:
        session.anonymize(SOURCE, OLD, into)
    with victims(folder) as killer:
        whole = killer.run(into)["events"]
        while killed < LISTED_KILLS:
            ended = killer.run(into, number=moments.randint(whole // 2, whole))
            killed += ended["code"] != 0
            with sa.connect("w.duckdb") as session:
                listed = session.releases.list().releases
                (there,) = [each for each in listed if each.state == "there"]
                states.update(each.state for each in listed)
                assert there.policy_sha256 == (NEW if is_new(session, into) else OLD).sha256()
                if is_new(session, into):
                    session.anonymize(SOURCE, OLD, into, replace=True)
    assert states == {"there", "replaced", "unconfirmed"}, "some were killed between the row and the release"


@pytest.mark.parametrize("command", ["run out.parquet", "run out.csv", "run out/", "run out", "apply part.parquet"])
def test_commands(folder: Path, command: str) -> None:
    """What is there is on the list, and what is not there is not confirmed, whenever a command is killed."""
    verb, into = command.split()
    (folder / "p.toml").write_text(TOML)
    rest = ["--fit", "f.fit"] if verb == "apply" else ["--policy", "p.toml"]
    program = [sys.executable, "-m", "sqlanon", verb, SOURCE, "--db", "w.duckdb", *rest, "--into", into]
    own = str(folder / "f.fit") if verb == "apply" else into if into == "out" else f"{folder}/{into}"
    moments, killed, published, runs = random.Random(8), 0, 0, 0  # noqa: S311
    with sa.connect("w.duckdb") as session:
        session.partitions.fit(SOURCE, OLD, "f.fit", accept_observed_domain=True)
    fit = (folder / "f.fit").read_bytes()
    seconds: list[float] = []  # of two runs that nobody kills: the first one may be slower
    while killed < COMMAND_KILLS:
        runs += 1
        start = time.perf_counter()
        with subprocess.Popen(program, env=environment(), stdout=subprocess.DEVNULL) as process:
            if len(seconds) == 2:
                time.sleep(moments.uniform(0.5, 1) * min(seconds))
                process.kill()
        if len(seconds) < 2:
            seconds.append(time.perf_counter() - start)
        killed += process.returncode != 0
        with sa.connect("w.duckdb") as session:
            listed = session.releases.list().releases
            if session.connection.execute("FROM duckdb_tables() WHERE table_name = 'out'").fetchall():
                there = True
            else:
                there = (folder / into).exists()
            published += there
            states = [each.state for each in listed if each.target == own]
            assert ("there" in states) >= there
            assert process.returncode == 0 or states.count("there") <= 1
            assert verb == "apply" or there or "there" not in states
            session.connection.execute("DROP TABLE IF EXISTS out")
        if (folder / into).is_dir():
            shutil.rmtree(folder / into)
        for path in folder.glob(f"{into.rstrip('/')}*"):
            path.unlink()
        (folder / "f.fit").write_bytes(fit)
    assert 0 < published < runs


def test_two_tables(folder: Path) -> None:
    """Both are old or both are new, and fit each other."""
    moments = random.Random(6)  # noqa: S311
    old, new = CEILED.values()
    tables = LAYOUTS["cataloged"]["tables"]
    with sa.connect("w.duckdb") as session:
        session.anonymize(SOURCE, old, "cataloged", tables=tables)
    with victims(folder, new) as killer:
        seconds = killer.run("cataloged")["seconds"]
        killed = 0
        while killed < CATALOG_KILLS:
            ended = killer.run("cataloged", delay=moments.uniform(0.3 * seconds, 1.3 * seconds))
            killed += ended["code"] != 0
            with sa.connect("w.duckdb") as session:
                notes = [json.loads(session.provenance(name) or "") for name in ("cataloged", "catalog")]
                one, other = (note["sqlanon"]["policy"] for note in notes)
                assert one == other
                assert one["method"]["k"] in CEILED
                counts = "SELECT (SELECT count(*) FROM cataloged) - (SELECT sum(counterfeits) FROM catalog)"
                assert session.connection.sql(counts).fetchall() == [(ROW_COUNT,)]
                if one["method"]["k"] == new.criteria.k:
                    session.anonymize(SOURCE, old, "cataloged", tables=tables, replace=True)
                else:
                    assert ended["code"] != 0
