-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 1175 rows; the SHA-256 of them is c8ce01615ba5da16e69932cde8168159e2d5cff5df5ab1488592c56112b1c482.

-- shared: read taxonomy 1;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 7;

-- shared: read taxonomy 8;

-- shared: read taxonomy 9;

SET explain_output = 'all';

EXPLAIN (FORMAT JSON) SELECT * FROM (SELECT * FROM visits WHERE NOT diagnosis IS NULL);

SET explain_output = 'PHYSICAL_ONLY';

BEGIN;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 7;

-- shared: create anon_coded_labels 2;

-- shared: read anon_coded_labels 1;

-- shared: create anon_labels 3;

DROP TABLE IF EXISTS "temp"."main"."anon_coded_labels";

-- shared: read anon_labels 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_cells" AS
WITH "anon_rows" AS MATERIALIZED (
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
      NOT diagnosis IS NULL
  )
  GROUP BY
    "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary",
    CAST(COALESCE("diagnosis", NULL) AS TEXT) COLLATE "binary"
), "anon_values" AS (
  SELECT DISTINCT
    "diagnosis"
  FROM "anon_rows"
), "anon_sensitive_0_ranks" AS MATERIALIZED (
  SELECT
    "diagnosis",
    CAST(DENSE_RANK() OVER (ORDER BY "diagnosis" ASC) AS UINTEGER) AS "anon_sensitive_0"
  FROM "anon_values"
)
SELECT
  "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" AS "anon_key_0",
  "anon_labels_0"."code" IS NULL OR "anon_labels_1"."code" IS NULL AS "anon_is_unmapped",
  "anon_sensitive_0_ranks"."anon_sensitive_0",
  "anon_rows"."diagnosis" AS "anon_raw_0",
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
JOIN "anon_sensitive_0_ranks"
  ON "anon_sensitive_0_ranks"."diagnosis" IS NOT DISTINCT FROM "anon_rows"."diagnosis"
ORDER BY
  "anon_key_0" ASC;

-- shared: read anon_cells 1;

-- shared: read anon_cells 7;

SELECT
  COALESCE(SUM(anon_row_count), 0) AS rows
FROM "temp"."main"."anon_cells"
WHERE
  "anon_raw_0" IS NULL;

CREATE TEMPORARY TABLE "temp"."main"."anon_profiles" AS
WITH "anon_whole" AS (
  SELECT
    position,
    depth,
    "anon_key_0",
    ARRAY_AGG(lm) OVER (
      PARTITION BY position, value
      ORDER BY depth ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS anon_losses
  FROM "temp"."main"."anon_labels"
), "anon_labels_of_level" AS (
  SELECT DISTINCT
    position,
    "anon_key_0",
    anon_losses
  FROM "anon_whole"
  WHERE
    depth = 1
)
SELECT
  *,
  DENSE_RANK() OVER (PARTITION BY position ORDER BY anon_losses ASC) AS anon_profile
FROM "anon_labels_of_level";

SELECT DISTINCT
  position,
  anon_profile,
  anon_losses
FROM "temp"."main"."anon_profiles";

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 7421932185906577408 AS "anon_key_0"
  FROM "temp"."main"."anon_cells"
), "anon_classes" AS (
  SELECT
    "anon_key_0"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_profiles_0" AS (
  SELECT
    "anon_key_0",
    "anon_profile"
  FROM "temp"."main"."anon_profiles"
  WHERE
    "position" = 0
)
SELECT DISTINCT
  "anon_profiles_0"."anon_profile" AS "profile_0"
FROM "anon_classes"
JOIN "anon_profiles_0"
  ON (
    "anon_classes"."anon_key_0" & 7421932185906577408
  ) = "anon_profiles_0"."anon_key_0";

DROP TABLE IF EXISTS "temp"."main"."anon_profiles";

WITH "anon_keyed" AS (
  SELECT
    0 AS "position",
    "anon_key_0" & 7484982580689764352 AS "anon_key_0",
    SUM("anon_row_count") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 7484982580689764352
  HAVING
    COUNT(*) > 0
  UNION ALL
  SELECT
    1 AS "position",
    "anon_key_0" & 1729382256910270464 AS "anon_key_0",
    SUM("anon_row_count") AS "anon_value_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_key_0" & 1729382256910270464
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
)
SELECT
  anon_levels.position,
  anon_levels.depth,
  SUM(
    anon_levels.anon_value_rows * (
      1 - (
        2 * 1 - 1 * 1
      ) / (
        1 + anon_levels.anon_lm * (
          anon_domains.domain_size - 1
        )
      )
    )
  ) / SUM(anon_levels.anon_value_rows) AS error
FROM "anon_levels"
INNER JOIN (VALUES
  (0, 100),
  (1, 2)) AS anon_domains("position", "domain_size")
  ON anon_domains.position = anon_levels.position
GROUP BY
  anon_levels.position,
  anon_levels.depth;

PREPARE "anon_cells_counts_of_1_by_0" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & CAST($1 AS BIGINT) AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_classes" AS (
  SELECT
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AS "anon_kept"
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

EXECUTE "anon_cells_counts_of_1_by_0" (9214364837600034816);

CREATE TEMPORARY TABLE "temp"."main"."anon_known_values" AS
SELECT
  "anon_sensitive_0",
  ANY_VALUE("anon_raw_0") AS "anon_raw_0",
  CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
FROM "temp"."main"."anon_cells"
GROUP BY
  "anon_sensitive_0";

CREATE TEMPORARY TABLE "temp"."main"."anon_lacking" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 9214364837600034816 AS "anon_key_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_sizes" AS (
  SELECT
    "anon_key_0",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_class_size
  FROM "anon_cells"
  GROUP BY
    "anon_key_0"
), "anon_classes" AS (
  SELECT
    *,
    (
      GREATEST(5 - anon_class_size, 0)
    ) AS anon_missing
  FROM "anon_sizes"
)
SELECT
  *,
  CAST((
    SUM(anon_missing) OVER (ORDER BY "anon_key_0" ASC) - anon_missing
  ) AS BIGINT) AS anon_missing_before
FROM "anon_classes"
WHERE
  anon_missing > 0;

CREATE TEMPORARY TABLE "temp"."main"."anon_class_values" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 9214364837600034816 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
)
SELECT
  "anon_key_0",
  "anon_sensitive_0",
  CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
FROM "anon_cells"
GROUP BY
  "anon_key_0",
  "anon_sensitive_0";

CREATE TEMPORARY TABLE "temp"."main"."anon_label_values" AS
WITH "anon_class_values" AS (
  SELECT
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_class_values"
  CROSS JOIN (VALUES
    (0, 7484982580689764352),
    (1, 1729382256910270464)) AS "anon_nodes"("anon_node", "anon_mask_0")
)
SELECT
  "anon_node",
  "anon_key_0",
  "anon_sensitive_0",
  CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
FROM "anon_class_values"
GROUP BY
  "anon_node",
  "anon_key_0",
  "anon_sensitive_0";

WITH "anon_labels_of_node" AS (
  SELECT
    anon_node,
    "anon_key_0",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_class_size,
    LN(
      (
        EXP(
          LN(SUM(anon_row_count)) - SUM(anon_row_count * LN(anon_row_count)) / SUM(anon_row_count)
        )
      )
    ) AS entropy
  FROM "temp"."main"."anon_label_values"
  GROUP BY
    anon_node,
    "anon_key_0"
)
SELECT
  anon_node AS node,
  FSUM(anon_class_size * entropy) / SUM(anon_class_size) AS entropy
FROM "anon_labels_of_node"
GROUP BY
  anon_node;

CREATE TEMPORARY TABLE "temp"."main"."anon_ancestor_values" AS
WITH "anon_class_values" AS (
  SELECT
    "anon_key_0" & "anon_nodes"."anon_mask_0" AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count",
    "anon_nodes"."anon_node"
  FROM "temp"."main"."anon_class_values"
  CROSS JOIN (VALUES
    (0, 0),
    (1, 6917529027641081856),
    (2, 7205759403792793600),
    (3, 7349874591868649472),
    (4, 7421932185906577408),
    (5, 7484982580689764352)) AS "anon_nodes"("anon_node", "anon_mask_0")
)
SELECT
  "anon_node",
  "anon_key_0",
  "anon_sensitive_0",
  CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
FROM "anon_class_values"
GROUP BY
  "anon_node",
  "anon_key_0",
  "anon_sensitive_0";

CREATE TEMPORARY TABLE "temp"."main"."anon_urns" AS
WITH "anon_above_0" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 0
  GROUP BY
    "anon_key_0"
), "anon_above_1" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 1
  GROUP BY
    "anon_key_0"
), "anon_above_2" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 2
  GROUP BY
    "anon_key_0"
), "anon_above_3" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 3
  GROUP BY
    "anon_key_0"
), "anon_above_4" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 4
  GROUP BY
    "anon_key_0"
), "anon_above_5" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 5
  GROUP BY
    "anon_key_0"
), "anon_classes" AS (
  SELECT
    "anon_lacking"."anon_key_0",
    "anon_lacking"."anon_class_size",
    "anon_lacking"."anon_missing",
    "anon_lacking"."anon_class_size" AS "anon_own_rows",
    "anon_above_0"."anon_row_count" AS "anon_above_0",
    "anon_above_1"."anon_row_count" AS "anon_above_1",
    "anon_above_2"."anon_row_count" AS "anon_above_2",
    "anon_above_3"."anon_row_count" AS "anon_above_3",
    "anon_above_4"."anon_row_count" AS "anon_above_4",
    "anon_above_5"."anon_row_count" AS "anon_above_5"
  FROM "temp"."main"."anon_lacking" AS anon_lacking
  LEFT JOIN "anon_above_0"
    ON (
      "anon_lacking"."anon_key_0" & 0
    ) = "anon_above_0"."anon_key_0"
  LEFT JOIN "anon_above_1"
    ON (
      "anon_lacking"."anon_key_0" & 6917529027641081856
    ) = "anon_above_1"."anon_key_0"
  LEFT JOIN "anon_above_2"
    ON (
      "anon_lacking"."anon_key_0" & 7205759403792793600
    ) = "anon_above_2"."anon_key_0"
  LEFT JOIN "anon_above_3"
    ON (
      "anon_lacking"."anon_key_0" & 7349874591868649472
    ) = "anon_above_3"."anon_key_0"
  LEFT JOIN "anon_above_4"
    ON (
      "anon_lacking"."anon_key_0" & 7421932185906577408
    ) = "anon_above_4"."anon_key_0"
  LEFT JOIN "anon_above_5"
    ON (
      "anon_lacking"."anon_key_0" & 7484982580689764352
    ) = "anon_above_5"."anon_key_0"
)
SELECT
  *,
  CAST((
    SUM(anon_missing) OVER (ORDER BY anon_own_rows ASC, anon_missing ASC, "anon_key_0" ASC) - anon_missing
  ) AS BIGINT) AS anon_missing_before
FROM "anon_classes";

CREATE TEMPORARY TABLE "temp"."main"."anon_chances" AS
WITH "anon_label_0" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_label_values"
  WHERE
    "anon_node" = 0
), "anon_label_1" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_label_values"
  WHERE
    "anon_node" = 1
), "anon_above_0" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 0
), "anon_above_1" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 1
), "anon_above_2" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 2
), "anon_above_3" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 3
), "anon_above_4" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 4
), "anon_above_5" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_ancestor_values"
  WHERE
    "anon_node" = 5
), "anon_expected" AS (
  SELECT
    "anon_urns"."anon_key_0",
    "anon_known"."anon_sensitive_0",
    (
      (
        (
          COALESCE("anon_above_5"."anon_row_count", 0) - COALESCE("anon_own"."anon_row_count", 0)
        ) + 10 * (
          (
            (
              COALESCE("anon_above_4"."anon_row_count", 0) - COALESCE("anon_own"."anon_row_count", 0)
            ) + 10 * (
              (
                (
                  COALESCE("anon_above_3"."anon_row_count", 0) - COALESCE("anon_own"."anon_row_count", 0)
                ) + 10 * (
                  (
                    (
                      COALESCE("anon_above_2"."anon_row_count", 0) - COALESCE("anon_own"."anon_row_count", 0)
                    ) + 10 * (
                      (
                        (
                          COALESCE("anon_above_1"."anon_row_count", 0) - COALESCE("anon_own"."anon_row_count", 0)
                        ) + 10 * (
                          (
                            (
                              COALESCE("anon_above_0"."anon_row_count", 0) - COALESCE("anon_own"."anon_row_count", 0)
                            ) + 10 * (
                              1 / (
                                (
                                  SELECT
                                    COUNT(*)
                                  FROM "temp"."main"."anon_known_values"
                                )
                              )
                            )
                          ) / (
                            (
                              "anon_urns"."anon_above_0" - "anon_urns"."anon_class_size"
                            ) + 10
                          )
                        )
                      ) / (
                        (
                          "anon_urns"."anon_above_1" - "anon_urns"."anon_class_size"
                        ) + 10
                      )
                    )
                  ) / (
                    (
                      "anon_urns"."anon_above_2" - "anon_urns"."anon_class_size"
                    ) + 10
                  )
                )
              ) / (
                (
                  "anon_urns"."anon_above_3" - "anon_urns"."anon_class_size"
                ) + 10
              )
            )
          ) / (
            (
              "anon_urns"."anon_above_4" - "anon_urns"."anon_class_size"
            ) + 10
          )
        )
      ) / (
        (
          "anon_urns"."anon_above_5" - "anon_urns"."anon_class_size"
        ) + 10
      )
    ) AS "anon_chance"
  FROM "temp"."main"."anon_urns" AS anon_urns
  CROSS JOIN "temp"."main"."anon_known_values" AS anon_known
  JOIN "anon_label_0"
    ON (
      "anon_urns"."anon_key_0" & 7484982580689764352
    ) = "anon_label_0"."anon_key_0"
    AND "anon_label_0"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  JOIN "anon_label_1"
    ON (
      "anon_urns"."anon_key_0" & 1729382256910270464
    ) = "anon_label_1"."anon_key_0"
    AND "anon_label_1"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "anon_above_0"
    ON (
      "anon_urns"."anon_key_0" & 0
    ) = "anon_above_0"."anon_key_0"
    AND "anon_above_0"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "anon_above_1"
    ON (
      "anon_urns"."anon_key_0" & 6917529027641081856
    ) = "anon_above_1"."anon_key_0"
    AND "anon_above_1"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "anon_above_2"
    ON (
      "anon_urns"."anon_key_0" & 7205759403792793600
    ) = "anon_above_2"."anon_key_0"
    AND "anon_above_2"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "anon_above_3"
    ON (
      "anon_urns"."anon_key_0" & 7349874591868649472
    ) = "anon_above_3"."anon_key_0"
    AND "anon_above_3"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "anon_above_4"
    ON (
      "anon_urns"."anon_key_0" & 7421932185906577408
    ) = "anon_above_4"."anon_key_0"
    AND "anon_above_4"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "anon_above_5"
    ON (
      "anon_urns"."anon_key_0" & 7484982580689764352
    ) = "anon_above_5"."anon_key_0"
    AND "anon_above_5"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
  LEFT JOIN "temp"."main"."anon_class_values" AS anon_own
    ON "anon_own"."anon_key_0" = "anon_urns"."anon_key_0"
    AND "anon_own"."anon_sensitive_0" = "anon_known"."anon_sensitive_0"
)
SELECT
  "anon_key_0",
  "anon_sensitive_0",
  CAST(ROUND(
    anon_chance / MAX(anon_chance) OVER (PARTITION BY "anon_key_0") * 4503599627370496
  ) AS BIGINT) AS anon_chance
FROM "anon_expected";

CREATE TEMPORARY TABLE "temp"."main"."anon_urn_bounds" AS
WITH "anon_copied" AS (
  SELECT
    "anon_urns"."anon_key_0",
    "anon_own"."anon_sensitive_0",
    anon_own.anon_row_count
  FROM "temp"."main"."anon_urns" AS anon_urns
  INNER JOIN "temp"."main"."anon_class_values" AS anon_own
    ON "anon_own"."anon_key_0" = "anon_urns"."anon_key_0"
  WHERE
    TRUE
)
SELECT
  "anon_key_0",
  "anon_sensitive_0",
  CAST((
    SUM(anon_row_count) OVER (PARTITION BY "anon_key_0" ORDER BY "anon_sensitive_0" ASC) - anon_row_count
  ) AS DOUBLE) AS anon_low
FROM "anon_copied"
UNION ALL
SELECT
  "anon_key_0",
  "anon_sensitive_0",
  CAST((
    SUM(anon_chance) OVER (PARTITION BY "anon_key_0" ORDER BY "anon_sensitive_0" ASC) - anon_chance
  ) AS DOUBLE) / SUM(anon_chance) OVER (PARTITION BY "anon_key_0") - 1 AS anon_low
FROM "temp"."main"."anon_chances"
WHERE
  anon_chance > 0;

SELECT
  COUNT(*) AS classes,
  COALESCE(CAST(SUM(anon_missing) AS BIGINT), 0) AS missing,
  MIN(anon_class_size) AS smallest
FROM "temp"."main"."anon_lacking";

SELECT
  anon_own_rows AS own,
  anon_missing AS missing,
  COUNT(*) AS classes
FROM "temp"."main"."anon_urns"
GROUP BY
  anon_own_rows,
  anon_missing
ORDER BY
  own ASC,
  missing ASC;

CREATE TEMPORARY TABLE "anon_drawn_values_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "anon_place",
  CAST(v1 AS DOUBLE) AS "anon_drawn_value"
FROM (VALUES
  (0, -0.5),
  (1, -0.5),
  (2, -0.5),
  (3, -0.5),
  (4, -0.5),
  (5, -0.5),
  (6, -0.5),
  (7, -0.5),
  (8, -0.5),
  (9, -0.5),
  (10, -0.5),
  (11, -0.5),
  (12, -0.5),
  (13, -0.5),
  (14, -0.5),
  (15, -0.5),
  (16, -0.5),
  (17, -0.5),
  (18, -0.5),
  (19, -0.5),
  (20, -0.5),
  (21, -0.5),
  (22, -0.5),
  (23, -0.5),
  (24, -0.5),
  (25, -0.5),
  (26, -0.5),
  (27, -0.5),
  (28, -0.5),
  (29, -0.5),
  (30, -0.5),
  (31, -0.5),
  (32, -0.5),
  (33, -0.5),
  (34, -0.5),
  (35, -0.5),
  (36, -0.5),
  (37, -0.5),
  (38, -0.5),
  (39, -0.5),
  (40, -0.5),
  (41, -0.5),
  (42, -0.5),
  (43, -0.5),
  (44, -0.5),
  (45, -0.5),
  (46, -0.5),
  (47, -0.5),
  (48, -0.5),
  (49, -0.5),
  (50, -0.5),
  (51, -0.5),
  (52, -0.5),
  (53, -0.5),
  (54, -0.5),
  (55, -0.5),
  (56, -0.5),
  (57, -0.5),
  (58, -0.5),
  (59, -0.5),
  (60, -0.5),
  (61, -0.5),
  (62, -0.5),
  (63, -0.5),
  (64, -0.5),
  (65, -0.5),
  (66, -0.5),
  (67, -0.5),
  (68, -0.5),
  (69, -0.5),
  (70, -0.5),
  (71, -0.5),
  (72, -0.5),
  (73, -0.5),
  (74, -0.5),
  (75, -0.5),
  (76, -0.5),
  (77, -0.5),
  (78, -0.5),
  (79, -0.5),
  (80, -0.5),
  (81, -0.5),
  (82, -0.5),
  (83, -0.5),
  (84, -0.5),
  (85, -0.5),
  (86, -0.5),
  (87, -0.5),
  (88, -0.5),
  (89, -0.5),
  (90, -0.5),
  (91, -0.5),
  (92, -0.5),
  (93, -0.5),
  (94, -0.5),
  (95, -0.5),
  (96, -0.5),
  (97, -0.5),
  (98, -0.5),
  (99, -0.5),
  (100, -0.5),
  (101, -0.5),
  (102, -0.5),
  (103, -0.5),
  (104, -0.5),
  (105, -0.5),
  (106, -0.5),
  (107, -0.5),
  (108, -0.5),
  (109, -0.5),
  (110, -0.5),
  (111, -0.5),
  (112, -0.5),
  (113, -0.5),
  (114, -0.5),
  (115, -0.5),
  (116, -0.5),
  (117, -0.5),
  (118, -0.5),
  (119, -0.5),
  (120, -0.5),
  (121, -0.5),
  (122, -0.5),
  (123, -0.5),
  (124, -0.5),
  (125, -0.5),
  (126, -0.5),
  (127, -0.5),
  (128, -0.5),
  (129, -0.5),
  (130, -0.5),
  (131, -0.5),
  (132, -0.5),
  (133, -0.5),
  (134, -0.5),
  (135, -0.5),
  (136, -0.5),
  (137, -0.5),
  (138, -0.5),
  (139, -0.5),
  (140, -0.5),
  (141, -0.5),
  (142, -0.5),
  (143, -0.5),
  (144, -0.5),
  (145, -0.5),
  (146, -0.5),
  (147, -0.5),
  (148, -0.5),
  (149, -0.5),
  (150, -0.5),
  (151, -0.5),
  (152, -0.5),
  (153, -0.5),
  (154, -0.5),
  (155, -0.5),
  (156, -0.5),
  (157, -0.5),
  (158, -0.5),
  (159, -0.5),
  (160, -0.5),
  (161, -0.5),
  (162, -0.5),
  (163, -0.5),
  (164, -0.5),
  (165, -0.5),
  (166, -0.5),
  (167, -0.5),
  (168, -0.5),
  (169, -0.5),
  (170, -0.5),
  (171, -0.5),
  (172, -0.5),
  (173, -0.5),
  (174, -0.5),
  (175, -0.5),
  (176, -0.5),
  (177, -0.5),
  (178, -0.5),
  (179, -0.5),
  (180, -0.5),
  (181, -0.5),
  (182, -0.5),
  (183, -0.5),
  (184, -0.5)) AS given(v0, v1);

CREATE TEMPORARY TABLE "temp"."main"."anon_drawn_values" AS
SELECT
  *
FROM "anon_drawn_values_values";

DROP TABLE "anon_drawn_values_values";

CREATE TEMPORARY TABLE "temp"."main"."anon_counterfeits" AS
WITH "anon_missing_rows" AS (
  SELECT
    "anon_key_0",
    UNNEST(RANGE(anon_missing_before, anon_missing_before + anon_missing)) AS anon_place
  FROM "temp"."main"."anon_urns"
), "anon_places" AS (
  SELECT
    "anon_missing_rows"."anon_key_0",
    anon_drawn.anon_drawn_value
  FROM "anon_missing_rows"
  INNER JOIN "temp"."main"."anon_drawn_values" AS anon_drawn
    ON anon_drawn.anon_place = anon_missing_rows.anon_place
)
SELECT
  "anon_places"."anon_key_0",
  "anon_bounds"."anon_sensitive_0",
  CAST(COUNT(*) AS BIGINT) AS anon_row_count
FROM "anon_places"
ASOF JOIN "temp"."main"."anon_urn_bounds" AS anon_bounds
  ON "anon_places"."anon_key_0" = "anon_bounds"."anon_key_0"
  AND anon_places.anon_drawn_value >= anon_bounds.anon_low
GROUP BY
  "anon_places"."anon_key_0",
  "anon_bounds"."anon_sensitive_0";

CREATE TEMPORARY TABLE "temp"."main"."anon_filled_cells" AS
WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 9214364837600034816 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_rows" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    anon_row_count
  FROM "anon_cells"
  UNION ALL
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    anon_row_count
  FROM "temp"."main"."anon_counterfeits"
), "anon_counts" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
  FROM "anon_rows"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
)
SELECT
  "anon_counts"."anon_key_0",
  "anon_sensitive_0",
  "anon_raw_0",
  FALSE AS anon_is_unmapped,
  anon_counts.anon_row_count
FROM "anon_counts"
INNER JOIN "temp"."main"."anon_known_values" AS anon_known
  USING ("anon_sensitive_0");

CREATE TEMPORARY TABLE "temp"."main"."anon_kept" AS
WITH "anon_filled_cells" AS (
  SELECT
    "anon_key_0" & 9214364837600034816 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_filled_cells"
), "anon_classes" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_filled_cells"
  GROUP BY
    "anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AS "anon_kept"
  FROM "anon_classes"
), "anon_kept" AS (
  SELECT
    "anon_key_0"
  FROM "anon_judged"
  WHERE
    "anon_kept"
), "anon_labels_0" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_0_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 0
), "anon_labels_1" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_1_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
)
SELECT
  "anon_labels_0"."anon_code_0_0",
  "anon_labels_1"."anon_code_1_0"
FROM "anon_kept"
LEFT JOIN "anon_labels_0"
  ON (
    "anon_kept"."anon_key_0" & 7484982580689764352
  ) = "anon_labels_0"."anon_key_0"
LEFT JOIN "anon_labels_1"
  ON (
    "anon_kept"."anon_key_0" & 1729382256910270464
  ) = "anon_labels_1"."anon_key_0";

WITH "anon_filled_cells" AS (
  SELECT
    "anon_key_0" & 9214364837600034816 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_row_count"
  FROM "temp"."main"."anon_filled_cells"
), "anon_classes" AS (
  SELECT
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_filled_cells"
  GROUP BY
    "anon_key_0"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  MIN("anon_class_size") FILTER(WHERE
    "anon_kept") AS "attained_0"
FROM "anon_judged";

CREATE TEMPORARY TYPE "anon_label_type_0" AS ENUM(
SELECT
  "label"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 0 AND "depth" = 0 AND NOT "label" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

-- shared: create anon_label_type_1 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_0" AS (
  SELECT DISTINCT
    "anon_key_0",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 0
), "anon_labels_1" AS (
  SELECT DISTINCT
    "anon_key_0",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_labelled_rows" AS (
  SELECT
    "anon_cells"."anon_row_count",
    "anon_labels_0"."anon_label_0",
    "anon_labels_1"."anon_label_1",
    CAST(COALESCE("anon_cells"."anon_raw_0", NULL) AS TEXT) COLLATE "binary" AS "diagnosis"
  FROM "temp"."main"."anon_filled_cells" AS anon_cells
  LEFT JOIN "anon_labels_0"
    ON (
      "anon_cells"."anon_key_0" & 7484982580689764352
    ) = "anon_labels_0"."anon_key_0"
  LEFT JOIN "anon_labels_1"
    ON (
      "anon_cells"."anon_key_0" & 1729382256910270464
    ) = "anon_labels_1"."anon_key_0"
), "anon_rows" AS (
  SELECT
    "anon_label_0",
    "anon_label_1",
    "diagnosis",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "anon_labelled_rows"
  GROUP BY
    "anon_label_0",
    "anon_label_1",
    "diagnosis"
), "anon_labels_0_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_0_0",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 0
), "anon_labels_1_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_1_0",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_kept" AS (
  SELECT
    TRUE AS "anon_is_kept",
    "anon_labels_0"."anon_label_0",
    "anon_labels_1"."anon_label_1"
  FROM "temp"."main"."anon_kept" AS anon_codes
  LEFT JOIN "anon_labels_0_2" AS "anon_labels_0"
    ON "anon_labels_0"."anon_code_0_0" = "anon_codes"."anon_code_0_0"
  LEFT JOIN "anon_labels_1_2" AS "anon_labels_1"
    ON "anon_labels_1"."anon_code_1_0" = "anon_codes"."anon_code_1_0"
), "anon_published" AS (
  SELECT
    "anon_rows"."diagnosis",
    "anon_rows"."anon_row_count",
    "anon_rows"."anon_label_0" AS "anon_label_0",
    "anon_rows"."anon_label_1" AS "anon_label_1"
  FROM "anon_rows"
  JOIN "anon_kept"
    ON "anon_kept"."anon_label_0" IS NOT DISTINCT FROM "anon_rows"."anon_label_0"
    AND "anon_kept"."anon_label_1" IS NOT DISTINCT FROM "anon_rows"."anon_label_1"
)
SELECT
  "anon_label_0",
  "anon_label_1",
  "diagnosis",
  "anon_row_count"
FROM "anon_published"
ORDER BY
  (
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 101) AS BIGINT) << 56
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 3) AS BIGINT) << 54
  ) ASC,
  "diagnosis" ASC;

-- shared: create released 3;

-- shared: read anon_equal_rows 1;

SELECT
  COUNT(*) AS "source_rows",
  COUNT("patient_id") AS "filled_0",
  COUNT("patient_id") AS "rows_0",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("patient_id")), 0) AS "values_0",
  COUNT("ssn") AS "filled_1",
  COUNT("ssn") AS "rows_1",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("ssn")), 0) AS "values_1",
  COUNT("zip") AS "filled_2",
  COUNT("zip") AS "rows_2",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("zip")), 0) AS "values_2",
  COUNT("admission") AS "filled_3",
  COUNT("admission") AS "rows_3",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("admission")), 0) AS "values_3",
  COUNT("length_of_stay") AS "filled_4",
  COUNT("length_of_stay") AS "rows_4",
  COALESCE(LIST_UNIQUE(ARRAY_AGG("length_of_stay")), 0) AS "values_4"
FROM (
  SELECT
    *
  FROM visits
  WHERE
    NOT diagnosis IS NULL
);

-- shared: read anon_equal_rows 3;

-- shared: read taxonomy 1;

-- shared: read released 4;

-- shared: read released 1;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_filled_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_counterfeits";

DROP TABLE IF EXISTS "temp"."main"."anon_drawn_values";

DROP TABLE IF EXISTS "temp"."main"."anon_urn_bounds";

DROP TABLE IF EXISTS "temp"."main"."anon_chances";

DROP TABLE IF EXISTS "temp"."main"."anon_urns";

DROP TABLE IF EXISTS "temp"."main"."anon_ancestor_values";

DROP TABLE IF EXISTS "temp"."main"."anon_label_values";

DROP TABLE IF EXISTS "temp"."main"."anon_class_values";

DROP TABLE IF EXISTS "temp"."main"."anon_lacking";

DROP TABLE IF EXISTS "temp"."main"."anon_known_values";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

COMMIT;

DEALLOCATE "anon_cells_counts_of_1_by_0";

