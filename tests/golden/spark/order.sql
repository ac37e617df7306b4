-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- shared: cells 2;

-- shared: write the release 2;

-- shared: some rows of the source 1;

-- dependent columns
WITH `anon_groups_3` AS (
  SELECT
    (
      COALESCE(
        (
          MIN(`anon_kept_0`) = MAX(`anon_kept_0`)
        ),
        (
          MIN(`anon_kept_0`) IS NULL AND MAX(`anon_kept_0`) IS NULL
        )
      )
      AND COUNT(`anon_kept_0`) IN (0, COUNT(*))
    ) AS `anon_0`
  FROM `sqlanon_2`
  GROUP BY
    `anon_value_2`
), `anon_groups` AS (
  SELECT
    (
      COALESCE(
        (
          MIN(`anon_kept_0`) = MAX(`anon_kept_0`)
        ),
        (
          MIN(`anon_kept_0`) IS NULL AND MAX(`anon_kept_0`) IS NULL
        )
      )
      AND COUNT(`anon_kept_0`) IN (0, COUNT(*))
    ) AS `anon_0`
  FROM `sqlanon_2`
  GROUP BY
    `anon_value_0`
), `anon_groups_2` AS (
  SELECT
    (
      COALESCE(
        (
          MIN(`anon_kept_0`) = MAX(`anon_kept_0`)
        ),
        (
          MIN(`anon_kept_0`) IS NULL AND MAX(`anon_kept_0`) IS NULL
        )
      )
      AND COUNT(`anon_kept_0`) IN (0, COUNT(*))
    ) AS `anon_0`
  FROM `sqlanon_2`
  GROUP BY
    `anon_value_1`
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`
FROM `anon_groups`
UNION ALL
SELECT
  1 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`
FROM `anon_groups_2` AS anon_groups
UNION ALL
SELECT
  2 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`
FROM `anon_groups_3` AS anon_groups;

-- determining columns
WITH `anon_groups` AS (
  SELECT
    (
      COALESCE(
        (
          MIN(`anon_finer_0`) = MAX(`anon_finer_0`)
        ),
        (
          MIN(`anon_finer_0`) IS NULL AND MAX(`anon_finer_0`) IS NULL
        )
      )
      AND COUNT(`anon_finer_0`) IN (0, COUNT(*))
    ) AS `anon_0`,
    (
      COALESCE(
        (
          MIN(`anon_finer_1`) = MAX(`anon_finer_1`)
        ),
        (
          MIN(`anon_finer_1`) IS NULL AND MAX(`anon_finer_1`) IS NULL
        )
      )
      AND COUNT(`anon_finer_1`) IN (0, COUNT(*))
    ) AS `anon_1`,
    (
      COALESCE(
        (
          MIN(`anon_finer_2`) = MAX(`anon_finer_2`)
        ),
        (
          MIN(`anon_finer_2`) IS NULL AND MAX(`anon_finer_2`) IS NULL
        )
      )
      AND COUNT(`anon_finer_2`) IN (0, COUNT(*))
    ) AS `anon_2`
  FROM `sqlanon_2`
  GROUP BY
    `anon_kept_0`
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`,
  COALESCE(BOOL_AND(CAST(`anon_1` AS BOOLEAN)), TRUE) AS `holds_1`,
  COALESCE(BOOL_AND(CAST(`anon_2` AS BOOLEAN)), TRUE) AS `holds_2`
FROM `anon_groups`;

-- shared: values of identifiers 1;

-- shared: measure the risks 1;

-- measure t-closeness of "diagnosis" with ordered distance (t = 0.4)
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

-- measure t-closeness of "diagnosis" with ordered distance (t = 0.4)
SELECT
  STRUCT(`age` AS `age`, `sex` AS `sex`, `zip` AS `zip`) AS class,
  `diagnosis` AS sensitive_value,
  COUNT(*) AS row_count
FROM `sqlanon_3`
GROUP BY
  STRUCT(`age` AS `age`, `sex` AS `sex`, `zip` AS `zip`),
  `diagnosis`;

