-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 12 rows; the SHA-256 of them is c2a0108b69b270a7ae26f85f6a163ed27fe29e41ea274ef9e478c5da029ded7c.

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

-- shared: create anon_cells 1;

-- shared: read anon_cells 1;

-- shared: read anon_cells 6;

-- shared: read anon_labels 2;

-- shared: read anon_cells 5;

CREATE TEMPORARY TABLE "anon_levels_of_classes_values" AS
SELECT
  CAST(v0 AS INT) AS "anon_class",
  CAST(v1 AS INT) AS "position",
  CAST(v2 AS INT) AS "depth",
  CAST(v3 AS BIGINT) AS "anon_key_0"
FROM (VALUES
  (1, 0, 3, 0),
  (2, 0, 1, 2449958197289549824),
  (3, 0, 1, 4611686018427387904),
  (4, 0, 1, 4755801206503243776),
  (1, 1, 0, 1152921504606846976),
  (2, 1, 1, 0),
  (3, 1, 1, 0),
  (4, 1, 0, 576460752303423488),
  (1, 2, 1, 360287970189639680),
  (2, 2, 1, 288230376151711744),
  (3, 2, 1, 324259173170675712),
  (4, 2, 1, 360287970189639680)) AS given(v0, v1, v2, v3);

-- shared: create anon_levels_of_classes 1;

DROP TABLE "anon_levels_of_classes_values";

CREATE TEMPORARY TABLE "temp"."main"."anon_labels_of_classes" AS
WITH "anon_labels" AS (
  SELECT DISTINCT
    position,
    depth,
    label,
    "anon_key_0"
  FROM "temp"."main"."anon_labels"
), "anon_listed" AS (
  SELECT
    anon_levels.anon_class,
    anon_levels.position,
    anon_levels.depth,
    anon_labels.label
  FROM "temp"."main"."anon_levels_of_classes" AS anon_levels
  INNER JOIN "anon_labels"
    ON anon_labels.position = anon_levels.position
    AND anon_labels.depth = anon_levels.depth
    AND "anon_levels"."anon_key_0" = "anon_labels"."anon_key_0"
), "anon_classes" AS (
  SELECT
    anon_class,
    MAX("label") FILTER(WHERE
      "position" = 0) AS "anon_label_0",
    MAX("label") FILTER(WHERE
      "position" = 1) AS "anon_label_1",
    MAX("label") FILTER(WHERE
      "position" = 2) AS "anon_label_2"
  FROM "anon_listed"
  GROUP BY
    anon_class
)
SELECT
  *
FROM "anon_classes"
UNION ALL
SELECT
  0 AS anon_class,
  '*' AS "anon_label_0",
  '*' AS "anon_label_1",
  '*' AS "anon_label_2";

CREATE TEMPORARY TABLE "anon_class_of_key_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "anon_key_0",
  CAST(v1 AS BIGINT) AS "anon_class"
FROM (VALUES
  (1514335374703329280, 1),
  (2747195772696002560, 2),
  (3323656524999426048, 2),
  (3328441599603507200, 2),
  (3909687426511011840, 2),
  (5519442818319253504, 3),
  (5528731492550705152, 3),
  (5704371878018154496, 4),
  (5711408752435920896, 4),
  (6091118496018595840, 3),
  (6140658091919671296, 1),
  (6273795755903811584, 1)) AS given(v0, v1);

-- shared: create anon_class_of_key 1;

DROP TABLE "anon_class_of_key_values";

CREATE TEMPORARY TABLE "temp"."main"."anon_kept" AS
WITH "anon_cells" AS (
  SELECT
    "anon_keyed"."anon_sensitive_0",
    "anon_keyed"."anon_row_count",
    "anon_of_key"."anon_class"
  FROM "temp"."main"."anon_cells" AS anon_keyed
  JOIN "temp"."main"."anon_class_of_key" AS anon_of_key
    ON "anon_of_key"."anon_key_0" = "anon_keyed"."anon_key_0"
), "anon_values" AS (
  SELECT
    "anon_class",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_class",
    "anon_sensitive_0"
), "anon_classes" AS (
  SELECT
    "anon_class",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_class"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 2 AND "anon_measure_0" >= 2 AS "anon_kept"
  FROM "anon_classes"
), "anon_kept" AS (
  SELECT
    "anon_class"
  FROM "anon_judged"
  WHERE
    "anon_kept"
)
SELECT
  "anon_kept"."anon_class"
FROM "anon_kept";

-- shared: read anon_labels_of_classes 1;

WITH "anon_cells" AS (
  SELECT
    "anon_keyed"."anon_sensitive_0",
    "anon_keyed"."anon_row_count",
    "anon_of_key"."anon_class"
  FROM "temp"."main"."anon_cells" AS anon_keyed
  JOIN "temp"."main"."anon_class_of_key" AS anon_of_key
    ON "anon_of_key"."anon_key_0" = "anon_keyed"."anon_key_0"
), "anon_values" AS (
  SELECT
    "anon_class",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_class",
    "anon_sensitive_0"
), "anon_classes" AS (
  SELECT
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_class"
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

-- shared: create anon_label_type_0 3;

-- shared: create anon_label_type_1 3;

-- shared: create anon_label_type_2 3;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labelled_rows" AS (
  SELECT
    "anon_cells"."anon_row_count",
    "anon_of_key"."anon_class",
    CAST(COALESCE("anon_cells"."anon_raw_0", NULL) AS TEXT) COLLATE "binary" AS "diagnosis"
  FROM "temp"."main"."anon_cells" AS anon_cells
  JOIN "temp"."main"."anon_class_of_key" AS anon_of_key
    ON "anon_of_key"."anon_key_0" = "anon_cells"."anon_key_0"
), "anon_rows" AS (
  SELECT
    "anon_class",
    "diagnosis",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "anon_labelled_rows"
  GROUP BY
    "anon_class",
    "diagnosis"
), "anon_kept" AS (
  SELECT
    TRUE AS "anon_is_kept",
    "anon_codes"."anon_class",
    CAST("anon_of_class"."anon_label_0" AS anon_label_type_0) AS "anon_label_0",
    CAST("anon_of_class"."anon_label_1" AS anon_label_type_1) AS "anon_label_1",
    CAST("anon_of_class"."anon_label_2" AS anon_label_type_2) AS "anon_label_2"
  FROM "temp"."main"."anon_kept" AS anon_codes
  LEFT JOIN "temp"."main"."anon_labels_of_classes" AS anon_of_class
    ON "anon_of_class"."anon_class" = "anon_codes"."anon_class"
), "anon_published" AS (
  SELECT
    "anon_rows"."diagnosis",
    "anon_rows"."anon_row_count",
    "anon_kept"."anon_label_0" AS "anon_label_0",
    "anon_kept"."anon_label_1" AS "anon_label_1",
    "anon_kept"."anon_label_2" AS "anon_label_2"
  FROM "anon_rows"
  JOIN "anon_kept"
    ON "anon_kept"."anon_class" IS NOT DISTINCT FROM "anon_rows"."anon_class"
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
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 71) AS BIGINT) << 56
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 4) AS BIGINT) << 53
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_2"), 17) AS BIGINT) << 48
  ) ASC,
  "diagnosis" ASC;

-- shared: create released 2;

-- shared: read anon_equal_rows 1;

-- shared: read anon_equal_rows 2;

-- shared: read visits 1;

-- shared: read anon_cells 4;

-- shared: read taxonomy 1;

-- shared: read released 2;

-- shared: read released 3;

CREATE TEMPORARY TABLE "anon_listed_classes_values" AS
SELECT
  CAST(v0 AS TEXT) AS "age",
  CAST(v1 AS TEXT) AS "sex",
  CAST(v2 AS TEXT) AS "zip",
  CAST(v3 AS BIGINT) AS "anon_rows"
FROM (VALUES
  ('*', 'm', '120**', 3),
  ('[30, 40)', '*', '101**', 4),
  ('[40, 50)', '*', '104**', 3),
  ('[50, 60)', 'f', '120**', 2)) AS given(v0, v1, v2, v3);

-- shared: create anon_listed_classes 1;

DROP TABLE "anon_listed_classes_values";

WITH "anon_found" AS (
  SELECT
    CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary" AS "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "sex",
    CAST(COALESCE("zip", NULL) AS TEXT) COLLATE "binary" AS "zip"
  FROM "memory"."main"."released"
), "anon_found_2" AS (
  SELECT
    "age",
    "sex",
    "zip",
    CAST(COUNT(*) AS BIGINT) AS anon_rows
  FROM "anon_found"
  GROUP BY
    "age",
    "sex",
    "zip"
)
SELECT
  COUNT(*) FILTER(WHERE
    anon_listed.anon_rows IS NULL) AS unlisted,
  COALESCE(
    CAST(SUM(anon_found.anon_rows) FILTER(WHERE
      anon_listed.anon_rows IS NULL) AS BIGINT),
    0
  ) AS unlisted_rows,
  COUNT(*) FILTER(WHERE
    NOT anon_listed.anon_rows IS NULL
    AND anon_found.anon_rows IS DISTINCT FROM anon_listed.anon_rows) AS differing
FROM "anon_found_2" AS anon_found
FULL JOIN "temp"."main"."anon_listed_classes" AS anon_listed
  ON "anon_found"."age" IS NOT DISTINCT FROM "anon_listed"."age"
  AND "anon_found"."sex" IS NOT DISTINCT FROM "anon_listed"."sex"
  AND "anon_found"."zip" IS NOT DISTINCT FROM "anon_listed"."zip";

DROP TABLE IF EXISTS "temp"."main"."anon_listed_classes";

-- shared: read released 1;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_2";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_class_of_key";

DROP TABLE IF EXISTS "temp"."main"."anon_labels_of_classes";

DROP TABLE IF EXISTS "temp"."main"."anon_levels_of_classes";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

COMMIT;

