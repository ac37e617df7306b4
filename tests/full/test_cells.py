"""Cells of a specification that no policy describes: what methods count for themselves."""

from collections import Counter
from dataclasses import replace

import pytest

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.model.lattice import Levels
from sqlanon.nodes.table import encode_table
from sqlanon.queries.encoding import ROW_COUNT, row_sum
from sqlanon.queries.grouping import by_key
from sqlanon.queries.kit.nodes import column
from sqlanon.queries.summaries import attained
from tests.conftest import clinic_policy
from tests.engines import engine_of

ONE_K = clinic_policy(sa.KAnonymity(2))
"""It looks at quasi-identifiers alone."""


@pytest.mark.usefixtures("macros")
def test_counts_by_the_values_of_a_column_that_no_model_looks_at(clinic: sa.Session) -> None:
    engine = engine_of(clinic)
    bound = prepare(engine, engine.resolve("visits"), ONE_K)
    assert bound.cells.protected == ()
    nodes: tuple[Levels, ...] = ((0, 0, 0), (1, 0, 1), (2, 1, 0), bound.heights)
    for levels in nodes:
        with engine.transaction(), engine.scratch():
            table = encode_table(engine, bound, replace(bound.cells, protected=("diagnosis",)), label_losses=())
            grouping = by_key(table.encoding, levels)
            counts = grouping.select([row_sum()], grouping.cells(), column(table.encoding.sensitive("diagnosis")))
            found = engine.fetch(counts, "counts by class and value", "cell")
            (worst,) = engine.fetch(attained(grouping), "attained measures", "node")
        node = ", ".join(f"'{name}': {level}" for name, level in bound.lattice.named(levels).items())
        rows = clinic.connection.execute(
            f"SELECT age, sex, zip, diagnosis FROM anon.generalize('visits', MAP {{{node}}})"
        ).fetchall()
        assert sorted(row[ROW_COUNT] for row in found) == sorted(Counter(rows).values())
        sizes = [size for size in Counter(row[:3] for row in rows).values() if size >= 2]
        assert worst == {"attained_0": min(sizes, default=None)}
