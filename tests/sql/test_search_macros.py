"""The search in SQL against brute force: every node of random lattices, the best ones, and their release."""

from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

import sqlanon as sa
from sqlanon.model.privacy import PrivacyModel
from tests import brute_force, oracle
from tests.brute_force import Measured, Task
from tests.sql.test_oracle import (
    EXAMPLES,
    ask,
    assert_close,
    assert_same_rows,
    connection,
    load,
    load_table,
    table_call,
)
from tests.strategies import Case, cases

LIMITS = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])


def task_of(case: Case, k: int, limit: float = 0.0) -> Task:
    """The search that brute force is asked for; quasi-identifiers are compared as text, as in taxonomies."""
    names = case.quasi_identifiers
    policy = sa.Policy(quasi_identifiers=names, privacy=[sa.KAnonymity(k)], suppression_limit=limit)
    rows = [{**row, **{name: oracle.text(row[name]) for name in names}} for row in case.rows]
    return Task(rows, case.taxonomies, policy)


def losses_of(node: Measured) -> list[float | None]:
    """What a node loses, in the order of the columns of the macro."""
    return [node.losses[name] for name in ("lm", "ncp", "prec", "entropy", "dm", "aecs")]


@EXAMPLES
@given(cases(min_rows=1), st.integers(2, 4))
def test_every_node_is_counted(case: Case, k: int) -> None:
    load(case)
    found = {
        tuple(row["node"].values()): row for row in ask(table_call("node_counts", "data", case.quasi_identifiers, k))
    }
    expected = {node.levels: node for node in brute_force.lattice(task_of(case, k))}
    assert found.keys() == expected.keys()
    for levels, node in expected.items():
        row = found[levels]
        assert list(row["node"]) == case.quasi_identifiers
        counts = (node.height, node.class_count, node.kept_class_count, node.suppressed_rows, node.min_class_size)
        names = ("height", "class_count", "kept_class_count", "suppressed_rows", "smallest_class")
        assert tuple(row[name] for name in names) == counts
        assert_close([row[name] for name in ("lm", "ncp", "prec", "entropy", "dm", "aecs")], losses_of(node))
        charged = oracle.charged_entropy_loss(case.rows, case.taxonomies, node.node, k)
        assert_close([row["charged_entropy"]], [charged])


@EXAMPLES
@given(cases(min_rows=1), st.integers(2, 4), LIMITS)
def test_best_nodes_satisfy_and_lose_least(case: Case, k: int, limit: float) -> None:
    load(case)
    nodes = brute_force.lattice(task_of(case, k, limit))
    found = ask(table_call("best_nodes", "data", case.quasi_identifiers, k, limit))
    assert {tuple(row["node"].values()) for row in found} == {node.levels for node in nodes if node.satisfies}
    assert [row["rank"] for row in found] == sorted(row["rank"] for row in found)
    if answer := brute_force.answer(nodes):
        assert tuple(found[0]["node"].values()) == answer.best.levels
        assert {tuple(row["node"].values()) for row in found if row["rank"] == 1} == answer.ties


SENSITIVE_MODELS = (
    lambda column: sa.DistinctLDiversity(column, 2),
    lambda column: sa.EntropyLDiversity(column, 1.5),
    lambda column: sa.RecursiveCLDiversity(column, c=3, l=2),
    lambda column: sa.AlphaKAnonymity(column, alpha=0.6, k=2),
    lambda column: sa.TCloseness(column, 0.4),
    lambda column: sa.BetaLikeness(column, 1),
    lambda column: sa.BetaLikeness(column, 1, variant="enhanced"),
    lambda column: sa.DeltaDisclosure(column, 1.2),
)


def structs(models: Sequence[PrivacyModel]) -> exp.Array:
    """Models as a list of structs, with the names of a policy file."""
    settings = [model.model_dump(mode="json", exclude_none=True) for model in models]
    return exp.Array(
        expressions=[
            exp.Struct(
                expressions=[
                    exp.PropertyEQ(this=exp.to_identifier(name, quoted=True), expression=exp.convert(value))
                    for name, value in each.items()
                ]
            )
            for each in settings
        ]
    )


@EXAMPLES
@given(cases(min_rows=2), st.lists(st.sampled_from(SENSITIVE_MODELS), min_size=1, max_size=2), st.data())
def test_best_nodes_meet_models_of_sensitive_values(
    case: Case, makers: Sequence[Callable[[str], PrivacyModel]], data: st.DataObject
) -> None:
    """Of one column or two, with k-anonymity or without."""
    load(case)
    other = next(name for name in case.columns if name not in (*case.quasi_identifiers, case.sensitive))
    columns = data.draw(st.permutations([case.sensitive, other]))
    models = [make(column) for make, column in zip(makers, columns, strict=False)]
    if data.draw(st.booleans()):
        models.append(sa.KAnonymity(2))
    limit = data.draw(LIMITS)
    policy = sa.Policy(
        quasi_identifiers=case.quasi_identifiers,
        sensitive=[*dict.fromkeys(model.column for model in models if not isinstance(model, sa.KAnonymity))],
        privacy=models,
        suppression_limit=limit,
    )
    nodes = brute_force.lattice(task_of(case, 2).under(policy))
    found = ask(table_call("best_nodes_where", "data", case.quasi_identifiers, structs(models), limit))
    assert {tuple(row["node"].values()) for row in found} == {node.levels for node in nodes if node.satisfies}
    if answer := brute_force.answer(nodes):
        assert tuple(found[0]["node"].values()) == answer.best.levels
        assert {tuple(row["node"].values()) for row in found if row["rank"] == 1} == answer.ties


@EXAMPLES
@given(cases(min_rows=1), st.integers(2, 4), LIMITS)
def test_release_is_the_best_node_without_small_classes(case: Case, k: int, limit: float) -> None:
    load(case)
    task = task_of(case, k, limit)
    answer = brute_force.answer(brute_force.lattice(task))
    query = table_call("release", "data", case.quasi_identifiers, k, limit)
    if answer is None:
        with pytest.raises(Exception, match="no node leaves so few rows in classes of fewer than k"):
            ask(query)
    else:
        generalized = oracle.generalize(case.rows, case.taxonomies, answer.best.node)
        kept = oracle.suppress(generalized, case.quasi_identifiers, k)
        assert_same_rows(ask(query), kept)
        labels = dict.fromkeys(case.quasi_identifiers, "VARCHAR")
        load_table("released", {**case.columns, **labels}, kept)
        [verified] = ask(table_call("verify", "released", "data", case.quasi_identifiers, k))
        assert verified["holds"] is True
        assert verified["row_count"] == len(kept)
        check_who_is_left_out(case, kept)


def peeled(case: Case, k: int, rounds: int) -> oracle.Rows:
    """The rows that local recoding releases, of nodes that are tried one by one."""
    names, rows = case.quasi_identifiers, case.rows

    def loss(node: oracle.Node) -> float:
        labels = [(case.taxonomies[name], node[name], row[name]) for row in rows for name in names]
        shares = [
            oracle.ncp_share(oracle.leaves(taxonomy, level, oracle.label_of(taxonomy, level, value)), len(taxonomy))
            for taxonomy, level, value in labels
        ]
        return round(sum(shares), 6)

    nodes = [node for node in brute_force.lattice(task_of(case, k)) if node.kept_class_count > 0]
    top = max((node.height for node in nodes), default=0)
    chain: list[Measured] = []
    for node in sorted(nodes, key=lambda node: (loss(node.node), node.suppressed_rows, node.levels)):
        if all(node.suppressed_rows < other.suppressed_rows for other in chain) or node.height == top:
            chain.append(node)
    places = range(1, len(chain) + 1)
    chosen = [place for place in places if place * rounds // len(chain) > (place - 1) * rounds // len(chain)]
    left, released = list(rows), []
    for node in (chain[place - 1].node for place in chosen):
        generalized = oracle.generalize(left, case.taxonomies, node)
        sizes = oracle.counts(generalized, names)
        classes: dict[tuple[oracle.Value, ...], oracle.Rows] = {}
        for row, labels in zip(left, generalized, strict=True):
            classes.setdefault(tuple(labels[name] for name in names), []).append(row)
        left = [row for labels, members in classes.items() if sizes[labels] < k for row in members]
        released += [
            {**row, **finest_labels(case, members)}
            for labels, members in classes.items()
            if sizes[labels] >= k
            for row in members
        ]
    return released


def finest_labels(case: Case, members: oracle.Rows) -> oracle.Row:
    """What a class shows: the first level of each quasi-identifier at which all its rows have one label."""
    found = {}
    for name in case.quasi_identifiers:
        taxonomy = case.taxonomies[name]
        levels = range(oracle.height(taxonomy) + 1)
        labels = [{oracle.label_of(taxonomy, level, row[name]) for row in members} for level in levels]
        [found[name]] = next(each for each in labels if len(each) == 1)
    return found


@EXAMPLES
@given(cases(min_rows=1), st.integers(2, 4), st.sampled_from([1, 2, 3, 100]))
def test_local_recoding_peels_nodes(case: Case, k: int, rounds: int) -> None:
    load(case)
    query = table_call("local_recoding", "data", case.quasi_identifiers, k, rounds)
    if len(case.rows) < k:
        with pytest.raises(Exception, match="there are fewer rows than k"):
            ask(query)
        return
    released = ask(query)
    assert_same_rows(released, peeled(case, k, rounds))
    assert len(case.rows) - len(released) < k
    assert (oracle.k_anonymity(released, case.quasi_identifiers) or k) >= k


def check_who_is_left_out(case: Case, kept: oracle.Rows) -> None:
    """Hold the counts of the sensitive values, in the source and in its release, against those of the rows."""
    before, after = (Counter(oracle.text(row[case.sensitive]) for row in rows) for rows in (case.rows, kept))
    expected: oracle.Rows = [
        {
            "value": value,
            "source_rows": rows,
            "release_rows": after[value],
            "left_out_share": 1 - after[value] / rows,
        }
        for value, rows in before.items()
    ]
    assert_same_rows(ask(table_call("left_out", "data", "released", case.sensitive)), expected)


@EXAMPLES
@given(cases(min_rows=1), st.integers(2, 4))
def test_columns_that_single_rows_out(case: Case, k: int) -> None:
    load(case)
    expected: oracle.Rows = []
    for name in case.columns:
        counts = Counter(row[name] for row in case.rows if row[name] is not None)
        rare = sum(rows for rows in counts.values() if rows < k)
        expected.append(
            {"column_name": name, "value_count": len(counts), "rare_rows": rare, "rare_share": rare / len(case.rows)}
        )
    assert_same_rows(ask(table_call("nearly_unique", "data", k)), expected)


def test_limits_are_the_decimals_that_are_written() -> None:
    """29 % of 100 is 29, although 0.29 * 100 is less as a binary fraction."""
    query = "SELECT anon_helpers.allowed_rows(0.29, 100), anon_helpers.allowed_rows(1e-2, 250)"
    assert connection().execute(query).fetchone() == (29, 2)
    assert connection().execute("SELECT anon_helpers.allowed_rows($1, 100)", [0.29]).fetchone() == (29,)
