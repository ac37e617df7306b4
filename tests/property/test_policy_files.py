"""Edits of policy files against the same edits of plain values; what an edit does not touch keeps its bytes."""

import json
import tomllib
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.policy_value import SETTINGS as OF_FULL_DOMAIN
from sqlanon.suggestion.policy_edits import KEY_OF_ROLE, LIST_OF_ROLE, OF_PUBLISHED, OF_QUASI_IDENTIFIERS
from sqlanon.suggestion.toml_text import toml_key, toml_value
from tests.effort import examples

NAMES = ("age", "Größe", 'a"b; drop table x --', "x.y", "# no", "two\nlines", "", "it's [1]")
LISTS = [*LIST_OF_ROLE.values()]
RULES = ("flat", {"kind": "intervals", "widths": [5, 10]}, [("a", "x;y", "*"), (None, '"', "*")], None)
MODELS = (
    {"model": "k-anonymity", "k": 5}, {"model": "k-anonymity", "k": 9},
    *({"model": "distinct-l-diversity", "column": name, "l": 2} for name in NAMES[:3]),
)  # fmt: skip
SETTINGS: dict[str, list[Any]] = {
    "suppression_limit": [0.05, 0.5], "timezone": ["UTC", "Europe/Berlin"], "node": [{"age": 1}, {"x.y": 2, "age": 0}],
    "release": [{"purpose": "science"}], "rest": ["identifier"], "csv": [{"types": {"x.y": "DATE"}}],
}  # fmt: skip


def array(draw: st.DrawFn, name: str, columns: Sequence[str]) -> list[str]:
    written = [draw(st.sampled_from([toml_value(each), toml_value(each).replace("z", "\\u007a")])) for each in columns]
    comments = [draw(st.sampled_from(["", "  # why", "  # ? who knows", " #\tX"])) for _ in columns]
    end = draw(st.sampled_from([",", ""])) if columns else ""
    lines = [f"  {each},{say}" for each, say in zip(written, comments, strict=True)]
    match draw(st.sampled_from(["line", "lines", "bracket", "missing"])):
        case "line":
            return [f"{name} = [{', '.join(written)}{end}]  # keep {name}"]
        case "lines":
            last = [f"  {written[-1]}{end}{comments[-1]}"] if columns else []
            return [f"{name}=[", "  # keep inner, 'of' ]", *lines[:-1], *last, "", "]"]
        case "bracket":
            return [f"{name} = [ # keep ]", *lines, "] "]
        case _:
            return []


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Write a policy in one of the forms of TOML; comments with "keep" stand where no edit comes."""
    columns = draw(st.permutations(NAMES))
    lines = ["# keep heading  é", ""]
    for name in LISTS:
        taken, columns = columns[: (count := draw(st.integers(0, 3)))], columns[count:]
        lines += array(draw, name, taken)
    rules = {name: rule for name in NAMES if isinstance(rule := draw(st.sampled_from(RULES)), dict | str)}
    models = draw(st.lists(st.sampled_from(MODELS), max_size=3))
    keys = {name: value[0] for name, value in SETTINGS.items() if draw(st.booleans())}
    tables = []
    for name, values in (("taxonomies", rules), *((n, v) for n, v in keys.items() if isinstance(v, dict))):
        match draw(st.sampled_from(["table", "dotted", "inline"])):
            case "table":
                items = [f"{toml_key(key)} = {toml_value(each)}" for key, each in values.items()]
                tables.append(["", f"# keep above {name}", f"[{name}]  # header", *items, f"# keep below {name}"])
            case "dotted":
                lines += [f"{name}.{toml_key(key)} = {toml_value(each)} # c" for key, each in values.items()]
            case "inline":
                lines.append(f"{name} = {toml_value(values)}")
    lines += [f"{name} = {toml_value(each)}" for name, each in keys.items() if not isinstance(each, dict)]
    if draw(st.booleans()):
        lines.append(f"privacy = {toml_value(models)}")
    else:
        for model in models:
            items = [f"{key} = {toml_value(each)}" for key, each in model.items()]
            tables.append(["[[privacy]]", *items, "", "# keep model"])
    tables = draw(st.permutations(tables))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = newline.join([*lines, "# keep end of keys", *(line for table in tables for line in table)])
    return text + draw(st.sampled_from(["", newline]))


EDITS = st.one_of(
    st.tuples(st.just("with_role"), st.sampled_from(NAMES), st.sampled_from([*LIST_OF_ROLE, *KEY_OF_ROLE])),
    st.tuples(st.just("with_taxonomy"), st.sampled_from(NAMES), st.sampled_from(RULES)),
    st.tuples(st.just("with_models"), st.lists(st.sampled_from(MODELS), max_size=4)),
    st.sampled_from(sorted(SETTINGS)).flatmap(
        lambda name: st.tuples(st.just("with_setting"), st.just(name), st.sampled_from([*SETTINGS[name], None]))
    ),
    st.tuples(st.just("with_method"), st.sampled_from(["full-domain", "ipa", "unknown"])),
    st.tuples(st.just("with_quality"), st.sampled_from(["lm", "entropy"])),
)  # fmt: skip


def naively(values: dict[str, Any], verb: str, *wanted: Any) -> None:
    match verb, *wanted:
        case "with_role", column, role:
            naive_role(values, column, role)
        case "with_models", models:
            values["privacy"] = [*models]
        case "with_taxonomy", column, rule:
            values.setdefault("taxonomies", {})[column] = rule
        case "with_method", model:
            for name in {*OF_FULL_DOMAIN} - {*sa.IPA.model_fields} if model == "ipa" else ():
                values.pop(name, None)
            values["method"] = model
        case "with_quality", model:
            values["quality"] = model
        case "with_setting", name, value:
            values[name] = deepcopy(value)


def naive_role(values: dict[str, Any], column: str, role: str) -> None:
    there = [name for name in LISTS if column in values.get(name, [])]
    home = LIST_OF_ROLE.get(role, "insensitive" if "insensitive" in there else "identifiers")
    gone: list[str] = []
    if there != [home]:
        for name in there:
            values[name].remove(column)
        values.setdefault(home, []).append(column)
        gone += OF_QUASI_IDENTIFIERS[:-2] if there == ["quasi_identifiers"] else []
        if there == ["sensitive"]:
            values["privacy"] = [each for each in values.get("privacy", []) if each.get("column") != column]
            gone += ["taxonomies"] if home != "quasi_identifiers" else []
    for key in [key for key in KEY_OF_ROLE.values() if values.get(key) == column]:
        del values[key]
    if role in KEY_OF_ROLE:
        values[KEY_OF_ROLE[role]] = column
    for name in (*gone, *(OF_PUBLISHED if home in ("identifiers", "pseudonyms") else ())):
        (values.get(name) or {}).pop(column, None)


def filled(value: Any) -> Any:
    """Leave out what is empty, which a text may have or lack."""
    if isinstance(value, dict):
        return {name: inner for name, each in value.items() if (inner := filled(each)) not in ({}, [], None)}
    return [filled(each) for each in value] if isinstance(value, list | tuple) else value


@settings(max_examples=examples(2000))
@given(texts(), st.lists(EDITS, max_size=6))
def test_edits_change_their_values_and_keep_what_a_person_wrote(text: str, edits: list[Any]) -> None:
    file, expected = sa.PolicyFile(text), tomllib.loads(text)
    for verb, *wanted in edits:
        file = getattr(file, verb)(*wanted)
        naively(expected, verb, *wanted)
    found = dict(tomllib.loads(file.text))
    labels = {name: rule for name, rule in expected.get("taxonomies", {}).items() if isinstance(rule, list)}
    for name, rows in labels.items():
        assert file.labels(name) == rows
        expected["taxonomies"][name] = found["taxonomies"][name]
    assert filled(found) == filled(expected)
    assert sorted(file.taxonomies) == sorted(found["taxonomies"][name] for name in labels)
    kept = [line[line.index("# keep") :] for line in text.splitlines() if "# keep" in line]
    left = [line[line.index("# keep") :] for line in file.text.splitlines() if "# keep" in line]
    assert left == kept
    assert json.dumps([*file.roles]) == json.dumps([each for name in LISTS for each in found.get(name, [])])
