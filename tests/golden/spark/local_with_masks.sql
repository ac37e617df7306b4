-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- shared: cells 1;

-- shared: equal rows 2;

-- shared: write the release 1;

-- shared: values of kept columns 1;

-- rows of rare values
WITH `anon_equal_rows` AS (
  SELECT
    `age` AS `anon_label_0`,
    `sex` AS `anon_label_1`,
    `zip` AS `anon_label_2`,
    `diagnosis`,
    1 AS `anon_row_count`
  FROM `sqlanon_3`
), `anon_values` AS (
  SELECT
    SUM(anon_row_count) AS anon_value_rows
  FROM `anon_equal_rows`
  WHERE
    TRUE
  GROUP BY
    `diagnosis`
)
SELECT
  0 AS place,
  COALESCE(SUM(anon_value_rows), 0) AS counted,
  COALESCE(SUM(anon_value_rows) FILTER(WHERE
    anon_value_rows < 3), 0) AS rare
FROM `anon_values`;

-- shared: values of identifiers 1;

-- shared: classes with a single value 1;

-- shared: measure the risks 1;

-- shared: classes of a release 1;

