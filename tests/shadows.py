"""The releases of other tests once more, with their rows elsewhere: ``python -m tests.shadows [--sail] FILES``.

Each release that a test publishes is made twice more, of a copy of its source as a file: here, and with the rows in a
second database or, with ``--sail``, on a server. What differs is listed in the end, in rows or reports, and what is
refused with rows elsewhere. The tests themselves may fail if they watch what a run does, which runs twice more.
"""

import copy
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

import duckdb
import pytest
from sqlglot import exp

import sqlanon as sa
from sqlanon.api.session import Session
from sqlanon.engines.cutting import Rows
from sqlanon.engines.duckdb import OpenedDatabase, float_texts
from sqlanon.model.policy.policy import policy_of
from sqlanon.queries.kit.nodes import DIALECT, select
from sqlanon.spark.spark_rows import SparkRows
from tests.engines import engine_of
from tests.far_rows import FarRows
from tests.reports import alone
from tests.sail import sail

SETTINGS = ("-n", "0", "-q", "-W", "ignore::pytest.PytestAssertRewriteWarning")

OPTIONS = ("node", "pseudonym_key")
"""What a run is given that says what is published."""

STOPPED = {"stop", "time_limit"}
"""What ends a search somewhere."""

Made = Callable[..., sa.Release]


class Shadows:
    """A plugin of pytest.

    Attributes:
        url: the server, None for a second database.
        made: how many releases were compared.
        differing: what differed between them, by test.
        refused: how many were not, by reason and test.
    """

    def __init__(self, url: str | None) -> None:
        self.url = url
        self.made = 0
        self.differing: list[str] = []
        self.refused: Counter[str] = Counter()
        self._is_comparing = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Compare after each release of a test."""
        published = Session.anonymize

        def anonymize(session: Session, source: Any, policy: Any, into: Any, **given: Any) -> sa.Release:
            chance = copy.deepcopy(given.get("random_source"))
            release = published(session, source, policy, into, **given)
            if not self._is_comparing and not STOPPED & given.keys():
                self._is_comparing = True
                try:
                    self._compare(published, session, source, policy, {**given, "random_source": chance})
                finally:
                    self._is_comparing = False
            return release

        with mock.patch.object(Session, "anonymize", anonymize):
            return (yield)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """What differed, and why other releases were not made."""
        terminalreporter.write_line(f"{self.made:,} releases were compared, and {len(self.differing):,} differ")
        for each in self.differing:
            terminalreporter.write_line(f"differs: {each}")
        for reason, count in self.refused.most_common():
            terminalreporter.write_line(f"{count} not compared: {reason}")

    def _compare(self, published: Made, session: Session, source: Any, policy: Any, given: Mapping[str, Any]) -> None:
        wanted, chance = policy_of(policy), given["random_source"]
        if chance is None and (wanted.has_private_method or isinstance(wanted.method, sa.HCeiling)):
            self._note("it draws at random")
            return
        options = {name: given[name] for name in OPTIONS if name in given}
        with tempfile.TemporaryDirectory() as folder, self._sides(session) as (near, far, elsewhere):
            path = f"{folder}/source.parquet"
            made = []
            try:
                _save(session, source, path)
                for name, each, read in (("near", near, path), ("far", far, elsewhere(path))):
                    drawn = copy.deepcopy(chance)
                    made.append(published(each, read, policy, f"{folder}/{name}/", random_source=drawn, **options))
            except (sa.SqlanonError, duckdb.Error) as error:
                self._note(_plain(error))
                return
            self.made += 1
            here, there = map(alone, made)
            differing = {
                name: (getattr(here, name), getattr(there, name))
                for name in type(here).model_fields.keys() - {"seconds", "source", "into"}
                if getattr(here, name) != getattr(there, name)
            }
            if _rows(f"{folder}/near") != _rows(f"{folder}/far"):
                differing["rows"] = ()
            if differing:
                self.differing.append(f"{differing} ({_test()})")

    def _note(self, reason: str) -> None:
        self.refused[f"{reason} ({_test()})"] += 1

    @contextmanager
    def _sides(self, session: Session) -> Iterator[tuple[Session, Session, Callable[[str], str]]]:
        """Two sessions on the database of one, the second one with rows elsewhere, and how a file becomes these."""
        with session.connection.cursor() as first, session.connection.cursor() as second:
            ((threads,),) = first.sql("SELECT current_setting('threads')").fetchall()
            first.execute("SET threads = 1")  # the last digit of a sum depends on the order of its parts
            rows: Rows = FarRows() if self.url is None else SparkRows(self.url, float_texts)
            beside = OpenedDatabase(second, owned=False)
            beside.far = rows
            far = Session(beside)
            try:
                yield sa.connect(first), far, lambda path: _loaded(rows, path)
            finally:
                rows.close()
                first.execute(f"SET threads = {threads}")


def _test() -> str:
    return os.environ["PYTEST_CURRENT_TEST"].partition("::")[2]


def _loaded(rows: Rows, path: str) -> str:
    """The name of the rows of a file elsewhere: a table of a second database, or the file for a server."""
    if not isinstance(rows, FarRows):
        return path
    rows.connection.execute(f"CREATE TABLE loaded AS FROM '{path}'")
    return "far.loaded"


def _save(session: Session, source: Any, path: str) -> None:
    """Copy a source to a file."""
    engine = engine_of(session)
    with engine.reading_frames():
        query = select([exp.Star()], engine.resolve(source).relation.copy()).sql(DIALECT)
        session.connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def _rows(folder: str) -> tuple[list[Any], Counter[Any]]:
    found = duckdb.read_parquet(f"{folder}/*.parquet")
    return [*zip(found.columns, found.types, strict=True)], Counter(found.project("COLUMNS(*)::VARCHAR").fetchall())


def _plain(error: Exception) -> str:
    return re.sub(r"\s+", " ", re.sub(r"/tmp/\S+|sc://\S+", "<place>", str(error)))[:300]  # noqa: S108


def main() -> int:
    arguments = [each for each in sys.argv[1:] if each != "--sail"]
    with sail() if "--sail" in sys.argv else nullcontext() as server:
        url = None if server is None else server.url
        shadows = Shadows(url)
        pytest.main([*SETTINGS, *arguments], plugins=[shadows])
        return int(bool(shadows.differing) or not shadows.made)


if __name__ == "__main__":
    sys.exit(main())
