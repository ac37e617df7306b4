"""What pages of the app take on a large table, as multiples of a plain GROUP BY in the same run, and their memory.

    python -m tests.benchmarks.app [ROWS]

Invented people in a warehouse: 12 columns, four quasi-identifiers, about as many cells as rows. For a million rows, the
budgets are 300 ms for a page, 100 ms for a step of a slider in the median, and a peak of 700 MB.
"""

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlanon as sa
from tests.app import Browser, app
from tests.benchmarks.exploration import PEOPLE, PLAIN, steps
from tests.benchmarks.processes import in_own_process, peak_bytes, say, seconds

MORE = """
CREATE TABLE visits AS
SELECT *, ['J45', 'I10', 'E11', 'F32', 'K80'][1 + person * 7919 % 5] AS diagnosis, 1 + person * 31 % 29 AS stay,
    round(hash(person) / pow(2, 64) * 1000, 2) AS costs, 'person' || person || '@example.org' AS email,
    person % 1000 AS doctor, 'note ' || hash(person) AS note
FROM people
"""
UNITS = ("week, month, year", "month, quarter", "quarter, decade", "day, year")
PAGES = ("columns", "taxonomies?column=seen", "promise", "explore", "compare", "publish")
WAIT = 600  # seconds, for a job


sys.modules["__main__"].__file__ = __file__  # DuckDB takes a "python -c" without it for a notebook, and draws bars


def main() -> None:
    rows = int([*sys.argv[1:], "1000000"][0])
    with tempfile.TemporaryDirectory() as folder:
        plain = in_own_process(make, folder, rows)
        found = in_own_process(measured, folder)
    say(f"{rows:,} rows; a plain GROUP BY takes {1000 * plain:.0f} ms")
    say("\n| | median | most | of a GROUP BY | peak until then |\n| --- | --- | --- | --- | --- |")
    for name, (taken, peak) in found.items():
        median = statistics.median(taken)
        times = f"{1000 * median:.0f} ms | {1000 * max(taken):.0f} ms | {median / plain:.2f}"
        say(f"| {name} | {times} | {peak / 1e6:.0f} MB |")


def make(folder: str, rows: int) -> float:
    """Make the warehouse, and return the seconds of a GROUP BY of the quasi-identifiers."""
    with sa.connect(Path(folder) / "w.duckdb") as session:
        connection = session.connection
        connection.execute(PEOPLE, [rows])
        connection.execute(MORE)
        plain = PLAIN.replace("people", "visits").replace("zip, ", "")
        return statistics.median(seconds(lambda: connection.execute(plain).fetchall()) for _ in range(3))


def measured(folder: str) -> dict[str, tuple[list[float], int]]:
    """Return the seconds of pages, forms and jobs, and the most memory that was in use until their end."""
    found: dict[str, tuple[list[float], int]] = {}

    def note(name: str, *calls: Callable[[], Any]) -> None:
        found[name] = [seconds(call) for call in calls], peak_bytes()

    with app("visits", Path(folder), Path(folder) / "w.duckdb", waits=False) as browser:
        note("first page", lambda: browser.get("columns"))
        note("suggestion", lambda: browser.wait(WAIT))
        note("columns, until they are counted", *[lambda: browser.get("columns")] * 6)
        for page in PAGES:
            note(page.partition("?")[0], *[lambda page=page: browser.get(page)] * 20)  # type: ignore[misc]
        rule = {"column": "seen", "kind": "dates", "was": "dates", "only": "preview"}
        note("taxonomy", *(lambda each=each: browser.post("save_taxonomy", levels=each, **rule) for each in UNITS))  # type: ignore[misc]
        roles = ("sensitive", "insensitive", "identifier")
        note("a role", *(lambda each=each: browser.post("role", column="doctor", role=each) for each in roles))  # type: ignore[misc]
        job(browser, note, "search", "start_explore")
        nodes = steps(browser.desk.memory["explored"].nodes)
        levels = [{f"level{place}": level for place, level in enumerate(each.values())} for each in nodes]
        note("step of a slider", *(lambda each=each: browser.post("node", **each) for each in levels))  # type: ignore[misc]
        job(browser, note, "preview and report", "start_preview")
        note("12 rows", *[lambda: browser.post("sample")] * 3)
        note("query", *[lambda: browser.post("query", column="diagnosis", average="costs")] * 3)
    return found


def job(browser: Browser, note: Callable[..., None], name: str, action: str) -> None:
    browser.post(action)
    note(name, lambda: browser.wait(WAIT))


if __name__ == "__main__":
    main()
