"""The SQL of runs is as it was reviewed, and does without sqlanon what sqlanon does with it."""

from tests.golden.files import FOLDER, WHOLE_RUN, whole_run
from tests.golden.people import RUNS
from tests.golden.statements import STATEMENTS

CHANGED = "the SQL is another: write the files with `python -m tests.golden`, and review the diff"


def other_parts(before: str, now: str) -> list[str]:
    """The titled parts of a text that it did not have before."""
    return [*dict.fromkeys(part for part in now.split("\n\n") if part not in before.split("\n\n"))]


def test_the_whole_run_is_as_reviewed() -> None:
    before, now = WHOLE_RUN.read_text(), whole_run()
    assert not other_parts(before, now), CHANGED
    assert before == now, CHANGED


def test_each_file_has_statements_of_a_run() -> None:
    files = {WHOLE_RUN, *(FOLDER / "statements" / f"{room}.sql" for room in STATEMENTS)}
    assert {*FOLDER.rglob("*.sql")} == files
    assert {kept.run for room in STATEMENTS.values() for kept in room.values()} <= {*RUNS, "sent"}
