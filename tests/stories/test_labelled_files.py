"""Files of SPSS, Stata and SAS: sources with labels, missing codes and days."""

import datetime as dt
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlanon as sa
from sqlanon.model.policy.policy_parts import Csv
from tests.commands import sqlanon
from tests.engines import engine_of

pyreadstat: Any = pytest.importorskip("pyreadstat")

PEOPLE = pd.DataFrame(
    {
        "sex": [1.0, 2, 9, 1],
        "age": [34.0, 0, 98, 99],
        "rent": [0.0, 500.5, 700, 800],
        "town": ["Köln", "", "x", "-9"],
        "born": [dt.date(2020, 1, 31), None, dt.date(1850, 1, 1), dt.date(2020, 2, 1)],
        "seen": [dt.datetime(2020, 1, 1, 12, 30, 1), None, dt.datetime(1900, 1, 1), dt.datetime(2020, 1, 1)],
        "at": [dt.time(1, 2, 3), None, dt.time(0, 0), dt.time(23, 59, 59)],
    }
)
LABELS = {"sex": {1: "männlich", 2: "weiblich", 9: "k.A."}, "rent": {0: "none"}}
NAMES = {"sex": "Geschlecht", "age": "Alter"}


def rows(path: Path, **csv: Any) -> list[tuple[Any, ...]]:
    with sa.connect() as session:
        engine = engine_of(session)
        with engine.reading_frames():
            engine.read_as(Csv(**csv))
            found = engine.resolve(path)
            return engine.connection.sql(f"FROM {found.relation.sql('duckdb')}").fetchall()


def columns(rows: list[tuple[Any, ...]]) -> list[list[Any]]:
    return [[*each] for each in zip(*rows, strict=True)]


def test_files_of_spss_have_labels_as_texts_missing_codes_as_null_and_days_as_dates(tmp_path: Path) -> None:
    for name, form in {"a.sav": {}, "b.sav": {"row_compress": True}, "c.zsav": {"compress": True}}.items():
        pyreadstat.write_sav(
            PEOPLE,
            tmp_path / name,
            column_labels=NAMES,
            variable_value_labels={**LABELS, "town": {"x": "Xanten"}},
            missing_ranges={"sex": [9], "age": [{"lo": 99, "hi": 999}], "town": ["-9"]},
            **form,
        )
        sex, age, rent, town, born, seen, at = columns(rows(tmp_path / name))
        assert sex == ["männlich", "weiblich", None, "männlich"]
        assert age == [34, 0, 98, None] and {*map(type, age)} == {int, type(None)}
        assert rent == [0.0, 500.5, 700.0, 800.0]  # one of four values has a label
        assert town == ["Köln", None, "Xanten", None]
        assert (born, seen, at) == (
            [dt.date(2020, 1, 31), None, dt.date(1850, 1, 1), dt.date(2020, 2, 1)],
            [dt.datetime(2020, 1, 1, 12, 30, 1), None, dt.datetime(1900, 1, 1), dt.datetime(2020, 1, 1)],
            [dt.time(1, 2, 3), None, dt.time(0, 0), dt.time(23, 59, 59)],
        )


def test_files_of_stata_and_sas_are_read_alike(tmp_path: Path) -> None:
    pyreadstat.write_dta(PEOPLE, tmp_path / "a.dta", variable_value_labels=LABELS)
    pyreadstat.write_xport(PEOPLE, tmp_path / "a.xpt")
    stata, sas = columns(rows(tmp_path / "a.dta")), columns(rows(tmp_path / "a.xpt"))
    assert stata[0] == ["männlich", "weiblich", "k.A.", "männlich"]
    assert sas[0] == [1, 2, 9, 1]
    assert stata[1:] == sas[1:]
    assert stata[4][2] == dt.date(1850, 1, 1)
    # Codes that the file does not declare are missing where the settings list them, by number or by label.
    coded = columns(rows(tmp_path / "a.dta", nullstr=["99", "k.A.", "-9"]))
    assert (coded[0][2], coded[1][3], coded[3][3]) == (None, None, None)
    assert columns(rows(tmp_path / "a.xpt", nullstr=["99"]))[1] == [34, 0, 98, None]


def test_missing_letters_of_stata_are_null(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": pd.Series([1, 2, "a"], dtype=object)})
    pyreadstat.write_dta(
        frame,
        tmp_path / "a.dta",
        missing_user_values={"x": ["a"]},
        variable_value_labels={"x": {1: "one", "a": "lost"}},
    )
    assert rows(tmp_path / "a.dta") == [("one",), ("2",), (None,)]


def test_many_pieces_one_row_and_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlanon.engines.duckdb.labelled_files.CELLS", 7)
    frame = pd.DataFrame({"n": range(1000), "t": [f"t{n}" for n in range(1000)]})
    names = {"a.sav": "sav", "a.dta": "dta", "a.xpt": "xport", "a.por": "por"}
    for count in (1000, 1, 0):
        for name, writer in names.items():
            if count == 0 and name == "a.por":
                continue
            shown = frame.head(count).rename(columns=str.upper)
            getattr(pyreadstat, f"write_{writer}")(shown, tmp_path / name)
            assert rows(tmp_path / name) == [*shown.itertuples(index=False, name=None)], (name, count)


def test_a_policy_publishes_labels_and_the_release_says_how_the_file_was_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": [1.0, 2.0] * 20, "age": [20.0 + n % 4 for n in range(40)]})
    pyreadstat.write_sav(frame, tmp_path / "people.sav", column_labels=NAMES, variable_value_labels=LABELS)
    (tmp_path / "p.toml").write_text(
        'quasi_identifiers = ["sex", "age"]\nprivacy = [{model = "k-anonymity", k = 5}]\n'
        '[taxonomies]\nsex = {kind = "flat"}\nage = {kind = "intervals", widths = [2], minimum = 0, maximum = 99}\n'
    )
    run = sqlanon("run", "people.sav", "--policy", "p.toml", "--into", "out.csv", folder=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "read as SPSS, 2 columns: sex text (Geschlecht), age BIGINT (Alter)" in run.stdout + run.stderr
    assert "weiblich" in (tmp_path / "out.csv").read_text()
    query = sqlanon("run", "FROM 'people.sav' WHERE age > 20", "--policy", "p.toml", "--into", "b.csv", folder=tmp_path)
    assert query.returncode == 0, query.stderr
    assert sqlanon("init", "people.sav", folder=tmp_path).returncode == 0
    refused = sqlanon("run", "people.sav", "--policy", "p.toml", "--into", "out.sav", folder=tmp_path)
    assert refused.returncode == 2 and "unsupported output format .sav" in refused.stderr


def test_files_that_cannot_be_read_are_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"n": [float(n) for n in range(5000)]})
    writers = {"a.sav": "sav", "a.dta": "dta", "a.xpt": "xport"}
    for name, writer in writers.items():
        getattr(pyreadstat, f"write_{writer}")(frame, tmp_path / name)
        whole = (tmp_path / name).read_bytes()
        for length in (0, 50, len(whole) // 2 + 1):
            (tmp_path / name).write_bytes(whole[:length])
            with pytest.raises(sa.EngineError, match=rf"{name} cannot be read as a file of \w+: \w+"):
                rows(tmp_path / name)
    with pytest.raises(sa.EngineError, match=r"no Stata file can be read at .*gone\.dta: No such file"):
        rows(tmp_path / "gone.dta")
    pyreadstat.write_dta(pd.DataFrame({"Age": [1.0], "age": [2.0]}), tmp_path / "twice.dta")
    with pytest.raises(sa.EngineError, match='have equal names: "Age" and "age"'):
        rows(tmp_path / "twice.dta")
    run = sqlanon("init", "a.sav", folder=tmp_path)
    assert run.returncode == 2 and "Traceback" not in run.stderr
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    pyreadstat.write_sav(frame, tmp_path / "b.sav")
    with pytest.raises(sa.EngineError, match=r"reading SPSS files needs pyreadstat.*pip install '\.\[labels\]'"):
        rows(tmp_path / "b.sav")


def test_texts_in_an_old_encoding_take_its_name(tmp_path: Path) -> None:
    pyreadstat.write_sav(pd.DataFrame({"town": ["Xoeln", "Bonn"]}), tmp_path / "old.sav")
    content = (tmp_path / "old.sav").read_bytes()
    (tmp_path / "old.sav").write_bytes(content.replace(b"Xoeln", b"K\xf6ln "))
    with pytest.raises(sa.EngineError, match="another encoding than it says; name theirs"):
        rows(tmp_path / "old.sav")
    assert rows(tmp_path / "old.sav", encoding="latin-1") == [("Köln",), ("Bonn",)]
