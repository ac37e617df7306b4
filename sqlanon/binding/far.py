"""What rows that are not in the database cannot have done to them, refused before any of them is counted."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Engine
from sqlanon.errors import PolicyError
from sqlanon.model.methods.cuts import DiffGen
from sqlanon.queries.source import SourceColumn


def refuse_far(engine: Engine, bound: BoundPolicy) -> None:
    """Refuse a policy for rows elsewhere (:class:`sqlanon.engines.base.Rows`) which takes what can be done here alone.

    Raises:
        PolicyError: listing all of that.
    """
    if engine.far is None or not engine.is_far(bound.source):
        return
    if problems := [*_pseudonyms(bound), *engine.far.misfits([*_counted(bound)])]:
        raise PolicyError(f"the policy does not fit {bound.description}, whose rows stay there:", problems)


def _pseudonyms(bound: BoundPolicy) -> Iterator[str]:
    for name in bound.policy.pseudonyms:
        yield (
            f'"{name}" cannot have pseudonyms: their key would be in a statement that the server may log; make it an '
            "identifier, which is dropped, or copy the rows to DuckDB"
        )


def _counted(bound: BoundPolicy) -> Iterator[SourceColumn]:
    """The columns whose values are counted or released; of sets the items are counted."""
    policy, method = bound.policy, bound.policy.method
    sets = method.sets if isinstance(method, DiffGen) else ()
    names = policy.released_columns | {policy.individual, policy.row_weight}
    yield from (found for found in bound.columns if found.name in names and found.name not in sets)
