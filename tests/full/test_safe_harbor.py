"""The check of a release for the 18 kinds of identifiers of HIPAA: what it sees, and what it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.suggestion.visible_identifiers import NOT_SEEN
from tests.commands import document, sqlanon

FORMS = {
    "mail": ("'a' || i || '@example.org'", "F"),
    "site": ("'https://example.org/' || i", "N"),
    "line": ("'+49 228 12345' || i", "D"),
    "ssn_like": ("format('{:03d}-45-{:04d}', i, i)", "G"),
    "box": ("format('10.0.{}.{}', i, i)", "O"),
    "device": ("format('0a:1b:2c:3d:4e:{:02d}', i)", "M"),
    "token": ("md5(i::VARCHAR)", "R"),
    "lane": ("i || ' Church Street'", "B"),
    "day": ("DATE '2024-01-01' + i::INTEGER", "C"),
    "moment": ("(TIMESTAMP '2024-01-01 10:00:00' + INTERVAL (i) HOUR)::VARCHAR", "C"),
    "quarter": ("format('2024-Q{}', 1 + i % 4)", "C"),
    "month": ("format('2024-{:02d}', 1 + i % 12)", "C"),
    "age": ("80 + i", "C"),
    "zip": ("10000 + i", "B"),
}
HARMLESS = {
    "year": "2000 + i",
    "decade": "format('{}0s', 190 + i % 4)",
    "age": "format('[{}, {})', 10 * (i % 5), 10 * (i % 5) + 10)",
    "ages": "60 + i",
    "zip": "format('{:03d}', 40 + i)",
    "postcode": "format('{:03d}**', 40 + i)",
    "city": "'*'",
    "diagnosis": "format('E{:02d}.1', i)",
    "score": "i / 7",
}


@pytest.fixture(scope="module")
def memory() -> Iterator[sa.Session]:
    with sa.connect(threads=1) as session:
        yield session


def verified(session: sa.Session, columns: dict[str, str], **options: Any) -> sa.Verification:
    made = ", ".join(f'{values} AS "{name}"' for name, values in columns.items())
    session.connection.execute(f"CREATE OR REPLACE TABLE released AS SELECT {made}, 1 AS g FROM range(20) r (i)")
    policy = sa.Policy(
        quasi_identifiers=["g"], insensitive=[*columns], privacy=[sa.KAnonymity(2)], taxonomies={"g": "flat"}
    )
    given = {"strict": False, "without_provenance": True, "safe_harbor": True, **options}
    return session.verify("released", policy, **given)


def test_forms_of_values_fall_short(memory: sa.Session) -> None:
    forms = {name: values for name, (values, _) in FORMS.items()}
    shortfalls = verified(memory, forms).shortfalls
    for (name, (_, letter)), shortfall in zip(FORMS.items(), shortfalls, strict=True):
        assert shortfall.startswith(f'Safe Harbor: "{name}" has ')
        assert shortfall.endswith(f"(45 CFR 164.514(b)(2)(i)({letter}))")
    with pytest.raises(sa.VerificationError, match="Safe Harbor"):
        verified(memory, forms, strict=True)


def test_what_may_stay_passes(memory: sa.Session) -> None:
    found = verified(memory, HARMLESS)
    assert found.met
    assert not any("Safe Harbor" in note for note in found.notes)
    assert NOT_SEEN in found.not_covered


def test_names_of_columns_are_noted(memory: sa.Session) -> None:
    found = verified(memory, {"last_name": "['Miller', 'Smith'][1 + i % 2]"})
    assert found.met
    assert [note for note in found.notes if "Safe Harbor" in note] == [
        'Safe Harbor: "last_name" may have identifiers: name, by its name ("lastname") (45 CFR 164.514(b)(2)(i)(A))'
    ]


def test_nothing_is_looked_at_unasked(memory: sa.Session) -> None:
    found = verified(memory, {"mail": FORMS["mail"][0]}, safe_harbor=False)
    assert found.met
    assert NOT_SEEN not in found.not_covered


def test_the_command_finds_them_where_it_is_asked(memory: sa.Session, tmp_path: Path) -> None:
    """What the profile makes passes: tests/full/test_suggest.py."""
    assert not verified(memory, {"mail": FORMS["mail"][0]}).met
    memory.connection.execute(f"COPY released TO '{tmp_path}/released.parquet'")
    (tmp_path / "policy.toml").write_text(
        'quasi_identifiers = ["g"]\ninsensitive = ["mail"]\nprivacy = [{ model = "k-anonymity", k = 2 }]\n'
        'taxonomies = { g = "flat" }\n'
    )
    command = ("verify", "released.parquet", "--policy", "policy.toml", "--without-provenance", "--json")
    assert sqlanon(*command, folder=tmp_path).returncode == 0
    checked = sqlanon(*command, "--safe-harbor", folder=tmp_path)
    assert checked.returncode == 3, checked.stdout
    assert document(checked)["met"] is False
