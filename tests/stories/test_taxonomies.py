"""Taxonomies from files, relations and rules, into a warehouse and out of it again."""

import datetime
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.model.taxonomy.rules import RULES
from tests.strategies import HOSTILE_NAMES

Labels = dict[str | None, tuple[str | None, ...]]
HOSTILE = [*{name.casefold(): name for name in HOSTILE_NAMES}.values()]
"""Names of columns of one table, which DuckDB compares without case."""


def stored(session: sa.Session, attribute: str) -> Labels:
    """Value → its labels from level 1 up."""
    found = session.connection.execute(
        "SELECT value, list(label ORDER BY level) FROM anon.taxonomy WHERE attribute = $1 GROUP BY value", [attribute]
    ).fetchall()
    assert all(labels[0] == value for value, labels in found)
    return {value: tuple(labels[1:]) for value, labels in found}


def observed(session: sa.Session, values: str, kind: str, taxonomy: sa.Taxonomy) -> Labels:
    session.connection.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT CAST(x AS {kind}) AS x FROM (VALUES {values}) v (x)"
    )
    session.taxonomies.load("x", taxonomy, source="t")
    assert domain(session, "x") == "observed"
    return stored(session, "x")


def declared(session: sa.Session, taxonomy: sa.Taxonomy) -> Labels:
    session.taxonomies.load("x", taxonomy)
    assert domain(session, "x") == "declared"
    return stored(session, "x")


def domain(session: sa.Session, attribute: str) -> str:
    """Whether the values of an attribute are declared or observed."""
    query = "SELECT any_value(domain) FROM anon.taxonomy_domain WHERE attribute = $1"
    [(found,)] = session.connection.execute(query, [attribute]).fetchall()
    return found or "observed"


OF_COLUMNS = "SELECT 'Bonn' AS x, 'NRW' AS county"
MADE: dict[str, tuple[dict[str, Any], sa.Taxonomy]] = {
    "intervals": (
        {"widths": [10, 20], "minimum": 0, "maximum": 39},
        sa.Taxonomy.intervals([10, 20], minimum=0, maximum=39),
    ),
    "cuts": (
        {"breaks": [[18, 25.5, 65], [18]], "minimum": 17, "maximum": 66},
        sa.Taxonomy.cuts([[18, 25.5, 65], [18]], minimum=17, maximum=66),
    ),
    "dates": (
        {"units": ["year"], "first": "2024-12-30", "last": "2025-01-02"},
        sa.Taxonomy.dates(["year"], first=datetime.date(2024, 12, 30), last=datetime.date(2025, 1, 2)),
    ),
    "prefixes": ({"keep": [1], "values": ["ab", "ac"]}, sa.Taxonomy.prefixes([1], ["ab", "ac"])),
    "zip": ({"values": ["02139", "02140"]}, sa.Taxonomy.zip_codes(["02139", "02140"])),
    "icd9": ({"values": ["250.1"]}, sa.Taxonomy.icd9(["250.1"])),
    "icd10": ({"values": ["E11.9"]}, sa.Taxonomy.icd10(["E11.9"])),
    "ipv4": ({"bits": [8], "values": ["10.0.0.1"]}, sa.Taxonomy.ipv4([8], ["10.0.0.1"])),
    "flat": ({"values": ["f", "m"]}, sa.Taxonomy.flat(["f", "m"])),
    "groups": (
        {"groups": {"Coast": ["Bremen", "Hamburg"], "Rhine": ["Bonn"]}},
        sa.Taxonomy.groups({"Coast": ["Bremen", "Hamburg"], "Rhine": ["Bonn"]}),
    ),
    "columns": ({"columns": ["county"], "source": OF_COLUMNS}, sa.Taxonomy.columns(["county"])),
    "rows": ({"rows": [["f", "*"], [None, "*"]]}, sa.Taxonomy.from_rows([("f", "*"), (None, "*")])),
}


class TestMake:
    def test_every_kind_is_tried(self) -> None:
        assert set(MADE) == set(RULES)

    def test_it_stores_what_the_rule_makes(self, session: sa.Session) -> None:
        for kind, (settings, _) in MADE.items():
            session.taxonomies.make(kind, kind, **{"column": "x", **settings} if "source" in settings else settings)
        loaded = {f"loaded {kind}": taxonomy for kind, (_, taxonomy) in MADE.items()}
        session.taxonomies.load("loaded columns", loaded.pop("loaded columns"), source=OF_COLUMNS, column="x")
        session.taxonomies.load_all(loaded)
        shapes = session.taxonomies.list()
        assert session.taxonomies.check() == {}
        for kind in MADE:
            assert stored(session, kind) == stored(session, f"loaded {kind}"), kind
            assert shapes[kind] == shapes[f"loaded {kind}"], kind

    def test_values_that_are_not_declared_are_read_off_the_source(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE t AS FROM (VALUES ('f'), ('m')) v (sex)")
        session.taxonomies.make("x", "flat", source="t", column="sex")
        assert stored(session, "x") == {"f": ("*",), "m": ("*",)}
        assert session.taxonomies.list()["x"]["domain"] == "observed"

    def test_what_is_no_rule_is_refused(self, session: sa.Session) -> None:
        session.taxonomies.make("x", "flat", values=["a"])
        refused: list[tuple[str, dict[str, Any], str]] = [
            ("interval", {}, '"interval" is not a kind of taxonomy; did you mean "intervals"'),
            ("file", {"file": "x.csv"}, '"file" is not a kind of taxonomy'),
            ("intervals", {}, "widths: field required"),
            ("intervals", {"width": [10]}, 'width: unknown key; did you mean "widths"'),
            ("intervals", {"widths": [-1]}, "width -1 is not positive"),
            ("cuts", {"breaks": [18, 65]}, "breaks[0]: must be a list"),
            ("groups", {"groups": {"a": ["b"], "c": {"d": ["e"]}}}, "groups are not nested equally deep"),
            ("columns", {"columns": []}, "columns: needs at least one"),
        ]
        for kind, settings, problem in refused:
            with pytest.raises(sa.TaxonomyError, match=re.escape(problem)):
                session.taxonomies.make("x", kind, **settings)
        assert stored(session, "x") == {"a": ("*",)}


class TestRowsAndQueries:
    def test_values_of_python_are_spelled_as_the_database_does(self, session: sa.Session) -> None:
        values = [True, False]
        session.connection.execute("CREATE TABLE t AS SELECT true AS x")
        session.taxonomies.load("x", sa.Taxonomy.from_rows([(value, "*") for value in values]), source="t")
        assert set(stored(session, "x")) == {"true", "false"}
        session.taxonomies.load("x", sa.Taxonomy.flat(values), source="t")
        for value, kind in (
            (datetime.date(2024, 2, 29), "DATE"),
            (datetime.datetime(2024, 2, 29, 1, 2, 3), "TIMESTAMP"),
            (Decimal("1.50"), "DECIMAL(5, 2)"),
            (-7, "BIGINT"),
            (0.1, "DOUBLE"),
        ):
            session.connection.execute(f"CREATE OR REPLACE TABLE t (x {kind})")
            session.connection.execute("INSERT INTO t VALUES ($1)", [value])
            session.taxonomies.load("x", sa.Taxonomy.flat([value]), source="t")

    def test_wide(self, session: sa.Session) -> None:
        query = "SELECT * FROM (VALUES (1, 'a', '*'), (2, 'a', '*'), (NULL, 'none', '*')) AS t (v, one, two)"
        session.taxonomies.load("x", sa.Taxonomy.from_query(query))
        assert stored(session, "x") == {"1": ("a", "*"), "2": ("a", "*"), None: ("none", "*")}
        assert session.taxonomies.list()["x"]["domain"] == "observed"

    def test_long(self, session: sa.Session) -> None:
        query = (
            "SELECT level, value, CASE level WHEN 0 THEN value WHEN 1 THEN 'a' ELSE '*' END AS label, 'more' AS other "
            "FROM range(3) AS l (level), (VALUES ('1'), ('2')) AS v (value)"
        )
        session.taxonomies.load("x", sa.Taxonomy.from_query(query, domain="declared"))
        assert stored(session, "x") == {"1": ("a", "*"), "2": ("a", "*")}
        assert session.taxonomies.list()["x"]["domain"] == "declared"

    def test_a_table(self, session: sa.Session) -> None:
        session.connection.execute("""CREATE TABLE "my tree" AS SELECT 'a' AS "it's", '*' AS "from" """)
        session.taxonomies.load("x", sa.Taxonomy.from_query("my tree"))
        assert stored(session, "x") == {"a": ("*",)}

    def test_hostile_attributes_and_labels(self, session: sa.Session, tmp_path: Path) -> None:
        session.taxonomies.load("bystander", sa.Taxonomy.flat(["a"]))
        labels = {name: {name: ("'; DROP TABLE anon.taxonomy; --", "*"), "other": ("it's", "*")} for name in HOSTILE}
        rows = {name: [(value, *found) for value, found in tree.items()] for name, tree in labels.items()}
        session.taxonomies.load_all({name: sa.Taxonomy.from_rows(found) for name, found in rows.items()})
        for place, name in enumerate(HOSTILE):
            assert stored(session, name) == labels[name]
            session.taxonomies.export(name, tmp_path / f"{place}.csv")
        session.taxonomies.load_all({name: tmp_path / f"{place}.csv" for place, name in enumerate(HOSTILE)})
        assert {name: stored(session, name) for name in HOSTILE} == labels
        assert stored(session, "bystander") == {"a": ("*",)}


class TestIntervals:
    def test_nested_widths(self, session: sa.Session) -> None:
        found = declared(session, sa.Taxonomy.intervals([5, 10, 40], minimum=0, maximum=99))
        assert len(found) == 100
        assert found["37"] == ("[35, 40)", "[30, 40)", "[0, 40)", "*")
        assert found["40"] == ("[40, 45)", "[40, 50)", "[40, 80)", "*")

    def test_negative_numbers_and_an_origin(self, session: sa.Session) -> None:
        found = declared(session, sa.Taxonomy.intervals([5, 10], origin=3, minimum=-12, maximum=3))
        assert found["-12"] == ("[-12, -7)", "[-17, -7)", "*")
        assert found["-8"] == ("[-12, -7)", "[-17, -7)", "*")
        assert found["2"] == ("[-2, 3)", "[-7, 3)", "*")
        assert found["3"] == ("[3, 8)", "[3, 13)", "*")

    def test_open_ends(self, session: sa.Session) -> None:
        found = declared(session, sa.Taxonomy.intervals([10, 20], below=18, above=85, minimum=0, maximum=120))
        assert found["17"] == ("< 18", "< 18", "*")
        assert found["18"] == ("[18, 20)", "[18, 20)", "*")
        assert found["84"] == ("[80, 85)", "[80, 85)", "*")
        assert found["85"] == found["120"] == (">= 85", ">= 85", "*")

    def test_decimals_land_on_the_right_side_of_every_boundary(self, session: sa.Session) -> None:
        values = ", ".join(f"({number / 10:.1f})" for number in range(-20, 21))
        found = observed(session, values, "DECIMAL(5, 1)", sa.Taxonomy.intervals([0.1, 0.5]))
        assert found["0.3"] == ("[0.3, 0.4)", "[0.0, 0.5)", "*")
        assert found["-0.1"] == ("[-0.1, 0.0)", "[-0.5, 0.0)", "*")
        for value, labels in found.items():
            start = Decimal(labels[0].strip("[)").split(",")[0])  # type: ignore[union-attr]
            assert start == Decimal(value or "")

    def test_doubles(self, session: sa.Session) -> None:
        found = observed(session, "(0.5), (1e-7), (-3.25), (1e15)", "DOUBLE", sa.Taxonomy.intervals([1, 10]))
        assert found["0.5"] == ("[0, 1)", "[0, 10)", "*")
        assert found["1e-07"] == ("[0, 1)", "[0, 10)", "*")
        assert found["-3.25"] == ("[-4, -3)", "[-10, 0)", "*")

    def test_what_is_no_number_is_refused(self, session: sa.Session) -> None:
        for value in ("'nan'", "'inf'", "'-inf'"):
            with pytest.raises(sa.TaxonomyError, match="1 value other than numbers"):
                observed(session, f"({value}), ('1')", "DOUBLE", sa.Taxonomy.intervals([1]))


class TestCuts:
    def test_labels_between_breaks(self, session: sa.Session) -> None:
        found = declared(session, sa.Taxonomy.cuts([[18, 25, 65], [18, 65]], minimum=0, maximum=99))
        assert found["17"] == ("< 18", "< 18", "*")
        assert found["18"] == found["24"] == ("[18, 25)", "[18, 65)", "*")
        assert found["25"] == found["64"] == ("[25, 65)", "[18, 65)", "*")
        assert found["65"] == found["99"] == (">= 65", ">= 65", "*")

    def test_breaks_are_exact_and_shown_as_they_are_written(self, session: sa.Session) -> None:
        rule = sa.Taxonomy.cuts([[Decimal("-0.1"), 0, 0.3, 1e3], [0]])
        found = observed(session, "(-0.1), (0.2), (0.1 + 0.2), (0.3), (1e9), (-5.0)", "DECIMAL(20, 9)", rule)
        assert found["-0.100000000"] == ("[-0.1, 0)", "< 0", "*")
        assert found["0.200000000"] == ("[0, 0.3)", ">= 0", "*")
        assert found["0.300000000"] == ("[0.3, 1000)", ">= 0", "*")
        assert found["1000000000.000000000"] == (">= 1000", ">= 0", "*")
        assert found["-5.000000000"] == ("< -0.1", "< 0", "*")


class TestGroups:
    def test_one_level(self, session: sa.Session) -> None:
        found = declared(session, sa.Taxonomy.groups({"Rhine": ["Bonn", "Köln"], "Coast": ["Bremen"]}))
        assert found == {"Bonn": ("Rhine", "*"), "Köln": ("Rhine", "*"), "Bremen": ("Coast", "*")}

    def test_groups_of_groups(self, session: sa.Session) -> None:
        tree = {"Germany": {"Rhine": ["Bonn", 7], "Coast": ["Bremen"]}, "France": {"Alsace": [True, 1.5]}}
        assert declared(session, sa.Taxonomy.groups(tree)) == {
            "Bonn": ("Rhine", "Germany", "*"),
            "7": ("Rhine", "Germany", "*"),
            "Bremen": ("Coast", "Germany", "*"),
            "true": ("Alsace", "France", "*"),
            "1.5": ("Alsace", "France", "*"),
        }

    def test_hostile_labels_and_values(self, session: sa.Session) -> None:
        groups = {f"{name};": [name] for name in HOSTILE_NAMES if name != "*"}
        assert declared(session, sa.Taxonomy.groups(groups)) == {name: (label, "*") for label, [name] in groups.items()}


class TestColumns:
    PLACES = """
        CREATE TABLE places AS FROM (VALUES
            ('Bonn', 'Rhine', 'NRW', 1), ('Bonn', NULL, 'NRW', 1), ('Köln', 'Rhine', 'NRW', 2),
            ('Ulm', 'Donau', 'BW', 2), (NULL, 'Donau', 'BW', 3), ('Ulm', 'Donau', 'BW', 3)
        ) AS places (city, county, state, number)
    """

    def test_levels_are_those_of_the_other_columns(self, session: sa.Session) -> None:
        session.connection.execute(self.PLACES)
        session.taxonomies.load("city", sa.Taxonomy.columns(["County", "state"]), source="places")
        assert stored(session, "city") == {
            "Bonn": ("Rhine", "NRW", "*"),
            "Köln": ("Rhine", "NRW", "*"),
            "Ulm": ("Donau", "BW", "*"),
        }
        assert session.taxonomies.list()["city"]["domain"] == "observed"
        assert session.taxonomies.check() == {}
        session.taxonomies.load("x", sa.Taxonomy.columns(["state"]), source="places", column="CITY")
        assert stored(session, "x") == {"Bonn": ("NRW", "*"), "Köln": ("NRW", "*"), "Ulm": ("BW", "*")}

    def test_a_value_with_several_parents_or_none_is_refused(self, session: sa.Session) -> None:
        for change, columns, problem in (
            (
                "INSERT INTO places VALUES ('Bonn', 'Donau', 'BW', 1)",
                ["county"],
                '1 value of "city" stands with several values of "county"',
            ),
            (
                "INSERT INTO places VALUES ('Trier', 'Rhine', 'RLP', 1), ('Worms', 'Donau', 'RLP', 1)",
                ["county", "state"],
                '2 values of "county" stand with several values of "state"',
            ),
            (
                "UPDATE places SET county = NULL WHERE city IN ('Bonn', 'Ulm')",
                ["county"],
                '2 values of "city" stand with no value of "county"',
            ),
            (
                "UPDATE places SET county = '' WHERE city = 'Ulm'",
                ["county"],
                '1 value of "city" stands with an empty text in "county"',
            ),
        ):
            session.connection.execute(f"DROP TABLE IF EXISTS places; {self.PLACES}; {change}")
            with pytest.raises(sa.TaxonomyError) as caught:
                session.taxonomies.load("city", sa.Taxonomy.columns(columns), source="places")
            assert caught.value.problems == (problem,)
        assert session.taxonomies.list() == {}

    def test_all_that_is_wrong_comes_at_once(self, session: sa.Session) -> None:
        session.connection.execute(self.PLACES)
        with pytest.raises(sa.TaxonomyError) as caught:
            session.taxonomies.load("city", sa.Taxonomy.columns(["conty", "land"]), source="places")
        assert caught.value.problems == (
            'column "conty" is not in table "places"; did you mean "county"?',
            'column "land" is not in table "places"',
        )
        with pytest.raises(sa.TaxonomyError, match="has no declared domain"):
            session.taxonomies.load("city", sa.Taxonomy.columns(["county"]))

    def test_hostile_names(self, session: sa.Session) -> None:
        labels = {name: f"label {place}" for place, name in enumerate(HOSTILE)}
        quoted = [f"'{label}' AS \"{name.replace(chr(34), chr(34) * 2)}\"" for name, label in labels.items()]
        session.connection.execute(f"CREATE TABLE t AS SELECT 'a' AS hostile, {', '.join(quoted)}")
        session.taxonomies.load("hostile", sa.Taxonomy.columns([*HOSTILE]), source="t")
        assert stored(session, "hostile") == {"a": (*labels.values(), "*")}

    def test_a_column_without_values(self, session: sa.Session) -> None:
        """NULL is the only value, and every level above has the label of the top."""
        session.connection.execute("CREATE TABLE t AS SELECT CAST(NULL AS VARCHAR) AS x, 'a' AS y FROM range(3)")
        kinds = (sa.Taxonomy.columns(["y"]), sa.Taxonomy.flat(), sa.Taxonomy.intervals([10, 20]))
        for kind, above in zip(kinds, (2, 1, 3), strict=True):
            session.taxonomies.load("x", kind, source="t")
            assert stored(session, "x") == {None: ("*",) * above}
        session.connection.execute("DELETE FROM t")
        with pytest.raises(sa.TaxonomyError, match="it has no values"):
            session.taxonomies.load("x", sa.Taxonomy.flat(), source="t")

    def test_an_empty_table_and_one_row(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE t (x VARCHAR, y VARCHAR)")
        with pytest.raises(sa.TaxonomyError, match="it has no values"):
            session.taxonomies.load("x", sa.Taxonomy.columns(["y"]), source="t")
        session.connection.execute("INSERT INTO t VALUES ('a', 'b')")
        session.taxonomies.load("x", sa.Taxonomy.columns(["y"]), source="t")
        assert stored(session, "x") == {"a": ("b", "*")}

    def test_collations_tell_no_values_apart(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE t (x VARCHAR COLLATE NOCASE, y VARCHAR COLLATE NOCASE)")
        session.connection.execute("INSERT INTO t VALUES ('a', 'p'), ('A', 'q')")
        session.taxonomies.load("x", sa.Taxonomy.columns(["y"]), source="t")
        assert stored(session, "x") == {"a": ("p", "*"), "A": ("q", "*")}


class TestDates:
    def test_dates(self, session: sa.Session) -> None:
        found = declared(session, sa.Taxonomy.dates(first=datetime.date(2019, 12, 31), last=datetime.date(2020, 3, 1)))
        assert len(found) == 62
        assert found["2019-12-31"] == ("2019-12", "2019-Q4", "2019", "2010s", "*")
        assert found["2020-02-29"] == ("2020-02", "2020-Q1", "2020", "2020s", "*")

    def test_weeks_nest_in_iso_years(self, session: sa.Session) -> None:
        """A week belongs to the year of its Thursday."""
        ends = {"first": datetime.date(2020, 12, 26), "last": datetime.date(2021, 1, 5)}
        found = declared(session, sa.Taxonomy.dates(["week", "isoyear"], **ends))
        assert found["2020-12-27"] == ("2020-W52", "ISO 2020", "*")
        assert found["2021-01-03"] == ("2020-W53", "ISO 2020", "*")
        assert found["2021-01-04"] == ("2021-W01", "ISO 2021", "*")
        days = {"first": datetime.date(2024, 12, 29), "last": datetime.date(2024, 12, 30)}
        by_day = declared(session, sa.Taxonomy.dates(["day", "week", "isoyear"], **days))
        assert by_day["2024-12-30"] == ("2024-12-30", "2025-W01", "ISO 2025", "*")

    def test_the_last_day_of_all(self, session: sa.Session) -> None:
        last = datetime.date.max
        assert set(declared(session, sa.Taxonomy.dates(["year"], first=last, last=last))) == {"9999-12-31"}

    def test_timestamps(self, session: sa.Session) -> None:
        values = "('2024-03-31 23:59:59.999999'), ('1969-12-31 00:00:00'), (NULL)"
        found = observed(session, values, "TIMESTAMP", sa.Taxonomy.dates(["day", "month", "decade"]))
        assert found == {
            "2024-03-31 23:59:59.999999": ("2024-03-31", "2024-03", "2020s", "*"),
            "1969-12-31 00:00:00": ("1969-12-31", "1969-12", "1960s", "*"),
        }


class TestCodes:
    def test_prefixes(self, session: sa.Session) -> None:
        found = observed(session, "('10115'), ('101'), ('é🙂x')", "VARCHAR", sa.Taxonomy.prefixes([2, 0]))
        assert found == {"10115": ("10***", "*****", "*"), "101": ("10*", "***", "*"), "é🙂x": ("é🙂*", "***", "*")}

    def test_zip_codes(self, session: sa.Session) -> None:
        found = declared(session, sa.Taxonomy.zip_codes(["01067", "10115"]))
        assert found["01067"] == ("0106*", "010**", "01***", "0****", "*")

    def test_icd_10(self, session: sa.Session) -> None:
        found = declared(session, sa.Taxonomy.icd10(["E11.65", "e1165", "C50", "D50.0", "H60", "U07.1", "Z99"]))
        assert found["E11.65"] == found["e1165"] == ("E11", "E00-E90", "*")
        assert [found[code][1] for code in ("C50", "D50.0", "H60", "U07.1", "Z99")] == [
            "C00-D49", "D50-D89", "H60-H95", "U00-U99", "Z00-Z99",
        ]  # fmt: skip

    def test_icd_9(self, session: sa.Session) -> None:
        found = declared(session, sa.Taxonomy.icd9(["250.01", "V10.3", "E950", "001", "999.9", "25001"]))
        assert found["250.01"] == found["25001"] == ("250", "240-279", "*")
        assert found["V10.3"] == ("V10", "V01-V91", "*")
        assert found["E950"] == ("E950", "E000-E999", "*")
        assert (found["001"][1], found["999.9"][1]) == ("001-139", "800-999")

    def test_ipv4(self, session: sa.Session) -> None:
        found = declared(session, sa.Taxonomy.ipv4([32, 24, 12], ["192.168.17.4", "255.255.255.255", "0.0.0.0"]))  # noqa: S104
        assert found["192.168.17.4"] == ("192.168.17.4/32", "192.168.17.0/24", "192.160.0.0/12", "*")
        assert found["255.255.255.255"] == ("255.255.255.255/32", "255.255.255.0/24", "255.240.0.0/12", "*")

    def test_flat(self, session: sa.Session) -> None:
        assert declared(session, sa.Taxonomy.flat(["f", "m"])) == {"f": ("*",), "m": ("*",)}
        assert observed(session, "('f'), (NULL), ('')", "VARCHAR", sa.Taxonomy.flat()) == {"f": ("*",), "": ("*",)}


class TestNull:
    """NULL has the label that the taxonomy gives it; else it stands alone below the top."""

    def released(self, session: sa.Session, rows: list[tuple[str | None, ...]], k: int) -> dict[str | None, int]:
        session.connection.execute(
            "CREATE OR REPLACE TABLE t AS SELECT CASE WHEN i > 1 THEN 'a' END AS x FROM range(4) r (i)"
        )
        session.taxonomies.load("x", sa.Taxonomy.from_rows(rows), source="t")
        policy = sa.Policy(quasi_identifiers=["x"], privacy=[sa.KAnonymity(k)], earlier="none")
        session.anonymize("t", policy, into="published", replace=True)
        return dict(session.connection.execute("SELECT x, count(*) FROM published GROUP BY x").fetchall())

    def test_without_and_with_a_label(self, session: sa.Session) -> None:
        assert self.released(session, [("a", "b", "*")], 4) == {"*": 4}
        rows: list[tuple[str | None, ...]] = [("a", "b", "*"), (None, "b", "*")]
        assert self.released(session, rows, 2) == {"a": 2, None: 2}
        assert self.released(session, rows, 4) == {"b": 4}

    def test_the_text_null_is_not_null(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE t AS SELECT 'NULL' AS x UNION ALL SELECT NULL")
        session.taxonomies.load("x", sa.Taxonomy.flat(), source="t")
        assert stored(session, "x") == {"NULL": ("*",)}


class TestStore:
    def test_replacing_one_leaves_the_others(self, session: sa.Session) -> None:
        session.taxonomies.load("x", sa.Taxonomy.flat(["a"]))
        session.taxonomies.load("y", sa.Taxonomy.from_rows([("b", "c", "*")]))
        session.taxonomies.load("x", sa.Taxonomy.from_query("SELECT 'd', 'e', '*'"))
        assert stored(session, "x") == {"d": ("e", "*")}
        assert stored(session, "y") == {"b": ("c", "*")}
        assert session.taxonomies.list() == {
            "x": {"height": 2, "values": 1, "labels": [1, 1, 1], "ambiguous_labels": 0, "domain": "observed"},
            "y": {"height": 2, "values": 1, "labels": [1, 1, 1], "ambiguous_labels": 0, "domain": "declared"},
        }

    def test_a_run_checks_its_own_taxonomies_only(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE t AS SELECT 'a' AS x FROM range(4)")
        session.taxonomies.load("x", sa.Taxonomy.flat(["a"]))
        session.connection.execute("INSERT INTO anon.taxonomy VALUES ('y', 0, 'b', 'not b')")
        assert list(session.taxonomies.check()) == ["y"]
        # Whoever looks at a label or at a value of y gets an error.
        session.connection.execute(
            "ALTER TABLE anon.taxonomy RENAME TO stored; CREATE VIEW anon.taxonomy AS SELECT attribute, level, "
            "CASE WHEN attribute = 'y' THEN CAST(CAST(attribute AS INTEGER) AS VARCHAR) ELSE value END AS value, "
            "CASE WHEN attribute = 'y' THEN CAST(CAST(attribute AS INTEGER) AS VARCHAR) ELSE label END AS label "
            "FROM anon.stored"
        )
        for ask in (session.taxonomies.list, session.taxonomies.check):
            with pytest.raises(sa.EngineError):
                ask()
        policy = sa.Policy(quasi_identifiers=["x"], privacy=[sa.KAnonymity(2)])
        session.anonymize("t", policy, into="published")
        # Labels are compared with a taxonomy by a join, which may look at the others.
        session.connection.execute("DROP VIEW anon.taxonomy; ALTER TABLE anon.stored RENAME TO taxonomy")
        assert session.verify("published", policy).met

    def test_a_column_of_another_name(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE t AS SELECT 'a' AS city")
        session.taxonomies.load("x", sa.Taxonomy.flat(), source="t", column="city")
        assert stored(session, "x") == {"a": ("*",)}

    def test_nothing_temporary_is_left(self, session: sa.Session) -> None:
        session.taxonomies.load("x", sa.Taxonomy.flat(["a"]))
        found = session.connection.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() UNION ALL "
            "SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL"
        ).fetchall()
        assert found == [("anon", "taxonomy"), ("anon", "taxonomy_domain"), ("anon", "taxonomy_origin")]

    def test_export_and_load_again(self, session: sa.Session, tmp_path: Path) -> None:
        for taxonomy in (
            sa.Taxonomy.intervals([5, 10], below=2, above=20, minimum=-3, maximum=30),
            sa.Taxonomy.from_rows([(None, "none", "*"), ("a;b", 'c"d', "*"), ("e\nf", " g ", "*")]),
            sa.Taxonomy.from_rows([("'", ",", "\t"), ("x", ",", "\t")]),
            sa.Taxonomy.from_rows([("a", "NULL", "*"), ("NULL", "b", "*")]),
        ):
            session.taxonomies.load("x", taxonomy)
            session.taxonomies.export("x", tmp_path / "x.csv", replace=True)
            session.taxonomies.load("y", tmp_path / "x.csv")
            assert stored(session, "y") == stored(session, "x")
            session.taxonomies.export("y", tmp_path / "y.csv", replace=True)
            assert (tmp_path / "y.csv").read_bytes() == (tmp_path / "x.csv").read_bytes()
