"""sqlanon: anonymize tables where they already live, in SQL inside DuckDB.

>>> import sqlanon as sa
>>> session = sa.connect(":memory:")
"""

from sqlanon.errors import (
    EngineError,
    PolicyError,
    SqlanonError,
    TaxonomyError,
    UnsatisfiableError,
    VerificationError,
)
from sqlanon.model.policy import Policy
from sqlanon.model.privacy import DistinctLDiversity, EntropyLDiversity, KAnonymity
from sqlanon.model.quality import AECS, DM, LM, NCP, DMStar, Entropy, Prec
from sqlanon.model.release import Guarantee, Measurement, Release, Report, Verification
from sqlanon.model.taxonomy import Taxonomy
from sqlanon.session import Session, connect

__all__ = [
    "AECS",
    "DM",
    "LM",
    "NCP",
    "DMStar",
    "DistinctLDiversity",
    "EngineError",
    "Entropy",
    "EntropyLDiversity",
    "Guarantee",
    "KAnonymity",
    "Measurement",
    "Policy",
    "PolicyError",
    "Prec",
    "Release",
    "Report",
    "Session",
    "SqlanonError",
    "Taxonomy",
    "TaxonomyError",
    "UnsatisfiableError",
    "Verification",
    "VerificationError",
    "connect",
]
