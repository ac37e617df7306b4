"""An object store of S3 in a process of its own: moto."""

import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from tests.sail import free_port, wait_for

BUCKET = "bucket"


@contextmanager
def moto() -> Iterator[str]:
    """The endpoint of a new store with one bucket, which programs that are started within the block find as well."""
    port = free_port()
    endpoint = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(port)
            make_bucket(endpoint)
            with mock.patch.dict(os.environ, settings(endpoint)):
                yield endpoint
        finally:
            process.kill()


def make_bucket(endpoint: str) -> None:
    """Make an empty bucket."""
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{BUCKET}", method="PUT")).close()  # noqa: S310


def settings(endpoint: str) -> dict[str, str]:
    """What Arrow and Sail need to find a store; each has a name of its own for the endpoint."""
    return {
        "AWS_ACCESS_KEY_ID": "of-nobody",
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ENDPOINT": endpoint,
        "AWS_ALLOW_HTTP": "true",
    }
