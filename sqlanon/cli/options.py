"""Arguments and options that commands share, and what their texts mean."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Option

if TYPE_CHECKING:
    from sqlanon.model.destination import Replace as ReplaceWord
    from sqlanon.model.policy.policy import Policy
    from sqlanon.model.taxonomy.taxonomy import Taxonomy

TARGET, PRIVATE, OUTPUT = "The target", "Private methods", "Output"
"""The panels of the help below that of what a command needs."""

Source = Annotated[
    str,
    Argument(
        metavar="SOURCE",
        help="A table or view, the path, glob or folder of Parquet or CSV files, delta:FOLDER or "
        "iceberg:CATALOG.NAMESPACE.TABLE, or a SELECT query, which may be in a .sql file.",
    ),
]
Database = Annotated[Path, Option("--db", metavar="DB", help="The DuckDB file.")]
NewDatabase = Annotated[Path, Option("--db", metavar="DB", help="The DuckDB file, made if it is not there.")]
TargetDatabase = Annotated[
    Path | None,
    Option("--db", metavar="DB", help="The DuckDB file, made for a table if it is not there; not needed for files."),
]
OptionalDatabase = Annotated[Path | None, Option("--db", metavar="DB", help="The DuckDB file; not needed for files.")]
OtherK = Annotated[
    int | None, Option("--k", metavar="K", min=2, help="Ask for k-anonymity with this k, in place of the policy's.")
]
PolicyFile = Annotated[Path, Option("--policy", metavar="FILE.toml", help="The policy.")]
Json = Annotated[bool, Option("--json", help="Print one JSON document on stdout.")]
Tight = Annotated[bool, Option("--tight", help="Take the smaller δ, exact for one class, not that of Li et al. 2012.")]
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
Target = Annotated[
    str,
    Option(
        "--into",
        metavar="TARGET",
        help="The name of a new table, a new .parquet or .csv file, a new folder/, a table of a lake, delta:FOLDER "
        "or iceberg:CATALOG.NAMESPACE.TABLE, or s3://BUCKET/PREFIX/.",
    ),
]
LatticeTarget = Annotated[
    str | None,
    Option("--into", metavar="TARGET", help="Write all nodes to a new table, .parquet or .csv file, or folder/."),
]
RowsPerFile = Annotated[
    int | None,
    Option(
        "--rows-per-file", metavar="N", help="Write a folder of files, of N rows each at most.", rich_help_panel=TARGET
    ),
]
PartitionBy = Annotated[
    list[str] | None,
    Option(
        "--partition-by",
        metavar="COLUMN",
        help="Write a folder per value of a column; repeat it.",
        rich_help_panel=TARGET,
    ),
]
CsvFormulas = Annotated[
    str | None,
    Option(
        "--csv-formulas",
        metavar="keep|quote|refuse",
        help="Cells of a CSV that a spreadsheet would compute: keep (default), quote with an apostrophe, or refuse.",
        rich_help_panel=TARGET,
    ),
]
KeepTaxonomies = Annotated[
    bool,
    Option(
        "--keep-taxonomies/--no-keep-taxonomies",
        help="With a table, store the taxonomies of the policy and the macros in the warehouse, for SQL to go on with; "
        "or store neither.",
        rich_help_panel=TARGET,
    ),
]
TimeLimit = Annotated[
    float | None, Option("--time-limit", metavar="SECONDS", help="After this time, take the best node that was found.")
]
LatticeTimeLimit = Annotated[
    float | None,
    Option(
        "--time-limit", metavar="SECONDS", help="After this time, show the nodes that were checked, the best first."
    ),
]
MaxLoss = Annotated[
    float | None,
    Option(
        "--max-loss",
        metavar="LOSS",
        min=0,
        help="Publish nothing that loses more: exit code 3. Most losses are 0 to 1.",
    ),
]
StatementFile = Annotated[
    Path | None,
    Option("--sql", metavar="FILE", help="Write every statement that DuckDB is sent to a new file, with its time."),
]
GivenNode = Annotated[
    list[str] | None,
    Option(
        "--node", metavar="COLUMN=LEVEL,…", help="Take this node, and search for none: a level per quasi-identifier."
    ),
]
TablesBeside = Annotated[
    list[str] | None,
    Option(
        "--table",
        metavar="WHAT=NAME",
        help="Name the table for what a method publishes beside the rows; repeat it.",
        rich_help_panel=TARGET,
    ),
]
PseudonymKeyFile = Annotated[
    Path | None,
    Option(
        "--pseudonym-key",
        metavar="FILE",
        help="The file with the secret key of the policy's pseudonyms; else it is in $SQLANON_PSEUDONYM_KEY.",
    ),
]
LedgerFile = Annotated[
    Path | None,
    Option(
        "--ledger",
        metavar="FILE",
        help="The DuckDB file whose ledger is charged; else that of --db.",
        rich_help_panel=PRIVATE,
    ),
]
LedgerMode = Annotated[
    str,
    Option(
        "--ledger-mode",
        metavar="open|capped",
        help="Whether a data set without a cap may be charged (open, the default), or is refused (capped).",
        rich_help_panel=PRIVATE,
    ),
]
Dataset = Annotated[
    str | None,
    Option(
        "--dataset",
        metavar="NAME",
        help="Whose budget a private method spends, if not the source's own.",
        rich_help_panel=PRIVATE,
    ),
]
Public = Annotated[
    list[str] | None,
    Option(
        "--public",
        metavar="TABLE",
        help="A table or file that the query reads and everybody may know, so that it is not charged; repeat it.",
        rich_help_panel=PRIVATE,
    ),
]
Seed = Annotated[
    int | None,
    Option(
        "--seed", metavar="N", help="Draw the same again: the release is stamped NOT PRIVATE.", rich_help_panel=PRIVATE
    ),
]
Replace = Annotated[
    bool, Option("--replace", help="Replace what is there, if sqlanon made it.", rich_help_panel=TARGET)
]
ReplaceIfChanged = Annotated[
    bool,
    Option(
        "--replace-if-changed",
        help="Replace a release that was made from something else; leave the same.",
        rich_help_panel=TARGET,
    ),
]
ReplaceAnything = Annotated[
    bool,
    Option("--replace-anything", help="Replace any table or file, whoever made it.", rich_help_panel=TARGET),
]
ReplaceFile = Annotated[bool, Option("--replace", help="Replace the file that is there.")]
Attribute = Annotated[str, Argument(metavar="ATTRIBUTE", help="The quasi-identifier that the taxonomy is for.")]
TaxonomySource = Annotated[
    str | None,
    Option("--source", metavar="SOURCE", help="A table, files or a query whose values the taxonomy must cover."),
]
TaxonomyColumn = Annotated[
    str | None,
    Option("--column", metavar="COLUMN", help="The column of --source, if it is not named like the attribute."),
]
TaxonomyFiles = Annotated[
    list[str] | None,
    Option("--taxonomy", metavar="ATTRIBUTE=FILE.csv", help="Load an ARX hierarchy first; repeat it."),
]


LEVEL = re.compile(r"(.+?)=(\d{1,3})(?:,|$)")
"""A column and its level; names may have commas."""


def replacing(replace: bool, if_changed: bool = False, anything: bool = False) -> ReplaceWord:
    """The argument ``replace`` of the session for --replace, --replace-if-changed and --replace-anything.

    Raises:
        BadParameter: there is more than one of them.
    """
    words: dict[ReplaceWord, bool] = {True: replace, "changed": if_changed, "anything": anything}
    given = [word for word, is_given in words.items() if is_given]
    if len(given) > 1:
        raise BadParameter("give one of --replace, --replace-if-changed and --replace-anything")
    return given[0] if given else False


def read_policy(path: Path, k: int | None = None) -> Policy:
    """The policy of a TOML file, which may ask for a method of a paper as well.

    Args:
        path: the file.
        k: that of a k-anonymity which takes the place of the policy's own.

    Raises:
        PolicyError: it is not valid, or its method takes no k-anonymity.
    """
    import sqlanon.papers.methods  # noqa: F401
    from sqlanon.model.policy.policy import Policy

    policy = Policy.from_toml(path)
    return policy if k is None else policy.with_k(k)


def read_taxonomies(given: list[str] | None, policy: Policy) -> dict[str, Taxonomy]:
    """The taxonomies of every ``ATTRIBUTE=FILE.csv``.

    Raises:
        BadParameter: one is not spelled so, or is for a column whose taxonomy the policy does not use.
    """
    from sqlanon.model.base import unknown_names

    files = dict(_attribute_and_file(text) for text in given or ())
    unused = [f'"{name}"{meant}' for name, meant in unknown_names(files, policy.columns_with_taxonomy)]
    if unused:
        reason = f"the policy uses no taxonomy of {', '.join(unused)}: only quasi-identifiers have one, and sensitive"
        raise BadParameter(f"{reason} columns with hierarchical distances", param_hint="--taxonomy")
    repeated = [f'"{name}"' for name in files if name in policy.taxonomies]
    if repeated:
        reason = f"the policy carries the taxonomy of {', '.join(repeated)} itself"
        raise BadParameter(reason, param_hint="--taxonomy")
    return taxonomies_of_files(given)


def taxonomies_of_files(given: list[str] | None) -> dict[str, Taxonomy]:
    """The taxonomies of every ``ATTRIBUTE=FILE.csv``, whatever they are for.

    Raises:
        BadParameter: one is not spelled so.
    """
    from sqlanon.model.taxonomy.taxonomy import Taxonomy

    return {name: Taxonomy.from_csv(file) for name, file in map(_attribute_and_file, given or ())}


def given_tables(given: list[str] | None) -> dict[str, str]:
    """The names of every ``WHAT=NAME``.

    Raises:
        BadParameter: one is not spelled so.
    """
    tables = {}
    for text in given or ():
        what, _, name = text.partition("=")
        if not what or not name:
            raise BadParameter(f'"{text}" is not spelled WHAT=NAME', param_hint="--table")
        tables[what] = name
    return tables


def given_node(given: list[str] | None) -> dict[str, int] | None:
    """The node of every ``COLUMN=LEVEL,COLUMN=LEVEL``; None without any."""
    node: dict[str, int] = {}
    for text in given or ():
        levels = list(LEVEL.finditer(text))
        if not levels or "".join(found[0] for found in levels) != text:
            raise BadParameter(f'"{text}" is not COLUMN=LEVEL,COLUMN=LEVEL', param_hint="--node")
        for name, level in (found.groups() for found in levels):
            if name in node:
                raise BadParameter(f'"{name}" has two levels', param_hint="--node")
            node[name] = int(level)
    return node or None


def _attribute_and_file(text: str) -> tuple[str, str]:
    attribute, _, path = text.partition("=")
    if not attribute or not path:
        raise BadParameter(f'"{text}" is not ATTRIBUTE=FILE.csv', param_hint="--taxonomy")
    return attribute, path
