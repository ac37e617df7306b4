"""What h-ceiling refuses, and values that a class cannot have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.methods.h_ceiling import queries
from tests.stories.test_h_ceiling import people_policy, session_of_people

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
