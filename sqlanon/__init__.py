"""sqlanon: anonymize tables where they already live, in SQL inside DuckDB.

>>> import sqlanon as sa
>>> session = sa.connect(":memory:")
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlanon import evaluation
    from sqlanon.connection import connect
    from sqlanon.errors import (
        EngineError,
        PolicyError,
        SqlanonError,
        TaxonomyError,
        UnsatisfiableError,
        VerificationError,
    )
    from sqlanon.mechanisms.opendp import OpenDPSource
    from sqlanon.mechanisms.seeded import SeededSource
    from sqlanon.model.budget import Budget
    from sqlanon.model.events import Event
    from sqlanon.model.fit import Fit, PartitionRelease
    from sqlanon.model.policy import Policy
    from sqlanon.model.privacy import (
        AlphaKAnonymity,
        BetaLikeness,
        DeltaDisclosure,
        DeltaPresence,
        DistinctLDiversity,
        EntropyLDiversity,
        KAnonymity,
        KMap,
        MConcealing,
        RecursiveCLDiversity,
        TCloseness,
    )
    from sqlanon.model.quality import AECS, DM, LM, NCP, DMStar, Entropy, Prec
    from sqlanon.model.release import Guarantee, Measurement, Release, Report, Verification
    from sqlanon.model.taxonomy import Taxonomy
    from sqlanon.session import Session

__all__ = [
    "AECS",
    "DM",
    "LM",
    "NCP",
    "AlphaKAnonymity",
    "BetaLikeness",
    "Budget",
    "DMStar",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctLDiversity",
    "EngineError",
    "Entropy",
    "EntropyLDiversity",
    "Event",
    "Fit",
    "Guarantee",
    "KAnonymity",
    "KMap",
    "MConcealing",
    "Measurement",
    "OpenDPSource",
    "PartitionRelease",
    "Policy",
    "PolicyError",
    "Prec",
    "RecursiveCLDiversity",
    "Release",
    "Report",
    "SeededSource",
    "Session",
    "SqlanonError",
    "TCloseness",
    "Taxonomy",
    "TaxonomyError",
    "UnsatisfiableError",
    "Verification",
    "VerificationError",
    "connect",
    "evaluation",
]

_HOMES = {
    "connection": ("connect",),
    "errors": (
        "EngineError",
        "PolicyError",
        "SqlanonError",
        "TaxonomyError",
        "UnsatisfiableError",
        "VerificationError",
    ),
    "mechanisms.opendp": ("OpenDPSource",),
    "mechanisms.seeded": ("SeededSource",),
    "model.budget": ("Budget",),
    "model.events": ("Event",),
    "model.fit": ("Fit", "PartitionRelease"),
    "model.policy": ("Policy",),
    "model.privacy": (
        "AlphaKAnonymity",
        "BetaLikeness",
        "DeltaDisclosure",
        "DeltaPresence",
        "DistinctLDiversity",
        "EntropyLDiversity",
        "KAnonymity",
        "KMap",
        "MConcealing",
        "RecursiveCLDiversity",
        "TCloseness",
    ),
    "model.quality": ("AECS", "DM", "LM", "NCP", "DMStar", "Entropy", "Prec"),
    "model.release": ("Guarantee", "Measurement", "Release", "Report", "Verification"),
    "model.taxonomy": ("Taxonomy",),
    "session": ("Session",),
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: ``sqlanon --help`` needs neither DuckDB nor pydantic."""
    if name == "evaluation":
        return import_module("sqlanon.evaluation")
    for home, public in _HOMES.items():
        if name in public:
            value: object = getattr(import_module(f"sqlanon.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'sqlanon' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
