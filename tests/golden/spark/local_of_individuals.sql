-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- cells
SELECT
  `age` AS `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING) AS `sex`,
  CAST(COALESCE(`zip`, NULL) AS STRING) AS `zip`,
  `patient` AS `patient`,
  COUNT(*) AS `anon_row_count`
FROM `sqlanon_1`
GROUP BY
  `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING),
  CAST(COALESCE(`zip`, NULL) AS STRING),
  `patient`;

-- shared: equal rows 2;

-- shared: write the release 1;

-- shared: values of kept columns 1;

-- shared: rows of rare values 1;

-- shared: classes with a single value 1;

-- shared: measure the risks 1;

-- measure k-anonymity (k = 2)
SELECT
  MIN(anon_individuals) AS k,
  COUNT(*) AS class_count,
  CAST(COALESCE(SUM(anon_rows), 0) AS BIGINT) AS row_count
FROM (
  SELECT
    (
      GREATEST(COUNT(DISTINCT sensitive_value), 1)
    ) AS anon_individuals,
    SUM(row_count) AS anon_rows
  FROM LATERAL (
    SELECT
      STRUCT(`age` AS `age`, `sex` AS `sex`, `zip` AS `zip`) AS class,
      `patient` AS sensitive_value,
      COUNT(*) AS row_count
    FROM (
      SELECT DISTINCT
        `age`,
        `sex`,
        `zip`,
        `patient`
      FROM (
        SELECT
          CAST(COALESCE(`anon_label_0`, NULL) AS STRING) AS `age`,
          CAST(COALESCE(`anon_label_1`, NULL) AS STRING) AS `sex`,
          CAST(COALESCE(`anon_label_2`, NULL) AS STRING) AS `zip`,
          `diagnosis` AS `diagnosis`,
          `patient`
        FROM (
          SELECT
            `anon_rows`.`diagnosis`,
            `anon_rows`.`patient`,
            `anon_kept`.`anon_label_0` AS `anon_label_0`,
            `anon_kept`.`anon_label_1` AS `anon_label_1`,
            `anon_kept`.`anon_label_2` AS `anon_label_2`
          FROM (
            SELECT
              `anon_of_key`.`anon_class`,
              CAST(COALESCE(`sqlanon_1`.`diagnosis`, NULL) AS STRING) AS `diagnosis`,
              1 AS `anon_row_count`,
              `sqlanon_1`.`patient`
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
          ) AS `anon_rows`
          JOIN (
            SELECT
              TRUE AS `anon_is_kept`,
              `anon_codes`.`anon_class`,
              `anon_of_class`.`anon_label_0` AS `anon_label_0`,
              `anon_of_class`.`anon_label_1` AS `anon_label_1`,
              `anon_of_class`.`anon_label_2` AS `anon_label_2`
            FROM `anon_codes` AS anon_codes
            LEFT JOIN `anon_of_class` AS anon_of_class
              ON `anon_of_class`.`anon_class` = `anon_codes`.`anon_class`
          ) AS `anon_kept`
            ON COALESCE(CAST(`anon_kept`.`anon_class` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_class` AS STRING), '')
            AND (
              `anon_kept`.`anon_class` IS NULL
            ) = (
              `anon_rows`.`anon_class` IS NULL
            )
        ) AS `anon_published`
      ) AS `anon_individuals`
    ) AS `anon_once`
    GROUP BY
      STRUCT(`age` AS `age`, `sex` AS `sex`, `zip` AS `zip`),
      `patient`
  ) AS anon_value_counts
  GROUP BY
    class
);

-- shared: classes of a release 1;

