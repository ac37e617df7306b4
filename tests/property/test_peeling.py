"""Local recoding against the naive twin on random tables, and what holds of every local recoding."""

from collections import defaultdict
from dataclasses import replace
from functools import cache

import duckdb
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.methods.local.local_table import UNITS
from sqlanon.model.lattice import Lattice
from sqlanon.model.privacy import PrivacyModel
from tests.effort import examples
from tests.naive_peel import Case, Row, Tree, naive_peel

NAME = "s"

EXAMPLES = settings(max_examples=examples(64), deadline=None, suppress_health_check=[HealthCheck.too_slow])


MODELS: list[tuple[PrivacyModel, ...]] = [
    (sa.KAnonymity(2),),
    (sa.KAnonymity(3),),
    (sa.KAnonymity(2), sa.DistinctLDiversity(NAME, l=2)),
    (sa.DistinctLDiversity(NAME, l=3),),
    (sa.EntropyLDiversity(NAME, l=1.8),),
    (sa.RecursiveCLDiversity(NAME, c=2, l=2),),
    (sa.AlphaKAnonymity(NAME, alpha=0.5, k=2),),
    (sa.TCloseness(NAME, t=0.3),),
    (sa.TCloseness(NAME, t=0.2, distance="ordered"),),
    (sa.KAnonymity(2), sa.TCloseness(NAME, t=0.3, distance="hierarchical")),
    (sa.BetaLikeness(NAME, beta=1),),
    (sa.BetaLikeness(NAME, beta=2, variant="enhanced"),),
    (sa.DeltaDisclosure(NAME, delta=1.2),),
    (sa.DeltaDisclosure(NAME, delta=0.7), sa.KAnonymity(2)),
]


@st.composite
def trees(draw: st.DrawFn, max_values: int = 5, max_height: int = 3) -> Tree:
    """A taxonomy of a few values with one label at its top."""
    above = [tuple(range(draw(st.integers(1, max_values))))]
    for _ in range(draw(st.integers(0, max_height - 1))):
        parents = draw(st.lists(st.integers(0, 2), min_size=max(above[-1]) + 1, max_size=max(above[-1]) + 1))
        numbers = {parent: number for number, parent in enumerate(dict.fromkeys(parents))}
        above.append(tuple(numbers[parents[label]] for label in above[-1]))
    return Tree((*above, (0,) * len(above[0])), draw(st.booleans()))


@st.composite
def cases(draw: st.DrawFn, max_rows: int = 24, max_attributes: int = 3) -> tuple[Case, tuple[PrivacyModel, ...]]:
    """A table and models, and what else peeling takes."""
    models = draw(st.sampled_from(MODELS))
    found = tuple(draw(st.lists(trees(), min_size=1, max_size=max_attributes)))
    sensitive = draw(trees(max_values=4))
    values = st.tuples(*(st.integers(0, len(tree.above[0]) - 1) for tree in found))
    secrets = st.integers(0, len(sensitive.above[0]) - 1)
    row = st.builds(Row, values, secrets, st.integers(0, 5))
    rows = tuple(draw(st.lists(row, min_size=1, max_size=max_rows)))
    present = sorted({row.sensitive for row in rows})  # the database has no codes of absent values
    rows = tuple(replace(row, sensitive=present.index(row.sensitive)) for row in rows)
    sensitive = Tree(tuple(tuple(above[value] for value in present) for above in sensitive.above))
    heights = tuple(len(tree.above) - 1 for tree in found)
    top = tuple(draw(st.sampled_from([height, height, max(height - 1, 0)])) for height in heights)
    bottom = tuple(draw(st.sampled_from([0, 0, min(1, most)])) for most in top)
    case = Case(
        trees=found,
        rows=rows,
        lattice=Lattice(tuple(f"q{number}" for number in range(len(found))), heights, bottom, top),
        bounds=tuple(bound for model in models for bound in model.bounds),
        sensitive_tree=replace(sensitive, above=(tuple(range(len(present))), *sensitive.above[1:])),
        counts_individuals=draw(st.booleans()),
        shares=draw(
            st.sampled_from([None, tuple((number + 1) / sum(range(len(found) + 1)) for number in range(len(found)))])
        ),
        min_share=draw(st.sampled_from([0.0, 0.0, 0.2])),
        allowed_rows=draw(st.sampled_from([0, 0, len(rows) // 4])),
    )
    return case, models


@cache
def session() -> sa.Session:
    return sa.connect(duckdb.connect(config={"threads": 1}))


def recoded(case: Case, models: tuple[PrivacyModel, ...]) -> tuple[sa.Report, dict[tuple[str, ...], list[Row]]]:
    """The report on a case, and the rows of each combination of labels; rows that are left out are in none."""
    names, connection = list(case.lattice.quasi_identifiers), session().connection
    connection.execute(
        f"CREATE OR REPLACE TABLE data (n INTEGER, p INTEGER, s VARCHAR, {' VARCHAR, '.join(names)} VARCHAR)"
    )
    for number, row in enumerate(case.rows):
        values = [number, row.individual, f"v{row.sensitive}", *(f"v{value}" for value in row.values)]
        connection.execute(f"INSERT INTO data VALUES ({', '.join('?' for _ in values)})", values)
    for name, tree in zip((*names, "s"), (*case.trees, case.sensitive_tree), strict=True):
        rows = [[tree.text(level, value) for level in range(len(tree.above))] for value in range(len(tree.above[0]))]
        session().taxonomies.load(name, sa.Taxonomy.from_rows(rows))
    weights = {} if case.shares is None else {name: place + 1 for place, name in enumerate(names)}
    policy = sa.Policy(
        quasi_identifiers=names,
        sensitive=["s"],
        insensitive=["n", "p"],
        individual="p" if case.counts_individuals else None,
        privacy=[*models],
        quality=sa.NCP(),
        minimum_levels=dict(zip(names, case.lattice.bottom, strict=True)),
        maximum_levels=dict(zip(names, case.lattice.top, strict=True)),
        method=sa.LocalRecoding(
            importance=weights, min_share=case.min_share, suppression_limit=case.allowed_rows / len(case.rows)
        ),
    )
    report = session().anonymize("data", policy, "released", replace=True).report
    found = defaultdict(list)
    for number, *labels in connection.execute(f"SELECT n, {', '.join(names)} FROM released").fetchall():
        found[tuple(labels)].append(case.rows[number])
    return report, dict(found)


@EXAMPLES
@given(cases())
def test_every_class_meets_the_models_at_its_finest_labels(of: tuple[Case, tuple[PrivacyModel, ...]]) -> None:
    """If no union can fail a model, and peeling leaves no row, the classes are those of the twin."""
    case, models = of
    try:
        report, classes = recoded(case, models)
    except sa.UnsatisfiableError:
        assume(False)
    lost = 0
    for labels, rows in classes.items():
        levels = case.finest(rows)
        assert case.judge.meets(rows)
        assert labels == case.labels(levels, rows[0].values)
        assert all(level <= most for level, most in zip(levels, case.lattice.top, strict=True))
        lost += sum(case.loss(levels, row.values) for row in rows)
    out = len(case.rows) - sum(map(len, classes.values()))
    assert out == report.suppressed_rows <= case.allowed_rows
    assert abs(report.loss - (lost / UNITS + out) / len(case.rows)) < 1e-9
    if all(bound.monotonic for bound in case.bounds):
        expected = naive_peel(case)
        event(f"peeling leaves {'some' if expected.left else 'no'} rows")
        assert (report.minimality_rows or 0) == expected.failed
        assert (report.minimality_cell_rows or 0) == expected.finest_failed
        if not expected.left:
            assert {key: sorted(rows, key=repr) for key, rows in classes.items()} == {
                key: sorted(rows, key=repr) for key, rows in expected.classes.items()
            }
