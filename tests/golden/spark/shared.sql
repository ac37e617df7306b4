-- The statements that runs of tests/golden send more than once, each under the title that their files have.
-- Written by `python -m tests.golden`: review it as a diff.

-- cells 1
-- cells
SELECT
  `age` AS `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING) AS `sex`,
  CAST(COALESCE(`zip`, NULL) AS STRING) AS `zip`,
  COUNT(*) AS `anon_row_count`
FROM `sqlanon_1`
GROUP BY
  `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING),
  CAST(COALESCE(`zip`, NULL) AS STRING);

-- equal rows 1
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
  `anon_row_count`
FROM `anon_published`;

-- write the release 1
-- write the release
WITH `anon_groups` AS (
  SELECT
    CAST(COALESCE(`anon_label_0`, NULL) AS STRING) AS `age`,
    CAST(COALESCE(`anon_label_1`, NULL) AS STRING) AS `sex`,
    CAST(COALESCE(`anon_label_2`, NULL) AS STRING) AS `zip`,
    `diagnosis` AS `diagnosis`,
    `anon_row_count`
  FROM `sqlanon_2`
), `anon_blocks` AS (
  SELECT
    `age`,
    `sex`,
    `zip`,
    `diagnosis`,
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
    LEAST(1024, anon_row_count - 1024 * anon_block) AS anon_copies
  FROM `anon_blocks`
), `anon_repeated` AS (
  SELECT
    `age`,
    `sex`,
    `zip`,
    `diagnosis`,
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
  `diagnosis`
FROM `anon_repeated`;

-- values of kept columns 1
-- values of kept columns
WITH `anon_equal_rows` AS (
  SELECT
    `age` AS `anon_label_0`,
    `sex` AS `anon_label_1`,
    `zip` AS `anon_label_2`,
    `diagnosis`,
    1 AS `anon_row_count`
  FROM `sqlanon_3`
)
SELECT
  APPROX_COUNT_DISTINCT(CAST(`diagnosis` AS STRING)) AS `values_0`,
  COALESCE(SUM(`anon_row_count`), 0) AS `rows`
FROM `anon_equal_rows`;

-- rows of rare values 1
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
    anon_value_rows < 2), 0) AS rare
FROM `anon_values`;

-- some rows of the source 1
-- some rows of the source
WITH `anon_rows` AS (
  SELECT
    CAST(COALESCE(`age`, NULL) AS STRING) AS `anon_value_0`,
    CAST(COALESCE(`sex`, NULL) AS STRING) AS `anon_value_1`,
    CAST(COALESCE(`zip`, NULL) AS STRING) AS `anon_value_2`,
    `diagnosis` AS `anon_kept_0`
  FROM `sqlanon_1`
  LIMIT 5000
)
SELECT
  `anon_rows`.`anon_value_0`,
  `anon_rows`.`anon_value_1`,
  `anon_rows`.`anon_value_2`,
  `anon_rows`.`anon_kept_0`,
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

-- dependent columns 1
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

-- determining columns 1
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
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`,
  COALESCE(BOOL_AND(CAST(`anon_1` AS BOOLEAN)), TRUE) AS `holds_1`,
  COALESCE(BOOL_AND(CAST(`anon_2` AS BOOLEAN)), TRUE) AS `holds_2`
FROM `anon_groups`;

-- values of identifiers 1
-- values of identifiers
SELECT
  COUNT(*) AS `source_rows`,
  COUNT(`id`) AS `filled_0`,
  COUNT(`id`) AS `rows_0`,
  COALESCE(COUNT(DISTINCT `id`), 0) AS `values_0`,
  COUNT(`patient`) AS `filled_1`,
  COUNT(`patient`) AS `rows_1`,
  COALESCE(COUNT(DISTINCT `patient`), 0) AS `values_1`,
  COUNT(`nights`) AS `filled_2`,
  COUNT(`nights`) AS `rows_2`,
  COALESCE(COUNT(DISTINCT `nights`), 0) AS `values_2`
FROM `sqlanon_1`;

-- classes with a single value 1
-- classes with a single value
WITH `anon_equal_rows` AS (
  SELECT
    `age` AS `anon_label_0`,
    `sex` AS `anon_label_1`,
    `zip` AS `anon_label_2`,
    `diagnosis`,
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

-- measure the risks 1
-- measure the risks
SELECT
  `age` AS `age`,
  `sex` AS `sex`,
  `zip` AS `zip`,
  COUNT(*) AS anon_class_size
FROM `sqlanon_3`
GROUP BY
  `age`,
  `sex`,
  `zip`;

-- cells 2
-- cells
SELECT
  `age` AS `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING) AS `sex`,
  CAST(COALESCE(`zip`, NULL) AS STRING) AS `zip`,
  CAST(COALESCE(`diagnosis`, NULL) AS STRING) AS `diagnosis`,
  COUNT(*) AS `anon_row_count`
FROM `sqlanon_1`
GROUP BY
  `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING),
  CAST(COALESCE(`zip`, NULL) AS STRING),
  CAST(COALESCE(`diagnosis`, NULL) AS STRING);

-- write the release 2
-- write the release
SELECT
  `age`,
  `sex`,
  `zip`,
  `diagnosis`
FROM (
  SELECT
    `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `anon_copies`,
    `anon_copy`
  FROM (
    SELECT
      `age`,
      `sex`,
      `zip`,
      `diagnosis`,
      LEAST(1024, anon_row_count - 1024 * anon_block) AS anon_copies
    FROM (
      SELECT
        `age`,
        `sex`,
        `zip`,
        `diagnosis`,
        `anon_row_count`,
        `anon_block`
      FROM (
        SELECT
          CAST(COALESCE(`anon_label_0`, NULL) AS STRING) AS `age`,
          CAST(COALESCE(`anon_label_1`, NULL) AS STRING) AS `sex`,
          CAST(COALESCE(`anon_label_2`, NULL) AS STRING) AS `zip`,
          `diagnosis` AS `diagnosis`,
          `anon_row_count`
        FROM `anon_equal_rows` AS `anon_equal_rows`
      ) AS `anon_groups`
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
    ) AS anon_blocks
  ) AS anon_counted
  LATERAL VIEW
  EXPLODE(
    SLICE(
      SEQUENCE(CAST(0 AS BIGINT), CAST(anon_copies AS BIGINT)),
      1,
      CAST(CAST(anon_copies AS BIGINT) AS INT)
    )
  ) anon_numbers AS `anon_copy`
) AS anon_repeated;

-- some rows of the source 2
-- some rows of the source
WITH `anon_rows` AS (
  SELECT
    CAST(COALESCE(`age`, NULL) AS STRING) AS `anon_value_0`,
    CAST(COALESCE(`zip`, NULL) AS STRING) AS `anon_value_2`,
    `diagnosis` AS `anon_kept_0`
  FROM `sqlanon_1`
  LIMIT 5000
)
SELECT
  `anon_rows`.`anon_value_0`,
  `anon_rows`.`anon_value_2`,
  `anon_rows`.`anon_kept_0`,
  `anon_labels_of_anon_finer_0`.`label` AS `anon_finer_0`,
  `anon_labels_of_anon_finer_2`.`label` AS `anon_finer_2`
FROM `anon_rows`
LEFT JOIN `anon_labels_of_anon_finer_0` AS `anon_labels_of_anon_finer_0`
  ON COALESCE(CAST(`anon_labels_of_anon_finer_0`.`value` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_value_0` AS STRING), '')
  AND (
    `anon_labels_of_anon_finer_0`.`value` IS NULL
  ) = (
    `anon_rows`.`anon_value_0` IS NULL
  )
LEFT JOIN `anon_labels_of_anon_finer_2` AS `anon_labels_of_anon_finer_2`
  ON COALESCE(CAST(`anon_labels_of_anon_finer_2`.`value` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_value_2` AS STRING), '')
  AND (
    `anon_labels_of_anon_finer_2`.`value` IS NULL
  ) = (
    `anon_rows`.`anon_value_2` IS NULL
  );

-- dependent columns 2
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

-- determining columns 2
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
  FROM `sqlanon_2`
  GROUP BY
    `anon_kept_0`
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`,
  COALESCE(BOOL_AND(CAST(`anon_1` AS BOOLEAN)), TRUE) AS `holds_1`
FROM `anon_groups`;

-- write the release 3
-- write the release
WITH `anon_groups` AS (
  SELECT
    CAST(COALESCE(`anon_label_0`, NULL) AS STRING) AS `age`,
    CAST(COALESCE(`anon_label_1`, NULL) AS STRING) AS `sex`,
    CAST(COALESCE(`anon_label_2`, NULL) AS STRING) AS `zip`,
    `diagnosis` AS `diagnosis`,
    `patient` AS `patient`,
    `nights` AS `nights`,
    `anon_row_count`
  FROM `sqlanon_2`
), `anon_blocks` AS (
  SELECT
    `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `patient`,
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
    `patient`,
    `nights`,
    LEAST(1024, anon_row_count - 1024 * anon_block) AS anon_copies
  FROM `anon_blocks`
), `anon_repeated` AS (
  SELECT
    `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `patient`,
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
  `patient`,
  `nights`
FROM `anon_repeated`;

-- values of kept columns 2
-- values of kept columns
WITH `anon_equal_rows` AS (
  SELECT
    `age` AS `anon_label_0`,
    `sex` AS `anon_label_1`,
    `zip` AS `anon_label_2`,
    `diagnosis`,
    `patient`,
    `nights`,
    1 AS `anon_row_count`
  FROM `sqlanon_3`
)
SELECT
  APPROX_COUNT_DISTINCT(CAST(`diagnosis` AS STRING)) AS `values_0`,
  APPROX_COUNT_DISTINCT(CAST(`patient` AS STRING)) AS `values_1`,
  APPROX_COUNT_DISTINCT(CAST(`nights` AS STRING)) AS `values_2`,
  COALESCE(SUM(`anon_row_count`), 0) AS `rows`
FROM `anon_equal_rows`;

-- rows of rare values 2
-- rows of rare values
WITH `anon_equal_rows` AS (
  SELECT
    `age` AS `anon_label_0`,
    `sex` AS `anon_label_1`,
    `zip` AS `anon_label_2`,
    `diagnosis`,
    `patient`,
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

-- rows of rare values 3
-- rows of rare values
WITH `anon_equal_rows` AS (
  SELECT
    `age` AS `anon_label_0`,
    `sex` AS `anon_label_1`,
    `zip` AS `anon_label_2`,
    `diagnosis`,
    `patient`,
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
    `patient`
)
SELECT
  0 AS place,
  COALESCE(SUM(anon_value_rows), 0) AS counted,
  COALESCE(SUM(anon_value_rows) FILTER(WHERE
    anon_value_rows < 2), 0) AS rare
FROM `anon_values`;

-- rows of rare values 4
-- rows of rare values
WITH `anon_equal_rows` AS (
  SELECT
    `age` AS `anon_label_0`,
    `sex` AS `anon_label_1`,
    `zip` AS `anon_label_2`,
    `diagnosis`,
    `patient`,
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
    `nights`
)
SELECT
  0 AS place,
  COALESCE(SUM(anon_value_rows), 0) AS counted,
  COALESCE(SUM(anon_value_rows) FILTER(WHERE
    anon_value_rows < 2), 0) AS rare
FROM `anon_values`;

-- rows of rare pairs of values 1
-- rows of rare pairs of values
WITH `anon_equal_rows_3` AS (
  SELECT
    `age` AS `anon_label_0`,
    `sex` AS `anon_label_1`,
    `zip` AS `anon_label_2`,
    `diagnosis`,
    `patient`,
    `nights`,
    1 AS `anon_row_count`
  FROM `sqlanon_3`
), `anon_values_3` AS (
  SELECT
    SUM(anon_row_count) AS anon_value_rows
  FROM `anon_equal_rows_3` AS `anon_equal_rows`
  WHERE
    TRUE
  GROUP BY
    `diagnosis`,
    `nights`
), `anon_equal_rows` AS (
  SELECT
    `age` AS `anon_label_0`,
    `sex` AS `anon_label_1`,
    `zip` AS `anon_label_2`,
    `diagnosis`,
    `patient`,
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
    `patient`
), `anon_equal_rows_2` AS (
  SELECT
    `age` AS `anon_label_0`,
    `sex` AS `anon_label_1`,
    `zip` AS `anon_label_2`,
    `diagnosis`,
    `patient`,
    `nights`,
    1 AS `anon_row_count`
  FROM `sqlanon_3`
), `anon_values_2` AS (
  SELECT
    SUM(anon_row_count) AS anon_value_rows
  FROM `anon_equal_rows_2` AS `anon_equal_rows`
  WHERE
    TRUE
  GROUP BY
    `patient`,
    `nights`
)
SELECT
  0 AS place,
  COALESCE(SUM(anon_value_rows), 0) AS counted,
  COALESCE(SUM(anon_value_rows) FILTER(WHERE
    anon_value_rows < 2), 0) AS rare
FROM `anon_values`
UNION ALL
SELECT
  1 AS place,
  COALESCE(SUM(anon_value_rows), 0) AS counted,
  COALESCE(SUM(anon_value_rows) FILTER(WHERE
    anon_value_rows < 2), 0) AS rare
FROM `anon_values_2` AS anon_values
UNION ALL
SELECT
  2 AS place,
  COALESCE(SUM(anon_value_rows), 0) AS counted,
  COALESCE(SUM(anon_value_rows) FILTER(WHERE
    anon_value_rows < 2), 0) AS rare
FROM `anon_values_3` AS anon_values;

-- values of identifiers 2
-- values of identifiers
SELECT
  COUNT(*) AS `source_rows`,
  COUNT(`id`) AS `filled_0`,
  COUNT(`id`) AS `rows_0`,
  COALESCE(COUNT(DISTINCT `id`), 0) AS `values_0`
FROM `sqlanon_1`;

-- classes with a single value 2
-- classes with a single value
WITH `anon_equal_rows` AS (
  SELECT
    `age` AS `anon_label_0`,
    `sex` AS `anon_label_1`,
    `zip` AS `anon_label_2`,
    `diagnosis`,
    `patient`,
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

-- measure the risks 2
-- measure the risks
SELECT
  `age` AS `age`,
  `sex` AS `sex`,
  `zip` AS `zip`,
  COUNT(*) AS anon_class_size
FROM `sqlanon_2`
GROUP BY
  `age`,
  `sex`,
  `zip`;

-- equal rows 2
-- equal rows
WITH `anon_rows` AS (
  SELECT
    `anon_of_key`.`anon_class`,
    CAST(COALESCE(`sqlanon_1`.`diagnosis`, NULL) AS STRING) AS `diagnosis`,
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
  `anon_row_count`
FROM `anon_published`;

-- classes of a release 1
-- classes of a release
WITH `anon_found` AS (
  SELECT
    CAST(COALESCE(`age`, NULL) AS STRING) AS `age`,
    CAST(COALESCE(`sex`, NULL) AS STRING) AS `sex`,
    CAST(COALESCE(`zip`, NULL) AS STRING) AS `zip`
  FROM `sqlanon_3`
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

-- what was written 1
-- what was written
SELECT
  `age`,
  `sex`,
  `zip`,
  `diagnosis`,
  COUNT(*) AS anon_rows
FROM `sqlanon_2`
GROUP BY
  `age`,
  `sex`,
  `zip`,
  `diagnosis`;

-- individuals 1
-- individuals
SELECT
  COUNT(*) AS `rows`
FROM `sqlanon_1`
WHERE
  `patient` IS NULL;

-- rows as the places of their values 1
-- rows as the places of their values
SELECT
  `age` AS `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING) AS `sex`,
  CAST(COALESCE(`zip`, NULL) AS STRING) AS `zip`,
  CAST(COALESCE(`diagnosis`, NULL) AS STRING) AS `diagnosis`,
  COUNT(*) AS `anon_row_count`
FROM `sqlanon_1`
WHERE
  NOT `age` IS NULL
  AND NOT `sex` IS NULL
  AND NOT `zip` IS NULL
  AND NOT `diagnosis` IS NULL
GROUP BY
  `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING),
  CAST(COALESCE(`zip`, NULL) AS STRING),
  CAST(COALESCE(`diagnosis`, NULL) AS STRING);

-- write the release 4
-- write the release
SELECT
  `age`,
  `sex`,
  `zip`,
  `diagnosis`,
  `anon_row_count` AS `count`
FROM `anon_equal_rows` AS `anon_equal_rows`;

-- what was written 2
-- what was written
SELECT
  `age`,
  `sex`,
  `zip`,
  `diagnosis`,
  CAST(SUM(`count`) AS BIGINT) AS anon_rows
FROM `sqlanon_2`
GROUP BY
  `age`,
  `sex`,
  `zip`,
  `diagnosis`;

-- write the release 5
-- write the release
SELECT
  `age`,
  `sex`,
  `zip`,
  `diagnosis`
FROM (
  SELECT
    `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `anon_copies`,
    `anon_copy`
  FROM (
    SELECT
      `age`,
      `sex`,
      `zip`,
      `diagnosis`,
      LEAST(1024, anon_row_count - 1024 * anon_block) AS anon_copies
    FROM (
      SELECT
        `age`,
        `sex`,
        `zip`,
        `diagnosis`,
        `anon_row_count`,
        `anon_block`
      FROM (
        SELECT
          `age`,
          `sex`,
          `zip`,
          `diagnosis`,
          `anon_row_count`
        FROM `anon_equal_rows` AS `anon_equal_rows`
      ) AS `anon_groups`
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
    ) AS anon_blocks
  ) AS anon_counted
  LATERAL VIEW
  EXPLODE(
    SLICE(
      SEQUENCE(CAST(0 AS BIGINT), CAST(anon_copies AS BIGINT)),
      1,
      CAST(CAST(anon_copies AS BIGINT) AS INT)
    )
  ) anon_numbers AS `anon_copy`
) AS anon_repeated;

