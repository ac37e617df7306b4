-- Statements of runs of tests/golden/people.py, each with its policy and what it returns or makes there,
-- written by `python -m tests.golden`: review it as a diff.

-- Combinations that are sampled
-- Run epsilon-safe: Policy(method=EpsilonSafe(k=2, beta=1/2))
CREATE TEMPORARY TABLE "temp"."main"."anon_combinations" AS
WITH "anon_cells" AS (
  SELECT "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_keyed" AS (
  SELECT CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "anon_cells"
), "anon_unplaced" AS (SELECT "anon_keyed"."anon_row_count" FROM "anon_keyed")
SELECT *, ROW_NUMBER() OVER () - 1 AS anon_place
FROM "anon_unplaced";
--   -> anon_row_count, anon_place
--   8, 0

-- Marginals of two columns
-- Run synthetic: Policy(method=Synthetic(budget=Budget(epsilon=9, delta=1/10), numeric={"age": Bins(edges=[30, 40,
-- 50])}, levels={"diagnosis": 1}, nulls=["sex"], rows=6))
WITH "anon_inside" AS (
  SELECT *
  FROM "temp"."main"."anon_coded_cells"
  WHERE NOT "anon_code_0" IS NULL AND NOT "anon_code_1" IS NULL AND NOT "anon_code_2" IS NULL
)
SELECT CAST(CAST("anon_code_0" AS BIGINT) AS BIGINT) AS combination, CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "anon_inside"
GROUP BY combination;
--   -> combination, row_count
--   0, 4
--   1, 4

-- Marginals of points
-- Run diffgen: Policy(method=DiffGen(specializations=2, numeric={"age": Range(low=30, high=50)}, threshold=0.0))
CREATE TEMPORARY TABLE "temp"."main"."anon_marginals" AS
SELECT
  0 AS position,
  CAST("anon_value_0" AS BIGINT) AS value,
  anon_class AS class,
  CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "temp"."main"."anon_points"
GROUP BY "anon_value_0", anon_class
UNION ALL
SELECT
  1 AS position,
  CAST("anon_value_1" AS BIGINT) AS value,
  anon_class AS class,
  CAST(SUM(anon_row_count) AS BIGINT) AS row_count
FROM "temp"."main"."anon_points"
GROUP BY "anon_value_1", anon_class;
--   -> position, value, class, row_count
--   0, 1, 1, 1
--   0, 12, 0, 1
--   0, 12, 2, 2
--   0, 17, 1, 1
--   0, 4, 0, 1
--   and 7 more: a0b5df6a8277

-- Counts of candidates by their largest class
-- Run diffgen
WITH "anon_value_counts" AS (
  SELECT
    "anon_pieces"."candidate", "anon_rows"."value", "anon_rows"."class",
    CAST(SUM(anon_rows.row_count) AS BIGINT) AS row_count
  FROM "temp"."main"."anon_marginals" AS anon_rows
  INNER JOIN "temp"."main"."anon_children" AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
  GROUP BY "anon_pieces"."candidate", "anon_rows"."value", "anon_rows"."class"
), anon_counts AS MATERIALIZED (
  SELECT *
  FROM "anon_value_counts"
), anon_totals AS (
  SELECT candidate, class, SUM(row_count) AS anon_total
  FROM "anon_counts"
  GROUP BY candidate, class
), anon_values AS (
  SELECT DISTINCT candidate, value
  FROM "anon_counts"
), anon_below AS (
  SELECT
    anon_values.candidate, anon_values.value, anon_totals.anon_total,
    SUM(COALESCE(anon_counts.row_count, 0)) OVER (
      PARTITION BY anon_values.candidate, anon_totals.class
      ORDER BY anon_values.value ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS anon_left
  FROM anon_values
  INNER JOIN anon_totals ON anon_totals.candidate = anon_values.candidate
  LEFT JOIN "anon_counts" AS anon_counts
    ON anon_counts.candidate = anon_values.candidate
    AND anon_counts.value = anon_values.value
    AND anon_counts.class = anon_totals.class
), "anon_scored" AS (
  SELECT
    candidate, value,
    CAST(MAX(anon_left) + MAX(anon_total - anon_left) AS BIGINT) AS max_score,
    GREATEST(
      0,
      (
        (
          CASE WHEN SUM(anon_total) > 0 THEN SUM(anon_total) * LOG(2, SUM(anon_total)) ELSE 0 END
        ) - SUM((
          CASE WHEN anon_total > 0 THEN anon_total * LOG(2, anon_total) ELSE 0 END
        )) - (
          CASE WHEN SUM(anon_left) > 0 THEN SUM(anon_left) * LOG(2, SUM(anon_left)) ELSE 0 END
        ) + SUM((
          CASE WHEN anon_left > 0 THEN anon_left * LOG(2, anon_left) ELSE 0 END
        )) - (
          CASE
            WHEN (SUM(anon_total) - SUM(anon_left)) > 0 THEN (
              SUM(anon_total) - SUM(anon_left)
            ) * LOG(2, (SUM(anon_total) - SUM(anon_left)))
            ELSE 0
          END
        ) + SUM(
          (
            CASE
              WHEN (anon_total - anon_left) > 0 THEN (
                anon_total - anon_left
              ) * LOG(2, (anon_total - anon_left))
              ELSE 0
            END
          )
        )
      ) / SUM(anon_total)
    ) AS information_gain
  FROM anon_below
  GROUP BY candidate, value
)
SELECT candidate, value, CAST("max_score" AS BIGINT) AS score
FROM "anon_scored"
ORDER BY candidate ASC, value ASC;
--   -> candidate, value, score
--   0, 1, 4
--   0, 12, 4
--   0, 17, 3
--   0, 4, 4

-- Leaves that have rows
-- Run diffgen
CREATE TEMPORARY TABLE "temp"."main"."anon_occupied_leaves" AS
WITH "anon_pieces_0" AS (
  SELECT DISTINCT anon_rows.value, "anon_pieces"."place"
  FROM "temp"."main"."anon_marginals" AS anon_rows
  INNER JOIN "temp"."main"."anon_pieces" AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
  WHERE anon_rows.position = 0
), "anon_numbered" AS (
  SELECT
    CAST("anon_points"."anon_class" AS BIGINT) + "anon_pieces_0"."place" * 3 AS "anon_index",
    "anon_points"."anon_row_count"
  FROM "temp"."main"."anon_points" AS anon_points
  JOIN "anon_pieces_0" ON "anon_pieces_0"."value" = "anon_points"."anon_value_0"
), "anon_counted" AS (
  SELECT anon_index, CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
  FROM "anon_numbered"
  GROUP BY anon_index
)
SELECT anon_index, anon_row_count, ROW_NUMBER() OVER (ORDER BY anon_index ASC) - 1 AS anon_place
FROM "anon_counted";
--   -> anon_index, anon_row_count, anon_place
--   1, 1, 0
--   3, 2, 1
--   4, 1, 2
--   5, 3, 3
--   7, 1, 4

-- Leaves that are shown
-- Run diffgen
CREATE TEMPORARY TABLE "temp"."main"."anon_shown_leaves" AS
WITH "anon_noisy" AS (
  SELECT
    anon_drawn.anon_run, anon_leaves.anon_index,
    anon_leaves.anon_row_count + anon_drawn.anon_noise AS anon_noisy_rows
  FROM "temp"."main"."anon_occupied_leaves" AS anon_leaves
  INNER JOIN "temp"."main"."anon_noise_of_leaves" AS anon_drawn ON anon_drawn.anon_place = anon_leaves.anon_place
), "anon_gaps" AS (
  SELECT
    anon_index - (ROW_NUMBER() OVER (ORDER BY anon_index ASC) - 1) AS anon_gap,
    ROW_NUMBER() OVER (ORDER BY anon_index ASC) AS anon_shift
  FROM "temp"."main"."anon_occupied_leaves" AS anon_numbered
), "anon_seen" AS (
  SELECT anon_gap, MAX(anon_shift) AS anon_shift
  FROM "anon_gaps"
  GROUP BY anon_gap
), "anon_unseen" AS (
  SELECT
    anon_drawn.anon_run, anon_drawn.anon_noisy_rows,
    anon_drawn.anon_rank + COALESCE(anon_seen.anon_shift, 0) AS anon_index
  FROM "temp"."main"."anon_drawn_unseen" AS anon_drawn
  ASOF LEFT JOIN "anon_seen" ON anon_drawn.anon_rank >= anon_seen.anon_gap
)
SELECT *
FROM "anon_noisy"
WHERE anon_noisy_rows >= 1
UNION ALL
SELECT anon_run, anon_index, anon_noisy_rows
FROM "anon_unseen";
--   -> anon_run, anon_index, anon_noisy_rows
--   0, 1, 2
--   0, 3, 3
--   0, 4, 2
--   0, 5, 4
--   0, 7, 2

-- The cut
-- Run diffgen
CREATE TEMPORARY TABLE "temp"."main"."anon_cut" AS
SELECT
  anon_given.position, anon_given.attribute, anon_given.first, anon_given."end", anon_given.depth, anon_given.low,
  anon_given.high,
  COALESCE(anon_given.text, anon_leaves.label) AS label
FROM "temp"."main"."anon_given_pieces" AS anon_given
LEFT JOIN "temp"."main"."anon_ordered_leaves" AS anon_leaves
  ON anon_leaves.position = anon_given.position
  AND anon_leaves.leaf = anon_given.first
  AND anon_leaves.depth = anon_given.depth;
--   -> position, attribute, first, end, depth, low, high, label
--   0, age, 0, 2, NULL, 30, 32, [30, 32)
--   0, age, 13, 20, NULL, 43, 50, [43, 50)
--   0, age, 2, 13, NULL, 32, 43, [32, 43)
--   1, sex, 0, 2, 1, NULL, NULL, *

-- Candidates by information and loss of anonymity
-- Run top-down: Policy(method=TopDownSpecialization(k=2, numeric={"age": Range(low=30, high=50)}),
-- privacy=[KAnonymity(k=2)])
WITH "anon_children" AS (
  SELECT DISTINCT anon_rows.value, "anon_pieces"."candidate", "anon_pieces"."child"
  FROM "temp"."main"."anon_marginals" AS anon_rows
  INNER JOIN "temp"."main"."anon_children" AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
  WHERE anon_rows.position = 0
), "anon_children_2" AS (
  SELECT DISTINCT anon_rows.value, "anon_pieces"."candidate", "anon_pieces"."child"
  FROM "temp"."main"."anon_marginals" AS anon_rows
  INNER JOIN "temp"."main"."anon_children" AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
  WHERE anon_rows.position = 1
), "anon_classes" AS (
  SELECT anon_children.candidate, CAST(SUM(anon_rows.anon_row_count) AS BIGINT) AS rows
  FROM "temp"."main"."anon_rows_in_parts" AS anon_rows
  INNER JOIN "anon_children" ON anon_children.value = "anon_rows"."anon_value_0"
  WHERE anon_rows.anon_part > -1
  GROUP BY anon_rows.anon_part, anon_children.candidate, anon_children.child
  UNION ALL
  SELECT anon_children.candidate, CAST(SUM(anon_rows.anon_row_count) AS BIGINT) AS rows
  FROM "temp"."main"."anon_rows_in_parts" AS anon_rows
  INNER JOIN "anon_children_2" AS "anon_children" ON anon_children.value = "anon_rows"."anon_value_1"
  WHERE anon_rows.anon_part > -1
  GROUP BY anon_rows.anon_part, anon_children.candidate, anon_children.child
)
SELECT candidate, MIN(rows) AS rows
FROM "anon_classes"
GROUP BY candidate;
--   -> candidate, rows
--   0, 1
--   1, 3

-- Profiles of classes
-- Run h-ceiling: Policy(method=HCeiling(k=2, h=0.5), privacy=[KAnonymity(k=2)])
CREATE TEMPORARY TABLE "temp"."main"."anon_profiles" AS
WITH "anon_whole" AS (
  SELECT
    position, depth, "anon_key_0",
    ARRAY_AGG(lm) OVER (
      PARTITION BY position, value
      ORDER BY depth ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS anon_losses
  FROM "temp"."main"."anon_labels"
), "anon_labels_of_level" AS (SELECT DISTINCT position, "anon_key_0", anon_losses FROM "anon_whole" WHERE depth = 1)
SELECT *, DENSE_RANK() OVER (PARTITION BY position ORDER BY anon_losses ASC) AS anon_profile
FROM "anon_labels_of_level";
--   -> position, anon_key_0, anon_losses, anon_profile
--   0, 0, [0.0, 0.0, 1.0], 1
--   0, 2305843009213693952, [0.0, 0.3333333333333333, 1.0], 2
--   0, 4611686018427387904, [0.0, 0.3333333333333333, 1.0], 2
--   1, 0, [0.0, 1.0], 1

-- Values that classes lack
-- Run h-ceiling
CREATE TEMPORARY TABLE "temp"."main"."anon_lacking" AS
WITH "anon_cells" AS (
  SELECT "anon_key_0" & 1729382256910270464 AS "anon_key_0", "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_sizes" AS (
  SELECT "anon_key_0", CAST(SUM(anon_row_count) AS BIGINT) AS anon_class_size
  FROM "anon_cells"
  GROUP BY "anon_key_0"
), "anon_classes" AS (SELECT *, (GREATEST(2 - anon_class_size, 0)) AS anon_missing FROM "anon_sizes")
SELECT *, CAST((SUM(anon_missing) OVER (ORDER BY "anon_key_0" ASC) - anon_missing) AS BIGINT) AS anon_missing_before
FROM "anon_classes"
WHERE anon_missing > 0;
--   -> anon_key_0, anon_class_size, anon_missing, anon_missing_before

-- Chances of urns
-- Run h-ceiling
CREATE TEMPORARY TABLE "temp"."main"."anon_chances" AS
WITH "anon_label_0" AS (
  SELECT "anon_key_0", "anon_sensitive_0", "anon_row_count"
  FROM "temp"."main"."anon_label_values"
  WHERE "anon_node" = 0
), "anon_above_0" AS (
  SELECT "anon_sensitive_0", "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE "anon_node" = 0
), "anon_expected" AS (
  SELECT
    "anon_urns"."anon_key_0", "anon_known"."anon_sensitive_0",
    (
      (
        (
          COALESCE("anon_above_0"."anon_row_count", 0) - COALESCE("anon_own"."anon_row_count", 0)
        ) + 10 * (1 / ((SELECT COUNT(*) FROM "temp"."main"."anon_known_values")))
      ) / (("anon_urns"."anon_above_0" - "anon_urns"."anon_class_size") + 10)
    ) AS "anon_chance"
  FROM "temp"."main"."anon_urns" AS anon_urns
  CROSS JOIN "temp"."main"."anon_known_values" AS anon_known
  JOIN "anon_label_0"
    ON ("anon_urns"."anon_key_0" & 1729382256910270464) = "anon_label_0"."anon_key_0"
    AND "anon_label_0"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "anon_above_0" ON TRUE AND "anon_above_0"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "temp"."main"."anon_class_values" AS anon_own
    ON "anon_own"."anon_key_0" = "anon_urns"."anon_key_0"
    AND "anon_own"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
)
SELECT
  "anon_key_0", "anon_sensitive_0",
  CAST(ROUND(
    anon_chance / MAX(anon_chance) OVER (PARTITION BY "anon_key_0") * 4503599627370496
  ) AS BIGINT) AS anon_chance
FROM "anon_expected";
--   -> anon_key_0, anon_sensitive_0, anon_chance

-- Bounds of urns
-- Run h-ceiling
CREATE TEMPORARY TABLE "temp"."main"."anon_urn_bounds" AS
WITH "anon_copied" AS (
  SELECT "anon_urns"."anon_key_0", "anon_own"."anon_sensitive_0", anon_own.anon_row_count
  FROM "temp"."main"."anon_urns" AS anon_urns
  INNER JOIN "temp"."main"."anon_class_values" AS anon_own ON "anon_own"."anon_key_0" = "anon_urns"."anon_key_0"
  WHERE TRUE
)
SELECT
  "anon_key_0", "anon_sensitive_0",
  CAST((
    SUM(anon_row_count) OVER (PARTITION BY "anon_key_0" ORDER BY "anon_sensitive_0" ASC) - anon_row_count
  ) AS DOUBLE) AS anon_low
FROM "anon_copied"
UNION ALL
SELECT
  "anon_key_0", "anon_sensitive_0",
  CAST((
    SUM(anon_chance) OVER (PARTITION BY "anon_key_0" ORDER BY "anon_sensitive_0" ASC) - anon_chance
  ) AS DOUBLE) / SUM(anon_chance) OVER (PARTITION BY "anon_key_0") - 1 AS anon_low
FROM "temp"."main"."anon_chances"
WHERE anon_chance > 0;
--   -> anon_key_0, anon_sensitive_0, anon_low

-- Counterfeits
-- Run h-ceiling
CREATE TEMPORARY TABLE "temp"."main"."anon_counterfeits" AS
WITH "anon_missing_rows" AS (
  SELECT "anon_key_0", UNNEST(RANGE(anon_missing_before, anon_missing_before + anon_missing)) AS anon_place
  FROM "temp"."main"."anon_urns"
), "anon_places" AS (
  SELECT "anon_missing_rows"."anon_key_0", anon_drawn.anon_drawn_value
  FROM "anon_missing_rows"
  INNER JOIN "temp"."main"."anon_drawn_values" AS anon_drawn ON anon_drawn.anon_place = anon_missing_rows.anon_place
)
SELECT "anon_places"."anon_key_0", "anon_bounds"."anon_sensitive_0", CAST(COUNT(*) AS BIGINT) AS anon_row_count
FROM "anon_places"
ASOF JOIN "temp"."main"."anon_urn_bounds" AS anon_bounds
  ON "anon_places"."anon_key_0" = "anon_bounds"."anon_key_0"
  AND anon_places.anon_drawn_value >= anon_bounds.anon_low
GROUP BY "anon_places"."anon_key_0", "anon_bounds"."anon_sensitive_0";
--   -> anon_key_0, anon_sensitive_0, anon_row_count

-- Cells with counterfeits
-- Run h-ceiling
CREATE TEMPORARY TABLE "temp"."main"."anon_filled_cells" AS
WITH "anon_cells" AS (
  SELECT "anon_key_0" & 1729382256910270464 AS "anon_key_0", "anon_sensitive_0", "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_rows" AS (
  SELECT "anon_key_0", "anon_sensitive_0", anon_row_count
  FROM "anon_cells"
  UNION ALL
  SELECT "anon_key_0", "anon_sensitive_0", anon_row_count
  FROM "temp"."main"."anon_counterfeits"
), "anon_counts" AS (
  SELECT "anon_key_0", "anon_sensitive_0", CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
  FROM "anon_rows"
  GROUP BY "anon_key_0", "anon_sensitive_0"
)
SELECT
  "anon_counts"."anon_key_0", "anon_sensitive_0", "anon_raw_0", FALSE AS anon_is_unmapped, anon_counts.anon_row_count
FROM "anon_counts"
INNER JOIN "temp"."main"."anon_known_values" AS anon_known USING ("anon_sensitive_0");
--   -> anon_key_0, anon_sensitive_0, anon_raw_0, anon_is_unmapped, anon_row_count
--   1152921504606846976, 1, angina, False, 2
--   1152921504606846976, 2, asthma, False, 1
--   1152921504606846976, 3, flu, False, 2
--   576460752303423488, 2, asthma, False, 2
--   576460752303423488, 3, flu, False, 1

-- Outlying classes
-- Run relocation: Policy(method=Relocation(k=2, limit=0.5), privacy=[KAnonymity(k=2)])
CREATE TEMPORARY TABLE "temp"."main"."anon_outlier_classes" AS
WITH "anon_losses_0" AS (
  SELECT DISTINCT
    MAX("anon_key_0") FILTER(WHERE "depth" = 1) AS "anon_key_0",
    MAX("lm") FILTER(WHERE "depth" = 1) AS "anon_loss_0_1",
    MAX("lm") FILTER(WHERE "depth" = 2) AS "anon_loss_0_2"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 0
  GROUP BY "value"
), "anon_losses_1" AS (
  SELECT DISTINCT
    MAX("anon_key_0") FILTER(WHERE "depth" = 0) AS "anon_key_0",
    MAX("lm") FILTER(WHERE "depth" = 0) AS "anon_loss_1_0",
    MAX("lm") FILTER(WHERE "depth" = 1) AS "anon_loss_1_1"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 1
  GROUP BY "value"
)
SELECT
  "anon_classes".*, "anon_losses_0"."anon_loss_0_1", "anon_losses_0"."anon_loss_0_2", "anon_losses_1"."anon_loss_1_0",
  "anon_losses_1"."anon_loss_1_1"
FROM "temp"."main"."anon_ranked_classes" AS anon_classes
LEFT JOIN "anon_losses_0" ON ("anon_classes"."anon_key_0" & 6917529027641081856) = "anon_losses_0"."anon_key_0"
LEFT JOIN "anon_losses_1" ON ("anon_classes"."anon_key_0" & 1729382256910270464) = "anon_losses_1"."anon_key_0"
WHERE NOT "anon_classes"."anon_kept";
--   -> anon_key_0, anon_class_size, anon_kept, anon_rank, anon_place, anon_loss_0_1, anon_loss_0_2, anon_loss_1_0,
--   anon_loss_1_1
--   3458764513820540928, 1, False, 3, 1, 0.333333333333, 1, 0, 1

-- Moves of rows
-- Run relocation
CREATE TEMPORARY TABLE "temp"."main"."anon_moves" AS
WITH "anon_outliers" AS (
  SELECT
    *,
    UNNEST(
      RANGE(
        GREATEST(anon_place - (2 - 1), 1),
        LEAST(anon_place + 2, (SELECT COUNT(*) FILTER(WHERE anon_kept) FROM "temp"."main"."anon_ranked_classes")) + 1
      )
    ) AS anon_nearest
  FROM "temp"."main"."anon_outlier_classes"
), "anon_pairs" AS (
  SELECT
    anon_outliers.anon_rank AS anon_outlier, anon_large.anon_rank AS anon_nearest,
    XOR("anon_outliers"."anon_key_0", "anon_large"."anon_key_0") AS "anon_key_0",
    "anon_outliers"."anon_loss_0_1", "anon_outliers"."anon_loss_0_2", "anon_outliers"."anon_loss_1_0",
    "anon_outliers"."anon_loss_1_1"
  FROM "anon_outliers"
  INNER JOIN "temp"."main"."anon_ranked_classes" AS anon_large
    ON anon_large.anon_kept AND anon_large.anon_place = anon_outliers.anon_nearest
), "anon_compared" AS (
  SELECT
    anon_outlier, anon_nearest,
    ROUND(
      (
        CASE WHEN ("anon_key_0" & 6917529027641081856) = 0 THEN "anon_loss_0_1" ELSE "anon_loss_0_2" END + CASE
          WHEN ("anon_key_0" & 1729382256910270464) = 0 THEN "anon_loss_1_0"
          ELSE "anon_loss_1_1"
        END
      ) / 2,
      12
    ) AS anon_distance
  FROM "anon_pairs"
), "anon_found" AS (
  SELECT anon_outlier, MIN({'anon_distance': anon_distance, 'anon_nearest': anon_nearest}) AS anon_best
  FROM "anon_compared"
  GROUP BY anon_outlier
)
SELECT
  "anon_outliers"."anon_key_0", anon_outliers.anon_class_size, "anon_large"."anon_key_0" AS "anon_key_0_there",
  anon_found.anon_best.anon_distance AS anon_distance
FROM "anon_found"
INNER JOIN "temp"."main"."anon_ranked_classes" AS anon_outliers ON anon_outliers.anon_rank = anon_found.anon_outlier
INNER JOIN "temp"."main"."anon_ranked_classes" AS anon_large ON anon_large.anon_rank = anon_found.anon_best.anon_nearest;
--   -> anon_key_0, anon_class_size, anon_key_0_there, anon_distance
--   3458764513820540928, 1, 5764607523034234880, 0.5

-- Cells after moves
-- Run relocation
CREATE TEMPORARY TABLE "temp"."main"."anon_moved_cells" AS
WITH "anon_here" AS (
  SELECT "anon_key_0" & 8646911284551352320 AS "anon_key_0", "anon_sensitive_0", "anon_raw_0", "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_rows" AS (
  SELECT
    COALESCE("anon_moves"."anon_key_0_there", "anon_here"."anon_key_0") AS "anon_key_0",
    "anon_here"."anon_sensitive_0", "anon_here"."anon_raw_0", anon_here.anon_row_count
  FROM "anon_here"
  LEFT JOIN "temp"."main"."anon_moves" AS anon_moves ON "anon_moves"."anon_key_0" = "anon_here"."anon_key_0"
)
SELECT
  "anon_key_0", "anon_sensitive_0",
  ANY_VALUE("anon_raw_0") AS "anon_raw_0",
  FALSE AS anon_is_unmapped,
  CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
FROM "anon_rows"
GROUP BY "anon_key_0", "anon_sensitive_0";
--   -> anon_key_0, anon_sensitive_0, anon_raw_0, anon_is_unmapped, anon_row_count
--   2882303761517117440, 2, asthma, False, 2
--   2882303761517117440, 3, flu, False, 1
--   5764607523034234880, 1, angina, False, 2
--   5764607523034234880, 2, asthma, False, 1
--   5764607523034234880, 3, flu, False, 2

