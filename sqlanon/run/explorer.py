"""A lattice to explore: its nodes in order of preference, an example of each column, and a page to choose a node."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Sequence
from string import Template
from typing import Any

import pyarrow as pa
from sqlglot import exp

from sqlanon.binding.carried_taxonomies import with_own_taxonomies
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.stages import Progress, Stages, Stopped
from sqlanon.model.class_losses import DMStar
from sqlanon.model.mean_risks import MeanModel
from sqlanon.model.policy.policy import Policy
from sqlanon.model.quality import LM, NCP, ChargingModel, Prec
from sqlanon.model.release import Result
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries import examination, taxonomies
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import string
from sqlanon.report.document import Part, Table, count, figure, percent, printable
from sqlanon.report.html import allowed, escaped, framed, style
from sqlanon.report.svg import asset
from sqlanon.run.lattice_table import NODES, examined, record_of

SQL = Queries("lattice")

ASKED = (2, 3, 5, 8, 10, 15, 20, 30, 50, 100, 200, 500)  # k offered on the page, besides the policy's
MAX_NODES = 70_000  # of a larger lattice a part is shown: browsers draw as many in a tenth of a second
SAMPLED_NODES = 50_000  # nodes shown of such a lattice, besides the best ones
DIGITS = 6  # digits of the largest loss


class ExploredColumn(Result):
    name: str
    least: int  # lowest level that the policy allows
    most: int  # highest level
    label_counts: tuple[int, ...]  # labels that occur, from level 0 to the top
    example: tuple[str | None, ...]  # labels of one value from level 0 to the top; empty if none may be shown


class ExploredNodes(Result):
    """Nodes in a run's order of preference; each attribute has an entry per node."""

    places: tuple[int, ...]  # indexes from 0 in lexicographic order of levels
    losses: tuple[int, ...]  # in units of ``loss_unit``
    best_k: tuple[int, ...]  # greatest k within the suppression limit; 0 if another model does not hold
    suppressed_rows: tuple[int | None, ...]  # at the k of the policy; None for 1 to k - 1 rows
    class_counts: tuple[int, ...]  # classes before suppression


class NodesAtK(Result):
    """Nodes that attain a greater k than the policy's, in order of preference at this k."""

    k: int
    order: tuple[int, ...]  # positions in :class:`ExploredNodes`
    losses: tuple[int, ...]  # as there, at this k
    suppressed_rows: tuple[int | None, ...]  # as there, at this k


class Explorer(Result):
    """The nodes of a lattice, to choose one from.

    Attributes:
        source: the table, in words.
        row_count: its rows.
        k: the k of the policy, or 1.
        asked: the k that are offered, ascending.
        allowed_rows: the most rows that may be left out.
        measure: the loss of the policy.
        is_share: whether the loss is between 0 and 1.
        depends_on_k: whether the loss counts rows that are left out, and so depends on k.
        loss_unit: the unit of the losses of nodes.
        node_count: the nodes of the lattice; ``nodes`` has fewer of a very large or partly checked one.
        checked_nodes: how many of them were checked: fewer if the check was stopped.
        lower_bound: after a stopped check, a proven lower bound on the loss of every node that satisfies the policy,
            checked or not; None if unknown.
        gap: after a stopped check, the most that another node can lose less than the best checked one.
        columns: the quasi-identifiers.
        nodes: the nodes.
        others: the nodes at each greater k that is offered; none if the lattice is very large.
    """

    source: str
    row_count: int
    k: int
    asked: tuple[int, ...]
    allowed_rows: int
    measure: str
    is_share: bool
    depends_on_k: bool
    loss_unit: float
    node_count: int
    checked_nodes: int
    lower_bound: float | None = None
    gap: float | None = None
    columns: tuple[ExploredColumn, ...]
    nodes: ExploredNodes
    others: tuple[NodesAtK, ...]

    def to_html(self, command: Sequence[str] = (), policy_k: int | None = None) -> str:
        """Make a self-contained page to choose a node on.

        It is for the custodian, because it has counts of the source.

        Args:
            command: the source and the options of a command ``sqlanon run`` except node and target, if the page is to
                show one; else it shows a call of :meth:`sqlanon.Session.anonymize`.
            policy_k: the k of the policy that the command names, if the nodes were counted for another one.
        """
        styles, script = style() + asset("explorer.css"), asset("explorer.js")
        return Template(asset("explorer.html")).substitute(
            title=escaped(f"{self.source}: what could be released"),
            policy=f"default-src 'none'; style-src {allowed(styles)}; script-src {allowed(script)}",
            style=styles,
            script=script,
            data=self._data(policy_k or self.k, command),
        )

    def _data(self, policy_k: int, command: Sequence[str]) -> str:
        """Return the page's data: losses as differences, which are short, and names and labels as shown."""
        content = self.model_dump(mode="json")
        for nodes in (content["nodes"], *content["others"]):
            nodes["losses"] = [after - before for before, after in itertools.pairwise((0, *nodes["losses"]))]
        for column in content["columns"]:
            column["shown"] = printable(column["name"])
            column["example"] = [None if label is None else printable(label) for label in column["example"]]
        data = {**content, "policy_k": policy_k, "command": [*command]}
        return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")

    def _repr_html_(self) -> str:
        return framed(self.to_html(), self.heading)

    @property
    def heading(self) -> str:
        return f"The lattice of {self.source}"

    def parts(self) -> Iterator[Part]:
        losses = {k: loss for k in self.asked if (loss := self._least_loss(k)) is not None}
        rows = [(f"k = {k}", percent(loss) if self.is_share else figure(loss)) for k, loss in losses.items()]
        checked = "" if self.checked_nodes == self.node_count else f"{count(self.checked_nodes)} of "
        title = f"The least loss of {checked}{count(self.node_count)} nodes; to_html() makes a page to choose one on"
        yield Table(("asked for", self.measure), rows, numbers=(1,), title=title)

    def _least_loss(self, k: int) -> float | None:
        at_k = next((other.losses for other in self.others if other.k == k), None)
        if at_k is None:
            at_k = tuple(loss for loss, best_k in zip(self.nodes.losses, self.nodes.best_k, strict=True) if best_k >= k)
        return at_k[0] * self.loss_unit if at_k else None


@with_own_taxonomies
def explorer(
    engine: Engine,
    source: ResolvedSource,
    policy: Policy,
    progress: Progress,
    stopped: Stopped | None = None,
    *,
    in_seconds: bool = False,
) -> Explorer:
    """Check every node, or as many as time allows; see :meth:`sqlanon.Session.explore`."""
    if means := [str(model) for model in policy.privacy if isinstance(model, MeanModel)]:
        raise PolicyError(
            f"the page offers nodes by the k that they attain, and {means[0]} can fail at a smaller k, where other "
            "rows are published: take a lattice table (lattice), which has each node as the policy judges it"
        )
    stages = Stages(progress)
    with stages.watching(engine), engine.transaction(), engine.scratch():
        other_ks = [k for k in ASKED if k > policy.criteria.k and takes_k(policy, k)]
        found = examined(
            engine,
            source,
            policy,
            stages,
            stopped,
            lambda size: [policy.with_k(k) for k in other_ks if size <= MAX_NODES],
            in_seconds=in_seconds,
        )
        table, nodes = found.table, found.nodes
        engine.put(NODES, nodes.drop_columns(["models"]).append_column("place", pa.array(found.places, pa.int64())))
        context, k = table.context, max(policy.criteria.k, 1)
        largest = max((loss for loss in nodes["loss"].to_pylist()), default=0.0)
        unit = 10.0 ** (math.ceil(math.log10(largest)) - DIGITS) if largest > 0 else 1.0
        best_k = max((each or 0 for each in nodes["best_k"].to_pylist()), default=0)
        asked = tuple(sorted({k, *(each for each in ASKED if each <= best_k)}))
        shown = _shown(engine, nodes.num_rows, asked, k, unit)
        lattice_size, record, quality = table.context.lattice.size, record_of(nodes), policy.quality
        return Explorer(
            source=source.description,
            row_count=context.row_count,
            k=k,
            asked=asked,
            allowed_rows=context.allowed_rows,
            measure=quality.measure,
            is_share=isinstance(quality, LM | NCP | Prec),
            depends_on_k=quality.charges if isinstance(quality, ChargingModel) else not isinstance(quality, DMStar),
            loss_unit=unit,
            node_count=lattice_size,
            checked_nodes=nodes.num_rows,
            lower_bound=record.lower_bound,
            gap=record.gap,
            columns=explored_columns(engine, table),
            nodes=shown,
            others=tuple(_at_other_k(engine, shown, other_ks, k, unit)) if lattice_size <= MAX_NODES else (),
        )


def takes_k(policy: Policy, k: int) -> bool:
    """Return whether a policy may have this k."""
    try:
        policy.with_k(k)
    except PolicyError:
        return False
    return True


def _shown(engine: Engine, node_count: int, asked: tuple[int, ...], k: int, unit: float) -> ExploredNodes:
    ranked = SQL.query("ranked_nodes", nodes=NODES)
    if node_count > MAX_NODES:
        numbers = [exp.Literal.number(each) for each in asked]
        ranked = SQL.query("chosen_nodes", ranked=ranked, asked=numbers, count=node_count, sample=SAMPLED_NODES)
    rows = engine.fetch(SQL.query("shown_nodes", ranked=ranked, k=k), "nodes of the page", "node")
    return ExploredNodes(
        places=tuple(row["place"] for row in rows),
        losses=tuple(round(row["loss"] / unit) for row in rows),
        best_k=tuple(row["best_k"] for row in rows),
        suppressed_rows=tuple(row["suppressed_rows"] for row in rows),
        class_counts=tuple(row["class_count"] for row in rows),
    )


def _at_other_k(
    engine: Engine, shown: ExploredNodes, other_ks: Sequence[int], k: int, unit: float
) -> Iterator[NodesAtK]:
    positions = {place: position for position, place in enumerate(shown.places)}
    for position, other in enumerate(other_ks, start=1):
        query = SQL.query("nodes_at", nodes=NODES, position=position, asked=other, k=k)
        rows = engine.fetch(query, "nodes at another k", "node")
        if rows:
            yield NodesAtK(
                k=other,
                order=tuple(positions[row["place"]] for row in rows),
                losses=tuple(round(row["loss"] / unit) for row in rows),
                suppressed_rows=tuple(row["suppressed_rows"] for row in rows),
            )


def explored_columns(engine: Engine, table: EncodedTable) -> tuple[ExploredColumn, ...]:
    """Return the columns with the labels of one value at each level: a value of at least k rows, or a declared one."""
    bound, encoding, lattice = table.bound, table.encoding, table.context.lattice
    policy, names = bound.policy, bound.policy.taxonomy_columns
    declared = [name for name, shape in zip(names, bound.shapes, strict=True) if shape.domain == "declared"]
    engine.run(examination.judged_cells(encoding, lattice.bottom))
    # If k counts individuals, no number of rows is enough.
    min_rows = 2**62 if policy.individual is not None else max(policy.criteria.k, 2)
    held = examination.rows_by_label(encoding, dict.fromkeys(range(len(names)), 0), min_rows)
    found: list[dict[str, Any]] = engine.fetch(
        SQL.query(
            "examples",
            labels=taxonomies.all_labels(bound.taxonomy, names),
            held=held,
            attributes=[*map(string, names)],
            declared=[*map(string, declared)] or [exp.null()],
        ),
        "an example of each column",
        "node",
    )
    examples: dict[str, list[str | None]] = {}
    for row in found:
        examples.setdefault(row["attribute"], []).append(row["label"])
    counts = table.context.losses.distinct_labels
    return tuple(
        ExploredColumn(
            name=name, least=least, most=most, label_counts=label_counts, example=tuple(examples.get(name, ()))
        )
        for name, least, most, label_counts in zip(names, lattice.bottom, lattice.top, counts, strict=True)
    )
