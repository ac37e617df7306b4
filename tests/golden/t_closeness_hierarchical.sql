-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 11 rows; the SHA-256 of them is a21560628018ea7f74d0641eac0a8130ee4e46021db969a172bbe6cc4ef52f55.

-- shared: read taxonomy 1;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 6;

WITH "anon_taxonomy" AS (
  SELECT
    *
  FROM "memory"."anon"."taxonomy"
  WHERE
    attribute IN ('age', 'diagnosis', 'sex', 'zip')
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
    ARRAY_CONTAINS(['age', 'sex', 'zip', 'diagnosis'], anon_taxonomy.anon_attribute)
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
FROM UNNEST(['age', 'sex', 'zip', 'diagnosis']) AS anon_wanted(anon_name)
LEFT JOIN anon_ambiguous
  ON anon_ambiguous.anon_attribute = anon_wanted.anon_name
GROUP BY
  anon_wanted.anon_name;

BEGIN;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 6;

-- shared: create anon_coded_labels 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_sensitive_codes_0" AS
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
    ARRAY_CONTAINS(['diagnosis'], anon_taxonomy.anon_attribute)
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
), "anon_taxonomy" AS (
  SELECT
    level,
    value,
    label,
    leaf_count
  FROM "anon_taxonomy_labels"
), "anon_coded" AS (
  SELECT
    "level",
    "value",
    DENSE_RANK() OVER (
      PARTITION BY "level"
      ORDER BY "leaf_count" ASC NULLS FIRST, "label" ASC NULLS FIRST
    ) AS "code"
  FROM "anon_taxonomy"
)
SELECT
  "value" AS "value",
  CAST(MAX("code") FILTER(WHERE
    "level" = 1) AS UTINYINT) AS "anon_sensitive_0_1"
FROM "anon_coded"
WHERE
  "level" < 2
GROUP BY
  "value"
HAVING
  COUNT(*) = 2;

-- shared: read anon_coded_labels 1;

-- shared: create anon_labels 2;

DROP TABLE IF EXISTS "temp"."main"."anon_coded_labels";

-- shared: read anon_labels 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_cells" AS
WITH "anon_rows" AS MATERIALIZED (
  SELECT
    "age" AS "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "sex",
    CAST(COALESCE("zip", NULL) AS TEXT) COLLATE "binary" AS "zip",
    CAST(COALESCE("diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    COUNT(*) AS "anon_row_count"
  FROM "memory"."main"."visits"
  GROUP BY
    "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary",
    CAST(COALESCE("zip", NULL) AS TEXT) COLLATE "binary",
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
  "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" | "anon_labels_2"."anon_key_0" AS "anon_key_0",
  "anon_labels_0"."code" IS NULL
  OR "anon_labels_1"."code" IS NULL
  OR "anon_labels_2"."code" IS NULL AS "anon_is_unmapped",
  "anon_sensitive_0_ranks"."anon_sensitive_0",
  "anon_rows"."diagnosis" AS "anon_raw_0",
  "anon_sensitive_codes_0"."anon_sensitive_0_1",
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
JOIN "anon_sensitive_0_ranks"
  ON "anon_sensitive_0_ranks"."diagnosis" IS NOT DISTINCT FROM "anon_rows"."diagnosis"
LEFT JOIN "temp"."main"."anon_sensitive_codes_0" AS anon_sensitive_codes_0
  ON "anon_sensitive_codes_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."diagnosis", NULL) AS TEXT) COLLATE "binary"
ORDER BY
  "anon_key_0" ASC;

CREATE TEMPORARY TABLE "temp"."main"."anon_values_0" AS
WITH "anon_counts" AS (
  SELECT
    "anon_sensitive_0",
    ANY_VALUE("anon_sensitive_0_1") AS "anon_sensitive_0_1",
    SUM("anon_row_count") AS "anon_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_sensitive_0"
)
SELECT
  "anon_sensitive_0",
  "anon_sensitive_0_1",
  "anon_rows" / SUM("anon_rows") OVER () AS "anon_share",
  SUM("anon_rows") OVER (PARTITION BY "anon_sensitive_0_1") / SUM("anon_rows") OVER () AS "anon_share_1"
FROM "anon_counts";

SELECT
  COUNT(*) AS "cells",
  COALESCE(SUM("anon_row_count"), 0) AS "rows",
  COALESCE(
    SUM("anon_row_count") FILTER(WHERE
      "anon_is_unmapped" OR "anon_sensitive_0_1" IS NULL),
    0
  ) AS "unmapped"
FROM "temp"."main"."anon_cells";

-- shared: read anon_cells 6;

SELECT
  "anon_key_0",
  "anon_sensitive_0",
  "anon_sensitive_0_1",
  "anon_row_count"
FROM "temp"."main"."anon_cells";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 396316767208603648 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_0_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_key_0"
), "anon_whole" AS (
  SELECT
    "anon_key_0",
    "anon_value_size" AS "anon_class_size"
  FROM "anon_sensitive_0_sizes"
), "anon_sensitive_0_labelled" AS MATERIALIZED (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_sensitive_0_1",
    "anon_known"."anon_share",
    "anon_known"."anon_share_1"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
  JOIN "temp"."main"."anon_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
  WHERE
    "anon_sizes"."anon_value_size" >= 2
), "anon_labels" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    "anon_value_size",
    "anon_share"
  FROM "anon_sensitive_0_labelled"
  UNION ALL
  SELECT
    "anon_key_0",
    SUM("anon_rows") AS "anon_rows",
    ANY_VALUE("anon_value_size") AS "anon_value_size",
    ANY_VALUE("anon_share_1") AS "anon_share"
  FROM "anon_sensitive_0_labelled"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0_1"
), "anon_view_0" AS (
  SELECT
    "anon_key_0",
    (
      FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
    ) / 2 AS "anon_measure_0",
    (
      (
        CASE
          WHEN (
            (
              FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
            ) / 2 - 0.40000000040000006e0
          ) > 1e-9
          THEN (
            (
              (
                FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
              ) / 2 - 0.40000000040000006e0
            ) - 1e-9
          ) / (
            (
              1 - COALESCE(
                SUM("anon_share") FILTER(WHERE
                  "anon_rows" / "anon_value_size" >= "anon_share"),
                0.0
              ) / 2 - 0.40000000040000006e0
            ) + 1e-9
          )
          ELSE 0e0
        END
      )
    ) AS "anon_certain_share_0"
  FROM "anon_labels"
  GROUP BY
    "anon_key_0"
), "anon_keyed" AS (
  SELECT
    "anon_whole"."anon_key_0",
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_0",
    "anon_view_0"."anon_certain_share_0"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 396316767208603648 AS "anon_bits_2_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    "anon_labelled"."anon_certain_share_0",
    (
      2.0e0 + CASE
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
    "anon_class_size" >= 2 AND "anon_measure_0" <= 0.40000000040000006 AS "anon_kept",
    "anon_class_size" >= 2 AS "anon_certainly_kept",
    "anon_certain_share_0" AS "anon_certain_share",
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
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm,
  CAST(COALESCE(
    SUM(
      CASE
        WHEN "anon_certainly_kept"
        THEN CEIL("anon_class_size" * "anon_certain_share")
        ELSE "anon_class_size"
      END
    ),
    0
  ) AS BIGINT) AS "certain_suppressed_rows"
FROM "anon_classes_2" AS "anon_classes";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 1729382256910270464 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_0_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_key_0"
), "anon_whole" AS (
  SELECT
    "anon_key_0",
    "anon_value_size" AS "anon_class_size"
  FROM "anon_sensitive_0_sizes"
), "anon_sensitive_0_labelled" AS MATERIALIZED (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_sensitive_0_1",
    "anon_known"."anon_share",
    "anon_known"."anon_share_1"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
  JOIN "temp"."main"."anon_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
  WHERE
    "anon_sizes"."anon_value_size" >= 2
), "anon_labels" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    "anon_value_size",
    "anon_share"
  FROM "anon_sensitive_0_labelled"
  UNION ALL
  SELECT
    "anon_key_0",
    SUM("anon_rows") AS "anon_rows",
    ANY_VALUE("anon_value_size") AS "anon_value_size",
    ANY_VALUE("anon_share_1") AS "anon_share"
  FROM "anon_sensitive_0_labelled"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0_1"
), "anon_view_0" AS (
  SELECT
    "anon_key_0",
    (
      FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
    ) / 2 AS "anon_measure_0",
    (
      (
        CASE
          WHEN (
            (
              FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
            ) / 2 - 0.40000000040000006e0
          ) > 1e-9
          THEN (
            (
              (
                FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
              ) / 2 - 0.40000000040000006e0
            ) - 1e-9
          ) / (
            (
              1 - COALESCE(
                SUM("anon_share") FILTER(WHERE
                  "anon_rows" / "anon_value_size" >= "anon_share"),
                0.0
              ) / 2 - 0.40000000040000006e0
            ) + 1e-9
          )
          ELSE 0e0
        END
      )
    ) AS "anon_certain_share_0"
  FROM "anon_labels"
  GROUP BY
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    "anon_whole"."anon_key_0",
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_0",
    "anon_view_0"."anon_certain_share_0"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    "anon_labelled"."anon_certain_share_0",
    (
      2.0e0
    ) / 3 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 2 AND "anon_measure_0" <= 0.40000000040000006 AS "anon_kept",
    "anon_class_size" >= 2 AS "anon_certainly_kept",
    "anon_certain_share_0" AS "anon_certain_share",
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
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm,
  CAST(COALESCE(
    SUM(
      CASE
        WHEN "anon_certainly_kept"
        THEN CEIL("anon_class_size" * "anon_certain_share")
        ELSE "anon_class_size"
      END
    ),
    0
  ) AS BIGINT) AS "certain_suppressed_rows"
FROM "anon_classes_2" AS "anon_classes";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 2017612633061982208 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_0_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_key_0"
), "anon_whole" AS (
  SELECT
    "anon_key_0",
    "anon_value_size" AS "anon_class_size"
  FROM "anon_sensitive_0_sizes"
), "anon_sensitive_0_labelled" AS MATERIALIZED (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_sensitive_0_1",
    "anon_known"."anon_share",
    "anon_known"."anon_share_1"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
  JOIN "temp"."main"."anon_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
  WHERE
    "anon_sizes"."anon_value_size" >= 2
), "anon_labels" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    "anon_value_size",
    "anon_share"
  FROM "anon_sensitive_0_labelled"
  UNION ALL
  SELECT
    "anon_key_0",
    SUM("anon_rows") AS "anon_rows",
    ANY_VALUE("anon_value_size") AS "anon_value_size",
    ANY_VALUE("anon_share_1") AS "anon_share"
  FROM "anon_sensitive_0_labelled"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0_1"
), "anon_view_0" AS (
  SELECT
    "anon_key_0",
    (
      FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
    ) / 2 AS "anon_measure_0",
    (
      (
        CASE
          WHEN (
            (
              FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
            ) / 2 - 0.40000000040000006e0
          ) > 1e-9
          THEN (
            (
              (
                FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
              ) / 2 - 0.40000000040000006e0
            ) - 1e-9
          ) / (
            (
              1 - COALESCE(
                SUM("anon_share") FILTER(WHERE
                  "anon_rows" / "anon_value_size" >= "anon_share"),
                0.0
              ) / 2 - 0.40000000040000006e0
            ) + 1e-9
          )
          ELSE 0e0
        END
      )
    ) AS "anon_certain_share_0"
  FROM "anon_labels"
  GROUP BY
    "anon_key_0"
), "anon_keyed" AS (
  SELECT
    "anon_whole"."anon_key_0",
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_0",
    "anon_view_0"."anon_certain_share_0"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 288230376151711744 AS "anon_bits_2_2_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    "anon_labelled"."anon_certain_share_0",
    (
      1.0e0 + CASE WHEN "anon_bits_2_2_0" <= 0 THEN 0.0e0 ELSE 1.0e0 END
    ) / 3 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 2 AND "anon_measure_0" <= 0.40000000040000006 AS "anon_kept",
    "anon_class_size" >= 2 AS "anon_certainly_kept",
    "anon_certain_share_0" AS "anon_certain_share",
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
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm,
  CAST(COALESCE(
    SUM(
      CASE
        WHEN "anon_certainly_kept"
        THEN CEIL("anon_class_size" * "anon_certain_share")
        ELSE "anon_class_size"
      END
    ),
    0
  ) AS BIGINT) AS "certain_suppressed_rows"
FROM "anon_classes_2" AS "anon_classes";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_0_1",
    "anon_row_count",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_cells"
  CROSS JOIN (VALUES
    (0, 7205759403792793600),
    (1, 396316767208603648)) AS "anon_nodes"("anon_node", "anon_mask_0")
), "anon_sensitive_0_rows" AS MATERIALIZED (
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
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_node",
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_node",
    "anon_key_0"
), "anon_whole" AS (
  SELECT
    "anon_node",
    "anon_key_0",
    "anon_value_size" AS "anon_class_size"
  FROM "anon_sensitive_0_sizes"
), "anon_sensitive_0_labelled" AS MATERIALIZED (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_sensitive_0_1",
    "anon_known"."anon_share",
    "anon_known"."anon_share_1"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_node" = "anon_values"."anon_node"
    AND "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
  JOIN "temp"."main"."anon_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
  WHERE
    "anon_sizes"."anon_value_size" >= 2
), "anon_labels" AS (
  SELECT
    "anon_node",
    "anon_key_0",
    "anon_rows",
    "anon_value_size",
    "anon_share"
  FROM "anon_sensitive_0_labelled"
  UNION ALL
  SELECT
    "anon_node",
    "anon_key_0",
    SUM("anon_rows") AS "anon_rows",
    ANY_VALUE("anon_value_size") AS "anon_value_size",
    ANY_VALUE("anon_share_1") AS "anon_share"
  FROM "anon_sensitive_0_labelled"
  GROUP BY
    "anon_node",
    "anon_key_0",
    "anon_sensitive_0_1"
), "anon_view_0" AS (
  SELECT
    "anon_node",
    "anon_key_0",
    (
      FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
    ) / 2 AS "anon_measure_0",
    (
      (
        CASE
          WHEN (
            (
              FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
            ) / 2 - 0.40000000040000006e0
          ) > 1e-9
          THEN (
            (
              (
                FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
              ) / 2 - 0.40000000040000006e0
            ) - 1e-9
          ) / (
            (
              1 - COALESCE(
                SUM("anon_share") FILTER(WHERE
                  "anon_rows" / "anon_value_size" >= "anon_share"),
                0.0
              ) / 2 - 0.40000000040000006e0
            ) + 1e-9
          )
          ELSE 0e0
        END
      )
    ) AS "anon_certain_share_0"
  FROM "anon_labels"
  GROUP BY
    "anon_node",
    "anon_key_0"
), "anon_keyed" AS (
  SELECT
    "anon_whole"."anon_node",
    "anon_whole"."anon_key_0",
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_0",
    "anon_view_0"."anon_certain_share_0"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_node" = "anon_view_0"."anon_node"
    AND "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 6917529027641081856 AS "anon_bits_0_2_0",
    "anon_key_0" & 288230376151711744 AS "anon_bits_2_2_0",
    "anon_key_0" & 396316767208603648 AS "anon_bits_2_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_node",
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    "anon_labelled"."anon_certain_share_0",
    (
      1.0e0 + CASE
        WHEN "anon_node" IN (0)
        THEN CASE WHEN "anon_bits_0_2_0" <= 0 THEN 0.0e0 ELSE 0.3220338983050847e0 END
        ELSE 1.0e0
      END + CASE
        WHEN "anon_node" IN (0)
        THEN CASE WHEN "anon_bits_2_2_0" <= 0 THEN 0.0e0 ELSE 1.0e0 END
        ELSE CASE
          WHEN "anon_bits_2_1_0" <= 0
          THEN 0.0e0
          WHEN "anon_bits_2_1_0" <= 324259173170675712
          THEN 0.2e0
          ELSE 0.4e0
        END
      END
    ) / 3 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 2 AND "anon_measure_0" <= 0.40000000040000006 AS "anon_kept",
    "anon_class_size" >= 2 AS "anon_certainly_kept",
    "anon_certain_share_0" AS "anon_certain_share",
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
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm,
  CAST(COALESCE(
    SUM(
      CASE
        WHEN "anon_certainly_kept"
        THEN CEIL("anon_class_size" * "anon_certain_share")
        ELSE "anon_class_size"
      END
    ),
    0
  ) AS BIGINT) AS "certain_suppressed_rows",
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
FROM "anon_classes_2" AS "anon_classes"
GROUP BY
  anon_node;

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 2017612633061982208 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_0_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_key_0"
), "anon_whole" AS (
  SELECT
    "anon_key_0",
    "anon_value_size" AS "anon_class_size"
  FROM "anon_sensitive_0_sizes"
), "anon_sensitive_0_labelled" AS MATERIALIZED (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_sensitive_0_1",
    "anon_known"."anon_share",
    "anon_known"."anon_share_1"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
  JOIN "temp"."main"."anon_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
  WHERE
    "anon_sizes"."anon_value_size" >= 2
), "anon_labels" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    "anon_value_size",
    "anon_share"
  FROM "anon_sensitive_0_labelled"
  UNION ALL
  SELECT
    "anon_key_0",
    SUM("anon_rows") AS "anon_rows",
    ANY_VALUE("anon_value_size") AS "anon_value_size",
    ANY_VALUE("anon_share_1") AS "anon_share"
  FROM "anon_sensitive_0_labelled"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0_1"
), "anon_view_0" AS (
  SELECT
    "anon_key_0",
    (
      FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
    ) / 2 AS "anon_measure_0",
    (
      (
        CASE
          WHEN (
            (
              FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
            ) / 2 - 0.40000000040000006e0
          ) > 1e-9
          THEN (
            (
              (
                FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
              ) / 2 - 0.40000000040000006e0
            ) - 1e-9
          ) / (
            (
              1 - COALESCE(
                SUM("anon_share") FILTER(WHERE
                  "anon_rows" / "anon_value_size" >= "anon_share"),
                0.0
              ) / 2 - 0.40000000040000006e0
            ) + 1e-9
          )
          ELSE 0e0
        END
      )
    ) AS "anon_certain_share_0"
  FROM "anon_labels"
  GROUP BY
    "anon_key_0"
), "anon_keyed" AS (
  SELECT
    "anon_whole"."anon_key_0",
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_0",
    "anon_view_0"."anon_certain_share_0"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 288230376151711744 AS "anon_bits_2_2_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    "anon_labelled"."anon_certain_share_0",
    (
      1.0e0 + CASE WHEN "anon_bits_2_2_0" <= 0 THEN 0.0e0 ELSE 1.0e0 END
    ) / 3 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 2 AND "anon_measure_0" <= 0.40000000040000006 AS "anon_kept",
    "anon_class_size" >= 2 AS "anon_certainly_kept",
    "anon_certain_share_0" AS "anon_certain_share",
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
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm,
  CAST(COALESCE(
    SUM(
      CASE
        WHEN "anon_certainly_kept"
        THEN CEIL("anon_class_size" * "anon_certain_share")
        ELSE "anon_class_size"
      END
    ),
    0
  ) AS BIGINT) AS "certain_suppressed_rows",
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
    "anon_key_0" & 2017612633061982208 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_0_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_key_0"
), "anon_whole" AS (
  SELECT
    "anon_key_0",
    "anon_value_size" AS "anon_class_size"
  FROM "anon_sensitive_0_sizes"
), "anon_sensitive_0_labelled" AS MATERIALIZED (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_sensitive_0_1",
    "anon_known"."anon_share",
    "anon_known"."anon_share_1"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
  JOIN "temp"."main"."anon_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
), "anon_labels" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    "anon_value_size",
    "anon_share"
  FROM "anon_sensitive_0_labelled"
  UNION ALL
  SELECT
    "anon_key_0",
    SUM("anon_rows") AS "anon_rows",
    ANY_VALUE("anon_value_size") AS "anon_value_size",
    ANY_VALUE("anon_share_1") AS "anon_share"
  FROM "anon_sensitive_0_labelled"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0_1"
), "anon_view_0" AS (
  SELECT
    "anon_key_0",
    (
      FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
    ) / 2 AS "anon_measure_0"
  FROM "anon_labels"
  GROUP BY
    "anon_key_0"
), "anon_classes" AS (
  SELECT
    "anon_whole"."anon_key_0",
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_0"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 2 AND "anon_measure_0" <= 0.40000000040000006 AS "anon_kept"
  FROM "anon_classes"
), "anon_kept" AS (
  SELECT
    "anon_key_0"
  FROM "anon_judged"
  WHERE
    "anon_kept"
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
)
SELECT
  "anon_labels_1"."anon_code_1_0",
  "anon_labels_2"."anon_code_2_2"
FROM "anon_kept"
LEFT JOIN "anon_labels_1"
  ON (
    "anon_kept"."anon_key_0" & 1729382256910270464
  ) = "anon_labels_1"."anon_key_0"
LEFT JOIN "anon_labels_2"
  ON (
    "anon_kept"."anon_key_0" & 288230376151711744
  ) = "anon_labels_2"."anon_key_0";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 2017612633061982208 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_0_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_key_0"
), "anon_whole" AS (
  SELECT
    "anon_key_0",
    "anon_value_size" AS "anon_class_size"
  FROM "anon_sensitive_0_sizes"
), "anon_sensitive_0_labelled" AS MATERIALIZED (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_sensitive_0_1",
    "anon_known"."anon_share",
    "anon_known"."anon_share_1"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
  JOIN "temp"."main"."anon_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
), "anon_labels" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    "anon_value_size",
    "anon_share"
  FROM "anon_sensitive_0_labelled"
  UNION ALL
  SELECT
    "anon_key_0",
    SUM("anon_rows") AS "anon_rows",
    ANY_VALUE("anon_value_size") AS "anon_value_size",
    ANY_VALUE("anon_share_1") AS "anon_share"
  FROM "anon_sensitive_0_labelled"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0_1"
), "anon_view_0" AS (
  SELECT
    "anon_key_0",
    (
      FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
    ) / 2 AS "anon_measure_0"
  FROM "anon_labels"
  GROUP BY
    "anon_key_0"
), "anon_classes" AS (
  SELECT
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_0"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 2 AND "anon_measure_0" <= 0.40000000040000006 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  MIN("anon_class_size") FILTER(WHERE
    "anon_kept") AS "attained_0",
  MAX("anon_measure_0") FILTER(WHERE
    "anon_kept") AS "attained_1"
FROM "anon_judged";

-- shared: create anon_label_type_0 2;

-- shared: create anon_label_type_1 1;

-- shared: create anon_label_type_2 2;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_1" AS (
  SELECT DISTINCT
    "anon_key_0",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_labels_2" AS (
  SELECT DISTINCT
    "anon_key_0",
    CAST("label" AS anon_label_type_2) AS "anon_label_2"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 2
), "anon_labelled_rows" AS (
  SELECT
    "anon_cells"."anon_row_count",
    "anon_labels_1"."anon_label_1",
    "anon_labels_2"."anon_label_2",
    CAST(COALESCE("anon_cells"."anon_raw_0", NULL) AS TEXT) COLLATE "binary" AS "diagnosis"
  FROM "temp"."main"."anon_cells" AS anon_cells
  LEFT JOIN "anon_labels_1"
    ON (
      "anon_cells"."anon_key_0" & 1729382256910270464
    ) = "anon_labels_1"."anon_key_0"
  LEFT JOIN "anon_labels_2"
    ON (
      "anon_cells"."anon_key_0" & 288230376151711744
    ) = "anon_labels_2"."anon_key_0"
), "anon_rows" AS (
  SELECT
    "anon_label_1",
    "anon_label_2",
    "diagnosis",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "anon_labelled_rows"
  GROUP BY
    "anon_label_1",
    "anon_label_2",
    "diagnosis"
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
), "anon_kept" AS (
  SELECT
    TRUE AS "anon_is_kept",
    "anon_labels_1"."anon_label_1",
    "anon_labels_2"."anon_label_2"
  FROM "temp"."main"."anon_kept" AS anon_codes
  LEFT JOIN "anon_labels_1_2" AS "anon_labels_1"
    ON "anon_labels_1"."anon_code_1_0" = "anon_codes"."anon_code_1_0"
  LEFT JOIN "anon_labels_2_2" AS "anon_labels_2"
    ON "anon_labels_2"."anon_code_2_2" = "anon_codes"."anon_code_2_2"
), "anon_labels_0" AS (
  SELECT DISTINCT
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 3
), "anon_published" AS (
  SELECT
    "anon_rows"."diagnosis",
    "anon_rows"."anon_row_count",
    "anon_labels_0"."anon_label_0" AS "anon_label_0",
    "anon_rows"."anon_label_1" AS "anon_label_1",
    "anon_rows"."anon_label_2" AS "anon_label_2"
  FROM "anon_rows"
  JOIN "anon_kept"
    ON "anon_kept"."anon_label_1" IS NOT DISTINCT FROM "anon_rows"."anon_label_1"
    AND "anon_kept"."anon_label_2" IS NOT DISTINCT FROM "anon_rows"."anon_label_2"
  LEFT JOIN "anon_labels_0"
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
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 3) AS BIGINT) << 61
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_2"), 2) AS BIGINT) << 59
  ) ASC,
  "diagnosis" ASC;

-- shared: create released 2;

-- shared: read anon_equal_rows 1;

-- shared: read anon_equal_rows 2;

CREATE TEMPORARY TABLE "temp"."main"."anon_few_rows" AS
WITH "anon_rows" AS (
  SELECT
    CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary" AS "anon_value_0",
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
    "position" = 0 AND "depth" = 2
), "anon_labels_of_anon_finer_2" AS (
  SELECT
    "value",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 1
)
SELECT
  "anon_rows"."anon_value_0",
  "anon_rows"."anon_value_2",
  "anon_rows"."anon_kept_0",
  "anon_labels_of_anon_finer_0"."label" AS "anon_finer_0",
  "anon_labels_of_anon_finer_2"."label" AS "anon_finer_2"
FROM "anon_rows"
LEFT JOIN "anon_labels_of_anon_finer_0"
  ON "anon_labels_of_anon_finer_0"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_0"
LEFT JOIN "anon_labels_of_anon_finer_2"
  ON "anon_labels_of_anon_finer_2"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_2";

-- shared: read anon_few_rows 1;

-- shared: read anon_few_rows 2;

DROP TABLE IF EXISTS "temp"."main"."anon_few_rows";

-- shared: read visits 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_judged_cells" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 2017612633061982208 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_0_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_key_0"
), "anon_whole" AS (
  SELECT
    "anon_key_0",
    "anon_value_size" AS "anon_class_size"
  FROM "anon_sensitive_0_sizes"
), "anon_sensitive_0_labelled" AS MATERIALIZED (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_sensitive_0_1",
    "anon_known"."anon_share",
    "anon_known"."anon_share_1"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
  JOIN "temp"."main"."anon_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
), "anon_labels" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    "anon_value_size",
    "anon_share"
  FROM "anon_sensitive_0_labelled"
  UNION ALL
  SELECT
    "anon_key_0",
    SUM("anon_rows") AS "anon_rows",
    ANY_VALUE("anon_value_size") AS "anon_value_size",
    ANY_VALUE("anon_share_1") AS "anon_share"
  FROM "anon_sensitive_0_labelled"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0_1"
), "anon_view_0" AS (
  SELECT
    "anon_key_0",
    (
      FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))
    ) / 2 AS "anon_measure_0"
  FROM "anon_labels"
  GROUP BY
    "anon_key_0"
), "anon_classes" AS (
  SELECT
    "anon_whole"."anon_key_0",
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_0"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 2 AND "anon_measure_0" <= 0.40000000040000006 AS "anon_kept"
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
    "anon_cells"."anon_key_0" & 2017612633061982208
  ) = "anon_kept"."anon_key_0";

-- shared: read anon_judged_cells 1;

DROP TABLE IF EXISTS "temp"."main"."anon_judged_cells";

-- shared: read anon_cells 4;

-- shared: read anon_labels 2;

SELECT
  "anon_key_0",
  "anon_sensitive_0",
  "anon_sensitive_0_1",
  "anon_row_count"
FROM "temp"."main"."anon_cells" AS anon_cells;

-- shared: read taxonomy 1;

-- shared: read released 2;

WITH "anon_counts_2" AS (
  SELECT
    ROW("age", "sex", "zip") AS class,
    "diagnosis" AS sensitive_value,
    COUNT(*) AS row_count
  FROM "memory"."main"."released"
  GROUP BY ALL
), "anon_texts" AS (
  SELECT
    value_text,
    sensitive_value,
    value,
    reference_rows,
    reference_rows / anon_all_rows AS share
  FROM (
    SELECT
      anon_text AS value_text,
      MAX(anon_text) OVER (PARTITION BY anon_value) AS sensitive_value,
      anon_value AS value,
      CASE
        WHEN SUM(anon_known_rows) OVER () = 0
        THEN ERROR('the reference has no row')
        ELSE CAST(SUM(anon_known_rows) OVER (PARTITION BY anon_value) AS BIGINT)
      END AS reference_rows,
      SUM(anon_known_rows) OVER () AS anon_all_rows
    FROM (
      SELECT
        anon_text,
        ANY_VALUE(anon_value) AS anon_value,
        SUM(anon_is_known) AS anon_known_rows
      FROM (
        SELECT
          CAST(COALESCE("diagnosis", NULL) AS TEXT) AS anon_text,
          "diagnosis" AS anon_value,
          0 AS anon_is_known
        FROM "memory"."main"."released"
        UNION ALL
        SELECT
          CAST(COALESCE("diagnosis", NULL) AS TEXT) AS anon_text,
          "diagnosis" AS anon_value,
          1 AS anon_is_known
        FROM "memory"."main"."visits"
      )
      GROUP BY
        anon_text
    )
  )
), "anon_class_frequencies" AS (
  SELECT
    anon_counts.class,
    CAST(SUM(SUM(anon_counts.row_count)) OVER (PARTITION BY anon_counts.class) AS BIGINT) AS class_size,
    anon_texts.sensitive_value,
    CAST(SUM(anon_counts.row_count) AS BIGINT) AS row_count,
    ANY_VALUE(anon_texts.share) AS reference_share
  FROM "anon_counts_2" AS anon_counts
  INNER JOIN "anon_texts"
    ON anon_texts.value_text IS NOT DISTINCT FROM CAST(COALESCE(anon_counts.sensitive_value, NULL) AS TEXT)
  GROUP BY
    anon_counts.class,
    anon_texts.sensitive_value
), anon_counts AS (
  SELECT
    class AS anon_class,
    class_size AS anon_size,
    sensitive_value AS anon_value,
    row_count AS anon_rows
  FROM "anon_class_frequencies"
), "anon_value_texts" AS (
  SELECT
    value_text,
    sensitive_value,
    value,
    reference_rows,
    reference_rows / anon_all_rows AS share
  FROM (
    SELECT
      anon_text AS value_text,
      MAX(anon_text) OVER (PARTITION BY anon_value) AS sensitive_value,
      anon_value AS value,
      CASE
        WHEN SUM(anon_known_rows) OVER () = 0
        THEN ERROR('the reference has no row')
        ELSE CAST(SUM(anon_known_rows) OVER (PARTITION BY anon_value) AS BIGINT)
      END AS reference_rows,
      SUM(anon_known_rows) OVER () AS anon_all_rows
    FROM (
      SELECT
        anon_text,
        ANY_VALUE(anon_value) AS anon_value,
        SUM(anon_is_known) AS anon_known_rows
      FROM (
        SELECT
          CAST(COALESCE("diagnosis", NULL) AS TEXT) AS anon_text,
          "diagnosis" AS anon_value,
          0 AS anon_is_known
        FROM "memory"."main"."released"
        UNION ALL
        SELECT
          CAST(COALESCE("diagnosis", NULL) AS TEXT) AS anon_text,
          "diagnosis" AS anon_value,
          1 AS anon_is_known
        FROM "memory"."main"."visits"
      )
      GROUP BY
        anon_text
    )
  )
), "anon_value_shares" AS (
  SELECT DISTINCT
    sensitive_value,
    share
  FROM "anon_value_texts"
), anon_shares AS (
  SELECT
    sensitive_value AS anon_value,
    share AS anon_share
  FROM "anon_value_shares"
), "anon_heights" AS (
  SELECT
    anon_taxonomy.attribute,
    MAX(anon_taxonomy.level) AS height,
    COUNT(*) FILTER(WHERE
      anon_taxonomy.level = 0) AS value_count,
    COALESCE(ANY_VALUE(anon_domain.domain), 'observed') AS domain
  FROM "memory"."anon"."taxonomy" AS anon_taxonomy
  LEFT JOIN "memory"."anon".taxonomy_domain AS anon_domain
    ON anon_domain.attribute = anon_taxonomy.attribute
  GROUP BY
    anon_taxonomy.attribute
), "anon_levels" AS (
  SELECT
    UNNEST(RANGE(0, GREATEST(MAX(anon_heights.height), 1))) AS anon_level
  FROM "anon_heights"
  WHERE
    anon_heights.attribute = 'diagnosis'
), anon_labels AS (
  SELECT
    anon_shares.anon_value,
    anon_levels.anon_level,
    (
      LIST_TRANSFORM(
        [
          (
            SELECT
              CASE
                WHEN COUNT(*) > 0
                THEN (
                  CASE
                    WHEN COUNT(*) > 1
                    THEN CHR(1)
                    WHEN MAX(anon_labels.anon_label) IS NULL
                    THEN CHR(2)
                    WHEN ASCII(MAX(anon_labels.anon_label)) <= 3
                    THEN CHR(3) || MAX(anon_labels.anon_label)
                    ELSE MAX(anon_labels.anon_label)
                  END
                )
              END
            FROM LATERAL (
              SELECT
                anon_taxonomy.anon_value AS value,
                anon_taxonomy.anon_label AS label
              FROM "memory"."anon"."taxonomy" AS anon_taxonomy(anon_attribute, anon_level, anon_value, anon_label)
              WHERE
                anon_taxonomy.anon_attribute = 'diagnosis'
                AND anon_taxonomy.anon_level = anon_levels.anon_level
              UNION ALL
              SELECT
                NULL AS value,
                CASE
                  WHEN anon_null.anon_height = anon_levels.anon_level AND anon_levels.anon_level > 0
                  THEN anon_null.anon_label
                END AS label
              FROM (
                SELECT
                  MAX(anon_taxonomy.anon_level) AS anon_height,
                  MAX(anon_taxonomy.anon_label) FILTER(WHERE
                    anon_taxonomy.anon_level = anon_levels.anon_level) AS anon_label,
                  COUNT(*) FILTER(WHERE
                    anon_taxonomy.anon_level = anon_levels.anon_level) AS anon_rows,
                  COUNT(*) FILTER(WHERE
                    anon_taxonomy.anon_level = anon_levels.anon_level
                    AND anon_taxonomy.anon_value IS NULL) AS anon_null_rows
                FROM "memory"."anon"."taxonomy" AS anon_taxonomy(anon_attribute, anon_level, anon_value, anon_label)
                WHERE
                  anon_taxonomy.anon_attribute = 'diagnosis'
              ) AS anon_null
              WHERE
                anon_null.anon_rows > 0 AND anon_null.anon_null_rows = 0
            ) AS anon_labels(anon_value, anon_label)
            WHERE
              anon_labels.anon_value IS NOT DISTINCT FROM CAST(COALESCE(anon_shares.anon_value, NULL) AS TEXT)
          )
        ],
        LAMBDA anon_found : (
          (
            CASE
              WHEN ASCII(anon_found) > 3
              THEN anon_found
              WHEN ASCII(anon_found) = 3
              THEN SUBSTRING(anon_found, 2)
              WHEN ASCII(anon_found) = 2
              THEN NULL
              WHEN ASCII(anon_found) = 1
              THEN ERROR(
                CONCAT(
                  'attribute "',
                  'diagnosis',
                  '" has a value with several labels at level ',
                  anon_levels.anon_level,
                  ': see anon.malformed_taxonomies'
                )
              )
              ELSE ERROR(
                CONCAT(
                  'attribute "',
                  'diagnosis',
                  '" has a value without a label at level ',
                  anon_levels.anon_level,
                  ': see anon.unmapped_values and anon.taxonomy_heights'
                )
              )
            END
          )
        )
      )[1]
    ) AS anon_label
  FROM anon_shares
  CROSS JOIN "anon_levels"
), anon_class_labels AS (
  SELECT
    anon_counts.anon_class,
    ANY_VALUE(anon_counts.anon_size) AS anon_size,
    anon_labels.anon_level,
    anon_labels.anon_label,
    SUM(anon_counts.anon_rows) AS anon_rows
  FROM anon_counts
  INNER JOIN anon_labels
    ON anon_labels.anon_value IS NOT DISTINCT FROM anon_counts.anon_value
  GROUP BY
    anon_counts.anon_class,
    anon_labels.anon_level,
    anon_labels.anon_label
), anon_reference_labels AS (
  SELECT
    anon_labels.anon_level,
    anon_labels.anon_label,
    SUM(anon_shares.anon_share) AS anon_share
  FROM anon_shares
  INNER JOIN anon_labels
    ON anon_labels.anon_value IS NOT DISTINCT FROM anon_shares.anon_value
  GROUP BY
    anon_labels.anon_level,
    anon_labels.anon_label
), "anon_measured" AS (
  SELECT
    MAX(anon_distance) AS t
  FROM (
    SELECT
      (
        FSUM(
          GREATEST(
            anon_class_labels.anon_rows / anon_class_labels.anon_size - COALESCE(anon_reference_labels.anon_share, 0.0),
            0.0
          )
        )
      ) / COUNT(DISTINCT anon_class_labels.anon_level) AS anon_distance
    FROM anon_class_labels
    INNER JOIN anon_reference_labels
      ON anon_reference_labels.anon_level = anon_class_labels.anon_level
      AND anon_reference_labels.anon_label IS NOT DISTINCT FROM anon_class_labels.anon_label
    GROUP BY
      anon_class_labels.anon_class
  )
)
SELECT
  "t" AS "attained"
FROM "anon_measured";

-- shared: read released 1;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_2";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_values_0";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

DROP TABLE IF EXISTS "temp"."main"."anon_sensitive_codes_0";

COMMIT;

