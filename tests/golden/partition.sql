-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 446 rows; the SHA-256 of them is 3ada3c7eada74e883b73e2b495fa6d750967e080c27f41cac467d1130f6d45f3.

BEGIN;

COMMIT;

ATTACH '<folder>/fit' AS "anon_fit" (RECOVERY_MODE no_wal_writes);

SELECT
  *
FROM "anon_fit"."main"."fit";

-- shared: read releases 1;

-- shared: read taxonomy 2;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 12;

-- shared: read taxonomy 13;

WITH "anon_taxonomy" AS (
  SELECT
    *
  FROM "anon_fit"."main"."taxonomy"
  WHERE
    attribute IN ('admission', 'age', 'sex', 'zip')
), anon_rows AS (
  SELECT
    attribute,
    level,
    value,
    label
  FROM "anon_taxonomy"
), anon_level_sets AS (
  SELECT
    attribute,
    anon_levels,
    COUNT(*) AS anon_value_count
  FROM (
    SELECT
      attribute,
      value,
      LIST_SORT(ARRAY_AGG(level)) AS anon_levels
    FROM anon_rows
    GROUP BY
      attribute,
      value
  )
  GROUP BY
    attribute,
    anon_levels
), anon_heights AS (
  SELECT
    attribute,
    MAX(LIST_MAX(anon_levels)) AS anon_height
  FROM anon_level_sets
  GROUP BY
    attribute
), anon_counts AS (
  SELECT
    attribute,
    anon_levels,
    anon_value_count,
    level,
    COUNT(*) AS anon_row_count
  FROM (
    SELECT
      attribute,
      anon_levels,
      anon_value_count,
      UNNEST(anon_levels) AS level
    FROM anon_level_sets
  )
  GROUP BY ALL
), anon_found AS (
  SELECT
    attribute,
    level,
    'missing level' AS problem,
    SUM(anon_value_count) AS problem_count
  FROM (
    SELECT
      anon_level_sets.*,
      UNNEST(RANGE(0, anon_heights.anon_height + 1)) AS level
    FROM anon_level_sets
    INNER JOIN anon_heights
      ON anon_heights.attribute = anon_level_sets.attribute
    WHERE
      ARRAY_CONTAINS(anon_level_sets.anon_levels, 0)
  )
  WHERE
    NOT ARRAY_CONTAINS(anon_levels, level)
  GROUP BY ALL
  UNION ALL
  SELECT
    attribute,
    level,
    'value outside the domain',
    SUM(anon_value_count * anon_row_count)
  FROM anon_counts
  WHERE
    NOT ARRAY_CONTAINS(anon_levels, 0)
  GROUP BY ALL
  UNION ALL
  SELECT
    attribute,
    level,
    'several labels',
    SUM(anon_value_count)
  FROM anon_counts
  WHERE
    anon_row_count > 1
  GROUP BY ALL
  UNION ALL
  SELECT
    attribute,
    level,
    'level 0 is not the value itself',
    COUNT(*)
  FROM anon_rows
  WHERE
    level = 0 AND label IS DISTINCT FROM value AND COALESCE(label, '') <> ''
  GROUP BY ALL
  UNION ALL
  SELECT
    attribute,
    level,
    'empty label',
    COUNT(*)
  FROM anon_rows
  WHERE
    COALESCE(label, '') = ''
    AND NOT (
      level = 0 AND value IS NOT DISTINCT FROM label
    )
  GROUP BY ALL
  UNION ALL
  SELECT
    attribute,
    level,
    'not nested',
    COUNT(*)
  FROM (
    SELECT
      anon_rows.attribute,
      anon_rows.level,
      anon_rows.label
    FROM anon_rows
    INNER JOIN anon_rows AS anon_next
      ON anon_next.attribute = anon_rows.attribute
      AND anon_next.level = anon_rows.level + 1
      AND anon_next.value IS NOT DISTINCT FROM anon_rows.value
    WHERE
      anon_rows.level > 0 AND anon_next.level > 1
    GROUP BY ALL
    HAVING
      MIN(anon_next.label) <> MAX(anon_next.label)
  )
  GROUP BY ALL
  UNION ALL
  SELECT
    anon_rows.attribute,
    anon_rows.level,
    'several top labels',
    COUNT(DISTINCT anon_rows.label)
  FROM anon_rows
  INNER JOIN anon_heights
    ON anon_heights.attribute = anon_rows.attribute
    AND anon_heights.anon_height = anon_rows.level
  GROUP BY ALL
  HAVING
    COUNT(DISTINCT anon_rows.label) > 1
)
SELECT
  attribute,
  CAST(level AS INT) AS level,
  problem,
  CAST(problem_count AS BIGINT) AS problem_count
FROM anon_found;

WITH anon_rows AS (
  SELECT
    anon_attribute,
    anon_level,
    anon_value,
    anon_label
  FROM "anon_fit"."main"."taxonomy" AS anon_taxonomy(anon_attribute, anon_level, anon_value, anon_label)
  WHERE
    ARRAY_CONTAINS(['admission', 'age', 'sex', 'zip'], anon_taxonomy.anon_attribute)
), anon_tops AS (
  SELECT
    anon_attribute,
    ARG_MAX(anon_label, anon_level) AS anon_label
  FROM anon_rows
  GROUP BY
    anon_attribute
), anon_labels AS (
  SELECT DISTINCT
    anon_attribute,
    anon_level,
    anon_label
  FROM anon_rows
  ANTI JOIN anon_tops
    ON anon_tops.anon_attribute = anon_rows.anon_attribute
    AND anon_tops.anon_label = anon_rows.anon_label
  WHERE
    anon_level > 0
), anon_ambiguous AS (
  SELECT DISTINCT
    anon_labels.anon_attribute,
    anon_labels.anon_label
  FROM anon_labels
  INNER JOIN anon_rows
    ON anon_rows.anon_attribute = anon_labels.anon_attribute
    AND anon_rows.anon_level = anon_labels.anon_level
    AND anon_rows.anon_value = anon_labels.anon_label
  WHERE
    anon_rows.anon_label <> anon_labels.anon_label
)
SELECT
  anon_wanted.anon_name AS attribute,
  COUNT(anon_ambiguous.anon_label) AS ambiguous_labels
FROM UNNEST(['admission', 'age', 'sex', 'zip']) AS anon_wanted(anon_name)
LEFT JOIN anon_ambiguous
  ON anon_ambiguous.anon_attribute = anon_wanted.anon_name
GROUP BY
  anon_wanted.anon_name;

SELECT
  COUNT(*) AS rows,
  CAST(COALESCE(
    SUM(
      CAST(HASH("patient_id", "ssn", "age", "sex", "zip", "admission", "diagnosis", "length_of_stay") AS INT128)
    ),
    0
  ) AS TEXT) AS fingerprint
FROM (
  SELECT
    *
  FROM visits
  WHERE
    admission >= CAST('2025-07-01' AS DATE)
);

-- shared: read releases 1;

BEGIN;

-- shared: read taxonomy 13;

CREATE TEMPORARY TABLE "temp"."main"."anon_coded_labels" AS
WITH anon_labels AS (
  SELECT
    anon_attribute,
    anon_level,
    anon_value,
    anon_label,
    COUNT(*) OVER (PARTITION BY anon_attribute, anon_level, anon_label) AS anon_leaf_count,
    anon_level > 0
    AND anon_level = MAX(anon_level) OVER (PARTITION BY anon_attribute) AS anon_is_top
  FROM "anon_fit"."main"."taxonomy" AS anon_taxonomy(anon_attribute, anon_level, anon_value, anon_label)
  WHERE
    ARRAY_CONTAINS(['age', 'sex', 'zip', 'admission'], anon_taxonomy.anon_attribute)
), "anon_taxonomy_labels" AS (
  SELECT
    anon_attribute AS attribute,
    anon_level AS level,
    anon_value AS value,
    anon_label AS label,
    anon_leaf_count AS leaf_count
  FROM anon_labels
  UNION ALL
  SELECT
    anon_attribute,
    anon_level,
    NULL,
    CASE WHEN anon_is_top THEN MAX(anon_label) END,
    CASE WHEN anon_is_top THEN ARG_MAX(anon_leaf_count, anon_label) ELSE 1 END
  FROM anon_labels
  GROUP BY
    anon_attribute,
    anon_level,
    anon_is_top
  HAVING
    COUNT(*) FILTER(WHERE
      anon_value IS NULL) = 0
), anon_coded AS (
  SELECT
    anon_taxonomies.position,
    anon_taxonomies.height,
    anon_taxonomy_labels.level AS depth,
    anon_taxonomy_labels.value,
    anon_taxonomy_labels.label,
    DENSE_RANK() OVER (
      PARTITION BY anon_taxonomies.position, anon_taxonomy_labels.level
      ORDER BY anon_taxonomy_labels.leaf_count ASC NULLS FIRST, anon_taxonomy_labels.label ASC NULLS FIRST
    ) AS code,
    (
      CASE
        WHEN anon_taxonomies.domain_size > 1
        THEN (
          anon_taxonomy_labels.leaf_count - 1
        ) / (
          anon_taxonomies.domain_size - 1
        )
        ELSE 0.0
      END
    ) AS lm,
    (
      CASE
        WHEN anon_taxonomy_labels.leaf_count = 1
        THEN 0.0
        ELSE anon_taxonomy_labels.leaf_count / anon_taxonomies.domain_size
      END
    ) AS ncp
  FROM (VALUES
    (0, 'age', 5, 100),
    (1, 'sex', 1, 2),
    (2, 'zip', 5, 155),
    (3, 'admission', 5, 365)) AS anon_taxonomies("position", "attribute", "height", "domain_size")
  INNER JOIN "anon_taxonomy_labels"
    ON anon_taxonomy_labels.attribute = anon_taxonomies.attribute
  QUALIFY
    COUNT(*) OVER (PARTITION BY anon_taxonomies.position, anon_taxonomy_labels.value) = anon_taxonomies.height + 1
), anon_parents AS (
  SELECT
    *,
    CASE
      WHEN depth < height - 1
      THEN LEAD(code) OVER (PARTITION BY position, value ORDER BY depth ASC)
    END AS parent
  FROM anon_coded
)
SELECT
  position,
  depth,
  value,
  label,
  code,
  DENSE_RANK() OVER (PARTITION BY position, depth, parent ORDER BY code ASC) - 1 AS child,
  lm,
  ncp
FROM anon_parents;

-- shared: read anon_coded_labels 1;

-- shared: create anon_labels 1;

DROP TABLE IF EXISTS "temp"."main"."anon_coded_labels";

CREATE TEMPORARY TABLE "temp"."main"."anon_cells" AS
WITH "anon_rows" AS MATERIALIZED (
  SELECT
    "age" AS "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "sex",
    CAST(COALESCE("zip", NULL) AS TEXT) COLLATE "binary" AS "zip",
    "admission" AS "admission",
    "diagnosis" AS "diagnosis",
    COUNT(*) AS "anon_row_count"
  FROM (
    SELECT
      *
    FROM visits
    WHERE
      admission >= CAST('2025-07-01' AS DATE)
  )
  GROUP BY
    "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary",
    CAST(COALESCE("zip", NULL) AS TEXT) COLLATE "binary",
    "admission",
    "diagnosis"
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
  "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" | "anon_labels_2"."anon_key_0" | "anon_labels_3"."anon_key_0" AS "anon_key_0",
  "anon_labels_0"."code" IS NULL
  OR "anon_labels_1"."code" IS NULL
  OR "anon_labels_2"."code" IS NULL
  OR "anon_labels_3"."code" IS NULL AS "anon_is_unmapped",
  "anon_sensitive_0_ranks"."anon_sensitive_0",
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
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_2
  ON "anon_labels_2"."position" = 2
  AND "anon_labels_2"."depth" = 0
  AND "anon_labels_2"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."zip", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_3
  ON "anon_labels_3"."position" = 3
  AND "anon_labels_3"."depth" = 0
  AND "anon_labels_3"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."admission", NULL) AS TEXT) COLLATE "binary"
JOIN "anon_sensitive_0_ranks"
  ON "anon_sensitive_0_ranks"."diagnosis" IS NOT DISTINCT FROM "anon_rows"."diagnosis"
ORDER BY
  "anon_key_0" ASC;

-- shared: read anon_cells 1;

-- shared: read anon_cells 2;

DROP TABLE IF EXISTS "temp"."main"."anon_node_labels_0";

CREATE TEMPORARY TABLE "temp"."main"."anon_node_labels_0" AS
SELECT DISTINCT
  "label",
  "code" AS "anon_code_0_4"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 0 AND "depth" = 4;

DROP TABLE IF EXISTS "temp"."main"."anon_node_labels_1";

CREATE TEMPORARY TABLE "temp"."main"."anon_node_labels_1" AS
SELECT DISTINCT
  "label",
  "code" AS "anon_code_1_0"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 1 AND "depth" = 0;

DROP TABLE IF EXISTS "temp"."main"."anon_node_labels_2";

CREATE TEMPORARY TABLE "temp"."main"."anon_node_labels_2" AS
SELECT DISTINCT
  "label",
  "code" AS "anon_code_2_2"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 2 AND "depth" = 2;

DROP TABLE IF EXISTS "temp"."main"."anon_node_labels_3";

CREATE TEMPORARY TABLE "temp"."main"."anon_node_labels_3" AS
SELECT DISTINCT
  "label",
  "code" AS "anon_code_3_2"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 3 AND "depth" = 2;

DROP TABLE IF EXISTS "temp"."main"."anon_partition_counts";

CREATE TEMPORARY TABLE "temp"."main"."anon_partition_counts" AS
WITH "anon_labels_0" AS (
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
), "anon_labels_2" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_2_2"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 2
), "anon_labels_3" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_3_2"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 3 AND "depth" = 2
), "anon_cells" AS (
  SELECT
    "anon_keyed"."anon_sensitive_0",
    "anon_keyed"."anon_row_count",
    "anon_labels_0"."anon_code_0_4",
    "anon_labels_1"."anon_code_1_0",
    "anon_labels_2"."anon_code_2_2",
    "anon_labels_3"."anon_code_3_2"
  FROM "temp"."main"."anon_cells" AS anon_keyed
  LEFT JOIN "anon_labels_0"
    ON (
      "anon_keyed"."anon_key_0" & 6917529027641081856
    ) = "anon_labels_0"."anon_key_0"
  LEFT JOIN "anon_labels_1"
    ON (
      "anon_keyed"."anon_key_0" & 1729382256910270464
    ) = "anon_labels_1"."anon_key_0"
  LEFT JOIN "anon_labels_2"
    ON (
      "anon_keyed"."anon_key_0" & 504403158265495552
    ) = "anon_labels_2"."anon_key_0"
  LEFT JOIN "anon_labels_3"
    ON (
      "anon_keyed"."anon_key_0" & 42784196460019712
    ) = "anon_labels_3"."anon_key_0"
), "anon_cells_2" AS (
  SELECT
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "anon_cells"
  GROUP BY
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0"
), "anon_all" AS (
  SELECT
    "diagnosis"
  FROM (
    SELECT
      *
    FROM visits
    WHERE
      admission >= CAST('2025-07-01' AS DATE)
  )
), "anon_distinct" AS (
  SELECT DISTINCT
    "diagnosis"
  FROM "anon_all"
), "anon_decoded_anon_sensitive_0" AS (
  SELECT
    "diagnosis" AS value,
    CAST(DENSE_RANK() OVER (ORDER BY "diagnosis" ASC) AS UINTEGER) AS "anon_sensitive_0"
  FROM "anon_distinct"
)
SELECT
  "anon_cells"."anon_code_0_4",
  "anon_cells"."anon_code_1_0",
  "anon_cells"."anon_code_2_2",
  "anon_cells"."anon_code_3_2",
  "anon_cells"."anon_row_count",
  "anon_node_labels_0"."label" AS "age",
  "anon_node_labels_1"."label" AS "sex",
  "anon_node_labels_2"."label" AS "zip",
  "anon_node_labels_3"."label" AS "admission",
  "anon_decoded_anon_sensitive_0"."value" AS "diagnosis"
FROM "anon_cells_2" AS "anon_cells"
JOIN "temp"."main"."anon_node_labels_0" AS anon_node_labels_0
  ON "anon_node_labels_0"."anon_code_0_4" = "anon_cells"."anon_code_0_4"
JOIN "temp"."main"."anon_node_labels_1" AS anon_node_labels_1
  ON "anon_node_labels_1"."anon_code_1_0" = "anon_cells"."anon_code_1_0"
JOIN "temp"."main"."anon_node_labels_2" AS anon_node_labels_2
  ON "anon_node_labels_2"."anon_code_2_2" = "anon_cells"."anon_code_2_2"
JOIN "temp"."main"."anon_node_labels_3" AS anon_node_labels_3
  ON "anon_node_labels_3"."anon_code_3_2" = "anon_cells"."anon_code_3_2"
JOIN "anon_decoded_anon_sensitive_0"
  ON "anon_decoded_anon_sensitive_0"."anon_sensitive_0" = "anon_cells"."anon_sensitive_0";

DROP TABLE IF EXISTS "temp"."main"."anon_union_values_0";

CREATE TEMPORARY TABLE "temp"."main"."anon_union_values_0" AS
WITH "anon_published" AS (
  SELECT
    "age",
    "sex",
    "zip",
    "admission",
    "diagnosis",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
  FROM "anon_fit"."main"."counts"
  WHERE
    FALSE
  GROUP BY
    "age",
    "sex",
    "zip",
    "admission",
    "diagnosis"
), "anon_all" AS (
  SELECT
    "diagnosis"
  FROM "temp"."main"."anon_partition_counts"
  UNION ALL
  SELECT
    "diagnosis"
  FROM "anon_published"
), "anon_distinct" AS (
  SELECT DISTINCT
    "diagnosis"
  FROM "anon_all"
), "anon_coded" AS (
  SELECT
    "diagnosis" AS value,
    CAST(DENSE_RANK() OVER (ORDER BY "diagnosis" ASC) AS UINTEGER) AS "anon_sensitive_0"
  FROM "anon_distinct"
)
SELECT
  "anon_coded"."value",
  "anon_coded"."anon_sensitive_0"
FROM "anon_coded";

DROP TABLE IF EXISTS "temp"."main"."anon_new_cells";

CREATE TEMPORARY TABLE "temp"."main"."anon_new_cells" AS
SELECT
  "anon_counted"."anon_code_0_4",
  "anon_counted"."anon_code_1_0",
  "anon_counted"."anon_code_2_2",
  "anon_counted"."anon_code_3_2",
  "anon_union_values_0"."anon_sensitive_0",
  "anon_counted"."anon_row_count"
FROM "temp"."main"."anon_partition_counts" AS anon_counted
JOIN "temp"."main"."anon_union_values_0" AS anon_union_values_0
  ON "anon_union_values_0"."value" IS NOT DISTINCT FROM "anon_counted"."diagnosis";

DROP TABLE IF EXISTS "temp"."main"."anon_old_cells";

CREATE TEMPORARY TABLE "temp"."main"."anon_old_cells" AS
WITH "anon_counted" AS (
  SELECT
    "age",
    "sex",
    "zip",
    "admission",
    "diagnosis",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
  FROM "anon_fit"."main"."counts"
  WHERE
    FALSE
  GROUP BY
    "age",
    "sex",
    "zip",
    "admission",
    "diagnosis"
)
SELECT
  "anon_node_labels_0"."anon_code_0_4",
  "anon_node_labels_1"."anon_code_1_0",
  "anon_node_labels_2"."anon_code_2_2",
  "anon_node_labels_3"."anon_code_3_2",
  "anon_union_values_0"."anon_sensitive_0",
  "anon_counted"."anon_row_count"
FROM "anon_counted"
JOIN "temp"."main"."anon_node_labels_0" AS anon_node_labels_0
  ON "anon_node_labels_0"."label" IS NOT DISTINCT FROM "anon_counted"."age"
JOIN "temp"."main"."anon_node_labels_1" AS anon_node_labels_1
  ON "anon_node_labels_1"."label" IS NOT DISTINCT FROM "anon_counted"."sex"
JOIN "temp"."main"."anon_node_labels_2" AS anon_node_labels_2
  ON "anon_node_labels_2"."label" IS NOT DISTINCT FROM "anon_counted"."zip"
JOIN "temp"."main"."anon_node_labels_3" AS anon_node_labels_3
  ON "anon_node_labels_3"."label" IS NOT DISTINCT FROM "anon_counted"."admission"
JOIN "temp"."main"."anon_union_values_0" AS anon_union_values_0
  ON "anon_union_values_0"."value" IS NOT DISTINCT FROM "anon_counted"."diagnosis";

DROP TABLE IF EXISTS "temp"."main"."anon_union_cells";

CREATE TEMPORARY TABLE "temp"."main"."anon_union_cells" AS
SELECT
  *
FROM "temp"."main"."anon_new_cells"
UNION ALL BY NAME
SELECT
  *
FROM "temp"."main"."anon_old_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

CREATE TEMPORARY TABLE "temp"."main"."anon_kept" AS
WITH "anon_values" AS (
  SELECT
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "temp"."main"."anon_union_cells"
  GROUP BY
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0"
), "anon_classes" AS (
  SELECT
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  "anon_code_0_4",
  "anon_code_1_0",
  "anon_code_2_2",
  "anon_code_3_2"
FROM "anon_judged"
WHERE
  "anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_published_cells";

CREATE TEMPORARY TABLE "temp"."main"."anon_published_cells" AS
SELECT
  *
FROM "temp"."main"."anon_old_cells"
UNION ALL BY NAME
SELECT
  "anon_cells"."anon_code_0_4",
  "anon_cells"."anon_code_1_0",
  "anon_cells"."anon_code_2_2",
  "anon_cells"."anon_code_3_2",
  "anon_cells"."anon_sensitive_0",
  "anon_cells"."anon_row_count"
FROM "temp"."main"."anon_new_cells" AS anon_cells
INNER JOIN "temp"."main"."anon_kept" AS anon_kept_classes
  ON "anon_kept_classes"."anon_code_0_4" = "anon_cells"."anon_code_0_4"
  AND "anon_kept_classes"."anon_code_1_0" = "anon_cells"."anon_code_1_0"
  AND "anon_kept_classes"."anon_code_2_2" = "anon_cells"."anon_code_2_2"
  AND "anon_kept_classes"."anon_code_3_2" = "anon_cells"."anon_code_3_2";

COMMIT;

WITH "anon_kept_cells" AS (
  SELECT
    "anon_cells"."anon_row_count"
  FROM "temp"."main"."anon_new_cells" AS anon_cells
  INNER JOIN "temp"."main"."anon_kept" AS anon_kept_classes
    ON "anon_kept_classes"."anon_code_0_4" = "anon_cells"."anon_code_0_4"
    AND "anon_kept_classes"."anon_code_1_0" = "anon_cells"."anon_code_1_0"
    AND "anon_kept_classes"."anon_code_2_2" = "anon_cells"."anon_code_2_2"
    AND "anon_kept_classes"."anon_code_3_2" = "anon_cells"."anon_code_3_2"
)
SELECT
  (
    SELECT
      COALESCE(SUM(anon_row_count), 0)
    FROM "temp"."main"."anon_new_cells"
  ) AS new_rows,
  COALESCE(SUM(anon_row_count), 0) AS kept_rows
FROM "anon_kept_cells";

WITH "anon_values" AS (
  SELECT
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "temp"."main"."anon_published_cells"
  GROUP BY
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0"
), "anon_classes" AS (
  SELECT
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2"
)
SELECT
  COUNT(*) AS classes,
  COALESCE(SUM(anon_class_size), 0) AS rows
FROM "anon_classes"
WHERE
  NOT (
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2
  );

-- shared: read releases 1;

BEGIN;

INSERT INTO "anon_fit"."main"."releases" BY NAME SELECT 1 AS "number", CAST(UUID() AS TEXT) AS "release", TRUE AS "pending", '{"name":"released","file":null,"table":["memory","main","released"]}' AS "place", NULL AS "replaces", 489 AS "rows", 446 AS "released", 0 AS "unknown", '4554374780160131705327' AS "fingerprint";

INSERT INTO "anon_fit"."main"."counts" BY NAME WITH "anon_kept_counts" AS (SELECT "anon_cells"."age", "anon_cells"."sex", "anon_cells"."zip", "anon_cells"."admission", "anon_cells"."diagnosis", "anon_cells"."anon_row_count" FROM "temp"."main"."anon_partition_counts" AS anon_cells INNER JOIN "temp"."main"."anon_kept" AS anon_kept_classes ON "anon_kept_classes"."anon_code_0_4" = "anon_cells"."anon_code_0_4" AND "anon_kept_classes"."anon_code_1_0" = "anon_cells"."anon_code_1_0" AND "anon_kept_classes"."anon_code_2_2" = "anon_cells"."anon_code_2_2" AND "anon_kept_classes"."anon_code_3_2" = "anon_cells"."anon_code_3_2") SELECT 1 AS "anon_release", * FROM "anon_kept_counts";

COMMIT;

-- shared: read CHECKPOINT 1;

-- shared: read releases 1;

BEGIN;

-- shared: read taxonomy 13;

WITH "anon_values" AS (
  SELECT
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "temp"."main"."anon_published_cells"
  GROUP BY
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0"
), "anon_classes" AS (
  SELECT
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  MIN("anon_class_size") FILTER(WHERE
    "anon_kept") AS "attained_0",
  MIN("anon_measure_0") FILTER(WHERE
    "anon_kept") AS "attained_1"
FROM "anon_judged";

-- shared: create anon_label_type_0 3;

-- shared: create anon_label_type_1 1;

-- shared: create anon_label_type_2 2;

-- shared: create anon_label_type_3 1;

SELECT
  LIST_PRODUCT(
    [
      CAST((
        SELECT
          COUNT(*)
        FROM "temp"."main"."anon_kept"
      ) AS DOUBLE),
      CAST(APPROX_COUNT_DISTINCT(CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary") AS DOUBLE),
      CAST(APPROX_COUNT_DISTINCT("anon_source"."length_of_stay") AS DOUBLE)
    ]
  ) AS "groups"
FROM (
  SELECT
    *
  FROM visits
  WHERE
    admission >= CAST('2025-07-01' AS DATE)
) AS anon_source;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_0" AS (
  SELECT
    "value",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 4
), "anon_labels_1" AS (
  SELECT
    "value",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_labels_2" AS (
  SELECT
    "value",
    CAST("label" AS anon_label_type_2) AS "anon_label_2"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 2
), "anon_labels_3" AS (
  SELECT
    "value",
    CAST("label" AS anon_label_type_3) AS "anon_label_3"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 3 AND "depth" = 2
), "anon_rows" AS (
  SELECT
    "anon_labels_0"."anon_label_0",
    "anon_labels_1"."anon_label_1",
    "anon_labels_2"."anon_label_2",
    "anon_labels_3"."anon_label_3",
    CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    "anon_source"."length_of_stay" AS "length_of_stay",
    1 AS "anon_row_count"
  FROM (
    SELECT
      *
    FROM visits
    WHERE
      admission >= CAST('2025-07-01' AS DATE)
  ) AS anon_source
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."age", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "anon_labels_1"
    ON "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."sex", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "anon_labels_2"
    ON "anon_labels_2"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."zip", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "anon_labels_3"
    ON "anon_labels_3"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."admission", NULL) AS TEXT) COLLATE "binary"
), "anon_labels_0_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_0_4",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 4
), "anon_labels_1_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_1_0",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_labels_2_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_2_2",
    CAST("label" AS anon_label_type_2) AS "anon_label_2"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 2
), "anon_labels_3_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_3_2",
    CAST("label" AS anon_label_type_3) AS "anon_label_3"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 3 AND "depth" = 2
), "anon_kept" AS (
  SELECT
    TRUE AS "anon_is_kept",
    "anon_labels_0"."anon_label_0",
    "anon_labels_1"."anon_label_1",
    "anon_labels_2"."anon_label_2",
    "anon_labels_3"."anon_label_3"
  FROM "temp"."main"."anon_kept" AS anon_codes
  LEFT JOIN "anon_labels_0_2" AS "anon_labels_0"
    ON "anon_labels_0"."anon_code_0_4" = "anon_codes"."anon_code_0_4"
  LEFT JOIN "anon_labels_1_2" AS "anon_labels_1"
    ON "anon_labels_1"."anon_code_1_0" = "anon_codes"."anon_code_1_0"
  LEFT JOIN "anon_labels_2_2" AS "anon_labels_2"
    ON "anon_labels_2"."anon_code_2_2" = "anon_codes"."anon_code_2_2"
  LEFT JOIN "anon_labels_3_2" AS "anon_labels_3"
    ON "anon_labels_3"."anon_code_3_2" = "anon_codes"."anon_code_3_2"
), "anon_published" AS (
  SELECT
    "anon_rows"."diagnosis",
    "anon_rows"."length_of_stay",
    "anon_rows"."anon_row_count",
    "anon_rows"."anon_label_0" AS "anon_label_0",
    "anon_rows"."anon_label_1" AS "anon_label_1",
    "anon_rows"."anon_label_2" AS "anon_label_2",
    "anon_rows"."anon_label_3" AS "anon_label_3"
  FROM "anon_rows"
  JOIN "anon_kept"
    ON "anon_kept"."anon_label_0" IS NOT DISTINCT FROM "anon_rows"."anon_label_0"
    AND "anon_kept"."anon_label_1" IS NOT DISTINCT FROM "anon_rows"."anon_label_1"
    AND "anon_kept"."anon_label_2" IS NOT DISTINCT FROM "anon_rows"."anon_label_2"
    AND "anon_kept"."anon_label_3" IS NOT DISTINCT FROM "anon_rows"."anon_label_3"
)
SELECT
  "anon_label_0",
  "anon_label_1",
  "anon_label_2",
  "anon_label_3",
  "diagnosis",
  "length_of_stay",
  "anon_row_count"
FROM "anon_published"
ORDER BY
  (
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 4) AS BIGINT) << 60
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 3) AS BIGINT) << 58
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_2"), 5) AS BIGINT) << 55
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_3"), 5) AS BIGINT) << 52
  ) ASC,
  "diagnosis" ASC,
  "length_of_stay" ASC;

-- shared: create released 1;

-- shared: read released 1;

-- shared: read taxonomy 12;

WITH "anon_k_anonymity" AS (
  SELECT
    MIN(class_size) AS k,
    COUNT(*) AS class_count,
    CAST(COALESCE(SUM(class_size), 0) AS BIGINT) AS row_count
  FROM LATERAL (
    SELECT
      anon_class_size AS class_size
    FROM (
      SELECT
        "age" AS "age",
        "sex" AS "sex",
        "zip" AS "zip",
        "admission" AS "admission",
        COUNT(*) AS anon_class_size
      FROM (
        SELECT
          *
        FROM "memory"."main"."released"
        UNION ALL BY NAME
        SELECT
          *
        FROM (
          SELECT
            *
            EXCLUDE (anon_batch, anon_row)
          FROM (
            SELECT
              *,
              UNNEST(RANGE(0, anon_batch)) AS anon_row
            FROM (
              SELECT
                *
                EXCLUDE (anon_row_count),
                LEAST(
                  2048,
                  anon_row_count - 2048 * UNNEST(RANGE(0, (
                    anon_row_count + 2047
                  ) // 2048))
                ) AS anon_batch
              FROM (
                SELECT
                  "age",
                  "sex",
                  "zip",
                  "admission",
                  "diagnosis",
                  CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
                FROM "anon_fit"."main"."counts"
                WHERE
                  FALSE
                GROUP BY
                  "age",
                  "sex",
                  "zip",
                  "admission",
                  "diagnosis"
              ) AS "anon_published"
            ) AS anon_batches
          ) AS anon_numbered
        ) AS "anon_counted"
      ) AS "anon_union"
      GROUP BY ALL
    ) AS anon_classes
  ) AS anon_class_sizes
), "anon_prosecutor_risk" AS (
  SELECT
    1.0 / MIN(class_size) AS highest_risk,
    CAST(COUNT(*) AS DOUBLE) / SUM(class_size) AS average_risk
  FROM LATERAL (
    SELECT
      anon_class_size AS class_size
    FROM (
      SELECT
        "age" AS "age",
        "sex" AS "sex",
        "zip" AS "zip",
        "admission" AS "admission",
        COUNT(*) AS anon_class_size
      FROM (
        SELECT
          *
        FROM "memory"."main"."released"
        UNION ALL BY NAME
        SELECT
          *
        FROM (
          SELECT
            *
            EXCLUDE (anon_batch, anon_row)
          FROM (
            SELECT
              *,
              UNNEST(RANGE(0, anon_batch)) AS anon_row
            FROM (
              SELECT
                *
                EXCLUDE (anon_row_count),
                LEAST(
                  2048,
                  anon_row_count - 2048 * UNNEST(RANGE(0, (
                    anon_row_count + 2047
                  ) // 2048))
                ) AS anon_batch
              FROM (
                SELECT
                  "age",
                  "sex",
                  "zip",
                  "admission",
                  "diagnosis",
                  CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
                FROM "anon_fit"."main"."counts"
                WHERE
                  FALSE
                GROUP BY
                  "age",
                  "sex",
                  "zip",
                  "admission",
                  "diagnosis"
              ) AS "anon_published"
            ) AS anon_batches
          ) AS anon_numbered
        ) AS "anon_counted"
      ) AS "anon_union"
      GROUP BY ALL
    ) AS anon_classes
  ) AS anon_class_sizes
), "anon_sample_uniqueness" AS (
  SELECT
    COUNT(*) FILTER(WHERE
      class_size = 1) AS unique_rows,
    CAST(COALESCE(SUM(class_size), 0) AS BIGINT) AS row_count,
    COUNT(*) FILTER(WHERE
      class_size = 1) / CAST(SUM(class_size) AS DOUBLE) AS unique_share
  FROM LATERAL (
    SELECT
      anon_class_size AS class_size
    FROM (
      SELECT
        "age" AS "age",
        "sex" AS "sex",
        "zip" AS "zip",
        "admission" AS "admission",
        COUNT(*) AS anon_class_size
      FROM (
        SELECT
          *
        FROM "memory"."main"."released"
        UNION ALL BY NAME
        SELECT
          *
        FROM (
          SELECT
            *
            EXCLUDE (anon_batch, anon_row)
          FROM (
            SELECT
              *,
              UNNEST(RANGE(0, anon_batch)) AS anon_row
            FROM (
              SELECT
                *
                EXCLUDE (anon_row_count),
                LEAST(
                  2048,
                  anon_row_count - 2048 * UNNEST(RANGE(0, (
                    anon_row_count + 2047
                  ) // 2048))
                ) AS anon_batch
              FROM (
                SELECT
                  "age",
                  "sex",
                  "zip",
                  "admission",
                  "diagnosis",
                  CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
                FROM "anon_fit"."main"."counts"
                WHERE
                  FALSE
                GROUP BY
                  "age",
                  "sex",
                  "zip",
                  "admission",
                  "diagnosis"
              ) AS "anon_published"
            ) AS anon_batches
          ) AS anon_numbered
        ) AS "anon_counted"
      ) AS "anon_union"
      GROUP BY ALL
    ) AS anon_classes
  ) AS anon_class_sizes
)
SELECT
  anon_k_anonymity.k,
  anon_k_anonymity.class_count,
  anon_k_anonymity.row_count,
  anon_prosecutor_risk.highest_risk,
  anon_prosecutor_risk.average_risk,
  anon_sample_uniqueness.unique_rows,
  anon_sample_uniqueness.unique_share
FROM "anon_k_anonymity"
CROSS JOIN "anon_prosecutor_risk"
CROSS JOIN "anon_sample_uniqueness";

WITH "anon_measured" AS (
  SELECT
    MIN(distinct_diversity) AS l
  FROM LATERAL (
    SELECT
      CAST(SUM(row_count) AS BIGINT) AS class_size,
      (
        COUNT(row_count)
      ) AS distinct_diversity,
      (
        EXP(LN(SUM(row_count)) - SUM(row_count * LN(row_count)) / SUM(row_count))
      ) AS entropy_diversity,
      (
        MAX(row_count) / SUM(row_count)
      ) AS largest_share
    FROM LATERAL (
      SELECT
        ROW("age", "sex", "zip", "admission") AS class,
        "diagnosis" AS sensitive_value,
        COUNT(*) AS row_count
      FROM (
        SELECT
          *
        FROM "memory"."main"."released"
        UNION ALL BY NAME
        SELECT
          *
        FROM (
          SELECT
            *
            EXCLUDE (anon_batch, anon_row)
          FROM (
            SELECT
              *,
              UNNEST(RANGE(0, anon_batch)) AS anon_row
            FROM (
              SELECT
                *
                EXCLUDE (anon_row_count),
                LEAST(
                  2048,
                  anon_row_count - 2048 * UNNEST(RANGE(0, (
                    anon_row_count + 2047
                  ) // 2048))
                ) AS anon_batch
              FROM (
                SELECT
                  "age",
                  "sex",
                  "zip",
                  "admission",
                  "diagnosis",
                  CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
                FROM "anon_fit"."main"."counts"
                WHERE
                  FALSE
                GROUP BY
                  "age",
                  "sex",
                  "zip",
                  "admission",
                  "diagnosis"
              ) AS "anon_published"
            ) AS anon_batches
          ) AS anon_numbered
        ) AS "anon_counted"
      ) AS "anon_union"
      GROUP BY ALL
    ) AS anon_value_counts
    GROUP BY
      class
  ) AS anon_class_diversity
)
SELECT
  "l" AS "attained"
FROM "anon_measured";

-- shared: read taxonomy 12;

WITH "anon_counts" AS (
  SELECT
    "age",
    "sex",
    "zip",
    "admission",
    "diagnosis",
    COUNT(*) AS anon_row_count
  FROM "memory"."main"."released"
  GROUP BY
    "age",
    "sex",
    "zip",
    "admission",
    "diagnosis"
), "anon_others" AS (
  SELECT
    "age",
    "sex",
    "zip",
    "admission",
    "diagnosis",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
  FROM "anon_fit"."main"."counts"
  WHERE
    "anon_release" IN (1)
  GROUP BY
    "age",
    "sex",
    "zip",
    "admission",
    "diagnosis"
), "anon_missing" AS (
  SELECT
    *
  FROM "anon_counts"
  EXCEPT ALL
  SELECT
    *
  FROM "anon_others"
), "anon_added" AS (
  SELECT
    *
  FROM "anon_others"
  EXCEPT ALL
  SELECT
    *
  FROM "anon_counts"
), "anon_sides" AS (
  SELECT
    *
  FROM "anon_missing"
  UNION ALL
  SELECT
    *
  FROM "anon_added"
)
SELECT
  COUNT(*) AS differences
FROM "anon_sides";

COMMIT;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_3";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_2";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_published_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_union_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_old_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_new_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_union_values_0";

DROP TABLE IF EXISTS "temp"."main"."anon_partition_counts";

DROP TABLE IF EXISTS "temp"."main"."anon_node_labels_3";

DROP TABLE IF EXISTS "temp"."main"."anon_node_labels_2";

DROP TABLE IF EXISTS "temp"."main"."anon_node_labels_1";

DROP TABLE IF EXISTS "temp"."main"."anon_node_labels_0";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

BEGIN;

UPDATE "anon_fit"."main"."releases" SET "pending" = FALSE WHERE "number" = 1;

COMMIT;

-- shared: read CHECKPOINT 1;

DETACH "anon_fit";

