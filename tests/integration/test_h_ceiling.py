"""h-ceiling on UCI Adult, and what it refuses; the oracle has its say in tests/property."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.cli.app import app
from sqlanon.methods.h_ceiling import catalogs, method, queries
from sqlanon.methods.h_ceiling.report import CeilingReport
from sqlanon.queries.cells.encoding import encoding_for
from tests.conftest import ROOT, clinic_policy, data_folder, open_clinic

SEED = sa.SeededSource(20)

QUASI_IDENTIFIERS = ["age", "workclass", "education", "marital_status", "race", "sex", "native_country"]

# spec/hceiling.md (d), own targets. By ceiling: nodes that keep to it, counterfeits by k, node, LM, largest degree.
TARGETS = {
    0.25: (233, {3: 890, 5: 2124, 10: 5816}, (2, 1, 1, 1, 0, 0, 2), 0.1918, 0.2444),
    0.30: (364, {3: 596, 5: 1471, 10: 4150}, (2, 0, 1, 1, 0, 0, 3), 0.2772, 0.2993),
    0.35: (516, {3: 304, 5: 765, 10: 2226}, (2, 1, 2, 1, 0, 0, 2), 0.3030, 0.3492),
}


# spec/hceiling_fill.md, h = .30. By k and the fewest true rows: suppressed rows, counterfeits, the mean link of who
# knows all counterfeits, and the limit.
SUPPRESSED_TARGETS = {
    (3, 2): (284, 115, 0.413, 0.01),
    (3, 3): (499, 0, 0.333, 0.02),
    (5, 2): (231, 547, 0.344, 0.02),
    (5, 3): (499, 145, 0.259, 0.02),
    (5, 5): (799, 0, 0.200, 0.05),
    (10, 2): (315, 2054, 0.246, 0.01),
    (10, 3): (499, 999, 0.180, 0.02),
    (10, 5): (940, 319, 0.141, 0.05),
}


@pytest.fixture(scope="module")
def adult(uci_adult: Path) -> Iterator[sa.Session]:
    """UCI Adult with the ages from 0 to 99 as the domain of age, as in spec/hceiling.md."""
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{uci_adult}' AS given (READ_ONLY)")
        connection.execute("CREATE TABLE adult AS FROM given.adult")
        session = sa.connect(connection)
        folder = data_folder("adult_uci") / "hierarchies"
        for name in QUASI_IDENTIFIERS[1:]:
            session.taxonomies.load(name, folder / f"{name}.csv")
        session.taxonomies.load("age", sa.Taxonomy.intervals([10, 50], minimum=0, maximum=99))
        yield session


def adult_policy(k: int, h: float | None) -> sa.Policy:
    return sa.Policy(
        quasi_identifiers=QUASI_IDENTIFIERS, sensitive=["occupation"], rest="identifier", method=sa.HCeiling(k, h=h)
    )


@pytest.mark.adult
@pytest.mark.one_line
class TestAdult:
    @pytest.mark.parametrize("h", TARGETS)
    @pytest.mark.parametrize("k", [3, 5, 10])
    def test_own_targets(self, adult: sa.Session, h: float, k: int) -> None:
        """Which do not depend on the fill; the default takes longer."""
        nodes, counterfeits, node, lm, degree = TARGETS[h]
        method = sa.HCeiling(k, h=h, fill="hidden" if h == 0.3 else "marginal")
        policy = adult_policy(k, h).model_copy(update={"method": method})
        release = adult.anonymize("adult", policy, "released", replace=True, random_source=SEED)
        report = release.report
        assert isinstance(report, CeilingReport)
        assert report.lattice_nodes == 1728
        assert (report.allowed_nodes, report.counterfeits) == (nodes, counterfeits[k])
        assert tuple(release.node.values()) == node
        assert (round(report.losses["lm"] or 0, 4), round(report.degree, 4)) == (lm, degree)
        assert report.proven_optimal
        assert report.fewest_true_rows == 1
        assert report.rows.released == 32561 + counterfeits[k]

    @pytest.mark.parametrize(
        ("k", "fewest"),
        [pytest.param(*key, marks=() if key == (5, 3) else pytest.mark.deep) for key in SUPPRESSED_TARGETS],
    )
    def test_small_classes_are_suppressed(self, adult: sa.Session, k: int, fewest: int) -> None:
        suppressed, counterfeits, link, limit = SUPPRESSED_TARGETS[k, fewest]
        method = sa.HCeiling(k, h=0.3, fewest_true_rows=fewest)
        policy = adult_policy(k, 0.3).model_copy(update={"method": method, "suppression_limit": limit})
        tables = {"counterfeits": "invented"}
        report = adult.anonymize("adult", policy, "released", replace=True, tables=tables, random_source=SEED).report
        assert isinstance(report, CeilingReport)
        assert (report.suppressed_rows, report.counterfeits, report.proven_optimal) == (suppressed, counterfeits, True)
        assert report.fewest_true_rows == fewest
        names = ", ".join(QUASI_IDENTIFIERS)
        links = adult.connection.sql(
            f"WITH classes AS (SELECT {names}, count(*) AS size FROM released GROUP BY ALL), "
            f"invented AS (SELECT {names}, sum(counterfeits) AS count FROM invented GROUP BY ALL) "
            "SELECT count(*) / sum(size - coalesce(count, 0)) FROM classes "
            f"LEFT JOIN invented USING ({names}) WHERE size = {k}"
        ).fetchall()
        assert round(links[0][0], 3) == link

    @pytest.mark.parametrize("k", [3, 5, 10])
    def test_without_a_ceiling_it_is_k_anonymity(self, adult: sa.Session, k: int) -> None:
        """And more general than any release below a ceiling: what the paper sets out to show."""
        release = adult.anonymize("adult", adult_policy(k, None), "released", replace=True)
        plain = sa.Policy(
            quasi_identifiers=QUASI_IDENTIFIERS, sensitive=["occupation"], rest="identifier", privacy=[sa.KAnonymity(k)]
        )
        report, other = release.report, adult.anonymize("adult", plain, "plain", replace=True).report
        assert isinstance(report, CeilingReport)
        assert isinstance(other, sa.Report)
        assert report.counterfeits == 0
        assert report.fewest_true_rows >= k
        # Spec: the smallest LM of a k-anonymous node is .5629, at (2, 2, 1, 1, 1, 0, 3).
        assert tuple(other.node.values()) == (2, 2, 1, 1, 1, 0, 3)
        assert round(other.loss, 4) == 0.5629
        assert all(lm < other.loss for *_, lm, _ in TARGETS.values())

    def test_with_a_catalog_labels_are_finer(self, adult: sa.Session) -> None:
        """Where true rows count as no more than likely, more counterfeits pay for labels that tell more.

        A search that is stopped makes do with the first node that has a catalog.
        """
        method = sa.HCeiling(5, h=0.3, fill="marginal", catalog="paper")
        policy = adult_policy(5, 0.3).model_copy(update={"method": method})
        found = {}
        for name, stop in (("all", None), ("first", lambda: True)):
            found[name] = adult.anonymize(
                "adult", policy, "released", replace=True, tables={"catalog": name}, random_source=SEED, stop=stop
            ).report
            assert isinstance(found[name], CeilingReport)
        assert tuple(found["all"].node.values()) == (2, 1, 2, 0, 0, 0, 1)
        assert (found["all"].counterfeits, found["all"].proven_optimal) == (2005, False)
        assert "a larger reconstruction error with it" in found["all"].notes[0]
        assert found["all"].reconstruction_error < found["first"].reconstruction_error

    def test_values_are_drawn_as_in_the_whole_table(self, adult: sa.Session) -> None:
        """4,150 draws: no count is further from its mean than six standard deviations; a uniform fill is."""
        true = dict(adult.connection.sql("SELECT occupation, count(*) FROM adult GROUP BY ALL").fetchall())
        for fill, is_far in (("marginal", False), ("uniform", True)):
            policy = adult_policy(10, 0.3).model_copy(update={"method": sa.HCeiling(10, h=0.3, fill=fill)})
            adult.anonymize("adult", policy, "released", replace=True, random_source=sa.SeededSource(7))
            released = dict(adult.connection.sql("SELECT occupation, count(*) FROM released GROUP BY ALL").fetchall())
            drawn = {value: released[value] - count for value, count in true.items()}
            assert sum(drawn.values()) == 4150
            shares = {value: count / 32561 for value, count in true.items()}
            far = [
                value
                for value, share in shares.items()
                if abs(drawn[value] - 4150 * share) > 6 * (4150 * share * (1 - share)) ** 0.5
            ]
            assert bool(far) == is_far


def session_of_people(rows: int = 40) -> sa.Session:
    """People of ten ages and two sexes, with a disease each."""
    session = sa.connect(duckdb.connect())
    session.connection.execute(
        "CREATE TABLE people AS SELECT i // 4 AS age, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END AS sex, "
        f"'d' || (i % 5) AS disease FROM range({rows}) AS numbers (i)"
    )
    session.taxonomies.load("age", sa.Taxonomy.intervals([5], minimum=0, maximum=9))
    session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
    return session


def people_policy(**settings: Any) -> sa.Policy:
    method = sa.HCeiling(**{"k": 4, "h": 0.3, **settings})
    return sa.Policy(quasi_identifiers=["age", "sex"], sensitive=["disease"], method=method)


class TestRelease:
    def test_what_is_told_of_it(self) -> None:
        with session_of_people() as session:
            release = session.anonymize("people", people_policy(), "released", random_source=SEED)
            report = release.report
            assert isinstance(report, CeilingReport)
            assert release.node == {"age": 1, "sex": 0}
            assert report.counterfeits == 0
            release = session.anonymize("people", people_policy(h=0.1), "other", random_source=SEED)
            report = release.report
            assert isinstance(report, CeilingReport)
            assert release.node == {"age": 0, "sex": 0}
            assert report.counterfeits == 40
            assert report.rows_in_words == (
                "80 rows, 40 of them counterfeits (50.0 %) in 20 of 20 classes; the class of the fewest true rows "
                "has 1."
            )
            told = release.model_dump(mode="json")["report"]
            assert (told["counterfeits"], told["fewest_true_rows"]) == (40, 1)
            assert json.loads(release.model_dump_json())["report"] == told
            assert "counterfeit share" in report._repr_html_()
            claims = " ".join(release.guarantee.claims)
            assert "4 rows or more" in claims
            assert "rows are counted, not persons" in " ".join(release.guarantee.conditions)
            assert "with a probability of 1/4 at most" in claims
            assert "whoever could recognize all of them, with certainty" in claims

    def test_nothing_in_it_tells_counterfeits(self, tmp_path: Path) -> None:
        """Not the order, nor a column, nor NULL, nor the note, from which the number of true rows cannot be had."""
        file = tmp_path / "released.parquet"
        with session_of_people() as session:
            release = session.anonymize("people", people_policy(h=0.1), file, random_source=SEED)
            rows = duckdb.read_parquet(str(file)).fetchall()
            assert rows == sorted(rows)
            assert list(duckdb.read_parquet(str(file)).columns) == ["age", "sex", "disease"]
            assert not any(value is None for row in rows for value in row)
            note = session.provenance(file) or ""
            facts = json.loads(note)["sqlanon"]
            assert facts["rows"] == {"released": 80, "masked": 0}
            assert set(facts["report"]) == {
                "node", "heights", "domains", "ceiling", "degree", "class_count", "min_class_size"
            }  # fmt: skip
            assert "counterfeit" not in json.dumps({**facts, "policy": None, "promise": None})
            assert session.verify(file, people_policy(h=0.1)).met
            assert release.report.rows.source == 40  # told to whoever ran it

    def test_draws_differ_unless_they_are_seeded(self) -> None:
        with session_of_people() as session:

            def released(source: sa.SeededSource | None) -> Counter[Any]:
                session.anonymize("people", people_policy(h=0.1), "released", replace=True, random_source=source)
                return Counter(session.connection.table("released").fetchall())

            assert released(sa.SeededSource(1)) == released(sa.SeededSource(1))
            assert released(sa.SeededSource(1)) != released(sa.SeededSource(2))
            assert released(None) != released(None)  # equal once in 5^40

    def test_a_search_that_is_stopped(self) -> None:
        with session_of_people() as session:
            release = session.anonymize("people", people_policy(h=0.1), "released", stop=lambda: True)
            assert isinstance(release.report, CeilingReport)
            assert release.report.lower_bound is not None
            assert release.report.lower_bound <= release.report.counterfeits

    def test_it_is_explained(self, clinic: sa.Session) -> None:
        steps = clinic.explain("visits", clinic_policy(method=sa.HCeiling(2, h=0.5)))
        purposes = dict.fromkeys(step.purpose for step in steps)
        wanted = ["cells", "classes that lack rows", "counterfeits", "cells with counterfeits", "the release"]
        assert [purpose for purpose in purposes if purpose in wanted] == wanted

    def test_one_class_of_all_rows(self) -> None:
        with session_of_people(rows=3) as session:
            policy = people_policy(k=3, h=1).model_copy(update={"minimum_levels": {"age": 2, "sex": 1}})
            release = session.anonymize("people", policy, "released")
            assert session.connection.sql("SELECT DISTINCT age, sex FROM released").fetchall() == [("*", "*")]
            assert release.report.rows.released == 3


class TestFewestTrueRows:
    """Ages have four people each, of two sexes: classes of one to three true rows."""

    def policy(self, fewest: int, **options: Any) -> sa.Policy:
        method = sa.HCeiling(4, h=0.1, fewest_true_rows=fewest)
        roles: dict[str, Any] = {
            "quasi_identifiers": ["age", "sex"],
            "sensitive": ["disease"],
            "suppression_limit": 0.5,
        }
        return sa.Policy(**{**roles, "method": method, **options})

    def test_classes_of_fewer_are_left_out(self) -> None:
        with session_of_people() as session:
            release = session.anonymize("people", self.policy(2), "released", random_source=SEED)
            report = release.report
            assert isinstance(report, CeilingReport)
            assert (report.fewest_true_rows, report.suppressed_rows, report.rows.dropped) == (2, 6, 6)
            assert report.rows_in_words == (
                "56 rows, 22 of them counterfeits (39.3 %) in 14 of 14 classes; the class of the fewest true rows has "
                "2. 6 suppressed (15.0 %; the limit is 50 %)."
            )
            assert "could recognize all of them, with 1/2, where 2 is the fewest true rows of a class" in " ".join(
                release.guarantee.claims
            )
            assert session.verify("released", self.policy(2)).met
            assert session.connection.sql("SELECT count(*) FROM released").fetchall() == [(56,)]

    def test_more_rows_than_may_be(self) -> None:
        with session_of_people() as session:
            session.connection.execute("CREATE TABLE released AS FROM people")
            with pytest.raises(sa.UnsatisfiableError, match=r"suppresses 4 rows or fewer.*\n.*leaves out 6 of 40 rows"):
                session.anonymize("people", self.policy(2, suppression_limit=0.1), "released", replace="anything")
            assert session.connection.sql("SELECT count(*) FROM released").fetchall() == [(40,)]

    @pytest.mark.parametrize(
        ("fewest", "options", "words"),
        [
            (2, {"suppression_limit": 0}, "fewest_true_rows = 2 needs a suppression_limit"),
            (2, {"suppression": "mask"}, "takes no suppression, search or objective"),
            (1, {}, "takes no suppression_limit.*unless fewest_true_rows is above 1"),
        ],
    )
    def test_policies_that_do_not_fit(self, fewest: int, options: dict[str, Any], words: str) -> None:
        with pytest.raises(sa.PolicyError, match=words):
            self.policy(fewest, **options)

    @pytest.mark.parametrize(("fewest", "words"), [(5, "fewest_true_rows is k at most"), (0, "fewest_true_rows: ")])
    def test_settings_that_cannot_be(self, fewest: int, words: str) -> None:
        with pytest.raises(sa.PolicyError, match=words):
            sa.HCeiling(4, fewest_true_rows=fewest)


class TestPrivateTable:
    def test_it_tells_the_custodian_which_rows_are_invented(self) -> None:
        with session_of_people() as session:
            for policy in (people_policy(h=0.1), people_policy(h=0.1, catalog="paper"), people_policy(k=20, h=0.6)):
                tables = {"counterfeits": "invented"}
                if policy.method.added_columns:
                    tables["catalog"] = "told"
                release = session.anonymize("people", policy, "released", tables=tables, replace=True)
                assert isinstance(release.report, CeilingReport)
                connection = session.connection
                assert connection.table("invented").columns == ["age", "sex", "disease", "counterfeits"]
                told = connection.sql("SELECT age, sex, disease, counterfeits FROM invented").fetchall()
                invented = {tuple(values): count for *values, count in told}
                assert sum(invented.values()) == release.report.counterfeits > 0
                node = "MAP {" + ", ".join(f"'{name}': {level}" for name, level in release.node.items()) + "}"
                session.install()
                true = Counter(
                    connection.sql(f"SELECT age, sex, disease FROM anon.generalize('people', {node})").fetchall()
                )
                shown = Counter(connection.sql("SELECT age, sex, disease FROM released").fetchall())
                assert dict(shown - true) == invented

    def test_it_is_not_made_unless_it_is_asked_for(self, tmp_path: Path) -> None:
        with session_of_people() as session:
            session.anonymize("people", people_policy(), "released")
            assert {row[0] for row in session.connection.sql("SHOW TABLES").fetchall()} == {"people", "released"}
            with pytest.raises(sa.EngineError, match="give the names of tables"):
                session.anonymize(
                    "people", people_policy(), tmp_path / "x.parquet", tables={"counterfeits": "invented"}
                )

    def test_a_column_of_its_name(self) -> None:
        with session_of_people() as session:
            session.connection.execute("ALTER TABLE people RENAME disease TO Counterfeits")
            policy = sa.Policy(quasi_identifiers=["age", "sex"], sensitive=["Counterfeits"], method=sa.HCeiling(4))
            with pytest.raises(sa.PolicyError, match='"Counterfeits"'):
                session.anonymize("people", policy, "released", tables={"counterfeits": "invented"})


PAIRS = [{"sex": "m", "disease": "d0"}, {"age": "[0, 5)", "sex": "f", "disease": "d1"}]


class TestImpossible:
    def invented(self, session: sa.Session, policy: sa.Policy, **tables: str) -> set[Any]:
        written = {"counterfeits": "invented", **tables}
        session.anonymize("people", policy, "released", tables=written, replace=True, random_source=sa.SeededSource(1))
        return set(session.connection.sql("SELECT age, sex, disease FROM invented").fetchall())

    def test_no_counterfeit_has_one(self) -> None:
        with session_of_people() as session:
            free, bound = (self.invented(session, people_policy(h=0.1, impossible=pairs)) for pairs in ([], PAIRS))
            assert any((sex, disease) == ("m", "d0") for _, sex, disease in free)
            assert not any((sex, disease) == ("m", "d0") for _, sex, disease in bound)
            assert not any((sex, disease) == ("f", "d1") and int(age) < 5 for age, sex, disease in bound)
            # True rows that have one are there.
            query = "SELECT count(*) FROM {} WHERE sex = 'm' AND disease = 'd0'"
            counts = [session.connection.sql(query.format(name)).fetchall() for name in ("people", "released")]
            assert counts[0] == counts[1] != [(0,)]

    def test_with_a_catalog(self) -> None:
        with session_of_people() as session:
            policy = people_policy(h=0.1, catalog="paper", impossible=PAIRS)
            found = self.invented(session, policy, catalog="told")
            assert found and not any((sex, disease) == ("m", "d0") for _, sex, disease in found)

    def test_a_class_with_a_more_general_label_is_free(self) -> None:
        with session_of_people() as session:
            policy = people_policy(k=30, h=0.6, impossible=PAIRS).model_copy(update={"minimum_levels": {"sex": 1}})
            found = self.invented(session, policy)
            assert {"d0", "d1"} <= {disease for *_, disease in found}

    def test_what_is_promised_and_published(self, tmp_path: Path) -> None:
        with session_of_people() as session:
            release = session.anonymize("people", people_policy(h=0.1, impossible=PAIRS), tmp_path / "x.parquet")
            assert any("2 combinations of the policy" in text for text in release.guarantee.not_covered)
            note = json.loads(session.provenance(tmp_path / "x.parquet") or "")["sqlanon"]
            assert note["policy"]["method"]["impossible"] == PAIRS
            release = session.anonymize("people", people_policy(h=0.1), tmp_path / "y.parquet")
            assert not any("combinations of the policy" in text for text in release.guarantee.not_covered)

    def test_it_is_explained(self) -> None:
        with session_of_people() as session:
            purposes = [step.purpose for step in session.explain("people", people_policy(h=0.1, impossible=PAIRS))]
            assert purposes.index("values that classes never get") < purposes.index("counterfeits")

    def test_in_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "policy.toml"
        file.write_text(
            'quasi_identifiers = ["age", "Sex"]\nsensitive = ["disease"]\n\n[method]\nmodel = "h-ceiling"\nk = 3\n'
            'impossible = [{ sex = "m", age = 3, Disease = "d0" }]\n'
        )
        policy = sa.Policy.from_toml(file)
        assert isinstance(policy.method, sa.HCeiling)
        assert policy.method.impossible == ({"Sex": "m", "age": "3", "disease": "d0"},)
        assert sa.Policy(**policy.model_dump(mode="json")) == policy
        assert sa.Policy(**policy.model_dump(mode="json")).sha256() == policy.sha256()

    def test_the_hash_is_of_the_list(self) -> None:
        assert people_policy().sha256() == people_policy(impossible=[]).sha256()
        assert people_policy().sha256() != people_policy(impossible=PAIRS).sha256()

    def test_columns_that_do_not_fit(self) -> None:
        entries = [{"sexx": "m"}, {"sex": "m"}, {"disease": "d0"}, {}, {"sex": "m", "disease": "d0"}]
        with pytest.raises(sa.PolicyError) as refused:
            people_policy(impossible=entries)
        assert refused.value.problems == (
            'impossible[0] has no value of the sensitive "disease"',
            "impossible[0] has no label of a quasi-identifier",
            'impossible[0]: "sexx" is neither a quasi-identifier nor the sensitive column; did you mean "sex"?',
            'impossible[1] has no value of the sensitive "disease"',
            "impossible[2] has no label of a quasi-identifier",
            'impossible[3] has no value of the sensitive "disease"',
            "impossible[3] has no label of a quasi-identifier",
        )

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({"impossible": [{"sex": True}]}, r"impossible\[0\].sex: input should be a valid string"),
            ({"impossible": {"sex": "m"}}, "impossible: must be a list"),
            ({"impossible": PAIRS, "catalog": "strict"}, "impossible is not for a strict catalog"),
        ],
    )
    def test_settings_that_cannot_be(self, settings: dict[str, Any], words: str) -> None:
        with pytest.raises(sa.PolicyError, match=words):
            sa.HCeiling(3, **settings)

    def test_labels_that_are_none(self) -> None:
        """All at once, with what else does not fit, and before anything is written."""
        with session_of_people() as session:
            session.connection.execute("CREATE TABLE released AS FROM people")
            session.connection.execute("UPDATE people SET disease = NULL WHERE age = 0")
            entries = [{"sex": "M", "disease": "d0"}, *PAIRS, {"sex": "x", "age": "4", "disease": "d0"}]
            with pytest.raises(sa.PolicyError) as refused:
                session.anonymize("people", people_policy(impossible=entries), "released", replace="anything")
            assert refused.value.problems == (
                '"disease" is NULL in 4 rows: give them a value in a view or a query, or leave them out',
                'impossible[0]: the taxonomy of "sex" has no such label',
                'impossible[3]: the taxonomy of "sex" has no such label',
            )
            assert session.connection.sql("SELECT count(*) FROM released").fetchall() == [(40,)]

    @pytest.mark.parametrize("catalog", ["none", "paper"])
    def test_classes_without_any_value(self, catalog: str) -> None:
        """It tells how many, and not which."""
        entries = [{"sex": "m", "disease": f"d{number}"} for number in range(5)]
        with session_of_people() as session:
            session.connection.execute("CREATE TABLE released AS FROM people")
            policy = people_policy(h=0.1, impossible=entries, catalog=catalog)
            tables = {"catalog": "told"} if catalog == "paper" else {}
            with pytest.raises(sa.UnsatisfiableError) as refused:
                session.anonymize("people", policy, "released", replace="anything", tables=tables)
            assert refused.value.problems == (
                "at (0, 0) 10 classes that lack rows never get any value that the table has",
            )
            assert session.connection.sql("SELECT count(*) FROM released").fetchall() == [(40,)]


class TestRefusals:
    """Nothing is written, and what was there stays."""

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ("ALTER TABLE people ADD COLUMN note TEXT", 'column "note" has no role'),
            ("UPDATE people SET disease = NULL WHERE age = 0", '"disease" is NULL in 4 rows'),
            ("DELETE FROM people WHERE age > 0 OR sex = 'f'", "k is 4, and there are"),
            ("ALTER TABLE people ALTER disease SET DATA TYPE DOUBLE USING 0.5", '"disease" is DOUBLE'),
            ("DELETE FROM people", "has no rows"),
        ],
    )
    def test_a_table_that_does_not_fit(self, change: str, words: str) -> None:
        with session_of_people() as session:
            session.connection.execute("CREATE TABLE released AS FROM people")
            session.connection.execute(change)
            with pytest.raises(sa.PolicyError, match=words):
                session.anonymize("people", people_policy(), "released", replace="anything")
            assert session.connection.sql("SELECT count(*) FROM released").fetchall() == [(40,)]

    def test_both_at_once(self) -> None:
        with session_of_people(rows=3) as session:
            session.connection.execute("UPDATE people SET disease = NULL")
            with pytest.raises(sa.PolicyError) as refused:
                session.anonymize("people", people_policy(), "released")
            assert len(refused.value.problems) == 2

    def test_a_ceiling_that_no_node_keeps_to(self) -> None:
        with session_of_people() as session:
            policy = people_policy(h=0.2).model_copy(update={"minimum_levels": {"sex": 1}})
            with pytest.raises(sa.UnsatisfiableError, match=r"h = 0.2.*\n.*degree of 0.5"):
                session.anonymize("people", policy, "released")

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"sensitive": ()}, "of one sensitive column for counterfeits, not of 0"),
            ({"sensitive": ("a", "b")}, "of one sensitive column for counterfeits, not of 2"),
            ({"insensitive": ("note",)}, 'cannot publish the insensitive "note"'),
            ({"privacy": [sa.KAnonymity(7)]}, "takes no privacy model but k-anonymity of its own k"),
            ({"suppression_limit": 0.1}, "takes no suppression_limit"),
            ({"quality": sa.Prec()}, "takes no quality model"),
            ({"row_weight": "w"}, "counts rows, not the weights"),
            ({"individual": "w"}, "counts rows, not the individuals"),
        ],
    )
    def test_a_policy_that_asks_for_more(self, options: dict[str, Any], words: str) -> None:
        roles = {"quasi_identifiers": ["age"], "sensitive": ["disease"], "identifiers": ["w"], **options}
        with pytest.raises(sa.PolicyError, match=words):
            sa.Policy(method=sa.HCeiling(3), **roles)

    @pytest.mark.parametrize(
        ("settings", "words"),
        [({}, "k: field required"), ({"k": 1}, "k: "), ({"k": 3, "h": 1.1}, "h: "), ({"k": 3, "fill": "x"}, "fill: ")],
    )
    def test_settings_that_cannot_be(self, settings: dict[str, Any], words: str) -> None:
        with pytest.raises(sa.PolicyError, match=words):
            sa.HCeiling(**settings)

    def test_requests_that_it_does_not_take(self, tmp_path: Path) -> None:
        with session_of_people() as session:
            with pytest.raises(sa.PolicyError, match="takes no node: bound its search"):
                session.anonymize("people", people_policy(), "released", node={"age": 0, "sex": 0})
            with pytest.raises(sa.PolicyError, match="dataset"):
                session.anonymize("people", people_policy(), "released", dataset="x")
            with pytest.raises(sa.PolicyError, match="a fit is of full domains"):
                session.partitions.fit("people", people_policy(), tmp_path / "fit.json")

    def test_a_release_that_lost_rows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with session_of_people() as session:
            session.anonymize("people", people_policy(h=0.1), "released")
            lost = queries.filled_cells

            def short(*given: Any) -> Any:
                step = lost(*given)
                return type(step)(step.makes, step.query.limit(19), step.purpose)

            monkeypatch.setattr(queries, "filled_cells", short)
            with pytest.raises(sa.VerificationError, match="rows where 80 were to be released"):
                session.anonymize("people", people_policy(h=0.1), "released", replace=True)
            assert session.connection.sql("SELECT count(*) FROM released").fetchall() == [(80,)]


class TestCommand:
    def test_a_run_with_a_seed(self, tmp_path: Path) -> None:
        database, policy = tmp_path / "clinic.duckdb", tmp_path / "policy.toml"
        with duckdb.connect(str(database)) as connection:
            open_clinic(connection)
            connection.execute("DELETE FROM visits WHERE diagnosis IS NULL")
        policy.write_text(
            'quasi_identifiers = ["age", "sex", "zip"]\nsensitive = ["diagnosis"]\nidentifiers = ["id"]\n'
            'method = { model = "h-ceiling", k = 3, h = 0.3 }\n'
        )
        command = ["run", "visits", "--db", str(database), "--policy", str(policy), "--into"]
        outputs = []
        for name in ("one", "two"):
            done = CliRunner().invoke(app, [*command, str(tmp_path / f"{name}.parquet"), "--seed", "3"])
            assert done.exit_code == 0, done.output
            assert "24 rows, 13 of them counterfeits (54.2 %)" in " ".join(done.output.split())
            outputs.append(duckdb.read_parquet(str(tmp_path / f"{name}.parquet")).fetchall())
        assert outputs[0] == outputs[1]

    def test_a_seed_for_what_draws_nothing(self, tmp_path: Path) -> None:
        policy = tmp_path / "policy.toml"
        policy.write_text('quasi_identifiers = ["age"]\nprivacy = [{ model = "k-anonymity", k = 2 }]\n')
        source = str(ROOT / "fixtures" / "clinic.sql")
        done = CliRunner().invoke(app, ["run", source, "--policy", str(policy), "--into", "x.parquet", "--seed", "3"])
        assert done.exit_code == 2


def session_of_groups() -> sa.Session:
    """A hundred ages with four people each, but three of the first few: most classes have just four rows.

    Of every disease there are people in every class, so that a counterfeit can hide.
    """
    session = sa.connect(duckdb.connect())
    session.connection.execute(
        "CREATE TABLE people AS SELECT i // 4 AS age, 'd' || (i % 4) AS disease FROM range(400) AS numbers (i) "
        "WHERE i NOT IN (3, 9)"
    )
    session.taxonomies.load("age", sa.Taxonomy.intervals([10], minimum=0, maximum=99))
    return session


def groups_policy(catalog: str, **settings: Any) -> sa.Policy:
    method = {"model": "h-ceiling", "k": 4, "h": 0, "fill": "marginal", "catalog": catalog, **settings}
    return sa.Policy(quasi_identifiers=["age"], sensitive=["disease"], method=method)


BESIDE = {"catalog": "told"}
BOTH = ("released", "told")


class TestCatalog:
    @pytest.mark.parametrize("kind", ["strict", "paper"])
    def test_it_tells_the_counterfeits_of_groups(self, kind: str) -> None:
        with session_of_groups() as session:
            policy = groups_policy(kind)
            release = session.anonymize("people", policy, "released", tables=BESIDE, random_source=SEED)
            report = release.report
            assert isinstance(report, CeilingReport)
            assert (report.counterfeits, report.filled_classes, report.catalog) == (2, 2, kind)
            connection = session.connection
            assert connection.table("released").columns == ["class_id", "age", "disease"]
            assert connection.table("told").columns == ["class_ids", "disease", "counterfeits"]
            ids = connection.sql("SELECT class_id, age FROM released GROUP BY ALL ORDER BY class_id").fetchall()
            assert ids == [(place, age) for place, age in enumerate(sorted(map(str, range(100))), start=1)]
            names = {class_id: int(age) for class_id, age in ids}
            told = connection.sql("SELECT class_ids, disease, counterfeits FROM told").fetchall()
            assert sum(count for *_, count in told) == 2
            assert len({tuple(classes) for classes, *_ in told}) == report.groups
            grouped_ages = {names[class_id] for classes, *_ in told for class_id in classes}
            assert {0, 2} <= grouped_ages
            for classes, disease, count in told:
                ages = [names[class_id] for class_id in classes]
                true = connection.execute(
                    "SELECT count(*) FROM people WHERE list_contains(?, age) AND disease = ?", [ages, disease]
                ).fetchall()
                shown = connection.execute(
                    "SELECT count(*) FROM released WHERE list_contains(?, class_id) AND disease = ?", [classes, disease]
                ).fetchall()
                assert shown[0][0] - true[0][0] == count
            assert session.verify("released", policy).met
            assert json.loads(session.provenance("told") or "")["sqlanon"]["companion"]["release"] == "released"

    def test_one_of_counts_says_nothing_of_values(self) -> None:
        with session_of_groups() as session:
            policy, source = groups_policy("counts", fill="hidden"), sa.SeededSource
            plain = session.anonymize("people", groups_policy("none", fill="hidden"), "plain", random_source=source(1))
            release = session.anonymize("people", policy, "released", tables=BESIDE, random_source=source(1))
            assert isinstance(release.report, CeilingReport)
            assert (release.report.catalog, release.report.effective_k, release.node) == ("counts", None, plain.node)
            connection = session.connection
            assert connection.table("told").columns == ["class_ids", "counterfeits"]
            # All 100 classes have just four rows, true or not.
            assert connection.table("told").fetchall() == [(list(range(1, 101)), 2)]
            assert connection.sql("SELECT age, disease FROM released").fetchall() == (
                connection.table("plain").fetchall()
            )
            session.install()
            truths = connection.sql(
                "SELECT round(sum(anon_truth), 9) FROM anon.class_truths('released', 'told')"
            ).fetchall()
            assert truths == [(398.0,)]
            assert "with a probability of 1/4 at most" in " ".join(release.guarantee.claims)
            assert "7/24" not in " ".join(release.guarantee.not_covered)
            assert session.verify("released", policy).met

    def test_one_of_values_undoes_what_the_fill_hides(self) -> None:
        with session_of_groups() as session:
            release = session.anonymize("people", groups_policy("paper", fill="hidden"), "released", tables=BESIDE)
            assert "1/4 at most" not in " ".join(release.guarantee.claims)
            assert "7/24, more than 1/4" in " ".join(release.guarantee.not_covered)

    def test_a_strict_one_keeps_its_promise(self) -> None:
        with session_of_groups() as session:
            release = session.anonymize("people", groups_policy("strict"), "released", tables=BESIDE)
            assert isinstance(release.report, CeilingReport)
            assert release.report.effective_k is not None
            assert 3.2 <= release.report.effective_k <= 4
            assert f"the effective k is {release.report.effective_k:.4g}" in " ".join(release.guarantee.claims)

    def test_the_published_one_promises_nothing(self) -> None:
        with session_of_groups() as session:
            release = session.anonymize("people", groups_policy("paper"), "released", tables=BESIDE)
            assert "effective k" not in " ".join(release.guarantee.claims)
            assert "lemma 1" in release.guarantee.not_covered[0]

    def test_one_that_cannot_be(self) -> None:
        """Every class lacks a row, so that all classes have three true rows: no catalog hides that."""
        with session_of_people() as session:
            session.connection.execute("CREATE TABLE released AS FROM people; CREATE TABLE told AS FROM people")
            method = sa.HCeiling(4, h=0.1, catalog="strict")
            policy = people_policy(h=0.1).model_copy(update={"method": method})
            with pytest.raises(sa.UnsatisfiableError, match="no strict catalog was found"):
                session.anonymize("people", policy, "released", tables=BESIDE, replace="anything")
            for name in ("released", "told"):
                assert session.connection.sql(f"SELECT count(*) FROM {name}").fetchall() == [(40,)]

    def test_no_counterfeits_make_an_empty_one(self) -> None:
        with session_of_groups() as session:
            policy = groups_policy("strict", h=1.0).model_copy(update={"minimum_levels": {"age": 1}})
            release = session.anonymize("people", policy, "released", tables=BESIDE)
            assert isinstance(release.report, CeilingReport)
            assert (release.report.counterfeits, release.report.groups, release.report.effective_k) == (0, 0, 4)
            assert session.connection.sql("SELECT count(*) FROM told").fetchall() == [(0,)]
            policy = groups_policy("counts", h=1.0).model_copy(update={"minimum_levels": {"age": 1}})
            session.anonymize("people", policy, "released", tables=BESIDE, replace=True)
            assert session.connection.sql("SELECT count(*) FROM told").fetchall() == [(0,)]

    def test_it_is_explained(self) -> None:
        with session_of_groups() as session:
            purposes = [step.purpose for step in session.explain("people", groups_policy("strict"))]
            assert purposes.index("the release") < purposes.index("the catalog")

    @pytest.mark.parametrize(
        ("into", "tables", "error", "words"),
        [
            ("released", {}, sa.PolicyError, '"catalog" is published as well: name its table'),
            ("released.parquet", BESIDE, sa.EngineError, "give the names of tables"),
            ("released", {"catalog": "told.parquet"}, sa.EngineError, "give the names of tables"),
            ("released", {"catalog": "people"}, sa.EngineError, "people"),
            ("released", {"catalog": "there"}, sa.EngineError, "there"),
            ("released", {"catalog": "RELEASED"}, sa.EngineError, "two tables of the release have one name"),
        ],
    )
    def test_targets_that_do_not_fit(
        self, tmp_path: Path, into: str, tables: dict[str, str], error: type[Exception], words: str
    ) -> None:
        with session_of_groups() as session:
            session.connection.execute("CREATE TABLE there (i INTEGER)")
            target = tmp_path / into if into.endswith(".parquet") else into
            with pytest.raises(error, match=words):
                session.anonymize("people", groups_policy("strict"), target, tables=tables)
            assert {row[0] for row in session.connection.sql("SHOW TABLES").fetchall()} == {"people", "there"}
            assert not list(tmp_path.iterdir())

    def test_a_release_that_has_none(self) -> None:
        with session_of_groups() as session, pytest.raises(sa.PolicyError, match="what is, is none"):
            session.anonymize("people", groups_policy("none"), "released", tables=BESIDE)

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({"effective_k": 3}, "effective_k is for a strict catalog"),
            ({"catalog": "strict", "effective_k": 5}, "effective_k is k at most"),
            ({"catalog": "strict", "effective_k": 1}, "effective_k of a strict catalog is above 1, which is certainty"),
            ({"catalog": "public"}, "catalog: "),
        ],
    )
    def test_settings_that_cannot_be(self, settings: dict[str, Any], words: str) -> None:
        with pytest.raises(sa.PolicyError, match=words):
            sa.HCeiling(4, **settings)

    @pytest.mark.parametrize("name", ["class_id", "Class_IDs", "counterfeits"])
    def test_names_that_it_needs(self, name: str) -> None:
        with pytest.raises(sa.PolicyError, match="a release with a catalog needs"):
            sa.Policy(quasi_identifiers=[name], sensitive=["disease"], method=sa.HCeiling(4, catalog="strict"))
        assert sa.Policy(quasi_identifiers=[name], sensitive=["disease"], method=sa.HCeiling(4))

    def test_both_tables_are_as_they_were(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where what is written of the catalog is not what was to be."""
        with session_of_groups() as session:
            policy = groups_policy("strict")
            session.anonymize("people", policy, "released", tables=BESIDE)
            before = [session.connection.table(name).fetchall() for name in BOTH]
            wanted = catalogs.catalog_rows
            for spoilt in (
                lambda *given: wanted(*given).limit(0),
                lambda *given: wanted(*given).limit(1),
                lambda *given: (
                    wanted(*given).select("class_ids", "disease", "1 AS counterfeits", append=False).limit(1)
                ),
            ):
                monkeypatch.setattr(method, "catalogs", SimpleNamespace(**{**vars(catalogs), "catalog_rows": spoilt}))
                with pytest.raises(sa.VerificationError, match="rows of the catalog are not as they were to be"):
                    session.anonymize("people", policy, "released", tables=BESIDE, replace=True)
                assert [session.connection.table(name).fetchall() for name in BOTH] == before

    def test_more_counterfeits_than_rows_are_seen(self) -> None:
        with session_of_groups() as session:
            session.anonymize("people", groups_policy("strict"), "released", tables=BESIDE)
            engine = session._engine
            bound = prepare(engine, engine.resolve("people"), groups_policy("strict"))
            encoding = encoding_for(bound.cells, bound.policy.criteria, label_losses=())

            def seen(relation: str) -> int:
                released, catalog = (engine.resolve(name).relation for name in ("released", relation))
                query = queries.about(encoding).query("more_counterfeits_than_rows", release=released, written=catalog)
                return int(engine.fetch(query, "rows")[0]["rows"])

            assert seen("told") == 0
            session.connection.execute(
                "CREATE TABLE more AS SELECT * REPLACE (counterfeits + 100 AS counterfeits) FROM told"
            )
            assert seen("more") == session.connection.sql("SELECT count(*) FROM told").fetchall()[0][0] > 0


class TestCommandOfTwoTables:
    def test_both_are_named(self, tmp_path: Path) -> None:
        database, policy = tmp_path / "people.duckdb", tmp_path / "policy.toml"
        with session_of_groups() as session:
            connection = session.connection
            connection.execute(f"ATTACH '{database}' AS stored; COPY FROM DATABASE memory TO stored; DETACH stored")
        policy.write_text(
            'quasi_identifiers = ["age"]\nsensitive = ["disease"]\n'
            'method = { model = "h-ceiling", k = 4, h = 0, catalog = "strict" }\n'
        )
        command = ["run", "people", "--db", str(database), "--policy", str(policy), "--into", "released"]
        refused = CliRunner().invoke(app, [*command, "--table", "catalog"])
        assert refused.exit_code == 2
        done = CliRunner().invoke(app, [*command, "--table", "catalog=told", "--json"])
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["tables"] == {"catalog": "told"}
        with duckdb.connect(str(database), read_only=True) as connection:
            assert connection.sql("SELECT sum(counterfeits) FROM told").fetchall() == [(2,)]
