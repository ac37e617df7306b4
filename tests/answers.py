"""``sqlanon app`` as a block of a guide has it: it starts, answers, and ends at Ctrl-C with its exit code."""

import re
import signal
import subprocess
import sys
import urllib.request

if __name__ == "__main__":
    command, pipe = [sys.executable, "-m", "sqlanon", *sys.argv[1:]], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stderr=pipe, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:\S+", line)
        assert address, line + process.stderr.read()
        assert urllib.request.urlopen(address[0]).status == 200  # noqa: S310
        process.send_signal(signal.SIGINT)
    sys.exit(process.returncode)
