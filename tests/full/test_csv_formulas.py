"""Cells of a CSV that a spreadsheet would compute: kept, quoted or refused, and verified as they were written."""

import csv
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon as sa
from tests.commands import document, sqlanon

CELLS = ["=1+1", "+A1", "-2+3", "@SUM(A1)", "\tx", "\rx", "'=1", "-5", "+3.2", "-", "a=1", "'a", "", None]
QUOTED = {cell: f"'{cell}" for cell in CELLS[:7]}
INTO = "out.csv"
POLICY = sa.Policy(quasi_identifiers=["zone"], insensitive=["cell", "@number"], privacy=[sa.KAnonymity(2)])


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    """A session on every cell twice, beside a number, in zones whose names are formulas as well."""
    monkeypatch.chdir(tmp_path)
    with sa.connect("w.duckdb") as session:
        session.connection.execute(
            "CREATE TABLE given AS SELECT ['=N', '-S'][1 + row % 2] AS zone, cell, -row AS \"@number\" "
            "FROM (SELECT unnest(?::VARCHAR[]) AS cell), range(2) AS rows (row)",
            [CELLS],
        )
        session.taxonomies.load("zone", sa.Taxonomy.flat(["=N", "-S"]))
        yield session


def rows() -> list[list[str]]:
    with Path(INTO).open(newline="") as file:
        return list(csv.reader(file))


def released(release: sa.Release) -> list[tuple[object, ...]]:
    return sorted((tuple(row.values()) for row in release.to_arrow().to_pylist()), key=repr)


def test_they_are_kept_and_counted(session: sa.Session) -> None:
    release = session.anonymize("given", POLICY, INTO)
    note = next(note for note in release.report.notes if "spreadsheet" in note)
    assert '28 cells of "zone", 14 cells of "cell", the name of the column "@number"' in note
    assert 'csv_formulas="quote"' in note
    assert not any(cell in note for cell in CELLS if cell and len(cell) > 2)
    assert rows()[0] == ["zone", "cell", "@number"]
    assert {row[1] for row in rows()[1:]} == {cell or "" for cell in CELLS}
    assert session.verify(INTO, POLICY).met


def test_they_are_quoted_and_read_as_they_were(session: sa.Session) -> None:
    release = session.anonymize("given", POLICY, INTO, csv_formulas="quote")
    assert any("an apostrophe before them" in note for note in release.report.notes)
    header, *written = rows()
    assert header == ["zone", "cell", "'@number"]
    assert {row[0] for row in written} == {"'=N", "'-S"}
    assert {row[1] for row in written} == {QUOTED.get(cell, cell or "") for cell in CELLS}
    assert {row[2] for row in written} == {"0", "-1"}
    assert released(release) == sorted(session.connection.execute("FROM given").fetchall(), key=repr)
    found = session.verify(INTO, POLICY)
    assert found.met
    assert not any("label" in note for note in found.notes)
    with sa.connect() as other:
        other.taxonomies.load("zone", sa.Taxonomy.flat(["=N", "-S"]))
        assert other.verify(INTO, POLICY).met
    for suffix in ("", ".sqlanon.json"):
        shutil.copy(f"{INTO}{suffix}", f"copy.csv{suffix}")
    together = session.measure("*.csv", POLICY)
    assert (together.row_count, together.k) == (2 * 2 * len(CELLS), 2 * len(CELLS))
    place = Path(f"{INTO}.sqlanon.json")
    note = json.loads(place.read_text())
    [entry] = note["sqlanon"]["releases"].values()
    assert entry["quoted_formulas"] == ["zone", "cell"]
    entry["quoted_formulas"] = []
    place.write_text(json.dumps(note))
    with pytest.raises(sa.VerificationError, match="labels"):
        session.verify(INTO, POLICY)


def test_they_are_refused(session: sa.Session) -> None:
    for target, given in {"out.csv": "drop", "out.parquet": "quote", "out": "keep"}.items():
        with pytest.raises(sa.PolicyError, match="csv_formulas is"):
            session.anonymize("given", POLICY, target, csv_formulas=given)  # type: ignore[arg-type]
    Path(INTO).write_text("old")
    with pytest.raises(sa.EngineError, match=r'14 cells of "cell".*"refuse"') as error:
        session.anonymize("given", POLICY, INTO, csv_formulas="refuse", replace="anything")
    assert "SUM" not in str(error.value)
    assert Path(INTO).read_text() == "old"
    harmless = POLICY.model_copy(update={"insensitive": ["cell", "number"]})
    source = "SELECT 'N' AS zone, cell, -1 AS number FROM given WHERE cell IN ('-5', 'a=1', '-')"
    session.taxonomies.load("zone", sa.Taxonomy.flat(["N"]))
    release = session.anonymize(source, harmless, INTO, csv_formulas="refuse", replace="anything")
    assert not any("spreadsheet" in note for note in release.report.notes)


def test_another_choice_is_another_release(session: sa.Session) -> None:
    session.connection.execute("COPY given TO 'given.parquet'")
    session.anonymize("given.parquet", POLICY, INTO)
    assert session.anonymize("given.parquet", POLICY, INTO, replace="changed").unchanged
    assert not session.anonymize("given.parquet", POLICY, INTO, csv_formulas="quote", replace="changed").unchanged
    assert rows()[0][2] == "'@number"


def test_partitions(session: sa.Session) -> None:
    session.partitions.fit("given", POLICY, "given.fit")
    release = session.partitions.apply("given", "given.fit", INTO, csv_formulas="quote")
    assert any("an apostrophe before them" in note for note in release.report.notes)
    assert rows()[0][2] == "'@number"


FLATTENED = {"individual": "row", "event": "cell", "order": "place", "first": len(CELLS), "keep": "zone"}


@pytest.fixture
def events(session: sa.Session) -> sa.Session:
    """Two individuals, each with an event for every cell."""
    session.connection.execute(
        "CREATE TABLE events AS SELECT row, ['=N', '-S'][1 + row] AS zone, cell, place "
        "FROM (SELECT unnest(?::VARCHAR[]) AS cell, unnest(range(?)) AS place), range(2) AS rows (row)",
        [CELLS, len(CELLS)],
    )
    return session


def test_tables_of_individuals(events: sa.Session) -> None:
    kept = events.flatten("events", INTO, **FLATTENED)
    assert '2 cells of "zone", 2 cells of "cell_1"' in " ".join(kept.notes)
    assert rows()[1][1:] in [["=N", *(cell or "" for cell in CELLS)], ["-S", *(cell or "" for cell in CELLS)]]
    quoted = events.flatten("events", INTO, **FLATTENED, csv_formulas="quote", replace=True)
    assert "an apostrophe before them" in " ".join(quoted.notes)
    assert {row[1] for row in rows()[1:]} == {"'=N", "'-S"}
    assert rows()[1][2:] == [QUOTED.get(cell, cell or "") for cell in CELLS]
    events.flatten("events", "flat", **FLATTENED)
    events.flatten(INTO, "again", **{**FLATTENED, "event": "cell_1", "order": "row", "first": 1})
    read, expected = (events.connection.table(name).fetchall() for name in ("again", "flat"))
    assert sorted(row[:3] for row in read) == sorted(row[:3] for row in expected)
    with pytest.raises(sa.EngineError, match=r'"zone".*csv_formulas="refuse"'):
        events.flatten("events", INTO, **FLATTENED, csv_formulas="refuse", replace=True)
    with pytest.raises(sa.PolicyError, match="csv_formulas is for"):
        events.flatten("events", "flat", **FLATTENED, csv_formulas="quote", replace=True)


def test_rows_like_a_release(session: sa.Session) -> None:
    method = sa.DiffGen("zone", specializations=1, accept_observed_domain=True)
    session.connection.execute("CREATE TABLE learnt AS SELECT zone, if(\"@number\" = 0, 'a', 'b') AS side FROM given")
    session.taxonomies.load("side", sa.Taxonomy.flat(["a", "b"]))
    session.anonymize(
        "learnt",
        sa.Policy(quasi_identifiers=["side"], sensitive=["zone"], method=method),
        "released",
        random_source=sa.SeededSource(1),
    )
    session.connection.execute("CREATE TABLE new AS SELECT 'a' AS side, cell, 1 AS \"@number\" FROM given")
    kept = session.generalize("new", "released", INTO)
    assert '14 cells of "cell", the name of the column "@number"' in " ".join(kept.notes)
    quoted = session.generalize("new", "released", INTO, csv_formulas="quote", replace=True)
    assert "an apostrophe before them" in " ".join(quoted.notes)
    assert rows()[0] == ["side", "cell", "'@number"]
    with pytest.raises(sa.EngineError, match=r'14 cells of "cell".*csv_formulas="refuse"'):
        session.generalize("new", "released", INTO, csv_formulas="refuse", replace=True)


def test_a_lattice_has_none(session: sa.Session) -> None:
    """Whatever columns are called: their names stand behind a word there."""
    session.connection.execute('ALTER TABLE given RENAME COLUMN zone TO "=zone"')
    session.taxonomies.load("=zone", sa.Taxonomy.flat(["=N", "-S"]))
    privacy = [sa.KAnonymity(20), sa.DistinctLDiversity("cell", 90)]
    wanted = sa.Policy(quasi_identifiers=["=zone"], sensitive=["cell"], rest="identifier", privacy=privacy)
    session.lattice("given", wanted, into=INTO)
    starts = {cell[:1] for row in rows() for cell in row}
    assert starts.isdisjoint("=+@\t\r\n")
    assert not any(cell.startswith("-") for row in rows() for cell in row if not cell.strip("-").isdigit())
    assert rows()[0][0] == "node.=zone"


def test_by_the_command_line(events: sa.Session, tmp_path: Path) -> None:
    events.close()
    Path("p.toml").write_text(
        'quasi_identifiers = ["zone"]\ninsensitive = ["cell", "@number"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    run = ["run", "given", "--db", "w.duckdb", "--policy", "p.toml", "--into", INTO]
    assert sqlanon(*run, "--csv-formulas", "drop", folder=tmp_path).returncode == 2
    done = sqlanon(*run, "--csv-formulas", "quote", "--json", folder=tmp_path)
    assert any("apostrophe" in note for note in document(done)["report"]["notes"])
    roles = [f"--{role}={name}" for role, name in FLATTENED.items()]
    flatten = ["flatten", "events", "--db", "w.duckdb", "--into", "flat.csv", *roles]
    assert "a spreadsheet takes 2 cells" in sqlanon(*flatten, folder=tmp_path).stderr
    done = sqlanon(*flatten, "--replace", "--csv-formulas", "quote", "--json", folder=tmp_path)
    assert "apostrophe" in document(done)["notes"][0]
