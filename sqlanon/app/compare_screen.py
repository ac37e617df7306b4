"""Compare: a preview of the release with its report, rows of the source beside it, and queries on both."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sqlanon.app.desk import Desk
from sqlanon.app.jobs import Job
from sqlanon.app.panel import least_shown, policy_of, tables_beside
from sqlanon.app.requests import Fields, Refused, Shown
from sqlanon.app.screen import Screen
from sqlanon.app.taxonomies_screen import values_of
from sqlanon.evaluation.answers import query_answers, query_errors
from sqlanon.model.methods.synthetic import AverageQuery, CountQuery, GroupQuery
from sqlanon.model.release.pictures import sizes_section
from sqlanon.model.release.release_report import introduction, promises, to_decide, together
from sqlanon.model.release.reported_columns import left_out, what_became
from sqlanon.report import html
from sqlanon.report.document import Bars, Document, Part, Table, figure, paragraph, short_percent, strong
from sqlanon.suggestion.policy_file import PolicyFile

if TYPE_CHECKING:
    from sqlanon.model.release.release_report import ReleaseReport

SHOWN_ROWS = 12
SHOWN_QUERIES = 2
MAX_GROUPS = 40  # of a query, the largest first
SIDES = {"truth": "source", "answer": "release"}

NO_PREVIEW = "releases of this method spend budget, and a preview would spend as much: publish when you are sure"
NO_CATALOG = "a preview has one table: leave the catalog out to look at the rows, or publish both as tables"
NOT_YET = "there is no preview yet: make one first"


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
        "above": _shown(*introduction(report), *sizes, *attackers(report), *what_became(report)),
        "below": _shown(*left_out(report), *promises(report), *to_decide(report), *together(report)),
        "released": released,
        "numbers": [name for name in released if values_of(desk, name) == "numbers"],
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
        raise Refused(422, NO_CATALOG)

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
    if any(values_of(desk, name) != "numbers" for name, is_meant in ((column, width), (average, average)) if is_meant):
        raise Refused(422, "only numbers have groups of a width, and a mean")
    counted = CountQuery(column=column, width=width)
    asked = AverageQuery(column=column, width=width, average=average) if average else counted
    tables = (desk.place.source, preview.place)
    masked = policy.quasi_identifiers if policy.suppression == "mask" else ()
    with desk.session() as session:
        answers = query_answers(session, *tables, asked, without_masked=masked, policy=policy).to_pylist()
        counts = answers
        if average:
            counts = query_answers(session, *tables, counted, without_masked=masked, policy=policy).to_pylist()
        errors = query_errors(session, *tables, [asked], without_masked=masked, policy=policy).to_pylist()
    rows, least = {each["group_label"]: each["truth"] or 0 for each in counts}, least_shown(desk)
    frequent = {label for label, each in rows.items() if not 0 < each < least}
    largest = sorted(frequent, key=lambda label: -rows[label])[:MAX_GROUPS]
    shown = [each for each in answers if each["group_label"] in largest]
    wrong, left = errors[0]["total_relative_error"], len(answers) - len(shown)
    title = str(asked) if wrong is None else f"{asked}: wrong by {short_percent(round(wrong, 6))} in all"
    notes = [paragraph(f"{left:,} groups are not shown: of under {least} rows, or smaller than {MAX_GROUPS} others")]
    picture, numbers = _beside(asked, shown, sum(rows.values()))
    made = (_shown(paragraph(strong(title)), picture, *(notes if left else ())), _shown(numbers))
    preview.queries = [made, *preview.queries[: SHOWN_QUERIES - 1]]
    return f"compare?{fields.query('column', 'width', 'average')}#queries"


def _beside(asked: GroupQuery, groups: Sequence[dict[str, Any]], rows: float) -> tuple[Bars, Table]:
    """Draw and list true answers beside those of the release: counts as shares of all rows, means of the largest."""
    whole, axis = rows, f"{asked.column}: share of the rows of the source"
    if asked.averaged is not None:
        whole = max((each[side] or 0 for each in groups for side in SIDES), default=0)
        axis = f"{asked.column}: mean of {asked.averaged}, as a share of the largest"
    starts = [each["group_label"] if asked.width is None else each["group_start"] for each in groups]
    names = tuple("–" if start is None else f"{start:g}" if asked.width else str(start) for start in starts)
    series = tuple(
        (name, tuple(max(each[side] or 0, 0) / (whole or 1) for each in groups)) for side, name in SIDES.items()
    )
    cells = [(name, *(figure(each[side]) for side in SIDES)) for name, each in zip(names, groups, strict=True)]
    return Bars(f"{asked}, before and after", axis, names, series), Table(
        (asked.column, *SIDES.values()), cells, (1, 2)
    )


def attackers(report: ReleaseReport) -> Iterator[Table]:
    """Show the risk of re-identification by the knowledge of three attackers (El Emam & Dankar 2008)."""
    before, after = report.before, report.after
    if after is None:
        return
    highest = 1 / (report.individuals or after.k)
    models = report.verification.measurement.models
    people = [each.attained for each in models if each.measure == "population_size" and each.attained]
    journalist = short_percent(1 / min(people)) if people else f"at most {short_percent(highest)}"
    # Rows of one individual share their risk, which the average over rows does not show.
    average = "–" if report.individuals else short_percent(after.average_risk)
    of_source = (
        ("–", "–") if before is None else (short_percent(before.highest_risk), short_percent(before.average_risk))
    )
    rows = [
        ("Prosecutor", "that a person is in the table; risk of the worst row", of_source[0], short_percent(highest)),
        ("Journalist", "a register of the population; needs that table", "–", journalist),
        ("Marketer", "a register, and is content with many right guesses; mean over rows", of_source[1], average),
    ]
    yield Table(("Attacker", "knows", "before", "after"), rows, numbers=(2, 3))


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
