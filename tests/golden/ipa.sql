-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 944 rows; the SHA-256 of them is 015f15aa7c759615360344374393004f7eaaa96970ae1640cefe0001da948621.

-- shared: read taxonomy 1;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 7;

-- shared: read taxonomy 8;

-- shared: read taxonomy 9;

BEGIN;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 7;

-- shared: create anon_coded_labels 2;

-- shared: read anon_coded_labels 1;

-- shared: create anon_labels 3;

DROP TABLE IF EXISTS "temp"."main"."anon_coded_labels";

-- shared: read anon_labels 3;

-- shared: create anon_cells 2;

-- shared: read anon_cells 1;

-- shared: read anon_cells 7;

WITH "anon_keyed" AS (
  SELECT
    0 AS "position",
    "anon_key_0" & 7484982580689764352 AS "anon_key_0",
    SUM("anon_row_count") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 7484982580689764352
  HAVING
    COUNT(*) > 0
  UNION ALL
  SELECT
    1 AS "position",
    "anon_key_0" & 1729382256910270464 AS "anon_key_0",
    SUM("anon_row_count") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 1729382256910270464
  HAVING
    COUNT(*) > 0
), "anon_values" AS (
  SELECT
    "anon_labels"."position",
    "anon_labels"."value",
    "anon_keyed"."anon_value_rows"
  FROM "anon_keyed"
  JOIN "temp"."main"."anon_labels" AS anon_labels
    ON "anon_labels"."position" = "anon_keyed"."position"
    AND "anon_labels"."anon_key_0" = "anon_keyed"."anon_key_0"
    AND "anon_labels"."depth" = 0
), "anon_levels" AS (
  SELECT
    anon_labels.position,
    anon_labels.depth,
    anon_values.anon_value_rows,
    anon_labels.code AS anon_label,
    anon_labels.lm AS anon_lm,
    anon_labels.ncp AS anon_ncp
  FROM "anon_values"
  INNER JOIN "temp"."main"."anon_labels" AS anon_labels
    ON anon_labels.position = anon_values.position
    AND anon_labels.value IS NOT DISTINCT FROM anon_values.value
), "anon_parts" AS (
  SELECT
    *,
    CAST(FLOOR("anon_ncp" * 536870912.0e0) AS BIGINT) AS anon_part
  FROM "anon_levels"
)
SELECT
  position,
  depth,
  CAST(SUM(anon_value_rows * anon_part) AS BIGINT) AS lost,
  MAX(anon_part) AS most
FROM "anon_parts"
GROUP BY
  position,
  depth;

SELECT
  COALESCE(MAX("anon_sensitive_0"), 0) AS largest
FROM "temp"."main"."anon_cells";

CREATE TEMPORARY TABLE "temp"."main"."anon_keyed_cells" AS
SELECT
  "anon_key_0" | CAST("anon_sensitive_0" AS BIGINT) AS "anon_key_0",
  anon_row_count
FROM "temp"."main"."anon_cells"
ORDER BY
  "anon_key_0" ASC;

WITH "anon_keyed_cells" AS (
  SELECT
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_row_count",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_keyed_cells"
  CROSS JOIN (VALUES
    (0, 1729382256910270495),
    (1, 7421932185906577439)) AS "anon_nodes"("anon_node", "anon_mask_0")
), "anon_keyed" AS (
  SELECT
    "anon_node",
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_keyed_cells"
  GROUP BY
    "anon_node",
    "anon_key_0"
  HAVING
    SUM("anon_row_count") >= 8
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7421932185906577408 AS "anon_bits_0_1_0"
  FROM "anon_keyed"
), "anon_scored" AS (
  SELECT
    "anon_labelled"."anon_node",
    "anon_labelled"."anon_rows",
    0 + CAST(FLOOR(
      CASE
        WHEN "anon_node" IN (1)
        THEN CASE WHEN "anon_bits_0_1_0" <= 0 THEN 0.0e0 ELSE 0.05e0 END
        ELSE 1.0e0
      END * 536870912.0e0
    ) AS BIGINT) + CAST(FLOOR(CASE WHEN "anon_node" IN (0) THEN 0.0e0 ELSE 1.0e0 END * 536870912.0e0) AS BIGINT) AS "anon_ncp"
  FROM "anon_labelled"
), "anon_combinations" AS (
  SELECT
    *,
    1073741824 AS anon_whole,
    8 AS anon_threshold
  FROM "anon_scored"
)
SELECT
  anon_node AS node,
  CAST(SUM(anon_rows) AS BIGINT) AS row_count,
  (
    -SUM(
      anon_ncp * anon_rows + (
        anon_whole - anon_ncp
      ) * (
        LEAST(anon_rows, GREATEST(0, 2 * (
          CAST(anon_threshold AS BIGINT) - 1
        ) - anon_rows))
      )
    )
  ) AS score
FROM "anon_combinations"
GROUP BY
  anon_node;

WITH "anon_keyed_cells" AS (
  SELECT
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_row_count",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_keyed_cells"
  CROSS JOIN (VALUES
    (0, 8646911284551352351),
    (1, 7349874591868649503)) AS "anon_nodes"("anon_node", "anon_mask_0")
), "anon_keyed" AS (
  SELECT
    "anon_node",
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_keyed_cells"
  GROUP BY
    "anon_node",
    "anon_key_0"
  HAVING
    SUM("anon_row_count") >= 8
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 6917529027641081856 AS "anon_bits_0_4_0",
    "anon_key_0" & 7349874591868649472 AS "anon_bits_0_2_0"
  FROM "anon_keyed"
), "anon_scored" AS (
  SELECT
    "anon_labelled"."anon_node",
    "anon_labelled"."anon_rows",
    0 + CAST(FLOOR(
      CASE
        WHEN "anon_node" IN (0)
        THEN CASE
          WHEN "anon_bits_0_4_0" <= 0
          THEN 0.0e0
          WHEN "anon_bits_0_4_0" <= 2305843009213693952
          THEN 0.2e0
          ELSE 0.4e0
        END
        ELSE CASE WHEN "anon_bits_0_2_0" <= 0 THEN 0.0e0 ELSE 0.1e0 END
      END * 536870912.0e0
    ) AS BIGINT) + CAST(FLOOR(CASE WHEN "anon_node" IN (0) THEN 0.0e0 ELSE 1.0e0 END * 536870912.0e0) AS BIGINT) AS "anon_ncp"
  FROM "anon_labelled"
), "anon_combinations" AS (
  SELECT
    *,
    1073741824 AS anon_whole,
    8 AS anon_threshold
  FROM "anon_scored"
)
SELECT
  anon_node AS node,
  CAST(SUM(anon_rows) AS BIGINT) AS row_count,
  (
    -SUM(
      anon_ncp * anon_rows + (
        anon_whole - anon_ncp
      ) * (
        LEAST(anon_rows, GREATEST(0, 2 * (
          CAST(anon_threshold AS BIGINT) - 1
        ) - anon_rows))
      )
    )
  ) AS score
FROM "anon_combinations"
GROUP BY
  anon_node;

WITH "anon_keyed_cells" AS (
  SELECT
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_row_count",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_keyed_cells"
  CROSS JOIN (VALUES
    (0, 8935141660703064095),
    (1, 7484982580689764383)) AS "anon_nodes"("anon_node", "anon_mask_0")
), "anon_keyed" AS (
  SELECT
    "anon_node",
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_keyed_cells"
  GROUP BY
    "anon_node",
    "anon_key_0"
  HAVING
    SUM("anon_row_count") >= 8
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7205759403792793600 AS "anon_bits_0_3_0"
  FROM "anon_keyed"
), "anon_scored" AS (
  SELECT
    "anon_labelled"."anon_node",
    "anon_labelled"."anon_rows",
    0 + CAST(FLOOR(
      CASE
        WHEN "anon_node" IN (0)
        THEN CASE WHEN "anon_bits_0_3_0" <= 0 THEN 0.0e0 ELSE 0.2e0 END
        ELSE 0.0e0
      END * 536870912.0e0
    ) AS BIGINT) + CAST(FLOOR(CASE WHEN "anon_node" IN (0) THEN 0.0e0 ELSE 1.0e0 END * 536870912.0e0) AS BIGINT) AS "anon_ncp"
  FROM "anon_labelled"
), "anon_combinations" AS (
  SELECT
    *,
    1073741824 AS anon_whole,
    8 AS anon_threshold
  FROM "anon_scored"
)
SELECT
  anon_node AS node,
  CAST(SUM(anon_rows) AS BIGINT) AS row_count,
  (
    -SUM(
      anon_ncp * anon_rows + (
        anon_whole - anon_ncp
      ) * (
        LEAST(anon_rows, GREATEST(0, 2 * (
          CAST(anon_threshold AS BIGINT) - 1
        ) - anon_rows))
      )
    )
  ) AS score
FROM "anon_combinations"
GROUP BY
  anon_node;

WITH "anon_keyed_cells" AS (
  SELECT
    "anon_key_0" & 9079256848778919967 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_keyed_cells"
), "anon_classes_of_node" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_keyed_cells"
  GROUP BY
    "anon_key_0"
  HAVING
    SUM("anon_row_count") >= 8
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    0 AS "anon_node"
  FROM "anon_classes_of_node"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7349874591868649472 AS "anon_bits_0_2_0"
  FROM "anon_keyed"
), "anon_scored" AS (
  SELECT
    "anon_labelled"."anon_rows",
    "anon_labelled"."anon_node",
    0 + CAST(FLOOR(CASE WHEN "anon_bits_0_2_0" <= 0 THEN 0.0e0 ELSE 0.1e0 END * 536870912.0e0) AS BIGINT) AS "anon_ncp"
  FROM "anon_labelled"
), "anon_combinations" AS (
  SELECT
    *,
    1073741824 AS anon_whole,
    8 AS anon_threshold
  FROM "anon_scored"
)
SELECT
  anon_node AS node,
  CAST(SUM(anon_rows) AS BIGINT) AS row_count,
  (
    -SUM(
      anon_ncp * anon_rows + (
        anon_whole - anon_ncp
      ) * (
        LEAST(anon_rows, GREATEST(0, 2 * (
          CAST(anon_threshold AS BIGINT) - 1
        ) - anon_rows))
      )
    )
  ) AS score
FROM "anon_combinations"
GROUP BY
  anon_node;

WITH "anon_keyed_cells" AS (
  SELECT
    "anon_key_0" & 7205759403792793631 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_keyed_cells"
), "anon_classes_of_node" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_keyed_cells"
  GROUP BY
    "anon_key_0"
  HAVING
    SUM("anon_row_count") >= 8
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    0 AS "anon_node"
  FROM "anon_classes_of_node"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7205759403792793600 AS "anon_bits_0_3_0"
  FROM "anon_keyed"
), "anon_scored" AS (
  SELECT
    "anon_labelled"."anon_rows",
    "anon_labelled"."anon_node",
    536870912 + CAST(FLOOR(CASE WHEN "anon_bits_0_3_0" <= 0 THEN 0.0e0 ELSE 0.2e0 END * 536870912.0e0) AS BIGINT) AS "anon_ncp"
  FROM "anon_labelled"
), "anon_combinations" AS (
  SELECT
    *,
    1073741824 AS anon_whole,
    8 AS anon_threshold
  FROM "anon_scored"
)
SELECT
  anon_node AS node,
  CAST(SUM(anon_rows) AS BIGINT) AS row_count,
  (
    -SUM(
      anon_ncp * anon_rows + (
        anon_whole - anon_ncp
      ) * (
        LEAST(anon_rows, GREATEST(0, 2 * (
          CAST(anon_threshold AS BIGINT) - 1
        ) - anon_rows))
      )
    )
  ) AS score
FROM "anon_combinations"
GROUP BY
  anon_node;

WITH "anon_keyed_cells" AS (
  SELECT
    "anon_key_0" & 9151314442816847903 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_keyed_cells"
), "anon_classes_of_node" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_keyed_cells"
  GROUP BY
    "anon_key_0"
  HAVING
    SUM("anon_row_count") >= 8
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    0 AS "anon_node"
  FROM "anon_classes_of_node"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7421932185906577408 AS "anon_bits_0_1_0"
  FROM "anon_keyed"
), "anon_scored" AS (
  SELECT
    "anon_labelled"."anon_rows",
    "anon_labelled"."anon_node",
    0 + CAST(FLOOR(CASE WHEN "anon_bits_0_1_0" <= 0 THEN 0.0e0 ELSE 0.05e0 END * 536870912.0e0) AS BIGINT) AS "anon_ncp"
  FROM "anon_labelled"
), "anon_combinations" AS (
  SELECT
    *,
    1073741824 AS anon_whole,
    8 AS anon_threshold
  FROM "anon_scored"
)
SELECT
  anon_node AS node,
  CAST(SUM(anon_rows) AS BIGINT) AS row_count,
  (
    -SUM(
      anon_ncp * anon_rows + (
        anon_whole - anon_ncp
      ) * (
        LEAST(anon_rows, GREATEST(0, 2 * (
          CAST(anon_threshold AS BIGINT) - 1
        ) - anon_rows))
      )
    )
  ) AS score
FROM "anon_combinations"
GROUP BY
  anon_node;

WITH "anon_keyed_cells" AS (
  SELECT
    "anon_key_0" & 6917529027641081887 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_keyed_cells"
), "anon_classes_of_node" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_keyed_cells"
  GROUP BY
    "anon_key_0"
  HAVING
    SUM("anon_row_count") >= 8
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    0 AS "anon_node"
  FROM "anon_classes_of_node"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 6917529027641081856 AS "anon_bits_0_4_0"
  FROM "anon_keyed"
), "anon_scored" AS (
  SELECT
    "anon_labelled"."anon_rows",
    "anon_labelled"."anon_node",
    536870912 + CAST(FLOOR(
      CASE
        WHEN "anon_bits_0_4_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_0_4_0" <= 2305843009213693952
        THEN 0.2e0
        ELSE 0.4e0
      END * 536870912.0e0
    ) AS BIGINT) AS "anon_ncp"
  FROM "anon_labelled"
), "anon_combinations" AS (
  SELECT
    *,
    1073741824 AS anon_whole,
    8 AS anon_threshold
  FROM "anon_scored"
)
SELECT
  anon_node AS node,
  CAST(SUM(anon_rows) AS BIGINT) AS row_count,
  (
    -SUM(
      anon_ncp * anon_rows + (
        anon_whole - anon_ncp
      ) * (
        LEAST(anon_rows, GREATEST(0, 2 * (
          CAST(anon_threshold AS BIGINT) - 1
        ) - anon_rows))
      )
    )
  ) AS score
FROM "anon_combinations"
GROUP BY
  anon_node;

DROP TABLE IF EXISTS "temp"."main"."anon_keyed_cells";

CREATE TEMPORARY TABLE "temp"."main"."anon_combinations" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8646911284551352320 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_raw_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    ANY_VALUE("anon_raw_0") AS "anon_raw_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_labels_0" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_0_4"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 4
), "anon_labels_1" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_1_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_unplaced" AS (
  SELECT
    "anon_keyed"."anon_sensitive_0",
    "anon_keyed"."anon_raw_0",
    "anon_keyed"."anon_row_count",
    "anon_labels_0"."anon_code_0_4",
    "anon_labels_1"."anon_code_1_0"
  FROM "anon_keyed"
  LEFT JOIN "anon_labels_0"
    ON (
      "anon_keyed"."anon_key_0" & 6917529027641081856
    ) = "anon_labels_0"."anon_key_0"
  LEFT JOIN "anon_labels_1"
    ON (
      "anon_keyed"."anon_key_0" & 1729382256910270464
    ) = "anon_labels_1"."anon_key_0"
)
SELECT
  *,
  ROW_NUMBER() OVER (ORDER BY "anon_code_0_4" ASC, "anon_code_1_0" ASC, "anon_sensitive_0" ASC) - 1 AS anon_place
FROM "anon_unplaced";

-- shared: read anon_combinations 1;

CREATE TEMPORARY TABLE "anon_noise_of_combinations_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "anon_run",
  CAST(v1 AS BIGINT) AS "anon_place",
  CAST(v2 AS BIGINT) AS "anon_noise"
FROM (VALUES
  (0, 0, 1),
  (0, 1, 1),
  (0, 2, 1),
  (0, 3, 1),
  (0, 4, 1),
  (0, 5, 1),
  (0, 6, 1),
  (0, 7, 1),
  (0, 8, 1),
  (0, 9, 1),
  (0, 10, 1),
  (0, 11, 1),
  (0, 12, 1),
  (0, 13, 1),
  (0, 14, 1),
  (0, 15, 1),
  (0, 16, 1),
  (0, 17, 1),
  (0, 18, 1),
  (0, 19, 1),
  (0, 20, 1),
  (0, 21, 1),
  (0, 22, 1),
  (0, 23, 1),
  (0, 24, 1),
  (0, 25, 1),
  (0, 26, 1),
  (0, 27, 1),
  (0, 28, 1),
  (0, 29, 1),
  (0, 30, 1),
  (0, 31, 1),
  (0, 32, 1),
  (0, 33, 1),
  (0, 34, 1),
  (0, 35, 1),
  (0, 36, 1),
  (0, 37, 1),
  (0, 38, 1),
  (0, 39, 1),
  (0, 40, 1),
  (0, 41, 1),
  (0, 42, 1),
  (0, 43, 1),
  (0, 44, 1),
  (0, 45, 1),
  (0, 46, 1),
  (0, 47, 1),
  (0, 48, 1),
  (0, 49, 1),
  (0, 50, 1),
  (0, 51, 1),
  (0, 52, 1),
  (0, 53, 1),
  (0, 54, 1),
  (0, 55, 1),
  (0, 56, 1),
  (0, 57, 1),
  (0, 58, 1),
  (0, 59, 1),
  (0, 60, 1),
  (0, 61, 1),
  (0, 62, 1),
  (0, 63, 1),
  (0, 64, 1),
  (0, 65, 1),
  (0, 66, 1),
  (0, 67, 1),
  (0, 68, 1),
  (0, 69, 1),
  (0, 70, 1),
  (0, 71, 1),
  (0, 72, 1),
  (0, 73, 1),
  (0, 74, 1),
  (0, 75, 1),
  (0, 76, 1),
  (0, 77, 1),
  (0, 78, 1),
  (0, 79, 1),
  (0, 80, 1),
  (0, 81, 1),
  (0, 82, 1),
  (0, 83, 1),
  (0, 84, 1)) AS given(v0, v1, v2);

-- shared: create anon_noise_of_combinations 1;

DROP TABLE "anon_noise_of_combinations_values";

CREATE TEMPORARY TABLE "temp"."main"."anon_noisy_combinations" AS
WITH "anon_sums" AS (
  SELECT
    *
  FROM "temp"."main"."anon_combinations"
  INNER JOIN "temp"."main"."anon_noise_of_combinations"
    USING (anon_place)
), "anon_noisy" AS (
  SELECT
    *,
    anon_row_count + anon_noise AS anon_noisy_rows
  FROM "anon_sums"
)
SELECT
  *,
  anon_noisy_rows >= 8 AS anon_is_shown
FROM "anon_noisy";

CREATE TEMPORARY TABLE "temp"."main"."anon_left_over" AS
WITH "anon_unplaced" AS (
  SELECT
    anon_run,
    "anon_raw_0",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
  FROM "temp"."main"."anon_noisy_combinations"
  WHERE
    NOT anon_is_shown
  GROUP BY
    anon_run,
    "anon_raw_0"
)
SELECT
  *,
  ROW_NUMBER() OVER (ORDER BY "anon_run" ASC, "anon_raw_0" ASC) - 1 AS anon_place
FROM "anon_unplaced";

SELECT
  COUNT(*) AS "rows"
FROM "temp"."main"."anon_left_over";

CREATE TEMPORARY TABLE "anon_noise_of_left_over_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "anon_place",
  CAST(v1 AS BIGINT) AS "anon_noise"
FROM (VALUES
  (0, 1),
  (1, 1),
  (2, 1),
  (3, 1),
  (4, 1),
  (5, 1),
  (6, 1),
  (7, 1),
  (8, 1),
  (9, 1),
  (10, 1),
  (11, 1),
  (12, 1),
  (13, 1),
  (14, 1),
  (15, 1),
  (16, 1),
  (17, 1)) AS given(v0, v1);

CREATE TEMPORARY TABLE "temp"."main"."anon_noise_of_left_over" AS
SELECT
  *
FROM "anon_noise_of_left_over_values";

DROP TABLE "anon_noise_of_left_over_values";

CREATE TEMPORARY TABLE "temp"."main"."anon_noisy_left_over" AS
WITH "anon_sums" AS (
  SELECT
    *
  FROM "temp"."main"."anon_left_over"
  INNER JOIN "temp"."main"."anon_noise_of_left_over"
    USING (anon_place)
), "anon_noisy" AS (
  SELECT
    *,
    anon_row_count + anon_noise AS anon_noisy_rows
  FROM "anon_sums"
)
SELECT
  *,
  anon_noisy_rows >= 13 AS anon_is_shown
FROM "anon_noisy";

-- shared: create anon_label_type_0 4;

-- shared: create anon_label_type_1 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_0" AS (
  SELECT DISTINCT
    "code" AS "anon_code_0_4",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 4
), "anon_labels_1" AS (
  SELECT DISTINCT
    "code" AS "anon_code_1_0",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_published" AS (
  SELECT
    "anon_labels_0"."anon_label_0",
    "anon_labels_1"."anon_label_1",
    CAST(COALESCE("anon_cells"."anon_raw_0", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    "anon_cells"."anon_noisy_rows" AS "anon_row_count"
  FROM "temp"."main"."anon_noisy_combinations" AS anon_cells
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."anon_code_0_4" = "anon_cells"."anon_code_0_4"
  LEFT JOIN "anon_labels_1"
    ON "anon_labels_1"."anon_code_1_0" = "anon_cells"."anon_code_1_0"
  WHERE
    "anon_cells"."anon_is_shown"
  UNION ALL
  SELECT
    CAST('*' AS anon_label_type_0) AS "anon_label_0",
    CAST('*' AS anon_label_type_1) AS "anon_label_1",
    CAST(COALESCE("anon_cells"."anon_raw_0", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    "anon_cells"."anon_noisy_rows" AS "anon_row_count"
  FROM "temp"."main"."anon_noisy_left_over" AS anon_cells
  WHERE
    "anon_cells"."anon_is_shown"
)
SELECT
  "anon_label_0",
  "anon_label_1",
  "diagnosis",
  CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
FROM "anon_published"
GROUP BY
  "anon_label_0",
  "anon_label_1",
  "diagnosis"
ORDER BY
  (
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 4) AS BIGINT) << 60
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 3) AS BIGINT) << 58
  ) ASC,
  "diagnosis" ASC;

-- shared: read anon_equal_rows 4;

-- shared: create released 3;

-- shared: read anon_equal_rows 5;

-- shared: read released 1;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_noisy_left_over";

DROP TABLE IF EXISTS "temp"."main"."anon_noise_of_left_over";

DROP TABLE IF EXISTS "temp"."main"."anon_left_over";

DROP TABLE IF EXISTS "temp"."main"."anon_noisy_combinations";

DROP TABLE IF EXISTS "temp"."main"."anon_noise_of_combinations";

DROP TABLE IF EXISTS "temp"."main"."anon_combinations";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

COMMIT;

