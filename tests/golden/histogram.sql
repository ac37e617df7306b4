-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 1024 rows; the SHA-256 of them is ae0e8f0880bb84b432f997a0dba56bc9b569d9fef6e96a9929b8e9bbff16accc.

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

CREATE TEMPORARY TABLE "temp"."main"."anon_combinations" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 7205759403792793600 AS "anon_key_0",
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
    "code" AS "anon_code_0_3"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 3
), "anon_unplaced" AS (
  SELECT
    "anon_keyed"."anon_sensitive_0",
    "anon_keyed"."anon_raw_0",
    "anon_keyed"."anon_row_count",
    "anon_labels_0"."anon_code_0_3"
  FROM "anon_keyed"
  LEFT JOIN "anon_labels_0"
    ON (
      "anon_keyed"."anon_key_0" & 7205759403792793600
    ) = "anon_labels_0"."anon_key_0"
)
SELECT
  *,
  ROW_NUMBER() OVER (ORDER BY "anon_code_0_3" ASC, "anon_sensitive_0" ASC) - 1 AS anon_place
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
  (0, 74, 1)) AS given(v0, v1, v2);

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
  anon_noisy_rows >= 5 AS anon_is_shown
FROM "anon_noisy";

-- shared: create anon_label_type_0 2;

-- shared: create anon_label_type_1 2;

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
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 1
), "anon_published" AS (
  SELECT
    "anon_labels_0"."anon_label_0",
    "anon_labels_1"."anon_label_1",
    CAST(COALESCE("anon_cells"."anon_raw_0", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    "anon_cells"."anon_noisy_rows" AS "anon_row_count"
  FROM "temp"."main"."anon_noisy_combinations" AS anon_cells
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."anon_code_0_3" = "anon_cells"."anon_code_0_3"
  LEFT JOIN "anon_labels_1"
    ON TRUE
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
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 6) AS BIGINT) << 60
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 2) AS BIGINT) << 58
  ) ASC,
  "diagnosis" ASC;

-- shared: read anon_equal_rows 4;

-- shared: create released 3;

-- shared: read anon_equal_rows 5;

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

