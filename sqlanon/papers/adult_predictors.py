"""The predictors of UCI Adult by what is public of them: bounds of numbers, and taxonomies of everything else.

The values are those that the documentation of UCI Adult lists, in its spelling; nothing was read off the rows. The
taxonomies over them were written for this package.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlanon.model.taxonomy.taxonomy import TOP, Taxonomy
from sqlanon.papers.adult import COLUMNS, UNKNOWN

Bounds = tuple[int, int]
"""The least number, and the first one above all."""

Tree = Mapping[str, "Tree | Sequence[str] | None"]
"""What is under each label: labels again, values, or nothing under a value."""

BOUNDS: Mapping[str, Bounds] = {
    "age": (15, 95),
    "fnlwgt": (0, 1_500_000),
    "education_num": (1, 20),
    "capital_gain": (0, 100_000),
    "capital_loss": (0, 5_000),
    "hours_per_week": (1, 100),
}
"""The ranges that the program of Mohammed et al. (DiffGen) fixes."""

TREES: Mapping[str, Tree] = {
    "workclass": {
        "Employee": {"Private": None, "Government": ("Federal-gov", "State-gov", "Local-gov")},
        "Self-employed": ("Self-emp-inc", "Self-emp-not-inc"),
        "Unpaid": ("Without-pay", "Never-worked"),
    },
    "education": {
        "School": {
            "Primary or middle school": ("Preschool", "1st-4th", "5th-6th", "7th-8th"),
            "High school without a diploma": ("9th", "10th", "11th", "12th"),
            "HS-grad": None,
        },
        "College": {"Below a bachelor": ("Some-college", "Assoc-voc", "Assoc-acdm"), "Bachelors": None},
        "Graduate school": ("Masters", "Prof-school", "Doctorate"),
    },
    "marital_status": {
        "Married": {
            "With the spouse": ("Married-civ-spouse", "Married-AF-spouse"),
            "Apart from the spouse": ("Married-spouse-absent", "Separated"),
        },
        "Not married": {"No longer married": ("Divorced", "Widowed"), "Never-married": None},
    },
    "occupation": {
        "Office": {
            "Professions": ("Exec-managerial", "Prof-specialty", "Tech-support"),
            "Clerks and sellers": ("Adm-clerical", "Sales"),
        },
        "Hands": {
            "Trades": ("Craft-repair", "Farming-fishing"),
            "Machines and loads": ("Machine-op-inspct", "Transport-moving", "Handlers-cleaners"),
        },
        "Services": {
            "For persons": ("Other-service", "Priv-house-serv"),
            "For safety": ("Protective-serv", "Armed-Forces"),
        },
    },
    "relationship": {
        "In a family": {"Spouse": ("Husband", "Wife"), "Relative": ("Own-child", "Other-relative")},
        "On their own": ("Not-in-family", "Unmarried"),
    },
    "race": dict.fromkeys(("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")),
    "sex": dict.fromkeys(("Female", "Male")),
    "native_country": {
        "America": {
            "United States and Canada": ("United-States", "Outlying-US(Guam-USVI-etc)", "Canada"),
            "Central America": ("Mexico", "Guatemala", "Honduras", "El-Salvador", "Nicaragua"),
            "Caribbean": ("Cuba", "Jamaica", "Haiti", "Dominican-Republic", "Puerto-Rico", "Trinadad&Tobago"),
            "South America": ("Columbia", "Ecuador", "Peru"),
        },
        "Europe": {
            "Northwest Europe": ("England", "Scotland", "Ireland", "France", "Germany", "Holand-Netherlands"),
            "South Europe": ("Greece", "Italy", "Portugal"),
            "East Europe": ("Hungary", "Poland", "Yugoslavia"),
        },
        "Asia": {
            # "South" is taken to be South Korea, and "Hong" to be Hong Kong.
            "East Asia": ("China", "Hong", "Japan", "South", "Taiwan"),
            "Southeast Asia": ("Cambodia", "Laos", "Philippines", "Thailand", "Vietnam"),
            "South and West Asia": ("India", "Iran"),
        },
    },
}
"""Without the top."""

WITH_UNKNOWN = ("workclass", "occupation", "native_country")
"""The columns in which a value may be unknown, which is well known of Adult."""


def predictors(*, unknown: bool = False) -> dict[str, Bounds | Taxonomy]:
    """The bounds or the taxonomy of each of the 14 predictors, in the order of the columns.

    Args:
        unknown: whether ``?`` is a value, right under the top, in the columns where it occurs.

    Source: Mohammed et al. 2013 and 2011 (DiffGen), "Adult", for the choice of predictors.
    """
    found: dict[str, Bounds | Taxonomy] = {}
    for name in COLUMNS:
        if name in BOUNDS:
            found[name] = BOUNDS[name]
        elif name in TREES:
            tree = TREES[name]
            found[name] = _taxonomy({**tree, UNKNOWN: None} if unknown and name in WITH_UNKNOWN else tree)
    return found


def _taxonomy(tree: Tree) -> Taxonomy:
    """The rows of a tree; a value that is nearer to the top than others is its own label up to there."""
    paths = list(_paths(tree, (TOP,)))
    height = max(map(len, paths))
    return Taxonomy.from_rows([(path[0],) * (height - len(path)) + path for path in paths])


def _paths(tree: Tree, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Each value with what is above it."""
    for label, under in tree.items():
        path = (label, *above)
        if under is None:
            yield path
        elif isinstance(under, Mapping):
            yield from _paths(under, path)
        else:
            yield from ((value, *path) for value in under)
