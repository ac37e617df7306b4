"""Combinations of a node, with noise: a private method chooses a node by their score, and publishes them.

A combination is a class at a node with a value of the sensitive column, if there is one. Noise comes as tables of
numbers; the noise of a sample is minus the rows outside it, and combinations without noise aren't shown. All noisy
relations have a run, so that an audit can draw a hundred thousand releases at once; a release is run 0.

Empty combinations are drawn by their number in the domain, without listing it. The domain of a node is public: every
label of every quasi-identifier at its level, including NULL, with every declared value of the sensitive column. Its
combinations are numbered by the codes of their labels and the place of their value.

The score of a node depends on combinations with enough rows. For it, keys of cells include the sensitive value, so that
a combination is a class by such keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import prod
from operator import mul

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.queries import taxonomies
from sqlanon.queries.coded_labels import labelled_values
from sqlanon.queries.encoding import ROW_COUNT, CellSpec, Encoding, row_sum
from sqlanon.queries.grouping import Grouping, of_all_nodes
from sqlanon.queries.kit.macros import table_call, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_bits,
    ascending,
    c,
    called,
    cast,
    column,
    f,
    grouped,
    identifier,
    number,
    select,
    string,
    subquery,
    union_all,
)
from sqlanon.queries.label_losses import LabelLosses, in_units
from sqlanon.queries.layout import MASK
from sqlanon.queries.measures import level_map
from sqlanon.queries.published_rows import (
    EQUAL_ROWS,
    KeptColumn,
    kept_columns,
    order_of_groups,
    released_columns,
    unlike_groups,
)
from sqlanon.queries.recodings import Recoding, as_label

SQL = Queries("noise")

RUN = "anon_run"
PLACE = "anon_place"
PLACE_OF_VALUE = "anon_place_of_value"
NOISE = "anon_noise"
NOISY = "anon_noisy_rows"
IS_SHOWN = "anon_is_shown"
INDEX = "anon_index"
RANK = "anon_rank"
ROWS = "anon_rows"

WHOLE = 1 << 30
"""The unit of losses of labels: integers, whose sums no order of rows can change."""

KEYED_CELLS = Relation("anon_keyed_cells", "cell")
"""The cells with the sensitive value in the bits of their key: grouping by one number is faster than by two."""

COMBINATIONS = Relation("anon_combinations", "cell")
"""The nonempty combinations of the chosen node, with their rows and their place."""

NOISE_OF_COMBINATIONS = Relation("anon_noise_of_combinations", "cell")
NOISY_COMBINATIONS = Relation("anon_noisy_combinations", "cell")
"""The combinations with noise, by run, and whether they are shown."""

LEFT_OVER = Relation("anon_left_over", "cell")
"""The rows of combinations that aren't shown, by run and value."""

NOISE_OF_LEFT_OVER = Relation("anon_noise_of_left_over", "cell")
NOISY_LEFT_OVER = Relation("anon_noisy_left_over", "cell")

VALUES = Relation("anon_domain_values", "node")
"""The declared values of the sensitive column, with their place."""

SEEN = Relation("anon_seen", "cell")
"""The number of nonempty combinations before each empty one."""

DRAWN = Relation("anon_drawn_unseen", "cell")
"""The drawn combinations by run: their place among the empty ones, and the rows to show."""

UNSEEN = Relation("anon_unseen", "cell")
"""The drawn combinations with the codes of their labels and their value."""


def combinations(recoding: Recoding) -> Step:
    encoding, raw = recoding.encoding, _raw_values(recoding.encoding)
    values = [encoding.sensitive(name) for name in encoding.spec.protected]
    any_raw = [aliased(exp.AnyValue(this=column(name)), name) for name in raw]

    def by_value(grouping: Grouping) -> exp.Select:
        return grouping.select([*any_raw, row_sum()], grouping.cells(), *map(column, values))

    rows = recoding.coded_classes(by_value, "anon_keyed", [*values, *raw, ROW_COUNT])
    query = SQL.query("placed", rows=rows, keys=[*recoding.keys, *values])
    return Step(COMBINATIONS, query, "combinations of the node")


def noisy_combinations(threshold: int) -> Step:
    """Make :data:`NOISY_COMBINATIONS`, which shows the ones whose noisy rows reach the threshold."""
    query = SQL.query("noisy", counts=COMBINATIONS, noise=NOISE_OF_COMBINATIONS, threshold=threshold)
    return Step(NOISY_COMBINATIONS, query, "noisy combinations")


def left_over(encoding: Encoding, every_value_in: int = 0) -> Step:
    """Make :data:`LEFT_OVER`, optionally with every declared value in a number of runs, even without rows."""
    raw = _raw_values(encoding)
    rows = SQL.query("left_over", noisy_combinations=NOISY_COMBINATIONS, raw_values=raw)
    if every_value_in:
        (name,) = raw
        rows = SQL.query("every_value", left_over=rows, values=VALUES, raw=name, runs=every_value_in)
    return Step(LEFT_OVER, SQL.query("placed", rows=rows, keys=[RUN, *raw]), "rows that are left over")


def noisy_left_over(threshold: int) -> Step:
    """Make :data:`NOISY_LEFT_OVER`, which shows values whose noisy rows reach the threshold."""
    query = SQL.query("noisy", counts=LEFT_OVER, noise=NOISE_OF_LEFT_OVER, threshold=threshold)
    return Step(NOISY_LEFT_OVER, query, "noisy rows that are left over")


def equal_rows(recoding: Recoding, combinations: Sequence[Relation], *, with_left_over: bool) -> Step:
    """Make ``EQUAL_ROWS``, the shown combinations in groups of equal rows, in the order of their columns.

    The tables and types of labels and combinations must exist. Rows that are left over show only their value.
    """
    encoding = recoding.encoding
    columns = kept_columns(encoding, of_cells=True)
    rows = [_shown_combinations(recoding, columns, relation) for relation in combinations]
    if with_left_over:
        labels = enumerate(encoding.label_columns)
        masks = [aliased(as_label(encoding, position, string(MASK)), name) for position, name in labels]
        left_over = called(NOISY_LEFT_OVER.table, "anon_cells")
        rows.append(_with_noisy_rows(select(masks, left_over), columns))
    keys = [*encoding.label_columns, *(each.name for each in columns)]
    query = select([*map(column, keys), row_sum()], subquery(union_all(rows), "anon_published"))
    query = grouped(query, [column(name) for name in keys])
    query.set("order", ascending(*order_of_groups(recoding, columns, masked=True)))
    return Step(EQUAL_ROWS, query, "equal rows")


def outcomes(recoding: Recoding, combinations: Sequence[Relation], salt: int, *, with_left_over: bool) -> exp.Query:
    """Select ``shown``, an outcome, and ``runs``, the number of runs with it, except for runs that show nothing.

    An outcome lists a salted hash of labels and value, and the noisy rows, of each shown combination: no value of a
    cell.
    """
    raw = _raw_values(recoding.encoding)

    def items(relation: Relation, labels: Sequence[exp.Expr]) -> exp.Select:
        parts = [string(str(salt)), *labels, *map(column, raw)]
        spelled = f.to_json(exp.Array(expressions=[text(part) for part in parts]))
        columns = [column(RUN), aliased(f.md5(text(spelled)), PLACE), column(NOISY)]
        return select(columns, relation.table).where(column(IS_SHOWN), copy=False)

    shown = [items(relation, [column(code) for code in recoding.keys]) for relation in combinations]
    if with_left_over:
        shown.append(items(NOISY_LEFT_OVER, [string(MASK)]))
    return runs_by_outcome(subquery(union_all(shown), "anon_items"), PLACE)


def runs_by_outcome(items: exp.Expr, place: str) -> exp.Select:
    """Select the outcomes of runs, ``shown``, and their numbers, ``runs``, except for runs that show nothing.

    ``items`` has the shown combinations by run, with noisy rows; column ``place`` identifies and orders them.
    """
    names = (place, NOISY)
    item = exp.Struct(expressions=[exp.PropertyEQ(this=identifier(name), expression=column(name)) for name in names])
    return SQL.query("runs_by_outcome", items=items, item=item, place=place)


def unlike_what_was_drawn(encoding: Encoding, written: exp.Expr) -> exp.Query:
    """Select one row, ``unlike``: the groups of equal rows whose number in a release isn't that of ``EQUAL_ROWS``."""
    shown = released_columns(encoding)
    drawn = subquery(select([*shown, column(ROW_COUNT)], EQUAL_ROWS.table), "anon_drawn")
    return unlike_groups([each.alias for each in shown], drawn, written)


def _shown_combinations(recoding: Recoding, columns: Sequence[KeptColumn], combinations: Relation) -> exp.Select:
    query = select([], called(combinations.table, "anon_cells"))
    query = recoding.join_labels_to_codes(query, "anon_cells")
    encoding, with_code = recoding.encoding, dict(recoding.code_columns())
    for position, name in enumerate(encoding.label_columns):
        if position not in with_code:
            label = column(name, encoding.labels_of(position))
            query = recoding.join_only_label(query, position).select(label, copy=False)
    labels = {each.alias_or_name: each for each in query.expressions}
    query.set("expressions", [labels[name] for name in encoding.label_columns])
    return _with_noisy_rows(query, columns)


def _with_noisy_rows(query: exp.Select, columns: Sequence[KeptColumn]) -> exp.Select:
    query = query.select(*(aliased(each.value.copy(), each.name) for each in columns), copy=False)
    query = query.select(aliased(column(NOISY, "anon_cells"), ROW_COUNT), copy=False)
    return query.where(column(IS_SHOWN, "anon_cells"), copy=False)


def _raw_values(encoding: Encoding) -> list[str]:
    return [encoding.raw(name) for name in encoding.spec.protected]


@dataclass(frozen=True)
class Domain:
    """The combinations of a node."""

    labels: tuple[int, ...]  # counts of labels by quasi-identifier; 1 at the top
    values: int  # the count of values of the sensitive column

    @property
    def size(self) -> int:
        return prod(self.labels) * self.values

    @property
    def strides(self) -> tuple[int, ...]:
        """The steps by which the number of a combination grows with the code of each label."""
        return tuple(accumulate(self.labels[:-1], mul, initial=self.values))


def domain_sizes(encoding: Encoding) -> exp.Query:
    """Select ``position``, ``depth`` and ``labels`` of every level, from the codes of labels only."""
    return SQL.query("domain_sizes", labels=encoding.labels)


def domain_values(encoding: Encoding) -> Step:
    (name,) = encoding.spec.protected
    return SQL.step(VALUES, "domain_values", declared=encoding.sensitive_codes(name))


def seen(recoding: Recoding, domain: Domain) -> Step:
    """Make :data:`SEEN`: the i-th nonempty combination has number - i empty ones before it."""
    (name,) = recoding.encoding.spec.protected
    index: exp.Expr = column(PLACE_OF_VALUE, "anon_values")
    for position, code in recoding.code_columns():
        digit = exp.paren(cast(column(code, "anon_cells"), "BIGINT") - 1)
        index += digit * domain.strides[position]
    roles = SQL.given(index=index, combinations=COMBINATIONS, values=VALUES, raw=recoding.encoding.raw(name))
    return SQL.step(SEEN, "gaps", numbered=roles.query("numbered"))


def unseen(recoding: Recoding, domain: Domain) -> Step:
    """Make :data:`UNSEEN` from :data:`DRAWN`: codes, value, run, rows, and that they are shown."""
    (name,) = recoding.encoding.spec.protected
    codes = [
        aliased(digit(domain.strides[position], domain.labels[position], "anon_numbered") + 1, code)
        for position, code in recoding.code_columns()
    ]
    numbered = SQL.query("unseen_numbers", drawn=DRAWN, seen=SEEN)
    roles = SQL.given(values=VALUES, value_count=domain.values, raw=recoding.encoding.raw(name))
    return roles.step(UNSEEN, "unseen", numbered=numbered, codes=codes)


def digit(stride: int, base: int, relation: str) -> exp.Paren:
    """Return a digit of the number of a combination, which is a column of a relation."""
    place = exp.IntDiv(this=column(INDEX, relation), expression=number(stride))
    return exp.Paren(this=exp.Mod(this=exp.Paren(this=place), expression=number(base)))


def by_combination(encoding: Encoding, largest: int) -> Encoding:
    """Return the encoding of :data:`KEYED_CELLS`, whose classes are combinations."""
    spec = replace(encoding.spec, protected=(), protected_shapes={})
    return replace(encoding, spec=spec, cells=KEYED_CELLS, keys=encoding.keys.with_number(largest))


def keyed_cells(encoding: Encoding, combined: Encoding) -> Step:
    """Make :data:`KEYED_CELLS`, in the order of their keys."""
    (name,) = encoding.spec.protected
    place = combined.keys.always
    assert place is not None
    value = cast(column(encoding.sensitive(name)), "BIGINT")
    words: dict[int, exp.Expr] = dict(enumerate(map(column, encoding.word_columns)))
    words[place.word] = all_bits([words[place.word], value]) if place.word in words else value
    return SQL.step(
        KEYED_CELLS,
        "keyed_cells",
        cells=encoding.cells,
        words=[aliased(word, encoding.key(index)) for index, word in words.items()],
        keys=[encoding.key(index) for index in words],
    )


def level_losses(encoding: Encoding) -> exp.Query:
    """Select ``position``, ``depth``, ``lost`` and ``most``: the total and the largest loss of rows at every level.

    Losses are in units of :data:`WHOLE`, rounded as in scores: the labels of a node lose the sum over its levels.
    """
    part = in_units(c.anon_ncp, WHOLE / len(encoding.spec.shapes))
    return SQL.query("level_losses", levels=labelled_values(encoding), part=part)


def node_scores(
    encoding: Encoding, batch: Sequence[Levels], threshold: int, *, cells: Relation | None, apart: bool
) -> exp.Query:
    """Select ``node``, ``row_count`` and ``score`` of the combinations that reach a threshold, by node of a batch.

    The encoding comes from :func:`by_combination`. Scores are in units of :data:`WHOLE` per row. All rows of other
    combinations are at risk, so their part of the score doesn't depend on losses of labels. Nodes without a combination
    that reaches the threshold are left out.
    """

    def reaching(grouping: Grouping) -> exp.Select:
        reached = exp.Sum(this=column(ROW_COUNT)) >= threshold
        return grouping.select([row_sum(name=ROWS)], grouping.cells()).having(reached, copy=False)

    losses = LabelLosses(encoding, batch, ("ncp",), units=WHOLE)
    combinations = losses.beside(of_all_nodes(encoding, batch, cells, reaching, apart=apart))
    return SQL.query("node_scores", scored=combinations, whole=WHOLE, threshold=threshold)


def diagnostics(spec: CellSpec, node: Mapping[str, int], written: exp.Expr) -> exp.Query:
    """Select one row of ``anon.information_loss`` and ``anon_helpers.class_changes``; NULL without rows."""
    (sensitive,) = spec.protected
    loss, changes = (
        table_call(macro, spec.source.copy(), written.copy(), level_map(node), string(sensitive))
        for macro in ("information_loss", "class_changes")
    )
    return taxonomies.at(SQL.query("diagnostics", loss=loss, changes=changes), spec.taxonomy)
