"""Losses of the labels of classes: columns beside the classes of a node, and what a summary makes of them."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.model.quality import LM
from sqlanon.queries.class_measures import KEPT
from sqlanon.queries.coded_labels import INFORMATION, label_bits
from sqlanon.queries.encoding import Encoding
from sqlanon.queries.grouping import CLASS_WEIGHT, NODE
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

    Classes carry the mean of each of :attr:`measures` over quasi-identifiers, of information the sum; and of ``lm`` the
    loss of each quasi-identifier if the quality model combines them otherwise. If ``units`` are given, means are in
    parts of 1 / ``units``, rounded down for each quasi-identifier: integers, which are the same whatever else is
    counted in the statement.
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
        # By quasi-identifier whose labels all lose alike in all nodes of the batch, what they lose.
        self._alike: dict[int, float] = {}
        for position, of_depths in enumerate(self._nodes_of):
            losses = {self._constant_loss("lm", position, depth) for depth in of_depths}
            if len(losses) == 1 and (loss := losses.pop()) is not None:
                self._alike[position] = loss

    def beside(self, classes: exp.Query) -> exp.Query:
        """The classes with what their labels lose in place of their keys, but for those that earlier releases need."""
        if not self._wanted:
            return classes
        encoding = self._encoding
        keys = encoding.word_columns if encoding.spec.earlier is None else ()
        shown = [name for name in classes.named_selects if name not in keys]
        # The bits of labels that do not all lose alike, for they are compared with step after step.
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
            if looked_up:  # by classes of nodes at other levels, too, which find what they do not ask
                alias = _lookup(*place)
                on = [column(_label_bits(*place, word)).eq(column(encoding.key(word), alias)) for word in words]
                lookup = subquery(label_bits(encoding, *place, map(column, looked_up)), alias)
                query = left_join(query, lookup, all_of(on))
        return query

    def combined(self) -> list[exp.Alias]:
        """LM as it is, and weighted or geometric, from the losses of quasi-identifiers apart; else nothing."""
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

    def _columns(self) -> list[exp.Alias]:
        """The losses of a class's labels: their mean in each measure, or each on its own if that is needed."""
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
        """The loss of the label of a class, at whatever node of the batch."""
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
        """The loss of the label of a class at a level at which it depends on the label."""
        encoding = self._encoding
        if self._is_looked_up(measure, position, depth):
            return column(measure, _lookup(position, depth))
        *steps, (_, most) = encoding.loss_steps[measure, position, depth]
        words = [_label_bits(position, depth, word) for word in encoding.keys.label_masks(position, depth)]
        ifs = [exp.If(this=_up_to(words, last), true=double(loss)) for last, loss in steps]
        return exp.Case(ifs=ifs, default=double(most))

    def _constant_loss(self, measure: str, position: int, depth: int) -> float | None:
        """The loss of every label of a level: values lose nothing, the top above them all there is; None if it varies.

        All the information is lost there, so that a label of the top has none.
        """
        if not self._encoding.loss_varies(measure, position, depth):
            if measure == INFORMATION:
                return 0.0
            shape = self._encoding.spec.shapes[position]
            return 1.0 if depth == shape.height > 0 and shape.domain_size > 1 else 0.0
        steps = self._encoding.loss_steps.get((measure, position, depth), ())
        return steps[0][1] if len(steps) == 1 else None

    def _is_looked_up(self, measure: str, position: int, depth: int) -> bool:
        """Whether labels of a level lose in more steps than are spelled out."""
        varies = self._encoding.loss_varies(measure, position, depth)
        return varies and (measure, position, depth) not in self._encoding.loss_steps


def in_units(loss: exp.Expr, share: float) -> exp.Expr:
    """A loss in [0, 1] times ``share``, rounded down."""
    return cast(exp.Floor(this=exp.Mul(this=loss, expression=double(share))), "BIGINT")


def _lookup(position: int, depth: int) -> str:
    return f"anon_losses_{position}_{depth}"


def _label_bits(position: int, depth: int, word: int) -> str:
    return f"anon_bits_{position}_{depth}_{word}"


def _loss_apart(position: int) -> str:
    return f"anon_lm_{position}"


def _up_to(words: Sequence[str], last: Sequence[int]) -> exp.Expr:
    """Whether some words are no more than others, the first being the most significant."""
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
