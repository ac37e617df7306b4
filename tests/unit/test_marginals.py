"""Marginals as a page shows them."""

from typing import Any

from sqlanon.model.release.pictures import MeasuredMarginal, marginals_section
from sqlanon.report.document import Notes, SideBySide, Table, Text


def marginal(*columns: str, sigma: float = 2.0, labels: tuple[dict[str, Any], ...] = ()) -> MeasuredMarginal:
    return MeasuredMarginal.model_validate(
        {"columns": columns, "times": 1, "sigma": sigma, "error_at_most": 10 * sigma + 0.5, "labels": labels}
    )


def test_a_column_as_it_was_measured_and_drawn() -> None:
    labels = [{"label": f"{rows} rows", "measured": rows + 0.4, "drawn": rows} for rows in range(20, 0, -1)]
    labels[3] |= {"measured": 23.1}
    labels += [{"label": None, "measured": -30.0, "drawn": 30}]
    [section] = marginals_section([marginal("a", labels=tuple(labels))])
    beside, _ = section.parts
    assert isinstance(beside, SideBySide)
    ((_, (table,)),) = beside.columns
    assert isinstance(table, Table)
    assert table.headings == ("a", "measured", "drawn")
    assert list(table.rows) == [
        ("20 rows", "20", Text("20")),
        ("19 rows", "19", Text("19")),
        ("18 rows", "18", Text("18")),
        ("17 rows", "23", Text("17", "bad")),
        *((f"{rows} rows", f"{rows}", Text(f"{rows}")) for rows in range(16, 9, -1)),
        ("NULL", "-30", Text("30", "bad")),
        ("9 others", "49", "45"),
    ]


def test_columns_together_with_the_least_noise_first() -> None:
    pairs = [marginal("a", f"c{place}", sigma=place + 1) for place in reversed(range(22))]
    [section] = marginals_section([marginal("a"), *pairs])
    _, table, promise = section.parts
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == [*(f"a, c{place}" for place in range(20)), "and 2 others"]
    assert table.rows[0] == ("a, c0", "1", "1", "11")
    assert isinstance(promise, Notes)
    assert len(promise.sentences) == 3
