"""Exercise: a method that publishes a second table. Full-domain generalization, and the sizes of its classes.

The sizes tell nobody more than the rows do, which whoever has them can count. They go to a table of their own, in one
step with the rows: both are new, or both are as they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeVar

from sqlglot import exp

import sqlanon as sa
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.methods.base import Request
from sqlanon.methods.full_domain import method as full_domain
from sqlanon.methods.stages import Stages
from sqlanon.model.policy.settings import MethodSettings
from sqlanon.queries.kit.nodes import aliased, column, count_rows, differing_rows, grouped, select, subquery
from sqlanon.queries.release.rows import release

SIZES = "sizes"
ROWS = "rows"

State = TypeVar("State")


class ClassSizes(MethodSettings):
    """The best node, and a table of its classes with how many rows are published of each."""

    model: Literal["class-sizes"] = "class-sizes"


class WithClassSizes(full_domain.FullDomain):
    """Full-domain generalization that publishes the sizes of its classes as well."""

    def prepare(self, engine: Engine, source: ResolvedSource, policy: sa.Policy, request: Request) -> Prepared:
        return _as(Prepared, super().prepare(engine, source, policy, request))


class Prepared(full_domain.Prepared):
    beside: ClassVar[tuple[str, ...]] = (SIZES,)

    def encode(self) -> Any:
        encoded = super().encode()
        return _as(Encoded, encoded) if isinstance(encoded, full_domain.Encoded) else _as(Rehearsed, encoded)


class Encoded(full_domain.Encoded):
    def choose(self, stages: Stages) -> Chosen:
        return _as(Chosen, super().choose(stages))


class Rehearsed(full_domain.Rehearsed):
    def choose(self, stages: Stages) -> Chosen:
        return _as(Chosen, super().choose(stages))


class Chosen(full_domain.Chosen):
    def draw(self) -> Drawn:
        return _as(Drawn, super().draw())


class Drawn(full_domain.Drawn):
    def rows_beside(self) -> Mapping[str, exp.Query]:
        return {SIZES: self._sizes(subquery(release(self.table.encoding), "published"))}

    def verify(self, written: ResolvedSource, beside: Mapping[str, ResolvedSource]) -> full_domain.Verified:
        counted, told = self._sizes(written.relation), select([exp.Star()], beside[SIZES].relation)
        wrong = select([aliased(count_rows(), "classes")], subquery(differing_rows(counted, told), "differing"))
        if self.engine.fetch(wrong, "sizes of classes")[0]["classes"]:
            raise sa.VerificationError("the sizes of classes are not those of the rows")
        return super().verify(written, beside)

    def _sizes(self, rows: exp.Expr) -> exp.Query:
        labels = [column(name) for name in self.table.encoding.spec.quasi_identifiers]
        return grouped(select([*labels, aliased(count_rows(), ROWS)], rows.copy()), [label.copy() for label in labels])


def _as(kind: type[State], state: Any) -> State:
    """A state of full-domain generalization as one of this method."""
    return kind(**vars(state))


REGISTRATION = {"kind": ClassSizes, "method": f"{__name__}:{WithClassSizes.__name__}"}
