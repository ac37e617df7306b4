"""Reports on releases of linked tables, from the release, its record and, if they are given, its sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.release.linked_report import LinkedReleaseReport, LinkedReport
from sqlanon.run.recorded import without_files
from sqlanon.verification.found_linked import FoundLinked
from sqlanon.verification.verify import OTHER_POLICY
from sqlanon.verification.verify_linked import verify_linked


def linked_release_report(
    engine: Engine,
    place: str | Path,
    found: FoundLinked,
    given: LinkedPolicy | None,
    sources: Callable[[LinkedPolicy], Mapping[str, ResolvedSource] | None],
) -> LinkedReleaseReport:
    """Report on a release of linked tables by its policy, or by the recorded one, which lacks paths of files and caps.

    Raises:
        EngineError: the release has no provenance of one of linked tables.
    """
    record = found.record
    if record is None or record.policy is None or record.report is None or record.promise is None:
        raise EngineError(f"{place} has no provenance of a release of several tables", step="provenance")
    fields = record.policy.as_json
    tables = {name: without_files(each) for name, each in fields.get("tables", {}).items()}
    policy = given or LinkedPolicy(**{**fields, "tables": tables})
    engine.read_as(policy.csv, policy.timezone)
    verification = verify_linked(engine, found, policy, sources(policy), place=str(place))
    recorded = {name: value for name, value in record.report.as_json.items() if name in LinkedReport.model_fields}
    return LinkedReleaseReport(
        release=str(place),
        date=datetime.now(UTC).date().isoformat(),
        version=record.version,
        terms=policy.release,
        promise=record.promise.guarantee,
        report=LinkedReport(**{**recorded, "source": "", "into": str(place)}),
        verification=verification if given is not None else verification.without(OTHER_POLICY),
    )
