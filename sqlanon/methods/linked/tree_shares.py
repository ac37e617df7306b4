"""Bounds on the share of persons of a class who have a sensitive value in some of their rows.

Values cannot be counted: a person may have several, so that a class with two diagnoses can be one in which all persons
have one of them. NULL is a value; a person without rows has none. A class that violates a bound is left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.model.criteria import Bound
from sqlanon.queries.grouping import passing
from sqlanon.queries.kit.macros import exact_text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_columns,
    all_of,
    column,
    equal_in,
    f,
    left_join,
    select,
    subquery,
)
from sqlanon.queries.linked import PERSON

SQL = Queries("trees")
IS_KEPT = "anon_is_kept"


class TreeShares:
    """Judges classes of persons by their size, and by the values of their rows."""

    def __init__(self, engine: Compute, encoded: EncodedLinked) -> None:
        self._k = encoded.policy.k
        self.bounds: dict[str, list[Bound]] = {}  # by sensitive column
        for bound in (bound for model in encoded.policy.privacy if hasattr(model, "bounds") for bound in model.bounds):
            if bound.measure.column is not None:
                self.bounds.setdefault(bound.measure.column, []).append(bound)
        self._values = {name: Relation(f"anon_held_{place}", "rows") for place, name in enumerate(self.bounds)}
        for name, relation in self._values.items():
            home = next(table for table in encoded.bound.tables.values() if name in table.rows.columns)
            rows = home.rows.rows([name], numbers=[PERSON])
            roles = SQL.given(rows=rows, value=exact_text(column(name)), person_count=encoded.rows(encoded.policy.root))
            engine.run(
                Step(relation, roles.query("values_of_persons"), f'persons who have values of "{name}"', is_again=True)
            )

    def judged(self, classes: exp.Select, persons: exp.Table, keys: Mapping[str, exp.Expr]) -> exp.Select:
        """Add to classes of persons by keys whether they are kept: ``anon_is_kept``."""
        query = select([all_columns("anon_classes")], subquery(classes, "anon_classes"))
        kept: list[exp.Expr] = [column("anon_persons", "anon_classes") >= self._k]
        for name, bounds in self.bounds.items():
            alias = self._values[name].name
            measures = subquery(self._measures(classes, persons, keys, self._values[name]), alias)
            query = left_join(query, measures, equal_in(keys, "anon_classes", alias))
            kept += [f.coalesce(passing(bound, column(bound.measure.name, alias)), True) for bound in bounds]
        return query.select(aliased(all_of(kept), IS_KEPT), copy=False)

    def _measures(
        self, classes: exp.Select, persons: exp.Table, keys: Mapping[str, exp.Expr], values: Relation
    ) -> exp.Select:
        shown = [aliased(value.copy(), name) for name, value in keys.items()]
        groups = [value.copy() for value in keys.values()]
        holders = SQL.query("holders", persons=persons, values=values, columns=shown, groups=groups)
        return SQL.query("value_measures", holders=holders, classes=classes, keys=[*keys])
