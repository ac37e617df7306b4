"""What a server refuses, in words of ours: its own text can quote values of the table."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sqlanon.errors import EngineError, Refusal

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.connect.client.retries import RetryPolicy


PORT = 15002
"""Where a server listens if an address has no port."""

PATIENCE = 10
"""How many seconds a server may take to accept a connection."""

RETRIES = 6
"""How often a call is sent again, after pauses of 0.05, 0.2, 0.8 and 3.2 seconds, and two of the longest."""

LONGEST_PAUSE = 10_000
"""In milliseconds."""


def refuse_unreachable(url: str) -> None:
    """Refuse an address where nobody listens: the client would try again for minutes.

    Raises:
        EngineError: names the address.
    """
    place = urlsplit(url)
    try:
        socket.create_connection((place.hostname or "", place.port or PORT), PATIENCE).close()
    except (OSError, ValueError) as error:
        raise EngineError(UNREACHABLE.format(url), step="open", original=error) from None


def patience() -> RetryPolicy:
    """How often a call is sent again that gets no answer: for half a minute, where the client would go on for ten."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    return DefaultPolicy(max_retries=RETRIES, max_backoff=LONGEST_PAUSE, max_server_retry_delay=LONGEST_PAUSE)


UNREACHABLE = "the server {} cannot be reached: see that it runs, and that its address and port are right"

GONE = "the server {} does not answer any more: see that it runs, and run again"


@contextmanager
def refusals(purpose: str, url: str, sql: str | None = None) -> Iterator[None]:
    """Raise what a server of Spark Connect refuses as our errors."""
    from grpc import RpcError
    from pyspark.errors import PySparkException

    try:
        yield
    except (RpcError, PySparkException) as error:
        if _is_gone(error):
            reason, refusal = GONE.format(url), Refusal.GONE
        else:
            reason, refusal = f"the server {url} refused the step: {_condition(error)}", None
        raise EngineError(reason, step=purpose, sql=sql, original=error, refusal=refusal) from None


def _is_gone(error: Exception) -> bool:
    """Whether nobody answers."""
    from grpc import RpcError, StatusCode
    from pyspark.errors.exceptions.connect import SparkConnectGrpcException

    if isinstance(error, SparkConnectGrpcException):
        return bool(error.getGrpcStatusCode() is StatusCode.UNAVAILABLE)
    return isinstance(error, RpcError)


def _condition(error: Any) -> str:
    """What a server calls the reason: its text can have values of the table."""
    return error.getCondition() or type(error).__name__


def received(frame: DataFrame, url: str, purpose: str) -> pa.Table:
    """The rows of a frame.

    Raises:
        EngineError: some are beyond the types that the server gives its columns.
    """
    import pyarrow as pa

    try:
        return frame.toArrow()
    except pa.ArrowInvalid as error:
        reason = f"the server {url} reads values that are beyond the types which it gives their columns"
        raise EngineError(f"{reason}: give the columns signed types", step=purpose, original=error) from None
