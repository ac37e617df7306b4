"""``python -m tests.golden``: write what the runs send to the database now, for review as a diff.

``--show TITLE`` prints a statement of ``hashes.txt``, or the changes of a run: as the package of git's HEAD makes it,
and as it is now.
"""

from __future__ import annotations

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

from tests.golden.files import FOLDER, kept_hashes, run_of, texts
from tests.golden.plans import PLANS
from tests.golden.recording import digest, folded, in_lines

ROOT = FOLDER.parents[1]


def main() -> None:
    """Write the files, or show a statement or a run."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description="Write what runs send to the database.")
    parser.add_argument("--show", metavar="TITLE", help="print a statement or a run as HEAD makes it, and as it is now")
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
    """Subjects, hashes and statements of a run, for people."""
    statements, _ = run_of(name)
    return [[about, digest(text), folded(in_lines(text) if name in PLANS else text)] for about, text in statements]


def _shown(title: str) -> str:
    titles, runs = kept_hashes()
    if title in runs:
        return _difference([text for *_, text in _sent_before(title)], [text for *_, text in _sent(title)])
    if title not in titles:
        sys.exit(f"{title!r} is the title of no statement and of no run in hashes.txt")
    name = next(name for name, run in runs.items() if titles[title] in (text for _, text in run.statements))
    before, now = _sent_before(name), _sent(name)
    # It has the hash that the file has, before or now; the other one is that of the same number of its subject.
    kept = next(run for run in (before, now) if titles[title] in (text for _, text, _ in run))
    place = next(place for place, (_, text, _) in enumerate(kept) if text == titles[title])
    about = kept[place][0]
    number = len([each for each in kept[:place] if each[0] == about])
    both = [[text for each, _, text in run if each == about][number : number + 1] for run in (before, now)]
    heading = f"-- {title}, in the run {name}, by HEAD:\n{''.join(both[0])};\n\n-- Now:\n{''.join(both[1])};\n\n"
    return heading + _difference(*both)


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
