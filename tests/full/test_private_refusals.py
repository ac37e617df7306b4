"""What private methods refuse."""

import sys
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.chance import opendp
from tests.engines import engine_of
from tests.fixed_noise import FixedNoise
from tests.stories import test_private_runs
from tests.stories.test_private_runs import METHOD, POLICY, ROLES

make_warehouse = test_private_runs.make_warehouse


class TestRefusals:
    def test_policies_that_ask_for_more(self) -> None:
        changes: list[tuple[dict[str, Any], list[str]]] = [
            ({"insensitive": ["x"]}, ['cannot publish the insensitive "x"']),
            ({"sensitive": ["illness", "y"]}, ["one sensitive column"]),
            (
                {"privacy": [sa.KAnonymity(2)], "suppression_limit": 0.1},
                ["takes no privacy model", "takes no suppression"],
            ),
            ({"row_weight": "person"}, ["counts rows"]),
            ({"quality": sa.LM()}, ["takes no quality model"]),
            ({"method": sa.IPA(rows_per_individual=2)}, ["rows_per_individual needs individual"]),
            ({"method": sa.IPA(node={"age": 1})}, ["method.node must give every quasi-identifier"]),
        ]
        methods = [
            ({"budget": {"epsilon": 0.1}}, "method.budget.epsilon: must be exact"),
            ({"budget": {"epsilon": 0}}, "ε must be positive"),
            ({"split": {"cells": "0.5", "rolled-up": "0.5"}}, "positive shares that add up to 1"),
            ({"spilt": {}}, 'did you mean "split"?'),
        ]
        changes += [({"method": {"model": "ipa", **method}}, [problem]) for method, problem in methods]
        for changed, problems in changes:
            with pytest.raises(sa.PolicyError) as error:
                sa.Policy(**{**ROLES, "method": METHOD, **changed})
            assert all(any(problem in line for line in error.value.problems) for problem in problems), changed

    def test_domains_that_were_read_off_the_data(self, session: sa.Session, tmp_path: Path) -> None:
        """An observed taxonomy that was exported and loaded again counted as declared."""
        session.taxonomies.load("age", sa.Taxonomy.intervals([5]), source="people")
        session.taxonomies.load("sex", sa.Taxonomy.flat(), source="people")
        session.taxonomies.export("sex", tmp_path / "laundered.csv")
        session.taxonomies.load("sex", tmp_path / "laundered.csv")
        with pytest.raises(sa.TaxonomyError, match="read off the data") as error:
            session.anonymize("people", POLICY, "released")
        assert error.value.problems == ('"age"', '"sex"')
        (tmp_path / "stated.csv").write_text("f;*\nm;*\nx;*\n")
        session.taxonomies.load("sex", tmp_path / "stated.csv")
        accepted = POLICY.model_copy(update={"method": METHOD.model_copy(update={"accept_observed_domain": True})})
        release = session.anonymize("people", accepted, "released")
        assert release.report.domains == {"age": "observed", "sex": "stated"}
        conditions = release.guarantee.conditions
        assert any('values of "age" occur' in line for line in conditions)
        [said] = [line for line in conditions if "stated.csv" in line]
        assert '"sex"' in said and "nobody has checked" in said and str(tmp_path) not in said

    def test_a_pure_release_without_a_declared_domain(self, session: sa.Session) -> None:
        pure = sa.Policy(**ROLES, method=sa.IPA(budget=sa.Budget(1)))
        with pytest.raises(sa.TaxonomyError, match="without a taxonomy"):
            session.anonymize("people", pure, "released")
        session.taxonomies.load("illness", sa.Taxonomy.flat(["flu"]))
        with pytest.raises(sa.TaxonomyError, match="values that their taxonomy does not have"):
            session.anonymize("people", pure, "released")
        session.taxonomies.load("illness", sa.Taxonomy.flat(["flu", "cold", "plague"]))
        release = session.anonymize("people", pure, "released")
        assert release.guarantee.budget == sa.Budget(1)

    def test_a_domain_too_large_to_be_numbered(self) -> None:
        names = [f"q{place}" for place in range(8)]
        with make_warehouse(":memory:") as session:
            columns = ", ".join(f"age AS {name}" for name in names)
            session.connection.execute(f"CREATE TABLE wide AS SELECT {columns}, illness FROM people")
            rule = {"kind": "intervals", "widths": [100], "minimum": 0, "maximum": 999}
            rules = {**dict.fromkeys(names, rule), "illness": {"kind": "flat", "values": ["flu", "cold"]}}
            policy = sa.Policy(quasi_identifiers=names, sensitive=["illness"], method=sa.Histogram(), taxonomies=rules)
            with pytest.raises(sa.PolicyError, match="more than can be numbered"):
                session.anonymize("wide", policy, "released", random_source=sa.SeededSource(1))

    def test_places_without_a_ledger(self, session: sa.Session, tmp_path: Path) -> None:
        with make_warehouse(":memory:") as in_memory, pytest.raises(sa.EngineError, match="ledger="):
            in_memory.anonymize("people", POLICY, "released")
        with pytest.raises(sa.PolicyError, match="dataset="):
            session.anonymize("SELECT * FROM people", POLICY, "released")
        release = session.anonymize("SELECT * FROM people", POLICY, "released", dataset="people")
        assert release.report.spent[0].position == 0
        session.close()
        with (
            sa.connect(tmp_path / "w.duckdb", read_only=True) as read_only,
            pytest.raises(sa.EngineError, match="ledger="),
        ):
            read_only.anonymize("people", POLICY, tmp_path / "released.parquet")

    def test_what_is_done_with_privacy_models(self, session: sa.Session, tmp_path: Path) -> None:
        session.anonymize("people", POLICY, "released")
        syntactic = sa.Policy(**ROLES, privacy=[sa.KAnonymity(2)])
        for refused in (
            lambda: session.measure("people", POLICY),
            lambda: session.lattice("people", POLICY),
            lambda: session.partitions.fit("people", POLICY, tmp_path / "fit"),
            lambda: session.anonymize("people", POLICY, "other", time_limit=1),
            lambda: session.anonymize("people", syntactic, "other", dataset="people"),
            lambda: session.anonymize("people", syntactic, "other", random_source=sa.SeededSource(1)),
            lambda: sa.SeededSource(-1),
        ):
            with pytest.raises(sa.PolicyError):
                refused()

    def test_a_level_or_a_type_that_does_not_fit(self, session: sa.Session) -> None:
        at_node = POLICY.model_copy(update={"method": METHOD.model_copy(update={"node": {"age": 9, "sex": 0}})})
        with pytest.raises(sa.PolicyError, match='"age" has levels 0 to 2, so not 9'):
            session.anonymize("people", at_node, "released")
        session.connection.execute("CREATE TABLE measured AS SELECT * REPLACE (random() AS illness) FROM people")
        with pytest.raises(sa.PolicyError, match="cast it to VARCHAR"):
            session.anonymize("measured", POLICY, "released")

    def test_without_opendp(self, session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        opendp.require_opendp.cache_clear()
        monkeypatch.setitem(sys.modules, "opendp.mod", None)
        monkeypatch.setitem(sys.modules, "opendp", None)
        with pytest.raises(sa.PolicyError) as error:
            session.anonymize("people", POLICY, "released")
        assert "pip install '.[dp]'" in str(error.value)
        assert session.ledger.spent("people") == sa.Budget(0)


class TestGuessedTypes:
    """One row decides how a CSV is guessed to be written, and which types columns of it and of frames get."""

    def test_queries_state_types(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "people.csv").write_text("person,age\n1,20\n")
        (tmp_path / "year=1").mkdir()
        engine, place = engine_of(session), tmp_path / "people.csv"
        session.connection.execute(
            f"""
            COPY people TO '{tmp_path}/year=1/people.parquet';
            CREATE VIEW seen AS FROM '{place}';
            CREATE MACRO again() AS TABLE FROM seen;
            """
        )
        stated = "columns = {'person': 'INTEGER', 'age': 'INTEGER'}"
        guessed = {
            f"FROM '{place}'": str(place),
            "seen": str(place),
            "FROM people WHERE person IN (SELECT person FROM again())": str(place),
            f"FROM read_csv('{place}', {stated})": "read_csv",
            f"FROM read_csv('{place}', {stated}, auto_detect = true)": "read_csv",
            f"FROM read_csv_auto('{place}', all_varchar = true)": "read_csv_auto",
            f"FROM read_csv('{place}', types = {{'columns': 'INTEGER'}}, auto_detect = false)": "read_csv",
            f"FROM read_json('{place}')": "read_json",
        }
        for query, named in guessed.items():
            with pytest.raises(sa.PolicyError, match="which a private method would publish; write read_csv") as error:
                engine.unguessed(engine.resolve(query))
            assert error.value.problems == (f"{named} guesses types",), query
        follows_rows = {
            "people": False,
            "FROM people": False,
            f"FROM read_csv('{place}', {stated}, auto_detect = false, header = true)": False,
            f"FROM read_json('{place}', {stated})": False,
            str(tmp_path / "year=1"): True,
            f"FROM '{tmp_path}/year=1/people.parquet'": True,
        }
        for query, wanted in follows_rows.items():
            assert engine.unguessed(engine.resolve(query)).follows_rows is wanted, query

    def test_csv_is_read_in_one_form(self, session: sa.Session, tmp_path: Path) -> None:
        """Nothing of its lines is guessed; what cannot be read so is refused, and not charged."""
        engine, place = engine_of(session), tmp_path / "people.csv"
        texts = {
            "person,age\n007,30.5\n1,TRUE\n": [("007", "30.5"), ("1", "TRUE")],
            'person,age\n"1;2","a\nb"\n,# 3\n': [("1;2", "a\nb"), (None, "# 3")],
        }
        for text, rows in texts.items():
            place.write_text(text)
            found = engine.unguessed(engine.resolve(str(place))).relation.sql("duckdb")
            assert session.connection.execute(f"FROM {found}").fetchall() == rows
        odd = {
            "person;age;sex;illness\n1;20;f;flu\n": ("private methods read CSV in a fixed form", sa.PolicyError),
            "1,20,f,flu\n2,20,f,flu\n": ("is not a header", sa.EngineError),
            "person,age,sex,illness\n1,20,f,flu\n2,20\n": ("line 3 of .* has 2 fields where", sa.EngineError),
        }
        for text, (message, kind) in odd.items():
            place.write_text(text)
            with pytest.raises(kind, match=message):
                session.anonymize(place, POLICY, "released")
            assert session.ledger.spent(str(place)) == sa.Budget(0)
        (tmp_path / "two").mkdir()
        for name, header in (("a", "person,age"), ("b", "age,person")):
            (tmp_path / f"two/{name}.csv").write_text(f"{header}\n1,2\n")
        with pytest.raises(sa.EngineError, match="has other columns than"):
            engine.unguessed(engine.resolve(str(tmp_path / "two")))

    def test_folders_of_parquet_files_are_texts(self, session: sa.Session, tmp_path: Path) -> None:
        """A row more could give any of their columns another type, whatever the types of the others are."""
        engine = engine_of(session)
        for zip_code, year in (("02139", "2024"), ("10001", "2025")):
            place = tmp_path / f"zip={zip_code}/year={year}"
            place.mkdir(parents=True)
            session.connection.execute(f"COPY (SELECT 1 AS age) TO '{place}/people.parquet'")
        found = engine.unguessed(engine.resolve(f"{tmp_path}/**/*.parquet"))
        types = {each.name: each.type for each in engine.describe(found.relation)}
        assert types == {"age": "INTEGER", "zip": "VARCHAR", "year": "VARCHAR"}

    def test_texts_where_the_policy_has_numbers(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "people.csv").write_text("age,sex,illness\n20,f,flu\nSECRET,m,flu\n")
        method = sa.Synthetic(numeric={"age": (0, 100, 10)})
        rules = {"sex": {"kind": "flat", "values": ["f", "m"]}, "illness": {"kind": "flat", "values": ["flu"]}}
        policy = sa.Policy(**ROLES | {"identifiers": []}, method=method, taxonomies=rules)
        with pytest.raises(sa.PolicyError, match="texts where numbers are needed") as error:
            session.anonymize(tmp_path / "people.csv", policy, "released")
        assert error.value.problems == ('"age": 1 text',)


class TestTargetsThatCannotHaveIt:
    """Types and names that a target lacks are known before anything is paid for; so is what could not be drawn."""

    def test_nothing_is_charged(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute(
            """
            CREATE TABLE odd AS
            SELECT person, age, sex, CAST(age AS HUGEINT) AS huge, uuid() AS id, age % 2 AS code, sex AS flag,
                CAST(age AS DECIMAL(9, 2)) AS price, [sex] AS items, illness AS "a b", TIMESTAMP '2026-01-01' AS moment
            FROM people
            """
        )
        columns = [name for name, *_ in session.connection.execute("DESCRIBE odd").fetchall()]
        numeric, rules = {"age": (0, 100)}, {"kind": "flat", "values": ["f", "m", "0", "1", "none"]}
        diffgen = sa.DiffGen(budget=sa.Budget(1), specializations=1, numeric=numeric)
        sets = diffgen.model_copy(update={"sets": ("items",)})
        delta, partitioned = f"delta:{tmp_path}/delta", {"partition_by": ["price"]}
        cases: list[tuple[str, Any, str, dict[str, Any], str]] = [
            ("huge", METHOD, "x.parquet", {}, "Parquet has no types"),
            ("huge", METHOD, "x/", {}, "Parquet has no types"),
            ("id", METHOD, delta, {}, "tables of lakes have no types"),
            ("price", METHOD, f"{delta}2", partitioned, "is partitioned by texts"),
            ("a b", METHOD, delta, {}, "refuse column names"),
            ("moment", METHOD, delta, {}, "refuses times without a zone"),
            ("sex", METHOD, "x.csv", {"csv_formulas": "refuse"}, 'take "quote" or "keep"'),
            ("code", diffgen, "released", {}, "not all values of its taxonomy are"),
            ("flag", sets, "x.csv", {}, "CSV cannot hold"),
        ]
        made = sa.Policy(quasi_identifiers=["age", "sex"], rest="identifier", privacy=[sa.KAnonymity(2)])
        session.anonymize("odd", made, delta)
        for sensitive, method, into, options, message in cases:
            predictors = ["age", "items"] if method is sets else ["age"]
            others = [name for name in columns if name not in (*predictors, sensitive)]
            taxonomies = {"items": rules, sensitive: rules} if method is sets else {sensitive: rules}
            wanted = sa.Policy(
                quasi_identifiers=predictors,
                sensitive=[sensitive],
                identifiers=others,
                method=method,
                taxonomies={} if method is METHOD else taxonomies,
            )
            target = into if into.startswith(delta) or into == "released" else f"{tmp_path}/{into}"
            with pytest.raises(sa.SqlanonError, match=message) as error:
                session.anonymize("odd", wanted, target, replace=True, **options)
            assert not hasattr(error.value, "spent"), sensitive
        assert session.ledger.spent("odd") == sa.Budget(0)

    @pytest.mark.parametrize("kind", ["folder", "delta"])
    def test_a_partitioned_release_without_rows(self, session: sa.Session, tmp_path: Path, kind: str) -> None:
        """It was charged, and then failed as there was no file to read back."""
        place = f"delta:{tmp_path}/empty" if kind == "delta" else f"{tmp_path}/empty/"
        release = session.anonymize("people", POLICY, place, partition_by=["sex"], random_source=FixedNoise(-1000))
        assert release.report.released_rows == 0
        assert release.to_arrow().column_names == ["age", "sex", "illness"]
        session.verify(place, POLICY)
