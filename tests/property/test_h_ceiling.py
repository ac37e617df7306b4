"""h-ceiling against brute force: which nodes keep to the ceiling, which of them is chosen, and what is published."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.methods.h_ceiling import catalogs as candidates
from sqlanon.methods.h_ceiling.catalogs import Candidate
from sqlanon.methods.h_ceiling.ceiling_report import CeilingReport
from sqlanon.methods.h_ceiling.ceiling_search import OUT_OF_LIMIT, FewestCounterfeits
from sqlanon.methods.h_ceiling.h_ceiling_run import Profiles, degrees_of, largest_degrees, level_errors
from sqlanon.methods.h_ceiling.links import Links
from sqlanon.model.lattice import Lattice
from sqlanon.nodes.table import encode_table
from sqlanon.papers.ceiling_experiment import losses
from tests import oracle
from tests.case_tables import session_of
from tests.effort import examples
from tests.engines import engine_of
from tests.strategies import Case, cases

EXAMPLES = settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
MORE_EXAMPLES = settings(EXAMPLES, max_examples=examples(30))
FILLS = ["hidden", "marginal", "uniform"]
FAST = settings(max_examples=examples(100), deadline=None)


def ceilings() -> st.SearchStrategy[float]:
    return st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 0.75, 1.0]) | st.floats(0, 1)


@st.composite
def filled_cases(draw: st.DrawFn) -> Case:
    """A table whose rows all have a sensitive value."""
    case = draw(cases(min_rows=2, max_rows=14))
    values = [row[case.sensitive] for row in case.rows if row[case.sensitive] is not None] or [
        "x" if case.columns[case.sensitive] == "VARCHAR" else 1
    ]
    rows = [{**row, case.sensitive: values[0]} if row[case.sensitive] is None else row for row in case.rows]
    return replace(case, rows=rows)


def policy_of(
    case: Case,
    k: int,
    h: float | None,
    fill: str = "hidden",
    catalog: str = "none",
    *,
    fewest: int = 1,
    limit: float | None = None,
) -> sa.Policy:
    return sa.Policy(
        suppression_limit=limit,
        quasi_identifiers=case.quasi_identifiers,
        sensitive=[case.sensitive],
        rest="identifier",
        method={"model": "h-ceiling", "k": k, "h": h, "fill": fill, "catalog": catalog, "fewest_true_rows": fewest},
    )


def nodes_of(case: Case) -> list[dict[str, int]]:
    """All nodes, in lexicographic order."""
    return sorted(oracle.lattice(case.taxonomies, case.quasi_identifiers), key=lambda node: tuple(node.values()))


@EXAMPLES
@given(
    filled_cases(),
    st.integers(2, 4),
    st.integers(1, 4),
    st.sampled_from([0.2, 0.5, 1.0]),
    ceilings(),
    st.sampled_from(FILLS),
    st.integers(0, 99),
)
def test_releases(case: Case, k: int, fewest: int, limit: float, h: float, fill: str, seed: int) -> None:
    k = min(k, len(case.rows))
    fewest = min(k, fewest)
    allowed = min(int(limit * len(case.rows)), len(case.rows) - 1) if fewest > 1 else 0
    wanted = {}
    for node in nodes_of(case):
        degree = oracle.largest_degree(case.rows, case.taxonomies, node)
        if degree <= h + 1e-12:
            sizes = oracle.class_sizes(oracle.generalize(case.rows, case.taxonomies, node), case.quasi_identifiers)
            error = oracle.mean_reconstruction_error(case.rows, case.taxonomies, node)
            lost = oracle.mean_loss(case.rows, case.taxonomies, node, 0, oracle.lm_share)
            needed = oracle.missing_rows([size for size in sizes if size >= fewest], k)
            wanted[tuple(node.values())] = (needed, oracle.suppressed_rows(sizes, fewest), error, lost or 0.0)
    attainable = {levels: found for levels, found in wanted.items() if found[1] <= allowed}
    with session_of(case) as session:
        policy = policy_of(case, k, h, fill, fewest=fewest, limit=limit if fewest > 1 else None)
        if not attainable:
            with pytest.raises(sa.UnsatisfiableError, match="every node below the ceiling suppresses"):
                session.anonymize("given", policy, "released")
            return
        release = session.anonymize("given", policy, "released", random_source=sa.SeededSource(seed))
        report = release.report
        released = [
            dict(zip([*session.connection.table("released").columns], row, strict=True))
            for row in session.connection.table("released").fetchall()
        ]
        assert session.verify("released", policy).met
    assert isinstance(report, CeilingReport)
    best = min((*found[:2], round(found[2], 9), round(found[3], 9)) for found in attainable.values())
    needed, suppressed, error, _ = wanted[tuple(release.node.values())]
    assert (needed, suppressed, round(error, 9)) == best[:3]
    assert report.suppressed_rows == report.rows.dropped == suppressed
    classes = oracle.classes(oracle.generalize(case.rows, case.taxonomies, release.node), case.quasi_identifiers)
    kept = [row for row in case.rows if len(classes[labels_of(case, release.node, row)]) >= fewest]
    degree = oracle.largest_degree(kept, case.taxonomies, release.node)
    error = oracle.mean_reconstruction_error(kept, case.taxonomies, release.node)
    assert report.counterfeits == report.loss == report.lower_bound == needed
    assert report.proven_optimal
    assert (report.degree, report.reconstruction_error) == pytest.approx((degree, error))
    assert report.allowed_nodes == len(wanted)
    true = oracle.generalize(kept, case.taxonomies, release.node)
    assert report.fewest_true_rows == min(k, *oracle.class_sizes(true, case.quasi_identifiers))
    columns = [*case.quasi_identifiers, case.sensitive]
    invented = counted(released, columns) - counted(true, columns)
    assert not counted(true, columns) - counted(released, columns)
    assert invented.total() == needed
    assert min(oracle.class_sizes(released, case.quasi_identifiers)) >= k
    assert {values[-1] for values in invented} <= {oracle.text(row[case.sensitive]) for row in kept}
    for place in range(len(case.quasi_identifiers)) if fill == "hidden" else ():
        pairs = [{(values[place], values[-1]) for values in counted(some, columns)} for some in (released, true)]
        assert pairs[0] == pairs[1]
    small = {labels for labels, members in oracle.classes(true, case.quasi_identifiers).items() if len(members) < k}
    assert {values[:-1] for values in invented} == {tuple(map(oracle.text, labels)) for labels in small}


@EXAMPLES
@given(filled_cases(), st.integers(2, 4))
def test_without_a_ceiling_the_one_of_least_error_is_taken(case: Case, k: int) -> None:
    """Of the grid, up to the first that needs no counterfeits; each by its node of fewest counterfeits."""
    k = min(k, len(case.rows))
    nodes = []
    for node in nodes_of(case):
        sizes = oracle.class_sizes(oracle.generalize(case.rows, case.taxonomies, node), case.quasi_identifiers)
        error = round(oracle.mean_reconstruction_error(case.rows, case.taxonomies, node), 9)
        lost = round(oracle.mean_loss(case.rows, case.taxonomies, node, 0, oracle.lm_share) or 0.0, 9)
        degree = oracle.largest_degree(case.rows, case.taxonomies, node)
        nodes.append((oracle.missing_rows(sizes, k), error, lost, degree, node))
    curve: list[tuple[float, int, float]] = []
    for ceiling in (step / 20 for step in range(1, 21)):
        needed, *_, node = min(
            (each for each in nodes if each[3] <= ceiling + 1e-12), key=lambda each: (*each[:3], *each[4].values())
        )
        truth = len(case.rows) / (len(case.rows) + needed)
        curve.append((ceiling, needed, oracle.mean_reconstruction_error(case.rows, case.taxonomies, node, truth)))
        if needed == 0:
            break
    with session_of(case) as session:
        release = session.anonymize("given", policy_of(case, k, None), "released", random_source=sa.SeededSource(1))
        assert session.verify("released", policy_of(case, k, None)).met
    report = release.report
    assert isinstance(report, CeilingReport)
    assert [(point.ceiling, point.counterfeits) for point in report.curve] == [point[:2] for point in curve]
    assert [point.reconstruction_error for point in report.curve] == pytest.approx([point[2] for point in curve])
    least = min(round(error, 9) for *_, error in curve)
    ceiling, needed, _ = next(point for point in curve if round(point[2], 9) == least)
    assert (report.ceiling, report.counterfeits) == (ceiling, needed)


def labels_of(case: Case, node: oracle.Node, row: oracle.Row) -> tuple[oracle.Value, ...]:
    return tuple(oracle.label_of(case.taxonomies[name], node[name], row[name]) for name in case.quasi_identifiers)


@st.composite
def concealing_cases(draw: st.DrawFn) -> Case:
    """A table of so few values that some classes can conceal the counterfeits of others."""
    case = draw(cases(min_rows=8, max_rows=16, max_quasi_identifiers=2))
    values = ["x", "y"] if case.columns[case.sensitive] == "VARCHAR" else [1, 2]
    drawn = draw(st.lists(st.sampled_from([values[0], *values]), min_size=len(case.rows), max_size=len(case.rows)))
    return replace(case, rows=[{**row, case.sensitive: value} for row, value in zip(case.rows, drawn, strict=True)])


@MORE_EXAMPLES
@given(
    concealing_cases(),
    st.integers(2, 3),
    st.sampled_from([0.0, 0.2, 0.5, 0.75]),
    st.sampled_from(["paper", "strict"]),
    st.sampled_from([None, None, lambda: True]),
    st.sampled_from(["hidden", "marginal", "marginal"]),
    st.integers(0, 99),
)
def test_with_a_catalog_the_least_reconstruction_error_decides(
    case: Case, k: int, h: float, kind: str, stop: Callable[[], bool] | None, fill: str, seed: int
) -> None:
    seen: list[Candidate] = []
    with session_of(case) as session, pytest.MonkeyPatch.context() as patched:
        judged = candidates.judged
        patched.setattr(candidates, "judged", lambda *given: seen.append(judged(*given)) or seen[-1])
        source, policy = sa.SeededSource(seed), policy_of(case, k, h, fill, kind)
        try:
            release = session.anonymize(
                "given", policy, "released", tables={"catalog": "listed"}, random_source=source, stop=stop
            )
        except sa.UnsatisfiableError:
            assert all(candidate.problem for candidate in seen)
            return
        report = release.report
        released, listed = (session.connection.table(name) for name in ("released", "listed"))
        rows = [dict(zip(released.columns, row, strict=True)) for row in released.fetchall()]
        truths = oracle.row_truths(rows, listed.fetchall(), case.sensitive)
        by_macro = losses(session, "given", "released", release.node, case.sensitive, required=1, catalog="listed")
    assert isinstance(report, CeilingReport)
    wanted, *_, lost = oracle.reconstruction_errors(
        case.rows, rows, case.taxonomies, release.node, case.sensitive, truths
    )
    assert (report.reconstruction_error, 0) == pytest.approx((wanted, lost))
    assert report.reconstruction_error == pytest.approx(by_macro["rce"])
    # Of all that could be published none has a lower one, nor as low a one with fewer counterfeits; where the search
    # is stopped it is the first one that could.
    effective = [
        k
        if candidate.catalog is None
        else float(min([k, *(links_of(candidate, group) for group in candidate.catalog.groups)]))
        for candidate in seen
    ]
    least = 0.8 * k if kind == "strict" else 0
    possible = [
        candidate for candidate, found in zip(seen, effective, strict=True) if candidate.catalog and found >= least
    ]
    if stop is not None:
        assert possible == seen[-1:]
    best = min((round(candidate.error, 9), candidate.filled.added.count) for candidate in possible)
    assert (round(report.reconstruction_error, 9), report.counterfeits) == best
    (place,) = (place for place, candidate in enumerate(seen) if candidate.filled.levels == (*release.node.values(),))
    assert (report.effective_k, report.reconstruction_error) == (effective[place], seen[place].error)


def links_of(candidate: Candidate, group: Sequence[int]) -> Fraction:
    assert candidate.catalog is not None
    return Links(candidate.catalog.classes).of(group).effective_k


def counted(rows: oracle.Rows, columns: list[str]) -> Counter[tuple[str | None, ...]]:
    return Counter(tuple(oracle.text(row[name]) for name in columns) for row in rows)


@EXAMPLES
@given(filled_cases())
def test_degrees_and_errors_of_all_nodes(case: Case) -> None:
    with session_of(case) as session:
        engine = engine_of(session)
        bound = prepare(engine, engine.resolve("given"), policy_of(case, 2, None))
        with engine.transaction(), engine.scratch():
            table = encode_table(engine, bound, label_losses=("lm",))
            degrees, errors = largest_degrees(engine, table), level_errors(table)
    for axis in range(degrees.ndim):
        assert (np.diff(degrees, axis=axis) >= 0).all()  # so that nodes are pruned from below
    # By reconstruction error alone the least general node would be published, whatever it needs (H13).
    assert errors.min() == errors[(0,) * errors.ndim] == 0
    for node in nodes_of(case):
        index = tuple(node.values())
        assert degrees[index] == pytest.approx(oracle.largest_degree(case.rows, case.taxonomies, node))
        assert errors[index] == pytest.approx(oracle.mean_reconstruction_error(case.rows, case.taxonomies, node))


@st.composite
def profiled_rows(draw: st.DrawFn) -> tuple[Profiles, list[tuple[int, ...]]]:
    """What labels lose, and kinds of rows."""
    profiles: list[dict[int, tuple[float, ...]]] = []
    for height in draw(st.lists(st.integers(0, 3), min_size=1, max_size=3)):
        losses = st.lists(st.floats(0, 1), min_size=height, max_size=height).map(lambda found: (0.0, *sorted(found)))
        profiles.append(dict(enumerate(draw(st.lists(losses, min_size=1, max_size=4)), start=1)))
    rows = draw(st.lists(st.tuples(*(st.sampled_from(sorted(found)) for found in profiles)), max_size=8))
    return profiles, rows


@FAST
@given(profiled_rows())
def test_kinds_of_rows_that_are_left_out_change_nothing(given: tuple[Profiles, list[tuple[int, ...]]]) -> None:
    profiles, rows = given
    heights = tuple(len(found[1]) - 1 for found in profiles)
    lattice = Lattice(tuple(map(str, range(len(heights)))), heights)
    found = degrees_of(lattice, profiles, rows)
    for levels in lattice.nodes():
        degrees = [
            sum(profiles[place][number][levels[place]] for place, number in enumerate(row)) / len(profiles)
            for row in rows
        ]
        assert found[levels] == pytest.approx(max(degrees, default=0))


@st.composite
def searches(draw: st.DrawFn) -> Any:
    """Nodes that are allowed, ranks that rise with the node, what it costs, and what it is said to lose.

    Costs fall with the node; where rows may be suppressed they need not, but for those that suppress too many.
    """
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    size = int(np.prod(shape))
    steps = np.array(draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))).reshape(shape)
    needs = steps
    for axis in range(len(shape)):
        needs = np.flip(np.cumsum(np.flip(needs, axis), axis), axis)
    if draw(st.booleans()):
        drawn = np.array(draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))).reshape(shape)
        is_out = np.flip(drawn == 9)
        for axis in range(len(shape)):
            is_out = np.logical_or.accumulate(is_out, axis)
        needs = np.where(np.flip(is_out), OUT_OF_LIMIT, drawn)
    above = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size))).reshape(shape)
    forbidden = above.copy()
    for axis in range(len(shape)):
        forbidden = np.logical_or.accumulate(forbidden, axis)
    forbidden[(0,) * len(shape)] = False
    weights = [np.cumsum(draw(st.lists(st.floats(0.1, 1), min_size=length, max_size=length))) for length in shape]
    errors = weights[0]
    for each in weights[1:]:
        errors = np.add.outer(errors, each)
    ranks = np.empty(size, dtype=np.int64)
    ranks[np.argsort(errors, axis=None, kind="stable")] = np.arange(size)
    # What is lost says something of needs, or nothing.
    lost = weights if draw(st.booleans()) else [np.zeros(length) for length in shape]
    return ~forbidden, ranks.reshape(shape), needs, lost


@FAST
@given(searches())
def test_the_search_finds_the_best_node_of_all(given: Any) -> None:
    allowed, ranks, needs, lost = given
    search = FewestCounterfeits(allowed, ranks, lost)
    seen = set()
    for batch in search.batches():
        for index in batch:
            assert index not in seen
            seen.add(index)
            below = needs[tuple(slice(None, step + 1) for step in index)]
            search.learn(index, int(needs[index]), int(below.min()))
        everywhere = itertools.product(*map(range, allowed.shape))
        assert search.best is None or allowed[search.best]
        assert search.fewest() <= min(int(needs[index]) for index in everywhere if allowed[index])
    everywhere = itertools.product(*map(range, allowed.shape))
    best = min((int(needs[index]), int(ranks[index]), index) for index in everywhere if allowed[index])
    assert search.best == best[2] or int(needs[search.best]) == best[0] == OUT_OF_LIMIT
    assert not search.open_nodes().any()
    assert search.fewest() == best[0]
