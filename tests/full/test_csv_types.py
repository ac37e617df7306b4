"""What is in a CSV file is what is released: columns have types only where every value is spelled as its type is."""

import contextlib
import gzip
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from tests.engines import engine_of

SPELLED = {
    "yes_no": ["Yes", "No", "Yes"],
    "true_false": ["True", "False", "TRUE"],
    "two_decimals": ["20.50", "7.00", "7.10"],
    "mixed_numbers": ["20", "20.5", "1e1"],
    "leading_space": [" 20", "20", "30"],
    "trailing_space": ["20 ", "20", "30"],
    "leading_zero": ["007", "08", "9"],
    "plus": ["+7", "8", "-9"],
    "slashed_date": ["2016/01/01", "2016/01/02", "2017/12/31"],
    "dotted_date": ["14.01.2016", "15.01.2016", "31.12.2017"],
    "short_date": ["2020-1-5", "2020-1-6", "2020-12-7"],
    "us_date": ["12/31/2016", "01/02/2016", "02/28/2017"],
    "short_time": ["10:30", "11:45", "12:00"],
    "long_time": ["10:30:00", "11:45:00.5", "12:00:00"],
    "timestamp": ["2016-01-01T10:30", "2016-01-02T11:45", "2016-01-03T12:00"],
    "exponent": ["1E50", "1E51", "1E91"],
    "bed": ["3-2-12", "3-2-13", "10-4-16"],
    "hexadecimal": ["0x1F", "0x2A", "0x3B"],
    "code": ["250.10", "250.1", "401.9"],
    "stage": ["F", "F", "F"],
    "two_digit_year": ["01.01.35", "02.02.36", "31.12.37"],
    "whole": ["20", "-3", "0"],
    "decimal": ["0.40", "1.50", "-2.25"],
    "day": ["2020-01-05", "2020-12-31", "1935-01-01"],
    "moment": ["2020-01-05 10:30:00", "2020-12-31 23:59:59", "1935-01-01 00:00:00"],
    "plain_time": ["10:30:00", "11:45:00", "00:00:00"],
    "zoned": ["2016-01-01 10:30:00+01", "2016-01-02 11:45:00+01", "2016-01-03 12:00:00Z"],
    "text": [" a", "b ", "c"],
}
"""Columns by name: the texts of their values in the file."""

TYPES = {
    "two_decimals": "DECIMAL(18,2)",
    "whole": "BIGINT",
    "decimal": "DECIMAL(18,2)",
    "day": "DATE",
    "moment": "TIMESTAMP",
    "long_time": "TIME",
    "plain_time": "TIME",
}
"""Those that are no texts."""

COPIES = 4


def rows_of(columns: dict[str, list[str]], copies: int = COPIES) -> str:
    """A CSV with the columns, every row several times."""
    lines = [";".join(texts) for texts in zip(*columns.values(), strict=True) for _ in range(copies)]
    return "\n".join([";".join(columns), *lines, ""])


def sources() -> dict[str, str]:
    """Ways to read the same file, by name."""
    nested = "SELECT * FROM (SELECT * FROM (FROM read_csv('folk.csv')) WHERE TRUE)"
    return {
        "read_csv_auto": "SELECT * FROM read_csv_auto('folk.csv')",
        "renamed": f"WITH folk AS ({nested}) SELECT COLUMNS(*) FROM folk",
        "view of a view": "of_view",
        "JSON": "FROM read_json('folk.json')",
    }


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse that has the macros, and a CSV with the same rows as DuckDB would take them."""
    folder = tmp_path_factory.mktemp("types")
    (folder / "folk.csv").write_text(rows_of(SPELLED))
    (folder / "folk.csv.gz").write_bytes(gzip.compress((folder / "folk.csv").read_bytes()))
    with contextlib.chdir(folder), sa.connect("w.duckdb", threads=1) as session:
        session.install()
        for statement in (
            "CREATE TABLE folk AS FROM 'folk.csv'",
            "COPY folk TO 'folk.json'",
            "CREATE VIEW of_file AS FROM 'folk.csv'",
            "CREATE VIEW of_view AS SELECT * FROM of_file",
        ):
            session.connection.execute(statement)
    return folder


@pytest.fixture
def session(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    with sa.connect("w.duckdb", threads=1) as session:
        yield session


def fetched(session: sa.Session, query: str) -> list[tuple[Any, ...]]:
    return session.connection.execute(f"FROM ({query}) ORDER BY ALL").fetchall()


def texts(session: sa.Session, relation: str) -> list[tuple[str | None, ...]]:
    return fetched(session, f"SELECT COLUMNS(*)::VARCHAR FROM {relation}")


def written(columns: Iterable[str]) -> list[tuple[str, ...]]:
    return sorted(zip(*(SPELLED[name] * COPIES for name in columns), strict=True))


def policy(names: Sequence[str], columns: Iterable[str]) -> sa.Policy:
    others = [name for name in columns if name not in names]
    return sa.Policy(quasi_identifiers=names, identifiers=others, privacy=[sa.KAnonymity(2)])


class TestWrittenValues:
    @pytest.mark.parametrize("source", ["fol*.csv", "folk.csv.gz"])
    def test_files_are_read_as_they_are_written(self, session: sa.Session, source: str) -> None:
        assert texts(session, engine_of(session).resolve(source).relation.sql("duckdb")) == written(SPELLED)

    def test_a_release_has_what_is_in_the_file(self, session: sa.Session) -> None:
        """As quasi-identifiers at level 0 and as columns that are kept, in a table and in a file."""
        source = "folk.csv"
        wanted = policy([*SPELLED], SPELLED).model_copy(update={"maximum_levels": dict.fromkeys(SPELLED, 0)})
        session.taxonomies.load_all(dict.fromkeys(SPELLED, sa.Taxonomy.flat()), source=source)
        session.anonymize(source, wanted, "labels")
        assert texts(session, "labels") == written(SPELLED)
        assert session.verify("labels", wanted, source=source).met
        kept = sa.Policy(quasi_identifiers=["stage"], insensitive=[*{*SPELLED} - {"stage"}], privacy=[sa.KAnonymity(2)])
        columns = ", ".join(SPELLED)
        read = {
            "kept": "kept",
            "kept.csv": "read_csv('kept.csv', all_varchar = true)",
            "kept.parquet": "'kept.parquet'",
        }
        for target, relation in read.items():
            session.anonymize(source, kept, target)
            assert texts(session, f"(SELECT {columns} FROM {relation})") == written(SPELLED), target
        described = session.connection.execute("DESCRIBE kept").fetchall()
        assert {name: kind for name, kind, *_ in described if kind != "VARCHAR"} == TYPES

    def test_codes_that_differ_as_texts_are_several_values(self, session: sa.Session) -> None:
        models = [sa.KAnonymity(2), sa.DistinctLDiversity("code", 3)]
        given = sa.Policy(quasi_identifiers=["stage"], sensitive=["code"], rest="identifier", privacy=models)
        session.taxonomies.load("stage", sa.Taxonomy.flat(["F"]))
        assert session.measure("folk.csv", given).models[1].attained == 3


def lines(names: str, rows: Sequence[str], copies: int = 20, last: Sequence[str] = ()) -> bytes:
    """A file with some rows in turns, and others at its end."""
    return "\n".join([names, *rows * copies, *last, ""]).encode()


LATE = 20_600
"""Rows of one kind before others: more than DuckDB looks at before it takes a type."""


def late(names: str, rows: Sequence[str], last: Sequence[str]) -> bytes:
    """A packed file whose odd rows come late."""
    return gzip.compress(lines(names, rows, LATE // len(rows), last * 10))


READ: dict[str, tuple[bytes, dict[str, str]]] = {
    "thousands.csv": (lines("alter;gehalt", ["30;1.100,50", "31;2.107,50"]), {"gehalt": "1.100,50 2.107,50"}),
    "missing_na.csv": (lines("id,age", ["0,NA", "1,41"]), {"age": "41 NA"}),
    "missing_dot.csv": (lines("age,income", [".,.", "41,1007"]), {"age": ". 41", "income": ". 1007"}),
    "pandas_index.csv": (lines(",sex", ["0,male", "1,female"]), {"column0": "0 1", "sex": "female male"}),
    "r_write_csv.csv": (lines('"","age","sex"', ['"1",NA,"m"', '"2",41,"f"']), {"column0": "1 2", "age": "41 NA"}),
    "late_decimal.csv.gz": (late("sex,x", ["m,1", "f,2"], ["m,0.4", "f,0.45"]), {"x": "0.4 0.45 1 2"}),
    "late_zip.csv.gz": (late("zip,sex", ["90210,m", "60614,f"], ["02139,m"]), {"zip": "02139 60614 90210"}),
    "late_time.csv.gz": (
        late("t,sex", ["2024-01-01,m"], ["2024-05-05 10:30:00,m"]),
        {"t": "2024-01-01 2024-05-05_10:30:00"},
    ),
    "late_na.csv.gz": (late("age,sex", ["20,m", "21,f"], ["NA,m"]), {"age": "20 21 NA"}),
    "late_quoted_comma.csv.gz": (late("job,sex", ["nurse,m"], ['"farmer, ex",m']), {"job": "farmer,_ex nurse"}),
    "late_quotes_kept.csv.gz": (late("job,sex", ["nurse,m", "cook,f"], ['"nurse",m']), {"job": "cook nurse"}),
}
"""By the name of a file what is in it, and the texts of some columns: distinct, in their order, with _ for blanks."""


def test_columns_with_gaps_and_odd_values(session: sa.Session) -> None:
    for name, (content, expected) in READ.items():
        Path(name).write_bytes(content)
        relation = engine_of(session).resolve(name).relation.sql("duckdb")
        for column, found in expected.items():
            query = f'SELECT DISTINCT "{column}"::VARCHAR AS text FROM {relation}'
            assert " ".join(text.replace(" ", "_") for (text,) in fetched(session, query)) == found, name


class TestNumbersAndDays:
    def test_taxonomies_weights_and_bounds_take_texts_for_numbers(self, session: sa.Session) -> None:
        lines = ["027.0,14.01.2016,1.50,007", "27,31.12.2016 10:30,2,8", "+27,2016-06-30,.25,9.5"] * 4
        Path("spelled.csv").write_text("age,seen,weight,income\n" + "\n".join(lines) + "\n")
        rules = {
            "age": {"kind": "intervals", "widths": [10], "minimum": 0, "maximum": 99},
            "seen": {"kind": "dates", "units": ["month", "year"]},
        }
        wanted = sa.Policy(
            quasi_identifiers=["age", "seen"],
            sensitive=["income"],
            row_weight="weight",
            identifiers=["weight"],
            privacy=[sa.KAnonymity(4)],
            taxonomies=rules,
            bottom_coding={"income": 8},
        )
        session.anonymize("spelled.csv", wanted, "released")
        expected = [("27", "2016-01-14", "8.0"), ("27", "2016-12-31 10:30", "8.0"), ("27", "2016-06-30", "9.5")]
        assert texts(session, "(SELECT age, seen, income FROM released)") == sorted(expected * 4)
        assert session.verify("released", wanted, source="spelled.csv").met

    def test_what_is_none_is_refused(self, session: sa.Session) -> None:
        Path("spelled.csv").write_text("age,weight,seen\n" + "NA,1.5,01.02.2016\n27,k.A.,03.04.2016\n" * 4)
        age = {"age": {"kind": "intervals", "widths": [10], "minimum": 0, "maximum": 99}}
        roles = {"quasi_identifiers": ["age"], "rest": "identifier", "privacy": [sa.KAnonymity(2)], "taxonomies": age}
        with pytest.raises(sa.TaxonomyError, match='"age": 1 distinct value in 4 rows'):
            session.anonymize("spelled.csv", sa.Policy(**roles), "released")
        with pytest.raises(sa.PolicyError, match="texts where numbers are needed") as refused:
            session.anonymize("spelled.csv", sa.Policy(**roles, row_weight="weight"), "released")
        assert refused.value.problems == ('"weight": 4 texts',)
        roles |= {"quasi_identifiers": ["seen"], "taxonomies": {"seen": "dates"}}
        with pytest.raises(sa.PolicyError, match="can be read in two ways"):
            session.anonymize("spelled.csv", sa.Policy(**roles), "released")
        Path("spelled.csv").write_text("sex,score\nf,9\nm,10\nf,0.5\nm,9\n")
        roles |= {"quasi_identifiers": ["sex"], "taxonomies": {"sex": "flat"}, "sensitive": ["score"]}
        roles["privacy"] = [sa.TCloseness("score", 0.9, distance="ordered")]
        with pytest.raises(sa.PolicyError, match="need numbers, which are spelled in several ways"):
            session.anonymize("spelled.csv", sa.Policy(**roles), "released")


REFUSED = {
    "a,b\n1,2\n3\n": "line 3 of odd.csv has 1 field where the first line has 2",
    "a,b\n1,2\n40 rows\n": "line 3 of odd.csv has 1 field where the first line has 2",
    "a,b,\n1,2\n3,4\n": "line 2 of odd.csv has 2 fields where the first line has 3",
    "Report of 2024\n\na,b\n1,2\n": "line 3 of odd.csv has more where the first line has 1",
    "1,2\n3,4\n": "the first line of odd.csv is not a header: it has no letters",
    "Bonn,nurse\nTrier,cook\nBonn,cook\nTrier,nurse\n": "fields also occur in other rows; add one, or give the names",
    "\na, b\n1,2\n": "is not a header: it is empty",
    "sep=;\na;b\n1;2\n": "it gives the delimiter for Excel",
    'q,"a\nb"\nx,1\n': "a name in it has a line break",
    "Jane Roe,34\nJohn Doe,35\nAnn Poe,36\n": "it has numbers or days where other lines have them",
    'a,b\n1,"x"y\n': "line 2 of odd.csv has a quote that nothing closes",
    "a,b\nK\udcf6ln,2\n": "line 2 of odd.csv is not UTF-8; say what it is by [csv] encoding",
    "": "odd.csv is empty",
}


UNREADABLE: dict[str, tuple[bytes, str]] = {
    "long.csv": (lines("a,b", ["1," + "x" * 2_100_000], 1), "line 2 of long.csv is longer than 2 MB"),
    "late.csv": (lines("a,b", ["1,2", "3,4"], 10, ["5"]), "line 22 of late.csv has 1 field where the first line has 2"),
    "utf16.csv": ("a;b\n".encode("utf-16"), "line 1 of utf16.csv is not UTF-8; say what it is by [csv] encoding"),
    "plain.txt": (b"a,b", "plain.txt cannot be read: if it is a CSV file, give it a name that ends in"),
    "packed.csv.bz2": (b"BZh9", "packed.csv.bz2 cannot be read: unpack it, or pack it as .gz or .zst"),
    "packed.zip": (b"PK", "packed.zip cannot be read: unpack it, or pack it as .gz or .zst"),
    "survey.rds": (b"RDX3", "survey.rds cannot be read: save it as CSV or Parquet"),
}


class TestLines:
    def test_files_that_cannot_be_read(self, session: sa.Session) -> None:
        odd = [("odd.csv", text.encode(errors="surrogateescape"), message) for text, message in REFUSED.items()]
        for name, content, message in [*odd, *((name, *each) for name, each in UNREADABLE.items())]:
            Path(name).write_bytes(content)
            with pytest.raises(sa.EngineError, match=re.escape(message)):
                engine_of(session).resolve(name)

    def test_lines_that_are(self, session: sa.Session) -> None:
        """Names that are years or in quotes, and lines that nothing stands in."""
        read = {
            "country,1990\nDE,1990\nFR,1991\n": [("DE", "1990"), ("FR", "1991")],
            "a;b\n1;2\n;\n\n;\n": [("1", "2")],
            'a,b\n1,5" pipe\n': [("1", '5" pipe')],
            "a|a\n1|2\n": [("1", "2")],
        }
        for place, (text, rows) in enumerate(read.items()):
            Path(f"plain{place}.csv").write_text(text)
            relation = engine_of(session).resolve(f"plain{place}.csv").relation.sql("duckdb")
            assert texts(session, relation) == rows, text


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_names_of_folders_stay_as_they_are(session: sa.Session, kind: str) -> None:
    rows = [
        ("1", "02139", "2020", "2020-01-05", "1.50"),
        ("2", "90210", "2021", "2020-01-06", "1.5"),
        ("3", "00501", "2020", None, "2"),
    ]
    session.connection.execute("CREATE TABLE homes (number INTEGER, zip TEXT, year TEXT, day TEXT, price TEXT)")
    session.connection.executemany("INSERT INTO homes VALUES (?, ?, ?, ?, ?)", rows)
    session.connection.execute(f"COPY homes TO 'homes' (FORMAT {kind}, PARTITION_BY (zip, year, day, price))")
    for source in ("./homes", f"homes/**/*.{kind}"):
        relation = engine_of(session).resolve(source).relation.sql("duckdb")
        assert texts(session, f"(SELECT number, zip, year, day, price FROM {relation})") == rows
        types = f"SELECT DISTINCT typeof(zip), typeof(year), typeof(day), typeof(price) FROM {relation}"
        assert session.connection.execute(types).fetchall() == [("VARCHAR", "BIGINT", "DATE", "VARCHAR")]


class TestSources:
    def test_queries_read_files_as_duckdb_does(self, session: sa.Session) -> None:
        values = "SELECT * FROM anon_helpers.column_values('folk', ['yes_no', 'two_decimals', 'short_time'])"
        expected = fetched(session, values)
        labels = [("20.5",), ("7.0",), ("7.1",)]
        for way, source in sources().items():
            session.taxonomies.load("two_decimals", sa.Taxonomy.flat(), source=source)
            stored = "SELECT label FROM anon.taxonomy WHERE attribute = 'two_decimals' AND level = 0"
            assert fetched(session, stored) == labels, way
            if way != "read_csv_auto":  # which is read as others are
                session.anonymize(source, policy(["two_decimals"], SPELLED), "released", replace=True)
                assert fetched(session, "SELECT DISTINCT two_decimals FROM released") == labels, way
            if source.startswith(("FROM", "SELECT", "WITH")):
                session.connection.execute(f"CREATE OR REPLACE VIEW read AS {source}")
                source = "read"
            assert fetched(session, values.replace("folk", source)) == expected, way
