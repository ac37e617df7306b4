"""The guarantee of a release of linked tables: the theorem that was proven, with its conditions and limits."""

from __future__ import annotations

from sqlanon.model.names import enumerated, in_quotes
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.release import Guarantee


def linked_guarantee(policy: LinkedPolicy) -> Guarantee:
    """State what is promised to persons (spec/linked.md, section 5)."""
    persons, known = in_quotes(policy.root), policy.known_rows
    others = enumerated(in_quotes(name) for name in policy.ordered if name != policy.root)
    if known is None:
        claim = (
            f"whoever knows all quasi-identifiers of a person in {persons} and of all rows of {others} that the person "
            f"has, and which belong together, is left with at least {policy.k} persons"
        )
    else:
        rows = "one row" if known.m == 1 else f"up to {known.m} rows"
        claim = (
            f"whoever knows all quasi-identifiers of a person in {persons} and {rows} of {others} that the person has, "
            f"and which belong together, is left with at least {known.k} persons by those of these rows that the "
            "release shows"
        )
    return Guarantee(claims=(claim,), conditions=CONDITIONS, not_covered=tuple(_not_covered(policy)))


CONDITIONS = (
    "each row of the table of persons is one person, and other rows belong to the person that their keys name",
    "the labels, and what is left out of a class of persons, are taken as given",
    "no other release of the same persons is published: classes of several releases can be intersected",
)


def _not_covered(policy: LinkedPolicy) -> list[str]:
    known = policy.known_rows
    more = (
        []
        if known is None
        else [
            f"whoever knows more than {known.m} row{'s' * (known.m > 1)} of a person",
            "that a person has no other row",
            "the number of rows of a person",
        ]
    )
    return [
        *more,
        "intervals between dates, or other differences of rows, below the released levels",
        "sensitive and insensitive values as knowledge: those of one person's rows are joined by the released keys",
        "what all persons of a class share",
        "inference from the choice of the levels and of what is left out",
        "other releases of the same tables: keys are new in each, but classes of persons can be joined",
    ]
