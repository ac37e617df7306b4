"""Measures of classes from arrays against the macros that state them, on random classes."""

from __future__ import annotations

from functools import cache

import duckdb
import numpy as np
from hypothesis import given, settings

import sqlanon as sa
from sqlanon.methods.local.judging import Judge
from sqlanon.methods.local.members import Members
from sqlanon.methods.shared.measures import MEASURES
from sqlanon.methods.shared.sensitive import SensitiveValues
from tests.effort import examples
from tests.naive_peel import Case, taxonomy_of
from tests.property.test_peeling import cases

RARE_FROM = 2

OF_VALUES = f"""
    SELECT
        anon.distinct_diversity_of(row_count) AS distinct_diversity,
        anon.entropy_diversity_of(row_count) AS entropy_diversity,
        anon.largest_share_of(row_count) AS largest_share,
        anon.recursive_ratio_of(row_count, {RARE_FROM}) AS recursive_ratio,
        anon.equal_distance_of(row_count, class_size, reference_share) AS equal_distance,
        anon.disclosure_of(row_count, reference_share) AS disclosure,
        anon.basic_likeness_of(row_count, reference_share) AS basic_likeness,
        anon.enhanced_likeness_of(row_count, reference_share) AS enhanced_likeness
    FROM anon.class_frequencies('raw_data', ['c'], 's', 'raw_data')
    GROUP BY class ORDER BY class
"""
ORDERED = """
    SELECT anon.ordered_distance_of(row_count, work_between, work_below, work_above, most_work) AS ordered_distance
    FROM anon.class_distributions('raw_data', ['c'], 's', 'raw_data') GROUP BY class ORDER BY class
"""
HIERARCHICAL = (
    "SELECT t AS hierarchical_distance FROM anon.hierarchical_t_closeness('class_data', ['c'], 's', 'raw_data')"
)

EXACT = ("distinct_diversity", "largest_share", "recursive_ratio", "basic_likeness", "enhanced_likeness")
"""The measures that are made of integers and quotients: equal to the last bit."""


@cache
def session() -> sa.Session:
    """One session for the whole file: every example replaces its table and the taxonomy."""
    opened = sa.connect(duckdb.connect(config={"threads": 1}))
    opened.install()
    return opened


def by_macros(case: Case) -> dict[str, list[float]]:
    """The measures of classes of equal first values, ascending."""
    connection = session().connection
    session().taxonomies.load("s", sa.Taxonomy.from_rows(taxonomy_of(case.sensitive_tree)))
    connection.execute("CREATE OR REPLACE TABLE raw_data (c INTEGER, s INTEGER)")
    rows = ", ".join(f"({row.values[0]}, {row.sensitive})" for row in case.rows)
    connection.execute(f"INSERT INTO raw_data VALUES {rows}")
    found = {**connection.sql(OF_VALUES).fetchnumpy(), **connection.sql(ORDERED).fetchnumpy()}
    hierarchical = []
    for value in sorted({row.values[0] for row in case.rows}):
        connection.execute(f"CREATE OR REPLACE TABLE class_data AS FROM raw_data WHERE c = {value}")
        hierarchical.append(connection.sql(HIERARCHICAL).fetchall()[0][0])
    return {**found, "hierarchical_distance": hierarchical}


@settings(max_examples=examples(100), deadline=None)
@given(cases(max_rows=40, max_attributes=1))
def test_measures_are_those_of_the_macros(case: Case) -> None:
    columns = np.array([[row.values[0], row.sensitive] for row in case.rows]).T
    classes = np.unique(columns[0], return_inverse=True)[1]
    everyone = Members(np.ones(len(classes), dtype=np.int64), columns[1:])
    sensitive = {"s": SensitiveValues(np.array(case.sensitive_tree.above[:-1]))}
    values = Judge((), sensitive, has_people=False, whole=everyone).values("s", classes, everyone)
    expected = by_macros(case)
    assert expected.keys() == MEASURES.keys()
    for name, measure in MEASURES.items():
        found = measure(values, RARE_FROM) if name == "recursive_ratio" else measure(values)
        tolerance = 0.0 if name in EXACT else 1e-12
        np.testing.assert_allclose(found, expected[name], rtol=tolerance, atol=tolerance, err_msg=name)
