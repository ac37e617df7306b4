"""What a release loses of the rows of its original: LM and RCE, both over original rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engines.base import Source
from sqlanon.engines.exclusion import exclusive
from sqlanon.evaluation.answers import TRUTH, weighted
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import aliased, number, select, string, subquery
from sqlanon.queries.tables import taxonomies
from sqlanon.queries.tables.measures import level_map

if TYPE_CHECKING:
    from sqlanon.api.session import Session


@dataclass(frozen=True)
class Losses:
    """Means over the rows of an original, those that are not in the release included.

    Attributes:
        lm: what labels lose, in [0, 1]; 1 for a row of a class of fewer than k rows.
        rce: the reconstruction error over quasi-identifiers and sensitive value, in [0, 1].
        lost_rows: how many rows the release does not show in their own class.
    """

    lm: float
    rce: float
    lost_rows: int


# More than six parameters: both tables and the catalog, and how one was made from the other.
@exclusive
def losses(
    session: Session,
    original: Source,
    released: str,
    node: Mapping[str, int],
    sensitive: str,
    *,
    required: int,
    catalog: str | None = None,
) -> Losses:
    """The losses of a release whose classes of fewer rows than ``required`` were not kept.

    Raises:
        EngineError: the database refused a step.
    """
    engine = session._engine
    true, shown = session._opened.resolve(original).relation, session._opened.resolve(released).relation
    if catalog is None:
        with_truth: exp.Query = select([exp.Star(), aliased(number(1), TRUTH)], shown)
    else:
        with_truth = weighted(shown, session._opened.resolve(catalog).relation, sensitive).query
    levels = level_map(node)
    lm = table_call("lm", true, levels, number(required))
    rce = table_call(
        "reconstruction_errors",
        true.copy(),
        subquery(with_truth, "anon_with_truth"),
        levels.copy(),
        string(sensitive),
        string(TRUTH),
    )
    [labels] = engine.fetch(taxonomies.at(lm, engine.taxonomy), "LM of original rows")
    [errors] = engine.fetch(taxonomies.at(rce, engine.taxonomy), "reconstruction errors")
    return Losses(labels["lm"], errors["rce"], errors["lost_rows"])
