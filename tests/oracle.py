"""The naive oracle: every measure of the macros over lists of rows; slow, obvious, trusted.

Nothing here knows SQL. A row is a dict, NULL is ``None``, and values meet taxonomies as text. A taxonomy is a list
of rows ``[value, label of level 1, ..., top label]``; the domain of an attribute is the first entries of its rows.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

Value = str | int | None
Row = dict[str, Any]
Rows = list[Row]
Taxonomy = Sequence[Sequence[str | None]]
Taxonomies = Mapping[str, Taxonomy]
Node = Mapping[str, int]
TaxonomyRow = tuple[str, int, str | None, str | None]
"""One row of ``anon.taxonomy``: attribute, level, value, label."""


# Taxonomies


def text(value: Value) -> str | None:
    """A value as a taxonomy spells it."""
    return None if value is None else str(value)


def height(taxonomy: Taxonomy) -> int:
    """The number of the top level."""
    return len(taxonomy[0]) - 1


def label_of(taxonomy: Taxonomy, level: int, value: Value) -> str | None:
    """The label of a value; NULL without a row of its own stays NULL below the top and is the top label there."""
    for row in taxonomy:
        if row[0] == text(value):
            return row[level]
    if value is not None:
        raise LookupError("unmapped value")
    return taxonomy[0][-1] if level == height(taxonomy) and level > 0 else None


def leaves(taxonomy: Taxonomy, level: int, label: str | None) -> int:
    """The number of values under a label; a label that no value carries is its own single leaf."""
    return max(1, sum(row[level] == label for row in taxonomy))


def taxonomy_rows(taxonomies: Taxonomies) -> list[TaxonomyRow]:
    """The taxonomies as the rows of ``anon.taxonomy``."""
    return [
        (attribute, level, row[0], label)
        for attribute, taxonomy in taxonomies.items()
        for row in taxonomy
        for level, label in enumerate(row)
    ]


def unmapped(rows: Rows, taxonomies: Taxonomies, attribute: str) -> tuple[int, int]:
    """How many distinct values of a column its taxonomy does not know, and in how many rows they stand."""
    known = {row[0] for row in taxonomies.get(attribute, [])} | {None}
    gaps = [row[attribute] for row in rows if text(row[attribute]) not in known]
    return len(set(gaps)), len(gaps)


def foreign(rows: Rows, taxonomies: Taxonomies, attribute: str, level: int) -> tuple[int, int]:
    """How many distinct values of a column are no label of its taxonomy at a level, and in how many rows they stand."""
    taxonomy = taxonomies[attribute]
    known = set()
    if level <= height(taxonomy):
        known = {label_of(taxonomy, level, value) for value in [*(row[0] for row in taxonomy), None]}
    found = [row[attribute] for row in rows if text(row[attribute]) not in known]
    return len(set(found)), len(found)


def taxonomy_problems(rows: list[TaxonomyRow]) -> dict[tuple[str, int, str], int]:
    """Counts by attribute, level and problem, for the rows of one or more taxonomies; without the zeros."""
    found: dict[tuple[str, int, str], int] = {}
    for attribute in {row[0] for row in rows}:
        levels: dict[int, list[tuple[str | None, str | None]]] = defaultdict(list)
        for name, level, value, label in rows:
            if name == attribute:
                levels[level].append((value, label))
        domain = {value for value, _ in levels[0]}
        top = max(levels)
        for level in range(top + 1):
            problems = value_problems(levels[level], domain) | label_problems(levels[level], level)
            if level > 0:
                problems["not nested"] = torn_labels(levels[level], levels[level + 1])
            if level == top:
                labels = distinct_labels(levels[level])
                problems["several top labels"] = len(labels) if len(labels) > 1 else 0
            found |= {(attribute, level, problem): count for problem, count in problems.items() if count}
    return found


def ambiguous_labels(taxonomy: Taxonomy) -> int:
    """How many labels, but for that of the top, are also values with another label at the same level."""
    own = {row[0]: row for row in taxonomy}
    labels = {(level, row[level]) for row in taxonomy for level in range(1, len(row))}
    top = taxonomy[0][-1]
    return len({text for level, text in labels if text in own and text != top and own[text][level] != text})


def value_problems(pairs: Sequence[tuple[str | None, str | None]], domain: set[str | None]) -> dict[str, int]:
    """Values that lack at a level, are too many there or stand there twice, from its pairs of value and label."""
    values = Counter(value for value, _ in pairs)
    return {
        "missing level": len(domain - set(values)),
        "value outside the domain": sum(count for value, count in values.items() if value not in domain),
        "several labels": sum(count > 1 for count in values.values()),
    }


def label_problems(pairs: Sequence[tuple[str | None, str | None]], level: int) -> dict[str, int]:
    """Labels that are empty, and labels of level 0 that are not the value."""
    wrong = [label for value, label in pairs if not (level == 0 and label == value)]
    empty = sum(label in (None, "") for label in wrong)
    return {"empty label": empty, "level 0 is not the value itself": len(wrong) - empty if level == 0 else 0}


def torn_labels(pairs: Sequence[tuple[str | None, str | None]], above: Sequence[tuple[str | None, str | None]]) -> int:
    """The number of labels whose values fall under more than one label of the next level."""
    members = defaultdict(set)
    for value, label in pairs:
        members[label].add(value)
    return sum(len(distinct_labels([pair for pair in above if pair[0] in values])) > 1 for values in members.values())


def distinct_labels(pairs: Sequence[tuple[str | None, str | None]]) -> set[str]:
    """The labels without NULL."""
    return {label for _, label in pairs if label is not None}


# Lattice


def lattice(taxonomies: Taxonomies, quasi_identifiers: Sequence[str]) -> list[dict[str, int]]:
    """Every node, that is every choice of one level for each quasi-identifier."""
    levels = [range(height(taxonomies[name]) + 1) for name in quasi_identifiers]
    return [dict(zip(quasi_identifiers, choice, strict=True)) for choice in itertools.product(*levels)]


def more_general(taxonomies: Taxonomies, node: Node) -> list[dict[str, int]]:
    """The direct successors of a node: one quasi-identifier one level up."""
    return [{**node, name: level + 1} for name, level in node.items() if level < height(taxonomies[name])]


# Rows and classes


def generalize(rows: Rows, taxonomies: Taxonomies, node: Node) -> Rows:
    """Every quasi-identifier of the node replaced by its label."""
    return [
        {name: label_of(taxonomies[name], node[name], value) if name in node else value for name, value in row.items()}
        for row in rows
    ]


def classes(rows: Rows, quasi_identifiers: Sequence[str]) -> dict[tuple[Value, ...], Rows]:
    """The equivalence classes: rows that agree on every quasi-identifier."""
    found: dict[tuple[Value, ...], Rows] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in quasi_identifiers)].append(row)
    return found


def class_sizes(rows: Rows, quasi_identifiers: Sequence[str]) -> list[int]:
    """The size of every class."""
    return [len(members) for members in classes(rows, quasi_identifiers).values()]


def counts(rows: Rows, columns: Sequence[str]) -> Counter[tuple[Value, ...]]:
    """The distinct combinations of these columns with their numbers of rows: cells, classes, class values."""
    return Counter(tuple(row[name] for name in columns) for row in rows)


def suppress(rows: Rows, quasi_identifiers: Sequence[str], k: int) -> Rows:
    """The rows in classes of at least k."""
    return [row for members in classes(rows, quasi_identifiers).values() if len(members) >= k for row in members]


# Privacy


def smallest(values: Iterable[float]) -> float | None:
    """The smallest value; NULL if there is none."""
    return min(values, default=None)


def k_anonymity(rows: Rows, quasi_identifiers: Sequence[str]) -> float | None:
    """The size of the smallest class."""
    return smallest(class_sizes(rows, quasi_identifiers))


def best_k(sizes: Sequence[int], allowed_rows: int) -> int | None:
    """The largest k for which no more rows than allowed are in smaller classes; at most all rows."""
    fit = [k for k in range(1, sum(sizes) + 1) if suppressed_rows(sizes, k) <= allowed_rows]
    return max(fit, default=None)


def distinct_diversity(values: Iterable[Hashable]) -> int:
    """The number of distinct values."""
    return len(set(values))


def entropy_diversity(values: Iterable[Hashable]) -> float:
    """exp of the natural entropy of the values."""
    occurrences = Counter(values)
    total = sum(occurrences.values())
    return math.exp(-sum(count / total * math.log(count / total) for count in occurrences.values()))


def diversity(
    rows: Rows, quasi_identifiers: Sequence[str], sensitive: str, measure: Callable[[Iterable[Hashable]], float]
) -> float | None:
    """The smallest diversity of the sensitive values in any class."""
    groups = classes(rows, quasi_identifiers).values()
    return smallest(measure(row[sensitive] for row in members) for members in groups)


def recursive_ratio(values: Iterable[Hashable], l: int) -> float:  # noqa: E741
    """r_1 / (r_l + ... + r_m) of the value counts, the most frequent first; infinite with fewer than l values."""
    occurrences = sorted(Counter(values).values(), reverse=True)
    return occurrences[0] / sum(occurrences[l - 1 :]) if len(occurrences) >= l else math.inf


def largest_share(values: Iterable[Hashable]) -> float:
    """The share of the most frequent value."""
    occurrences = Counter(values)
    return max(occurrences.values()) / sum(occurrences.values())


def individuals(values: Iterable[Hashable]) -> int:
    """The number of distinct individuals; nobody knows who a NULL is, but somebody is there."""
    return max(len(set(values) - {None}), 1)


def worst(
    rows: Rows, quasi_identifiers: Sequence[str], sensitive: str, measure: Callable[[list[Value]], float]
) -> float | None:
    """The largest measure of the sensitive values of any class; NULL without rows."""
    groups = classes(rows, quasi_identifiers).values()
    return max((measure([row[sensitive] for row in members]) for members in groups), default=None)


# Closeness: each measure takes the values of one class and those of the reference


def shares(values: Sequence[Value]) -> dict[Value, float]:
    """The share of each value."""
    return {value: count / len(values) for value, count in Counter(values).items()}


def equal_distance(values: Sequence[Value], reference: Sequence[Value]) -> float:
    """Half of all differences between the shares, as Li et al. 2007 print it."""
    own, known = shares(values), shares(reference)
    return sum(abs(own.get(value, 0) - known.get(value, 0)) for value in own.keys() | known.keys()) / 2


def value_order(values: Iterable[Value]) -> list[Value]:
    """The distinct values of one type in their order, NULL last."""
    return sorted(set(values), key=lambda value: (value is None, value))


def ordered_distance(values: Sequence[Value], reference: Sequence[Value], domain: Sequence[Value]) -> float:
    """Li et al. 2007: what has to pass each step from one value of the domain to the next."""
    own, known = shares(values), shares(reference)
    carried = list(itertools.accumulate(own.get(value, 0) - known.get(value, 0) for value in domain))
    return sum(map(abs, carried)) / max(len(domain) - 1, 1)


def hierarchical_distance(values: Sequence[Value], reference: Sequence[Value], taxonomy: Taxonomy) -> float:
    """Li et al. 2007: for every inner label height / H * min(positive extra, negative extra)."""
    own, known, top = shares(values), shares(reference), height(taxonomy)
    cost = 0.0
    for level in range(1, top + 1):
        # The extra of a label below, that is how much more of it the class has, by the label that it falls under.
        extras: dict[str | None, dict[str | None, float]] = defaultdict(lambda: defaultdict(float))
        for value in own.keys() | known.keys():
            extra = own.get(value, 0) - known.get(value, 0)
            extras[label_of(taxonomy, level, value)][label_of(taxonomy, level - 1, value)] += extra
        for below in extras.values():
            positive = sum(extra for extra in below.values() if extra > 0)
            negative = sum(-extra for extra in below.values() if extra < 0)
            cost += level / top * min(positive, negative)
    return cost


def ground_distance(taxonomy: Taxonomy, one: Value, other: Value) -> float:
    """The level of the lowest common label over the height."""
    if text(one) == text(other):
        return 0.0
    common = (
        level
        for level in range(1, height(taxonomy) + 1)
        if label_of(taxonomy, level, one) == label_of(taxonomy, level, other)
    )
    return next(common) / height(taxonomy)


def transport_cost(
    values: Sequence[Value], reference: Sequence[Value], distance: Callable[[Value, Value], float]
) -> float:
    """The earth mover's distance by its definition: the cheapest of all ways to pair unit masses. For tiny tables."""
    units = math.lcm(len(values), len(reference))
    holes = [value for value in reference for _ in range(units // len(reference))]
    cheapest = {0: 0.0}
    for value in (value for value in values for _ in range(units // len(values))):
        further: dict[int, float] = {}
        for filled, cost in cheapest.items():
            for number, hole in enumerate(holes):
                if not filled >> number & 1:
                    key = filled | 1 << number
                    further[key] = min(further.get(key, math.inf), cost + distance(value, hole))
        cheapest = further
    [cost] = cheapest.values()
    return cost / units


def disclosure(values: Sequence[Value], reference: Sequence[Value]) -> float:
    """delta of one class in bits, over the values that it has; infinite for a value that the reference lacks."""
    own, known = shares(values), shares(reference)
    return max(abs(math.log2(own[value] / known[value])) if value in known else math.inf for value in own)


def gains(values: Sequence[Value], reference: Sequence[Value]) -> dict[Value, float]:
    """How much more likely each value of the class is than before, relative to before; without the losses."""
    own, known = shares(values), shares(reference)
    found = {value: (own[value] - known[value]) / known[value] if value in known else math.inf for value in own}
    return {value: gain for value, gain in found.items() if gain > 0}


def basic_likeness(values: Sequence[Value], reference: Sequence[Value]) -> float:
    """beta of one class: the largest gain."""
    return max(gains(values, reference).values(), default=0.0)


def enhanced_likeness(values: Sequence[Value], reference: Sequence[Value]) -> float:
    """beta of one class, infinite if a gain exceeds the bound that holds for every beta."""
    known = shares(reference)
    for value, gain in gains(values, reference).items():
        if value not in known or gain > -math.log(known[value]):
            return math.inf
    return basic_likeness(values, reference)


# Information loss; None for what is undefined on a table without rows


def suppressed_rows(sizes: Sequence[int], k: int) -> int:
    """Rows in classes of fewer than k."""
    return sum(size for size in sizes if size < k)


def dm_star(sizes: Sequence[int]) -> int | None:
    """The sum of the squared class sizes."""
    return sum(size**2 for size in sizes) if sizes else None


def dm(sizes: Sequence[int], k: int) -> int | None:
    """A kept row costs the size of its class, a suppressed row the size of the table."""
    return sum(size**2 if size >= k else size * sum(sizes) for size in sizes) if sizes else None


def aecs(sizes: Sequence[int], k: int) -> float | None:
    """The average size of the classes, over k; the rows of those below k are one class."""
    groups = [size for size in sizes if size >= k]
    if suppressed_rows(sizes, k):
        groups.append(suppressed_rows(sizes, k))
    return sum(groups) / len(groups) / k if groups else None


def prec(taxonomies: Taxonomies, node: Node) -> float:
    """The mean of level over height."""
    return sum(level / height(taxonomies[name]) for name, level in node.items()) / len(node)


def entropy_loss(rows: Rows, taxonomies: Taxonomies, node: Node) -> float:
    """In bits: for every row and attribute, how much less likely its value is than its label."""
    bits = 0.0
    for name, level in node.items():
        labels = [label_of(taxonomies[name], level, row[name]) for row in rows]
        of_value, of_label = Counter(row[name] for row in rows), Counter(labels)
        bits -= sum(math.log2(of_value[row[name]] / of_label[label]) for row, label in zip(rows, labels, strict=True))
    return bits


def label_information(label_rows: int, row_count: int) -> float:
    """The bits that a label tells."""
    return -math.log2(label_rows / row_count)


def charged_entropy_loss(rows: Rows, taxonomies: Taxonomies, node: Node, k: int) -> float:
    """In bits: as above for the rows of classes of k or more; the others lose what values tell of the whole table."""
    bits = 0.0
    members = classes(generalize(rows, taxonomies, node), list(node))
    for name, level in node.items():
        of_value = Counter(row[name] for row in rows)
        of_label = Counter(label_of(taxonomies[name], level, row[name]) for row in rows)
        for row in rows:
            own = tuple(label_of(taxonomies[other], depth, row[other]) for other, depth in node.items())
            is_kept = len(members[own]) >= k
            among = of_label[label_of(taxonomies[name], level, row[name])] if is_kept else len(rows)
            bits -= math.log2(of_value[row[name]] / among)
    return bits


def charged_prec(rows: Rows, taxonomies: Taxonomies, node: Node, k: int) -> float | None:
    """The mean over rows of the mean of level over height, of 1 for rows in classes below k."""
    sizes = class_sizes(generalize(rows, taxonomies, node), list(node))
    losses = [prec(taxonomies, node) if size >= k else 1.0 for size in sizes for _ in range(size)]
    return mean(losses)


def least_information(rows: Rows, taxonomies: Taxonomies, name: str, level: int) -> float:
    """The fewest bits that a label of one quasi-identifier tells that the rows have at a level."""
    of_label = Counter(row[name] for row in generalize(rows, taxonomies, {name: level}))
    return min(label_information(count, len(rows)) for count in of_label.values())


def lm_share(leaf_count: int, domain_size: int) -> float:
    """The share of the other leaves that a label also covers."""
    return (leaf_count - 1) / (domain_size - 1) if domain_size > 1 else 0.0


def ncp_share(leaf_count: int, domain_size: int) -> float:
    """The share of the domain that a label covers, nothing for a single leaf."""
    return leaf_count / domain_size if leaf_count > 1 else 0.0


def rce_share(leaf_count: int, _domain_size: int) -> float:
    """The squared distance between one of some equally likely values and the value itself."""
    return (1 - 1 / leaf_count) ** 2 + (leaf_count - 1) / leaf_count**2


def payout(size: int, lost: float, model: Any) -> float:
    """What a publisher expects of a row of a class that loses a share of its information, by four figures."""
    attacked = Fraction(str(model.gain)) / size > Fraction(str(model.cost))
    return model.benefit * (1 - lost) - (model.loss / size if attacked else 0)


def information_lost(taxonomies: Taxonomies, node: Node, row: Row) -> float:
    """The logarithms of the values under the labels of a row, over those of all values (Wan et al. 2015)."""
    under = sum(
        math.log(leaves(taxonomies[name], level, label_of(taxonomies[name], level, row[name])))
        for name, level in node.items()
    )
    of_all = sum(math.log(len(taxonomies[name])) for name in node)
    return under / of_all if of_all else 0.0


def mean_loss(
    rows: Rows, taxonomies: Taxonomies, node: Node, k: int, share: Callable[[int, int], float]
) -> float | None:
    """LM or NCP, row policy ``real``: the mean loss of the original rows; a suppressed row loses 1."""
    losses = []
    for members in classes(generalize(rows, taxonomies, node), list(node)).values():
        shares = [
            share(leaves(taxonomies[name], level, text(members[0][name])), len(taxonomies[name]))
            for name, level in node.items()
        ]
        losses += [1.0 if len(members) < k else sum(shares) / len(shares)] * len(members)
    return sum(losses) / len(losses) if losses else None


def largest_loss(
    rows: Rows, taxonomies: Taxonomies, name: str, level: int, share: Callable[[int, int], float]
) -> float:
    """The largest LM or NCP share of the labels of one quasi-identifier that the rows have at a level."""
    labels = {row[name] for row in generalize(rows, taxonomies, {name: level})}
    return max(share(leaves(taxonomies[name], level, text(label)), len(taxonomies[name])) for label in labels)


def attribute_losses(rows: Rows, taxonomies: Taxonomies, node: Node, k: int) -> dict[str, tuple[float, float]]:
    """The LM and NCP of each quasi-identifier alone, its rows suppressed where the whole node suppresses them."""
    found = {}
    labelled = classes(generalize(rows, taxonomies, node), list(node)).values()
    for name, level in node.items():
        means = []
        for share in (lm_share, ncp_share):
            losses = [
                1.0
                if len(members) < k
                else share(leaves(taxonomies[name], level, text(members[0][name])), len(taxonomies[name]))
                for members in labelled
                for _ in members
            ]
            means.append(sum(losses) / len(losses))
        found[name] = (means[0], means[1])
    return found


def missing_rows(sizes: Sequence[int], k: int) -> int:
    """How many rows classes of fewer than k rows lack."""
    return sum(k - size for size in sizes if size < k)


def reconstruction_error(leaf_count: int, truth: float) -> float:
    """The squared distance between a value and what is known of it: one of so many values, if the row is real."""
    known = [truth / leaf_count] * leaf_count
    return (1 - known[0]) ** 2 + sum(chance**2 for chance in known[1:])


def largest_degree(rows: Rows, taxonomies: Taxonomies, node: Node) -> float:
    """The largest degree of generalization of a row: the mean over its labels of the share that they lose."""
    return max(
        sum(
            lm_share(leaves(taxonomies[name], level, text(row[name])), len(taxonomies[name]))
            for name, level in node.items()
        )
        / len(node)
        for row in generalize(rows, taxonomies, node)
    )


def mean_reconstruction_error(rows: Rows, taxonomies: Taxonomies, node: Node, truth: float = 1) -> float:
    """Of rows that are real with a probability, over quasi-identifiers and a sensitive value, which is as it was."""
    errors = [
        reconstruction_error(leaves(taxonomies[name], level, text(row[name])), truth)
        for row in generalize(rows, taxonomies, node)
        for name, level in node.items()
    ]
    return (sum(errors) / len(rows) + reconstruction_error(1, truth)) / (len(node) + 1)


def shared_loss(taxonomy: Taxonomy, level: int, one: Value, other: Value) -> float:
    """What the lowest label loses that two values are both under, at a level or above; 1 if there is none."""
    for higher in range(level, height(taxonomy) + 1):
        label = label_of(taxonomy, higher, one)
        if label == label_of(taxonomy, higher, other):
            return lm_share(leaves(taxonomy, higher, label), len(taxonomy))
    return 1.0


def class_distance_by_labels(one: Row, other: Row, taxonomies: Taxonomies, node: Node) -> float:
    """How far the classes of two rows are from one another: what the labels lose that are true of both, as a mean."""
    shared = [shared_loss(taxonomies[name], level, one[name], other[name]) for name, level in node.items()]
    return sum(shared) / len(shared)


def nearest_classes(
    rows: Rows, taxonomies: Taxonomies, node: Node, k: int
) -> dict[tuple[Value, ...], tuple[float, set[tuple[Value, ...]]]]:
    """Of each class of fewer than k rows, how far the nearest ones of k rows are, and the largest of these."""
    members: dict[tuple[Value, ...], Rows] = defaultdict(list)
    for row, labelled in zip(rows, generalize(rows, taxonomies, node), strict=True):
        members[tuple(labelled[name] for name in node)].append(row)
    large = {labels: found for labels, found in members.items() if len(found) >= k}
    nearest = {}
    for labels, found in members.items():
        if len(found) < k:
            distances = {
                other: class_distance_by_labels(found[0], there[0], taxonomies, node) for other, there in large.items()
            }
            least = min(distances.values())
            near = [other for other, distance in distances.items() if distance <= least + 1e-9]
            size = max(len(large[other]) for other in near)
            nearest[labels] = least, {other for other in near if len(large[other]) == size}
    return nearest


def arithmetic_loss(losses: Sequence[float], weights: Sequence[float]) -> float:
    """The weighted mean."""
    return sum(weight * loss for loss, weight in zip(losses, weights, strict=True))


def geometric_loss(losses: Sequence[float], weights: Sequence[float]) -> float:
    """The weighted geometric mean of 1 + loss, less 1."""
    return math.prod((1 + loss) ** weight for loss, weight in zip(losses, weights, strict=True)) - 1


# Risk


def mean(values: Sequence[float]) -> float | None:
    """The mean; NULL without values."""
    return sum(values) / len(values) if values else None


def prosecutor_risk(rows: Rows, quasi_identifiers: Sequence[str]) -> tuple[float | None, float | None]:
    """The highest and the average risk of a row: 1 over the size of its class."""
    risks = [1 / size for size in class_sizes(rows, quasi_identifiers) for _ in range(size)]
    return max(risks, default=None), mean(risks)


def population_classes(rows: Rows, quasi_identifiers: Sequence[str], population: Rows) -> list[tuple[int, int]]:
    """Every class of the rows with its size there and in the population, which has at least those people."""
    sample, everyone = counts(rows, quasi_identifiers), counts(population, quasi_identifiers)
    return [(size, max(size, everyone[key])) for key, size in sample.items()]


def journalist_risk(
    rows: Rows, quasi_identifiers: Sequence[str], population: Rows
) -> tuple[float | None, float | None]:
    """The highest and the average risk of a row: 1 over the size of its class in the population."""
    sizes = population_classes(rows, quasi_identifiers, population)
    risks = [1 / people for size, people in sizes for _ in range(size)]
    return max(risks, default=None), mean(risks)


def marketer_risk(rows: Rows, quasi_identifiers: Sequence[str], population: Rows) -> float | None:
    """The expected share of rows matched rightly: one guess a row among its class in the population."""
    return journalist_risk(rows, quasi_identifiers, population)[1]


def sample_uniqueness(rows: Rows, quasi_identifiers: Sequence[str]) -> tuple[int, int, float | None]:
    """Rows alone in their class, all rows, and the share."""
    unique = class_sizes(rows, quasi_identifiers).count(1)
    return unique, len(rows), unique / len(rows) if rows else None


def distinction(rows: Rows, columns: Sequence[str]) -> float | None:
    """How many rows can be kept so that no two agree: one of each combination of values."""
    kept: list[Row] = []
    for row in rows:
        if not any(all(row[name] == other[name] for name in columns) for other in kept):
            kept.append(row)
    return len(kept) / len(rows) if rows else None


def separation(rows: Rows, columns: Sequence[str]) -> float | None:
    """The share of pairs of rows that differ in one of the columns."""
    pairs = list(itertools.combinations(rows, 2))
    separated = [pair for pair in pairs if any(pair[0][name] != pair[1][name] for name in columns)]
    return len(separated) / len(pairs) if pairs else None


@cache
def negative_binomial_risk(size: int, people: float) -> float:
    """The mean of 1 / F, where F people are drawn until the class has its rows."""
    chance = size / people
    if chance >= 1:
        return 1 / size
    terms = (
        math.lgamma(number) - math.lgamma(size) - math.lgamma(number - size + 1) + (number - size) * math.log1p(-chance)
        for number in range(size, size + 2000)
    )
    return math.fsum(math.exp(term + size * math.log(chance)) / number for number, term in enumerate(terms, start=size))


def poisson_risk(size: int, unsampled: float) -> float:
    """The mean of 1 / F, where a Poisson number of people is in the class beside its rows."""
    total, probability = 0.0, math.exp(-unsampled)
    for more in range(600):
        total += probability / (size + more)
        probability *= unsampled / (more + 1)
    return total


# Longitudinal data


def nulls_last(values: Iterable[Any]) -> list[tuple[bool, Any]]:
    """A key to sort by: values in their order, NULL after all of them."""
    return [(value is None, 0 if value is None else value) for value in values]


def sequences(rows: Rows, individual: str, events: Sequence[str], order: Sequence[str]) -> dict[Any, Rows]:
    """The rows of every individual, in order; ties in the order of the events' texts, byte by byte."""
    found: dict[Any, Rows] = defaultdict(list)
    for row in rows:
        if row[individual] is not None:
            found[row[individual]].append(row)

    def place(row: Row) -> list[tuple[bool, Any]]:
        texts = [None if row[name] is None else str(row[name]).encode() for name in events]
        return nulls_last([row[name] for name in order] + texts)

    return {person: sorted(theirs, key=place) for person, theirs in found.items()}


def first_events(rows: Rows, individual: str, event: str, order: Sequence[str], n: int) -> Rows:
    """A row per individual and position up to n."""
    return [
        {"individual": person, "position": position, "event": row[event]}
        for person, theirs in sequences(rows, individual, [event], order).items()
        for position, row in enumerate(theirs[:n], start=1)
    ]


def flatten(
    rows: Rows, individual: str, events: Sequence[str], order: Sequence[str], n: int, keep: Sequence[str], count: str
) -> Rows:
    """A row per individual, sorted: what is kept of the first row, the first n events side by side, their number."""
    wide = []
    for person, theirs in sequences(rows, individual, events, order).items():
        row = {individual: person, **{name: theirs[0][name] for name in keep}}
        for event in events:
            values = [one[event] for one in theirs[:n]]
            padded = values + [None] * (n - len(values))
            row |= {f"{event}_{position}": value for position, value in enumerate(padded, start=1)}
        wide.append({**row, count: len(theirs)})
    return sorted(wide, key=lambda row: row[individual])


def matched_classes(rows: Rows, quasi_identifiers: Sequence[str], population: Rows) -> list[tuple[int, int]]:
    """Every class of either table with its size in the rows and in the population, which has at least those people."""
    sample, everyone = counts(rows, quasi_identifiers), counts(population, quasi_identifiers)
    return [(sample[key], max(sample[key], everyone[key])) for key in sample.keys() | everyone.keys()]


def k_map(rows: Rows, quasi_identifiers: Sequence[str], population: Rows) -> float | None:
    """The smallest population size of any class that has a row."""
    return smallest(people for _, people in population_classes(rows, quasi_identifiers, population))


def delta_presence(
    rows: Rows, quasi_identifiers: Sequence[str], population: Rows
) -> tuple[float | None, float | None, float | None, int]:
    """The smallest and the largest share of a class that has a row, the smallest above 0, and how many are 0."""
    chances = [size / people for size, people in matched_classes(rows, quasi_identifiers, population)]
    present = [chance for chance in chances if chance > 0]
    return min(chances, default=None), max(chances, default=None), min(present, default=None), chances.count(0)


# m-concealing


def knowledge_states(prior: Mapping[str, float]) -> dict[tuple[str, ...], float]:
    """The probability of every set of known columns that is possible, the sets as numbers in binary."""
    found = {}
    for choice in itertools.product([False, True], repeat=len(prior)):
        known = dict(zip(prior, reversed(choice), strict=True))
        probability = math.prod(prior[name] if known[name] else 1 - prior[name] for name in prior)
        if probability > 0:
            found[tuple(name for name in prior if known[name])] = probability
    return found


def record_risks(rows: Rows, quasi_identifiers: Sequence[str], prior: Mapping[str, float]) -> Rows:
    """Every record class with its number of rows, m, the worst state and the risk in it, as no column is named."""
    states = knowledge_states(prior)
    columns = [*quasi_identifiers, *prior]
    found = []
    for key, row_count in counts(rows, columns).items():
        record = dict(zip(columns, key, strict=True))
        candidates = {
            known: sum(all(row[name] == record[name] for name in [*quasi_identifiers, *known]) for row in rows)
            for known in states
        }
        # The first of the smallest: states come as numbers in binary, fewer columns first among equals.
        state = min(states, key=lambda known: (candidates[known], len(known)))
        found.append(
            {
                **record,
                "anon_row_count": row_count,
                "anon_m": sum(probability / candidates[known] for known, probability in states.items()),
                "anon_worst_state": list(state),
                "anon_worst_risk": 1 / candidates[state],
            }
        )
    return found


def largest_inverse_m(k: float, prior: Mapping[str, float]) -> float:
    """1/m of a class of k rows that are all unique once any secret column is known; k may be infinite."""
    nothing = math.prod(1 - chance for chance in prior.values())
    return 1 / ((1 - nothing) + nothing / k)


# Private releases


def node_score(rows: Rows, taxonomies: Taxonomies, node: Node, sensitive: str, threshold: int) -> Fraction:
    """The score of a node: minus the rows at risk of not being shown, and what the labels of the others lose (NCP)."""
    score = Fraction(0)
    for (*labels, _), count in counts(generalize(rows, taxonomies, node), [*node, sensitive]).items():
        at_risk = min(count, max(0, 2 * (threshold - 1) - count))
        losses = [
            Fraction(found, len(taxonomies[name])) if (found := leaves(taxonomies[name], node[name], label)) > 1 else 0
            for name, label in zip(node, labels, strict=True)
        ]
        loss = sum(losses, Fraction(0)) / len(losses)
        score -= loss * count + (1 - loss) * at_risk
    return score


def sampling_score(rows: Rows, taxonomies: Taxonomies, node: Node, threshold: int, weight: int) -> Fraction:
    """The score of a node whose classes are published of a sample: what labels lose (Prec), and the rows at risk."""
    lost = sum(Fraction(level, height(taxonomies[name])) for name, level in node.items()) / len(node)
    at_risk = sum(
        min(size, max(0, 2 * (threshold - 1) - size))
        for size in class_sizes(generalize(rows, taxonomies, node), list(node))
    )
    return -(lost * len(rows) + (weight - lost) * at_risk)


def private_release(
    rows: Rows, taxonomies: Taxonomies, node: Node, sensitive: str, noise: int, threshold: int, rolled_up: int
) -> Counter[tuple[Value, ...]]:
    """The rows that are published, with their number, if the same noise is added to every count."""
    published: Counter[tuple[Value, ...]] = Counter()
    left: Counter[Value] = Counter()
    for (*labels, value), count in counts(generalize(rows, taxonomies, node), [*node, sensitive]).items():
        if count + noise >= threshold:
            published[(*labels, value)] += count + noise
        else:
            left[value] += count
    for value, count in left.items():
        if count + noise >= rolled_up:
            published[(*["*"] * len(node), value)] += count + noise
    return published


def release_as_published(
    rows: Rows,
    taxonomies: Taxonomies,
    node: Node,
    sensitive: str,
    *,
    threshold: float,
    counterfeits: int,
    uniform: float,
    epsilon: float,
) -> tuple[Counter[tuple[Value, ...]], float]:
    """What IPA as published shows at a node, and its utility, if all classes are given the same by chance.

    Each class of more rows than the threshold gets so many counterfeit rows, all with the value that a uniform number
    falls on: first come the values that the class has, then the others, both in their order.
    """
    values = value_order(row[sensitive] for row in rows)
    published: Counter[tuple[Value, ...]] = Counter()
    lost, rates = 0.0, {}
    for labels, members in classes(generalize(rows, taxonomies, node), list(node)).items():
        if len(members) <= threshold:
            published.update((*["*"] * len(node), row[sensitive]) for row in members)
            lost += len(members)
            rates["masked"] = 0.0
            continue
        has = Counter(row[sensitive] for row in members)
        in_turn = sorted(values, key=lambda value: value not in has)
        scores = [value_score(has[value], len(members), len(values), len(has)) for value in in_turn]
        weights = [math.exp(epsilon * score / 2) for score in scores]
        fallen = next(at for at in range(len(weights)) if uniform * sum(weights) < sum(weights[: at + 1]))
        published.update([(*labels, row[sensitive]) for row in members])
        published.update([(*labels, in_turn[fallen])] * counterfeits)
        size = len(members) + counterfeits
        found = [leaves(taxonomies[name], node[name], label) for name, label in zip(node, labels, strict=True)]
        losses = [ncp_share(count, len(taxonomies[name])) for name, count in zip(node, found, strict=True)]
        lost += size * sum(losses) / len(losses)
        rates[labels] = counterfeits / size
    if not rows:
        return published, 3.0
    released = [value for *_, value in published.elements()]
    distance = equal_distance(released, [row[sensitive] for row in rows])
    return published, 3 - (lost / len(released) + distance + sum(rates.values()) / len(rates))


def value_score(count: int, class_size: int, values: int, class_values: int) -> float:
    """IPA, equation 3."""
    return count / (class_size + 1) if count else 1 / ((class_size + 1) * (values - class_values))


# Releases beside their original


MASK = "*"


def label_values(taxonomy: Taxonomy, label: Value) -> list[str | None]:
    """The values that a released label may stand for: those of the highest level that has it; a mask, all of them."""
    for level in reversed(range(height(taxonomy) + 1)):
        values = [row[0] for row in taxonomy if row[level] == text(label)]
        if values:
            return values
    if label is None:
        return [None]
    if label == MASK:
        return [row[0] for row in taxonomy]
    raise LookupError("unknown label")


def shown_values(taxonomies: Taxonomies, attribute: str, label: Value) -> list[str | None]:
    """The same for any column; one without a taxonomy shows its values."""
    return label_values(taxonomies[attribute], label) if attribute in taxonomies else [text(label)]


def label_share(taxonomies: Taxonomies, attribute: str, label: Value, value: Value) -> float:
    """The share of the values under a label that are this one."""
    values = shown_values(taxonomies, attribute, label)
    return values.count(text(value)) / len(values)


def label_midpoint(taxonomies: Taxonomies, attribute: str, label: Value) -> float | None:
    """Halfway between the smallest and the largest number under a label."""
    numbers = [float(value) for value in shown_values(taxonomies, attribute, label) if value is not None]
    return (min(numbers) + max(numbers)) / 2 if numbers else None


def released_ncp(released: Rows, taxonomies: Taxonomies, quasi_identifiers: Sequence[str]) -> float | None:
    """NCP by labels, the mean over the released rows; a masked row loses everything."""
    losses = []
    for row in released:
        labels = {name: row[name] for name in quasi_identifiers}
        own = [
            ncp_share(len(shown_values(taxonomies, name, label)), len(taxonomies.get(name, ())))
            for name, label in labels.items()
        ]
        losses.append(1.0 if set(labels.values()) == {MASK} else sum(own) / len(own))
    return mean(losses)


def total_variation(original: Sequence[Value], released: Sequence[Value]) -> float | None:
    """IPA, equation 7; undefined without rows."""
    return equal_distance(released, original) if original and released else None


def compared_classes(
    original: Rows, released: Rows, taxonomies: Taxonomies, node: Node, sensitive: str
) -> dict[tuple[Value, ...], tuple[list[Value], list[Value]]]:
    """The sensitive values of every class, original and released.

    An original row of which nothing alike is released is among the masked rows, if there are any.
    """
    mask = (MASK,) * len(node)
    shown = counts(released, [*node, sensitive])
    is_masking = any(key[:-1] == mask for key in shown)
    found: dict[tuple[Value, ...], tuple[list[Value], list[Value]]] = defaultdict(lambda: ([], []))
    for row in generalize(original, taxonomies, node):
        labels = tuple(row[name] for name in node)
        is_pooled = is_masking and (*labels, row[sensitive]) not in shown
        found[mask if is_pooled else labels][0].append(row[sensitive])
    for row in released:
        found[tuple(row[name] for name in node)][1].append(row[sensitive])
    return found


def class_distance(original: Sequence[Value], released: Sequence[Value]) -> float | None:
    """The total variation distance within a released class, 1 if nothing in it is real."""
    if not released:
        return None
    return equal_distance(released, original) if original else 1.0


def counterfeit_share(original: Sequence[Value], released: Sequence[Value]) -> float | None:
    """IPA, equation 8, from the sizes of a released class."""
    return max(len(released) - len(original), 0) / len(released) if released else None


def reconstruction_errors(
    original: Rows, released: Rows, taxonomies: Taxonomies, node: Node, sensitive: str, truths: Sequence[float]
) -> tuple[float | None, float, float | None, int]:
    """Their mean over rows and attributes, their sum, the mean of all attributes as one, and how many rows are lost.

    A row is lost if no released one is like it, and its sensitive value with it, unless masked rows show it.
    """
    chances: dict[tuple[Value, ...], list[float]] = defaultdict(list)
    for row, chance in zip(released, truths, strict=True):
        chances[(*(text(row[name]) for name in node), text(row[sensitive]))].append(chance)
    is_masking = any(set(key[:-1]) == {MASK} for key in chances)
    domain = 1 if is_masking else len({row[sensitive] for row in original})
    errors, joint, lost = [], [], 0
    for row in generalize(original, taxonomies, node):
        found = chances.get((*(text(row[name]) for name in node), text(row[sensitive])))
        if found is None:
            lost += 1
            truth, values = 1.0, [*(len(taxonomies[name]) for name in node), domain]
        else:
            truth = sum(found) / len(found)
            values = [*(leaves(taxonomies[name], level, text(row[name])) for name, level in node.items()), 1]
        errors += [reconstruction_error(count, truth) for count in values]
        joint.append(reconstruction_error(math.prod(values), truth))
    return mean(errors), sum(errors), mean(joint), lost


def class_changes(
    original: Rows, released: Rows, taxonomies: Taxonomies, node: Node, sensitive: str
) -> tuple[float | None, float, float, float | None]:
    """EMD of classes, Rate with and without the masked class, DelRate."""
    compared = compared_classes(original, released, taxonomies, node, sensitive)
    shown = {labels: pair for labels, pair in compared.items() if pair[1]}
    rates = {labels: counterfeit_share(*pair) or 0.0 for labels, pair in shown.items()}
    unmasked = [rate for labels, rate in rates.items() if set(labels) != {MASK}]
    deleted = sum(max(len(before) - len(after), 0) for before, after in compared.values())
    return (
        mean([class_distance(*pair) or 0.0 for pair in shown.values()]),
        mean(list(rates.values())) or 0.0,
        mean(unmasked) or 0.0,
        deleted / len(original) if original else None,
    )


# Counterfeits


def barred_values(
    labels: Mapping[str, Value],
    taxonomies: Taxonomies,
    node: Node,
    entries: Sequence[Mapping[str, str]],
    sensitive: str,
) -> set[str]:
    """The values that no counterfeit gets in the class of some labels: those of entries that are of all its values."""

    def is_of_class(name: str, label: str) -> bool:
        taxonomy, level = taxonomies[name], node[name]
        below = [
            value for value in {None, *(row[0] for row in taxonomy)} if label_of(taxonomy, level, value) == labels[name]
        ]
        return all(label in [label_of(taxonomy, at, value) for at in range(height(taxonomy) + 1)] for value in below)

    return {
        entry[sensitive]
        for entry in entries
        if all(is_of_class(name, label) for name, label in entry.items() if name != sensitive)
    }


class BackOff:
    """Which values are expected of a class by the rows of all others (spec/hceiling_fill.md, steps 1 to 4).

    Args:
        rows: the true rows.
        taxonomies: those of the quasi-identifiers.
        node: the node, whose order is that of the policy.
        sensitive: the column whose values they are.
    """

    PRIOR_ROWS = 10

    def __init__(self, rows: Rows, taxonomies: Taxonomies, node: Node, sensitive: str) -> None:
        self.names, self._node, self._rows = list(node), node, rows
        self._labels = {
            (name, level): {row[name]: label_of(taxonomies[name], level, row[name]) for row in rows}
            for name in node
            for level in range(height(taxonomies[name]) + 1)
        }
        self._column = [text(row[sensitive]) for row in rows]
        self.values = sorted({value for value in self._column if value is not None})
        self.entropies = {name: self._entropy(name) for name in self.names}
        tops = {name: height(taxonomies[name]) for name in self.names}
        self.order = [name for name in sorted(self.names, key=self._place) if node[name] < tops[name]]
        self.chain = [tops]
        for name in self.order:
            while self.chain[-1][name] > node[name]:
                self.chain.append({**self.chain[-1], name: self.chain[-1][name] - 1})
        self._counts = [Counter(zip(self._tuples(each), self._column, strict=True)) for each in self.chain]
        self.members = {labels: place for place, labels in enumerate(self._tuples(node))}
        self._seen = {
            (name, self._labels[name, node[name]][row[name]], value)
            for row, value in zip(rows, self._column, strict=True)
            for name in self.names
        }

    def own(self, labels: tuple[Value, ...]) -> Counter[str]:
        """The values of a class."""
        return Counter({value: self._counts[-1][labels, value] for value in self.values})

    def before_support(self, labels: tuple[Value, ...]) -> dict[str, float]:
        """The chances of a class, of values that no row has with one of its labels, too."""
        member, own = self._rows[self.members[labels]], self.own(labels)
        chances = dict.fromkeys(self.values, 1 / len(self.values))
        for node, counts in zip(self.chain, self._counts, strict=True):
            above = tuple(self._labels[name, node[name]][member[name]] for name in self.names)
            others = {value: counts[above, value] - own[value] for value in self.values}
            whole = sum(others.values()) + self.PRIOR_ROWS
            chances = {value: (others[value] + self.PRIOR_ROWS * chances[value]) / whole for value in self.values}
        return chances

    def chances(self, labels: tuple[Value, ...], barred: Iterable[str] = ()) -> dict[str, float]:
        """The chances of a class: nothing for what it never gets; empty if that is all."""
        left = {value: chance for value, chance in self.before_support(labels).items() if value not in barred}
        seen = {value: chance for value, chance in left.items() if self.is_seen(labels, value)} or left
        return {value: chance / sum(seen.values()) for value, chance in seen.items()}

    def is_seen(self, labels: tuple[Value, ...], value: str) -> bool:
        """Whether for every label of a class there is a row that has both the label and the value."""
        return all((name, label, value) in self._seen for name, label in zip(self.names, labels, strict=True))

    def _tuples(self, node: Node) -> list[tuple[Value, ...]]:
        return [tuple(self._labels[name, node[name]][row[name]] for name in self.names) for row in self._rows]

    def _entropy(self, name: str) -> float:
        labels = [self._labels[name, self._node[name]][row[name]] for row in self._rows]
        pairs, rows = Counter(zip(labels, self._column, strict=True)), Counter(labels)
        return -math.fsum(
            count / len(labels) * math.log(count / rows[label]) for (label, _), count in sorted(pairs.items(), key=str)
        )

    def _place(self, name: str) -> tuple[float, int]:
        return round(self.entropies[name], 9), self.names.index(name)


# Catalogs of counterfeits


CLASS_ID = "class_id"
CatalogRow = tuple[list[int], Value, int]
"""The classes of a group, a sensitive value, and how many rows of it in them are invented."""


def row_truths(released: Rows, catalog: Sequence[CatalogRow], sensitive: str) -> list[float]:
    """The share of true rows among those of the same group and value."""
    truths = []
    for row in released:
        told = [each for each in catalog if row[CLASS_ID] in each[0] and text(row[sensitive]) == text(each[1])]
        alike = [
            other
            for ids, value, _ in told
            for other in released
            if other[CLASS_ID] in ids and other[sensitive] == value
        ]
        truths.append(1 - sum(count for *_, count in told) / len(alike) if told else 1.0)
    return truths


def truthful_rows(
    released: Rows, catalog: Sequence[CatalogRow], quasi_identifiers: Sequence[str], sensitive: str
) -> Rows:
    """Of every class as many rows of a value are masked as may be invented, and as many left out as are."""
    left = [{name: row[name] for name in (CLASS_ID, *quasi_identifiers, sensitive)} for row in released]
    for ids, value, count in catalog:
        masked: Rows = []
        for number in ids:
            of_class = [row for row in left if row[CLASS_ID] == number and row[sensitive] == value]
            masked += of_class[:count]
            for row in of_class[:count]:
                left.remove(row)
        left += [{**dict.fromkeys(quasi_identifiers, MASK), CLASS_ID: None, sensitive: value} for _ in masked[count:]]
    return left


# Queries by group


Answers = dict[str | float | None, float | None]
"""The answer of every group, by the start of its interval or by its value."""


def group_of(value: Value, width: int | None) -> str | float | None:
    """The start of the interval that a number falls into, or the value itself without a width."""
    if width is None or value is None:
        return text(value)
    return float(math.floor(float(value) / width) * width)


def grouped_counts(rows: Rows, column: str, width: int | None) -> Answers:
    """The number of rows of each group."""
    return dict(Counter(group_of(row[column], width) for row in rows))


def grouped_averages(rows: Rows, column: str, width: int | None, averaged: str) -> Answers:
    """The mean of a column in each group."""
    numbers: dict[str | float | None, list[float]] = defaultdict(list)
    for row in rows:
        numbers[group_of(row[column], width)] += [] if row[averaged] is None else [float(row[averaged])]
    return {group: mean(found) for group, found in numbers.items()}


def estimated_masses(
    released: Rows, taxonomies: Taxonomies, column: str, width: int | None, weights: Sequence[float | None]
) -> dict[str | float | None, list[tuple[float, Row]]]:
    """The part of every released row that falls into each group."""
    masses: dict[str | float | None, list[tuple[float, Row]]] = defaultdict(list)
    for row, weight in zip(released, weights, strict=True):
        if weight:
            values = shown_values(taxonomies, column, row[column])
            for value in values:
                masses[group_of(value, width)].append((weight / len(values), row))
    return masses


def estimated_counts(
    released: Rows, taxonomies: Taxonomies, column: str, width: int | None, weights: Sequence[float | None]
) -> Answers:
    """The expected number of rows of each group if values are uniform under their label."""
    masses = estimated_masses(released, taxonomies, column, width, weights)
    return {group: sum(mass for mass, _ in parts) for group, parts in masses.items()}


def estimated_averages(
    released: Rows,
    taxonomies: Taxonomies,
    column: str,
    width: int | None,
    averaged: str,
    weights: Sequence[float | None],
) -> Answers:
    """The mean of the midpoints of a column in each group."""
    found: Answers = {}
    for group, parts in estimated_masses(released, taxonomies, column, width, weights).items():
        middles = [(mass, label_midpoint(taxonomies, averaged, row[averaged])) for mass, row in parts]
        known = [(mass, middle) for mass, middle in middles if middle is not None]
        found[group] = sum(mass * middle for mass, middle in known) / sum(mass for mass, _ in known) if known else None
    return found


def answer_errors(truth: Answers, answers: Answers, missing: float | None) -> list[float | int | None]:
    """Groups, those without an answer, those without a truth; MAE, RMSE, mean and total relative error."""
    pairs = [(truth.get(group, missing), answers.get(group, missing)) for group in truth.keys() | answers.keys()]
    both = [(true, found) for true, found in pairs if true is not None and found is not None]
    errors = [abs(found - true) for true, found in both]
    squares = mean([error**2 for error in errors])
    relative = [abs(found - true) / true for true, found in both if true > 0]
    total = sum(true for true, _ in both)
    return [
        len(pairs),
        sum(true is not None and found is None for true, found in pairs),
        sum(true is None and found is not None for true, found in pairs),
        mean(errors),
        None if squares is None else math.sqrt(squares),
        mean(relative),
        sum(errors) / total if total else None,
    ]


# Classification


def mode(values: Iterable[Any]) -> Any:
    """The most frequent value that is not missing, the smallest of several; None if there is none."""
    counts = Counter(value for value in values if value is not None)
    return min(counts, key=lambda value: (-counts[value], value), default=None)


def items_of(value: Any) -> Any:
    """A list as its items in order, each once; NULL is none."""
    return tuple(sorted({text(item) for item in value} - {None})) if isinstance(value, list) else value


def encoded(training: Rows, test: Rows, predictors: Sequence[str]) -> tuple[list[list[float]], list[list[float]]]:
    """Both tables as features, a list per row: texts and items one-hot, numbers standardized, gaps filled by modes."""
    learned: list[list[float]] = [[] for _ in training]
    asked: list[list[float]] = [[] for _ in test]
    for name in predictors:
        known = [items_of(row[name]) for row in training]
        usual = mode(known)
        if usual is None:
            continue
        known = [usual if value is None else value for value in known]
        if isinstance(usual, int | float):
            center = math.fsum(known) / len(known)
            spread = math.sqrt(math.fsum((value - center) ** 2 for value in known) / len(known))
            spread = 1.0 if len(set(known)) == 1 else spread
        for rows, features in ((training, learned), (test, asked)):
            for row, found in zip(rows, features, strict=True):
                value = usual if row[name] is None else items_of(row[name])
                if isinstance(usual, int | float):
                    found.append((value - center) / spread)
                    continue
                texts = sorted({item for each in known for item in (each if isinstance(each, tuple) else (each,))})
                found += [float(item in (value if isinstance(value, tuple) else (value,))) for item in texts]
    return learned, asked


def majority_accuracy(training: Sequence[Any], test: Sequence[Any]) -> float:
    """The share of the test labels that are the most frequent training label."""
    return sum(label == mode(training) for label in test) / len(test)


Shown = Mapping[Any, tuple[Value, ...]]
"""The labels of each person whom a release shows."""


def joint_classes(releases: Sequence[Shown]) -> Counter[tuple[tuple[Value, ...] | None, ...]]:
    """The persons of each joint class of some releases; None where a release does not show them."""
    persons = {person for release in releases for person in release}
    return Counter(tuple(release.get(person) for release in releases) for person in persons)


def shown_beside(
    earlier: Sequence[Shown], labelled: Shown, k: int, *, is_by_person: bool = True
) -> Counter[tuple[Any, Any]]:
    """How many persons of each joint class a release shows beside earlier ones.

    It follows spec/earlier.md, E3, for joint classes in place of whole ones; the largest one lends missing persons if k
    stay in it, else the smallest one is hidden, and wherever persons cannot be distinguished.
    """
    persons = {person for release in (*earlier, labelled) for person in release}
    sizes = Counter((tuple(release.get(person) for release in earlier), labelled.get(person)) for person in persons)
    kept = Counter({(before, label): size for (before, label), size in sizes.items() if label and size >= k})
    for before in {before for before, _ in sizes if any(before)}:
        hidden = sum(size for (other, _), size in (sizes - kept).items() if other == before)
        own = {joint: size for joint, size in kept.items() if joint[0] == before}
        if own and 0 < hidden < k:
            largest, smallest = max(own, key=own.__getitem__), min(own, key=own.__getitem__)
            if is_by_person and own[largest] >= k + k - hidden:
                kept[largest] -= k - hidden
            else:
                del kept[smallest]
    return +kept
