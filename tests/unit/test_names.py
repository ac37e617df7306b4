"""Names as sentences list them."""

import pytest

from sqlanon.model.names import enumerated


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["one"], "one"), (["one", "two"], "one and two"), (["one", "two", "three"], "one, two and three")],
)
def test_names_are_enumerated(names: list[str], text: str) -> None:
    assert enumerated(names) == text
