"""Compare: a preview of the release with its report, rows of the source beside it, and queries on both."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sqlanon.app.desk import Desk
from sqlanon.app.jobs import Job
from sqlanon.app.panel import least_shown, policy_of, tables_beside
from sqlanon.app.requests import Fields, Refused, Shown
from sqlanon.app.screen import Screen
from sqlanon.evaluation.answers import compared_answers
from sqlanon.model.methods.synthetic import AverageQuery, CountQuery, GroupQuery
from sqlanon.model.release.pictures import attackers, sizes_section
from sqlanon.model.release.population_risk import population_section
from sqlanon.model.release.release_report import introduction, promises, to_decide, together
from sqlanon.model.release.reported_columns import left_out, what_became
from sqlanon.report import html
from sqlanon.report.document import Document, Part, paragraph
from sqlanon.suggestion.policy_file import PolicyFile
from sqlanon.suggestion.rule_form import values_of

if TYPE_CHECKING:
    from sqlanon.model.release.release_report import ReleaseReport

SHOWN_ROWS = 12
SHOWN_QUERIES = 2

NO_PREVIEW = "releases of this method spend budget, and a preview would spend as much: publish when you are sure"
ONE_TABLE = "a preview has one table: leave out what the policy publishes beside the rows, or publish all as tables"
NOT_PERSONS = "Rows are not persons, and a group of many rows may be one person: the groups are not shown."
NOT_YET = "nobody has made a preview yet: make one first"


@dataclass
class Preview:
    """A release that only this desk sees, in a folder of its own, which goes with the next one."""

    place: Path
    file: PolicyFile
    report: ReleaseReport
    samples: int = 0  # shown so far; each has other rows
    queries: list[tuple[Markup, Markup]] = field(default_factory=list)  # the last ones: a picture, and its numbers


def values(desk: Desk, fields: Fields) -> dict[str, Any]:
    preview, policy = desk.memory.get("preview"), policy_of(desk)
    found = {"preview": preview, "no_preview": policy is not None and policy.has_private_method and NO_PREVIEW}
    if preview is None:
        return found
    report, released = preview.report, [name for name in desk.types() if name in preview.file.policy.released_columns]
    sizes = sizes_section(report.sizes, report.k)
    return found | {
        "is_stale": is_stale(desk),
        "above": _shown(
            *introduction(report),
            *sizes,
            *attackers(report),
            *what_became(report),
        ),
        "below": _shown(
            *population_section(report.population_risk, report.k),
            *left_out(report),
            *promises(report),
            *to_decide(report),
            *together(report),
        ),
        "released": released,
        "numbers": [name for name in released if values_of(desk.types()[name]) == "numbers"],
        "asked": {name: fields.one(name, "") for name in ("column", "width", "average")},
        "rows": None,
    }


def is_stale(desk: Desk) -> bool:
    """Return whether the preview is one of another policy than the present one."""
    preview, file = desk.memory.get("preview"), desk.versions.file
    return preview is not None and (preview.file.text, preview.file.taxonomies) != (file.text, file.taxonomies)


def start_preview(desk: Desk, fields: Fields) -> str:
    """Make a release in a private folder, on no list, and its report, in a job."""
    file, source = desk.versions.file, desk.place.source
    policy = file.policy
    if policy.has_private_method:
        raise Refused(422, NO_PREVIEW)
    if tables_beside(desk, ""):
        raise Refused(422, ONE_TABLE)

    def work(job: Job) -> None:
        # In a folder of its own, since releases beside each other are judged together.
        folder = Path(tempfile.mkdtemp(dir=desk.private))
        place = folder / "preview.parquet"
        try:
            with desk.open() as session:
                session.anonymize(source, policy, place, listed=False, progress=job.progress)
                report = session.report(place, policy, source=source, progress=job.progress)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        with desk.lock:
            if "preview" in desk.memory:
                shutil.rmtree(desk.memory["preview"].place.parent, ignore_errors=True)
            desk.memory["preview"] = Preview(place, file, report)

    desk.start("The preview", "compare", work)
    return "compare"


def sample(desk: Desk, fields: Fields) -> Shown:
    """Show rows of the source beside what the release has of them, once."""
    preview = _preview(desk)
    with desk.session() as session:
        preview.samples, policy = preview.samples + 1, preview.file.policy
        found = session.sample_rows(desk.place.source, preview.place, SHOWN_ROWS, policy=policy, seed=preview.samples)
    return Shown("compare", {"rows": found})


def query(desk: Desk, fields: Fields) -> str:
    """Ask a query of the source and of the preview."""
    preview = _preview(desk)
    policy, width = preview.file.policy, fields.number("width", 0) or None
    column, average = fields.one("column"), fields.one("average", "")
    if not {column, average or column} <= {*policy.released_columns}:
        raise Refused(422, "choose columns that the release has")
    measured = [column] * bool(width) + [average] * bool(average)
    if any(values_of(desk.types().get(name, "")) != "numbers" for name in measured):
        raise Refused(422, "only numbers have groups of a width, and a mean")
    asked: GroupQuery = CountQuery(column=column, width=width)
    if average:
        asked = AverageQuery(column=column, width=width, average=average)
    masked = policy.quasi_identifiers if policy.suppression == "mask" else ()
    with desk.session() as session:
        least, tables = least_shown(desk), (desk.place.source, preview.place)
        *shown, numbers = compared_answers(session, *tables, asked, without_masked=masked, policy=policy, least=least)
    if policy.individual is not None:  # the rows of a group may be one person's
        shown, numbers = shown[:1], paragraph(NOT_PERSONS)
    preview.queries = [(_shown(*shown), _shown(numbers)), *preview.queries[: SHOWN_QUERIES - 1]]
    return f"compare?{fields.query('column', 'width', 'average')}#queries"


def _shown(*parts: Part) -> Markup:
    return Markup(html.fragment(Document("", parts)))  # noqa: S704 (the renderer escapes every text)


def _preview(desk: Desk) -> Preview:
    if "preview" not in desk.memory:
        raise Refused(409, NOT_YET)
    found: Preview = desk.memory["preview"]
    return found


def _mark(desk: Desk) -> str:
    return "older policy" if desk.versions.current and is_stale(desk) else ""


SCREEN = Screen("compare", "Compare", values, {"start_preview": start_preview, "sample": sample, "query": query}, _mark)
