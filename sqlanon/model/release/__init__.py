"""Results: a release with its node, guarantee and report; and measurements of any table."""

from sqlanon.model.release.findings import (
    Findings,
    FinerNode,
    HomogeneousColumn,
    IdentifyingPair,
    RepeatedIdentifier,
    RevealingColumn,
    SuppressedGroup,
    Suppression,
)
from sqlanon.model.release.measurement import Exposure, Measurement, ModelResult, Result, RowCounts, Verification
from sqlanon.model.release.published import Published, Release
from sqlanon.model.release.release_report import ReleaseReport
from sqlanon.model.release.reports import (
    CUSTODIAN_FIELDS,
    GIVEN,
    REPORTED_TIES,
    Guarantee,
    PrivateGuarantee,
    PrivateReport,
    Report,
    Spent,
)

__all__ = [
    "CUSTODIAN_FIELDS",
    "GIVEN",
    "REPORTED_TIES",
    "Exposure",
    "Findings",
    "FinerNode",
    "Guarantee",
    "HomogeneousColumn",
    "IdentifyingPair",
    "Measurement",
    "ModelResult",
    "PrivateGuarantee",
    "PrivateReport",
    "Published",
    "Release",
    "ReleaseReport",
    "RepeatedIdentifier",
    "Report",
    "Result",
    "RevealingColumn",
    "RowCounts",
    "Spent",
    "SuppressedGroup",
    "Suppression",
    "Verification",
]
