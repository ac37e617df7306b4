"""What stands beside each screen: the policy with its changes marked, the same run elsewhere, history, and the job."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from sqlanon.app.desk import Desk
from sqlanon.app.requests import Fields, Refused
from sqlanon.app.screen import Screen
from sqlanon.errors import PolicyError
from sqlanon.model.destination import destination
from sqlanon.model.methods.counterfeiting import HCeiling
from sqlanon.model.names import counted
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.policy.policy import Policy


def values(desk: Desk) -> dict[str, Any]:
    """Return what the frame of a page needs."""
    versions = desk.versions
    return {
        "versions": versions,
        "stamp": f"{desk.number}-{versions.number}",
        "policy_lines": [*versions.lines()] if versions.current else [],
        "policy_problems": versions.file.problems if versions.current else (),
        "command": command(desk),
        "python": python(desk),
        "job": desk.job,
        "size": size(desk),
    }


def size(desk: Desk) -> str:
    """Return the rows and columns of the source, as far as they are known."""
    profiles = [*desk.memory.get("profiles", {}).values()]
    rows = [counted(profiles[0].rows, "row")] if profiles else []
    columns = [counted(len(desk.memory["types"]), "column")] if "types" in desk.memory else []
    return "".join(f"{words} · " for words in (*rows, *columns))


def target_name(desk: Desk) -> str:
    """Propose a file for the release, ``visits_k5.parquet``; a folder for linked tables; a table beside others."""
    k = k_of(desk)
    suffix = "/" if desk.place.is_linked else ".csv" if desk.place.name.lower().endswith(".csv") else ".parquet"
    if desk.place.database is not None and tables_beside(desk, ""):
        suffix = ""
    return f"{desk.place.stem}_k{k}{suffix}" if k else f"{desk.place.stem}_release{suffix}"


def k_of(desk: Desk) -> int | None:
    """Return the k of the policy; None if it has none, or does not parse."""
    if (linked := linked_policy_of(desk)) is not None:
        return linked.k
    policy = policy_of(desk)
    return None if policy is None or policy.criteria.k < 2 else policy.criteria.k  # 1 is that of a private method


def policy_of(desk: Desk) -> Policy | None:
    """Return the policy of one table; None if there is none, or a run would refuse it."""
    try:
        file = desk.versions.file
        return None if file.problems else file.policy  # problems are kept; a policy that has some is not
    except PolicyError:
        return None


def linked_policy_of(desk: Desk) -> LinkedPolicy | None:
    """Return the policy of linked tables; None if there is none, or a run would refuse it."""
    return None if (file := desk.linked_file) is None or file.problems else file.linked_policy


def is_private(desk: Desk) -> bool:
    policy = policy_of(desk)
    return policy is not None and policy.has_private_method


def tables_beside(desk: Desk, into: str) -> dict[str, str]:
    """Name the tables that a run publishes beside the rows: a catalog of counterfeits, and matrices of changes."""
    if (policy := policy_of(desk)) is None:
        return {}
    catalog = ("catalog",) if isinstance(policy.method, HCeiling) and policy.method.has_catalog else ()
    names = (*catalog, *policy.perturbation_tables)
    # A column's name may have dots and slashes, which would be read as a schema or a path.
    return {name: f"{into}_" + re.sub(r"\W+", "_", name) for name in names}


def command(desk: Desk, into: str | None = None) -> str:
    """Return the command that makes the release of the policy."""
    place, into = desk.place, into or _proposed(desk)
    database = [] if place.database is None else ["--db", str(place.database)]
    beside = [word for what, name in tables_beside(desk, into).items() for word in ("--table", f"{what}={name}")]
    ledger = ["--ledger", str(place.ledger)] if place.ledger is not None and is_private(desk) else []
    words = ["sqlanon", "run", *filter(None, [place.source]), *database, "--policy", str(place.policy_file), *ledger]
    return shlex.join([*words, "--into", into, *beside])


def python(desk: Desk) -> str:
    """Return the program that makes the release of the policy."""
    place, into = desk.place, _proposed(desk)
    given = [] if place.database is None else [repr(str(place.database))]
    if place.ledger is not None and is_private(desk):
        given.append(f"ledger={str(place.ledger)!r}")
    opened = ", ".join(given)
    beside = f", tables={tables!r}" if (tables := tables_beside(desk, into)) else ""
    call = ", ".join(map(repr, (place.given, str(place.policy_file), into)))
    return f"import sqlanon as sa\n\nwith sa.connect({opened}) as session:\n    session.anonymize({call}{beside})"


def _proposed(desk: Desk) -> str:
    name = target_name(desk)
    if destination(name).kind == "table":
        return name
    return str(desk.place.folders[0] / name) + "/" * name.endswith("/")


def undo(desk: Desk, fields: Fields) -> str:
    desk.versions.check(fields.whole("version"))
    desk.versions.move(fields.whole("to"))
    return page_of(fields)


def outside(desk: Desk, fields: Fields) -> str:
    """Settle a change by another program: its text or ours."""
    if fields.one("whose") == "theirs":
        desk.versions.take_in()
    else:
        desk.versions.keep()
    return page_of(fields)


def ask(desk: Desk, fields: Fields) -> str:
    """Ask the job to end: ``cancel`` leaves nothing, ``enough`` keeps the best result so far."""
    how = fields.one("how")
    if how not in ("cancel", "enough"):
        raise Refused(400, "a job is asked to cancel, or that it is enough")
    if desk.job is not None and desk.job.number == fields.whole("job"):
        desk.job.ask("cancel" if how == "cancel" else "enough")
    return page_of(fields)


def page_of(fields: Fields) -> str:
    """Return the page that the form stood on; none is the first one."""
    page = fields.one("page", ".")
    return page if re.fullmatch(r"[a-z]+(\?[\w%=&.+-]*)?", page) else "."


def statements(desk: Desk, fields: Fields) -> dict[str, Any]:
    with desk.session() as session:
        file = desk.linked_file
        policy = desk.versions.file.policy if file is None else file.linked_policy
        return {"steps": session.explain(desk.place.given, policy)}


FORMS = {"undo": undo, "outside": outside, "ask": ask}  # on any page
TROUBLE = Screen("trouble", "Something is in the way", lambda _desk, _fields: {}, FORMS, is_step=False)
SQL = Screen("sql", "The SQL of a run", statements, is_step=False)


def least_shown(desk: Desk) -> int:
    """Return the rows that a value must have to be shown: the k of the policy, even if a run would refuse it, or 5."""
    k = k_of(desk)
    return max(k or max(_asked_k(desk), default=5), 2)


def _asked_k(desk: Desk) -> Iterator[int]:
    with suppress(PolicyError):  # it is not TOML
        given = desk.versions.file.values if desk.versions.current else {}
        models = given.get("privacy")
        for each in (*(models if isinstance(models, list) else [models]), given.get("method")):
            if isinstance(each, Mapping) and isinstance(k := each.get("k"), int):
                yield k


def has_individual(desk: Desk) -> bool:
    """Return whether rows are not persons, so that many rows may be those of one person."""
    try:
        return desk.versions.current is not None and "individual" in desk.versions.file.values
    except PolicyError:
        return True  # nobody knows
