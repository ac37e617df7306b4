-- Statements of runs of tests/golden/people.py, each with its policy and what it returns or makes there,
-- written by `python -m tests.golden`: review it as a diff.

-- What each kind of diversity attains
-- Run l: Policy(method=FullDomain(suppression_limit=0.5), privacy=[KAnonymity(k=2),
-- DistinctLDiversity(column="diagnosis", l=2), EntropyLDiversity(column="diagnosis", l=1.5),
-- RecursiveCLDiversity(column="diagnosis", c=3.0, l=2), AlphaKAnonymity(column="diagnosis", alpha=0.7, k=2)])
WITH "anon_cells" AS (
  SELECT "anon_key_0" & 8646911284551352320 AS "anon_key_0", "anon_sensitive_0", "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_values" AS (
  SELECT "anon_key_0", "anon_sensitive_0", CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY "anon_key_0", "anon_sensitive_0"
), "anon_classes" AS (
  SELECT
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (COUNT("anon_rows")) AS "anon_measure_0",
    (EXP(LN(SUM("anon_rows")) - SUM("anon_rows" * LN("anon_rows")) / SUM("anon_rows"))) AS "anon_measure_1",
    COALESCE(
      MAX("anon_rows") / (SUM("anon_rows") - LIST_SUM(MAX("anon_rows", 2)) + LIST_EXTRACT(MAX("anon_rows", 2), 2)),
      CAST('infinity' AS DOUBLE)
    ) AS "anon_measure_2",
    (MAX("anon_rows") / SUM("anon_rows")) AS "anon_measure_3"
  FROM "anon_values"
  GROUP BY "anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 2
    AND "anon_measure_0" >= 2
    AND "anon_measure_1" >= 1.4999999985
    AND "anon_measure_2" < 3.0
    AND "anon_class_size" >= 2
    AND "anon_measure_3" <= 0.7 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  MIN("anon_class_size") FILTER(WHERE "anon_kept") AS "attained_0",
  MIN("anon_measure_0") FILTER(WHERE "anon_kept") AS "attained_1",
  MIN("anon_measure_1") FILTER(WHERE "anon_kept") AS "attained_2",
  MAX("anon_measure_2") FILTER(WHERE "anon_kept") AS "attained_3",
  MIN("anon_class_size") FILTER(WHERE "anon_kept") AS "attained_4",
  MAX("anon_measure_3") FILTER(WHERE "anon_kept") AS "attained_5"
FROM "anon_judged";
--   -> attained_0, attained_1, attained_2, attained_3, attained_4, attained_5
--   3, 2, 1.88988157484, 2, 3, 0.666666666667

-- What an equal distance, likeness and disclosure attain
-- Run shares: Policy(method=FullDomain(suppression_limit=0.5), privacy=[KAnonymity(k=2), TCloseness(column="diagnosis",
-- t=0.6), BetaLikeness(column="diagnosis", beta=2.0), DeltaDisclosure(column="diagnosis", delta=3.0)])
WITH "anon_cells" AS (
  SELECT "anon_key_0" & 8646911284551352320 AS "anon_key_0", "anon_sensitive_0", "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT "anon_key_0", "anon_sensitive_0", CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY "anon_key_0", "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT "anon_key_0", CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY "anon_key_0"
), "anon_whole" AS (
  SELECT "anon_key_0", "anon_value_size" AS "anon_class_size"
  FROM "anon_sensitive_0_sizes"
), "anon_values" AS (
  SELECT "anon_values".*, "anon_sizes"."anon_value_size", "anon_known"."anon_share"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes" ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
  JOIN "temp"."main"."anon_values_0" AS anon_known ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
), "anon_view_0" AS (
  SELECT
    "anon_key_0",
    (FSUM(GREATEST("anon_rows" / "anon_value_size" - COALESCE("anon_share", 0.0), 0.0))) AS "anon_measure_0",
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE("anon_share", 0.0) = 0.0 THEN CAST('infinity' AS DOUBLE)
              ELSE "anon_rows" / "anon_share"
            END
          )
        ) / SUM("anon_rows") - 1,
        0.0
      )
    ) AS "anon_measure_1",
    (
      GREATEST(
        LN(
          MAX(
            (
              CASE
                WHEN COALESCE("anon_share", 0.0) = 0.0 THEN CAST('infinity' AS DOUBLE)
                ELSE "anon_rows" / "anon_share"
              END
            )
          ) / SUM("anon_rows")
        ),
        -LN(
          MIN(
            (
              CASE
                WHEN COALESCE("anon_share", 0.0) = 0.0 THEN CAST('infinity' AS DOUBLE)
                ELSE "anon_rows" / "anon_share"
              END
            )
          ) / SUM("anon_rows")
        )
      ) / LN(2.0)
    ) AS "anon_measure_2"
  FROM "anon_values"
  GROUP BY "anon_key_0"
), "anon_classes" AS (
  SELECT
    "anon_whole"."anon_class_size", "anon_view_0"."anon_measure_0", "anon_view_0"."anon_measure_1",
    "anon_view_0"."anon_measure_2"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0" ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 2
    AND "anon_measure_0" <= 0.6000000006
    AND "anon_measure_1" <= 2.000000002
    AND "anon_measure_2" < 2.999999997 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  MIN("anon_class_size") FILTER(WHERE "anon_kept") AS "attained_0",
  MAX("anon_measure_0") FILTER(WHERE "anon_kept") AS "attained_1",
  MAX("anon_measure_1") FILTER(WHERE "anon_kept") AS "attained_2",
  MAX("anon_measure_2") FILTER(WHERE "anon_kept") AS "attained_3"
FROM "anon_judged";
--   -> attained_0, attained_1, attained_2, attained_3
--   3, 0.291666666667, 0.777777777778, 0.830074998558

-- The shares of all rows
-- Run shares
CREATE TEMPORARY TABLE "temp"."main"."anon_values_0" AS
WITH "anon_counts" AS (
  SELECT "anon_sensitive_0", SUM("anon_row_count") AS anon_rows
  FROM "temp"."main"."anon_cells"
  GROUP BY "anon_sensitive_0"
)
SELECT "anon_sensitive_0", anon_rows / SUM(anon_rows) OVER () AS anon_share
FROM "anon_counts";
--   -> anon_sensitive_0, anon_share
--   1, 0.25
--   2, 0.375
--   3, 0.375

-- Work to even out the order of all rows
-- Run t, ordered: Policy(method=FullDomain(suppression_limit=0.5), privacy=[KAnonymity(k=2),
-- TCloseness(column="diagnosis", t=0.6, distance="ordered")])
CREATE TEMPORARY TABLE "temp"."main"."anon_reference_work_0" AS
SELECT
  position, anon_all_rows AS reference_rows,
  anon_rows_up_to / NULLIF(anon_all_rows, 0e0) AS cumulative_share,
  position * anon_rows_up_to - anon_moment AS work_below,
  (
    anon_all_moment - anon_moment
  ) - position * (anon_all_rows - anon_rows_up_to) AS work_above,
  anon_all_rows * (anon_positions - 1) AS most_work
FROM (
  SELECT
    position,
    CAST(SUM(row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_rows_up_to,
    CAST(SUM(position * row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_moment,
    CAST(SUM(row_count) OVER () AS DOUBLE) AS anon_all_rows,
    CAST(SUM(position * row_count) OVER () AS DOUBLE) AS anon_all_moment,
    COUNT(*) OVER () AS anon_positions
  FROM (
    SELECT "anon_sensitive_0" AS position, SUM("anon_row_count") AS row_count
    FROM "temp"."main"."anon_cells"
    GROUP BY "anon_sensitive_0"
  ) AS "anon_positions"
);
--   -> position, reference_rows, cumulative_share, work_below, work_above, most_work
--   1, 8, 0.25, 0, 9, 16
--   2, 8, 0.625, 2, 3, 16
--   3, 8, 1, 7, 0, 16

-- Crossings of the order of all rows
-- Run t, ordered
CREATE TEMPORARY TABLE "temp"."main"."anon_reference_crossings_0" AS
SELECT
  UNNEST(
    RANGE(CAST(FLOOR(anon_least_share * 1024e0) AS BIGINT), CAST(FLOOR(anon_next_share * 1024e0) AS BIGINT) + 1)
  ) AS slot,
  anon_least_share AS least_share, anon_next_share AS next_share, anon_position AS crossing, anon_work AS crossing_work
FROM (
  SELECT
    position AS anon_position, work_below AS anon_work,
    COALESCE(LAG(cumulative_share) OVER (ORDER BY position ASC), 0e0) AS anon_least_share,
    cumulative_share AS anon_next_share
  FROM "temp"."main"."anon_reference_work_0"
)
WHERE anon_least_share < anon_next_share;
--   -> slot, least_share, next_share, crossing, crossing_work
--   0, 0, 0.25, 1, 0
--   1, 0, 0.25, 1, 0
--   10, 0, 0.25, 1, 0
--   100, 0, 0.25, 1, 0
--   1000, 0.625, 1, 3, 7
--   and 1022 more: 4df9ef940b19

-- What an ordered distance attains
-- Run t, ordered
WITH "anon_cells" AS (
  SELECT "anon_key_0" & 8646911284551352320 AS "anon_key_0", "anon_sensitive_0", "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT "anon_key_0", "anon_sensitive_0", CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY "anon_key_0", "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT "anon_key_0", CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY "anon_key_0"
), "anon_whole" AS (
  SELECT "anon_key_0", "anon_value_size" AS "anon_class_size"
  FROM "anon_sensitive_0_sizes"
), "anon_in_order" AS (
  SELECT
    "anon_values".*, "anon_sizes"."anon_value_size", "anon_work"."reference_rows", "anon_work"."position",
    "anon_work"."work_below", "anon_work"."work_above", "anon_work"."most_work",
    CAST(SUM("anon_values"."anon_rows") OVER (
      PARTITION BY "anon_values"."anon_key_0"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS "anon_rows_up_to",
    LEAD("anon_work"."position") OVER (
      PARTITION BY "anon_values"."anon_key_0"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_position",
    LEAD("anon_work"."work_below") OVER (
      PARTITION BY "anon_values"."anon_key_0"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_work_below"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes" ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
  JOIN "temp"."main"."anon_reference_work_0" AS anon_work ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
), "anon_values" AS (
  SELECT
    "anon_in_order".*,
    (
      "anon_rows_up_to" * "reference_rows" * (
        ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
      ) + "anon_value_size" * (ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below"))
    ) AS "anon_work_between"
  FROM "anon_in_order"
  LEFT JOIN "temp"."main"."anon_reference_crossings_0" AS anon_crossings
    ON "anon_crossings"."slot" = CAST(FLOOR(("anon_rows_up_to" / "anon_value_size") * 1024e0) AS BIGINT)
    AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
    AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
), "anon_view_0" AS (
  SELECT
    "anon_key_0",
    (
      (
        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (MIN("work_below") + MIN("work_above"))
      ) / (SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0))
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY "anon_key_0"
), "anon_classes" AS (
  SELECT "anon_whole"."anon_class_size", "anon_view_0"."anon_measure_0"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0" ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
), "anon_judged" AS (
  SELECT *, "anon_class_size" >= 2 AND "anon_measure_0" <= 0.6000000006 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  MIN("anon_class_size") FILTER(WHERE "anon_kept") AS "attained_0",
  MAX("anon_measure_0") FILTER(WHERE "anon_kept") AS "attained_1"
FROM "anon_judged";
--   -> attained_0, attained_1
--   3, 0.145833333333

-- Aggregates of classes
-- Run local means: Policy(method=LocalRecoding(aggregate={"age": "mean"}), privacy=[KAnonymity(k=2)])
CREATE TEMPORARY TABLE "temp"."main"."anon_aggregates_0" AS
WITH "anon_numbers" AS (
  SELECT "anon_key_0", TRY_CAST(COALESCE("value", NULL) AS INT) AS "anon_value"
  FROM "temp"."main"."anon_labels"
  WHERE "position" = 0 AND "depth" = 0
), "anon_values" AS (
  SELECT "anon_cells"."anon_row_count", "anon_of_key"."anon_class", "anon_numbers"."anon_value"
  FROM "temp"."main"."anon_cells" AS anon_cells
  JOIN "temp"."main"."anon_class_of_key" AS anon_of_key ON "anon_of_key"."anon_key_0" = "anon_cells"."anon_key_0"
  LEFT JOIN "anon_numbers" ON ("anon_cells"."anon_key_0" & 7205759403792793600) = "anon_numbers"."anon_key_0"
)
SELECT
  anon_class,
  SUM(CAST(anon_value AS DOUBLE) * anon_row_count ORDER BY anon_value ASC) / SUM(anon_row_count) FILTER(WHERE
    NOT anon_value IS NULL) AS "age_mean"
FROM "anon_values"
GROUP BY anon_class;
--   -> anon_class, age_mean
--   2, 33
--   3, 40.5
--   4, 42

-- What a node attains beside an earlier release
-- Run earlier k: Policy(method=FullDomain(suppression_limit=0.5), privacy=[KAnonymity(k=2)])
WITH "anon_jointly_kept" AS (
  SELECT
    *
    EXCLUDE (anon_earlier, anon_hidden, anon_largest, anon_place, anon_last_place, anon_is_shown)
    REPLACE (CASE
      WHEN NOT anon_is_shown THEN anon_withheld
      WHEN anon_class_size > anon_withheld THEN anon_class_size - anon_withheld
      ELSE anon_class_size
    END AS anon_class_size, anon_kept AND anon_is_shown AND anon_class_size > anon_withheld AS anon_kept)
  FROM (
    SELECT
      *, CASE
        WHEN NOT (anon_kept AND anon_earlier > 0 AND anon_hidden BETWEEN 1 AND 2 - 1) THEN 0
        WHEN TRUE AND anon_largest >= 2 + 2 - anon_hidden THEN CASE WHEN anon_place = 1 THEN 2 - anon_hidden ELSE 0 END
        WHEN anon_last_place = 1 THEN anon_class_size
        ELSE 0
      END AS anon_withheld
    FROM (
      SELECT
        anon_numbered.*,
        COALESCE(anon_absent.anon_absent, 0) + COALESCE(
          SUM(CASE WHEN NOT anon_kept THEN anon_class_size END) OVER (PARTITION BY anon_numbered.anon_earlier),
          0
        ) AS anon_hidden,
        MAX(anon_class_size) OVER (PARTITION BY anon_numbered.anon_earlier, anon_kept) AS anon_largest,
        ROW_NUMBER() OVER (
          PARTITION BY anon_numbered.anon_earlier, anon_kept
          ORDER BY anon_class_size DESC, "anon_key_0" ASC NULLS FIRST
        ) AS anon_place,
        ROW_NUMBER() OVER (
          PARTITION BY anon_numbered.anon_earlier, anon_kept
          ORDER BY anon_class_size ASC, "anon_key_0" ASC NULLS FIRST
        ) AS anon_last_place
      FROM (
        SELECT *, (("anon_key_0" & 3) >> 0) AS anon_earlier
        FROM (
          SELECT *, "anon_class_size" >= 2 AS "anon_kept"
          FROM (
            SELECT "anon_key_0", CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
            FROM (
              SELECT "anon_key_0" & 6917529027641081859 AS "anon_key_0", "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY "anon_key_0"
          ) AS "anon_classes"
        ) AS "anon_classes"
      ) AS anon_numbered
      LEFT JOIN "temp"."main"."anon_absent_persons" AS anon_absent
        ON anon_absent.anon_earlier = anon_numbered.anon_earlier
    )
  )
  CROSS JOIN (VALUES (TRUE), (FALSE)) AS anon_parts(anon_is_shown)
  WHERE anon_is_shown OR anon_withheld BETWEEN 1 AND anon_class_size - 1
), "anon_judged" AS (SELECT * FROM "anon_jointly_kept")
SELECT MIN("anon_class_size") FILTER(WHERE "anon_kept") AS "attained_0"
FROM "anon_judged";
--   -> attained_0
--   2

-- Classes that rows can still join
-- Run local: Policy(method=LocalRecoding(suppression_limit=0.9), privacy=[KAnonymity(k=2),
-- DistinctLDiversity(column="diagnosis", l=2)])
PREPARE "anon_tried" AS
INSERT INTO "temp"."main"."anon_tried_classes" WITH "anon_taken" AS (SELECT anon_key FROM "temp"."main"."anon_taken_keys" AS anon_all_taken WHERE anon_node >= 0), "anon_live" AS (SELECT anon_cells.* FROM "temp"."main"."anon_peeled_cells" AS anon_cells ANTI JOIN "anon_taken" ON anon_taken.anon_key = anon_cells.anon_key), "anon_nodes" AS (SELECT UNNEST(CAST($1 AS BIGINT[])) AS "anon_node", UNNEST(CAST($2 AS BIGINT[])) AS "anon_mask_0"), "anon_judged_cells" AS (SELECT "anon_live"."anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0", anon_nodes.anon_node, "anon_live"."anon_sensitive_0", "anon_live"."anon_row_count" FROM "anon_live" CROSS JOIN "anon_nodes"), "anon_values" AS (SELECT "anon_node", "anon_key_0", "anon_sensitive_0", CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows" FROM "anon_judged_cells" GROUP BY "anon_node", "anon_key_0", "anon_sensitive_0"), "anon_classes" AS (SELECT "anon_node", "anon_key_0", CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size", (COUNT("anon_rows")) AS "anon_measure_0" FROM "anon_values" GROUP BY "anon_node", "anon_key_0") SELECT $3 AS anon_trial, ROW_NUMBER() OVER (ORDER BY anon_node ASC) AS anon_class, anon_node, "anon_key_0", anon_class_size, COALESCE("anon_class_size" >= 2 AND "anon_measure_0" >= 2, FALSE) AS anon_is_met FROM "anon_classes" WHERE "anon_class_size" >= 2;

-- Rows that join a class
-- Run local
PREPARE "anon_taken" AS
INSERT INTO "temp"."main"."anon_taken_keys" WITH "anon_taken" AS (SELECT anon_key FROM "temp"."main"."anon_taken_keys" AS anon_all_taken WHERE anon_node >= 0), "anon_cells" AS (SELECT anon_cells.* FROM "temp"."main"."anon_peeled_cells" AS anon_cells ANTI JOIN "anon_taken" ON anon_taken.anon_key = anon_cells.anon_key), "anon_live" AS (SELECT anon_key, "anon_key_0", CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count FROM "anon_cells" GROUP BY anon_key, "anon_key_0"), "anon_nodes" AS (SELECT UNNEST(CAST($1 AS BIGINT[])) AS "anon_node", UNNEST(CAST($2 AS BIGINT[])) AS "anon_mask_0"), "anon_pairs" AS (SELECT "anon_live"."anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0", anon_nodes.anon_node, "anon_live"."anon_key", "anon_live"."anon_row_count" FROM "anon_live" CROSS JOIN "anon_nodes"), "anon_firsts" AS (SELECT anon_pairs.anon_key, ANY_VALUE(anon_pairs.anon_row_count) AS anon_row_count, MIN(anon_met.anon_class) AS anon_class FROM "anon_pairs" INNER JOIN "temp"."main"."anon_tried_classes" AS anon_met ON anon_met.anon_node = anon_pairs.anon_node AND "anon_pairs"."anon_key_0" = "anon_met"."anon_key_0" WHERE anon_met.anon_trial = $3 AND anon_met.anon_is_met GROUP BY anon_pairs.anon_key), "anon_sized" AS (SELECT anon_key, anon_class, MIN(anon_key) OVER (PARTITION BY anon_class) AS anon_first_key, SUM(anon_row_count) OVER (PARTITION BY anon_class) AS anon_rows FROM "anon_firsts") SELECT anon_sized.anon_key, anon_tried.anon_node, anon_sized.anon_first_key FROM "anon_sized" INNER JOIN "temp"."main"."anon_tried_classes" AS anon_tried ON anon_tried.anon_class = anon_sized.anon_class AND anon_tried.anon_class_size = anon_sized.anon_rows WHERE anon_tried.anon_trial = $3;

