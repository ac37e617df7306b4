"""Sources that are read in pieces since memory is short: nothing comes out other than in one go."""

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

import sqlanon as sa
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.duckdb import source_pieces as pieces
from sqlanon.queries.kit.nodes import DIALECT, Step
from tests.conftest import copy_of
from tests.effort import some
from tests.engines import engine_of
from tests.in_pieces import reading_in_pieces
from tests.reports import alone

ROWS = 5000
PER_PIECE = 700
PLAIN = sa.Policy(
    quasi_identifiers=["age", 'z"ip'],
    sensitive=["illness"],
    insensitive=["cost", "who", "weight", "part"],
    privacy=[sa.KAnonymity(3), sa.DistinctLDiversity("illness", 2)],
    suppression_limit=0.2,
    earlier="none",
)
POLICIES = {
    "rows": PLAIN,
    "compared and masked": PLAIN.model_copy(
        update={"privacy": (sa.TCloseness("illness", 0.4, "ordered"),), "suppression": "mask"}
    ),
    "individuals": PLAIN.model_copy(
        update={"insensitive": ("cost", "weight", "part"), "identifiers": ("who",), "individual": "who"}
    ),
    "unknown values": PLAIN.model_copy(update={"unknown": "suppress"}),
    "weights": PLAIN.model_copy(update={"row_weight": "weight", "quality": sa.LM()}),
}
PEOPLE = """
    SELECT
        CASE WHEN i % 97 > 0 THEN 20 + i * 7 % 60 END AS age,
        CAST(1000 + hash(i) % 90 AS VARCHAR) AS "z""ip",
        CASE WHEN hash(i) % 11 > 0 THEN 'illness ' || hash(i + 1) % 6 END AS illness,
        i % 13 AS cost,
        i // 2 AS who,
        1 + i % 3 AS weight,
        i % 4 AS part
    FROM range(?) AS numbers (i)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE people AS {PEOPLE}", [ROWS])
        connection.execute(f"COPY people TO '{folder}/one.parquet' (ROW_GROUP_SIZE 2048)")
        connection.execute(f"COPY people TO '{folder}/people.csv'")
        connection.execute(f"COPY people TO '{folder}/parts' (FORMAT parquet, PARTITION_BY (part))")
        (folder / "files").mkdir()
        for file in range(9):  # of 100, 300, 500 ... rows: several in a piece, and a few in several
            rows = f"SELECT * FROM people LIMIT {100 + 200 * file} OFFSET {100 * file * file}"
            connection.execute(f"COPY ({rows}) TO '{folder}/files/it''s {file}.parquet'")
        connection.execute(f"ATTACH '{folder}/people.duckdb' AS other; CREATE TABLE other.people AS FROM people")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "w.duckdb"
    with sa.connect(path) as session:
        session.connection.execute(f"CREATE TABLE people AS {PEOPLE}", [ROWS])
        session.connection.execute('CREATE VIEW seen AS FROM people; CREATE TABLE "a.parquet" AS FROM people')
        session.taxonomies.load("age", sa.Taxonomy.intervals([5, 20], minimum=0, maximum=99), source="people")
        session.taxonomies.load('z"ip', sa.Taxonomy.prefixes([3, 2]), source="people")
    return path


@pytest.fixture
def session(made: Path, folder: Path) -> Iterator[sa.Session]:
    with copy_of(made, threads=2) as found:
        found.connection.execute(f"ATTACH '{folder}/people.duckdb' AS other (READ_ONLY)")
        yield found


APART = {
    "a table": lambda _: "people",
    "a table of another database": lambda _: "other.people",
    "a table that is named as a file": lambda _: 'SELECT age FROM "a.parquet"',
    "a query": lambda _: 'SELECT age, "z""ip", illness, cost, who, weight FROM people WHERE cost < 12',
    "a file": lambda folder: f"{folder}/one.parquet",
    "a glob": lambda folder: f"{folder}/files/*.parquet",
    "a folder": lambda folder: f"{folder}/files",
    "a partitioned folder": lambda folder: f"{folder}/parts",
    "a file that is listed twice": lambda folder: f"SELECT * FROM read_parquet({[f'{folder}/one.parquet'] * 2})",
    "files that a glob lists again": lambda folder: (
        f"SELECT * FROM read_parquet(['{folder}/parts/part=0/*.parquet', '{folder}/parts/*/*.parquet'])"
    ),
    "a query of a glob": lambda folder: (
        f"SELECT age, cost + 1 AS cost FROM '{folder}/files/*.parquet' WHERE lower(illness) LIKE 'i%' AND age > 9"
    ),
    "a query of files": lambda folder: f"SELECT * FROM read_parquet('{folder}/files/*.parquet')",
}
IN_ONE = {
    "a view": lambda _: "seen",
    "CSV": lambda folder: f"{folder}/people.csv",
    "the first rows": lambda _: "SELECT * FROM people LIMIT 100",
    "distinct rows": lambda _: "SELECT DISTINCT age, cost FROM people",
    "groups": lambda _: "SELECT age, count(*) AS cost FROM people GROUP BY age",
    "a window": lambda _: "SELECT age, row_number() OVER () AS cost FROM people",
    "a join": lambda _: "SELECT seen.age FROM people JOIN seen USING (who)",
    "hidden numbers": lambda folder: f"SELECT * FROM read_parquet('{folder}/one.parquet', file_row_number = true)",
    "a hidden name": lambda _: "SELECT age, cost AS rowid FROM people",
    "files that are computed": lambda folder: f"SELECT * FROM read_parquet('{folder}' || '/one.parquet')",
    "another table": lambda _: "SELECT age, (SELECT max(cost) FROM seen) AS cost FROM people",
    "rows at random": lambda _: "SELECT * FROM people WHERE random() < 0.5",
}


def pieces_of(session: sa.Session, source: str) -> list[exp.Expr]:
    engine = engine_of(session)
    with reading_in_pieces(PER_PIECE):
        return engine.pieces(engine.resolve(source).relation, 3)


def test_each_row_is_in_one_piece(session: sa.Session, folder: Path) -> None:
    for name, spelled in APART.items():
        source = spelled(folder)
        found = pieces_of(session, source)
        assert len(found) >= 5, name
        queries = [f"SELECT * FROM {piece.sql(DIALECT)} AS piece" for piece in found]
        counts = [session.connection.sql(f"SELECT count(*) FROM ({query})").fetchall()[0][0] for query in queries]
        assert max(counts) <= PER_PIECE, name
        relation = engine_of(session).resolve(source).relation.sql(DIALECT)
        everything = f"SELECT * FROM {relation} AS everything"
        together = " UNION ALL ".join(queries)
        for more, less in ((everything, together), (together, everything)):
            assert session.connection.sql(f"({more}) EXCEPT ALL ({less})").fetchall() == [], name


def test_what_cannot_be_told_apart_stays_whole(session: sa.Session, folder: Path) -> None:
    for name, spelled in IN_ONE.items():
        assert len(pieces_of(session, spelled(folder))) == 1, name
    engine = engine_of(session)
    assert len(engine.pieces(engine.resolve(f"{folder}/files").relation, 9)) == 1, "it fits in memory"


def test_how_much_fits_depends_on_memory(session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def note(memory: float, columns: int) -> int:
        asked.append((memory, columns))
        return ROWS

    monkeypatch.setattr(pieces, "rows_at_once", note)
    for limit in ("1GiB", "250MiB", "1500MiB"):
        session.connection.execute(f"SET memory_limit = '{limit}'")
        engine_of(session).pieces(engine_of(session).resolve("people").relation, 9)
    assert asked == [(2**30, 9), (250 * 2**20, 9), (1.4 * 2**30, 9)]
    monkeypatch.undo()
    assert pieces.rows_at_once(2**30, 9) == pytest.approx(8 * pieces.rows_at_once(2**27, 9), rel=1e-3)
    assert pieces.rows_at_once(1, 9) == 1


@pytest.mark.repeated
@pytest.mark.parametrize("name", some(POLICIES, "rows", "compared and masked", "individuals"))
def test_the_release_is_the_same(session: sa.Session, folder: Path, name: str) -> None:
    policy = POLICIES[name]
    source = f"{folder}/files" if policy is PLAIN else "people"
    if policy.unknown == "suppress":
        session.connection.execute("INSERT INTO people SELECT 150, '1001', 'flu', 1, 1, 1, 1 FROM range(90)")
    whole = session.anonymize(source, policy, into="whole")
    with reading_in_pieces(PER_PIECE):
        assert "cells of a piece" in {step.purpose for step in session.explain(source, policy)}
        apart = session.anonymize(source, policy, into="apart")
    assert rounded_report(apart) == rounded_report(whole)
    assert apart.guarantee == whole.guarantee
    differences = "SELECT * FROM (FROM whole EXCEPT ALL FROM apart) UNION ALL (FROM apart EXCEPT ALL FROM whole)"
    assert session.connection.sql(differences).fetchall() == []


def rounded_report(release: sa.Release) -> dict[str, object]:
    """The report, with sums to as many digits as do not depend on their order."""
    report = alone(release).model_dump(mode="json", exclude={"into", "seconds"})
    found: dict[str, object] = json.loads(json.dumps(report), parse_float=lambda digits: round(float(digits), 9))
    return found


def test_bad_values_are_refused(session: sa.Session) -> None:
    session.connection.execute("UPDATE people SET weight = -1 WHERE who = 7")
    with reading_in_pieces(PER_PIECE), pytest.raises(sa.PolicyError, match='"weight": NULL, not positive'):
        session.anonymize("people", POLICIES["weights"], into="out")
    session.connection.execute("INSERT INTO people VALUES (150, '1001', 'flu', 1, 1, 1, 1)")
    with reading_in_pieces(PER_PIECE), pytest.raises(sa.TaxonomyError, match="1 distinct value in 1 row"):
        session.anonymize("people", PLAIN, into="out")


def test_a_source_that_grows_meanwhile_is_refused(
    session: sa.Session, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that comes to the folder between two pieces is in none of them."""
    lake = tmp_path / "lake"
    lake.mkdir()
    for name in ("it's 3.parquet", "it's 4.parquet"):
        (lake / name).write_bytes((folder / "files" / name).read_bytes())
    run = Engine.run

    def run_and_add(self: Engine, step: Step) -> None:
        run(self, step)
        if step.purpose == "cells of a piece":
            (lake / "new.parquet").write_bytes((folder / "files" / "it's 5.parquet").read_bytes())

    monkeypatch.setattr(Engine, "run", run_and_add)
    with reading_in_pieces(PER_PIECE), pytest.raises(sa.EngineError, match="was changed while it was read"):
        session.anonymize(str(lake), PLAIN, into="out")
    assert session.connection.sql("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'out'").fetchall() == [(0,)]


def test_the_share_of_all_pieces_is_told(session: sa.Session) -> None:
    engine = engine_of(session)
    shares = []
    for number in range(4):
        with engine.part(number, 4):
            shares.append(engine.share())
    assert shares == [0, 0.25, 0.5, 0.75]


def test_explain_tells_of_pieces(session: sa.Session) -> None:
    with reading_in_pieces(PER_PIECE):
        steps = session.explain("people", PLAIN)
    first, other = (step for step in steps if step.purpose == "cells of a piece")
    assert (first.makes, other.makes) == ("anon_pieces", None)
    assert other.sql.startswith("INSERT")
    assert '"rowid" >=' in first.sql and '"rowid" >=' in other.sql
