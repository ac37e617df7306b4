"""The statements that are kept as text: one a shape of what the SQL builders make, in files by what is built.

Named queries of ``sql/`` are read there; the hashes of runs hold them.
"""

from typing import NamedTuple


class Kept(NamedTuple):
    """A statement of a run of ``people.RUNS``, or of ``people.SENT``.

    Attributes:
        run: the name of the run.
        subject: what the statement makes or reads.
        number: its number among those of the run that have this subject.
    """

    run: str
    subject: str
    number: int = 1


CELLS = {
    "cells of people who have weights": Kept("individuals", "create anon_cells"),
    "cells of people who count by a bounded number of rows": Kept("ipa of individuals", "create anon_cells"),
    "codes of sensitive values at their levels": Kept("t, hierarchical", "create anon_sensitive_codes_0"),
    "keyed rows": Kept("earlier k", "create anon_keyed_rows"),
    "rows of unknown values": Kept("unknown", "create anon_unknown_rows"),
    "points of ordered leaves": Kept("top-down", "create anon_points"),
    "codes of labels": Kept("synthetic", "create anon_label_codes"),
    "coded cells": Kept("synthetic", "create anon_coded_cells"),
    "cells, sent to a server": Kept("sent", "cells"),
}

CLASSES = {
    "what each kind of diversity attains": Kept("l", "read anon_cells", 6),
    "what an equal distance, likeness and disclosure attain": Kept("shares", "read anon_cells", 6),
    "the shares of all rows": Kept("shares", "create anon_values_0"),
    "work to even out the order of all rows": Kept("t, ordered", "create anon_reference_work_0"),
    "crossings of the order of all rows": Kept("t, ordered", "create anon_reference_crossings_0"),
    "what an ordered distance attains": Kept("t, ordered", "read anon_cells", 6),
    "aggregates of classes": Kept("local means", "create anon_aggregates_0"),
    "what a node attains beside an earlier release": Kept("earlier k", "read anon_cells", 5),
    "classes that rows can still join": Kept("local", "create anon_tried"),
    "rows that join a class": Kept("local", "create anon_taken"),
}

JOINT = {
    "labels of a release": Kept("earlier k", "create anon_labels_of_releases_0"),
    "classes of an earlier release": Kept("earlier k", "create anon_released_classes_0"),
    "rows of an earlier release": Kept("earlier k", "create anon_rows_of_0"),
    "people of an earlier release": Kept("earlier k", "create anon_persons_of_0"),
    "joint classes of one release": Kept("earlier k", "create anon_joint_classes"),
    "people who are absent": Kept("earlier k", "create anon_absent_persons"),
    "people who are withheld": Kept("earlier k", "create anon_withheld_persons"),
    "people of this release": Kept("earlier k", "create anon_persons_of_1"),
    "diversity in an earlier release": Kept("earlier l", "read anon_persons_of_0", 2),
    "diversity in both releases": Kept("earlier l", "read anon_persons_of_1"),
    "classes that are made again": Kept("earlier local", "create anon_persons_made_again_0"),
}

DRAWN = {
    "combinations that are sampled": Kept("epsilon-safe", "create anon_combinations"),
    "marginals of two columns": Kept("synthetic", "read anon_coded_cells", 2),
    "marginals of points": Kept("diffgen", "create anon_marginals"),
    "counts of candidates by their largest class": Kept("diffgen", "read anon_marginals"),
    "leaves that have rows": Kept("diffgen", "create anon_occupied_leaves"),
    "leaves that are shown": Kept("diffgen", "create anon_shown_leaves"),
}

RELEASE = {
    "equal rows with kept and coded columns": Kept("coded", "create anon_equal_rows"),
    "few rows with kept columns": Kept("kept columns", "create anon_few_rows"),
    "rows of a cut": Kept("diffgen", "create anon_equal_rows"),
    "rows that are drawn": Kept("synthetic", "create released"),
    "counts of a partition": Kept("partition", "create anon_partition_counts"),
    "cells that a partition publishes": Kept("partition", "create anon_published_cells"),
    "new cells of classes": Kept("partition of classes", "read anon_new_cells", 2),
    "a release, sent to a server": Kept("sent", "write the release"),
    "dependent columns, sent to a server": Kept("sent", "dependent columns"),
    "risks, sent to a server": Kept("sent", "measure the risks"),
}

STATEMENTS = {"cells": CELLS, "classes": CLASSES, "joint": JOINT, "drawn": DRAWN, "release": RELEASE}
"""By the names of their files; ``people.RUNS`` has their policies."""
