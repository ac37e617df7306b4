"""Exercise: a method that publishes a second table. Full-domain generalization, and the sizes of its classes.

The sizes tell nobody more than the rows do, which whoever has them can count. They go to a table of their own, in one
step with the rows: both are new, or both are as they were.
"""

from collections.abc import Mapping
from typing import Literal

from sqlglot import exp

from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.base import Comparison
from sqlanon.methods.full_domain.full_domain_run import FullDomainRun
from sqlanon.methods.syntactic import NodePublication
from sqlanon.model.methods.settings import MethodSettings
from sqlanon.queries.kit.nodes import aliased, column, copies, count_rows, grouped, select, subquery, union_all
from sqlanon.queries.published_rows import release

SIZES = "sizes"
ROWS = "rows"


class ClassSizes(MethodSettings):
    """The best node, and a table of its classes with how many rows are published of each."""

    model: Literal["class-sizes"] = "class-sizes"


class ClassSizesRun(FullDomainRun):
    """Full-domain generalization that publishes the sizes of its classes as well."""

    companions = (SIZES,)

    def companion_rows(self, made: NodePublication) -> Mapping[str, exp.Query]:
        return {SIZES: self._sizes(subquery(release(made.table.encoding), "published"))}

    def compare(
        self, made: NodePublication, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Comparison:
        counted, found = self._sizes(written.relation), select([exp.Star()], companions[SIZES].relation)
        # The rows that either has and the other has not, each in parentheses: EXCEPT is taken from left to right.
        differing = union_all(
            select([exp.Star()], subquery(exp.except_(*copies(pair), distinct=False, copy=False), "one_way"))
            for pair in ((counted, found), (found, counted))
        )
        wrong = select([aliased(count_rows(), "classes")], subquery(differing, "differing"))
        differs = self.engine.fetch(wrong, "sizes of classes")[0]["classes"]
        return Comparison(["the sizes of classes are not those of the rows"] if differs else [])

    def _sizes(self, rows: exp.Expr) -> exp.Query:
        labels = [column(name) for name in self.bound.policy.quasi_identifiers]
        return grouped(select([*labels, aliased(count_rows(), ROWS)], rows.copy()), [label.copy() for label in labels])


REGISTRATION = {"kind": ClassSizes, "method": f"{__name__}:{ClassSizesRun.__name__}"}
