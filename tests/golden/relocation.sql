-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 1000 rows; the SHA-256 of them is 808cb27a8534e0388c59945aba87ad34c3df84e88b4cb8b39b4292d40882633d.

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

-- shared: read anon_labels 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_cells" AS
WITH "anon_rows" AS MATERIALIZED (
  SELECT
    "age" AS "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "sex",
    CAST(COALESCE("diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    COUNT(*) AS "anon_row_count"
  FROM "memory"."main"."visits"
  GROUP BY
    "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary",
    CAST(COALESCE("diagnosis", NULL) AS TEXT) COLLATE "binary"
), "anon_values" AS (
  SELECT DISTINCT
    "diagnosis"
  FROM "anon_rows"
), "anon_sensitive_0_ranks" AS MATERIALIZED (
  SELECT
    "diagnosis",
    CAST(DENSE_RANK() OVER (ORDER BY "diagnosis" ASC) AS UINTEGER) AS "anon_sensitive_0"
  FROM "anon_values"
)
SELECT
  "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" AS "anon_key_0",
  "anon_labels_0"."code" IS NULL OR "anon_labels_1"."code" IS NULL AS "anon_is_unmapped",
  "anon_sensitive_0_ranks"."anon_sensitive_0",
  "anon_rows"."diagnosis" AS "anon_raw_0",
  "anon_rows"."anon_row_count"
FROM "anon_rows"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_0
  ON "anon_labels_0"."position" = 0
  AND "anon_labels_0"."depth" = 0
  AND "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."age", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_1
  ON "anon_labels_1"."position" = 1
  AND "anon_labels_1"."depth" = 0
  AND "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."sex", NULL) AS TEXT) COLLATE "binary"
JOIN "anon_sensitive_0_ranks"
  ON "anon_sensitive_0_ranks"."diagnosis" IS NOT DISTINCT FROM "anon_rows"."diagnosis"
ORDER BY
  "anon_key_0" ASC;

-- shared: read anon_cells 1;

-- shared: read anon_cells 7;

-- shared: read anon_cells 8;

-- shared: read anon_cells 9;

-- shared: read anon_cells 10;

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 9151314442816847872 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7421932185906577408 AS "anon_bits_0_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    (
      0.0e0 + CASE WHEN "anon_bits_0_1_0" <= 0 THEN 0.0e0 ELSE 0.04040404040404041e0 END
    ) / 2 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AS "anon_kept",
    "anon_class_size" AS "anon_class_weight"
  FROM "anon_classes"
)
SELECT
  0 AS node,
  COUNT(*) AS class_count,
  MIN(anon_class_size) AS min_class_size,
  COUNT(*) FILTER(WHERE
    anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS certain_suppressed_rows,
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm,
  (
    SUM(CAST("anon_class_size" AS INT128) * "anon_class_size")
  ) AS "dm_star",
  (
    SUM(
      CAST("anon_class_size" AS INT128) * CASE WHEN "anon_kept" THEN "anon_class_size" ELSE 1000 END
    )
  ) AS "dm",
  (
    CAST(SUM("anon_class_size") AS DOUBLE) / (
      COUNT(*) FILTER(WHERE
        "anon_kept") + CAST(BOOL_OR(CAST(NOT "anon_kept" AS BOOLEAN)) AS INT)
    ) / 5
  ) AS "aecs"
FROM "anon_classes_2" AS "anon_classes";

CREATE TEMPORARY TABLE "temp"."main"."anon_ranked_classes" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 9151314442816847872 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_sizes" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AS "anon_kept"
  FROM "anon_sizes"
)
SELECT
  *,
  ROW_NUMBER() OVER (ORDER BY anon_kept DESC, anon_class_size DESC, "anon_key_0" ASC) AS anon_rank,
  CAST(SUM(CAST(anon_kept AS BIGINT)) OVER (ORDER BY "anon_key_0" ASC) AS BIGINT) AS anon_place
FROM "anon_judged";

SELECT
  COUNT(*) FILTER(WHERE
    anon_kept) AS large,
  COUNT(*) FILTER(WHERE
    NOT anon_kept) AS small,
  COALESCE(CAST(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept) AS BIGINT), 0) AS rows
FROM "temp"."main"."anon_ranked_classes";

CREATE TEMPORARY TABLE "temp"."main"."anon_outlier_classes" AS
WITH "anon_losses_0" AS (
  SELECT DISTINCT
    MAX("anon_key_0") FILTER(WHERE
      "depth" = 1) AS "anon_key_0",
    MAX("lm") FILTER(WHERE
      "depth" = 1) AS "anon_loss_0_1",
    MAX("lm") FILTER(WHERE
      "depth" = 2) AS "anon_loss_0_2",
    MAX("lm") FILTER(WHERE
      "depth" = 3) AS "anon_loss_0_3",
    MAX("lm") FILTER(WHERE
      "depth" = 4) AS "anon_loss_0_4",
    MAX("lm") FILTER(WHERE
      "depth" = 5) AS "anon_loss_0_5"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0
  GROUP BY
    "value"
), "anon_losses_1" AS (
  SELECT DISTINCT
    MAX("anon_key_0") FILTER(WHERE
      "depth" = 0) AS "anon_key_0",
    MAX("lm") FILTER(WHERE
      "depth" = 0) AS "anon_loss_1_0",
    MAX("lm") FILTER(WHERE
      "depth" = 1) AS "anon_loss_1_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1
  GROUP BY
    "value"
)
SELECT
  "anon_classes".*,
  "anon_losses_0"."anon_loss_0_1",
  "anon_losses_0"."anon_loss_0_2",
  "anon_losses_0"."anon_loss_0_3",
  "anon_losses_0"."anon_loss_0_4",
  "anon_losses_0"."anon_loss_0_5",
  "anon_losses_1"."anon_loss_1_0",
  "anon_losses_1"."anon_loss_1_1"
FROM "temp"."main"."anon_ranked_classes" AS anon_classes
LEFT JOIN "anon_losses_0"
  ON (
    "anon_classes"."anon_key_0" & 7421932185906577408
  ) = "anon_losses_0"."anon_key_0"
LEFT JOIN "anon_losses_1"
  ON (
    "anon_classes"."anon_key_0" & 1729382256910270464
  ) = "anon_losses_1"."anon_key_0"
WHERE
  NOT "anon_classes"."anon_kept";

CREATE TEMPORARY TABLE "temp"."main"."anon_moves" AS
WITH "anon_outliers" AS (
  SELECT
    *,
    UNNEST(
      RANGE(
        GREATEST(anon_place - (
          35 - 1
        ), 1),
        LEAST(
          anon_place + 35,
          (
            SELECT
              COUNT(*) FILTER(WHERE
                anon_kept)
            FROM "temp"."main"."anon_ranked_classes"
          )
        ) + 1
      )
    ) AS anon_nearest
  FROM "temp"."main"."anon_outlier_classes"
), "anon_pairs" AS (
  SELECT
    anon_outliers.anon_rank AS anon_outlier,
    anon_large.anon_rank AS anon_nearest,
    XOR("anon_outliers"."anon_key_0", "anon_large"."anon_key_0") AS "anon_key_0",
    "anon_outliers"."anon_loss_0_1",
    "anon_outliers"."anon_loss_0_2",
    "anon_outliers"."anon_loss_0_3",
    "anon_outliers"."anon_loss_0_4",
    "anon_outliers"."anon_loss_0_5",
    "anon_outliers"."anon_loss_1_0",
    "anon_outliers"."anon_loss_1_1"
  FROM "anon_outliers"
  INNER JOIN "temp"."main"."anon_ranked_classes" AS anon_large
    ON anon_large.anon_kept AND anon_large.anon_place = anon_outliers.anon_nearest
), "anon_compared" AS (
  SELECT
    anon_outlier,
    anon_nearest,
    ROUND(
      (
        CASE
          WHEN (
            "anon_key_0" & 7421932185906577408
          ) = 0
          THEN "anon_loss_0_1"
          WHEN (
            "anon_key_0" & 7349874591868649472
          ) = 0
          THEN "anon_loss_0_2"
          WHEN (
            "anon_key_0" & 7205759403792793600
          ) = 0
          THEN "anon_loss_0_3"
          WHEN (
            "anon_key_0" & 6917529027641081856
          ) = 0
          THEN "anon_loss_0_4"
          ELSE "anon_loss_0_5"
        END + CASE
          WHEN (
            "anon_key_0" & 1729382256910270464
          ) = 0
          THEN "anon_loss_1_0"
          ELSE "anon_loss_1_1"
        END
      ) / 2,
      12
    ) AS anon_distance
  FROM "anon_pairs"
), "anon_found" AS (
  SELECT
    anon_outlier,
    MIN({'anon_distance': anon_distance, 'anon_nearest': anon_nearest}) AS anon_best
  FROM "anon_compared"
  GROUP BY
    anon_outlier
)
SELECT
  "anon_outliers"."anon_key_0",
  anon_outliers.anon_class_size,
  "anon_large"."anon_key_0" AS "anon_key_0_there",
  anon_found.anon_best.anon_distance AS anon_distance
FROM "anon_found"
INNER JOIN "temp"."main"."anon_ranked_classes" AS anon_outliers
  ON anon_outliers.anon_rank = anon_found.anon_outlier
INNER JOIN "temp"."main"."anon_ranked_classes" AS anon_large
  ON anon_large.anon_rank = anon_found.anon_best.anon_nearest;

CREATE TEMPORARY TABLE "temp"."main"."anon_moved_cells" AS
WITH "anon_here" AS (
  SELECT
    "anon_key_0" & 9151314442816847872 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_raw_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_rows" AS (
  SELECT
    COALESCE("anon_moves"."anon_key_0_there", "anon_here"."anon_key_0") AS "anon_key_0",
    "anon_here"."anon_sensitive_0",
    "anon_here"."anon_raw_0",
    anon_here.anon_row_count
  FROM "anon_here"
  LEFT JOIN "temp"."main"."anon_moves" AS anon_moves
    ON "anon_moves"."anon_key_0" = "anon_here"."anon_key_0"
)
SELECT
  "anon_key_0",
  "anon_sensitive_0",
  ANY_VALUE("anon_raw_0") AS "anon_raw_0",
  FALSE AS anon_is_unmapped,
  CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
FROM "anon_rows"
GROUP BY
  "anon_key_0",
  "anon_sensitive_0";

SELECT
  ROUND(SUM(anon_distance * anon_class_size) / SUM(anon_class_size), 12) AS distance
FROM "temp"."main"."anon_moves";

CREATE TEMPORARY TABLE "temp"."main"."anon_kept" AS
WITH "anon_moved_cells" AS (
  SELECT
    "anon_key_0" & 9151314442816847872 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_moved_cells"
), "anon_classes" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_moved_cells"
  GROUP BY
    "anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AS "anon_kept"
  FROM "anon_classes"
), "anon_kept" AS (
  SELECT
    "anon_key_0"
  FROM "anon_judged"
  WHERE
    "anon_kept"
), "anon_labels_0" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_0_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 1
), "anon_labels_1" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_1_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
)
SELECT
  "anon_labels_0"."anon_code_0_1",
  "anon_labels_1"."anon_code_1_0"
FROM "anon_kept"
LEFT JOIN "anon_labels_0"
  ON (
    "anon_kept"."anon_key_0" & 7421932185906577408
  ) = "anon_labels_0"."anon_key_0"
LEFT JOIN "anon_labels_1"
  ON (
    "anon_kept"."anon_key_0" & 1729382256910270464
  ) = "anon_labels_1"."anon_key_0";

WITH "anon_moved_cells" AS (
  SELECT
    "anon_key_0" & 9151314442816847872 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_moved_cells"
), "anon_classes" AS (
  SELECT
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_moved_cells"
  GROUP BY
    "anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  MIN("anon_class_size") FILTER(WHERE
    "anon_kept") AS "attained_0"
FROM "anon_judged";

WITH "anon_moved_cells" AS (
  SELECT
    "anon_key_0" & 9151314442816847872 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_moved_cells"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_moved_cells"
  GROUP BY
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7421932185906577408 AS "anon_bits_0_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    (
      0.0e0 + CASE WHEN "anon_bits_0_1_0" <= 0 THEN 0.0e0 ELSE 0.04040404040404041e0 END
    ) / 2 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AS "anon_kept",
    "anon_class_size" AS "anon_class_weight"
  FROM "anon_classes"
)
SELECT
  0 AS node,
  COUNT(*) AS class_count,
  MIN(anon_class_size) AS min_class_size,
  COUNT(*) FILTER(WHERE
    anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS certain_suppressed_rows,
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm,
  (
    SUM(CAST("anon_class_size" AS INT128) * "anon_class_size")
  ) AS "dm_star",
  (
    SUM(
      CAST("anon_class_size" AS INT128) * CASE WHEN "anon_kept" THEN "anon_class_size" ELSE 1000 END
    )
  ) AS "dm",
  (
    CAST(SUM("anon_class_size") AS DOUBLE) / (
      COUNT(*) FILTER(WHERE
        "anon_kept") + CAST(BOOL_OR(CAST(NOT "anon_kept" AS BOOLEAN)) AS INT)
    ) / 5
  ) AS "aecs"
FROM "anon_classes_2" AS "anon_classes";

-- shared: create anon_label_type_0 1;

-- shared: create anon_label_type_1 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_0" AS (
  SELECT DISTINCT
    "anon_key_0",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 1
), "anon_labels_1" AS (
  SELECT DISTINCT
    "anon_key_0",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_labelled_rows" AS (
  SELECT
    "anon_cells"."anon_row_count",
    "anon_labels_0"."anon_label_0",
    "anon_labels_1"."anon_label_1",
    CAST(COALESCE("anon_cells"."anon_raw_0", NULL) AS TEXT) COLLATE "binary" AS "diagnosis"
  FROM "temp"."main"."anon_moved_cells" AS anon_cells
  LEFT JOIN "anon_labels_0"
    ON (
      "anon_cells"."anon_key_0" & 7421932185906577408
    ) = "anon_labels_0"."anon_key_0"
  LEFT JOIN "anon_labels_1"
    ON (
      "anon_cells"."anon_key_0" & 1729382256910270464
    ) = "anon_labels_1"."anon_key_0"
), "anon_rows" AS (
  SELECT
    "anon_label_0",
    "anon_label_1",
    "diagnosis",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "anon_labelled_rows"
  GROUP BY
    "anon_label_0",
    "anon_label_1",
    "diagnosis"
), "anon_labels_0_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_0_1",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 1
), "anon_labels_1_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_1_0",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_kept" AS (
  SELECT
    TRUE AS "anon_is_kept",
    "anon_labels_0"."anon_label_0",
    "anon_labels_1"."anon_label_1"
  FROM "temp"."main"."anon_kept" AS anon_codes
  LEFT JOIN "anon_labels_0_2" AS "anon_labels_0"
    ON "anon_labels_0"."anon_code_0_1" = "anon_codes"."anon_code_0_1"
  LEFT JOIN "anon_labels_1_2" AS "anon_labels_1"
    ON "anon_labels_1"."anon_code_1_0" = "anon_codes"."anon_code_1_0"
), "anon_published" AS (
  SELECT
    "anon_rows"."diagnosis",
    "anon_rows"."anon_row_count",
    "anon_rows"."anon_label_0" AS "anon_label_0",
    "anon_rows"."anon_label_1" AS "anon_label_1"
  FROM "anon_rows"
  JOIN "anon_kept"
    ON "anon_kept"."anon_label_0" IS NOT DISTINCT FROM "anon_rows"."anon_label_0"
    AND "anon_kept"."anon_label_1" IS NOT DISTINCT FROM "anon_rows"."anon_label_1"
)
SELECT
  "anon_label_0",
  "anon_label_1",
  "diagnosis",
  "anon_row_count"
FROM "anon_published"
ORDER BY
  (
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 21) AS BIGINT) << 58
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 3) AS BIGINT) << 56
  ) ASC,
  "diagnosis" ASC;

-- shared: create released 3;

-- shared: read anon_equal_rows 1;

-- shared: create anon_few_rows 1;

-- shared: read anon_few_rows 3;

-- shared: read anon_few_rows 4;

DROP TABLE IF EXISTS "temp"."main"."anon_few_rows";

-- shared: read visits 2;

-- shared: read anon_equal_rows 3;

-- shared: read anon_cells 4;

-- shared: read taxonomy 1;

-- shared: read released 4;

WITH "anon_values" AS (
  SELECT
    CAST(COALESCE("anon_raw_0", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    anon_row_count
  FROM "temp"."main"."anon_cells"
  UNION ALL
  SELECT
    CAST(COALESCE("diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    -1 AS anon_row_count
  FROM "memory"."main"."released"
), "anon_counts" AS (
  SELECT
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
  FROM "anon_values"
  GROUP BY
    "diagnosis"
)
SELECT
  CAST(SUM(GREATEST(anon_row_count, 0)) AS BIGINT) AS rows
FROM "anon_counts";

-- shared: read released 1;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_moved_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_moves";

DROP TABLE IF EXISTS "temp"."main"."anon_outlier_classes";

DROP TABLE IF EXISTS "temp"."main"."anon_ranked_classes";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

COMMIT;

