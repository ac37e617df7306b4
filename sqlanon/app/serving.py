"""The pages of the app: addresses, forms, and errors as pages."""

from __future__ import annotations

import asyncio
import json
import os
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from sqlanon.app import (
    columns_screen,
    compare_screen,
    explore_screen,
    linked_screen,
    panel,
    promise_screen,
    publish_screen,
    taxonomies_screen,
)
from sqlanon.app.desk import Desk
from sqlanon.app.door import MAX_BODY, refused
from sqlanon.app.office import Office
from sqlanon.app.requests import Fields, Refused, Shown
from sqlanon.app.screen import Screen
from sqlanon.errors import SqlanonError
from sqlanon.report.document import count, percent, printable
from sqlanon.report.html import style
from sqlanon.suggestion.policy_versions import OutdatedPolicyError

PERIOD = 0.25  # seconds between two events of a job, at least

TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

STEPS = (
    columns_screen.SCREEN,
    taxonomies_screen.SCREEN,
    promise_screen.SCREEN,
    explore_screen.SCREEN,
    compare_screen.SCREEN,
    publish_screen.SCREEN,
    panel.SQL,
)
LINKED_STEPS = (linked_screen.SCREEN, publish_screen.SCREEN, panel.SQL)


def screens_of(desk: Desk) -> dict[str, Screen]:
    steps = LINKED_STEPS if desk.place.is_linked else STEPS
    return {screen.name: screen for screen in (*steps, panel.TROUBLE)}


def environment() -> Environment:
    """Templates escape every value, show none of its control characters, and refuse names that no screen gave.

    ``sent`` is for names and values that a form sends back: they are escaped, and else as they are.
    """
    made = Environment(loader=PackageLoader("sqlanon.app"), autoescape=True, undefined=StrictUndefined)
    made.finalize = lambda value: printable(value) if type(value) is str else value
    made.filters |= {"count": count, "percent": percent, "sent": escape}
    made.trim_blocks = made.lstrip_blocks = True
    return made


class Pages:
    """The program behind the door."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self._templates = environment()
        self.program = Starlette(
            routes=[
                Route("/{space}/", self._first),
                Route("/{space}/static/{name}", self._static),
                Route("/{space}/events", self._events),
                Route("/{space}/report/{number:int}", self._report),
                Route("/{space}/{page}", self._page),
                Route("/{space}/{action}", self._action, methods=["POST"]),
            ]
        )

    async def _first(self, request: Request) -> Response:
        desk = self._office.desk
        return RedirectResponse("tables" if desk is None else next(iter(screens_of(desk))), 303)

    async def _page(self, request: Request) -> Response:
        try:
            fields = Fields.of(request.url.query.encode())
        except Refused as refusal:
            return refused(refusal.status, refusal.sentence)
        return await run_in_threadpool(self._shown, request.path_params["page"], fields)

    async def _action(self, request: Request) -> Response:
        body = b""
        try:
            async for piece in request.stream():
                body += piece
                if len(body) > MAX_BODY:
                    return refused(413, "The form is too large.")
        except ClientDisconnect:
            return refused(400)
        return await run_in_threadpool(self._acted, request.path_params["action"], body)

    def _shown(self, page: str, fields: Fields) -> Response:
        desk = self._office.desk
        if desk is None or page == "tables":
            return self._tables()
        if page not in screens_of(desk):
            return refused(404, "The app has no page of this name.")
        return self._answer(desk, page, lambda: Shown(page), fields)

    def _acted(self, name: str, body: bytes) -> Response:
        desk = self._office.desk
        try:
            fields = Fields.of(body)
            if name == "choose":
                return RedirectResponse(self._office.choose(fields), 303)
        except Refused as refusal:
            return refused(refusal.status, refusal.sentence)
        except SqlanonError as error:
            return self._tables(str(error), 422)
        screens = {} if desk is None else screens_of(desk)
        screen = next((each for each in screens.values() if name in each.actions), None)
        if desk is None or screen is None:
            return refused(404, "The app has no form of this name.")
        # A refusal is shown on the page of the form.
        page = panel.page_of(fields).partition("?")[0] if screen is panel.TROUBLE else screen.name
        return self._answer(
            desk,
            page if page in screens else next(iter(screens)),
            lambda: screen.actions[name](desk, fields.of_desk(desk.number)),
            fields,
        )

    def _answer(self, desk: Desk, page: str, act: Callable[[], str | Shown], fields: Fields) -> Response:
        """Act, and show the page that follows; a refusal is a sentence above the page of the form."""
        with desk.lock:
            try:
                shown = act()
                if isinstance(shown, str):
                    return RedirectResponse(shown, 303)
                return HTMLResponse(self._html(desk, shown.page, fields, shown.values))
            except Refused as refusal:
                status, problem = refusal.status, refusal.sentence
            except OutdatedPolicyError as error:
                status, problem = 409, str(error)
            except SqlanonError as error:
                status, problem = 422, str(error)
            except Exception as error:  # a defect: said without its text, which may hold a value
                if os.environ.get("SQLANON_DEBUG", "0") not in ("", "0"):
                    traceback.print_exc()
                status, problem = 500, f"an unexpected {type(error).__name__} happened; please report it"
            for attempt, given in ((page, fields), (page, Fields({})), ("trouble", fields)):
                # Where the page cannot be shown either, its frame is, with the sentence.
                with suppress(Exception):
                    return HTMLResponse(self._html(desk, attempt, given, {"problem": problem}), status)
            return refused(status, problem)

    def _html(self, desk: Desk, page: str, fields: Fields, more: Mapping[str, Any]) -> str:
        screens = screens_of(desk)
        screen = screens[page]
        here = f"{page}?{fields.query('column', 'rare')}".rstrip("?")
        frame = {"desk": desk, "screens": screens, "screen": screen, "here": here, "problem": "", "Markup": Markup}
        values = frame | screen.values(desk, fields) | dict(more)
        values |= panel.values(desk)  # last: a screen may have counted what it shows
        return self._templates.get_template(screen.template).render(values)

    def _tables(self, problem: str = "", status: int = 200) -> Response:
        try:
            values = self._office.tables() | {"problem": problem, "desk": self._office.desk}
        except Refused as refusal:
            return refused(refusal.status, refusal.sentence)
        except SqlanonError as error:
            return refused(422, str(error))
        return HTMLResponse(self._templates.get_template("tables.html").render(values), status)

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name == "report.css":
            return Response(style(), media_type="text/css")
        folder = files("sqlanon.app") / "static"
        if name not in {each.name for each in folder.iterdir()}:
            return refused(404)
        return Response((folder / name).read_bytes(), media_type=TYPES[f".{name.rpartition('.')[2]}"])

    async def _events(self, request: Request) -> Response:
        return StreamingResponse(self._stream(request), media_type="text/event-stream")

    async def _stream(self, request: Request) -> AsyncIterator[str]:
        job = None if self._office.desk is None else self._office.desk.job
        while job is not None and not await request.is_disconnected():
            document = job.document()
            yield f"data: {json.dumps(document)}\n\n"
            if document["state"] != "running":
                return
            await asyncio.sleep(PERIOD)

    async def _report(self, request: Request) -> Response:
        number, edition = request.path_params["number"], request.query_params.get("edition", "")
        try:
            page, policy = await run_in_threadpool(publish_screen.report_page, self._office.desk, number, edition)
        except (Refused, SqlanonError) as error:
            return refused(422, str(error))
        return HTMLResponse(page, headers={"content-security-policy": policy})
