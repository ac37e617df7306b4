"""Publish: the verified release under its name, its reports and its contract, and the releases made here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from sqlanon.app.compare_screen import is_stale
from sqlanon.app.desk import Desk
from sqlanon.app.jobs import Job
from sqlanon.app.panel import command, linked_policy_of, policy_of, tables_beside, target_name
from sqlanon.app.requests import Fields, Refused
from sqlanon.app.screen import Screen
from sqlanon.errors import SqlanonError
from sqlanon.model.destination import CsvFormulas, Kind, destination
from sqlanon.model.methods.noisy import PrivateMethod
from sqlanon.model.names import enumerated, folded, in_quotes
from sqlanon.publish.linked_targets import linked_destination
from sqlanon.publish.targets import ONE_STEP
from sqlanon.report import html

if TYPE_CHECKING:
    from sqlanon.model.policy.policy import Policy
    from sqlanon.model.release import Release, Result

REPORT_POLICY = "default-src 'none'; style-src {}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

OTHER_EDITIONS = ("public", "contract")  # of one table

TWICE = "this form has been sent already, and nothing was published again: here is the present one"
NO_WAREHOUSE = "a table needs a warehouse: type a name that ends in .parquet or .csv, or a folder with a slash"
ELSEWHERE = "the app publishes tables, files and folders: use the command for other places"
TEMPORARY = "tables of the database temp end with the run: name another place"
NO_RELEASE = "the app does not know this release: it was replaced, or made before the app was started"


@dataclass(frozen=True)
class Made:
    """A release that was made here."""

    number: int
    name: str  # as somebody typed it
    into: str  # as a command takes it
    kind: Kind
    policy: Any  # of one table or of several
    version: int  # of the policy
    command: str
    release: Release
    report: Any  # on one table or on several; None until it is made
    verified_at: str

    @property
    def files(self) -> str:
        """The files with their sizes, in words."""
        place = Path(self.into)
        found = [place, place.with_name(f"{place.name}.sqlanon.json")] if self.kind == "file" else place.rglob("*")
        files = [each for each in found if self.kind != "table" and each.is_file()]
        return " · ".join(f"{each.name}: {each.stat().st_size:,} bytes" for each in files)


def values(desk: Desk, fields: Fields) -> dict[str, Any]:
    policy, database = policy_of(desk), desk.place.database
    method = None if policy is None else policy.method
    return {
        "into": fields.one("into", target_name(desk)),
        "replaces": fields.has("replace"),
        "formulas": fields.one("formulas", "keep"),
        "after": _last_job(desk),
        "folders": [folder.resolve().name for folder in desk.place.folders],
        "database": "" if database is None else database.name,
        "cost": f"spends {method.budget}" if isinstance(method, PrivateMethod) else "",
        "can_run": policy is not None or linked_policy_of(desk) is not None,
        "fragment": html.fragment,
        "warnings": [*_warnings(desk, policy)],
        "made": _made(desk)[::-1],
    }


def _warnings(desk: Desk, policy: Policy | None) -> Iterator[str]:
    if desk.place.is_linked:
        return  # linked tables have no previews, and their reports name other releases
    roles = desk.versions.file.roles if desk.versions.current else {}
    if undecided := [f'"{name}"' for name, each in roles.items() if each.is_undecided]:
        yield f"You have not decided on {enumerated(undecided)}: dropped until then."
    yield from _not_previewed(desk, policy)
    try:
        with desk.session() as session:
            listed = session.releases.list(desk.place.source).releases if desk.place.database else ()
    except (Refused, SqlanonError):  # while the warehouse is being written
        return
    if others := sorted({Path(each.target).name for each in listed if each.state == "there"}):
        yield f"Other releases of this source: {enumerated(others)}. Whoever has several may link their rows."


def _not_previewed(desk: Desk, policy: Policy | None) -> Iterator[str]:
    if beside := tables_beside(desk, ""):  # a preview has none of them
        yield f"A run publishes {enumerated(map(in_quotes, beside))} beside the rows: name a table of the warehouse."
    elif policy is not None and not policy.has_private_method:
        if "preview" not in desk.memory:
            yield "Nobody has looked at a preview of this release."
        elif is_stale(desk):
            yield "The preview is of an older policy: what is published differs from it."


def start_publish(desk: Desk, fields: Fields) -> str:
    """Publish the release of the policy as it is, once per form, and report on it."""
    versions, source = desk.versions, desk.place.given
    versions.check(fields.whole("version"))
    if fields.whole("after") != _last_job(desk):
        raise Refused(409, TWICE)
    formulas, replaces, name = fields.one("formulas", "keep"), fields.has("replace"), fields.one("into").strip()
    if formulas not in get_args(CsvFormulas):
        raise Refused(400, "formulas are kept, quoted or refused")
    linked, version, (kind, into) = desk.linked_file, versions.number, _target(desk, name)
    policy: Any = versions.file.policy if linked is None else linked.linked_policy
    options: dict[str, Any] = {"tables": tables_beside(desk, into)}
    if into.lower().endswith(".csv"):
        options["csv_formulas"] = formulas
    shown = command(desk, into)
    if "csv_formulas" in options and formulas != "keep":
        shown += f" --csv-formulas {formulas}"
    writes = kind == "table" or desk.is_charged(policy)

    def work(job: Job) -> None:
        if policy.has_private_method:
            job.left = "nothing was published, but what was charged stays charged"
        with desk.writing() if writes else desk.open() as session:
            release = session.anonymize(source, policy, into, replace=replaces, progress=job.progress, **options)
            job.keep()
            made = Made(job.number, name, into, kind, policy, version, shown, release, None, _now())
            with desk.lock:
                _made(desk)[:] = [*(each for each in _made(desk) if each.into != into), made]
            report = session.report(into, policy, source=source, progress=job.progress)
        _change(desk, made, replace(made, report=report))

    desk.start(f"The release {name}", "publish", work)
    return "publish"


def _target(desk: Desk, text: str) -> tuple[Kind, str]:
    """Return what somebody typed as a table of the warehouse, or a file or folder below the folders of the command."""
    kind = (linked_destination(text) if desk.place.is_linked else destination(text)).kind
    if kind == "table":
        if desk.place.database is None:
            raise Refused(422, NO_WAREHOUSE)
        database, *others = text.split(".")
        if folded(database.strip('"')) == "temp" and (others or desk.place.is_linked):
            raise Refused(422, TEMPORARY)
        return kind, text
    if kind not in ("file", "folder"):
        raise Refused(422, ELSEWHERE)
    if tables_beside(desk, ""):
        raise Refused(422, ONE_STEP)
    place = desk.target(text)
    return kind, f"{place}/" if kind == "folder" else str(place)


def verify(desk: Desk, fields: Fields) -> str:
    """Measure a release again, as it is now."""
    made, source = _numbered(desk, fields.whole("number")), desk.place.given

    def work(job: Job) -> None:
        with desk.open() as session:
            found = session.verify(made.into, made.policy, source=source, strict=False, progress=job.progress)
        report = None if made.report is None else made.report.model_copy(update={"verification": found})
        _change(desk, made, replace(made, report=report, verified_at=_now()))

    desk.start(f"The verification of {made.name}", "publish", work)
    return "publish"


def report_page(desk: Desk | None, number: int, edition: str) -> tuple[str, str]:
    """Return a page about a release, for its custodian, for the public, or its data contract; and its policy."""
    if desk is None or edition not in ("", "custodian", *(() if desk.place.is_linked else OTHER_EDITIONS)):
        raise Refused(422, "a report is for the custodian or, of one table, for the public, or a contract")
    made = _numbered(desk, number)
    if edition in OTHER_EDITIONS:
        with desk.session() as session:
            found: Result = session.contract(made.into)
            if edition == "public":
                found = session.report(made.into, made.policy, edition="public")
            page = found.to_html()
    elif made.report is None:
        raise Refused(422, "the report of this release is not there yet")
    else:
        page = made.report.to_html()
    return page, REPORT_POLICY.format(html.allowed(html.style()))


def _change(desk: Desk, made: Made, now: Made) -> None:
    with desk.lock:
        _made(desk)[:] = [now if each is made else each for each in _made(desk)]


def _made(desk: Desk) -> list[Made]:
    found: list[Made] = desk.memory.setdefault("made", [])
    return found


def _numbered(desk: Desk, number: int) -> Made:
    for each in _made(desk):
        if each.number == number:
            return each
    raise Refused(422, NO_RELEASE)


def _last_job(desk: Desk) -> int:
    return 0 if desk.job is None else desk.job.number


def _now() -> str:
    return datetime.now().astimezone().strftime("%H:%M")


def _mark(desk: Desk) -> str:
    made = _made(desk)
    return f"{len(made)} made" if made else ""


SCREEN = Screen("publish", "Publish", values, {"start_publish": start_publish, "verify": verify}, _mark)
