"""Whether what a process left behind is still its own."""

from __future__ import annotations

import os


def is_running(process: int) -> bool:
    """Whether there is a process of this number; true where that cannot be known."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
