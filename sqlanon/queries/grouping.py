"""Groups of cells: the classes of one node, or of several at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.model.criteria import CLASS_SIZE, Bound, Measure
from sqlanon.model.lattice import Levels
from sqlanon.queries.encoding import PEOPLE, WEIGHT, Encoding, words_of
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    aliased,
    bits,
    cast,
    column,
    copies,
    cross_join,
    double,
    f,
    given_lists,
    grouped,
    number,
    select,
    subquery,
    union_all,
    values,
)

SQL = Queries("cells")

NODE = "anon_node"  # the position of a node in its batch
NODES = "anon_nodes"
CLASS_ROWS = "anon_class_size"
CLASS_WEIGHT = "anon_class_weight"
INDIVIDUALS = "anon_individuals"
ROWS = "anon_rows"
VALUE_SIZE = "anon_value_size"
CERTAIN_SHARE = "anon_certain_share"
CERTAIN_ROWS = "certain_suppressed_rows"


@dataclass(frozen=True)
class Grouping:
    """A grouping of cells, and of people, by columns; without columns all cells are one class."""

    encoding: Encoding
    keys: tuple[str, ...]
    cells: Callable[[], exp.Expr]
    people: Callable[[], exp.Expr]
    proving: bool = False  # whether classes have certainties about less general nodes
    measured_from: int = 1  # the rows from which the values of a class are measured
    gaps: bool = False  # whether cells may lack values
    levels: Sequence[Levels] = ()  # of its nodes, where they are known

    def columns(self, table: str | None = None) -> list[exp.Expr]:
        return [column(key, table) for key in self.keys]

    def select(self, columns: Iterable[exp.Expr], relation: exp.Expr, *others: exp.Expr) -> exp.Select:
        """Return ``SELECT keys, columns FROM relation GROUP BY keys, others``, with the others selected, too."""
        keys = [*self.columns(), *others]
        return grouped(select([*copies(keys), *columns], relation), keys)


def measure_column(encoding: Encoding, measure: Measure) -> str:
    if measure == CLASS_SIZE:
        return INDIVIDUALS if encoding.spec.individual else CLASS_ROWS
    return f"anon_measure_{encoding.measures.index(measure)}"


def measure_of(encoding: Encoding, bound: Bound) -> exp.Expr:
    """Return the measure of a class; of a mean the sum over its rows."""
    measure = bound.measure
    if not measure.is_mean or measure.view != "size":
        return column(measure_column(encoding, measure))
    return number(1) if measure.of_class is None else scalar_call(measure.of_class, column(CLASS_ROWS))


def passing(bound: Bound, value: exp.Expr) -> exp.Expr:
    """Return whether a value keeps a bound."""
    comparison = {">=": exp.GTE, "<=": exp.LTE, "<": exp.LT}[bound.comparison]
    return comparison(this=value, expression=exp.convert(bound.threshold))


def by_key(
    encoding: Encoding, levels: Levels, cells: Relation | None = None, carried: Sequence[str] | None = None
) -> Grouping:
    """Group all cells by the bits of their keys at a node; the key columns hold the words of the class's key.

    ``cells`` may be rolled up to a node below. ``carried`` are the other columns to carry, by default the ones that
    measures need.
    """
    masks: dict[int, exp.Expr] = {word: number(mask) for word, mask in encoding.keys.node_masks(levels).items()}
    return replace(_masked(encoding, masks, cells, carried=carried), levels=(levels,))


def by_any_key(encoding: Encoding, cells: Relation, words: Sequence[int], before: int) -> Grouping:
    """Group cells at any node: masks of its words are parameters, after ``before`` other ones."""
    masks = (cast(exp.Placeholder(this=str(before + place)), "BIGINT") for place in range(1, len(words) + 1))
    return _masked(encoding, dict(zip(words, masks, strict=True)), cells)


def by_keys(encoding: Encoding, batch: Sequence[Levels], cells: Relation | None = None) -> Grouping:
    """Group all cells at all nodes of a batch, with the node as a further key: one plan and one pass."""
    words, nodes = masked_nodes(encoding, batch)
    return replace(_by_node(encoding, words, nodes, cells), levels=batch)


def masked_nodes(encoding: Encoding, batch: Sequence[Levels]) -> tuple[list[int], exp.Values]:
    """Return the words of keys that distinguish classes of some nodes, and the positions of nodes with their masks."""
    masks = [encoding.keys.node_masks(levels) for levels in batch]
    words = words_of(masks)
    rows = [[number(index), *(number(of_node.get(word, 0)) for word in words)] for index, of_node in enumerate(masks)]
    return words, values(NODES, (NODE, *map(mask_column, words)), rows)


def by_any_keys(encoding: Encoding, cells: Relation, words: Sequence[int]) -> Grouping:
    """Group cells at any number of nodes: parameters are their positions, and their masks of each word."""
    return _by_node(encoding, words, subquery(given_lists((NODE, *map(mask_column, words))), NODES), cells)


def of_all_nodes(
    encoding: Encoding,
    batch: Sequence[Levels],
    cells: Relation | None,
    relation: Callable[[Grouping], exp.Select],
    *,
    apart: bool,
) -> exp.Query:
    """Select a relation of classes at all nodes of a batch, with the node and all words of keys.

    ``relation`` makes it from grouped cells, with its keys; with ``apart`` node by node.
    """
    if not apart and len(batch) > 1:
        return relation(by_keys(encoding, batch, cells))
    names = [*encoding.word_columns]
    queries = []
    for index, levels in enumerate(batch):
        classes = relation(by_key(encoding, levels, cells))
        # Words of keys that the node doesn't use are 0.
        words = [column(name) if name in classes.named_selects else aliased(number(0), name) for name in names]
        others = [column(name) for name in classes.named_selects if name not in names]
        columns = [*words, *others, aliased(number(index), NODE)]
        queries.append(select(columns, subquery(classes, "anon_classes_of_node")))
    return union_all(queries)


def mask_column(word: int) -> str:
    return f"anon_mask_{word}"


def _by_node(encoding: Encoding, words: Sequence[int], nodes: exp.Expr, cells: Relation | None) -> Grouping:
    return _masked(encoding, {word: column(mask_column(word), NODES) for word in words}, cells, nodes)


def _masked(
    encoding: Encoding,
    masks: dict[int, exp.Expr],
    cells: Relation | None,
    nodes: exp.Expr | None = None,
    carried: Sequence[str] | None = None,
) -> Grouping:
    """Group cells by the bits of their keys that a mask of each word shows, and by node if there are several."""

    def masked(relation: Relation, others: Iterable[str]) -> exp.Subquery:
        words = [
            aliased(bits(column(encoding.key(word)), mask.copy()), encoding.key(word)) for word, mask in masks.items()
        ]
        query = select([*words, *map(column, others)], relation.table)
        if nodes is not None:
            query = cross_join(query.select(column(NODE, NODES), copy=False), nodes.copy())
        return subquery(query, relation.name)

    return Grouping(
        encoding,
        (*([] if nodes is None else [NODE]), *map(encoding.key, masks)),
        lambda: masked(encoding.cells if cells is None else cells, encoding.carried if carried is None else carried),
        lambda: masked(encoding.population_cells, [PEOPLE]),
    )


def rolled_up(encoding: Encoding, levels: Levels, cells: Relation) -> exp.Query:
    """Roll up the cells of a node from the cells of one below it, whose order is nearly kept."""
    grouping = by_key(encoding, levels, cells)
    return SQL.query(
        "rolled_up",
        cells=grouping.cells(),
        keys=[*grouping.keys, *encoding.distinguishing],
        labels=encoding.sensitive_labels,
        weights=[] if encoding.spec.row_weight is None else [WEIGHT],
    )


def distinct_others(encoding: Encoding) -> exp.Query | None:
    """Select one row, ``others``: the combinations that distinguish cells besides quasi-identifiers, if any."""
    if not encoding.distinguishing:
        return None
    return SQL.query("distinct_others", cells=encoding.cells, columns=encoding.distinguishing)


def as_measure(grouping: Grouping, measure: Measure, value: exp.Expr) -> exp.Alias:
    return aliased(value, measure_column(grouping.encoding, measure))


def certainties(grouping: Grouping, measure: Measure, looked_at: Sequence[exp.Expr]) -> list[exp.Alias]:
    """Return, by bound on a measure with a certainty, the share of rows that every less general node suppresses.

    Return nothing unless the grouping is proving. ``looked_at`` are the arguments of the macro before the threshold.
    """
    if not grouping.proving or measure.certainty is None:
        return []
    return [
        aliased(scalar_call(measure.certainty, *copies(looked_at), double(bound.threshold)), _share_column(index))
        for index, bound in enumerate(grouping.encoding.criteria.partly_certain_bounds)
        if bound.measure == measure
    ]


def has_certainties(grouping: Grouping, measures: Iterable[Measure]) -> bool:
    """Return whether the grouping proves something by one of these measures."""
    asked = {bound.measure for bound in grouping.encoding.criteria.partly_certain_bounds} if grouping.proving else set()
    return not asked.isdisjoint(measures)


def certain_share(encoding: Encoding) -> exp.Expr:
    """Return the largest proven share of the rows of a class that every less general node suppresses."""
    shares = [column(_share_column(index)) for index in range(len(encoding.criteria.partly_certain_bounds))]
    return shares[0] if len(shares) == 1 else f.greatest(*shares)


def certain_rows(certainly_kept: exp.Expr) -> exp.Alias:
    """Aggregate the rows that every less general node suppresses, where classes prove it for a part."""
    rows = scalar_call("certain_rows_of", column(CLASS_ROWS), certainly_kept, column(CERTAIN_SHARE))
    return aliased(rows, CERTAIN_ROWS)


def sum_of(name: str) -> exp.Sum:
    return exp.Sum(this=column(name))


def _share_column(index: int) -> str:
    return f"anon_certain_share_{index}"
