"""Policies as values: construction, TOML, JSON Schema, and errors that list every problem."""

import json
from collections.abc import Callable, Iterable
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import Field, ValidationError

import sqlanon as sa
from sqlanon.model import policy_value as base
from sqlanon.model.methods.full_domain import NEED_MONOTONIC_PRIVACY
from sqlanon.model.policy.policy import policy_of
from sqlanon.model.policy_value import KINDS, PolicyValue


def policy(**changes: Any) -> sa.Policy:
    values: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": ["diagnosis"], "privacy": [sa.KAnonymity(2)]}
    return sa.Policy(**(values | changes))


def problems(**changes: Any) -> tuple[str, ...]:
    with pytest.raises(sa.PolicyError) as caught:
        policy(**changes)
    return caught.value.problems


class Part(PolicyValue):
    """A value that takes an argument by position, as a user may write one."""

    size: int = Field(ge=1, kw_only=False)


class Whole(PolicyValue):
    parts: tuple[Part, ...]


class TestConstruction:
    def test_what_is_inside_a_value_is_checked_with_it(self) -> None:
        """And not by its constructor, whose error would be about the first part alone."""
        with pytest.raises(sa.PolicyError, match="Whole is not valid") as caught:
            Whole(parts=[{"size": 0}, {"size": 2}, {"length": 1}])
        too_small, missing, unknown = caught.value.problems
        assert too_small.startswith("parts[0].size: input should be greater")
        assert (missing, unknown) == ("parts[2].size: field required", "parts[2].length: unknown key")
        with pytest.raises(sa.PolicyError, match=r"Part is not valid:\n.*size: input should be greater"):
            Part(0)
        assert Whole(parts=[{"size": 2}, Part(3)]).parts == (Part(2), Part(3))

    def test_defaults(self) -> None:
        found = sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2)])
        assert found.quality == sa.LM()
        assert policy(search="ola", suppression_limit=0.1).quality == sa.Entropy()
        assert policy(objective="privacy", max_loss=10).quality == sa.Entropy()
        assert sa.Policy(quasi_identifiers=["a"], sensitive=["b"], method=sa.IPA()).quality == sa.Entropy()
        assert (found.suppression_limit, found.suppression, found.search) == (0, "drop", "optimal")
        assert found.sensitive == found.identifiers == found.insensitive == ()

    def test_released_columns(self) -> None:
        assert policy(identifiers=["ssn"], insensitive=["ward"]).released_columns == {"age", "diagnosis", "ward"}

    def test_models_take_positions_and_names(self) -> None:
        assert sa.KAnonymity(5) == sa.KAnonymity(k=5)
        assert sa.DistinctLDiversity("a", 2) == sa.DistinctLDiversity(column="a", l=2)
        assert sa.EntropyLDiversity("a", 2) == sa.EntropyLDiversity(column="a", l=2.0)
        assert str(sa.EntropyLDiversity("a", 2.5)) == 'entropy l-diversity of "a" (l = 2.5)'

    @pytest.mark.parametrize("model", [sa.Prec, sa.DMStar, sa.Entropy, sa.LM, sa.NCP, sa.DM, sa.AECS])
    def test_quality_models_take_nothing_unknown(self, model: type[sa.Prec]) -> None:
        assert policy(quality=model()).quality == model()
        with pytest.raises(TypeError):
            model(1)  # type: ignore[call-arg]
        with pytest.raises(sa.PolicyError, match="unknown key"):
            model(wait=2)

    @pytest.mark.parametrize("model", [sa.Prec, sa.Entropy])
    def test_losses_that_charge_for_suppressed_rows(self, model: type[sa.Prec]) -> None:
        charged = model(suppressed="charged")
        found = policy(quality=charged, suppression_limit=0.1)
        assert sa.Policy(**found.model_dump(mode="json")) == found
        assert found.sha256() != policy(quality=model(), suppression_limit=0.1).sha256()
        assert charged.measure == f"charged_{model().measure}"
        assert (charged.monotonic, charged.known, model().monotonic, model().known) == (False, False, True, True)
        policy(quality=charged, search="ola")
        assert 'take "optimal"' in problems(quality=charged, search="ola", suppression_limit=0.1)[0]
        with pytest.raises(sa.PolicyError, match="suppressed"):
            model(suppressed="sometimes")  # type: ignore[arg-type]

    def test_policies_are_frozen_and_hashable_values(self) -> None:
        found = policy()
        with pytest.raises(ValidationError):
            found.search = "exhaustive"
        assert found == policy()
        assert hash(found) == hash(policy())

    def test_protected_columns(self) -> None:
        models = [sa.DistinctLDiversity("b", 2), sa.EntropyLDiversity("a", 2), sa.EntropyLDiversity("b", 2)]
        assert policy(sensitive=["a", "b", "c"], privacy=models).protected_columns == ("b", "a")


class TestProblems:
    @pytest.mark.parametrize("k", [1, 0, 2.5, "5", True, None, 10**40])
    def test_a_k_that_is_none(self, k: Any) -> None:
        with pytest.raises(sa.PolicyError, match="greater than or equal to 2" if k == 1 and k is not True else "k: "):
            sa.KAnonymity(k)

    @pytest.mark.parametrize(
        "changes",
        [
            {"quality": {"model": "lm", "weights": {"age": True, "sex": 2}}},
            {"quality": {"model": "prec", "weights": {"age": False}}},
            {"privacy": [{"model": "t-closeness", "column": "diagnosis", "t": True}]},
            {"privacy": [{"model": "m-concealing", "m": True, "prior": {"age": 0.5}}]},
            {"privacy": [{"model": "m-concealing", "m": 0.5, "prior": {"age": True}}]},
            {"objective": "privacy", "max_loss": True},
            {"taxonomies": {"age": {"kind": "intervals", "widths": [True, 5]}}},
            {"taxonomies": {"age": {"kind": "intervals", "widths": [5], "minimum": False, "maximum": 9}}},
            {"taxonomies": {"zip": {"kind": "prefixes", "keep": [True]}}},
        ],
    )
    def test_true_is_no_number(self, changes: dict[str, Any]) -> None:
        roles = {"quasi_identifiers": ["age", "sex", "zip"], "sensitive": ["diagnosis"]}
        fields = {**roles, "privacy": [{"model": "k-anonymity", "k": 2}], **changes}
        with pytest.raises(sa.PolicyError, match="not true or false") as refused:
            sa.Policy(**fields)
        assert len(refused.value.problems) == 1

    def test_values_that_are_declared_may_be_true_and_false(self) -> None:
        carried = sa.Policy(
            quasi_identifiers=["smokes"],
            privacy=[sa.KAnonymity(2)],
            taxonomies={"smokes": {"kind": "flat", "values": [True, False, 1]}},
        ).taxonomies["smokes"]
        assert carried.taxonomy().values == ("true", "false", "1")

    @pytest.mark.parametrize("limit", [-0.1, 1.1, 5, True, float("nan"), float("inf"), "many"])
    def test_the_limit_is_a_share(self, limit: Any) -> None:
        assert problems(suppression_limit=limit) == ("suppression_limit: must be a share from 0 to 1: 0.05 is 5 %",)

    def test_all_of_them_come_at_once(self) -> None:
        found = problems(quasi_identifiers=[], privacy=[], suppression_limit=2, search="best", suppresion="mask")
        assert len(found) == 5
        text = "\n".join(found)
        assert "quasi_identifiers: needs at least one" in text
        assert "privacy: needs at least one" in text
        assert "suppression_limit" in text
        assert "'optimal', 'exhaustive', 'ola'" in text
        assert 'suppresion: unknown key; did you mean "suppression"?' in text

    def test_names_that_clash(self) -> None:
        found = "\n".join(problems(sensitive=["AGE"], identifiers=["x", "x"], insensitive=["Anon_y"]))
        assert 'column "AGE" has two roles: quasi_identifiers and sensitive' in found
        assert 'column "x" has two roles: identifiers and identifiers' in found
        assert '"Anon_y" starts with the reserved "anon_"' in found

    def test_a_model_of_a_column_that_is_not_sensitive(self) -> None:
        [problem] = problems(privacy=[sa.DistinctLDiversity("ward", 2)])
        assert 'needs "ward" among the sensitive columns' in problem

    @pytest.mark.parametrize("quality", [sa.Prec, sa.LM])
    def test_weights_of_which_no_mean_can_be_made(self, quality: type[sa.Prec]) -> None:
        columns = policy().quasi_identifiers
        with pytest.raises(sa.PolicyError, match="every quasi-identifier has weight 0"):
            policy(quality=quality(weights=dict.fromkeys(columns, 0)))
        policy(quasi_identifiers=["age", "sex"], quality=quality(weights={"age": 0}))
        with pytest.raises(sa.PolicyError, match='the weight of "age" is above 1,000,000,000,000'):
            quality(weights={"age": 1e308})

    def test_a_string_is_no_list_of_columns(self) -> None:
        assert any(line.startswith("quasi_identifiers: ") for line in problems(quasi_identifiers="age"))


class TestModels:
    @pytest.mark.parametrize(
        ("model", "message"),
        [
            *((partial(sa.DistinctLDiversity, "a", wrong), "l: ") for wrong in (1, 2.5, "2")),
            *((partial(sa.EntropyLDiversity, "a", wrong), "l: ") for wrong in (1, float("nan"), float("inf"))),
            (lambda: sa.AlphaKAnonymity("a", 1, 2), "alpha: "),
            (lambda: sa.AlphaKAnonymity("a", 0, 2), "alpha: "),
            (lambda: sa.AlphaKAnonymity("a", 0.5, 1), "k: "),
            (lambda: sa.RecursiveCLDiversity("a", 0, 2), "c: "),
            (lambda: sa.RecursiveCLDiversity("a", 2, 1), "l: "),
            (lambda: sa.TCloseness("a", 0), "t: "),
            (lambda: sa.TCloseness("a", 1.1), "t: "),
            (lambda: sa.TCloseness("a", 0.5, "numeric"), "distance: "),
            (lambda: sa.BetaLikeness("a", 0), "beta: "),
            (lambda: sa.BetaLikeness("a", 1, "better"), "variant: "),
            (lambda: sa.DeltaDisclosure("a", 0), "delta: "),
            (lambda: sa.KMap(1, "everyone"), "k: "),
            (lambda: sa.KMap(2, ""), "population: "),
            (lambda: sa.NoAttack(300, 0), "an attack costs nothing, so that it always pays"),
            (lambda: sa.NoAttack(-1, 2), "gain: "),
            (lambda: sa.NoAttack(1, float("nan")), "cost: "),
            (lambda: sa.NoAttack(float("inf"), 2), "gain: "),
            (lambda: sa.NoAttack(1e12, 0.1), "the gain asks for classes of more than"),
            (lambda: sa.PublisherPayout(-1, 4, 1200, 300), "gain: "),
            (lambda: sa.Profitability(300, -1, 1200, 300), "cost: "),
            (lambda: sa.Profitability(300, 4, 0, 300), "benefit: "),
            (lambda: sa.PublisherPayout(300, 4, 0, 300), "benefit: "),
            (lambda: sa.PublisherPayout(300, 4, 1200, float("inf")), "loss: "),
            (lambda: sa.SampleUniqueness(1), "at_most: "),
            (lambda: sa.SampleUniqueness(-0.1), "at_most: "),
            (lambda: sa.AverageRisk(0), "at_most: "),
            (lambda: sa.PopulationUniqueness(0.1, 0), "population: "),
            (lambda: sa.PopulationUniqueness(0.1, 1e6), "population: "),
            (lambda: sa.AverageRisk(float("nan")), "at_most: "),
            (lambda: sa.DeltaPresence(-0.1, 1, "everyone"), "minimum: "),
            (lambda: sa.DeltaPresence(0, 1.1, "everyone"), "maximum: "),
            (lambda: sa.DeltaPresence(0.9, 0.5, "everyone"), "the minimum, 0.9, is above the maximum, 0.5"),
            (lambda: sa.MConcealing(0, {"a": 0.5}), "m: "),
            (lambda: sa.MConcealing(0.5, {}), "prior: "),
            (lambda: sa.MConcealing(0.5, {"a": 1.5, "b": -1}), 'the prior of "b" is not a probability'),
            (lambda: sa.MConcealing(0.5, {"a": float("nan")}), "prior.a: "),
            (lambda: sa.MConcealing(0.5, {str(number): 0.1 for number in range(13)}), "prior: "),
            (lambda: sa.MConcealing(0.5, {"a": 0.5}, "table"), "grain: "),
            (lambda: sa.Prec(weights={"a": -1}), 'the weight of "a" is negative'),
            (lambda: sa.LM(weights={"a": float("inf")}), "weights.a: "),
            (lambda: sa.LM(aggregate="harmonic"), "aggregate: "),
        ],
    )
    def test_values_that_are_none(self, model: Callable[[], object], message: str) -> None:
        with pytest.raises(sa.PolicyError, match=message):
            model()

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (sa.KAnonymity(2), sa.KAnonymity(3)),
            (sa.AlphaKAnonymity("diagnosis", 0.5, 2), sa.AlphaKAnonymity("diagnosis", 0.6, 2)),
            (sa.RecursiveCLDiversity("diagnosis", 2, 2), sa.RecursiveCLDiversity("diagnosis", 3, 2)),
            (sa.TCloseness("diagnosis", 0.2), sa.TCloseness("diagnosis", 0.3)),
            (sa.BetaLikeness("diagnosis", 1), sa.BetaLikeness("diagnosis", 2)),
            (sa.DeltaDisclosure("diagnosis", 1), sa.DeltaDisclosure("diagnosis", 2)),
            (sa.KMap(2, "everyone"), sa.KMap(3, "everyone")),
            (sa.NoAttack(300, 4), sa.NoAttack(50, 10)),
            (sa.Profitability(300, 4, 1200, 300), sa.Profitability(300, 4, 1200, 300)),
            (sa.SampleUniqueness(0), sa.SampleUniqueness(0.1)),
            (sa.AverageRisk(0.1), sa.AverageRisk(0.2)),
            (sa.PopulationUniqueness(0.1, 900), sa.PopulationUniqueness(0.2, 900)),
            (sa.DeltaPresence(0, 0.5, "everyone"), sa.DeltaPresence(0.1, 0.5, "everyone")),
            (sa.MConcealing(0.5, {"diagnosis": 0.1}), sa.MConcealing(0.4, {"diagnosis": 0.1}, "node")),
        ],
    )
    def test_two_of_a_kind(self, first: sa.KAnonymity, second: sa.KAnonymity) -> None:
        if first.columns and not isinstance(first, sa.AlphaKAnonymity):
            policy(privacy=[first, sa.KAnonymity(2)])
        [problem] = problems(privacy=[first, second])
        assert problem == f"{second} repeats another model of the same kind; keep the stricter one"

    def test_models_of_one_kind_that_bound_different_measures(self) -> None:
        models = [
            sa.TCloseness("diagnosis", 0.2),
            sa.TCloseness("diagnosis", 0.2, "ordered"),
            sa.BetaLikeness("diagnosis", 1),
            sa.BetaLikeness("diagnosis", 2, "enhanced"),
            sa.RecursiveCLDiversity("diagnosis", 2, 2),
            sa.RecursiveCLDiversity("diagnosis", 2, 3),
            sa.MConcealing(0.5, {"diagnosis": 0.1}),
            sa.MConcealing(0.5, {"diagnosis": 0.2}),
            sa.AlphaKAnonymity("diagnosis", 0.5, 2),
            sa.AlphaKAnonymity("drug", 0.5, 2),
        ]
        assert policy(privacy=models, sensitive=["diagnosis", "drug"]).privacy == tuple(models)

    def test_all_problems_come_at_once(self) -> None:
        found = problems(
            quasi_identifiers=["age", "sex"],
            privacy=[sa.KMap(2, "one"), sa.DeltaPresence(0, 0.5, "other"), sa.MConcealing(0.5, {"ward": 0.1})],
            quality=sa.LM(weights={"sexx": 1}),
            suppression="mask",
            max_loss=1,
            minimum_levels={"age": 2, "ageing": 1},
            maximum_levels={"age": 1},
            row_weight="age",
            individual="diagnosis",
        )
        text = "\n".join(found)
        for part in (
            'm-concealing (m = 0.5) needs "ward" among the sensitive columns',
            'max_loss is for objective "privacy", not for "utility"',
            'minimum_levels: "ageing" is not a quasi-identifier; did you mean "age"?',
            'the minimum level of "age", 2, is above its maximum level, 1',
            'quality.weights: "sexx" is not a quasi-identifier; did you mean "sex"?',
            'row_weight "age" is a quasi-identifier',
            "several populations",
            'suppression "mask" cannot be combined with models of a population',
            'individual "diagnosis" must be among the identifiers',
            'k-map against "one" (k = 2) counts rows',
        ):
            assert part in text

    @pytest.mark.parametrize("field", ["row_weight", "individual"])
    def test_a_payout_counts_rows_alone(self, field: str) -> None:
        payout = sa.PublisherPayout(300, 4, 1200, 300)
        meant = {"row_weight": 'the weights of row_weight "weight"', "individual": 'the individuals of "weight"'}[field]
        [found] = problems(**{field: "weight"}, insensitive=["weight"], quality=payout)
        assert found == (f"publisher_payout counts rows, not {meant}")

    def test_profitable_classes_are_those_of_a_node(self) -> None:
        model = sa.Profitability(300, 4, 1200, 300)
        for changes, part in (
            ({"suppression": "mask", "suppression_limit": 0.1}, "masked rows have no information"),
            ({"individual": "id", "identifiers": ["id"]}, "counts rows: give it a table with one row per individual"),
            ({"method": sa.LocalRecoding()}, "which is defined for the labels of one node"),
            ({"method": sa.Mondrian()}, "which is defined for the labels of one node"),
            ({"search": "samarati"}, "needs monotonic models"),
            ({"unknown": {"age": "top"}}, 'unknown: "top" cannot be combined with profitable classes'),
        ):
            [problem] = problems(privacy=[model], **changes)
            assert part in problem

    @pytest.mark.parametrize("search", ["ola", "incognito"])
    def test_a_payout_is_not_monotonic(self, search: str) -> None:
        """Not even where nothing is suppressed."""
        payout = sa.PublisherPayout(300, 4, 1200, 300)
        [problem] = problems(search=search, suppression_limit=0, quality=payout)
        assert problem == (f'search "{search}" needs monotonic models, which publisher_payout is not; take "optimal"')
        [problem] = problems(objective="privacy", max_loss=9, quality=payout)
        assert problem == 'objective "privacy" needs monotonic models, which publisher_payout is not'
        assert policy(search="samarati", suppression_limit=0, quality=payout).quality == payout

    def test_the_objective_of_privacy_needs_a_loss_and_has_a_search_of_its_own(self) -> None:
        [problem] = problems(objective="privacy")
        assert problem == 'objective "privacy" needs max_loss, the maximum loss of the release'
        assert policy(objective="privacy", max_loss=0.5, privacy=[]).privacy == ()
        [problem] = problems(objective="privacy", max_loss=0.5, search="datafly")
        assert problem == 'objective "privacy" has its own search, and takes no search "datafly"'
        found = policy(objective="privacy", max_loss=0.5)
        assert (found.search, found.algorithm, policy(search="ola").algorithm) == ("optimal", "inverse-ola", "ola")

    @pytest.mark.parametrize("search", sorted(NEED_MONOTONIC_PRIVACY))
    def test_searches_that_need_monotonic_models(self, search: str) -> None:
        is_inverse = search == "inverse-ola"
        options = {"objective": "privacy", "max_loss": 1} if is_inverse else {"search": search}
        named, instead = ('objective "privacy"', "") if is_inverse else (f'search "{search}"', '; take "optimal"')
        disclosure, entropy = sa.DeltaDisclosure("diagnosis", 1), sa.EntropyLDiversity("diagnosis", 2)
        policy(privacy=[entropy], **options)
        for state, model, changes in (
            ("", disclosure, {}),
            ("with suppression ", entropy, {"suppression_limit": 0.1}),
            ("with individuals ", entropy, {"individual": "ssn", "identifiers": ["ssn"]}),
        ):
            [problem] = problems(privacy=[model], **options, **changes)
            assert problem == f"{named} {state}needs monotonic models, which {model} is not{instead}"
        policy(privacy=[sa.KAnonymity(2)], individual="ssn", identifiers=["ssn"], **options)


FULL = """
quasi_identifiers = ["age", "sex"]
sensitive = ["diagnosis", "drug"]
identifiers = ["ssn"]
insensitive = ["ward"]
suppression_limit = 0.05
search = "exhaustive"
row_weight = "survey weight"
minimum_levels = {age = 1}
maximum_levels = {age = 2, sex = 0}
quality = {model = "lm", aggregate = "geometric", weights = {age = 2, sex = 0.5}}
privacy = [
    {model = "k-anonymity", k = 5},
    {model = "distinct-l-diversity", column = "diagnosis", l = 3},
    {model = "entropy-l-diversity", column = "diagnosis", l = 2.5},
    {model = "alpha-k-anonymity", column = "diagnosis", alpha = 0.5, k = 3},
    {model = "recursive-c-l-diversity", column = "diagnosis", c = 2, l = 3},
    {model = "t-closeness", column = "diagnosis", t = 0.2, distance = "hierarchical"},
    {model = "beta-likeness", column = "drug", beta = 1, variant = "enhanced"},
    {model = "delta-disclosure", column = "drug", delta = 1.5},
    {model = "k-map", k = 4, population = "everyone"},
    {model = "delta-presence", minimum = 0.1, maximum = 0.5, population = "everyone"},
    {model = "m-concealing", m = 0.3, grain = "node", prior = {diagnosis = 0.05, drug = 0.01}},
    {model = "no-attack", gain = 300, cost = 4},
    {model = "profitability", gain = 300, cost = 4, benefit = 1200, loss = 300},
    {model = "sample-uniqueness", at_most = 0.05},
    {model = "average-risk", at_most = 0.2},
    {model = "individual-risk", at_most = 0.05, weight = "survey weight", estimator = "poisson"},
    {model = "population-uniqueness", at_most = 0.01, population = 83000000},
    {model = "expected-reidentifications", at_most = 0.01},
]
"""


class TestTerms:
    def test_they_are_recorded_and_change_the_hash_where_they_are_given(self) -> None:
        plain = sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2)])
        terms = sa.ReleaseTerms(recipient=" the archive ", purpose="a study")
        stated = plain.changed({"release": terms})
        assert plain.as_recorded()["release"] is None
        assert stated.as_recorded()["release"] == {
            "recipient": "the archive",
            "purpose": "a study",
            "approved_by": None,
        }
        assert plain.sha256() != stated.sha256() != plain.changed({"release": {"purpose": "a study"}}).sha256()
        assert sa.Policy(**stated.model_dump(mode="json")) == stated

    def test_what_they_cannot_be_is_refused_at_once(self) -> None:
        wrong = {"recipent": "x", "purpose": " \n", "approved_by": "x" * 501}
        with pytest.raises(sa.PolicyError) as refused:
            sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2)], release=wrong)
        assert [problem.partition(":")[0] for problem in refused.value.problems] == [
            "release.purpose",
            "release.approved_by",
            "release.recipent",
        ]
        assert 'did you mean "recipient"?' in str(refused.value)
        with pytest.raises(sa.PolicyError, match=r"must be a table: \[release\] with recipient"):
            sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2)], release="the archive")


class TestTaxonomyObjects:
    """A taxonomy made in Python becomes the rule that makes it."""

    @pytest.mark.parametrize(
        ("taxonomy", "rule"),
        [
            (sa.Taxonomy.flat(), "flat"),
            (sa.Taxonomy.flat([True, 1]), {"kind": "flat", "values": ["true", "1"]}),
            (sa.Taxonomy.intervals([5, 10.5 * 10]), {"kind": "intervals", "widths": [5, 105]}),
            (
                sa.Taxonomy.intervals([Decimal("0.30")], origin=1, minimum=0, maximum=9, below=1, above=9),
                {"kind": "intervals", "widths": [0.3], "origin": 1, "minimum": 0, "maximum": 9, "below": 1, "above": 9},
            ),
            (sa.Taxonomy.cuts([[18, 65.5], [18]]), {"kind": "cuts", "breaks": [[18, 65.5], [18]]}),
            (
                sa.Taxonomy.dates(["week"], first=date(2024, 1, 1), last=date(2024, 2, 1)),
                {"kind": "dates", "units": ["week"], "first": "2024-01-01", "last": "2024-02-01"},
            ),
            (sa.Taxonomy.prefixes([3, 1]), {"kind": "prefixes", "keep": [3, 1]}),
            (sa.Taxonomy.zip_codes(["10115"]), {"kind": "prefixes", "keep": [4, 3, 2, 1], "values": ["10115"]}),
            (sa.Taxonomy.icd9(), "icd9"),
            (sa.Taxonomy.icd10(), "icd10"),
            (sa.Taxonomy.ipv4([8]), {"kind": "ipv4", "bits": [8]}),
            (sa.Taxonomy.groups({"a": ["b"]}), {"kind": "rows", "rows": [["b", "a", "*"]]}),
            (sa.Taxonomy.from_rows([(None, "*"), (1, "*")]), {"kind": "rows", "rows": [[None, "*"], ["1", "*"]]}),
            (sa.Taxonomy.columns(["b"]), {"kind": "columns", "columns": ["b"]}),
        ],
    )
    def test_it_is_dumped_as_a_rule_and_read_again(self, taxonomy: sa.Taxonomy, rule: Any) -> None:
        carried, written = policy(taxonomies={"age": taxonomy}), policy(taxonomies={"age": rule})
        assert (carried, carried.sha256()) == (written, written.sha256())
        assert sa.Policy.model_validate_json(carried.model_dump_json()) == carried

    def test_that_of_a_file_is_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "age.csv").write_text("30|*\n31|*\n")
        carried = policy(taxonomies={"age": sa.Taxonomy.from_csv(tmp_path / "age.csv", delimiter="|")})
        assert carried == policy(taxonomies={"age": {"file": f"{tmp_path}/age.csv", "delimiter": "|"}})

    def test_what_no_policy_can_hold_is_refused_in_words(self) -> None:
        assert problems(taxonomies={"age": sa.Taxonomy.from_query("SELECT 1, 2")}) == (
            "taxonomies.age: a taxonomy from a query cannot be written in a policy: store it with "
            "session.taxonomies.load, which every policy of that warehouse can use",
        )
        digits = sa.Taxonomy.intervals([Decimal("0.1234567890123456789")])
        assert problems(taxonomies={"age": digits}) == (
            "taxonomies.age: has numbers of more digits than a policy can hold: round them",
        )


SETTINGS: dict[str, dict[str, Any]] = {
    "none": {},
    "a search": {"search": "ola", "suppression_limit": 0.1},
    "masking": {"suppression_limit": 0.1, "suppression": "mask"},
    "an objective": {"objective": "privacy", "max_loss": 0.5},
}


class TestFullDomain:
    """The method of a policy that names no other: its settings are in either place."""

    @pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
    def test_its_settings_may_stand_in_it_or_beside_it(self, settings: dict[str, Any]) -> None:
        beside = policy(**settings)
        table = {"model": "full-domain", **settings}
        for method in (sa.FullDomain(**settings), table):
            for found in (policy(method=method), policy(method=method, **settings)):
                assert found == beside
                assert (hash(found), found.sha256()) == (hash(beside), beside.sha256())
                assert found.model_dump(mode="json") == beside.model_dump(mode="json")
                assert {name: getattr(found, name) for name in settings} == settings
                assert found.quality == beside.quality

    @pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
    def test_it_is_there_whether_it_was_given_or_not(self, settings: dict[str, Any]) -> None:
        found = policy(**settings)
        assert found.method == sa.FullDomain(**settings)
        assert found.model_dump(mode="json")["method"].items() >= {"model": "full-domain", **settings}.items()
        for again in (sa.Policy(**found.model_dump(mode="json")), policy_of(found), policy(**settings, method=None)):
            assert again == found
            assert again.method == found.method

    def test_a_file_may_give_it_as_well(self, tmp_path: Path) -> None:
        columns = 'quasi_identifiers = ["age"]\nsensitive = ["diagnosis"]\n'
        model = '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
        for text in (
            f'{columns}suppression_limit = 0.1\n{model}[method]\nmodel = "full-domain"\nsearch = "datafly"\n',
            f'{columns}method = "full-domain"\nsearch = "datafly"\nsuppression_limit = 0.1\n{model}',
        ):
            (tmp_path / "p.toml").write_text(text)
            found = sa.Policy.from_toml(tmp_path / "p.toml")
            assert found == policy(search="datafly", suppression_limit=0.1)

    def test_the_two_places_do_not_contradict_one_another(self) -> None:
        [first, second] = problems(
            search="datafly", method=sa.FullDomain(search="ola"), privacy=[{"model": "k-anonymity"}]
        )
        assert first == 'method: search is "ola" in it, and "datafly" beside it'
        assert second == "privacy[0].k: field required"
        table = {"model": "full-domain", "suppression_limit": 0.5}
        assert policy(suppression_limit=0.5, method=table).suppression_limit == 0.5
        for beside in (0.0, 0.05):
            [problem] = problems(suppression_limit=beside, method=table)
            assert problem == f"method: suppression_limit is 0.5 in it, and {beside} beside it"

    def test_what_is_none_of_its_settings_is_refused(self) -> None:
        assert problems(method={"model": "full-domain", "serach": "ola"}) == (
            'method.serach: unknown key; did you mean "search"?',
        )
        limit = "suppression_limit: must be a share from 0 to 1: 0.05 is 5 %"
        assert problems(method={"model": "full-domain", "suppression_limit": 5}) == (limit,)
        with pytest.raises(sa.PolicyError, match=limit):
            sa.FullDomain(suppression_limit=5)

    def test_copies_with_changes_change_it_too(self) -> None:
        before = policy(search="ola", suppression_limit=0.1)
        for changes, after in (
            ({"suppression_limit": 0.2}, {"search": "ola", "suppression_limit": 0.2}),
            ({"method": sa.FullDomain(search="datafly")}, {"search": "datafly"}),
            ({"method": sa.FullDomain(), "suppression_limit": 0.1}, {"suppression_limit": 0.1}),
        ):
            copy = before.model_copy(update=changes)
            expected = policy(**after, quality=before.quality)
            for found in (copy, policy_of(copy)):
                assert (found, found.method) == (expected, expected.method)
        with pytest.raises(sa.PolicyError) as refused:
            policy_of(before.model_copy(update={"suppression_limit": 5.0}))
        assert refused.value.problems == ("suppression_limit: must be a share from 0 to 1: 0.05 is 5 %",)
        private = policy(privacy=[], method=sa.IPA(), sensitive=["diagnosis"])
        with pytest.raises(sa.PolicyError, match="takes no suppression_limit"):
            policy(privacy=[], method=sa.IPA(), suppression_limit=0.1)
        with pytest.raises(sa.PolicyError, match="suppression_limit: unknown key here"):
            policy_of(private.model_copy(update={"suppression_limit": 0.1}))
        with pytest.raises(sa.PolicyError, match="needs at least one"):
            policy_of(private.model_copy(update={"method": sa.FullDomain()}))

    def test_a_value_of_its_own_is_one_by_its_settings(self) -> None:
        given, by_search = sa.FullDomain(search="ola"), policy(search="ola").method
        assert (given, hash(given)) == (by_search, hash(by_search))
        assert given != sa.FullDomain()


class TestToml:
    def test_all_of_it(self, tmp_path: Path) -> None:
        (tmp_path / "p.toml").write_text(FULL)
        found = sa.Policy.from_toml(tmp_path / "p.toml")
        expected = sa.Policy(
            quasi_identifiers=["age", "sex"],
            sensitive=["diagnosis", "drug"],
            identifiers=["ssn"],
            insensitive=["ward"],
            suppression_limit=0.05,
            search="exhaustive",
            row_weight="survey weight",
            minimum_levels={"age": 1},
            maximum_levels={"sex": 0, "age": 2},
            quality=sa.LM(aggregate="geometric", weights={"sex": 0.5, "age": 2}),
            privacy=[
                sa.KAnonymity(5),
                sa.DistinctLDiversity("diagnosis", 3),
                sa.EntropyLDiversity("diagnosis", 2.5),
                sa.AlphaKAnonymity("diagnosis", 0.5, 3),
                sa.RecursiveCLDiversity("diagnosis", 2, 3),
                sa.TCloseness("diagnosis", 0.2, "hierarchical"),
                sa.BetaLikeness("drug", 1, "enhanced"),
                sa.DeltaDisclosure("drug", 1.5),
                sa.KMap(4, "everyone"),
                sa.DeltaPresence(0.1, 0.5, "everyone"),
                sa.MConcealing(0.3, {"drug": 0.01, "diagnosis": 0.05}, "node"),
                sa.NoAttack(300, 4),
                sa.Profitability(300, 4, 1200, 300),
                sa.SampleUniqueness(0.05),
                sa.AverageRisk(0.2),
                sa.IndividualRisk(0.05, "survey weight", estimator="poisson"),
                sa.PopulationUniqueness(0.01, 83_000_000),
                sa.ExpectedReidentifications(0.01),
            ],
        )
        assert found == expected
        assert hash(found) == hash(expected)
        assert sa.Policy.from_toml(str(tmp_path / "p.toml")).sha256() == found.sha256() == expected.sha256()
        assert sa.Policy.model_validate_json(found.model_dump_json()) == found
        assert sa.Policy(**json.loads(found.model_dump_json())) == found
        assert {type(model) for model in found.privacy} == set(KINDS["privacy"].values())

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"k = ", "not valid TOML"),
            (b"\xff\xfe", "is not UTF-8: save it as UTF-8"),
            ("\ufeffk = ".encode(), "not valid TOML"),
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

    def test_the_mark_of_utf_8_may_stand_before_it(self, tmp_path: Path) -> None:
        text = 'quasi_identifiers = ["sex"]\nprivacy = [{ model = "k-anonymity", k = 5 }]\n'
        for name, encoding in (("plain.toml", "utf-8"), ("marked.toml", "utf-8-sig")):
            (tmp_path / name).write_text(text, encoding=encoding)
        assert sa.Policy.from_toml(tmp_path / "marked.toml") == sa.Policy.from_toml(tmp_path / "plain.toml")

    def test_no_file(self, tmp_path: Path) -> None:
        for path in (tmp_path / "none.toml", tmp_path):
            with pytest.raises(sa.PolicyError, match="cannot be read"):
                sa.Policy.from_toml(path)


class TestGivenPolicies:
    @pytest.mark.parametrize(
        ("changes", "problem"),
        [
            ({"suppression_limit": 5.0}, "suppression_limit: must be a share from 0 to 1: 0.05 is 5 %"),
            ({"privacy": ()}, "privacy: needs at least one"),
            ({"k": 1}, "k: unknown key here; it is a key of "),
            ({"privacy": (sa.KAnonymity(2).model_copy(update={"k": 0}),)}, "privacy[0].k: input should be greater"),
            ({"insensitive": ("age",)}, 'column "age" has two roles'),
            ({"minimum_levels": {"age": -1}}, "minimum_levels.age: "),
            ({"quality": "speed"}, 'quality: unknown model "speed"'),
        ],
    )
    def test_copies_with_changes_are_checked(self, changes: dict[str, Any], problem: str) -> None:
        with pytest.raises(sa.PolicyError) as caught:
            policy_of(policy().model_copy(update=changes))
        assert problem in str(caught.value)

    def test_what_was_changed_or_made_without_a_check_is_checked(self) -> None:
        changed = policy(minimum_levels={"age": 1})
        changed.minimum_levels["age"] = -1
        with pytest.raises(sa.PolicyError, match=r"minimum_levels\.age"):
            policy_of(changed)
        with pytest.raises(sa.PolicyError, match="quasi_identifiers: field required"):
            policy_of(sa.Policy.model_construct(privacy=(sa.KAnonymity(2),)))
        with pytest.raises(sa.PolicyError, match=r"privacy\[0\]\.k"):
            policy(privacy=[sa.KAnonymity(2).model_copy(update={"k": 1})])

    def test_valid_policies_stay_what_they_are(self, tmp_path: Path) -> None:
        (tmp_path / "p.toml").write_text(FULL)
        budget = sa.Budget("0.1", "1e-6")
        private = sa.Policy(quasi_identifiers=["age"], sensitive=["illness"], method=sa.IPA(budget=budget))
        for found in (sa.Policy.from_toml(tmp_path / "p.toml"), policy(quality=sa.LM(weights={"age": 2})), private):
            assert policy_of(found) == found
            assert policy_of(found).sha256() == found.sha256()
            assert policy_of(found.model_dump()) == policy_of(found.model_dump(mode="json")) == found
        assert policy_of(tmp_path / "p.toml") == policy_of(str(tmp_path / "p.toml"))

    def test_a_single_model_is_no_list(self, tmp_path: Path) -> None:
        for given in (sa.KAnonymity(5), {"model": "k-anonymity", "k": 5}, "k-anonymity"):
            (problem,) = problems(privacy=given)
            assert problem == (
                "privacy: must be a list, also of one: privacy=[KAnonymity(5)], and in TOML [[privacy]] for each model"
            )
        (tmp_path / "p.toml").write_text('quasi_identifiers = ["age"]\n[privacy]\nmodel = "k-anonymity"\nk = 5\n')
        with pytest.raises(sa.PolicyError, match=r"privacy: must be a list.*\[\[privacy\]\]"):
            sa.Policy.from_toml(tmp_path / "p.toml")

    def test_a_path_that_none_can_be(self) -> None:
        with pytest.raises(sa.PolicyError, match="cannot be read"):
            policy_of("no\0where.toml")


class TestDocuments:
    def test_the_schema_has_every_model_and_describes_every_key(self) -> None:
        schema = sa.Policy.model_json_schema()
        assert set(schema["required"]) == {"quasi_identifiers", "privacy"}
        assert schema["additionalProperties"] is False
        assert set(schema["properties"]) == set(sa.Policy.arguments())
        assert schema["$defs"]["KAnonymity"]["properties"]["k"]["minimum"] == 2
        for kind in (*KINDS["privacy"].values(), *KINDS["quality"].values()):
            properties = schema["$defs"][kind.__name__]["properties"]
            assert set(properties) == set(kind.model_fields)
            assert properties["model"]["const"] == kind.model_fields["model"].default
            assert all("description" in properties[name] for name in properties if name != "model")
        undescribed = [
            f"{name}.{key}"
            for name, definition in (("Policy", schema), *schema["$defs"].items())
            for key, field in {"": definition, **definition["properties"]}.items()
            if key not in ("model", "kind") and not field.get("description", "")
        ]
        assert undescribed == []
        assert ":class:" not in json.dumps(schema)
        assert schema["$defs"]["Intervals"]["properties"]["origin"]["description"] == "a boundary of every level."

    def test_the_hash_is_of_the_meaning(self) -> None:
        assert policy().sha256() == policy(suppression_limit=0).sha256() == policy(quality=None).sha256()
        assert policy().sha256() != policy(suppression_limit=0.1).sha256()


class TestLimit:
    @pytest.mark.parametrize(
        ("limit", "row_count", "allowed"),
        [
            (0, 10, 0), (1, 10, 10), (0.1, 30, 3), (0.29, 100, 29), (0.57, 100, 57), (0.07, 100, 7), (1e-7, 10**7, 1),
            (1e-7, 10**7 - 1, 0), (0.999, 1, 0), (np.float64(0.29), 100, 29), (np.float32(0.5), 100, 50),
        ],
    )  # fmt: skip
    def test_it_is_the_decimal_that_is_written(self, limit: float, row_count: int, allowed: int) -> None:
        assert policy(suppression_limit=limit).allowed_rows(row_count) == allowed


class TestColumns:
    def test_they_match_one_to_one_or_the_rest_is_dropped(self) -> None:
        policy(identifiers=["ssn"]).check_columns(["ssn", "diagnosis", "age"], "table")
        policy(rest="identifier").check_columns(["ssn", "diagnosis", "age"], "table")
        with pytest.raises(sa.PolicyError, match='"age" has a role but is not in the source'):
            policy(rest="identifier").check_columns(["ssn", "diagnosis"], "table")
        assert policy(rest="identifier").sha256() != policy().sha256()
        assert any(line.startswith("rest: ") for line in problems(rest="insensitive"))

    def test_all_gaps_come_at_once(self) -> None:
        with pytest.raises(sa.PolicyError) as caught:
            policy(identifiers=["snn"]).check_columns(["ssn", "diagnosis", "age", "ward"], "the table")
        assert "does not fit the table" in str(caught.value)
        assert caught.value.problems == (
            'column "snn" has a role but is not in the source; did you mean "ssn"?',
            'columns "ssn", "ward" have no role: name each in quasi_identifiers, sensitive, insensitive or identifiers '
            '(which are dropped), as in identifiers = ["snn", "ssn", "ward"]; or write rest = "identifier" to drop all '
            "without a role",
        )

    def test_a_policy_for_another_wide_table_compares_few_names(self, monkeypatch: pytest.MonkeyPatch) -> None:
        close_matches = base.difflib.get_close_matches
        compared = []

        def counted(name: str, known: Iterable[str], **options: Any) -> list[str]:
            compared.append(len([*known]))
            return close_matches(name, known, **options) if len(compared) == 1 else []

        monkeypatch.setattr(base.difflib, "get_close_matches", counted)
        there = [f"column_{number}" for number in range(3_000)]
        with pytest.raises(sa.PolicyError) as caught:
            policy(rest="identifier", insensitive=[f"colum_{number}" for number in range(3_000)]).check_columns(
                ["diagnosis", "age", *there], "table"
            )
        assert caught.value.problems[0].endswith(
            '"colum_0" has a role but is not in the source; did you mean "column_0"?'
        )
        assert len(caught.value.problems) == 3_000
        assert sum(compared) <= base.MAX_COMPARED_PAIRS + len(there)
