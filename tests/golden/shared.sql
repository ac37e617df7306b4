-- The statements that runs of tests/golden send more than once, each under the title that their files have.
-- Written by `python -m tests.golden`: review it as a diff.

-- read taxonomy 1
SELECT DISTINCT
  attribute
FROM "memory"."anon"."taxonomy";

-- read taxonomy_origin 1
SELECT
  attribute,
  ARG_MAX(COALESCE(origin, ''), rowid) AS origin,
  ARG_MAX(sha256, rowid) AS sha256
FROM "memory"."anon".taxonomy_origin
GROUP BY
  attribute;

-- read taxonomy 2
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
  "anon_taxonomy"."attribute" IN ('age', 'sex', 'zip', 'admission')
GROUP BY
  anon_taxonomy.attribute,
  anon_taxonomy.level
ORDER BY
  anon_taxonomy.attribute ASC,
  anon_taxonomy.level ASC;

-- read anon_coded_labels 1
SELECT
  "position",
  "depth",
  MAX("child") AS "last_child"
FROM "temp"."main"."anon_coded_labels"
GROUP BY
  "position",
  "depth";

-- create anon_labels 1
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
  (2, 4, 0, 56),
  (3, 4, 0, 55),
  (0, 3, 0, 54),
  (0, 2, 0, 53),
  (3, 2, 0, 51),
  (0, 1, 0, 50),
  (2, 1, 0, 48),
  (3, 1, 0, 46),
  (0, 0, 0, 43),
  (2, 0, 0, 39),
  (3, 0, 0, 34)) AS "anon_fields"("position", "depth", "word", "shift")
  USING ("position", "depth");

-- read anon_labels 1
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

-- read anon_cells 1
SELECT
  COUNT(*) AS "cells",
  COALESCE(SUM("anon_row_count"), 0) AS "rows",
  COALESCE(SUM("anon_row_count") FILTER(WHERE
    "anon_is_unmapped"), 0) AS "unmapped"
FROM "temp"."main"."anon_cells";

-- read anon_cells 2
WITH "anon_keyed" AS (
  SELECT
    0 AS "position",
    "anon_key_0" & 6945738097963302912 AS "anon_key_0",
    SUM("anon_row_count") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 6945738097963302912
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
  UNION ALL
  SELECT
    2 AS "position",
    "anon_key_0" & 505255829532835840 AS "anon_key_0",
    SUM("anon_row_count") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 505255829532835840
  HAVING
    COUNT(*) > 0
  UNION ALL
  SELECT
    3 AS "position",
    "anon_key_0" & 42995835268497408 AS "anon_key_0",
    SUM("anon_row_count") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 42995835268497408
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

-- read anon_cells 3
SELECT
  "anon_key_0",
  "anon_sensitive_0",
  "anon_row_count"
FROM "temp"."main"."anon_cells";

-- create anon_label_type_1 1
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

-- create anon_label_type_3 1
CREATE TEMPORARY TYPE "anon_label_type_3" AS ENUM(
SELECT
  "label"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 3 AND "depth" = 2 AND NOT "label" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

-- create released 1
CREATE TABLE "memory"."main"."released" AS
WITH "anon_groups" AS (
  SELECT
    CAST(COALESCE("anon_label_0", NULL) AS TEXT) AS "age",
    CAST(COALESCE("anon_label_1", NULL) AS TEXT) AS "sex",
    CAST(COALESCE("anon_label_2", NULL) AS TEXT) AS "zip",
    CAST(COALESCE("anon_label_3", NULL) AS TEXT) AS "admission",
    DECODE(ENCODE("diagnosis")) AS "diagnosis",
    "length_of_stay" AS "length_of_stay",
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

-- read anon_cells 4
WITH "anon_classes" AS (
  SELECT
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_class_rows
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0"
)
SELECT
  CAST(COALESCE(SUM(anon_class_rows), 0) AS BIGINT) AS row_count,
  COUNT(*) AS class_count,
  MIN(anon_class_rows) AS k,
  COUNT(*) FILTER(WHERE
    anon_class_rows = 1) AS unique_rows
FROM "anon_classes";

-- read anon_labels 2
SELECT
  position,
  depth,
  DENSE_RANK() OVER (PARTITION BY position ORDER BY value ASC NULLS FIRST) - 1 AS value_number,
  DENSE_RANK() OVER (PARTITION BY position ORDER BY label ASC NULLS FIRST) - 1 AS label_number,
  "lm" AS loss,
  "anon_key_0"
FROM "temp"."main"."anon_labels" AS anon_labels;

-- read anon_cells 5
SELECT
  "anon_key_0",
  "anon_sensitive_0",
  "anon_row_count"
FROM "temp"."main"."anon_cells" AS anon_cells;

-- read released 1
WITH anon_rows AS (
  SELECT
    ENCODE(CONCAT(*COLUMNS(*))) AS anon_row
  FROM (
    SELECT
      (
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
        )
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

-- read taxonomy 3
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
  "anon_taxonomy"."attribute" IN ('age', 'sex', 'zip')
GROUP BY
  anon_taxonomy.attribute,
  anon_taxonomy.level
ORDER BY
  anon_taxonomy.attribute ASC,
  anon_taxonomy.level ASC;

-- read taxonomy 4
WITH "anon_taxonomy" AS (
  SELECT
    *
  FROM "memory"."anon"."taxonomy"
  WHERE
    attribute IN ('age', 'sex', 'zip')
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

-- read taxonomy 5
WITH anon_rows AS (
  SELECT
    anon_attribute,
    anon_level,
    anon_value,
    anon_label
  FROM "memory"."anon"."taxonomy" AS anon_taxonomy(anon_attribute, anon_level, anon_value, anon_label)
  WHERE
    ARRAY_CONTAINS(['age', 'sex', 'zip'], anon_taxonomy.anon_attribute)
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
FROM UNNEST(['age', 'sex', 'zip']) AS anon_wanted(anon_name)
LEFT JOIN anon_ambiguous
  ON anon_ambiguous.anon_attribute = anon_wanted.anon_name
GROUP BY
  anon_wanted.anon_name;

-- create anon_coded_labels 1
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
    ARRAY_CONTAINS(['age', 'sex', 'zip'], anon_taxonomy.anon_attribute)
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
    (0, 'age', 3, 60),
    (1, 'sex', 1, 2),
    (2, 'zip', 3, 11)) AS anon_taxonomies("position", "attribute", "height", "domain_size")
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

-- create anon_labels 2
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
  (0, 2, 0, 61),
  (1, 0, 0, 59),
  (2, 2, 0, 58),
  (0, 1, 0, 57),
  (2, 1, 0, 55),
  (0, 0, 0, 51),
  (2, 0, 0, 48)) AS "anon_fields"("position", "depth", "word", "shift")
  USING ("position", "depth");

-- create anon_cells 1
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
ORDER BY
  "anon_key_0" ASC;

-- read anon_cells 6
WITH "anon_keyed" AS (
  SELECT
    0 AS "position",
    "anon_key_0" & 7095421212922216448 AS "anon_key_0",
    SUM("anon_row_count") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 7095421212922216448
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
  UNION ALL
  SELECT
    2 AS "position",
    "anon_key_0" & 398287092045578240 AS "anon_key_0",
    SUM("anon_row_count") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 398287092045578240
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

-- create anon_label_type_0 1
CREATE TEMPORARY TYPE "anon_label_type_0" AS ENUM(
SELECT
  "label"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 0 AND "depth" = 1 AND NOT "label" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

-- create anon_label_type_1 2
CREATE TEMPORARY TYPE "anon_label_type_1" AS ENUM(
SELECT
  "label"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 1 AND "depth" = 1 AND NOT "label" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

-- create anon_label_type_2 1
CREATE TEMPORARY TYPE "anon_label_type_2" AS ENUM(
SELECT
  "label"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 2 AND "depth" = 1 AND NOT "label" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

-- create released 2
CREATE TABLE "memory"."main"."released" AS
WITH "anon_groups" AS (
  SELECT
    CAST(COALESCE("anon_label_0", NULL) AS TEXT) AS "age",
    CAST(COALESCE("anon_label_1", NULL) AS TEXT) AS "sex",
    CAST(COALESCE("anon_label_2", NULL) AS TEXT) AS "zip",
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

-- read anon_equal_rows 1
SELECT
  APPROX_COUNT_DISTINCT("diagnosis") AS "values_0",
  COALESCE(SUM("anon_row_count"), 0) AS "rows"
FROM "temp"."main"."anon_equal_rows";

-- read anon_equal_rows 2
WITH "anon_values" AS (
  SELECT
    SUM(anon_row_count) AS anon_value_rows
  FROM "temp"."main"."anon_equal_rows"
  WHERE
    TRUE
  GROUP BY
    "diagnosis"
)
SELECT
  0 AS place,
  COALESCE(SUM(anon_value_rows), 0) AS counted,
  COALESCE(SUM(anon_value_rows) FILTER(WHERE
    anon_value_rows < 2), 0) AS rare
FROM "anon_values";

-- read visits 1
SELECT
  COUNT(*) AS "source_rows",
  COUNT("id") AS "filled_0",
  COUNT("id") AS "rows_0",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("id")), 0) AS "values_0",
  COUNT("patient") AS "filled_1",
  COUNT("patient") AS "rows_1",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("patient")), 0) AS "values_1",
  COUNT("nights") AS "filled_2",
  COUNT("nights") AS "rows_2",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("nights")), 0) AS "values_2"
FROM "memory"."main"."visits";

-- read anon_judged_cells 1
WITH "anon_groups" AS (
  SELECT
    "anon_key_0" & 7095421212922216448 AS "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count",
    CAST(SUM("anon_suppressed_rows") AS BIGINT) AS "anon_suppressed_rows"
  FROM "temp"."main"."anon_judged_cells"
  GROUP BY
    "anon_key_0" & 7095421212922216448
), "anon_labels" AS (
  SELECT DISTINCT
    "anon_key_0",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 0
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
    "anon_key_0" & 398287092045578240 AS "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count",
    CAST(SUM("anon_suppressed_rows") AS BIGINT) AS "anon_suppressed_rows"
  FROM "temp"."main"."anon_judged_cells"
  GROUP BY
    "anon_key_0" & 398287092045578240
), "anon_labels_3" AS (
  SELECT DISTINCT
    "anon_key_0",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 0
)
SELECT
  0 AS "position",
  "anon_labels"."label" AS "label",
  "anon_groups"."anon_row_count" AS "rows",
  "anon_groups"."anon_suppressed_rows" AS "suppressed_rows"
FROM "anon_groups"
LEFT JOIN "anon_labels"
  ON (
    "anon_groups"."anon_key_0" & 7095421212922216448
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
    "anon_groups"."anon_key_0" & 398287092045578240
  ) = "anon_labels"."anon_key_0"
WHERE
  "anon_groups"."anon_row_count" >= 30;

-- read released 2
WITH "anon_classes" AS (
  SELECT
    "age" AS "age",
    "sex" AS "sex",
    "zip" AS "zip",
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

-- read released 3
WITH "anon_value_counts" AS (
  SELECT
    ROW("age", "sex", "zip") AS class,
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

-- read taxonomy 6
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
  "anon_taxonomy"."attribute" IN ('age', 'sex', 'zip', 'diagnosis')
GROUP BY
  anon_taxonomy.attribute,
  anon_taxonomy.level
ORDER BY
  anon_taxonomy.attribute ASC,
  anon_taxonomy.level ASC;

-- create anon_label_type_0 2
CREATE TEMPORARY TYPE "anon_label_type_0" AS ENUM(
SELECT
  "label"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 0 AND "depth" = 3 AND NOT "label" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

-- create anon_label_type_2 2
CREATE TEMPORARY TYPE "anon_label_type_2" AS ENUM(
SELECT
  "label"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 2 AND "depth" = 2 AND NOT "label" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

-- read anon_few_rows 1
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
    "anon_value_2"
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0"
FROM "anon_groups"
UNION ALL
SELECT
  2 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0"
FROM "anon_groups_2" AS anon_groups;

-- read anon_few_rows 2
WITH "anon_groups" AS (
  SELECT
    (
      MIN("anon_finer_0") IS NOT DISTINCT FROM MAX("anon_finer_0")
      AND COUNT("anon_finer_0") IN (0, COUNT(*))
    ) AS "anon_0",
    (
      MIN("anon_finer_2") IS NOT DISTINCT FROM MAX("anon_finer_2")
      AND COUNT("anon_finer_2") IN (0, COUNT(*))
    ) AS "anon_1"
  FROM "temp"."main"."anon_few_rows"
  GROUP BY
    "anon_kept_0"
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0",
  COALESCE(BOOL_AND(CAST("anon_1" AS BOOLEAN)), TRUE) AS "holds_1"
FROM "anon_groups";

-- read taxonomy 7
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

-- read taxonomy 8
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

-- read taxonomy 9
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

-- create anon_coded_labels 2
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

-- create anon_labels 3
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

-- read anon_cells 7
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

-- create released 3
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

-- read anon_equal_rows 3
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

-- read released 4
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

-- create anon_noise_of_combinations 1
CREATE TEMPORARY TABLE "temp"."main"."anon_noise_of_combinations" AS
SELECT
  *
FROM "anon_noise_of_combinations_values";

-- read anon_equal_rows 4
SELECT
  COALESCE(SUM(anon_row_count), 0) AS rows,
  COUNT(*) AS groups
FROM "temp"."main"."anon_equal_rows";

-- read taxonomy 10
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
  "anon_taxonomy"."attribute" IN ('sex', 'complaints', 'diagnosis')
GROUP BY
  anon_taxonomy.attribute,
  anon_taxonomy.level
ORDER BY
  anon_taxonomy.attribute ASC,
  anon_taxonomy.level ASC;

-- create anon_values_1 1
CREATE TEMPORARY TYPE "anon_values_1" AS ENUM(
SELECT
  value
FROM "temp"."main"."anon_ordered_leaves"
WHERE
  position = 1 AND depth = 0
ORDER BY
  "leaf" ASC
);

-- create anon_values_2 1
CREATE TEMPORARY TYPE "anon_values_2" AS ENUM(
SELECT
  value
FROM "temp"."main"."anon_ordered_leaves"
WHERE
  position = 2 AND depth = 0
ORDER BY
  "leaf" ASC
);

-- create anon_values_3 1
CREATE TEMPORARY TYPE "anon_values_3" AS ENUM(
SELECT
  value
FROM "temp"."main"."anon_ordered_leaves"
WHERE
  position = 3 AND depth = 0
ORDER BY
  "leaf" ASC
);

-- read anon_ordered_leaves 1
SELECT
  position,
  depth,
  CAST(MIN(leaf) AS BIGINT) AS first
FROM "temp"."main"."anon_ordered_leaves"
GROUP BY
  position,
  depth,
  label;

-- create anon_marginals 1
CREATE TEMPORARY TABLE "temp"."main"."anon_marginals" AS
SELECT
  0 AS position,
  CAST("anon_value_0" AS BIGINT) AS value,
  anon_class AS class,
  CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "temp"."main"."anon_points"
GROUP BY
  "anon_value_0",
  anon_class
UNION ALL
SELECT
  1 AS position,
  CAST("anon_value_1" AS BIGINT) AS value,
  anon_class AS class,
  CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "temp"."main"."anon_points"
GROUP BY
  "anon_value_1",
  anon_class;

-- create anon_children_values 1
CREATE TEMPORARY TABLE "anon_children_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "candidate",
  CAST(v1 AS BIGINT) AS "child",
  CAST(v2 AS BIGINT) AS "position",
  CAST(v3 AS BIGINT) AS "first",
  CAST(v4 AS BIGINT) AS "end"
FROM (VALUES
  (0, 0, 0, 0, 120)) AS given(v0, v1, v2, v3, v4);

-- create anon_children 1
CREATE TEMPORARY TABLE "temp"."main"."anon_children" AS
SELECT
  *
FROM "anon_children_values";

-- read anon_marginals 1
WITH "anon_value_counts" AS (
  SELECT
    "anon_pieces"."candidate",
    "anon_rows"."value",
    "anon_rows"."class",
    CAST(SUM(anon_rows.row_count) AS BIGINT) AS row_count
  FROM "temp"."main"."anon_marginals" AS anon_rows
  INNER JOIN "temp"."main"."anon_children" AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
  GROUP BY
    "anon_pieces"."candidate",
    "anon_rows"."value",
    "anon_rows"."class"
), anon_counts AS MATERIALIZED (
  SELECT
    *
  FROM "anon_value_counts"
), anon_totals AS (
  SELECT
    candidate,
    class,
    SUM(row_count) AS anon_total
  FROM "anon_counts"
  GROUP BY
    candidate,
    class
), anon_values AS (
  SELECT DISTINCT
    candidate,
    value
  FROM "anon_counts"
), anon_below AS (
  SELECT
    anon_values.candidate,
    anon_values.value,
    anon_totals.anon_total,
    SUM(COALESCE(anon_counts.row_count, 0)) OVER (
      PARTITION BY anon_values.candidate, anon_totals.class
      ORDER BY anon_values.value ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS anon_left
  FROM anon_values
  INNER JOIN anon_totals
    ON anon_totals.candidate = anon_values.candidate
  LEFT JOIN "anon_counts" AS anon_counts
    ON anon_counts.candidate = anon_values.candidate
    AND anon_counts.value = anon_values.value
    AND anon_counts.class = anon_totals.class
), "anon_scored" AS (
  SELECT
    candidate,
    value,
    CAST(MAX(anon_left) + MAX(anon_total - anon_left) AS BIGINT) AS max_score,
    GREATEST(
      0,
      (
        (
          CASE
            WHEN SUM(anon_total) > 0
            THEN SUM(anon_total) * LOG(2, SUM(anon_total))
            ELSE 0
          END
        ) - SUM((
          CASE WHEN anon_total > 0 THEN anon_total * LOG(2, anon_total) ELSE 0 END
        )) - (
          CASE WHEN SUM(anon_left) > 0 THEN SUM(anon_left) * LOG(2, SUM(anon_left)) ELSE 0 END
        ) + SUM((
          CASE WHEN anon_left > 0 THEN anon_left * LOG(2, anon_left) ELSE 0 END
        )) - (
          CASE
            WHEN (
              SUM(anon_total) - SUM(anon_left)
            ) > 0
            THEN (
              SUM(anon_total) - SUM(anon_left)
            ) * LOG(2, (
              SUM(anon_total) - SUM(anon_left)
            ))
            ELSE 0
          END
        ) + SUM(
          (
            CASE
              WHEN (
                anon_total - anon_left
              ) > 0
              THEN (
                anon_total - anon_left
              ) * LOG(2, (
                anon_total - anon_left
              ))
              ELSE 0
            END
          )
        )
      ) / SUM(anon_total)
    ) AS information_gain
  FROM anon_below
  GROUP BY
    candidate,
    value
)
SELECT
  candidate,
  value,
  CAST("max_score" AS BIGINT) AS score
FROM "anon_scored"
ORDER BY
  candidate ASC,
  value ASC;

-- create anon_given_pieces 1
CREATE TEMPORARY TABLE "temp"."main"."anon_given_pieces" AS
SELECT
  *
FROM "anon_given_pieces_values";

-- create anon_cut 1
CREATE TEMPORARY TABLE "temp"."main"."anon_cut" AS
SELECT
  anon_given.position,
  anon_given.attribute,
  anon_given.first,
  anon_given."end",
  anon_given.depth,
  anon_given.low,
  anon_given.high,
  COALESCE(anon_given.text, anon_leaves.label) AS label
FROM "temp"."main"."anon_given_pieces" AS anon_given
LEFT JOIN "temp"."main"."anon_ordered_leaves" AS anon_leaves
  ON anon_leaves.position = anon_given.position
  AND anon_leaves.leaf = anon_given.first
  AND anon_leaves.depth = anon_given.depth;

-- read anon_cut 1
SELECT
  attribute,
  depth,
  low,
  high,
  label
FROM "temp"."main"."anon_cut"
ORDER BY
  position ASC,
  first ASC;

-- read taxonomy 11
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
  "anon_taxonomy"."attribute" IN ('sex')
GROUP BY
  anon_taxonomy.attribute,
  anon_taxonomy.level
ORDER BY
  anon_taxonomy.attribute ASC,
  anon_taxonomy.level ASC;

-- read anon_marginals 2
WITH "anon_counts" AS (
  SELECT
    "anon_pieces"."candidate",
    "anon_rows"."value",
    "anon_rows"."class",
    CAST(SUM(anon_rows.row_count) AS BIGINT) AS row_count
  FROM "temp"."main"."anon_marginals" AS anon_rows
  INNER JOIN "temp"."main"."anon_children" AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
  GROUP BY
    "anon_pieces"."candidate",
    "anon_rows"."value",
    "anon_rows"."class"
), anon_totals AS (
  SELECT
    candidate,
    class,
    SUM(row_count) AS anon_total
  FROM "anon_counts"
  GROUP BY
    candidate,
    class
), anon_values AS (
  SELECT DISTINCT
    candidate,
    value
  FROM "anon_counts"
), anon_below AS (
  SELECT
    anon_values.candidate,
    anon_values.value,
    anon_totals.anon_total,
    SUM(COALESCE(anon_counts.row_count, 0)) OVER (
      PARTITION BY anon_values.candidate, anon_totals.class
      ORDER BY anon_values.value ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS anon_left
  FROM anon_values
  INNER JOIN anon_totals
    ON anon_totals.candidate = anon_values.candidate
  LEFT JOIN "anon_counts"
    ON anon_counts.candidate = anon_values.candidate
    AND anon_counts.value = anon_values.value
    AND anon_counts.class = anon_totals.class
), "anon_scored" AS (
  SELECT
    candidate,
    value,
    CAST(MAX(anon_left) + MAX(anon_total - anon_left) AS BIGINT) AS max_score,
    GREATEST(
      0,
      (
        (
          CASE
            WHEN SUM(anon_total) > 0
            THEN SUM(anon_total) * LOG(2, SUM(anon_total))
            ELSE 0
          END
        ) - SUM((
          CASE WHEN anon_total > 0 THEN anon_total * LOG(2, anon_total) ELSE 0 END
        )) - (
          CASE WHEN SUM(anon_left) > 0 THEN SUM(anon_left) * LOG(2, SUM(anon_left)) ELSE 0 END
        ) + SUM((
          CASE WHEN anon_left > 0 THEN anon_left * LOG(2, anon_left) ELSE 0 END
        )) - (
          CASE
            WHEN (
              SUM(anon_total) - SUM(anon_left)
            ) > 0
            THEN (
              SUM(anon_total) - SUM(anon_left)
            ) * LOG(2, (
              SUM(anon_total) - SUM(anon_left)
            ))
            ELSE 0
          END
        ) + SUM(
          (
            CASE
              WHEN (
                anon_total - anon_left
              ) > 0
              THEN (
                anon_total - anon_left
              ) * LOG(2, (
                anon_total - anon_left
              ))
              ELSE 0
            END
          )
        )
      ) / SUM(anon_total)
    ) AS information_gain
  FROM anon_below
  GROUP BY
    candidate,
    value
), "anon_splits" AS (
  SELECT
    candidate,
    ROUND(information_gain, 12) AS anon_gain,
    LEAD(value) OVER (PARTITION BY candidate ORDER BY value ASC) AS anon_at
  FROM "anon_scored"
)
SELECT
  candidate,
  anon_at AS "at"
FROM "anon_splits"
WHERE
  NOT anon_at IS NULL
QUALIFY
  ROW_NUMBER() OVER (PARTITION BY candidate ORDER BY anon_gain DESC, anon_at ASC) = 1;

-- create anon_children_values 2
CREATE TEMPORARY TABLE "anon_children_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "candidate",
  CAST(v1 AS BIGINT) AS "child",
  CAST(v2 AS BIGINT) AS "position",
  CAST(v3 AS BIGINT) AS "first",
  CAST(v4 AS BIGINT) AS "end"
FROM (VALUES
  (0, 0, 0, 0, 45),
  (0, 1, 0, 45, 120),
  (1, 0, 1, 0, 1),
  (1, 1, 1, 1, 2)) AS given(v0, v1, v2, v3, v4);

-- read anon_marginals 3
WITH "anon_counts" AS (
  SELECT
    "anon_pieces"."candidate",
    "anon_pieces"."child",
    "anon_rows"."class",
    CAST(SUM(anon_rows.row_count) AS BIGINT) AS row_count
  FROM "temp"."main"."anon_marginals" AS anon_rows
  INNER JOIN "temp"."main"."anon_children" AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
  GROUP BY
    "anon_pieces"."candidate",
    "anon_pieces"."child",
    "anon_rows"."class"
), "anon_of_classes" AS (
  SELECT
    candidate,
    SUM(row_count) AS anon_rows
  FROM "anon_counts"
  GROUP BY
    candidate,
    class
), anon_classes AS (
  SELECT
    candidate,
    SUM((
      CASE WHEN anon_rows > 0 THEN anon_rows * LOG(2, anon_rows) ELSE 0 END
    )) AS anon_classes_log
  FROM "anon_of_classes"
  GROUP BY
    candidate
), "anon_of_children" AS (
  SELECT
    candidate,
    MAX(row_count) AS anon_largest,
    SUM(row_count) AS anon_rows,
    SUM((
      CASE WHEN row_count > 0 THEN row_count * LOG(2, row_count) ELSE 0 END
    )) AS anon_log
  FROM "anon_counts"
  GROUP BY
    candidate,
    child
), anon_children AS (
  SELECT
    candidate,
    SUM(anon_largest) AS anon_max_score,
    SUM(anon_rows) AS anon_all_rows,
    SUM((
      CASE WHEN anon_rows > 0 THEN anon_rows * LOG(2, anon_rows) ELSE 0 END
    )) AS anon_children_log,
    SUM(anon_log) AS anon_both_log
  FROM "anon_of_children"
  GROUP BY
    candidate
), "anon_scored" AS (
  SELECT
    anon_children.candidate,
    CAST(anon_children.anon_max_score AS BIGINT) AS max_score,
    GREATEST(
      0,
      (
        (
          CASE
            WHEN anon_children.anon_all_rows > 0
            THEN anon_children.anon_all_rows * LOG(2, anon_children.anon_all_rows)
            ELSE 0
          END
        ) - anon_classes.anon_classes_log - anon_children.anon_children_log + anon_children.anon_both_log
      ) / anon_children.anon_all_rows
    ) AS information_gain
  FROM anon_children
  INNER JOIN anon_classes
    ON anon_classes.candidate = anon_children.candidate
)
SELECT
  candidate,
  ROUND(information_gain, 12) AS gain
FROM "anon_scored"
WHERE
  candidate IN (
    SELECT
      candidate
    FROM (
      SELECT
        "anon_pieces"."candidate",
        "anon_pieces"."child",
        "anon_rows"."class",
        CAST(SUM(anon_rows.row_count) AS BIGINT) AS row_count
      FROM "temp"."main"."anon_marginals" AS anon_rows
      INNER JOIN "temp"."main"."anon_children" AS anon_pieces
        ON anon_rows.position = anon_pieces.position
        AND anon_rows.value >= anon_pieces.first
        AND anon_rows.value < anon_pieces."end"
      GROUP BY
        "anon_pieces"."candidate",
        "anon_pieces"."child",
        "anon_rows"."class"
    ) AS "anon_counts"
    GROUP BY
      candidate
    HAVING
      COUNT(DISTINCT class) > 1
  );

-- read anon_rows_in_parts 1
SELECT
  COALESCE(MAX(anon_part), 0) AS part
FROM "temp"."main"."anon_rows_in_parts";

-- create anon_children_values 3
CREATE TEMPORARY TABLE "anon_children_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "candidate",
  CAST(v1 AS BIGINT) AS "child",
  CAST(v2 AS BIGINT) AS "position",
  CAST(v3 AS BIGINT) AS "first",
  CAST(v4 AS BIGINT) AS "end"
FROM (VALUES
  (0, 0, 0, 45, 50),
  (0, 1, 0, 50, 60),
  (1, 0, 0, 60, 79),
  (1, 1, 0, 79, 120)) AS given(v0, v1, v2, v3, v4);

-- create anon_levels_of_classes 1
CREATE TEMPORARY TABLE "temp"."main"."anon_levels_of_classes" AS
SELECT
  *
FROM "anon_levels_of_classes_values";

-- create anon_class_of_key 1
CREATE TEMPORARY TABLE "temp"."main"."anon_class_of_key" AS
SELECT
  *
FROM "anon_class_of_key_values";

-- read anon_labels_of_classes 1
SELECT
  anon_labels.*
FROM "temp"."main"."anon_labels_of_classes" AS anon_labels
INNER JOIN "temp"."main"."anon_kept"
  USING (anon_class)
ORDER BY
  anon_labels.anon_class ASC;

-- create anon_label_type_0 3
CREATE TEMPORARY TYPE "anon_label_type_0" AS ENUM(
SELECT
  "anon_label_0" AS "label"
FROM "temp"."main"."anon_labels_of_classes"
WHERE
  NOT "anon_label_0" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

-- create anon_label_type_1 3
CREATE TEMPORARY TYPE "anon_label_type_1" AS ENUM(
SELECT
  "anon_label_1" AS "label"
FROM "temp"."main"."anon_labels_of_classes"
WHERE
  NOT "anon_label_1" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

-- create anon_label_type_2 3
CREATE TEMPORARY TYPE "anon_label_type_2" AS ENUM(
SELECT
  "anon_label_2" AS "label"
FROM "temp"."main"."anon_labels_of_classes"
WHERE
  NOT "anon_label_2" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

-- create anon_listed_classes 1
CREATE TEMPORARY TABLE "temp"."main"."anon_listed_classes" AS
SELECT
  *
FROM "anon_listed_classes_values";

-- read anon_cells 8
SELECT
  "anon_key_0",
  LEAST("anon_row_count", 5) AS "anon_row_count"
FROM "temp"."main"."anon_cells";

-- read anon_cells 9
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
    "anon_class_size" >= 5 AS "anon_kept",
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

-- read anon_cells 10
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 9151314442816847872 AS "anon_key_0",
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
    "anon_key_0" & 7421932185906577408 AS "anon_bits_0_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    (
      0.0e0 + CASE WHEN "anon_bits_0_1_0" <= 0 THEN 0.0e0 ELSE 0.04040404040404041e0 END
    ) / 2 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AS "anon_kept",
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

-- create anon_few_rows 1
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
    "position" = 0 AND "depth" = 0
)
SELECT
  "anon_rows"."anon_value_0",
  "anon_rows"."anon_kept_0",
  "anon_labels_of_anon_finer_0"."label" AS "anon_finer_0"
FROM "anon_rows"
LEFT JOIN "anon_labels_of_anon_finer_0"
  ON "anon_labels_of_anon_finer_0"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_0";

-- read anon_few_rows 3
WITH "anon_groups" AS (
  SELECT
    (
      MIN("anon_kept_0") IS NOT DISTINCT FROM MAX("anon_kept_0")
      AND COUNT("anon_kept_0") IN (0, COUNT(*))
    ) AS "anon_0"
  FROM "temp"."main"."anon_few_rows"
  GROUP BY
    "anon_value_0"
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0"
FROM "anon_groups";

-- read anon_few_rows 4
WITH "anon_groups" AS (
  SELECT
    (
      MIN("anon_finer_0") IS NOT DISTINCT FROM MAX("anon_finer_0")
      AND COUNT("anon_finer_0") IN (0, COUNT(*))
    ) AS "anon_0"
  FROM "temp"."main"."anon_few_rows"
  GROUP BY
    "anon_kept_0"
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0"
FROM "anon_groups";

-- read visits 2
SELECT
  COUNT(*) AS "source_rows",
  COUNT("patient_id") AS "filled_0",
  COUNT("patient_id") AS "rows_0",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("patient_id")), 0) AS "values_0",
  COUNT("ssn") AS "filled_1",
  COUNT("ssn") AS "rows_1",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("ssn")), 0) AS "values_1",
  COUNT("zip") AS "filled_2",
  COUNT("zip") AS "rows_2",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("zip")), 0) AS "values_2",
  COUNT("admission") AS "filled_3",
  COUNT("admission") AS "rows_3",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("admission")), 0) AS "values_3",
  COUNT("length_of_stay") AS "filled_4",
  COUNT("length_of_stay") AS "rows_4",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("length_of_stay")), 0) AS "values_4"
FROM "memory"."main"."visits";

-- read anon_labels 3
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

-- create anon_cells 2
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

-- read anon_combinations 1
SELECT
  COUNT(*) AS "rows"
FROM "temp"."main"."anon_combinations";

-- create anon_label_type_0 4
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

-- read anon_equal_rows 5
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

-- read taxonomy 12
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
  "anon_taxonomy"."attribute" IN ('sex', 'zip', 'diagnosis')
GROUP BY
  anon_taxonomy.attribute,
  anon_taxonomy.level
ORDER BY
  anon_taxonomy.attribute ASC,
  anon_taxonomy.level ASC;

-- read earlier_release 1
SELECT
  COUNT(*) AS "rows"
FROM "memory"."main"."earlier_release";

-- read releases 1
SELECT
  target,
  datasets,
  method,
  policy_sha256,
  node,
  row_count,
  min_class_size,
  record_sha256,
  fit_sha256,
  made_at,
  forgotten_at,
  forgotten_reason
FROM "memory".anon.releases
ORDER BY
  made_at ASC NULLS FIRST,
  rowid ASC NULLS FIRST;

-- read visits 3
WITH "anon_source_keys" AS (
  SELECT
    "patient_id" AS "anon_person_0"
  FROM "memory"."main"."visits"
), "anon_persons" AS (
  SELECT
    "anon_person_0",
    COUNT(*) AS "anon_rows"
  FROM "anon_source_keys"
  GROUP BY
    "anon_person_0"
)
SELECT
  CAST(COALESCE(SUM(anon_rows) FILTER(WHERE
    "anon_person_0" IS NULL), 0) AS BIGINT) AS without_key,
  COUNT(*) FILTER(WHERE
    anon_rows > 1 AND NOT "anon_person_0" IS NULL) AS repeated_keys
FROM "anon_persons";

-- create anon_labels_of_releases_0 1
CREATE TEMPORARY TABLE "temp"."main"."anon_labels_of_releases_0" AS
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

-- create anon_released_classes_0 1
CREATE TEMPORARY TABLE "temp"."main"."anon_released_classes_0" AS
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
    FROM "memory"."main"."earlier_release" AS anon_released
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
  FROM "temp"."main"."anon_labels_of_releases_0"
  WHERE
    "position" = 0 AND "depth" = 1
), "anon_labels_1" AS (
  SELECT DISTINCT
    "anon_key_0",
    "label"
  FROM "temp"."main"."anon_labels_of_releases_0"
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

-- create anon_persons_of_0 1
CREATE TEMPORARY TABLE "temp"."main"."anon_persons_of_0" AS
WITH "anon_sources" AS (
  SELECT
    *
  FROM "temp"."main"."anon_rows_of_0"
)
SELECT
  "anon_person_0",
  COALESCE(ANY_VALUE("anon_class_0"), 0) AS "anon_class_0",
  CAST(CEIL(COUNT(*) / CAST(NOT ANY_VALUE("anon_class_0") IS NULL AS INT)) AS BIGINT) AS anon_rows
FROM "anon_sources"
GROUP BY
  "anon_person_0";

-- read anon_persons_of_0 1
SELECT
  CAST(COALESCE(SUM(anon_rows) FILTER(WHERE
    "anon_person_0" IS NULL), 0) AS BIGINT) AS without_key,
  COUNT(*) FILTER(WHERE
    anon_rows > 1 AND NOT "anon_person_0" IS NULL) AS repeated_keys
FROM "temp"."main"."anon_persons_of_0" AS anon_persons;

-- create anon_shown_groups 1
CREATE TEMPORARY TABLE "temp"."main"."anon_shown_groups" AS
SELECT
  "anon_class_0",
  CAST(SUM(anon_rows) AS BIGINT) AS anon_class_size,
  "anon_class_0" > 0 AND SUM(anon_rows) >= 1 AS anon_kept
FROM "temp"."main"."anon_persons_of_0" AS anon_persons
GROUP BY
  "anon_class_0";

-- read anon_shown_groups 1
WITH "anon_made" AS (
  SELECT
    "anon_class_0",
    SUM(anon_class_size) AS anon_class_size
  FROM "temp"."main"."anon_shown_groups" AS anon_judged
  WHERE
    anon_kept
  GROUP BY
    "anon_class_0"
)
SELECT
  COUNT(*) AS classes
FROM "temp"."main"."anon_released_classes_0" AS anon_released
LEFT JOIN "anon_made"
  ON "anon_made"."anon_class_0" = "anon_released"."anon_class_0"
WHERE
  anon_made.anon_class_size IS DISTINCT FROM anon_released.anon_released_rows;

-- create anon_joint_classes 1
CREATE TEMPORARY TABLE "temp"."main"."anon_joint_classes" AS
SELECT
  "anon_class_0",
  CAST(ROW_NUMBER() OVER (ORDER BY ["anon_class_0" > 0] ASC, "anon_class_0" ASC) AS UINTEGER) AS anon_earlier,
  CAST(SUM(anon_rows) AS BIGINT) AS anon_persons
FROM "temp"."main"."anon_persons_of_0" AS anon_persons
GROUP BY
  "anon_class_0"
HAVING
  LIST_MAX(["anon_class_0"]) > 0;

-- read anon_joint_classes 1
WITH "anon_classes" AS (
  SELECT
    "anon_persons" AS "person_count"
  FROM "temp"."main"."anon_joint_classes"
)
SELECT
  MIN(anon_classes.person_count) AS k,
  COUNT(*) AS class_count,
  CAST(COALESCE(SUM(anon_classes.person_count), 0) AS BIGINT) AS person_count,
  COUNT(*) FILTER(WHERE
    anon_classes.person_count = 1) AS unique_persons
FROM "anon_classes";

-- create anon_keyed_rows 1
CREATE TEMPORARY TABLE "temp"."main"."anon_keyed_rows" AS
SELECT
  "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" | (
    CAST(COALESCE("anon_persons"."anon_earlier", 0) AS BIGINT) << 0
  ) AS "anon_key_0",
  "anon_labels_0"."code" IS NULL OR "anon_labels_1"."code" IS NULL AS "anon_is_unmapped",
  1 AS "anon_row_count",
  "anon_rows"."patient_id" AS "anon_person_0"
FROM "memory"."main"."visits" AS anon_rows
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_0
  ON "anon_labels_0"."position" = 0
  AND "anon_labels_0"."depth" = 0
  AND "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."age", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_1
  ON "anon_labels_1"."position" = 1
  AND "anon_labels_1"."depth" = 0
  AND "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."sex", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_persons" AS anon_persons
  ON "anon_persons"."anon_person_0" IS NOT DISTINCT FROM "anon_rows"."patient_id";

-- create anon_cells 3
CREATE TEMPORARY TABLE "temp"."main"."anon_cells" AS
WITH "anon_rows" AS (
  SELECT
    "anon_key_0",
    "anon_is_unmapped",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "temp"."main"."anon_keyed_rows"
  GROUP BY
    "anon_key_0",
    "anon_is_unmapped"
)
SELECT
  "anon_rows"."anon_key_0",
  "anon_rows"."anon_is_unmapped",
  "anon_rows"."anon_row_count"
FROM "anon_rows"
ORDER BY
  "anon_key_0" ASC;

-- create anon_absent_persons 1
CREATE TEMPORARY TABLE "temp"."main"."anon_absent_persons" AS
SELECT
  anon_earlier,
  CAST(SUM(anon_rows) AS BIGINT) AS anon_absent
FROM (
  SELECT
    anon_earlier,
    anon_rows
  FROM "temp"."main"."anon_persons" AS anon_persons
  UNION ALL
  SELECT
    (
      (
        "anon_key_0" & 63
      ) >> 0
    ) AS "anon_earlier",
    -anon_row_count
  FROM "temp"."main"."anon_cells" AS anon_cells
)
WHERE
  anon_earlier > 0
GROUP BY
  anon_earlier
HAVING
  SUM(anon_rows) <> 0;

-- read anon_absent_persons 1
SELECT
  "anon_earlier",
  "anon_absent"
FROM "temp"."main"."anon_absent_persons";

-- read anon_kept 1
SELECT
  LIST_PRODUCT(
    [
      CAST((
        SELECT
          COUNT(*)
        FROM "temp"."main"."anon_kept"
      ) AS DOUBLE),
      CAST(APPROX_COUNT_DISTINCT(CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary") AS DOUBLE)
    ]
  ) AS "groups",
  COUNT(*) AS "source_rows",
  COUNT("patient_id") AS "filled_0",
  COUNT("patient_id") AS "rows_0",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("patient_id")), 0) AS "values_0",
  COUNT("ssn") AS "filled_1",
  COUNT("ssn") AS "rows_1",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("ssn")), 0) AS "values_1",
  COUNT("zip") AS "filled_2",
  COUNT("zip") AS "rows_2",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("zip")), 0) AS "values_2",
  COUNT("admission") AS "filled_3",
  COUNT("admission") AS "rows_3",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("admission")), 0) AS "values_3",
  COUNT("length_of_stay") AS "filled_4",
  COUNT("length_of_stay") AS "rows_4",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("length_of_stay")), 0) AS "values_4"
FROM "memory"."main"."visits" AS anon_source;

-- read anon_judged_cells 2
WITH "anon_groups" AS (
  SELECT
    "anon_key_0" & 7421932185906577408 AS "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count",
    CAST(SUM("anon_suppressed_rows") AS BIGINT) AS "anon_suppressed_rows"
  FROM "temp"."main"."anon_judged_cells"
  GROUP BY
    "anon_key_0" & 7421932185906577408
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
)
SELECT
  0 AS "position",
  "anon_labels"."label" AS "label",
  "anon_groups"."anon_row_count" AS "rows",
  "anon_groups"."anon_suppressed_rows" AS "suppressed_rows"
FROM "anon_groups"
LEFT JOIN "anon_labels"
  ON (
    "anon_groups"."anon_key_0" & 7421932185906577408
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
  "anon_groups"."anon_row_count" >= 30;

-- create anon_released_classes_1 1
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
  CAST(ROW_NUMBER() OVER (ORDER BY "anon_key_0" ASC NULLS FIRST) AS UINTEGER) AS "anon_class_1"
FROM "anon_labelled";

-- read anon_shown_groups 2
WITH "anon_made" AS (
  SELECT
    "anon_class_1",
    SUM(anon_class_size) AS anon_class_size
  FROM "temp"."main"."anon_shown_groups" AS anon_judged
  WHERE
    anon_kept
  GROUP BY
    "anon_class_1"
)
SELECT
  COUNT(*) AS classes
FROM "temp"."main"."anon_released_classes_1" AS anon_released
LEFT JOIN "anon_made"
  ON "anon_made"."anon_class_1" = "anon_released"."anon_class_1"
WHERE
  anon_made.anon_class_size IS DISTINCT FROM anon_released.anon_released_rows;

-- create anon_joint_classes 2
CREATE TEMPORARY TABLE "temp"."main"."anon_joint_classes" AS
WITH "anon_persons" AS (
  SELECT
    "anon_class_0",
    CASE WHEN "anon_kept" THEN "anon_class_1" ELSE 0 END AS "anon_class_1",
    "anon_class_size" AS "anon_rows"
  FROM "temp"."main"."anon_shown_groups"
)
SELECT
  "anon_class_0",
  "anon_class_1",
  CAST(ROW_NUMBER() OVER (
    ORDER BY ["anon_class_0" > 0, "anon_class_1" > 0] ASC, "anon_class_0" ASC, "anon_class_1" ASC
  ) AS UINTEGER) AS anon_earlier,
  CAST(SUM(anon_rows) AS BIGINT) AS anon_persons
FROM "anon_persons"
GROUP BY
  "anon_class_0",
  "anon_class_1"
HAVING
  LIST_MAX(["anon_class_0", "anon_class_1"]) > 0;

-- create anon_reference_of_anon_value_0_0 1
CREATE TEMPORARY TABLE "temp"."main"."anon_reference_of_anon_value_0_0" AS
WITH "anon_persons" AS (
  SELECT
    *,
    1 AS "anon_rows"
  FROM "temp"."main"."anon_rows_of_0"
)
SELECT
  "anon_value_0_0" AS anon_code,
  CAST(SUM(anon_rows) AS BIGINT) AS anon_rows
FROM "anon_persons"
WHERE
  "anon_value_0_0" > 0
GROUP BY
  "anon_value_0_0";

-- create anon_persons_of_0 2
CREATE TEMPORARY TABLE "temp"."main"."anon_persons_of_0" AS
WITH "anon_sources" AS (
  SELECT
    *
  FROM "temp"."main"."anon_rows_of_0"
)
SELECT
  "anon_person_0",
  COALESCE(ANY_VALUE("anon_class_0"), 0) AS "anon_class_0",
  COALESCE(ANY_VALUE("anon_value_0_0"), 0) AS "anon_value_0_0",
  CAST(CEIL(COUNT(*) / CAST(NOT ANY_VALUE("anon_class_0") IS NULL AS INT)) AS BIGINT) AS anon_rows
FROM "anon_sources"
GROUP BY
  "anon_person_0";

-- read anon_joint_classes 2
SELECT
  ["anon_class_0" > 0] AS shown_by,
  CAST(MIN(anon_earlier) AS BIGINT) AS first_number,
  CAST(MAX(anon_earlier) AS BIGINT) AS last_number
FROM "temp"."main"."anon_joint_classes" AS anon_joint
GROUP BY
  shown_by
ORDER BY
  first_number ASC;

-- create anon_persons 1
CREATE TEMPORARY TABLE "temp"."main"."anon_persons" AS
SELECT
  "anon_persons"."anon_person_0",
  CAST(anon_joint.anon_earlier AS INT) AS anon_earlier,
  "anon_persons"."anon_value_0_0",
  anon_persons.anon_rows
FROM "temp"."main"."anon_persons_of_0" AS anon_persons
INNER JOIN "temp"."main"."anon_joint_classes" AS anon_joint
  ON "anon_persons"."anon_class_0" = "anon_joint"."anon_class_0";

-- create anon_keyed_rows 2
CREATE TEMPORARY TABLE "temp"."main"."anon_keyed_rows" AS
SELECT
  "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" | (
    CAST(COALESCE("anon_persons"."anon_earlier", 0) AS BIGINT) << 0
  ) AS "anon_key_0",
  "anon_labels_0"."code" IS NULL OR "anon_labels_1"."code" IS NULL AS "anon_is_unmapped",
  "anon_rows"."diagnosis",
  COALESCE("anon_persons"."anon_value_0_0", 0) AS "anon_value_0_0",
  1 AS "anon_row_count",
  "anon_rows"."patient_id" AS "anon_person_0"
FROM "memory"."main"."visits" AS anon_rows
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_0
  ON "anon_labels_0"."position" = 0
  AND "anon_labels_0"."depth" = 0
  AND "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."age", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_1
  ON "anon_labels_1"."position" = 1
  AND "anon_labels_1"."depth" = 0
  AND "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."sex", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_persons" AS anon_persons
  ON "anon_persons"."anon_person_0" IS NOT DISTINCT FROM "anon_rows"."patient_id";

-- create anon_cells 4
CREATE TEMPORARY TABLE "temp"."main"."anon_cells" AS
WITH "anon_rows" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    "anon_is_unmapped",
    "diagnosis",
    "anon_value_0_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "temp"."main"."anon_keyed_rows"
  GROUP BY
    "anon_key_0",
    "anon_is_unmapped",
    "diagnosis",
    "anon_value_0_0"
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
  "anon_rows"."anon_key_0",
  "anon_rows"."anon_is_unmapped",
  "anon_rows"."anon_value_0_0" AS "anon_sensitive_1",
  "anon_sensitive_0_ranks"."anon_sensitive_0",
  "anon_rows"."anon_row_count"
FROM "anon_rows"
JOIN "anon_sensitive_0_ranks"
  ON "anon_sensitive_0_ranks"."diagnosis" IS NOT DISTINCT FROM "anon_rows"."diagnosis"
ORDER BY
  "anon_key_0" ASC;

-- read anon_few_rows 5
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
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0"
FROM "anon_groups"
UNION ALL
SELECT
  1 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0"
FROM "anon_groups_2" AS anon_groups;

-- read anon_few_rows 6
WITH "anon_groups" AS (
  SELECT
    (
      MIN("anon_finer_0") IS NOT DISTINCT FROM MAX("anon_finer_0")
      AND COUNT("anon_finer_0") IN (0, COUNT(*))
    ) AS "anon_0",
    (
      MIN("anon_finer_1") IS NOT DISTINCT FROM MAX("anon_finer_1")
      AND COUNT("anon_finer_1") IN (0, COUNT(*))
    ) AS "anon_1"
  FROM "temp"."main"."anon_few_rows"
  GROUP BY
    "anon_kept_0"
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0",
  COALESCE(BOOL_AND(CAST("anon_1" AS BOOLEAN)), TRUE) AS "holds_1"
FROM "anon_groups";

-- read released 5
WITH "anon_value_counts" AS (
  SELECT
    ROW("age", "sex") AS class,
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

-- create anon_person_reference_crossings_0 1
CREATE TEMPORARY TABLE "temp"."main"."anon_person_reference_crossings_0" AS
SELECT
  UNNEST(
    RANGE(
      CAST(FLOOR(anon_least_share * 1024e0) AS BIGINT),
      CAST(FLOOR(anon_next_share * 1024e0) AS BIGINT) + 1
    )
  ) AS slot,
  anon_least_share AS least_share,
  anon_next_share AS next_share,
  anon_position AS crossing,
  anon_work AS crossing_work
FROM (
  SELECT
    position AS anon_position,
    work_below AS anon_work,
    COALESCE(LAG(cumulative_share) OVER (ORDER BY position ASC), 0e0) AS anon_least_share,
    cumulative_share AS anon_next_share
  FROM "temp"."main"."anon_person_reference_work_0"
)
WHERE
  anon_least_share < anon_next_share;

-- create anon_person_values_0 1
CREATE TEMPORARY TABLE "temp"."main"."anon_person_values_0" AS
WITH "anon_counts" AS (
  SELECT
    "anon_code" AS "anon_sensitive_0",
    "anon_rows" AS "anon_rows"
  FROM "temp"."main"."anon_reference_of_diagnosis"
)
SELECT
  "anon_sensitive_0",
  "anon_rows" / SUM("anon_rows") OVER () AS "anon_share"
FROM "anon_counts";

-- create anon_person_values_1 1
CREATE TEMPORARY TABLE "temp"."main"."anon_person_values_1" AS
WITH "anon_counts" AS (
  SELECT
    "anon_code" AS "anon_sensitive_1",
    "anon_rows" AS "anon_rows"
  FROM "temp"."main"."anon_reference_of_anon_value_0_0"
)
SELECT
  "anon_sensitive_1",
  "anon_rows" / SUM("anon_rows") OVER () AS "anon_share"
FROM "anon_counts";

-- create anon_person_reference_work_0 1
CREATE TEMPORARY TABLE "temp"."main"."anon_person_reference_work_0" AS
SELECT
  position,
  anon_all_rows AS reference_rows,
  anon_rows_up_to / NULLIF(anon_all_rows, 0e0) AS cumulative_share,
  position * anon_rows_up_to - anon_moment AS work_below,
  (
    anon_all_moment - anon_moment
  ) - position * (
    anon_all_rows - anon_rows_up_to
  ) AS work_above,
  anon_all_rows * (
    anon_positions - 1
  ) AS most_work
FROM (
  SELECT
    position,
    CAST(SUM(row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_rows_up_to,
    CAST(SUM(position * row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_moment,
    CAST(SUM(row_count) OVER () AS DOUBLE) AS anon_all_rows,
    CAST(SUM(position * row_count) OVER () AS DOUBLE) AS anon_all_moment,
    COUNT(*) OVER () AS anon_positions
  FROM (
    SELECT
      "anon_code" AS "position",
      "anon_rows" AS "row_count"
    FROM "temp"."main"."anon_reference_of_diagnosis"
  ) AS "anon_positions"
);

-- create anon_person_reference_work_1 1
CREATE TEMPORARY TABLE "temp"."main"."anon_person_reference_work_1" AS
SELECT
  position,
  anon_all_rows AS reference_rows,
  anon_rows_up_to / NULLIF(anon_all_rows, 0e0) AS cumulative_share,
  position * anon_rows_up_to - anon_moment AS work_below,
  (
    anon_all_moment - anon_moment
  ) - position * (
    anon_all_rows - anon_rows_up_to
  ) AS work_above,
  anon_all_rows * (
    anon_positions - 1
  ) AS most_work
FROM (
  SELECT
    position,
    CAST(SUM(row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_rows_up_to,
    CAST(SUM(position * row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_moment,
    CAST(SUM(row_count) OVER () AS DOUBLE) AS anon_all_rows,
    CAST(SUM(position * row_count) OVER () AS DOUBLE) AS anon_all_moment,
    COUNT(*) OVER () AS anon_positions
  FROM (
    SELECT
      "anon_code" AS "position",
      "anon_rows" AS "row_count"
    FROM "temp"."main"."anon_reference_of_anon_value_0_0"
  ) AS "anon_positions"
);

-- create anon_person_reference_crossings_1 1
CREATE TEMPORARY TABLE "temp"."main"."anon_person_reference_crossings_1" AS
SELECT
  UNNEST(
    RANGE(
      CAST(FLOOR(anon_least_share * 1024e0) AS BIGINT),
      CAST(FLOOR(anon_next_share * 1024e0) AS BIGINT) + 1
    )
  ) AS slot,
  anon_least_share AS least_share,
  anon_next_share AS next_share,
  anon_position AS crossing,
  anon_work AS crossing_work
FROM (
  SELECT
    position AS anon_position,
    work_below AS anon_work,
    COALESCE(LAG(cumulative_share) OVER (ORDER BY position ASC), 0e0) AS anon_least_share,
    cumulative_share AS anon_next_share
  FROM "temp"."main"."anon_person_reference_work_1"
)
WHERE
  anon_least_share < anon_next_share;

-- read anon_cells 11
SELECT
  "anon_key_0",
  "anon_row_count"
FROM "temp"."main"."anon_cells" AS anon_cells;

-- create anon_labels_of_classes 1
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
      "position" = 1) AS "anon_label_1"
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
  '*' AS "anon_label_1";

-- create anon_kept 1
CREATE TEMPORARY TABLE "temp"."main"."anon_kept" AS
WITH "anon_cells" AS (
  SELECT
    "anon_keyed"."anon_row_count",
    "anon_of_key"."anon_class"
  FROM "temp"."main"."anon_cells" AS anon_keyed
  JOIN "temp"."main"."anon_class_of_key" AS anon_of_key
    ON "anon_of_key"."anon_key_0" = "anon_keyed"."anon_key_0"
), "anon_classes" AS (
  SELECT
    "anon_class",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_cells"
  GROUP BY
    "anon_class"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AS "anon_kept"
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

-- read fit 1
SELECT
  *
FROM "anon_fit"."main"."fit";

-- read releases 2
SELECT
  *
FROM "anon_fit"."main"."releases";

-- read taxonomy 13
SELECT DISTINCT
  attribute
FROM "anon_fit"."main"."taxonomy";

-- read taxonomy 14
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
FROM "anon_fit"."main"."taxonomy" AS anon_taxonomy
LEFT JOIN "anon_fit"."main".taxonomy_domain AS anon_domain
  ON anon_domain.attribute = anon_taxonomy.attribute
WHERE
  "anon_taxonomy"."attribute" IN ('age', 'sex', 'zip', 'admission')
GROUP BY
  anon_taxonomy.attribute,
  anon_taxonomy.level
ORDER BY
  anon_taxonomy.attribute ASC,
  anon_taxonomy.level ASC;

-- read taxonomy 15
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

-- read taxonomy 16
WITH anon_rows AS (
  SELECT
    anon_attribute,
    anon_level,
    anon_value,
    anon_label
  FROM "anon_fit"."main"."taxonomy" AS anon_taxonomy(anon_attribute, anon_level, anon_value, anon_label)
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

-- create anon_coded_labels 3
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

-- create anon_union_values_0 1
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

-- create anon_union_cells 1
CREATE TEMPORARY TABLE "temp"."main"."anon_union_cells" AS
SELECT
  *
FROM "temp"."main"."anon_new_cells"
UNION ALL BY NAME
SELECT
  *
FROM "temp"."main"."anon_old_cells";

-- read CHECKPOINT 1
SELECT
  *
FROM CHECKPOINT('anon_fit');

-- read LATERAL 1
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

-- read LATERAL 2
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

-- read released 6
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

