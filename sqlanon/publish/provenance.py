"""Records of releases: hashes, counts and thresholds, never a cell value.

Files that a policy names appear by name and hash of their content: recipients need not know the custodian's paths.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from sqlanon.engines.csv_notes import sha256_of
from sqlanon.model.labels import LabelsRecord
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import PopulationModel
from sqlanon.model.record import (
    FORMAT,
    BoundRecord,
    CompanionRecord,
    Inputs,
    PartitionRecord,
    PolicyFile,
    PromiseRecord,
    Record,
    ReportRecord,
)
from sqlanon.model.release import Guarantee, RowCounts
from sqlanon.model.taxonomy.rules import FileOfTaxonomy
from sqlanon.queries.kit.sql_files import sql_folder
from sqlanon.satellites import installed_version

DECIMALS = 12  # precision of measures in floating point


# More than six parameters: the parts of a record.
def release_record(
    policy: Policy,
    taxonomy_sha256: Mapping[str, str],
    labels: LabelsRecord | None,
    attained: Sequence[float | None],
    rows: RowCounts,
    *,
    report: ReportRecord | None = None,
    made_from: Inputs | None = None,
    fit: PartitionRecord | None = None,
) -> Record:
    """Return the record of a release.

    Args:
        attained: in the order of the policy's bounds; for a partition, over all partitions published so far.
        report: None for a partition of a fit.
        made_from: None if another run may make another release from the same inputs.
    """
    more = {"report": report, "made_from": made_from, "fit": fit}
    return record_by(
        policy,
        taxonomy_sha256={name: taxonomy_sha256[name] for name in policy.taxonomy_columns},
        labels=labels,
        privacy=attained_bounds(policy, attained),
        rows=rows.model_dump(),
        **{name: part for name, part in more.items() if part is not None},
    )


def attained_bounds(policy: Policy | LinkedPolicy, attained: Sequence[float | None]) -> list[BoundRecord]:
    """Pair every bound of a policy with its attained value, rounded to its precision, in policy order."""
    bounds = [(str(model), each) for model in policy.privacy for each in model.bounds]
    rounded = (round(v, DECIMALS) if isinstance(v, float) and math.isfinite(v) else v for v in attained)
    return [
        BoundRecord(model=model, measure=each.measure.name, required=each.required, attained=value)
        for (model, each), value in zip(bounds, rounded, strict=True)
    ]


def record_by(policy: Policy | LinkedPolicy, **facts: object) -> Record:
    """Return the record of what a policy made: the policy, its hash, and the facts, without absolute paths.

    ``policy_files`` lists the names that replace them, each with the SHA-256 of the file's content, or None for a glob,
    a folder or a missing file.
    """
    record = new_record(policy=policy.as_recorded(), policy_sha256=policy.sha256(), **facts)
    paths = dict.fromkeys(_paths(policy))
    if not paths:
        return record
    files = [PolicyFile(name=_name(path), sha256=_sha256(path)) for path in paths]
    named: dict[str, Any] = _named(record.model_dump(mode="json"), sorted(paths, key=len, reverse=True))
    return Record.model_validate({**named, "policy_files": files})


def companion_record(policy: Policy, name: str, release: str) -> Record:
    return record_by(policy, companion=CompanionRecord(name=name, release=release))


def new_record(**facts: Any) -> Record:
    return Record.model_validate(
        {"format": FORMAT, "version": installed_version(), "code_sha256": code_sha256(), **facts}
    )


@cache
def code_sha256() -> str:
    digest = hashlib.sha256()
    for folder, pattern in ((sql_folder(), "**/*.sql"), (Path(__file__).parents[1], "**/*.py")):
        for path in sorted(folder.glob(pattern)):
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


ABSOLUTE = re.compile(r"(?:file:|~|/|[A-Za-z]:[/\\])", re.IGNORECASE)  # start of an absolute path
QUOTED = re.compile(r"""(['"])((?:file:|~|/|[A-Za-z]:[/\\])(?:(?!\1).)*)\1""", re.IGNORECASE)  # such a path in a query


def promise_of(policy: Policy | LinkedPolicy, guarantee: Guarantee) -> PromiseRecord:
    facts = guarantee.model_dump(mode="json", include=set(PromiseRecord.model_fields))
    return PromiseRecord.model_validate(_named(facts, sorted(_paths(policy), key=len, reverse=True)))


def _paths(policy: Policy | LinkedPolicy) -> Iterator[str]:
    """Yield the absolute paths in a policy, also in queries; relative ones reveal nothing about the machine."""
    for part in policy.tables.values() if isinstance(policy, LinkedPolicy) else (policy,):
        for rule in part.taxonomies.values():
            if isinstance(rule, FileOfTaxonomy) and ABSOLUTE.match(rule.file):
                yield rule.file
    if isinstance(policy, LinkedPolicy):
        return
    yield from (each.release for each in policy.held_with if ABSOLUTE.match(each.release))
    for model in policy.privacy:
        if isinstance(model, PopulationModel):
            if ABSOLUTE.match(model.population):
                yield model.population
            else:
                yield from (path for _, path in QUOTED.findall(model.population))


def without_place(name: str) -> str:
    return _name(name) if ABSOLUTE.match(name) else name


def _named(value: Any, paths: list[str]) -> Any:
    match value:
        case str():
            for path in paths:
                value = value.replace(path, _name(path))
            return value
        case Mapping():
            return {key: _named(each, paths) for key, each in value.items()}
        case list() | tuple():
            return [_named(each, paths) for each in value]
        case _:
            return value


def _name(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1] or path


def _sha256(path: str) -> str | None:
    with suppress(RuntimeError):  # unknown home folder
        return sha256_of(Path(path.removeprefix("file:")).expanduser())
    return None
