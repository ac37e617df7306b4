"""The command that suggests a policy for a source."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import BadParameter, Option

from sqlanon.cli import options as opt
from sqlanon.cli.output import say, show, write_json
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
        int | None, Option("--k", metavar="K", help="How many rows look alike at least; else the k of the profile.")
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
    replace: Annotated[bool, Option("--replace", help="Replace the policy and taxonomies that are there.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Suggest a policy for a table: roles of its columns, taxonomies, and what they give away.

    Every role is a guess with its reason. A column without evidence is dropped until you decide. Taxonomies that hold
    values are files beside the policy, which you alone may read.

    Example: sqlanon init members.csv
    """
    from sqlanon.suggestion.profiles import PROFILES

    if profile not in PROFILES:
        raise BadParameter(f'"{profile}" is not one of {", ".join(PROFILES)}', param_hint="--profile")
    if k is not None and k < 2:
        raise BadParameter("k is at least 2", param_hint="--k")
    from sqlanon.model.taxonomy.arguments import counted

    with reading(database) as session:
        found = session.suggest(source, k=k, profile=profile, codebook=codebook)
    files = found.write(out, replace=replace)
    commands = next_commands(found, source, database, out)
    if as_json:
        write_json({**found.model_dump(mode="json"), "files": [str(file) for file in files], "next": commands})
        return
    show(found.document())
    beside = f" and {counted(len(files) - 1, 'file')} beside it" if files[1:] else ""
    say(f"Wrote {out}{beside}.")
    if found.undecided:
        say(f"{counted(len(found.undecided), 'column')} to decide: marked with a ? there, and dropped until then.")
    say("Next:" if commands else "It cannot run yet: see the notes.")
    for command in commands:
        say(f"  {command}")


def next_commands(found: Suggestion, source: str, database: Path | None, policy: Path) -> list[str]:
    """What to run next; nothing where no run could succeed."""
    if not found.runs:
        return []
    from sqlanon.suggestion.sets import MAX_NODES

    is_csv = source.lower().endswith(".csv")
    release = policy.with_name(f"{_stem(source)}_k{found.k}{'.csv' if is_csv else '.parquet'}")
    given = ["--db", str(database)] if database is not None else []
    limit = ["--time-limit", str(TIME_LIMIT)] if found.lattice_nodes > MAX_NODES else []
    with_policy = ["--policy", str(policy)]
    run = ["sqlanon", "run", source, *given, *with_policy, "--into", str(release), *limit]
    page = str(release.with_suffix(".html"))
    report = ["sqlanon", "report", str(release), *given, *with_policy, "--source", source, "--out", page]
    return [shlex.join(run), shlex.join(report)]


def _stem(source: str) -> str:
    """What files of a source are called."""
    from sqlanon.model.datasets import FILE_SUFFIXES

    name = Path(source).stem if source.lower().endswith(FILE_SUFFIXES) else source
    is_name = re.fullmatch(r"[\w.*/-]+", name)
    return (re.sub(r"[^\w-]+", "_", name).strip("_") if is_name else "") or "release"
