-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- cells
SELECT
  `age` AS `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING) AS `sex`,
  CAST(COALESCE(`zip`, NULL) AS STRING) AS `zip`,
  COUNT(*) AS `anon_row_count`,
  CASE
    WHEN BOOL_AND(
      CAST(COALESCE(
        `nights` > 0
        AND CAST(COALESCE(`nights`, NULL) AS DOUBLE) < CAST('infinity' AS DOUBLE),
        FALSE
      ) AS BOOLEAN)
    )
    THEN SUM(CAST(COALESCE(`nights`, NULL) AS DOUBLE))
  END AS `anon_weight`
FROM `sqlanon_1`
GROUP BY
  `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING),
  CAST(COALESCE(`zip`, NULL) AS STRING);

-- equal rows
WITH `anon_rows` AS (
  SELECT
    `anon_labels_1`.`anon_label_1`,
    `anon_labels_2`.`anon_label_2`,
    CAST(COALESCE(`sqlanon_1`.`diagnosis`, NULL) AS STRING) AS `diagnosis`,
    1 AS `anon_row_count`
  FROM `sqlanon_1`
  LEFT JOIN `anon_labels_1` AS `anon_labels_1`
    ON COALESCE(CAST(`anon_labels_1`.`value` AS STRING), '') = COALESCE(CAST(COALESCE(`sqlanon_1`.`sex`, NULL) AS STRING), '')
    AND (
      `anon_labels_1`.`value` IS NULL
    ) = (
      CAST(COALESCE(`sqlanon_1`.`sex`, NULL) AS STRING) IS NULL
    )
  LEFT JOIN `anon_labels_2` AS `anon_labels_2`
    ON COALESCE(CAST(`anon_labels_2`.`value` AS STRING), '') = COALESCE(CAST(COALESCE(`sqlanon_1`.`zip`, NULL) AS STRING), '')
    AND (
      `anon_labels_2`.`value` IS NULL
    ) = (
      CAST(COALESCE(`sqlanon_1`.`zip`, NULL) AS STRING) IS NULL
    )
), `anon_published` AS (
  SELECT
    `anon_rows`.`diagnosis`,
    `anon_rows`.`anon_row_count`,
    `anon_labels_0`.`anon_label_0` AS `anon_label_0`,
    `anon_rows`.`anon_label_1` AS `anon_label_1`,
    `anon_rows`.`anon_label_2` AS `anon_label_2`
  FROM `anon_rows`
  JOIN `anon_kept` AS `anon_kept`
    ON COALESCE(CAST(`anon_kept`.`anon_label_1` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_label_1` AS STRING), '')
    AND (
      `anon_kept`.`anon_label_1` IS NULL
    ) = (
      `anon_rows`.`anon_label_1` IS NULL
    )
    AND COALESCE(CAST(`anon_kept`.`anon_label_2` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_label_2` AS STRING), '')
    AND (
      `anon_kept`.`anon_label_2` IS NULL
    ) = (
      `anon_rows`.`anon_label_2` IS NULL
    )
  LEFT JOIN `anon_labels_0` AS `anon_labels_0`
    ON TRUE
)
SELECT
  `anon_label_0`,
  `anon_label_1`,
  `anon_label_2`,
  `diagnosis`,
  `anon_row_count`
FROM `anon_published`;

-- shared: write the release 1;

-- shared: values of kept columns 1;

-- shared: rows of rare values 1;

-- shared: some rows of the source 2;

-- dependent columns
WITH `anon_groups` AS (
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
  FROM `sqlanon_4`
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
  FROM `sqlanon_4`
  GROUP BY
    `anon_value_2`
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`
FROM `anon_groups`
UNION ALL
SELECT
  2 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`
FROM `anon_groups_2` AS anon_groups;

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
          MIN(`anon_finer_2`) = MAX(`anon_finer_2`)
        ),
        (
          MIN(`anon_finer_2`) IS NULL AND MAX(`anon_finer_2`) IS NULL
        )
      )
      AND COUNT(`anon_finer_2`) IN (0, COUNT(*))
    ) AS `anon_1`
  FROM `sqlanon_4`
  GROUP BY
    `anon_kept_0`
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`,
  COALESCE(BOOL_AND(CAST(`anon_1` AS BOOLEAN)), TRUE) AS `holds_1`
FROM `anon_groups`;

-- shared: values of identifiers 1;

-- shared: classes with a single value 1;

-- shared: measure the risks 1;

