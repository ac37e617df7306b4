"""The numbers of spec/ola.md on the lattice of UCI Adult: exact, or the release is not what it says."""

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from sqlanon.model.methods.full_domain import SearchName
from sqlanon.queries.kit.macros import install_script
from sqlanon.search import SEARCHES
from sqlanon.search.published_searches import ola
from tests.adult import (
    OLA_COUNTS,
    OPTIMA,
    PRINTED_LEVELS,
    PRINTED_PREC,
    PRINTED_SCALE,
    Node,
    Rows,
    answered,
    checked_nodes,
    noted_nodes,
    rows_by_node,
    satisfying,
    uci_policy,
)
from tests.conftest import UCI_QUASI_IDENTIFIERS, data_folder, reading

pytestmark = pytest.mark.adult

# spec/ola.md (e): node, classes, smallest class, rows in classes below (2, 5, 10, 25, 50, 100), DM*, Prec, Entropy
THRESHOLDS = (2, 5, 10, 25, 50, 100)
NODES = {
    (0,) * 9: (21551, 1, (17478, 25535, 29025, 31892, 32561, 32561), 123307, 0, 0),
    (1,) * 9: (1683, 1, (677, 1893, 3250, 5624, 8314, 11644), 9843823, 0.629630, 372376.660),
    (1, 1, 1, 1, 1, 0, 0, 0, 1): (5172, 1, (3004, 6287, 8726, 12714, 16831, 21495), 3843797, 0.296296, 246401.391),
    (2, 0, 2, 0, 1, 0, 0, 0, 1): (2608, 1, (1364, 3141, 4763, 7423, 9362, 12566), 19942661, 0.277778, 331727.353),
    (3, 2, 2, 2, 2, 1, 0, 0, 3): (10, 109, (0, 0, 0, 0, 0, 0), 447895341, 0.777778, 609262.672),
    (3, 2, 2, 2, 2, 1, 1, 1, 3): (1, 32561, (0, 0, 0, 0, 0, 0), 1060218721, 1, 665087.748),
}


ROOT_DM_STAR = 123307

# spec/ola.md (d): the nodes that it prints, by loss, and k and suppression in percent
NODES_OF_LOSSES: dict[type, dict[tuple[int, int], Node]] = {
    sa.Prec: {
        (5, 1): (2, 2, 2, 0, 2, 0, 0, 0, 3),
        (5, 5): (3, 0, 2, 0, 1, 0, 0, 0, 3),
        (5, 50): (1, 0, 0, 0, 0, 0, 0, 0, 0),
        (25, 20): (2, 0, 2, 0, 2, 0, 0, 0, 0),
        (100, 0): (3, 2, 2, 2, 2, 1, 0, 0, 3),
        (100, 10): (3, 2, 2, 0, 2, 0, 0, 0, 3),
    },
    sa.DMStar: {
        (5, 0): (3, 2, 2, 2, 0, 1, 1, 0, 3),
        (5, 1): (0, 2, 1, 2, 2, 1, 1, 0, 3),
        (5, 5): (0, 2, 2, 2, 0, 1, 1, 0, 3),
        (25, 0): (3, 2, 1, 1, 2, 1, 1, 0, 3),
        (100, 0): (2, 2, 1, 2, 2, 1, 1, 0, 3),
    },
    sa.Entropy: {
        (5, 0): (3, 2, 2, 1, 1, 0, 1, 1, 3),
        (5, 1): (0, 2, 2, 2, 2, 0, 1, 0, 3),
        (5, 5): (1, 2, 2, 1, 0, 0, 1, 0, 3),
        (5, 50): (1, 0, 0, 0, 0, 0, 0, 0, 0),
        (25, 0): (3, 2, 1, 1, 2, 1, 1, 0, 3),
        (100, 0): (3, 2, 2, 1, 2, 0, 1, 1, 3),
    },
}


@pytest.fixture(scope="module")
def session(uci_adult: Path) -> Iterator[sa.Session]:
    with reading(uci_adult) as session:
        yield session


@pytest.fixture(scope="module")
def uci_lattices(session: sa.Session) -> dict[int, Rows]:
    """The whole lattice at each k of spec/ola.md, 10,368 nodes each: as a user gets it, as exhaustive search learns it
    from cells that are rolled up, and as the cells of the source say."""
    lattice = rows_by_node(session.lattice("adult", uci_policy(5)))
    with noted_nodes() as rows:
        assert best(session, 25, 5, sa.DMStar, "exhaustive").report.checked_nodes == 10368
    return {5: lattice, 25: rows, 100: checked_nodes(session, uci_policy(100))}


@pytest.fixture(scope="module")
def macros_alone(uci_adult: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """What a SQL user has without the engine: a plain connection with the macros, the table and the taxonomies."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("ATTACH '" + str(uci_adult) + "' AS adult_file (READ_ONLY)")
        connection.execute(install_script())
        connection.execute("INSERT INTO anon.taxonomy FROM adult_file.anon.taxonomy")
        connection.execute("CREATE TABLE adult AS FROM adult_file.adult")
        yield connection


def test_the_data_is_the_one_of_the_spec() -> None:
    digest = hashlib.sha256((data_folder("adult_uci") / "adult.data").read_bytes()).hexdigest()
    assert digest == "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"


def test_the_lattice_has_the_node_table_of_the_spec(uci_lattices: dict[int, Rows]) -> None:
    assert {len(rows) for rows in uci_lattices.values()} == {10368}
    for node, (classes, smallest, below, dm_star, prec, entropy) in NODES.items():
        row = uci_lattices[5][node]
        assert (row["class_count"], row["min_class_size"], row["dm_star"]) == (classes, smallest, dm_star)
        assert row["prec"] == pytest.approx(prec, abs=5e-7)
        assert row["entropy"] == pytest.approx(entropy, abs=5e-4)
        for k, rows in uci_lattices.items():
            assert rows[node]["suppressed_rows"] == below[THRESHOLDS.index(k)]


@pytest.mark.parametrize("node", NODES)
def test_the_macros_alone_give_the_node_table(macros_alone: duckdb.DuckDBPyConnection, node: Node) -> None:
    levels = dict(zip(UCI_QUASI_IDENTIFIERS, node, strict=True))
    literal = "MAP {" + ", ".join(f"'{name}': {level}" for name, level in levels.items()) + "}"
    generalized = f"WITH generalized AS (FROM anon.generalize('adult', {literal}))"
    measured = macros_alone.execute(
        f"{generalized} SELECT count(*), min(class_size), anon_helpers.dm_star_of(class_size), "
        + ", ".join(f"anon_helpers.suppressed_rows_of(class_size, class_size >= {k})" for k in THRESHOLDS)
        + f" FROM anon.class_sizes('generalized', {UCI_QUASI_IDENTIFIERS})"
    ).fetchall()[0]
    losses = macros_alone.execute(
        f"SELECT anon.precision_loss({literal}), entropy FROM anon.entropy_loss('adult', {literal})"
    ).fetchall()[0]
    classes, smallest, below, dm_star, prec, entropy = NODES[node]
    assert measured == (classes, smallest, dm_star, *below)
    assert losses[0] == pytest.approx(prec, abs=5e-7)
    assert losses[1] == pytest.approx(entropy, abs=5e-4)


def test_every_edge_of_the_lattice_is_monotone(uci_lattices: dict[int, Rows]) -> None:
    rows = uci_lattices[5]
    for node, row in rows.items():
        for position in range(9):
            above = rows.get((*node[:position], node[position] + 1, *node[position + 1 :]))
            if above is not None:
                assert above["suppressed_rows"] <= row["suppressed_rows"]
                assert above["dm_star"] >= row["dm_star"]
                assert above["entropy"] >= row["entropy"] - 1e-6


@pytest.mark.parametrize(("k", "percent"), OPTIMA)
def test_the_lattice_gives_the_optima_of_the_spec(uci_lattices: dict[int, Rows], k: int, percent: int) -> None:
    expected = OPTIMA[k, percent]
    fit = [uci_lattices[k][node] for node in satisfying(uci_lattices[k], percent)]
    least = min(row["prec"] for row in fit)
    assert least == pytest.approx(expected.prec, abs=5e-5)
    assert sum(row["prec"] <= least + 1e-9 for row in fit) == expected.ties
    assert min(row["dm_star"] for row in fit) - ROOT_DM_STAR == expected.dm_star
    assert min(row["entropy"] for row in fit) == pytest.approx(expected.entropy, abs=0.051)


@cache
def best(session: sa.Session, k: int, percent: int, quality: type, search: str) -> sa.Release:
    policy = uci_policy(k, percent, quality(), search=search)
    return session.anonymize("adult", policy, into=f"{session_folder(session)}/{search}.parquet", replace=True)


def session_folder(session: sa.Session) -> Path:
    row = session.connection.execute(
        "SELECT path FROM duckdb_databases() WHERE database_name = current_database()"
    ).fetchall()[0]
    return Path(row[0]).parent


@pytest.mark.parametrize("quality", [sa.Prec, sa.DMStar, sa.Entropy])
@pytest.mark.parametrize(("k", "percent"), OPTIMA)
def test_optimal_search_finds_what_the_lattice_says(
    session: sa.Session, uci_lattices: dict[int, Rows], k: int, percent: int, quality: type
) -> None:
    release = best(session, k, percent, quality, "optimal")
    fit = [uci_lattices[k][node] for node in satisfying(uci_lattices[k], percent)]
    measure = quality().measure
    least = min(row[measure] for row in fit)
    tied = [row for row in fit if row[measure] <= least + 1e-9 * max(1.0, least)]
    expected = min(
        tied,
        key=lambda row: (
            round(row["entropy"], 6),
            row["suppressed_rows"],
            row["height"],
            [level for _, level in row["node"]],
        ),
    )
    assert tuple(release.node.values()) == tuple(level for _, level in expected["node"])
    assert release.report.tie_count == len(tied)
    assert {tuple(tie.values()) for tie in release.report.ties} == {tuple(dict(row["node"]).values()) for row in tied}
    assert release.report.suppressed_rows == expected["suppressed_rows"]
    assert release.report.checked_nodes < release.report.lattice_nodes / 5
    printed = NODES_OF_LOSSES[quality]
    assert tuple(release.node.values()) == printed.get((k, percent), tuple(release.node.values()))


# OLA and Incognito, fed with the lattice


def minimal(nodes: list[Node]) -> set[Node]:
    known = set(nodes)
    return {
        node
        for node in nodes
        if not any((*node[:position], level - 1, *node[position + 1 :]) in known for position, level in enumerate(node))
    }


@pytest.mark.parametrize(("k", "percent"), OLA_COUNTS)
def test_ola_checks_as_many_nodes_as_the_spec_says(uci_lattices: dict[int, Rows], k: int, percent: int) -> None:
    outcome = answered(ola, uci_lattices[k], uci_policy(k, percent))
    assert outcome.minimal_nodes is not None
    assert (outcome.checked_nodes, len(outcome.minimal_nodes)) == OLA_COUNTS[k, percent]
    if (k, percent) in NODES_OF_LOSSES[sa.Entropy]:
        assert outcome.best is not None
        assert outcome.best.levels == NODES_OF_LOSSES[sa.Entropy][k, percent]


@pytest.mark.parametrize("search", ["ola", "incognito"])
@pytest.mark.parametrize(("k", "percent"), OPTIMA)
def test_minimal_nodes_and_optima_of_the_printed_hierarchy(
    uci_lattices: dict[int, Rows], k: int, percent: int, search: SearchName
) -> None:
    nodes = [node for node in satisfying(uci_lattices[k], percent) if node[0] <= PRINTED_LEVELS["age"]]
    policy = uci_policy(k, percent, PRINTED_PREC, maximum_levels=PRINTED_LEVELS)
    outcome = answered(SEARCHES[search], uci_lattices[k], policy)
    assert outcome.minimal_nodes is not None
    assert set(outcome.minimal_nodes) == minimal(nodes)
    assert outcome.loss is not None
    assert outcome.proven_optimal
    found = (len(outcome.minimal_nodes), round(outcome.loss / PRINTED_SCALE, 4))
    assert found == (OPTIMA[k, percent].printed_minimal, OPTIMA[k, percent].printed_prec)


# spec/ola.md (d), Inverse OLA: (max_loss, percent) -> best k of the whole lattice, and of that of the printed hierarchy
BEST_K = {
    (0.2, 0): (1, 1),
    (0.2, 10): (2, 1),
    (0.2, 50): (72, 31),
    (0.5, 0): (1, 1),
    (0.5, 10): (47, 32),
    (0.5, 50): (1650, 1557),
    (0.8, 0): (218, 14),
    (0.8, 10): (1873, 1265),
    (0.8, 50): (25621, 19868),
}
BEST_K_NODES = {
    (0.2, 50): (2, 0, 1, 0, 1, 0, 0, 0, 0),
    (0.5, 10): (3, 2, 2, 0, 2, 0, 0, 0, 1),
    (0.5, 50): (3, 2, 2, 0, 2, 0, 0, 0, 1),
    (0.8, 0): (2, 2, 2, 1, 2, 1, 1, 0, 3),
}
INVERSE = [
    (*setting, k, printed) for setting, both in BEST_K.items() for k, printed in zip(both, (False, True), strict=True)
]
PUBLISHED = [case for case in INVERSE if case[2] > 1]
REFUSED = [(max_loss, percent, printed) for max_loss, percent, k, printed in INVERSE if k == 1]


@pytest.mark.parametrize("search", ["ola", "incognito"])
def test_a_run_with_a_published_search_publishes_what_optimal_search_publishes(
    session: sa.Session, tmp_path: Path, search: str
) -> None:
    setting = (100, 1)
    release = session.anonymize("adult", uci_policy(*setting, search=search), into=tmp_path / f"{search}.parquet")
    assert release.report.minimal_nodes == OLA_COUNTS[setting][1]
    if search == "ola":
        assert release.report.checked_nodes == OLA_COUNTS[setting][0]
    assert release.node == session.anonymize("adult", uci_policy(*setting), into=tmp_path / "optimal.parquet").node


# Inverse OLA


def inverse_policy(max_loss: float, percent: int, *, printed: bool) -> sa.Policy:
    """The largest k within a Prec of the whole lattice, or of that of the printed hierarchy."""
    scale, quality, most = (PRINTED_SCALE, PRINTED_PREC, PRINTED_LEVELS) if printed else (1.0, sa.Prec(), {})
    return uci_policy(None, percent, quality, objective="privacy", max_loss=max_loss * scale, maximum_levels=most)


@pytest.mark.parametrize(("max_loss", "percent", "k", "printed"), PUBLISHED)
def test_inverse_ola_promises_the_best_k_of_the_spec(
    session: sa.Session, tmp_path: Path, max_loss: float, percent: int, k: int, printed: bool
) -> None:
    policy, into = inverse_policy(max_loss, percent, printed=printed), tmp_path / "inverse.parquet"
    release = session.anonymize("adult", policy, into=into)
    report = release.report
    [result] = report.models
    assert (result.model, result.required, result.attained) == (f"k-anonymity (k = {k})", k, k)
    assert report.min_class_size == k
    assert f"k-anonymity (k = {k})" in release.guarantee.claims[0]
    assert report.lattice_nodes == (7776 if printed else 10368)
    assert report.suppressed_rows * 100 <= percent * report.rows.source
    assert policy.max_loss is not None
    assert report.loss <= policy.max_loss + 1e-12
    assert report.proven_optimal
    assert session.verify(into, uci_policy(k)).measurement.k == k
    if not printed and (max_loss, percent) in BEST_K_NODES:
        assert tuple(release.node.values()) == BEST_K_NODES[max_loss, percent]


@pytest.mark.parametrize(("max_loss", "percent", "printed"), REFUSED)
def test_inverse_ola_publishes_nothing_that_protects_nobody(
    session: sa.Session, tmp_path: Path, max_loss: float, percent: int, printed: bool
) -> None:
    into = tmp_path / "inverse.parquet"
    with pytest.raises(sa.UnsatisfiableError, match="has k = 1:"):
        session.anonymize("adult", inverse_policy(max_loss, percent, printed=printed), into=into)
    assert not into.exists()
