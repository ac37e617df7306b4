"""Measures of a table as it is, by the public macros over a fresh read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlanon.binding import stored_taxonomies
from sqlanon.binding.carried_taxonomies import own_taxonomies
from sqlanon.binding.coding import coded
from sqlanon.binding.prepare import refuse_method, resolve_population, spelled_like_taxonomies
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.model.criteria import CLASS_SIZE, DISTINCT_DIVERSITY, Bound
from sqlanon.model.mean_risks import PopulationUniqueness
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy_value import respelled, unknown_names
from sqlanon.model.privacy import NO_ABSENT_CLASS, PrivacyModel
from sqlanon.model.release import Measurement, ModelResult
from sqlanon.model.risk_models import BY_MARGINS, MEAN_BY_MARGINS
from sqlanon.queries import measures as queries
from sqlanon.queries.measures import Comparison, MeasuredClasses, generalized
from sqlanon.queries.source import SourceColumn, Taxonomies, fractional_types, spelled, spelled_taxonomy
from sqlanon.queries.source_rows import known_rows

COMPARED_WITH_ITSELF = "models of the whole table's distribution compare with the table itself: no source was given"
WITHOUT_SOURCE = (
    "{}, compared with the release itself: attained {:g}, which is not a verdict; give the source (source, --source)"
)
WITHOUT_WEIGHTS = (
    'risks are estimated by column "{}", which the release lacks: give the source (source, --source), or publish the '
    "column where classes are at several nodes"
)
WITHOUT_LABELS = "{} has no verdict: the taxonomies that are loaded here lack labels of it"
WITHOUT_INDIVIDUALS = "{}, of rows in place of individuals: attained {:g}, which is not a verdict"
ROWS_COUNTED = 'classes count rows: the individuals of column "{}" cannot be counted in a table without it'


@dataclass(frozen=True)
class Beside:
    source: exp.Expr | None = None  # for models that compare classes with the source
    whole: exp.Expr | None = None  # with rows of unknown values, which the policy leaves out of it
    population: exp.Expr | None = None  # its quasi-identifiers spelled as in the release
    # The source with labels of the release, for models of a population or, with weights, of a sample.
    labelled_source: exp.Expr | None = None
    with_unpublished: exp.Expr | None = None  # the rows with the columns of individuals and of weights for risks
    enums: Mapping[str, str] = field(default_factory=dict)  # the source's ENUM types, which order its values
    node: Mapping[str, int] | None = None  # of its labels


def beside_release(
    engine: Engine, policy: Policy, node: Mapping[str, int] | None, source: ResolvedSource | None
) -> Beside:
    """Find the reference of a published release, from its node and its source if known."""
    policy = spelled_like_taxonomies(engine, policy)
    if node is not None:
        node = respelled(dict(node), policy.quasi_identifiers)
        node = node if node.keys() == set(policy.quasi_identifiers) else None
    if policy.population is not None and node is None:
        raise PolicyError(
            f'the population "{policy.population}" cannot be compared with a release whose node is not known: '
            "it has no provenance"
        )
    if node is None and any(bound.measure.view == "labels" for bound in policy.criteria.bounds):
        raise PolicyError("what labels lose is not known of a release whose node is not: it has no provenance")
    population = resolve_population(engine, policy)
    relation: exp.Expr | None = None
    whole: exp.Expr | None = None
    columns: list[SourceColumn] = []
    if source is not None:
        relation, whole, columns = known_source(engine, policy, source)
    people = [] if population is None else engine.describe(population)
    types = fractional_types([*people, *columns], policy.quasi_identifiers)
    taxonomy = spelled_taxonomy(engine.taxonomy, types)
    return replace(measured_beside(policy, taxonomy, node or {}, relation, columns, population), whole=whole)


def known_source(
    engine: Engine, policy: Policy, source: ResolvedSource
) -> tuple[exp.Expr, exp.Expr, list[SourceColumn]]:
    """Spell the columns of a source as the policy does; return it without the rows left out as unknown, and whole."""
    source = coded(engine, source, policy)
    whole, columns = spelled(source.relation, engine.describe(source.relation), policy.columns)
    stored = stored_taxonomies.attributes(engine)
    left_out = [name for name in policy.columns_with("suppress") if name in stored]
    taxonomy = spelled_taxonomy(engine.taxonomy, fractional_types(columns, left_out))
    return known_rows(whole, left_out, taxonomy), whole, columns


def measured_beside(
    policy: Policy,
    taxonomy: Taxonomies,
    node: Mapping[str, int],
    source: exp.Expr | None,
    columns: Sequence[SourceColumn],
    population: exp.Expr | None,
) -> Beside:
    weights = [policy.row_weight] if policy.weighs_risks and policy.row_weight is not None else []
    labelled = None
    if source is not None and node and (population is not None or weights):
        labelled = generalized(source, node, taxonomy, weights)
    people = None if population is None else generalized(population, node, taxonomy)
    enums = {
        column.name: column.type
        for column in columns
        if column.name in policy.protected_columns and column.traits.is_enum
    }
    return Beside(source=source, population=people, labelled_source=labelled, enums=enums, node=node)


def measure_source(engine: Engine, source: ResolvedSource, policy: Policy) -> Measurement:
    with own_taxonomies(engine, source, policy, policy.sensitive_taxonomies):
        return measure(engine, source, spelled_like_taxonomies(engine, policy))


def measure(engine: Engine, table: ResolvedSource, policy: Policy, beside: Beside | None = None) -> Measurement:
    """Measure a table by a policy that is spelled like the taxonomies.

    Args:
        beside: the reference of a release; None for a table that is its own source.
    """
    refuse_method(policy, "measure")
    is_release, beside = beside is not None, beside or Beside()
    needed = [policy.row_weight or ""] if policy.weighs_risks and not is_release else []
    table, columns = _spelled(engine, table, policy, needed)
    relation: exp.Expr = table.relation
    weights_are_there = policy.row_weight in columns or any((beside.labelled_source, beside.with_unpublished))
    individual, notes = policy.individual, [*_notes(policy, is_release=is_release, weights_are_there=weights_are_there)]
    if beside.with_unpublished is not None:
        relation = beside.with_unpublished
    elif policy.individual is not None and policy.individual not in columns:
        individual = None
        notes.insert(0, ROWS_COUNTED.format(policy.individual))
    population = resolve_population(engine, policy) if beside.population is None else beside.population
    classes = MeasuredClasses(policy.quasi_identifiers, individual, policy.row_weight)
    comparison = Comparison(engine.taxonomy, beside.source, population, beside.labelled_source, beside.node)
    relation = queries.as_enums(relation, beside.enums)
    risks = engine.fetch(queries.risks(table.relation, policy.quasi_identifiers), "measure the risks")[0]
    counts_rows = policy.individual is not None and individual is None
    _refuse_few_people(table, policy, risks["row_count"])

    def result(model: PrivacyModel, bound: Bound) -> ModelResult:
        attained = risks["k"]
        reason = _no_verdict(model, bound, beside, counts_rows=counts_rows) if is_release else None
        if bound.measure.view == "sample" and not weights_are_there:
            attained, reason = None, WITHOUT_WEIGHTS
        elif bound.measure.view == "labels" and not _knows_labels(engine, relation, policy, beside.node):
            attained, reason = None, WITHOUT_LABELS
            notes.append(reason.format(model))
        elif bound.measure != CLASS_SIZE or individual is not None:
            query = queries.attained(relation, classes, bound, comparison)
            attained = engine.fetch(query, f"measure {model}")[0]["attained"]
        if reason and attained is not None:
            notes.append(reason.format(model, float(attained)))
        is_met = None if reason else attained is None or bound.met_by(attained)
        return ModelResult.of(model, bound, _number(attained), met=is_met)

    results = tuple(result(model, bound) for model in policy.privacy for bound in model.bounds)
    return Measurement(
        source=table.description,
        row_count=risks["row_count"],
        class_count=risks["class_count"],
        k=risks["k"],
        models=results,
        highest_prosecutor_risk=_number(risks["highest_risk"]),
        average_prosecutor_risk=_number(risks["average_risk"]),
        unique_rows=risks["unique_rows"],
        unique_share=_number(risks["unique_share"]),
        notes=tuple(notes),
    )


def counted(engine: Engine, release: ResolvedSource, policy: Policy) -> Measurement:
    """Count the rows and classes of a private release, whose rows do not show what its mechanism promises."""
    release, _ = _spelled(engine, release, policy)
    found = engine.fetch(queries.risks(release.relation, policy.quasi_identifiers), "count the rows")[0]
    return Measurement(source=release.description, row_count=found["row_count"], class_count=found["class_count"])


def _notes(policy: Policy, *, is_release: bool, weights_are_there: bool) -> Iterator[str]:
    if not is_release and any(model.compares_with_source for model in policy.privacy):
        yield COMPARED_WITH_ITSELF
    if policy.weighs_risks and not weights_are_there:
        yield WITHOUT_WEIGHTS.format(policy.row_weight)


def _refuse_few_people(table: ResolvedSource, policy: Policy, row_count: int) -> None:
    models = [each for each in policy.privacy if isinstance(each, PopulationUniqueness)]
    if problems := [problem for model in models for problem in model.misfit(row_count)]:
        raise PolicyError(f"{table.description} cannot be measured by this policy:", problems)


def _knows_labels(engine: Engine, relation: exp.Expr, policy: Policy, node: Mapping[str, int] | None) -> bool:
    names = policy.quasi_identifiers
    if not {*names} <= {*stored_taxonomies.attributes(engine)}:
        return False
    levels = node or dict.fromkeys(names, 0)
    found = engine.fetch(queries.foreign_labels(relation, levels, engine.taxonomy), "compare the labels")
    return not any(each["foreign_rows"] for each in found)


def _no_verdict(model: PrivacyModel, bound: Bound, beside: Beside, *, counts_rows: bool) -> str | None:
    """Return why an attained value does not show whether a release meets a bound; None if it does."""
    if beside.source is None and (model.compares_with_source or bound == NO_ABSENT_CLASS):
        return WITHOUT_SOURCE
    if bound.measure in (BY_MARGINS, MEAN_BY_MARGINS) and beside.labelled_source is None:
        return WITHOUT_SOURCE
    # A class has at least as many rows as individuals, and the same distinct values.
    if counts_rows and bound.measure != CLASS_SIZE and bound.measure.name != DISTINCT_DIVERSITY:
        return WITHOUT_INDIVIDUALS
    return None


def _spelled(
    engine: Compute, table: ResolvedSource, policy: Policy, needed: Sequence[str] = ()
) -> tuple[ResolvedSource, list[str]]:
    """Spell the columns of a table as the policy does, and return their names; refuse missing ones."""
    relation, columns = spelled(table.relation, engine.describe(table.relation), policy.columns)
    names = [column.name for column in columns]
    missing = [*unknown_names((*policy.quasi_identifiers, *policy.protected_columns, *needed), names)]
    if missing:
        raise PolicyError(
            f"{table.description} cannot be measured by this policy:",
            [f'column "{name}" is not there{meant}' for name, meant in missing],
        )
    return replace(table, relation=relation), names


def _number(value: int | float | None) -> float | None:
    return None if value is None else float(value)
