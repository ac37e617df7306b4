"""What is added from outside works as what is in the package does: it is found by name, searched, verified and read."""

import itertools
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

import sqlanon as sa
from sqlanon.model.destination import FORMATS
from sqlanon.model.quality import QualityModel
from sqlanon.queries.published_rows import release as release_of_queries
from tests import oracle
from tests.conftest import clinic_policy
from tests.exercises import json_lines, merged, public_node, rare_values, second_table
from tests.exercises.merged import Merged
from tests.exercises.public_node import PublicNode
from tests.exercises.rare_values import ValueFrequency

EXERCISES = (merged.REGISTRATION, public_node.REGISTRATION, rare_values.REGISTRATION, second_table.REGISTRATION)


@pytest.fixture(scope="module", autouse=True)
def registered() -> Iterator[None]:
    """As long as these tests run: others look at what is in the package."""
    for registration in EXERCISES:
        sa.register(**registration)
    yield
    for registration in EXERCISES:
        sa.unregister(**registration)


NODE = {"age": 1, "sex": 1, "zip": 1}


def rows_of(session: sa.Session, table: str) -> list[dict[str, object]]:
    relation = session.connection.table(table)
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


class TestMetric:
    @pytest.mark.usefixtures("macros")
    def test_the_node_of_least_loss_is_found(self, clinic: sa.Session) -> None:
        """Against the loss of every node, counted by hand from the table at that node; its macro is for everybody."""
        wanted = clinic_policy(sa.KAnonymity(2), quality=Merged(), suppression_limit=0.3)
        release = clinic.anonymize("visits", wanted, "released")
        losses = {}
        heights = release.report.heights
        for levels in itertools.product(*(range(height + 1) for height in heights.values())):
            node = dict(zip(heights, levels, strict=True))
            sizes = class_sizes(clinic, node)
            kept = [size for size in sizes if size >= 2]
            if sum(sizes) - sum(kept) <= 0.3 * sum(sizes):
                losses[levels] = 1 - len(kept) / sum(sizes)
        assert release.report.quality == "merged"
        assert release.report.loss == pytest.approx(min(losses.values()))
        assert losses[tuple(release.node.values())] == pytest.approx(min(losses.values()))
        assert release.report.losses["merged"] == release.report.loss
        query = "SELECT anon.merged_of(class_size, class_size >= 2, 12) FROM anon.class_sizes('visits', ['sex'])"
        [(merged,)] = clinic.connection.execute(query).fetchall()
        sizes = oracle.class_sizes(rows_of(clinic, "visits"), ["sex"])
        assert merged == pytest.approx(1 - sum(size >= 2 for size in sizes) / 12)


class TestFormat:
    def test_a_release_is_written_read_back_and_replaced(
        self, clinic: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for suffix, home in json_lines.LINE.items():
            monkeypatch.setitem(FORMATS, suffix, home)
        into = tmp_path / "released.jsonl"
        wanted = clinic_policy(sa.KAnonymity(2), suppression_limit=0.3)
        release = clinic.anonymize("visits", wanted, into)
        rows = [json.loads(line) for line in into.read_text().splitlines()]
        clinic.anonymize("visits", wanted, "released")
        assert rows == rows_of(clinic, "released")
        with pytest.raises(sa.TargetError, match=r"released\.jsonl exists"):
            clinic.anonymize("visits", wanted, into)
        assert clinic.anonymize("visits", wanted, into, replace=True).node == release.node
        into.write_text("{}\n")
        with pytest.raises(sa.EngineError, match=r"released\.jsonl was not written by sqlanon"):
            clinic.anonymize("visits", wanted, into, replace=True)
        assert into.read_text() == "{}\n"


class TestModel:
    def test_classes_of_local_recoding_meet_it(self, clinic: sa.Session) -> None:
        model = ValueFrequency(column="diagnosis", m=2)
        method = sa.LocalRecoding(suppression_limit=0.7)
        release = clinic.anonymize("visits", clinic_policy(sa.KAnonymity(2), model, method=method), "released")
        assert release.report.models[1].met
        classes = Counter((row["age"], row["sex"], row["zip"], row["diagnosis"]) for row in rows_of(clinic, "released"))
        assert min(classes.values()) >= 2

    def test_a_release_meets_it(self, clinic: sa.Session) -> None:
        wanted = clinic_policy(sa.KAnonymity(2), ValueFrequency(column="diagnosis", m=2), suppression_limit=0.7)
        release = clinic.anonymize("visits", wanted, "released")
        (_, found) = release.report.models
        assert (found.measure, found.met) == ("smallest_count", True)
        assert clinic.verify("released", wanted).met
        classes: dict[tuple[object, ...], dict[object, int]] = {}
        for row in rows_of(clinic, "released"):
            values = classes.setdefault((row["age"], row["sex"], row["zip"]), {})
            values[row["diagnosis"]] = values.get(row["diagnosis"], 0) + 1
        assert min(count for values in classes.values() for count in values.values()) >= 2

    def test_a_table_that_does_not_meet_it(self, clinic: sa.Session) -> None:
        wanted = clinic_policy(ValueFrequency(column="diagnosis", m=12))
        with pytest.raises(sa.VerificationError, match="value frequency"):
            clinic.verify("visits", wanted)

    def test_what_could_be_asked_for_instead(self, clinic: sa.Session) -> None:
        wanted = clinic_policy(sa.KAnonymity(2), ValueFrequency(column="diagnosis", m=12))
        with pytest.raises(sa.UnsatisfiableError) as refused:
            clinic.anonymize("visits", wanted, "released")
        assert "value frequency" in str(refused.value)


class TestMethod:
    def test_it_publishes_at_its_node(self, clinic: sa.Session, tmp_path: Path) -> None:
        wanted = clinic_policy(sa.KAnonymity(2), method=PublicNode(node=NODE), suppression_limit=1.0)
        release = clinic.anonymize("visits", wanted, tmp_path / "released.parquet", progress=lambda _: None)
        assert release.node == NODE
        assert clinic.verify(tmp_path / "released.parquet", wanted).met

    def test_it_is_read_from_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "policy.toml"
        file.write_text(
            'quasi_identifiers = ["age"]\nprivacy = [{ model = "k-anonymity", k = 2 }]\n'
            'method = { model = "public-node", node = { age = 1 } }\n'
        )
        found = sa.Policy.from_toml(file)
        assert found.method == PublicNode(node={"age": 1})
        assert sa.Policy(**found.model_dump(mode="json")) == found

    def test_what_does_not_fit_is_refused(self, clinic: sa.Session) -> None:
        with pytest.raises(sa.PolicyError, match="every quasi-identifier its level"):
            clinic_policy(sa.KAnonymity(2), method=PublicNode(node={"age": 1}))
        wanted = clinic_policy(sa.KAnonymity(2), method=PublicNode(node=NODE), suppression_limit=1.0)
        with pytest.raises(sa.PolicyError, match="the policy names one"):
            clinic.anonymize("visits", wanted, "released", node=NODE)

    def test_it_is_explained(self, clinic: sa.Session) -> None:
        wanted = clinic_policy(sa.KAnonymity(2), method=PublicNode(node=NODE), suppression_limit=1.0)
        assert "the release" in [step.purpose for step in clinic.explain("visits", wanted)]


def with_sizes(k: int) -> sa.Policy:
    return clinic_policy(sa.KAnonymity(k), method=second_table.ClassSizes())


class TestSecondTable:
    SIZES = "SELECT age, sex, zip, count(*) AS rows FROM anonymous GROUP BY ALL ORDER BY ALL"

    def test_both_are_published_or_as_they_were(self, clinic: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        tables = {"sizes": "class_sizes"}
        release = clinic.anonymize("visits", with_sizes(2), into="anonymous", tables=tables)
        assert release.tables == tables
        told = clinic.connection.sql("FROM class_sizes ORDER BY ALL").fetchall()
        assert told == clinic.connection.sql(self.SIZES).fetchall()
        assert told
        again = clinic.anonymize("visits", with_sizes(2), into="anonymous", tables=tables, replace=True)
        assert again.report.rows == release.report.rows
        before = [rows_of(clinic, name) for name in ("anonymous", "class_sizes")]
        monkeypatch.setattr(second_table, "release", lambda encoding: release_of_queries(encoding).limit(1))
        other = with_sizes(3)
        with pytest.raises(sa.VerificationError, match="sizes"):
            clinic.anonymize("visits", other, into="anonymous", tables={"sizes": "class_sizes"}, replace=True)
        assert [rows_of(clinic, name) for name in ("anonymous", "class_sizes")] == before

    def test_it_is_explained(self, clinic: sa.Session) -> None:
        purposes = [step.purpose for step in clinic.explain("visits", with_sizes(2))]
        assert purposes.index("the release") < purposes.index("the sizes")

    @pytest.mark.parametrize(
        ("into", "tables", "error", "words"),
        [
            ("anonymous", {}, sa.PolicyError, '"sizes" is published as well: name its table'),
            ("anonymous", {"size": "x", "sizes": "y"}, sa.PolicyError, '"size" is not published beside the rows'),
            ("anonymous", {"sizes": "ANONYMOUS"}, sa.EngineError, "two tables of the release have the same name"),
            ("anonymous", {"sizes": "visits"}, sa.EngineError, "visits"),
            ("anonymous", {"sizes": "sizes.parquet"}, sa.EngineError, "give the names of tables"),
            ("anonymous.parquet", {"sizes": "sizes"}, sa.EngineError, "give the names of tables"),
        ],
    )
    def test_bad_names(
        self, clinic: sa.Session, tmp_path: Path, into: str, tables: dict[str, str], error: type[Exception], words: str
    ) -> None:
        target = str(tmp_path / into) if into.endswith(".parquet") else into
        with pytest.raises(error, match=words):
            clinic.anonymize("visits", with_sizes(2), target, tables=tables)
        assert "anonymous" not in {row[0] for row in clinic.connection.sql("SHOW TABLES").fetchall()}
        assert not list(tmp_path.iterdir())

    def test_a_method_of_one_table_has_no_other(self, clinic: sa.Session) -> None:
        with pytest.raises(sa.PolicyError, match="published: none"):
            clinic.anonymize(
                "visits", clinic_policy(sa.KAnonymity(2)), into="anonymous", tables={"sizes": "class_sizes"}
            )


class TestRegistration:
    def test_the_names_of_this_package_are_taken(self) -> None:
        class Other(QualityModel):
            model: Literal["lm"] = "lm"

        with pytest.raises(sa.PolicyError, match='the name "lm"'):
            sa.register(Other)

    def test_a_class_of_no_kind_is_refused(self) -> None:
        with pytest.raises(sa.PolicyError, match="a policy cannot hold a Policy"):
            sa.register(sa.Policy)  # type: ignore[arg-type]

    def test_macros_that_are_there_are_not_replaced(self, tmp_path: Path) -> None:
        file = tmp_path / "own.sql"
        file.write_text("-- Mine.\nCREATE OR REPLACE MACRO anon_helpers.dm_of(class_size) AS 0;\n")
        with pytest.raises(sa.SqlanonError, match='"dm_of" is the name'):
            sa.register(Merged, macros=file)
        file.write_text("SELECT 1;\n")
        with pytest.raises(sa.SqlanonError, match="has no macro"):
            sa.register(Merged, macros=file)

    def test_a_class_can_be_defined_again(self, clinic: sa.Session) -> None:
        sa.register(Merged)
        wanted = {"quasi_identifiers": ["age"], "privacy": [sa.KAnonymity(2)], "quality": {"model": "merged"}}
        assert sa.Policy(**wanted).quality == Merged()  # type: ignore[arg-type]
        assert "merged" in str(sa.Policy.model_json_schema())
        wanted["quality"] = {"model": "mergd"}
        with pytest.raises(sa.PolicyError, match='did you mean "merged"'):
            sa.Policy(**wanted)  # type: ignore[arg-type]


def class_sizes(session: sa.Session, node: dict[str, int]) -> list[int]:
    levels = ", ".join(f"'{name}': {level}" for name, level in node.items())
    names = ", ".join(f"'{name}'" for name in node)
    query = f"SELECT class_size FROM anon.class_sizes('at_node', [{names}])"
    session.connection.execute(
        f"CREATE OR REPLACE TEMP TABLE at_node AS FROM anon.generalize('visits', MAP {{{levels}}})"
    )
    return [size for (size,) in session.connection.execute(query).fetchall()]
