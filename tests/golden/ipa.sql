-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- It publishes 944 rows; the SHA-256 of them is 015f15aa7c759615360344374393004f7eaaa96970ae1640cefe0001da948621.

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
    "ncp"
  FROM "temp"."main"."anon_labels"
), "anon_steps" AS (
  SELECT
    "position",
    "depth",
    CAST(["anon_key_0"] AS BIGINT[]) AS "last_bits",
    "ncp"
  FROM "anon_labels"
  QUALIFY
    (
      "ncp"
    ) IS DISTINCT FROM (
      LEAD("ncp") OVER (PARTITION BY "position", "depth" ORDER BY "anon_key_0" ASC)
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
  ON "anon_sensitive_0_ranks"."diagnosis" IS NOT DISTINCT FROM "anon_rows"."diagnosis";

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
), "anon_parts" AS (
  SELECT
    *,
    CAST(FLOOR("anon_ncp" * 536870912.0e0) AS BIGINT) AS anon_part
  FROM "anon_levels"
)
SELECT
  position,
  depth,
  CAST(SUM(anon_value_rows * anon_part) AS BIGINT) AS lost,
  MAX(anon_part) AS most
FROM "anon_parts"
GROUP BY
  position,
  depth;

SELECT
  COALESCE(MAX("anon_sensitive_0"), 0) AS largest
FROM "temp"."main"."anon_cells";

CREATE TEMPORARY TABLE "temp"."main"."anon_keyed_cells" AS
SELECT
  "anon_key_0" | CAST("anon_sensitive_0" AS BIGINT) AS "anon_key_0",
  anon_row_count
FROM "temp"."main"."anon_cells"
ORDER BY
  "anon_key_0" ASC;

WITH "anon_keyed_cells" AS (
  SELECT
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_row_count",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_keyed_cells"
  CROSS JOIN (VALUES
    (0, 1729382256910270495),
    (1, 7421932185906577439)) AS "anon_nodes"("anon_node", "anon_mask_0")
), "anon_keyed" AS (
  SELECT
    "anon_node",
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_keyed_cells"
  GROUP BY
    "anon_node",
    "anon_key_0"
  HAVING
    SUM("anon_row_count") >= 8
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7421932185906577408 AS "anon_bits_0_1_0"
  FROM "anon_keyed"
), "anon_scored" AS (
  SELECT
    "anon_labelled"."anon_node",
    "anon_labelled"."anon_rows",
    0 + CAST(FLOOR(
      CASE
        WHEN "anon_node" IN (1)
        THEN CASE WHEN "anon_bits_0_1_0" <= 0 THEN 0.0e0 ELSE 0.05e0 END
        ELSE 1.0e0
      END * 536870912.0e0
    ) AS BIGINT) + CAST(FLOOR(CASE WHEN "anon_node" IN (0) THEN 0.0e0 ELSE 1.0e0 END * 536870912.0e0) AS BIGINT) AS "anon_ncp"
  FROM "anon_labelled"
), "anon_combinations" AS (
  SELECT
    *,
    1073741824 AS anon_whole,
    8 AS anon_threshold
  FROM "anon_scored"
)
SELECT
  anon_node AS node,
  CAST(SUM(anon_rows) AS BIGINT) AS row_count,
  (
    -SUM(
      anon_ncp * anon_rows + (
        anon_whole - anon_ncp
      ) * (
        LEAST(anon_rows, GREATEST(0, 2 * (
          CAST(anon_threshold AS BIGINT) - 1
        ) - anon_rows))
      )
    )
  ) AS score
FROM "anon_combinations"
GROUP BY
  anon_node;

WITH "anon_keyed_cells" AS (
  SELECT
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_row_count",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_keyed_cells"
  CROSS JOIN (VALUES
    (0, 8646911284551352351),
    (1, 7349874591868649503)) AS "anon_nodes"("anon_node", "anon_mask_0")
), "anon_keyed" AS (
  SELECT
    "anon_node",
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_keyed_cells"
  GROUP BY
    "anon_node",
    "anon_key_0"
  HAVING
    SUM("anon_row_count") >= 8
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 6917529027641081856 AS "anon_bits_0_4_0",
    "anon_key_0" & 7349874591868649472 AS "anon_bits_0_2_0"
  FROM "anon_keyed"
), "anon_scored" AS (
  SELECT
    "anon_labelled"."anon_node",
    "anon_labelled"."anon_rows",
    0 + CAST(FLOOR(
      CASE
        WHEN "anon_node" IN (0)
        THEN CASE
          WHEN "anon_bits_0_4_0" <= 0
          THEN 0.0e0
          WHEN "anon_bits_0_4_0" <= 2305843009213693952
          THEN 0.2e0
          ELSE 0.4e0
        END
        ELSE CASE WHEN "anon_bits_0_2_0" <= 0 THEN 0.0e0 ELSE 0.1e0 END
      END * 536870912.0e0
    ) AS BIGINT) + CAST(FLOOR(CASE WHEN "anon_node" IN (0) THEN 0.0e0 ELSE 1.0e0 END * 536870912.0e0) AS BIGINT) AS "anon_ncp"
  FROM "anon_labelled"
), "anon_combinations" AS (
  SELECT
    *,
    1073741824 AS anon_whole,
    8 AS anon_threshold
  FROM "anon_scored"
)
SELECT
  anon_node AS node,
  CAST(SUM(anon_rows) AS BIGINT) AS row_count,
  (
    -SUM(
      anon_ncp * anon_rows + (
        anon_whole - anon_ncp
      ) * (
        LEAST(anon_rows, GREATEST(0, 2 * (
          CAST(anon_threshold AS BIGINT) - 1
        ) - anon_rows))
      )
    )
  ) AS score
FROM "anon_combinations"
GROUP BY
  anon_node;

WITH "anon_keyed_cells" AS (
  SELECT
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_row_count",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_keyed_cells"
  CROSS JOIN (VALUES
    (0, 8935141660703064095),
    (1, 7484982580689764383)) AS "anon_nodes"("anon_node", "anon_mask_0")
), "anon_keyed" AS (
  SELECT
    "anon_node",
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_keyed_cells"
  GROUP BY
    "anon_node",
    "anon_key_0"
  HAVING
    SUM("anon_row_count") >= 8
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7205759403792793600 AS "anon_bits_0_3_0"
  FROM "anon_keyed"
), "anon_scored" AS (
  SELECT
    "anon_labelled"."anon_node",
    "anon_labelled"."anon_rows",
    0 + CAST(FLOOR(
      CASE
        WHEN "anon_node" IN (0)
        THEN CASE WHEN "anon_bits_0_3_0" <= 0 THEN 0.0e0 ELSE 0.2e0 END
        ELSE 0.0e0
      END * 536870912.0e0
    ) AS BIGINT) + CAST(FLOOR(CASE WHEN "anon_node" IN (0) THEN 0.0e0 ELSE 1.0e0 END * 536870912.0e0) AS BIGINT) AS "anon_ncp"
  FROM "anon_labelled"
), "anon_combinations" AS (
  SELECT
    *,
    1073741824 AS anon_whole,
    8 AS anon_threshold
  FROM "anon_scored"
)
SELECT
  anon_node AS node,
  CAST(SUM(anon_rows) AS BIGINT) AS row_count,
  (
    -SUM(
      anon_ncp * anon_rows + (
        anon_whole - anon_ncp
      ) * (
        LEAST(anon_rows, GREATEST(0, 2 * (
          CAST(anon_threshold AS BIGINT) - 1
        ) - anon_rows))
      )
    )
  ) AS score
FROM "anon_combinations"
GROUP BY
  anon_node;

WITH "anon_keyed_cells" AS (
  SELECT
    "anon_key_0" & 9079256848778919967 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_keyed_cells"
), "anon_classes_of_node" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_keyed_cells"
  GROUP BY
    "anon_key_0"
  HAVING
    SUM("anon_row_count") >= 8
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    0 AS "anon_node"
  FROM "anon_classes_of_node"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7349874591868649472 AS "anon_bits_0_2_0"
  FROM "anon_keyed"
), "anon_scored" AS (
  SELECT
    "anon_labelled"."anon_rows",
    "anon_labelled"."anon_node",
    0 + CAST(FLOOR(CASE WHEN "anon_bits_0_2_0" <= 0 THEN 0.0e0 ELSE 0.1e0 END * 536870912.0e0) AS BIGINT) AS "anon_ncp"
  FROM "anon_labelled"
), "anon_combinations" AS (
  SELECT
    *,
    1073741824 AS anon_whole,
    8 AS anon_threshold
  FROM "anon_scored"
)
SELECT
  anon_node AS node,
  CAST(SUM(anon_rows) AS BIGINT) AS row_count,
  (
    -SUM(
      anon_ncp * anon_rows + (
        anon_whole - anon_ncp
      ) * (
        LEAST(anon_rows, GREATEST(0, 2 * (
          CAST(anon_threshold AS BIGINT) - 1
        ) - anon_rows))
      )
    )
  ) AS score
FROM "anon_combinations"
GROUP BY
  anon_node;

WITH "anon_keyed_cells" AS (
  SELECT
    "anon_key_0" & 7205759403792793631 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_keyed_cells"
), "anon_classes_of_node" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_keyed_cells"
  GROUP BY
    "anon_key_0"
  HAVING
    SUM("anon_row_count") >= 8
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    0 AS "anon_node"
  FROM "anon_classes_of_node"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7205759403792793600 AS "anon_bits_0_3_0"
  FROM "anon_keyed"
), "anon_scored" AS (
  SELECT
    "anon_labelled"."anon_rows",
    "anon_labelled"."anon_node",
    536870912 + CAST(FLOOR(CASE WHEN "anon_bits_0_3_0" <= 0 THEN 0.0e0 ELSE 0.2e0 END * 536870912.0e0) AS BIGINT) AS "anon_ncp"
  FROM "anon_labelled"
), "anon_combinations" AS (
  SELECT
    *,
    1073741824 AS anon_whole,
    8 AS anon_threshold
  FROM "anon_scored"
)
SELECT
  anon_node AS node,
  CAST(SUM(anon_rows) AS BIGINT) AS row_count,
  (
    -SUM(
      anon_ncp * anon_rows + (
        anon_whole - anon_ncp
      ) * (
        LEAST(anon_rows, GREATEST(0, 2 * (
          CAST(anon_threshold AS BIGINT) - 1
        ) - anon_rows))
      )
    )
  ) AS score
FROM "anon_combinations"
GROUP BY
  anon_node;

WITH "anon_keyed_cells" AS (
  SELECT
    "anon_key_0" & 9151314442816847903 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_keyed_cells"
), "anon_classes_of_node" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_keyed_cells"
  GROUP BY
    "anon_key_0"
  HAVING
    SUM("anon_row_count") >= 8
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    0 AS "anon_node"
  FROM "anon_classes_of_node"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7421932185906577408 AS "anon_bits_0_1_0"
  FROM "anon_keyed"
), "anon_scored" AS (
  SELECT
    "anon_labelled"."anon_rows",
    "anon_labelled"."anon_node",
    0 + CAST(FLOOR(CASE WHEN "anon_bits_0_1_0" <= 0 THEN 0.0e0 ELSE 0.05e0 END * 536870912.0e0) AS BIGINT) AS "anon_ncp"
  FROM "anon_labelled"
), "anon_combinations" AS (
  SELECT
    *,
    1073741824 AS anon_whole,
    8 AS anon_threshold
  FROM "anon_scored"
)
SELECT
  anon_node AS node,
  CAST(SUM(anon_rows) AS BIGINT) AS row_count,
  (
    -SUM(
      anon_ncp * anon_rows + (
        anon_whole - anon_ncp
      ) * (
        LEAST(anon_rows, GREATEST(0, 2 * (
          CAST(anon_threshold AS BIGINT) - 1
        ) - anon_rows))
      )
    )
  ) AS score
FROM "anon_combinations"
GROUP BY
  anon_node;

WITH "anon_keyed_cells" AS (
  SELECT
    "anon_key_0" & 6917529027641081887 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_keyed_cells"
), "anon_classes_of_node" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_keyed_cells"
  GROUP BY
    "anon_key_0"
  HAVING
    SUM("anon_row_count") >= 8
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    "anon_rows",
    0 AS "anon_node"
  FROM "anon_classes_of_node"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 6917529027641081856 AS "anon_bits_0_4_0"
  FROM "anon_keyed"
), "anon_scored" AS (
  SELECT
    "anon_labelled"."anon_rows",
    "anon_labelled"."anon_node",
    536870912 + CAST(FLOOR(
      CASE
        WHEN "anon_bits_0_4_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_0_4_0" <= 2305843009213693952
        THEN 0.2e0
        ELSE 0.4e0
      END * 536870912.0e0
    ) AS BIGINT) AS "anon_ncp"
  FROM "anon_labelled"
), "anon_combinations" AS (
  SELECT
    *,
    1073741824 AS anon_whole,
    8 AS anon_threshold
  FROM "anon_scored"
)
SELECT
  anon_node AS node,
  CAST(SUM(anon_rows) AS BIGINT) AS row_count,
  (
    -SUM(
      anon_ncp * anon_rows + (
        anon_whole - anon_ncp
      ) * (
        LEAST(anon_rows, GREATEST(0, 2 * (
          CAST(anon_threshold AS BIGINT) - 1
        ) - anon_rows))
      )
    )
  ) AS score
FROM "anon_combinations"
GROUP BY
  anon_node;

DROP TABLE IF EXISTS "temp"."main"."anon_keyed_cells";

CREATE TEMPORARY TABLE "temp"."main"."anon_combinations" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8646911284551352320 AS "anon_key_0",
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
), "anon_unplaced" AS (
  SELECT
    "anon_keyed"."anon_sensitive_0",
    "anon_keyed"."anon_raw_0",
    "anon_keyed"."anon_row_count",
    "anon_labels_0"."anon_code_0_4",
    "anon_labels_1"."anon_code_1_0"
  FROM "anon_keyed"
  LEFT JOIN "anon_labels_0"
    ON (
      "anon_keyed"."anon_key_0" & 6917529027641081856
    ) = "anon_labels_0"."anon_key_0"
  LEFT JOIN "anon_labels_1"
    ON (
      "anon_keyed"."anon_key_0" & 1729382256910270464
    ) = "anon_labels_1"."anon_key_0"
)
SELECT
  *,
  ROW_NUMBER() OVER (ORDER BY "anon_code_0_4" ASC, "anon_code_1_0" ASC, "anon_sensitive_0" ASC) - 1 AS anon_place
FROM "anon_unplaced";

SELECT
  COUNT(*) AS "rows"
FROM "temp"."main"."anon_combinations";

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
  (0, 74, 1),
  (0, 75, 1),
  (0, 76, 1),
  (0, 77, 1),
  (0, 78, 1),
  (0, 79, 1),
  (0, 80, 1),
  (0, 81, 1),
  (0, 82, 1),
  (0, 83, 1),
  (0, 84, 1)) AS given(v0, v1, v2);

CREATE TEMPORARY TABLE "temp"."main"."anon_noise_of_combinations" AS
SELECT
  *
FROM "anon_noise_of_combinations_values";

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
  anon_noisy_rows >= 8 AS anon_is_shown
FROM "anon_noisy";

CREATE TEMPORARY TABLE "temp"."main"."anon_left_over" AS
WITH "anon_unplaced" AS (
  SELECT
    anon_run,
    "anon_raw_0",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
  FROM "temp"."main"."anon_noisy_combinations"
  WHERE
    NOT anon_is_shown
  GROUP BY
    anon_run,
    "anon_raw_0"
)
SELECT
  *,
  ROW_NUMBER() OVER (ORDER BY "anon_run" ASC, "anon_raw_0" ASC) - 1 AS anon_place
FROM "anon_unplaced";

SELECT
  COUNT(*) AS "rows"
FROM "temp"."main"."anon_left_over";

CREATE TEMPORARY TABLE "anon_noise_of_left_over_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "anon_place",
  CAST(v1 AS BIGINT) AS "anon_noise"
FROM (VALUES
  (0, 1),
  (1, 1),
  (2, 1),
  (3, 1),
  (4, 1),
  (5, 1),
  (6, 1),
  (7, 1),
  (8, 1),
  (9, 1),
  (10, 1),
  (11, 1),
  (12, 1),
  (13, 1),
  (14, 1),
  (15, 1),
  (16, 1),
  (17, 1)) AS given(v0, v1);

CREATE TEMPORARY TABLE "temp"."main"."anon_noise_of_left_over" AS
SELECT
  *
FROM "anon_noise_of_left_over_values";

DROP TABLE "anon_noise_of_left_over_values";

CREATE TEMPORARY TABLE "temp"."main"."anon_noisy_left_over" AS
WITH "anon_sums" AS (
  SELECT
    *
  FROM "temp"."main"."anon_left_over"
  INNER JOIN "temp"."main"."anon_noise_of_left_over"
    USING (anon_place)
), "anon_noisy" AS (
  SELECT
    *,
    anon_row_count + anon_noise AS anon_noisy_rows
  FROM "anon_sums"
)
SELECT
  *,
  anon_noisy_rows >= 13 AS anon_is_shown
FROM "anon_noisy";

CREATE TEMPORARY TYPE "anon_label_type_0" AS ENUM(
SELECT
  "label"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 0 AND "depth" = 4 AND NOT "label" IS NULL
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
    "code" AS "anon_code_0_4",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 4
), "anon_labels_1" AS (
  SELECT DISTINCT
    "code" AS "anon_code_1_0",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_published" AS (
  SELECT
    "anon_labels_0"."anon_label_0",
    "anon_labels_1"."anon_label_1",
    CAST(COALESCE("anon_cells"."anon_raw_0", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    "anon_cells"."anon_noisy_rows" AS "anon_row_count"
  FROM "temp"."main"."anon_noisy_combinations" AS anon_cells
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."anon_code_0_4" = "anon_cells"."anon_code_0_4"
  LEFT JOIN "anon_labels_1"
    ON "anon_labels_1"."anon_code_1_0" = "anon_cells"."anon_code_1_0"
  WHERE
    "anon_cells"."anon_is_shown"
  UNION ALL
  SELECT
    CAST('*' AS anon_label_type_0) AS "anon_label_0",
    CAST('*' AS anon_label_type_1) AS "anon_label_1",
    CAST(COALESCE("anon_cells"."anon_raw_0", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    "anon_cells"."anon_noisy_rows" AS "anon_row_count"
  FROM "temp"."main"."anon_noisy_left_over" AS anon_cells
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
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 4) AS BIGINT) << 60
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 3) AS BIGINT) << 58
  ) ASC,
  "diagnosis" ASC;

SELECT
  COALESCE(SUM(anon_row_count), 0) AS rows,
  COUNT(*) AS groups
FROM "temp"."main"."anon_equal_rows";

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

WITH "anon_drawn" AS (
  SELECT
    CAST(COALESCE("anon_label_0", NULL) AS TEXT) AS "age",
    CAST(COALESCE("anon_label_1", NULL) AS TEXT) AS "sex",
    DECODE(ENCODE("diagnosis")) AS "diagnosis",
    "anon_row_count"
  FROM "temp"."main"."anon_equal_rows"
), "anon_made" AS (
  SELECT
    "age",
    "sex",
    "diagnosis",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_rows
  FROM "anon_drawn"
  GROUP BY
    "age",
    "sex",
    "diagnosis"
), "anon_written" AS (
  SELECT
    "age",
    "sex",
    "diagnosis",
    COUNT(*) AS anon_rows
  FROM "memory"."main"."released"
  GROUP BY
    "age",
    "sex",
    "diagnosis"
), "anon_compared" AS (
  SELECT
    anon_made.anon_rows AS anon_made,
    anon_written.anon_rows AS anon_written
  FROM "anon_made"
  FULL JOIN "anon_written"
    ON "anon_made"."age" IS NOT DISTINCT FROM "anon_written"."age"
    AND "anon_made"."sex" IS NOT DISTINCT FROM "anon_written"."sex"
    AND "anon_made"."diagnosis" IS NOT DISTINCT FROM "anon_written"."diagnosis"
)
SELECT
  COUNT(*) FILTER(WHERE
    anon_made IS DISTINCT FROM anon_written) AS unlike
FROM "anon_compared";

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

DROP TABLE IF EXISTS "temp"."main"."anon_noisy_left_over";

DROP TABLE IF EXISTS "temp"."main"."anon_noise_of_left_over";

DROP TABLE IF EXISTS "temp"."main"."anon_left_over";

DROP TABLE IF EXISTS "temp"."main"."anon_noisy_combinations";

DROP TABLE IF EXISTS "temp"."main"."anon_noise_of_combinations";

DROP TABLE IF EXISTS "temp"."main"."anon_combinations";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

COMMIT;

