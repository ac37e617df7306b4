-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 8 rows; the SHA-256 of them is 1b572fd9ecac97081184512e44bab78bcaaae0808957aa460b5f9248c54c12ed.

-- shared: read taxonomy 1;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 10;

WITH "anon_taxonomy" AS (
  SELECT
    *
  FROM "memory"."anon"."taxonomy"
  WHERE
    attribute IN ('complaints', 'diagnosis', 'sex')
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
    ARRAY_CONTAINS(['sex', 'complaints', 'diagnosis'], anon_taxonomy.anon_attribute)
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
FROM UNNEST(['sex', 'complaints', 'diagnosis']) AS anon_wanted(anon_name)
LEFT JOIN anon_ambiguous
  ON anon_ambiguous.anon_attribute = anon_wanted.anon_name
GROUP BY
  anon_wanted.anon_name;

BEGIN;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 10;

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
    ARRAY_CONTAINS(['sex', 'complaints', 'diagnosis'], anon_taxonomy.anon_attribute)
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
        ARRAY_CONTAINS(['sex', 'complaints', 'diagnosis'], anon_taxonomy.anon_attribute)
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
  (1, 'sex'),
  (2, 'complaints'),
  (3, 'diagnosis')) AS anon_taxonomies("position", "attribute")
INNER JOIN "anon_taxonomy_labels"
  ON anon_taxonomy_labels.attribute = anon_taxonomies.attribute
INNER JOIN "anon_places"
  ON anon_places.attribute = anon_taxonomies.attribute
  AND anon_places.value = anon_taxonomy_labels.value;

-- shared: create anon_values_1 1;

-- shared: create anon_values_2 1;

-- shared: create anon_values_3 1;

-- shared: read anon_ordered_leaves 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_points" AS
WITH "anon_rows" AS (
  SELECT
    "age" AS "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "sex",
    CAST(COALESCE("complaints", NULL) AS TEXT[]) AS "complaints",
    CAST(COALESCE("diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    COUNT(*) AS "anon_row_count"
  FROM "memory"."main"."complaining"
  WHERE
    NOT "age" IS NULL
    AND NOT "sex" IS NULL
    AND NOT "complaints" IS NULL
    AND NOT "diagnosis" IS NULL
  GROUP BY
    "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary",
    CAST(COALESCE("complaints", NULL) AS TEXT[]),
    CAST(COALESCE("diagnosis", NULL) AS TEXT) COLLATE "binary"
)
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
  CASE
    WHEN LENGTH(
      LIST_TRANSFORM(
        LIST_FILTER(
          CAST(COALESCE("complaints", NULL) AS TEXT[]),
          LAMBDA "anon_item" : NOT "anon_item" IS NULL
        ),
        LAMBDA "anon_item" : ENUM_CODE(TRY_CAST("anon_item" AS anon_values_2))
      )
    ) = 0
    THEN [3]
    ELSE LIST_TRANSFORM(
      LIST_FILTER(
        CAST(COALESCE("complaints", NULL) AS TEXT[]),
        LAMBDA "anon_item" : NOT "anon_item" IS NULL
      ),
      LAMBDA "anon_item" : ENUM_CODE(TRY_CAST("anon_item" AS anon_values_2))
    )
  END AS "anon_value_2",
  ENUM_CODE(TRY_CAST(CAST(COALESCE("diagnosis", NULL) AS TEXT) AS anon_values_3)) AS "anon_class",
  "anon_row_count"
FROM "anon_rows";

SELECT
  COUNT(*) FILTER(WHERE
    "anon_value_0" IS NULL) AS "misplaced_0",
  COUNT(*) FILTER(WHERE
    "anon_value_1" IS NULL) AS "misplaced_1",
  COUNT(*) FILTER(WHERE
    LIST_COUNT("anon_value_2") <> LENGTH("anon_value_2")) AS "misplaced_2",
  COUNT(*) FILTER(WHERE
    "anon_class" IS NULL) AS "classless"
FROM "temp"."main"."anon_points";

-- shared: create anon_marginals 1;

DROP TABLE IF EXISTS "temp"."main"."anon_children";

-- shared: create anon_children_values 1;

-- shared: create anon_children 1;

DROP TABLE "anon_children_values";

-- shared: read anon_marginals 1;

DROP TABLE IF EXISTS "temp"."main"."anon_children";

CREATE TEMPORARY TABLE "anon_children_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "candidate",
  CAST(v1 AS BIGINT) AS "child",
  CAST(v2 AS BIGINT) AS "position",
  CAST(v3 AS BIGINT) AS "first",
  CAST(v4 AS BIGINT) AS "end"
FROM (VALUES
  (0, 0, 0, 0, 37),
  (0, 1, 0, 37, 120),
  (1, 0, 1, 0, 1),
  (1, 1, 1, 1, 2)) AS given(v0, v1, v2, v3, v4);

-- shared: create anon_children 1;

DROP TABLE "anon_children_values";

WITH "anon_placed" AS (
  SELECT
    "anon_value_2",
    "anon_class",
    "anon_row_count",
    0 AS "anon_place"
  FROM "temp"."main"."anon_points"
), "anon_masked" AS (
  SELECT
    "anon_class",
    "anon_row_count",
    LIST_AGGREGATE(
      LIST_TRANSFORM(
        "anon_value_2",
        LAMBDA anon_item : CASE
          WHEN anon_item < 3
          THEN CASE WHEN anon_item < 2 THEN 1 ELSE 2 END
          ELSE CASE WHEN anon_item < 4 THEN 4 ELSE 0 END
        END
      ),
      'bit_or'
    ) AS "anon_mask"
  FROM "anon_placed"
), "anon_parted" AS (
  SELECT
    "candidate",
    "anon_class",
    "anon_row_count",
    CAST((
      "anon_mask" >> "shift"
    ) & "all_children" AS BIGINT) AS "anon_mask"
  FROM (VALUES
    (2, 0, 7)) AS "anon_parts"("candidate", "shift", "all_children")
  CROSS JOIN "anon_masked"
), "anon_child_counts" AS (
  SELECT
    "candidate",
    "anon_mask" AS "child",
    "anon_class" AS "class",
    CAST(SUM("anon_row_count") AS BIGINT) AS "row_count"
  FROM "anon_parted"
  WHERE
    "anon_mask" <> 0
  GROUP BY
    "candidate",
    "anon_mask",
    "anon_class"
  UNION ALL
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
), anon_counts AS MATERIALIZED (
  SELECT
    *
  FROM "anon_child_counts"
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
  CAST("max_score" AS BIGINT) AS score
FROM "anon_scored";

DROP TABLE IF EXISTS "temp"."main"."anon_children";

CREATE TEMPORARY TABLE "anon_children_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "candidate",
  CAST(v1 AS BIGINT) AS "child",
  CAST(v2 AS BIGINT) AS "position",
  CAST(v3 AS BIGINT) AS "first",
  CAST(v4 AS BIGINT) AS "end"
FROM (VALUES
  (0, 0, 0, 0, 37),
  (1, 0, 0, 37, 120)) AS given(v0, v1, v2, v3, v4);

-- shared: create anon_children 1;

DROP TABLE "anon_children_values";

-- shared: read anon_marginals 1;

DROP TABLE IF EXISTS "temp"."main"."anon_children";

CREATE TEMPORARY TABLE "anon_children_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "candidate",
  CAST(v1 AS BIGINT) AS "child",
  CAST(v2 AS BIGINT) AS "position",
  CAST(v3 AS BIGINT) AS "first",
  CAST(v4 AS BIGINT) AS "end"
FROM (VALUES
  (0, 0, 0, 0, 1),
  (0, 1, 0, 1, 37),
  (1, 0, 0, 37, 38),
  (1, 1, 0, 38, 120)) AS given(v0, v1, v2, v3, v4);

-- shared: create anon_children 1;

DROP TABLE "anon_children_values";

WITH "anon_child_counts" AS (
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
), anon_counts AS MATERIALIZED (
  SELECT
    *
  FROM "anon_child_counts"
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
  CAST("max_score" AS BIGINT) AS score
FROM "anon_scored";

WITH "anon_placed" AS (
  SELECT
    "anon_value_2",
    "anon_row_count",
    0 AS "anon_place"
  FROM "temp"."main"."anon_points"
), "anon_masked" AS (
  SELECT
    "anon_place",
    LIST_AGGREGATE(
      LIST_TRANSFORM(
        "anon_value_2",
        LAMBDA anon_item : CASE
          WHEN anon_item < 3
          THEN CASE WHEN anon_item < 2 THEN 1 ELSE 2 END
          ELSE CASE WHEN anon_item < 4 THEN 4 ELSE 0 END
        END
      ),
      'bit_or'
    ) AS "anon_mask",
    "anon_row_count"
  FROM "anon_placed"
)
SELECT
  "anon_place" AS "place",
  "anon_mask" AS "mask",
  CAST(SUM("anon_row_count") AS BIGINT) AS "rows"
FROM "anon_masked"
WHERE
  "anon_mask" <> 0
GROUP BY
  "anon_place",
  "anon_mask";

DROP TABLE IF EXISTS "temp"."main"."anon_partitions_2";

CREATE TEMPORARY TABLE "anon_partitions_2_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "anon_place",
  CAST(v1 AS BIGINT) AS "anon_mask_0"
FROM (VALUES
  (0, 1),
  (1, 2),
  (2, 3),
  (3, 4)) AS given(v0, v1);

CREATE TEMPORARY TABLE "temp"."main"."anon_partitions_2" AS
SELECT
  *
FROM "anon_partitions_2_values";

DROP TABLE "anon_partitions_2_values";

DROP TABLE IF EXISTS "temp"."main"."anon_children";

WITH "anon_found" AS (
  SELECT
    "anon_value_2",
    "anon_class",
    "anon_row_count",
    LIST_AGGREGATE(
      LIST_TRANSFORM(
        "anon_value_2",
        LAMBDA anon_item : CASE
          WHEN anon_item < 3
          THEN CASE WHEN anon_item < 2 THEN 1 ELSE 2 END
          ELSE CASE WHEN anon_item < 4 THEN 4 ELSE 0 END
        END
      ),
      'bit_or'
    ) AS "anon_mask_0"
  FROM "temp"."main"."anon_points"
), "anon_placed" AS (
  SELECT
    "anon_found"."anon_value_2",
    "anon_found"."anon_class",
    "anon_found"."anon_row_count",
    "anon_kept"."anon_place" AS "anon_place"
  FROM "anon_found"
  JOIN "temp"."main"."anon_partitions_2" AS anon_kept
    ON "anon_found"."anon_mask_0" = "anon_kept"."anon_mask_0"
), "anon_masked" AS (
  SELECT
    "anon_class",
    "anon_row_count",
    LIST_AGGREGATE(
      LIST_TRANSFORM(
        "anon_value_2",
        LAMBDA anon_item : CASE WHEN anon_item < 1 THEN 1 ELSE CASE WHEN anon_item < 2 THEN 2 ELSE 0 END END
      ),
      'bit_or'
    ) AS "anon_mask"
  FROM "anon_placed"
), "anon_parted" AS (
  SELECT
    "candidate",
    "anon_class",
    "anon_row_count",
    CAST((
      "anon_mask" >> "shift"
    ) & "all_children" AS BIGINT) AS "anon_mask"
  FROM (VALUES
    (0, 0, 3)) AS "anon_parts"("candidate", "shift", "all_children")
  CROSS JOIN "anon_masked"
), "anon_child_counts" AS (
  SELECT
    "candidate",
    "anon_mask" AS "child",
    "anon_class" AS "class",
    CAST(SUM("anon_row_count") AS BIGINT) AS "row_count"
  FROM "anon_parted"
  WHERE
    "anon_mask" <> 0
  GROUP BY
    "candidate",
    "anon_mask",
    "anon_class"
), anon_counts AS MATERIALIZED (
  SELECT
    *
  FROM "anon_child_counts"
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
  CAST("max_score" AS BIGINT) AS score
FROM "anon_scored";

CREATE TEMPORARY TABLE "anon_pieces_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "position",
  CAST(v1 AS BIGINT) AS "place",
  CAST(v2 AS BIGINT) AS "first",
  CAST(v3 AS BIGINT) AS "end"
FROM (VALUES
  (0, 0, 0, 37),
  (0, 1, 37, 120),
  (1, 0, 0, 1),
  (1, 1, 1, 2)) AS given(v0, v1, v2, v3);

CREATE TEMPORARY TABLE "temp"."main"."anon_pieces" AS
SELECT
  *
FROM "anon_pieces_values";

DROP TABLE "anon_pieces_values";

CREATE TEMPORARY TABLE "temp"."main"."anon_occupied_leaves" AS
WITH "anon_found" AS (
  SELECT
    "anon_class",
    "anon_row_count",
    "anon_value_0",
    "anon_value_1",
    "anon_value_2",
    LIST_AGGREGATE(
      LIST_TRANSFORM(
        "anon_value_2",
        LAMBDA anon_item : CASE
          WHEN anon_item < 3
          THEN CASE WHEN anon_item < 2 THEN 1 ELSE 2 END
          ELSE CASE WHEN anon_item < 4 THEN 4 ELSE 0 END
        END
      ),
      'bit_or'
    ) AS "anon_mask_0"
  FROM "temp"."main"."anon_points"
), "anon_points" AS (
  SELECT
    "anon_found"."anon_class",
    "anon_found"."anon_row_count",
    "anon_found"."anon_value_0",
    "anon_found"."anon_value_1",
    "anon_found"."anon_value_2",
    "anon_kept"."anon_place" AS "anon_place_2"
  FROM "anon_found"
  JOIN "temp"."main"."anon_partitions_2" AS anon_kept
    ON "anon_found"."anon_mask_0" = "anon_kept"."anon_mask_0"
), "anon_pieces_0" AS (
  SELECT DISTINCT
    anon_rows.value,
    "anon_pieces"."place"
  FROM "temp"."main"."anon_marginals" AS anon_rows
  INNER JOIN "temp"."main"."anon_pieces" AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
  WHERE
    anon_rows.position = 0
), "anon_pieces_1" AS (
  SELECT DISTINCT
    anon_rows.value,
    "anon_pieces"."place"
  FROM "temp"."main"."anon_marginals" AS anon_rows
  INNER JOIN "temp"."main"."anon_pieces" AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
  WHERE
    anon_rows.position = 1
), "anon_numbered" AS (
  SELECT
    CAST("anon_points"."anon_class" AS BIGINT) + "anon_pieces_0"."place" * 3 + "anon_pieces_1"."place" * 6 + "anon_points"."anon_place_2" * 12 AS "anon_index",
    "anon_points"."anon_row_count"
  FROM "anon_points"
  JOIN "anon_pieces_0"
    ON "anon_pieces_0"."value" = "anon_points"."anon_value_0"
  JOIN "anon_pieces_1"
    ON "anon_pieces_1"."value" = "anon_points"."anon_value_1"
), "anon_counted" AS (
  SELECT
    anon_index,
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
  FROM "anon_numbered"
  GROUP BY
    anon_index
)
SELECT
  anon_index,
  anon_row_count,
  ROW_NUMBER() OVER (ORDER BY anon_index ASC) - 1 AS anon_place
FROM "anon_counted";

SELECT
  COUNT(*) AS "rows"
FROM "temp"."main"."anon_occupied_leaves";

CREATE TEMPORARY TABLE "anon_noise_of_leaves_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "anon_run",
  CAST(v1 AS BIGINT) AS "anon_place",
  CAST(v2 AS BIGINT) AS "anon_noise"
FROM (VALUES
  (0, 0, 2),
  (0, 1, 2),
  (0, 2, 2),
  (0, 3, 2),
  (0, 4, 2),
  (0, 5, 2),
  (0, 6, 2),
  (0, 7, 2)) AS given(v0, v1, v2);

CREATE TEMPORARY TABLE "temp"."main"."anon_noise_of_leaves" AS
SELECT
  *
FROM "anon_noise_of_leaves_values";

DROP TABLE "anon_noise_of_leaves_values";

CREATE TEMPORARY TABLE "anon_drawn_unseen_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "anon_run",
  CAST(v1 AS BIGINT) AS "anon_rank",
  CAST(v2 AS BIGINT) AS "anon_noisy_rows"
FROM (VALUES
  (NULL, NULL, NULL)) AS given(v0, v1, v2)
WHERE
  FALSE;

CREATE TEMPORARY TABLE "temp"."main"."anon_drawn_unseen" AS
SELECT
  *
FROM "anon_drawn_unseen_values";

DROP TABLE "anon_drawn_unseen_values";

CREATE TEMPORARY TABLE "temp"."main"."anon_shown_leaves" AS
WITH "anon_noisy" AS (
  SELECT
    anon_drawn.anon_run,
    anon_leaves.anon_index,
    anon_leaves.anon_row_count + anon_drawn.anon_noise AS anon_noisy_rows
  FROM "temp"."main"."anon_occupied_leaves" AS anon_leaves
  INNER JOIN "temp"."main"."anon_noise_of_leaves" AS anon_drawn
    ON anon_drawn.anon_place = anon_leaves.anon_place
), "anon_gaps" AS (
  SELECT
    anon_index - (
      ROW_NUMBER() OVER (ORDER BY anon_index ASC) - 1
    ) AS anon_gap,
    ROW_NUMBER() OVER (ORDER BY anon_index ASC) AS anon_shift
  FROM "temp"."main"."anon_occupied_leaves" AS anon_numbered
), "anon_seen" AS (
  SELECT
    anon_gap,
    MAX(anon_shift) AS anon_shift
  FROM "anon_gaps"
  GROUP BY
    anon_gap
), "anon_unseen" AS (
  SELECT
    anon_drawn.anon_run,
    anon_drawn.anon_noisy_rows,
    anon_drawn.anon_rank + COALESCE(anon_seen.anon_shift, 0) AS anon_index
  FROM "temp"."main"."anon_drawn_unseen" AS anon_drawn
  ASOF LEFT JOIN "anon_seen"
    ON anon_drawn.anon_rank >= anon_seen.anon_gap
)
SELECT
  *
FROM "anon_noisy"
WHERE
  anon_noisy_rows >= 1
UNION ALL
SELECT
  anon_run,
  anon_index,
  anon_noisy_rows
FROM "anon_unseen";

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
  (0, 'age', 0, 37, NULL, '[0, 37)', 0.0, 37.0),
  (0, 'age', 37, 120, NULL, '[37, 120)', 37.0, 120.0),
  (1, 'sex', 0, 1, 0, NULL, NULL, NULL),
  (1, 'sex', 1, 2, 0, NULL, NULL, NULL),
  (2, 'complaints', 0, 2, 1, NULL, NULL, NULL),
  (2, 'complaints', 2, 3, 1, NULL, NULL, NULL),
  (2, 'complaints', 3, 4, NULL, NULL, NULL, NULL)) AS given(v0, v1, v2, v3, v4, v5, v6, v7);

-- shared: create anon_given_pieces 1;

DROP TABLE "anon_given_pieces_values";

CREATE TEMPORARY TABLE "anon_places_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "position",
  CAST(v1 AS BIGINT) AS "place",
  CAST(v2 AS BIGINT) AS "first"
FROM (VALUES
  (0, 0, 0),
  (0, 1, 37),
  (1, 0, 0),
  (1, 1, 1),
  (2, 0, 0),
  (2, 1, 2),
  (2, 2, 0),
  (2, 2, 2),
  (2, 3, 3)) AS given(v0, v1, v2);

CREATE TEMPORARY TABLE "temp"."main"."anon_places" AS
SELECT
  *
FROM "anon_places_values";

DROP TABLE "anon_places_values";

-- shared: create anon_cut 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_0" AS (
  SELECT
    anon_places.place,
    anon_cut.label
  FROM "temp"."main"."anon_places" AS anon_places
  INNER JOIN "temp"."main"."anon_cut" AS anon_cut
    ON anon_cut.position = anon_places.position AND anon_cut.first = anon_places.first
  WHERE
    anon_places.position = 0
), "anon_labels_1" AS (
  SELECT
    anon_places.place,
    anon_cut.label
  FROM "temp"."main"."anon_places" AS anon_places
  INNER JOIN "temp"."main"."anon_cut" AS anon_cut
    ON anon_cut.position = anon_places.position AND anon_cut.first = anon_places.first
  WHERE
    anon_places.position = 1
), "anon_labels_3" AS (
  SELECT
    leaf AS place,
    value AS label
  FROM "temp"."main"."anon_ordered_leaves"
  WHERE
    position = 3 AND depth = 0
), "anon_labels_2" AS (
  SELECT
    anon_places.place,
    COALESCE(
      ARRAY_AGG(DISTINCT anon_cut.label ORDER BY anon_cut.label ASC) FILTER(WHERE
        NOT anon_cut.label IS NULL),
      CAST([] AS TEXT[])
    ) AS label
  FROM "temp"."main"."anon_places" AS anon_places
  INNER JOIN "temp"."main"."anon_cut" AS anon_cut
    ON anon_cut.position = anon_places.position AND anon_cut.first = anon_places.first
  WHERE
    anon_places.position = 2
  GROUP BY
    anon_places.place
)
SELECT
  "anon_labels_0"."label" AS "age",
  "anon_labels_1"."label" AS "sex",
  CAST(COALESCE("anon_labels_3"."label", NULL) AS TEXT) AS "diagnosis",
  "anon_labels_2"."label" AS "complaints",
  "anon_shown"."anon_noisy_rows" AS "anon_row_count"
FROM "temp"."main"."anon_shown_leaves" AS anon_shown
JOIN "anon_labels_0"
  ON "anon_labels_0"."place" = (
    (
      "anon_shown"."anon_index" // 3
    ) % 2
  )
JOIN "anon_labels_1"
  ON "anon_labels_1"."place" = (
    (
      "anon_shown"."anon_index" // 6
    ) % 2
  )
JOIN "anon_labels_3"
  ON "anon_labels_3"."place" = (
    (
      "anon_shown"."anon_index" // 1
    ) % 3
  )
JOIN "anon_labels_2"
  ON "anon_labels_2"."place" = (
    (
      "anon_shown"."anon_index" // 12
    ) % 4
  )
ORDER BY
  "anon_shown"."anon_index" ASC;

-- shared: read anon_equal_rows 4;

CREATE TABLE "memory"."main"."released" AS
SELECT
  "age",
  "sex",
  "diagnosis",
  "complaints",
  "anon_row_count" AS "count"
FROM "temp"."main"."anon_equal_rows";

WITH "anon_made" AS (
  SELECT
    "age",
    "sex",
    "diagnosis",
    "complaints",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_rows
  FROM "temp"."main"."anon_equal_rows"
  GROUP BY
    "age",
    "sex",
    "diagnosis",
    "complaints"
), "anon_written" AS (
  SELECT
    "age",
    "sex",
    "diagnosis",
    "complaints",
    CAST(SUM("count") AS BIGINT) AS anon_rows
  FROM "memory"."main"."released"
  GROUP BY
    "age",
    "sex",
    "diagnosis",
    "complaints"
), "anon_compared" AS (
  SELECT
    anon_made.anon_rows AS anon_made,
    anon_written.anon_rows AS anon_written
  FROM "anon_made"
  FULL JOIN "anon_written"
    ON "anon_made"."age" IS NOT DISTINCT FROM "anon_written"."age"
    AND "anon_made"."sex" IS NOT DISTINCT FROM "anon_written"."sex"
    AND "anon_made"."diagnosis" IS NOT DISTINCT FROM "anon_written"."diagnosis"
    AND "anon_made"."complaints" IS NOT DISTINCT FROM "anon_written"."complaints"
)
SELECT
  COUNT(*) FILTER(WHERE
    anon_made IS DISTINCT FROM anon_written) AS unlike
FROM "anon_compared";

SELECT
  COUNT(*) AS "rows"
FROM "temp"."main"."anon_cut";

-- shared: read anon_cut 1;

-- shared: read released 1;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TABLE IF EXISTS "temp"."main"."anon_cut";

DROP TABLE IF EXISTS "temp"."main"."anon_places";

DROP TABLE IF EXISTS "temp"."main"."anon_given_pieces";

DROP TABLE IF EXISTS "temp"."main"."anon_shown_leaves";

DROP TABLE IF EXISTS "temp"."main"."anon_drawn_unseen";

DROP TABLE IF EXISTS "temp"."main"."anon_noise_of_leaves";

DROP TABLE IF EXISTS "temp"."main"."anon_occupied_leaves";

DROP TABLE IF EXISTS "temp"."main"."anon_pieces";

DROP TABLE IF EXISTS "temp"."main"."anon_partitions_2";

DROP TABLE IF EXISTS "temp"."main"."anon_marginals";

DROP TABLE IF EXISTS "temp"."main"."anon_points";

DROP TYPE IF EXISTS "temp"."main"."anon_values_3";

DROP TYPE IF EXISTS "temp"."main"."anon_values_2";

DROP TYPE IF EXISTS "temp"."main"."anon_values_1";

DROP TABLE IF EXISTS "temp"."main"."anon_ordered_leaves";

COMMIT;

