"""Runs that would make what is already there: what they are made from, and the release of the run before."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError
from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError, PolicyError, TargetError
from sqlanon.methods.base import method_of
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.names import enumerated
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Inputs, Record, facts_of, readable_record
from sqlanon.model.release import Guarantee, Release, Report
from sqlanon.publish.provenance import code_sha256
from sqlanon.publish.targets import target_at
from sqlanon.queries.kit.nodes import counted_rows
from sqlanon.verification.verify import misfits

OTHER_VERSION = "made by another version of sqlanon"


def made_from(
    bound: BoundPolicy,
    read: Mapping[str, ResolvedSource],
    into: Destination,
    node: Mapping[str, int] | None = None,
) -> Inputs:
    """All that a release depends on; ``node`` is the one that was given, if it was."""
    return Inputs(
        policy_sha256=bound.policy.sha256(),
        taxonomy_sha256=dict(bound.taxonomy_hashes),
        files_sha256=snapshot(read),
        node=None if node is None else {name: node[name] for name in bound.policy.quasi_identifiers},
        rows_per_file=into.rows_per_file,
        partition_by=into.partition_by,
        csv_formulas=into.csv_formulas,
        csv=None if bound.policy.csv is None else bound.policy.csv.model_dump(mode="json", exclude_unset=True),
    )


def snapshot(read: Mapping[str, ResolvedSource]) -> str | None:
    """A hash of the names, sizes and times of change of all files that are read; None if it is not only files."""
    digest = hashlib.sha256()
    for role, source in sorted(read.items()):
        facts = _facts(source.files)
        if not facts:
            return None
        digest.update(json.dumps([role, facts]).encode())
    return digest.hexdigest()


def _facts(files: Sequence[str]) -> list[tuple[str, int, int]]:
    """Name below the folder that all files are in, bytes, and nanoseconds of each file; nothing if one is elsewhere."""
    try:
        paths = sorted(Path(file).absolute() for file in files)
        common = os.path.commonpath([path.parent for path in paths]) if paths else ""
        states = [(path, path.stat()) for path in paths]
    except (OSError, ValueError):
        return []  # of another machine
    return [(path.relative_to(common).as_posix(), state.st_size, state.st_mtime_ns) for path, state in states]


def published_earlier(
    engine: Engine, source: ResolvedSource, into: Destination, inputs: Inputs, *, replace: Replace
) -> Release | None:
    """The release that a target holds, if a run would make it again; None if there is none, or a run may replace it.

    Args:
        engine: the database.
        source: what would be anonymized.
        into: the target.
        inputs: what the run would be made from.
        replace: whether what is there may be replaced.

    Raises:
        TargetError: the target holds a release that was made from something else; says what differs.
    """
    if replace and replace != "changed":
        return None
    target = target_at(engine, into)
    note = target.held_note()
    if "made_from" not in facts_of(note):
        return None
    found = readable_record(note)
    differences: list[str] = []
    made = None
    if found is not None and found.made_from is not None:
        differences = [*_differences(found, found.made_from, inputs)]
        made = None if differences else _earlier(found, source, into)
    if made is None:
        differences = differences or [OTHER_VERSION]
    elif _is_altered(engine, target.uncompared(), *made[:2]):
        differences = ["whose rows or columns were altered since it was made"]
    else:
        with suppress(OSError, EngineError):
            target.settle()
        _, report, promised = made
        return Release(into=into.name, node=report.node, guarantee=promised, report=report, tables={}, unchanged=True)
    if replace:
        return None
    reason = f"the {into.described} exists, {enumerated(differences)}; give another name, or replace=True"
    raise TargetError(reason, step="target")


def _earlier(found: Record, source: ResolvedSource, into: Destination) -> tuple[Policy, Report, Guarantee] | None:
    """The policy, the report and the guarantee of an earlier release; None if they are none that this version makes."""
    if found.policy is None or found.report is None or found.promise is None:
        return None
    try:
        policy = Policy(**found.policy.as_json)
        facts = {**found.report.as_json, "source": source.description, "into": into.name}
        return policy, method_of(policy).report_class(**facts), found.promise.guarantee
    except (PolicyError, ValidationError):
        return None


def _is_altered(engine: Engine, relation: exp.Expr | None, policy: Policy, report: Report) -> bool:
    """Whether a table or a Parquet file has other columns, or another number of rows, than were released.

    Both are known without a scan.
    """
    if relation is None:
        return False
    columns = tuple(known.name for known in engine.describe(relation))
    counted = engine.fetch(counted_rows(relation), "the earlier release")
    return any(misfits(policy, columns)) or counted[0]["rows"] != (report.rows and report.rows.released)


def _differences(found: Record, before: Inputs, inputs: Inputs) -> Iterator[str]:
    if found.code_sha256 != code_sha256():
        yield OTHER_VERSION
    if before.policy_sha256 != inputs.policy_sha256:
        yield "made by another policy"
    elif before.taxonomy_sha256 != inputs.taxonomy_sha256:
        yield "made with other taxonomies"
    if before.node != inputs.node:
        yield "made at another node" if inputs.node else "made at a node that was given"
    if inputs.files_sha256 is None:
        yield "made from a table or a query, which may have changed since"
    elif (before.files_sha256, before.csv) != (inputs.files_sha256, inputs.csv):
        yield "made from other files, or from files that have changed since or are read otherwise"
    layouts = [(each.rows_per_file, each.partition_by, each.csv_formulas) for each in (before, inputs)]
    if layouts[0] != layouts[1]:
        yield "made with its rows laid out otherwise"
