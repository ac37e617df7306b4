"""The naive answer to a whole run: every node of the lattice measured by the oracle, and the best by the tie rule."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Self

import sqlanon as sa
from tests import oracle
from tests.oracle import Node, Row, Rows, Taxonomies, Value

MEANS = sa.SampleUniqueness | sa.AverageRisk | sa.ExpectedReidentifications
"""The models of a mean over the published rows."""

SLACK = 1e-9
"""How far two sums of floats may be apart and still count as equal."""

Share = Callable[[int, int], float]
Levels = tuple[int, ...]
Labels = tuple[Value, ...]


@dataclass(frozen=True)
class Task:
    """What is asked: a table, the taxonomies of its quasi-identifiers and sensitive columns, a policy, a population."""

    rows: Rows
    taxonomies: Taxonomies
    policy: sa.Policy
    population: Rows = field(default_factory=list)

    def under(self, policy: sa.Policy) -> Self:
        """The same table under another policy."""
        return replace(self, policy=policy)


@dataclass(frozen=True)
class Measured:
    """One node, as the oracle sees it: ``loss`` by the policy's quality model, ``losses`` without weights."""

    node: Mapping[str, int]
    class_count: int
    min_class_size: int
    kept_class_count: int
    suppressed_rows: int
    rejected: bool
    satisfies: bool
    attainable: float
    loss: float | None
    losses: Mapping[str, float | None]

    @property
    def levels(self) -> Levels:
        """The node as its levels."""
        return tuple(self.node.values())

    @property
    def height(self) -> int:
        """The sum of the levels."""
        return sum(self.levels)


@dataclass(frozen=True)
class Answer:
    """What a run must come to."""

    best: Measured
    loss: float
    ties: frozenset[Levels]


# Privacy: what a class attains in each bound of a model, and whether that passes


def attains(task: Task, node: Node, members: Rows, model: object) -> list[float]:
    """The measure of one class, given as rows of the source, for each bound of a model."""
    match model:
        case sa.KAnonymity() | sa.NoAttack():
            return [_size(task, members)]
        case sa.AlphaKAnonymity(column=column):
            return [_size(task, members), oracle.largest_share(_values(task, members, column))]
        case sa.KMap() | sa.Profitability():
            is_map = isinstance(model, sa.KMap)
            return [_people(task, node, members) if is_map else _missing_payout(task, node, members, model)]
        case sa.DeltaPresence(minimum=minimum):
            presence = len(members) / _people(task, node, members)
            return [presence, presence, *([_absent_classes(task, node)] if minimum > 0 else [])]
        case sa.SampleUniqueness() | sa.AverageRisk():
            return [mean([members], model)]
        case sa.MConcealing(prior=prior):
            return [max(record["anon_m"] for record in oracle.record_risks(members, [], prior))]
        case sa.IndividualRisk(estimator=estimator) | sa.ExpectedReidentifications(estimator=estimator):
            people = sum(_weight(task, row) for row in members)
            by_weights = oracle.negative_binomial_risk(len(members), people)
            by_margins = _risk_by_margins(task, node, members)
            return {"negative-binomial": [by_weights], "poisson": [by_margins]}.get(estimator, [by_weights, by_margins])
        case _:
            return [_of_values(task, members, model)]


def mean(groups: Sequence[Rows], model: object) -> float:
    """The mean risk of the rows of some classes."""
    of_model = {True: lambda size: Fraction(size == 1), False: lambda size: Fraction(1, size)}
    risks = [of_model[isinstance(model, sa.SampleUniqueness)](len(members)) for members in groups for _ in members]
    return float(sum(risks) / len(risks))


def _of_values(task: Task, members: Rows, model: Any) -> float:
    own, known = (_values(task, rows, model.column) for rows in (members, task.rows))
    match model:
        case sa.DistinctLDiversity():
            return oracle.distinct_diversity(own)
        case sa.EntropyLDiversity():
            return oracle.entropy_diversity(own)
        case sa.RecursiveCLDiversity(l=rank):
            return oracle.recursive_ratio(own, rank)
        case sa.TCloseness():
            return _distance(task, own, known, model)
        case sa.BetaLikeness(variant=variant):
            likeness = oracle.basic_likeness if variant == "basic" else oracle.enhanced_likeness
            return likeness(own, known)
        case sa.DeltaDisclosure():
            return oracle.disclosure(own, known)
        case _:
            raise AssertionError(model)


def _distance(task: Task, own: list[Value], known: list[Value], model: sa.TCloseness) -> float:
    if model.distance == "equal":
        return oracle.equal_distance(own, known)
    if model.distance == "ordered":
        return oracle.ordered_distance(own, known, oracle.value_order(known))
    return oracle.hierarchical_distance(own, known, task.taxonomies[model.column])


def passes(attained: Sequence[float], model: object) -> list[bool]:
    """Whether what is attained is within each bound: sums of floats have slack, ratios of integers compare exactly."""
    first, last = attained[0], attained[-1]
    match model:
        case sa.KAnonymity(k=bound) | sa.KMap(k=bound) | sa.DistinctLDiversity(l=bound):
            return [first >= bound]
        case sa.AlphaKAnonymity(alpha=alpha, k=k):
            return [first >= k, last <= alpha]
        case sa.EntropyLDiversity(l=bound):
            return [first >= bound * (1 - SLACK)]
        case sa.RecursiveCLDiversity(c=bound):
            return [first < bound]
        case (
            sa.TCloseness(t=bound)
            | sa.BetaLikeness(beta=bound)
            | sa.MConcealing(m=bound)
            | sa.SampleUniqueness(at_most=bound)
            | sa.AverageRisk(at_most=bound)
            | sa.IndividualRisk(at_most=bound)
            | sa.ExpectedReidentifications(at_most=bound)
        ):
            return [each <= bound * (1 + SLACK) for each in attained]
        case sa.DeltaDisclosure(delta=bound) | sa.Profitability(benefit=bound):
            return [first < bound * (1 - SLACK)]
        case sa.DeltaPresence(minimum=minimum, maximum=maximum):
            return [first >= minimum, attained[1] <= maximum, *(absent == 0 for absent in attained[2:])]
        case _:
            return [not _attack_pays(model, int(first))]


def _attack_pays(model: object, size: int) -> bool:
    """Whether an attack on a row of a class pays: it does if gain and cost are equal, too."""
    assert isinstance(model, sa.NoAttack)
    return model.gain > 0 and Fraction(str(model.gain)) / size >= Fraction(str(model.cost))


def within(task: Task, node: Node, members: Rows, model: object) -> list[bool]:
    """Whether a class keeps each bound of a model."""
    return passes(attains(task, node, members, model), model)


def meets(task: Task, node: Node, members: Rows) -> bool:
    """Whether these rows may be published as one class: it keeps every bound that is not one of the node."""
    return all(
        kept
        for model in task.policy.privacy
        for kept, of_node in zip(within(task, node, members, model), _of_node(model), strict=False)
        if not of_node
    )


def meets_all(task: Task, node: Node, members: Rows) -> bool:
    """Whether a class keeps every bound, those of the node too."""
    return all(all(within(task, node, members, model)) for model in task.policy.privacy)


def rejects(task: Task, node: Node, kept: Sequence[Rows], model: object) -> bool:
    """Whether a model rejects a node that publishes these classes."""
    if isinstance(model, MEANS):
        return bool(kept) and not all(passes(worst(task, node, kept, model), model))
    return any(not all(within(task, node, members, model)) for members in kept)


def worst(task: Task, node: Node, groups: Sequence[Rows], model: object) -> list[float]:
    """The worst value of any class in each bound of a model, or the mean over all rows."""
    if isinstance(model, sa.ExpectedReidentifications):
        by_row = [attains(task, node, members, model) for members in groups for _ in members]
        return [math.fsum(risks) / len(by_row) for risks in zip(*by_row, strict=True)]
    if isinstance(model, MEANS):
        return [mean(groups, model)]
    by_bound = zip(*(attains(task, node, members, model) for members in groups), strict=True)
    return [
        min(values) if position == 0 and _at_least(model) else max(values) for position, values in enumerate(by_bound)
    ]


def _at_least(model: object) -> bool:
    """Whether large values pass the first bound of a model."""
    diversities = sa.DistinctLDiversity | sa.EntropyLDiversity
    return isinstance(
        model, sa.KAnonymity | sa.AlphaKAnonymity | sa.NoAttack | sa.KMap | sa.DeltaPresence | diversities
    )


def _of_node(model: object) -> tuple[bool, ...]:
    """Whether each bound rejects a node instead of a class."""
    if isinstance(model, sa.MConcealing):
        return (model.grain == "node",)
    if isinstance(model, MEANS):
        return (True, True)
    return (False, False, True)


def _size(task: Task, members: Rows) -> int:
    individual = task.policy.individual
    return len(members) if individual is None else oracle.individuals(row[individual] for row in members)


def _values(task: Task, members: Rows, column: str) -> list[Value]:
    """The values of a column, of each individual once."""
    individual = task.policy.individual
    if individual is None:
        return [row[column] for row in members]
    return [value for _, value in {(row[individual], row[column]) for row in members}]


def _people(task: Task, node: Node, members: Rows) -> int:
    """The people of the population that a class matches, at least its rows."""
    [labels] = classes(task, node, members)
    return max(len(members), len(classes(task, node, task.population).get(labels, [])))


def _risk_by_margins(task: Task, node: Node, members: Rows) -> float:
    """The people whom a class would have if columns were independent, less the sampled share of its own people."""
    people = sum(_weight(task, row) for row in task.rows)
    expected = people
    for name, level in node.items():
        [label] = {oracle.label_of(task.taxonomies[name], level, row[name]) for row in members}
        alike = [row for row in task.rows if oracle.label_of(task.taxonomies[name], level, row[name]) == label]
        expected *= sum(_weight(task, row) for row in alike) / people
    sampled = len(members) / sum(_weight(task, row) for row in members)
    return oracle.poisson_risk(len(members), expected * (1 - sampled))


def _absent_classes(task: Task, node: Node) -> int:
    return len(classes(task, node, task.population).keys() - classes(task, node).keys())


# Nodes


def allowed_rows(limit: float, row_count: int) -> int:
    """The suppression limit as the fraction that it is written as, of all rows, rounded down."""
    return int(Fraction(str(limit)) * row_count)


def classes(task: Task, node: Node, rows: Rows | None = None) -> dict[Labels, Rows]:
    """The source rows (or other ones) of every class of a node, by its labels."""
    rows = task.rows if rows is None else rows
    found: dict[Labels, Rows] = {}
    for row, generalized in zip(rows, oracle.generalize(rows, task.taxonomies, node), strict=True):
        found.setdefault(tuple(generalized[name] for name in node), []).append(row)
    return found


def measured(task: Task, node: Node) -> Measured:
    """Every measure of a node."""
    groups = list(classes(task, node).values())
    met = [meets(task, node, members) for members in groups]
    kept = list(itertools.compress(groups, met))
    suppressed = len(task.rows) - sum(map(len, kept))
    rejected = any(rejects(task, node, kept, model) for model in task.policy.privacy)
    allowed = allowed_rows(task.policy.suppression_limit, len(task.rows))
    sizes = [len(members) for members in groups]
    losses = {
        "prec": oracle.prec(task.taxonomies, node),
        "entropy": _entropy_loss(task, node),
        "lm": _plain(_mean_losses(task, node, groups, met, oracle.lm_share)),
        "ncp": _plain(_mean_losses(task, node, groups, met, oracle.ncp_share)),
        "rce": _plain(_mean_losses(task, node, groups, met, oracle.rce_share)),
        "dm_star": oracle.dm_star(sizes),
        "dm": sum(len(members) ** 2 for members in kept) + suppressed * len(task.rows),
        "aecs": len(task.rows) / (len(kept) + (suppressed > 0)) / _k(task.policy),
    }
    if isinstance(task.policy.quality, sa.ClassificationMetric):
        column = task.policy.quality.column
        agreeing = (max(Counter(row[column] for row in members).values()) for members in kept)
        losses["classification_metric"] = 1 - sum(agreeing) / len(task.rows)
    if isinstance(task.policy.quality, sa.PublisherPayout):
        quality = task.policy.quality
        missing = sum(len(members) * _missing_payout(task, node, members, quality) for members in kept)
        losses["publisher_payout"] = missing + quality.benefit * suppressed
    return Measured(
        node=dict(node),
        class_count=len(groups),
        min_class_size=min(sizes),
        kept_class_count=len(kept),
        suppressed_rows=suppressed,
        rejected=rejected,
        satisfies=bool(kept) and suppressed <= allowed and not rejected,
        attainable=_attainable(task, node, groups, met, allowed),
        loss=_loss(task, node, groups, met, losses),
        losses=losses,
    )


def lattice(task: Task) -> list[Measured]:
    """Every allowed node, measured."""
    policy = task.policy
    return [
        measured(task, node)
        for node in oracle.lattice(task.taxonomies, policy.quasi_identifiers)
        if all(node[name] >= level for name, level in policy.minimum_levels.items())
        and all(node[name] <= level for name, level in policy.maximum_levels.items())
    ]


def answer(nodes: Sequence[Measured]) -> Answer | None:
    """The node to publish by spec/ola.md step 5, None if no node satisfies the policy."""
    candidates = [node for node in nodes if node.satisfies]
    if not candidates:
        return None
    loss = min(loss_of(node) for node in candidates)
    ties = [node for node in candidates if _equal(loss_of(node), loss)]
    least = min(loss_of(node, "entropy") for node in ties)
    first = min(
        (node for node in ties if _equal(loss_of(node, "entropy"), least)),
        key=lambda node: (node.suppressed_rows, node.height, node.levels),
    )
    return Answer(first, loss, frozenset(node.levels for node in ties))


def inverse_answer(nodes: Sequence[Measured], max_loss: float) -> Answer | None:
    """The most private of the maximal satisfying nodes of acceptable loss: spec/ola.md (b)."""
    acceptable = {node.levels: node for node in nodes if node.satisfies and loss_of(node) <= max_loss * (1 + SLACK)}
    candidates = [acceptable[levels] for levels in maximal(set(acceptable))]
    if not candidates:
        return None
    most = max(node.attainable for node in candidates)
    ties = [node for node in candidates if _equal(node.attainable, most)]
    least = min(map(loss_of, ties))
    first = min((node for node in ties if _equal(loss_of(node), least)), key=lambda node: node.levels)
    return Answer(first, loss_of(first), frozenset(node.levels for node in ties))


def most_private(policy: sa.Policy, attainable: float) -> sa.Policy | None:
    """What Inverse OLA publishes under: the largest k or the smallest m; None if nobody would be protected."""
    if any(isinstance(model, sa.MConcealing) for model in policy.privacy):
        models = [_with_smallest_m(model, 1 / attainable) for model in policy.privacy]
    elif attainable < 2:
        return None
    else:
        models = [model for model in policy.privacy if not isinstance(model, sa.KAnonymity)]
        models.insert(0, sa.KAnonymity(int(attainable)))
    return policy.model_copy(update={"privacy": tuple(models)})


def _with_smallest_m(model: Any, m: float) -> Any:
    return sa.MConcealing(min(model.m, m), model.prior, model.grain) if isinstance(model, sa.MConcealing) else model


def published(task: Task, node: Node) -> dict[Labels, Rows]:
    """The source rows of every class of a release at a node: kept and, if that is asked for and safe, masked."""
    found: dict[Labels, Rows] = {}
    suppressed: Rows = []
    for labels, members in classes(task, node).items():
        if meets(task, node, members):
            found[labels] = list(members)
        else:
            suppressed += members
    if task.policy.suppression == "mask" and suppressed and meets_all(task, node, suppressed):
        found.setdefault(("*",) * len(node), []).extend(suppressed)
    return found


def released(task: Task, node: Node) -> Rows:
    """The rows that a release at a node has."""
    return [
        _without({**row, **dict(zip(node, labels, strict=True))}, task.policy.identifiers)
        for labels, members in published(task, node).items()
        for row in members
    ]


def _without(row: Row, names: Sequence[str]) -> Row:
    return {name: value for name, value in row.items() if name not in names}


# Losses


def loss_of(node: Measured, measure: str | None = None) -> float:
    """The loss of a node by the policy's quality model, or a plain one, where it is defined."""
    loss = node.loss if measure is None else node.losses[measure]
    assert loss is not None
    return loss


def _loss(
    task: Task, node: Node, groups: Sequence[Rows], met: Sequence[bool], losses: Mapping[str, float | None]
) -> float | None:
    quality = task.policy.quality
    weights = [getattr(quality, "weights", {}).get(name, 1.0) for name in node]
    match quality:
        case sa.Prec(suppressed=suppressed):
            levels = [level / oracle.height(task.taxonomies[name]) for name, level in node.items()]
            prec = sum(weight * level for weight, level in zip(weights, levels, strict=True)) / sum(weights)
            share = suppressed_share(task, groups, met) if suppressed == "charged" else 0.0
            return prec * (1 - share) + share
        case sa.Entropy(suppressed="charged"):
            gone = [members for members, is_kept in zip(groups, met, strict=True) if not is_kept]
            return _entropy_loss(task, node, list(itertools.chain.from_iterable(gone)))
        case sa.LM(aggregate=aggregate):
            means = _mean_losses(task, node, groups, met, oracle.lm_share)
            if aggregate == "arithmetic":
                return sum(weight * mean for weight, mean in zip(weights, means, strict=True)) / sum(weights)
            powers = ((1 + mean) ** (weight / sum(weights)) for weight, mean in zip(weights, means, strict=True))
            return math.prod(powers) - 1
        case _:
            return losses[quality.measure]


def _missing_payout(task: Task, node: Node, members: Rows, model: Any) -> float:
    """What a row of a class lacks to the benefit of its publisher."""
    taxonomies = {name: task.taxonomies[name] for name in node}
    lost = oracle.information_lost(taxonomies, node, members[0])
    return model.benefit - oracle.payout(len(members), lost, model)


def _k(policy: sa.Policy) -> int:
    """The largest number of rows that a model asks of every class."""
    sized = [model for model in policy.privacy if isinstance(model, sa.KAnonymity | sa.AlphaKAnonymity | sa.NoAttack)]
    return max((model.k for model in sized), default=1)


def _weight(task: Task, row: Row) -> float:
    name = task.policy.row_weight
    return 1.0 if name is None else float(row[name])


def suppressed_share(task: Task, groups: Sequence[Rows], met: Sequence[bool]) -> float:
    """The share of the rows of classes that are not published, by weight."""
    weights = [sum(_weight(task, row) for row in members) for members in groups]
    return sum(weight for weight, is_kept in zip(weights, met, strict=True) if not is_kept) / sum(weights)


def _entropy_loss(task: Task, node: Node, suppressed: Rows = ()) -> float:
    """In bits: for every row and attribute, how much less likely its value is than its label, by weight.

    Of suppressed rows, how much less likely it is than anything.
    """
    gone = {id(row) for row in suppressed}
    whole = sum(_weight(task, row) for row in task.rows)
    bits = 0.0
    for name, level in node.items():
        of_value: Counter[Value] = Counter()
        of_label: Counter[Value] = Counter()
        labels = [oracle.label_of(task.taxonomies[name], level, row[name]) for row in task.rows]
        for row, label in zip(task.rows, labels, strict=True):
            of_value[row[name]] += _weight(task, row)
            of_label[label] += _weight(task, row)
        for row, label in zip(task.rows, labels, strict=True):
            among = whole if id(row) in gone else of_label[label]
            bits -= _weight(task, row) * math.log2(of_value[row[name]] / among)
    return bits


def _mean_losses(task: Task, node: Node, groups: Sequence[Rows], met: Sequence[bool], share: Share) -> list[float]:
    """LM or NCP of each quasi-identifier, row policy ``real``: a row of a class that is not published loses 1."""
    weights = [sum(_weight(task, row) for row in members) for members in groups]
    means = []
    for name, level in node.items():
        taxonomy = task.taxonomies[name]
        labels = [oracle.label_of(taxonomy, level, members[0][name]) for members in groups]
        shares = [share(oracle.leaves(taxonomy, level, label), len(taxonomy)) for label in labels]
        losses = [loss if is_kept else 1.0 for loss, is_kept in zip(shares, met, strict=True)]
        means.append(sum(weight * loss for weight, loss in zip(weights, losses, strict=True)) / sum(weights))
    return means


def _plain(means: Sequence[float]) -> float:
    return sum(means) / len(means)


def _equal(left: float, right: float) -> bool:
    return abs(left - right) <= SLACK * max(1.0, abs(right))


# How private a node can be made


def _attainable(task: Task, node: Node, groups: Sequence[Rows], met: Sequence[bool], allowed: int) -> float:
    """The largest k (or 1/m) that is left when the rows that can bear least are suppressed, but not all of them."""
    concealing = [model for model in task.policy.privacy if isinstance(model, sa.MConcealing)]
    borne = []
    for members, is_kept in zip(groups, met, strict=True):
        risks = [attains(task, node, members, model)[0] for model in concealing]
        strictness = 1 / max(risks) if risks else _size(task, members)
        borne.append((strictness if is_kept else 0, len(members)))
    fit = [
        bound
        for bound, _ in borne
        if sum(rows for strictness, rows in borne if strictness < bound) <= min(allowed, len(task.rows) - 1)
    ]
    return max(fit)


def best_k(class_sizes: Sequence[int], allowed: int) -> int:
    """The largest k, at most the number of rows, for which the rows of smaller classes may be suppressed."""
    fit = [k for k in range(1, sum(class_sizes) + 1) if sum(size for size in class_sizes if size < k) <= allowed]
    return max(fit)


# Sets of nodes


def covers(levels: Levels, other: Levels) -> bool:
    """Whether a node is another one or more general."""
    return all(level >= less for level, less in zip(levels, other, strict=True))


def minimal(nodes: set[Levels]) -> set[Levels]:
    """The nodes with no other one of them below."""
    return {node for node in nodes if not any(covers(node, other) for other in nodes - {node})}


def maximal(nodes: set[Levels]) -> set[Levels]:
    """The nodes with no other one of them above."""
    return {node for node in nodes if not any(covers(other, node) for other in nodes - {node})}
