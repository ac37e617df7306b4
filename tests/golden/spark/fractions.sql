-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- the texts of fractions
SELECT DISTINCT
  CAST(`sqlanon_1`.`nights` AS STRING) AS spelled
FROM `sqlanon_1`;

-- the taxonomy of "nights"
SELECT DISTINCT
  `anon_float_texts_0`.`text` AS value
FROM `sqlanon_1`
LEFT JOIN `anon_float_texts_0`
  ON `anon_float_texts_0`.`spelled` = CAST(COALESCE(`nights`, NULL) AS STRING);

-- values without a label
WITH anon_source AS (
  SELECT
    `nights` AS value
  FROM `sqlanon_1`
), `anon_texts` AS (
  SELECT
    `anon_float_texts_0`.`text` AS value
  FROM anon_source
  LEFT JOIN `anon_float_texts_0`
    ON `anon_float_texts_0`.`spelled` = CAST(`value` AS STRING)
), `anon_listed` AS (
  SELECT
    value,
    COUNT(*) AS rows
  FROM `anon_texts`
  WHERE
    NOT value IS NULL
    AND NOT `value` IN (
      SELECT
        `value`
      FROM (
        SELECT
          value
        FROM `taxonomy` AS `taxonomy`
        WHERE
          attribute = 'nights' AND level = 0
      ) AS `anon_known`
      WHERE
        NOT `value` IS NULL
    )
  GROUP BY
    value
  ORDER BY
    rows DESC,
    value ASC NULLS LAST
)
SELECT
  COUNT(*) AS value_count,
  CAST(COALESCE(SUM(rows), 0) AS BIGINT) AS row_count
FROM `anon_listed`;

-- cells
SELECT
  `anon_float_texts_0`.`text` AS `nights`,
  CAST(COALESCE(`sex`, NULL) AS STRING) AS `sex`,
  COUNT(*) AS `anon_row_count`
FROM `sqlanon_1`
LEFT JOIN `anon_float_texts_0`
  ON `anon_float_texts_0`.`spelled` = CAST(COALESCE(`nights`, NULL) AS STRING)
GROUP BY
  `anon_float_texts_0`.`text`,
  CAST(COALESCE(`sex`, NULL) AS STRING);

-- write the release
SELECT
  `sex`,
  `nights`
FROM (
  SELECT
    `sex`,
    `nights`,
    `anon_copies`,
    `anon_copy`
  FROM (
    SELECT
      `sex`,
      `nights`,
      LEAST(1024, anon_row_count - 1024 * anon_block) AS anon_copies
    FROM (
      SELECT
        `sex`,
        `nights`,
        `anon_row_count`,
        `anon_block`
      FROM (
        SELECT
          CAST(COALESCE(`anon_label_1`, NULL) AS STRING) AS `sex`,
          CAST(COALESCE(`anon_label_0`, NULL) AS STRING) AS `nights`,
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

-- measure the risks
SELECT
  `nights` AS `nights`,
  `sex` AS `sex`,
  COUNT(*) AS anon_class_size
FROM `sqlanon_2`
GROUP BY
  `nights`,
  `sex`;

