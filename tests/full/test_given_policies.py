"""Policies as they are given to a session: as a value, a mapping or a file, and checked whatever was done to them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from tests.conftest import clinic_policy

POLICY = clinic_policy(sa.KAnonymity(2), suppression_limit=0.5)
VALUES = {
    "quasi_identifiers": ["age", "sex", "zip"],
    "sensitive": ["diagnosis"],
    "identifiers": ["id"],
    "suppression_limit": 0.5,
    "privacy": [{"model": "k-anonymity", "k": 2}],
}
TOML = """
quasi_identifiers = ["age", "sex", "zip"]
sensitive = ["diagnosis"]
identifiers = ["id"]
suppression_limit = 0.5

[[privacy]]
model = "k-anonymity"
k = 2
"""

Use = Callable[[sa.Session, Any, Path], object]

USES: dict[str, Use] = {
    "anonymize": lambda session, policy, _: session.anonymize("visits", policy, "published"),
    "fit": lambda session, policy, folder: session.partitions.fit("visits", policy, folder / "visits.fit"),
    "measure": lambda session, policy, _: session.measure("visits", policy),
    "explain": lambda session, policy, _: session.explain("visits", policy),
    "lattice": lambda session, policy, _: session.lattice("visits", policy),
    "verify": lambda session, policy, _: session.verify("earlier", policy),
}


@pytest.fixture(scope="module")
def published(shared_clinic: sa.Session) -> sa.Session:
    """The clinic with a release in it."""
    shared_clinic.anonymize("visits", POLICY, "earlier")
    return shared_clinic


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_copies_with_changes_are_checked(published: sa.Session, tmp_path: Path, use: Use) -> None:
    with pytest.raises(sa.PolicyError, match="privacy: needs at least one"):
        use(published, POLICY.model_copy(update={"privacy": ()}), tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(sa.EngineError, match="is not a table or view"):
        published.measure("published", POLICY)


@pytest.mark.parametrize("use", [USES["anonymize"], USES["measure"], USES["verify"]])
def test_a_mapping_and_a_file_do_as_well(published: sa.Session, tmp_path: Path, use: Use) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(TOML)
    found = []
    # Whatever it is for, a policy is read in one place.
    several = (POLICY, VALUES, file, str(file)) if use is USES["measure"] else (POLICY, file)
    for number, given in enumerate(several):
        folder = tmp_path / str(number)
        folder.mkdir()
        found.append(use(published, given, folder))
        published.connection.execute("DROP TABLE IF EXISTS published")
    alike = [_without_seconds(each) for each in found]
    assert alike[1:] == alike[:-1]


def test_problems_of_what_is_no_policy(shared_clinic: sa.Session, tmp_path: Path) -> None:
    for given, problem in (
        ({**VALUES, "privacy": {"model": "k-anonymity", "k": 2}}, "privacy: must be a list"),
        ({**VALUES, "sensitiv": []}, "sensitiv: unknown key; did you mean"),
        (3, "a policy must be a Policy, a dict or the path of a TOML file, not an int"),
        (["age"], "not a list"),
        ({**VALUES, 3: 4}, "keys of a policy must be texts"),
        (tmp_path / "absent.toml", "cannot be read"),
    ):
        with pytest.raises(sa.PolicyError, match=problem):
            shared_clinic.measure("visits", given)  # type: ignore[arg-type]


def test_policies_to_audit_are_checked_and_may_be_mappings(shared_clinic: sa.Session) -> None:
    private = {
        "quasi_identifiers": ["age"],
        "sensitive": ["diagnosis"],
        "identifiers": ["id", "sex", "zip"],
        "method": {"model": "ipa", "budget": {"epsilon": "1", "delta": "1e-6"}},
    }
    with pytest.raises(sa.PolicyError, match="are not neighbours"):
        sa.evaluation.audit_privacy(private, "visits", "visits", 4, session=shared_clinic)
    changed = sa.Policy(**private).model_copy(update={"sensitive": ()})
    with pytest.raises(sa.PolicyError, match="Policy is not valid"):
        sa.evaluation.audit_privacy(changed, "visits", "visits", 4, session=shared_clinic)


def test_the_policy_of_a_fit_is_checked(published: sa.Session, tmp_path: Path) -> None:
    published.partitions.fit("visits", POLICY, tmp_path / "visits.fit", accept_observed_domain=True)
    with published.connection.cursor() as other:
        other.execute(f"ATTACH '{tmp_path}/visits.fit' AS fitted")
        names = other.execute(
            "SELECT table_schema, table_name, column_name FROM information_schema.columns "
            "WHERE table_catalog = 'fitted' AND data_type = 'VARCHAR'"
        ).fetchall()
        for schema, table, column in names:
            place = f'fitted."{schema}"."{table}"'
            changed = f"""replace("{column}", '"suppression_limit":0.5', '"suppression_limit":5.0')"""
            other.execute(f'UPDATE {place} SET "{column}" = {changed}')
        other.execute("DETACH fitted")
    with pytest.raises((sa.PolicyError, sa.EngineError)):
        published.partitions.apply("visits", tmp_path / "visits.fit", "part")


def _without_seconds(found: Any) -> Any:
    if isinstance(found, sa.Release):
        return found.model_copy(update={"report": found.report.model_copy(update={"seconds": {}})})
    return found.model_copy(update={"seconds": {}}) if isinstance(found, sa.Fit) else found
