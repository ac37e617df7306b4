"""Privacy models: bounds on measures of equivalence classes.

A class that is out of bounds of any model is suppressed; a node satisfies a policy if the rows of such classes stay
within the suppression limit. These are *syntactic* models: they say what a published class looks like, not what an
attacker with other knowledge can infer.
"""

from sqlanon.model.privacy.base import CLASS_SIZE, MOST, Bound, Measure, PrivacyModel, View
from sqlanon.model.privacy.closeness import (
    NO_ABSENT_CLASS,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    KMap,
    MConcealing,
    PopulationModel,
    TCloseness,
)
from sqlanon.model.privacy.diversity import (
    DISTINCT_DIVERSITY,
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
)

__all__ = [
    "CLASS_SIZE",
    "DISTINCT_DIVERSITY",
    "MOST",
    "NO_ABSENT_CLASS",
    "AlphaKAnonymity",
    "BetaLikeness",
    "Bound",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "KAnonymity",
    "KMap",
    "MConcealing",
    "Measure",
    "PopulationModel",
    "PrivacyModel",
    "RecursiveCLDiversity",
    "TCloseness",
    "View",
]
