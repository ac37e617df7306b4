"""What h-ceiling refuses, and values that counterfeits never get."""

import json
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.methods.h_ceiling import ceiling_queries as queries
from tests.stories.test_h_ceiling_release import people_policy, rows_of, run, session_of_people

PAIRS = [{"sex": "m", "disease": "d0"}, {"age": "[0, 5)", "sex": "f", "disease": "d1"}]
OF_ONE = "SELECT * REPLACE ({}) FROM people"

POLICIES: list[tuple[dict[str, Any], str]] = [
    ({"sensitive": ()}, "of one sensitive column for counterfeits, not of 0"),
    ({"sensitive": ("a", "b")}, "of one sensitive column for counterfeits, not of 2"),
    ({"insensitive": ("note",)}, 'cannot publish the insensitive "note"'),
    ({"privacy": [sa.KAnonymity(7)]}, "takes no privacy model but k-anonymity with its own k"),
    ({"suppression_limit": 0.1}, "takes no suppression_limit.*unless fewest_true_rows is above 1"),
    ({"quality": sa.Prec()}, "takes no quality model"),
    ({"row_weight": "w"}, "counts rows, not the weights"),
    ({"individual": "w"}, "counts rows, not the individuals"),
    ({"method": sa.HCeiling(4, fewest_true_rows=2)}, "fewest_true_rows = 2 needs a suppression_limit"),
    (
        {"method": sa.HCeiling(4, fewest_true_rows=2), "suppression_limit": 0.1, "suppression": "mask"},
        "takes no suppression, search or objective",
    ),
]
SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({}, "k: field required"),
    ({"k": 1}, "k: "),
    ({"k": 3, "h": 1.1}, "h: "),
    ({"k": 3, "fill": "x"}, "fill: "),
    ({"k": 4, "fewest_true_rows": 5}, "fewest_true_rows must be at most k"),
    ({"k": 4, "fewest_true_rows": 0}, "fewest_true_rows: "),
    ({"k": 3, "impossible": [{"sex": True}]}, r"impossible\[0\].sex: input should be a valid string"),
    ({"k": 3, "impossible": {"sex": "m"}}, "impossible: must be a list"),
    ({"k": 3, "impossible": PAIRS, "catalog": "strict"}, "impossible is not for a strict catalog"),
]
SOURCES = [
    ("SELECT *, '' AS note FROM people", ['column "note" has no role']),
    (OF_ONE.format("CASE WHEN age > 0 THEN disease END AS disease"), ['"disease" is NULL in 4 rows']),
    (f"{OF_ONE.format('NULL::TEXT AS disease')} LIMIT 3", ['"disease" is NULL in 3 rows', "k is 4, and there are"]),
    (OF_ONE.format("0.5::DOUBLE AS disease"), ['"disease" is DOUBLE']),
    ("FROM people LIMIT 0", ["has no rows"]),
]


def test_policies_and_settings_that_do_not_fit() -> None:
    for options, words in POLICIES:
        roles = {"quasi_identifiers": ["age"], "sensitive": ["disease"], "identifiers": ["w"], **options}
        with pytest.raises(sa.PolicyError, match=words):
            sa.Policy(**{"method": sa.HCeiling(3), **roles})
    for settings, words in SETTINGS:
        with pytest.raises(sa.PolicyError, match=words):
            sa.HCeiling(**settings)


def test_sources_and_requests_that_do_not_fit(tmp_path: Path) -> None:
    """Nothing is written, and what was there stays."""
    requests: list[tuple[dict[str, Any], str]] = [
        ({"node": {"age": 0, "sex": 0}}, "takes no node: bound its search"),
        ({"dataset": "x"}, "dataset"),
    ]
    with session_of_people() as session:
        session.connection.execute("CREATE TABLE released AS FROM people")
        for source, problems in SOURCES:
            with pytest.raises(sa.PolicyError) as refused:
                session.anonymize(source, people_policy(), "released", replace="anything")
            assert len(refused.value.problems or problems) == len(problems)
            assert all(problem in str(refused.value) for problem in problems)
        for asked, words in requests:
            with pytest.raises(sa.PolicyError, match=words):
                session.anonymize("people", people_policy(), "released", replace="anything", **asked)
        with pytest.raises(sa.PolicyError, match="partitions need full domains"):
            session.partitions.fit("people", people_policy(), tmp_path / "fit.json")
        with pytest.raises(sa.EngineError, match="give the names of tables"):
            session.anonymize("people", people_policy(), tmp_path / "x.parquet", tables={"counterfeits": "invented"})
        renamed = sa.Policy(quasi_identifiers=["age", "sex"], sensitive=["Counterfeits"], method=sa.HCeiling(4))
        source = "SELECT * RENAME (disease AS Counterfeits) FROM people"
        with pytest.raises(sa.PolicyError, match='"Counterfeits"'):
            session.anonymize(source, renamed, "other", tables={"counterfeits": "invented"})
        assert {row[0] for row in session.connection.sql("SHOW TABLES").fetchall()} == {"people", "released"}
        assert session.connection.sql("SELECT count(*) FROM released").fetchall() == [(40,)]


def test_what_no_node_can_be() -> None:
    policies = [
        (people_policy(h=0.2).model_copy(update={"minimum_levels": {"sex": 1}}), r"h = 0.2.*\n.*degree of 0.5"),
        (
            people_policy(fewest_true_rows=2, suppression_limit=0.1),
            r"suppresses more than the 4 rows allowed.*\n.*leaves out 6 of 40 rows",
        ),
    ]
    with session_of_people() as session:
        for policy, words in policies:
            with pytest.raises(sa.UnsatisfiableError, match=words):
                run(session, policy)


def test_more_unknown_values_than_rows_may_be_suppressed() -> None:
    policy = people_policy(fewest_true_rows=2, suppression_limit=0.05).changed({"unknown": {"sex": "suppress"}})
    with session_of_people() as session, pytest.raises(sa.UnsatisfiableError, match=r"4 of 40 rows.*2 may be"):
        session.anonymize(OF_ONE.format("CASE WHEN age > 0 THEN sex ELSE 'x' END AS sex"), policy, "released")


def test_a_release_that_lost_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    with session_of_people() as session:
        session.connection.execute("CREATE TABLE other AS FROM people")
        right = queries.filled_cells

        def short(*given: Any) -> Any:
            step = right(*given)
            return type(step)(step.makes, step.query.limit(19), step.purpose)

        monkeypatch.setattr(queries, "filled_cells", short)
        with pytest.raises(sa.VerificationError, match="rows where 80 were to be released"):
            session.anonymize("people", people_policy(), "other", replace="anything")
        assert session.connection.sql("SELECT count(*) FROM other").fetchall() == [(40,)]


class TestImpossible:
    def invented(self, session: sa.Session, policy: sa.Policy, **tables: str) -> set[Any]:
        """What counterfeits have, and whether the release says what is promised of impossible combinations."""
        release = run(session, policy, tables={"counterfeits": "invented", **tables}, random_source=sa.SeededSource(1))
        assert isinstance(policy.method, sa.HCeiling)
        pairs = [*policy.method.impossible]
        warns = any("2 combinations of the policy" in text for text in release.guarantee.not_covered)
        note = json.loads(session.provenance("other") or "")["sqlanon"]
        assert (warns, note["policy"]["method"].get("impossible", [])) == (bool(pairs), pairs)
        return set(session.connection.sql("SELECT age, sex, disease FROM invented").fetchall())

    def test_no_counterfeit_has_one(self) -> None:
        with session_of_people() as session:
            free, bound = (self.invented(session, people_policy(impossible=pairs)) for pairs in ([], PAIRS))
            assert any((sex, disease) == ("m", "d0") for _, sex, disease in free)
            assert not any((sex, disease) == ("m", "d0") for _, sex, disease in bound)
            assert not any((sex, disease) == ("f", "d1") and int(age) < 5 for age, sex, disease in bound)
            # True rows that have one are there.
            true, shown = (rows_of(session, "sex, disease", name)["m", "d0"] for name in ("people", "other"))
            assert true == shown > 0
            found = self.invented(session, people_policy(catalog="paper", impossible=PAIRS), catalog="listed")
            assert found and not any((sex, disease) == ("m", "d0") for _, sex, disease in found)
            # A class with a more general label is free.
            general = people_policy(k=30, h=0.6, impossible=PAIRS).model_copy(update={"minimum_levels": {"sex": 1}})
            assert {"d0", "d1"} <= {disease for *_, disease in self.invented(session, general)}

    def test_it_is_explained(self) -> None:
        with session_of_people() as session:
            policy = people_policy(catalog="paper", impossible=PAIRS)
            purposes = [step.purpose for step in session.explain("people", policy)]
        assert purposes.index("values that classes never get") < purposes.index("counterfeits")
        assert purposes.index("the release") < purposes.index("the catalog")

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
        assert people_policy().sha256() == people_policy(impossible=[]).sha256()
        assert people_policy().sha256() != people_policy(impossible=PAIRS).sha256()

    def test_columns_that_do_not_fit(self) -> None:
        with pytest.raises(sa.PolicyError) as refused:
            people_policy(
                impossible=[{"sexx": "m"}, {"sex": "m"}, {"disease": "d0"}, {}, {"sex": "m", "disease": "d0"}]
            )
        assert [problem[:13] for problem in refused.value.problems] == [
            f"impossible[{place}]" for place in (0, 0, 0, 1, 2, 3, 3)
        ]

    def test_labels_that_are_none(self) -> None:
        """All at once, with what else does not fit."""
        source = OF_ONE.format("CASE WHEN age > 0 THEN disease END AS disease")
        entries = [{"sex": "M", "disease": "d0"}, *PAIRS, {"sex": "x", "age": "4", "disease": "d0"}]
        with session_of_people() as session, pytest.raises(sa.PolicyError) as refused:
            session.anonymize(source, people_policy(impossible=entries), "released")
        assert refused.value.problems == (
            '"disease" is NULL in 4 rows: give them a value in a view or a query, or leave them out',
            'impossible[0]: the taxonomy of "sex" has no such label',
            'impossible[3]: the taxonomy of "sex" has no such label',
        )

    @pytest.mark.parametrize("catalog", ["none", "paper"])
    def test_classes_without_any_value(self, catalog: str) -> None:
        """The refusal counts the classes and does not name them."""
        entries = [{"sex": "m", "disease": f"d{number}"} for number in range(5)]
        tables = {"catalog": "listed"} if catalog == "paper" else {}
        with session_of_people() as session, pytest.raises(sa.UnsatisfiableError) as refused:
            run(session, people_policy(impossible=entries, catalog=catalog), tables=tables)
        assert refused.value.problems == ("at (0, 0) 10 classes that lack rows never get any value that the table has",)
