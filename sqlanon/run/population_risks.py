"""The risk of a release in its population, where its policy has weights or a model knows how many people there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.binding.coding import coded
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, SqlanonError, reason_of
from sqlanon.model.labels import NodeRecord
from sqlanon.model.mean_risks import PopulationUniqueness
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Record
from sqlanon.model.release.population_risk import PopulationRisk
from sqlanon.model.release.sample_risk import SampleRisk
from sqlanon.queries import measures
from sqlanon.queries.kit.macros import text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import aliased, column, double, select, subquery
from sqlanon.queries.source import fractional_types, spelled_taxonomy
from sqlanon.verification.found_release import FoundRelease
from sqlanon.verification.measure import known_source
from sqlanon.verification.sample_risks import SampleQuestion, sample_risk

MAX_SET_SIZE = 3  # keys of a set that singles rows out: larger sets take most of the time, and score least
WEIGHT = "anon_weight"  # of rows that stand for equally many people

SQL = Queries("report")

ROWS_COUNTED = 'rows are counted, not the individuals of column "{}"'
OVERLAPPING = "after: labels of several levels overlap, so that more people may fit a row than its class stands for"
MASKED = "after: masked rows are left out"


@dataclass(frozen=True)
class WeightedRelease:
    """A release whose rows stand for people of a population."""

    engine: Engine
    found: FoundRelease
    record: Record
    policy: Policy
    source: ResolvedSource | None  # None if the release is not compared with it

    def risk(self) -> PopulationRisk | None:
        """Measure the source and the release as samples, with a note on what cannot be measured.

        None for a private release, and without weights and a number of people.
        """
        if self.policy.has_private_method or (self.policy.row_weight is None and people_of(self.policy) is None):
            return None
        risks, problems = {}, []
        for when, sample in (("before", self._before), ("after", self._after)):
            try:
                risks[when] = sample()
            except SqlanonError as error:
                problems.append(f"{when}: {reason_of(error)}")
        notes = self._notes(has_after="after" in risks)
        return PopulationRisk(**risks, notes=(*notes, *problems))

    def _notes(self, *, has_after: bool) -> Iterator[str]:
        if self.policy.individual is not None:
            yield ROWS_COUNTED.format(self.policy.individual)
        if has_after and self.record.rows is not None and self.record.rows.masked:
            yield MASKED
        if has_after and not isinstance(self.record.labels, NodeRecord):
            yield OVERLAPPING

    def _before(self) -> SampleRisk | None:
        source = None if self.source is None else coded(self.engine, self.source, self.policy)
        return None if source is None else self._measured(source, self.policy.row_weight)

    def _after(self) -> SampleRisk:
        """Measure the released rows: with their weights, with equal ones, or with those of the source."""
        weight, people, rows = self.policy.row_weight, people_of(self.policy), self.record.rows
        relation = self.found.source.relation
        if rows is not None and rows.masked:
            relation = subquery(measures.unmasked_rows(relation, self.policy.quasi_identifiers), "anon_unmasked")
        if weight is None:
            # Rows that were left out stand for people, too.
            if rows is None or not rows.source or people is None:
                raise PolicyError("the number of rows of the source is not recorded")
            share = aliased(double(people / rows.source), WEIGHT)
            relation, weight = subquery(select([exp.Star(), share], relation), "anon_weighted"), WEIGHT
        elif folded(weight) not in map(folded, self.found.columns):
            relation = self._labelled(relation, weight)
        return self._measured(replace(self.found.source, relation=relation, files=(), dataset=None), weight)

    def _labelled(self, released: exp.Expr, weight: str) -> exp.Subquery:
        """Select the weights of the source beside labels of the node, in classes that are released."""
        labels, policy = self.record.labels, self.policy
        if self.source is None or not isinstance(labels, NodeRecord):
            wanted = f'release "{weight}" among the insensitive columns'
            if isinstance(labels, NodeRecord):
                wanted = f"report beside the source (source, --source), or {wanted}"
            raise PolicyError(f"the release has no weights: {wanted}")
        rows, _, columns = known_source(self.engine, policy, self.source)
        taxonomy = spelled_taxonomy(self.engine.taxonomy, fractional_types(columns, policy.quasi_identifiers))
        labelled = measures.generalized(rows, labels.levels, taxonomy, [weight])
        texts = [text(column(name)) for name in policy.quasi_identifiers]
        query = SQL.query("rows_of_classes", labelled=labelled, released=released.copy(), labels=texts)
        return subquery(query, "anon_labelled_rows")

    def _measured(self, table: ResolvedSource, weight: str | None) -> SampleRisk:
        keys = self.policy.quasi_identifiers
        size = min(MAX_SET_SIZE, len(keys))
        asked = SampleQuestion(keys, weight, population=people_of(self.policy), max_size=size)
        return sample_risk(self.engine, table, asked)


def people_of(policy: Policy) -> float | None:
    """Return the number of people that a model names."""
    return next((float(model.population) for model in policy.privacy if isinstance(model, PopulationUniqueness)), None)
