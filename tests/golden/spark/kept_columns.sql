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
    `sqlanon_1`.`patient` AS `patient`,
    `sqlanon_1`.`nights` AS `nights`,
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
    `anon_rows`.`patient`,
    `anon_rows`.`nights`,
    `anon_rows`.`anon_row_count`,
    `anon_rows`.`anon_label_0` AS `anon_label_0`,
    `anon_labels_1`.`anon_label_1` AS `anon_label_1`,
    `anon_rows`.`anon_label_2` AS `anon_label_2`
  FROM `anon_rows`
  JOIN `anon_kept` AS `anon_kept`
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

-- some rows of the source
WITH `anon_rows` AS (
  SELECT
    CAST(COALESCE(`age`, NULL) AS STRING) AS `anon_value_0`,
    CAST(COALESCE(`sex`, NULL) AS STRING) AS `anon_value_1`,
    CAST(COALESCE(`zip`, NULL) AS STRING) AS `anon_value_2`,
    `diagnosis` AS `anon_kept_0`,
    `nights` AS `anon_kept_1`,
    `patient` AS `anon_kept_2`
  FROM `sqlanon_1`
  LIMIT 5000
)
SELECT
  `anon_rows`.`anon_value_0`,
  `anon_rows`.`anon_value_1`,
  `anon_rows`.`anon_value_2`,
  `anon_rows`.`anon_kept_0`,
  `anon_rows`.`anon_kept_1`,
  `anon_rows`.`anon_kept_2`,
  `anon_labels_of_anon_finer_0`.`label` AS `anon_finer_0`,
  `anon_labels_of_anon_finer_1`.`label` AS `anon_finer_1`,
  `anon_labels_of_anon_finer_2`.`label` AS `anon_finer_2`
FROM `anon_rows`
LEFT JOIN `anon_labels_of_anon_finer_0` AS `anon_labels_of_anon_finer_0`
  ON COALESCE(CAST(`anon_labels_of_anon_finer_0`.`value` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_value_0` AS STRING), '')
  AND (
    `anon_labels_of_anon_finer_0`.`value` IS NULL
  ) = (
    `anon_rows`.`anon_value_0` IS NULL
  )
LEFT JOIN `anon_labels_of_anon_finer_1` AS `anon_labels_of_anon_finer_1`
  ON COALESCE(CAST(`anon_labels_of_anon_finer_1`.`value` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_value_1` AS STRING), '')
  AND (
    `anon_labels_of_anon_finer_1`.`value` IS NULL
  ) = (
    `anon_rows`.`anon_value_1` IS NULL
  )
LEFT JOIN `anon_labels_of_anon_finer_2` AS `anon_labels_of_anon_finer_2`
  ON COALESCE(CAST(`anon_labels_of_anon_finer_2`.`value` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_value_2` AS STRING), '')
  AND (
    `anon_labels_of_anon_finer_2`.`value` IS NULL
  ) = (
    `anon_rows`.`anon_value_2` IS NULL
  );

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
    ) AS `anon_0`,
    (
      COALESCE(
        (
          MIN(`anon_kept_1`) = MAX(`anon_kept_1`)
        ),
        (
          MIN(`anon_kept_1`) IS NULL AND MAX(`anon_kept_1`) IS NULL
        )
      )
      AND COUNT(`anon_kept_1`) IN (0, COUNT(*))
    ) AS `anon_1`,
    (
      COALESCE(
        (
          MIN(`anon_kept_2`) = MAX(`anon_kept_2`)
        ),
        (
          MIN(`anon_kept_2`) IS NULL AND MAX(`anon_kept_2`) IS NULL
        )
      )
      AND COUNT(`anon_kept_2`) IN (0, COUNT(*))
    ) AS `anon_2`
  FROM `sqlanon_4`
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
    ) AS `anon_0`,
    (
      COALESCE(
        (
          MIN(`anon_kept_1`) = MAX(`anon_kept_1`)
        ),
        (
          MIN(`anon_kept_1`) IS NULL AND MAX(`anon_kept_1`) IS NULL
        )
      )
      AND COUNT(`anon_kept_1`) IN (0, COUNT(*))
    ) AS `anon_1`,
    (
      COALESCE(
        (
          MIN(`anon_kept_2`) = MAX(`anon_kept_2`)
        ),
        (
          MIN(`anon_kept_2`) IS NULL AND MAX(`anon_kept_2`) IS NULL
        )
      )
      AND COUNT(`anon_kept_2`) IN (0, COUNT(*))
    ) AS `anon_2`
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
    ) AS `anon_0`,
    (
      COALESCE(
        (
          MIN(`anon_kept_1`) = MAX(`anon_kept_1`)
        ),
        (
          MIN(`anon_kept_1`) IS NULL AND MAX(`anon_kept_1`) IS NULL
        )
      )
      AND COUNT(`anon_kept_1`) IN (0, COUNT(*))
    ) AS `anon_1`,
    (
      COALESCE(
        (
          MIN(`anon_kept_2`) = MAX(`anon_kept_2`)
        ),
        (
          MIN(`anon_kept_2`) IS NULL AND MAX(`anon_kept_2`) IS NULL
        )
      )
      AND COUNT(`anon_kept_2`) IN (0, COUNT(*))
    ) AS `anon_2`
  FROM `sqlanon_4`
  GROUP BY
    `anon_value_1`
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`,
  COALESCE(BOOL_AND(CAST(`anon_1` AS BOOLEAN)), TRUE) AS `holds_1`,
  COALESCE(BOOL_AND(CAST(`anon_2` AS BOOLEAN)), TRUE) AS `holds_2`
FROM `anon_groups`
UNION ALL
SELECT
  1 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`,
  COALESCE(BOOL_AND(CAST(`anon_1` AS BOOLEAN)), TRUE) AS `holds_1`,
  COALESCE(BOOL_AND(CAST(`anon_2` AS BOOLEAN)), TRUE) AS `holds_2`
FROM `anon_groups_2` AS anon_groups
UNION ALL
SELECT
  2 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`,
  COALESCE(BOOL_AND(CAST(`anon_1` AS BOOLEAN)), TRUE) AS `holds_1`,
  COALESCE(BOOL_AND(CAST(`anon_2` AS BOOLEAN)), TRUE) AS `holds_2`
FROM `anon_groups_3` AS anon_groups;

-- determining columns
WITH `anon_groups_3` AS (
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
  FROM `sqlanon_4`
  GROUP BY
    `anon_kept_2`
), `anon_groups` AS (
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
  FROM `sqlanon_4`
  GROUP BY
    `anon_kept_0`
), `anon_groups_2` AS (
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
  FROM `sqlanon_4`
  GROUP BY
    `anon_kept_1`
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`,
  COALESCE(BOOL_AND(CAST(`anon_1` AS BOOLEAN)), TRUE) AS `holds_1`,
  COALESCE(BOOL_AND(CAST(`anon_2` AS BOOLEAN)), TRUE) AS `holds_2`
FROM `anon_groups`
UNION ALL
SELECT
  1 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`,
  COALESCE(BOOL_AND(CAST(`anon_1` AS BOOLEAN)), TRUE) AS `holds_1`,
  COALESCE(BOOL_AND(CAST(`anon_2` AS BOOLEAN)), TRUE) AS `holds_2`
FROM `anon_groups_2` AS anon_groups
UNION ALL
SELECT
  2 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`,
  COALESCE(BOOL_AND(CAST(`anon_1` AS BOOLEAN)), TRUE) AS `holds_1`,
  COALESCE(BOOL_AND(CAST(`anon_2` AS BOOLEAN)), TRUE) AS `holds_2`
FROM `anon_groups_3` AS anon_groups;

-- shared: values of identifiers 2;

-- shared: classes with a single value 2;

-- shared: measure the risks 1;

