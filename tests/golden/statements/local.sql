-- Statements of runs of tests/golden/people.py, each with its policy and what it returns or makes there,
-- written by `python -m tests.golden`: review it as a diff.

-- Classes that rows can still join
-- Run local: Policy(method=LocalRecoding(suppression_limit=0.9), privacy=[KAnonymity(k=2),
-- DistinctLDiversity(column="diagnosis", l=2)])
PREPARE "anon_tried" AS
INSERT INTO "temp"."main"."anon_tried_classes" WITH "anon_taken" AS (SELECT anon_key FROM "temp"."main"."anon_taken_keys" AS anon_all_taken WHERE anon_node >= 0), "anon_live" AS (SELECT anon_cells.* FROM "temp"."main"."anon_peeled_cells" AS anon_cells ANTI JOIN "anon_taken" ON anon_taken.anon_key = anon_cells.anon_key), "anon_nodes" AS (SELECT UNNEST(CAST($1 AS BIGINT[])) AS "anon_node", UNNEST(CAST($2 AS BIGINT[])) AS "anon_mask_0"), "anon_judged_cells" AS (SELECT "anon_live"."anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0", anon_nodes.anon_node, "anon_live"."anon_sensitive_0", "anon_live"."anon_row_count" FROM "anon_live" CROSS JOIN "anon_nodes"), "anon_values" AS (SELECT "anon_node", "anon_key_0", "anon_sensitive_0", CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows" FROM "anon_judged_cells" GROUP BY "anon_node", "anon_key_0", "anon_sensitive_0"), "anon_classes" AS (SELECT "anon_node", "anon_key_0", CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size", (COUNT("anon_rows")) AS "anon_measure_0" FROM "anon_values" GROUP BY "anon_node", "anon_key_0") SELECT $3 AS anon_trial, ROW_NUMBER() OVER (ORDER BY anon_node ASC) AS anon_class, anon_node, "anon_key_0", anon_class_size, COALESCE("anon_class_size" >= 2 AND "anon_measure_0" >= 2, FALSE) AS anon_is_met FROM "anon_classes" WHERE "anon_class_size" >= 2;

-- Rows that join a class
-- Run local
PREPARE "anon_taken" AS
INSERT INTO "temp"."main"."anon_taken_keys" WITH "anon_taken" AS (SELECT anon_key FROM "temp"."main"."anon_taken_keys" AS anon_all_taken WHERE anon_node >= 0), "anon_cells" AS (SELECT anon_cells.* FROM "temp"."main"."anon_peeled_cells" AS anon_cells ANTI JOIN "anon_taken" ON anon_taken.anon_key = anon_cells.anon_key), "anon_live" AS (SELECT anon_key, "anon_key_0", CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count FROM "anon_cells" GROUP BY anon_key, "anon_key_0"), "anon_nodes" AS (SELECT UNNEST(CAST($1 AS BIGINT[])) AS "anon_node", UNNEST(CAST($2 AS BIGINT[])) AS "anon_mask_0"), "anon_pairs" AS (SELECT "anon_live"."anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0", anon_nodes.anon_node, "anon_live"."anon_key", "anon_live"."anon_row_count" FROM "anon_live" CROSS JOIN "anon_nodes"), "anon_firsts" AS (SELECT anon_pairs.anon_key, ANY_VALUE(anon_pairs.anon_row_count) AS anon_row_count, MIN(anon_met.anon_class) AS anon_class FROM "anon_pairs" INNER JOIN "temp"."main"."anon_tried_classes" AS anon_met ON anon_met.anon_node = anon_pairs.anon_node AND "anon_pairs"."anon_key_0" = "anon_met"."anon_key_0" WHERE anon_met.anon_trial = $3 AND anon_met.anon_is_met GROUP BY anon_pairs.anon_key), "anon_sized" AS (SELECT anon_key, anon_class, MIN(anon_key) OVER (PARTITION BY anon_class) AS anon_first_key, SUM(anon_row_count) OVER (PARTITION BY anon_class) AS anon_rows FROM "anon_firsts") SELECT anon_sized.anon_key, anon_tried.anon_node, anon_sized.anon_first_key FROM "anon_sized" INNER JOIN "temp"."main"."anon_tried_classes" AS anon_tried ON anon_tried.anon_class = anon_sized.anon_class AND anon_tried.anon_class_size = anon_sized.anon_rows WHERE anon_tried.anon_trial = $3;

-- Values that classes have in common
-- Run local
CREATE OR REPLACE TEMPORARY TABLE "temp"."main"."anon_meetings" AS
WITH "anon_used" AS (
  SELECT DISTINCT position, depth, "anon_key_0"
  FROM "temp"."main"."anon_levels_of_classes" AS anon_levels
  SEMI JOIN "temp"."main"."anon_all_classes" AS anon_classes ON anon_classes.anon_class = anon_levels.anon_class
), "anon_values" AS (
  SELECT DISTINCT position, "anon_value_0"
  FROM "temp"."main"."anon_left_values" AS anon_left_values
), "anon_met" AS (
  SELECT
    anon_used.position, anon_used.depth, "anon_used"."anon_key_0", "anon_values"."anon_value_0",
    GREATEST(
      anon_used.depth,
      COUNT(*) FILTER(WHERE
        (XOR("anon_used"."anon_key_0", "anon_values"."anon_value_0") & "anon_masks"."anon_mask_0" <> 0))
    ) AS anon_depth
  FROM "anon_used"
  INNER JOIN "anon_values" ON anon_values.position = anon_used.position
  INNER JOIN (VALUES
    (0, 0, 7205759403792793600),
    (0, 1, 6917529027641081856),
    (0, 2, 0),
    (1, 0, 1729382256910270464),
    (1, 1, 0)) AS anon_masks("position", "depth", "anon_mask_0")
    ON anon_masks.position = anon_used.position
  GROUP BY anon_used.position, anon_used.depth, "anon_used"."anon_key_0", "anon_values"."anon_value_0"
)
SELECT anon_met.position, anon_met.depth, "anon_met"."anon_key_0", "anon_met"."anon_value_0", anon_labels.anon_loss
FROM "anon_met"
INNER JOIN (VALUES
  (0, 0, 7205759403792793600),
  (0, 1, 6917529027641081856),
  (0, 2, 0),
  (1, 0, 1729382256910270464),
  (1, 1, 0)) AS anon_masks("position", "depth", "anon_mask_0")
  ON anon_masks.position = anon_met.position
  AND anon_masks.depth = anon_met.anon_depth
INNER JOIN "temp"."main"."anon_weighed_labels" AS anon_labels
  ON anon_labels.position = anon_met.position
  AND anon_labels.depth = anon_met.anon_depth
  AND "anon_labels"."anon_key_0" = ("anon_met"."anon_value_0" & "anon_masks"."anon_mask_0")
WHERE anon_met.anon_depth <= [2, 1][anon_met.position + 1];

-- Classes that rows can move to
-- Run local
CREATE OR REPLACE TEMPORARY TABLE "temp"."main"."anon_candidates" AS
WITH "anon_levels" AS (
  SELECT anon_all_levels.*
  FROM "temp"."main"."anon_levels_of_classes" AS anon_all_levels
  SEMI JOIN "temp"."main"."anon_all_classes" AS anon_classes ON anon_classes.anon_class = anon_all_levels.anon_class
), "anon_pairs" AS (
  SELECT
    anon_left_values.anon_key, anon_levels.anon_class,
    ANY_VALUE(anon_left_values.anon_mass) AS anon_mass,
    CAST(SUM(anon_meetings.anon_loss) AS INT128) AS anon_together
  FROM "temp"."main"."anon_left_values" AS anon_left_values
  INNER JOIN "temp"."main"."anon_meetings" AS anon_meetings
    ON anon_meetings.position = anon_left_values.position
    AND "anon_left_values"."anon_value_0" = "anon_meetings"."anon_value_0"
  INNER JOIN "anon_levels"
    ON anon_levels.position = anon_meetings.position
    AND anon_levels.depth = anon_meetings.depth
    AND "anon_levels"."anon_key_0" = "anon_meetings"."anon_key_0"
    AND anon_levels.anon_number = anon_left_values.anon_number
  WHERE anon_left_values.anon_place > 0 AND anon_left_values.anon_place <= 3333333
  GROUP BY anon_left_values.anon_key, anon_levels.anon_class
  HAVING COUNT(*) = 2
)
SELECT
  anon_pairs.anon_key, anon_pairs.anon_class,
  anon_pairs.anon_together * anon_pairs.anon_mass + (
    anon_pairs.anon_together - anon_losses.anon_loss
  ) * anon_losses.anon_mass AS anon_rise
FROM "anon_pairs"
INNER JOIN "temp"."main"."anon_class_losses" AS anon_losses ON anon_losses.anon_class = anon_pairs.anon_class
QUALIFY
  ROW_NUMBER() OVER (
    PARTITION BY anon_pairs.anon_key
    ORDER BY anon_rise ASC, anon_pairs.anon_class ASC
  ) BETWEEN 0 + 1 AND 32;

-- Moves between classes
-- Run local
CREATE OR REPLACE TEMPORARY TABLE "temp"."main"."anon_moves" AS
WITH "anon_of_classes" AS (
  SELECT *, MAX(anon_rise) OVER (PARTITION BY anon_class) AS anon_most
  FROM "temp"."main"."anon_chosen" AS anon_chosen
)
SELECT anon_key, anon_class
FROM "anon_of_classes"
QUALIFY DENSE_RANK() OVER (ORDER BY anon_most DESC, anon_class ASC) <= 1;

-- Labels of classes
-- Run local
CREATE TEMPORARY TABLE "temp"."main"."anon_labels_of_classes" AS
WITH "anon_labels" AS (
  SELECT DISTINCT position, depth, label, "anon_key_0"
  FROM "temp"."main"."anon_labels"
), "anon_listed" AS (
  SELECT anon_levels.anon_class, anon_levels.position, anon_levels.depth, anon_labels.label
  FROM "temp"."main"."anon_levels_of_classes" AS anon_levels
  INNER JOIN "anon_labels"
    ON anon_labels.position = anon_levels.position
    AND anon_labels.depth = anon_levels.depth
    AND "anon_levels"."anon_key_0" = "anon_labels"."anon_key_0"
), "anon_classes" AS (
  SELECT
    anon_class,
    MAX(label) FILTER(WHERE position = 0) AS "anon_label_0",
    MAX(label) FILTER(WHERE position = 1) AS "anon_label_1"
  FROM "anon_listed"
  GROUP BY anon_class
)
SELECT *
FROM "anon_classes"
UNION ALL
SELECT 0 AS anon_class, '*' AS "anon_label_0", '*' AS "anon_label_1";
--   -> anon_class, anon_label_0, anon_label_1
--   0, *, *
--   2, 30s, f
--   3, *, m
--   4, 42, m

