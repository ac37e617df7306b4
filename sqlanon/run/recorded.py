"""Tables with records: releases and their columns' roles, unchanged releases, and the overview of a session."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import permutations, product
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.errors import EngineError, PolicyError, TargetError
from sqlanon.methods.base import method_of
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.names import enumerated, folded
from sqlanon.model.policy.policy import Policy, policy_of
from sqlanon.model.record import Inputs, Record, RecordError, facts_of, readable_record
from sqlanon.model.release import Guarantee, Release, Report, Result
from sqlanon.model.release.measurement import PartialResult
from sqlanon.publish.provenance import code_sha256
from sqlanon.publish.targets import target_at
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import counted_rows
from sqlanon.queries.source import ColumnOrigin
from sqlanon.report.document import Part, Table, count, paragraph
from sqlanon.verification.found_release import FoundRelease, find_release
from sqlanon.verification.verify import misfits

# Roles of released columns, by field of a policy.
ROLES = {
    "quasi_identifiers": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
    "pseudonyms": "pseudonym",
}

PRESENT = "this policy"  # the name of the release that is about to be made

# Roles of columns that are published without generalization.
IN_WORDS = {"sensitive": "sensitive in", "insensitive": "insensitive in", "pseudonyms": "a pseudonym in"}

HELP = "joint classes count only labels; generalize the column in every release, or publish it in only one"


def recorded_release(
    engine: Engine, release: Source, resolve: Callable[[Source], ResolvedSource], *, hashes_rows: bool = True
) -> tuple[FoundRelease, Record, Policy]:
    """Find a release (:func:`find_release`) with its record and its recorded policy; refuse one without."""
    found = find_release(engine, release, resolve, hashes_rows=hashes_rows)
    return found, *with_policy(found.record, found.source.description)


def with_policy(record: Record | None, release: str) -> tuple[Record, Policy]:
    """Return the record of a release with its policy; refuse one of anything else."""
    if record is not None and (record.linked is not None or _is_of_several(record)):
        reason = f"{release} is one table of a release of several: give all of them, by their folder or their schema"
        raise EngineError(reason, step="provenance")
    others = () if record is None else (record.companion, record.lattice, record.flattened, record.generalized)
    if record is None or record.policy is None or any(other is not None for other in others):
        reason = f"{release} has no provenance of a release: measure it like any other table"
        raise EngineError(reason, step="provenance")
    return record, policy_of(without_files(record.policy.as_json))


def without_files(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the taxonomy files of a recorded policy, or of a table of one, whose paths a record does not have."""
    rules = fields.get("taxonomies", {}).items()
    kept = {name: rule for name, rule in rules if not isinstance(rule, str) and rule.get("kind") != "file"}
    return {**fields, "taxonomies": kept}


def _is_of_several(record: Record) -> bool:
    """Return whether a record is of a table beside that of persons."""
    return record.companion is not None and record.policy is not None and "tables" in record.policy.as_json


@dataclass(frozen=True)
class ShownColumn:
    name: str
    role: str | None  # in words; None if it is generalized
    origin: ColumnOrigin | None  # its column in the source; None if it may be computed

    # guarded: tests/unit/test_guarded_releases.py
    def is_same_as(self, other: ShownColumn) -> bool:
        """Return whether both have one name, or refer to one column of the source."""
        if folded(self.name) == folded(other.name):
            return True
        if self.origin is None or other.origin is None or folded(self.origin.name) != folded(other.origin.name):
            return False
        # A table or file that is itself the source has no names.
        ours, theirs = self.origin.tables, other.origin.tables
        return not (ours and theirs) or bool(ours & theirs)


def shown_columns(
    engine: Engine, policy: Policy, source: ResolvedSource, found: Iterable[str] = ()
) -> tuple[ShownColumn, ...]:
    """Describe the columns that a policy releases of a source, and further ones that were ``found``."""
    roles = {folded(name): None for name in policy.quasi_identifiers} | {
        folded(name): words for role, words in IN_WORDS.items() for name in getattr(policy, role)
    }
    names = {folded(name): name for name in (*found, *sorted(policy.released_columns))}
    origins = engine.traced(source, [*names.values()])
    return tuple(
        ShownColumn(name, roles.get(key, "without a role in"), origin)
        for (key, name), origin in zip(names.items(), origins, strict=True)
    )


# guarded: tests/unit/test_guarded_releases.py
def of_several_roles(*releases: tuple[str, Sequence[ShownColumn]]) -> Iterator[str]:
    """Yield the columns that some releases, given by name, generalize and others publish unchanged."""
    for (other, others), (release, columns) in permutations(releases, 2):
        generalized = (each for each in others if each.role is None)
        kept = (each for each in columns if each.role is not None)
        for known, shown in product(generalized, kept):
            if shown.is_same_as(known):
                spelled = "" if folded(shown.name) == folded(known.name) else f' as "{shown.name}"'
                yield f'"{known.name}" is a quasi-identifier of {other} and {shown.role} {release}{spelled}: {HELP}'


OTHER_VERSION = "made by another version of sqlanon"


def made_from(
    bound: BoundPolicy, read: Mapping[str, ResolvedSource], into: Destination, node: Mapping[str, int] | None = None
) -> Inputs:
    """Collect all inputs that a release depends on, including a given ``node``."""
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
    """Hash the names, sizes and modification times of all files that are read; None if any input is not a file."""
    digest = hashlib.sha256()
    for role, source in sorted(read.items()):
        try:
            paths = sorted(Path(file).absolute() for file in source.files)
            common = os.path.commonpath([path.parent for path in paths])  # fails without any
            states = [(path.relative_to(common).as_posix(), path.stat()) for path in paths]
        except (OSError, ValueError):
            return None  # files of another machine, or none
        facts = [(name, state.st_size, state.st_mtime_ns) for name, state in states]
        digest.update(json.dumps([role, facts]).encode())
    return digest.hexdigest()


def published_earlier(
    engine: Engine, described: str, into: Destination, inputs: Inputs, *, replace: Replace
) -> Release | None:
    """Return the release that a target holds if these inputs would give it again; None if the run may write there.

    Its report calls the source as ``described`` now.

    A TargetError names the differences to another release.
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
        made = None if differences else _earlier(found, described, into)
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


def _earlier(found: Record, described: str, into: Destination) -> tuple[Policy, Report, Guarantee] | None:
    """Read policy, report and guarantee of an earlier release; None if this version cannot have made it."""
    if found.policy is None or found.report is None or found.promise is None:
        return None
    try:
        policy = Policy(**found.policy.as_json)
        facts = {**found.report.as_json, "source": described, "into": into.name}
        return policy, method_of(policy).report_class(**facts), found.promise.guarantee
    except (PolicyError, ValidationError):
        return None


def _is_altered(engine: Engine, relation: exp.Expr | None, policy: Policy, report: Report) -> bool:
    """Return whether a table or a Parquet file has other columns or another row count than recorded, without a scan."""
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
        yield "made at another node" if inputs.node else "made at a given node"
    if inputs.files_sha256 is None:
        yield "made from a table or a query, which may have changed since"
    elif (before.files_sha256, before.csv) != (inputs.files_sha256, inputs.csv):
        yield "made from other files, or from files that have changed since or are now read differently"
    layouts = [(each.rows_per_file, each.partition_by, each.csv_formulas) for each in (before, inputs)]
    if layouts[0] != layouts[1]:
        yield "made with another layout of its rows"


class TableOverview(PartialResult):
    name: str  # with its schema, unless that is the current one
    rows: int | None  # an estimate; None for a view
    columns: int
    kind: str  # by its provenance, or ``"view"``; empty for any other table


class Overview(Result):
    database: str
    tables: tuple[TableOverview, ...]

    @property
    def heading(self) -> str:
        return f"Session on {self.database}"

    def parts(self) -> Iterator[Part]:
        yield paragraph(f"sqlanon session on {self.database}")
        rows = [(each.name, count(each.rows), count(each.columns), each.kind) for each in self.tables]
        yield Table(("table", "rows", "columns", ""), rows, numbers=(1, 2)) if rows else paragraph("no table yet")


def overview(engine: Compute) -> Overview:
    found = engine.fetch(Queries("tables").query("overview"), "the tables of the database")
    tables = tuple(
        TableOverview(
            name=row["table_name"],
            rows=row["row_count"],
            columns=row["column_count"],
            kind="view" if row["row_count"] is None else _kind(row["comment"]),
        )
        for row in found
        if row["table_name"] is not None
    )
    return Overview(database=found[0]["database_name"], tables=tables)


def _kind(comment: str | None) -> str:
    try:
        record = Record.parse(comment)
    except RecordError:
        return "of another version of sqlanon"
    match record:
        case None:
            return ""
        case Record(companion=companion) if companion is not None:
            return f"{companion.name} of a release"
        case Record(lattice=lattice) if lattice is not None:
            return "nodes of a lattice"
        case Record(flattened=flattened) if flattened is not None:
            return "individuals, flattened"
        case Record(generalized=generalized) if generalized is not None:
            return "new rows with the labels of a release"
        case _:
            return "release"
