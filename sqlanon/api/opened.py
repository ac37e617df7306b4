"""The engine of a session while the session is open, which all parts of it share."""

from __future__ import annotations

from sqlanon.engines.base import Engine, ResolvedSource, Source
from sqlanon.engines.frames import is_frame
from sqlanon.errors import EngineError
from sqlanon.publish.files import bring_back


class OpenedEngine:
    """An engine that is asked for whenever it is used, so that a closed session is refused however it is reached."""

    def __init__(self, engine: Engine) -> None:
        self._opened = engine
        self._is_closed = False

    @property
    def engine(self) -> Engine:
        """The engine.

        Raises:
            EngineError: the session is closed.
        """
        if self._is_closed:
            raise EngineError("the session is closed; open another one with connect()", step="session")
        return self._opened

    def resolve(self, source: Source) -> ResolvedSource:
        """What a source names.

        Raises:
            PolicyError, EngineError: it is none, or is not there.
        """
        engine = self.engine
        if not is_frame(source):
            bring_back(str(source))
        return engine.resolve(source)

    def close(self) -> None:
        """Close the connection, unless it was lent, and hand out the engine no more."""
        self._is_closed = True
        self._opened.close()


class Part:
    """What belongs to a session, and is refused with it once it is closed."""

    def __init__(self, opened: OpenedEngine) -> None:
        self._opened = opened

    @property
    def _engine(self) -> Engine:
        return self._opened.engine
