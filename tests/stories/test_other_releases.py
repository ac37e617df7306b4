"""What a run finds of other releases of its data set: those that the warehouse lists and the policy does not name."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sqlanon as sa
from sqlanon.model.release.joint import OtherRelease
from tests.commands import document, sqlanon
from tests.stories.test_earlier_releases import load
from tests.stories.test_earlier_releases import make_warehouse as make_taxonomies
from tests.stories.test_earlier_releases import policy as by_age

BY_AGE, BY_SEX, BY_NEITHER = {"age": 2, "sex": 1}, {"age": 3, "sex": 0}, {"age": 3, "sex": 1}
TOO_FEW = (
    'together with "first", 8 of 8 persons stand in joint classes of fewer than 4, the fewest 2: '
    'earlier = ["first"] holds both together; earlier = "none" says that nobody has both'
)


def make_warehouse(path: Path) -> sa.Session:
    """Eight patients, four of each age in tens and four of each sex, and two of both; "first" shows their ages."""
    session = make_taxonomies(path)
    load(session, "spring", [21, 22, 31, 32], first=0)
    load(session, "spring", [21, 22, 31, 32], first=4, sex="m")
    session.anonymize("spring", policy(), "first", node=BY_AGE)
    return session


def policy(k: int = 4, **fields: Any) -> sa.Policy:
    return by_age(k, **{"quasi_identifiers": ["age", "sex"], "identifiers": ["id"], **fields})


def forget(session: sa.Session, name: str) -> None:
    session.releases.forget(name, reason="another one is compared")


def found_by(release: sa.Release) -> Sequence[OtherRelease]:
    """The other releases, each with what is shown of it."""
    assert release.report.findings is not None
    found, shown = release.report.findings.other_releases, "\n".join(release.report.findings.sentences)
    assert all(each.sentence in shown for each in found if each.joint is not None)
    assert all(f'"{each.release}"' in shown and each.reason in shown for each in found if each.reason is not None)
    return found


def joint(found: OtherRelease) -> tuple[int | None, int]:
    """The size of the smallest joint class, and the number of them."""
    assert found.joint is not None
    return found.joint.k, found.joint.class_count


class TestJointClasses:
    def test_too_few_persons(self, session: sa.Session, tmp_path: Path) -> None:
        """The proposal holds both together; recipients read of no other release."""
        (found,) = found_by(session.anonymize("spring", policy(), "second", node=BY_SEX))
        assert found.joint is not None
        assert (found.release, found.joint.k, found.joint.required_k) == ("first", 2, 4)
        assert (found.joint.class_count, found.joint.person_count, found.joint.persons_at_risk) == (4, 8, 8)
        assert found.sentence == TOO_FEW
        assert "first" not in (session.provenance("second") or "first")
        lines = [str(found.proposal), 'quasi_identifiers = ["age", "sex"]', 'identifiers = ["id"]']
        lines += ['sensitive = ["illness"]', "suppression_limit = 0", 'privacy = [{ model = "k-anonymity", k = 4 }]']
        (tmp_path / "policy.toml").write_text("\n".join(lines), encoding="utf-8")
        release = session.anonymize("spring", tmp_path / "policy.toml", "second", replace=True)
        assert release.report.joint is not None
        assert (release.report.joint.k, found_by(release)) == (4, ())

    def test_enough_persons(self, session: sa.Session) -> None:
        (found,) = found_by(session.anonymize("spring", policy(), "second", node=BY_NEITHER))
        assert found.sentence == 'together with "first", joint classes have 4 persons at least'
        assert found.proposal is None

    def test_values_are_not_judged(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE spring SET illness = 'cold' WHERE id % 2 = 0")
        diverse = policy(privacy=[sa.KAnonymity(4), sa.DistinctLDiversity("illness", 2)])
        (found,) = found_by(session.anonymize("spring", diverse, "second", node=BY_NEITHER))
        assert found.sentence == (
            'together with "first", joint classes have 4 persons at least; whether they meet distinct l-diversity of '
            '"illness" (l = 2) is not known: earlier = ["first"] holds both together'
        )

    def test_the_policy_takes_no_earlier_releases(self, session: sa.Session) -> None:
        mapped = sa.KMap(2, "spring")
        common = policy(privacy=[sa.KAnonymity(4), mapped])
        (found,) = found_by(session.anonymize("spring", common, "second", node=BY_SEX))
        assert found.proposal is None
        assert found.sentence.endswith('the fewest 2: earlier = "none" says that nobody has both')
        (found,) = found_by(session.anonymize("spring", common, "second", node=BY_NEITHER, replace=True))
        assert found.sentence.endswith(f"whether they meet {mapped} is not known")

    def test_columns_that_one_of_both_does_not_have(self, session: sa.Session) -> None:
        shown = policy(quasi_identifiers=["SEX"], identifiers=["id", "age"])
        release = session.anonymize("spring", shown, "by_sex", node={"sex": 0})
        assert [joint(each) for each in found_by(release)] == [(2, 4)]
        forget(session, "first")
        (found,) = found_by(session.anonymize("spring", policy(), "second", node=BY_AGE))
        assert joint(found) == (2, 4)


def test_on_the_command_line(warehouse: Path, tmp_path: Path) -> None:
    fields = {"quasi_identifiers": ["age", "sex"], "identifiers": ["id"], "sensitive": ["illness"]}
    lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
    (tmp_path / "policy.toml").write_text("\n".join([*lines, "[[privacy]]", 'model = "k-anonymity"', "k = 4"]))
    command = ["run", "spring", "--db", warehouse.name, "--policy", "policy.toml", "--node", "age=3,sex=0"]
    run = sqlanon(*command, "--into", "second.parquet", folder=tmp_path)
    assert run.returncode == 0, run.stderr
    assert 'earlier = ["first"] holds both together' in " ".join(run.stderr.split() + run.stdout.split())
    run = sqlanon(*command, "--into", "third.parquet", "--json", folder=tmp_path)
    (found, *_) = document(run)["report"]["findings"]["other_releases"]
    assert (found["release"], found["joint"]["k"], found["proposal"]) == ("first", 2, 'earlier = ["first"]')
