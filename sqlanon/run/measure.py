"""Measuring and verifying a table as it is, with the public macros over a fresh read."""

from __future__ import annotations

from sqlanon.compiler import verify as queries
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.model.base import did_you_mean
from sqlanon.model.policy import Policy
from sqlanon.model.privacy import PrivacyModel
from sqlanon.model.release import Measurement, ModelResult, Verification


def measure(engine: Engine, source: ResolvedSource, policy: Policy) -> Measurement:
    """What a table gives away as it is.

    Raises:
        PolicyError: the table lacks a quasi-identifier or a protected sensitive column.
    """
    names = [column.name for column in engine.describe(source.relation)]
    missing = [name for name in (*policy.quasi_identifiers, *policy.protected_columns) if name not in names]
    if missing:
        raise PolicyError(
            f"{source.description} cannot be measured by this policy:",
            [f'column "{name}" is not there{did_you_mean(name, names)}' for name in missing],
        )
    found = {
        name: engine.fetch(query, f"measure {name}")[0]
        for name, query in queries.risks(source.relation, policy.quasi_identifiers).items()
    }
    return Measurement(
        source=source.description,
        row_count=found["k_anonymity"]["row_count"],
        class_count=found["k_anonymity"]["class_count"],
        k=found["k_anonymity"]["k"],
        models=tuple(_result(engine, source, policy, model) for model in policy.privacy),
        highest_prosecutor_risk=_number(found["prosecutor_risk"]["highest_risk"]),
        average_prosecutor_risk=_number(found["prosecutor_risk"]["average_risk"]),
        unique_rows=found["sample_uniqueness"]["unique_rows"],
        unique_share=_number(found["sample_uniqueness"]["unique_share"]),
    )


def verify(engine: Engine, release: ResolvedSource, policy: Policy) -> Verification:
    """Hold a release against its policy: the privacy models, and the columns that must and must not be there.

    Raises:
        PolicyError: the release lacks a quasi-identifier or a protected sensitive column.
    """
    measurement = measure(engine, release, policy)
    names = {column.name.casefold() for column in engine.describe(release.relation)}
    shortfalls = [f'it has the identifier "{name}"' for name in policy.identifiers if name.casefold() in names]
    if measurement.row_count == 0:
        shortfalls.append("it has no rows")
    shortfalls += [
        f"{result.model}: attained {result.attained:g}"
        for result in measurement.models
        if not result.met and result.attained is not None
    ]
    return Verification(source=release.description, measurement=measurement, shortfalls=tuple(shortfalls))


def _result(engine: Engine, source: ResolvedSource, policy: Policy, model: PrivacyModel) -> ModelResult:
    attained = engine.fetch(queries.attained(source.relation, policy, model), f"measure {model}")[0]["attained"]
    return ModelResult(
        model=str(model),
        measure=model.measure,
        column=model.sensitive,
        required=float(model.required),
        attained=_number(attained),
        met=attained is None or attained >= model.threshold,
    )


def _number(value: int | float | None) -> float | None:
    return None if value is None else float(value)
