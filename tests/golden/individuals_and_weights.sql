-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 9 rows; the SHA-256 of them is eb29aa27435ee966c3f9c7c851f9b10408d0b0b29af6207d64659795b42cacb0.

-- shared: read taxonomy 1;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 3;

-- shared: read taxonomy 4;

-- shared: read taxonomy 5;

BEGIN;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 3;

-- shared: create anon_coded_labels 1;

-- shared: read anon_coded_labels 1;

-- shared: create anon_labels 2;

DROP TABLE IF EXISTS "temp"."main"."anon_coded_labels";

-- shared: read anon_labels 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_cells" AS
WITH "anon_rows" AS (
  SELECT
    "age" AS "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "sex",
    CAST(COALESCE("zip", NULL) AS TEXT) COLLATE "binary" AS "zip",
    "patient" AS "patient",
    COUNT(*) AS "anon_row_count",
    CASE
      WHEN BOOL_AND(
        CAST(COALESCE(
          "nights" > 0
          AND CAST(COALESCE("nights", NULL) AS DOUBLE) < CAST('infinity' AS DOUBLE),
          FALSE
        ) AS BOOLEAN)
      )
      THEN SUM(CAST(COALESCE("nights", NULL) AS DOUBLE))
    END AS "anon_weight"
  FROM "memory"."main"."visits"
  GROUP BY
    "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary",
    CAST(COALESCE("zip", NULL) AS TEXT) COLLATE "binary",
    "patient"
)
SELECT
  "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" | "anon_labels_2"."anon_key_0" AS "anon_key_0",
  "anon_labels_0"."code" IS NULL
  OR "anon_labels_1"."code" IS NULL
  OR "anon_labels_2"."code" IS NULL AS "anon_is_unmapped",
  "anon_rows"."patient" AS "anon_individual",
  "anon_rows"."anon_weight",
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
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_2
  ON "anon_labels_2"."position" = 2
  AND "anon_labels_2"."depth" = 0
  AND "anon_labels_2"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."zip", NULL) AS TEXT) COLLATE "binary"
ORDER BY
  "anon_key_0" ASC;

SELECT
  COUNT(*) AS "cells",
  COALESCE(SUM("anon_row_count"), 0) AS "rows",
  COALESCE(SUM("anon_row_count") FILTER(WHERE
    "anon_is_unmapped"), 0) AS "unmapped",
  COALESCE(SUM("anon_row_count") FILTER(WHERE
    "anon_weight" IS NULL), 0) AS "unweighted",
  COALESCE(SUM("anon_row_count") FILTER(WHERE
    "anon_individual" IS NULL), 0) AS "anonymous"
FROM "temp"."main"."anon_cells";

WITH "anon_keyed" AS (
  SELECT
    0 AS "position",
    "anon_key_0" & 7095421212922216448 AS "anon_key_0",
    SUM("anon_weight") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 7095421212922216448
  HAVING
    COUNT(*) > 0
  UNION ALL
  SELECT
    1 AS "position",
    "anon_key_0" & 1729382256910270464 AS "anon_key_0",
    SUM("anon_weight") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 1729382256910270464
  HAVING
    COUNT(*) > 0
  UNION ALL
  SELECT
    2 AS "position",
    "anon_key_0" & 398287092045578240 AS "anon_key_0",
    SUM("anon_weight") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 398287092045578240
  HAVING
    COUNT(*) > 0
), "anon_values" AS (
  SELECT
    "anon_labels"."position",
    "anon_labels"."value",
    "anon_keyed"."anon_value_rows"
  FROM "anon_keyed"
  JOIN "temp"."main"."anon_labels" AS anon_labels
    ON "anon_labels"."position" = "anon_keyed"."position"
    AND "anon_labels"."anon_key_0" = "anon_keyed"."anon_key_0"
    AND "anon_labels"."depth" = 0
), "anon_levels" AS (
  SELECT
    anon_labels.position,
    anon_labels.depth,
    anon_values.anon_value_rows,
    anon_labels.code AS anon_label,
    anon_labels.lm AS anon_lm,
    anon_labels.ncp AS anon_ncp
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
  position,
  depth,
  COALESCE(
    (
      SUM(
        anon_value_rows * LOG(2, anon_label_rows / anon_value_rows) ORDER BY anon_value_rows ASC, anon_label_rows ASC
      )
    ),
    0.0
  ) AS entropy,
  (
    SUM(anon_value_rows * CASE WHEN TRUE THEN anon_lm ELSE 1.0 END) / SUM(anon_value_rows)
  ) AS lm,
  (
    SUM(anon_value_rows * CASE WHEN TRUE THEN anon_ncp ELSE 1.0 END) / SUM(anon_value_rows)
  ) AS ncp,
  MAX(anon_lm) AS largest_lm,
  MAX(anon_ncp) AS largest_ncp,
  MIN((
    LOG(2, anon_row_count / anon_label_rows)
  )) AS least_information,
  COUNT(DISTINCT anon_label) AS distinct_labels
FROM "anon_weighed"
GROUP BY
  position,
  depth;

PREPARE "anon_cells_counts_of_any_by_0" AS
WITH "anon_nodes" AS (
  SELECT
    UNNEST(CAST($1 AS BIGINT[])) AS "anon_node",
    UNNEST(CAST($2 AS BIGINT[])) AS "anon_mask_0"
), "anon_cells" AS (
  SELECT
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_individual",
    "anon_row_count",
    "anon_weight",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_cells"
  CROSS JOIN "anon_nodes"
), "anon_classes" AS (
  SELECT
    "anon_node",
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size",
    COUNT(DISTINCT "anon_individual") AS "anon_individuals",
    SUM("anon_weight") AS "anon_class_weight"
  FROM "anon_cells"
  GROUP BY
    "anon_node",
    "anon_key_0"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_individuals" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  anon_node AS node,
  COUNT(*) AS class_count,
  COUNT(*) FILTER(WHERE
    anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS certain_suppressed_rows
FROM "anon_classes_2" AS "anon_classes"
GROUP BY
  anon_node;

EXECUTE "anon_cells_counts_of_any_by_0" ('[0, 1, 2, 3, 4]', '[8646911284551352320, 7313845794849685504, 2125699024118874112, 7061644215716937728, 398287092045578240]');

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8646911284551352320 AS "anon_key_0",
    "anon_individual",
    "anon_row_count",
    "anon_weight"
  FROM "temp"."main"."anon_cells"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size",
    COUNT(DISTINCT "anon_individual") AS "anon_individuals",
    SUM("anon_weight") AS "anon_class_weight"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 6917529027641081856 AS "anon_bits_0_2_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_individuals",
    "anon_labelled"."anon_class_weight",
    (
      1.0e0 + CASE WHEN "anon_bits_0_2_0" <= 0 THEN 0.0e0 ELSE 0.3220338983050847e0 END
    ) / 3 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_individuals" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  0 AS node,
  COUNT(*) AS class_count,
  COUNT(*) FILTER(WHERE
    anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS certain_suppressed_rows,
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm
FROM "anon_classes_2" AS "anon_classes";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 2125699024118874112 AS "anon_key_0",
    "anon_individual",
    "anon_row_count",
    "anon_weight"
  FROM "temp"."main"."anon_cells"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size",
    COUNT(DISTINCT "anon_individual") AS "anon_individuals",
    SUM("anon_weight") AS "anon_class_weight"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 396316767208603648 AS "anon_bits_2_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_individuals",
    "anon_labelled"."anon_class_weight",
    (
      1.0e0 + CASE
        WHEN "anon_bits_2_1_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_2_1_0" <= 324259173170675712
        THEN 0.2e0
        ELSE 0.4e0
      END
    ) / 3 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_individuals" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  0 AS node,
  COUNT(*) AS class_count,
  COUNT(*) FILTER(WHERE
    anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS certain_suppressed_rows,
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm
FROM "anon_classes_2" AS "anon_classes";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 7313845794849685504 AS "anon_key_0",
    "anon_individual",
    "anon_row_count",
    "anon_weight"
  FROM "temp"."main"."anon_cells"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size",
    COUNT(DISTINCT "anon_individual") AS "anon_individuals",
    SUM("anon_weight") AS "anon_class_weight"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 6917529027641081856 AS "anon_bits_0_2_0",
    "anon_key_0" & 396316767208603648 AS "anon_bits_2_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_individuals",
    "anon_labelled"."anon_class_weight",
    (
      1.0e0 + CASE WHEN "anon_bits_0_2_0" <= 0 THEN 0.0e0 ELSE 0.3220338983050847e0 END + CASE
        WHEN "anon_bits_2_1_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_2_1_0" <= 324259173170675712
        THEN 0.2e0
        ELSE 0.4e0
      END
    ) / 3 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_individuals" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  0 AS node,
  COUNT(*) AS class_count,
  COUNT(*) FILTER(WHERE
    anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS certain_suppressed_rows,
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm
FROM "anon_classes_2" AS "anon_classes";

EXECUTE "anon_cells_counts_of_any_by_0" ('[0, 1, 2]', '[9043228051759955968, 8791026472627208192, 7491737980130820096]');

EXECUTE "anon_cells_counts_of_any_by_0" ('[0, 1]', '[8935141660703064064, 7457960982925541376]');

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8935141660703064064 AS "anon_key_0",
    "anon_individual",
    "anon_row_count",
    "anon_weight"
  FROM "temp"."main"."anon_cells"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size",
    COUNT(DISTINCT "anon_individual") AS "anon_individuals",
    SUM("anon_weight") AS "anon_class_weight"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 6917529027641081856 AS "anon_bits_0_2_0",
    "anon_key_0" & 288230376151711744 AS "anon_bits_2_2_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_individuals",
    "anon_labelled"."anon_class_weight",
    (
      0.0e0 + CASE WHEN "anon_bits_0_2_0" <= 0 THEN 0.0e0 ELSE 0.3220338983050847e0 END + CASE WHEN "anon_bits_2_2_0" <= 0 THEN 0.0e0 ELSE 1.0e0 END
    ) / 3 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_individuals" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  0 AS node,
  COUNT(*) AS class_count,
  COUNT(*) FILTER(WHERE
    anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS certain_suppressed_rows,
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm
FROM "anon_classes_2" AS "anon_classes";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 7457960982925541376 AS "anon_key_0",
    "anon_individual",
    "anon_row_count",
    "anon_weight"
  FROM "temp"."main"."anon_cells"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size",
    COUNT(DISTINCT "anon_individual") AS "anon_individuals",
    SUM("anon_weight") AS "anon_class_weight"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7061644215716937728 AS "anon_bits_0_1_0",
    "anon_key_0" & 396316767208603648 AS "anon_bits_2_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_individuals",
    "anon_labelled"."anon_class_weight",
    (
      1.0e0 + CASE WHEN "anon_bits_0_1_0" <= 0 THEN 0.0e0 ELSE 0.15254237288135594e0 END + CASE
        WHEN "anon_bits_2_1_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_2_1_0" <= 324259173170675712
        THEN 0.2e0
        ELSE 0.4e0
      END
    ) / 3 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_individuals" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  0 AS node,
  COUNT(*) AS class_count,
  COUNT(*) FILTER(WHERE
    anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS certain_suppressed_rows,
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm
FROM "anon_classes_2" AS "anon_classes";

PREPARE "anon_cells_counts_of_1_by_0" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & CAST($1 AS BIGINT) AS "anon_key_0",
    "anon_individual",
    "anon_row_count",
    "anon_weight"
  FROM "temp"."main"."anon_cells"
), "anon_classes" AS (
  SELECT
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size",
    COUNT(DISTINCT "anon_individual") AS "anon_individuals",
    SUM("anon_weight") AS "anon_class_weight"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_individuals" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  0 AS node,
  COUNT(*) AS class_count,
  COUNT(*) FILTER(WHERE
    anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS certain_suppressed_rows
FROM "anon_classes_2" AS "anon_classes";

EXECUTE "anon_cells_counts_of_1_by_0" (398287092045578240);

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8935141660703064064 AS "anon_key_0",
    "anon_individual",
    "anon_row_count",
    "anon_weight"
  FROM "temp"."main"."anon_cells"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size",
    COUNT(DISTINCT "anon_individual") AS "anon_individuals",
    SUM("anon_weight") AS "anon_class_weight"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 6917529027641081856 AS "anon_bits_0_2_0",
    "anon_key_0" & 288230376151711744 AS "anon_bits_2_2_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_individuals",
    "anon_labelled"."anon_class_weight",
    (
      0.0e0 + CASE WHEN "anon_bits_0_2_0" <= 0 THEN 0.0e0 ELSE 0.3220338983050847e0 END + CASE WHEN "anon_bits_2_2_0" <= 0 THEN 0.0e0 ELSE 1.0e0 END
    ) / 3 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_individuals" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  0 AS node,
  COUNT(*) AS class_count,
  MIN(anon_class_size) AS min_class_size,
  COUNT(*) FILTER(WHERE
    anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS certain_suppressed_rows,
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm,
  (
    SUM(CAST("anon_class_size" AS INT128) * "anon_class_size")
  ) AS "dm_star",
  (
    SUM(
      CAST("anon_class_size" AS INT128) * CASE WHEN "anon_kept" THEN "anon_class_size" ELSE 12 END
    )
  ) AS "dm",
  (
    CAST(SUM("anon_class_size") AS DOUBLE) / (
      COUNT(*) FILTER(WHERE
        "anon_kept") + CAST(BOOL_OR(CAST(NOT "anon_kept" AS BOOLEAN)) AS INT)
    ) / 2
  ) AS "aecs"
FROM "anon_classes_2" AS "anon_classes";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 2125699024118874112 AS "anon_key_0",
    "anon_individual",
    "anon_row_count",
    "anon_weight"
  FROM "temp"."main"."anon_cells"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size",
    COUNT(DISTINCT "anon_individual") AS "anon_individuals",
    SUM("anon_weight") AS "anon_class_weight"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 396316767208603648 AS "anon_bits_2_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_individuals",
    "anon_labelled"."anon_class_weight",
    (
      1.0e0 + CASE
        WHEN "anon_bits_2_1_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_2_1_0" <= 324259173170675712
        THEN 0.2e0
        ELSE 0.4e0
      END
    ) / 3 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_individuals" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  0 AS node,
  COUNT(*) AS class_count,
  MIN(anon_class_size) AS min_class_size,
  COUNT(*) FILTER(WHERE
    anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS certain_suppressed_rows,
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm,
  (
    SUM(CAST("anon_class_size" AS INT128) * "anon_class_size")
  ) AS "dm_star",
  (
    SUM(
      CAST("anon_class_size" AS INT128) * CASE WHEN "anon_kept" THEN "anon_class_size" ELSE 12 END
    )
  ) AS "dm",
  (
    CAST(SUM("anon_class_size") AS DOUBLE) / (
      COUNT(*) FILTER(WHERE
        "anon_kept") + CAST(BOOL_OR(CAST(NOT "anon_kept" AS BOOLEAN)) AS INT)
    ) / 2
  ) AS "aecs"
FROM "anon_classes_2" AS "anon_classes";

CREATE TEMPORARY TABLE "temp"."main"."anon_kept" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 2125699024118874112 AS "anon_key_0",
    "anon_individual",
    "anon_row_count",
    "anon_weight"
  FROM "temp"."main"."anon_cells"
), "anon_classes" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size",
    COUNT(DISTINCT "anon_individual") AS "anon_individuals",
    SUM("anon_weight") AS "anon_class_weight"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_individuals" >= 2 AS "anon_kept"
  FROM "anon_classes"
), "anon_kept" AS (
  SELECT
    "anon_key_0"
  FROM "anon_judged"
  WHERE
    "anon_kept"
), "anon_labels_1" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_1_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_labels_2" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_2_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 1
)
SELECT
  "anon_labels_1"."anon_code_1_0",
  "anon_labels_2"."anon_code_2_1"
FROM "anon_kept"
LEFT JOIN "anon_labels_1"
  ON (
    "anon_kept"."anon_key_0" & 1729382256910270464
  ) = "anon_labels_1"."anon_key_0"
LEFT JOIN "anon_labels_2"
  ON (
    "anon_kept"."anon_key_0" & 396316767208603648
  ) = "anon_labels_2"."anon_key_0";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 2125699024118874112 AS "anon_key_0",
    "anon_individual",
    "anon_row_count",
    "anon_weight"
  FROM "temp"."main"."anon_cells"
), "anon_classes" AS (
  SELECT
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size",
    COUNT(DISTINCT "anon_individual") AS "anon_individuals",
    SUM("anon_weight") AS "anon_class_weight"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_individuals" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  MIN("anon_individuals") FILTER(WHERE
    "anon_kept") AS "attained_0"
FROM "anon_judged";

-- shared: create anon_label_type_0 2;

-- shared: create anon_label_type_1 1;

-- shared: create anon_label_type_2 1;

SELECT
  LIST_PRODUCT(
    [
      CAST((
        SELECT
          COUNT(*)
        FROM "temp"."main"."anon_kept"
      ) AS DOUBLE),
      CAST(APPROX_COUNT_DISTINCT(CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary") AS DOUBLE)
    ]
  ) AS "groups",
  COUNT(*) AS "source_rows"
FROM "memory"."main"."visits" AS anon_source;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_1" AS (
  SELECT
    "value",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_labels_2" AS (
  SELECT
    "value",
    CAST("label" AS anon_label_type_2) AS "anon_label_2"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 1
), "anon_rows" AS (
  SELECT
    "anon_labels_1"."anon_label_1",
    "anon_labels_2"."anon_label_2",
    CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    1 AS "anon_row_count"
  FROM "memory"."main"."visits" AS anon_source
  LEFT JOIN "anon_labels_1"
    ON "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."sex", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "anon_labels_2"
    ON "anon_labels_2"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."zip", NULL) AS TEXT) COLLATE "binary"
), "anon_labels_1_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_1_0",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_labels_2_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_2_1",
    CAST("label" AS anon_label_type_2) AS "anon_label_2"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 1
), "anon_kept" AS (
  SELECT
    TRUE AS "anon_is_kept",
    "anon_labels_1"."anon_label_1",
    "anon_labels_2"."anon_label_2"
  FROM "temp"."main"."anon_kept" AS anon_codes
  LEFT JOIN "anon_labels_1_2" AS "anon_labels_1"
    ON "anon_labels_1"."anon_code_1_0" = "anon_codes"."anon_code_1_0"
  LEFT JOIN "anon_labels_2_2" AS "anon_labels_2"
    ON "anon_labels_2"."anon_code_2_1" = "anon_codes"."anon_code_2_1"
), "anon_labels_0" AS (
  SELECT DISTINCT
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 3
), "anon_published" AS (
  SELECT
    "anon_rows"."diagnosis",
    "anon_rows"."anon_row_count",
    "anon_labels_0"."anon_label_0" AS "anon_label_0",
    "anon_rows"."anon_label_1" AS "anon_label_1",
    "anon_rows"."anon_label_2" AS "anon_label_2"
  FROM "anon_rows"
  JOIN "anon_kept"
    ON "anon_kept"."anon_label_1" IS NOT DISTINCT FROM "anon_rows"."anon_label_1"
    AND "anon_kept"."anon_label_2" IS NOT DISTINCT FROM "anon_rows"."anon_label_2"
  LEFT JOIN "anon_labels_0"
    ON TRUE
)
SELECT
  "anon_label_0",
  "anon_label_1",
  "anon_label_2",
  "diagnosis",
  "anon_row_count"
FROM "anon_published"
ORDER BY
  (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 3) AS BIGINT) << 61
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_2"), 4) AS BIGINT) << 58
  ) ASC,
  "diagnosis" ASC;

-- shared: create released 2;

-- shared: read anon_equal_rows 1;

-- shared: read anon_equal_rows 2;

CREATE TEMPORARY TABLE "temp"."main"."anon_few_rows" AS
WITH "anon_rows" AS (
  SELECT
    CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary" AS "anon_value_0",
    CAST(COALESCE("zip", NULL) AS TEXT) COLLATE "binary" AS "anon_value_2",
    "diagnosis" AS "anon_kept_0"
  FROM "memory"."main"."visits"
  LIMIT 5000
), "anon_labels_of_anon_finer_0" AS (
  SELECT
    "value",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 2
), "anon_labels_of_anon_finer_2" AS (
  SELECT
    "value",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 0
)
SELECT
  "anon_rows"."anon_value_0",
  "anon_rows"."anon_value_2",
  "anon_rows"."anon_kept_0",
  "anon_labels_of_anon_finer_0"."label" AS "anon_finer_0",
  "anon_labels_of_anon_finer_2"."label" AS "anon_finer_2"
FROM "anon_rows"
LEFT JOIN "anon_labels_of_anon_finer_0"
  ON "anon_labels_of_anon_finer_0"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_0"
LEFT JOIN "anon_labels_of_anon_finer_2"
  ON "anon_labels_of_anon_finer_2"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_2";

-- shared: read anon_few_rows 1;

-- shared: read anon_few_rows 2;

DROP TABLE IF EXISTS "temp"."main"."anon_few_rows";

WITH "anon_classes" AS (
  SELECT
    (
      MIN("diagnosis") IS NOT DISTINCT FROM MAX("diagnosis")
      AND COUNT("diagnosis") IN (0, COUNT(*))
    ) AS "anon_is_homogeneous_0",
    SUM(anon_row_count) AS anon_class_rows
  FROM "temp"."main"."anon_equal_rows"
  GROUP BY
    "anon_label_0",
    "anon_label_1",
    "anon_label_2"
)
SELECT
  COALESCE(SUM("anon_class_rows") FILTER(WHERE
    "anon_is_homogeneous_0"), 0) AS "homogeneous_0",
  COALESCE(SUM(anon_class_rows), 0) AS rows
FROM "anon_classes";

CREATE TEMPORARY TABLE "temp"."main"."anon_judged_cells" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 2125699024118874112 AS "anon_key_0",
    "anon_individual",
    "anon_row_count",
    "anon_weight"
  FROM "temp"."main"."anon_cells"
), "anon_classes" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size",
    COUNT(DISTINCT "anon_individual") AS "anon_individuals",
    SUM("anon_weight") AS "anon_class_weight"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_individuals" >= 2 AS "anon_kept"
  FROM "anon_classes"
), "anon_kept" AS (
  SELECT
    "anon_key_0",
    TRUE AS "anon_is_kept"
  FROM "anon_judged"
  WHERE
    "anon_kept"
)
SELECT
  "anon_cells"."anon_key_0",
  "anon_cells"."anon_row_count",
  CASE WHEN "anon_kept"."anon_is_kept" THEN 0 ELSE "anon_cells"."anon_row_count" END AS "anon_suppressed_rows"
FROM "temp"."main"."anon_cells" AS "anon_cells"
LEFT JOIN "anon_kept"
  ON (
    "anon_cells"."anon_key_0" & 2125699024118874112
  ) = "anon_kept"."anon_key_0";

-- shared: read anon_judged_cells 1;

DROP TABLE IF EXISTS "temp"."main"."anon_judged_cells";

-- shared: read anon_cells 4;

-- shared: read anon_labels 2;

SELECT
  "anon_key_0",
  "anon_weight",
  "anon_row_count",
  DENSE_RANK() OVER (ORDER BY "anon_individual" ASC) AS "anon_individual"
FROM "temp"."main"."anon_cells" AS anon_cells;

-- shared: read taxonomy 1;

-- shared: read released 2;

WITH "anon_measured" AS (
  SELECT
    MIN(anon_individuals) AS k,
    COUNT(*) AS class_count,
    CAST(COALESCE(SUM(anon_rows), 0) AS BIGINT) AS row_count
  FROM (
    SELECT
      (
        GREATEST(COUNT(DISTINCT sensitive_value), 1)
      ) AS anon_individuals,
      SUM(row_count) AS anon_rows
    FROM LATERAL (
      SELECT
        ROW("age", "sex", "zip") AS class,
        "patient" AS sensitive_value,
        COUNT(*) AS row_count
      FROM (
        SELECT DISTINCT
          "age",
          "sex",
          "zip",
          "patient"
        FROM (
          SELECT
            CAST(COALESCE("anon_label_0", NULL) AS TEXT) AS "age",
            CAST(COALESCE("anon_label_1", NULL) AS TEXT) AS "sex",
            CAST(COALESCE("anon_label_2", NULL) AS TEXT) AS "zip",
            DECODE(ENCODE("diagnosis")) AS "diagnosis",
            "patient"
          FROM (
            SELECT
              "anon_rows"."diagnosis",
              "anon_rows"."patient",
              "anon_labels_0"."anon_label_0" AS "anon_label_0",
              "anon_rows"."anon_label_1" AS "anon_label_1",
              "anon_rows"."anon_label_2" AS "anon_label_2"
            FROM (
              SELECT
                "anon_labels_1"."anon_label_1",
                "anon_labels_2"."anon_label_2",
                CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
                1 AS "anon_row_count",
                "anon_source"."patient"
              FROM "memory"."main"."visits" AS anon_source
              LEFT JOIN (
                SELECT
                  "value",
                  CAST("label" AS anon_label_type_1) AS "anon_label_1"
                FROM "temp"."main"."anon_labels"
                WHERE
                  "position" = 1 AND "depth" = 0
              ) AS "anon_labels_1"
                ON "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."sex", NULL) AS TEXT) COLLATE "binary"
              LEFT JOIN (
                SELECT
                  "value",
                  CAST("label" AS anon_label_type_2) AS "anon_label_2"
                FROM "temp"."main"."anon_labels"
                WHERE
                  "position" = 2 AND "depth" = 1
              ) AS "anon_labels_2"
                ON "anon_labels_2"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."zip", NULL) AS TEXT) COLLATE "binary"
            ) AS "anon_rows"
            JOIN (
              SELECT
                TRUE AS "anon_is_kept",
                "anon_labels_1"."anon_label_1",
                "anon_labels_2"."anon_label_2"
              FROM "temp"."main"."anon_kept" AS anon_codes
              LEFT JOIN (
                SELECT DISTINCT
                  "code" AS "anon_code_1_0",
                  CAST("label" AS anon_label_type_1) AS "anon_label_1"
                FROM "temp"."main"."anon_labels"
                WHERE
                  "position" = 1 AND "depth" = 0
              ) AS "anon_labels_1"
                ON "anon_labels_1"."anon_code_1_0" = "anon_codes"."anon_code_1_0"
              LEFT JOIN (
                SELECT DISTINCT
                  "code" AS "anon_code_2_1",
                  CAST("label" AS anon_label_type_2) AS "anon_label_2"
                FROM "temp"."main"."anon_labels"
                WHERE
                  "position" = 2 AND "depth" = 1
              ) AS "anon_labels_2"
                ON "anon_labels_2"."anon_code_2_1" = "anon_codes"."anon_code_2_1"
            ) AS "anon_kept"
              ON "anon_kept"."anon_label_1" IS NOT DISTINCT FROM "anon_rows"."anon_label_1"
              AND "anon_kept"."anon_label_2" IS NOT DISTINCT FROM "anon_rows"."anon_label_2"
            LEFT JOIN (
              SELECT DISTINCT
                CAST("label" AS anon_label_type_0) AS "anon_label_0"
              FROM "temp"."main"."anon_labels"
              WHERE
                "position" = 0 AND "depth" = 3
            ) AS "anon_labels_0"
              ON TRUE
          ) AS "anon_published"
        ) AS "anon_individuals"
      ) AS "anon_once"
      GROUP BY ALL
    ) AS anon_value_counts
    GROUP BY
      class
  )
)
SELECT
  "k" AS "attained"
FROM "anon_measured";

-- shared: read released 1;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_2";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

COMMIT;

DEALLOCATE "anon_cells_counts_of_1_by_0";

DEALLOCATE "anon_cells_counts_of_any_by_0";

