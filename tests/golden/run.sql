-- What a whole run of tests/golden/people.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement that is above it; statements of a line or two stand together.

CREATE TABLE people AS FROM (VALUES
    (1, 31, 'f', 'asthma', 1, 2),
    (2, 34, 'f', 'asthma', 1, 1),
    (3, 34, 'f', 'flu',    2, 3),
    (4, 34, 'm', 'angina', 2, 1),
    (5, 42, 'm', 'flu',    3, 2),
    (6, 42, 'm', 'flu',    4, 1),
    (7, 42, 'm', 'angina', 4, 1),
    (8, 47, 'm', 'asthma', 5, 2)
) AS people (id, age, sex, diagnosis, patient, nights);

-- Run k at a node: Policy(method=FullDomain(suppression_limit=0.5), privacy=[KAnonymity(k=2)])
-- It publishes 8 rows 1a5ae261eb59290667a9a7708e9953d4e0173674a1b662ed81e0d503e0ef116b

SELECT DISTINCT attribute
FROM "memory"."anon"."taxonomy";

-- read taxonomy_origin
SELECT attribute, ARG_MAX(COALESCE(origin, ''), rowid) AS origin, ARG_MAX(sha256, rowid) AS sha256
FROM "memory"."anon".taxonomy_origin
GROUP BY attribute;

-- read taxonomy
SELECT
  anon_taxonomy.attribute, anon_taxonomy.level,
  COUNT(DISTINCT anon_taxonomy.label) + CAST(BOOL_OR(CAST(anon_taxonomy.label IS NULL AS BOOLEAN)) AS BIGINT) AS label_count,
  COUNT(*) AS value_count,
  COUNT(*) - COUNT(anon_taxonomy.value) AS null_value_count,
  COUNT(*) - COUNT(anon_taxonomy.label) AS null_label_count,
  COALESCE(ANY_VALUE(anon_domain.domain), 'observed') AS domain,
  SHA256(
    LISTAGG(
       CONCAT(COALESCE(anon_taxonomy.value, ''), CHR(31), COALESCE(anon_taxonomy.label, ''), CHR(30)), ''
      
      ORDER BY anon_taxonomy.value ASC NULLS FIRST, anon_taxonomy.label ASC NULLS FIRST
    )
  ) AS sha256
FROM "memory"."anon"."taxonomy" AS anon_taxonomy
LEFT JOIN "memory"."anon".taxonomy_domain AS anon_domain ON anon_domain.attribute = anon_taxonomy.attribute
WHERE "anon_taxonomy"."attribute" IN ('age', 'sex')
GROUP BY anon_taxonomy.attribute, anon_taxonomy.level
ORDER BY anon_taxonomy.attribute ASC, anon_taxonomy.level ASC;

WITH "anon_taxonomy" AS (
  SELECT *
  FROM "memory"."anon"."taxonomy"
  WHERE attribute IN ('age', 'sex')
), anon_rows AS (
  SELECT attribute, level, value, label
  FROM "anon_taxonomy"
), anon_level_sets AS (
  SELECT attribute, anon_levels, COUNT(*) AS anon_value_count
  FROM (SELECT attribute, value, LIST_SORT(ARRAY_AGG(level)) AS anon_levels FROM anon_rows GROUP BY attribute, value)
  GROUP BY attribute, anon_levels
), anon_heights AS (
  SELECT attribute, MAX(LIST_MAX(anon_levels)) AS anon_height
  FROM anon_level_sets
  GROUP BY attribute
), anon_counts AS (
  SELECT attribute, anon_levels, anon_value_count, level, COUNT(*) AS anon_row_count
  FROM (SELECT attribute, anon_levels, anon_value_count, UNNEST(anon_levels) AS level FROM anon_level_sets)
  GROUP BY ALL
), anon_found AS (
  SELECT attribute, level, 'missing level' AS problem, SUM(anon_value_count) AS problem_count
  FROM (
    SELECT anon_level_sets.*, UNNEST(RANGE(0, anon_heights.anon_height + 1)) AS level
    FROM anon_level_sets
    INNER JOIN anon_heights ON anon_heights.attribute = anon_level_sets.attribute
    WHERE ARRAY_CONTAINS(anon_level_sets.anon_levels, 0)
  )
  WHERE NOT ARRAY_CONTAINS(anon_levels, level)
  GROUP BY ALL
  UNION ALL
  SELECT attribute, level, 'value outside the domain', SUM(anon_value_count * anon_row_count)
  FROM anon_counts
  WHERE NOT ARRAY_CONTAINS(anon_levels, 0)
  GROUP BY ALL
  UNION ALL
  SELECT attribute, level, 'several labels', SUM(anon_value_count)
  FROM anon_counts
  WHERE anon_row_count > 1
  GROUP BY ALL
  UNION ALL
  SELECT attribute, level, 'level 0 is not the value itself', COUNT(*)
  FROM anon_rows
  WHERE level = 0 AND label IS DISTINCT FROM value AND COALESCE(label, '') <> ''
  GROUP BY ALL
  UNION ALL
  SELECT attribute, level, 'empty label', COUNT(*)
  FROM anon_rows
  WHERE COALESCE(label, '') = '' AND NOT (level = 0 AND value IS NOT DISTINCT FROM label)
  GROUP BY ALL
  UNION ALL
  SELECT attribute, level, 'not nested', COUNT(*)
  FROM (
    SELECT anon_rows.attribute, anon_rows.level, anon_rows.label
    FROM anon_rows
    INNER JOIN anon_rows AS anon_next
      ON anon_next.attribute = anon_rows.attribute
      AND anon_next.level = anon_rows.level + 1
      AND anon_next.value IS NOT DISTINCT FROM anon_rows.value
    WHERE anon_rows.level > 0 AND anon_next.level > 1
    GROUP BY ALL
    HAVING MIN(anon_next.label) <> MAX(anon_next.label)
  )
  GROUP BY ALL
  UNION ALL
  SELECT anon_rows.attribute, anon_rows.level, 'several top labels', COUNT(DISTINCT anon_rows.label)
  FROM anon_rows
  INNER JOIN anon_heights ON anon_heights.attribute = anon_rows.attribute AND anon_heights.anon_height = anon_rows.level
  GROUP BY ALL
  HAVING COUNT(DISTINCT anon_rows.label) > 1
)
SELECT attribute, CAST(level AS INT) AS level, problem, CAST(problem_count AS BIGINT) AS problem_count
FROM anon_found;

WITH anon_rows AS (
  SELECT anon_attribute, anon_level, anon_value, anon_label
  FROM "memory"."anon"."taxonomy" AS anon_taxonomy(anon_attribute, anon_level, anon_value, anon_label)
  WHERE ARRAY_CONTAINS(['age', 'sex'], anon_taxonomy.anon_attribute)
), anon_tops AS (
  SELECT anon_attribute, ARG_MAX(anon_label, anon_level) AS anon_label
  FROM anon_rows
  GROUP BY anon_attribute
), anon_labels AS (
  SELECT DISTINCT anon_attribute, anon_level, anon_label
  FROM anon_rows
  ANTI JOIN anon_tops
    ON anon_tops.anon_attribute = anon_rows.anon_attribute
    AND anon_tops.anon_label = anon_rows.anon_label
  WHERE anon_level > 0
), anon_ambiguous AS (
  SELECT DISTINCT anon_labels.anon_attribute, anon_labels.anon_label
  FROM anon_labels
  INNER JOIN anon_rows
    ON anon_rows.anon_attribute = anon_labels.anon_attribute
    AND anon_rows.anon_level = anon_labels.anon_level
    AND anon_rows.anon_value = anon_labels.anon_label
  WHERE anon_rows.anon_label <> anon_labels.anon_label
)
SELECT anon_wanted.anon_name AS attribute, COUNT(anon_ambiguous.anon_label) AS ambiguous_labels
FROM UNNEST(['age', 'sex']) AS anon_wanted(anon_name)
LEFT JOIN anon_ambiguous ON anon_ambiguous.anon_attribute = anon_wanted.anon_name
GROUP BY anon_wanted.anon_name;

BEGIN;

-- as above: read taxonomy_origin; read taxonomy

CREATE TEMPORARY TABLE "temp"."main"."anon_coded_labels" AS
WITH "anon_taxonomies" AS (
  SELECT *, AVG(LN(GREATEST(domain_size, 1))) OVER () AS mean_log
  FROM (VALUES
    (0, 'age', 2, 4),
    (1, 'sex', 1, 2)) AS "anon_taxonomies"("position", "attribute", "height", "domain_size")
), anon_labels AS (
  SELECT
    anon_attribute, anon_level, anon_value, anon_label,
    COUNT(*) OVER (PARTITION BY anon_attribute, anon_level, anon_label) AS anon_leaf_count,
    anon_level > 0
    AND anon_level = MAX(anon_level) OVER (PARTITION BY anon_attribute) AS anon_is_top
  FROM "memory"."anon"."taxonomy" AS anon_taxonomy(anon_attribute, anon_level, anon_value, anon_label)
  WHERE ARRAY_CONTAINS(['age', 'sex'], anon_taxonomy.anon_attribute)
), "anon_taxonomy_labels" AS (
  SELECT
    anon_attribute AS attribute, anon_level AS level, anon_value AS value, anon_label AS label,
    anon_leaf_count AS leaf_count
  FROM anon_labels
  UNION ALL
  SELECT
    anon_attribute, anon_level, NULL,
    CASE WHEN anon_is_top THEN MAX(anon_label) END,
    CASE WHEN anon_is_top THEN ARG_MAX(anon_leaf_count, anon_label) ELSE 1 END
  FROM anon_labels
  GROUP BY anon_attribute, anon_level, anon_is_top
  HAVING COUNT(*) FILTER(WHERE anon_value IS NULL) = 0
), anon_coded AS (
  SELECT
    anon_taxonomies.position, anon_taxonomies.height, anon_taxonomy_labels.level AS depth, anon_taxonomy_labels.value,
    anon_taxonomy_labels.label,
    DENSE_RANK() OVER (
      PARTITION BY anon_taxonomies.position, anon_taxonomy_labels.level
      ORDER BY anon_taxonomy_labels.leaf_count ASC NULLS FIRST, anon_taxonomy_labels.label ASC NULLS FIRST
    ) AS code,
    (
      CASE
        WHEN anon_taxonomies.domain_size > 1 THEN (
          anon_taxonomy_labels.leaf_count - 1
        ) / (anon_taxonomies.domain_size - 1)
        ELSE 0.0
      END
    ) AS lm,
    (
      CASE
        WHEN anon_taxonomy_labels.leaf_count = 1 THEN 0.0
        ELSE anon_taxonomy_labels.leaf_count / anon_taxonomies.domain_size
      END
    ) AS ncp,
    (1 - (2 * 1 - 1 * 1) / anon_taxonomy_labels.leaf_count) AS rce,
    (
      CASE
        WHEN anon_taxonomy_labels.leaf_count > 1 THEN LN(anon_taxonomy_labels.leaf_count) / anon_taxonomies.mean_log
        ELSE 0.0
      END
    ) AS log_share
  FROM "anon_taxonomies"
  INNER JOIN "anon_taxonomy_labels" ON anon_taxonomy_labels.attribute = anon_taxonomies.attribute
  QUALIFY COUNT(*) OVER (PARTITION BY anon_taxonomies.position, anon_taxonomy_labels.value) = anon_taxonomies.height + 1
), anon_parents AS (
  SELECT
    *,
    CASE WHEN depth < height - 1 THEN LEAD(code) OVER (PARTITION BY position, value ORDER BY depth ASC) END AS parent
  FROM anon_coded
)
SELECT
  position, depth, value, label, code,
  DENSE_RANK() OVER (PARTITION BY position, depth, parent ORDER BY code ASC) - 1 AS child,
  lm, ncp, rce, log_share
FROM anon_parents;

SELECT position, depth, MAX(child) AS last_child
FROM "temp"."main"."anon_coded_labels"
GROUP BY position, depth;

CREATE TEMPORARY TABLE "temp"."main"."anon_labels" AS
SELECT
  "anon_coded"."position", "anon_coded"."depth", "anon_coded"."value", "anon_coded"."label", "anon_coded"."code",
  "anon_coded"."lm", "anon_coded"."ncp", "anon_coded"."rce", "anon_coded"."log_share",
  COALESCE(
    BIT_OR(("child" << "shift")) FILTER(WHERE
      "word" = 0) OVER (PARTITION BY "position", "value" ORDER BY "depth" DESC),
    0
  ) AS "anon_key_0"
FROM "temp"."main"."anon_coded_labels" AS anon_coded
LEFT JOIN (VALUES
  (0, 1, 0, 61),
  (1, 0, 0, 59),
  (0, 0, 0, 58)) AS "anon_fields"("position", "depth", "word", "shift")
  USING ("position", "depth");

DROP TABLE IF EXISTS "temp"."main"."anon_coded_labels";

WITH "anon_labels" AS (
  SELECT DISTINCT position, depth, "anon_key_0", "lm"
  FROM "temp"."main"."anon_labels"
), "anon_steps" AS (
  SELECT position, depth, CAST(["anon_key_0"] AS BIGINT[]) AS last_bits, "lm"
  FROM "anon_labels"
  QUALIFY ROW("lm") IS DISTINCT FROM ROW(LEAD("lm") OVER (PARTITION BY "position", "depth" ORDER BY "anon_key_0" ASC))
)
SELECT *
FROM "anon_steps"
QUALIFY COUNT(*) OVER (PARTITION BY position, depth) <= 64;

CREATE TEMPORARY TABLE "temp"."main"."anon_cells" AS
WITH "anon_rows" AS (
  SELECT "age" AS "age", CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "sex", COUNT(*) AS "anon_row_count"
  FROM "memory"."main"."people"
  GROUP BY "age", CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary"
)
SELECT
  "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" AS "anon_key_0",
  "anon_labels_0"."code" IS NULL OR "anon_labels_1"."code" IS NULL AS "anon_is_unmapped",
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
ORDER BY "anon_key_0" ASC;

SELECT
  COUNT(*) AS cells,
  COALESCE(SUM(anon_row_count), 0) AS rows,
  COALESCE(SUM(anon_row_count) FILTER(WHERE "anon_is_unmapped"), 0) AS "unmapped"
FROM "temp"."main"."anon_cells";

WITH "anon_keyed" AS (
  SELECT 0 AS position, "anon_key_0" & 7205759403792793600 AS "anon_key_0", SUM("anon_row_count") AS anon_value_rows
  FROM "temp"."main"."anon_cells"
  GROUP BY "anon_key_0" & 7205759403792793600
  HAVING COUNT(*) > 0
  UNION ALL
  SELECT 1 AS position, "anon_key_0" & 1729382256910270464 AS "anon_key_0", SUM("anon_row_count") AS anon_value_rows
  FROM "temp"."main"."anon_cells"
  GROUP BY "anon_key_0" & 1729382256910270464
  HAVING COUNT(*) > 0
), "anon_values" AS (
  SELECT anon_labels.position, anon_labels.value, anon_keyed.anon_value_rows
  FROM "anon_keyed"
  INNER JOIN "temp"."main"."anon_labels" AS anon_labels
    ON anon_labels.position = anon_keyed.position
    AND "anon_labels"."anon_key_0" = "anon_keyed"."anon_key_0"
    AND anon_labels.depth = 0
), "anon_levels" AS (
  SELECT
    anon_labels.position, anon_labels.depth, anon_values.anon_value_rows, anon_labels.code AS anon_label,
    anon_labels.lm AS anon_lm, anon_labels.ncp AS anon_ncp, anon_labels.rce AS anon_rce,
    anon_labels.log_share AS anon_log_share
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
  position, depth,
  COALESCE(
    (
      SUM(anon_value_rows * LOG(2, anon_label_rows / anon_value_rows) ORDER BY anon_value_rows ASC, anon_label_rows ASC)
    ),
    0.0
  ) AS entropy,
  (SUM(anon_value_rows * CASE WHEN TRUE THEN anon_lm ELSE 1.0 END) / SUM(anon_value_rows)) AS lm,
  (SUM(anon_value_rows * CASE WHEN TRUE THEN anon_ncp ELSE 1.0 END) / SUM(anon_value_rows)) AS ncp,
  (SUM(anon_value_rows * CASE WHEN TRUE THEN anon_rce ELSE 1.0 END) / SUM(anon_value_rows)) AS rce,
  (SUM(anon_value_rows * CASE WHEN TRUE THEN anon_log_share ELSE 1.0 END) / SUM(anon_value_rows)) AS log_share,
  MAX(anon_lm) AS largest_lm,
  MAX(anon_ncp) AS largest_ncp,
  MAX(anon_rce) AS largest_rce,
  MAX(anon_log_share) AS largest_log_share,
  MIN((LOG(2, anon_row_count / anon_label_rows))) AS least_information,
  COUNT(DISTINCT anon_label) AS distinct_labels
FROM "anon_weighed"
GROUP BY position, depth;

WITH "anon_cells" AS (
  SELECT "anon_key_0" & 6917529027641081856 AS "anon_key_0", "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_keyed" AS (
  SELECT "anon_key_0", CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_cells"
  GROUP BY "anon_key_0"
), "anon_labelled" AS (
  SELECT *, "anon_key_0" & 6917529027641081856 AS "anon_bits_0_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    (1.0e0 + CASE WHEN "anon_bits_0_1_0" <= 0 THEN 0.0e0 ELSE 0.3333333333333333e0 END) / 2 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT *, "anon_class_size" >= 2 AS "anon_kept", "anon_class_size" AS "anon_class_weight"
  FROM "anon_classes"
)
SELECT
  0 AS node,
  COUNT(*) AS class_count,
  MIN(anon_class_size) AS min_class_size,
  COUNT(*) FILTER(WHERE anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE NOT anon_kept), 0) AS BIGINT) AS certain_suppressed_rows,
  (SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)) AS lm,
  (SUM(CAST("anon_class_size" AS INT128) * "anon_class_size")) AS "dm_star",
  (SUM(CAST("anon_class_size" AS INT128) * CASE WHEN "anon_kept" THEN "anon_class_size" ELSE 8 END)) AS "dm",
  (
    CAST(SUM("anon_class_size") AS DOUBLE) / (
      COUNT(*) FILTER(WHERE "anon_kept") + CAST(BOOL_OR(CAST(NOT "anon_kept" AS BOOLEAN)) AS INT)
    ) / 2
  ) AS "aecs"
FROM "anon_classes_2" AS "anon_classes";

CREATE TEMPORARY TABLE "temp"."main"."anon_kept" AS
WITH "anon_cells" AS (
  SELECT "anon_key_0" & 6917529027641081856 AS "anon_key_0", "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_classes" AS (
  SELECT "anon_key_0", CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_cells"
  GROUP BY "anon_key_0"
), "anon_judged" AS (
  SELECT *, "anon_class_size" >= 2 AS "anon_kept"
  FROM "anon_classes"
), "anon_kept" AS (
  SELECT "anon_key_0"
  FROM "anon_judged"
  WHERE "anon_kept"
), "anon_labels_0" AS (
  SELECT DISTINCT "anon_key_0", "code" AS "anon_code_0_1"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 0 AND "depth" = 1
)
SELECT "anon_labels_0"."anon_code_0_1"
FROM "anon_kept"
LEFT JOIN "anon_labels_0" ON ("anon_kept"."anon_key_0" & 6917529027641081856) = "anon_labels_0"."anon_key_0";

WITH "anon_cells" AS (
  SELECT "anon_key_0" & 6917529027641081856 AS "anon_key_0", "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_classes" AS (
  SELECT CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_cells"
  GROUP BY "anon_key_0"
), "anon_judged" AS (SELECT *, "anon_class_size" >= 2 AS "anon_kept" FROM "anon_classes")
SELECT MIN("anon_class_size") FILTER(WHERE "anon_kept") AS "attained_0"
FROM "anon_judged";

CREATE TEMPORARY TYPE "anon_label_type_0" AS ENUM(
SELECT "label"
FROM "temp"."main"."anon_labels"
WHERE "position" = 0 AND "depth" = 1 AND NOT "label" IS NULL
UNION
SELECT '*' AS "label"
ORDER BY "label" ASC);

CREATE TEMPORARY TYPE "anon_label_type_1" AS ENUM(
SELECT "label"
FROM "temp"."main"."anon_labels"
WHERE "position" = 1 AND "depth" = 1 AND NOT "label" IS NULL
UNION
SELECT '*' AS "label"
ORDER BY "label" ASC);

SELECT
  LIST_PRODUCT(
    [
      CAST((SELECT COUNT(*) FROM "temp"."main"."anon_kept") AS DOUBLE),
      CAST(APPROX_COUNT_DISTINCT(CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary") AS DOUBLE)
    ]
  ) AS "groups",
  COUNT(*) AS "source_rows"
FROM "memory"."main"."people" AS anon_source;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_0" AS (
  SELECT "value", CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 0 AND "depth" = 1
), "anon_rows" AS (
  SELECT
    "anon_labels_0"."anon_label_0",
    CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    1 AS "anon_row_count"
  FROM "memory"."main"."people" AS anon_source
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."age", NULL) AS TEXT) COLLATE "binary"
), "anon_labels_0_2" AS (
  SELECT DISTINCT "code" AS "anon_code_0_1", CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 0 AND "depth" = 1
), "anon_kept" AS (
  SELECT TRUE AS "anon_is_kept", "anon_labels_0"."anon_label_0"
  FROM "temp"."main"."anon_kept" AS anon_codes
  LEFT JOIN "anon_labels_0_2" AS "anon_labels_0" ON "anon_labels_0"."anon_code_0_1" = "anon_codes"."anon_code_0_1"
), "anon_labels_1" AS (
  SELECT DISTINCT CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 1 AND "depth" = 1
), "anon_published" AS (
  SELECT
    "anon_rows"."diagnosis", "anon_rows"."anon_row_count", "anon_rows"."anon_label_0" AS "anon_label_0",
    "anon_labels_1"."anon_label_1" AS "anon_label_1"
  FROM "anon_rows"
  JOIN "anon_kept" ON "anon_kept"."anon_label_0" IS NOT DISTINCT FROM "anon_rows"."anon_label_0"
  LEFT JOIN "anon_labels_1" ON TRUE
)
SELECT "anon_label_0", "anon_label_1", "diagnosis", "anon_row_count"
FROM "anon_published"
ORDER BY (CAST(COALESCE(ENUM_CODE("anon_label_0"), 3) AS BIGINT) << 61) ASC, "diagnosis" ASC;

CREATE TABLE "memory"."main"."released" AS
WITH "anon_groups" AS (
  SELECT
    CAST(COALESCE("anon_label_0", NULL) AS TEXT) AS "age",
    CAST(COALESCE("anon_label_1", NULL) AS TEXT) AS "sex",
    DECODE(ENCODE("diagnosis")) AS "diagnosis",
    "anon_row_count"
  FROM "temp"."main"."anon_equal_rows"
), "anon_blocks" AS (
  SELECT *, UNNEST(RANGE(0, (anon_row_count + 1023) // 1024)) AS anon_block
  FROM "anon_groups"
), "anon_counted" AS (
  SELECT * EXCLUDE (anon_row_count, anon_block), LEAST(1024, anon_row_count - 1024 * anon_block) AS anon_copies
  FROM "anon_blocks"
), "anon_repeated" AS (SELECT *, UNNEST(RANGE(0, anon_copies)) AS anon_copy FROM "anon_counted")
SELECT * EXCLUDE (anon_copies, anon_copy)
FROM "anon_repeated";

SELECT APPROX_COUNT_DISTINCT("diagnosis") AS "values_0", COALESCE(SUM("anon_row_count"), 0) AS "rows"
FROM "temp"."main"."anon_equal_rows";

WITH "anon_lists" AS (
  SELECT "anon_row_count", UNNEST([[0]]) AS "anon_places", UNNEST([["diagnosis"]]) AS "anon_values"
  FROM "temp"."main"."anon_equal_rows"
), "anon_cells" AS (
  SELECT "anon_row_count", UNNEST("anon_places") AS "anon_place", UNNEST("anon_values") AS "anon_value"
  FROM "anon_lists"
), "anon_values" AS (
  SELECT anon_place, SUM(anon_row_count) AS anon_value_rows
  FROM "anon_cells"
  WHERE TRUE
  GROUP BY anon_place, anon_value
)
SELECT
  anon_place AS place,
  SUM(anon_value_rows) AS counted,
  COALESCE(SUM(anon_value_rows) FILTER(WHERE anon_value_rows < 2), 0) AS rare
FROM "anon_values"
GROUP BY anon_place;

CREATE TEMPORARY TABLE "temp"."main"."anon_few_rows" AS
WITH "anon_rows" AS (
  SELECT
    CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary" AS "anon_value_0",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "anon_value_1",
    "diagnosis" AS "anon_kept_0"
  FROM "memory"."main"."people"
  LIMIT 5000
), "anon_labels_of_anon_finer_0" AS (
  SELECT "value", "label"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 0 AND "depth" = 0
), "anon_labels_of_anon_finer_1" AS (
  SELECT "value", "label"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 1 AND "depth" = 0
)
SELECT
  "anon_rows"."anon_value_0", "anon_rows"."anon_value_1", "anon_rows"."anon_kept_0",
  "anon_labels_of_anon_finer_0"."label" AS "anon_finer_0", "anon_labels_of_anon_finer_1"."label" AS "anon_finer_1"
FROM "anon_rows"
LEFT JOIN "anon_labels_of_anon_finer_0"
  ON "anon_labels_of_anon_finer_0"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_0"
LEFT JOIN "anon_labels_of_anon_finer_1"
  ON "anon_labels_of_anon_finer_1"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_1";

WITH "anon_groups" AS (
  SELECT
    (MIN("anon_kept_0") IS NOT DISTINCT FROM MAX("anon_kept_0") AND COUNT("anon_kept_0") IN (0, COUNT(*))) AS "anon_0"
  FROM "temp"."main"."anon_few_rows"
  GROUP BY "anon_value_0"
), "anon_groups_2" AS (
  SELECT
    (MIN("anon_kept_0") IS NOT DISTINCT FROM MAX("anon_kept_0") AND COUNT("anon_kept_0") IN (0, COUNT(*))) AS "anon_0"
  FROM "temp"."main"."anon_few_rows"
  GROUP BY "anon_value_1"
)
SELECT 0 AS position, COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0"
FROM "anon_groups"
UNION ALL
SELECT 1 AS position, COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0"
FROM "anon_groups_2" AS anon_groups;

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
  GROUP BY "anon_kept_0"
)
SELECT
  0 AS position,
  COALESCE(BOOL_AND(CAST("anon_0" AS BOOLEAN)), TRUE) AS "holds_0",
  COALESCE(BOOL_AND(CAST("anon_1" AS BOOLEAN)), TRUE) AS "holds_1"
FROM "anon_groups";

DROP TABLE IF EXISTS "temp"."main"."anon_few_rows";

WITH "anon_classes" AS (
  SELECT
    (
      MIN("diagnosis") IS NOT DISTINCT FROM MAX("diagnosis")
      AND COUNT("diagnosis") IN (0, COUNT(*))
    ) AS "anon_is_homogeneous_0",
    SUM(anon_row_count) AS anon_class_rows
  FROM "temp"."main"."anon_equal_rows"
  GROUP BY "anon_label_0", "anon_label_1"
)
SELECT
  COALESCE(SUM(anon_class_rows) FILTER(WHERE "anon_is_homogeneous_0"), 0) AS "homogeneous_0",
  COALESCE(SUM(anon_class_rows), 0) AS rows
FROM "anon_classes";

WITH "anon_classes" AS (
  SELECT CAST(SUM(anon_row_count) AS BIGINT) AS anon_class_rows
  FROM "temp"."main"."anon_cells"
  GROUP BY "anon_key_0"
)
SELECT
  CAST(COALESCE(SUM(anon_class_rows), 0) AS BIGINT) AS row_count,
  COUNT(*) AS class_count,
  MIN(anon_class_rows) AS k,
  COUNT(*) FILTER(WHERE anon_class_rows = 1) AS unique_rows
FROM "anon_classes";

WITH "anon_cells" AS (
  SELECT "anon_key_0", SUM(anon_row_count) AS anon_row_count
  FROM "temp"."main"."anon_cells" AS anon_all_cells
  GROUP BY "anon_key_0"
), "anon_at_nodes" AS (
  SELECT
    anon_cells.anon_row_count, anon_nodes.anon_node, "anon_cells"."anon_key_0" AS "anon_own_anon_key_0",
    "anon_cells"."anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0"
  FROM "anon_cells"
  CROSS JOIN (VALUES
    (0, 8935141660703064064),
    (1, 8646911284551352320),
    (2, 7205759403792793600),
    (3, 1729382256910270464),
    (4, 6917529027641081856),
    (5, 0)) AS anon_nodes("anon_node", "anon_mask_0")
), "anon_cells_2" AS (
  SELECT "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0", "anon_row_count", "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_cells"
  CROSS JOIN (VALUES
    (0, 8935141660703064064),
    (1, 8646911284551352320),
    (2, 7205759403792793600),
    (3, 1729382256910270464),
    (4, 6917529027641081856),
    (5, 0)) AS "anon_nodes"("anon_node", "anon_mask_0")
), "anon_judged" AS (
  SELECT "anon_node", "anon_key_0", CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_cells_2" AS "anon_cells"
  GROUP BY "anon_node", "anon_key_0"
), "anon_kept" AS (
  SELECT "anon_node", "anon_key_0"
  FROM "anon_judged"
  WHERE "anon_class_size" >= 2
), "anon_firsts" AS (
  SELECT ANY_VALUE(anon_at_nodes.anon_row_count) AS anon_rows, MIN(anon_at_nodes.anon_node) AS anon_node
  FROM "anon_at_nodes"
  SEMI JOIN "anon_kept"
    ON anon_kept.anon_node = anon_at_nodes.anon_node
    AND "anon_at_nodes"."anon_key_0" = "anon_kept"."anon_key_0"
  GROUP BY "anon_at_nodes"."anon_own_anon_key_0"
)
SELECT anon_node AS node, CAST(SUM(anon_rows) AS BIGINT) AS rows
FROM "anon_firsts"
GROUP BY anon_node;

SELECT DISTINCT attribute
FROM "memory"."anon"."taxonomy";

WITH "anon_classes" AS (
  SELECT "age" AS "age", "sex" AS "sex", COUNT(*) AS anon_class_size
  FROM "memory"."main"."released"
  GROUP BY ALL
), "anon_class_sizes" AS (
  SELECT anon_class_size AS class_size
  FROM "anon_classes"
), "anon_k_anonymity" AS (
  SELECT MIN(class_size) AS k, COUNT(*) AS class_count, CAST(COALESCE(SUM(class_size), 0) AS BIGINT) AS row_count
  FROM "anon_class_sizes"
), "anon_prosecutor_risk" AS (
  SELECT 1.0 / MIN(class_size) AS highest_risk, (CAST(SUM(1) AS DOUBLE) / SUM(class_size)) AS average_risk
  FROM "anon_class_sizes"
), "anon_sample_uniqueness" AS (
  SELECT
    COUNT(*) FILTER(WHERE class_size = 1) AS unique_rows,
    CAST(COALESCE(SUM(class_size), 0) AS BIGINT) AS row_count,
    (CAST(SUM(CAST(class_size = 1 AS BIGINT)) AS DOUBLE) / SUM(class_size)) AS unique_share
  FROM "anon_class_sizes"
)
SELECT
  anon_k_anonymity.k, anon_k_anonymity.class_count, anon_k_anonymity.row_count, anon_prosecutor_risk.highest_risk,
  anon_prosecutor_risk.average_risk, anon_sample_uniqueness.unique_rows, anon_sample_uniqueness.unique_share
FROM "anon_k_anonymity"
CROSS JOIN "anon_prosecutor_risk"
CROSS JOIN "anon_sample_uniqueness";

WITH anon_rows AS (
  SELECT ENCODE(CONCAT(*COLUMNS(*))) AS anon_row
  FROM (
    SELECT
      (
        CONCAT(
          STRLEN(
            (
              CASE
                WHEN TYPEOF(COLUMNS(*)) = 'TIMESTAMP WITH TIME ZONE' THEN COALESCE(
                  CAST(MAKE_TIMESTAMP(EPOCH_US(TRY_CAST(COALESCE(COLUMNS(*), NULL) AS TIMESTAMPTZ))) AS TEXT) || '+00',
                  CAST(COALESCE(COLUMNS(*), NULL) AS TEXT)
                )
                WHEN REGEXP_MATCHES(TYPEOF(COLUMNS(*)), '\[|^(STRUCT|MAP|UNION)') THEN CAST([COLUMNS(*)][1] AS TEXT)
                ELSE CAST(COALESCE(COLUMNS(*), NULL) AS TEXT)
              END
            )
          ),
          ':',
          (
            CASE
              WHEN TYPEOF(COLUMNS(*)) = 'TIMESTAMP WITH TIME ZONE' THEN COALESCE(
                CAST(MAKE_TIMESTAMP(EPOCH_US(TRY_CAST(COALESCE(COLUMNS(*), NULL) AS TIMESTAMPTZ))) AS TEXT) || '+00',
                CAST(COALESCE(COLUMNS(*), NULL) AS TEXT)
              )
              WHEN REGEXP_MATCHES(TYPEOF(COLUMNS(*)), '\[|^(STRUCT|MAP|UNION)') THEN CAST([COLUMNS(*)][1] AS TEXT)
              ELSE CAST(COALESCE(COLUMNS(*), NULL) AS TEXT)
            END
          )
        )
      )
    FROM "memory"."main"."released"
  )
), anon_hashes AS (
  SELECT COUNT(*) AS anon_times, SHA256(CONCAT(COUNT(*), ' ', SHA256(anon_row))) AS anon_hash
  FROM anon_rows
  GROUP BY anon_row
), anon_sums AS (
  SELECT
    CAST('0x' || SUBSTRING(anon_hash, 1, 5) AS INT) AS anon_group,
    SUM(anon_times) AS anon_times,
    SUM(CAST('0x' || SUBSTRING(anon_hash, 1, 16) AS UBIGINT)) AS anon_first,
    SUM(CAST('0x' || SUBSTRING(anon_hash, 17, 16) AS UBIGINT)) AS anon_second,
    SUM(CAST('0x' || SUBSTRING(anon_hash, 33, 16) AS UBIGINT)) AS anon_third,
    SUM(CAST('0x' || SUBSTRING(anon_hash, 49, 16) AS UBIGINT)) AS anon_fourth
  FROM anon_hashes
  GROUP BY anon_group
)
SELECT
  CAST(COALESCE(SUM(anon_times), 0) AS BIGINT) AS row_count,
  SHA256(
    COALESCE(
      LISTAGG(
         SHA256(CONCAT_WS(' ', anon_group, anon_first, anon_second, anon_third, anon_fourth)), ''
        
        ORDER BY anon_group ASC
      ),
      ''
    )
  ) AS content_hash
FROM anon_sums;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";
DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";
DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";
DROP TABLE IF EXISTS "temp"."main"."anon_kept";
DROP TABLE IF EXISTS "temp"."main"."anon_cells";
DROP TABLE IF EXISTS "temp"."main"."anon_labels";
COMMIT;

