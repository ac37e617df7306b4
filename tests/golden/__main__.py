"""``python -m tests.golden``: write what the runs send to the database now, for review as a diff."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.golden import sent
from tests.golden.files import FOLDER, texts
from tests.golden.plans import PLANS, recorded
from tests.golden.recording import Script
from tests.golden.sent import SENT


def main() -> None:
    """Write the files of all plans, and name those that change."""
    scripts = {name: _recorded(name) for name in (*PLANS, *SENT)}
    for file, text in texts(scripts).items():
        before = file.read_text() if file.exists() else None
        file.write_text(text)
        change = "as before" if text == before else "changed"
        sys.stdout.write(f"{file.relative_to(FOLDER)}: {len(text.splitlines()):,} lines, {change}\n")


def _recorded(name: str) -> Script:
    with tempfile.TemporaryDirectory() as folder:
        return sent.recorded(name, Path(folder)) if name in SENT else recorded(name, Path(folder))[0]


if __name__ == "__main__":
    main()
