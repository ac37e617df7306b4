"""Taxonomies from CSV files, several at once, and where their values come from."""

from itertools import product
from pathlib import Path
from typing import ClassVar

import pytest

import sqlanon as sa
from tests.stories.test_kept_taxonomies import AGES, POLICY, ROWS
from tests.stories.test_kept_taxonomies import stored as kept
from tests.stories.test_taxonomies import Labels, stored


class TestCsv:
    TREE: ClassVar[Labels] = {"30": ("[30, 35)", "*"), "31": ("[30, 35)", "*"), "35": ("[35, 40)", "*")}

    def test_delimiters_line_ends_and_byte_order_marks(self, session: sa.Session, tmp_path: Path) -> None:
        forms = [*product(";\t", ["\n", "\r\n", "\r", "\n\n"], [b"", b"\xef\xbb\xbf"])]
        for place, (delimiter, line_end, mark) in enumerate(forms):
            lines = [delimiter.join((value or "", *map(str, labels))) for value, labels in self.TREE.items()]
            (tmp_path / f"{place}.csv").write_bytes(mark + line_end.join(lines).encode())
        session.taxonomies.load_all({str(place): tmp_path / f"{place}.csv" for place in range(len(forms))})
        assert [form for place, form in enumerate(forms) if stored(session, str(place)) != self.TREE] == []

    CONTENTS: ClassVar[list[tuple[str, Labels]]] = [
        ("a,x,*\nb,y,*", {"a": ("x", "*"), "b": ("y", "*")}),
        ('"a;b";x;*\n"c""d";x;*', {"a;b": ("x", "*"), 'c"d': ("x", "*")}),
        ('"a,b","x","*"\n"c",y,*\n', {"a,b": ("x", "*"), "c": ("y", "*")}),
        ('"two\nlines";*\n', {"two\nlines": ("*",)}),
        ('"next\x85line";*\n', {"next\x85line": ("*",)}),
        ("[1;2),*\n[2;3),*\n", {"[1;2)": ("*",), "[2;3)": ("*",)}),
        ("1,5;*\n2,5;*\n", {"1,5": ("*",), "2,5": ("*",)}),
        (";unknown;*\na;x;*\n", {None: ("unknown", "*"), "a": ("x", "*")}),
        (" a ; x;*\n", {" a ": (" x", "*")}),
        ("é;ü;*\n年;齢;*\n", {"é": ("ü", "*"), "年": ("齢", "*")}),
        ("a;World\nb;World\n", {"a": ("World",), "b": ("World",)}),
    ]

    def test_contents(self, session: sa.Session, tmp_path: Path) -> None:
        for place, (content, _) in enumerate(self.CONTENTS):
            (tmp_path / f"{place}.csv").write_bytes(content.encode())
        session.taxonomies.load_all({str(place): tmp_path / f"{place}.csv" for place in range(len(self.CONTENTS))})
        for place, (content, labels) in enumerate(self.CONTENTS):
            assert stored(session, str(place)) == labels, content

    def test_a_given_delimiter(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "x.csv").write_text("a;1|x;1|*\nb;2|x;1|*\n")
        session.taxonomies.load("x", sa.Taxonomy.from_csv(tmp_path / "x.csv", delimiter="|"))
        assert stored(session, "x") == {"a;1": ("x;1", "*"), "b;2": ("x;1", "*")}
        with pytest.raises(sa.TaxonomyError, match="delimiter"):
            sa.Taxonomy.from_csv(tmp_path / "x.csv", delimiter=";;")


class TestSeveral:
    """Several taxonomies are loaded together as they would be one by one, or none of them is."""

    def test_of_every_kind(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute("CREATE TABLE t AS SELECT 'a' AS file, 3 AS age, 'c' AS city, 'd' AS zip, 'e' AS x")
        (tmp_path / "file.csv").write_text("a;b;c;*\nd;b;c;*\n")
        wanted: dict[str, sa.Taxonomy | Path] = {
            "file": tmp_path / "file.csv",
            "age": sa.Taxonomy.intervals([2], minimum=2, maximum=4),
            "city": sa.Taxonomy.flat(),
            "zip": sa.Taxonomy.prefixes([0], ["d", "é'"]),
            "x": sa.Taxonomy.from_query("SELECT 'e', '*'"),
            "y": sa.Taxonomy.from_rows([(None, "f", "*"), ("g", "f", "*")]),
        }
        session.connection.execute("ALTER TABLE t ADD y VARCHAR")
        session.taxonomies.load_all(wanted, source="t")
        together = session.taxonomies.list()
        labels = {name: stored(session, name) for name in wanted if name != "y"}
        for name, taxonomy in wanted.items():
            session.taxonomies.load(name, taxonomy, source="t")
        assert session.taxonomies.list() == together
        assert {name: stored(session, name) for name in labels} == labels
        assert labels["file"] == {"a": ("b", "c", "*"), "d": ("b", "c", "*")}
        assert session.taxonomies.check() == {}

    def test_none_does_nothing(self, session: sa.Session) -> None:
        session.taxonomies.load_all({})
        assert session.taxonomies.list() == {}

    def test_none_is_stored_if_some_are_wrong(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE t AS SELECT 'a' AS x, 'b' AS y, 'c' AS z, 'd' AS v")
        session.taxonomies.load("x", sa.Taxonomy.flat(["old"]))
        fine, foreign = sa.Taxonomy.flat(["a"]), sa.Taxonomy.flat(["foreign"])
        no_level = sa.Taxonomy.from_query("SELECT 300 AS level, 'c' AS value, 'c' AS label")
        for wanted, named in [
            ({"x": fine, "y": foreign}, ["y"]),
            ({"x": fine, "y": foreign, "z": foreign}, ["y", "z"]),
            ({"x": sa.Taxonomy.from_rows([("a", "*"), ("a", "+")]), "y": foreign, "z": no_level}, ["x", "z"]),
            ({"x": fine, "v": sa.Taxonomy.from_query("SELECT 'd', '*' WHERE FALSE"), "z": no_level}, ["v", "z"]),
            ({"x": fine, "u": fine, "w": fine}, ["u", "w"]),
        ]:
            with pytest.raises(sa.TaxonomyError) as caught:
                session.taxonomies.load_all(wanted, source="t")
            assert all(f'"{name}"' in str(caught.value) for name in named)
            assert ("none of the taxonomies was loaded" in str(caught.value)) == (len(named) > 1)
            assert stored(session, "x") == {"old": ("*",)}
            assert list(session.taxonomies.list()) == ["x"]

    def test_the_last_of_names_that_are_the_same_stays(self, session: sa.Session) -> None:
        session.taxonomies.load_all({"Sex": sa.Taxonomy.flat(["f"]), "sex": sa.Taxonomy.flat(["m"])})
        assert list(session.taxonomies.list()) == ["sex"]
        assert stored(session, "sex") == {"m": ("*",)}

    def test_a_file_that_equals_an_observed_one_is_observed(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute("CREATE TABLE t AS SELECT 'a' AS x, 'a' AS y")
        (tmp_path / "x.csv").write_text("a;*\n")
        session.taxonomies.load_all({"x": tmp_path / "x.csv", "y": sa.Taxonomy.flat()}, source="t")
        assert [shape["domain"] for shape in session.taxonomies.list().values()] == ["observed", "observed"]


class TestOrigins:
    """A taxonomy keeps the origin of its values wherever it goes."""

    @pytest.fixture
    def exported(self, session: sa.Session, tmp_path: Path) -> Path:
        session.connection.execute("CREATE TABLE t AS SELECT unnest(['10115', '01067']) AS zip")
        session.taxonomies.load("zip", sa.Taxonomy.zip_codes(), source="t")
        session.taxonomies.export("zip", tmp_path / "zip.csv")
        return tmp_path / "zip.csv"

    def domain(self, session: sa.Session, attribute: str = "zip") -> object:
        return session.taxonomies.list()[attribute]["domain"]

    def test_a_file_that_says_nothing_states_its_values(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "x.csv").write_text("a;*\nb;*\n")
        session.taxonomies.load("x", tmp_path / "x.csv")
        assert self.domain(session, "x") == "stated"
        session.taxonomies.export("x", tmp_path / "y.csv")
        with sa.connect() as other:
            other.taxonomies.load("x", tmp_path / "y.csv")
            assert self.domain(other, "x") == "stated"

    def test_values_that_were_read_off_data_stay_so_in_a_file(self, session: sa.Session, exported: Path) -> None:
        session.taxonomies.load("again", exported)
        assert self.domain(session, "again") == "observed"
        with sa.connect() as other:
            other.taxonomies.load("zip", exported)
            assert self.domain(other) == "observed"
            exported.write_text(exported.read_text() + "99999;9999*;999**;99***;9****;*\n")
            other.taxonomies.load("zip", exported)
            assert self.domain(other) == "observed"

    def test_values_that_were_read_off_data_are_known_without_the_note(
        self, session: sa.Session, exported: Path
    ) -> None:
        (exported.parent / "zip.csv.sqlanon.json").unlink()
        session.taxonomies.load("zip", exported)
        assert self.domain(session) == "observed"
        session.taxonomies.load("zip", sa.Taxonomy.flat(["1"]))
        session.taxonomies.load("other", exported)
        assert self.domain(session, "other") == "observed"

    def test_declared_values_stay_declared_until_the_file_is_changed(self, session: sa.Session, tmp_path: Path) -> None:
        session.taxonomies.load("x", sa.Taxonomy.flat(["a", "b"]))
        path = tmp_path / "x.csv"
        session.taxonomies.export("x", path)
        session.taxonomies.load("y", path)
        assert self.domain(session, "y") == "declared"
        path.write_text(path.read_text() + "c;*\n")
        session.taxonomies.load("y", path)
        assert self.domain(session, "y") == "stated"

    @pytest.mark.parametrize("note", ["", "[]", '{"sqlanon": 1}', '{"sqlanon": {"taxonomy": {"domain": 3}}}'])
    def test_a_note_that_is_none_says_nothing(self, session: sa.Session, tmp_path: Path, note: str) -> None:
        (tmp_path / "x.csv").write_text("a;*\n")
        (tmp_path / "x.csv.sqlanon.json").write_text(note)
        session.taxonomies.load("x", tmp_path / "x.csv")
        assert self.domain(session, "x") == "stated"

    def test_a_taxonomy_that_was_changed_in_sql_is_declared_no_more(self, session: sa.Session) -> None:
        session.taxonomies.load("x", sa.Taxonomy.flat(["a", "b"]))
        session.connection.execute("INSERT INTO anon.taxonomy VALUES ('x', 0, 'c', 'c'), ('x', 1, 'c', '*')")
        assert self.domain(session, "x") == "observed"
        mine = "SELECT level, value, label FROM anon.taxonomy WHERE attribute = 'x'"
        session.taxonomies.load("x", sa.Taxonomy.from_query(mine, domain="declared"))
        assert self.domain(session, "x") == "declared"
        session.connection.execute(
            "INSERT INTO anon.taxonomy VALUES ('y', 0, 'c', 'c'), ('y', 1, 'c', '*');"
            "INSERT INTO anon.taxonomy VALUES ('z', 0, 'c', 'c'), ('z', 1, 'c', '*');"
            "INSERT INTO anon.taxonomy_domain VALUES ('z', 'declared')"
        )
        assert (self.domain(session, "y"), self.domain(session, "z")) == ("observed", "declared")


def test_values_read_off_a_file_do_not_stay_in_the_warehouse(tmp_path: Path) -> None:
    with sa.connect(tmp_path / "released.duckdb") as session:
        session.connection.execute(f"COPY ({ROWS}) TO '{tmp_path / 'people.parquet'}'")
        session.connection.execute(f"CREATE VIEW seen AS FROM '{tmp_path / 'people.parquet'}'")
        for source in (tmp_path / "people.parquet", "seen", session.connection.sql(ROWS)):
            session.anonymize(str(source) if isinstance(source, Path) else source, POLICY, "k3", replace=True)
            assert kept(session) == {"age": (3, "declared")}
        # Ranges of more than 10,000 values are not listed, and those alone that occur are read off the data.
        long = {**POLICY, "taxonomies": {"age": {**AGES, "maximum": 20_000}, "sex": {"kind": "flat"}}}
        session.anonymize("seen", long, "k3", replace=True)
        assert kept(session) == {"age": (3, "declared")}
