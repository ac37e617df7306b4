"""Policies of linked tables: what is read, what is refused, and policies of the paths of tables."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.model.policy.linked_policy import given_policy
from sqlanon.model.policy.policy import policy_of
from sqlanon.model.taxonomy.rules import Columns, Dates, FileOfTaxonomy

PATIENTS: dict[str, Any] = {
    "row_key": "patient_id",
    "quasi_identifiers": ["born", "sex", "zip"],
    "identifiers": ["name"],
}
VISITS: dict[str, Any] = {
    "parent": "patients",
    "key": "patient_id",
    "quasi_identifiers": ["day", "department"],
    "sensitive": ["diagnosis"],
    "taxonomies": {"day": "dates"},
}
DRUGS: dict[str, Any] = {"parent": "visits", "key": "visit_id", "quasi_identifiers": ["drug"]}
TREES = [sa.KAnonymity(5)]
TOML = """
privacy = [{ model = "known-rows", k = 5, m = 1 }]
suppression_limit = 0.05
[tables.patients]
row_key = "patient_id"
quasi_identifiers = ["born", "sex", "zip"]
identifiers = ["name"]
[tables.visits]
parent = "patients"
key = "patient_id"
at_most = 20
suppression_limit = 0.10
quasi_identifiers = ["day", "department"]
sensitive = ["diagnosis"]
[tables.visits.taxonomies]
day = "dates"
department = "departments.csv"
"""


def tables(**changes: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Patients and visits, with changes by table; other tables are added."""
    known = {"patients": PATIENTS, "visits": VISITS}
    return {name: {**known.get(name, {}), **changes.get(name, {})} for name in {**known, **changes}}


def policy(given: dict[str, dict[str, Any]] | None = None, **settings: Any) -> sa.LinkedPolicy:
    roles = {name: sa.TableRoles(**each) for name, each in (given or tables()).items()}
    return sa.LinkedPolicy(tables=roles, **({"privacy": [sa.KnownRows(5, m=1)]} | settings))


def problems(make: Callable[[], object]) -> tuple[str, ...]:
    with pytest.raises(sa.PolicyError) as caught:
        make()
    return caught.value.problems


class TestReading:
    def test_a_file_is_the_value(self, tmp_path: Path) -> None:
        (tmp_path / "linked.toml").write_text(TOML)
        found = sa.LinkedPolicy.from_toml(tmp_path / "linked.toml")
        assert found == given_policy(tmp_path / "linked.toml")
        assert found.root == "patients"
        assert (found.k, found.known_rows) == (5, sa.KnownRows(5, m=1))
        assert (found.limit("patients"), found.limit("visits")) == (0.05, 0.10)
        visits = found.tables["visits"]
        assert visits.at_most == 20
        # Files of labels lie beside the policy.
        file = FileOfTaxonomy(file="departments.csv", folder=str(tmp_path))
        assert visits.taxonomies == {"day": Dates(), "department": file}
        assert found.path_policy("visits").taxonomies["visits.department"] == file

    def test_a_file_with_problems_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "linked.toml"
        path.write_text(TOML.replace('parent = "patients"', 'parent = "patient"'))
        with pytest.raises(sa.PolicyError, match=re.escape(str(path))) as caught:
            given_policy(str(path))
        assert caught.value.problems == (
            'table "visits": its parent "patient" is not among the tables; did you mean "patients"?',
        )

    def test_a_mapping_is_taken(self) -> None:
        found = given_policy(
            {"tables": tables(), "privacy": [{"model": "k-anonymity", "k": 5}], "method": "full-domain"}
        )
        assert isinstance(found, sa.LinkedPolicy)
        assert (found.known_rows, found.k) == (None, 5)

    def test_a_record_is_read_again(self) -> None:
        first = policy(tables(patients={"suppression_limit": 0.05}))
        again = given_policy(first.model_dump(mode="json"))
        assert again == first
        assert again.sha256() == first.sha256() != policy().sha256()

    def test_one_table_is_a_policy(self) -> None:
        one = sa.Policy(quasi_identifiers=["age"], privacy=TREES)
        assert given_policy(one) == one
        assert given_policy({"quasi_identifiers": ["age"], "privacy": TREES}) == one

    def test_names_are_spelled_like_the_roles(self) -> None:
        visits = {
            "parent": "PATIENTS",
            "taxonomies": {"DAY": "dates"},
            "order": ["Day"],
            "at_most": 3,
            "above": "first",
        }
        found = policy(
            tables(visits=visits),
            privacy=[sa.KAnonymity(5), sa.AlphaKAnonymity("Visits.DIAGNOSIS", alpha=0.5, k=5)],
            maximum_levels={"VISITS.day": 2},
            quality=sa.LM(weights={"Patients.Zip": 2}),
        )
        assert found.tables["visits"].parent == "patients"
        assert [*found.tables["visits"].taxonomies] == ["day"] == [*found.tables["visits"].order]
        assert found.privacy[1] == sa.AlphaKAnonymity("visits.diagnosis", alpha=0.5, k=5)
        assert (found.maximum_levels, found.quality.weights) == ({"visits.day": 2}, {"patients.zip": 2})

    def test_forty_tables_take_less_than_a_second(self) -> None:
        columns = [f"column{number}" for number in range(40)]
        many = {
            f"table{number}": {"parent": "patients", "key": "patient_id", "quasi_identifiers": columns[:10]}
            | {"sensitive": columns[10:], "taxonomies": dict.fromkeys(columns[:10], "dates")}
            for number in range(40)
        }
        levels = {f"{name}.{column}": 1 for name in many for column in columns[:10]}
        started = time.process_time()
        found = policy({"patients": PATIENTS, **many}, maximum_levels=levels)
        assert time.process_time() - started < 1
        assert len(found.all_roles.quasi_identifiers) == 403


class TestOneTable:
    @pytest.mark.parametrize("make", [lambda: sa.Policy(tables=tables()), lambda: policy_of({"tables": tables()})])  # type: ignore[call-arg]
    def test_its_policy_has_no_tables(self, make: Callable[[], object]) -> None:
        [found] = problems(make)
        assert "sa.LinkedPolicy" in found

    def test_a_policy_of_several_is_not_one(self) -> None:
        with pytest.raises(sa.PolicyError, match=r"takes a policy of one table.*sa\.LinkedPolicy"):
            policy_of(policy())  # type: ignore[arg-type]

    @pytest.mark.parametrize("model", [sa.KnownRows(5), {"model": "known-rows", "k": 5}])
    def test_known_rows_are_refused_with_what_each_counts(self, model: Any) -> None:
        [found] = problems(lambda: sa.Policy(quasi_identifiers=["age"], privacy=[model]))
        assert found.startswith('privacy[0]: "known-rows" counts the persons who have some known rows')
        assert "sa.LinkedPolicy" in found and "k-anonymity" in found


STRUCTURE = [
    (tables(visits={"parent": None, "key": None}),
     ['tables "patients" and "visits" have no parent', 'table "visits" needs a row_key; name the']),
    (tables(patients={"parent": "visits", "key": "x"}, visits={"row_key": "v"}),
     ["no table is without a parent", 'tables "patients" and "visits" are parents of each other in a circle']),
    (tables(drugs={**DRUGS, "parent": "drugs", "row_key": "d"}), ['table "drugs" is its own parent']),
    (tables(visits={"parent": "patients "}), ['table "visits": its parent "patients " is not among the tables; did']),
    (tables(visits={"key": None}), ['table "visits" needs a key: the column with the row_key of its parent']),
    (tables(patients={"row_key": None}), ['table "patients" needs a row_key, since others hang from it: "visits"']),
    (tables(patients={"key": "clinic"}), ['table "patients" has a key, "clinic", but no parent']),
    (tables(drugs=DRUGS), ['table "visits" needs a row_key, since others hang from it: "drugs"']),
    (tables(visits={"key": ["a", "b"]}), ["key: must be one column: make one of several in a view"]),
    (tables(Visits={**VISITS, "sensitive": []}), ['tables "visits" and "Visits" differ in case alone']),
    (tables(visits={"identifiers": ["DAY"]}), ['column "visits.DAY" has two roles: quasi_identifiers and identifiers']),
    (tables(visits={"sensitive": ["Patient_ID"]}), ['column "visits.patient_id" has two roles: key and sensitive']),
    (tables(patients={"identifiers": ["patient_id"]}), ['"patients.patient_id" has two roles: row_key and']),
    (tables(patients={"quasi_identifiers": []}), ['table "patients" needs quasi_identifiers']),
    (tables(visits={"above": "first", "at_most": 3}), ['above = "first" needs an order']),
    (tables(visits={"above": "first", "order": ["day"]}), ['above = "first" needs at_most']),
    (tables(visits={"order": ["day"], "at_most": 3}), ['order is for above = "first"']),
    (tables(visits={"above": "first", "order": ["dya"], "at_most": 3}), ['order names "dya", which has no role there']),
    (tables(visits={"at_most": 0}), ["at_most: input should be greater than or equal to 1"]),
    (tables(patients={"at_most": 3, "orphans": "drop"}), ['has no parent, and takes no at_most and orphans']),
    (tables(visits={"unknown": "suppress"}), ['table "visits": unknown = "suppress" is not for several tables yet']),
    (tables(visits={"unknown": {"dya": "top"}}), ['unknown: the policy uses no taxonomy of "visits.dya"; did']),
    (tables(visits={"taxonomies": {"dya": "dates"}}), ['taxonomies: "visits.dya" is neither a quasi-identifier']),
    (tables(visits={"top_coding": {"cost": 5}}), ['top_coding: "visits.cost" is neither']),
    (tables(visits={"bottom_coding": {"day": 5}, "top_coding": {"day": 4}}), ['"visits.day" has the bottom 5']),
    (tables(visits={"identifiers": ["area"], "insensitive": ["region"],
                    "taxonomies": {"department": {"kind": "columns", "columns": ["area", "region"]}}}),
     ['"visits.region" has labels of "visits.department", and would be released unchanged']),
    ({"a.b": PATIENTS, "a": {"parent": "a.b", "key": "x", "sensitive": ["b.zip"]}},
     ['tables "a.b" and "a" have one name of a column, "a.b.zip"']),
]  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), STRUCTURE)
def test_tables_that_do_not_fit_are_refused(given: dict[str, dict[str, Any]], expected: list[str]) -> None:
    found = problems(lambda: given_policy({"tables": given, "privacy": [sa.KnownRows(5)]}))
    assert len(found) == len(expected), found
    for wanted in expected:
        assert any(wanted in problem for problem in found), found


SEVERAL = 'AlphaKAnonymity("visits.diagnosis", alpha=1/3, k=5)'
SETTINGS: list[tuple[dict[str, Any], list[str]]] = [
    ({"minimum_levels": {"visits.dya": 1}}, ['"visits.dya" is not a quasi-identifier; did you mean "visits.day"?']),
    ({"maximum_levels": {"day": 1}}, ['maximum_levels: "day" is not a quasi-identifier']),
    ({"minimum_levels": {"visits.day": 2}, "maximum_levels": {"visits.day": 1}}, ['minimum level of "visits.day", 2']),
    ({"quality": sa.LM(weights={"visits.diagnosis": 1})}, ['quality.weights: "visits.diagnosis" is not a quasi-id']),
    ({"quality": sa.Entropy()}, ['quality: not for several tables yet: "entropy"; take "lm"']),
    ({"quality": {"model": "prec"}}, ['quality: not for several tables yet: "prec"']),
    ({"method": "mondrian"}, ['method: not for several tables yet: "mondrian"; take "full-domain" or "local-rec']),
    ({"method": sa.IPA()}, ['method: not for several tables yet: "ipa"']),
    ({"method": sa.FullDomain(node={"day": 1})}, ["method: takes no node for several tables yet"]),
    ({"method": {1: 2}}, ["method: takes no 1 for several tables yet"]),
    ({"method": "fuldomain"}, ["method: input should be 'full-domain' or 'local-recoding'"]),
    ({"privacy": []}, ["privacy: needs at least one"]),
    ({"privacy": sa.KAnonymity(5)}, ["privacy: must be a list"]),
    ({"privacy": [sa.KnownRows(5), sa.KAnonymity(5)]}, ["cannot be combined with k-anonymity (k = 5)"]),
    ({"privacy": [sa.KnownRows(5), sa.KnownRows(6)]}, ["repeats another model"]),
    ({"privacy": [sa.KAnonymity(5), sa.KAnonymity(6)]}, ["repeats another model"]),
    ({"privacy": [sa.KnownRows(5), sa.AlphaKAnonymity("visits.diagnosis", alpha=0.5, k=5)]},
     ["the share of persons with a value can become larger where rows become alike"]),
    ({"privacy": [sa.AlphaKAnonymity("diagnosis", alpha=0.5, k=5)]},
     ['"diagnosis" is not a sensitive column of a table, as "visits.diagnosis" would be; did you mean "visits.diagn']),
    ({"privacy": [sa.KAnonymity(5), sa.DeltaDisclosure("visits.day", 1)]}, ['"visits.day" is not a sensitive column']),
    ({"privacy": [sa.BetaLikeness("visits.diagnosis", 1)]}, ["bounds shares alone"]),
    ({"privacy": [{"model": "known-rows", "k": 5, "m": 3}]}, ["privacy[0].m: must be 1 or 2"]),
    ({"privacy": [{"model": "known-rows", "k": 5, "m": 0}]}, ["privacy[0].m: must be 1 or 2"]),
    ({"privacy": [{"model": "known-rows", "k": 5, "m": True}]}, ["privacy[0].m: must be 1 or 2"]),
    ({"privacy": [{"model": "known-rows", "k": 1}]}, ["privacy[0].k: input should be greater"]),
    ({"privacy": [sa.DistinctLDiversity("visits.diagnosis", l=2)]}, [SEVERAL]),
    ({"privacy": [sa.EntropyLDiversity("visits.diagnosis", l=2)]}, [SEVERAL]),
    ({"privacy": [sa.RecursiveCLDiversity("visits.diagnosis", c=2, l=2)]}, [SEVERAL]),
    ({"privacy": [sa.TCloseness("visits.diagnosis", t=0.2)]}, [SEVERAL]),
    ({"privacy": [sa.MConcealing(0.5, {"x": 0.1})]}, ['"m-concealing" is not for several tables yet']),
    *(
        ({"privacy": [{"model": model}]}, [f'"{model}" is not for several tables yet; take KnownRows(5, m=1)'])
        for model in ("k-map", "delta-presence", "no-attack", "profitability", "sample-uniqueness", "average-risk",
                      "population-uniqueness", "individual-risk", "expected-reidentifications")
    ),
    *(
        ({name: "x"}, [f"{name}: not for several tables yet"])
        for name in ("individual", "row_weight", "earlier", "pseudonyms", "suppression", "fit", "rest", "node")
    ),
    ({"quasi_identifiers": ["day"]}, ["quasi_identifiers: unknown key here; it is a key of"]),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "expected"), SETTINGS)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], expected: list[str]) -> None:
    found = problems(lambda: policy(**settings))
    assert len(found) == len(expected), found
    for wanted in expected:
        assert any(wanted in problem for problem in found), found


def test_settings_of_a_table_are_refused_in_their_place() -> None:
    [found] = problems(lambda: given_policy({"tables": tables(visits={"pseudonyms": ["x"]}), "privacy": TREES}))
    assert found.startswith("tables.visits.pseudonyms: not for several tables yet: keys are drawn anew")


def test_places_of_problems_have_no_kinds() -> None:
    day = {"kind": "intervals", "widths": ["wide"]}
    [found] = problems(lambda: given_policy({"tables": tables(visits={"taxonomies": {"day": day}}), "privacy": TREES}))
    assert found == "tables.visits.taxonomies.day.widths[0]: must be a number"


def test_two_known_rows_need_tables_that_hang_from_persons() -> None:
    several = tables(stays={"parent": "patients", "key": "patient_id", "quasi_identifiers": ["ward"]})
    policy(several, privacy=[sa.KnownRows(5, m=2)]).check_run()
    deeper = tables(visits={"row_key": "visit_id"}, drugs=DRUGS)
    [found] = problems(lambda: policy(deeper, privacy=[sa.KnownRows(5, m=2)]).check_run())
    assert "m = 2" in found and '"drugs"' in found
    trees = policy(deeper, privacy=TREES)
    trees.check_run()
    assert trees.path("drugs") == ("patients", "visits", "drugs")


def test_the_limit_of_persons_is_given_once() -> None:
    both = tables(patients={"suppression_limit": 0.1})
    [found] = problems(lambda: policy(both, suppression_limit=0.05))
    assert found.startswith("suppression_limit of persons is given twice: 0.05 in the policy, and 0.1 in table")
    assert policy(both).limit("patients") == 0.1


def test_all_problems_are_listed_at_once() -> None:
    wrong = tables(patients={"row_key": None}, visits={"parent": "patient", "taxonomies": {"dya": "dates"}})
    found = problems(lambda: policy(wrong, maximum_levels={"visits.dya": 1}, privacy=[*TREES, sa.KnownRows(5)]))
    assert len(found) == 5


class TestPaths:
    def test_a_path_has_the_columns_above(self) -> None:
        visits = {
            "row_key": "visit_id", "identifiers": ["area"], "top_coding": {"diagnosis": 9}, "unknown": "top",
            "taxonomies": {"department": {"kind": "columns", "columns": ["area"]}},
        }  # fmt: skip
        found = policy(tables(visits=visits, drugs=DRUGS), suppression_limit=0.05, maximum_levels={"visits.day": 2})
        own = found.path_policy("visits")
        assert own.quasi_identifiers == (
            "patients.born", "patients.sex", "patients.zip", "visits.day", "visits.department",
        )  # fmt: skip
        assert own.taxonomies["visits.department"] == Columns(columns=("visits.area",))
        assert own.unknown == {"visits.day": "top", "visits.department": "top"}
        assert own.top_coding == {"visits.diagnosis": 9}
        assert own.individual == "patients.patient_id"
        assert (own.sensitive, own.maximum_levels) == (("visits.diagnosis",), {"visits.day": 2})
        # Sensitive columns above are not in the path of a table.
        below = found.path_policy("drugs")
        assert below.quasi_identifiers[-1] == "drugs.drug"
        assert (below.sensitive, below.top_coding) == ((), {})
        persons = found.path_policy("patients")
        assert (persons.individual, persons.suppression_limit) == (None, 0.05)

    def test_columns_of_sources_are_spelled_as_there(self) -> None:
        found = policy(maximum_levels={"visits.day": 2}, quality=sa.LM(weights={"visits.day": 2}))
        visits = found.tables["visits"].spelled_like(["PATIENT_ID", "Day", "department", "diagnosis"])
        changed = found.changed({"tables": {**found.tables, "visits": visits}})
        assert (changed.maximum_levels, changed.quality.weights) == ({"visits.Day": 2}, {"visits.Day": 2})
        assert [*changed.tables["visits"].taxonomies] == ["Day"]
        assert changed.path_policy("visits").maximum_levels == {"visits.Day": 2}
