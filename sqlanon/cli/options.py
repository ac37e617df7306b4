"""Options: the command line's spelling of arguments, shared options, and their help texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from typer import Argument, BadParameter, Option

if TYPE_CHECKING:
    from sqlanon.chance.random_source import SeededSource
    from sqlanon.model.destination import Replace as ReplaceWord
    from sqlanon.model.policy.linked_policy import LinkedPolicy
    from sqlanon.model.policy.policy import Policy
    from sqlanon.model.taxonomy.taxonomy import Taxonomy

TARGET, PRIVATE, OUTPUT, MACHINE_PANEL = "The target", "Private methods", "Output", "The machine"  # panels of the help

Database = Annotated[Path, Option("--db", metavar="DB", help="The DuckDB file.")]
NewDatabase = Annotated[Path, Option("--db", metavar="DB", help="The DuckDB file, made if it is not there.")]
TargetDatabase = Annotated[
    Path | None,
    Option("--db", metavar="DB", help="The DuckDB file, made for a table if it is not there; not needed for files."),
]
OptionalDatabase = Annotated[Path | None, Option("--db", metavar="DB", help="The DuckDB file; not needed for files.")]
PolicyFile = Annotated[Path, Option("--policy", metavar="FILE.toml", help="The policy.")]
OtherK = Annotated[
    int | None, Option("--k", metavar="K", min=2, help="Ask for k-anonymity with this k, in place of the policy's.")
]
TaxonomyFiles = Annotated[
    list[str] | None, Option("--taxonomy", metavar="ATTRIBUTE=FILE.csv", help="Load an ARX hierarchy first; repeat it.")
]
Json = Annotated[bool, Option("--json", help="Print one JSON document on stdout.")]
Events = Annotated[
    bool,
    Option(
        "--events",
        help="Report the progress, and every failure, on stderr as JSON, a line per event: event (started, progress, "
        "finished; done or failed at the end), stage, seconds, seconds_left, step, share, checked_nodes, "
        "lattice_nodes, loss, node, lower_bound, gap, left_rows.",
        rich_help_panel=OUTPUT,
    ),
]
Replace = Annotated[
    bool, Option("--replace", help="Replace what is there, if sqlanon made it.", rich_help_panel=TARGET)
]
ReplaceIfChanged = Annotated[
    bool,
    Option(
        "--replace-if-changed",
        help="Replace a release of other inputs, and keep one of the same.",
        rich_help_panel=TARGET,
    ),
]
ReplaceAnything = Annotated[
    bool, Option("--replace-anything", help="Replace any table or file, whoever made it.", rich_help_panel=TARGET)
]
ReplaceFile = Annotated[bool, Option("--replace", help="Replace the file that is there.")]
Tight = Annotated[bool, Option("--tight", help="Take the smaller δ, exact for one class, not that of Li et al. 2012.")]


class Spelled(NamedTuple):
    """The spelling of an argument on the command line; the method decides the rest."""

    metavar: str = ""
    flag: str = ""  # by default --name, or none for a required argument given by position
    kind: Any = None  # the type that Typer parses; by default the argument's, if simple
    read: Callable[[Any], Any] | None = None  # turns the parsed value into the argument
    help: str = ""  # by default the first sentence on it in the method's docstring
    panel: str | None = None
    min: float | None = None


def read_policy(path: Path, k: int | None = None) -> Policy:
    """Read a policy of one table, whose method may be a paper's; a given ``k`` replaces its k-anonymity."""
    from sqlanon.api.linked_calls import NOT_YET
    from sqlanon.errors import PolicyError
    from sqlanon.model.policy.linked_policy import LinkedPolicy

    policy = read_any_policy(path, k)
    if isinstance(policy, LinkedPolicy):
        raise PolicyError(f"the policy file {path} is of several tables, and this command {NOT_YET}")
    return policy


def read_any_policy(path: Path, k: int | None = None) -> Policy | LinkedPolicy:
    """Read a policy of one table or of several, in whose models a given ``k`` replaces theirs."""
    from sqlanon.model.policy.linked_policy import LinkedPolicy, given_policy
    from sqlanon.satellites import all_offered

    all_offered("methods")  # they register themselves
    policy = given_policy(path)
    if k is None:
        return policy
    if isinstance(policy, LinkedPolicy):
        of_k = (each.model_copy(update={"k": k}) if hasattr(each, "k") else each for each in policy.privacy)
        return policy.changed({"privacy": tuple(of_k)})
    return policy.with_k(k)


def sources_for(policy: Policy | LinkedPolicy | None, given: Sequence[str] | None) -> Any:
    """Return the source of one table, or those of several by the name before the first ``=``."""
    from sqlanon.api.linked_calls import FORMS
    from sqlanon.model.policy.linked_policy import LinkedPolicy

    if isinstance(policy, LinkedPolicy):
        pairs = _pairs(given or (), "TABLE=SOURCE", f"TABLE=SOURCE: {FORMS}")
        if len(pairs) < len(given or ()):
            raise BadParameter("a table has two sources")
        return pairs
    if not given:
        raise BadParameter("it is missing", param_hint="SOURCE")
    is_pair = "=" in given[0] and not Path(given[0]).exists() and Path(given[0].partition("=")[2]).exists()
    if len(given) > 1 or is_pair:
        raise BadParameter(FORMS)
    return given[0]


def origin(given: Mapping[str, Any], tables: Sequence[str] | None) -> dict[str, Any]:
    """Return the argument ``source`` of what a release of linked tables was made from, if it is given."""
    from sqlanon.api.linked_calls import FORMS
    from sqlanon.model.policy.linked_policy import LinkedPolicy

    policy = given.get("policy")
    if isinstance(policy, LinkedPolicy) and "source" in given:
        raise BadParameter(FORMS, param_hint="--source")
    if tables and not isinstance(policy, LinkedPolicy):
        raise BadParameter(f"{FORMS}; --source names that of one table")
    return {"source": sources_for(policy, tables)} if tables else {}


def read_taxonomies(given: Sequence[str] | None, policy: Policy | LinkedPolicy | None = None) -> dict[str, Taxonomy]:
    from sqlanon.model.policy.linked_policy import LinkedPolicy
    from sqlanon.model.policy_value import unknown_names
    from sqlanon.model.taxonomy.taxonomy import Taxonomy

    files = _pairs(given or (), "--taxonomy", "ATTRIBUTE=FILE.csv")
    if isinstance(policy, LinkedPolicy):
        if files:
            raise BadParameter("the policy of linked tables names files of taxonomies itself", param_hint="--taxonomy")
        return {}
    used = files if policy is None else policy.columns_with_taxonomy
    if unused := [f'"{name}"{meant}' for name, meant in unknown_names(files, used)]:
        reason = f"the policy uses no taxonomy of {', '.join(unused)}: only quasi-identifiers have one, and sensitive"
        raise BadParameter(f"{reason} columns with hierarchical distances", param_hint="--taxonomy")
    carried = () if policy is None else policy.taxonomies
    if repeated := [f'"{name}"' for name in files if name in carried]:
        reason = f"the policy carries the taxonomy of {', '.join(repeated)} itself"
        raise BadParameter(reason, param_hint="--taxonomy")
    return {name: Taxonomy.from_csv(file) for name, file in files.items()}


def _pairs(given: Sequence[str], option: str, spelled: str) -> dict[str, str]:
    pairs = [text.partition("=")[::2] for text in given]
    for (name, value), text in zip(pairs, given, strict=True):
        if not name or not value:
            raise BadParameter(f'"{text}" is not {spelled}', param_hint=option)
    return dict(pairs)


def _seeded(seed: int) -> SeededSource:
    from sqlanon.chance.random_source import SeededSource

    return SeededSource(seed)


LEVEL = re.compile(r"(.+?)=(\d{1,3})(?:,|$)")  # a column, whose name may have commas, and its level


def _node(given: Sequence[str]) -> dict[str, int]:
    node: dict[str, int] = {}
    for text in given:
        levels = list(LEVEL.finditer(text))
        if not levels or "".join(found[0] for found in levels) != text:
            raise BadParameter(f'"{text}" is not COLUMN=LEVEL,COLUMN=LEVEL', param_hint="--node")
        for name, level in (found.groups() for found in levels):
            if name in node:
                raise BadParameter(f'"{name}" has two levels', param_hint="--node")
            node[name] = int(level)
    return node


def replacing(replace: bool, if_changed: bool = False, anything: bool = False) -> ReplaceWord:
    """Return the session's argument ``replace`` for --replace, --replace-if-changed and --replace-anything."""
    words: dict[ReplaceWord, bool] = {True: replace, "changed": if_changed, "anything": anything}
    given = [word for word, is_given in words.items() if is_given]
    if len(given) > 1:
        raise BadParameter("give one of --replace, --replace-if-changed and --replace-anything")
    return given[0] if given else False


SOURCE = (
    "A table or view, the path, glob or folder of Parquet or CSV files, delta:FOLDER or "
    "iceberg:CATALOG.NAMESPACE.TABLE, or a SELECT query, which may be in a .sql file"
)
BY_TABLE = "TABLE=SOURCE for each: the first = ends the name of the table. One left out is that table of --db"
Sources = Annotated[
    list[str] | None,
    Argument(metavar="[SOURCE|TABLE=SOURCE...]", help=f"{SOURCE}. For linked tables {BY_TABLE}."),
]
OfRelease = Annotated[
    list[str] | None,
    Argument(metavar="[TABLE=SOURCE...]", help=f"For linked tables, what they were made from: {BY_TABLE}."),
]

RELEASE = "A published table, or the path of a published Parquet file, CSV or folder."

# Spellings of methods' arguments; a command omits any others, or declares them itself.
SPELLED = {
    "source": Spelled("SOURCE", help=f"{SOURCE}."),
    "release": Spelled("RELEASE", help=RELEASE),
    "policy": Spelled("FILE.toml", "--policy", Path, read_policy, help="The policy."),
    "into": Spelled(
        "TARGET",
        "--into",
        help="The name of a new table, a new .parquet or .csv file, a new folder/, a table of a lake, delta:FOLDER or "
        "iceberg:CATALOG.NAMESPACE.TABLE, or s3://BUCKET/PREFIX/.",
    ),
    "sidecar": Spelled("FILE", "--fit", Path, help="The private file of the fit."),
    "node": Spelled(
        "COLUMN=LEVEL,…", read=_node, help="Take this node, and search for none: a level per quasi-identifier."
    ),
    "time_limit": Spelled("SECONDS"),
    "max_loss": Spelled("LOSS", min=0),
    "pseudonym_key": Spelled(
        "FILE",
        kind=Path,
        help="The file with the secret key of the policy's pseudonyms; else it is in $SQLANON_PSEUDONYM_KEY.",
    ),
    "sql": Spelled("FILE", kind=Path),
    "rows_per_file": Spelled("N", panel=TARGET),
    "partition_by": Spelled("COLUMN", panel=TARGET),
    "csv_formulas": Spelled("keep|quote|refuse", panel=TARGET),
    "tables": Spelled(
        "WHAT=NAME", "--table", read=partial(_pairs, option="--table", spelled="spelled WHAT=NAME"), panel=TARGET
    ),
    "keep_taxonomies": Spelled(panel=TARGET),
    "random_source": Spelled(
        "N", "--seed", int, _seeded, "Repeat the same draws; the release is stamped NOT PRIVATE.", PRIVATE
    ),
    "dataset": Spelled("NAME", panel=PRIVATE),
    "public": Spelled("TABLE", panel=PRIVATE),
    "record_sha256": Spelled("HASH"),
    "profile": Spelled("NAME"),
    "codebook": Spelled(
        "FILE.csv", kind=Path, help="A CSV that describes columns: column, description, or variable, label."
    ),
    "first": Spelled("N"),
    "count": Spelled("NAME"),
    "attribute": Spelled("ATTRIBUTE"),
    "head": Spelled("HASH"),
    "forgotten": Spelled(flag="--all"),
    "reason": Spelled("TEXT"),
    **dict.fromkeys(("key", "individual", "event", "order", "keep", "column"), Spelled("COLUMN")),
    **dict.fromkeys(("without_provenance", "safe_harbor", "alternatives", "in_rho"), Spelled()),
    **dict.fromkeys(("every_partition", "accept_observed_domain"), Spelled()),
}

# Arguments of :func:`sqlanon.connect`, for every command that opens a session.
MACHINE = {
    "memory_limit": Spelled("SIZE", panel=MACHINE_PANEL),
    "temp_directory": Spelled("DIR", kind=Path, panel=MACHINE_PANEL),
    "threads": Spelled("N", panel=MACHINE_PANEL),
    "extensions": Spelled("NAME", "--load", panel=MACHINE_PANEL),
    "show_values": Spelled(panel=MACHINE_PANEL),
    "rows": Spelled("URL", panel=MACHINE_PANEL),
    "max_cells": Spelled("N", panel=MACHINE_PANEL),
    "csv": Spelled(
        "SETTING=VALUE", help="How CSV files are read, as by csv in a policy: delim=;, nullstr=NA, types.zip=VARCHAR."
    ),
}


def csv_settings(given: Sequence[str]) -> dict[str, Any]:
    """Read the settings of every ``SETTING=VALUE``; lists are repeated, and lists of columns have commas."""
    settings: dict[str, Any] = {}
    for text in given:
        name, is_there, value = text.partition("=")
        if not is_there:
            raise BadParameter(f'"{text}" is not SETTING=VALUE', param_hint="--csv")
        if name == "nullstr":
            settings.setdefault(name, []).append(value)
        elif name.startswith("types."):
            settings.setdefault("types", {})[name.removeprefix("types.")] = value
        elif name in settings:
            raise BadParameter(f'"{name}" is there twice', param_hint="--csv")
        else:
            settings[name] = value.split(",") if name == "header" and "," in value else value
    return settings
