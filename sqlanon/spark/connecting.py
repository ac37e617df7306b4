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
    from pyspark.sql.connect.client import DefaultChannelBuilder
    from pyspark.sql.connect.client.retries import RetryPolicy

PORT = 15002  # where a server listens if an address has no port
PATIENCE = 10  # how many seconds a server may take to accept a connection
RETRIES = 6  # how often a call is sent again, after pauses of 0.05, 0.2, 0.8 and 3.2 seconds, and two of the longest
LONGEST_PAUSE = 10_000  # in milliseconds

SILENCE = 330
"""After how many seconds without a word of it a server that owes an answer is asked for a sign of life.

Apache Spark reports its progress every two seconds while it runs a query, but says nothing while it looks at the files
of a lake. It closes the connection of a client that asks more than a few times within five minutes of silence each.
"""

SIGN_OF_LIFE = 60
"""How many seconds a server may take to answer that, and its machine to confirm what it was sent.

Sail answers late while a query needs all processors.
"""


def watched(address: str) -> DefaultChannelBuilder:
    """The connection to an address, which ends if nobody is there any more: without this, a call waits for ever."""
    from pyspark.sql.connect.client import DefaultChannelBuilder

    options = {
        "grpc.keepalive_time_ms": SILENCE * 1_000,
        "grpc.keepalive_timeout_ms": SIGN_OF_LIFE * 1_000,
        "grpc.http2.ping_timeout_ms": SIGN_OF_LIFE * 1_000,
        "grpc.min_reconnect_backoff_ms": PATIENCE * 1_000,  # as long as a new connection may take
        "grpc.http2.max_pings_without_data": 0,  # as many as it takes
    }
    return DefaultChannelBuilder(address, [*options.items()])


def refuse_unreachable(url: str) -> None:
    """Refuse an address where nobody listens: the client would try again for minutes."""
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
            raise gone(purpose, url, sql, error) from None
        condition: Any = error  # the text of the error can have values of the table
        reason = f"the server {url} refused the step: {condition.getCondition() or type(error).__name__}"
        raise EngineError(reason, step=purpose, sql=sql, original=error) from None


def gone(purpose: str, url: str, sql: str | None = None, original: Exception | None = None) -> EngineError:
    """The error of a server that does not answer any more."""
    return EngineError(GONE.format(url), step=purpose, sql=sql, original=original, refusal=Refusal.GONE)


def _is_gone(error: Exception) -> bool:
    from grpc import RpcError, StatusCode
    from pyspark.errors.exceptions.connect import SparkConnectGrpcException

    if isinstance(error, SparkConnectGrpcException):
        return bool(error.getGrpcStatusCode() is StatusCode.UNAVAILABLE)
    return isinstance(error, RpcError)


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
