"""The door of the app: it lets in the browser that came with a code, and nobody else.

Cookies know no ports, and any page of the browser may send requests to this machine. So the address has a random
part, and ``Host``, ``Origin`` and ``Sec-Fetch-Site`` must be ours besides the cookie (OWASP, Cross-Site Request Forgery
Prevention).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from hmac import compare_digest

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CODE_BYTES = 24  # 192 bits
CODE_SECONDS = 600  # how long an unused code works
MAX_BODY = 2**20  # bytes of a form

COOKIE = "sqlanon"

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    # With no-referrer, browsers send "Origin: null" for forms, which the door refuses.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

ENTRANCE = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>sqlanon</title>'
    '<link rel="icon" href="{address}static/icon.svg">'
    '<meta http-equiv="refresh" content="0;url={address}"></head><body><a href="{address}">sqlanon</a></body></html>'
)


class Door:
    """A program that answers only its own browser; ``/start?code=…`` buys the cookie for everything below ``space``."""

    def __init__(self, program: ASGIApp, port: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.space = secrets.token_hex(16)
        self._program = program
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._cookie = secrets.token_urlsafe(CODE_BYTES)
        self._codes: dict[str, float] = {}  # until when each works
        self._clock = clock

    def address(self) -> str:
        """Return an address that works once, within ten minutes."""
        code = secrets.token_urlsafe(CODE_BYTES)
        self._codes[code] = self._clock() + CODE_SECONDS
        return f"http://{self._hosts[0]}/start?code={code}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._program(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope)
        answer = self._entrance(request) if request.url.path == "/start" else self._refusal(request)
        await (answer or self._program)(scope, receive, send_with_headers)

    def _entrance(self, request: Request) -> Response:
        if request.headers.get("host") not in self._hosts or request.method != "GET":
            return refused(403)
        given, now = request.query_params.get("code", ""), self._clock()
        found = [code for code in self._codes if compare_digest(code.encode(), given.encode())]
        if not found or self._codes.pop(found[0]) < now:
            return refused(403, "This address has been used, or is too old. Press Enter in the terminal for another.")
        # A redirect would belong to the page that led here, and SameSite=Strict would keep the cookie back.
        response = HTMLResponse(ENTRANCE.format(address=f"/{self.space}/"))
        response.set_cookie(COOKIE, self._cookie, path=f"/{self.space}/", httponly=True, samesite="strict")
        return response

    def _refusal(self, request: Request) -> Response | None:
        headers = request.headers
        origins = [f"http://{host}" for host in self._hosts]
        is_ours = (
            headers.get("host") in self._hosts
            and headers.get("sec-fetch-site", "none") in ("same-origin", "none")
            and (headers.get("origin") in origins or ("origin" not in headers and request.method != "POST"))
            and request.url.path.startswith(f"/{self.space}/")
            and compare_digest(request.cookies.get(COOKIE, "").encode(), self._cookie.encode())
        )
        if not is_ours:
            return refused(403, "This page opens from the address in the terminal: press Enter there for another one.")
        if request.method == "POST":
            if headers.get("content-type", "").partition(";")[0] != "application/x-www-form-urlencoded":
                return refused(415)
            length = headers.get("content-length", "")
            if not length.isdigit() or int(length) > MAX_BODY:
                return refused(413)
        return None


def refused(status: int, sentence: str = "This request is not for here.") -> Response:
    return Response(sentence, status, media_type="text/plain")
