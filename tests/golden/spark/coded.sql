-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- cells
WITH `anon_coded` AS (
  SELECT
    `id`,
    CAST((
      CASE WHEN `age` > 50 THEN 50 ELSE `age` END
    ) AS INT) AS `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `patient`,
    CAST((
      CASE WHEN `nights` < 2 THEN 2 ELSE `nights` END
    ) AS INT) AS `nights`
  FROM `sqlanon_1`
)
SELECT
  `age` AS `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING) AS `sex`,
  CAST(COALESCE(`zip`, NULL) AS STRING) AS `zip`,
  COUNT(*) AS `anon_row_count`
FROM `anon_coded`
GROUP BY
  `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING),
  CAST(COALESCE(`zip`, NULL) AS STRING);

-- equal rows
WITH `anon_source` AS (
  SELECT
    `id`,
    CAST((
      CASE WHEN `age` > 50 THEN 50 ELSE `age` END
    ) AS INT) AS `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `patient`,
    CAST((
      CASE WHEN `nights` < 2 THEN 2 ELSE `nights` END
    ) AS INT) AS `nights`
  FROM `sqlanon_1`
), `anon_rows` AS (
  SELECT
    `anon_labels_0`.`anon_label_0`,
    `anon_labels_2`.`anon_label_2`,
    CAST(COALESCE(`anon_source`.`diagnosis`, NULL) AS STRING) AS `diagnosis`,
    `anon_source`.`nights` AS `nights`,
    1 AS `anon_row_count`
  FROM `anon_source`
  LEFT JOIN `anon_labels_0` AS `anon_labels_0`
    ON COALESCE(CAST(`anon_labels_0`.`value` AS STRING), '') = COALESCE(CAST(COALESCE(`anon_source`.`age`, NULL) AS STRING), '')
    AND (
      `anon_labels_0`.`value` IS NULL
    ) = (
      CAST(COALESCE(`anon_source`.`age`, NULL) AS STRING) IS NULL
    )
  LEFT JOIN `anon_labels_2` AS `anon_labels_2`
    ON COALESCE(CAST(`anon_labels_2`.`value` AS STRING), '') = COALESCE(CAST(COALESCE(`anon_source`.`zip`, NULL) AS STRING), '')
    AND (
      `anon_labels_2`.`value` IS NULL
    ) = (
      CAST(COALESCE(`anon_source`.`zip`, NULL) AS STRING) IS NULL
    )
), `anon_published` AS (
  SELECT
    `anon_rows`.`diagnosis`,
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
  `nights`,
  `anon_row_count`
FROM `anon_published`;

-- write the release
WITH `anon_groups` AS (
  SELECT
    CAST(COALESCE(`anon_label_0`, NULL) AS STRING) AS `age`,
    CAST(COALESCE(`anon_label_1`, NULL) AS STRING) AS `sex`,
    CAST(COALESCE(`anon_label_2`, NULL) AS STRING) AS `zip`,
    `diagnosis` AS `diagnosis`,
    `nights` AS `nights`,
    `anon_row_count`
  FROM `sqlanon_2`
), `anon_blocks` AS (
  SELECT
    `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `nights`,
    `anon_row_count`,
    `anon_block`
  FROM `anon_groups`
  LATERAL VIEW
  EXPLODE(
    SLICE(
      SEQUENCE(CAST(0 AS BIGINT), CAST((
        anon_row_count + 1023
      ) DIV 1024 AS BIGINT)),
      1,
      CAST(CAST((
        anon_row_count + 1023
      ) DIV 1024 AS BIGINT) AS INT)
    )
  ) anon_numbers AS `anon_block`
), `anon_counted` AS (
  SELECT
    `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `nights`,
    LEAST(1024, anon_row_count - 1024 * anon_block) AS anon_copies
  FROM `anon_blocks`
), `anon_repeated` AS (
  SELECT
    `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `nights`,
    `anon_copies`,
    `anon_copy`
  FROM `anon_counted`
  LATERAL VIEW
  EXPLODE(
    SLICE(
      SEQUENCE(CAST(0 AS BIGINT), CAST(anon_copies AS BIGINT)),
      1,
      CAST(CAST(anon_copies AS BIGINT) AS INT)
    )
  ) anon_numbers AS `anon_copy`
)
SELECT
  `age`,
  `sex`,
  `zip`,
  `diagnosis`,
  `nights`
FROM `anon_repeated`;

-- values of kept columns
WITH `anon_equal_rows` AS (
  SELECT
    `age` AS `anon_label_0`,
    `sex` AS `anon_label_1`,
    `zip` AS `anon_label_2`,
    `diagnosis`,
    `nights`,
    1 AS `anon_row_count`
  FROM `sqlanon_3`
)
SELECT
  APPROX_COUNT_DISTINCT(CAST(`diagnosis` AS STRING)) AS `values_0`,
  APPROX_COUNT_DISTINCT(CAST(`nights` AS STRING)) AS `values_1`,
  COALESCE(SUM(`anon_row_count`), 0) AS `rows`
FROM `anon_equal_rows`;

-- rows of rare values
WITH `anon_equal_rows` AS (
  SELECT
    `age` AS `anon_label_0`,
    `sex` AS `anon_label_1`,
    `zip` AS `anon_label_2`,
    `diagnosis`,
    `nights`,
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
    anon_value_rows < 2), 0) AS rare
FROM `anon_values`;

-- rows of rare pairs of values
WITH `anon_equal_rows` AS (
  SELECT
    `age` AS `anon_label_0`,
    `sex` AS `anon_label_1`,
    `zip` AS `anon_label_2`,
    `diagnosis`,
    `nights`,
    1 AS `anon_row_count`
  FROM `sqlanon_3`
), `anon_values` AS (
  SELECT
    SUM(anon_row_count) AS anon_value_rows
  FROM `anon_equal_rows`
  WHERE
    TRUE
  GROUP BY
    `diagnosis`,
    `nights`
)
SELECT
  0 AS place,
  COALESCE(SUM(anon_value_rows), 0) AS counted,
  COALESCE(SUM(anon_value_rows) FILTER(WHERE
    anon_value_rows < 2), 0) AS rare
FROM `anon_values`;

-- some rows of the source
WITH `anon_coded` AS (
  SELECT
    `id`,
    CAST((
      CASE WHEN `age` > 50 THEN 50 ELSE `age` END
    ) AS INT) AS `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `patient`,
    CAST((
      CASE WHEN `nights` < 2 THEN 2 ELSE `nights` END
    ) AS INT) AS `nights`
  FROM `sqlanon_1`
), `anon_rows` AS (
  SELECT
    CAST(COALESCE(`age`, NULL) AS STRING) AS `anon_value_0`,
    CAST(COALESCE(`sex`, NULL) AS STRING) AS `anon_value_1`,
    CAST(COALESCE(`zip`, NULL) AS STRING) AS `anon_value_2`,
    `nights` AS `anon_kept_0`,
    `diagnosis` AS `anon_kept_1`
  FROM `anon_coded`
  LIMIT 5000
)
SELECT
  `anon_rows`.`anon_value_0`,
  `anon_rows`.`anon_value_1`,
  `anon_rows`.`anon_value_2`,
  `anon_rows`.`anon_kept_0`,
  `anon_rows`.`anon_kept_1`,
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
    ) AS `anon_1`
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
    ) AS `anon_1`
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
    ) AS `anon_1`
  FROM `sqlanon_4`
  GROUP BY
    `anon_value_1`
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`,
  COALESCE(BOOL_AND(CAST(`anon_1` AS BOOLEAN)), TRUE) AS `holds_1`
FROM `anon_groups`
UNION ALL
SELECT
  1 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`,
  COALESCE(BOOL_AND(CAST(`anon_1` AS BOOLEAN)), TRUE) AS `holds_1`
FROM `anon_groups_2` AS anon_groups
UNION ALL
SELECT
  2 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`,
  COALESCE(BOOL_AND(CAST(`anon_1` AS BOOLEAN)), TRUE) AS `holds_1`
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
FROM `anon_groups_2` AS anon_groups;

-- values of identifiers
WITH `anon_coded` AS (
  SELECT
    `id`,
    CAST((
      CASE WHEN `age` > 50 THEN 50 ELSE `age` END
    ) AS INT) AS `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `patient`,
    CAST((
      CASE WHEN `nights` < 2 THEN 2 ELSE `nights` END
    ) AS INT) AS `nights`
  FROM `sqlanon_1`
)
SELECT
  COUNT(*) AS `source_rows`,
  COUNT(`id`) AS `filled_0`,
  COUNT(`id`) AS `rows_0`,
  COALESCE(COUNT(DISTINCT `id`), 0) AS `values_0`,
  COUNT(`patient`) AS `filled_1`,
  COUNT(`patient`) AS `rows_1`,
  COALESCE(COUNT(DISTINCT `patient`), 0) AS `values_1`
FROM `anon_coded`;

-- classes with a single value
WITH `anon_equal_rows` AS (
  SELECT
    `age` AS `anon_label_0`,
    `sex` AS `anon_label_1`,
    `zip` AS `anon_label_2`,
    `diagnosis`,
    `nights`,
    1 AS `anon_row_count`
  FROM `sqlanon_3`
), `anon_classes` AS (
  SELECT
    (
      COALESCE(
        (
          MIN(`diagnosis`) = MAX(`diagnosis`)
        ),
        (
          MIN(`diagnosis`) IS NULL AND MAX(`diagnosis`) IS NULL
        )
      )
      AND COUNT(`diagnosis`) IN (0, COUNT(*))
    ) AS `anon_is_homogeneous_0`,
    SUM(anon_row_count) AS anon_class_rows
  FROM `anon_equal_rows`
  GROUP BY
    `anon_label_0`,
    `anon_label_1`,
    `anon_label_2`
)
SELECT
  COALESCE(SUM(`anon_class_rows`) FILTER(WHERE
    `anon_is_homogeneous_0`), 0) AS `homogeneous_0`,
  COALESCE(SUM(anon_class_rows), 0) AS rows
FROM `anon_classes`;

-- shared: measure the risks 1;

-- values beyond their bounds
SELECT
  COUNT(*) FILTER(WHERE
    NOT COALESCE(
      (
        (
          CASE WHEN `nights` < 2 THEN 2 ELSE `nights` END
        ) = `nights`
      ),
      (
        (
          CASE WHEN `nights` < 2 THEN 2 ELSE `nights` END
        ) IS NULL
        AND `nights` IS NULL
      )
    )) AS `beyond_0`
FROM `sqlanon_3`;

