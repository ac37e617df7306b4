"""The public names of the package, and where each is defined: the only list of them.

``__init__.py`` reads it, so that a name is imported when it is first used.
"""

from sqlanon import evaluation as evaluation
from sqlanon.api.connection import connect as connect
from sqlanon.api.extensions import register as register, unregister as unregister
from sqlanon.errors import (
    BudgetError as BudgetError,
    EngineError as EngineError,
    TargetError as TargetError,
    PolicyError as PolicyError,
    SqlanonError as SqlanonError,
    TaxonomyError as TaxonomyError,
    UnsatisfiableError as UnsatisfiableError,
    VerificationError as VerificationError,
)
from sqlanon.chance.opendp import OpenDPSource as OpenDPSource
from sqlanon.model.sampled_classes import (
    delta as delta,
    maximum_beta as maximum_beta,
    minimum_k as minimum_k,
)
from sqlanon.chance.random_source import SeededSource as SeededSource
from sqlanon.model.budget import Budget as Budget
from sqlanon.methods.stages import Event as Event
from sqlanon.model.fitted import Fit as Fit, PartitionRelease as PartitionRelease
from sqlanon.model.methods.cut_methods import DiffGen as DiffGen
from sqlanon.model.methods.sampled_methods import EpsilonSafe as EpsilonSafe
from sqlanon.model.methods.full_domain import FullDomain as FullDomain
from sqlanon.model.methods.counterfeiting import HCeiling as HCeiling
from sqlanon.model.methods.full_domain import LocalRecoding as LocalRecoding
from sqlanon.model.methods.microaggregation import Microaggregation as Microaggregation
from sqlanon.model.methods.mondrian import Mondrian as Mondrian
from sqlanon.model.methods.noisy import IPA as IPA, Histogram as Histogram
from sqlanon.model.methods.synthetic import Synthetic as Synthetic
from sqlanon.model.known_rows import KnownRows as KnownRows
from sqlanon.model.policy.linked_policy import LinkedPolicy as LinkedPolicy
from sqlanon.model.policy.table_roles import TableRoles as TableRoles
from sqlanon.model.policy.policy_parts import Earlier as Earlier
from sqlanon.model.policy.policy_parts import ReleaseTerms as ReleaseTerms
from sqlanon.model.policy.policy import Policy as Policy
from sqlanon.model.perturbation import (
    GroupedValues as GroupedValues,
    Noise as Noise,
    Pram as Pram,
    RankSwapping as RankSwapping,
)
from sqlanon.model.methods.full_domain import Relocation as Relocation
from sqlanon.model.methods.cut_methods import TopDownSpecialization as TopDownSpecialization
from sqlanon.model.privacy import (
    AlphaKAnonymity as AlphaKAnonymity,
    BetaLikeness as BetaLikeness,
    DeltaDisclosure as DeltaDisclosure,
    DeltaPresence as DeltaPresence,
    DistinctLDiversity as DistinctLDiversity,
    EntropyLDiversity as EntropyLDiversity,
    KAnonymity as KAnonymity,
    KMap as KMap,
    MConcealing as MConcealing,
    RecursiveCLDiversity as RecursiveCLDiversity,
    TCloseness as TCloseness,
)
from sqlanon.model.cost_benefit import (
    NoAttack as NoAttack,
    Profitability as Profitability,
    PublisherPayout as PublisherPayout,
)
from sqlanon.model.mean_risks import (
    AverageRisk as AverageRisk,
    PopulationUniqueness as PopulationUniqueness,
    SampleUniqueness as SampleUniqueness,
)
from sqlanon.model.risk_models import (
    ExpectedReidentifications as ExpectedReidentifications,
    IndividualRisk as IndividualRisk,
)
from sqlanon.model.class_losses import (
    AECS as AECS,
    ClassificationMetric as ClassificationMetric,
    DM as DM,
    DMStar as DMStar,
)
from sqlanon.model.quality import (
    LM as LM,
    NCP as NCP,
    RCE as RCE,
    Entropy as Entropy,
    Prec as Prec,
)
from sqlanon.suggestion.policy_file import PolicyFile as PolicyFile
from sqlanon.suggestion.policy_form import FormField as FormField, PolicyForm as PolicyForm
from sqlanon.suggestion.policy_edits import ColumnRole as ColumnRole
from sqlanon.suggestion.policy_versions import OutdatedPolicyError as OutdatedPolicyError
from sqlanon.suggestion.policy_versions import PolicyVersion as PolicyVersion
from sqlanon.suggestion.policy_versions import PolicyVersions as PolicyVersions
from sqlanon.suggestion.linked_suggestion import LinkedSuggestion as LinkedSuggestion
from sqlanon.suggestion.suggestion import Suggestion as Suggestion
from sqlanon.model.release import (
    Findings as Findings,
    Guarantee as Guarantee,
    Measurement as Measurement,
    PrivateGuarantee as PrivateGuarantee,
    PrivateReport as PrivateReport,
    Release as Release,
    ReleaseReport as ReleaseReport,
    Report as Report,
    Verification as Verification,
)
from sqlanon.model.release.linked import (
    LinkedMeasurement as LinkedMeasurement,
    LinkedVerification as LinkedVerification,
)
from sqlanon.model.release.linked_report import (
    LinkedRelease as LinkedRelease,
    LinkedReleaseReport as LinkedReleaseReport,
    LinkedReport as LinkedReport,
)
from sqlanon.model.release.sample_risk import SampleRisk as SampleRisk
from sqlanon.model.release.utility import Utility as Utility
from sqlanon.model.release.profiles import (
    SampledRows as SampledRows,
    SourceProfile as SourceProfile,
    TaxonomyPreview as TaxonomyPreview,
)
from sqlanon.run.exploration import Exploration as Exploration
from sqlanon.run.explorer import Explorer as Explorer
from sqlanon.model.release.joint import ListedRelease as ListedRelease, ReleaseList as ReleaseList
from sqlanon.model.taxonomy.taxonomy import Taxonomy as Taxonomy
from sqlanon.api.session import Session as Session
