-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 8 rows; the SHA-256 of them is 34262a6165730e30b0fea766ac6fdd9f01ab6f9b3a3fe7d68f7e8832ea2c8655.

-- shared: read taxonomy 1;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 12;

WITH "anon_taxonomy" AS (
  SELECT
    *
  FROM "memory"."anon"."taxonomy"
  WHERE
    attribute IN ('diagnosis', 'sex', 'zip')
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
    ARRAY_CONTAINS(['sex', 'zip', 'diagnosis'], anon_taxonomy.anon_attribute)
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
FROM UNNEST(['sex', 'zip', 'diagnosis']) AS anon_wanted(anon_name)
LEFT JOIN anon_ambiguous
  ON anon_ambiguous.anon_attribute = anon_wanted.anon_name
GROUP BY
  anon_wanted.anon_name;

BEGIN;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 12;

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
    ARRAY_CONTAINS(['sex', 'zip', 'diagnosis'], anon_taxonomy.anon_attribute)
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
        ARRAY_CONTAINS(['sex', 'zip', 'diagnosis'], anon_taxonomy.anon_attribute)
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
  (2, 'zip'),
  (3, 'diagnosis')) AS anon_taxonomies("position", "attribute")
INNER JOIN "anon_taxonomy_labels"
  ON anon_taxonomy_labels.attribute = anon_taxonomies.attribute
INNER JOIN "anon_places"
  ON anon_places.attribute = anon_taxonomies.attribute
  AND anon_places.value = anon_taxonomy_labels.value;

-- shared: create anon_values_1 1;

-- shared: create anon_values_2 1;

-- shared: create anon_values_3 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_label_codes" AS
WITH "anon_labels" AS (
  SELECT
    anon_leaves.position,
    anon_leaves.leaf,
    anon_leaves.value,
    anon_leaves.label,
    MIN(anon_leaves.leaf) OVER (PARTITION BY anon_leaves.position, anon_leaves.label) AS first_leaf
  FROM "temp"."main"."anon_ordered_leaves" AS anon_leaves
  INNER JOIN (VALUES
    (1, 0),
    (2, 2),
    (3, 1)) AS anon_levels("position", "depth")
    ON anon_levels.position = anon_leaves.position
    AND anon_levels.depth = anon_leaves.depth
)
SELECT
  position,
  leaf,
  value,
  label,
  DENSE_RANK() OVER (PARTITION BY position ORDER BY first_leaf ASC) - 1 AS code
FROM "anon_labels";

SELECT
  position,
  code,
  ANY_VALUE(label) AS label
FROM "temp"."main"."anon_label_codes"
GROUP BY
  position,
  code
ORDER BY
  position ASC,
  code ASC;

SELECT
  value,
  code
FROM "temp"."main"."anon_label_codes"
WHERE
  position = 3
ORDER BY
  leaf ASC;

SELECT
  TRY_CAST(0 AS INT) IS NULL OR TRY_CAST(79 AS INT) IS NULL AS "column_0";

CREATE TEMPORARY TABLE "temp"."main"."anon_coded_cells" AS
WITH "anon_rows" AS (
  SELECT
    CAST(CASE
      WHEN "age" IS NULL
      THEN 2
      ELSE CASE
        WHEN CAST(COALESCE("age", NULL) AS DOUBLE) >= CAST(0 AS DOUBLE)
        AND CAST(COALESCE("age", NULL) AS DOUBLE) < CAST(80 AS DOUBLE)
        THEN 0 + CAST((
          CAST(COALESCE("age", NULL) AS DOUBLE) >= CAST(40 AS DOUBLE)
        ) AS INT)
      END
    END AS UTINYINT) AS "anon_code_0",
    CAST(CASE
      WHEN "sex" IS NULL
      THEN 2
      ELSE ENUM_CODE(TRY_CAST(CAST(COALESCE("sex", NULL) AS TEXT) AS anon_values_1))
    END AS UTINYINT) AS "anon_code_1",
    CAST(LIST_EXTRACT(
      (
        SELECT
          ARRAY_AGG(code ORDER BY leaf ASC)
        FROM "temp"."main"."anon_label_codes"
        WHERE
          position = 2
      ),
      ENUM_CODE(TRY_CAST(CAST(COALESCE("zip", NULL) AS TEXT) AS anon_values_2)) + 1
    ) AS UTINYINT) AS "anon_code_2",
    CAST(CASE
      WHEN "diagnosis" IS NULL
      THEN 2
      ELSE LIST_EXTRACT(
        (
          SELECT
            ARRAY_AGG(code ORDER BY leaf ASC)
          FROM "temp"."main"."anon_label_codes"
          WHERE
            position = 3
        ),
        ENUM_CODE(TRY_CAST(CAST(COALESCE("diagnosis", NULL) AS TEXT) AS anon_values_3)) + 1
      )
    END AS UTINYINT) AS "anon_code_3",
    CAST(ENUM_CODE(TRY_CAST(CAST(COALESCE("diagnosis", NULL) AS TEXT) AS anon_values_3)) AS UTINYINT) AS "anon_fine_3"
  FROM "memory"."main"."visits"
)
SELECT
  "anon_code_0",
  "anon_code_1",
  "anon_code_2",
  "anon_code_3",
  "anon_fine_3",
  COUNT(*) AS anon_row_count
FROM "anon_rows"
GROUP BY
  "anon_code_0",
  "anon_code_1",
  "anon_code_2",
  "anon_code_3",
  "anon_fine_3";

SELECT
  COALESCE(SUM("anon_row_count") FILTER(WHERE
    "anon_code_0" IS NULL), 0) AS "anon_code_0",
  COALESCE(SUM("anon_row_count") FILTER(WHERE
    "anon_code_1" IS NULL), 0) AS "anon_code_1",
  COALESCE(SUM("anon_row_count") FILTER(WHERE
    "anon_code_2" IS NULL), 0) AS "anon_code_2",
  COALESCE(SUM("anon_row_count") FILTER(WHERE
    "anon_code_3" IS NULL), 0) AS "anon_code_3"
FROM "temp"."main"."anon_coded_cells";

WITH "anon_inside" AS (
  SELECT
    *
  FROM "temp"."main"."anon_coded_cells"
  WHERE
    NOT "anon_code_0" IS NULL
    AND NOT "anon_code_1" IS NULL
    AND NOT "anon_code_2" IS NULL
    AND NOT "anon_code_3" IS NULL
)
SELECT
  CAST(CAST("anon_code_0" AS BIGINT) AS BIGINT) AS combination,
  CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "anon_inside"
GROUP BY
  combination;

WITH "anon_inside" AS (
  SELECT
    *
  FROM "temp"."main"."anon_coded_cells"
  WHERE
    NOT "anon_code_0" IS NULL
    AND NOT "anon_code_1" IS NULL
    AND NOT "anon_code_2" IS NULL
    AND NOT "anon_code_3" IS NULL
)
SELECT
  CAST((
    CAST("anon_code_0" AS BIGINT) * 3
  ) + "anon_code_1" AS BIGINT) AS combination,
  CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "anon_inside"
GROUP BY
  combination;

WITH "anon_inside" AS (
  SELECT
    *
  FROM "temp"."main"."anon_coded_cells"
  WHERE
    NOT "anon_code_0" IS NULL
    AND NOT "anon_code_1" IS NULL
    AND NOT "anon_code_2" IS NULL
    AND NOT "anon_code_3" IS NULL
)
SELECT
  CAST((
    CAST("anon_code_0" AS BIGINT) * 1
  ) + "anon_code_2" AS BIGINT) AS combination,
  CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "anon_inside"
GROUP BY
  combination;

WITH "anon_inside" AS (
  SELECT
    *
  FROM "temp"."main"."anon_coded_cells"
  WHERE
    NOT "anon_code_0" IS NULL
    AND NOT "anon_code_1" IS NULL
    AND NOT "anon_code_2" IS NULL
    AND NOT "anon_code_3" IS NULL
)
SELECT
  CAST((
    CAST("anon_code_0" AS BIGINT) * 3
  ) + "anon_code_3" AS BIGINT) AS combination,
  CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "anon_inside"
GROUP BY
  combination;

WITH "anon_inside" AS (
  SELECT
    *
  FROM "temp"."main"."anon_coded_cells"
  WHERE
    NOT "anon_code_0" IS NULL
    AND NOT "anon_code_1" IS NULL
    AND NOT "anon_code_2" IS NULL
    AND NOT "anon_code_3" IS NULL
)
SELECT
  CAST(CAST("anon_code_1" AS BIGINT) AS BIGINT) AS combination,
  CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "anon_inside"
GROUP BY
  combination;

WITH "anon_inside" AS (
  SELECT
    *
  FROM "temp"."main"."anon_coded_cells"
  WHERE
    NOT "anon_code_0" IS NULL
    AND NOT "anon_code_1" IS NULL
    AND NOT "anon_code_2" IS NULL
    AND NOT "anon_code_3" IS NULL
)
SELECT
  CAST((
    CAST("anon_code_1" AS BIGINT) * 1
  ) + "anon_code_2" AS BIGINT) AS combination,
  CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "anon_inside"
GROUP BY
  combination;

WITH "anon_inside" AS (
  SELECT
    *
  FROM "temp"."main"."anon_coded_cells"
  WHERE
    NOT "anon_code_0" IS NULL
    AND NOT "anon_code_1" IS NULL
    AND NOT "anon_code_2" IS NULL
    AND NOT "anon_code_3" IS NULL
)
SELECT
  CAST((
    CAST("anon_code_1" AS BIGINT) * 3
  ) + "anon_code_3" AS BIGINT) AS combination,
  CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "anon_inside"
GROUP BY
  combination;

WITH "anon_inside" AS (
  SELECT
    *
  FROM "temp"."main"."anon_coded_cells"
  WHERE
    NOT "anon_code_0" IS NULL
    AND NOT "anon_code_1" IS NULL
    AND NOT "anon_code_2" IS NULL
    AND NOT "anon_code_3" IS NULL
)
SELECT
  CAST(CAST("anon_code_2" AS BIGINT) AS BIGINT) AS combination,
  CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "anon_inside"
GROUP BY
  combination;

WITH "anon_inside" AS (
  SELECT
    *
  FROM "temp"."main"."anon_coded_cells"
  WHERE
    NOT "anon_code_0" IS NULL
    AND NOT "anon_code_1" IS NULL
    AND NOT "anon_code_2" IS NULL
    AND NOT "anon_code_3" IS NULL
)
SELECT
  CAST((
    CAST("anon_code_2" AS BIGINT) * 3
  ) + "anon_code_3" AS BIGINT) AS combination,
  CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "anon_inside"
GROUP BY
  combination;

WITH "anon_inside" AS (
  SELECT
    *
  FROM "temp"."main"."anon_coded_cells"
  WHERE
    NOT "anon_code_0" IS NULL
    AND NOT "anon_code_1" IS NULL
    AND NOT "anon_code_2" IS NULL
    AND NOT "anon_code_3" IS NULL
)
SELECT
  CAST(CAST("anon_code_3" AS BIGINT) AS BIGINT) AS combination,
  CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "anon_inside"
GROUP BY
  combination;

WITH "anon_inside" AS (
  SELECT
    *
  FROM "temp"."main"."anon_coded_cells"
  WHERE
    NOT "anon_code_0" IS NULL
    AND NOT "anon_code_1" IS NULL
    AND NOT "anon_code_2" IS NULL
    AND NOT "anon_code_3" IS NULL
    AND NOT "anon_fine_3" IS NULL
)
SELECT
  CAST("anon_fine_3" AS BIGINT) AS combination,
  CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "anon_inside"
GROUP BY
  combination;

CREATE TEMPORARY TABLE "anon_drawn_rows_values" AS
SELECT
  CAST(v0 AS TINYINT) AS "age",
  CAST(v1 AS TINYINT) AS "sex",
  CAST(v2 AS TINYINT) AS "zip",
  CAST(v3 AS TINYINT) AS "diagnosis"
FROM (VALUES
  (0, 0, 0, 0),
  (0, 0, 0, 0),
  (0, 0, 0, 2),
  (40, 0, 0, 2),
  (40, 1, 0, 2),
  (40, 1, 0, 2),
  (40, 1, 0, 2),
  (NULL, NULL, 0, NULL)) AS given(v0, v1, v2, v3);

CREATE TEMPORARY TABLE "temp"."main"."anon_drawn_rows" AS
SELECT
  *
FROM "anon_drawn_rows_values";

DROP TABLE "anon_drawn_rows_values";

CREATE TABLE "memory"."main"."released" AS
SELECT
  CAST(COALESCE("age", NULL) AS INT) AS "age",
  LIST_EXTRACT(
    (
      SELECT
        ARRAY_AGG(label ORDER BY code ASC)
      FROM (
        SELECT DISTINCT
          code,
          label
        FROM "temp"."main"."anon_label_codes"
        WHERE
          position = 1
      ) AS anon_labels
    ),
    "sex" + 1
  ) AS "sex",
  LIST_EXTRACT(
    (
      SELECT
        ARRAY_AGG(label ORDER BY code ASC)
      FROM (
        SELECT DISTINCT
          code,
          label
        FROM "temp"."main"."anon_label_codes"
        WHERE
          position = 2
      ) AS anon_labels
    ),
    "zip" + 1
  ) AS "zip",
  LIST_EXTRACT(
    (
      SELECT
        ARRAY_AGG(value ORDER BY leaf ASC)
      FROM "temp"."main"."anon_label_codes"
      WHERE
        position = 3
    ),
    "diagnosis" + 1
  ) AS "diagnosis"
FROM "temp"."main"."anon_drawn_rows";

SELECT
  COUNT(*) AS row_count,
  CAST(COALESCE(SUM(HASH("age", "sex", "zip", "diagnosis")), 0) AS TEXT) AS content
FROM (
  SELECT
    CAST(COALESCE("age", NULL) AS INT) AS "age",
    LIST_EXTRACT(
      (
        SELECT
          ARRAY_AGG(label ORDER BY code ASC)
        FROM (
          SELECT DISTINCT
            code,
            label
          FROM "temp"."main"."anon_label_codes"
          WHERE
            position = 1
        ) AS anon_labels
      ),
      "sex" + 1
    ) AS "sex",
    LIST_EXTRACT(
      (
        SELECT
          ARRAY_AGG(label ORDER BY code ASC)
        FROM (
          SELECT DISTINCT
            code,
            label
          FROM "temp"."main"."anon_label_codes"
          WHERE
            position = 2
        ) AS anon_labels
      ),
      "zip" + 1
    ) AS "zip",
    LIST_EXTRACT(
      (
        SELECT
          ARRAY_AGG(value ORDER BY leaf ASC)
        FROM "temp"."main"."anon_label_codes"
        WHERE
          position = 3
      ),
      "diagnosis" + 1
    ) AS "diagnosis"
  FROM "temp"."main"."anon_drawn_rows"
);

SELECT
  COUNT(*) AS row_count,
  CAST(COALESCE(SUM(HASH("age", "sex", "zip", "diagnosis")), 0) AS TEXT) AS content
FROM "memory"."main"."released";

-- shared: read released 1;

DROP TABLE IF EXISTS "temp"."main"."anon_drawn_rows";

DROP TABLE IF EXISTS "temp"."main"."anon_coded_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_label_codes";

DROP TYPE IF EXISTS "temp"."main"."anon_values_3";

DROP TYPE IF EXISTS "temp"."main"."anon_values_2";

DROP TYPE IF EXISTS "temp"."main"."anon_values_1";

DROP TABLE IF EXISTS "temp"."main"."anon_ordered_leaves";

COMMIT;

