"""The app in a real browser: a walk over each screen, what it keeps, and how it ends."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import sqlanon as sa
from sqlanon.run.demo import LINKED_POLICY_TOML, invent
from tests.app import CANARIES, HOSTILE, POLICY, SCRIPT, write_messy
from tests.browser import chromium
from tests.commands import sqlanon
from tests.engines import engine_of
from tests.full.test_app_command import started
from tests.windows import app, watched


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def messy(tmp_path: Path) -> str:
    """A messy file with a policy beside it."""
    write_messy(tmp_path / "messy.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    return str(tmp_path / "messy.csv")


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of the demonstration."""
    path = tmp_path_factory.mktemp("hospital") / "clinic.duckdb"
    with sa.connect(path) as session:
        invent(engine_of(session), rows=2_000, seed=1)
    return path


def test_columns(browser: Browser, messy: str, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").unlink()  # one is suggested
    with app(browser, messy, tmp_path) as (window, desk):
        page = window.page
        window.rests()
        expect(page.locator("main")).to_contain_text("of the rows are alone")
        assert HOSTILE in page.locator("th[scope=row] b").all_text_contents()
        expect(page.locator(".chips span", has_text=SCRIPT)).to_be_visible()
        assert not [each for each in CANARIES if each in page.content()]
        page.get_by_label(f"show the values of {HOSTILE}").press("Enter")
        expect(page.locator(".chips span", has_text="q1")).to_be_visible()
        role = page.get_by_label("Role of Diagnose", exact=True)
        field = str(role.get_attribute("id"))
        role.focus()
        was = role.input_value()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")  # before the first answer is there
        window.rests()
        assert window.focused() == field and role.input_value() != was
        page.reload()
        assert role.input_value() == desk.versions.file.roles["Diagnose"].role != was
        page.focus("#undo")
        page.keyboard.press("Enter")
        window.rests()
        page.keyboard.press("Enter")
        expect(role).to_have_value(was)
        window.looks_well()


def test_two_tabs_and_another_program(browser: Browser, messy: str, tmp_path: Path) -> None:
    with app(browser, messy, tmp_path) as (window, desk):
        page, other = window.page, window.another()
        other.goto(page.url)
        other.wait_for_selector("main:has-text('are alone'):not(:has([data-again]))")
        page.get_by_label("Role of Diagnose").select_option("insensitive")
        window.rests()
        other.get_by_label("Role of Stadt").select_option("sensitive")
        expect(other.locator("main [role=alert]")).to_contain_text("older version")
        expect(other.get_by_label("Role of Diagnose")).to_have_value("insensitive")
        other.get_by_label("Role of Stadt").select_option("sensitive")
        expect(other.locator("#history summary")).to_contain_text("3 of 3")
        roles = desk.versions.file.roles
        assert (roles["Diagnose"].role, roles["Stadt"].role) == ("insensitive", "sensitive")
        (tmp_path / "policy.toml").write_text(POLICY + "# by hand\n")
        page.reload()
        page.click("text=Take its text in")
        expect(page.locator("#policy")).to_contain_text("# by hand")
        page.click("#history summary")
        page.click("#history button:has-text('Stadt: sensitive')")
        expect(page.get_by_label("Role of Stadt")).to_have_value("sensitive")


def test_taxonomies(browser: Browser, messy: str, tmp_path: Path) -> None:
    with app(browser, messy, tmp_path) as (window, desk):
        page = window.page
        window.go("Taxonomies")
        page.click(".tabs >> text=Größe")
        expect(page.locator(".tabs [aria-current]")).to_have_text("Größe (cm)")
        page.fill("#levels", "")
        page.type("#levels", "15, 30", delay=380)
        expect(page.locator("main")).to_contain_text("[165, 180)")
        assert window.focused() == "levels" and page.input_value("#levels") == "15, 30"
        expect(page.locator("main")).to_contain_text("not saved yet")
        assert desk.versions.number == 1
        page.keyboard.press("Enter")
        window.rests()
        assert desk.versions.file.values["taxonomies"]["Größe (cm)"]["widths"] == [15, 30]
        window.looks_well()
        page.click(".tabs >> text=Stadt")
        window.rests()
        page.select_option("#kind", "labels")
        expect(page.locator("main")).to_contain_text("not saved yet")
        page.click("#save")
        for city in ("Köln", "Koeln", SCRIPT):
            page.get_by_label(city, exact=True).check()
        page.fill("#label", "Köln <b>")
        page.click("#merge")
        expect(page.locator("#groups")).to_contain_text("Köln <b>")
        window.looks_well()
        labels = {row[0]: row[1:] for row in desk.versions.file.labels("Stadt") or ()}
        assert labels["Koeln"] == labels[SCRIPT] == ("Köln <b>", "*")
        page.click("#undo")
        expect(page.locator("#groups")).not_to_contain_text("Köln <b>")


def test_promise(browser: Browser, messy: str, tmp_path: Path) -> None:
    with app(browser, messy, tmp_path) as (window, desk):
        page = window.page
        window.go("Promise")
        for k, least, pause in (("6", "3", 0), ("7", "2", 60), ("8", "3", 150)):  # before and after the answer is there
            page.focus("#k")
            page.keyboard.press("ControlOrMeta+A")
            page.keyboard.type(k)
            page.keyboard.press("Tab")
            page.wait_for_timeout(pause)
            assert window.focused() == "l0"
            page.keyboard.type(least)
            page.wait_for_timeout(pause)
            page.keyboard.press("Tab")
            expect(page.locator("#steps")).to_contain_text(f"k = {k}")
            window.rests()
            assert [str(each) for each in desk.versions.file.policy.privacy] == [
                f"k-anonymity (k = {k})",
                f'distinct l-diversity of "Diagnose" (l = {least})',
            ]
        page.fill("#limit", "2.5")
        page.keyboard.press("Enter")
        window.rests()
        page.check("#method-local-recoding")
        window.rests()
        assert desk.versions.file.policy.suppression_limit == 0.025
        assert window.focused() == "method-local-recoding"
        window.looks_well()
        page.check("#method-synthetic")
        window.rests()
        expect(page.locator("main")).to_contain_text("no preview")
        window.looks_well()


def test_explore(browser: Browser, messy: str, tmp_path: Path) -> None:
    with app(browser, messy, tmp_path) as (window, desk):
        page = window.page
        window.go("Explore")
        window.looks_well()
        page.click("#search")
        expect(page.locator("main")).to_contain_text("it is proven")
        window.rests()
        expect(page.locator("#choice")).not_to_contain_text("does not keep the promise")
        slider, figures = page.get_by_label("Größe (cm)", exact=True), page.locator("#figures")
        best, level = figures.text_content() or "", slider.input_value()
        slider.focus()
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#at2")).to_have_text("3")
        window.rests()
        assert window.focused() == "level2" and figures.text_content() != best
        box = slider.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 3, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2)
        expect(page.locator("#at2")).to_have_text("0")  # before it is released
        page.mouse.up()
        expect(page.locator("#put")).to_be_disabled()
        window.looks_well()
        page.click("#best")
        expect(figures).to_have_text(best)
        expect(slider).to_have_value(level)
        page.click("#put")
        expect(page.locator("main")).to_contain_text("The policy names this node")
        assert desk.versions.file.policy.method.node["Größe (cm)"] == int(level)  # type: ignore[attr-defined]
        window.looks_well()


def test_compare_and_publish(browser: Browser, hospital: Path, tmp_path: Path) -> None:
    with app(browser, "visits", tmp_path, hospital) as (window, desk):
        page = window.page
        window.rests()
        window.go("Compare")
        page.click("#make")
        window.rests()
        expect(page.locator("main")).to_contain_text("verified: every privacy model was measured again")
        page.click("#sample")
        expect(page.locator("#rows tbody tr")).to_have_count(12)
        for column, width in (("age", "10"), ("diagnosis", "")):
            page.select_option("#query-column", column)
            page.fill("#query-width", width)
            page.click("#ask")
            expect(page.locator("#queries")).to_contain_text(f"count of {column}")
        assert page.locator("#queries .pair > div").count() == 2
        window.looks_well()
        window.go("Promise")
        page.fill("#k", "6")
        page.keyboard.press("Enter")
        expect(page.locator("#steps")).to_contain_text("older policy")
        window.go("Publish")
        expect(page.locator("main")).to_contain_text("The preview is of an older policy")
        for target in ("k6.parquet", "k6"):
            page.fill("#into", target)
            page.click("#publish")
            window.rests()
        expect(page.locator("main .good")).to_have_text(["✓ verified"] * 2)
        page.get_by_role("button", name="Verify now").first.click()
        window.rests()
        expect(page.locator("#job")).to_contain_text("The verification of k6 is done")
        window.looks_well()
        with page.context.expect_page() as opened:
            page.get_by_text("Report for your officer").first.click()
        expect(opened.value.locator("h1")).to_be_visible()
        assert opened.value.evaluate("document.documentElement.scrollWidth") <= 1200
        page.click("#statements summary")
        page.click("text=Every statement of a run")
        page.wait_for_selector("h1:text-is('The SQL of a run')")
        window.looks_well()
        page.click("text=other tables")
        page.wait_for_selector("h1:text-is('Tables')")
        window.looks_well()
        page.click("text=Back to visits")
        page.wait_for_selector("h1:text-is('Columns')")
        words = shlex.split(desk.memory["made"][1].command)
    again = sqlanon(*words[1:-1], "again", folder=tmp_path)  # the command that the page shows
    assert again.returncode == 0, again.stderr
    with sa.connect(hospital, read_only=True) as session:
        one, other = (session.connection.table(name).fetchall() for name in ("again", "k6"))
    assert sorted(one, key=repr) == sorted(other, key=repr) and len(one) > 1_500


def test_linked_tables(browser: Browser, tmp_path: Path) -> None:
    assert sqlanon("demo", "--db", "clinic.duckdb", folder=tmp_path).returncode == 0
    (tmp_path / "policy.toml").write_text(LINKED_POLICY_TOML)
    with app(browser, "", tmp_path, tmp_path / "clinic.duckdb") as (window, desk):
        page = window.page
        window.looks_well()
        text = page.locator("#text")
        text.fill("not toml")
        page.click("#save")
        expect(page.locator("main [role=alert]")).to_contain_text("not valid TOML")
        expect(text).to_have_value("not toml")
        text.fill(LINKED_POLICY_TOML.replace("k = 5", "k = 6"))
        page.click("#save")
        expect(page.locator("main")).to_contain_text("is left with at least 6 persons")
        window.go("Publish")
        expect(page.locator("#into")).to_have_value("clinic_k6/")
        page.click("#publish")
        window.go("Policy")
        text.press("ControlOrMeta+End")
        text.press_sequentially("# typed")
        window.rests()
        expect(page.locator("#job")).to_contain_text("The release clinic_k6/ is done")
        expect(text).to_have_value(desk.versions.file.text + "# typed")  # it stays when the job ends
        page.click("#undo")
        expect(page.locator("main")).to_contain_text("is left with at least 5 persons")
        window.go("Publish")
        expect(page.locator("main")).to_contain_text("✓ verified")
        expect(page.locator("main")).to_contain_text("What somebody may know")
        page.get_by_role("button", name="Verify now").click()
        window.rests()
        expect(page.locator("#job")).to_contain_text("The verification of clinic_k6/ is done")
        window.looks_well()
        page.click("text=other tables")
        page.get_by_label("patients with others").check()
        page.get_by_label("treatments with others").check()
        window.looks_well()
        page.click("#together")
        page.wait_for_selector("h1:text-is('Policy')")
        expect(text).to_have_value(LINKED_POLICY_TOML)


def test_cancel_and_kill(browser: Browser, tmp_path: Path) -> None:
    write_messy(tmp_path / "messy.csv", 60_000)
    (tmp_path / "policy.toml").write_text(POLICY)
    with started(tmp_path) as (process, address), watched(browser, address) as window:
        page = window.page
        window.go("Promise")
        page.fill("#k", "7")
        page.keyboard.press("Enter")
        expect(page.locator("#steps")).to_contain_text("k = 7")
        window.go("Compare")
        page.click("#make")
        page.click("#job >> text=Cancel")
        expect(page.locator("#job")).to_contain_text("was cancelled; nothing was changed")
        page.click("#make")
        expect(page.locator("#job[data-state=running]")).to_be_visible()
        process.kill()
        process.wait()
        page.click("#steps >> text=Columns")
        expect(page.locator("#job")).to_contain_text("The app does not answer")
        window.problems.clear()  # of Chromium, on refused connections
    [left] = [each for each in tmp_path.glob("sqlanon_app_*") if each.is_dir()]
    with started(tmp_path) as (_, address), watched(browser, address) as window:
        expect(window.page.locator("#steps")).to_contain_text("k = 7")
        window.page.click("#undo")
        expect(window.page.locator("#steps")).to_contain_text("k = 5")
        assert not [*left.iterdir()]  # the folder of this one
    assert (tmp_path / "policy.toml").read_text() == POLICY


def test_without_script(browser: Browser, messy: str, tmp_path: Path) -> None:
    with app(browser, messy, tmp_path, java_script_enabled=False) as (window, _):
        page = window.page
        row = page.locator("tr", has=page.get_by_label("Role of Stadt"))
        row.locator("select").select_option("sensitive")
        row.get_by_text("Set").click()
        expect(page.get_by_label("Role of Stadt")).to_have_value("sensitive")
        page.click("#undo")
        window.go("Promise")
        page.fill("#k", "6")
        page.click("text=Save")
        expect(page.locator("#steps")).to_contain_text("k = 6")
    assert sa.PolicyFile.read(tmp_path / "policy.toml").policy.criteria.k == 6
