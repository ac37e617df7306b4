"""How much memory a benchmark took."""

import resource
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_bytes() -> int:
    """The most memory that this process had in use at once.

    Where Linux tells it of the process alone: ``getrusage`` also counts the process that started it.
    """
    if STATUS.exists():
        told = dict(line.split(":", 1) for line in STATUS.read_text(encoding="ascii").splitlines())
        return int(told["VmHWM"].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
