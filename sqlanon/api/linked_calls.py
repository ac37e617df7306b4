"""Calls of a session that are about several linked tables, with a source of each."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.errors import PolicyError, SqlanonError
from sqlanon.model.names import enumerated, folded, listed, speller

if TYPE_CHECKING:
    from sqlanon.api.opened import OpenedEngine
    from sqlanon.engines.relations import ResolvedSource, Source
    from sqlanon.methods.stages import Stages
    from sqlanon.model.policy.linked_policy import LinkedPolicy
    from sqlanon.model.release.linked import LinkedMeasurement, LinkedVerification
    from sqlanon.model.release.linked_report import LinkedReleaseReport

    Tables = Mapping[str, Source | None] | None  # by the name of the table; None for that table of the warehouse
    GivenLinkedPolicy = LinkedPolicy | Mapping[str, Any] | str | Path

FORMS = (
    'a policy of several tables takes a source for each, as {"patients": "patients.csv", "visits": "visits.csv"}, '
    'and a policy of one table takes one, as "visits.csv"'
)
NOT_YET = "is not for several tables yet: linked tables are anonymized, measured, explained, verified and reported on"


def linked_sources(opened: OpenedEngine, policy: LinkedPolicy, given: object) -> dict[str, ResolvedSource]:
    """Resolve a source for each table of a policy, and for names that the policy lacks, which binding refuses.

    Raises:
        PolicyError: one source is given in place of a mapping, or the warehouse lacks a table that has no source.
        EngineError: a source does not exist, or cannot be read.
    """
    if not isinstance(given, Mapping | None):
        raise PolicyError(FORMS)
    spelled = speller(policy.tables)
    named = {spelled(str(name)): source for name, source in (given or {}).items() if source is not None}
    engine = opened.engine
    missing = [name for name in policy.tables if name not in named and engine.find(name) is None]
    if missing:
        which = f"table{'s' * (len(missing) > 1)} {listed(missing)}"
        raise PolicyError(f"no source is given for the {which}, which the warehouse does not have: {FORMS}")
    columns = {name: {*map(folded, roles.columns)} for name, roles in policy.tables.items()}
    found = {}
    for name in dict.fromkeys((*policy.tables, *named)):
        with engine.reading_one_of_several({*chain(*columns.values())} - columns.get(name, set())):
            found[name] = opened.resolve(named.get(name, name))
    return found


def measure_linked_tables(opened: OpenedEngine, given: object, policy: LinkedPolicy) -> LinkedMeasurement:
    from sqlanon.model.policy_value import unknown_names
    from sqlanon.verification.linked import measure_linked

    sources = linked_sources(opened, policy, given)
    problems = [f'source "{name}" is not a table of the policy' for name in sources if name not in policy.tables]
    for name, roles in policy.tables.items():
        there = [found.name for found in opened.engine.describe(sources[name].relation)]
        needed = [each for each in (policy.row_key(name), roles.key, *roles.quasi_identifiers) if each is not None]
        problems += [f'"{name}" has no column "{each}"{meant}' for each, meant in unknown_names(needed, there)]
    if problems:
        raise PolicyError("the policy does not fit the tables:", problems)
    return measure_linked(opened.engine, sources, policy)


def verify_linked_tables(
    opened: OpenedEngine, release: object, policy: LinkedPolicy, given: object, record_sha256: str | None
) -> LinkedVerification:
    """Verify a release of several tables; without ``given`` sources it is not compared with them."""
    from sqlanon.verification.found_linked import find_linked
    from sqlanon.verification.verify_linked import verify_linked

    place = place_of(release)
    sources = None if given is None else linked_sources(opened, policy, given)
    found = find_linked(opened.engine, place)
    return verify_linked(opened.engine, found, policy, sources, place=str(place), expected_record=record_sha256)


def report_on_linked_tables(
    opened: OpenedEngine, release: object, policy: LinkedPolicy | None, given: object, stages: Stages
) -> LinkedReleaseReport | None:
    """Report on a release of several tables; None if there is none and no policy of several asks for one."""
    from sqlanon.run.linked_reports import linked_release_report
    from sqlanon.verification.found_linked import find_linked

    def sources(policy: LinkedPolicy) -> dict[str, ResolvedSource] | None:
        return None if given is None else linked_sources(opened, policy, given)

    try:
        place = place_of(release)
        found = find_linked(opened.engine, place)
    except SqlanonError:
        if policy is not None:
            raise
        return None
    if policy is None and (found.record is None or found.record.linked is None):
        return None
    with stages.stage("verify"):
        return linked_release_report(opened.engine, place, found, policy, sources)


def linked_provenance(opened: OpenedEngine, release: str | Path) -> str | None:
    """Return the provenance of a release of several tables; None if there is none."""
    from sqlanon.verification.found_linked import find_linked

    with suppress(SqlanonError):
        record = find_linked(opened.engine, release).record
        return None if record is None or record.linked is None else record.text
    return None


def place_of(release: object) -> str | Path:
    if not isinstance(release, str | Path):
        raise PolicyError("a release of several tables is a folder or a schema, given by its name")
    return release


def refuse_options(**given: Any) -> None:
    """Refuse options that say nothing of several tables, by name; None and what is empty are not given."""
    if names := [f"{name}=" for name, value in given.items() if value is not None and value not in (False, (), "", {})]:
        raise PolicyError(f"{enumerated(names)} {'is' if len(names) == 1 else 'are'} not for several tables yet")
