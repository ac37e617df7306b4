"""The check of a release for the 18 kinds of identifiers of HIPAA: what it sees, and what it cannot."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.suggestion.safe_harbor import NOT_SEEN, first_year
from tests.commands import document, sqlanon

FORMS = {
    "mail": ("'a' || i || '@example.org'", "F"),
    "site": ("'https://example.org/' || i", "N"),
    "line": ("'+49 228 12345' || i", "D"),
    "ssn_like": ("format('{:03d}-45-{:04d}', i, i)", "G"),
    "ssn_of_word": ("format('{:03d}‑45‑{:04d}', i, i)", "G"),
    "wide_ssn": ("translate(format('{:03d}-45-{:04d}', i, i), '0123456789', '０１２３４５６７８９')", "G"),
    "day_of_word": ("format('2024‑03‑{:02d}', 1 + i % 28)", "C"),
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
    "compact": ("20240101 + i", "C"),
    "compact_bins": ("format('[{}, {})', 20240101 + i, 20240106 + i)", "C"),
    "epoch": ("1709596800 + 3600 * i", "C"),
    "millis": ("1709596800000.5 + i", "C"),
    "serial_date": ("43831 + i", "C"),
    "unnamed": ("43831 + i / 2", "C"),
    "visit_month": ("1 + i % 12", "C"),
    "spelled": ("'March ' || (1 + i)", "C"),
    "named_quarter": ("format('Q{} 2020', 1 + i % 4)", "C"),
    "masked_day": ("format('2024-{:02d}-**', 1 + i % 12)", "C"),
    "slashes": ("format('{}/5/2024', 1 + i % 12)", "C"),
    "weekday_text": ("'came on Monday ' || i", "C"),
    "one_day": ("DATE '2024-03-05'", "C"),
    "days": ("[DATE '2024-03-05', NULL]", "C"),
    "age_at_admission": ("format('[{0}, {1})', 75 + 5 * (i % 4), 80 + 5 * (i % 4))", "C"),
    "age_prefix": ("format('{}*', 7 + i % 3)", "C"),
    "age_band": ("['80-89', '90-94', '95+'][1 + i % 3]", "C"),
    "years_old": ("'a man, ' || (78 + i) || ' years old'", "C"),
    "birth_year": ("1920 + i", "C"),
    "dob_decade": ("format('{}0s', 190 + i % 4)", "C"),
    "history": ("'born in ' || (1920 + i)", "C"),
    "zip_sparse": ("['036', '531'][1 + i % 2]", "B"),
    "zip_four": ("format('5311{}*', i % 10)", "B"),
    "zip_range": ("format('[5311{0}, 5312{0})', i % 10)", "B"),
    "home": ("'lives at 12 Main Street, Bonn, MA 02139-1234 since ' || i", "B"),
    "rare_mail": ("CASE WHEN i = 7 THEN 'ask ada@example.org' ELSE 'nothing' END", "F"),
    "site_within": ("'see http://example.org/' || i", "N"),
    "record": ("'MRN: 12345' || i", "D to M"),
    "card_number": ("4111111111111111", "J"),
    "latitude": ("50.7 + i / 100", "B"),
    "titled": ("'Dr. Miller saw case ' || i", "A"),
    "line_digits_phone": ("2025550100 + i", "C"),
}
"""Values by the names of their columns, and the first paragraph that they fall under."""
HARMLESS = {
    "year": "2000 + i",
    "decade": "format('{}0s', 190 + i % 4)",
    "age": "format('[{}, {})', 10 * (i % 5), 10 * (i % 5) + 10)",
    "ages": "60 + i",
    "zip": "format('{:03d}', 40 + i % 19)",
    "postcode": "format('{:03d}**', 40 + i % 19)",
    "zip_bins": "format('[{}00, {}00)', 531 + i, 532 + i)",
    "area_zip": "'000'",
    "age_bands": "['80-89', '>= 90', '85+'][1 + i % 3]",
    "age_words": "['80 to 89', '90 years and older'][1 + i % 2]",
    "birth_year": "2000 + i",
    "birth_bins": "['1950s', '[1960, 1965)', '< 1940'][1 + i % 3]",
    "dates_masked": "format('20{}-**-**', 10 + i)",
    "visit_isoyear": "format('ISO {}', 2010 + i % 9)",
    "died": "i % 2",
    "income": "format('[{0}, {0}500)', 20 + i)",
    "money": "43000 + 1000 * i",
    "icd": "['I10-I15', '001-139', 'E000-E999', 'T2N1M0'][1 + i % 4]",
    "dose": "['1000 MG', '500-1000 mg', '2x 5 mg'][1 + i % 3]",
    "finding": "['may be better', 'type 2 diabetes', 'after 5 days, 120/80', 'marriage 5', 'quartile Q1'][1 + i % 5]",
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
    missed = [
        name
        for name, (_, letter) in FORMS.items()
        if not any(
            each.startswith(f'Safe Harbor: "{name}" has ') and each.endswith(f"(45 CFR 164.514(b)(2)(i)({letter}))")
            for each in shortfalls
        )
    ]
    assert missed == []
    with pytest.raises(sa.VerificationError, match="Safe Harbor"):
        verified(memory, {"rare_mail": FORMS["rare_mail"][0]}, strict=True)


def test_what_may_stay_passes(memory: sa.Session) -> None:
    found = verified(memory, HARMLESS)
    assert found.shortfalls == ()
    assert [note for note in found.notes if "Safe Harbor" in note] == []
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


LEAVES = {
    "age": {"old": ["85", "90", "95"], "older": ["100"], "young": ["40", "50"]},
    "seen": {"spring": ["2024-03-05", "2024-04-05"], "autumn": ["2024-10-05"], "before": ["2023-03-05", "2023-10-05"]},
    "zip": {"town": ["53111", "53112"], "country": ["53113", "53175"], "far": ["01001", "01002"]},
    "age_then": {"old": ["90", "95", "100"], "young": ["40", "50", "85"]},
    "season": {"bad": ["2024-03-05", "2024-04-05", "2024-10-05"], "good": ["2023-03-05", "2023-10-05"]},
}


def test_labels_are_judged_by_their_leaves(memory: sa.Session) -> None:
    """A label may be a word: one that has some of the ages above 89, and not all, shows more than that."""
    labels = ", ".join(f'{[*groups]}[1 + i % {len(groups)}] AS "{name}"' for name, groups in LEAVES.items())
    memory.connection.execute(f"CREATE OR REPLACE TABLE released AS SELECT {labels} FROM range(60) r (i)")
    policy = sa.Policy(
        quasi_identifiers=[*LEAVES],
        privacy=[sa.KAnonymity(2)],
        taxonomies={name: {"kind": "groups", "groups": groups} for name, groups in LEAVES.items()},
    )
    found = memory.verify("released", policy, strict=False, without_provenance=True, safe_harbor=True)
    assert [each.split('"')[1] for each in found.shortfalls if "Safe Harbor" in each] == ["age", "seen", "zip"]


INTERVALS = {"kind": "intervals", "widths": [5, 10], "minimum": 0, "maximum": 129}


def test_labels_of_the_tool_show_ages_unless_they_are_coded(memory: sa.Session) -> None:
    memory.connection.execute("CREATE OR REPLACE TABLE people AS SELECT 20 + i % 110 AS age FROM range(660) r (i)")
    asked = {"quasi_identifiers": ["age"], "privacy": [sa.KAnonymity(2)], "taxonomies": {"age": INTERVALS}}
    ranges = sa.LocalRecoding(aggregate={"age": "range"})
    for more, is_met in (
        ({"minimum_levels": {"age": 2}}, False),
        ({"method": ranges, "top_coding": {"age": 95}}, False),
        ({"top_coding": {"age": 90}, "minimum_levels": {"age": 1}}, True),
        ({"top_coding": {"age": 90}, "method": ranges}, True),
    ):
        policy = sa.Policy(**asked, **more)
        memory.anonymize("people", policy, into="coded", replace=True)
        assert memory.verify("coded", policy, strict=False, safe_harbor=True).met is is_met, more


def test_the_profile_makes_what_passes(memory: sa.Session, tmp_path: Path) -> None:
    """Sources have what the profile cannot generalize, also in few rows; it drops that, and says why."""
    year = first_year()
    memory.connection.execute(f"""
        CREATE OR REPLACE TABLE source AS SELECT
            30 + i % 70 AS age, CAST(30 + hash(i) % 70 AS VARCHAR) AS spouse_age, 53000 + i % 90 AS zip,
            {year} - 10 + i % 60 AS birth_year,
            DATE '{year - 10}-03-05' + CAST(hash(i) % 20000 AS INTEGER) AS birth_date,
            DATE '2015-03-05' + CAST(i % 900 AS INTEGER) AS admitted, 3 + i % 4 AS visit_month,
            ['f', 'm'][1 + i % 2] AS sex, 'seen on March 5' AS wave,
            CASE WHEN i = 7 THEN 'flu, http://example.org/7' ELSE ['flu', 'cold'][1 + i % 2] END AS diagnosis,
            ['a', 'b', 'c'][1 + i % 3] AS outcome, 20200101 + i % 28 AS score
        FROM range(900) r (i)
    """)
    suggested = memory.suggest("source", profile="hipaa-safe-harbor")
    suggested.write(tmp_path / "policy.toml")
    policy = sa.Policy.from_toml(tmp_path / "policy.toml")
    assert policy.top_coding == {"age": 90}
    assert policy.minimum_levels == {"zip": 1, "admitted": 1}
    assert policy.bottom_coding == {"birth_year": year - 1}
    assert {*policy.released_columns} == {"age", "zip", "birth_year", "admitted", "sex", "outcome"}
    reasons = {each.name: each.reason for each in suggested.columns}
    for name, kind in {"spouse_age": "ages above 89", "birth_date": "years of birth", "diagnosis": "addresses"}.items():
        assert f"it has {kind}" in reasons[name]
    memory.anonymize("source", policy, into="passing")
    assert memory.verify("passing", policy, strict=False, safe_harbor=True).shortfalls == ()
