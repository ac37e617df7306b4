-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 843 rows; the SHA-256 of them is 17ab2722275aa11de664746024e80d32c5efebe94f56296d21fde4103f9d3894.

-- shared: read taxonomy 1;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 7;

-- shared: read taxonomy 8;

-- shared: read taxonomy 9;

-- shared: read releases 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_labels_of_other_0" AS
SELECT
  "anon_label_0",
  "anon_label_1",
  COUNT(*) AS anon_released_rows
FROM (
  SELECT
    TRUE AS anon_is_released,
    CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary" AS "anon_label_0",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "anon_label_1"
  FROM "memory"."main"."earlier_release" AS anon_released
)
GROUP BY
  "anon_label_0",
  "anon_label_1"
HAVING
  COUNT(*) > 0;

BEGIN;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 7;

-- shared: create anon_coded_labels 2;

-- shared: read anon_coded_labels 1;

-- shared: create anon_labels 3;

DROP TABLE IF EXISTS "temp"."main"."anon_coded_labels";

-- shared: read anon_labels 1;

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
  AND "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."sex", NULL) AS TEXT) COLLATE "binary"
ORDER BY
  "anon_key_0" ASC;

-- shared: read anon_cells 1;

-- shared: read anon_cells 7;

SELECT
  "anon_key_0",
  LEAST("anon_row_count", 50) AS "anon_row_count"
FROM "temp"."main"."anon_cells";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8646911284551352320 AS "anon_key_0",
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
    "anon_key_0" & 6917529027641081856 AS "anon_bits_0_4_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    (
      0.0e0 + CASE
        WHEN "anon_bits_0_4_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_0_4_0" <= 2305843009213693952
        THEN 0.1919191919191919e0
        ELSE 0.3939393939393939e0
      END
    ) / 2 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 50 AS "anon_kept",
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
    "anon_key_0" & 8935141660703064064 AS "anon_key_0",
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
    "anon_key_0" & 7205759403792793600 AS "anon_bits_0_3_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    (
      0.0e0 + CASE WHEN "anon_bits_0_3_0" <= 0 THEN 0.0e0 ELSE 0.1919191919191919e0 END
    ) / 2 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 50 AS "anon_kept",
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
    "anon_key_0" & 7349874591868649472 AS "anon_key_0",
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
    "anon_key_0" & 7349874591868649472 AS "anon_bits_0_2_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    (
      1.0e0 + CASE WHEN "anon_bits_0_2_0" <= 0 THEN 0.0e0 ELSE 0.09090909090909091e0 END
    ) / 2 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 50 AS "anon_kept",
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
    ) / 50
  ) AS "aecs"
FROM "anon_classes_2" AS "anon_classes";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8935141660703064064 AS "anon_key_0",
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
    "anon_key_0" & 7205759403792793600 AS "anon_bits_0_3_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    (
      0.0e0 + CASE WHEN "anon_bits_0_3_0" <= 0 THEN 0.0e0 ELSE 0.1919191919191919e0 END
    ) / 2 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 50 AS "anon_kept",
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
    ) / 50
  ) AS "aecs"
FROM "anon_classes_2" AS "anon_classes";

CREATE TEMPORARY TABLE "temp"."main"."anon_kept" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8935141660703064064 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_classes" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 50 AS "anon_kept"
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
)
SELECT
  "anon_labels_0"."anon_code_0_3",
  "anon_labels_1"."anon_code_1_0"
FROM "anon_kept"
LEFT JOIN "anon_labels_0"
  ON (
    "anon_kept"."anon_key_0" & 7205759403792793600
  ) = "anon_labels_0"."anon_key_0"
LEFT JOIN "anon_labels_1"
  ON (
    "anon_kept"."anon_key_0" & 1729382256910270464
  ) = "anon_labels_1"."anon_key_0";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8935141660703064064 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_classes" AS (
  SELECT
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 50 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  MIN("anon_class_size") FILTER(WHERE
    "anon_kept") AS "attained_0"
FROM "anon_judged";

-- shared: create anon_label_type_0 2;

-- shared: create anon_label_type_1 1;

-- shared: read anon_kept 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_0" AS (
  SELECT
    "value",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 3
), "anon_labels_1" AS (
  SELECT
    "value",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_labelled_rows" AS (
  SELECT
    "anon_labels_0"."anon_label_0",
    "anon_labels_1"."anon_label_1",
    CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    1 AS "anon_row_count"
  FROM "memory"."main"."visits" AS anon_source
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."age", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "anon_labels_1"
    ON "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."sex", NULL) AS TEXT) COLLATE "binary"
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
    "code" AS "anon_code_0_3",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 3
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
    ON "anon_labels_0"."anon_code_0_3" = "anon_codes"."anon_code_0_3"
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
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 6) AS BIGINT) << 60
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 3) AS BIGINT) << 58
  ) ASC,
  "diagnosis" ASC;

-- shared: create released 3;

-- shared: read anon_equal_rows 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_few_rows" AS
WITH "anon_rows" AS (
  SELECT
    CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary" AS "anon_value_0",
    "diagnosis" AS "anon_kept_0"
  FROM "memory"."main"."visits"
  LIMIT 5000
), "anon_labels_of_anon_finer_0" AS (
  SELECT
    "value",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 2
)
SELECT
  "anon_rows"."anon_value_0",
  "anon_rows"."anon_kept_0",
  "anon_labels_of_anon_finer_0"."label" AS "anon_finer_0"
FROM "anon_rows"
LEFT JOIN "anon_labels_of_anon_finer_0"
  ON "anon_labels_of_anon_finer_0"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_0";

-- shared: read anon_few_rows 3;

-- shared: read anon_few_rows 4;

DROP TABLE IF EXISTS "temp"."main"."anon_few_rows";

-- shared: read anon_equal_rows 3;

CREATE TEMPORARY TABLE "temp"."main"."anon_judged_cells" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8935141660703064064 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_classes" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 50 AS "anon_kept"
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
    "anon_cells"."anon_key_0" & 8935141660703064064
  ) = "anon_kept"."anon_key_0";

-- shared: read anon_judged_cells 2;

DROP TABLE IF EXISTS "temp"."main"."anon_judged_cells";

-- shared: read anon_cells 4;

-- shared: read anon_labels 2;

-- shared: read anon_cells 11;

-- shared: read taxonomy 1;

-- shared: read released 4;

CREATE TEMPORARY TABLE "temp"."main"."anon_released_classes_1" AS
WITH "anon_counted" AS (
  SELECT
    "anon_label_0",
    "anon_label_1",
    COUNT(*) AS anon_released_rows
  FROM (
    SELECT
      TRUE AS anon_is_released,
      CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary" AS "anon_label_0",
      CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "anon_label_1"
    FROM "memory"."main"."released" AS anon_released
  )
  GROUP BY
    "anon_label_0",
    "anon_label_1"
  HAVING
    COUNT(*) > 0
), "anon_labels_0" AS (
  SELECT DISTINCT
    "anon_key_0",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 3
), "anon_labels_1" AS (
  SELECT DISTINCT
    "anon_key_0",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_labelled" AS (
  SELECT
    "anon_counted"."anon_label_0",
    "anon_counted"."anon_label_1",
    "anon_counted"."anon_released_rows",
    "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" AS "anon_key_0"
  FROM "anon_counted"
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."label" IS NOT DISTINCT FROM "anon_counted"."anon_label_0"
  LEFT JOIN "anon_labels_1"
    ON "anon_labels_1"."label" IS NOT DISTINCT FROM "anon_counted"."anon_label_1"
)
SELECT
  *,
  CAST(ROW_NUMBER() OVER (ORDER BY "anon_key_0" ASC NULLS FIRST) AS UINTEGER) AS "anon_class_1"
FROM "anon_labelled";

CREATE TEMPORARY TABLE "temp"."main"."anon_released_classes_0" AS
WITH "anon_counted" AS (
  SELECT
    *
  FROM "temp"."main"."anon_labels_of_other_0"
), "anon_labels_0" AS (
  SELECT DISTINCT
    "anon_key_0",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 1
), "anon_labels_1" AS (
  SELECT DISTINCT
    "anon_key_0",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_labelled" AS (
  SELECT
    "anon_counted"."anon_label_0",
    "anon_counted"."anon_label_1",
    "anon_counted"."anon_released_rows",
    "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" AS "anon_key_0"
  FROM "anon_counted"
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."label" IS NOT DISTINCT FROM "anon_counted"."anon_label_0"
  LEFT JOIN "anon_labels_1"
    ON "anon_labels_1"."label" IS NOT DISTINCT FROM "anon_counted"."anon_label_1"
)
SELECT
  *,
  CAST(ROW_NUMBER() OVER (ORDER BY "anon_key_0" ASC NULLS FIRST) AS UINTEGER) AS "anon_class_0"
FROM "anon_labelled";

CREATE TEMPORARY TABLE "temp"."main"."anon_persons_of_2" AS
WITH "anon_classes_of_cells" AS (
  SELECT
    "anon_cells"."anon_row_count",
    COALESCE("anon_released_classes_0"."anon_class_0", 0) AS "anon_class_0",
    COALESCE("anon_released_classes_1"."anon_class_1", 0) AS "anon_class_1"
  FROM "temp"."main"."anon_cells" AS anon_cells
  LEFT JOIN "temp"."main"."anon_released_classes_0" AS anon_released_classes_0
    ON (
      "anon_cells"."anon_key_0" & 9151314442816847872
    ) = "anon_released_classes_0"."anon_key_0"
  LEFT JOIN "temp"."main"."anon_released_classes_1" AS anon_released_classes_1
    ON (
      "anon_cells"."anon_key_0" & 8935141660703064064
    ) = "anon_released_classes_1"."anon_key_0"
)
SELECT
  "anon_class_0",
  "anon_class_1",
  CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
FROM "anon_classes_of_cells"
GROUP BY
  "anon_class_0",
  "anon_class_1";

CREATE TEMPORARY TABLE "temp"."main"."anon_shown_groups" AS
SELECT
  "anon_class_0",
  CAST(SUM(anon_rows) AS BIGINT) AS anon_class_size,
  "anon_class_0" > 0 AND SUM(anon_rows) >= 1 AS anon_kept
FROM "temp"."main"."anon_persons_of_2" AS anon_persons
GROUP BY
  "anon_class_0";

-- shared: read anon_shown_groups 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_joint_classes" AS
SELECT
  "anon_class_0",
  "anon_class_1",
  CAST(ROW_NUMBER() OVER (
    ORDER BY ["anon_class_0" > 0, "anon_class_1" > 0] ASC, "anon_class_0" ASC, "anon_class_1" ASC
  ) AS UINTEGER) AS anon_earlier,
  CAST(SUM(anon_rows) AS BIGINT) AS anon_persons
FROM "temp"."main"."anon_persons_of_2" AS anon_persons
GROUP BY
  "anon_class_0",
  "anon_class_1"
HAVING
  LIST_MAX(["anon_class_0", "anon_class_1"]) > 0;

-- shared: read anon_joint_classes 1;

SELECT
  CAST(COALESCE(SUM(anon_persons) FILTER(WHERE
    anon_persons < 5), 0) AS BIGINT) AS persons_at_risk
FROM "temp"."main"."anon_joint_classes" AS anon_joint;

DROP TABLE IF EXISTS "temp"."main"."anon_joint_classes";

DROP TABLE IF EXISTS "temp"."main"."anon_shown_groups";

DROP TABLE IF EXISTS "temp"."main"."anon_persons_of_2";

DROP TABLE IF EXISTS "temp"."main"."anon_released_classes_0";

DROP TABLE IF EXISTS "temp"."main"."anon_released_classes_1";

-- shared: read released 1;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

COMMIT;

DROP TABLE IF EXISTS "temp"."main"."anon_labels_of_other_0";

