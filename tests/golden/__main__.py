"""``python -m tests.golden``: write what the runs send to the database now, for review as a diff."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.golden.plans import PLANS, golden_file, recorded


def main() -> None:
    """Write the files of all plans, and say which of them are other than they were."""
    for name in PLANS:
        with tempfile.TemporaryDirectory() as folder:
            text = recorded(name, Path(folder)).text
        file = golden_file(name)
        before = file.read_text() if file.exists() else None
        file.write_text(text)
        sys.stdout.write(f"{name}: {len(text.splitlines()):,} lines, {'as before' if text == before else 'changed'}\n")


if __name__ == "__main__":
    main()
