"""Reports of runs that are compared with each other."""

import sqlanon as sa
from sqlanon.model.release import Report


def alone(release: sa.Release) -> Report:
    """The report of a run without the other releases of its data set, which the run before it has added to."""
    report = release.report
    if report.findings is None:
        return report
    nothing = {"other_releases": (), "uncompared_releases": 0}
    return report.model_copy(update={"findings": report.findings.model_copy(update=nothing)})
