-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- shared: cells 1;

-- equal rows
WITH `anon_rows` AS (
  SELECT
    `anon_of_key`.`anon_class`,
    CAST(COALESCE(`sqlanon_1`.`diagnosis`, NULL) AS STRING) AS `diagnosis`,
    `sqlanon_1`.`patient` AS `patient`,
    `sqlanon_1`.`nights` AS `nights`,
    1 AS `anon_row_count`
  FROM `sqlanon_1`
  LEFT JOIN `anon_labels_0` AS anon_labels_0
    ON `anon_labels_0`.`position` = 0
    AND `anon_labels_0`.`depth` = 0
    AND COALESCE(CAST(`anon_labels_0`.`value` AS STRING), '') = COALESCE(CAST(COALESCE(`sqlanon_1`.`age`, NULL) AS STRING), '')
    AND (
      `anon_labels_0`.`value` IS NULL
    ) = (
      CAST(COALESCE(`sqlanon_1`.`age`, NULL) AS STRING) IS NULL
    )
  LEFT JOIN `anon_labels_1` AS anon_labels_1
    ON `anon_labels_1`.`position` = 1
    AND `anon_labels_1`.`depth` = 0
    AND COALESCE(CAST(`anon_labels_1`.`value` AS STRING), '') = COALESCE(CAST(COALESCE(`sqlanon_1`.`sex`, NULL) AS STRING), '')
    AND (
      `anon_labels_1`.`value` IS NULL
    ) = (
      CAST(COALESCE(`sqlanon_1`.`sex`, NULL) AS STRING) IS NULL
    )
  LEFT JOIN `anon_labels_2` AS anon_labels_2
    ON `anon_labels_2`.`position` = 2
    AND `anon_labels_2`.`depth` = 0
    AND COALESCE(CAST(`anon_labels_2`.`value` AS STRING), '') = COALESCE(CAST(COALESCE(`sqlanon_1`.`zip`, NULL) AS STRING), '')
    AND (
      `anon_labels_2`.`value` IS NULL
    ) = (
      CAST(COALESCE(`sqlanon_1`.`zip`, NULL) AS STRING) IS NULL
    )
  LEFT JOIN `anon_of_key` AS anon_of_key
    ON `anon_of_key`.`anon_key_0` = (
      `anon_labels_0`.`anon_key_0` | `anon_labels_1`.`anon_key_0` | `anon_labels_2`.`anon_key_0`
    )
), `anon_published` AS (
  SELECT
    `anon_rows`.`diagnosis`,
    `anon_rows`.`patient`,
    `anon_rows`.`nights`,
    `anon_rows`.`anon_row_count`,
    `anon_kept`.`anon_label_0` AS `anon_label_0`,
    `anon_kept`.`anon_label_1` AS `anon_label_1`,
    `anon_kept`.`anon_label_2` AS `anon_label_2`
  FROM `anon_rows`
  JOIN `anon_kept` AS `anon_kept`
    ON COALESCE(CAST(`anon_kept`.`anon_class` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_class` AS STRING), '')
    AND (
      `anon_kept`.`anon_class` IS NULL
    ) = (
      `anon_rows`.`anon_class` IS NULL
    )
)
SELECT
  `anon_label_0`,
  `anon_label_1`,
  `anon_label_2`,
  `diagnosis`,
  `patient`,
  `nights`,
  `anon_row_count`
FROM `anon_published`;

-- shared: write the release 3;

-- shared: values of kept columns 2;

-- shared: rows of rare values 2;

-- shared: rows of rare values 3;

-- shared: rows of rare values 4;

-- shared: rows of rare pairs of values 1;

-- shared: values of identifiers 2;

-- shared: classes with a single value 2;

-- shared: measure the risks 1;

-- shared: classes of a release 1;

