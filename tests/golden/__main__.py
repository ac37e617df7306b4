"""``python -m tests.golden``: write what the runs send to the database now, for review as a diff.

``--show RUN`` prints the changes of a run: as the package of git's HEAD makes it, and as it is now. With a subject, as
in ``--show "k: create anon_cells"``, it prints the statements, too.
"""

import argparse
import difflib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.golden.files import FOLDER, HASHED, NEAR, run_of, texts
from tests.golden.recording import folded, in_lines

ROOT = FOLDER.parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description="Write what runs send to the database.")
    parser.add_argument("--show", metavar="RUN", help="print a run (or RUN: SUBJECT) of HEAD and of now")
    parser.add_argument("--send", metavar="RUN", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.send:
        sys.stdout.write(json.dumps(_sent(given.send)))
    elif given.show:
        sys.stdout.write(_shown(given.show))
    else:
        _write()


def _write() -> None:
    for file, text in texts().items():
        before = file.read_text() if file.exists() else None
        file.write_text(text)
        change = "as before" if text == before else "changed"
        sys.stdout.write(f"{file.relative_to(FOLDER)}: {len(text.splitlines()):,} lines, {change}\n")


def _sent(name: str) -> list[list[str]]:
    """Subjects and statements of a run, for people."""
    return [[about, folded(in_lines(text) if name in NEAR else text)] for about, text in run_of(name)]


def _shown(asked: str) -> str:
    name, _, about = asked.partition(": ")
    if name not in HASHED:
        sys.exit(f"{name!r} is the name of no run in hashes.txt")
    runs = [[text for each, text in run if not about or each == about] for run in (_sent_before(name), _sent(name))]
    before, now = (";\n\n".join(run) for run in runs)
    shown = f"-- By HEAD:\n{before};\n\n-- Now:\n{now};\n\n" if about else ""
    return shown + _difference(*runs)


def _difference(before: Sequence[str], now: Sequence[str]) -> str:
    lines = [";\n\n".join(run).splitlines() for run in (before, now)]
    return "\n".join(difflib.unified_diff(*lines, "HEAD", "now", lineterm="")) + "\n"


def _sent_before(name: str) -> list[list[str]]:
    """What the package of HEAD sends, in a run as the tests have it now."""
    with TemporaryDirectory() as folder:
        package = ["git", "archive", "HEAD", "sqlanon", "sql"]
        archive = subprocess.run(package, cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        for copied in ("tests", "fixtures"):
            shutil.copytree(ROOT / copied, Path(folder) / copied, ignore=shutil.ignore_patterns("__pycache__"))
        send = [sys.executable, "-m", "tests.golden", "--send", name]
        environment = {**os.environ, "PYTHONPATH": folder}
        run = subprocess.run(send, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE)
        return json.loads(run.stdout)


if __name__ == "__main__":
    main()
