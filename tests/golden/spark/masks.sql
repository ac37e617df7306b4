-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- shared: cells 1;

-- equal rows
WITH `anon_rows` AS (
  SELECT
    `anon_labels_0`.`anon_label_0`,
    `anon_labels_2`.`anon_label_2`,
    CAST(COALESCE(`sqlanon_1`.`diagnosis`, NULL) AS STRING) AS `diagnosis`,
    1 AS `anon_row_count`
  FROM `sqlanon_1`
  LEFT JOIN `anon_labels_0` AS `anon_labels_0`
    ON COALESCE(CAST(`anon_labels_0`.`value` AS STRING), '') = COALESCE(CAST(COALESCE(`sqlanon_1`.`age`, NULL) AS STRING), '')
    AND (
      `anon_labels_0`.`value` IS NULL
    ) = (
      CAST(COALESCE(`sqlanon_1`.`age`, NULL) AS STRING) IS NULL
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
    CASE WHEN `anon_kept`.`anon_is_kept` THEN `anon_rows`.`anon_label_0` ELSE '*' END AS `anon_label_0`,
    CASE
      WHEN `anon_kept`.`anon_is_kept`
      THEN `anon_labels_1`.`anon_label_1`
      ELSE '*'
    END AS `anon_label_1`,
    CASE WHEN `anon_kept`.`anon_is_kept` THEN `anon_rows`.`anon_label_2` ELSE '*' END AS `anon_label_2`
  FROM `anon_rows`
  LEFT JOIN `anon_kept` AS `anon_kept`
    ON COALESCE(CAST(`anon_kept`.`anon_label_0` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_label_0` AS STRING), '')
    AND (
      `anon_kept`.`anon_label_0` IS NULL
    ) = (
      `anon_rows`.`anon_label_0` IS NULL
    )
    AND COALESCE(CAST(`anon_kept`.`anon_label_2` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_label_2` AS STRING), '')
    AND (
      `anon_kept`.`anon_label_2` IS NULL
    ) = (
      `anon_rows`.`anon_label_2` IS NULL
    )
  LEFT JOIN `anon_labels_1` AS `anon_labels_1`
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

-- shared: some rows of the source 1;

-- shared: dependent columns 1;

-- shared: determining columns 1;

-- shared: values of identifiers 1;

-- shared: classes with a single value 1;

-- shared: measure the risks 1;

