"""One statement of each builder, and what it makes, as reviewed."""

from __future__ import annotations

import pytest

from tests.golden.files import FOLDER, statements_of
from tests.golden.statements import STATEMENTS
from tests.golden.test_golden import CHANGED, other_parts


@pytest.mark.parametrize("room", STATEMENTS)
def test_statements_and_what_they_make_are_as_reviewed(room: str) -> None:
    before, now = (FOLDER / "statements" / f"{room}.sql").read_text(), statements_of(room)
    assert not other_parts(before, now), CHANGED
    assert before == now, CHANGED
