-- Statements of runs of tests/golden/people.py, each with its policy and what it returns or makes there,
-- written by `python -m tests.golden`: review it as a diff.

-- Equal rows with kept and coded columns
-- Run coded: Policy(insensitive=["nights"], method=FullDomain(suppression_limit=0.5), privacy=[KAnonymity(k=2)],
-- bottom_coding={"nights": 2}, top_coding={"age": 42})
CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_source" AS (
  SELECT
    *
    REPLACE (CAST((
      CASE WHEN "age" > 42 THEN 42 ELSE "age" END
    ) AS INT) AS "age", CAST((CASE WHEN "nights" < 2 THEN 2 ELSE "nights" END) AS INT) AS "nights")
  FROM "memory"."main"."people"
), "anon_labels_0" AS (
  SELECT "value", CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 0 AND "depth" = 0
), "anon_labels_1" AS (
  SELECT "value", CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 1 AND "depth" = 0
), "anon_rows" AS (
  SELECT
    "anon_labels_0"."anon_label_0", "anon_labels_1"."anon_label_1",
    CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    "anon_source"."nights" AS "nights", 1 AS "anon_row_count"
  FROM "anon_source"
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."age", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "anon_labels_1"
    ON "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."sex", NULL) AS TEXT) COLLATE "binary"
), "anon_labels_0_2" AS (
  SELECT DISTINCT "code" AS "anon_code_0_0", CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 0 AND "depth" = 0
), "anon_labels_1_2" AS (
  SELECT DISTINCT "code" AS "anon_code_1_0", CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 1 AND "depth" = 0
), "anon_kept" AS (
  SELECT TRUE AS "anon_is_kept", "anon_labels_0"."anon_label_0", "anon_labels_1"."anon_label_1"
  FROM "temp"."main"."anon_kept" AS anon_codes
  LEFT JOIN "anon_labels_0_2" AS "anon_labels_0" ON "anon_labels_0"."anon_code_0_0" = "anon_codes"."anon_code_0_0"
  LEFT JOIN "anon_labels_1_2" AS "anon_labels_1" ON "anon_labels_1"."anon_code_1_0" = "anon_codes"."anon_code_1_0"
), "anon_published" AS (
  SELECT
    "anon_rows"."diagnosis", "anon_rows"."nights", "anon_rows"."anon_row_count",
    "anon_rows"."anon_label_0" AS "anon_label_0", "anon_rows"."anon_label_1" AS "anon_label_1"
  FROM "anon_rows"
  JOIN "anon_kept"
    ON "anon_kept"."anon_label_0" IS NOT DISTINCT FROM "anon_rows"."anon_label_0"
    AND "anon_kept"."anon_label_1" IS NOT DISTINCT FROM "anon_rows"."anon_label_1"
)
SELECT "anon_label_0", "anon_label_1", "diagnosis", "nights", "anon_row_count"
FROM "anon_published"
ORDER BY
  (
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 5) AS BIGINT) << 60
  ) | (CAST(COALESCE(ENUM_CODE("anon_label_1"), 3) AS BIGINT) << 58) ASC,
  "diagnosis" ASC,
  "nights" ASC;
--   -> anon_label_0, anon_label_1, diagnosis, nights, anon_row_count
--   34, f, asthma, 2, 1
--   34, f, flu, 3, 1
--   42, m, angina, 2, 1
--   42, m, asthma, 2, 1
--   42, m, flu, 2, 1
--   and 1 more: 6f96be2227d2

-- Few rows with kept columns
-- Run kept columns: Policy(insensitive=["nights"], method=FullDomain(suppression_limit=0.5), privacy=[KAnonymity(k=2)])
CREATE TEMPORARY TABLE "temp"."main"."anon_few_rows" AS
WITH "anon_rows" AS (
  SELECT
    CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary" AS "anon_value_0",
    "diagnosis" AS "anon_kept_0", "nights" AS "anon_kept_1"
  FROM "memory"."main"."people"
  LIMIT 5000
), "anon_labels_of_anon_finer_0" AS (
  SELECT "value", "label"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 0 AND "depth" = 0
)
SELECT
  "anon_rows"."anon_value_0", "anon_rows"."anon_kept_0", "anon_rows"."anon_kept_1",
  "anon_labels_of_anon_finer_0"."label" AS "anon_finer_0"
FROM "anon_rows"
LEFT JOIN "anon_labels_of_anon_finer_0"
  ON "anon_labels_of_anon_finer_0"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_0";
--   -> anon_value_0, anon_kept_0, anon_kept_1, anon_finer_0
--   31, asthma, 2, 31
--   34, angina, 1, 34
--   34, asthma, 1, 34
--   34, flu, 3, 34
--   42, angina, 1, 42
--   and 3 more: dfddfed366b4

-- Rows of a cut
-- Run diffgen: Policy(method=DiffGen(specializations=2, numeric={"age": Range(low=30, high=50)}, threshold=0.0))
CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_0" AS (
  SELECT anon_places.place, anon_cut.label
  FROM "temp"."main"."anon_places" AS anon_places
  INNER JOIN "temp"."main"."anon_cut" AS anon_cut
    ON anon_cut.position = anon_places.position AND anon_cut.first = anon_places.first
  WHERE anon_places.position = 0
), "anon_labels_1" AS (
  SELECT anon_places.place, anon_cut.label
  FROM "temp"."main"."anon_places" AS anon_places
  INNER JOIN "temp"."main"."anon_cut" AS anon_cut
    ON anon_cut.position = anon_places.position AND anon_cut.first = anon_places.first
  WHERE anon_places.position = 1
), "anon_labels_2" AS (
  SELECT leaf AS place, value AS label
  FROM "temp"."main"."anon_ordered_leaves"
  WHERE position = 2 AND depth = 0
)
SELECT
  "anon_labels_0"."label" AS "age", "anon_labels_1"."label" AS "sex",
  CAST(COALESCE("anon_labels_2"."label", NULL) AS TEXT) AS "diagnosis",
  "anon_shown"."anon_noisy_rows" AS "anon_row_count"
FROM "temp"."main"."anon_shown_leaves" AS anon_shown
JOIN "anon_labels_0" ON "anon_labels_0"."place" = (("anon_shown"."anon_index" // 3) % 3)
JOIN "anon_labels_1" ON "anon_labels_1"."place" = (("anon_shown"."anon_index" // 9) % 1)
JOIN "anon_labels_2" ON "anon_labels_2"."place" = (("anon_shown"."anon_index" // 1) % 3)
ORDER BY "anon_shown"."anon_index" ASC;
--   -> age, sex, diagnosis, anon_row_count
--   [30, 32), *, asthma, 2
--   [32, 43), *, angina, 3
--   [32, 43), *, asthma, 2
--   [32, 43), *, flu, 4
--   [43, 50), *, asthma, 2

-- Rows that are drawn
-- Run synthetic: Policy(method=Synthetic(budget=Budget(epsilon=9, delta=1/10), numeric={"age": Bins(edges=[30, 40,
-- 50])}, levels={"diagnosis": 1}, nulls=["sex"], rows=6))
CREATE TABLE "memory"."main"."released" AS
SELECT
  CAST(COALESCE("age", NULL) AS INT) AS "age",
  LIST_EXTRACT(
    (
      SELECT ARRAY_AGG(label ORDER BY code ASC)
      FROM (SELECT DISTINCT code, label FROM "temp"."main"."anon_label_codes" WHERE position = 1) AS anon_labels
    ),
    "sex" + 1
  ) AS "sex",
  LIST_EXTRACT(
    (
      SELECT ARRAY_AGG(label ORDER BY code ASC)
      FROM (SELECT DISTINCT code, label FROM "temp"."main"."anon_label_codes" WHERE position = 2) AS anon_labels
    ),
    "diagnosis" + 1
  ) AS "diagnosis"
FROM "temp"."main"."anon_drawn_rows";
--   -> age, sex, diagnosis
--   30, f, heart
--   30, f, heart
--   30, m, lung
--   40, m, lung
--   40, m, lung
--   and 1 more: f43f741891bf

-- Counts of a partition
-- Run partition: Policy(method=FullDomain(suppression_limit=0.5), privacy=[KAnonymity(k=2)])
CREATE TEMPORARY TABLE "temp"."main"."anon_partition_counts" AS
WITH "anon_labels_0" AS (
  SELECT DISTINCT "anon_key_0", "code" AS "anon_code_0_0"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 0 AND "depth" = 0
), "anon_labels_1" AS (
  SELECT DISTINCT "anon_key_0", "code" AS "anon_code_1_0"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 1 AND "depth" = 0
), "anon_cells" AS (
  SELECT "anon_keyed"."anon_row_count", "anon_labels_0"."anon_code_0_0", "anon_labels_1"."anon_code_1_0"
  FROM "temp"."main"."anon_cells" AS anon_keyed
  LEFT JOIN "anon_labels_0" ON ("anon_keyed"."anon_key_0" & 7205759403792793600) = "anon_labels_0"."anon_key_0"
  LEFT JOIN "anon_labels_1" ON ("anon_keyed"."anon_key_0" & 1729382256910270464) = "anon_labels_1"."anon_key_0"
), "anon_cells_2" AS (
  SELECT "anon_code_0_0", "anon_code_1_0", CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "anon_cells"
  GROUP BY "anon_code_0_0", "anon_code_1_0"
)
SELECT
  "anon_cells"."anon_code_0_0", "anon_cells"."anon_code_1_0", "anon_cells"."anon_row_count",
  "anon_node_labels_0"."label" AS "age", "anon_node_labels_1"."label" AS "sex"
FROM "anon_cells_2" AS "anon_cells"
JOIN "temp"."main"."anon_node_labels_0" AS anon_node_labels_0
  ON "anon_node_labels_0"."anon_code_0_0" = "anon_cells"."anon_code_0_0"
JOIN "temp"."main"."anon_node_labels_1" AS anon_node_labels_1
  ON "anon_node_labels_1"."anon_code_1_0" = "anon_cells"."anon_code_1_0";
--   -> anon_code_0_0, anon_code_1_0, anon_row_count, age, sex
--   2, 2, 1, 31, f
--   3, 2, 2, 34, f
--   3, 3, 1, 34, m
--   4, 3, 3, 42, m
--   5, 3, 1, 47, m

-- Cells that a partition publishes
-- Run partition
CREATE TEMPORARY TABLE "temp"."main"."anon_published_cells" AS
SELECT *
FROM "temp"."main"."anon_old_cells"
UNION ALL BY NAME
SELECT "anon_cells"."anon_code_0_0", "anon_cells"."anon_code_1_0", "anon_cells"."anon_row_count"
FROM "temp"."main"."anon_new_cells" AS anon_cells
INNER JOIN "temp"."main"."anon_kept" AS anon_kept_classes
  ON "anon_kept_classes"."anon_code_0_0" = "anon_cells"."anon_code_0_0"
  AND "anon_kept_classes"."anon_code_1_0" = "anon_cells"."anon_code_1_0";
--   -> anon_code_0_0, anon_code_1_0, anon_row_count
--   3, 2, 2
--   4, 3, 3

-- New cells of classes
-- Run partition of classes: Policy(method=LocalRecoding(suppression_limit=0.9), privacy=[KAnonymity(k=2)])
WITH "anon_cells" AS (
  SELECT "anon_cells"."anon_class", "anon_cells"."anon_row_count"
  FROM "temp"."main"."anon_new_cells" AS anon_cells
  INNER JOIN "temp"."main"."anon_kept" AS anon_kept_classes
    ON "anon_kept_classes"."anon_class" = "anon_cells"."anon_class"
), "anon_rows" AS (SELECT anon_class, CAST(SUM(anon_row_count) AS BIGINT) AS rows FROM "anon_cells" GROUP BY anon_class)
SELECT
  anon_rows.rows,
  ARRAY_AGG(anon_listed.depth ORDER BY anon_listed.position ASC) AS depths,
  ARRAY_AGG(anon_listed.label ORDER BY anon_listed.position ASC) AS labels
FROM "anon_fit"."main"."classes" AS anon_listed
INNER JOIN "anon_rows" ON anon_rows.anon_class = anon_listed.anon_class
GROUP BY anon_listed.anon_class, anon_rows.rows
ORDER BY anon_listed.anon_class ASC;
--   -> rows, depths, labels
--   2, [0, 0], ['34', 'f']
--   2, [1, 1], ['30s', '*']
--   3, [0, 0], ['42', 'm']

-- A release, sent to a server
-- Run sent: Policy(method=FullDomain(suppression_limit=0.5, suppression="mask"), privacy=[KAnonymity(k=2),
-- DistinctLDiversity(column="diagnosis", l=2)])
SELECT `age`, `sex`, `diagnosis`
FROM (
  SELECT `age`, `sex`, `diagnosis`, `anon_copies`, `anon_copy`
  FROM (
    SELECT `age`, `sex`, `diagnosis`, LEAST(1024, anon_row_count - 1024 * anon_block) AS anon_copies
    FROM (
      SELECT `age`, `sex`, `diagnosis`, `anon_row_count`, `anon_block`
      FROM (
        SELECT
          CAST(COALESCE(`anon_label_0`, NULL) AS STRING) AS `age`,
          CAST(COALESCE(`anon_label_1`, NULL) AS STRING) AS `sex`,
          `diagnosis` AS `diagnosis`,
          `anon_row_count`
        FROM `anon_equal_rows` AS `anon_equal_rows`
      ) AS `anon_groups`
      LATERAL VIEW
      EXPLODE(
        SLICE(
          SEQUENCE(CAST(0 AS BIGINT), CAST((anon_row_count + 1023) DIV 1024 AS BIGINT)),
          1,
          CAST(CAST((anon_row_count + 1023) DIV 1024 AS BIGINT) AS INT)
        )
      ) anon_numbers AS `anon_block`
    ) AS anon_blocks
  ) AS anon_counted
  LATERAL VIEW
  EXPLODE(
    SLICE(SEQUENCE(CAST(0 AS BIGINT), CAST(anon_copies AS BIGINT)), 1, CAST(CAST(anon_copies AS BIGINT) AS INT))
  ) anon_numbers AS `anon_copy`
) AS anon_repeated;

-- Dependent columns, sent to a server
-- Run sent
WITH `anon_groups` AS (
  SELECT
    (
      COALESCE((MIN(`anon_kept_0`) = MAX(`anon_kept_0`)), (MIN(`anon_kept_0`) IS NULL AND MAX(`anon_kept_0`) IS NULL))
      AND COUNT(`anon_kept_0`) IN (0, COUNT(*))
    ) AS `anon_0`
  FROM `sqlanon_2`
  GROUP BY `anon_value_0`
)
SELECT 0 AS position, COALESCE(BOOL_AND(CAST(`anon_0` AS BOOLEAN)), TRUE) AS `holds_0`
FROM `anon_groups`;

-- Risks, sent to a server
-- Run sent
SELECT `age` AS `age`, `sex` AS `sex`, COUNT(*) AS anon_class_size
FROM `sqlanon_3`
GROUP BY `age`, `sex`;

