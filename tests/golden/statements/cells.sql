-- Statements of runs of tests/golden/people.py, each with its policy and what it returns or makes there,
-- written by `python -m tests.golden`: review it as a diff.

-- Cells of people who have weights
-- Run individuals: Policy(method=FullDomain(suppression_limit=0.5), privacy=[KAnonymity(k=2)], row_weight="nights",
-- individual="patient")
CREATE TEMPORARY TABLE "temp"."main"."anon_cells" AS
WITH "anon_rows" AS (
  SELECT
    "age" AS "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "sex",
    "patient" AS "patient",
    COUNT(*) AS "anon_row_count",
    CASE
      WHEN BOOL_AND(
        CAST(COALESCE(
          "nights" > 0
          AND CAST(COALESCE("nights", NULL) AS DOUBLE) < CAST('infinity' AS DOUBLE),
          FALSE
        ) AS BOOLEAN)
      )
      THEN SUM(CAST(COALESCE("nights", NULL) AS DOUBLE))
    END AS "anon_weight"
  FROM "memory"."main"."people"
  GROUP BY "age", CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary", "patient"
)
SELECT
  "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" AS "anon_key_0",
  "anon_labels_0"."code" IS NULL OR "anon_labels_1"."code" IS NULL AS "anon_is_unmapped",
  "anon_rows"."patient" AS "anon_individual", "anon_rows"."anon_weight", "anon_rows"."anon_row_count"
FROM "anon_rows"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_0
  ON "anon_labels_0"."position" = 0
  AND "anon_labels_0"."depth" = 0
  AND "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."age", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_1
  ON "anon_labels_1"."position" = 1
  AND "anon_labels_1"."depth" = 0
  AND "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."sex", NULL) AS TEXT) COLLATE "binary"
ORDER BY "anon_key_0" ASC;
--   -> anon_key_0, anon_is_unmapped, anon_individual, anon_weight, anon_row_count
--   2882303761517117440, False, 1, 2, 1
--   3170534137668829184, False, 1, 1, 1
--   3170534137668829184, False, 2, 3, 1
--   3746994889972252672, False, 2, 1, 1
--   5764607523034234880, False, 3, 2, 1
--   and 2 more: 22002b597d85

-- Cells of people who count by a bounded number of rows
-- Run ipa of individuals: Policy(method=IPA(budget=Budget(epsilon=9, delta=1/10)), individual="patient")
CREATE TEMPORARY TABLE "temp"."main"."anon_cells" AS
WITH "anon_placed" AS (
  SELECT
    *,
    ROW_NUMBER() OVER (
      PARTITION BY CAST(COALESCE("patient", NULL) AS TEXT) COLLATE "binary"
      ORDER BY MD5(
        CONCAT(
          '1 ',
          STRLEN(CAST(COALESCE("id", NULL) AS TEXT)),
          ':',
          CAST(COALESCE("id", NULL) AS TEXT),
          STRLEN(CAST(COALESCE("age", NULL) AS TEXT)),
          ':',
          CAST(COALESCE("age", NULL) AS TEXT),
          STRLEN(CAST(COALESCE("sex", NULL) AS TEXT)),
          ':',
          CAST(COALESCE("sex", NULL) AS TEXT),
          STRLEN(CAST(COALESCE("diagnosis", NULL) AS TEXT)),
          ':',
          CAST(COALESCE("diagnosis", NULL) AS TEXT),
          STRLEN(CAST(COALESCE("patient", NULL) AS TEXT)),
          ':',
          CAST(COALESCE("patient", NULL) AS TEXT),
          STRLEN(CAST(COALESCE("nights", NULL) AS TEXT)),
          ':',
          CAST(COALESCE("nights", NULL) AS TEXT)
        )
      ) ASC
    ) AS anon_place_of_row
  FROM "memory"."main"."people"
), "anon_bounded" AS (
  SELECT * EXCLUDE (anon_place_of_row)
  FROM "anon_placed"
  WHERE anon_place_of_row <= 1
), "anon_rows" AS MATERIALIZED (
  SELECT
    "age" AS "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "sex",
    CAST(COALESCE("diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    COUNT(*) AS "anon_row_count"
  FROM "anon_bounded"
  GROUP BY
    "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary",
    CAST(COALESCE("diagnosis", NULL) AS TEXT) COLLATE "binary"
), "anon_values" AS (
  SELECT DISTINCT "diagnosis"
  FROM "anon_rows"
), "anon_sensitive_0_ranks" AS MATERIALIZED (
  SELECT "diagnosis", CAST(DENSE_RANK() OVER (ORDER BY "diagnosis" ASC) AS UINTEGER) AS "anon_sensitive_0"
  FROM "anon_values"
)
SELECT
  "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" AS "anon_key_0",
  "anon_labels_0"."code" IS NULL OR "anon_labels_1"."code" IS NULL AS "anon_is_unmapped",
  "anon_sensitive_0_ranks"."anon_sensitive_0", "anon_rows"."diagnosis" AS "anon_raw_0", "anon_rows"."anon_row_count"
FROM "anon_rows"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_0
  ON "anon_labels_0"."position" = 0
  AND "anon_labels_0"."depth" = 0
  AND "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."age", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_1
  ON "anon_labels_1"."position" = 1
  AND "anon_labels_1"."depth" = 0
  AND "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."sex", NULL) AS TEXT) COLLATE "binary"
JOIN "anon_sensitive_0_ranks" ON "anon_sensitive_0_ranks"."diagnosis" IS NOT DISTINCT FROM "anon_rows"."diagnosis";
--   -> anon_key_0, anon_is_unmapped, anon_sensitive_0, anon_raw_0, anon_row_count
--   2882303761517117440, False, 2, asthma, 1
--   3170534137668829184, False, 3, flu, 1
--   5764607523034234880, False, 1, angina, 1
--   5764607523034234880, False, 3, flu, 1
--   6052837899185946624, False, 2, asthma, 1

-- Codes of sensitive values at their levels
-- Run t, hierarchical: Policy(method=FullDomain(suppression_limit=0.5), privacy=[KAnonymity(k=2),
-- TCloseness(column="diagnosis", t=0.6, distance="hierarchical")])
CREATE TEMPORARY TABLE "temp"."main"."anon_sensitive_codes_0" AS
WITH anon_labels AS (
  SELECT
    anon_attribute, anon_level, anon_value, anon_label,
    COUNT(*) OVER (PARTITION BY anon_attribute, anon_level, anon_label) AS anon_leaf_count,
    anon_level > 0
    AND anon_level = MAX(anon_level) OVER (PARTITION BY anon_attribute) AS anon_is_top
  FROM "memory"."anon"."taxonomy" AS anon_taxonomy(anon_attribute, anon_level, anon_value, anon_label)
  WHERE ARRAY_CONTAINS(['diagnosis'], anon_taxonomy.anon_attribute)
), "anon_taxonomy_labels" AS (
  SELECT
    anon_attribute AS attribute, anon_level AS level, anon_value AS value, anon_label AS label,
    anon_leaf_count AS leaf_count
  FROM anon_labels
  UNION ALL
  SELECT
    anon_attribute, anon_level, NULL,
    CASE WHEN anon_is_top THEN MAX(anon_label) END,
    CASE WHEN anon_is_top THEN ARG_MAX(anon_leaf_count, anon_label) ELSE 1 END
  FROM anon_labels
  GROUP BY anon_attribute, anon_level, anon_is_top
  HAVING COUNT(*) FILTER(WHERE anon_value IS NULL) = 0
), "anon_taxonomy" AS (
  SELECT level, value, label, leaf_count
  FROM "anon_taxonomy_labels"
), "anon_coded" AS (
  SELECT
    level, value,
    DENSE_RANK() OVER (PARTITION BY level ORDER BY leaf_count ASC NULLS FIRST, label ASC NULLS FIRST) AS code
  FROM "anon_taxonomy"
)
SELECT value, CAST(MAX("code") FILTER(WHERE "level" = 1) AS UTINYINT) AS "anon_sensitive_0_1"
FROM "anon_coded"
WHERE level < 2
GROUP BY value
HAVING COUNT(*) = 2;
--   -> value, anon_sensitive_0_1
--   NULL, 1
--   angina, 2
--   asthma, 3
--   flu, 3

-- Keyed rows
-- Run earlier k: Policy(method=FullDomain(suppression_limit=0.5), privacy=[KAnonymity(k=2)])
CREATE TEMPORARY TABLE "temp"."main"."anon_keyed_rows" AS
SELECT
  "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" | (
    CAST(COALESCE("anon_persons"."anon_earlier", 0) AS BIGINT) << 0
  ) AS "anon_key_0",
  "anon_labels_0"."code" IS NULL OR "anon_labels_1"."code" IS NULL AS "anon_is_unmapped",
  1 AS "anon_row_count", "anon_rows"."id" AS "anon_person_0"
FROM "memory"."main"."people" AS anon_rows
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_0
  ON "anon_labels_0"."position" = 0
  AND "anon_labels_0"."depth" = 0
  AND "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."age", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_1
  ON "anon_labels_1"."position" = 1
  AND "anon_labels_1"."depth" = 0
  AND "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."sex", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_persons" AS anon_persons
  ON "anon_persons"."anon_person_0" IS NOT DISTINCT FROM "anon_rows"."id";
--   -> anon_key_0, anon_is_unmapped, anon_row_count, anon_person_0
--   2882303761517117440, False, 1, 1
--   3170534137668829185, False, 1, 3
--   3746994889972252672, False, 1, 4
--   5764607523034234882, False, 1, 5
--   5764607523034234882, False, 1, 6
--   and 2 more: bd99e4d1e612

-- Rows of unknown values
-- Run unknown: Policy(method=FullDomain(suppression_limit=0.5), privacy=[KAnonymity(k=2)], unknown={"age": "suppress",
-- "sex": "top"})
CREATE TEMPORARY TABLE "temp"."main"."anon_unknown_rows" AS
WITH "anon_unknown" AS (
  SELECT
    CASE
      WHEN (
        NOT "age" IS NULL
        AND NOT CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary" IN (
          SELECT value
          FROM "memory"."anon"."taxonomy"
          WHERE attribute = 'age' AND level = 0 AND NOT value IS NULL
        )
      )
      THEN CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary"
    END AS "anon_unknown_0", CASE
      WHEN (
        NOT "sex" IS NULL
        AND NOT CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" IN (
          SELECT value
          FROM "memory"."anon"."taxonomy"
          WHERE attribute = 'sex' AND level = 0 AND NOT value IS NULL
        )
      )
      THEN CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary"
    END AS "anon_unknown_1"
  FROM "memory"."main"."people"
)
SELECT "anon_unknown_0", "anon_unknown_1", COUNT(*) AS anon_row_count
FROM "anon_unknown"
WHERE NOT "anon_unknown_0" IS NULL OR NOT "anon_unknown_1" IS NULL
GROUP BY "anon_unknown_0", "anon_unknown_1";
--   -> anon_unknown_0, anon_unknown_1, anon_row_count

-- Points of ordered leaves
-- Run top-down: Policy(method=TopDownSpecialization(k=2, numeric={"age": Range(low=30, high=50)}),
-- privacy=[KAnonymity(k=2)])
CREATE TEMPORARY TABLE "temp"."main"."anon_points" AS
WITH "anon_rows" AS (
  SELECT
    "age" AS "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "sex",
    CAST(COALESCE("diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    COUNT(*) AS "anon_row_count"
  FROM "memory"."main"."people"
  WHERE NOT "age" IS NULL AND NOT "sex" IS NULL AND NOT "diagnosis" IS NULL
  GROUP BY
    "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary",
    CAST(COALESCE("diagnosis", NULL) AS TEXT) COLLATE "binary"
)
SELECT
  CAST(LEAST(
    CAST(FLOOR(
      LEAST(GREATEST(CAST(COALESCE("age", NULL) AS DOUBLE), CAST(30 AS DOUBLE)), CAST(50 AS DOUBLE))
    ) AS BIGINT) - 30,
    19
  ) AS UTINYINT) AS "anon_value_0",
  ENUM_CODE(TRY_CAST(CAST(COALESCE("sex", NULL) AS TEXT) AS anon_values_1)) AS "anon_value_1",
  "diagnosis" AS "anon_class", "anon_row_count"
FROM "anon_rows";
--   -> anon_value_0, anon_value_1, anon_class, anon_row_count
--   1, 0, asthma, 1
--   12, 1, angina, 1
--   12, 1, flu, 2
--   17, 1, asthma, 1
--   4, 0, asthma, 1
--   and 2 more: 527912522e61

-- Codes of labels
-- Run synthetic: Policy(method=Synthetic(budget=Budget(epsilon=9, delta=1/10), numeric={"age": Bins(edges=[30, 40,
-- 50])}, levels={"diagnosis": 1}, nulls=["sex"], rows=6))
CREATE TEMPORARY TABLE "temp"."main"."anon_label_codes" AS
WITH "anon_labels" AS (
  SELECT
    anon_leaves.position, anon_leaves.leaf, anon_leaves.value, anon_leaves.label,
    MIN(anon_leaves.leaf) OVER (PARTITION BY anon_leaves.position, anon_leaves.label) AS first_leaf
  FROM "temp"."main"."anon_ordered_leaves" AS anon_leaves
  INNER JOIN (VALUES
    (1, 0),
    (2, 1)) AS anon_levels("position", "depth")
    ON anon_levels.position = anon_leaves.position
    AND anon_levels.depth = anon_leaves.depth
)
SELECT position, leaf, value, label, DENSE_RANK() OVER (PARTITION BY position ORDER BY first_leaf ASC) - 1 AS code
FROM "anon_labels";
--   -> position, leaf, value, label, code
--   1, 0, f, f, 0
--   1, 1, m, m, 1
--   2, 0, angina, heart, 0
--   2, 1, asthma, lung, 1
--   2, 2, flu, lung, 1

-- Coded cells
-- Run synthetic
CREATE TEMPORARY TABLE "temp"."main"."anon_coded_cells" AS
WITH "anon_rows" AS (
  SELECT
    CAST(CASE
      WHEN CAST(COALESCE("age", NULL) AS DOUBLE) >= CAST(30 AS DOUBLE)
      AND CAST(COALESCE("age", NULL) AS DOUBLE) < CAST(50 AS DOUBLE)
      THEN 0 + CAST((CAST(COALESCE("age", NULL) AS DOUBLE) >= CAST(40 AS DOUBLE)) AS INT)
    END AS UTINYINT) AS "anon_code_0",
    CAST(CASE
      WHEN "sex" IS NULL THEN 2
      ELSE ENUM_CODE(TRY_CAST(CAST(COALESCE("sex", NULL) AS TEXT) AS anon_values_1))
    END AS UTINYINT) AS "anon_code_1",
    CAST(LIST_EXTRACT(
      (SELECT ARRAY_AGG(code ORDER BY leaf ASC) FROM "temp"."main"."anon_label_codes" WHERE position = 2),
      ENUM_CODE(TRY_CAST(CAST(COALESCE("diagnosis", NULL) AS TEXT) AS anon_values_2)) + 1
    ) AS UTINYINT) AS "anon_code_2"
  FROM "memory"."main"."people"
)
SELECT "anon_code_0", "anon_code_1", "anon_code_2", COUNT(*) AS anon_row_count
FROM "anon_rows"
GROUP BY "anon_code_0", "anon_code_1", "anon_code_2";
--   -> anon_code_0, anon_code_1, anon_code_2, anon_row_count
--   0, 0, 1, 3
--   0, 1, 0, 1
--   1, 1, 0, 1
--   1, 1, 1, 3

-- Cells, sent to a server
-- Run sent: Policy(method=FullDomain(suppression_limit=0.5, suppression="mask"), privacy=[KAnonymity(k=2),
-- DistinctLDiversity(column="diagnosis", l=2)])
SELECT
  `age` AS `age`,
  CAST(COALESCE(`sex`, NULL) AS STRING) AS `sex`,
  CAST(COALESCE(`diagnosis`, NULL) AS STRING) AS `diagnosis`,
  COUNT(*) AS `anon_row_count`
FROM `sqlanon_1`
GROUP BY `age`, CAST(COALESCE(`sex`, NULL) AS STRING), CAST(COALESCE(`diagnosis`, NULL) AS STRING);

