-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- values without a label
WITH `anon_unknown` AS (
  SELECT
    CASE
      WHEN (
        NOT `zip` IS NULL
        AND NOT ARRAY_CONTAINS(
          (
            SELECT
              COLLECT_SET(`value`)
            FROM `taxonomy` AS `taxonomy`
            WHERE
              `attribute` = 'zip' AND `level` = 0 AND NOT `value` IS NULL
          ),
          CAST(COALESCE(`zip`, NULL) AS STRING)
        )
      )
      THEN CAST(COALESCE(`zip`, NULL) AS STRING)
    END AS `anon_unknown_0`,
    CASE
      WHEN (
        NOT `age` IS NULL
        AND NOT ARRAY_CONTAINS(
          (
            SELECT
              COLLECT_SET(`value`)
            FROM `taxonomy` AS `taxonomy`
            WHERE
              `attribute` = 'age' AND `level` = 0 AND NOT `value` IS NULL
          ),
          CAST(COALESCE(`age`, NULL) AS STRING)
        )
      )
      THEN CAST(COALESCE(`age`, NULL) AS STRING)
    END AS `anon_unknown_1`
  FROM `sqlanon_1`
)
SELECT
  `anon_unknown_0`,
  `anon_unknown_1`,
  COUNT(*) AS `anon_row_count`
FROM `anon_unknown`
WHERE
  NOT `anon_unknown_0` IS NULL OR NOT `anon_unknown_1` IS NULL
GROUP BY
  `anon_unknown_0`,
  `anon_unknown_1`;

-- cells
WITH `anon_known_rows` AS (
  SELECT
    `id`,
    `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `patient`,
    `nights`
  FROM `sqlanon_1`
  WHERE
    NOT (
      NOT `zip` IS NULL
      AND NOT CAST(COALESCE(`zip`, NULL) AS STRING) IN (
        SELECT
          `value`
        FROM `taxonomy` AS `taxonomy`
        WHERE
          `attribute` = 'zip' AND `level` = 0 AND NOT `value` IS NULL
      )
    )
)
SELECT
  `age` AS `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING) AS `sex`,
  CAST(COALESCE(`zip`, NULL) AS STRING) AS `zip`,
  COUNT(*) AS `anon_row_count`
FROM `anon_known_rows`
GROUP BY
  `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING),
  CAST(COALESCE(`zip`, NULL) AS STRING);

-- equal rows
WITH `anon_source` AS (
  SELECT
    `id`,
    `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `patient`,
    `nights`
  FROM `sqlanon_1`
  WHERE
    NOT (
      NOT `zip` IS NULL
      AND NOT CAST(COALESCE(`zip`, NULL) AS STRING) IN (
        SELECT
          `value`
        FROM `taxonomy` AS `taxonomy`
        WHERE
          `attribute` = 'zip' AND `level` = 0 AND NOT `value` IS NULL
      )
    )
), `anon_rows` AS (
  SELECT
    `anon_labels_0`.`anon_label_0`,
    `anon_labels_2`.`anon_label_2`,
    CAST(COALESCE(`anon_source`.`diagnosis`, NULL) AS STRING) AS `diagnosis`,
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

-- shared: write the release 1;

-- shared: values of kept columns 1;

-- shared: rows of rare values 1;

-- some rows of the source
WITH `anon_known_rows` AS (
  SELECT
    `id`,
    `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `patient`,
    `nights`
  FROM `sqlanon_1`
  WHERE
    NOT (
      NOT `zip` IS NULL
      AND NOT CAST(COALESCE(`zip`, NULL) AS STRING) IN (
        SELECT
          `value`
        FROM `taxonomy` AS `taxonomy`
        WHERE
          `attribute` = 'zip' AND `level` = 0 AND NOT `value` IS NULL
      )
    )
), `anon_rows` AS (
  SELECT
    CAST(COALESCE(`age`, NULL) AS STRING) AS `anon_value_0`,
    CAST(COALESCE(`sex`, NULL) AS STRING) AS `anon_value_1`,
    CAST(COALESCE(`zip`, NULL) AS STRING) AS `anon_value_2`,
    `diagnosis` AS `anon_kept_0`
  FROM `anon_known_rows`
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

-- shared: dependent columns 1;

-- shared: determining columns 1;

-- values of identifiers
WITH `anon_known_rows` AS (
  SELECT
    `id`,
    `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `patient`,
    `nights`
  FROM `sqlanon_1`
  WHERE
    NOT (
      NOT `zip` IS NULL
      AND NOT CAST(COALESCE(`zip`, NULL) AS STRING) IN (
        SELECT
          `value`
        FROM `taxonomy` AS `taxonomy`
        WHERE
          `attribute` = 'zip' AND `level` = 0 AND NOT `value` IS NULL
      )
    )
)
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
FROM `anon_known_rows`;

-- shared: classes with a single value 1;

-- shared: measure the risks 1;

