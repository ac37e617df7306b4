"""What the tests on UCI Adult share: its policy, its lattice table, and searches that are fed from that table."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import duckdb
import pyarrow as pa

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.model.lattice import Lattice, LevelLosses, LossContext, NodeSummary, total
from sqlanon.nodes.counting import NodeCounter, node_summaries
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.search import Inquiry, Search, SearchOutcome, SearchProblem
from tests.conftest import UCI_COLUMNS, UCI_QUASI_IDENTIFIERS, data_folder
from tests.engines import engine_of

Node = tuple[int, ...]
Rows = Mapping[Node, Mapping[str, Any]]
"""The lattice table by node."""

ROW_COUNT = 32561

# spec/ola.md (e)
LEVEL_ENTROPY = {
    "age": [0, 104563.126, 160489.434, 185054.726],
    "workclass": [0, 9832.785, 53659.777],
    "education": [0, 45390.931, 95447.717],
    "marital_status": [0, 10824.346, 59705.457],
    "occupation": [0, 65288.888, 114513.881],
    "relationship": [0, 70150.193],
    "race": [0, 26007.794],
    "sex": [0, 29817.282],
    "native_country": [0, 10501.314, 17112.275, 30730.922],
}

SEVEN = ["age", "workclass", "education", "marital_status", "race", "sex", "native_country"]
"""The quasi-identifiers of spec/hceiling.md."""


class Optima(NamedTuple):
    """What spec/ola.md (d) says of k and a suppression limit: the nodes that meet them, by each loss."""

    prec: float
    ties: int
    dm_star: int  # above that of the root
    entropy: float
    checked: int  # by OLA, Table 6.9
    minimal: int  # k-minimal nodes
    printed_minimal: int  # of the printed hierarchy
    printed_prec: float


OPTIMA = {
    (5, 0): Optima(0.7222, 2, 64222978, 496831.5, 126, 29, 12, 0.7778),
    (5, 1): Optima(0.5185, 1, 5032174, 380065.5, 1126, 376, 210, 0.5556),
    (5, 5): Optima(0.3889, 1, 1461566, 321233.7, 1934, 705, 484, 0.4444),
    (5, 10): Optima(0.2778, 2, 909250, 277406.7, 2228, 720, 544, 0.3148),
    (5, 20): Optima(0.1852, 2, 591124, 227308.1, 1416, 418, 372, 0.2222),
    (5, 50): Optima(0.037, 1, 154690, 104563.1, 319, 83, 83, 0.0556),
    (25, 0): Optima(0.7778, 3, 103278268, 536332.6, 77, 19, 9, 0.8333),
    (25, 1): Optima(0.6667, 5, 12637214, 450215.7, 401, 122, 56, 0.7222),
    (25, 5): Optima(0.5185, 2, 7230338, 401334.6, 1091, 352, 199, 0.5556),
    (25, 10): Optima(0.4444, 3, 5032174, 357898.3, 1631, 594, 361, 0.4815),
    (25, 20): Optima(0.2963, 1, 2076108, 319714.4, 1941, 553, 385, 0.3333),
    (25, 50): Optima(0.1296, 2, 869996, 200010.8, 965, 167, 158, 0.1667),
    (100, 0): Optima(0.7778, 1, 151996586, 546056.4, 46, 9, 3, 0.8333),
    (100, 1): Optima(0.7407, 3, 41708752, 501692.8, 165, 42, 20, 0.7778),
    (100, 5): Optima(0.6296, 1, 22514196, 465564.8, 454, 134, 69, 0.6667),
    (100, 10): Optima(0.5556, 1, 11210386, 431151.9, 922, 304, 160, 0.6111),
    (100, 20): Optima(0.4074, 1, 9009480, 387715.6, 1437, 416, 241, 0.4444),
    (100, 50): Optima(0.2222, 2, 3246284, 280502.4, 1528, 275, 210, 0.2778),
}
"""By k and the suppression limit in percent."""

OLA_COUNTS = {setting: (found.checked, found.minimal) for setting, found in OPTIMA.items()}

# Age stops at level 2 of 3 in the printed hierarchy, where it already counts as 1: 1.5 times level / 3, which the
# weighted mean then divides by 9.5 instead of 9.
PRINTED_LEVELS = {"age": 2}
PRINTED_PREC = sa.Prec(weights={"age": 1.5})
PRINTED_SCALE = 9 / 9.5


def uci_policy(
    k: int | None = 5, percent: int = 0, quality: sa.Entropy | sa.Prec | sa.DMStar | None = None, **more: Any
) -> sa.Policy:
    """k-anonymity over the nine quasi-identifiers, or no privacy model, with a suppression limit in percent."""
    return sa.Policy(
        quasi_identifiers=UCI_QUASI_IDENTIFIERS,
        insensitive=[name for name in UCI_COLUMNS if name not in UCI_QUASI_IDENTIFIERS],
        privacy=[] if k is None else [sa.KAnonymity(k)],
        quality=quality or sa.Entropy(),
        suppression_limit=percent / 100,
        **more,
    )


@contextmanager
def with_all_ages(warehouse: Path) -> Iterator[sa.Session]:
    """A session on a copy of UCI Adult whose ages are from 0 to 99, as in spec/hceiling.md."""
    with sa.connect(duckdb.connect()) as session:
        session.connection.execute(f"ATTACH '{warehouse}' AS given (READ_ONLY)")
        session.connection.execute("CREATE TABLE adult AS FROM given.adult")
        hierarchies = data_folder("adult_uci") / "hierarchies"
        session.taxonomies.load_all({name: hierarchies / f"{name}.csv" for name in SEVEN[1:]})
        session.taxonomies.load("age", sa.Taxonomy.intervals([10, 50], minimum=0, maximum=99))
        yield session


def rows_by_node(table: pa.Table) -> dict[Node, dict[str, Any]]:
    return {tuple(level for _, level in row["node"]): row for row in table.to_pylist()}


def checked_nodes(session: sa.Session, policy: sa.Policy) -> dict[Node, dict[str, Any]]:
    """What the cells of the source say of every node, under the names of the lattice table."""
    engine = engine_of(session)
    bound = prepare(engine, engine.resolve("adult"), policy)
    rows = {}
    with engine.scratch():
        table = encode_table(engine, bound, label_losses=())
        nodes = list(bound.lattice.nodes())
        for start in range(0, len(nodes), 64):
            rows |= rows_of(table, node_summaries(engine, table, nodes[start : start + 64]))
    return rows


@contextmanager
def noted_nodes() -> Iterator[dict[Node, dict[str, Any]]]:
    """What the searches of runs learn of nodes meanwhile, under the names of the lattice table."""
    rows: dict[Node, dict[str, Any]] = {}
    answer = NodeCounter.answer

    def noted(self: NodeCounter, inquiry: Inquiry) -> list[NodeSummary]:
        summaries = answer(self, inquiry)
        rows.update(rows_of(self.table, summaries))
        return summaries

    with mock.patch.object(NodeCounter, "answer", noted):
        yield rows


def rows_of(table: EncodedTable, summaries: Iterable[NodeSummary]) -> dict[Node, dict[str, Any]]:
    """Summaries of nodes under the names of the lattice table."""
    lattice, losses = table.context.lattice, table.context.losses
    return {
        summary.levels: {
            **dataclasses.asdict(summary),
            **summary.class_losses,
            "node": list(lattice.named(summary.levels).items()),
            "height": sum(summary.levels),
            "prec": total(losses.prec, summary.levels),
            "entropy": total(losses.entropy, summary.levels),
        }
        for summary in summaries
    }


def satisfying(rows: Rows, percent: int) -> list[Node]:
    return [node for node, row in rows.items() if row["suppressed_rows"] * 100 <= percent * ROW_COUNT]


def answered(search: Callable[[SearchProblem], Search], rows: Rows, policy: sa.Policy) -> SearchOutcome:
    """The search alone, fed with the rows of the lattice table."""
    running = search(SearchProblem(policy.quality, _context(policy)))
    inquiry = next(running)
    try:
        while True:
            inquiry = running.send([_summary(levels, rows[levels]) for levels in inquiry.nodes])
    except StopIteration as finished:
        outcome: SearchOutcome = finished.value
        return outcome


def _context(policy: sa.Policy) -> LossContext:
    names = policy.quasi_identifiers
    entropy = tuple(tuple(LEVEL_ENTROPY[name]) for name in names)
    heights = tuple(len(levels) - 1 for levels in entropy)
    most = tuple(policy.maximum_levels.get(name, height) for name, height in zip(names, heights, strict=True))
    prec = tuple(tuple(level / height / len(names) for level in range(height + 1)) for height in heights)
    return LossContext(
        lattice=Lattice(names, heights, maximum=most),
        losses=LevelLosses(prec=prec, entropy=entropy, lm=entropy, ncp=entropy),
        row_count=ROW_COUNT,
        allowed_rows=policy.allowed_rows(ROW_COUNT),
        k=policy.criteria.k,
    )


def _summary(levels: Node, row: Mapping[str, Any]) -> NodeSummary:
    suppressed = row["suppressed_rows"]
    return NodeSummary(
        levels=levels,
        class_count=row["class_count"],
        min_class_size=row["min_class_size"],
        kept_class_count=0 if suppressed == ROW_COUNT else 1,
        suppressed_rows=suppressed,
        certain_suppressed_rows=suppressed,
        class_losses={name: row[name] for name in ("dm_star", "dm")},
    )
