"""Synthetic rows: noisy marginals, a model of them, and rows that are drawn from it.

The conversation with the database: up go cells and marginals, down come rows.

Why it is private. Neighbours differ by the rows of one individual; at most m of them are counted, so that a marginal
differs by m in L1 and in L2 norm, and a score by m times the largest weight, as whole numbers of a public grid. Noise
and choices cost what :func:`sqlanon.mechanisms.zcdp.scale_in_rho` says, whatever was drawn before, and all together no
more than ρ (:class:`sqlanon.mechanisms.zcdp.RhoPortions`). The model and the rows are made of what was drawn alone.

Source: McKenna, Mullins, Sheldon & Miklau 2022, as in spec/synthetic.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.base import TakesEnums
from sqlanon.methods.shared.private.chance import bounded_source, refuse_observed
from sqlanon.methods.shared.private.run import PrivateRun
from sqlanon.methods.stages import Stages
from sqlanon.methods.synthetic import checks, domain, rows
from sqlanon.methods.synthetic.candidates import candidates_of
from sqlanon.methods.synthetic.cells import fine_counts, marginals, read_cells
from sqlanon.methods.synthetic.choosing import ErrorEstimate, Problem, chosen, estimated_error
from sqlanon.methods.synthetic.report import SyntheticReport, measured_marginals
from sqlanon.model.labels import LabelsRecord
from sqlanon.model.methods.synthetic import Synthetic
from sqlanon.model.release import Report, Spent

ROUNDS_PER_COLUMN = 5
"""How many rounds there are for each column if all cost the same; McKenna et al. take 16.

At 16, 8, 5 and 4 (tests.benchmarks.synthetic, means of 3 to 5 seeds) pairs of Adult have a total variation of .0273,
.0259, .0266 and .0264 at ε = 1. The fewer rounds there are, the less wrong is what is measured early: sex x occupation
by 41, 33, 22 and 21 rows. At ε = 0.1 pairs have .081 at 16, .077 at 8 and .073 at 4.
"""

MARGINALS = "marginals"

WITHIN = "everybody may know that all values are within the domain: that a run is refused says that some are not"


class SyntheticRun(PrivateRun):
    """Publish rows that are drawn from a model of noisy marginals, paid for from the budget of the data set."""

    error: ErrorEstimate | None = None
    report_class = SyntheticReport
    about_rows = "The rows are drawn from a model of noisy counts: none stands for a person."
    instead_of_node = "it models each column at a public level: name it in levels of the method"
    instead_of_time_limit = "it measures what its budget pays for; take fewer rounds, or fewer cells"
    theorem = (
        "discrete Gaussian mechanism (Canonne, Kamath and Steinke 2020) and the exponential mechanism by Gumbel noise, "
        "which has a bounded range (Dong, Durfee and Rogers 2020); zero-concentrated privacy (Bun and Steinke 2016), "
        "in portions that depend on what was drawn (Feldman and Zrnic 2021)"
    )

    @property
    def settings(self) -> Synthetic:
        """The settings of the method."""
        return domain.settings_of(self.bound)

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        refuse_observed(bound)
        if problems := checks.misfits(bound):
            raise PolicyError(f"the policy does not fit {bound.description}:", problems)
        return bound

    def encode(self) -> None:
        engine, bound, settings = self.engine, self.bound, self.settings
        problems: list[str] = []
        self.columns = domain.modelled_columns(engine, bound, problems)
        sizes = tuple(each.size for each in self.columns)
        impossible = domain.impossible_sets(bound, self.columns, problems)
        weights = candidates_of(sizes, settings.sets(bound.policy), settings.max_cells)
        problems += checks.out_of_types(engine, bound, self.columns)
        problems += checks.too_large(sizes, weights, impossible, settings.max_cells)
        if problems:
            raise PolicyError(f"the policy does not fit {bound.description}, its taxonomies and bins:", problems)
        self.workload = [each for each in settings.sets(bound.policy) if each in weights]
        rounds = settings.rounds or ROUNDS_PER_COLUMN * len(sizes)
        checks.refuse_small_budgets(settings, sizes, weights, rounds, len(self.workload))
        read_cells(engine, bound, self.columns, bounded_source(engine, bound, self.chance.source))
        self.problem = Problem(
            sizes=sizes,
            counts=marginals(engine, sizes, weights),
            weights=weights,
            sensitivity=settings.rows_per_individual,
            max_cells=settings.max_cells,
            rounds=rounds,
            impossible=impossible,
            fine=fine_counts(engine, self.columns),
        )
        checks.refuse_many_rows(bound, self.problem)

    def charge(self) -> None:
        self.portions = self.accountant.charge_in_rho(MARGINALS, self.settings.budget)

    def search(self, stages: Stages) -> None:
        with stages.stage("search"):
            for_error = self.settings.report_share * self.portions.rho
            chance, problem = self.chance.source, self.problem
            self.chosen = chosen(problem, self.portions.rho - for_error, self.portions, chance)
            if for_error and self.workload:
                model = self.chosen.model
                self.error = estimated_error(problem, model, self.workload, for_error, self.portions, chance)

    def make(self) -> None:
        model, found = self.chosen.model, {each.name: each for each in self.bound.columns}
        count = self.settings.rows or round(model.total)
        weights = {
            column: rows.weights_within(counts, self.columns[column].fine_codes, sigma)
            for column, (counts, sigma) in self.chosen.fine.items()
        }
        columns = [
            rows.DrawnColumn(each, found[each.name], column, weights.get(column))
            for column, each in enumerate(self.columns)
        ]
        self.drawing = rows.Drawing(columns, model.beliefs, count, self.chance.source.generator())
        self.engine.put(rows.DRAWN, self.drawing.reader())
        self.sizes = count, None

    def released_rows(self, takes_enums: TakesEnums) -> exp.Query:
        return rows.released(self.drawing.columns, self._published)

    def differences(self, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> list[str]:
        made = rows.released(self.drawing.columns, self._published)
        here, there = (
            self.engine.fetch(rows.content(each, self._published), "what was written")[0]
            for each in (exp.Subquery(this=made), written.relation)
        )
        return [] if here == there else ["the rows differ from those that were drawn"]

    def report(self, into: str, seconds: Mapping[str, float]) -> Report:
        return self.private_report(
            SyntheticReport,
            into,
            seconds,
            spent=(Spent(step=MARGINALS, budget=self.portions.whole, position=self.portions.given[-1].position),),
            thresholds={},
            rho=float(self.portions.rho),
            measured=tuple(measured_marginals(self.columns, self.chosen, self.drawing)),
            model_cells=self.chosen.model.beliefs.tree.cells,
            mean_error=None if self.error is None else self.error.rows / 2,
            error_sigma=None if self.error is None else self.error.sigma / 2,
        )

    def labels_record(self, report: Report) -> LabelsRecord | None:
        return None

    @property
    def conditions(self) -> Sequence[str]:
        return [WITHIN] if self.settings.outside == "refuse" else ()

    @property
    def _published(self) -> list[str]:
        return [found.name for found in self.bound.published_columns]
