"""Has a command line run by a :mod:`tests.command_server`: ``command_client.py SOCKET ARGUMENTS...``, as a command.

It imports little, so that a shell can call it for every command.
"""

import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence


def run(
    server: str, arguments: Sequence[str], folder: str, environment: Mapping[str, str], descriptors: Sequence[int]
) -> int:
    """The return code, as :mod:`subprocess` gives it, of a command with these stdin, stdout and stderr."""
    request = {"arguments": arguments, "folder": folder, "environment": dict(environment)}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(server)
        socket.send_fds(connection, [json.dumps(request).encode()], descriptors)
        connection.shutdown(socket.SHUT_WR)
        return int(connection.makefile().read())


if __name__ == "__main__":
    here = os.getcwd()  # noqa: PTH109 - pathlib takes as long to import as all else here
    sys.exit(run(sys.argv[1], sys.argv[2:], here, os.environ, [0, 1, 2]))
