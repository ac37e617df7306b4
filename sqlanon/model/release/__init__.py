"""What a run hands back: the release with its node, guarantee and report; and measurements of any table."""

from sqlanon.model.release.document import Document
from sqlanon.model.release.measurement import Measurement, ModelResult, RowCounts, Verification
from sqlanon.model.release.published import Published, Release
from sqlanon.model.release.reports import (
    REPORTED_TIES,
    Guarantee,
    PrivateGuarantee,
    PrivateReport,
    Report,
    Spent,
)

__all__ = [
    "REPORTED_TIES",
    "Document",
    "Guarantee",
    "Measurement",
    "ModelResult",
    "PrivateGuarantee",
    "PrivateReport",
    "Published",
    "Release",
    "Report",
    "RowCounts",
    "Spent",
    "Verification",
]
