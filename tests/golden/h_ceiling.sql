-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- It publishes 1175 rows; the SHA-256 of them is c8ce01615ba5da16e69932cde8168159e2d5cff5df5ab1488592c56112b1c482.

SELECT DISTINCT
  attribute
FROM "memory"."anon"."taxonomy";

SELECT
  anon_taxonomy.attribute,
  anon_taxonomy.level,
  COUNT(DISTINCT anon_taxonomy.label) + CAST(BOOL_OR(CAST(anon_taxonomy.label IS NULL AS BOOLEAN)) AS BIGINT) AS label_count,
  COUNT(*) AS value_count,
  COUNT(*) - COUNT(anon_taxonomy.value) AS null_value_count,
  COUNT(*) - COUNT(anon_taxonomy.label) AS null_label_count,
  COALESCE(ANY_VALUE(anon_domain.domain), 'observed') AS domain,
  SHA256(
    LISTAGG(
      
        CONCAT(COALESCE(anon_taxonomy.value, ''), CHR(31), COALESCE(anon_taxonomy.label, ''), CHR(30)),
        ''
      
      ORDER BY
        anon_taxonomy.value ASC NULLS FIRST,
        anon_taxonomy.label ASC NULLS FIRST
    )
  ) AS sha256
FROM "memory"."anon"."taxonomy" AS anon_taxonomy
LEFT JOIN "memory"."anon".taxonomy_domain AS anon_domain
  ON anon_domain.attribute = anon_taxonomy.attribute
WHERE
  "anon_taxonomy"."attribute" IN ('age', 'sex')
GROUP BY
  anon_taxonomy.attribute,
  anon_taxonomy.level
ORDER BY
  anon_taxonomy.attribute ASC,
  anon_taxonomy.level ASC;

SELECT
  attribute,
  ARG_MAX(COALESCE(origin, ''), rowid) AS origin,
  ARG_MAX(sha256, rowid) AS sha256
FROM "memory"."anon".taxonomy_origin
GROUP BY
  attribute;

WITH "anon_taxonomy" AS (
  SELECT
    *
  FROM "memory"."anon"."taxonomy"
  WHERE
    attribute IN ('age', 'sex')
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
    ARRAY_CONTAINS(['age', 'sex'], anon_taxonomy.anon_attribute)
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
FROM UNNEST(['age', 'sex']) AS anon_wanted(anon_name)
LEFT JOIN anon_ambiguous
  ON anon_ambiguous.anon_attribute = anon_wanted.anon_name
GROUP BY
  anon_wanted.anon_name;

BEGIN;

SELECT
  anon_taxonomy.attribute,
  anon_taxonomy.level,
  COUNT(DISTINCT anon_taxonomy.label) + CAST(BOOL_OR(CAST(anon_taxonomy.label IS NULL AS BOOLEAN)) AS BIGINT) AS label_count,
  COUNT(*) AS value_count,
  COUNT(*) - COUNT(anon_taxonomy.value) AS null_value_count,
  COUNT(*) - COUNT(anon_taxonomy.label) AS null_label_count,
  COALESCE(ANY_VALUE(anon_domain.domain), 'observed') AS domain,
  SHA256(
    LISTAGG(
      
        CONCAT(COALESCE(anon_taxonomy.value, ''), CHR(31), COALESCE(anon_taxonomy.label, ''), CHR(30)),
        ''
      
      ORDER BY
        anon_taxonomy.value ASC NULLS FIRST,
        anon_taxonomy.label ASC NULLS FIRST
    )
  ) AS sha256
FROM "memory"."anon"."taxonomy" AS anon_taxonomy
LEFT JOIN "memory"."anon".taxonomy_domain AS anon_domain
  ON anon_domain.attribute = anon_taxonomy.attribute
WHERE
  "anon_taxonomy"."attribute" IN ('age', 'sex')
GROUP BY
  anon_taxonomy.attribute,
  anon_taxonomy.level
ORDER BY
  anon_taxonomy.attribute ASC,
  anon_taxonomy.level ASC;

SELECT
  attribute,
  ARG_MAX(COALESCE(origin, ''), rowid) AS origin,
  ARG_MAX(sha256, rowid) AS sha256
FROM "memory"."anon".taxonomy_origin
GROUP BY
  attribute;

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
    ARRAY_CONTAINS(['age', 'sex'], anon_taxonomy.anon_attribute)
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
    (1, 'sex', 1, 2)) AS anon_taxonomies("position", "attribute", "height", "domain_size")
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

SELECT
  "position",
  "depth",
  MAX("child") AS "last_child"
FROM "temp"."main"."anon_coded_labels"
GROUP BY
  "position",
  "depth";

CREATE TEMPORARY TABLE "temp"."main"."anon_labels" AS
SELECT
  "anon_coded"."position",
  "anon_coded"."depth",
  "anon_coded"."value",
  "anon_coded"."label",
  "anon_coded"."code",
  "anon_coded"."lm",
  "anon_coded"."ncp",
  COALESCE(
    BIT_OR((
      "child" << "shift"
    )) FILTER(WHERE
      "word" = 0) OVER (PARTITION BY "position", "value" ORDER BY "depth" DESC),
    0
  ) AS "anon_key_0"
FROM "temp"."main"."anon_coded_labels" AS anon_coded
LEFT JOIN (VALUES
  (0, 4, 0, 61),
  (1, 0, 0, 59),
  (0, 3, 0, 58),
  (0, 2, 0, 57),
  (0, 1, 0, 56),
  (0, 0, 0, 53)) AS "anon_fields"("position", "depth", "word", "shift")
  USING ("position", "depth");

DROP TABLE IF EXISTS "temp"."main"."anon_coded_labels";

WITH "anon_labels" AS (
  SELECT DISTINCT
    "position",
    "depth",
    "anon_key_0",
    "lm"
  FROM "temp"."main"."anon_labels"
), "anon_steps" AS (
  SELECT
    "position",
    "depth",
    CAST(["anon_key_0"] AS BIGINT[]) AS "last_bits",
    "lm"
  FROM "anon_labels"
  QUALIFY
    (
      "lm"
    ) IS DISTINCT FROM (
      LEAD("lm") OVER (PARTITION BY "position", "depth" ORDER BY "anon_key_0" ASC)
    )
)
SELECT
  *
FROM "anon_steps"
QUALIFY
  COUNT(*) OVER (PARTITION BY "position", "depth") <= 64;

CREATE TEMPORARY TABLE "temp"."main"."anon_cells" AS
WITH "anon_rows" AS MATERIALIZED (
  SELECT
    "age" AS "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "sex",
    CAST(COALESCE("diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    COUNT(*) AS "anon_row_count"
  FROM (
    SELECT
      *
    FROM visits
    WHERE
      NOT diagnosis IS NULL
  )
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

SELECT
  COUNT(*) AS "cells",
  COALESCE(SUM("anon_row_count"), 0) AS "rows",
  COALESCE(SUM("anon_row_count") FILTER(WHERE
    "anon_is_unmapped"), 0) AS "unmapped"
FROM "temp"."main"."anon_cells";

WITH "anon_keyed" AS (
  SELECT
    0 AS "position",
    "anon_key_0" & 7484982580689764352 AS "anon_key_0",
    SUM("anon_row_count") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 7484982580689764352
  HAVING
    COUNT(*) > 0
  UNION ALL
  SELECT
    1 AS "position",
    "anon_key_0" & 1729382256910270464 AS "anon_key_0",
    SUM("anon_row_count") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 1729382256910270464
  HAVING
    COUNT(*) > 0
), "anon_values" AS (
  SELECT
    "anon_labels"."position",
    "anon_labels"."value",
    "anon_keyed"."anon_value_rows"
  FROM "anon_keyed"
  JOIN "temp"."main"."anon_labels" AS anon_labels
    ON "anon_labels"."position" = "anon_keyed"."position"
    AND "anon_labels"."anon_key_0" = "anon_keyed"."anon_key_0"
    AND "anon_labels"."depth" = 0
), "anon_levels" AS (
  SELECT
    anon_labels.position,
    anon_labels.depth,
    anon_values.anon_value_rows,
    anon_labels.code AS anon_label,
    anon_labels.lm AS anon_lm,
    anon_labels.ncp AS anon_ncp
  FROM "anon_values"
  INNER JOIN "temp"."main"."anon_labels" AS anon_labels
    ON anon_labels.position = anon_values.position
    AND anon_labels.value IS NOT DISTINCT FROM anon_values.value
), "anon_weighed" AS (
  SELECT
    *,
    SUM(anon_value_rows) OVER (PARTITION BY position, depth, anon_label) AS anon_label_rows,
    SUM(anon_value_rows) OVER (PARTITION BY position, depth) AS anon_row_count
  FROM "anon_levels"
)
SELECT
  position,
  depth,
  COALESCE(
    (
      SUM(
        anon_value_rows * LOG(2, anon_label_rows / anon_value_rows) ORDER BY anon_value_rows ASC, anon_label_rows ASC
      )
    ),
    0.0
  ) AS entropy,
  (
    SUM(anon_value_rows * CASE WHEN TRUE THEN anon_lm ELSE 1.0 END) / SUM(anon_value_rows)
  ) AS lm,
  (
    SUM(anon_value_rows * CASE WHEN TRUE THEN anon_ncp ELSE 1.0 END) / SUM(anon_value_rows)
  ) AS ncp,
  MAX(anon_lm) AS largest_lm,
  MAX(anon_ncp) AS largest_ncp,
  MIN((
    LOG(2, anon_row_count / anon_label_rows)
  )) AS least_information,
  COUNT(DISTINCT anon_label) AS distinct_labels
FROM "anon_weighed"
GROUP BY
  position,
  depth;

SELECT
  COALESCE(SUM(anon_row_count), 0) AS rows
FROM "temp"."main"."anon_cells"
WHERE
  "anon_raw_0" IS NULL;

CREATE TEMPORARY TABLE "temp"."main"."anon_profiles" AS
WITH "anon_whole" AS (
  SELECT
    position,
    depth,
    "anon_key_0",
    ARRAY_AGG(lm) OVER (
      PARTITION BY position, value
      ORDER BY depth ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS anon_losses
  FROM "temp"."main"."anon_labels"
), "anon_labels_of_level" AS (
  SELECT DISTINCT
    position,
    "anon_key_0",
    anon_losses
  FROM "anon_whole"
  WHERE
    depth = 1
)
SELECT
  *,
  DENSE_RANK() OVER (PARTITION BY position ORDER BY anon_losses ASC) AS anon_profile
FROM "anon_labels_of_level";

SELECT DISTINCT
  position,
  anon_profile,
  anon_losses
FROM "temp"."main"."anon_profiles";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 7421932185906577408 AS "anon_key_0"
  FROM "temp"."main"."anon_cells"
), "anon_classes" AS (
  SELECT
    "anon_key_0"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_profiles_0" AS (
  SELECT
    "anon_key_0",
    "anon_profile"
  FROM "temp"."main"."anon_profiles"
  WHERE
    "position" = 0
)
SELECT DISTINCT
  "anon_profiles_0"."anon_profile" AS "profile_0"
FROM "anon_classes"
JOIN "anon_profiles_0"
  ON (
    "anon_classes"."anon_key_0" & 7421932185906577408
  ) = "anon_profiles_0"."anon_key_0";

DROP TABLE IF EXISTS "temp"."main"."anon_profiles";

WITH "anon_keyed" AS (
  SELECT
    0 AS "position",
    "anon_key_0" & 7484982580689764352 AS "anon_key_0",
    SUM("anon_row_count") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 7484982580689764352
  HAVING
    COUNT(*) > 0
  UNION ALL
  SELECT
    1 AS "position",
    "anon_key_0" & 1729382256910270464 AS "anon_key_0",
    SUM("anon_row_count") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 1729382256910270464
  HAVING
    COUNT(*) > 0
), "anon_values" AS (
  SELECT
    "anon_labels"."position",
    "anon_labels"."value",
    "anon_keyed"."anon_value_rows"
  FROM "anon_keyed"
  JOIN "temp"."main"."anon_labels" AS anon_labels
    ON "anon_labels"."position" = "anon_keyed"."position"
    AND "anon_labels"."anon_key_0" = "anon_keyed"."anon_key_0"
    AND "anon_labels"."depth" = 0
), "anon_levels" AS (
  SELECT
    anon_labels.position,
    anon_labels.depth,
    anon_values.anon_value_rows,
    anon_labels.code AS anon_label,
    anon_labels.lm AS anon_lm,
    anon_labels.ncp AS anon_ncp
  FROM "anon_values"
  INNER JOIN "temp"."main"."anon_labels" AS anon_labels
    ON anon_labels.position = anon_values.position
    AND anon_labels.value IS NOT DISTINCT FROM anon_values.value
)
SELECT
  anon_levels.position,
  anon_levels.depth,
  SUM(
    anon_levels.anon_value_rows * (
      1 - (
        2 * 1 - 1 * 1
      ) / (
        1 + anon_levels.anon_lm * (
          anon_domains.domain_size - 1
        )
      )
    )
  ) / SUM(anon_levels.anon_value_rows) AS error
FROM "anon_levels"
INNER JOIN (VALUES
  (0, 100),
  (1, 2)) AS anon_domains("position", "domain_size")
  ON anon_domains.position = anon_levels.position
GROUP BY
  anon_levels.position,
  anon_levels.depth;

PREPARE "anon_cells_counts_of_1_by_0" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & CAST($1 AS BIGINT) AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_classes" AS (
  SELECT
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AS "anon_kept"
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
    NOT anon_kept), 0) AS BIGINT) AS certain_suppressed_rows
FROM "anon_classes_2" AS "anon_classes";

EXECUTE "anon_cells_counts_of_1_by_0" (9214364837600034816);

CREATE TEMPORARY TABLE "temp"."main"."anon_known_values" AS
SELECT
  "anon_sensitive_0",
  ANY_VALUE("anon_raw_0") AS "anon_raw_0",
  CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
FROM "temp"."main"."anon_cells"
GROUP BY
  "anon_sensitive_0";

CREATE TEMPORARY TABLE "temp"."main"."anon_lacking" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 9214364837600034816 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_sizes" AS (
  SELECT
    "anon_key_0",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_class_size
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_classes" AS (
  SELECT
    *,
    (
      GREATEST(5 - anon_class_size, 0)
    ) AS anon_missing
  FROM "anon_sizes"
)
SELECT
  *,
  CAST((
    SUM(anon_missing) OVER (ORDER BY "anon_key_0" ASC) - anon_missing
  ) AS BIGINT) AS anon_missing_before
FROM "anon_classes"
WHERE
  anon_missing > 0;

CREATE TEMPORARY TABLE "temp"."main"."anon_class_values" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 9214364837600034816 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
)
SELECT
  "anon_key_0",
  "anon_sensitive_0",
  CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
FROM "anon_cells"
GROUP BY
  "anon_key_0",
  "anon_sensitive_0";

CREATE TEMPORARY TABLE "temp"."main"."anon_label_values" AS
WITH "anon_class_values" AS (
  SELECT
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_class_values"
  CROSS JOIN (VALUES
    (0, 7484982580689764352),
    (1, 1729382256910270464)) AS "anon_nodes"("anon_node", "anon_mask_0")
)
SELECT
  "anon_node",
  "anon_key_0",
  "anon_sensitive_0",
  CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
FROM "anon_class_values"
GROUP BY
  "anon_node",
  "anon_key_0",
  "anon_sensitive_0";

WITH "anon_labels_of_node" AS (
  SELECT
    anon_node,
    "anon_key_0",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_class_size,
    LN(
      (
        EXP(
          LN(SUM(anon_row_count)) - SUM(anon_row_count * LN(anon_row_count)) / SUM(anon_row_count)
        )
      )
    ) AS entropy
  FROM "temp"."main"."anon_label_values"
  GROUP BY
    anon_node,
    "anon_key_0"
)
SELECT
  anon_node AS node,
  FSUM(anon_class_size * entropy) / SUM(anon_class_size) AS entropy
FROM "anon_labels_of_node"
GROUP BY
  anon_node;

CREATE TEMPORARY TABLE "temp"."main"."anon_ancestor_values" AS
WITH "anon_class_values" AS (
  SELECT
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_class_values"
  CROSS JOIN (VALUES
    (0, 0),
    (1, 6917529027641081856),
    (2, 7205759403792793600),
    (3, 7349874591868649472),
    (4, 7421932185906577408),
    (5, 7484982580689764352)) AS "anon_nodes"("anon_node", "anon_mask_0")
)
SELECT
  "anon_node",
  "anon_key_0",
  "anon_sensitive_0",
  CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
FROM "anon_class_values"
GROUP BY
  "anon_node",
  "anon_key_0",
  "anon_sensitive_0";

CREATE TEMPORARY TABLE "temp"."main"."anon_urns" AS
WITH "anon_above_0" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 0
  GROUP BY
    "anon_key_0"
), "anon_above_1" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 1
  GROUP BY
    "anon_key_0"
), "anon_above_2" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 2
  GROUP BY
    "anon_key_0"
), "anon_above_3" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 3
  GROUP BY
    "anon_key_0"
), "anon_above_4" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 4
  GROUP BY
    "anon_key_0"
), "anon_above_5" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 5
  GROUP BY
    "anon_key_0"
), "anon_classes" AS (
  SELECT
    "anon_lacking"."anon_key_0",
    "anon_lacking"."anon_class_size",
    "anon_lacking"."anon_missing",
    "anon_lacking"."anon_class_size" AS "anon_own_rows",
    "anon_above_0"."anon_row_count" AS "anon_above_0",
    "anon_above_1"."anon_row_count" AS "anon_above_1",
    "anon_above_2"."anon_row_count" AS "anon_above_2",
    "anon_above_3"."anon_row_count" AS "anon_above_3",
    "anon_above_4"."anon_row_count" AS "anon_above_4",
    "anon_above_5"."anon_row_count" AS "anon_above_5"
  FROM "temp"."main"."anon_lacking" AS anon_lacking
  LEFT JOIN "anon_above_0"
    ON (
      "anon_lacking"."anon_key_0" & 0
    ) = "anon_above_0"."anon_key_0"
  LEFT JOIN "anon_above_1"
    ON (
      "anon_lacking"."anon_key_0" & 6917529027641081856
    ) = "anon_above_1"."anon_key_0"
  LEFT JOIN "anon_above_2"
    ON (
      "anon_lacking"."anon_key_0" & 7205759403792793600
    ) = "anon_above_2"."anon_key_0"
  LEFT JOIN "anon_above_3"
    ON (
      "anon_lacking"."anon_key_0" & 7349874591868649472
    ) = "anon_above_3"."anon_key_0"
  LEFT JOIN "anon_above_4"
    ON (
      "anon_lacking"."anon_key_0" & 7421932185906577408
    ) = "anon_above_4"."anon_key_0"
  LEFT JOIN "anon_above_5"
    ON (
      "anon_lacking"."anon_key_0" & 7484982580689764352
    ) = "anon_above_5"."anon_key_0"
)
SELECT
  *,
  CAST((
    SUM(anon_missing) OVER (ORDER BY anon_own_rows ASC, anon_missing ASC, "anon_key_0" ASC) - anon_missing
  ) AS BIGINT) AS anon_missing_before
FROM "anon_classes";

CREATE TEMPORARY TABLE "temp"."main"."anon_chances" AS
WITH "anon_label_0" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_label_values"
  WHERE
    "anon_node" = 0
), "anon_label_1" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_label_values"
  WHERE
    "anon_node" = 1
), "anon_above_0" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 0
), "anon_above_1" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 1
), "anon_above_2" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 2
), "anon_above_3" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 3
), "anon_above_4" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 4
), "anon_above_5" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 5
), "anon_expected" AS (
  SELECT
    "anon_urns"."anon_key_0",
    "anon_known"."anon_sensitive_0",
    (
      (
        (
          COALESCE("anon_above_5"."anon_row_count", 0) - COALESCE("anon_own"."anon_row_count", 0)
        ) + 10 * (
          (
            (
              COALESCE("anon_above_4"."anon_row_count", 0) - COALESCE("anon_own"."anon_row_count", 0)
            ) + 10 * (
              (
                (
                  COALESCE("anon_above_3"."anon_row_count", 0) - COALESCE("anon_own"."anon_row_count", 0)
                ) + 10 * (
                  (
                    (
                      COALESCE("anon_above_2"."anon_row_count", 0) - COALESCE("anon_own"."anon_row_count", 0)
                    ) + 10 * (
                      (
                        (
                          COALESCE("anon_above_1"."anon_row_count", 0) - COALESCE("anon_own"."anon_row_count", 0)
                        ) + 10 * (
                          (
                            (
                              COALESCE("anon_above_0"."anon_row_count", 0) - COALESCE("anon_own"."anon_row_count", 0)
                            ) + 10 * (
                              1 / (
                                (
                                  SELECT
                                    COUNT(*)
                                  FROM "temp"."main"."anon_known_values"
                                )
                              )
                            )
                          ) / (
                            (
                              "anon_urns"."anon_above_0" - "anon_urns"."anon_class_size"
                            ) + 10
                          )
                        )
                      ) / (
                        (
                          "anon_urns"."anon_above_1" - "anon_urns"."anon_class_size"
                        ) + 10
                      )
                    )
                  ) / (
                    (
                      "anon_urns"."anon_above_2" - "anon_urns"."anon_class_size"
                    ) + 10
                  )
                )
              ) / (
                (
                  "anon_urns"."anon_above_3" - "anon_urns"."anon_class_size"
                ) + 10
              )
            )
          ) / (
            (
              "anon_urns"."anon_above_4" - "anon_urns"."anon_class_size"
            ) + 10
          )
        )
      ) / (
        (
          "anon_urns"."anon_above_5" - "anon_urns"."anon_class_size"
        ) + 10
      )
    ) AS "anon_chance"
  FROM "temp"."main"."anon_urns" AS anon_urns
  CROSS JOIN "temp"."main"."anon_known_values" AS anon_known
  JOIN "anon_label_0"
    ON (
      "anon_urns"."anon_key_0" & 7484982580689764352
    ) = "anon_label_0"."anon_key_0"
    AND "anon_label_0"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  JOIN "anon_label_1"
    ON (
      "anon_urns"."anon_key_0" & 1729382256910270464
    ) = "anon_label_1"."anon_key_0"
    AND "anon_label_1"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "anon_above_0"
    ON (
      "anon_urns"."anon_key_0" & 0
    ) = "anon_above_0"."anon_key_0"
    AND "anon_above_0"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "anon_above_1"
    ON (
      "anon_urns"."anon_key_0" & 6917529027641081856
    ) = "anon_above_1"."anon_key_0"
    AND "anon_above_1"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "anon_above_2"
    ON (
      "anon_urns"."anon_key_0" & 7205759403792793600
    ) = "anon_above_2"."anon_key_0"
    AND "anon_above_2"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "anon_above_3"
    ON (
      "anon_urns"."anon_key_0" & 7349874591868649472
    ) = "anon_above_3"."anon_key_0"
    AND "anon_above_3"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "anon_above_4"
    ON (
      "anon_urns"."anon_key_0" & 7421932185906577408
    ) = "anon_above_4"."anon_key_0"
    AND "anon_above_4"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "anon_above_5"
    ON (
      "anon_urns"."anon_key_0" & 7484982580689764352
    ) = "anon_above_5"."anon_key_0"
    AND "anon_above_5"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "temp"."main"."anon_class_values" AS anon_own
    ON "anon_own"."anon_key_0" = "anon_urns"."anon_key_0"
    AND "anon_own"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
)
SELECT
  "anon_key_0",
  "anon_sensitive_0",
  CAST(ROUND(
    anon_chance / MAX(anon_chance) OVER (PARTITION BY "anon_key_0") * 4503599627370496
  ) AS BIGINT) AS anon_chance
FROM "anon_expected";

CREATE TEMPORARY TABLE "temp"."main"."anon_urn_bounds" AS
WITH "anon_copied" AS (
  SELECT
    "anon_urns"."anon_key_0",
    "anon_own"."anon_sensitive_0",
    anon_own.anon_row_count
  FROM "temp"."main"."anon_urns" AS anon_urns
  INNER JOIN "temp"."main"."anon_class_values" AS anon_own
    ON "anon_own"."anon_key_0" = "anon_urns"."anon_key_0"
  WHERE
    TRUE
)
SELECT
  "anon_key_0",
  "anon_sensitive_0",
  CAST((
    SUM(anon_row_count) OVER (PARTITION BY "anon_key_0" ORDER BY "anon_sensitive_0" ASC) - anon_row_count
  ) AS DOUBLE) AS anon_low
FROM "anon_copied"
UNION ALL
SELECT
  "anon_key_0",
  "anon_sensitive_0",
  CAST((
    SUM(anon_chance) OVER (PARTITION BY "anon_key_0" ORDER BY "anon_sensitive_0" ASC) - anon_chance
  ) AS DOUBLE) / SUM(anon_chance) OVER (PARTITION BY "anon_key_0") - 1 AS anon_low
FROM "temp"."main"."anon_chances"
WHERE
  anon_chance > 0;

SELECT
  COUNT(*) AS classes,
  COALESCE(CAST(SUM(anon_missing) AS BIGINT), 0) AS missing,
  MIN(anon_class_size) AS smallest
FROM "temp"."main"."anon_lacking";

SELECT
  anon_own_rows AS own,
  anon_missing AS missing,
  COUNT(*) AS classes
FROM "temp"."main"."anon_urns"
GROUP BY
  anon_own_rows,
  anon_missing
ORDER BY
  own ASC,
  missing ASC;

CREATE TEMPORARY TABLE "anon_drawn_values_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "anon_place",
  CAST(v1 AS DOUBLE) AS "anon_drawn_value"
FROM (VALUES
  (0, -0.5),
  (1, -0.5),
  (2, -0.5),
  (3, -0.5),
  (4, -0.5),
  (5, -0.5),
  (6, -0.5),
  (7, -0.5),
  (8, -0.5),
  (9, -0.5),
  (10, -0.5),
  (11, -0.5),
  (12, -0.5),
  (13, -0.5),
  (14, -0.5),
  (15, -0.5),
  (16, -0.5),
  (17, -0.5),
  (18, -0.5),
  (19, -0.5),
  (20, -0.5),
  (21, -0.5),
  (22, -0.5),
  (23, -0.5),
  (24, -0.5),
  (25, -0.5),
  (26, -0.5),
  (27, -0.5),
  (28, -0.5),
  (29, -0.5),
  (30, -0.5),
  (31, -0.5),
  (32, -0.5),
  (33, -0.5),
  (34, -0.5),
  (35, -0.5),
  (36, -0.5),
  (37, -0.5),
  (38, -0.5),
  (39, -0.5),
  (40, -0.5),
  (41, -0.5),
  (42, -0.5),
  (43, -0.5),
  (44, -0.5),
  (45, -0.5),
  (46, -0.5),
  (47, -0.5),
  (48, -0.5),
  (49, -0.5),
  (50, -0.5),
  (51, -0.5),
  (52, -0.5),
  (53, -0.5),
  (54, -0.5),
  (55, -0.5),
  (56, -0.5),
  (57, -0.5),
  (58, -0.5),
  (59, -0.5),
  (60, -0.5),
  (61, -0.5),
  (62, -0.5),
  (63, -0.5),
  (64, -0.5),
  (65, -0.5),
  (66, -0.5),
  (67, -0.5),
  (68, -0.5),
  (69, -0.5),
  (70, -0.5),
  (71, -0.5),
  (72, -0.5),
  (73, -0.5),
  (74, -0.5),
  (75, -0.5),
  (76, -0.5),
  (77, -0.5),
  (78, -0.5),
  (79, -0.5),
  (80, -0.5),
  (81, -0.5),
  (82, -0.5),
  (83, -0.5),
  (84, -0.5),
  (85, -0.5),
  (86, -0.5),
  (87, -0.5),
  (88, -0.5),
  (89, -0.5),
  (90, -0.5),
  (91, -0.5),
  (92, -0.5),
  (93, -0.5),
  (94, -0.5),
  (95, -0.5),
  (96, -0.5),
  (97, -0.5),
  (98, -0.5),
  (99, -0.5),
  (100, -0.5),
  (101, -0.5),
  (102, -0.5),
  (103, -0.5),
  (104, -0.5),
  (105, -0.5),
  (106, -0.5),
  (107, -0.5),
  (108, -0.5),
  (109, -0.5),
  (110, -0.5),
  (111, -0.5),
  (112, -0.5),
  (113, -0.5),
  (114, -0.5),
  (115, -0.5),
  (116, -0.5),
  (117, -0.5),
  (118, -0.5),
  (119, -0.5),
  (120, -0.5),
  (121, -0.5),
  (122, -0.5),
  (123, -0.5),
  (124, -0.5),
  (125, -0.5),
  (126, -0.5),
  (127, -0.5),
  (128, -0.5),
  (129, -0.5),
  (130, -0.5),
  (131, -0.5),
  (132, -0.5),
  (133, -0.5),
  (134, -0.5),
  (135, -0.5),
  (136, -0.5),
  (137, -0.5),
  (138, -0.5),
  (139, -0.5),
  (140, -0.5),
  (141, -0.5),
  (142, -0.5),
  (143, -0.5),
  (144, -0.5),
  (145, -0.5),
  (146, -0.5),
  (147, -0.5),
  (148, -0.5),
  (149, -0.5),
  (150, -0.5),
  (151, -0.5),
  (152, -0.5),
  (153, -0.5),
  (154, -0.5),
  (155, -0.5),
  (156, -0.5),
  (157, -0.5),
  (158, -0.5),
  (159, -0.5),
  (160, -0.5),
  (161, -0.5),
  (162, -0.5),
  (163, -0.5),
  (164, -0.5),
  (165, -0.5),
  (166, -0.5),
  (167, -0.5),
  (168, -0.5),
  (169, -0.5),
  (170, -0.5),
  (171, -0.5),
  (172, -0.5),
  (173, -0.5),
  (174, -0.5),
  (175, -0.5),
  (176, -0.5),
  (177, -0.5),
  (178, -0.5),
  (179, -0.5),
  (180, -0.5),
  (181, -0.5),
  (182, -0.5),
  (183, -0.5),
  (184, -0.5)) AS given(v0, v1);

CREATE TEMPORARY TABLE "temp"."main"."anon_drawn_values" AS
SELECT
  *
FROM "anon_drawn_values_values";

DROP TABLE "anon_drawn_values_values";

CREATE TEMPORARY TABLE "temp"."main"."anon_counterfeits" AS
WITH "anon_missing_rows" AS (
  SELECT
    "anon_key_0",
    UNNEST(RANGE(anon_missing_before, anon_missing_before + anon_missing)) AS anon_place
  FROM "temp"."main"."anon_urns"
), "anon_places" AS (
  SELECT
    "anon_missing_rows"."anon_key_0",
    anon_drawn.anon_drawn_value
  FROM "anon_missing_rows"
  INNER JOIN "temp"."main"."anon_drawn_values" AS anon_drawn
    ON anon_drawn.anon_place = anon_missing_rows.anon_place
)
SELECT
  "anon_places"."anon_key_0",
  "anon_bounds"."anon_sensitive_0",
  CAST(COUNT(*) AS BIGINT) AS anon_row_count
FROM "anon_places"
ASOF JOIN "temp"."main"."anon_urn_bounds" AS anon_bounds
  ON "anon_places"."anon_key_0" = "anon_bounds"."anon_key_0"
  AND anon_places.anon_drawn_value >= anon_bounds.anon_low
GROUP BY
  "anon_places"."anon_key_0",
  "anon_bounds"."anon_sensitive_0";

CREATE TEMPORARY TABLE "temp"."main"."anon_filled_cells" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 9214364837600034816 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_rows" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    anon_row_count
  FROM "anon_cells"
  UNION ALL
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    anon_row_count
  FROM "temp"."main"."anon_counterfeits"
), "anon_counts" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
  FROM "anon_rows"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
)
SELECT
  "anon_counts"."anon_key_0",
  "anon_sensitive_0",
  "anon_raw_0",
  FALSE AS anon_is_unmapped,
  anon_counts.anon_row_count
FROM "anon_counts"
INNER JOIN "temp"."main"."anon_known_values" AS anon_known
  USING ("anon_sensitive_0");

CREATE TEMPORARY TABLE "temp"."main"."anon_kept" AS
WITH "anon_filled_cells" AS (
  SELECT
    "anon_key_0" & 9214364837600034816 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_filled_cells"
), "anon_classes" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_filled_cells"
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
    "code" AS "anon_code_0_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 0
), "anon_labels_1" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_1_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
)
SELECT
  "anon_labels_0"."anon_code_0_0",
  "anon_labels_1"."anon_code_1_0"
FROM "anon_kept"
LEFT JOIN "anon_labels_0"
  ON (
    "anon_kept"."anon_key_0" & 7484982580689764352
  ) = "anon_labels_0"."anon_key_0"
LEFT JOIN "anon_labels_1"
  ON (
    "anon_kept"."anon_key_0" & 1729382256910270464
  ) = "anon_labels_1"."anon_key_0";

WITH "anon_filled_cells" AS (
  SELECT
    "anon_key_0" & 9214364837600034816 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_filled_cells"
), "anon_classes" AS (
  SELECT
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_filled_cells"
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

CREATE TEMPORARY TYPE "anon_label_type_0" AS ENUM(
SELECT
  "label"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 0 AND "depth" = 0 AND NOT "label" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

CREATE TEMPORARY TYPE "anon_label_type_1" AS ENUM(
SELECT
  "label"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 1 AND "depth" = 0 AND NOT "label" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_0" AS (
  SELECT DISTINCT
    "anon_key_0",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 0
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
  FROM "temp"."main"."anon_filled_cells" AS anon_cells
  LEFT JOIN "anon_labels_0"
    ON (
      "anon_cells"."anon_key_0" & 7484982580689764352
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
    "code" AS "anon_code_0_0",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 0
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
    ON "anon_labels_0"."anon_code_0_0" = "anon_codes"."anon_code_0_0"
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
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 101) AS BIGINT) << 56
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 3) AS BIGINT) << 54
  ) ASC,
  "diagnosis" ASC;

SELECT
  APPROX_COUNT_DISTINCT("diagnosis") AS "values_0",
  COALESCE(SUM("anon_row_count"), 0) AS "rows"
FROM "temp"."main"."anon_equal_rows";

SELECT
  COUNT(*) AS "source_rows",
  COUNT("patient_id") AS "filled_0",
  COUNT("patient_id") AS "rows_0",
  COUNT(DISTINCT "patient_id") AS "values_0",
  COUNT("ssn") AS "filled_1",
  COUNT("ssn") AS "rows_1",
  COUNT(DISTINCT "ssn") AS "values_1",
  COUNT("zip") AS "filled_2",
  COUNT("zip") AS "rows_2",
  COUNT(DISTINCT "zip") AS "values_2",
  COUNT("admission") AS "filled_3",
  COUNT("admission") AS "rows_3",
  COUNT(DISTINCT "admission") AS "values_3",
  COUNT("length_of_stay") AS "filled_4",
  COUNT("length_of_stay") AS "rows_4",
  COUNT(DISTINCT "length_of_stay") AS "values_4"
FROM (
  SELECT
    *
  FROM visits
  WHERE
    NOT diagnosis IS NULL
);

WITH "anon_classes" AS (
  SELECT
    (
      MIN("diagnosis") IS NOT DISTINCT FROM MAX("diagnosis")
      AND COUNT("diagnosis") IN (0, COUNT(*))
    ) AS "anon_is_homogeneous_0",
    SUM(anon_row_count) AS anon_class_rows
  FROM "temp"."main"."anon_equal_rows"
  GROUP BY
    "anon_label_0",
    "anon_label_1"
)
SELECT
  COALESCE(SUM("anon_class_rows") FILTER(WHERE
    "anon_is_homogeneous_0"), 0) AS "homogeneous_0",
  COALESCE(SUM(anon_class_rows), 0) AS rows
FROM "anon_classes";

CREATE TABLE "memory"."main"."released" AS
WITH "anon_groups" AS (
  SELECT
    CAST(COALESCE("anon_label_0", NULL) AS TEXT) AS "age",
    CAST(COALESCE("anon_label_1", NULL) AS TEXT) AS "sex",
    DECODE(ENCODE("diagnosis")) AS "diagnosis",
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

SELECT DISTINCT
  attribute
FROM "memory"."anon"."taxonomy";

WITH "anon_classes" AS (
  SELECT
    "age" AS "age",
    "sex" AS "sex",
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

SELECT DISTINCT
  attribute
FROM "memory"."anon"."taxonomy";

WITH anon_rows AS (
  SELECT
    ENCODE(CONCAT(*COLUMNS(*))) AS anon_row
  FROM (
    SELECT
      COALESCE(
        CONCAT(
          STRLEN(
            (
              CASE
                WHEN TYPEOF(COLUMNS(*)) = 'TIMESTAMP WITH TIME ZONE'
                THEN COALESCE(
                  CAST(MAKE_TIMESTAMP(EPOCH_US(TRY_CAST(COALESCE(COLUMNS(*), NULL) AS TIMESTAMPTZ))) AS TEXT) || '+00',
                  CAST(COALESCE(COLUMNS(*), NULL) AS TEXT)
                )
                WHEN REGEXP_MATCHES(TYPEOF(COLUMNS(*)), '\[|^(STRUCT|MAP|UNION)')
                THEN CAST([COLUMNS(*)][1] AS TEXT)
                ELSE CAST(COALESCE(COLUMNS(*), NULL) AS TEXT)
              END
            )
          ),
          ':',
          (
            CASE
              WHEN TYPEOF(COLUMNS(*)) = 'TIMESTAMP WITH TIME ZONE'
              THEN COALESCE(
                CAST(MAKE_TIMESTAMP(EPOCH_US(TRY_CAST(COALESCE(COLUMNS(*), NULL) AS TIMESTAMPTZ))) AS TEXT) || '+00',
                CAST(COALESCE(COLUMNS(*), NULL) AS TEXT)
              )
              WHEN REGEXP_MATCHES(TYPEOF(COLUMNS(*)), '\[|^(STRUCT|MAP|UNION)')
              THEN CAST([COLUMNS(*)][1] AS TEXT)
              ELSE CAST(COALESCE(COLUMNS(*), NULL) AS TEXT)
            END
          )
        ),
        '-'
      )
    FROM "memory"."main"."released"
  )
), anon_hashes AS (
  SELECT
    COUNT(*) AS anon_times,
    SHA256(CONCAT(COUNT(*), ' ', SHA256(anon_row))) AS anon_hash
  FROM anon_rows
  GROUP BY
    anon_row
), anon_sums AS (
  SELECT
    CAST('0x' || SUBSTRING(anon_hash, 1, 5) AS INT) AS anon_group,
    SUM(anon_times) AS anon_times,
    SUM(CAST('0x' || SUBSTRING(anon_hash, 1, 16) AS UBIGINT)) AS anon_first,
    SUM(CAST('0x' || SUBSTRING(anon_hash, 17, 16) AS UBIGINT)) AS anon_second,
    SUM(CAST('0x' || SUBSTRING(anon_hash, 33, 16) AS UBIGINT)) AS anon_third,
    SUM(CAST('0x' || SUBSTRING(anon_hash, 49, 16) AS UBIGINT)) AS anon_fourth
  FROM anon_hashes
  GROUP BY
    anon_group
)
SELECT
  CAST(COALESCE(SUM(anon_times), 0) AS BIGINT) AS row_count,
  SHA256(
    COALESCE(
      LISTAGG(
        
          SHA256(CONCAT_WS(' ', anon_group, anon_first, anon_second, anon_third, anon_fourth)),
          ''
        
        ORDER BY
          anon_group ASC
      ),
      ''
    )
  ) AS content_hash
FROM anon_sums;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_filled_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_counterfeits";

DROP TABLE IF EXISTS "temp"."main"."anon_drawn_values";

DROP TABLE IF EXISTS "temp"."main"."anon_urn_bounds";

DROP TABLE IF EXISTS "temp"."main"."anon_chances";

DROP TABLE IF EXISTS "temp"."main"."anon_urns";

DROP TABLE IF EXISTS "temp"."main"."anon_ancestor_values";

DROP TABLE IF EXISTS "temp"."main"."anon_label_values";

DROP TABLE IF EXISTS "temp"."main"."anon_class_values";

DROP TABLE IF EXISTS "temp"."main"."anon_lacking";

DROP TABLE IF EXISTS "temp"."main"."anon_known_values";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

COMMIT;

DEALLOCATE "anon_cells_counts_of_1_by_0";

