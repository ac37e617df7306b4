-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- cells
SELECT
  `age` AS `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING) AS `sex`,
  CAST(COALESCE(`zip`, NULL) AS STRING) AS `zip`,
  CAST(COALESCE(`diagnosis`, NULL) AS STRING) AS `diagnosis`,
  `patient` AS `patient`,
  COUNT(*) AS `anon_row_count`
FROM `sqlanon_1`
GROUP BY
  `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING),
  CAST(COALESCE(`zip`, NULL) AS STRING),
  CAST(COALESCE(`diagnosis`, NULL) AS STRING),
  `patient`;

-- shared: write the release 2;

-- shared: some rows of the source 2;

-- shared: dependent columns 2;

-- shared: determining columns 2;

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
            `anon_labels_0`.`anon_label_0` AS `anon_label_0`,
            `anon_rows`.`anon_label_1` AS `anon_label_1`,
            `anon_rows`.`anon_label_2` AS `anon_label_2`
          FROM (
            SELECT
              `anon_labels_1`.`anon_label_1`,
              `anon_labels_2`.`anon_label_2`,
              CAST(COALESCE(`sqlanon_1`.`diagnosis`, NULL) AS STRING) AS `diagnosis`,
              1 AS `anon_row_count`,
              `sqlanon_1`.`patient`
            FROM `sqlanon_1`
            LEFT JOIN (
              SELECT
                `value`,
                `label` AS `anon_label_1`
              FROM `anon_labels` AS `anon_labels`
              WHERE
                `position` = 1 AND `depth` = 0
            ) AS `anon_labels_1`
              ON COALESCE(CAST(`anon_labels_1`.`value` AS STRING), '') = COALESCE(CAST(COALESCE(`sqlanon_1`.`sex`, NULL) AS STRING), '')
              AND (
                `anon_labels_1`.`value` IS NULL
              ) = (
                CAST(COALESCE(`sqlanon_1`.`sex`, NULL) AS STRING) IS NULL
              )
            LEFT JOIN (
              SELECT
                `value`,
                `label` AS `anon_label_2`
              FROM `anon_labels` AS `anon_labels`
              WHERE
                `position` = 2 AND `depth` = 2
            ) AS `anon_labels_2`
              ON COALESCE(CAST(`anon_labels_2`.`value` AS STRING), '') = COALESCE(CAST(COALESCE(`sqlanon_1`.`zip`, NULL) AS STRING), '')
              AND (
                `anon_labels_2`.`value` IS NULL
              ) = (
                CAST(COALESCE(`sqlanon_1`.`zip`, NULL) AS STRING) IS NULL
              )
          ) AS `anon_rows`
          JOIN (
            SELECT
              TRUE AS `anon_is_kept`,
              `anon_labels_1`.`anon_label_1`,
              `anon_labels_2`.`anon_label_2`
            FROM `anon_codes` AS anon_codes
            LEFT JOIN (
              SELECT DISTINCT
                `code` AS `anon_code_1_0`,
                `label` AS `anon_label_1`
              FROM `anon_labels` AS `anon_labels`
              WHERE
                `position` = 1 AND `depth` = 0
            ) AS `anon_labels_1`
              ON `anon_labels_1`.`anon_code_1_0` = `anon_codes`.`anon_code_1_0`
            LEFT JOIN (
              SELECT DISTINCT
                `code` AS `anon_code_2_2`,
                `label` AS `anon_label_2`
              FROM `anon_labels` AS `anon_labels`
              WHERE
                `position` = 2 AND `depth` = 2
            ) AS `anon_labels_2`
              ON `anon_labels_2`.`anon_code_2_2` = `anon_codes`.`anon_code_2_2`
          ) AS `anon_kept`
            ON COALESCE(CAST(`anon_kept`.`anon_label_1` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_label_1` AS STRING), '')
            AND (
              `anon_kept`.`anon_label_1` IS NULL
            ) = (
              `anon_rows`.`anon_label_1` IS NULL
            )
            AND COALESCE(CAST(`anon_kept`.`anon_label_2` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_label_2` AS STRING), '')
            AND (
              `anon_kept`.`anon_label_2` IS NULL
            ) = (
              `anon_rows`.`anon_label_2` IS NULL
            )
          LEFT JOIN (
            SELECT DISTINCT
              `label` AS `anon_label_0`
            FROM `anon_labels` AS `anon_labels`
            WHERE
              `position` = 0 AND `depth` = 3
          ) AS `anon_labels_0`
            ON TRUE
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

-- measure t-closeness of "diagnosis" with equal distance (t = 0.4)
SELECT DISTINCT
  `age`,
  `sex`,
  `zip`,
  `patient`,
  `diagnosis`
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
      `anon_labels_0`.`anon_label_0` AS `anon_label_0`,
      `anon_rows`.`anon_label_1` AS `anon_label_1`,
      `anon_rows`.`anon_label_2` AS `anon_label_2`
    FROM (
      SELECT
        `anon_labels_1`.`anon_label_1`,
        `anon_labels_2`.`anon_label_2`,
        CAST(COALESCE(`sqlanon_1`.`diagnosis`, NULL) AS STRING) AS `diagnosis`,
        1 AS `anon_row_count`,
        `sqlanon_1`.`patient`
      FROM `sqlanon_1`
      LEFT JOIN (
        SELECT
          `value`,
          `label` AS `anon_label_1`
        FROM `anon_labels` AS `anon_labels`
        WHERE
          `position` = 1 AND `depth` = 0
      ) AS `anon_labels_1`
        ON COALESCE(CAST(`anon_labels_1`.`value` AS STRING), '') = COALESCE(CAST(COALESCE(`sqlanon_1`.`sex`, NULL) AS STRING), '')
        AND (
          `anon_labels_1`.`value` IS NULL
        ) = (
          CAST(COALESCE(`sqlanon_1`.`sex`, NULL) AS STRING) IS NULL
        )
      LEFT JOIN (
        SELECT
          `value`,
          `label` AS `anon_label_2`
        FROM `anon_labels` AS `anon_labels`
        WHERE
          `position` = 2 AND `depth` = 2
      ) AS `anon_labels_2`
        ON COALESCE(CAST(`anon_labels_2`.`value` AS STRING), '') = COALESCE(CAST(COALESCE(`sqlanon_1`.`zip`, NULL) AS STRING), '')
        AND (
          `anon_labels_2`.`value` IS NULL
        ) = (
          CAST(COALESCE(`sqlanon_1`.`zip`, NULL) AS STRING) IS NULL
        )
    ) AS `anon_rows`
    JOIN (
      SELECT
        TRUE AS `anon_is_kept`,
        `anon_labels_1`.`anon_label_1`,
        `anon_labels_2`.`anon_label_2`
      FROM `anon_codes` AS anon_codes
      LEFT JOIN (
        SELECT DISTINCT
          `code` AS `anon_code_1_0`,
          `label` AS `anon_label_1`
        FROM `anon_labels` AS `anon_labels`
        WHERE
          `position` = 1 AND `depth` = 0
      ) AS `anon_labels_1`
        ON `anon_labels_1`.`anon_code_1_0` = `anon_codes`.`anon_code_1_0`
      LEFT JOIN (
        SELECT DISTINCT
          `code` AS `anon_code_2_2`,
          `label` AS `anon_label_2`
        FROM `anon_labels` AS `anon_labels`
        WHERE
          `position` = 2 AND `depth` = 2
      ) AS `anon_labels_2`
        ON `anon_labels_2`.`anon_code_2_2` = `anon_codes`.`anon_code_2_2`
    ) AS `anon_kept`
      ON COALESCE(CAST(`anon_kept`.`anon_label_1` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_label_1` AS STRING), '')
      AND (
        `anon_kept`.`anon_label_1` IS NULL
      ) = (
        `anon_rows`.`anon_label_1` IS NULL
      )
      AND COALESCE(CAST(`anon_kept`.`anon_label_2` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_label_2` AS STRING), '')
      AND (
        `anon_kept`.`anon_label_2` IS NULL
      ) = (
        `anon_rows`.`anon_label_2` IS NULL
      )
    LEFT JOIN (
      SELECT DISTINCT
        `label` AS `anon_label_0`
      FROM `anon_labels` AS `anon_labels`
      WHERE
        `position` = 0 AND `depth` = 3
    ) AS `anon_labels_0`
      ON TRUE
  ) AS `anon_published`
) AS `anon_individuals`;

-- measure t-closeness of "diagnosis" with equal distance (t = 0.4)
SELECT DISTINCT
  `patient`,
  `diagnosis`
FROM `sqlanon_1`;

-- measure t-closeness of "diagnosis" with equal distance (t = 0.4)
SELECT
  STRUCT(`age` AS `age`, `sex` AS `sex`, `zip` AS `zip`) AS class,
  `diagnosis` AS sensitive_value,
  COUNT(*) AS row_count
FROM (
  SELECT DISTINCT
    `age`,
    `sex`,
    `zip`,
    `patient`,
    `diagnosis`
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
        `anon_labels_0`.`anon_label_0` AS `anon_label_0`,
        `anon_rows`.`anon_label_1` AS `anon_label_1`,
        `anon_rows`.`anon_label_2` AS `anon_label_2`
      FROM (
        SELECT
          `anon_labels_1`.`anon_label_1`,
          `anon_labels_2`.`anon_label_2`,
          CAST(COALESCE(`sqlanon_1`.`diagnosis`, NULL) AS STRING) AS `diagnosis`,
          1 AS `anon_row_count`,
          `sqlanon_1`.`patient`
        FROM `sqlanon_1`
        LEFT JOIN (
          SELECT
            `value`,
            `label` AS `anon_label_1`
          FROM `anon_labels` AS `anon_labels`
          WHERE
            `position` = 1 AND `depth` = 0
        ) AS `anon_labels_1`
          ON COALESCE(CAST(`anon_labels_1`.`value` AS STRING), '') = COALESCE(CAST(COALESCE(`sqlanon_1`.`sex`, NULL) AS STRING), '')
          AND (
            `anon_labels_1`.`value` IS NULL
          ) = (
            CAST(COALESCE(`sqlanon_1`.`sex`, NULL) AS STRING) IS NULL
          )
        LEFT JOIN (
          SELECT
            `value`,
            `label` AS `anon_label_2`
          FROM `anon_labels` AS `anon_labels`
          WHERE
            `position` = 2 AND `depth` = 2
        ) AS `anon_labels_2`
          ON COALESCE(CAST(`anon_labels_2`.`value` AS STRING), '') = COALESCE(CAST(COALESCE(`sqlanon_1`.`zip`, NULL) AS STRING), '')
          AND (
            `anon_labels_2`.`value` IS NULL
          ) = (
            CAST(COALESCE(`sqlanon_1`.`zip`, NULL) AS STRING) IS NULL
          )
      ) AS `anon_rows`
      JOIN (
        SELECT
          TRUE AS `anon_is_kept`,
          `anon_labels_1`.`anon_label_1`,
          `anon_labels_2`.`anon_label_2`
        FROM `anon_codes` AS anon_codes
        LEFT JOIN (
          SELECT DISTINCT
            `code` AS `anon_code_1_0`,
            `label` AS `anon_label_1`
          FROM `anon_labels` AS `anon_labels`
          WHERE
            `position` = 1 AND `depth` = 0
        ) AS `anon_labels_1`
          ON `anon_labels_1`.`anon_code_1_0` = `anon_codes`.`anon_code_1_0`
        LEFT JOIN (
          SELECT DISTINCT
            `code` AS `anon_code_2_2`,
            `label` AS `anon_label_2`
          FROM `anon_labels` AS `anon_labels`
          WHERE
            `position` = 2 AND `depth` = 2
        ) AS `anon_labels_2`
          ON `anon_labels_2`.`anon_code_2_2` = `anon_codes`.`anon_code_2_2`
      ) AS `anon_kept`
        ON COALESCE(CAST(`anon_kept`.`anon_label_1` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_label_1` AS STRING), '')
        AND (
          `anon_kept`.`anon_label_1` IS NULL
        ) = (
          `anon_rows`.`anon_label_1` IS NULL
        )
        AND COALESCE(CAST(`anon_kept`.`anon_label_2` AS STRING), '') = COALESCE(CAST(`anon_rows`.`anon_label_2` AS STRING), '')
        AND (
          `anon_kept`.`anon_label_2` IS NULL
        ) = (
          `anon_rows`.`anon_label_2` IS NULL
        )
      LEFT JOIN (
        SELECT DISTINCT
          `label` AS `anon_label_0`
        FROM `anon_labels` AS `anon_labels`
        WHERE
          `position` = 0 AND `depth` = 3
      ) AS `anon_labels_0`
        ON TRUE
    ) AS `anon_published`
  ) AS `anon_individuals`
) AS `anon_once`
GROUP BY
  STRUCT(`age` AS `age`, `sex` AS `sex`, `zip` AS `zip`),
  `diagnosis`;

