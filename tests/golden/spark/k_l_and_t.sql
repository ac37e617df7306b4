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

-- measure distinct l-diversity of "diagnosis" (l = 2)
WITH `anon_value_counts` AS (
  SELECT
    STRUCT(`age` AS `age`, `sex` AS `sex`, `zip` AS `zip`) AS class,
    `diagnosis` AS sensitive_value,
    COUNT(*) AS row_count
  FROM `sqlanon_3`
  GROUP BY
    STRUCT(`age` AS `age`, `sex` AS `sex`, `zip` AS `zip`),
    `diagnosis`
), `anon_class_diversity` AS (
  SELECT
    CAST(SUM(row_count) AS BIGINT) AS class_size,
    (
      COUNT(row_count)
    ) AS distinct_diversity,
    (
      EXP(LN(SUM(row_count)) - SUM(row_count * LN(row_count)) / SUM(row_count))
    ) AS entropy_diversity,
    (
      MAX(row_count) / SUM(row_count)
    ) AS largest_share
  FROM `anon_value_counts`
  GROUP BY
    class
)
SELECT
  MIN(distinct_diversity) AS l
FROM `anon_class_diversity`;

-- measure t-closeness of "diagnosis" with equal distance (t = 0.4)
SELECT
  anon_text,
  ANY_VALUE(anon_value) IGNORE NULLS AS anon_value,
  SUM(anon_is_known) AS anon_known_rows
FROM (
  SELECT
    CAST(COALESCE(`diagnosis`, NULL) AS STRING) AS anon_text,
    `diagnosis` AS anon_value,
    0 AS anon_is_known
  FROM `sqlanon_3`
  UNION ALL
  SELECT
    CAST(COALESCE(`diagnosis`, NULL) AS STRING) AS anon_text,
    `diagnosis` AS anon_value,
    1 AS anon_is_known
  FROM `sqlanon_1`
)
GROUP BY
  anon_text;

-- measure t-closeness of "diagnosis" with equal distance (t = 0.4)
SELECT
  STRUCT(`age` AS `age`, `sex` AS `sex`, `zip` AS `zip`) AS class,
  `diagnosis` AS sensitive_value,
  COUNT(*) AS row_count
FROM `sqlanon_3`
GROUP BY
  STRUCT(`age` AS `age`, `sex` AS `sex`, `zip` AS `zip`),
  `diagnosis`;

-- measure t-closeness of "diagnosis" with hierarchical distance (t = 0.4)
SELECT
  anon_text,
  ANY_VALUE(anon_value) IGNORE NULLS AS anon_value,
  SUM(anon_is_known) AS anon_known_rows
FROM (
  SELECT
    CAST(COALESCE(`diagnosis`, NULL) AS STRING) AS anon_text,
    `diagnosis` AS anon_value,
    0 AS anon_is_known
  FROM `sqlanon_3`
  UNION ALL
  SELECT
    CAST(COALESCE(`diagnosis`, NULL) AS STRING) AS anon_text,
    `diagnosis` AS anon_value,
    1 AS anon_is_known
  FROM `sqlanon_1`
)
GROUP BY
  anon_text;

-- measure t-closeness of "diagnosis" with hierarchical distance (t = 0.4)
SELECT
  STRUCT(`age` AS `age`, `sex` AS `sex`, `zip` AS `zip`) AS class,
  `diagnosis` AS sensitive_value,
  COUNT(*) AS row_count
FROM `sqlanon_3`
GROUP BY
  STRUCT(`age` AS `age`, `sex` AS `sex`, `zip` AS `zip`),
  `diagnosis`;

