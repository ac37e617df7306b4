"""The command that suggests a policy for a source."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import BadParameter, Option

from sqlanon.cli import options as opt
from sqlanon.cli.output import progress, say, show, write_json
from sqlanon.cli.sessions import reading

if TYPE_CHECKING:
    from sqlanon.suggestion.suggestion import Suggestion

TIME_LIMIT = 60
"""Seconds that are proposed for a search of a large lattice."""


def init(
    source: opt.Source,
    database: opt.OptionalDatabase = None,
    out: Annotated[Path, Option("--out", metavar="FILE.toml", help="Where the policy is written.")] = Path(
        "policy.toml"
    ),
    k: Annotated[
        int | None,
        Option("--k", metavar="K", min=2, help="How many rows look alike at least; else the k of the profile."),
    ] = None,
    codebook: Annotated[
        Path | None,
        Option(
            "--codebook",
            metavar="FILE.csv",
            help="A CSV that describes columns: column, description, or variable, label.",
        ),
    ] = None,
    profile: Annotated[
        str,
        Option(
            "--profile",
            metavar="NAME",
            help="Who gets the data: research (k = 5), public (k = 10), or hipaa-safe-harbor.",
        ),
    ] = "research",
    clean: Annotated[
        Path | None,
        Option(
            "--clean",
            metavar="FILE.sql",
            help="Write a query there that cleans values, if some need it, and suggest a policy for what it returns.",
        ),
    ] = None,
    replace: Annotated[bool, Option("--replace", help="Replace the policy and taxonomies that are there.")] = False,
    as_json: opt.Json = False,
    as_events: opt.Events = False,
) -> None:
    """Suggest a policy for a table: roles of its columns, taxonomies, and what they give away.

    Every role is a guess with its reason. A column without evidence is dropped until you decide. Taxonomies that hold
    values are files beside the policy, which you alone may read.

    Example: sqlanon init members.csv
    """
    from sqlanon.suggestion.suggest import PROFILES

    if profile not in PROFILES:
        raise BadParameter(f'"{profile}" is not one of {", ".join(PROFILES)}', param_hint="--profile")
    if clean is not None and clean.suffix != ".sql":
        raise BadParameter("the name of a query ends in .sql", param_hint="--clean")
    from sqlanon.model.taxonomy.arguments import counted

    with progress(as_events=as_events, quiet=as_json) as observer, reading(database) as session:
        found = session.suggest(
            source, k=k, profile=profile, codebook=codebook, clean=clean is not None, progress=observer
        )
    queries = {} if clean is None or found.query is None else {clean: found.query}
    files = found.write(out, replace=replace, beside=queries)
    commands = next_commands(found, source, database, out, read=str(clean) if queries else source)
    if as_json:
        write_json({**found.model_dump(mode="json"), "files": [str(file) for file in files], "next": commands})
        return
    show(found.document())
    beside = f" and {counted(len(files) - 1, 'file')} beside it" if files[1:] else ""
    say(f"Wrote {out}{beside}.")
    for line in _on_cleaning(found, source, clean):
        say(line)
    if found.undecided:
        say(f"{counted(len(found.undecided), 'column')} to decide: marked with a ? there, and dropped until then.")
    say("Next:" if commands else "It cannot run yet: see the notes.")
    for command in commands:
        say(f"  {command}")


def _on_cleaning(found: Suggestion, source: str, clean: Path | None) -> list[str]:
    """What became of values that should be cleaned, or what can become of them; nothing if there are none."""
    if found.query is not None:
        return [f"Read {clean}, which cleans values: it stands for {source} from now on."]
    if found.cleaning is not None:
        return ["Some values should be cleaned: --clean FILE.sql writes the query, and a policy for what it returns."]
    return [] if clean is None else ["Nothing is to be cleaned."]


def next_commands(found: Suggestion, source: str, database: Path | None, policy: Path, read: str) -> list[str]:
    """What to run next; nothing where no run could succeed.

    Args:
        found: what was suggested.
        source: what the release is called by.
        database: the warehouse.
        policy: the policy that was written.
        read: what is anonymized: the source, or a query over it.
    """
    if not found.runs:
        return []
    from sqlanon.suggestion.taxonomies import MAX_NODES

    is_csv = source.lower().endswith(".csv")
    release = policy.with_name(f"{_stem(source)}_k{found.k}{'.csv' if is_csv else '.parquet'}")
    given = ["--db", str(database)] if database is not None else []
    limit = ["--time-limit", str(TIME_LIMIT)] if found.lattice_nodes > MAX_NODES else []
    with_policy = ["--policy", str(policy)]
    run = ["sqlanon", "run", read, *given, *with_policy, "--into", str(release), *limit]
    page = str(release.with_suffix(".html"))
    report = ["sqlanon", "report", str(release), *given, *with_policy, "--source", read, "--out", page]
    return [shlex.join(run), shlex.join(report)]


def _stem(source: str) -> str:
    """What files of a source are called."""
    from sqlanon.model.datasets import FILE_SUFFIXES

    name = Path(source).stem if source.lower().endswith(FILE_SUFFIXES) else source
    is_name = re.fullmatch(r"[\w.*/-]+", name)
    return (re.sub(r"[^\w-]+", "_", name).strip("_") if is_name else "") or "release"
