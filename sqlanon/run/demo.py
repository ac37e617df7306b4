"""The demonstration: an invented hospital, from raw table to verified release.

Its rows are the only ones that reach Python: they are about nobody.
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sqlanon.binding.loading import TaxonomyLoad, load
from sqlanon.engines.duckdb import Engine
from sqlanon.methods.base import Request
from sqlanon.methods.stages import Progress, Stages
from sqlanon.model.destination import destination
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import Measurement, Release, Result, Verification
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import aliased, identifier, number, subquery
from sqlanon.report.document import Part, Table, Text, count, figure, paragraph, strong
from sqlanon.run.pipeline import anonymize
from sqlanon.verification.found_release import find_release
from sqlanon.verification.measure import measure
from sqlanon.verification.verify import verify_published

SOURCE = "visits"
RELEASE = "visits_k5"
LINKED = ("patients", "treatments")  # tables to be released together
PATIENTS = 2000

POLICY_TOML = """\
identifiers = ["patient_id", "ssn"]
quasi_identifiers = ["age", "sex", "zip", "admission"]
sensitive = ["diagnosis"]
insensitive = ["length_of_stay"]
suppression_limit = 0.05

[[privacy]]
model = "k-anonymity"
k = 5

[[privacy]]
model = "distinct-l-diversity"
column = "diagnosis"
l = 2

[quality]
model = "lm"
"""

LINKED_POLICY_TOML = """\
privacy = [{ model = "known-rows", k = 5, m = 1 }]
suppression_limit = 0.05

[tables.patients]
row_key = "patient_id"
quasi_identifiers = ["born", "sex", "zip"]

[tables.patients.taxonomies]
born = { kind = "intervals", widths = [5, 10, 20, 40], minimum = 1930, maximum = 2019 }
sex = "flat"
zip = "zip"

[tables.treatments]
parent = "patients"
key = "patient_id"
suppression_limit = 0.10
quasi_identifiers = ["day", "department"]
sensitive = ["diagnosis"]

[tables.treatments.taxonomies]
day = "dates"
department = "flat"
"""

# All are declared except ``zip``, whose values are read off the table.
TAXONOMIES = {
    "age": Taxonomy.intervals([5, 10, 20, 40], minimum=0, maximum=99),
    "sex": Taxonomy.flat(["female", "male"]),
    "zip": Taxonomy.zip_codes(),
    "admission": Taxonomy.dates(first=datetime.date(2025, 1, 1), last=datetime.date(2025, 12, 31)),
}

MAX_HEADING = 10  # maximum number of characters of a heading on one line, so that all columns fit on a terminal


@dataclass(frozen=True)
class Sample:
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    @property
    def table(self) -> Table:
        """The rows; a long column name takes two lines."""
        numbers = [place for place, value in enumerate(self.rows[0]) if isinstance(value, int)] if self.rows else []
        rows = [["NULL" if value is None else str(value) for value in row] for row in self.rows]
        names = (name if len(name) <= MAX_HEADING else "_\n".join(name.rsplit("_", 1)) for name in self.columns)
        return Table(tuple(names), rows, numbers)


class Demo(Result):
    policy: Policy
    raw: Sample
    before: Measurement
    release: Release
    released: Sample
    after: Verification

    @property
    def heading(self) -> str:
        return "An invented hospital"

    def parts(self) -> Iterator[Part]:
        report, rows = self.release.report, count(self.before.row_count)
        yield paragraph(Text("An invented hospital, before and after\n", "strong"))
        yield paragraph(strong("Before  "), f"table visits, {rows} rows; nobody in it is real")
        yield self.raw.table
        yield paragraph(strong("After  "), "table visits_k5: every row looks like at least 4 others")
        yield self.released.table
        yield paragraph(strong("What it gives away  "), "to one who knows age, sex, zip and admission")
        before, after = self.before, self.after.measurement
        measures = [(what, was, now) for (what, was), (_, now) in zip(before.figures, after.figures, strict=True)]
        for one, two in zip(before.models[1:], after.models[1:], strict=True):
            measures.append((f"least diversity of {one.column}", figure(one.attained), figure(two.attained)))
        yield Table(("", "before", "after"), measures, numbers=(1, 2))
        yield paragraph(strong("What was done  "), "each column raised to a level of its taxonomy")
        labels = dict(zip(self.released.columns, self.released.rows[0], strict=True))
        levels = [
            (name, str(level), str(report.heights[name]), Text(str(labels[name]), "good"))
            for name, level in self.release.node.items()
        ]
        yield Table(("quasi-identifier", "level", "of", "label"), levels, numbers=(1, 2))
        yield paragraph(f"Released {report.rows_in_words}\n{report.search_in_words}\n")
        yield paragraph(strong("What next"))


def demo(engine: Engine, *, rows: int, seed: int, progress: Progress) -> Demo:
    """Fill an empty warehouse with invented visits and anonymize them; the seed determines the visits.

    It then holds ``visits``, ``visits_k5``, the taxonomies and the macros, and linked tables to try.
    """
    with Stages(progress).stage("invent"):
        invent(engine, rows=rows, seed=seed)
        for table in LINKED:
            _invent(engine, table, rows=PATIENTS, seed=seed)
    source = engine.resolve(SOURCE)
    load(engine, [TaxonomyLoad(name, taxonomy, source, name) for name, taxonomy in TAXONOMIES.items()])
    policy = demo_policy()
    before = measure(engine, source, policy)
    release = anonymize(engine, source, policy, destination(RELEASE), Request(), replace=False, progress=progress)
    return Demo(
        policy=policy,
        raw=_sample(engine, SOURCE),
        before=before,
        release=release,
        released=_sample(engine, RELEASE),
        after=verify_published(engine, find_release(engine, RELEASE, engine.resolve), policy),
    )


def demo_policy() -> Policy:
    return Policy(**tomllib.loads(POLICY_TOML))


def invent(engine: Engine, *, rows: int, seed: int) -> None:
    with engine.transaction():
        engine.install()
    _invent(engine, SOURCE, rows=rows, seed=seed)


def _invent(engine: Engine, table: str, *, rows: int, seed: int) -> None:
    settings = exp.select(aliased(number(seed), "seed"), aliased(number(rows), "row_count"))
    invented = Queries("demo").query(f"demo_{table}", settings=settings)
    engine.execute(exp.Create(this=_table(table), kind="TABLE", expression=invented), f"invent {table}")


def _sample(engine: Engine, table: str) -> Sample:
    query = Queries("demo").query("demo_sample", table=_table(table))
    sample = subquery(query, "anon_sample")
    # Engine.fetch hands out no rows; these are invented.
    names = tuple(found.name for found in engine.describe(sample))
    return Sample(names, tuple(engine.hand_out(sample, "fetchall")))


def _table(name: str) -> exp.Table:
    return exp.Table(this=identifier(name))
