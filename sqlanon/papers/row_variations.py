"""Mohammed et al. 2013 on UCI Adult and variations of its rows: CPU seconds of DiffGen by the number of rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.evaluation.results import Row, required_altair
from sqlanon.papers import adult, classifier_comparison
from sqlanon.papers.charts import lines_of
from sqlanon.papers.classifier_comparison import BEST, PEOPLE, SPECIALIZATIONS
from sqlanon.papers.diffgen_experiment import SQL, UTILITIES, combinations_of, diffgen, put
from sqlanon.papers.experiments import Part, averaged
from sqlanon.queries.kit.nodes import identifier, string

if TYPE_CHECKING:
    from sqlanon.api.session import Session

EPSILON = "1"
SCALES = (1, 5, 10, 15, 20)  # α of the paper: rows made of each row, itself among them
VARIED = "varied"

FILES = adult.BOTH
prepare = classifier_comparison.prepare
rows = partial(averaged, by=("rows",), spread=("seconds",))


def parts(seeds: Sequence[int]) -> Iterator[Part]:
    for scale, seed in itertools.product(SCALES, seeds):
        yield Part(f"{scale} rows of each, seed {seed}", partial(measured, scale=scale, seed=seed))


def measured(session: Session, scale: int, seed: int) -> Iterator[Row]:
    predictors = [*adult.predictors()]
    people = exp.Table(this=identifier(PEOPLE))
    names = [string(name) for name in predictors]
    query = SQL.query("variations", people=people, scale=scale, columns=predictors, names=names, kept=adult.TARGET)
    put(session, VARIED, query)
    contender = diffgen(BEST, UTILITIES[BEST], EPSILON, SPECIALIZATIONS)
    start = process_time()
    release = contender.release(session, VARIED, seed)
    seconds = process_time() - start
    [(rows,)] = session.connection.table(VARIED).count("*").fetchall()
    yield {"rows": rows, "seconds": seconds, "combinations": combinations_of(release)}


def findings(rows: Sequence[Row]) -> Iterator[str]:
    first, last = rows[0], rows[-1]
    yield f"{first['rows']:,} rows take {first['seconds']:.1f} CPU seconds; in the paper all take less than 30"
    times = last["seconds"] / first["seconds"]
    yield f"{last['rows'] / first['rows']:.0f} times the rows take {times:.1f} times the seconds"


def chart(rows: Sequence[Row]) -> Any:
    altair = required_altair()
    x, y = altair.X("rows:Q", title="rows"), altair.Y("seconds:Q", title="CPU seconds")
    points = altair.layer(*lines_of([{"rows": row["rows"], "seconds": row["seconds"]} for row in rows], x=x, y=y))
    return points.properties(title="CPU seconds of DiffGen", width=420, height=260)
