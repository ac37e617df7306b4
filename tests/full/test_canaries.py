"""No message quotes a value: files with canaries in place of each file that a command takes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlanon.cli.app import command_line
from tests.commands import sqlanon, started
from tests.effort import EFFORT

POLICY = """
quasi_identifiers = ["age", "sex"]
sensitive = ["diag"]
rest = "identifier"
suppression_limit = 0.5
privacy = [{ model = "k-anonymity", k = 5 }]
[taxonomies]
age = { kind = "intervals", widths = [10, 40], minimum = 0, maximum = 99 }
"""
FLAT = 'sex = { kind = "flat", values = ["f", "m"] }\n'
PRIVATE = 'method = { model = "ipa", epsilon = "1", delta = "1e-6" }\n' + POLICY.replace(
    'privacy = [{ model = "k-anonymity", k = 5 }]\n', ""
).replace("suppression_limit = 0.5\n", "")
LINKED = """
privacy = [{ model = "known-rows", k = 5, m = 1 }]
[tables.people]
row_key = "pid"
quasi_identifiers = ["sex"]
identifiers = ["age", "diag"]
taxonomies = { sex = { kind = "flat", values = ["f", "m"] } }
[tables.stays]
parent = "people"
key = "pid"
quasi_identifiers = ["sex"]
sensitive = ["diag"]
identifiers = ["age"]
taxonomies = { sex = { kind = "flat", values = ["f", "m"] } }
"""
TABLES = """
    CREATE TABLE people AS SELECT 'Canary' || i AS diag, i AS age, 'Canary' AS sex FROM range(20) t (i);
    CREATE SCHEMA anon;
    CREATE TABLE anon.taxonomy AS FROM (VALUES
        ('sex', 0, 'Canary 1', 'Canary 1'), ('sex', 1, 'Canary 1', 'Canary'), ('sex', 1, 'Canary 2', 'Canary 3')
    ) t (attribute, level, value, label);
    CREATE TABLE fit AS SELECT 2 AS format, '{"Canary": "Canary"}' AS document;
    CREATE TABLE taxonomy AS FROM anon.taxonomy;
"""
ROWS = "123-45-6789,Canary Roe,Canary hiv\n"
FILES: dict[str, str | bytes] = {
    "row.csv": ROWS,
    "rows.csv": f'{ROWS}987,"Canary open,2,3\n',
    "people.csv": "age,sex,diag\n30,Canary,Canary\nCanary,Canary,Canary\n",
    "keys.csv": "pid,age,sex,diag\nCanary,1,f,Canary\nCanary,2,Canary,Canary\nCanary 2,3,,Canary\n,4,Canary,\n",
    "labels.csv": "f;Canary;*\nf;Canary 2;*\nCanary;;+\n",
    "binary.csv": b"Canary\xff\xfe\x00Canary,\xff\n",
    "flat.toml": POLICY + 'sex = { kind = "flat", values = ["Canary 1", "Canary 2"] }\n',
    "same.toml": POLICY + 'sex = { kind = "groups", groups = { "Canary" = ["f", "m"], "Canary 2" = ["f", []] } }\n',
    "deep.toml": POLICY
    + 'sex = { kind = "groups", groups = { "Canary" = { "x" = ["f"] }, "Canary 2" = { "x" = ["m"] } } }\n',
    "breaks.toml": POLICY + 'sex = { kind = "cuts", breaks = [["Canary"]] }\n',
    "tables.toml": LINKED.replace('"f"', '"Canary 1", "Canary 1"'),
    "line.toml": "Canary = \nCanary Canary\n",
    "canary.json": '{"Canary": ["Canary"]}',
}  # fmt: skip
CSVS = ("row.csv", "rows.csv", "people.csv", "binary.csv")
POLICIES = ("flat.toml", "same.toml", "deep.toml", "breaks.toml", "line.toml", "row.csv")
DATABASE = ("canary.duckdb",)
RELEASES = ("row.csv", "people.csv", "canary/", "canary.duckdb")

COMMANDS: dict[str, tuple[str, ...]] = {
    "init {}": CSVS,
    "init t.csv --out new.toml --replace --codebook {}": (*CSVS, "labels.csv", "canary.json"),
    "init people --replace --db {}": DATABASE,
    "measure {} --policy p.toml": ("people.csv",),
    "measure t.csv --policy {}": ("same.toml",),
    "measure people --policy p.toml --db {}": DATABASE,
    "risk {} --keys age,sex --weight age --population 1000": ("people.csv",),
    "risk people --keys age --population 1000 --db {}": DATABASE,
    "risk t.csv --weight pid --policy {}": ("same.toml", "line.toml"),
    "compare t.csv {} --key pid --weight age": CSVS,
    "compare {} t.csv --key pid --formula age~sex": CSVS,
    "compare people people --key diag --formula age~diag --db {}": DATABASE,
    "run {} --policy p.toml --into out.csv --replace-anything": CSVS,
    "run t.csv --into out.csv --replace-anything --policy {}": POLICIES,
    "run people --policy p.toml --into out.csv --replace-anything --db {}": DATABASE,
    "run t.csv --policy plain.toml --into out.csv --replace-anything --taxonomy sex={}": ("row.csv", "labels.csv"),
    "run t.csv --policy secret.toml --into out.csv --replace-anything --pseudonym-key {}": ("key", "row.csv"),
    "run t.csv --policy dp.toml --into out.csv --replace-anything --ledger {}": DATABASE,
    "run t.csv --policy dp.toml --into out.csv --replace-anything --ledger l.duckdb --public {}": ("row.csv",),
    "run people={} stays=t.csv --policy linked.toml --into new/": ("keys.csv", "people.csv"),
    "run people=t.csv stays={} --policy linked.toml --into new/": ("keys.csv",),
    "run people=t.csv stays=t.csv --into new/ --policy {}": ("tables.toml",),
    "measure people={} stays=t.csv --policy linked.toml": ("keys.csv", "people.csv"),
    "verify linked/ people={} stays=t.csv --policy linked.toml": ("keys.csv", "people.csv"),
    "explain {} --policy p.toml": ("people.csv",),
    "explain t.csv --policy {}": ("flat.toml", "same.toml"),
    "explain people --policy p.toml --db {}": DATABASE,
    "explain t.csv --policy plain.toml --taxonomy sex={}": ("labels.csv",),
    "lattice {} --policy p.toml": ("people.csv",),
    "lattice t.csv --policy {}": ("flat.toml", "same.toml"),
    "lattice people --policy p.toml --db {}": DATABASE,
    "lattice t.csv --policy plain.toml --taxonomy sex={}": ("labels.csv",),
    "report {}": RELEASES,
    "report released.parquet --policy {}": ("same.toml", "line.toml"),
    "report released.parquet --source {}": ("people.csv",),
    "report released.parquet --taxonomy sex={}": ("labels.csv",),
    "report people --db {}": DATABASE,
    "contract {}": ("row.csv", "canary/"),
    "contract people --db {}": DATABASE,
    "verify {} --policy p.toml": RELEASES,
    "verify {} --policy p.toml --without-provenance --safe-harbor": ("people.csv",),
    "verify released.parquet --policy {}": ("same.toml", "line.toml"),
    "verify released.parquet --policy p.toml --source {}": ("people.csv", "binary.csv"),
    "verify released.parquet --policy plain.toml --taxonomy sex={}": ("labels.csv", "row.csv"),
    "verify people --policy p.toml --db {}": DATABASE,
    "compare-releases released.parquet {} --source t.csv --key pid": ("row.csv", "canary/"),
    "compare-releases released.parquet released.parquet --key pid --source {}": ("people.csv",),
    "compare-releases released.parquet released.parquet --source t.csv --key pid --taxonomy sex={}": ("labels.csv",),
    "compare-releases people people --key pid --source people --db {}": DATABASE,
    "fit {} --policy p.toml --fit new.fit": ("people.csv",),
    "fit t.csv --fit new.fit --policy {}": ("flat.toml", "same.toml"),
    "fit people --policy p.toml --fit new.fit --db {}": DATABASE,
    "fit t.csv --policy plain.toml --fit new.fit --taxonomy sex={}": ("labels.csv",),
    "fit t.csv --policy p.toml --fit {}": DATABASE,
    "apply {} --fit f.fit --into out.csv --replace-anything": ("people.csv",),
    "apply t.csv --into part.csv --fit {}": DATABASE,
    "apply t.csv --fit f.fit --into part.csv --taxonomy sex={}": ("labels.csv",),
    "apply people --fit f.fit --into part.csv --db {}": DATABASE,
    "flatten {} --individual pid --event diag --order-by age --first 2 --into flat.csv": ("people.csv", "binary.csv"),
    "flatten people --individual pid --event diag --order-by age --first 2 --into flat.csv --db {}": DATABASE,
    "generalize {} --like released.parquet --into like.csv": ("people.csv",),
    "generalize t.csv --into like.csv --like {}": ("row.csv", "canary/"),
    "generalize t.csv --like released.parquet --into like.csv --taxonomy sex={}": ("labels.csv",),
    "generalize people --like released.parquet --into like.csv --db {}": DATABASE,
    "install --db {}": ("row.csv",),
    "audit-privacy t.csv {} --policy dp.toml --runs 2": ("people.csv",),
    "audit-privacy t.csv t.csv --runs 2 --policy {}": ("same.toml",),
    "audit-privacy people people --policy dp.toml --runs 2 --db {}": DATABASE,
    "audit-privacy t.csv t.csv --policy plain.toml --runs 2 --taxonomy sex={}": ("labels.csv",),
    "reproduce ola --out r --data {}": ("row.csv", "canary/"),
    "taxonomy load sex {} --db new.duckdb": ("row.csv", "labels.csv", "binary.csv"),
    "taxonomy load sex sex.csv --db new.duckdb --source {}": ("people.csv",),
    "taxonomy load sex sex.csv --db {}": DATABASE,
    "taxonomy make sex flat --db new.duckdb --source {}": ("binary.csv", "row.csv"),
    "taxonomy make sex flat --value f --db {}": DATABASE,
    "taxonomy check --db {}": DATABASE,
    "taxonomy list --db {}": DATABASE,
    "taxonomy export sex {} --db canary.duckdb": ("row.csv",),
    "taxonomy export sex new.csv --db {}": DATABASE,
    "ledger show --db {}": DATABASE,
    "ledger show --ledger {}": DATABASE,
    "ledger cap t.csv --epsilon 1 --db {}": DATABASE,
    "ledger cap t.csv --epsilon 1 --ledger {}": DATABASE,
    "ledger remaining t.csv --db {}": DATABASE,
    "ledger remaining t.csv --ledger {}": DATABASE,
    "ledger verify --db {}": DATABASE,
    "ledger verify --ledger {}": DATABASE,
    "releases --db {}": DATABASE,
    "releases --db canary.duckdb --dataset {}": ("row.csv",),
    "releases forget {} --reason x --db canary.duckdb": ("row.csv",),
    "releases forget t.csv --reason x --db {}": DATABASE,
    "demo --db {}": ("row.csv",),
}
"""Commands with ``{}`` in place of a file, and the files that are given there."""

WRITTEN = {"--clean", "--into", "--out", "--sql", "--chart", "--temp-directory"}
"""Options that name what a command writes."""

TAKEN = ("SOURCE", "RELEASE", "NEIGHBOUR", "FILE", "DB", "DIR", "TABLE", "ATTRIBUTE=FILE.csv")
"""What an argument or option is called whose file is read."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The canaries, beside files with which the commands would do."""
    folder = tmp_path_factory.mktemp("canaries")
    for name, text in FILES.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    (folder / "p.toml").write_text(POLICY + FLAT)
    (folder / "plain.toml").write_text(POLICY)
    (folder / "linked.toml").write_text(LINKED)
    (folder / "secret.toml").write_text(POLICY.replace("rest", 'pseudonyms = ["pid"]\nrest') + FLAT)
    (folder / "dp.toml").write_text(PRIVATE + FLAT)
    (folder / "sex.csv").write_text("f;*\nm;*\n")
    (folder / "key").write_text("Canary\n")
    (folder / "key").chmod(0o600)
    with duckdb.connect(folder / "canary.duckdb") as connection:
        connection.execute(TABLES)
        people = "i AS pid, 18 + i % 70 AS age, ['f', 'm'][1 + i % 2] AS sex, 'Canary ' || i % 3 AS diag"
        connection.execute(f"COPY (SELECT {people} FROM range(600) t (i)) TO '{folder / 't.csv'}'")
    run = ("--policy", "p.toml", "--into")
    for command in (
        ("run", "t.csv", *run, "released.parquet"),
        ("run", "t.csv", *run, "canary/", "--partition-by", "sex"),
        ("fit", "t.csv", "--policy", "p.toml", "--fit", "f.fit"),
        ("run", "people=t.csv", "stays=t.csv", "--policy", "linked.toml", "--into", "linked/"),
    ):
        done = sqlanon(*command, folder=folder)
        assert done.returncode == 0, done.stderr
    record = folder / "canary" / "_sqlanon.json"
    record.write_text(record.read_text().replace('"f"', '"Canary"'))
    return folder


@pytest.mark.repeated
def test_no_message_quotes_what_is_in_a_file(folder: Path) -> None:
    """Stdout is what was asked for where a command does its work, and a document about its failure else.

    Tier 2 gives each command the first file that is its argument, and each option its first file once.
    """
    all_of_them = [(command, file) for command, files in COMMANDS.items() for file in files]
    first = {_tried_first(command): (command, files[0]) for command, files in reversed(COMMANDS.items())}
    quoted = []
    for command, file in all_of_them if EFFORT >= 1 else first.values():
        words = command.replace("{}", file).split()
        done = sqlanon(*words, *([] if words[:2] == ["taxonomy", "export"] else ["--json"]), folder=folder)
        messages = done.stderr + (done.stdout if done.returncode and words[0] != "report" else "")
        if "Canary" in messages or "canary roe" in messages or "not expected" in messages:
            quoted.append((" ".join(words), messages))
    assert quoted == []


def _tried_first(command: str) -> tuple[str, ...]:
    ((name, taken),) = _tried(command)
    return (name, taken) if taken == "argument" else (taken,)


def test_sqlglot_writes_nothing_of_a_query(folder: Path) -> None:
    query = "SELECT * FROM 't.csv' USING SAMPLE 10 (bernoulli)"
    done = started("measure", query, "--policy", "p.toml", folder=folder)
    assert "ampling" not in done.stderr.replace(query, "")


def test_each_file_that_a_command_takes_is_tried() -> None:
    """But for the app, which takes them until it is ended: tests/full/test_app_command.py tries those."""
    tried = {name for command in COMMANDS for name in _tried(command)}
    taken_ones = {(name, taken) for name, param in _params(command_line()) if (taken := _taken(param))}
    assert {(name, taken) for name, taken in taken_ones if name != "app"} == tried


def _tried(command: str) -> Iterator[tuple[str, str]]:
    words = command.split()
    place = next(place for place, word in enumerate(words) if "{}" in word)
    depth = 2 if words[0] in ("taxonomy", "ledger") or words[:2] == ["releases", "forget"] else 1
    name = " ".join(words[:depth])
    yield name, words[place - 1] if words[place - 1].startswith("--") else "argument"


def _params(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    yield from ((name, param) for param in command.params)
    for below, made in getattr(command, "commands", {}).items():
        yield from _params(made, f"{name} {below}".strip())


def _taken(param: Any) -> str | None:
    """The option, or ``argument``; None if the command does not read a file there."""
    if not str(param.metavar).lstrip("[").startswith(TAKEN) or not WRITTEN.isdisjoint(param.opts):
        return None
    return param.opts[0] if param.opts[0].startswith("--") else "argument"
