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

