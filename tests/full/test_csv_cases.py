"""CSV files that were once released with other values than they have: what is read of each, or why it is not."""

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import sqlanon as sa
from tests.engines import engine_of

LATE = 20_600
"""Rows of one kind before others: more than DuckDB looks at before it takes a type."""


def lines(names: str, rows: Sequence[str], copies: int = 20, last: Sequence[str] = ()) -> bytes:
    """A file with some rows in turns, and others at its end."""
    return "\n".join([names, *rows * copies, *last, ""]).encode()


def late(names: str, rows: Sequence[str], last: Sequence[str]) -> bytes:
    """A packed file whose odd rows come late."""
    return gzip.compress(lines(names, rows, LATE // len(rows), last * 10))


PERSONS = ["30,m,53111,flu", "31,f,53113,cold"]
GERMAN = "Name;Ort;Alter\nA;Köln;30\nB;Bonn;31\n"

READ: dict[str, tuple[bytes, dict[str, str | None]]] = {
    "bed.csv": (lines("age,bed", ["30,3-2-12", "31,10-4-16"]), {"age": "30 31", "bed": "10-4-16 3-2-12"}),
    "icd9.csv": (lines("age,icd9", ["30,250.10", "31,250.1", "32,401.9"]), {"icd9": "250.1 250.10 401.9"}),
    "icd11.csv": (lines("age,icd11", ["30,1E50", "31,1E91"]), {"icd11": "1E50 1E91"}),
    "sex_all_f.csv": (lines("age,sex", ["30,F", "31,F"]), {"sex": "F"}),
    "birth_two_digit.csv": (lines("birth,sex", ["01.01.35,m", "14.02.48,f"]), {"birth": "01.01.35 14.02.48"}),
    "thousands.csv": (lines("alter;gehalt", ["30;1.100,50", "31;2.107,50"]), {"gehalt": "1.100,50 2.107,50"}),
    "missing_na.csv": (lines("id,age", ["0,NA", "1,41"]), {"age": "41 NA"}),
    "missing_dot.csv": (lines("age,income", [".,.", "41,1007"]), {"age": ". 41", "income": ". 1007"}),
    "blank_rows.csv": (lines("age;sex", ["30;m", "31;f"], 20, [";", ";", "", ";"]), {"age": "30 31", "sex": "f m"}),
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

FEW = "has 3 fields where the first line has 4"
REFUSED: dict[str, tuple[bytes, str]] = {
    "footer.csv": (lines("age,sex,zip,disease", PERSONS, 20, ["40 rows"]), "line 42 of footer.csv has 1 field where"),
    "header_comma.csv": (lines("age,sex,zip,disease,", PERSONS), "line 2 of header_comma.csv has 4 fields where"),
    "ragged.csv": (lines("age,sex,zip,disease", PERSONS, 10, ["30,m,5", *PERSONS]), f"line 22 of ragged.csv {FEW}"),
    "no_header_text.csv": (
        lines("Bonn,nurse", ["Trier,cook", "Bonn,cook", "Trier,nurse"]),
        "its fields also occur in other rows; add one, or give the names, [csv] header",
    ),
    "latin1.csv": (GERMAN.encode("latin-1"), "line 2 of latin1.csv is not UTF-8; say what it is by [csv] encoding"),
    "utf16.csv": (GERMAN.encode("utf-16"), "line 1 of utf16.csv is not UTF-8; say what it is by [csv] encoding"),
    "long.csv": (lines("a,b", ["1," + "x" * 2_100_000], 1), "line 2 of long.csv is longer than 2 MB"),
    "plain.txt": (lines("a,b", PERSONS), "plain.txt cannot be read: if it is a CSV file, give it a name that ends in"),
    "packed.csv.bz2": (b"BZh9", "packed.csv.bz2 cannot be read: unpack it, or pack it as .gz or .zst"),
    "packed.zip": (b"PK", "packed.zip cannot be read: unpack it, or pack it as .gz or .zst"),
    "survey.sav": (b"$FL2", "survey.sav cannot be read: save it as CSV or Parquet"),
}
"""Those that are refused, and why."""


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    monkeypatch.chdir(tmp_path)
    with sa.connect(threads=1) as session:
        yield session


def test_what_is_read_of_each(session: sa.Session) -> None:
    for name, (content, texts) in READ.items():
        Path(name).write_bytes(content)
        relation = engine_of(session).resolve(name).relation.sql("duckdb")
        for column, expected in texts.items():
            query = f'SELECT DISTINCT "{column}"::VARCHAR AS text FROM {relation} ORDER BY text'
            found = [str(text).replace(" ", "_") for (text,) in session.connection.execute(query).fetchall()]
            assert " ".join(found) == expected, name
        if name == "blank_rows.csv":
            assert session.connection.execute(f"SELECT count(*) FROM {relation}").fetchall() == [(40,)]


def test_why_each_is_refused(session: sa.Session) -> None:
    for name, (content, reason) in REFUSED.items():
        Path(name).write_bytes(content)
        with pytest.raises(sa.EngineError) as refused:
            engine_of(session).resolve(name)
        assert reason in str(refused.value), name
