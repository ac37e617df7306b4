"""IPA as it was published: what its classes hold, which are kept, their counterfeit rows, and what a node is worth.

Numbers that chance gives come as tables; every other step is SQL. Classes are numbered, and so are values, so that only
the first and the last step depend on the policy. All that chance has a part in has a run, as in
:mod:`sqlanon.queries.noise`, whose relations hold what is shown in the end.

Source: spec/ipa.md B1.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.queries.encoding import ROW_COUNT, Encoding, row_sum
from sqlanon.queries.grouping import NODE, Grouping, by_key, of_all_nodes
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    ascending,
    cast,
    column,
    count_rows,
    double,
    grouped,
    identifier,
    number,
    select,
    subquery,
)
from sqlanon.queries.label_losses import LabelLosses
from sqlanon.queries.noise import IS_SHOWN, NOISY, NOISY_COMBINATIONS, NOISY_LEFT_OVER, PLACE_OF_VALUE, RUN
from sqlanon.queries.recodings import AtNode

CLASS = "anon_class"
THRESHOLD = "anon_threshold"
UNIFORM = "anon_uniform"

VALUES = Relation("anon_paper_values", "node")
"""The values of the sensitive column that the source has, by their place, with their number of rows."""

CELLS = Relation("anon_paper_cells", "cell")
"""The rows of the combinations of some nodes, by the number of a class and the position of a value."""

PRESENT = Relation("anon_paper_present", "cell")
"""The same with the weights with which counterfeit rows get these values."""

GAPS = Relation("anon_paper_gaps", "cell")
"""The gaps between the values that a class has: its missing values lie in them."""

CLASSES = Relation("anon_paper_classes", "class")

THRESHOLDS = Relation("anon_paper_thresholds", "class")  # per run and class, the noisy threshold

UNIFORMS = Relation("anon_paper_uniforms", "cell")
"""Per run and class, a uniform number for each counterfeit row, whether or not the class is kept."""

PERTURBED_CLASSES = Relation("anon_paper_perturbed_classes", "class")
COUNTERFEITS = Relation("anon_paper_counterfeits", "cell")

RELATIONS = (VALUES, CELLS, PRESENT, GAPS, CLASSES, THRESHOLDS, UNIFORMS, PERTURBED_CLASSES, COUNTERFEITS)

SQL = Queries("ipa_as_published", {relation.name.removeprefix("anon_paper_"): relation for relation in RELATIONS})


def values(encoding: Encoding) -> Step:
    """Make :data:`VALUES`."""
    (name,) = encoding.spec.protected
    code, raw = column(encoding.sensitive(name)), encoding.raw(name)
    columns = [aliased(_place(code), PLACE_OF_VALUE), aliased(exp.AnyValue(this=column(raw)), raw), row_sum()]
    return Step(VALUES, grouped(select(columns, encoding.cells.table), [code.copy()]), "values of the source")


def class_steps(
    encoding: Encoding,
    batch: Sequence[Levels],
    value_epsilon: float,
    *,
    cells: Relation | None = None,
    apart: bool = False,
) -> list[Step]:
    """Make the classes of a batch of nodes, numbered node by node in the order of their keys, once :data:`VALUES` is.

    They are of cells rolled up to a node below all of them, if there are such; the values of counterfeit rows are drawn
    by an ε.
    """
    known = [
        aliased(exp.Subquery(this=select([count_rows()], VALUES.table)), "anon_value_count"),
        aliased(double(value_epsilon), "anon_value_epsilon"),
    ]
    present = SQL.query("present", cells=select([exp.Star(), *known], CELLS.table))
    return [
        Step(CELLS, _cells(encoding, batch, cells, apart=apart), "combinations of nodes"),
        Step(PRESENT, present, "weights of values"),
        Step(GAPS, SQL.query("gaps"), "gaps between values"),
        Step(CLASSES, SQL.query("classes"), "classes of nodes"),
    ]


def class_counts() -> exp.Query:
    """``node`` and ``classes`` of the nodes that have some."""
    columns = [aliased(column(NODE), "node"), aliased(count_rows(), "classes")]
    return grouped(select(columns, CLASSES.table), [column(NODE)])


def utilities() -> exp.Query:
    """``run``, ``node`` and ``utility``, 3 - IL, of the nodes that have classes."""
    return SQL.query("utilities")


def shown_steps(encoding: Encoding, levels: Levels) -> list[Step]:
    """Make what is shown of the one node whose classes there are."""
    grouping, node = by_key(encoding, levels), AtNode(encoding, levels)
    number_of_class = aliased(_number_of_class(grouping.columns()), CLASS)
    classes = select([*grouping.columns(), number_of_class], grouping.cells()).distinct(copy=False)
    labelled = select([column(CLASS, "anon_numbered")], subquery(classes, "anon_numbered"))
    labelled = node.join_codes(labelled, "anon_numbered")
    kept = _with_values(encoding, "kept")
    kept.set("expressions", [*(column(code, "anon_labelled") for code in node.keys), *kept.expressions])
    kept = kept.join(subquery(labelled, "anon_labelled"), using=[identifier(CLASS)], copy=False)
    return [
        Step(NOISY_COMBINATIONS, kept, "rows of the classes that are kept"),
        Step(NOISY_LEFT_OVER, _with_values(encoding, "pooled"), "rows of the others"),
    ]


def _cells(encoding: Encoding, batch: Sequence[Levels], cells: Relation | None, *, apart: bool) -> exp.Query:
    (name,) = encoding.spec.protected
    combinations = of_all_nodes(encoding, batch, cells, _rows_by_value, apart=apart)
    keys = [NODE, *(encoding.key(word) for word in range(encoding.keys.word_count))]
    known = combinations.named_selects
    keyed = [column(key) for key in keys if key in known]
    columns = [
        *keyed,
        *([] if NODE in known else [aliased(number(0), NODE)]),
        aliased(_place(column(encoding.sensitive(name))), PLACE_OF_VALUE),
        column(ROW_COUNT),
        aliased(_number_of_class([key.copy() for key in keyed]), CLASS),
    ]
    numbered = select(columns, subquery(combinations, "anon_combinations"))
    return LabelLosses(encoding, batch, ("ncp",)).beside(numbered)


def _rows_by_value(grouping: Grouping) -> exp.Select:
    values = [column(grouping.encoding.sensitive(name)) for name in grouping.encoding.spec.protected]
    return grouping.select([row_sum()], grouping.cells(), *values)


def _with_values(encoding: Encoding, name: str) -> exp.Select:
    """Run, value and rows of a query with places of values, all to be shown."""
    raw = encoding.raw(*encoding.spec.protected)
    columns = [
        column(RUN, "anon_counted"),
        column(raw, "anon_values"),
        aliased(column(ROW_COUNT, "anon_counted"), NOISY),
        aliased(exp.true(), IS_SHOWN),
    ]
    query = select(columns, subquery(SQL.query(name), "anon_counted"))
    return query.join(exp.alias_(VALUES.table, "anon_values", table=True), using=[identifier(PLACE_OF_VALUE)])


def _number_of_class(keys: Sequence[exp.Expr]) -> exp.Expr:
    """Return the place of a row's key among all keys, from 0; without a key all rows are of one class."""
    if not keys:
        return number(0)
    rank = exp.Window(this=exp.func("dense_rank"), order=ascending(*keys))
    return exp.Sub(this=rank, expression=number(1))


def _place(code: exp.Column) -> exp.Expr:
    """Return the place of a value among all values, from 0; codes of values are from 1 and leave none out."""
    return exp.Sub(this=cast(code, "BIGINT"), expression=number(1))
