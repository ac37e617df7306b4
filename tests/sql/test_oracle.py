"""The macros against the oracle, on random tables with NULLs and hostile names, called and expanded."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp

import sqlanon as sa
from sqlanon.queries.kit.macros import expand, install_script, macros
from sqlanon.queries.kit.nodes import DIALECT
from tests import oracle
from tests.effort import examples
from tests.strategies import Case, cases

EXAMPLES = settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEW_EXAMPLES = settings(EXAMPLES, max_examples=examples(10))

RISK_COLUMNS = frozenset({"row_count", "m", "worst_state", "worst_risk"})

Argument = str | int | Sequence[str] | Mapping[str, int] | Mapping[str, float] | None


# Asking the database


@cache
def connection() -> duckdb.DuckDBPyConnection:
    """One connection for the whole file: every example replaces its tables."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(install_script())
    return connection


def load(case: Case) -> None:
    """Make the case's table ``data`` and its taxonomies."""
    connection().execute("DELETE FROM anon.taxonomy")
    load_taxonomies(oracle.taxonomy_rows(case.taxonomies), "anon.taxonomy")
    load_table("data", case.columns, case.rows)


def load_taxonomies(rows: list[oracle.TaxonomyRow], table: str) -> None:
    insert(table, [list(row) for row in rows])


def load_table(table: str, columns: Mapping[str, str], rows: oracle.Rows) -> None:
    definitions: list[exp.Expression] = [
        exp.ColumnDef(this=exp.to_identifier(name, quoted=True), kind=exp.DataType.build(sql_type))
        for name, sql_type in columns.items()
    ]
    schema = exp.Schema(this=exp.to_table(table), expressions=definitions)
    connection().execute(exp.Create(this=schema, kind="TABLE", replace=True).sql(DIALECT))
    insert(table, [[row[name] for name in columns] for row in rows])


def insert(table: str, rows: Sequence[Sequence[Any]]) -> None:
    if rows:
        values = exp.Values(expressions=[exp.Tuple(expressions=[exp.convert(value) for value in row]) for row in rows])
        connection().execute(exp.insert(values, exp.to_table(table)).sql(DIALECT))


def literal(argument: Argument) -> exp.Expr:
    if isinstance(argument, Mapping):
        entries = [
            exp.PropertyEQ(this=exp.Literal.string(name), expression=exp.convert(level))
            for name, level in argument.items()
        ]
        return exp.ToMap(this=exp.Struct(expressions=entries))
    return exp.convert(argument)


def table_call(name: str, *arguments: Argument) -> exp.Select:
    """``SELECT * FROM anon.<name>(<arguments>)``."""
    function = exp.Anonymous(this=name, expressions=[literal(argument) for argument in arguments])
    return exp.select("*").from_(exp.Table(this=function, db=exp.to_identifier(macros()[name].schema)))


def scalar_call(name: str, *arguments: Argument) -> exp.Select:
    """``SELECT anon.<name>(<arguments>) AS result``."""
    function = exp.Anonymous(this=name, expressions=[literal(argument) for argument in arguments])
    return exp.select(exp.alias_(exp.Dot(this=exp.to_identifier(macros()[name].schema), expression=function), "result"))


def fetch(query: exp.Expression) -> oracle.Rows:
    cursor = connection().execute(query.sql(DIALECT))
    names = [column[0] for column in cursor.description or []]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def ask(query: exp.Select) -> oracle.Rows:
    """The rows of a query, which must be the same called and expanded, columns in any order."""
    called, expanded = fetch(query), fetch(expand(query))
    assert_same_rows(expanded, called)
    return called


def one(query: exp.Select) -> tuple[Any, ...]:
    """The values of the only row."""
    [row] = ask(query)
    return tuple(row.values())


# Comparing


def assert_same_rows(found: oracle.Rows, expected: oracle.Rows) -> None:
    """The same rows in any order, numbers up to rounding."""
    assert Counter(map(rounded, found)) == Counter(map(rounded, expected))


def rounded(row: oracle.Row) -> frozenset[tuple[str, object]]:
    """A row to compare: text and whole numbers differ, and so do columns, but not their order."""
    return frozenset((name, (type(value), canonical(value))) for name, value in row.items())


def canonical(value: object) -> object:
    if isinstance(value, dict):
        return frozenset(value.items())
    if isinstance(value, list):
        return tuple(map(canonical, value))
    return float(f"{value:.9g}") if isinstance(value, float) else value


def assert_close(found: Iterable[float | None], expected: Iterable[float | None]) -> None:
    for one_found, one_expected in zip(found, expected, strict=True):
        if one_found is None or one_expected is None:
            assert one_found is one_expected
        else:
            assert math.isclose(one_found, one_expected, rel_tol=1e-9, abs_tol=1e-9)


def counted(counts: Mapping[tuple[oracle.Value, ...], int], columns: Sequence[str], count: str) -> oracle.Rows:
    """The oracle's counts as rows."""
    return [{**dict(zip(columns, key, strict=True)), count: number} for key, number in counts.items()]


def edge(case: Case, data: st.DataObject) -> tuple[dict[str, int], dict[str, int]]:
    """An edge of the lattice, from the less to the more general node."""
    bottom = dict.fromkeys(case.node, 0)
    lower = case.node if oracle.more_general(case.taxonomies, case.node) else bottom
    return lower, data.draw(st.sampled_from(oracle.more_general(case.taxonomies, lower)))


# Taxonomies and lattice


@EXAMPLES
@given(cases())
def test_taxonomy_level_lists_every_value_and_null(case: Case) -> None:
    load(case)
    for name, taxonomy in case.taxonomies.items():
        for level in range(oracle.height(taxonomy) + 1):
            labels = {row[0]: row[level] for row in taxonomy} | {None: oracle.label_of(taxonomy, level, None)}
            expected: oracle.Rows = [{"value": value, "label": label} for value, label in labels.items()]
            assert_same_rows(ask(table_call("taxonomy_level", name, level)), expected)


@EXAMPLES
@given(cases())
def test_taxonomy_labels_are_all_levels_with_their_leaves(case: Case) -> None:
    load(case)
    expected: oracle.Rows = []
    for name, taxonomy in case.taxonomies.items():
        levels: oracle.Rows = []
        for level in range(oracle.height(taxonomy) + 1):
            labels = {row[0]: row[level] for row in taxonomy} | {None: oracle.label_of(taxonomy, level, None)}
            levels += [
                {"level": level, "value": value, "label": label, "leaf_count": oracle.leaves(taxonomy, level, label)}
                for value, label in labels.items()
            ]
        assert_same_rows(ask(table_call("taxonomy_levels", name)), levels)
        expected += [{"attribute": name, **row} for row in levels]
    assert_same_rows(ask(table_call("taxonomy_labels", list(case.taxonomies))), expected)


@EXAMPLES
@given(cases())
def test_label_leaves_counts_values_under_each_label(case: Case) -> None:
    load(case)
    for name, level in case.node.items():
        labels = {row[level] for row in case.taxonomies[name]}
        expected: oracle.Rows = [
            {"label": label, "leaf_count": oracle.leaves(case.taxonomies[name], level, label)} for label in labels
        ]
        assert_same_rows(ask(table_call("label_leaves", name, level)), expected)


@EXAMPLES
@given(cases())
def test_taxonomy_heights_and_lattice(case: Case) -> None:
    load(case)
    heights: oracle.Rows = [
        {"attribute": name, "height": oracle.height(taxonomy), "value_count": len(taxonomy), "domain": "observed"}
        for name, taxonomy in case.taxonomies.items()
    ]
    assert_same_rows(ask(table_call("taxonomy_heights")), heights)
    lattice = oracle.lattice(case.taxonomies, case.quasi_identifiers)
    found = ask(table_call("lattice", case.quasi_identifiers))
    assert all(list(row["node"]) == case.quasi_identifiers for row in found)
    assert_same_rows(found, [{"node": node, "height": sum(node.values())} for node in lattice])


@EXAMPLES
@given(cases())
def test_generated_taxonomies_are_well_formed(case: Case) -> None:
    load(case)
    assert oracle.taxonomy_problems(oracle.taxonomy_rows(case.taxonomies)) == {}
    assert ask(table_call("malformed_taxonomies")) == []


@EXAMPLES
@given(st.dictionaries(st.sampled_from([*"abc*", None]), st.tuples(*[st.sampled_from("abcd*")] * 2), min_size=1))
def test_ambiguous_labels_in_random_rows(labels: dict[str | None, tuple[str, str]]) -> None:
    taxonomy = [(value, *row, "*") for value, row in labels.items()]
    connection().execute("DELETE FROM anon.taxonomy")
    load_taxonomies(oracle.taxonomy_rows({'a"b': taxonomy}), "anon.taxonomy")
    found = ask(table_call("ambiguous_labels", ['a"b']))
    assert found == [{"attribute": 'a"b', "ambiguous_labels": oracle.ambiguous_labels(taxonomy)}]


@EXAMPLES
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", 'a"b']),
            st.integers(0, 3),
            st.sampled_from(["", "x", "y", None]),
            st.sampled_from(["", "x", "y", "*", None]),
        ),
        max_size=14,
    )
)
def test_taxonomy_problems_in_random_rows(rows: list[oracle.TaxonomyRow]) -> None:
    columns = {"attribute": "VARCHAR", "level": "INTEGER", "value": "VARCHAR", "label": "VARCHAR"}
    load_table("taxonomies", columns, [dict(zip(columns, row, strict=True)) for row in rows])
    found = ask(table_call("taxonomy_problems", "taxonomies"))
    counts = {(row["attribute"], row["level"], row["problem"]): row["problem_count"] for row in found}
    assert counts == oracle.taxonomy_problems(rows)
    assert len(found) == len(counts)


@EXAMPLES
@given(cases(), st.data())
def test_unmapped_values_are_counted(case: Case, data: st.DataObject) -> None:
    load(case)
    known: dict[str, oracle.Taxonomy] = {
        name: data.draw(st.lists(st.sampled_from(taxonomy), unique_by=lambda row: row[0]))
        for name, taxonomy in case.taxonomies.items()
    }
    connection().execute("DELETE FROM anon.taxonomy")
    load_taxonomies(oracle.taxonomy_rows(known), "anon.taxonomy")
    expected: oracle.Rows = []
    for name in case.quasi_identifiers:
        values, rows = oracle.unmapped(case.rows, known, name)
        expected.append({"attribute": name, "unmapped_values": values, "unmapped_rows": rows})
    assert_same_rows(ask(table_call("unmapped_values", "data", case.quasi_identifiers)), expected)


@EXAMPLES
@given(cases(), st.data())
def test_foreign_labels_are_counted(case: Case, data: st.DataObject) -> None:
    load(case)
    labels = oracle.generalize(case.rows, case.taxonomies, case.node)
    others = dict.fromkeys(case.quasi_identifiers, "*") | {case.sensitive: None}
    rows: oracle.Rows = [
        {name: oracle.text(row[name]) for name in case.columns}
        for row in data.draw(st.permutations([*labels, *case.rows, {**case.rows[0], **others}] if case.rows else []))
    ]
    load_table("labelled", dict.fromkeys(case.columns, "VARCHAR"), rows)
    expected: oracle.Rows = []
    for name, level in case.node.items():
        foreign, count = oracle.foreign(rows, case.taxonomies, name, level)
        expected.append({"attribute": name, "foreign_labels": foreign, "foreign_rows": count})
    assert_same_rows(ask(table_call("foreign_labels", "labelled", case.node)), expected)
    load_table(
        "labelled",
        dict.fromkeys(case.columns, "VARCHAR"),
        [{name: oracle.text(row[name]) for name in case.columns} for row in labels],
    )
    assert all(row["foreign_rows"] == 0 for row in ask(table_call("foreign_labels", "labelled", case.node)))


# Rows and classes


@EXAMPLES
@given(cases())
def test_label_of_each_value(case: Case) -> None:
    load(case)
    for name, level in case.node.items():
        for value in {row[name] for row in case.rows}:
            query = scalar_call("label_of", name, level, value)
            assert one(query) == (oracle.label_of(case.taxonomies[name], level, value),)


@EXAMPLES
@given(cases(), st.integers(1, 4))
def test_generalize_and_suppress(case: Case, k: int) -> None:
    load(case)
    generalized = oracle.generalize(case.rows, case.taxonomies, case.node)
    assert_same_rows(ask(table_call("generalize", "data", case.node)), generalized)
    kept = oracle.suppress(case.rows, case.quasi_identifiers, k)
    assert_same_rows(ask(table_call("suppress", "data", case.quasi_identifiers, k)), kept)


@EXAMPLES
@given(cases())
def test_cells_roll_up_to_the_classes_of_the_generalized_rows(case: Case) -> None:
    load(case)
    names = case.quasi_identifiers
    cells = counted(oracle.counts(case.rows, names), names, "row_count")
    assert_same_rows(ask(table_call("cells", "data", names)), cells)
    load_table("cells", {**{name: case.columns[name] for name in names}, "row_count": "BIGINT"}, cells)
    generalized = oracle.generalize(case.rows, case.taxonomies, case.node)
    rolled_up = counted(oracle.counts(generalized, names), names, "row_count")
    assert_same_rows(ask(table_call("roll_up", "cells", case.node)), rolled_up)


@EXAMPLES
@given(cases())
def test_equivalence_classes_and_their_values(case: Case) -> None:
    load(case)
    names = case.quasi_identifiers
    classes = counted(oracle.counts(case.rows, names), names, "class_size")
    assert_same_rows(ask(table_call("equivalence_classes", "data", names)), classes)
    sizes: oracle.Rows = [{"class_size": size} for size in oracle.class_sizes(case.rows, names)]
    assert_same_rows(ask(table_call("class_sizes", "data", names)), sizes)
    values = oracle.counts(case.rows, [*names, case.sensitive])
    expected = counted(values, [*names, "sensitive_value"], "row_count")
    assert_same_rows(ask(table_call("class_values", "data", names, case.sensitive)), expected)


# Privacy, quality, risk


@EXAMPLES
@given(cases())
def test_privacy_measures(case: Case) -> None:
    load(case)
    names, sizes = case.quasi_identifiers, oracle.class_sizes(case.rows, case.quasi_identifiers)
    expected_k = (oracle.k_anonymity(case.rows, names), len(sizes), len(case.rows))
    assert one(table_call("k_anonymity", "data", names)) == expected_k
    for macro, measure in (
        ("distinct_l_diversity", oracle.distinct_diversity),
        ("entropy_l_diversity", oracle.entropy_diversity),
    ):
        expected = oracle.diversity(case.rows, names, case.sensitive, measure)
        assert_close(one(table_call(macro, "data", names, case.sensitive)), [expected])


@EXAMPLES
@given(cases())
def test_class_diversity(case: Case) -> None:
    load(case)
    expected: oracle.Rows = []
    for members in oracle.classes(case.rows, case.quasi_identifiers).values():
        values = [row[case.sensitive] for row in members]
        expected.append(
            {
                "class_size": len(members),
                "distinct_diversity": oracle.distinct_diversity(values),
                "entropy_diversity": oracle.entropy_diversity(values),
                "largest_share": oracle.largest_share(values),
            }
        )
    assert_same_rows(ask(table_call("class_diversity", "data", case.quasi_identifiers, case.sensitive)), expected)


@EXAMPLES
@given(cases(), st.integers(1, 4))
def test_frequency_measures(case: Case, l: int) -> None:  # noqa: E741
    load(case)
    rows, names, sensitive = case.rows, case.quasi_identifiers, case.sensitive
    ratio = oracle.worst(rows, names, sensitive, lambda values: oracle.recursive_ratio(values, l))
    assert_close(one(table_call("recursive_cl_diversity", "data", names, sensitive, l)), [ratio])
    alpha = oracle.worst(rows, names, sensitive, oracle.largest_share)
    assert_close(
        one(table_call("alpha_k_anonymity", "data", names, sensitive)), [alpha, oracle.k_anonymity(rows, names)]
    )
    k = oracle.diversity(rows, names, sensitive, oracle.individuals)
    expected = (k, len(oracle.class_sizes(rows, names)), len(rows))
    assert one(table_call("k_anonymity_of_individuals", "data", names, sensitive)) == expected


@EXAMPLES
@given(cases(), st.data())
def test_closeness(case: Case, data: st.DataObject) -> None:
    load(case)
    rows, names, sensitive = case.rows, case.quasi_identifiers, case.sensitive
    reference = draw_other_rows("reference", case, data, min_rows=1)
    known = [row[sensitive] for row in reference]
    domain = oracle.value_order([row[sensitive] for row in [*rows, *reference]])

    def attained(measure: Callable[[list[oracle.Value], list[oracle.Value]], float]) -> float | None:
        return oracle.worst(rows, names, sensitive, lambda values: measure(values, known))

    for macro, expected in (
        ("t_closeness", [attained(oracle.equal_distance)]),
        ("ordered_t_closeness", [attained(lambda own, known: oracle.ordered_distance(own, known, domain))]),
        ("delta_disclosure", [attained(oracle.disclosure)]),
        ("beta_likeness", [attained(oracle.basic_likeness), attained(oracle.enhanced_likeness)]),
    ):
        assert_close(one(table_call(macro, "data", names, sensitive, "reference")), expected)


@EXAMPLES
@given(
    st.lists(st.tuples(st.integers(1, 3), st.none() | st.integers(1, 60)), min_size=1, max_size=40),
    st.lists(st.none() | st.integers(1, 60), min_size=1, max_size=80),
)
def test_ordered_closeness_over_many_values(members: list[tuple[int, int | None]], known: list[int | None]) -> None:
    """Values of the reference that a class lacks stand between those that it has, which is most of what there is."""
    rows: oracle.Rows = [{"q": label, "s": value} for label, value in members]
    load_table("data", {"q": "INTEGER", "s": "INTEGER"}, rows)
    load_table("reference", {"s": "INTEGER"}, [{"s": value} for value in known])
    domain = oracle.value_order([value for _, value in members] + known)
    expected = oracle.worst(rows, ["q"], "s", lambda values: oracle.ordered_distance(values, known, domain))
    assert_close(one(table_call("ordered_t_closeness", "data", ["q"], "s", "reference")), [expected])


@EXAMPLES
@given(cases(), st.data())
def test_hierarchical_closeness(case: Case, data: st.DataObject) -> None:
    """A quasi-identifier as the sensitive column, because it has a taxonomy."""
    load(case)
    sensitive, *others = case.quasi_identifiers
    names, taxonomy = [*others, case.sensitive], case.taxonomies[sensitive]
    known = [row[sensitive] for row in draw_other_rows("reference", case, data, min_rows=1)]
    expected = oracle.worst(
        case.rows, names, sensitive, lambda values: oracle.hierarchical_distance(values, known, taxonomy)
    )
    assert_close(one(table_call("hierarchical_t_closeness", "data", names, sensitive, "reference")), [expected])


@EXAMPLES
@given(cases(min_rows=1, max_rows=4), st.data())
def test_distances_are_the_cheapest_transport(case: Case, data: st.DataObject) -> None:
    """The closed forms of Li et al. 2007 against the definition, by trying all ways to move the masses."""
    name, taxonomy = next(iter(case.taxonomies.items()))
    values = [row[name] for row in case.rows]
    reference = data.draw(st.lists(st.sampled_from([None, *values]), min_size=1, max_size=3))
    domain = oracle.value_order([*values, *reference])
    steps = max(len(domain) - 1, 1)
    for closed_form, ground in (
        (oracle.equal_distance(values, reference), lambda one, other: float(one != other)),
        (
            oracle.ordered_distance(values, reference, domain),
            lambda one, other: abs(domain.index(one) - domain.index(other)) / steps,
        ),
        (
            oracle.hierarchical_distance(values, reference, taxonomy),
            lambda one, other: oracle.ground_distance(taxonomy, one, other),
        ),
    ):
        assert_close([closed_form], [oracle.transport_cost(values, reference, ground)])


@EXAMPLES
@given(cases(), st.data())
def test_concealing(case: Case, data: st.DataObject) -> None:
    load(case)
    secrets = [*case.quasi_identifiers[1:], case.sensitive]
    names = case.quasi_identifiers[:1]
    chances = st.sampled_from([0.0, 0.01, 0.3, 1.0])
    prior = {name: data.draw(chances) for name in data.draw(st.permutations(secrets))}
    states: oracle.Rows = [
        {"known": list(known), "probability": probability}
        for known, probability in oracle.knowledge_states(prior).items()
    ]
    found = [
        {name: row[name] for name in ("known", "probability")} for row in ask(table_call("knowledge_states", prior))
    ]
    assert_same_rows(found, states)
    risks = oracle.record_risks(case.rows, names, prior)
    assert_same_rows(ask(table_call("record_risks", "data", names, prior)), risks)
    if not RISK_COLUMNS & {name.lower() for name in (*names, *prior)}:
        exposure: oracle.Rows = [{name.removeprefix("anon_"): value for name, value in row.items()} for row in risks]
        assert_same_rows(ask(table_call("concealing_exposure", "data", names, prior)), exposure)
    m = max((row["anon_m"] for row in risks), default=None)
    assert_close(one(table_call("m_concealing", "data", names, prior)), [m, 1 / m if m else None])


@EXAMPLES
@given(cases(), st.integers(1, 4))
def test_discernibility_and_class_size(case: Case, k: int) -> None:
    load(case)
    names, sizes = case.quasi_identifiers, oracle.class_sizes(case.rows, case.quasi_identifiers)
    assert one(table_call("dm_star", "data", names)) == (oracle.dm_star(sizes),)
    assert one(table_call("dm", "data", names, k)) == (oracle.dm(sizes, k),)
    assert_close(one(table_call("aecs", "data", names, k)), [oracle.aecs(sizes, k)])


@EXAMPLES
@given(cases(), st.integers(1, 4))
def test_losses_of_a_node(case: Case, k: int) -> None:
    load(case)
    rows, known, node = case.rows, case.taxonomies, case.node
    assert_close(one(scalar_call("precision_loss", node)), [oracle.prec(known, node)])
    assert_close(one(table_call("entropy_loss", "data", node)), [oracle.entropy_loss(rows, known, node)])
    charged = [oracle.charged_entropy_loss(rows, known, node, k)]
    assert_close(one(table_call("charged_entropy_loss", "data", node, k)), charged)
    assert_close(
        one(table_call("charged_precision_loss", "data", node, k)), [oracle.charged_prec(rows, known, node, k)]
    )
    assert_close(one(table_call("lm", "data", node, k)), [oracle.mean_loss(rows, known, node, k, oracle.lm_share)])
    assert_close(one(table_call("ncp", "data", node, k)), [oracle.mean_loss(rows, known, node, k, oracle.ncp_share)])


@EXAMPLES
@given(cases())
def test_what_a_publisher_expects_of_the_rows_of_a_release(case: Case) -> None:
    load(case)
    names = list(case.node)
    known = {name: case.taxonomies[name] for name in names}
    store("released", table_call("generalize", "data", case.node))
    model = sa.PublisherPayout(3, 0.75, 2, 10)
    classes = defaultdict(list)
    for row, labelled in zip(case.rows, oracle.generalize(case.rows, known, case.node), strict=True):
        classes[tuple(labelled[name] for name in names)].append(oracle.information_lost(known, case.node, row))
    expected = [(len(lost), lost[0], oracle.payout(len(lost), lost[0], model)) for lost in classes.values()]
    found = ask(table_call("publisher_payout", "released", case.node, *model.figures))
    assert len(found) == len(expected)
    for row, (size, lost, payout) in zip(
        sorted(found, key=lambda each: (each["class_size"], each["payout"])),
        sorted(expected, key=lambda each: (each[0], each[2])),
        strict=True,
    ):
        assert row["class_size"] == size
        assert_close([row["information_loss"], row["payout"], row["missing"]], [lost, payout, model.benefit - payout])


@EXAMPLES
@given(cases(min_rows=1), st.integers(1, 4), st.data())
def test_losses_of_quasi_identifiers(case: Case, k: int, data: st.DataObject) -> None:
    load(case)
    rows, known, node = case.rows, case.taxonomies, case.node
    losses = oracle.attribute_losses(rows, known, node, k)
    assert_same_rows(
        ask(table_call("attribute_losses", "data", node, k)),
        [{"attribute": name, "lm": lm, "ncp": ncp} for name, (lm, ncp) in losses.items()],
    )
    means = [lm for lm, _ in losses.values()]
    geometric = oracle.geometric_loss(means, [1 / len(means)] * len(means))
    assert_close(one(table_call("geometric_lm", "data", node, k)), [geometric])
    weights = {name: data.draw(st.integers(1, 5)) for name in node}
    prec = sum(weight * oracle.prec({name: known[name]}, {name: node[name]}) for name, weight in weights.items())
    assert_close(one(scalar_call("weighted_precision_loss", node, weights)), [prec / sum(weights.values())])


@EXAMPLES
@given(cases(), st.integers(0, 12))
def test_best_k(case: Case, allowed_rows: int) -> None:
    load(case)
    names = case.quasi_identifiers
    expected = oracle.best_k(oracle.class_sizes(case.rows, names), allowed_rows)
    assert one(table_call("best_k", "data", names, allowed_rows)) == (expected,)


@EXAMPLES
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 5)), min_size=1, max_size=6))
def test_combined_losses(drawn: list[tuple[float, int]]) -> None:
    losses = [loss for loss, _ in drawn]
    weights = [weight / sum(weight for _, weight in drawn) for _, weight in drawn]
    for macro, combined in (("arithmetic_loss", oracle.arithmetic_loss), ("geometric_loss", oracle.geometric_loss)):
        assert_close(one(scalar_call(macro, losses, weights)), [combined(losses, weights)])


@EXAMPLES
@given(cases(), st.data())
def test_risks(case: Case, data: st.DataObject) -> None:
    load(case)
    rows, names = case.rows, case.quasi_identifiers
    assert_close(one(table_call("prosecutor_risk", "data", names)), oracle.prosecutor_risk(rows, names))
    assert_close(one(table_call("sample_uniqueness", "data", names)), oracle.sample_uniqueness(rows, names))
    for macro, naive in (("distinction", oracle.distinction), ("separation", oracle.separation)):
        assert_close(one(table_call(macro, "data", names)), [naive(rows, names)])
    population = draw_other_rows("population", case, data)
    journalist = oracle.journalist_risk(rows, names, population)
    assert_close(one(table_call("journalist_risk", "data", names, "population")), journalist)
    marketer = oracle.marketer_risk(rows, names, population)
    assert_close(one(table_call("marketer_risk", "data", names, "population")), [marketer])
    sizes: oracle.Rows = [
        {"class_size": size, "population_size": people}
        for size, people in oracle.population_classes(rows, names, population)
    ]
    assert_same_rows(ask(table_call("population_classes", "data", names, "population")), sizes)
    assert_close(one(table_call("k_map", "data", names, "population")), [oracle.k_map(rows, names, population)])
    presence = oracle.delta_presence(rows, names, population)
    assert_close(one(table_call("delta_presence", "data", names, "population")), presence)


def draw_other_rows(table: str, case: Case, data: st.DataObject, min_rows: int = 0) -> oracle.Rows:
    """Another table with the case's columns in another order: some of its rows several times, and other rows."""
    strangers: oracle.Rows = [
        {name: value if data.draw(st.booleans()) else None for name, value in row.items()} for row in case.rows[:3]
    ]
    choice = st.lists(st.sampled_from([*case.rows, *strangers]), min_size=min_rows, max_size=20)
    rows = data.draw(choice) if case.rows else []
    order = data.draw(st.permutations(list(case.columns)))
    load_table(table, {name: case.columns[name] for name in order}, rows)
    return rows


# Monotonicity along the edges of the lattice


@EXAMPLES
@given(cases(min_rows=1), st.data())
def test_losses_without_suppression_grow_with_generalization(case: Case, data: st.DataObject) -> None:
    load(case)
    lower, higher = edge(case, data)
    assert value(scalar_call("precision_loss", lower)) < value(scalar_call("precision_loss", higher))
    for macro, arguments in (("entropy_loss", []), ("lm", [1]), ("ncp", [1])):
        less, more = (value(table_call(macro, "data", node, *arguments)) for node in (lower, higher))
        assert less <= more + 1e-9, macro


@EXAMPLES
@given(cases(min_rows=1), st.data())
def test_classes_only_merge_with_generalization(case: Case, data: st.DataObject) -> None:
    load(case)
    lower, higher = edge(case, data)
    store("lower", table_call("generalize", "data", lower))
    store("higher", table_call("generalize", "data", higher))
    for macro, arguments in (
        ("k_anonymity", []),
        ("dm_star", []),
        ("distinct_l_diversity", [case.sensitive]),
        ("entropy_l_diversity", [case.sensitive]),
        ("k_anonymity_of_individuals", [case.sensitive]),
    ):
        less, more = (
            value(table_call(macro, table, case.quasi_identifiers, *arguments)) for table in ("lower", "higher")
        )
        assert less <= more + 1e-9, macro


@FEW_EXAMPLES
@given(cases(min_rows=1), st.data())
def test_less_is_disclosed_with_generalization(case: Case, data: st.DataObject) -> None:
    load(case)
    lower, higher = edge(case, data)
    store("lower", table_call("generalize", "data", lower))
    store("higher", table_call("generalize", "data", higher))
    for macro, arguments in (
        ("recursive_cl_diversity", [case.sensitive, 2]),
        ("alpha_k_anonymity", [case.sensitive]),
        ("t_closeness", [case.sensitive, "data"]),
        ("ordered_t_closeness", [case.sensitive, "data"]),
        ("beta_likeness", [case.sensitive, "data"]),
        ("m_concealing", [{case.sensitive: 0.3}]),
    ):
        more, less = (
            value(table_call(macro, table, case.quasi_identifiers, *arguments)) for table in ("lower", "higher")
        )
        assert less <= more + 1e-9, macro


def value(query: exp.Select) -> Any:
    """The first value of the only row."""
    return one(query)[0]


def store(table: str, query: exp.Select) -> None:
    create = exp.Create(this=exp.to_table(table), kind="TABLE", replace=True, expression=query)
    connection().execute(create.sql(DIALECT))


# Worked examples


def load_classes(sizes: Sequence[int]) -> None:
    """A table ``data`` with one quasi-identifier ``q`` and classes of these sizes."""
    rows: oracle.Rows = [{"q": label} for label, size in enumerate(sizes) for _ in range(size)]
    load_table("data", {"q": "INTEGER"}, rows)


@pytest.mark.parametrize(
    ("sizes", "k", "expected"),
    [([3, 3, 5, 9], 3, 20 / 4 / 3), ([3, 3, 5, 9], 4, 20 / 3 / 4), ([5, 9], 4, 14 / 2 / 4), ([1, 2], 3, 3 / 1 / 3)],
    ids=["spec: k=3", "six rows are suppressed", "spec: k=4, the classes that are kept", "no class is kept"],
)
def test_aecs_worked(sizes: list[int], k: int, expected: float | None) -> None:
    load_classes(sizes)
    assert_close(one(table_call("aecs", "data", ["q"], k)), [expected])
    assert_close([oracle.aecs(sizes, k)], [expected])


@pytest.mark.parametrize(
    ("sizes", "k", "expected"),
    [
        ([3, 3, 5, 9], 4, 25 + 81 + 20 * 6),
        ([2, 2], 3, 16),
        ([4], 3, 16),
        ([2, 3], 3, 10 + 9),
        ([5], 3, 25),
        ([2, 2, 9], 3, 52 + 81),
        ([4, 9], 3, 97),
    ],
)
def test_dm_worked_in_the_metrics_spec_is_not_monotonic(sizes: list[int], k: int, expected: int) -> None:
    load_classes(sizes)
    assert one(table_call("dm", "data", ["q"], k)) == (expected,)
    assert oracle.dm(sizes, k) == expected


def test_dm_star_worked() -> None:
    load_classes([3, 3, 5, 9])
    assert one(table_call("dm_star", "data", ["q"])) == (124,)


def test_entropy_of_a_a_b_c_is_six_bits() -> None:
    taxonomy: oracle.Taxonomy = [["a", "*"], ["b", "*"], ["c", "*"]]
    rows: oracle.Rows = [{"q": value} for value in "aabc"]
    load(Case(rows, {"q": "VARCHAR"}, {"q": taxonomy}, "q", {"q": 1}))
    assert_close(one(table_call("entropy_loss", "data", {"q": 1})), [6.0])
    assert_close(one(table_call("entropy_loss", "data", {"q": 0})), [0.0])


def test_prec_worked() -> None:
    """Node (1, 0, 2) of a lattice with heights (2, 1, 2): 1.5 in sum, .5 in the mean."""
    heights = {"x": 2, "y": 1, "z": 2}
    known: dict[str, oracle.Taxonomy] = {name: [["v"] * top + ["*"]] for name, top in heights.items()}
    load(Case([], dict.fromkeys(heights, "VARCHAR"), known, "x", heights))
    assert_close(one(scalar_call("precision_loss", {"x": 1, "y": 0, "z": 2})), [0.5])


@pytest.mark.parametrize(("macro", "expected"), [("ncp", 10 / 100), ("lm", 9 / 99)])
def test_a_decade_of_a_hundred_ages(macro: str, expected: float) -> None:
    """NCP divides the leaves by the domain, D_A the other leaves by the other values."""
    ages: oracle.Taxonomy = [[str(age), f"{age // 10}x", "*"] for age in range(100)]
    load(Case([{"age": 34}], {"age": "INTEGER"}, {"age": ages}, "age", {"age": 1}))
    assert_close(one(table_call(macro, "data", {"age": 1}, 1)), [expected])
    assert_close(one(table_call(macro, "data", {"age": 2}, 1)), [1.0])
    assert_close(one(table_call(macro, "data", {"age": 0}, 1)), [0.0])
    assert_close(one(table_call(macro, "data", {"age": 0}, 2)), [1.0])


def test_counting_of_three_real_rows_that_are_suppressed() -> None:
    """The metrics spec's last line, row policy ``real``: size 3, DM* 9, and suppressed under k = 4 for DM."""
    load_classes([3])
    assert one(table_call("dm_star", "data", ["q"])) == (9,)
    assert one(table_call("dm", "data", ["q"], 4)) == (3 * 3,)


def test_published_class_of_four() -> None:
    """The same line, row policy ``published``: size 4, DM 16, AECS 1."""
    load_classes([4])
    assert one(table_call("dm", "data", ["q"], 4)) == (16,)
    assert_close(one(table_call("aecs", "data", ["q"], 4)), [1.0])


def test_number_of_nodes_is_the_product_of_the_numbers_of_levels() -> None:
    """Adult with the age level that Mazzone's Appendix B does not print: 10,368 nodes, not 5,832."""
    heights = [3, 2, 2, 2, 2, 1, 1, 1, 3]
    known: dict[str, oracle.Taxonomy] = {f"q{number}": [["v"] * top + ["*"]] for number, top in enumerate(heights)}
    load(Case([], dict.fromkeys(known, "VARCHAR"), known, "q0", dict.fromkeys(known, 0)))
    count = exp.select(exp.Count(this=exp.Star())).from_(table_call("lattice", list(known)).subquery())
    assert one(count) == (math.prod(top + 1 for top in heights),) == (10_368,)


def test_prec_optimum_of_the_ola_spec() -> None:
    """k = 5 with 1 % suppression on Adult: node (2, 2, 2, 0, 2, 0, 0, 0, 3) has precision loss .5185."""
    heights = [3, 2, 2, 2, 2, 1, 1, 1, 3]
    known: dict[str, oracle.Taxonomy] = {f"q{number}": [["v"] * top + ["*"]] for number, top in enumerate(heights)}
    load(Case([], dict.fromkeys(known, "VARCHAR"), known, "q0", dict.fromkeys(known, 0)))
    node = dict(zip(known, [2, 2, 2, 0, 2, 0, 0, 0, 3], strict=True))
    [loss] = one(scalar_call("precision_loss", node))
    assert round(loss, 4) == 0.5185


def test_suppression_counts_of_the_ola_spec() -> None:
    """Class sizes 3, 3, 5, 9: at most 15 % suppressed means k = 3, since k = 4 costs 6 of 20 rows."""
    load_classes([3, 3, 5, 9])
    sizes = [row["class_size"] for row in ask(table_call("class_sizes", "data", ["q"]))]
    assert [oracle.suppressed_rows(sizes, k) for k in (3, 4, 6, 10)] == [0, 6, 11, 20]
    for k, suppressed in ((3, 0), (4, 6), (6, 11), (10, 20)):
        assert len(ask(table_call("suppress", "data", ["q"], k))) == 20 - suppressed


def test_salaries_of_the_t_closeness_paper() -> None:
    """Li et al. 2007: .375 for {3k, 4k, 5k} and .167 for {6k, 8k, 11k} among 3k, 4k, ..., 11k."""
    salaries = {1: [3000, 4000, 5000], 2: [6000, 11000, 8000], 3: [7000, 9000, 10000]}
    rows: oracle.Rows = [{"q": label, "salary": salary} for label, members in salaries.items() for salary in members]
    load_table("data", {"q": "INTEGER", "salary": "INTEGER"}, rows)
    everyone = sorted(row["salary"] for row in rows)

    def ground(one: oracle.Value, other: oracle.Value) -> float:
        return abs(everyone.index(one) - everyone.index(other)) / (len(everyone) - 1)

    for label, published in ((1, 0.375), (2, 0.167)):
        members = [row for row in rows if row["q"] == label]
        load_table("members", {"q": "INTEGER", "salary": "INTEGER"}, members)
        [t] = one(table_call("ordered_t_closeness", "members", ["q"], "salary", "data"))
        assert round(t, 3) == published
        assert_close([t], [oracle.ordered_distance(salaries[label], everyone, everyone)])
        assert_close([t], [oracle.transport_cost(salaries[label], everyone, ground)])
    assert_close(one(table_call("ordered_t_closeness", "data", ["q"], "salary", "data")), [0.375])


@pytest.mark.parametrize(
    ("prior", "m"), [((0.1, 0.2), 0.5), ((0, 0), 0.5), ((1, 1), 1.0)], ids=["mixed", "nothing", "everything"]
)
def test_concealing_worked_in_the_spec(prior: tuple[float, float], m: float) -> None:
    records = [("A", "x", "u"), ("A", "x", "v"), ("A", "y", "u"), ("A", "y", "u"), ("B", "x", "u"), ("B", "x", "u")]
    names = ["q", "s1", "s2"]
    rows: oracle.Rows = [dict(zip(names, record, strict=True)) for record in records]
    load_table("data", dict.fromkeys(names, "VARCHAR"), rows)
    chances = dict(zip(names[1:], prior, strict=True))
    assert_close(one(table_call("m_concealing", "data", ["q"], chances)), [m, 1 / m])
    if prior == (0.1, 0.2):
        risks = {(row["q"], row["s1"], row["s2"]): row["anon_m"] for row in oracle.record_risks(rows, ["q"], chances)}
        expected = {("A", "x", "v"): 0.42, ("A", "x", "u"): 0.30, ("A", "y", "u"): 0.29, ("B", "x", "u"): 0.5}
        assert_close([risks[record] for record in expected], expected.values())
