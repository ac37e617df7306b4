-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- shared: cells 1;

-- write the release
SELECT
  `age`,
  `sex`,
  `zip`
FROM (
  SELECT
    `age`,
    `sex`,
    `zip`,
    `anon_copies`,
    `anon_copy`
  FROM (
    SELECT
      `age`,
      `sex`,
      `zip`,
      LEAST(1024, anon_row_count - 1024 * anon_block) AS anon_copies
    FROM (
      SELECT
        `age`,
        `sex`,
        `zip`,
        `anon_row_count`,
        `anon_block`
      FROM (
        SELECT
          CAST(COALESCE(`anon_label_0`, NULL) AS STRING) AS `age`,
          CAST(COALESCE(`anon_label_1`, NULL) AS STRING) AS `sex`,
          CAST(COALESCE(`anon_label_2`, NULL) AS STRING) AS `zip`,
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

-- what was written
SELECT
  `age`,
  `sex`,
  `zip`,
  COUNT(*) AS anon_rows
FROM `sqlanon_2`
GROUP BY
  `age`,
  `sex`,
  `zip`;

