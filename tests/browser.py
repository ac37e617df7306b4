"""A page in a headless Chromium, which is driven through two pipes; tests are skipped where there is none."""

import base64
import json
import os
import re
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe")
TIMEOUT = 60.0
"""Seconds for one answer."""


class Page:
    """An open page: what it computes, and what went wrong in it.

    Attributes:
        problems: messages of its console, exceptions, and what its policy refused.
        requests: what it loaded, besides itself.
    """

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.problems: list[str] = []
        self.requests: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def open(self, url: str) -> None:
        """Go to an address, which may differ from the present one in its fragment alone."""
        self._call("Page.navigate", url="about:blank")
        self.requests.clear()
        self._call("Page.navigate", url=url)
        self.value(
            "new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))"
        )
        self.requests.remove(url.partition("#")[0])

    def value(self, expression: str) -> Any:
        found = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def text(self, name: str) -> str:
        return str(self.value(f"document.getElementById({json.dumps(name)}).textContent"))

    def sheets(self) -> int:
        """The number of sheets that the page is printed on, in the size that it asks for."""
        printed = self._call("Page.printToPDF", preferCSSPageSize=True)["data"]
        return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed)))

    def press(self, key: str) -> None:
        """Press a key in what has the focus."""
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, key=key)

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        method, given = event.get("method", ""), event.get("params", {})
        if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.problems.append(json.dumps(given))
        if method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])

    def _read(self) -> dict[str, Any]:
        ends = time.monotonic() + TIMEOUT
        while b"\0" not in self._rest:
            assert select.select([self._answers], [], [], max(ends - time.monotonic(), 0))[0], (
                "Chromium does not answer"
            )
            read = os.read(self._answers, 1 << 20)
            assert read, "Chromium has ended"
            self._rest += read
        message, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer


@contextmanager
def browser() -> Iterator[Page]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    theirs, commands = os.pipe()
    answers, ours = os.pipe()
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        words = [CHROMIUM, *OPTIONS, f"--user-data-dir={profile}", "--window-size=1100,900", "about:blank"]
        # It reads from descriptor 3 and writes to 4; the shell puts them there.
        shell = ["bash", "-c", f'exec "$@" 3<&{theirs} 4>&{ours}', "bash", *words]
        process = subprocess.Popen(shell, pass_fds=(theirs, ours), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for descriptor in (theirs, ours):
            os.close(descriptor)
        try:
            yield Page(commands, answers)
        finally:
            os.close(commands)
            process.terminate()
            process.wait(TIMEOUT)
            os.close(answers)


def address(path: Path, fragment: str = "") -> str:
    return path.resolve().as_uri() + fragment
