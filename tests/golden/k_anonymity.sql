-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 960 rows; the SHA-256 of them is 024f4d44851e1424a839b79d9b6eba65b697042bab489e4697759bf53b8a4ed3.

-- shared: read taxonomy 1;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 2;

WITH "anon_taxonomy" AS (
  SELECT
    *
  FROM "memory"."anon"."taxonomy"
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
  FROM "memory"."anon"."taxonomy" AS anon_taxonomy(anon_attribute, anon_level, anon_value, anon_label)
  WHERE
    ARRAY_CONTAINS(['age', 'sex', 'zip', 'admission'], anon_taxonomy.anon_attribute)
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
FROM UNNEST(['age', 'sex', 'zip', 'admission']) AS anon_wanted(anon_name)
LEFT JOIN anon_ambiguous
  ON anon_ambiguous.anon_attribute = anon_wanted.anon_name
GROUP BY
  anon_wanted.anon_name;

BEGIN;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 2;

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
  FROM "memory"."anon"."taxonomy" AS anon_taxonomy(anon_attribute, anon_level, anon_value, anon_label)
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

-- shared: read anon_labels 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_cells" AS
WITH "anon_rows" AS MATERIALIZED (
  SELECT
    "age" AS "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "sex",
    CAST(COALESCE("zip", NULL) AS TEXT) COLLATE "binary" AS "zip",
    "admission" AS "admission",
    "diagnosis" AS "diagnosis",
    COUNT(*) AS "anon_row_count"
  FROM "memory"."main"."visits"
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

-- shared: read anon_cells 3;

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 2276569611635785728 AS "anon_key_0",
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
    "anon_key_0" & 504403158265495552 AS "anon_bits_2_4_0",
    "anon_key_0" & 42784196460019712 AS "anon_bits_3_2_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    (
      1.0e0 + CASE
        WHEN "anon_bits_2_4_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_2_4_0" <= 72057594037927936
        THEN 0.23376623376623376e0
        WHEN "anon_bits_2_4_0" <= 144115188075855872
        THEN 0.24025974025974026e0
        ELSE 0.2532467532467532e0
      END + CASE
        WHEN "anon_bits_3_2_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_3_2_0" <= 36028797018963968
        THEN 0.2445054945054945e0
        WHEN "anon_bits_3_2_0" <= 38280596832649216
        THEN 0.24725274725274726e0
        ELSE 0.25e0
      END
    ) / 4 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept",
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
    "anon_key_0" & 2276780717868318720 AS "anon_key_0",
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
    "anon_key_0" & 504403158265495552 AS "anon_bits_2_4_0",
    "anon_key_0" & 42995302692552704 AS "anon_bits_3_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    (
      1.0e0 + CASE
        WHEN "anon_bits_2_4_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_2_4_0" <= 72057594037927936
        THEN 0.23376623376623376e0
        WHEN "anon_bits_2_4_0" <= 144115188075855872
        THEN 0.24025974025974026e0
        ELSE 0.2532467532467532e0
      END + CASE
        WHEN "anon_bits_3_1_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_3_1_0" <= 36028797018963968
        THEN 0.07417582417582418e0
        WHEN "anon_bits_3_1_0" <= 36169534507319296
        THEN 0.08241758241758242e0
        WHEN "anon_bits_3_1_0" <= 38350965576826880
        THEN 0.07967032967032966e0
        WHEN "anon_bits_3_1_0" <= 38421334321004544
        THEN 0.08241758241758242e0
        WHEN "anon_bits_3_1_0" <= 40532396646334464
        THEN 0.07967032967032966e0
        WHEN "anon_bits_3_1_0" <= 40673134134689792
        THEN 0.08241758241758242e0
        WHEN "anon_bits_3_1_0" <= 42784196460019712
        THEN 0.07967032967032966e0
        ELSE 0.08241758241758242e0
      END
    ) / 4 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept",
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
    "anon_key_0" & 8716717078775595008 AS "anon_key_0",
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
    "anon_key_0" & 6944550625405304832 AS "anon_bits_0_2_0",
    "anon_key_0" & 42784196460019712 AS "anon_bits_3_2_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    (
      1.0e0 + CASE WHEN "anon_bits_0_2_0" <= 0 THEN 0.0e0 ELSE 0.09090909090909091e0 END + CASE
        WHEN "anon_bits_3_2_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_3_2_0" <= 36028797018963968
        THEN 0.2445054945054945e0
        WHEN "anon_bits_3_2_0" <= 38280596832649216
        THEN 0.24725274725274726e0
        ELSE 0.25e0
      END
    ) / 4 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept",
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
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_cells"
  CROSS JOIN (VALUES
    (0, 8711087579241381888),
    (1, 2276780717868318720)) AS "anon_nodes"("anon_node", "anon_mask_0")
), "anon_values" AS (
  SELECT
    "anon_node",
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_node",
    "anon_key_0",
    "anon_sensitive_0"
), "anon_keyed" AS (
  SELECT
    "anon_node",
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_node",
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 6945676525312147456 AS "anon_bits_0_1_0",
    "anon_key_0" & 504403158265495552 AS "anon_bits_2_3_0",
    "anon_key_0" & 36028797018963968 AS "anon_bits_3_3_0",
    "anon_key_0" & 42995302692552704 AS "anon_bits_3_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_node",
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    (
      0.0e0 + CASE
        WHEN "anon_node" IN (0)
        THEN CASE WHEN "anon_bits_0_1_0" <= 0 THEN 0.0e0 ELSE 0.04040404040404041e0 END
        ELSE 1.0e0
      END + CASE
        WHEN "anon_node" IN (1)
        THEN CASE
          WHEN "anon_bits_2_3_0" <= 0
          THEN 0.0e0
          WHEN "anon_bits_2_3_0" <= 72057594037927936
          THEN 0.23376623376623376e0
          WHEN "anon_bits_2_3_0" <= 144115188075855872
          THEN 0.24025974025974026e0
          ELSE 0.2532467532467532e0
        END
        ELSE 1.0e0
      END + CASE
        WHEN "anon_node" IN (0)
        THEN CASE WHEN "anon_bits_3_3_0" <= 0 THEN 0.0e0 ELSE 1.0e0 END
        ELSE CASE
          WHEN "anon_bits_3_1_0" <= 0
          THEN 0.0e0
          WHEN "anon_bits_3_1_0" <= 36028797018963968
          THEN 0.07417582417582418e0
          WHEN "anon_bits_3_1_0" <= 36169534507319296
          THEN 0.08241758241758242e0
          WHEN "anon_bits_3_1_0" <= 38350965576826880
          THEN 0.07967032967032966e0
          WHEN "anon_bits_3_1_0" <= 38421334321004544
          THEN 0.08241758241758242e0
          WHEN "anon_bits_3_1_0" <= 40532396646334464
          THEN 0.07967032967032966e0
          WHEN "anon_bits_3_1_0" <= 40673134134689792
          THEN 0.08241758241758242e0
          WHEN "anon_bits_3_1_0" <= 42784196460019712
          THEN 0.07967032967032966e0
          ELSE 0.08241758241758242e0
        END
      END
    ) / 4 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept",
    "anon_class_size" AS "anon_class_weight"
  FROM "anon_classes"
)
SELECT
  anon_node AS node,
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
FROM "anon_classes_2" AS "anon_classes"
GROUP BY
  anon_node;

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8716717078775595008 AS "anon_key_0",
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
    "anon_key_0" & 6944550625405304832 AS "anon_bits_0_2_0",
    "anon_key_0" & 42784196460019712 AS "anon_bits_3_2_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    (
      1.0e0 + CASE WHEN "anon_bits_0_2_0" <= 0 THEN 0.0e0 ELSE 0.09090909090909091e0 END + CASE
        WHEN "anon_bits_3_2_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_3_2_0" <= 36028797018963968
        THEN 0.2445054945054945e0
        WHEN "anon_bits_3_2_0" <= 38280596832649216
        THEN 0.24725274725274726e0
        ELSE 0.25e0
      END
    ) / 4 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept",
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

CREATE TEMPORARY TABLE "temp"."main"."anon_kept" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8716717078775595008 AS "anon_key_0",
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
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept"
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
    "code" AS "anon_code_0_2"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 2
), "anon_labels_1" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_1_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_labels_3" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_3_2"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 3 AND "depth" = 2
)
SELECT
  "anon_labels_0"."anon_code_0_2",
  "anon_labels_1"."anon_code_1_0",
  "anon_labels_3"."anon_code_3_2"
FROM "anon_kept"
LEFT JOIN "anon_labels_0"
  ON (
    "anon_kept"."anon_key_0" & 6944550625405304832
  ) = "anon_labels_0"."anon_key_0"
LEFT JOIN "anon_labels_1"
  ON (
    "anon_kept"."anon_key_0" & 1729382256910270464
  ) = "anon_labels_1"."anon_key_0"
LEFT JOIN "anon_labels_3"
  ON (
    "anon_kept"."anon_key_0" & 42784196460019712
  ) = "anon_labels_3"."anon_key_0";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8716717078775595008 AS "anon_key_0",
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
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  MIN("anon_class_size") FILTER(WHERE
    "anon_kept") AS "attained_0",
  MIN("anon_measure_0") FILTER(WHERE
    "anon_kept") AS "attained_1"
FROM "anon_judged";

CREATE TEMPORARY TYPE "anon_label_type_0" AS ENUM(
SELECT
  "label"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 0 AND "depth" = 2 AND NOT "label" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

-- shared: create anon_label_type_1 1;

CREATE TEMPORARY TYPE "anon_label_type_2" AS ENUM(
SELECT
  "label"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 2 AND "depth" = 5 AND NOT "label" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

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
  ) AS "groups",
  COUNT(*) AS "source_rows",
  COUNT("patient_id") AS "filled_0",
  COUNT("patient_id") AS "rows_0",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("patient_id")), 0) AS "values_0",
  COUNT("ssn") AS "filled_1",
  COUNT("ssn") AS "rows_1",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("ssn")), 0) AS "values_1"
FROM "memory"."main"."visits" AS anon_source;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_0" AS (
  SELECT
    "value",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 2
), "anon_labels_1" AS (
  SELECT
    "value",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
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
    "anon_labels_3"."anon_label_3",
    CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    "anon_source"."length_of_stay" AS "length_of_stay",
    1 AS "anon_row_count"
  FROM "memory"."main"."visits" AS anon_source
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."age", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "anon_labels_1"
    ON "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."sex", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "anon_labels_3"
    ON "anon_labels_3"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."admission", NULL) AS TEXT) COLLATE "binary"
), "anon_labels_0_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_0_2",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 2
), "anon_labels_1_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_1_0",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
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
    "anon_labels_3"."anon_label_3"
  FROM "temp"."main"."anon_kept" AS anon_codes
  LEFT JOIN "anon_labels_0_2" AS "anon_labels_0"
    ON "anon_labels_0"."anon_code_0_2" = "anon_codes"."anon_code_0_2"
  LEFT JOIN "anon_labels_1_2" AS "anon_labels_1"
    ON "anon_labels_1"."anon_code_1_0" = "anon_codes"."anon_code_1_0"
  LEFT JOIN "anon_labels_3_2" AS "anon_labels_3"
    ON "anon_labels_3"."anon_code_3_2" = "anon_codes"."anon_code_3_2"
), "anon_labels_2" AS (
  SELECT DISTINCT
    CAST("label" AS anon_label_type_2) AS "anon_label_2"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 5
), "anon_published" AS (
  SELECT
    "anon_rows"."diagnosis",
    "anon_rows"."length_of_stay",
    "anon_rows"."anon_row_count",
    "anon_rows"."anon_label_0" AS "anon_label_0",
    "anon_rows"."anon_label_1" AS "anon_label_1",
    "anon_labels_2"."anon_label_2" AS "anon_label_2",
    "anon_rows"."anon_label_3" AS "anon_label_3"
  FROM "anon_rows"
  JOIN "anon_kept"
    ON "anon_kept"."anon_label_0" IS NOT DISTINCT FROM "anon_rows"."anon_label_0"
    AND "anon_kept"."anon_label_1" IS NOT DISTINCT FROM "anon_rows"."anon_label_1"
    AND "anon_kept"."anon_label_3" IS NOT DISTINCT FROM "anon_rows"."anon_label_3"
  LEFT JOIN "anon_labels_2"
    ON TRUE
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
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 11) AS BIGINT) << 59
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 3) AS BIGINT) << 57
  ) ASC,
  (
    CAST(COALESCE(ENUM_CODE("anon_label_3"), 5) AS BIGINT) << 60
  ) ASC,
  "diagnosis" ASC,
  "length_of_stay" ASC;

-- shared: create released 1;

SELECT
  APPROX_COUNT_DISTINCT("diagnosis") AS "values_0",
  APPROX_COUNT_DISTINCT("length_of_stay") AS "values_1",
  COALESCE(SUM("anon_row_count"), 0) AS "rows"
FROM "temp"."main"."anon_equal_rows";

WITH "anon_values" AS (
  SELECT
    SUM(anon_row_count) AS anon_value_rows
  FROM "temp"."main"."anon_equal_rows"
  WHERE
    TRUE
  GROUP BY
    "diagnosis",
    "length_of_stay"
)
SELECT
  0 AS place,
  COALESCE(SUM(anon_value_rows), 0) AS counted,
  COALESCE(SUM(anon_value_rows) FILTER(WHERE
    anon_value_rows < 5), 0) AS rare
FROM "anon_values";

CREATE TEMPORARY TABLE "temp"."main"."anon_few_rows" AS
WITH "anon_rows" AS (
  SELECT
    CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary" AS "anon_value_0",
    CAST(COALESCE("zip", NULL) AS TEXT) COLLATE "binary" AS "anon_value_2",
    CAST(COALESCE("admission", NULL) AS TEXT) COLLATE "binary" AS "anon_value_3",
    "diagnosis" AS "anon_kept_0",
    "length_of_stay" AS "anon_kept_1"
  FROM "memory"."main"."visits"
  LIMIT 5000
), "anon_labels_of_anon_finer_0" AS (
  SELECT
    "value",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 1
), "anon_labels_of_anon_finer_2" AS (
  SELECT
    "value",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 4
), "anon_labels_of_anon_finer_3" AS (
  SELECT
    "value",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 3 AND "depth" = 1
)
SELECT
  "anon_rows"."anon_value_0",
  "anon_rows"."anon_value_2",
  "anon_rows"."anon_value_3",
  "anon_rows"."anon_kept_0",
  "anon_rows"."anon_kept_1",
  "anon_labels_of_anon_finer_0"."label" AS "anon_finer_0",
  "anon_labels_of_anon_finer_2"."label" AS "anon_finer_2",
  "anon_labels_of_anon_finer_3"."label" AS "anon_finer_3"
FROM "anon_rows"
LEFT JOIN "anon_labels_of_anon_finer_0"
  ON "anon_labels_of_anon_finer_0"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_0"
LEFT JOIN "anon_labels_of_anon_finer_2"
  ON "anon_labels_of_anon_finer_2"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_2"
LEFT JOIN "anon_labels_of_anon_finer_3"
  ON "anon_labels_of_anon_finer_3"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_3";

WITH "anon_groups" AS (
  SELECT
    (
      MIN("anon_kept_0") IS NOT DISTINCT FROM MAX("anon_kept_0")
      AND COUNT("anon_kept_0") IN (0, COUNT(*))
    ) AS "anon_0",
    (
      MIN("anon_kept_1") IS NOT DISTINCT FROM MAX("anon_kept_1")
      AND COUNT("anon_kept_1") IN (0, COUNT(*))
    ) AS "anon_1"
  FROM "temp"."main"."anon_few_rows"
  GROUP BY
    "anon_value_0"
), "anon_groups_2" AS (
  SELECT
    (
      MIN("anon_kept_0") IS NOT DISTINCT FROM MAX("anon_kept_0")
      AND COUNT("anon_kept_0") IN (0, COUNT(*))
    ) AS "anon_0",
    (
      MIN("anon_kept_1") IS NOT DISTINCT FROM MAX("anon_kept_1")
      AND COUNT("anon_kept_1") IN (0, COUNT(*))
    ) AS "anon_1"
  FROM "temp"."main"."anon_few_rows"
  GROUP BY
    "anon_value_2"
), "anon_groups_3" AS (
  SELECT
    (
      MIN("anon_kept_0") IS NOT DISTINCT FROM MAX("anon_kept_0")
      AND COUNT("anon_kept_0") IN (0, COUNT(*))
    ) AS "anon_0",
    (
      MIN("anon_kept_1") IS NOT DISTINCT FROM MAX("anon_kept_1")
      AND COUNT("anon_kept_1") IN (0, COUNT(*))
    ) AS "anon_1"
  FROM "temp"."main"."anon_few_rows"
  GROUP BY
    "anon_value_3"
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0",
  COALESCE(BOOL_AND(CAST("anon_1" AS BOOLEAN)), TRUE) AS "holds_1"
FROM "anon_groups"
UNION ALL
SELECT
  2 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0",
  COALESCE(BOOL_AND(CAST("anon_1" AS BOOLEAN)), TRUE) AS "holds_1"
FROM "anon_groups_2" AS anon_groups
UNION ALL
SELECT
  3 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0",
  COALESCE(BOOL_AND(CAST("anon_1" AS BOOLEAN)), TRUE) AS "holds_1"
FROM "anon_groups_3" AS anon_groups;

WITH "anon_groups" AS (
  SELECT
    (
      MIN("anon_finer_0") IS NOT DISTINCT FROM MAX("anon_finer_0")
      AND COUNT("anon_finer_0") IN (0, COUNT(*))
    ) AS "anon_0",
    (
      MIN("anon_finer_2") IS NOT DISTINCT FROM MAX("anon_finer_2")
      AND COUNT("anon_finer_2") IN (0, COUNT(*))
    ) AS "anon_1",
    (
      MIN("anon_finer_3") IS NOT DISTINCT FROM MAX("anon_finer_3")
      AND COUNT("anon_finer_3") IN (0, COUNT(*))
    ) AS "anon_2"
  FROM "temp"."main"."anon_few_rows"
  GROUP BY
    "anon_kept_0"
), "anon_groups_2" AS (
  SELECT
    (
      MIN("anon_finer_0") IS NOT DISTINCT FROM MAX("anon_finer_0")
      AND COUNT("anon_finer_0") IN (0, COUNT(*))
    ) AS "anon_0",
    (
      MIN("anon_finer_2") IS NOT DISTINCT FROM MAX("anon_finer_2")
      AND COUNT("anon_finer_2") IN (0, COUNT(*))
    ) AS "anon_1",
    (
      MIN("anon_finer_3") IS NOT DISTINCT FROM MAX("anon_finer_3")
      AND COUNT("anon_finer_3") IN (0, COUNT(*))
    ) AS "anon_2"
  FROM "temp"."main"."anon_few_rows"
  GROUP BY
    "anon_kept_1"
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0",
  COALESCE(BOOL_AND(CAST("anon_1" AS BOOLEAN)), TRUE) AS "holds_1",
  COALESCE(BOOL_AND(CAST("anon_2" AS BOOLEAN)), TRUE) AS "holds_2"
FROM "anon_groups"
UNION ALL
SELECT
  1 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0",
  COALESCE(BOOL_AND(CAST("anon_1" AS BOOLEAN)), TRUE) AS "holds_1",
  COALESCE(BOOL_AND(CAST("anon_2" AS BOOLEAN)), TRUE) AS "holds_2"
FROM "anon_groups_2" AS anon_groups;

DROP TABLE IF EXISTS "temp"."main"."anon_few_rows";

CREATE TEMPORARY TABLE "temp"."main"."anon_judged_cells" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8716717078775595008 AS "anon_key_0",
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
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept"
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
    "anon_cells"."anon_key_0" & 8716717078775595008
  ) = "anon_kept"."anon_key_0";

WITH "anon_groups" AS (
  SELECT
    "anon_key_0" & 6945676525312147456 AS "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count",
    CAST(SUM("anon_suppressed_rows") AS BIGINT) AS "anon_suppressed_rows"
  FROM "temp"."main"."anon_judged_cells"
  GROUP BY
    "anon_key_0" & 6945676525312147456
), "anon_labels" AS (
  SELECT DISTINCT
    "anon_key_0",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 1
), "anon_groups_2" AS (
  SELECT
    "anon_key_0" & 1729382256910270464 AS "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count",
    CAST(SUM("anon_suppressed_rows") AS BIGINT) AS "anon_suppressed_rows"
  FROM "temp"."main"."anon_judged_cells"
  GROUP BY
    "anon_key_0" & 1729382256910270464
), "anon_labels_2" AS (
  SELECT DISTINCT
    "anon_key_0",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_groups_3" AS (
  SELECT
    "anon_key_0" & 505247583195627520 AS "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count",
    CAST(SUM("anon_suppressed_rows") AS BIGINT) AS "anon_suppressed_rows"
  FROM "temp"."main"."anon_judged_cells"
  GROUP BY
    "anon_key_0" & 505247583195627520
), "anon_labels_3" AS (
  SELECT DISTINCT
    "anon_key_0",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 1
), "anon_groups_4" AS (
  SELECT
    "anon_key_0" & 42995302692552704 AS "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count",
    CAST(SUM("anon_suppressed_rows") AS BIGINT) AS "anon_suppressed_rows"
  FROM "temp"."main"."anon_judged_cells"
  GROUP BY
    "anon_key_0" & 42995302692552704
), "anon_labels_4" AS (
  SELECT DISTINCT
    "anon_key_0",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 3 AND "depth" = 1
)
SELECT
  0 AS "position",
  "anon_labels"."label" AS "label",
  "anon_groups"."anon_row_count" AS "rows",
  "anon_groups"."anon_suppressed_rows" AS "suppressed_rows"
FROM "anon_groups"
LEFT JOIN "anon_labels"
  ON (
    "anon_groups"."anon_key_0" & 6945676525312147456
  ) = "anon_labels"."anon_key_0"
WHERE
  "anon_groups"."anon_row_count" >= 30
UNION ALL
SELECT
  1 AS "position",
  "anon_labels"."label" AS "label",
  "anon_groups"."anon_row_count" AS "rows",
  "anon_groups"."anon_suppressed_rows" AS "suppressed_rows"
FROM "anon_groups_2" AS "anon_groups"
LEFT JOIN "anon_labels_2" AS "anon_labels"
  ON (
    "anon_groups"."anon_key_0" & 1729382256910270464
  ) = "anon_labels"."anon_key_0"
WHERE
  "anon_groups"."anon_row_count" >= 30
UNION ALL
SELECT
  2 AS "position",
  "anon_labels"."label" AS "label",
  "anon_groups"."anon_row_count" AS "rows",
  "anon_groups"."anon_suppressed_rows" AS "suppressed_rows"
FROM "anon_groups_3" AS "anon_groups"
LEFT JOIN "anon_labels_3" AS "anon_labels"
  ON (
    "anon_groups"."anon_key_0" & 505247583195627520
  ) = "anon_labels"."anon_key_0"
WHERE
  "anon_groups"."anon_row_count" >= 30
UNION ALL
SELECT
  3 AS "position",
  "anon_labels"."label" AS "label",
  "anon_groups"."anon_row_count" AS "rows",
  "anon_groups"."anon_suppressed_rows" AS "suppressed_rows"
FROM "anon_groups_4" AS "anon_groups"
LEFT JOIN "anon_labels_4" AS "anon_labels"
  ON (
    "anon_groups"."anon_key_0" & 42995302692552704
  ) = "anon_labels"."anon_key_0"
WHERE
  "anon_groups"."anon_row_count" >= 30;

DROP TABLE IF EXISTS "temp"."main"."anon_judged_cells";

-- shared: read anon_cells 4;

-- shared: read anon_labels 2;

-- shared: read anon_cells 5;

-- shared: read taxonomy 1;

WITH "anon_classes" AS (
  SELECT
    "age" AS "age",
    "sex" AS "sex",
    "zip" AS "zip",
    "admission" AS "admission",
    COUNT(*) AS anon_class_size
  FROM "memory"."main"."released"
  GROUP BY ALL
), "anon_class_sizes" AS (
  SELECT
    anon_class_size AS class_size
  FROM "anon_classes"
), "anon_k_anonymity" AS (
  SELECT
    MIN(class_size) AS k,
    COUNT(*) AS class_count,
    CAST(COALESCE(SUM(class_size), 0) AS BIGINT) AS row_count
  FROM "anon_class_sizes"
), "anon_prosecutor_risk" AS (
  SELECT
    1.0 / MIN(class_size) AS highest_risk,
    CAST(COUNT(*) AS DOUBLE) / SUM(class_size) AS average_risk
  FROM "anon_class_sizes"
), "anon_sample_uniqueness" AS (
  SELECT
    COUNT(*) FILTER(WHERE
      class_size = 1) AS unique_rows,
    CAST(COALESCE(SUM(class_size), 0) AS BIGINT) AS row_count,
    COUNT(*) FILTER(WHERE
      class_size = 1) / CAST(SUM(class_size) AS DOUBLE) AS unique_share
  FROM "anon_class_sizes"
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

WITH "anon_value_counts" AS (
  SELECT
    ROW("age", "sex", "zip", "admission") AS class,
    "diagnosis" AS sensitive_value,
    COUNT(*) AS row_count
  FROM "memory"."main"."released"
  GROUP BY ALL
), "anon_class_diversity" AS (
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
  FROM "anon_value_counts"
  GROUP BY
    class
), "anon_measured" AS (
  SELECT
    MIN(distinct_diversity) AS l
  FROM "anon_class_diversity"
)
SELECT
  "l" AS "attained"
FROM "anon_measured";

-- shared: read released 1;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_3";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_2";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

COMMIT;

