-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- shared: cells 2;

-- shared: write the release 2;

-- shared: values of identifiers 1;

-- shared: measure the risks 2;

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
  FROM `sqlanon_2`
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
FROM `sqlanon_2`
GROUP BY
  STRUCT(`age` AS `age`, `sex` AS `sex`, `zip` AS `zip`),
  `diagnosis`;

-- classes of a release
WITH `anon_found` AS (
  SELECT
    CAST(COALESCE(`age`, NULL) AS STRING) AS `age`,
    CAST(COALESCE(`sex`, NULL) AS STRING) AS `sex`,
    CAST(COALESCE(`zip`, NULL) AS STRING) AS `zip`
  FROM `sqlanon_2`
)
SELECT
  `age`,
  `sex`,
  `zip`,
  CAST(COUNT(*) AS BIGINT) AS anon_rows
FROM `anon_found`
GROUP BY
  `age`,
  `sex`,
  `zip`;

