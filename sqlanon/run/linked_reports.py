"""Reports on releases of linked tables, from the release, its record and, if they are given, its sources."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.release.linked_release_report import LinkedReleaseReport
from sqlanon.model.release.linked_report import LinkedReport
from sqlanon.run.recorded import without_files
from sqlanon.verification.found_linked import FoundLinked
from sqlanon.verification.verify import OTHER_POLICY
from sqlanon.verification.verify_linked import verify_linked


def linked_release_report(
    engine: Engine,
    place: str | Path,
    found: FoundLinked,
    policy: LinkedPolicy,
    sources: Mapping[str, ResolvedSource] | None,
    *,
    is_recorded: bool,
) -> LinkedReleaseReport:
    """Report on a release of linked tables; an EngineError if it has no provenance of one.

    A recorded policy differs from the one of the run only in paths and caps, which is not worth a note.
    """
    record = found.record
    if record is None or record.report is None or record.promise is None:
        raise EngineError(f"{place} has no provenance of a release of several tables", step="provenance")
    recorded = {name: value for name, value in record.report.as_json.items() if name in LinkedReport.model_fields}
    verification = verify_linked(engine, found, policy, sources, place=str(place))
    return LinkedReleaseReport(
        release=str(place),
        date=datetime.now(UTC).date().isoformat(),
        version=record.version,
        terms=policy.release,
        promise=record.promise.guarantee,
        report=LinkedReport(**{**recorded, "source": "", "into": str(place)}),
        verification=verification.without(OTHER_POLICY) if is_recorded else verification,
    )


def recorded_policy(found: FoundLinked) -> LinkedPolicy | None:
    """Return the policy in the record of a release of linked tables, which lacks paths of taxonomy files and caps."""
    record = found.record
    if record is None or record.linked is None or record.policy is None:
        return None
    fields = record.policy.as_json
    return LinkedPolicy(**{**fields, "tables": {name: without_files(each) for name, each in fields["tables"].items()}})
