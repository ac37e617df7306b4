-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 978 rows; the SHA-256 of them is 5faf02c0fc509131931e843b874113cbf49e7a58c9b4cf2ce93296707715579e.

-- shared: read taxonomy 1;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 11;

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

SET explain_output = 'all';

EXPLAIN (FORMAT JSON) SELECT * FROM (SELECT * FROM visits WHERE age + LENGTH(diagnosis) > 0);

SET explain_output = 'PHYSICAL_ONLY';

BEGIN;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 11;

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

-- shared: create anon_values_1 1;

-- shared: read anon_ordered_leaves 1;

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
WITH "anon_rows" AS (
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
      age + LENGTH(diagnosis) > 0
  )
  WHERE
    NOT "age" IS NULL AND NOT "sex" IS NULL AND NOT "diagnosis" IS NULL
  GROUP BY
    "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary",
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
  "diagnosis" AS "anon_class",
  "anon_row_count"
FROM "anon_rows";

SELECT
  COUNT(*) FILTER(WHERE
    "anon_value_0" IS NULL) AS "misplaced_0",
  COUNT(*) FILTER(WHERE
    "anon_value_1" IS NULL) AS "misplaced_1",
  COUNT(*) FILTER(WHERE
    "anon_class" IS NULL) AS "classless"
FROM "temp"."main"."anon_points";

-- shared: create anon_marginals 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_rows_in_parts" AS
SELECT
  *,
  CAST(0 AS BIGINT) AS anon_part
FROM "temp"."main"."anon_points";

DROP TABLE IF EXISTS "temp"."main"."anon_children";

-- shared: create anon_children_values 1;

-- shared: create anon_children 1;

DROP TABLE "anon_children_values";

-- shared: read anon_marginals 2;

DROP TABLE IF EXISTS "temp"."main"."anon_children";

-- shared: create anon_children_values 2;

-- shared: create anon_children 1;

DROP TABLE "anon_children_values";

-- shared: read anon_marginals 3;

DROP TABLE IF EXISTS "temp"."main"."anon_children";

-- shared: create anon_children_values 2;

-- shared: create anon_children 1;

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
    CAST(SUM(anon_rows.anon_row_count) AS BIGINT) AS rows
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
    CAST(SUM(anon_rows.anon_row_count) AS BIGINT) AS rows
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

-- shared: create anon_children 1;

DROP TABLE "anon_children_values";

-- shared: read anon_rows_in_parts 1;

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

-- shared: create anon_children 1;

DROP TABLE "anon_children_values";

-- shared: read anon_marginals 2;

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

-- shared: create anon_children 1;

DROP TABLE "anon_children_values";

-- shared: read anon_marginals 3;

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

-- shared: create anon_children 1;

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
    CAST(SUM(anon_rows.anon_row_count) AS BIGINT) AS rows
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
    CAST(SUM(anon_rows.anon_row_count) AS BIGINT) AS rows
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

-- shared: create anon_children 1;

DROP TABLE "anon_children_values";

-- shared: read anon_rows_in_parts 1;

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

-- shared: create anon_children 1;

DROP TABLE "anon_children_values";

-- shared: read anon_marginals 2;

DROP TABLE IF EXISTS "temp"."main"."anon_children";

-- shared: create anon_children_values 3;

-- shared: create anon_children 1;

DROP TABLE "anon_children_values";

-- shared: read anon_marginals 3;

DROP TABLE IF EXISTS "temp"."main"."anon_children";

-- shared: create anon_children_values 3;

-- shared: create anon_children 1;

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
    CAST(SUM(anon_rows.anon_row_count) AS BIGINT) AS rows
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

-- shared: create anon_given_pieces 1;

DROP TABLE "anon_given_pieces_values";

-- shared: create anon_cut 1;

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
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
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

-- shared: read anon_cut 1;

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

-- shared: read anon_equal_rows 1;

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

-- shared: read taxonomy 1;

-- shared: read released 4;

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

-- shared: read released 1;

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

