"""Docstrings taken apart, for schemas and reference pages."""

from sqlanon.model.docstrings import docstring_of


class Documented:
    """The size of a :class:`~package.Class`,
    with ``code``. It is short.

    A second paragraph.

    Args:
        first: the first,
            on two lines, as in :meth:`Class.method`.
        second, third: with an example: ``{"a": 1}``.

            And a second paragraph.

    Text after the arguments.

    Returns:
        a table with columns

        - one (a number);
        - two.

    Raises:
        ValueError, KeyError: it is
            wrong.
    """


def test_a_docstring_in_parts() -> None:
    found = docstring_of(Documented)
    assert found.summary == "The size of a `package.Class`, with `code`. It is short."
    assert found.text.split("\n\n")[1:] == ["A second paragraph.", "Text after the arguments."]
    assert found.members == {
        "first": "the first, on two lines, as in `Class.method`.",
        "second": 'with an example: `{"a": 1}`. And a second paragraph.',
        "third": 'with an example: `{"a": 1}`. And a second paragraph.',
    }
    assert found.returns == "a table with columns\n\n- one (a number);\n- two."
    assert found.errors == dict.fromkeys(["ValueError", "KeyError"], "it is wrong.")


def test_nothing_is_said_of_what_has_no_docstring() -> None:
    found = docstring_of(lambda: None)
    assert (found.text, found.summary, found.members, found.returns, found.errors) == ("", "", {}, "", {})
