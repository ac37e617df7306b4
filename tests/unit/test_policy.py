"""Policies as values: construction, TOML, JSON Schema, and errors that list every problem."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

import sqlanon as sa

FULL = """
quasi_identifiers = ["age", "sex", "zip"]
sensitive = ["diagnosis"]
identifiers = ["ssn"]
insensitive = ["ward"]
suppression_limit = 0.05
suppression = "mask"
search = "exhaustive"

[quality]
model = "dm-star"

[[privacy]]
model = "k-anonymity"
k = 5

[[privacy]]
model = "distinct-l-diversity"
column = "diagnosis"
l = 3

[[privacy]]
model = "entropy-l-diversity"
column = "diagnosis"
l = 2.5
"""


def policy(**changes: Any) -> sa.Policy:
    values: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": ["diagnosis"], "privacy": [sa.KAnonymity(2)]}
    return sa.Policy(**(values | changes))


def problems(**changes: Any) -> tuple[str, ...]:
    with pytest.raises(sa.PolicyError) as caught:
        policy(**changes)
    return caught.value.problems


class TestConstruction:
    def test_defaults(self) -> None:
        found = sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2)])
        assert found.quality == sa.Entropy()
        assert (found.suppression_limit, found.suppression, found.search) == (0, "drop", "optimal")
        assert found.sensitive == found.identifiers == found.insensitive == ()

    def test_the_example_of_the_interface(self) -> None:
        found = sa.Policy(
            quasi_identifiers=["age", "sex", "zip"],
            sensitive=["diagnosis"],
            identifiers=["ssn"],
            insensitive=[],
            privacy=[sa.KAnonymity(5)],
            quality=sa.Entropy(),
            suppression_limit=0.05,
            search="optimal",
        )
        assert found.k == 5
        assert found.released_columns == {"age", "sex", "zip", "diagnosis"}

    def test_models_take_positions_and_names(self) -> None:
        assert sa.KAnonymity(5) == sa.KAnonymity(k=5)
        assert sa.DistinctLDiversity("a", 2) == sa.DistinctLDiversity(column="a", l=2)
        assert sa.EntropyLDiversity("a", 2) == sa.EntropyLDiversity(column="a", l=2.0)
        assert str(sa.EntropyLDiversity("a", 2.5)) == 'entropy l-diversity of "a" (l = 2.5)'

    @pytest.mark.parametrize("model", [sa.Prec, sa.DMStar, sa.Entropy, sa.LM, sa.NCP, sa.DM, sa.AECS])
    def test_quality_models_take_nothing(self, model: type[sa.Prec]) -> None:
        assert policy(quality=model()).quality == model()
        with pytest.raises(TypeError):
            model(1)  # type: ignore[call-arg]
        with pytest.raises(sa.PolicyError, match="unknown key"):
            model(weight=2)

    def test_policies_are_frozen_and_hashable_values(self) -> None:
        found = policy()
        with pytest.raises(ValidationError):
            found.search = "exhaustive"
        assert found == policy()
        assert hash(found) == hash(policy())

    def test_k_is_the_largest_asked_for(self) -> None:
        assert policy().k == 2
        assert policy(privacy=[sa.EntropyLDiversity("diagnosis", 2)]).k == 1

    def test_protected_columns(self) -> None:
        models = [sa.DistinctLDiversity("b", 2), sa.EntropyLDiversity("a", 2), sa.EntropyLDiversity("b", 2)]
        assert policy(sensitive=["a", "b", "c"], privacy=models).protected_columns == ("b", "a")


class TestProblems:
    @pytest.mark.parametrize("k", [1, 0, -1, 2.5, "5", True, None])
    def test_a_k_that_is_none(self, k: Any) -> None:
        with pytest.raises(sa.PolicyError, match="k: "):
            sa.KAnonymity(k)

    def test_a_k_of_1_says_what_is_wanted(self) -> None:
        with pytest.raises(sa.PolicyError, match="greater than or equal to 2"):
            sa.KAnonymity(1)

    @pytest.mark.parametrize("l", [1, 0, 2.5, "2"])
    def test_distinct_l_is_a_number_of_values(self, l: Any) -> None:  # noqa: E741
        with pytest.raises(sa.PolicyError, match="l: "):
            sa.DistinctLDiversity("a", l)

    @pytest.mark.parametrize("l", [1, 0.5, float("nan"), float("inf")])
    def test_entropy_l_is_above_1(self, l: Any) -> None:  # noqa: E741
        with pytest.raises(sa.PolicyError, match="l: "):
            sa.EntropyLDiversity("a", l)

    @pytest.mark.parametrize("limit", [-0.1, 1.1, 5, float("nan"), float("inf"), "many"])
    def test_the_limit_is_a_share(self, limit: Any) -> None:
        assert any(line.startswith("suppression_limit: ") for line in problems(suppression_limit=limit))

    def test_all_of_them_come_at_once(self) -> None:
        found = problems(quasi_identifiers=[], privacy=[], suppression_limit=2, search="best", suppresion="mask")
        assert len(found) == 5
        text = "\n".join(found)
        assert "quasi_identifiers: needs at least one" in text
        assert "privacy: needs at least one" in text
        assert "suppression_limit" in text
        assert "'optimal', 'exhaustive' or 'ola'" in text
        assert 'suppresion: unknown key; did you mean "suppression"?' in text

    def test_names_that_clash(self) -> None:
        found = "\n".join(problems(sensitive=["AGE"], identifiers=["x", "x"], insensitive=["Anon_y"]))
        assert 'column "AGE" has two roles: quasi_identifiers and sensitive' in found
        assert 'column "x" has two roles: identifiers and identifiers' in found
        assert '"Anon_y" starts with the reserved "anon_"' in found

    def test_a_model_of_a_column_that_is_not_sensitive(self) -> None:
        [problem] = problems(privacy=[sa.DistinctLDiversity("ward", 2)])
        assert 'needs "ward" among the sensitive columns' in problem

    def test_two_models_of_a_kind(self) -> None:
        [problem] = problems(privacy=[sa.KAnonymity(2), sa.KAnonymity(3)])
        assert "keep the stricter one" in problem

    def test_a_string_is_no_list_of_columns(self) -> None:
        assert any(line.startswith("quasi_identifiers: ") for line in problems(quasi_identifiers="age"))


class TestToml:
    def test_all_of_it(self, tmp_path: Path) -> None:
        (tmp_path / "p.toml").write_text(FULL)
        found = sa.Policy.from_toml(tmp_path / "p.toml")
        assert found == sa.Policy(
            quasi_identifiers=["age", "sex", "zip"],
            sensitive=["diagnosis"],
            identifiers=["ssn"],
            insensitive=["ward"],
            privacy=[
                sa.KAnonymity(5),
                sa.DistinctLDiversity("diagnosis", 3),
                sa.EntropyLDiversity("diagnosis", 2.5),
            ],
            quality=sa.DMStar(),
            suppression_limit=0.05,
            suppression="mask",
            search="exhaustive",
        )
        assert sa.Policy.from_toml(str(tmp_path / "p.toml")).sha256() == found.sha256()

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"k = ", "not valid TOML"),
            (b"\xff\xfe", "not valid TOML"),
            (b"[quality]\nmodel = 'entropi'\n", 'did you mean "entropy"?'),
            (b"[quality]\nkind = 'entropy'\n", 'has no "model"'),
            (b"[[privacy]]\nmodel = 'k-anonimity'\nk = 2\n", 'did you mean "k-anonymity"?'),
            (b"[[privacy]]\nmodel = 'k-anonymity'\nkay = 2\n", "privacy[0].kay: unknown key"),
            (b"[[privacy]]\nmodel = 'k-anonymity'\nk = 1\n", "privacy[0].k: "),
            (b"[[privacy]]\nmodel = 'k-anonymity'\n", "privacy[0].k: field required"),
            (b"quasi_identifier = ['age']\n", 'quasi_identifier: unknown key; did you mean "quasi_identifiers"?'),
            (b"", "quasi_identifiers: needs at least one"),
        ],
    )
    def test_what_is_wrong(self, tmp_path: Path, content: bytes, message: str) -> None:
        path = tmp_path / "p.toml"
        path.write_bytes(content)
        with pytest.raises(sa.PolicyError) as caught:
            sa.Policy.from_toml(path)
        assert message in str(caught.value)
        assert str(path) in str(caught.value)

    def test_no_file(self, tmp_path: Path) -> None:
        for path in (tmp_path / "none.toml", tmp_path):
            with pytest.raises(sa.PolicyError, match="cannot be read"):
                sa.Policy.from_toml(path)


class TestDocuments:
    def test_json_round_trip(self, tmp_path: Path) -> None:
        (tmp_path / "p.toml").write_text(FULL)
        found = sa.Policy.from_toml(tmp_path / "p.toml")
        assert sa.Policy.model_validate_json(found.model_dump_json()) == found
        assert sa.Policy(**json.loads(found.model_dump_json())) == found

    def test_schema(self) -> None:
        schema = sa.Policy.model_json_schema()
        assert set(schema["required"]) == {"quasi_identifiers", "privacy"}
        assert schema["additionalProperties"] is False
        assert set(schema["properties"]) == set(sa.Policy.model_fields)
        assert schema["$defs"]["KAnonymity"]["properties"]["k"]["minimum"] == 2

    def test_the_hash_is_of_the_meaning(self) -> None:
        assert policy().sha256() == policy(suppression_limit=0).sha256() == policy(quality=None).sha256()
        assert policy().sha256() != policy(suppression_limit=0.1).sha256()


class TestLimit:
    @pytest.mark.parametrize(
        ("limit", "row_count", "allowed"),
        [
            (0, 10, 0),
            (1, 10, 10),
            (0.1, 30, 3),
            (0.29, 100, 29),
            (0.57, 100, 57),
            (0.07, 100, 7),
            (1e-7, 10**7, 1),
            (1e-7, 10**7 - 1, 0),
            (0.999, 1, 0),
            (np.float64(0.29), 100, 29),
            (np.float32(0.5), 100, 50),
        ],
    )
    def test_it_is_the_decimal_that_is_written(self, limit: float, row_count: int, allowed: int) -> None:
        assert policy(suppression_limit=limit).allowed_rows(row_count) == allowed


class TestColumns:
    def test_they_match_one_to_one(self) -> None:
        policy(identifiers=["ssn"]).check_columns(["ssn", "diagnosis", "age"], "table")

    def test_all_gaps_come_at_once(self) -> None:
        with pytest.raises(sa.PolicyError) as caught:
            policy(identifiers=["snn"]).check_columns(["ssn", "diagnosis", "age", "ward"], "the table")
        assert "does not fit the table" in str(caught.value)
        assert caught.value.problems == (
            'column "snn" has a role but is not in the source; did you mean "ssn"?',
            'column "ssn" has no role: make it a quasi_identifier, sensitive, identifier or insensitive',
            'column "ward" has no role: make it a quasi_identifier, sensitive, identifier or insensitive',
        )
