"""The guarantee of a release of linked tables: the theorem that was proven, with its conditions and limits.

Source: spec/linked.md, section 5. Every sentence names what somebody may know: m rows of a person, or all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.model.names import counted, enumerated, in_quotes
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.release import Guarantee


def linked_guarantee(policy: LinkedPolicy) -> Guarantee:
    """State what is promised to persons, on what conditions, and what is not."""
    given = "all rows" if policy.known_rows is None else f"m = {policy.known_rows.m}"
    parts = {"claims": _claims(policy), "conditions": _conditions(policy), "not_covered": _not_covered(policy)}
    return Guarantee(
        **{name: tuple(f"{sentence} ({given})" for sentence in sentences) for name, sentences in parts.items()}
    )


def _claims(policy: LinkedPolicy) -> Iterator[str]:
    persons, known = in_quotes(policy.root), policy.known_rows
    others = enumerated(in_quotes(name) for name in policy.ordered if name != policy.root)
    if known is not None:
        yield (
            f"whoever knows all quasi-identifiers of a person in {persons} and up to {counted(known.m, 'row')} of "
            f"{others} that the person has, and which belong together, is left with at least {known.k:,} persons by "
            "those of these rows that the release shows"
        )
        return
    yield (
        f"whoever knows all quasi-identifiers of a person in {persons} and of all rows of {others} that the person "
        f"has, which belong together, and how many there are, is left with at least {policy.k:,} persons"
    )
    for model in policy.privacy:
        if model.columns:
            yield f"the persons who are left meet {model} with shares of persons who have a value in some row"


def _conditions(policy: LinkedPolicy) -> Iterator[str]:
    persons = in_quotes(policy.root)
    yield f"each row of {persons} is one person, and rows of other tables belong to the person that their keys name"
    yield "the sources were as the run read them, and an attacker knows no column but the quasi-identifiers"
    yield (
        "the node, and what is left out of a class of persons, are taken as given"
        if policy.known_rows is not None
        else "the node is taken as given"
    )
    yield "keys are whole numbers, drawn anew for this release by the randomness of the operating system"
    yield "no other release of the same persons is published: classes of several releases can be intersected"


def _not_covered(policy: LinkedPolicy) -> Iterator[str]:
    if policy.known_rows is not None:
        more = counted(policy.known_rows.m, "known row")
        yield f"more than {more}: the report says how many persons more rows single out"
        yield "that a person has no other row"
        yield "the number of rows of a person"
    yield "intervals between dates, or other differences between rows, below the released levels"
    yield (
        "sensitive and insensitive values as knowledge: all those of a person are a fingerprint, which the released "
        "keys join"
    )
    if not any(model.columns for model in policy.privacy):
        yield "what all persons who are left have in common, such as a sensitive value"
    yield "inference from the choice of the node and of what is left out"
    yield "other releases of the same tables: their keys are others, but classes of persons can be joined"
