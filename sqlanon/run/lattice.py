"""The lattice as a table: every node with its measures."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pyarrow as pa

from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.methods import full_domain
from sqlanon.methods.full_domain import EncodedTable
from sqlanon.model.lattice import NodeSummary, total
from sqlanon.model.policy import Policy
from sqlanon.run.anonymize import Progress
from sqlanon.run.prepare import prepare
from sqlanon.search import SearchProblem

BATCH_SIZE = 64

SCHEMA = pa.schema(
    [
        ("node", pa.map_(pa.string(), pa.int32())),
        ("height", pa.int32()),
        ("class_count", pa.int64()),
        ("min_class_size", pa.int64()),
        ("suppressed_rows", pa.int64()),
        ("satisfies", pa.bool_()),
        ("prec", pa.float64()),
        ("dm_star", pa.int64()),
        ("entropy", pa.float64()),
        ("lm", pa.float64()),
        ("ncp", pa.float64()),
        ("dm", pa.int64()),
        ("aecs", pa.float64()),
    ]
)


def lattice(engine: Engine, source: ResolvedSource, policy: Policy, progress: Progress) -> pa.Table:
    """Check every node; see :meth:`sqlanon.Session.lattice`."""
    bound = prepare(engine, source, policy)
    with engine.transaction():
        progress("encode", 0, 0)
        table = full_domain.encode_table(engine, bound, label_losses=("lm", "ncp"))
        rows = []
        for summary in _checked(engine, table):
            rows.append(_row(table, summary))
            progress("search", len(rows), bound.lattice.size)
        full_domain.drop_tables(engine, table)
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _checked(engine: Engine, table: EncodedTable) -> Iterator[NodeSummary]:
    nodes = table.context.lattice.nodes()
    while batch := list(itertools.islice(nodes, BATCH_SIZE)):
        yield from full_domain.node_summaries(engine, table, batch)


def _row(table: EncodedTable, summary: NodeSummary) -> dict[str, object]:
    context = table.context
    problem = SearchProblem(table.plan.bound.policy.quality, context)
    return {
        "node": list(context.lattice.named(summary.levels).items()),
        "height": sum(summary.levels),
        "class_count": summary.class_count,
        "min_class_size": summary.min_class_size,
        "suppressed_rows": summary.suppressed_rows,
        "satisfies": problem.satisfies(summary),
        "prec": total(context.losses.prec, summary.levels),
        "dm_star": summary.dm_star,
        "entropy": total(context.losses.entropy, summary.levels),
        "lm": summary.lm,
        "ncp": summary.ncp,
        "dm": summary.dm,
        "aecs": summary.aecs,
    }
