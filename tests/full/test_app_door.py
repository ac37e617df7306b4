"""The door of the app: one browser comes in, by a code that works once."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from sqlanon.app.door import CODE_SECONDS, HEADERS, MAX_BODY, Door

PORT = 8471
HOST = f"http://127.0.0.1:{PORT}"
FORM = {"content-type": "application/x-www-form-urlencoded", "origin": HOST}


class Entered:
    """A browser that came in by a code, and the door."""

    def __init__(self) -> None:
        self.now = 0.0
        routes = [Route("/{space}/{page}", lambda _request: PlainTextResponse("inside"), methods=["GET", "POST"])]
        self.door = Door(Starlette(routes=routes), PORT, clock=lambda: self.now)
        self.browser = TestClient(self.door, base_url=HOST)
        self.address = self.door.address()
        assert self.browser.get(self.address).status_code == 200
        self.page = f"/{self.door.space}/columns"


@pytest.fixture
def entered() -> Entered:
    return Entered()


def test_code_buys_the_cookie(entered: Entered) -> None:
    answer = entered.browser.get(entered.page)
    assert (answer.status_code, answer.text) == (200, "inside")
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    cookie = TestClient(entered.door, base_url=HOST).get(entered.door.address()).headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and f"Path=/{entered.door.space}/" in cookie


def test_forms_of_the_own_pages_come_in(entered: Entered) -> None:
    sent = {"content": "a=1", "headers": FORM | {"sec-fetch-site": "same-origin"}}
    assert entered.browser.post(entered.page, **sent).status_code == 200


def test_code_works_once(entered: Entered) -> None:
    assert entered.browser.get(entered.address).status_code == 403


def test_code_expires(entered: Entered) -> None:
    address = entered.door.address()
    entered.now = CODE_SECONDS + 1
    assert entered.browser.get(address).status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"host": f"evil.example:{PORT}"}, 403, id="another name for this machine, by DNS"),
        pytest.param({"host": "127.0.0.1:1"}, 403, id="another port"),
        pytest.param({"origin": "http://evil.example"}, 403, id="another page"),
        pytest.param({"origin": "null"}, 403, id="a page without origin"),
        pytest.param({"sec-fetch-site": "cross-site"}, 403, id="a page of another site"),
        pytest.param({"sec-fetch-site": "same-site"}, 403, id="a page of another port"),
        pytest.param({"cookie": ""}, 403, id="no cookie"),
        pytest.param({"cookie": "sqlanon=guess"}, 403, id="another cookie"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_others_stay_out(entered: Entered, method: str, headers: dict[str, str], status: int) -> None:
    stranger = TestClient(entered.door, base_url=HOST) if "cookie" in headers else entered.browser
    sent = (FORM if method == "POST" else {}) | headers
    content = b"a=1" if method == "POST" else None
    assert stranger.request(method, entered.page, headers=sent, content=content).status_code == status


def test_form_without_origin_stays_out(entered: Entered) -> None:
    assert entered.browser.post(entered.page, headers={"content-type": FORM["content-type"]}).status_code == 403


def test_page_outside_the_space_stays_out(entered: Entered) -> None:
    assert entered.browser.get("/other/columns").status_code == 403
    assert entered.browser.post(entered.address, headers=FORM).status_code == 403


@pytest.mark.parametrize(
    ("headers", "content", "status"),
    [
        ({"content-type": "application/json"}, b"{}", 415),
        ({"content-type": "multipart/form-data"}, b"", 415),
        ({}, b"a" * (MAX_BODY + 1), 413),
        ({"content-length": "x"}, b"a", 413),
    ],
)
def test_other_bodies_are_refused(entered: Entered, headers: dict[str, str], content: bytes, status: int) -> None:
    assert entered.browser.post(entered.page, headers=FORM | headers, content=content).status_code == status
