"""Checks of a policy of linked tables with valid fields: how tables hang together, keys, caps, models and roles."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sqlanon.model.known_rows import KnownRows
from sqlanon.model.names import enumerated, folded, listed
from sqlanon.model.policy.checks import contradictions
from sqlanon.model.policy.fields import OTHERS
from sqlanon.model.policy_value import KINDS, did_you_mean, unknown_names
from sqlanon.model.privacy import AlphaKAnonymity, KAnonymity

if TYPE_CHECKING:
    from sqlanon.model.policy.linked_policy import LinkedPolicy
    from sqlanon.model.policy.table_roles import TableRoles

NOT_YET = "not for several tables yet"
SEVERAL_VALUES = (
    "is refused: a person can have several values, so a class of persons has no distribution of them, and everybody in "
    "one with enough values can have the same. Bound the share of persons who have a value: "
    'AlphaKAnonymity("visits.diagnosis", alpha=1/3, k=5)'
)
OF_VALUES = ("distinct-l-diversity", "entropy-l-diversity", "recursive-c-l-diversity", "t-closeness")
REFUSED_MODELS = {
    **dict.fromkeys(KINDS["privacy"], f"is {NOT_YET}; take KnownRows(5, m=1), or KAnonymity(5) of whole trees"),
    **dict.fromkeys(OF_VALUES, SEVERAL_VALUES),
}
REFUSED_SETTINGS = {
    "individual": f"{NOT_YET}: the table without a parent has the persons",
    "row_weight": f"{NOT_YET}: persons and their rows are counted, not weights",
    "earlier": f"{NOT_YET}: releases are not held together with earlier ones",
    "pseudonyms": f"{NOT_YET}: keys are drawn anew for a release; name the columns among the identifiers",
    "suppression": f'{NOT_YET}: persons and rows are left out, as "drop" does, and never masked; leave it out',
    "perturbation": f"{NOT_YET}: values of released rows are those of the source",
    "fit": f"{NOT_YET}: a release has all rows of its tables",
    "rest": f"{NOT_YET}: name every column of a table",
    **dict.fromkeys(("search", "objective", "max_loss", "node"), f"{NOT_YET}: the best node is searched for"),
}
ALL_KNOWN = "for somebody who knows all rows of a person: whoever knows all knows some; keep the one that you promise"
SHARES_GROW = (
    "since the share of persons with a value can become larger where rows become alike, so that most nodes would have "
    "to be looked at; take k-anonymity of whole trees in place of known rows"
)
ROLES = ("quasi_identifiers", "sensitive", "identifiers", "insensitive")


def linked_contradictions(policy: LinkedPolicy) -> Iterable[str]:
    yield from (misnamed := [*_misfits_of_names(policy)])
    yield from _misfits_of_parents(policy)
    for name, roles in policy.tables.items():
        yield from _misfits_of_keys(policy, name, roles)
        yield from _misfits_of_rows(policy, f'table "{name}"', roles)
    yield from _misfits_of_models(policy)
    all_roles = policy.all_roles
    for model in policy.privacy:
        for column, meant in unknown_names(model.columns, all_roles.sensitive):
            yield f'{model}: "{column}" is not a sensitive column of a table, as "visits.diagnosis" would be{meant}'
    if all_roles.quasi_identifiers and not misnamed:
        yield from contradictions(all_roles)


def _misfits_of_names(policy: LinkedPolicy) -> Iterable[str]:
    for one, other, _ in _repeated((name, name) for name in policy.tables):
        yield f'tables "{one}" and "{other}" differ in case alone, so that DuckDB takes them for one'
    columns = ((column, table) for table in policy.tables for column in policy.roles(table).columns)
    for one, other, name in _repeated(columns):
        if folded(one) != folded(other):
            yield f'tables "{one}" and "{other}" have one name of a column, "{name}": use another name'


def _repeated(names: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield the tables that share a name in any case, given as names with their tables."""
    first: dict[str, str] = {}
    for name, table in names:
        if (known := first.setdefault(folded(name), table)) != table:
            yield known, table, name


def _misfits_of_parents(policy: LinkedPolicy) -> Iterable[str]:
    tables = policy.tables
    roots = [name for name, roles in tables.items() if roles.parent is None]
    if len(roots) > 1:
        yield (
            f"tables {listed(roots)} have no parent; the table of persons alone has none, and another kind of "
            "persons needs a release of its own: name the parent of the others"
        )
    if not roots:
        yield "no table is without a parent, as the table of persons must be"
    for name, roles in tables.items():
        if roles.parent is not None and roles.parent not in tables:
            meant = did_you_mean(roles.parent, tables)
            yield f'table "{name}": its parent "{roles.parent}" is not among the tables{meant}'
    for name in tables:
        circle = policy.path(name)[::-1]
        if tables[circle[-1]].parent == name == min(circle):
            several = f"tables {listed(circle)} are parents of each other in a circle"
            yield several if circle[1:] else f'table "{name}" is its own parent'


def _misfits_of_keys(policy: LinkedPolicy, name: str, roles: TableRoles) -> Iterable[str]:
    if roles.parent is None and roles.key is not None:
        yield f'table "{name}" has a key, "{roles.key}", but no parent that has it: name the parent, or row_key'
    if roles.parent is not None and roles.key is None:
        yield f'table "{name}" needs a key: the column with the row_key of its parent "{roles.parent}"'
    below = [each for each in policy.children(name) if each != name]
    if roles.row_key is None and (below or roles.parent is None):
        why = f", since others hang from it: {listed(below)}" if below else ""
        yield f'table "{name}" needs a row_key{why}; name the column, which is unique and never NULL'
    for kind, role in itertools.product(("row_key", "key"), ROLES):
        if (key := getattr(roles, kind)) is not None and folded(key) in map(folded, getattr(roles, role)):
            yield (
                f'column "{name}.{key}" has two roles: {kind} and {role}; keys are drawn anew for a release: name it '
                f"in {kind} alone"
            )


def _misfits_of_rows(policy: LinkedPolicy, where: str, roles: TableRoles) -> Iterable[str]:
    """Explain which rows a table cannot leave out, and what others may know of persons."""
    if roles.parent is None:
        yield from _misfits_of_persons(policy, where, roles)
    takes_first = roles.above == "first"
    misfits = {
        'above = "first" needs an order, such as order = ["day"]': takes_first and not roles.order,
        'above = "first" needs at_most, the number of rows that a person keeps': takes_first and roles.at_most is None,
        'order is for above = "first", which keeps the first rows of a person': not takes_first and roles.order,
    }
    yield from (f"{where}: {misfit}" for misfit, is_found in misfits.items() if is_found)
    for column, meant in unknown_names(roles.order, roles.columns):
        yield f'{where}: order names "{column}", which has no role there{meant}'
    for column in (column for column, action in roles.unknown.items() if action == "suppress"):
        which = "" if column == OTHERS else f' of "{column}"'
        yield f'{where}: unknown = "suppress"{which} is {NOT_YET}; take "top" or "error"'


def _misfits_of_persons(policy: LinkedPolicy, where: str, roles: TableRoles) -> Iterable[str]:
    if given := [field for field in ("at_most", "orphans") if getattr(roles, field) not in (None, "refuse")]:
        yield f"{where} has no parent, and takes no {enumerated(given)}: these are of the rows of a person"
    if not roles.quasi_identifiers:
        yield f"{where} needs quasi_identifiers: what others may know of a person"
    if policy.suppression_limit and roles.suppression_limit not in (None, policy.suppression_limit):
        yield (
            f"suppression_limit of persons is given twice: {policy.suppression_limit} in the policy, and "
            f"{roles.suppression_limit} in {where}; give it in the policy alone"
        )


def _misfits_of_models(policy: LinkedPolicy) -> Iterable[str]:
    known = [model for model in policy.privacy if isinstance(model, KnownRows)]
    others = [model for model in policy.privacy if not isinstance(model, KnownRows)]
    if len(known) > 1:
        yield f"{known[1]} repeats another model of the same kind; keep the stricter one"
    for model in others if known else ():
        why = ALL_KNOWN if isinstance(model, KAnonymity) else SHARES_GROW
        yield f"{known[0]} cannot be combined with {model}, {why}"
    if not known and not any(isinstance(model, KAnonymity | AlphaKAnonymity) for model in others):
        yield "privacy bounds shares alone, not how many persons look alike: add KAnonymity(5), of whole trees"
