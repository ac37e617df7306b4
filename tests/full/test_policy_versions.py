"""Versions of a policy of a policy file: the file on the disk is always the present one, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.suggestion.policy_file import PolicyFile
from sqlanon.suggestion.policy_versions import OutdatedPolicyError, PolicyVersions

TEXT = """\
# by hand
quasi_identifiers = ["age", "a\\"b; drop table x --"]  # both known

[[privacy]]
model = "k-anonymity"
k = 5

[taxonomies]
age = { kind = "flat" }
"a\\"b; drop table x --" = { kind = "flat" }
"""


def with_k(versions: PolicyVersions, k: int, number: int | None = None) -> None:
    models = [{"model": "k-anonymity", "k": k}]
    versions.add(f"k = {k}", lambda file: file.with_models(models), versions.number if number is None else number)


def with_labels(versions: PolicyVersions, label: str) -> None:
    versions.add(label, lambda file: file.with_taxonomy("age", [["1", label, "*"], ["2", label, "*"]]), versions.number)


STEPS = st.lists(st.one_of(st.integers(2, 9), st.sampled_from(["young", "old"]), st.sampled_from(["undo", "redo", ""])))


@given(STEPS)
def test_file_is_the_present_version_after_any_steps(
    tmp_path_factory: pytest.TempPathFactory, steps: list[object]
) -> None:
    path = tmp_path_factory.mktemp("versions") / "p.toml"
    path.write_text(TEXT)
    with PolicyVersions(path) as versions:
        for step in steps:
            if isinstance(step, int):
                with_k(versions, step)
            elif step in ("young", "old"):
                with_labels(versions, str(step))
            elif (to := versions.earlier if step == "undo" else versions.later) is not None:
                versions.move(to.number)
            written = PolicyFile.read(path)
            assert (written.text, written.taxonomies) == (versions.file.text, versions.file.taxonomies)
            assert written.text.startswith("# by hand\n") and written.policy is not None
        before = (
            [(each.number, each.what, each.file.text, each.file.taxonomies) for each in versions.list],
            versions.number,
        )
    with PolicyVersions(path) as again:  # as after a restart
        after = [(each.number, each.what, each.file.text, each.file.taxonomies) for each in again.list], again.number
        assert after == before


def test_change_after_undo_drops_what_lay_ahead(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(TEXT)
    with PolicyVersions(path) as versions:
        with_k(versions, 6)
        with_k(versions, 7)
        assert versions.earlier is not None
        versions.move(versions.earlier.number)
        with_k(versions, 9)
        assert [each.what for each in versions.list] == ["opened", "k = 6", "k = 9"] and versions.later is None
        assert [line for line, is_new in versions.lines() if is_new] == ["k = 9"]


def test_another_program_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(TEXT)
    with PolicyVersions(path) as versions:
        path.write_text(TEXT.replace("k = 5", "k = 8"))
        for act in (lambda: with_k(versions, 6), lambda: versions.move(versions.number)):
            with pytest.raises(OutdatedPolicyError, match=r"another program has changed p\.toml"):
                act()
        assert "k = 8" in path.read_text()
        versions.take_in()
        with_k(versions, 9)
        assert versions.file.policy.criteria.k == 9
        path.write_text("k = [")
        with pytest.raises(sa.PolicyError, match="not valid TOML"):
            versions.take_in()
        path.unlink()
        versions.keep()
        assert "k = 9" in path.read_text()
    path.write_text("k = [")
    for _ in range(2):  # the first one leaves it to others
        with pytest.raises(sa.PolicyError, match="not valid TOML"):
            PolicyVersions(path)


def test_old_page_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(TEXT)
    with PolicyVersions(tmp_path / "p.toml") as versions:
        with_k(versions, 6)
        with pytest.raises(OutdatedPolicyError, match="older version"):
            with_k(versions, 7, number=1)
        assert versions.file.policy.criteria.k == 6


def test_second_app_on_one_policy_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(TEXT)
    with PolicyVersions(tmp_path / "p.toml"), pytest.raises(sa.PolicyError, match="open in another sqlanon app"):
        PolicyVersions(tmp_path / "p.toml")
    with PolicyVersions(tmp_path / "p.toml"):
        pass


def test_line_that_a_killed_process_left_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(TEXT)
    with PolicyVersions(tmp_path / "p.toml") as versions:
        with_k(versions, 6)
    history = tmp_path / ".sqlanon" / "p.toml.history"
    assert history.stat().st_mode & 0o777 == 0o600
    history.write_text(history.read_text() + '\n{"version": 3, "wh')
    with PolicyVersions(tmp_path / "p.toml") as versions:
        assert [each.what for each in versions.list] == ["opened", "k = 6"]
        with_k(versions, 7)
    with PolicyVersions(tmp_path / "p.toml") as versions:
        assert [each.what for each in versions.list] == ["opened", "k = 6", "k = 7"]
