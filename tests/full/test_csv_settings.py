"""``[csv]`` of a policy and ``--csv``: how CSV files are read where that is not to be found out."""

import datetime
import json
import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.commands import sqlanon
from tests.effort import EFFORT
from tests.engines import engine_of

D = datetime.date
READ: dict[str, tuple[str, str, dict[str, Any], list[str], list[tuple[Any, ...]]]] = {
    "latin-1": ("latin-1", "ort;alter\nKöln;1\n", {"encoding": "latin-1"}, ["text", "BIGINT"], [("Köln", 1)]),
    "UTF-16": ("utf-16", "ört;alter\nKöln;1\n", {"encoding": "utf-16"}, ["text", "BIGINT"], [("Köln", 1)]),
    "codes": ("utf-8", "a,b\nNA,x\n1,.\n", {"nullstr": ["NA", "."]}, ["BIGINT", "text"], [(1, None), (None, "x")]),
    "a row of codes": (
        "utf-8",
        "a,b\nNA,NA\n,\n1,x\n",
        {"nullstr": "NA"},
        ["BIGINT", "text"],
        [(1, "x"), (None, None)],
    ),
    "decimals": (
        "utf-8",
        "p;q\n1,5;1,5\n7,0;k.A.\n",
        {"decimal": ","},
        ["DECIMAL(18, 1)", "text"],
        [(Decimal("1.5"), "1,5"), (Decimal("7.0"), "k.A.")],
    ),
    "thousands": (
        "utf-8",
        "p;d\n1.234,50;1.2.2016\n7,25;3.4.2016\n",
        {"decimal": ",", "thousands": "."},
        ["DECIMAL(18, 2)", "text"],
        [(Decimal("7.25"), "3.4.2016"), (Decimal("1234.50"), "1.2.2016")],
    ),
    "decimals and codes": (
        "utf-8",
        "p\n1,5\nk.A.\n",
        {"decimal": ",", "nullstr": "k.A."},
        ["DECIMAL(18, 1)"],
        [(Decimal("1.5"),), (None,)],
    ),
    "no names": ("utf-8", "Bonn,1\nTrier,2\n", {"header": False}, ["text", "BIGINT"], [("Bonn", 1), ("Trier", 2)]),
    "names": ("utf-8", "Bonn,1\nBonn,2\n", {"header": ["city", "n"]}, ["text", "BIGINT"], [("Bonn", 1), ("Bonn", 2)]),
    "names that are values": ("utf-8", "1,2\n3,4\n", {"header": True}, ["BIGINT", "BIGINT"], [(3, 4)]),
    "a delimiter": ("utf-8", "a^b;c\n1^2;3\n", {"delim": "^"}, ["BIGINT", "text"], [(1, "2;3")]),
    "a quote": ("utf-8", "a,b\n'1,5','it''s'\n", {"quote": "'"}, ["text", "text"], [("1,5", "it's")]),
    "no quotes": ("utf-8", 'a,b\n5",x\n', {"quote": ""}, ["text", "text"], [('5"', "x")]),
    "lines above": ("utf-8", "Report\n\na,b\n1,2\n", {"skip": 2}, ["BIGINT", "BIGINT"], [(1, 2)]),
    "texts": (
        "utf-8",
        "zip,n\n53111,1\n",
        {"types": {"ZIP": "VARCHAR", "n": "TINYINT"}},
        ["text", "TINYINT"],
        [("53111", 1)],
    ),
    "days": (
        "utf-8",
        "d\n1.2.24\n3.4.35\n",
        {"types": {"d": "DATE"}, "dates": "dmy", "century": 1930},
        ["DATE"],
        [(D(1935, 4, 3),), (D(2024, 2, 1),)],
    ),
    "types of commas": (
        "utf-8",
        "p\n1,5\n2,25\n",
        {"types": {"p": "DOUBLE"}, "decimal": ",", "delim": ";"},
        ["DOUBLE"],
        [(1.5,), (2.25,)],
    ),
}
"""The encoding and the text of a file, what is said of it, and the types and rows that are read."""

REFUSED: dict[str, tuple[bytes, dict[str, Any], str]] = {
    "cells": (b"age,zip\nNA,1\n2,x\n.,3\n", {"types": {"age": "INTEGER", "zip": "INTEGER"}}, '"age" (INTEGER): 2 rows'),
    "columns": (
        b"age,zip\n1,2\n",
        {"types": {"aje": "INTEGER", "zip": "INT8T"}},
        '"aje" is not there; did you mean "age"?',
    ),
    "names": (b"a,b\n1,2\n", {"header": ["a"]}, "has 2 fields where [csv] header has 1 names"),
    "encoding": (b"a,b\n1,2\n", {"encoding": "cp1252"}, "INSTALL encodings"),
    "other encoding": ("a,b\n€,2\n".encode("cp1252"), {"encoding": "latin-1"}, "not in the encoding that [csv] gives"),
}


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect() as session:
        yield session


def read_of(session: sa.Session, path: Path, settings: Mapping[str, Any]) -> Any:
    """The relation of a file, and its rows."""
    engine = engine_of(session)
    with engine.reading_frames():
        engine.read_as(sa.Policy(quasi_identifiers=["a"], privacy=[sa.KAnonymity(2)], csv=settings).csv)
        return engine.resolve(str(path)).relation


def test_files_are_read_as_it_is_said(session: sa.Session, tmp_path: Path) -> None:
    for title, (encoding, text, settings, types, rows) in READ.items():
        path = tmp_path / f"{title}.csv"
        path.write_bytes(text.encode(encoding))
        relation = read_of(session, path, settings)
        kinds = [
            each.type.replace("VARCHAR", "text").replace("18,", "18, ")
            for each in engine_of(session).describe(relation)
        ]
        assert kinds == types, title
        found = session.connection.execute(f"FROM {relation.sql('duckdb')} ORDER BY ALL").fetchall()
        assert found == rows, title


def test_what_does_not_fit_is_refused(session: sa.Session, tmp_path: Path) -> None:
    for title, (content, settings, message) in REFUSED.items():
        path = tmp_path / "odd.csv"
        path.write_bytes(content)
        with pytest.raises(sa.SqlanonError) as refused:
            read_of(session, path, settings)
        assert message in str(refused.value), title
        if title == "cells":
            query = refused.value.problems[1].partition("; ")[2]
            assert session.connection.execute(query).fetchall() == [("x", 1)]
    with pytest.raises(sa.PolicyError) as refused:
        sa.connect(csv={"delim": ";;", "quote": "'", "skip": -1, "dates": "ymd", "nulstr": []})
    assert [problem.partition(":")[0] for problem in refused.value.problems] == ["delim", "skip", "dates", "nulstr"]
    with pytest.raises(sa.PolicyError, match="are the same character"):
        sa.connect(csv={"thousands": ".", "decimal": "."})


MESSY = "Report of 2024\npatient;alter;geschlecht;gehalt\n" + "".join(
    f"{row};{'k.A.' if row % 10 == 0 else 30 + row % 3};{'mw'[row % 2]};{1 + row % 4}.000,50\n" for row in range(60)
)

POLICY = """quasi_identifiers = ["alter", "geschlecht"]
sensitive = ["gehalt"]
identifiers = ["patient"]
privacy = [{ model = "k-anonymity", k = 3 }]
[taxonomies]
alter = { kind = "intervals", widths = [10], minimum = 0, maximum = 99 }
geschlecht = "flat"
"""
SETTINGS = '[csv]\nskip = 1\nnullstr = ["k.A."]\ndecimal = ","\nthousands = "."\n'
GIVEN = ("--csv", "skip=1", "--csv", "nullstr=k.A.", "--csv", "decimal=,", "--csv", "thousands=.")


def test_every_command_reads_a_file_alike(tmp_path: Path) -> None:
    """By the policy, by the command line, and by the record of a release."""
    Path(tmp_path / "messy.csv").write_text(MESSY)
    Path(tmp_path / "said.toml").write_text(POLICY + SETTINGS)
    Path(tmp_path / "silent.toml").write_text(POLICY)

    def run(*words: str, code: int = 0) -> str:
        done = sqlanon(*words, folder=tmp_path)
        assert done.returncode == code, done.stderr
        return done.stdout if "--json" in words else done.stdout + done.stderr

    assert "skip = 1" in run("run", "messy.csv", "--policy", "silent.toml", "--into", "a.parquet", code=1)
    run("run", "messy.csv", "--policy", "said.toml", "--into", "a.parquet")
    run("run", "messy.csv", "--policy", "silent.toml", "--into", "b.parquet", *GIVEN)
    with sa.connect() as session:
        found = [
            session.connection.execute(f"FROM '{tmp_path}/{name}.parquet' ORDER BY ALL").fetchall() for name in "ab"
        ]
    assert found[0] == found[1]
    assert {row[2] for row in found[0]} == {Decimal(f"{number}000.50") for number in range(1, 5)}
    for policy, release in (("said", "b"), ("silent", "a")):
        said = run("verify", f"{release}.parquet", "--policy", f"{policy}.toml", "--source", "messy.csv")
        assert "another policy" not in said
    run("report", "b.parquet", "--source", "messy.csv", "--out", "b.html")
    run("compare-releases", "a.parquet", "b.parquet", "--source", "messy.csv", "--json")
    run("lattice", "messy.csv", "--policy", "said.toml")
    run("explain", "messy.csv", "--policy", "silent.toml", *GIVEN)
    run("init", "messy.csv", *GIVEN, "--out", "suggested.toml")
    run("run", "messy.csv", "--policy", "suggested.toml", "--into", "c.parquet")
    # The same release is left alone, and another one is made where the file is read otherwise.
    same = ("run", "messy.csv", "--policy", "said.toml", "--into", "a.parquet", "--replace-if-changed", "--json")
    assert json.loads(run(*same))["unchanged"]
    assert not json.loads(run(*same, "--csv", "types.patient=VARCHAR"))["unchanged"]


PROPOSED: dict[str, tuple[str, dict[str, Any]]] = {
    "NA": ("age,job\nNA,cook\n41,N/A\n", {"nullstr": ["N/A", "NA"]}),
    "Namibia": ("age,country\nNA,NA\n41,DE\n", {}),
    "a negative code": ("age,t\n-99,-5\n41,7\n", {"nullstr": ["-99"]}),
    "a number below 0": ("t,age\n-99,1\n-5,2\n", {}),
    "decimal commas": ("a;hba1c\n1;k.A.\n2;7,1\n", {"nullstr": ["k.A."], "decimal": ","}),
    "thousands": ("a;b\n1;1.100,50\n2;7,50\n", {"decimal": ",", "thousands": "."}),
    "points elsewhere": ("a;b\n1.234;1.100,50\n2.345;7,50\n", {"decimal": ","}),
    "commas": ('a,b\n1,"1,100.50"\n2,"7.5"\n', {"thousands": ","}),
    "one comma": ('a,b\n1,"1,100"\n2,"7,500"\n', {}),
    "days": (
        "a;born\n1;31.12.1958\n2;unbekannt\n",
        {"nullstr": ["unbekannt"], "dates": "dmy", "types": {"born": "DATE"}},
    ),
    "two orders": ("a;born\n1;01.02.1958\n2;03.04.1960\n", {}),
    "American days": ("a,born\n1,12/31/1958\n2,1/2/1960\n", {"dates": "mdy", "types": {"born": "DATE"}}),
    "times with a zone": ("a,at\n1,2024-03-05T13:45:00+02:00\n2,2024-03-26T01:05:00+02:00\n", {}),
    "days with times": ("a,at\n1,31.12.1958 10:30\n2,14.01.1960T11:00\n", {}),
    "beds": ("a,bed\n1,3-2-12\n2,3.2.13\n", {}),
    "texts": ("a,b\n007,x\n08,1-2\n", {}),
}
"""Files, and what init proposes for them."""

RUN = ("NA", "thousands", "days")
"""The files that tier 2 releases as is proposed: by codes, numbers and dates."""


@pytest.mark.repeated
def test_init_proposes_settings_that_run(tmp_path: Path) -> None:
    """Of the very file; years of two digits get the century that is not in the future."""
    with sa.connect() as session:
        for title, (text, expected) in PROPOSED.items():
            head, *rows = text.splitlines(keepends=True)
            (tmp_path / f"{title}.csv").write_text(head + "".join(rows) * 6)
            policy = tomllib.loads(session.suggest(tmp_path / f"{title}.csv", k=2).to_toml())
            assert policy.get("csv", {}) == expected, title
            if policy["quasi_identifiers"] and expected and (title in RUN or EFFORT >= 1):
                session.anonymize(tmp_path / f"{title}.csv", policy, "t", replace=True)
    (tmp_path / "born.csv").write_text("born,sex\n" + "01.01.35,m\n14.02.48,f\n31.12.07,m\n" * 9)
    done = sqlanon("init", "born.csv", folder=tmp_path)
    assert 'years of "born" have two digits, and none is in the future so' in done.stdout
    assert sqlanon("run", "born.csv", "--policy", "policy.toml", "--into", "o.csv", folder=tmp_path).returncode == 0
    labels = {line.split(",")[0].strip('"') for line in (tmp_path / "o.csv").read_text().splitlines()[1:]}
    assert labels == {"1935-01-01", "1948-02-14", "2007-12-31"}


def test_init_proposes_numbers_that_no_type_spells(tmp_path: Path) -> None:
    """As 6 and 2.5, which R and pandas write; codes with zeros at their beginning stay texts."""
    rows = [f"{27 + row % 5 * 2.5:g};0{row % 7};{row % 9}" for row in range(100)]
    (tmp_path / "f.csv").write_text("\n".join(["age;zip;n", *rows]) + "\n")
    with sa.connect() as session:
        policy = session.suggest(tmp_path / "f.csv").draft().policy
        assert policy.csv is not None and policy.csv.types == {"age": "DECIMAL(18,1)"}
        with sa.connect(csv=policy.csv.model_dump()) as again:
            found = again.columns(tmp_path / "f.csv")
    assert found == {"age": "DECIMAL(18,1)", "zip": "VARCHAR", "n": "BIGINT"}
    assert policy.taxonomies["age"].model_dump(exclude_defaults=True) == {"widths": (2, 4)}


def test_years_of_two_digits_that_are_mostly_in_the_future_are_noted(tmp_path: Path) -> None:
    (tmp_path / "born.csv").write_text("born,seen,sex\n" + "01.01.75,01.02.24,m\n14.02.88,02.02.24,f\n" * 9)
    privacy = [sa.KAnonymity(2)]
    labelled = {"born": {"kind": "dates", "units": ["year"]}}
    texts = {"quasi_identifiers": ["born"], "insensitive": ["seen", "sex"], "taxonomies": labelled, "privacy": privacy}
    days = {**texts, "quasi_identifiers": ["sex"], "insensitive": ["born", "seen"], "taxonomies": {"sex": "flat"}}
    types = {"types": {"born": "DATE", "seen": "DATE"}, "dates": "dmy"}
    with sa.connect() as session:
        for given, settings in ((texts, {"dates": "dmy"}), (days, types)):
            for century, expected in ((2000, ['"born" has 18 of 18 days in the future']), (1950, [])):
                policy = sa.Policy(**given, csv={**settings, "century": century})
                notes = session.anonymize(tmp_path / "born.csv", policy, "t", replace=True).report.notes
                assert [note.partition(":")[0] for note in notes if "in the future" in note] == expected


def test_queries_read_files_as_they_are_read_by_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("homes.csv").write_text("zip,sex\n" + "02139,m\nNA,f\n" * 6)
    roles = {
        "quasi_identifiers": ["zip"],
        "insensitive": ["sex"],
        "privacy": [sa.KAnonymity(2)],
        "taxonomies": {"zip": "flat"},
    }
    with sa.connect() as session:
        for query in ("FROM 'homes.csv'", "SELECT homes.* FROM 'homes.csv'", "WITH h AS (FROM 'homes.csv' t) FROM h"):
            release = session.anonymize(query, sa.Policy(**roles, csv={"nullstr": "NA"}), "t", replace=True)
            assert session.connection.execute("SELECT DISTINCT zip FROM t ORDER BY ALL").fetchall() == [
                ("02139",),
                (None,),
            ]
            assert not any("guesses types" in note for note in release.report.notes)
        release = session.anonymize("FROM read_csv('homes.csv')", sa.Policy(**roles), "t", replace=True)
        assert any("guesses types" in note for note in release.report.notes)
        release = session.anonymize("homes.csv", sa.Policy(**roles), "t", replace=True)
        assert "read as UTF-8, delimiter ,, names in the first line: zip text, sex text" in release.report.notes
        session.connection.execute('CREATE TABLE "homes.csv" AS SELECT 1 AS zip, 2 AS sex FROM range(3)')
        session.anonymize("FROM 'homes.csv'", sa.Policy(**roles), "t", replace=True)
        assert session.connection.execute("SELECT DISTINCT zip FROM t").fetchall() == [("1",)]
        private = sa.Policy(quasi_identifiers=["zip"], identifiers=["sex"], method=sa.EpsilonSafe(k=2, beta="1/2"))
        with pytest.raises(sa.PolicyError, match=r"other\.csv guesses types"):
            Path("homes.csv").rename("other.csv")
            session.explain("FROM 'other.csv'", private)


def test_times_with_a_zone_do_not_depend_on_where_a_run_is(tmp_path: Path) -> None:
    """Neither labels nor files nor records; the connection has its own zone before and after."""
    times = "'2024-04-30 22:30:00+00'::TIMESTAMPTZ"
    (tmp_path / "times.csv").write_text("seen,sex\n" + "2024-04-30 22:30:00Z,m\n" * 4)
    found: dict[str, set[Any]] = {"UTC": set(), "Europe/Berlin": set()}
    for place in ("America/New_York", "Asia/Tokyo"):
        connection = duckdb.connect()
        connection.execute(f"SET TimeZone = '{place}'")
        connection.execute(f"COPY (SELECT {times} AS seen, 'm' AS sex FROM range(4)) TO '{tmp_path}/times.parquet'")
        connection.execute(f"CREATE TABLE times AS FROM '{tmp_path}/times.parquet'")
        with sa.connect(connection) as session:
            for zone, seen in found.items():
                policy = sa.Policy(
                    quasi_identifiers=["seen"],
                    insensitive=["sex"],
                    privacy=[sa.KAnonymity(2)],
                    taxonomies={"seen": {"kind": "dates", "units": ["month"]}},
                    minimum_levels={"seen": 1},
                    timezone=zone,
                    csv={"types": {"seen": "TIMESTAMPTZ"}},
                )
                kept = sa.Policy(
                    quasi_identifiers=["sex"], insensitive=["seen"], privacy=[sa.KAnonymity(2)], timezone=zone
                )
                kept = kept.model_copy(update={"taxonomies": {"sex": "flat"}})
                # A table and files of times say what they are; a CSV file is read in the zone of the connection.
                sources = ("times", f"{tmp_path}/times.parquet") if place == "Asia/Tokyo" else ()
                for source in (*sources, f"{tmp_path}/times.csv"):
                    session.anonymize(source, policy, tmp_path / "o.csv", replace=True)
                    seen.add((tmp_path / "o.csv").read_text())
                session.anonymize("times", kept, tmp_path / "kept.csv", replace=True)
                seen.add((tmp_path / "kept.csv").read_text())
                assert json.loads(session.provenance(tmp_path / "o.csv") or "")["sqlanon"]["policy"]["timezone"] == zone
            with pytest.raises(sa.PolicyError, match="is not the name of a zone"):
                session.measure("times", kept.model_copy(update={"timezone": "Mars"}))
        assert connection.execute("SELECT current_setting('TimeZone')").fetchall() == [(place,)]
    assert {zone: len(seen) for zone, seen in found.items()} == {"UTC": 2, "Europe/Berlin": 2}
    assert any("2024-05-01 00:30:00+02" in text for text in found["Europe/Berlin"])
    assert any("2024-05" in text and "+" not in text for text in found["Europe/Berlin"])
