"""Losses of the labels of classes: columns beside the classes of a node, and their aggregates in a summary."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.model.quality import LM, LOG_SHARE
from sqlanon.queries.class_measures import KEPT
from sqlanon.queries.coded_labels import INFORMATION, label_bits
from sqlanon.queries.encoding import Encoding
from sqlanon.queries.grouping import CLASS_ROWS, CLASS_WEIGHT, NODE, Grouping, as_measure
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import (
    added,
    aliased,
    all_of,
    bits,
    cast,
    column,
    double,
    left_join,
    number,
    select,
    subquery,
)

LABELLED = "anon_labelled"


class LabelLosses:
    """The losses of the labels of classes at the nodes of one statement, which :data:`NODE` numbers.

    Classes carry the mean over quasi-identifiers of each of :attr:`measures`, or the sum of information; and for ``lm``
    the loss of each quasi-identifier if the quality model combines them in another way. With ``units``, means are
    multiples of 1 / ``units``, rounded down by quasi-identifier: integers, which no order of addition can change.
    """

    def __init__(
        self, encoding: Encoding, batch: Sequence[Levels], measures: Sequence[str], units: int | None = None
    ) -> None:
        self._encoding = encoding
        self._units = units
        self._wanted = tuple(measures)
        self._apart = "lm" in measures and encoding.criteria.quality.by_quasi_identifier
        self.measures = [name for name in measures if not (self._apart and name == "lm")]
        # By quasi-identifier, the nodes of the batch at each level.
        self._nodes_of: list[dict[int, list[int]]] = [{} for _ in encoding.spec.shapes]
        for index, levels in enumerate(batch):
            for nodes, depth in zip(self._nodes_of, levels, strict=True):
                nodes.setdefault(depth, []).append(index)
        # The loss of labels, by quasi-identifier where it is equal for all labels at all nodes of the batch.
        self._alike: dict[int, float] = {}
        for position, of_depths in enumerate(self._nodes_of):
            losses = {self._constant_loss("lm", position, depth) for depth in of_depths}
            if len(losses) == 1 and (loss := losses.pop()) is not None:
                self._alike[position] = loss

    def beside(self, classes: exp.Query, *, keeps_keys: bool = False) -> exp.Query:
        """Replace the keys of classes by the losses of their labels, unless they or earlier releases need the keys."""
        if not self._wanted:
            return classes
        encoding = self._encoding
        keys = encoding.word_columns if encoding.spec.earlier is None and not keeps_keys else ()
        shown = [name for name in classes.named_selects if name not in keys]
        # The bits of labels with different losses, which are compared step by step.
        masks = {
            (position, depth): encoding.keys.label_masks(position, depth)
            for position, nodes in enumerate(self._nodes_of)
            for depth in nodes
            if any(encoding.loss_varies(name, position, depth) for name in self._wanted)
        }
        of_labels = [
            aliased(bits(column(encoding.key(word)), number(mask)), _label_bits(*place, word))
            for place, of_words in masks.items()
            for word, mask in of_words.items()
        ]
        if of_labels:
            classes = select([exp.Star(), *of_labels], subquery(classes, "anon_keyed"))
        query = select([*(column(name, LABELLED) for name in shown), *self._columns()], subquery(classes, LABELLED))
        for place, words in masks.items():
            looked_up = [name for name in self._wanted if self._is_looked_up(name, *place)]
            if looked_up:  # classes of nodes at other levels join this, too, and ignore the result
                alias = _lookup(*place)
                on = [column(_label_bits(*place, word)).eq(column(encoding.key(word), alias)) for word in words]
                lookup = subquery(label_bits(encoding, *place, map(column, looked_up)), alias)
                query = left_join(query, lookup, all_of(on))
        return query

    def combined(self) -> list[exp.Alias]:
        """Aggregate plain LM and its weighted or geometric variant, if quasi-identifiers are kept apart."""
        if not self._apart:
            return []
        quality = self._encoding.criteria.quality
        assert isinstance(quality, LM)
        shares = quality.shares(self._encoding.spec.quasi_identifiers)
        equal = (1 / len(shares),) * len(shares)
        known = tuple(self._alike.get(position) for position in range(len(shares)))
        return [
            aliased(_combination("arithmetic", equal, known).copy(), "lm"),
            aliased(_combination(quality.aggregate, shares, known).copy(), "combined_loss"),
        ]

    def weighted(self) -> exp.Expr:
        """Return the weighted mean of the losses of a class's labels, if quasi-identifiers are kept apart."""
        quality = self._encoding.criteria.quality
        assert isinstance(quality, LM)
        shares = enumerate(quality.shares(self._encoding.spec.quasi_identifiers))
        losses = (
            exp.Mul(
                this=double(share),
                expression=double(self._alike[place]) if place in self._alike else column(_loss_apart(place)),
            )
            for place, share in shares
            if share
        )
        return exp.Paren(this=added(losses))

    def _columns(self) -> list[exp.Alias]:
        """Return the losses of a class's labels: the mean by measure, and single losses if they are kept apart."""
        losses = [aliased(self._mean(name), f"anon_{name}") for name in self.measures]
        if self._apart:
            losses += [
                aliased(self._loss("lm", position), _loss_apart(position))
                for position in range(len(self._nodes_of))
                if position not in self._alike
            ]
        return losses

    def _mean(self, measure: str) -> exp.Expr:
        terms = [self._loss(measure, position) for position in range(len(self._nodes_of))]
        known = [float(term.name) for term in terms if isinstance(term, exp.Literal)]
        varying = [term for term in terms if not isinstance(term, exp.Literal)]
        if self._units is not None:
            share = self._units / len(terms)
            units = sum(math.floor(loss * share) for loss in known)
            return added([number(units), *(in_units(term, share) for term in varying)])
        total = added([double(sum(known)), *varying])
        return total if measure == INFORMATION else exp.Div(this=exp.Paren(this=total), expression=number(len(terms)))

    def _loss(self, measure: str, position: int) -> exp.Expr:
        """Return the loss of the label of a class, at any node of the batch."""
        alike: dict[float, list[int]] = {}
        cases: list[tuple[list[int], exp.Expr]] = []
        for depth, nodes in self._nodes_of[position].items():
            constant = self._constant_loss(measure, position, depth)
            if constant is None:
                cases.append((nodes, self._loss_at(measure, position, depth)))
            else:
                alike.setdefault(constant, []).extend(nodes)
        cases += [(nodes, double(constant)) for constant, nodes in alike.items()]
        *others, (_, most) = sorted(cases, key=lambda case: len(case[0]))
        if not others:
            return most
        ifs = [
            exp.If(this=exp.In(this=column(NODE), expressions=[*map(number, nodes)]), true=loss)
            for nodes, loss in others
        ]
        return exp.Case(ifs=ifs, default=most)

    def _loss_at(self, measure: str, position: int, depth: int) -> exp.Expr:
        """Return the loss of the label of a class at a level where it depends on the label."""
        encoding = self._encoding
        if self._is_looked_up(measure, position, depth):
            return column(measure, _lookup(position, depth))
        *steps, (_, most) = encoding.loss_steps[measure, position, depth]
        words = [_label_bits(position, depth, word) for word in encoding.keys.label_masks(position, depth)]
        ifs = [exp.If(this=_up_to(words, last), true=double(loss)) for last, loss in steps]
        return exp.Case(ifs=ifs, default=double(most))

    def _constant_loss(self, measure: str, position: int, depth: int) -> float | None:
        """Return the loss of all labels of a level; None if it varies.

        It is 0 for values, and for a top above them 1, or 1 - 1 / values for a reconstruction error, or what logarithms
        make of it. The top has no information that suppression could lose, so its loss of information is 0, too.
        """
        if not self._encoding.loss_varies(measure, position, depth):
            shape = self._encoding.spec.shapes[position]
            if measure == INFORMATION or not depth == shape.height > 0 or shape.domain_size <= 1:
                return 0.0
            if measure == LOG_SHARE:
                logs = [math.log(max(each.domain_size, 1)) for each in self._encoding.spec.shapes]
                return logs[position] * len(logs) / sum(logs)
            return 1 - 1 / shape.domain_size if measure == "rce" else 1.0
        steps = self._encoding.loss_steps.get((measure, position, depth), ())
        return steps[0][1] if len(steps) == 1 else None

    def _is_looked_up(self, measure: str, position: int, depth: int) -> bool:
        """Return whether losses of labels at a level have more steps than a query spells out."""
        varies = self._encoding.loss_varies(measure, position, depth)
        return varies and (measure, position, depth) not in self._encoding.loss_steps


def with_measures_of_labels(grouping: Grouping, classes: exp.Select) -> exp.Select:
    """Add measures by what labels lose to the classes of known nodes, which have keys."""
    encoding = grouping.encoding
    assert grouping.levels
    labelled = LabelLosses(encoding, grouping.levels, (LOG_SHARE,)).beside(classes, keeps_keys=True)
    query = select(map(column, classes.named_selects), subquery(labelled, "anon_valued"))
    for measure in encoding.of_labels:
        assert measure.of_class is not None
        assert isinstance(measure.argument, tuple)
        figures = (number(figure) for _, figure in measure.argument)
        value = scalar_call(measure.of_class, column(CLASS_ROWS), column(f"anon_{LOG_SHARE}"), *figures)
        query = query.select(as_measure(grouping, measure, value), copy=False)
    return query


def in_units(loss: exp.Expr, share: float) -> exp.Expr:
    """Multiply a loss in [0, 1] by ``share``, and round down."""
    return cast(exp.Floor(this=exp.Mul(this=loss, expression=double(share))), "BIGINT")


def _lookup(position: int, depth: int) -> str:
    return f"anon_losses_{position}_{depth}"


def _label_bits(position: int, depth: int, word: int) -> str:
    return f"anon_bits_{position}_{depth}_{word}"


def _loss_apart(position: int) -> str:
    return f"anon_lm_{position}"


def _up_to(words: Sequence[str], last: Sequence[int]) -> exp.Expr:
    """Test whether words are at most the given ones, compared from the most significant word."""
    here, limit = column(words[0]), number(last[0])
    if len(words) == 1:
        return exp.LTE(this=here, expression=limit)
    rest = exp.and_(column(words[0]).eq(last[0]), _up_to(words[1:], last[1:]), copy=False)
    return exp.Paren(this=exp.or_(exp.LT(this=here, expression=limit), rest, copy=False))


@functools.lru_cache(maxsize=1024)
def _combination(aggregate: str, shares: tuple[float, ...], constant: tuple[float | None, ...]) -> exp.Expr:
    losses = [column(_loss_apart(position)) if loss is None else double(loss) for position, loss in enumerate(constant)]
    means = [scalar_call("mean_loss_of", column(CLASS_WEIGHT), column(KEPT), loss) for loss in losses]
    weights = [number(share) for share in shares]
    return scalar_call(f"{aggregate}_loss", exp.Array(expressions=means), exp.Array(expressions=weights))
