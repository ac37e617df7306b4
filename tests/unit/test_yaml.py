"""Plain values as YAML."""

from sqlanon.run.contract import as_yaml


def test_mappings_and_lists_in_blocks() -> None:
    value = {"name": "a: b # c", "list": [{"x": 1, "y": [True, None]}, "- z"], "empty": [], "none": {}}
    assert as_yaml(value).splitlines() == [
        'name: "a: b # c"',
        "list:",
        "  - x: 1",
        "    y:",
        "      - true",
        "      - null",
        '  - "- z"',
        "empty: []",
        "none: {}",
    ]


def test_texts_of_several_lines_stand_as_they_are() -> None:
    assert as_yaml({"text": "one:\n- two"}).splitlines() == ["text: |-", "  one:", "  - two"]
    assert as_yaml({"text": "one\n two"}) == 'text: "one\\n two"\n'


def test_what_yaml_does_not_take_is_escaped() -> None:
    assert as_yaml({"text": 'é🙂"\x7f\x85\u2028'}) == 'text: "é🙂\\"\\U0000007f\\U00000085\\U00002028"\n'
