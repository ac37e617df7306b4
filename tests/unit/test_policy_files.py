"""Policy files: read, checked, edited and written, with the files of their taxonomies."""

import contextlib
import stat
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.errors import EngineError, PolicyError, Relaxation, TaxonomyError
from sqlanon.model.taxonomy.hierarchies import merged, note_path, renamed, taken_out, with_level
from sqlanon.suggestion.policy_form import PolicyForm
from sqlanon.suggestion.rule_form import fields_of, rule_in, words_of

TEXT = """# Visits
quasi_identifiers = [
    "age",      # by its name
    "city",     # ? by its values
]
sensitive = ["diagnosis"]
identifiers = []
suppression_limit = 0.05  # 5 % of the rows

[[privacy]]
model = "k-anonymity"
k = 5  # agreed with the office

# The models end here.
[quality]
model = "lm"

[taxonomies]
age = { kind = "intervals", widths = [5, 10] }
city = "policy_city.csv"  # group these
"""
LABELS = [("Bonn", "Rhine", "*"), ("Köln", "Rhine", "*"), ("Kiel", "Coast", "*")]


@pytest.fixture
def file(tmp_path: Path) -> sa.PolicyFile:
    return sa.PolicyFile(TEXT, path=tmp_path / "policy.toml").with_taxonomy("city", LABELS)


def test_roles_have_their_reasons_and_marks(file: sa.PolicyFile) -> None:
    shown = {name: (each.role, each.reason, each.is_undecided) for name, each in file.roles.items()}
    assert shown == {
        "age": ("quasi-identifier", "by its name", False), "city": ("quasi-identifier", "by its values", True),
        "diagnosis": ("sensitive", "", False),
    }  # fmt: skip
    decided = file.with_role("City", "quasi-identifier")
    assert decided.text == TEXT.replace("# ? by", "# by")
    assert decided.with_role("age", "weight").roles["age"] == sa.ColumnRole("weight", "by its name", False)


def test_a_line_moves_with_its_comment_and_the_rest_stays(file: sa.PolicyFile) -> None:
    moved = file.with_role("city", "identifier")
    line, rule = '    "city",     # ? by its values\n', 'city = "policy_city.csv"  # group these\n'
    expected = TEXT.replace(line, "").replace(rule, "")
    assert moved.text == expected.replace("identifiers = []", 'identifiers = [\n    "city",  # by its values\n]')
    assert moved.taxonomies == {} and file.taxonomies != {}
    assert file.with_role("city", "sensitive", "see § 3").roles["city"] == sa.ColumnRole("sensitive", "see § 3", False)


def test_models_change_in_place_and_comments_above_the_next_table_stay(file: sa.PolicyFile) -> None:
    changed = file.with_models([sa.DistinctLDiversity(column="diagnosis", l=2), sa.KAnonymity(7)])
    assert "k = 7  # agreed with the office" in changed.text
    assert [model.model for model in changed.policy.privacy] == ["distinct-l-diversity", "k-anonymity"]
    without = changed.with_models([])
    assert "# The models end here.\n[quality]" in without.text
    assert without.problems == ("privacy: needs at least one",)
    assert changed.with_role("diagnosis", "insensitive").policy.privacy == (sa.KAnonymity(7),)


def test_settings_and_methods(file: sa.PolicyFile) -> None:
    file = file.with_setting("suppression_limit", 0.1, "10 %").with_setting("timezone", "Europe/Berlin")
    assert "suppression_limit = 0.1  # 10 %\ntimezone" in file.text
    private = file.with_method("ipa", budget={"epsilon": "0.1"})
    assert "suppression_limit" not in private.values
    assert private.values["method"] == {"model": "ipa", "budget": {"epsilon": "0.1"}}
    assert file.with_method("local-recoding").policy.suppression_limit == 0.1
    assert file.with_quality("lm", weights={"age": 2}).policy.quality == sa.LM(weights={"age": 2})
    assert file.with_setting("timezone", None).with_setting("suppression_limit", 0.05, "5 % of the rows").text == TEXT


def test_a_node_stands_in_place_of_what_chooses_one(file: sa.PolicyFile) -> None:
    assert file.columns_of("quasi-identifier") == ["age", "city"]
    method = {"model": "full-domain", "search": "heuristic", "suppression_limit": 0.05}
    searching = file.with_setting("suppression_limit", None).with_setting("method", method)
    named = searching.with_node({"age": 1, "city": 0})
    assert named.values["method"] == {"model": "full-domain", "suppression_limit": 0.05}
    assert named.policy.method.node == {"age": 1, "city": 0}  # type: ignore[attr-defined]
    assert named.with_node(None).values.keys() == searching.values.keys()
    assert file.with_node({"age": 1, "city": 0}).with_node(None).text == TEXT


@pytest.mark.parametrize(
    ("changes", "before", "after"),
    [
        ({"privacy": [{"model": "k-anonymity", "k": 3}]}, "k = 5  # agreed", "k = 3  # agreed"),
        ({"suppression_limit": 0.2}, "= 0.05  # 5 % of the rows", "= 0.2  # 20 % of the rows may be left out"),
    ],
)
def test_a_relaxation_changes_only_its_setting(file: sa.PolicyFile, changes: Any, before: str, after: str) -> None:
    relaxation = Relaxation("models", changes, True, {}, 0, "")  # type: ignore[arg-type]
    assert file.relaxed(relaxation).text == TEXT.replace(before, after)
    assert file.relaxed(relaxation).policy == relaxation.applied_to(file.policy)


def test_a_form_changes_only_what_differs(file: sa.PolicyFile) -> None:
    form = PolicyForm(file.with_models([sa.KAnonymity(5), sa.EntropyLDiversity(column="diagnosis", l=1.5)]))
    assert form.texts == {
        "method": "full-domain", "k": "5", "limit": "5", "l0": "1", "t0": "", "loss": "lm", "w0": "1", "w1": "1"
    }  # fmt: skip
    assert form.other_models == ['entropy l-diversity of "diagnosis" (l = 1.5)'] and not form.is_private
    texts = {"k": "7", "limit": "5", "t0": "0,4", "unknown": "x"}
    assert form.in_words(texts) == "k, the least rows of a class: 7, t, the largest difference of diagnosis: 0,4"
    assert [each.model for each in form.with_texts(texts).policy.privacy] == [
        "k-anonymity", "entropy-l-diversity", "t-closeness"
    ]  # fmt: skip
    assert PolicyForm(file).with_texts({"k": "7"}).text == TEXT.replace("k = 5", "k = 7")
    for name, text in (("k", "many"), ("limit", "nan"), ("method", "magic")):
        with pytest.raises(PolicyError, match=r"type a number|one of the methods"):
            form.with_texts({name: text})


@pytest.mark.parametrize(
    ("rule", "words", "texts"),
    [
        ({"kind": "intervals", "widths": [5, 10], "minimum": 0}, "intervals of 5, 10", "5, 10"),
        ({"kind": "cuts", "breaks": [[18, 65], [65]]}, "cuts at 18, 65; 65", "18, 65; 65"),
        ({"kind": "dates", "units": ["year", "decade"]}, "year, decade", "year, decade"),
        ({"kind": "prefixes", "keep": [3, 1]}, "the first 3, 1 characters", "3, 1"),
        ("flat", "the value, or *", ""),
    ],
)
def test_a_rule_is_a_form_and_back(file: sa.PolicyFile, rule: Any, words: str, texts: str) -> None:
    written = file.with_taxonomy("age", rule).rules["age"]
    shown = fields_of(written)
    assert (words_of(written), shown["levels"]) == (words, texts) and rule_in(shown) == written
    assert words_of(file.rules["city"]) == "groups of values" and fields_of(file.rules["city"])["kind"] == "labels"
    for wrong in ({"kind": "magic"}, {"kind": "intervals", "levels": "five"}):
        with pytest.raises(TaxonomyError, match=r"kinds|numbers"):
            rule_in(wrong)


def test_labels_are_edited() -> None:
    labels = [list(map(str, row)) for row in LABELS]
    named = merged(labels, ["Kiel", "Bonn"], "Coast")
    assert named == [["Bonn", "Coast", "*"], ["Köln", "Rhine", "*"], ["Kiel", "Coast", "*"]]
    assert renamed(named, 1, "Coast", "Rhine") == [[row[0], "Rhine", "*"] for row in named]
    assert taken_out(named, ["Kiel"])[2] == ["Kiel", "Kiel", "*"] and with_level(named)[0] == [
        "Bonn",
        *["Coast"] * 2,
        "*",
    ]
    for wrong in (lambda: merged(labels, ["Ulm"], "x"), lambda: renamed(labels, 2, "*", "x")):
        with pytest.raises(TaxonomyError, match="choose"):
            wrong()


def test_a_taxonomy_is_a_rule_or_a_file_of_its_labels(file: sa.PolicyFile) -> None:
    assert file.labels("CITY") == LABELS
    assert sa.Taxonomy.from_rows(LABELS) == file.policy.taxonomies["city"].taxonomy()
    hostile = file.with_taxonomy('a"b; drop table x --', [("x;y", '"', "*"), (None, "\n", "*")])
    assert hostile.labels('a"b; drop table x --') == [("x;y", '"', "*"), (None, "\n", "*")]
    assert [*hostile.taxonomies] == ["policy_city.csv", "policy_a_b_drop_table_x.csv"]
    rules = file.with_taxonomy("age", sa.Taxonomy.dates(("year",), first="2020-01-01", last="2021-01-01"))
    assert rules.policy.taxonomies["age"].taxonomy().values is not None
    groups = file.with_taxonomy("city", sa.Taxonomy.groups({"Rhine": ["Bonn"]}))
    assert groups.domains == {"policy_city.csv": "declared"} and groups.labels("city") == [("Bonn", "Rhine", "*")]
    assert file.with_taxonomy("city", None).taxonomies == {}
    assert file.with_taxonomy("city", {"kind": "flat"}).text.endswith('city = { kind = "flat" }  # group these\n')


def test_what_is_written_is_private_and_read_back(file: sa.PolicyFile, tmp_path: Path) -> None:
    written = file.write()
    labels = tmp_path / "policy_city.csv"
    assert written == (tmp_path / "policy.toml", labels, note_path(labels))
    assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in written[1:])
    read = sa.PolicyFile.read(written[0])
    assert (read.text, read.taxonomies, read.domains) == (TEXT, dict(file.taxonomies), {labels.name: "observed"})
    assert read.policy == sa.Policy.from_toml(written[0])
    with pytest.raises(EngineError, match="exists"):
        file.write()
    # A taxonomy of somebody's own stays stated, also when an edit of it is taken back.
    note_path(labels).unlink()
    stated = sa.PolicyFile.read(written[0])
    stated.with_taxonomy("city", LABELS[:2]).write(replace=True)
    assert sa.Taxonomy.from_csv(labels).domain == "observed"
    stated.write(replace=True)
    assert sa.Taxonomy.from_csv(labels).domain == "stated"
    (tmp_path / "policy_age.csv").write_text("not ours")
    assert "policy_age1.csv" in stated.with_taxonomy("age", LABELS).taxonomies


def test_problems_are_listed_all_at_once_and_hold_no_value(file: sa.PolicyFile) -> None:
    assert file.problems == ()
    broken = file.with_taxonomy("city", [("secret", "*"), ("secret2", "x", "*")]).with_setting("rest", "no")
    assert [each.split(":")[0] for each in broken.problems] == ["rest", 'taxonomies."city"']
    assert "secret" not in str(broken.problems)
    missing = file.with_taxonomy("city", "elsewhere.csv")
    assert missing.problems == ('taxonomies."city": the file elsewhere.csv does not exist',)
    no_toml = sa.PolicyFile("a = ")
    assert "not valid TOML" in no_toml.problems[0]


@pytest.mark.parametrize(
    "text",
    ["a = ", "sensitive = 3", 'sensitive = [["age"]]', "[[taxonomies]]", "privacy = 1", "taxonomies.age.file = 3"],
)
def test_a_text_of_another_shape_is_edited_or_refused(text: str) -> None:
    file = sa.PolicyFile(text)
    edits = (
        lambda: file.with_role("age", "weight"), lambda: file.with_taxonomy("age", LABELS),
        lambda: file.with_models([sa.KAnonymity(2)]), lambda: file.with_setting("sensitive", ["age"]),
    )  # fmt: skip
    for edit in edits:
        with contextlib.suppress(PolicyError):
            assert edit().problems
    with pytest.raises(PolicyError):
        file.policy  # noqa: B018
    with pytest.raises(PolicyError):
        file.with_role("age", "x")  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match="beside their policy"):
        sa.PolicyFile("", {"../x.csv": ""})
