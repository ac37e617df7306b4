-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- shared: individuals 1;

-- cells
WITH `anon_placed` AS (
  SELECT
    `id`,
    `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `patient`,
    `nights`,
    ROW_NUMBER() OVER (
      PARTITION BY CAST(COALESCE(`patient`, NULL) AS STRING)
      ORDER BY MD5(
        CONCAT(
          COALESCE(CAST('1 ' AS STRING), ''),
          COALESCE(CAST(OCTET_LENGTH(CAST(COALESCE(`id`, NULL) AS STRING)) AS STRING), ''),
          COALESCE(CAST(':' AS STRING), ''),
          COALESCE(CAST(COALESCE(`id`, NULL) AS STRING), ''),
          COALESCE(CAST(OCTET_LENGTH(CAST(COALESCE(`age`, NULL) AS STRING)) AS STRING), ''),
          COALESCE(CAST(':' AS STRING), ''),
          COALESCE(CAST(COALESCE(`age`, NULL) AS STRING), ''),
          COALESCE(CAST(OCTET_LENGTH(CAST(COALESCE(`sex`, NULL) AS STRING)) AS STRING), ''),
          COALESCE(CAST(':' AS STRING), ''),
          COALESCE(CAST(COALESCE(`sex`, NULL) AS STRING), ''),
          COALESCE(CAST(OCTET_LENGTH(CAST(COALESCE(`zip`, NULL) AS STRING)) AS STRING), ''),
          COALESCE(CAST(':' AS STRING), ''),
          COALESCE(CAST(COALESCE(`zip`, NULL) AS STRING), ''),
          COALESCE(CAST(OCTET_LENGTH(CAST(COALESCE(`diagnosis`, NULL) AS STRING)) AS STRING), ''),
          COALESCE(CAST(':' AS STRING), ''),
          COALESCE(CAST(COALESCE(`diagnosis`, NULL) AS STRING), ''),
          COALESCE(CAST(OCTET_LENGTH(CAST(COALESCE(`patient`, NULL) AS STRING)) AS STRING), ''),
          COALESCE(CAST(':' AS STRING), ''),
          COALESCE(CAST(COALESCE(`patient`, NULL) AS STRING), ''),
          COALESCE(CAST(OCTET_LENGTH(CAST(COALESCE(`nights`, NULL) AS STRING)) AS STRING), ''),
          COALESCE(CAST(':' AS STRING), ''),
          COALESCE(CAST(COALESCE(`nights`, NULL) AS STRING), '')
        )
      ) ASC NULLS LAST
    ) AS `anon_place_of_row`
  FROM `sqlanon_1`
), `anon_bounded` AS (
  SELECT
    `id`,
    `age`,
    `sex`,
    `zip`,
    `diagnosis`,
    `patient`,
    `nights`
  FROM `anon_placed`
  WHERE
    `anon_place_of_row` <= 1
)
SELECT
  `age` AS `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING) AS `sex`,
  CAST(COALESCE(`zip`, NULL) AS STRING) AS `zip`,
  CAST(COALESCE(`diagnosis`, NULL) AS STRING) AS `diagnosis`,
  COUNT(*) AS `anon_row_count`
FROM `anon_bounded`
GROUP BY
  `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING),
  CAST(COALESCE(`zip`, NULL) AS STRING),
  CAST(COALESCE(`diagnosis`, NULL) AS STRING);

-- shared: write the release 2;

-- shared: what was written 1;

