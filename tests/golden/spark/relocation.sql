-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- shared: cells 2;

-- shared: write the release 2;

-- shared: some rows of the source 2;

-- shared: dependent columns 2;

-- shared: determining columns 2;

-- shared: values of identifiers 1;

-- shared: measure the risks 1;

-- values that were written
WITH `anon_values` AS (
  SELECT
    CAST(COALESCE(`anon_raw_0`, NULL) AS STRING) AS `diagnosis`,
    anon_row_count
  FROM `anon_cells` AS `anon_cells`
  UNION ALL
  SELECT
    CAST(COALESCE(`diagnosis`, NULL) AS STRING) AS `diagnosis`,
    -1 AS anon_row_count
  FROM `sqlanon_3`
), `anon_counts` AS (
  SELECT
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
  FROM `anon_values`
  GROUP BY
    `diagnosis`
)
SELECT
  CAST(SUM(GREATEST(anon_row_count, 0)) AS BIGINT) AS rows
FROM `anon_counts`;

