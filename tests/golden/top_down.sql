-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- It publishes 978 rows; the SHA-256 of them is 5faf02c0fc509131931e843b874113cbf49e7a58c9b4cf2ce93296707715579e.

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
  "anon_taxonomy"."attribute" IN ('sex')
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
    attribute IN ('sex')
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
    ARRAY_CONTAINS(['sex'], anon_taxonomy.anon_attribute)
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
FROM UNNEST(['sex']) AS anon_wanted(anon_name)
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
  "anon_taxonomy"."attribute" IN ('sex')
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

SELECT
  COUNT(*) AS "rows",
  COUNT(*) FILTER(WHERE
    "age" IS NULL) AS "null_0",
  COUNT(*) FILTER(WHERE
    "sex" IS NULL) AS "null_1",
  COUNT(*) FILTER(WHERE
    "diagnosis" IS NULL) AS "null_2"
FROM (
  SELECT
    *
  FROM visits
  WHERE
    age + LENGTH(diagnosis) > 0
);

CREATE TEMPORARY TABLE "temp"."main"."anon_ordered_leaves" AS
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
    ARRAY_CONTAINS(['sex'], anon_taxonomy.anon_attribute)
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
), "anon_paths" AS (
  SELECT
    attribute,
    value,
    ARRAY_AGG(ENCODE(label) ORDER BY level DESC) AS anon_path
  FROM (
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
        ARRAY_CONTAINS(['sex'], anon_taxonomy.anon_attribute)
    )
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
  ) AS anon_taxonomy_labels
  WHERE
    NOT value IS NULL
  GROUP BY
    attribute,
    value
), "anon_places" AS (
  SELECT
    attribute,
    value,
    ROW_NUMBER() OVER (PARTITION BY attribute ORDER BY anon_path ASC, ENCODE(value) ASC) - 1 AS leaf
  FROM "anon_paths"
)
SELECT
  anon_taxonomies.position,
  anon_taxonomy_labels.level AS depth,
  anon_taxonomy_labels.value,
  anon_taxonomy_labels.label,
  anon_places.leaf
FROM (VALUES
  (1, 'sex')) AS anon_taxonomies("position", "attribute")
INNER JOIN "anon_taxonomy_labels"
  ON anon_taxonomy_labels.attribute = anon_taxonomies.attribute
INNER JOIN "anon_places"
  ON anon_places.attribute = anon_taxonomies.attribute
  AND anon_places.value = anon_taxonomy_labels.value;

SELECT
  position,
  depth,
  CAST(MIN(leaf) AS BIGINT) AS first
FROM "temp"."main"."anon_ordered_leaves"
GROUP BY
  position,
  depth,
  label;

CREATE TEMPORARY TYPE "anon_values_1" AS ENUM(
SELECT
  value
FROM "temp"."main"."anon_ordered_leaves"
WHERE
  position = 1 AND depth = 0
ORDER BY
  "leaf" ASC
);

SELECT
  COUNT(*) FILTER(WHERE
    CAST(COALESCE("age", NULL) AS DOUBLE) < CAST(0 AS DOUBLE)
    OR CAST(COALESCE("age", NULL) AS DOUBLE) >= CAST(120 AS DOUBLE)) AS "outside_0"
FROM (
  SELECT
    *
  FROM visits
  WHERE
    age + LENGTH(diagnosis) > 0
);

CREATE TEMPORARY TABLE "temp"."main"."anon_points" AS
SELECT
  CAST(LEAST(
    CAST(FLOOR(
      LEAST(
        GREATEST(CAST(COALESCE("age", NULL) AS DOUBLE), CAST(0 AS DOUBLE)),
        CAST(120 AS DOUBLE)
      )
    ) AS BIGINT) - 0,
    119
  ) AS UTINYINT) AS "anon_value_0",
  ENUM_CODE(TRY_CAST(CAST(COALESCE("sex", NULL) AS TEXT) AS anon_values_1)) AS "anon_value_1",
  "diagnosis" AS "anon_class"
FROM (
  SELECT
    *
  FROM visits
  WHERE
    age + LENGTH(diagnosis) > 0
)
WHERE
  NOT "age" IS NULL AND NOT "sex" IS NULL AND NOT "diagnosis" IS NULL;

SELECT
  COUNT(*) FILTER(WHERE
    "anon_value_0" IS NULL) AS "misplaced_0",
  COUNT(*) FILTER(WHERE
    "anon_value_1" IS NULL) AS "misplaced_1",
  COUNT(*) FILTER(WHERE
    "anon_class" IS NULL) AS "classless"
FROM "temp"."main"."anon_points";

CREATE TEMPORARY TABLE "temp"."main"."anon_marginals" AS
SELECT
  0 AS position,
  CAST("anon_value_0" AS BIGINT) AS value,
  anon_class AS class,
  COUNT(*) AS row_count
FROM "temp"."main"."anon_points"
GROUP BY
  "anon_value_0",
  anon_class
UNION ALL
SELECT
  1 AS position,
  CAST("anon_value_1" AS BIGINT) AS value,
  anon_class AS class,
  COUNT(*) AS row_count
FROM "temp"."main"."anon_points"
GROUP BY
  "anon_value_1",
  anon_class;

CREATE TEMPORARY TABLE "temp"."main"."anon_rows_in_parts" AS
SELECT
  *,
  CAST(0 AS BIGINT) AS anon_part
FROM "temp"."main"."anon_points";

DROP TABLE IF EXISTS "temp"."main"."anon_children";

CREATE TEMPORARY TABLE "anon_children_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "candidate",
  CAST(v1 AS BIGINT) AS "child",
  CAST(v2 AS BIGINT) AS "position",
  CAST(v3 AS BIGINT) AS "first",
  CAST(v4 AS BIGINT) AS "end"
FROM (VALUES
  (0, 0, 0, 0, 120)) AS given(v0, v1, v2, v3, v4);

CREATE TEMPORARY TABLE "temp"."main"."anon_children" AS
SELECT
  *
FROM "anon_children_values";

DROP TABLE "anon_children_values";

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

DROP TABLE IF EXISTS "temp"."main"."anon_children";

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

CREATE TEMPORARY TABLE "temp"."main"."anon_children" AS
SELECT
  *
FROM "anon_children_values";

DROP TABLE "anon_children_values";

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

DROP TABLE IF EXISTS "temp"."main"."anon_children";

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

CREATE TEMPORARY TABLE "temp"."main"."anon_children" AS
SELECT
  *
FROM "anon_children_values";

DROP TABLE "anon_children_values";

WITH "anon_children" AS (
  SELECT DISTINCT
    anon_rows.value,
    "anon_pieces"."candidate",
    "anon_pieces"."child"
  FROM "temp"."main"."anon_marginals" AS anon_rows
  INNER JOIN "temp"."main"."anon_children" AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
  WHERE
    anon_rows.position = 0
), "anon_children_2" AS (
  SELECT DISTINCT
    anon_rows.value,
    "anon_pieces"."candidate",
    "anon_pieces"."child"
  FROM "temp"."main"."anon_marginals" AS anon_rows
  INNER JOIN "temp"."main"."anon_children" AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
  WHERE
    anon_rows.position = 1
), "anon_classes" AS (
  SELECT
    anon_children.candidate,
    COUNT(*) AS rows
  FROM "temp"."main"."anon_rows_in_parts" AS anon_rows
  INNER JOIN "anon_children"
    ON anon_children.value = "anon_rows"."anon_value_0"
  WHERE
    anon_rows.anon_part > -1
  GROUP BY
    anon_rows.anon_part,
    anon_children.candidate,
    anon_children.child
  UNION ALL
  SELECT
    anon_children.candidate,
    COUNT(*) AS rows
  FROM "temp"."main"."anon_rows_in_parts" AS anon_rows
  INNER JOIN "anon_children_2" AS "anon_children"
    ON anon_children.value = "anon_rows"."anon_value_1"
  WHERE
    anon_rows.anon_part > -1
  GROUP BY
    anon_rows.anon_part,
    anon_children.candidate,
    anon_children.child
)
SELECT
  candidate,
  MIN(rows) AS rows
FROM "anon_classes"
GROUP BY
  candidate;

DROP TABLE IF EXISTS "temp"."main"."anon_children";

CREATE TEMPORARY TABLE "anon_children_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "candidate",
  CAST(v1 AS BIGINT) AS "child",
  CAST(v2 AS BIGINT) AS "position",
  CAST(v3 AS BIGINT) AS "first",
  CAST(v4 AS BIGINT) AS "end"
FROM (VALUES
  (0, 0, 0, 0, 45),
  (0, 1, 0, 45, 120)) AS given(v0, v1, v2, v3, v4);

CREATE TEMPORARY TABLE "temp"."main"."anon_children" AS
SELECT
  *
FROM "anon_children_values";

DROP TABLE "anon_children_values";

SELECT
  COALESCE(MAX(anon_part), 0) AS part
FROM "temp"."main"."anon_rows_in_parts";

UPDATE "temp"."main"."anon_rows_in_parts" AS anon_changed SET anon_part = anon_numbered.new FROM (SELECT anon_part AS old, value, DENSE_RANK() OVER (ORDER BY anon_part ASC, child ASC) + 0 AS new FROM (SELECT DISTINCT anon_rows.anon_part, "anon_rows"."anon_value_0" AS value, anon_children.child FROM "temp"."main"."anon_rows_in_parts" AS anon_rows INNER JOIN (SELECT DISTINCT anon_rows.value, "anon_pieces"."child" FROM "temp"."main"."anon_marginals" AS anon_rows INNER JOIN "temp"."main"."anon_children" AS anon_pieces ON anon_rows.position = anon_pieces.position AND anon_rows.value >= anon_pieces.first AND anon_rows.value < anon_pieces."end" WHERE anon_rows.position = 0) AS "anon_children" ON anon_children.value = "anon_rows"."anon_value_0") AS anon_placed) AS anon_numbered WHERE anon_changed.anon_part = anon_numbered.old AND "anon_changed"."anon_value_0" = anon_numbered.value;

DROP TABLE IF EXISTS "temp"."main"."anon_children";

CREATE TEMPORARY TABLE "anon_children_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "candidate",
  CAST(v1 AS BIGINT) AS "child",
  CAST(v2 AS BIGINT) AS "position",
  CAST(v3 AS BIGINT) AS "first",
  CAST(v4 AS BIGINT) AS "end"
FROM (VALUES
  (0, 0, 0, 0, 45),
  (1, 0, 0, 45, 120)) AS given(v0, v1, v2, v3, v4);

CREATE TEMPORARY TABLE "temp"."main"."anon_children" AS
SELECT
  *
FROM "anon_children_values";

DROP TABLE "anon_children_values";

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

DROP TABLE IF EXISTS "temp"."main"."anon_children";

CREATE TEMPORARY TABLE "anon_children_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "candidate",
  CAST(v1 AS BIGINT) AS "child",
  CAST(v2 AS BIGINT) AS "position",
  CAST(v3 AS BIGINT) AS "first",
  CAST(v4 AS BIGINT) AS "end"
FROM (VALUES
  (0, 0, 0, 0, 36),
  (0, 1, 0, 36, 45),
  (1, 0, 0, 45, 60),
  (1, 1, 0, 60, 120)) AS given(v0, v1, v2, v3, v4);

CREATE TEMPORARY TABLE "temp"."main"."anon_children" AS
SELECT
  *
FROM "anon_children_values";

DROP TABLE "anon_children_values";

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

DROP TABLE IF EXISTS "temp"."main"."anon_children";

CREATE TEMPORARY TABLE "anon_children_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "candidate",
  CAST(v1 AS BIGINT) AS "child",
  CAST(v2 AS BIGINT) AS "position",
  CAST(v3 AS BIGINT) AS "first",
  CAST(v4 AS BIGINT) AS "end"
FROM (VALUES
  (0, 0, 0, 0, 36),
  (0, 1, 0, 36, 45),
  (1, 0, 0, 45, 60),
  (1, 1, 0, 60, 120),
  (2, 0, 1, 0, 1),
  (2, 1, 1, 1, 2)) AS given(v0, v1, v2, v3, v4);

CREATE TEMPORARY TABLE "temp"."main"."anon_children" AS
SELECT
  *
FROM "anon_children_values";

DROP TABLE "anon_children_values";

WITH "anon_children" AS (
  SELECT DISTINCT
    anon_rows.value,
    "anon_pieces"."candidate",
    "anon_pieces"."child"
  FROM "temp"."main"."anon_marginals" AS anon_rows
  INNER JOIN "temp"."main"."anon_children" AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
  WHERE
    anon_rows.position = 0
), "anon_children_2" AS (
  SELECT DISTINCT
    anon_rows.value,
    "anon_pieces"."candidate",
    "anon_pieces"."child"
  FROM "temp"."main"."anon_marginals" AS anon_rows
  INNER JOIN "temp"."main"."anon_children" AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
  WHERE
    anon_rows.position = 1
), "anon_classes" AS (
  SELECT
    anon_children.candidate,
    COUNT(*) AS rows
  FROM "temp"."main"."anon_rows_in_parts" AS anon_rows
  INNER JOIN "anon_children"
    ON anon_children.value = "anon_rows"."anon_value_0"
  WHERE
    anon_rows.anon_part > 0
  GROUP BY
    anon_rows.anon_part,
    anon_children.candidate,
    anon_children.child
  UNION ALL
  SELECT
    anon_children.candidate,
    COUNT(*) AS rows
  FROM "temp"."main"."anon_rows_in_parts" AS anon_rows
  INNER JOIN "anon_children_2" AS "anon_children"
    ON anon_children.value = "anon_rows"."anon_value_1"
  WHERE
    anon_rows.anon_part > 0
  GROUP BY
    anon_rows.anon_part,
    anon_children.candidate,
    anon_children.child
)
SELECT
  candidate,
  MIN(rows) AS rows
FROM "anon_classes"
GROUP BY
  candidate;

DROP TABLE IF EXISTS "temp"."main"."anon_children";

CREATE TEMPORARY TABLE "anon_children_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "candidate",
  CAST(v1 AS BIGINT) AS "child",
  CAST(v2 AS BIGINT) AS "position",
  CAST(v3 AS BIGINT) AS "first",
  CAST(v4 AS BIGINT) AS "end"
FROM (VALUES
  (0, 0, 0, 45, 60),
  (0, 1, 0, 60, 120)) AS given(v0, v1, v2, v3, v4);

CREATE TEMPORARY TABLE "temp"."main"."anon_children" AS
SELECT
  *
FROM "anon_children_values";

DROP TABLE "anon_children_values";

SELECT
  COALESCE(MAX(anon_part), 0) AS part
FROM "temp"."main"."anon_rows_in_parts";

UPDATE "temp"."main"."anon_rows_in_parts" AS anon_changed SET anon_part = anon_numbered.new FROM (SELECT anon_part AS old, value, DENSE_RANK() OVER (ORDER BY anon_part ASC, child ASC) + 2 AS new FROM (SELECT DISTINCT anon_rows.anon_part, "anon_rows"."anon_value_0" AS value, anon_children.child FROM "temp"."main"."anon_rows_in_parts" AS anon_rows INNER JOIN (SELECT DISTINCT anon_rows.value, "anon_pieces"."child" FROM "temp"."main"."anon_marginals" AS anon_rows INNER JOIN "temp"."main"."anon_children" AS anon_pieces ON anon_rows.position = anon_pieces.position AND anon_rows.value >= anon_pieces.first AND anon_rows.value < anon_pieces."end" WHERE anon_rows.position = 0) AS "anon_children" ON anon_children.value = "anon_rows"."anon_value_0") AS anon_placed) AS anon_numbered WHERE anon_changed.anon_part = anon_numbered.old AND "anon_changed"."anon_value_0" = anon_numbered.value;

DROP TABLE IF EXISTS "temp"."main"."anon_children";

CREATE TEMPORARY TABLE "anon_children_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "candidate",
  CAST(v1 AS BIGINT) AS "child",
  CAST(v2 AS BIGINT) AS "position",
  CAST(v3 AS BIGINT) AS "first",
  CAST(v4 AS BIGINT) AS "end"
FROM (VALUES
  (0, 0, 0, 45, 60),
  (1, 0, 0, 60, 120)) AS given(v0, v1, v2, v3, v4);

CREATE TEMPORARY TABLE "temp"."main"."anon_children" AS
SELECT
  *
FROM "anon_children_values";

DROP TABLE "anon_children_values";

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

DROP TABLE IF EXISTS "temp"."main"."anon_children";

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

CREATE TEMPORARY TABLE "temp"."main"."anon_children" AS
SELECT
  *
FROM "anon_children_values";

DROP TABLE "anon_children_values";

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

DROP TABLE IF EXISTS "temp"."main"."anon_children";

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

CREATE TEMPORARY TABLE "temp"."main"."anon_children" AS
SELECT
  *
FROM "anon_children_values";

DROP TABLE "anon_children_values";

WITH "anon_children" AS (
  SELECT DISTINCT
    anon_rows.value,
    "anon_pieces"."candidate",
    "anon_pieces"."child"
  FROM "temp"."main"."anon_marginals" AS anon_rows
  INNER JOIN "temp"."main"."anon_children" AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
  WHERE
    anon_rows.position = 0
), "anon_classes" AS (
  SELECT
    anon_children.candidate,
    COUNT(*) AS rows
  FROM "temp"."main"."anon_rows_in_parts" AS anon_rows
  INNER JOIN "anon_children"
    ON anon_children.value = "anon_rows"."anon_value_0"
  WHERE
    anon_rows.anon_part > 2
  GROUP BY
    anon_rows.anon_part,
    anon_children.candidate,
    anon_children.child
)
SELECT
  candidate,
  MIN(rows) AS rows
FROM "anon_classes"
GROUP BY
  candidate;

CREATE TEMPORARY TABLE "anon_given_pieces_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "position",
  CAST(v1 AS TEXT) AS "attribute",
  CAST(v2 AS BIGINT) AS "first",
  CAST(v3 AS BIGINT) AS "end",
  CAST(v4 AS BIGINT) AS "depth",
  CAST(v5 AS TEXT) AS "text",
  CAST(v6 AS DOUBLE) AS "low",
  CAST(v7 AS DOUBLE) AS "high"
FROM (VALUES
  (0, 'age', 0, 45, NULL, '[0, 45)', 0.0, 45.0),
  (0, 'age', 45, 60, NULL, '[45, 60)', 45.0, 60.0),
  (0, 'age', 60, 120, NULL, '[60, 120)', 60.0, 120.0),
  (1, 'sex', 0, 2, 1, NULL, NULL, NULL)) AS given(v0, v1, v2, v3, v4, v5, v6, v7);

CREATE TEMPORARY TABLE "temp"."main"."anon_given_pieces" AS
SELECT
  *
FROM "anon_given_pieces_values";

DROP TABLE "anon_given_pieces_values";

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

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_firsts_0" AS (
  SELECT DISTINCT
    anon_rows.value,
    "anon_pieces"."first"
  FROM "temp"."main"."anon_marginals" AS anon_rows
  INNER JOIN "temp"."main"."anon_cut" AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
  WHERE
    anon_rows.position = 0
), "anon_groups" AS (
  SELECT
    "anon_firsts_0"."first" AS "anon_first_0",
    0 AS "anon_first_1",
    "anon_points"."anon_class",
    COUNT(*) AS "anon_row_count"
  FROM "temp"."main"."anon_points" AS anon_points
  JOIN "anon_firsts_0"
    ON "anon_firsts_0"."value" = "anon_points"."anon_value_0"
  GROUP BY
    "anon_firsts_0"."first",
    "anon_points"."anon_class"
)
SELECT
  "anon_labels_0"."label" AS "age",
  "anon_labels_1"."label" AS "sex",
  CAST(COALESCE("anon_groups"."anon_class", NULL) AS TEXT) AS "diagnosis",
  "anon_groups"."anon_row_count"
FROM "anon_groups"
JOIN "temp"."main"."anon_cut" AS anon_labels_0
  ON "anon_labels_0"."position" = 0
  AND "anon_labels_0"."first" = "anon_groups"."anon_first_0"
JOIN "temp"."main"."anon_cut" AS anon_labels_1
  ON "anon_labels_1"."position" = 1
  AND "anon_labels_1"."first" = "anon_groups"."anon_first_1"
ORDER BY
  "anon_groups"."anon_first_0" ASC,
  "anon_groups"."anon_first_1" ASC,
  "anon_groups"."anon_class" ASC;

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

SELECT
  APPROX_COUNT_DISTINCT("diagnosis") AS "values_0",
  COALESCE(SUM("anon_row_count"), 0) AS "rows"
FROM "temp"."main"."anon_equal_rows";

WITH "anon_classes" AS (
  SELECT
    (
      MIN("diagnosis") IS NOT DISTINCT FROM MAX("diagnosis")
      AND COUNT("diagnosis") IN (0, COUNT(*))
    ) AS "anon_is_homogeneous_0",
    SUM(anon_row_count) AS anon_class_rows
  FROM "temp"."main"."anon_equal_rows"
  GROUP BY
    "age",
    "sex"
)
SELECT
  COALESCE(SUM("anon_class_rows") FILTER(WHERE
    "anon_is_homogeneous_0"), 0) AS "homogeneous_0",
  COALESCE(SUM(anon_class_rows), 0) AS rows
FROM "anon_classes";

CREATE TABLE "memory"."main"."released" AS
WITH "anon_groups" AS (
  SELECT
    "age",
    "sex",
    "diagnosis",
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

WITH "anon_made" AS (
  SELECT
    "age",
    "sex",
    "diagnosis",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_rows
  FROM "temp"."main"."anon_equal_rows"
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

SELECT
  anon_pieces.position,
  anon_pieces.first,
  CAST(SUM(anon_rows.row_count) AS BIGINT) AS rows
FROM "temp"."main"."anon_marginals" AS anon_rows
INNER JOIN "temp"."main"."anon_cut" AS anon_pieces
  ON anon_rows.position = anon_pieces.position
  AND anon_rows.value >= anon_pieces.first
  AND anon_rows.value < anon_pieces."end"
GROUP BY
  anon_pieces.position,
  anon_pieces.first;

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

DROP TABLE IF EXISTS "temp"."main"."anon_cut";

DROP TABLE IF EXISTS "temp"."main"."anon_given_pieces";

DROP TABLE IF EXISTS "temp"."main"."anon_children";

DROP TABLE IF EXISTS "temp"."main"."anon_rows_in_parts";

DROP TABLE IF EXISTS "temp"."main"."anon_marginals";

DROP TABLE IF EXISTS "temp"."main"."anon_points";

DROP TYPE IF EXISTS "temp"."main"."anon_values_1";

DROP TABLE IF EXISTS "temp"."main"."anon_ordered_leaves";

COMMIT;

