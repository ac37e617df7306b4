"""What a notebook shows of a session, a release and the steps of a run."""

import base64
import html
import re

import sqlanon as sa
from tests.conftest import clinic_policy, clinic_values

HOSTILE = '<b>a""b"; drop table x --'


def test_a_session_shows_its_tables(clinic: sa.Session) -> None:
    clinic.connection.execute(
        'CREATE TABLE "{}" (i INTEGER); CREATE VIEW seen AS FROM visits'.format(HOSTILE.replace('"', '""'))
    )
    clinic.anonymize("visits", clinic_policy(sa.KAnonymity(3), suppression_limit=0.25), into="published")
    clinic.lattice("visits", clinic_policy(sa.KAnonymity(3)), into="nodes")
    clinic.connection.execute("CREATE TABLE noted (i INTEGER); COMMENT ON TABLE noted IS 'of my own'")
    shown = clinic._repr_html_()
    rows = [tuple(re.findall("<t[dh][^>]*>(.*?)</t[dh]>", line)) for line in re.findall("<tr>(.*?)</tr>", shown)]
    assert rows[1:] == [
        ("&lt;b&gt;a&quot;&quot;b&quot;; drop table x --", "0", "1", ""),
        ("nodes", rows[2][1], rows[2][2], "nodes of a lattice"),
        ("noted", "0", "1", ""),
        ("published", rows[4][1], "4", "release"),
        ("seen", "–", "5", "view"),
        ("visits", "12", "5", ""),
    ]
    assert clinic_values(shown) == []


def test_an_empty_or_closed_session_says_so() -> None:
    with sa.connect() as session:
        assert "no table yet" in session._repr_html_()
    assert "&lt;sqlanon" in session._repr_html_()


def test_a_release_shows_a_chart_with_its_style(clinic: sa.Session) -> None:
    policy = clinic_policy(sa.KAnonymity(3), suppression_limit=0.25)
    release = clinic.anonymize("visits", policy, into="published")
    shown = release._repr_html_()
    [data] = re.findall(
        r'<img alt="rows by the size of their class"[^>]* src="data:image/svg\+xml;base64,(.*?)">', shown
    )
    picture = base64.b64decode(data).decode()
    assert picture.startswith('<svg xmlns="http://www.w3.org/2000/svg" ')
    assert "--after:" in picture
    shares = clinic.report("published", policy).sizes
    for each in shares:
        assert (f": {100 * each.after:.1f} %</title>" in picture) is (each.after > 0)
    clinic.connection.execute("DROP TABLE published")
    assert "<img" not in release._repr_html_()


def test_an_explorer_shows_its_page_in_a_frame(clinic: sa.Session) -> None:
    found = clinic.explore("visits", clinic_policy(sa.KAnonymity(3), suppression_limit=0.25))
    [page] = re.findall(r'<iframe title="[^"]*" sandbox="allow-scripts" srcdoc="([^"]*)"', found._repr_html_())
    assert html.unescape(page) == found.to_html()


def test_steps_show_their_sql_when_asked(clinic: sa.Session) -> None:
    steps = clinic.explain("visits", clinic_policy(sa.KAnonymity(3)))
    shown = steps._repr_html_()
    assert shown.count("<details><summary>") == len(steps) > 3
    assert f"1. {steps[0].purpose}</summary>" in shown
    assert "GROUP BY" in shown
