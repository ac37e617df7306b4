"""``[csv]`` of a policy and ``--csv``: how CSV files are read where that is not to be found out."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from tests.commands import sqlanon
from tests.engines import engine_of

D = datetime.date
READ: dict[str, tuple[str, str, dict[str, Any], list[str], list[tuple[Any, ...]]]] = {
    "latin-1": ("latin-1", "ort;alter\nKöln;1\n", {"encoding": "latin-1"}, ["text", "BIGINT"], [("Köln", 1)]),
    "UTF-16": ("utf-16", "ört;alter\nKöln;1\n", {"encoding": "utf-16"}, ["text", "BIGINT"], [("Köln", 1)]),
    "codes": ("utf-8", "a,b\nNA,x\n1,.\n", {"nullstr": ["NA", "."]}, ["BIGINT", "text"], [(1, None), (None, "x")]),
    "a row of codes": ("utf-8", "a,b\nNA,NA\n,\n1,x\n", {"nullstr": "NA"}, ["BIGINT", "text"], [(1, "x"), (None, None)]),
    "decimals": ("utf-8", "p;q\n1,5;1,5\n7,0;k.A.\n", {"decimal": ","}, ["DECIMAL(18, 1)", "text"], [(Decimal("1.5"), "1,5"), (Decimal("7.0"), "k.A.")]),
    "thousands": ("utf-8", "p;d\n1.234,50;1.2.2016\n7,25;3.4.2016\n", {"decimal": ",", "thousands": "."}, ["DECIMAL(18, 2)", "text"], [(Decimal("7.25"), "3.4.2016"), (Decimal("1234.50"), "1.2.2016")]),
    "decimals and codes": ("utf-8", "p\n1,5\nk.A.\n", {"decimal": ",", "nullstr": "k.A."}, ["DECIMAL(18, 1)"], [(Decimal("1.5"),), (None,)]),
    "no names": ("utf-8", "Bonn,1\nTrier,2\n", {"header": False}, ["text", "BIGINT"], [("Bonn", 1), ("Trier", 2)]),
    "names": ("utf-8", "Bonn,1\nBonn,2\n", {"header": ["city", "n"]}, ["text", "BIGINT"], [("Bonn", 1), ("Bonn", 2)]),
    "names that are values": ("utf-8", "1,2\n3,4\n", {"header": True}, ["BIGINT", "BIGINT"], [(3, 4)]),
    "a delimiter": ("utf-8", "a^b;c\n1^2;3\n", {"delim": "^"}, ["BIGINT", "text"], [(1, "2;3")]),
    "a quote": ("utf-8", "a,b\n'1,5','it''s'\n", {"quote": "'"}, ["text", "text"], [("1,5", "it's")]),
    "no quotes": ("utf-8", 'a,b\n5",x\n', {"quote": ""}, ["text", "text"], [('5"', "x")]),
    "lines above": ("utf-8", "Report\n\na,b\n1,2\n", {"skip": 2}, ["BIGINT", "BIGINT"], [(1, 2)]),
    "texts": ("utf-8", "zip,n\n53111,1\n", {"types": {"ZIP": "VARCHAR", "n": "TINYINT"}}, ["text", "TINYINT"], [("53111", 1)]),
    "days": ("utf-8", "d\n1.2.24\n3.4.35\n", {"types": {"d": "DATE"}, "dates": "dmy", "century": 1930}, ["DATE"], [(D(1935, 4, 3),), (D(2024, 2, 1),)]),
    "types of commas": ("utf-8", "p\n1,5\n2,25\n", {"types": {"p": "DOUBLE"}, "decimal": ",", "delim": ";"}, ["DOUBLE"], [(1.5,), (2.25,)]),
}  # fmt: skip
"""The encoding and the text of a file, what is said of it, and the types and rows that are read."""

REFUSED: dict[str, tuple[bytes, dict[str, Any], str]] = {
    "cells": (b"age,zip\nNA,1\n2,x\n.,3\n", {"types": {"age": "INTEGER", "zip": "INTEGER"}}, '"age" (INTEGER): 2 rows'),
    "columns": (b"age,zip\n1,2\n", {"types": {"aje": "INTEGER", "zip": "INT8T"}}, '"aje" is not there; did you mean "age"?'),
    "names": (b"a,b\n1,2\n", {"header": ["a"]}, "has 2 fields where [csv] header has 1 names"),
    "encoding": (b"a,b\n1,2\n", {"encoding": "cp1252"}, "INSTALL encodings"),
    "other encoding": ("a,b\n€,2\n".encode("cp1252"), {"encoding": "latin-1"}, "not in the encoding that [csv] gives"),
}  # fmt: skip


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
        sa.connect(
            csv={
                "delim": ";;",
                "quote": "'",
                "thousands": ".",
                "decimal": ".",
                "skip": -1,
                "dates": "ymd",
                "nulstr": [],
            }
        )
    assert [problem.partition(":")[0] for problem in refused.value.problems] == ["delim", "skip", "dates", "nulstr"]
    with pytest.raises(sa.PolicyError, match="csv.thousands and csv.decimal are the same character"):
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
        return done.stdout + done.stderr

    assert "skip = 1" in run("run", "messy.csv", "--policy", "silent.toml", "--into", "a.parquet", code=1)
    run("run", "messy.csv", "--policy", "said.toml", "--into", "a.parquet")
    run("run", "messy.csv", "--policy", "silent.toml", "--into", "b.parquet", *GIVEN)
    with sa.connect() as session:
        found = [
            session.connection.execute(f"FROM '{tmp_path}/{name}.parquet' ORDER BY ALL").fetchall() for name in "ab"
        ]
    assert found[0] == found[1]
    assert {row[2] for row in found[0]} == {Decimal(f"{number}000.50") for number in range(1, 5)}
    for policy in ("said", "silent"):
        for release in ("a", "b"):
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
