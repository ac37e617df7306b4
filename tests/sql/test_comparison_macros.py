"""The macros that compare a release with its original, and those that answer queries from it, against the oracle."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from sqlanon.queries.kit.macros import macros
from tests import oracle
from tests.oracle import MASK
from tests.sql.test_oracle import (
    FEW_EXAMPLES,
    Case,
    ask,
    assert_close,
    assert_same_rows,
    load,
    load_table,
    one,
    table_call,
)
from tests.strategies import cases, distinct_names, taxonomies

ORIGINAL, RELEASED, WEIGHT = "data", "released", "anon weight"

CHANCES = st.sampled_from([None, 0.0, 0.25, 1.0])


@st.composite
def releases(draw: st.DrawFn) -> tuple[Case, oracle.Rows]:
    """A table, and a release of it with deleted, masked, repeated and invented rows at the node of the case."""
    case = draw(cases())
    released: oracle.Rows = []
    for row in oracle.generalize(case.rows, case.taxonomies, case.node):
        masked = {**row, **dict.fromkeys(case.node, MASK)}
        stranger = {**row, case.sensitive: draw(st.sampled_from([None, row[case.sensitive]]))}
        released += draw(st.sampled_from([[], [row], [row], [masked], [row, stranger]]))
    return case, released


def load_release(case: Case, released: oracle.Rows, data: st.DataObject) -> None:
    """The original, and beside it the release with its columns in another order."""
    load(case)
    order = data.draw(st.permutations(list(case.columns)))
    load_table(RELEASED, {name: "VARCHAR" if name in case.node else case.columns[name] for name in order}, released)


# Comparing a release with its original


@FEW_EXAMPLES
@given(releases(), st.data())
def test_classes_of_a_release(drawn: tuple[Case, oracle.Rows], data: st.DataObject) -> None:
    case, released = drawn
    load_release(case, released, data)
    node, known, sensitive = case.node, case.taxonomies, case.sensitive
    compared = oracle.compared_classes(case.rows, released, known, node, sensitive)
    expected: oracle.Rows = [
        {
            "class": list(labels),
            "masked": set(labels) == {MASK},
            "original_rows": len(before),
            "released_rows": len(after),
            "distance": oracle.class_distance(before, after),
            "counterfeit_share": oracle.counterfeit_share(before, after),
        }
        for labels, (before, after) in compared.items()
    ]
    assert_same_rows(ask(table_call("compared_classes", ORIGINAL, RELEASED, node, sensitive)), expected)
    changes = oracle.class_changes(case.rows, released, known, node, sensitive)
    assert_close(one(table_call("class_changes", ORIGINAL, RELEASED, node, sensitive)), changes)


@FEW_EXAMPLES
@given(releases(), st.data())
def test_losses_of_a_release(drawn: tuple[Case, oracle.Rows], data: st.DataObject) -> None:
    case, released = drawn
    load_release(case, released, data)
    names, known, width = case.quasi_identifiers, case.taxonomies, len(case.node)
    ncp = oracle.released_ncp(released, known, names)
    assert_close(one(table_call("released_ncp", RELEASED, names)), [ncp, None if ncp is None else ncp * width])
    values = [[row[case.sensitive] for row in rows] for rows in (case.rows, released)]
    distance = oracle.total_variation(*values)
    assert_close(one(table_call("total_variation", ORIGINAL, RELEASED, case.sensitive)), [distance])
    _, rate, *_ = oracle.class_changes(case.rows, released, known, case.node, case.sensitive)
    parts: list[float | None] = [ncp, distance, rate, *[None] * 4]
    if ncp is not None and distance is not None:
        loss = ncp + distance + rate
        parts[3:] = [loss, loss / 3, ncp * width + distance + rate, 3 - loss]
    assert_close(one(table_call("information_loss", ORIGINAL, RELEASED, case.node, case.sensitive)), parts)


@FEW_EXAMPLES
@given(releases(), st.data())
def test_what_is_lost_of_the_rows_of_the_original(drawn: tuple[Case, oracle.Rows], data: st.DataObject) -> None:
    case, released = drawn
    load(case)
    truths = data.draw(st.lists(CHANCES, min_size=len(released), max_size=len(released)))
    columns = {name: "VARCHAR" if name in case.node else case.columns[name] for name in reversed(case.columns)}
    weighted = [{**row, WEIGHT: truth} for row, truth in zip(released, truths, strict=True)]
    load_table(RELEASED, {**columns, WEIGHT: "DOUBLE"}, weighted)
    found = one(table_call("reconstruction_errors", ORIGINAL, RELEASED, case.node, case.sensitive, WEIGHT))
    known = [truth or 0.0 for truth in truths]
    assert_close(
        found, oracle.reconstruction_errors(case.rows, released, case.taxonomies, case.node, case.sensitive, known)
    )


@FEW_EXAMPLES
@given(cases(min_rows=1), st.data())
def test_what_is_only_generalized_loses_by_its_labels_what_its_node_loses(case: Case, data: st.DataObject) -> None:
    """Where no label stands at two levels with other values under it, so that it can be read without the node."""
    load_release(case, oracle.generalize(case.rows, case.taxonomies, case.node), data)
    for name, level in case.node.items():
        taxonomy = case.taxonomies[name]
        for label in {row[level] for row in taxonomy}:
            if len(oracle.label_values(taxonomy, label)) != oracle.leaves(taxonomy, level, label):
                return
    if all(len(taxonomy) > 1 for taxonomy in case.taxonomies.values()):
        [by_node] = one(table_call("ncp", ORIGINAL, case.node, 1))
        assert_close(one(table_call("released_ncp", RELEASED, case.quasi_identifiers))[:1], [by_node])
    assert_close(one(table_call("class_changes", ORIGINAL, RELEASED, case.node, case.sensitive)), [0.0, 0.0, 0.0, 0.0])


# Queries


NUMBERS = [None, -7, 0, 1, 2, 10, 11]


@st.composite
def numeric_cases(draw: st.DrawFn) -> tuple[Case, oracle.Rows, list[float | None]]:
    """Columns of numbers with taxonomies, their generalized rows and a weight for each."""
    first, second, sensitive = draw(distinct_names(3, 3))
    names = [first, second]
    domain = draw(st.lists(st.sampled_from(NUMBERS[1:]), min_size=1, unique=True))
    known = {name: draw(taxonomies(domain)) for name in names}
    row = st.fixed_dictionaries({name: st.sampled_from([None, *domain]) for name in names} | {sensitive: st.just(1)})
    rows = draw(st.lists(row, max_size=10))
    node = {name: draw(st.integers(0, oracle.height(known[name]))) for name in names}
    released = oracle.generalize(rows, known, node)
    weights = draw(st.lists(CHANCES, min_size=len(rows), max_size=len(rows)))
    return Case(rows, dict.fromkeys([*names, sensitive], "INTEGER"), known, sensitive, node), released, weights


def as_answers(rows: oracle.Rows, width: int | None) -> oracle.Answers:
    """The answers of a macro by group, as the oracle has them."""
    found = {row["group_label" if width is None else "group_start"]: row["answer"] for row in rows}
    assert len(found) == len(rows)
    return found


def assert_same_answers(found: oracle.Answers, expected: oracle.Answers) -> None:
    assert found.keys() == expected.keys()
    assert_close([found[group] for group in expected], expected.values())


@FEW_EXAMPLES
@given(numeric_cases(), st.sampled_from([None, 1, 5]))
def test_answers_to_queries(drawn: tuple[Case, oracle.Rows, list[float | None]], width: int | None) -> None:
    case, released, weights = drawn
    load(case)
    column, averaged = case.quasi_identifiers
    columns = {**dict.fromkeys(case.node, "VARCHAR"), case.sensitive: "INTEGER", WEIGHT: "DOUBLE"}
    weighted = [{**row, WEIGHT: weight} for row, weight in zip(released, weights, strict=True)]
    load_table(RELEASED, columns, weighted)
    known = case.taxonomies
    answers = {
        "grouped_counts": oracle.grouped_counts(case.rows, column, width),
        "grouped_averages": oracle.grouped_averages(case.rows, column, width, averaged),
        "estimated_counts": oracle.estimated_counts(released, known, column, width, weights),
        "estimated_averages": oracle.estimated_averages(released, known, column, width, averaged, weights),
    }
    for macro, expected in answers.items():
        is_estimate = macro.startswith("estimated")
        arguments = [column, width, *([averaged] if macro.endswith("averages") else []), *([WEIGHT] * is_estimate)]
        found = ask(table_call(macro, RELEASED if is_estimate else ORIGINAL, *arguments))
        assert_same_answers(as_answers(found, width), expected)


@FEW_EXAMPLES
@given(numeric_cases(), st.sampled_from(NUMBERS))
def test_what_a_label_stands_for(drawn: tuple[Case, oracle.Rows, list[float | None]], value: int | None) -> None:
    case, released, _ = drawn
    load(case)
    load_table(RELEASED, {**dict.fromkeys(case.node, "VARCHAR"), case.sensitive: "INTEGER"}, released)
    name = case.quasi_identifiers[0]
    label = exp.column(exp.to_identifier(name, quoted=True))
    calls = [call("label_midpoint", name, label), call("label_share", name, label, value)]
    query = exp.select(exp.alias_(exp.Array(expressions=calls), "found")).from_(RELEASED)
    expected = [
        (
            oracle.label_midpoint(case.taxonomies, name, row[name]),
            oracle.label_share(case.taxonomies, name, row[name], value),
        )
        for row in released
    ]
    assert Counter(tuple(row["found"]) for row in ask(query)) == Counter(expected)


def call(name: str, *arguments: exp.Expr | str | int | None) -> exp.Expr:
    """A scalar macro over columns."""
    function = exp.Anonymous(this=name, expressions=[exp.convert(argument) for argument in arguments])
    return exp.Dot(this=exp.to_identifier(macros()[name].schema), expression=function)


def load_answers(table: str, answers: oracle.Answers) -> None:
    columns = {"group_label": "VARCHAR", "group_start": "DOUBLE", "answer": "DOUBLE"}
    rows: oracle.Rows = [
        {"group_label": None if group is None else str(group), "group_start": None, "answer": answer}
        for group, answer in answers.items()
    ]
    load_table(table, columns, rows)


def errors(truth: oracle.Answers, answers: oracle.Answers, missing: float | None) -> tuple[float | None, ...]:
    load_answers("truth", truth)
    load_answers("answers", answers)
    return one(table_call("answer_errors", "truth", "answers", missing))


GROUPS = st.sampled_from([None, "a", "b", "c"])


@FEW_EXAMPLES
@given(
    st.dictionaries(GROUPS, st.sampled_from([None, 0.0, 0.5, 3.0])),
    st.dictionaries(GROUPS, st.sampled_from([None, 0.0, 1.0, 7.0])),
    st.sampled_from([None, 0]),
)
def test_errors_of_answers(truth: oracle.Answers, answers: oracle.Answers, missing: int | None) -> None:
    assert_close(errors(truth, answers, missing), oracle.answer_errors(truth, answers, missing))


# Lee and Chung 2020, tables 9 to 12


Q1 = [1, 2, 1, 9, 12, 13, 27, 44, 104, 205, 341, 396, 472, 442, 430, 360, 197, 78]
Q2 = [0, 2, 7, 8, 4, 6, 10, 26, 63, 102, 178, 231, 279, 326, 457, 525, 445, 243]
Q3 = [1, 1.4, 2.1, 2.7, 3.4, 4, 3.6, 4.3, 5.8]
Q4 = [3, 3, 7.7, 1.7, 2.7, 3.5, 3.5, 5.6, 8]


def repeated(values: Sequence[float], times: int) -> list[float]:
    return [value for value in values for _ in range(times)]


SERIES = {
    "Q1 IPA": (Q1, [1, 1, *repeated([4, 12, 34.5, 150.5, 367, 452.5, 386.5, 141.5], 2)], (22.333, 30.758, 0.3791)),
    "Q1 k": (Q1, repeated([6.3, 186.2, 329.8], 6), (87.022, 116.813, 1.6560)),
    "Q2 IPA": (Q2, repeated([1, 8, 4.5, 17.5, 79.5, 201, 298, 489.5, 363.5], 2), (23.889, 38.705, 0.2240)),
    "Q2 k": (Q2, repeated([4.5, 101.7, 379.2], 6), (55.889, 75.013, 1.0462)),
    "Q3 IPA": (Q3, [2.2, 1.4, 5.7, 5.5, 4.2, 4.1, 4.8, 4.5, 6.5], (1.178, 1.662, 0.5236)),
    "Q3 k": (Q3, repeated([8.9, 14.5, 15.7], 3), (9.889, 10.066, 3.8305)),
    "Q4 IPA": (Q4, [1, 1.4, 2.8, 2.4, 3.6, 3.2, 4.7, 6.1, 8.5], (1.400, 1.941, 0.3513)),
    "Q4 k": (Q4, repeated([15, 11.7, 21.1], 3), (11.633, 12.070, 3.3267)),
}


@pytest.mark.parametrize("name", SERIES)
def test_errors_of_the_published_answers(name: str) -> None:
    truth, answers, published = SERIES[name]
    as_groups = [dict(enumerate(map(float, series))) for series in (truth, answers)]
    found = errors(as_groups[0], as_groups[1], 0)
    assert found[:3] == (len(truth), 0, 0)
    assert tuple(round(error or 0, digits) for error, digits in zip(found[3:6], (3, 3, 4), strict=True)) == published


@pytest.mark.parametrize(("truth", "published"), [(Q1, [6.3, 186.2, 329.8]), (Q2, [4.5, 101.7, 379.2])])
def test_answers_by_k_anonymity_are_means_over_thirty_years(truth: list[int], published: list[float]) -> None:
    """Tables 9 and 10: the last column is what the uniform spread gives when ages are released in 30-year labels."""
    ages: oracle.Taxonomy = [[str(age), f"{age // 30 * 30}-{age // 30 * 30 + 29}", "*"] for age in range(90)]
    rows: oracle.Rows = [{"age": 5 * group + 2} for group, count in enumerate(truth) for _ in range(count)]
    load(Case(rows, {"age": "INTEGER"}, {"age": ages}, "age", {"age": 1}))
    released = oracle.generalize(rows, {"age": ages}, {"age": 1})
    load_table(RELEASED, {"age": "VARCHAR", WEIGHT: "INTEGER"}, [{**row, WEIGHT: 1} for row in released])
    found = as_answers(ask(table_call("estimated_counts", RELEASED, "age", 5, WEIGHT)), 5)
    assert [round(found[5.0 * group] or 0, 1) for group in range(18)] == repeated(published, 6)
    assert_same_answers(
        as_answers(ask(table_call("grouped_counts", ORIGINAL, "age", 5)), 5),
        {5.0 * group: count for group, count in enumerate(truth) if count},
    )
