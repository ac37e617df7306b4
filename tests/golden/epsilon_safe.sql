-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 745 rows; the SHA-256 of them is 3f69e5c8a8910f71da1e7d77ad549a57e114552188fabd72a72c4212877f927d.

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

CREATE TEMPORARY TABLE "temp"."main"."anon_cells" AS
WITH "anon_rows" AS (
  SELECT
    "age" AS "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "sex",
    COUNT(*) AS "anon_row_count"
  FROM "memory"."main"."visits"
  GROUP BY
    "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary"
)
SELECT
  "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" AS "anon_key_0",
  "anon_labels_0"."code" IS NULL OR "anon_labels_1"."code" IS NULL AS "anon_is_unmapped",
  "anon_rows"."anon_row_count"
FROM "anon_rows"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_0
  ON "anon_labels_0"."position" = 0
  AND "anon_labels_0"."depth" = 0
  AND "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."age", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_1
  ON "anon_labels_1"."position" = 1
  AND "anon_labels_1"."depth" = 0
  AND "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."sex", NULL) AS TEXT) COLLATE "binary";

-- shared: read anon_cells 1;

-- shared: read anon_cells 7;

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_row_count",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_cells"
  CROSS JOIN (VALUES
    (0, 1729382256910270464),
    (1, 7421932185906577408)) AS "anon_nodes"("anon_node", "anon_mask_0")
), "anon_classes" AS (
  SELECT
    "anon_node",
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_node",
    "anon_key_0"
)
SELECT
  anon_node AS node,
  CAST(SUM(
    (
      LEAST(anon_rows, GREATEST(0, 2 * (
        CAST(20 AS BIGINT) - 1
      ) - anon_rows))
    )
  ) AS BIGINT) AS unsure_rows
FROM "anon_classes"
GROUP BY
  anon_node;

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_row_count",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_cells"
  CROSS JOIN (VALUES
    (0, 8646911284551352320),
    (1, 7349874591868649472)) AS "anon_nodes"("anon_node", "anon_mask_0")
), "anon_classes" AS (
  SELECT
    "anon_node",
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_node",
    "anon_key_0"
)
SELECT
  anon_node AS node,
  CAST(SUM(
    (
      LEAST(anon_rows, GREATEST(0, 2 * (
        CAST(20 AS BIGINT) - 1
      ) - anon_rows))
    )
  ) AS BIGINT) AS unsure_rows
FROM "anon_classes"
GROUP BY
  anon_node;

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_row_count",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_cells"
  CROSS JOIN (VALUES
    (0, 8935141660703064064),
    (1, 7484982580689764352)) AS "anon_nodes"("anon_node", "anon_mask_0")
), "anon_classes" AS (
  SELECT
    "anon_node",
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_node",
    "anon_key_0"
)
SELECT
  anon_node AS node,
  CAST(SUM(
    (
      LEAST(anon_rows, GREATEST(0, 2 * (
        CAST(20 AS BIGINT) - 1
      ) - anon_rows))
    )
  ) AS BIGINT) AS unsure_rows
FROM "anon_classes"
GROUP BY
  anon_node;

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 9079256848778919936 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_classes_of_node" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_classes" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    0 AS "anon_node"
  FROM "anon_classes_of_node"
)
SELECT
  anon_node AS node,
  CAST(SUM(
    (
      LEAST(anon_rows, GREATEST(0, 2 * (
        CAST(20 AS BIGINT) - 1
      ) - anon_rows))
    )
  ) AS BIGINT) AS unsure_rows
FROM "anon_classes"
GROUP BY
  anon_node;

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 7205759403792793600 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_classes_of_node" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_classes" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    0 AS "anon_node"
  FROM "anon_classes_of_node"
)
SELECT
  anon_node AS node,
  CAST(SUM(
    (
      LEAST(anon_rows, GREATEST(0, 2 * (
        CAST(20 AS BIGINT) - 1
      ) - anon_rows))
    )
  ) AS BIGINT) AS unsure_rows
FROM "anon_classes"
GROUP BY
  anon_node;

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 9151314442816847872 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_classes_of_node" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_classes" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    0 AS "anon_node"
  FROM "anon_classes_of_node"
)
SELECT
  anon_node AS node,
  CAST(SUM(
    (
      LEAST(anon_rows, GREATEST(0, 2 * (
        CAST(20 AS BIGINT) - 1
      ) - anon_rows))
    )
  ) AS BIGINT) AS unsure_rows
FROM "anon_classes"
GROUP BY
  anon_node;

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 6917529027641081856 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_classes_of_node" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_classes" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    0 AS "anon_node"
  FROM "anon_classes_of_node"
)
SELECT
  anon_node AS node,
  CAST(SUM(
    (
      LEAST(anon_rows, GREATEST(0, 2 * (
        CAST(20 AS BIGINT) - 1
      ) - anon_rows))
    )
  ) AS BIGINT) AS unsure_rows
FROM "anon_classes"
GROUP BY
  anon_node;

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 9214364837600034816 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_classes_of_node" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_classes" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    0 AS "anon_node"
  FROM "anon_classes_of_node"
)
SELECT
  anon_node AS node,
  CAST(SUM(
    (
      LEAST(anon_rows, GREATEST(0, 2 * (
        CAST(20 AS BIGINT) - 1
      ) - anon_rows))
    )
  ) AS BIGINT) AS unsure_rows
FROM "anon_classes"
GROUP BY
  anon_node;

WITH "anon_cells" AS (
  SELECT
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_classes_of_node" AS (
  SELECT
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
), "anon_classes" AS (
  SELECT
    0 AS "anon_key_0",
    "anon_rows",
    0 AS "anon_node"
  FROM "anon_classes_of_node"
)
SELECT
  anon_node AS node,
  CAST(SUM(
    (
      LEAST(anon_rows, GREATEST(0, 2 * (
        CAST(20 AS BIGINT) - 1
      ) - anon_rows))
    )
  ) AS BIGINT) AS unsure_rows
FROM "anon_classes"
GROUP BY
  anon_node;

CREATE TEMPORARY TABLE "temp"."main"."anon_combinations" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8935141660703064064 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_labels_0" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_0_3"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 3
), "anon_labels_1" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_1_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_unplaced" AS (
  SELECT
    "anon_keyed"."anon_row_count",
    "anon_labels_0"."anon_code_0_3",
    "anon_labels_1"."anon_code_1_0"
  FROM "anon_keyed"
  LEFT JOIN "anon_labels_0"
    ON (
      "anon_keyed"."anon_key_0" & 7205759403792793600
    ) = "anon_labels_0"."anon_key_0"
  LEFT JOIN "anon_labels_1"
    ON (
      "anon_keyed"."anon_key_0" & 1729382256910270464
    ) = "anon_labels_1"."anon_key_0"
)
SELECT
  *,
  ROW_NUMBER() OVER (ORDER BY "anon_code_0_3" ASC, "anon_code_1_0" ASC) - 1 AS anon_place
FROM "anon_unplaced";

SELECT
  anon_place AS place,
  anon_row_count AS rows
FROM "temp"."main"."anon_combinations"
WHERE
  anon_row_count >= 10
ORDER BY
  anon_place ASC;

CREATE TEMPORARY TABLE "anon_noise_of_combinations_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "anon_run",
  CAST(v1 AS BIGINT) AS "anon_place",
  CAST(v2 AS BIGINT) AS "anon_noise"
FROM (VALUES
  (0, 2, -7),
  (0, 3, -6),
  (0, 4, -24),
  (0, 5, -24),
  (0, 6, -41),
  (0, 7, -33),
  (0, 8, -45),
  (0, 9, -41),
  (0, 10, -11),
  (0, 11, -11)) AS given(v0, v1, v2);

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
  anon_noisy_rows >= 10 AS anon_is_shown
FROM "anon_noisy";

-- shared: create anon_label_type_0 2;

-- shared: create anon_label_type_1 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_0" AS (
  SELECT DISTINCT
    "code" AS "anon_code_0_3",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 3
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
    "anon_cells"."anon_noisy_rows" AS "anon_row_count"
  FROM "temp"."main"."anon_noisy_combinations" AS anon_cells
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."anon_code_0_3" = "anon_cells"."anon_code_0_3"
  LEFT JOIN "anon_labels_1"
    ON "anon_labels_1"."anon_code_1_0" = "anon_cells"."anon_code_1_0"
  WHERE
    "anon_cells"."anon_is_shown"
)
SELECT
  "anon_label_0",
  "anon_label_1",
  CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
FROM "anon_published"
GROUP BY
  "anon_label_0",
  "anon_label_1"
ORDER BY
  (
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 6) AS BIGINT) << 60
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 3) AS BIGINT) << 58
  ) ASC;

-- shared: read anon_equal_rows 4;

CREATE TABLE "memory"."main"."released" AS
WITH "anon_groups" AS (
  SELECT
    CAST(COALESCE("anon_label_0", NULL) AS TEXT) AS "age",
    CAST(COALESCE("anon_label_1", NULL) AS TEXT) AS "sex",
    "anon_row_count"
  FROM "temp"."main"."anon_equal_rows"
), "anon_blocks" AS (
  SELECT
    *,
    UNNEST(RANGE(0, (
      anon_row_count + 1023
    ) // 1024)) AS anon_block
  FROM "anon_groups"
), "anon_counted" AS (
  SELECT
    *
    EXCLUDE (anon_row_count, anon_block),
    LEAST(1024, anon_row_count - 1024 * anon_block) AS anon_copies
  FROM "anon_blocks"
), "anon_repeated" AS (
  SELECT
    *,
    UNNEST(RANGE(0, anon_copies)) AS anon_copy
  FROM "anon_counted"
)
SELECT
  *
  EXCLUDE (anon_copies, anon_copy)
FROM "anon_repeated";

WITH "anon_drawn" AS (
  SELECT
    CAST(COALESCE("anon_label_0", NULL) AS TEXT) AS "age",
    CAST(COALESCE("anon_label_1", NULL) AS TEXT) AS "sex",
    "anon_row_count"
  FROM "temp"."main"."anon_equal_rows"
), "anon_made" AS (
  SELECT
    "age",
    "sex",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_rows
  FROM "anon_drawn"
  GROUP BY
    "age",
    "sex"
), "anon_written" AS (
  SELECT
    "age",
    "sex",
    COUNT(*) AS anon_rows
  FROM "memory"."main"."released"
  GROUP BY
    "age",
    "sex"
), "anon_compared" AS (
  SELECT
    anon_made.anon_rows AS anon_made,
    anon_written.anon_rows AS anon_written
  FROM "anon_made"
  FULL JOIN "anon_written"
    ON "anon_made"."age" IS NOT DISTINCT FROM "anon_written"."age"
    AND "anon_made"."sex" IS NOT DISTINCT FROM "anon_written"."sex"
)
SELECT
  COUNT(*) FILTER(WHERE
    anon_made IS DISTINCT FROM anon_written) AS unlike
FROM "anon_compared";

-- shared: read released 1;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_noisy_combinations";

DROP TABLE IF EXISTS "temp"."main"."anon_noise_of_combinations";

DROP TABLE IF EXISTS "temp"."main"."anon_combinations";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

COMMIT;

