"""Records: what is written is read by the same class, and anything else is refused."""

import json
import math
from typing import Any

import pytest
from pydantic import ValidationError

from sqlanon.model.labels import ClassesRecord, CutRecord, NodeRecord, RungsRecord
from sqlanon.model.record import (
    BoundRecord,
    ContentRecord,
    FolderRecord,
    LinkedRecord,
    LinkedTableRecord,
    Listing,
    Record,
    RecordError,
    RowsRecord,
)

FOLDER = FolderRecord(
    columns={"age": "VARCHAR"}, partition_by=("age",), files=Listing(count=1, bytes=2, sha256="0"), files_sha256=(None,)
)


def record(**facts: Any) -> Record:
    return Record.model_validate({"format": 1, "version": "0", "code_sha256": "1", **facts})


@pytest.mark.parametrize(
    "written",
    [
        record(),
        record(labels=NodeRecord(levels={"zip": 1, "age": 0}), rows=RowsRecord(released=3)),
        record(labels=RungsRecord(levels={"zip": (0, 2), "age": (1,)})),
        record(labels=CutRecord(labels={"job": ((None, "any"),)}, intervals={"age": ((0, 1.5),)})),
        record(privacy=[BoundRecord(model="m", measure="b", required=2, attained=math.inf)]),
        record(labels=None, policy={"unknown": {"*": "top"}, "b": [1.5, None]}, report={"node": {}, "class_count": 2}),
        record().sealed(ContentRecord(file_sha256="2")),
        record().sealed(FOLDER),
        record(policy={"tables": {}}).sealed(
            LinkedRecord(
                tables={
                    "b": LinkedTableRecord(rows=RowsRecord(source=3, released=2)),
                    "a": LinkedTableRecord(
                        rows=RowsRecord(source=3, released=1), content=ContentRecord(rows_sha256="1")
                    ),
                },
                files=Listing(count=1, bytes=2, sha256="0"),
            )
        ),
    ],
)
def test_what_is_written_is_read(written: Record) -> None:
    found = Record.parse(written.text)
    assert found == written
    assert found is not None
    assert (found.text, found.sha256) == (written.text, written.sha256)


def test_numbers_and_orders_are_kept() -> None:
    labels = {"kind": "cut", "labels": {}, "intervals": {"b": [[0, 1.5]], "a": [[2, 3]]}, "items": {}}
    facts = {"format": 1, "version": "0", "code_sha256": "1", "labels": labels}
    found = Record.parse(json.dumps({"sqlanon": facts}))
    assert found is not None
    assert found.text == json.dumps({"sqlanon": facts})


def test_a_seal_changes_with_all_that_is_said() -> None:
    sealed = record(rows={"released": 3}).sealed(ContentRecord(file_sha256="2"))
    assert sealed.record_sha256 == sealed.sha256
    for change in ({"rows": RowsRecord(released=4)}, {"version": "9"}, {"content": ContentRecord(file_sha256="3")}):
        assert sealed.model_copy(update=change).sha256 != sealed.record_sha256


@pytest.mark.parametrize("text", [None, "", "for the annual report", "3", "[]", "{}", '{"sqlanon": 1}', "[" * 200_000])
def test_other_texts_are_no_records(text: str | None) -> None:
    assert Record.parse(text) is None


@pytest.mark.parametrize(
    "facts",
    [
        {"version": "0", "code_sha256": "1"},
        {"format": True, "version": "0", "code_sha256": "1", "patient": "Alice"},
        {"format": 1, "code_sha256": "1"},
        {"format": 1, "version": "0", "code_sha256": "1", "patient": "Alice"},
        {"format": 1, "version": "0", "code_sha256": "1", "labels": {"kind": "other"}},
        {"format": 1, "version": "0", "code_sha256": "1", "labels": {"kind": "cut", "levels": {"age": 1}}},
        {"format": 1, "version": "0", "code_sha256": "1", "rows": {"released": -1}},
        {"format": 1, "version": "0", "code_sha256": "1", "folder": {**FOLDER.model_dump(), "partition_by": ["sex"]}},
    ],
)
def test_what_a_run_does_not_write_is_refused_without_its_values(facts: dict[str, Any]) -> None:
    with pytest.raises(RecordError) as refused:
        Record.parse(json.dumps({"sqlanon": facts}))
    assert str(refused.value) == "its provenance is not what a run writes"


def test_another_format_is_named() -> None:
    with pytest.raises(RecordError, match="has format 2, and this version of sqlanon reads format 1"):
        Record.parse(json.dumps({"sqlanon": {"format": 2, "anything": 1}}))


@pytest.mark.parametrize("places", [(), (2,), (2, 0), (2, 0, 0, 0), (2, 2, 0), (2, 0, -1)])
def test_a_class_has_a_label_that_is_listed_of_each_quasi_identifier(places: tuple[int, ...]) -> None:
    labels = {"age": ((0, "30"), (1, "*")), "sex": ((1, "*"),)}
    assert ClassesRecord(labels=labels, classes=((2, 0, 0), (3, 1, 0))).columns == ("age", "sex")
    with pytest.raises(ValidationError, match="a class has"):
        ClassesRecord(labels=labels, classes=((2, 0, 0), places))
