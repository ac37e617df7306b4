"""Commands that measure a table, and report on a release and verify it: of one table, or of several linked ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Exit, Option

from sqlanon.api.session import Session
from sqlanon.cli import options as opt
from sqlanon.cli.command import command, reading
from sqlanon.cli.options import Spelled
from sqlanon.cli.output import ExitCode, put, say, show, write_file, write_json
from sqlanon.errors import VerificationError

POLICY = Spelled("FILE.toml", "--policy", Path, opt.read_any_policy, help="The policy.")


@command(Session.measure, policy=POLICY)
def measure(
    source: opt.Sources = None, database: opt.OptionalDatabase = None, as_json: opt.Json = False, **given: Any
) -> None:
    """Measure what a table gives away as it is: exit code 0 if it meets the privacy models, 3 if not.

    Example: sqlanon measure visits --db clinic.duckdb --policy policy.toml
    """
    wanted = opt.sources_for(given["policy"], source)
    with reading(database) as session:
        measurement = session.measure(wanted, **given)
    put(measurement, as_json=as_json, met=measurement.met)
    if not measurement.met:
        say(f"Not met: {'; '.join(measurement.shortfalls)}.")
        raise Exit(ExitCode.NOT_MET)


@command(Session.report, policy=Spelled("FILE", kind=Path, read=opt.read_any_policy), source=Spelled("SOURCE"))
def report(
    tables: opt.OfRelease = None,
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    out: Annotated[Path | None, Option(metavar="FILE", help="Write it as a page of HTML.")] = None,
    replace: opt.ReplaceFile = False,
    public: Annotated[
        bool, Option("--public", help="Only what follows from the release and its provenance, for whoever may see it.")
    ] = False,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Report on a published table: promises, findings, what became of each column, who is left out, how to check it.

    The page that --out writes needs no other file, runs no script and prints on two sheets. With --source it has five
    rows of that: keep it like the source.

    Example: sqlanon report visits_k5 --db clinic.duckdb --source visits --out report.html
    """
    read = opt.read_taxonomies(taxonomies, given["policy"]) if "policy" in given else {}
    given |= opt.origin(given, tables)
    with reading(database, read) as session:
        found = session.report(edition="public" if public else "custodian", **given)
    if out is not None:
        write_file(out, found.to_html(), "report", replace=replace)
    if as_json:
        write_json(found.model_dump(mode="json"))
    elif out is None:
        show(found.document())
    if not found.verification.met:
        say(f"Not met: {given['release']} falls short of its policy.")
        raise Exit(ExitCode.NOT_MET)


@command(Session.verify, source=Spelled("SOURCE"), policy=POLICY)
def verify(
    tables: opt.OfRelease = None,
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Verify a published table against policy and provenance: exit code 0 if it meets them, 3 if it falls short.

    A table without a provenance falls short unless --without-provenance is given. The record is not signed: whoever can
    change the release can change it as well, unless --record-sha256 has its hash from elsewhere.

    Its labels are compared with the taxonomies of --db and --taxonomy, if the release was made with them.

    Example: sqlanon verify visits_k5 --db clinic.duckdb --policy policy.toml
    """
    read = opt.read_taxonomies(taxonomies, given["policy"])
    given |= opt.origin(given, tables)
    with reading(database, read) as session:
        verification = session.verify(strict=False, **given)
    if as_json:
        write_json({**verification.model_dump(mode="json"), "met": verification.met})
    else:
        show(verification.model_copy(update={"shortfalls": ()}).document())  # they follow below
    if not verification.met:
        say(f"Not met: {verification.source} falls short of its policy:")
        for shortfall in verification.shortfalls:
            say(f"  - {shortfall}")
        say(f"What is compared: sqlanon guide {VerificationError.guide}")
        raise Exit(ExitCode.NOT_MET)
    has_doubts = any(each.met is None for each in getattr(verification.measurement, "models", ()))
    say(f"Met: {verification.source} meets its policy{', as far as there is a verdict' if has_doubts else ''}.")
