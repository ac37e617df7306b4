"""Linked tables: how they hang together, the roles of their columns, the promise, and the policy as a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlanon.app.columns_screen import becomes
from sqlanon.app.desk import Desk
from sqlanon.app.jobs import Job
from sqlanon.app.panel import linked_policy_of
from sqlanon.app.requests import Fields
from sqlanon.app.screen import Screen
from sqlanon.errors import PolicyError
from sqlanon.model.names import folded
from sqlanon.release.linked_guarantee import linked_guarantee
from sqlanon.report import html
from sqlanon.report.document import Document
from sqlanon.suggestion.policy_edits import LIST_OF_ROLE
from sqlanon.suggestion.policy_file import PolicyFile


def values(desk: Desk, fields: Fields) -> dict[str, Any]:
    policy, file = linked_policy_of(desk), desk.linked_file
    found: dict[str, Any] = {"file": file, "tables": {}, "notes": desk.suggestion.notes if desk.suggestion else ()}
    if file is not None:
        found["text"] = fields.one("text", file.text)
    if policy is not None:
        with desk.session() as session:
            rows = {folded(each.name): each.rows for each in session.overview().tables}
        found["tables"] = {name: (own, rows.get(folded(name), "not there")) for name, own in policy.tables.items()}
        found["promise"] = html.fragment(Document("", (*linked_guarantee(policy).parts(),)))
    return found | {"lists": LIST_OF_ROLE, "becomes": becomes}


def suggest(desk: Desk, tables: Sequence[str]) -> None:
    """Suggest a policy in a job, for the given tables or for all, and write it as the command does."""

    def work(job: Job) -> None:
        with desk.open() as session:
            found = session.suggest_linked(tables or None, progress=job.progress)
        with desk.lock:
            desk.suggestion = found
            found.write(desk.place.policy_file)
            desk.versions.take_in()

    desk.start("The suggestion", "linked", work)


def rewrite(desk: Desk, fields: Fields) -> str:
    """Take over the whole text, with what a run would refuse; one that the next start could not open is refused."""
    text = fields.one("text").replace("\r\n", "\n")

    def edit(file: PolicyFile) -> PolicyFile:
        edited = replace(file, text=text)
        if "tables" not in edited.values:
            raise PolicyError("a policy of several tables has [tables.NAME] for each: nothing was changed")
        return edited

    desk.versions.add("edited", edit, fields.whole("version"))
    return "linked"


def _mark(desk: Desk) -> str:
    return f"{len(file.to_decide)} to decide" if (file := desk.linked_file) is not None and file.to_decide else ""


SCREEN = Screen("linked", "Policy", values, {"rewrite": rewrite}, _mark)
