"""Second draws of a column: whoever has two of them can average them out, or intersect what they leave possible."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.duckdb import Engine
from sqlanon.errors import PolicyError, SqlanonError
from sqlanon.model.destination import Destination
from sqlanon.model.names import enumerated, folded, in_quotes
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import readable_record
from sqlanon.model.release.joint import ListedRelease
from sqlanon.publish.targets import target_at
from sqlanon.releases.listing import listed
from sqlanon.run.others import policy_of_listed


def refuse_second_draws(engine: Engine, policy: Policy, datasets: Sequence[str], into: Destination) -> None:
    """Refuse to perturb a column that a listed release of the same data sets has perturbed, unless ``again`` is set.

    Of a listed release that is gone or was replaced, only the hash of its policy is known. A release at the target that
    has the same policy counts as well, since files outside of a warehouse are on no list.

    Raises:
        PolicyError: names the columns and the releases.
    """
    drawn = {name for own, each in policy.perturbation.items() if not each.again for name in (own, *each.columns)}
    if not drawn:
        return
    problems = []
    for release in listed(engine, datasets).releases if datasets else ():
        before = {*map(folded, _perturbed(engine, release, policy))}
        if both := sorted(name for name in drawn if folded(name) in before):
            problems.append(f"{enumerated(map(in_quotes, both))} in {release.target}")
    held = readable_record(target_at(engine, into).held_note())
    if not problems and held is not None and held.policy_sha256 == policy.sha256():
        problems.append(f"{enumerated(map(in_quotes, sorted(drawn)))} in {into.name}, which the run would replace")
    if problems:
        raise PolicyError(
            "listed releases of the same data have these columns perturbed, and two draws show more than one does: "
            "publish the earlier release, or set again = true in [perturbation.COLUMN] if nobody has both; a release "
            "that was never handed out can be forgotten (`sqlanon releases`):",
            problems,
        )


def _perturbed(engine: Engine, release: ListedRelease, policy: Policy) -> Sequence[str]:
    if release.policy_sha256 == policy.sha256():
        return policy.perturbed_columns
    try:
        return policy_of_listed(engine, release).perturbed_columns
    except SqlanonError:  # its record is gone, or is of several tables
        return ()
