-- Statements of runs of tests/golden/people.py, each with its policy and what it returns or makes there,
-- written by `python -m tests.golden`: review it as a diff.

-- Labels of a release
-- Run earlier k: Policy(method=FullDomain(suppression_limit=0.5), privacy=[KAnonymity(k=2)])
CREATE TEMPORARY TABLE "temp"."main"."anon_labels_of_releases_0" AS
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
--   -> position, depth, value, label, code, lm, ncp, rce, log_share, anon_key_0
--   0, 0, 31, 31, 2, 0, 0, 0, 0, 2305843009213693952
--   0, 0, 34, 34, 3, 0, 0, 0, 0, 2594073385365405696
--   0, 0, 42, 42, 4, 0, 0, 0, 0, 4611686018427387904
--   0, 0, 47, 47, 5, 0, 0, 0, 0, 4899916394579099648
--   0, 0, NULL, NULL, 1, 0, 0, 0, 0, 0
--   and 16 more: 48d3fa278ee0

-- Classes of an earlier release
-- Run earlier k
CREATE TEMPORARY TABLE "temp"."main"."anon_released_classes_0" AS
WITH "anon_counted" AS (
  SELECT "anon_label_0", "anon_label_1", COUNT(*) AS anon_released_rows
  FROM (
    SELECT
      TRUE AS anon_is_released,
      CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary" AS "anon_label_0",
      CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "anon_label_1"
    FROM "memory"."main"."earlier_release" AS anon_released
  )
  GROUP BY "anon_label_0", "anon_label_1"
  HAVING COUNT(*) > 0
), "anon_labels_0" AS (
  SELECT DISTINCT "anon_key_0", "label"
  FROM "temp"."main"."anon_labels_of_releases_0"
  WHERE "position" = 0 AND "depth" = 0
), "anon_labels_1" AS (
  SELECT DISTINCT "anon_key_0", "label"
  FROM "temp"."main"."anon_labels_of_releases_0"
  WHERE "position" = 1 AND "depth" = 0
), "anon_labelled" AS (
  SELECT
    "anon_counted"."anon_label_0", "anon_counted"."anon_label_1", "anon_counted"."anon_released_rows",
    "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" AS "anon_key_0"
  FROM "anon_counted"
  LEFT JOIN "anon_labels_0" ON "anon_labels_0"."label" IS NOT DISTINCT FROM "anon_counted"."anon_label_0"
  LEFT JOIN "anon_labels_1" ON "anon_labels_1"."label" IS NOT DISTINCT FROM "anon_counted"."anon_label_1"
)
SELECT *, CAST(ROW_NUMBER() OVER (ORDER BY "anon_key_0" ASC NULLS FIRST) AS UINTEGER) AS "anon_class_0"
FROM "anon_labelled";
--   -> anon_label_0, anon_label_1, anon_released_rows, anon_key_0, anon_class_0
--   34, f, 2, 3170534137668829184, 1
--   42, m, 3, 5764607523034234880, 2

-- Rows of an earlier release
-- Run earlier k
CREATE TEMPORARY TABLE "temp"."main"."anon_rows_of_0" AS
SELECT "anon_source"."id" AS "anon_person_0", COALESCE("anon_released"."anon_class_0", 0) AS "anon_class_0"
FROM "memory"."main"."earlier_people" AS anon_source
LEFT JOIN "temp"."main"."anon_labels_of_releases_0" AS anon_labels_0
  ON "anon_labels_0"."position" = 0
  AND "anon_labels_0"."depth" = 0
  AND "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."age", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_labels_of_releases_0" AS anon_labels_1
  ON "anon_labels_1"."position" = 1
  AND "anon_labels_1"."depth" = 0
  AND "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."sex", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_released_classes_0" AS anon_released
  ON (
    ("anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0") & 8935141660703064064
  ) = "anon_released"."anon_key_0";
--   -> anon_person_0, anon_class_0
--   2, 1
--   3, 1
--   4, 0
--   5, 2
--   6, 2
--   and 2 more: 7290bc553581

-- People of an earlier release
-- Run earlier k
CREATE TEMPORARY TABLE "temp"."main"."anon_persons_of_0" AS
WITH "anon_sources" AS (SELECT * FROM "temp"."main"."anon_rows_of_0")
SELECT
  "anon_person_0",
  COALESCE(ANY_VALUE("anon_class_0"), 0) AS "anon_class_0",
  CAST(CEIL(COUNT(*) / CAST(NOT ANY_VALUE("anon_class_0") IS NULL AS INT)) AS BIGINT) AS anon_rows
FROM "anon_sources"
GROUP BY "anon_person_0";
--   -> anon_person_0, anon_class_0, anon_rows
--   2, 1, 1
--   3, 1, 1
--   4, 0, 1
--   5, 2, 1
--   6, 2, 1
--   and 2 more: 30d2d7e487c1

-- Joint classes of one release
-- Run earlier k
CREATE TEMPORARY TABLE "temp"."main"."anon_joint_classes" AS
SELECT
  "anon_class_0",
  CAST(ROW_NUMBER() OVER (ORDER BY ["anon_class_0" > 0] ASC, "anon_class_0" ASC) AS UINTEGER) AS anon_earlier,
  CAST(SUM(anon_rows) AS BIGINT) AS anon_persons
FROM "temp"."main"."anon_persons_of_0" AS anon_persons
GROUP BY "anon_class_0"
HAVING LIST_MAX(["anon_class_0"]) > 0;
--   -> anon_class_0, anon_earlier, anon_persons
--   1, 1, 2
--   2, 2, 3

-- People who are absent
-- Run earlier k
CREATE TEMPORARY TABLE "temp"."main"."anon_absent_persons" AS
SELECT anon_earlier, CAST(SUM(anon_rows) AS BIGINT) AS anon_absent
FROM (
  SELECT anon_earlier, anon_rows
  FROM "temp"."main"."anon_persons" AS anon_persons
  UNION ALL
  SELECT (("anon_key_0" & 3) >> 0) AS "anon_earlier", -anon_row_count
  FROM "temp"."main"."anon_cells" AS anon_cells
)
WHERE anon_earlier > 0
GROUP BY anon_earlier
HAVING SUM(anon_rows) <> 0;
--   -> anon_earlier, anon_absent
--   1, 1

-- People who are withheld
-- Run earlier k
CREATE TEMPORARY TABLE "temp"."main"."anon_withheld_persons" AS
SELECT UNNEST(anon_first[1:anon_withheld]) AS anon_person_0
FROM (
  SELECT
    ARG_MIN(anon_persons.anon_person_0, MD5(CAST(COALESCE(anon_persons.anon_person_0, NULL) AS TEXT)), 2) AS anon_first,
    ANY_VALUE(anon_withholding.anon_withheld) AS anon_withheld
  FROM (
    SELECT "anon_person_0", "anon_key_0" & 6917529027641081859 AS "anon_key_0"
    FROM "temp"."main"."anon_keyed_rows"
  ) AS "anon_persons"
  INNER JOIN "temp"."main"."anon_kept" AS anon_withholding
    ON "anon_persons"."anon_key_0" = "anon_withholding"."anon_key_0"
  WHERE anon_withholding.anon_withheld > 0
  GROUP BY "anon_withholding"."anon_key_0"
);
--   -> anon_person_0

-- People of this release
-- Run earlier k
CREATE TEMPORARY TABLE "temp"."main"."anon_persons_of_1" AS
WITH "anon_numbered" AS (
  SELECT
    (("anon_keyed_rows"."anon_key_0" & 3) >> 0) AS "anon_class_0",
    COALESCE("anon_released_classes_1"."anon_class_1", 0) AS "anon_class_1"
  FROM "temp"."main"."anon_keyed_rows" AS anon_keyed_rows
  LEFT JOIN "temp"."main"."anon_released_classes_1" AS anon_released_classes_1
    ON ("anon_keyed_rows"."anon_key_0" & 6917529027641081856) = "anon_released_classes_1"."anon_key_0"
)
SELECT "anon_class_0", "anon_class_1", COUNT(*) AS anon_rows
FROM "anon_numbered"
GROUP BY "anon_class_0", "anon_class_1"
UNION ALL BY NAME
SELECT anon_earlier AS "anon_class_0", 0 AS "anon_class_1", anon_absent AS anon_rows
FROM "temp"."main"."anon_absent_persons" AS anon_absent_persons;
--   -> anon_class_0, anon_class_1, anon_rows
--   0, 1, 2
--   0, 2, 1
--   1, 0, 1
--   1, 1, 1
--   2, 2, 3

-- Diversity in an earlier release
-- Run earlier l: Policy(method=FullDomain(suppression_limit=0.5), privacy=[KAnonymity(k=2),
-- DistinctLDiversity(column="diagnosis", l=2)])
WITH "anon_person_cells" AS (
  SELECT "anon_class_0", "anon_value_0_0" AS "anon_sensitive_0", "anon_rows" AS "anon_row_count"
  FROM "temp"."main"."anon_persons_of_0"
), "anon_values" AS (
  SELECT "anon_class_0", "anon_sensitive_0", CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_person_cells"
  GROUP BY "anon_class_0", "anon_sensitive_0"
), "anon_joint" AS (
  SELECT "anon_class_0", CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size", (COUNT("anon_rows")) AS "anon_measure_1"
  FROM "anon_values"
  GROUP BY "anon_class_0"
)
SELECT
  COUNT(*) FILTER(WHERE
    NOT COALESCE("anon_class_size" >= 2 AND ("anon_class_0" < 1 OR "anon_measure_1" >= 2), FALSE)
    AND GREATEST("anon_class_0") > 0) AS "classes"
FROM "anon_joint";
--   -> classes
--   0

-- Diversity in both releases
-- Run earlier l
WITH "anon_shown_persons" AS (
  SELECT
    "anon_persons"."anon_class_0", "anon_persons"."diagnosis", "anon_persons"."anon_value_0_0", anon_persons.anon_rows,
    CASE WHEN anon_judged.anon_kept THEN "anon_judged"."anon_class_1" ELSE 0 END AS "anon_class_1"
  FROM "temp"."main"."anon_persons_of_1" AS anon_persons
  INNER JOIN "temp"."main"."anon_shown_groups" AS anon_judged
    ON "anon_persons"."anon_class_0" = "anon_judged"."anon_class_0"
    AND "anon_persons"."anon_class_1" = "anon_judged"."anon_class_1"
), "anon_person_cells" AS (
  SELECT
    "anon_class_0", "anon_class_1", "diagnosis" AS "anon_sensitive_0", "anon_value_0_0" AS "anon_sensitive_1",
    "anon_rows" AS "anon_row_count"
  FROM "anon_shown_persons"
), "anon_values" AS (
  SELECT "anon_class_0", "anon_class_1", "anon_sensitive_0", CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_person_cells"
  GROUP BY "anon_class_0", "anon_class_1", "anon_sensitive_0"
), "anon_whole" AS (
  SELECT
    "anon_class_0", "anon_class_1",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (COUNT("anon_rows")) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY "anon_class_0", "anon_class_1"
), "anon_shown_persons_2" AS (
  SELECT
    "anon_persons"."anon_class_0", "anon_persons"."diagnosis", "anon_persons"."anon_value_0_0", anon_persons.anon_rows,
    CASE WHEN anon_judged.anon_kept THEN "anon_judged"."anon_class_1" ELSE 0 END AS "anon_class_1"
  FROM "temp"."main"."anon_persons_of_1" AS anon_persons
  INNER JOIN "temp"."main"."anon_shown_groups" AS anon_judged
    ON "anon_persons"."anon_class_0" = "anon_judged"."anon_class_0"
    AND "anon_persons"."anon_class_1" = "anon_judged"."anon_class_1"
), "anon_person_cells_2" AS (
  SELECT
    "anon_class_0", "anon_class_1", "diagnosis" AS "anon_sensitive_0", "anon_value_0_0" AS "anon_sensitive_1",
    "anon_rows" AS "anon_row_count"
  FROM "anon_shown_persons_2" AS "anon_shown_persons"
), "anon_values_2" AS (
  SELECT "anon_class_0", "anon_class_1", "anon_sensitive_1", CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_person_cells_2" AS "anon_person_cells"
  GROUP BY "anon_class_0", "anon_class_1", "anon_sensitive_1"
), "anon_view_0" AS (
  SELECT "anon_class_0", "anon_class_1", (COUNT("anon_rows")) AS "anon_measure_1"
  FROM "anon_values_2" AS "anon_values"
  GROUP BY "anon_class_0", "anon_class_1"
), "anon_joint" AS (
  SELECT
    "anon_whole"."anon_class_0", "anon_whole"."anon_class_1", "anon_whole"."anon_class_size",
    "anon_whole"."anon_measure_0", "anon_view_0"."anon_measure_1"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_class_0" = "anon_view_0"."anon_class_0"
    AND "anon_whole"."anon_class_1" = "anon_view_0"."anon_class_1"
)
SELECT
  COUNT(*) FILTER(WHERE
    NOT COALESCE(
      "anon_class_size" >= 2
      AND (("anon_class_0" < 1 OR "anon_measure_1" >= 2) AND ("anon_class_1" < 1 OR "anon_measure_0" >= 2)),
      FALSE
    )
    AND GREATEST("anon_class_0", "anon_class_1") > 0) AS "classes"
FROM "anon_joint";
--   -> classes
--   0

-- Classes that are made again
-- Run earlier local: Policy(method=LocalRecoding(suppression_limit=0.9), privacy=[KAnonymity(k=2)])
CREATE TEMPORARY TABLE "temp"."main"."anon_persons_made_again_0" AS
WITH "anon_found" AS (SELECT DISTINCT "anon_person_0", "anon_class_0" FROM "temp"."main"."anon_rows_of_0" AS anon_rows)
SELECT anon_persons.* REPLACE (COALESCE("anon_found"."anon_class_0", 0) AS "anon_class_0")
FROM "temp"."main"."anon_persons_of_0" AS anon_persons
LEFT JOIN "anon_found" ON "anon_persons"."anon_person_0" IS NOT DISTINCT FROM "anon_found"."anon_person_0";
--   -> anon_person_0, anon_class_0, anon_rows
--   2, 2, 1
--   3, 2, 1
--   4, 1, 1
--   5, 3, 1
--   6, 3, 1
--   and 2 more: b9a625ee53f6

