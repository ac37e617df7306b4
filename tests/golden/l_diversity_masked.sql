-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 12 rows; the SHA-256 of them is 6b13a631a68015d696429e2b7ceba352c3b56bc481626f2b07d2beb4a605d90f.

-- shared: read taxonomy 1;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 3;

-- shared: read taxonomy 4;

-- shared: read taxonomy 5;

BEGIN;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 3;

-- shared: create anon_coded_labels 1;

-- shared: read anon_coded_labels 1;

-- shared: create anon_labels 2;

DROP TABLE IF EXISTS "temp"."main"."anon_coded_labels";

-- shared: read anon_labels 1;

-- shared: create anon_cells 1;

-- shared: read anon_cells 1;

-- shared: read anon_cells 6;

-- shared: read anon_cells 3;

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 7313845794849685504 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_values" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 6917529027641081856 AS "anon_bits_0_2_0",
    "anon_key_0" & 396316767208603648 AS "anon_bits_2_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    (
      1.0e0 + CASE WHEN "anon_bits_0_2_0" <= 0 THEN 0.0e0 ELSE 0.3220338983050847e0 END + CASE
        WHEN "anon_bits_2_1_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_2_1_0" <= 324259173170675712
        THEN 0.2e0
        ELSE 0.4e0
      END
    ) / 3 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 2 AND "anon_measure_0" >= 2 AS "anon_kept",
    "anon_class_size" AS "anon_class_weight"
  FROM "anon_classes"
)
SELECT
  0 AS node,
  COUNT(*) AS class_count,
  COUNT(*) FILTER(WHERE
    anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS certain_suppressed_rows,
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm
FROM "anon_classes_2" AS "anon_classes";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 7457960982925541376 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_values" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7061644215716937728 AS "anon_bits_0_1_0",
    "anon_key_0" & 396316767208603648 AS "anon_bits_2_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    (
      1.0e0 + CASE WHEN "anon_bits_0_1_0" <= 0 THEN 0.0e0 ELSE 0.15254237288135594e0 END + CASE
        WHEN "anon_bits_2_1_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_2_1_0" <= 324259173170675712
        THEN 0.2e0
        ELSE 0.4e0
      END
    ) / 3 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 2 AND "anon_measure_0" >= 2 AS "anon_kept",
    "anon_class_size" AS "anon_class_weight"
  FROM "anon_classes"
)
SELECT
  0 AS node,
  COUNT(*) AS class_count,
  COUNT(*) FILTER(WHERE
    anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS certain_suppressed_rows,
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm
FROM "anon_classes_2" AS "anon_classes";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 7457960982925541376 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_values" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7061644215716937728 AS "anon_bits_0_1_0",
    "anon_key_0" & 396316767208603648 AS "anon_bits_2_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    (
      1.0e0 + CASE WHEN "anon_bits_0_1_0" <= 0 THEN 0.0e0 ELSE 0.15254237288135594e0 END + CASE
        WHEN "anon_bits_2_1_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_2_1_0" <= 324259173170675712
        THEN 0.2e0
        ELSE 0.4e0
      END
    ) / 3 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 2 AND "anon_measure_0" >= 2 AS "anon_kept",
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
      CAST("anon_class_size" AS INT128) * CASE WHEN "anon_kept" THEN "anon_class_size" ELSE 12 END
    )
  ) AS "dm",
  (
    CAST(SUM("anon_class_size") AS DOUBLE) / (
      COUNT(*) FILTER(WHERE
        "anon_kept") + CAST(BOOL_OR(CAST(NOT "anon_kept" AS BOOLEAN)) AS INT)
    ) / 2
  ) AS "aecs"
FROM "anon_classes_2" AS "anon_classes";

CREATE TEMPORARY TABLE "temp"."main"."anon_kept" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 7457960982925541376 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_values" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_classes" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 2 AND "anon_measure_0" >= 2 AS "anon_kept"
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
), "anon_labels_2" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_2_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 1
)
SELECT
  "anon_labels_0"."anon_code_0_1",
  "anon_labels_2"."anon_code_2_1"
FROM "anon_kept"
LEFT JOIN "anon_labels_0"
  ON (
    "anon_kept"."anon_key_0" & 7061644215716937728
  ) = "anon_labels_0"."anon_key_0"
LEFT JOIN "anon_labels_2"
  ON (
    "anon_kept"."anon_key_0" & 396316767208603648
  ) = "anon_labels_2"."anon_key_0";

WITH "anon_labels_0" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_0_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 1
), "anon_labels_2" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_2_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 1
), "anon_cells" AS (
  SELECT
    "anon_keyed"."anon_sensitive_0",
    "anon_keyed"."anon_row_count",
    "anon_labels_0"."anon_code_0_1",
    "anon_labels_2"."anon_code_2_1"
  FROM "temp"."main"."anon_cells" AS anon_keyed
  LEFT JOIN "anon_labels_0"
    ON (
      "anon_keyed"."anon_key_0" & 7061644215716937728
    ) = "anon_labels_0"."anon_key_0"
  LEFT JOIN "anon_labels_2"
    ON (
      "anon_keyed"."anon_key_0" & 396316767208603648
    ) = "anon_labels_2"."anon_key_0"
), "anon_suppressed" AS (
  SELECT
    "anon_cells".*
  FROM "anon_cells"
  ANTI JOIN "temp"."main"."anon_kept" AS anon_kept
    ON "anon_cells"."anon_code_0_1" = "anon_kept"."anon_code_0_1"
    AND "anon_cells"."anon_code_2_1" = "anon_kept"."anon_code_2_1"
), "anon_values" AS (
  SELECT
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_suppressed"
  GROUP BY
    "anon_sensitive_0"
), "anon_class" AS (
  SELECT
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
)
SELECT
  "anon_class_size" AS "row_count",
  "anon_class_size" AS "attained_0",
  "anon_measure_0" AS "attained_1"
FROM "anon_class";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 7457960982925541376 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_values" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_classes" AS (
  SELECT
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 2 AND "anon_measure_0" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  MIN("anon_class_size") FILTER(WHERE
    "anon_kept") AS "attained_0",
  MIN("anon_measure_0") FILTER(WHERE
    "anon_kept") AS "attained_1"
FROM "anon_judged";

-- shared: create anon_label_type_0 1;

-- shared: create anon_label_type_1 2;

-- shared: create anon_label_type_2 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_0" AS (
  SELECT DISTINCT
    "anon_key_0",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 1
), "anon_labels_2" AS (
  SELECT DISTINCT
    "anon_key_0",
    CAST("label" AS anon_label_type_2) AS "anon_label_2"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 1
), "anon_labelled_rows" AS (
  SELECT
    "anon_cells"."anon_row_count",
    "anon_labels_0"."anon_label_0",
    "anon_labels_2"."anon_label_2",
    CAST(COALESCE("anon_cells"."anon_raw_0", NULL) AS TEXT) COLLATE "binary" AS "diagnosis"
  FROM "temp"."main"."anon_cells" AS anon_cells
  LEFT JOIN "anon_labels_0"
    ON (
      "anon_cells"."anon_key_0" & 7061644215716937728
    ) = "anon_labels_0"."anon_key_0"
  LEFT JOIN "anon_labels_2"
    ON (
      "anon_cells"."anon_key_0" & 396316767208603648
    ) = "anon_labels_2"."anon_key_0"
), "anon_rows" AS (
  SELECT
    "anon_label_0",
    "anon_label_2",
    "diagnosis",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "anon_labelled_rows"
  GROUP BY
    "anon_label_0",
    "anon_label_2",
    "diagnosis"
), "anon_labels_0_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_0_1",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 1
), "anon_labels_2_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_2_1",
    CAST("label" AS anon_label_type_2) AS "anon_label_2"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 1
), "anon_kept" AS (
  SELECT
    TRUE AS "anon_is_kept",
    "anon_labels_0"."anon_label_0",
    "anon_labels_2"."anon_label_2"
  FROM "temp"."main"."anon_kept" AS anon_codes
  LEFT JOIN "anon_labels_0_2" AS "anon_labels_0"
    ON "anon_labels_0"."anon_code_0_1" = "anon_codes"."anon_code_0_1"
  LEFT JOIN "anon_labels_2_2" AS "anon_labels_2"
    ON "anon_labels_2"."anon_code_2_1" = "anon_codes"."anon_code_2_1"
), "anon_labels_1" AS (
  SELECT DISTINCT
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 1
), "anon_published" AS (
  SELECT
    "anon_rows"."diagnosis",
    "anon_rows"."anon_row_count",
    CASE
      WHEN "anon_kept"."anon_is_kept"
      THEN "anon_rows"."anon_label_0"
      ELSE CAST('*' AS anon_label_type_0)
    END AS "anon_label_0",
    CASE
      WHEN "anon_kept"."anon_is_kept"
      THEN "anon_labels_1"."anon_label_1"
      ELSE CAST('*' AS anon_label_type_1)
    END AS "anon_label_1",
    CASE
      WHEN "anon_kept"."anon_is_kept"
      THEN "anon_rows"."anon_label_2"
      ELSE CAST('*' AS anon_label_type_2)
    END AS "anon_label_2"
  FROM "anon_rows"
  LEFT JOIN "anon_kept"
    ON "anon_kept"."anon_label_0" IS NOT DISTINCT FROM "anon_rows"."anon_label_0"
    AND "anon_kept"."anon_label_2" IS NOT DISTINCT FROM "anon_rows"."anon_label_2"
  LEFT JOIN "anon_labels_1"
    ON TRUE
)
SELECT
  "anon_label_0",
  "anon_label_1",
  "anon_label_2",
  "diagnosis",
  "anon_row_count"
FROM "anon_published"
ORDER BY
  (
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 7) AS BIGINT) << 60
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 2) AS BIGINT) << 58
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_2"), 4) AS BIGINT) << 55
  ) ASC,
  "diagnosis" ASC;

-- shared: create released 2;

-- shared: read anon_equal_rows 1;

-- shared: read anon_equal_rows 2;

CREATE TEMPORARY TABLE "temp"."main"."anon_few_rows" AS
WITH "anon_rows" AS (
  SELECT
    CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary" AS "anon_value_0",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "anon_value_1",
    CAST(COALESCE("zip", NULL) AS TEXT) COLLATE "binary" AS "anon_value_2",
    "diagnosis" AS "anon_kept_0"
  FROM "memory"."main"."visits"
  LIMIT 5000
), "anon_labels_of_anon_finer_0" AS (
  SELECT
    "value",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 0
), "anon_labels_of_anon_finer_1" AS (
  SELECT
    "value",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_labels_of_anon_finer_2" AS (
  SELECT
    "value",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 0
)
SELECT
  "anon_rows"."anon_value_0",
  "anon_rows"."anon_value_1",
  "anon_rows"."anon_value_2",
  "anon_rows"."anon_kept_0",
  "anon_labels_of_anon_finer_0"."label" AS "anon_finer_0",
  "anon_labels_of_anon_finer_1"."label" AS "anon_finer_1",
  "anon_labels_of_anon_finer_2"."label" AS "anon_finer_2"
FROM "anon_rows"
LEFT JOIN "anon_labels_of_anon_finer_0"
  ON "anon_labels_of_anon_finer_0"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_0"
LEFT JOIN "anon_labels_of_anon_finer_1"
  ON "anon_labels_of_anon_finer_1"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_1"
LEFT JOIN "anon_labels_of_anon_finer_2"
  ON "anon_labels_of_anon_finer_2"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_2";

WITH "anon_groups" AS (
  SELECT
    (
      MIN("anon_kept_0") IS NOT DISTINCT FROM MAX("anon_kept_0")
      AND COUNT("anon_kept_0") IN (0, COUNT(*))
    ) AS "anon_0"
  FROM "temp"."main"."anon_few_rows"
  GROUP BY
    "anon_value_0"
), "anon_groups_2" AS (
  SELECT
    (
      MIN("anon_kept_0") IS NOT DISTINCT FROM MAX("anon_kept_0")
      AND COUNT("anon_kept_0") IN (0, COUNT(*))
    ) AS "anon_0"
  FROM "temp"."main"."anon_few_rows"
  GROUP BY
    "anon_value_1"
), "anon_groups_3" AS (
  SELECT
    (
      MIN("anon_kept_0") IS NOT DISTINCT FROM MAX("anon_kept_0")
      AND COUNT("anon_kept_0") IN (0, COUNT(*))
    ) AS "anon_0"
  FROM "temp"."main"."anon_few_rows"
  GROUP BY
    "anon_value_2"
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0"
FROM "anon_groups"
UNION ALL
SELECT
  1 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0"
FROM "anon_groups_2" AS anon_groups
UNION ALL
SELECT
  2 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0"
FROM "anon_groups_3" AS anon_groups;

WITH "anon_groups" AS (
  SELECT
    (
      MIN("anon_finer_0") IS NOT DISTINCT FROM MAX("anon_finer_0")
      AND COUNT("anon_finer_0") IN (0, COUNT(*))
    ) AS "anon_0",
    (
      MIN("anon_finer_1") IS NOT DISTINCT FROM MAX("anon_finer_1")
      AND COUNT("anon_finer_1") IN (0, COUNT(*))
    ) AS "anon_1",
    (
      MIN("anon_finer_2") IS NOT DISTINCT FROM MAX("anon_finer_2")
      AND COUNT("anon_finer_2") IN (0, COUNT(*))
    ) AS "anon_2"
  FROM "temp"."main"."anon_few_rows"
  GROUP BY
    "anon_kept_0"
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0",
  COALESCE(BOOL_AND(CAST("anon_1" AS BOOLEAN)), TRUE) AS "holds_1",
  COALESCE(BOOL_AND(CAST("anon_2" AS BOOLEAN)), TRUE) AS "holds_2"
FROM "anon_groups";

DROP TABLE IF EXISTS "temp"."main"."anon_few_rows";

-- shared: read visits 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_judged_cells" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 7457960982925541376 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_values" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_classes" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 2 AND "anon_measure_0" >= 2 AS "anon_kept"
  FROM "anon_classes"
), "anon_kept" AS (
  SELECT
    "anon_key_0",
    TRUE AS "anon_is_kept"
  FROM "anon_judged"
  WHERE
    "anon_kept"
)
SELECT
  "anon_cells"."anon_key_0",
  "anon_cells"."anon_row_count",
  CASE WHEN "anon_kept"."anon_is_kept" THEN 0 ELSE "anon_cells"."anon_row_count" END AS "anon_suppressed_rows"
FROM "temp"."main"."anon_cells" AS "anon_cells"
LEFT JOIN "anon_kept"
  ON (
    "anon_cells"."anon_key_0" & 7457960982925541376
  ) = "anon_kept"."anon_key_0";

-- shared: read anon_judged_cells 1;

DROP TABLE IF EXISTS "temp"."main"."anon_judged_cells";

-- shared: read anon_cells 4;

-- shared: read anon_labels 2;

-- shared: read anon_cells 5;

-- shared: read taxonomy 1;

-- shared: read released 2;

-- shared: read released 3;

-- shared: read released 1;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_2";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

COMMIT;

