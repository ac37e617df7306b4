-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 533 rows; the SHA-256 of them is 00be6dc859642539cfc15d3ef999f5fbbfa5b070a592a76a2038bf18ac1f9fa2.

-- shared: read earlier_release 1;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 7;

-- shared: read taxonomy 1;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 7;

-- shared: read taxonomy 8;

-- shared: read taxonomy 9;

-- shared: read taxonomy 1;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 7;

-- shared: read releases 1;

BEGIN;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 7;

-- shared: read visits 3;

-- shared: create anon_coded_labels 2;

-- shared: read anon_coded_labels 1;

-- shared: create anon_labels_of_releases_0 1;

DROP TABLE IF EXISTS "temp"."main"."anon_coded_labels";

DROP TABLE IF EXISTS "temp"."main"."anon_unknown_rows";

-- shared: create anon_released_classes_0 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_rows_of_0" AS
WITH "anon_rows_with_values" AS (
  SELECT
    "anon_source"."patient_id" AS "anon_person_0",
    "anon_source"."diagnosis" AS "anon_value_0_0",
    COALESCE("anon_released"."anon_class_0", 0) AS "anon_class_0"
  FROM "memory"."main"."earlier_visits" AS anon_source
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
      (
        "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0"
      ) & 9151314442816847872
    ) = "anon_released"."anon_key_0"
)
SELECT
  *
  REPLACE (CAST(DENSE_RANK() OVER (ORDER BY "anon_value_0_0" ASC) AS UINTEGER) AS "anon_value_0_0")
FROM "anon_rows_with_values";

-- shared: create anon_reference_of_anon_value_0_0 1;

-- shared: create anon_persons_of_0 2;

DROP TABLE IF EXISTS "temp"."main"."anon_rows_of_0";

-- shared: read anon_persons_of_0 1;

-- shared: create anon_shown_groups 1;

-- shared: read anon_shown_groups 1;

DROP TABLE IF EXISTS "temp"."main"."anon_shown_groups";

-- shared: create anon_joint_classes 1;

-- shared: read anon_joint_classes 1;

WITH "anon_person_cells" AS (
  SELECT
    "anon_class_0",
    "anon_value_0_0" AS "anon_sensitive_0",
    "anon_rows" AS "anon_row_count"
  FROM "temp"."main"."anon_persons_of_0"
), "anon_values" AS (
  SELECT
    "anon_class_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_person_cells"
  GROUP BY
    "anon_class_0",
    "anon_sensitive_0"
), "anon_joint" AS (
  SELECT
    "anon_class_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_1"
  FROM "anon_values"
  GROUP BY
    "anon_class_0"
)
SELECT
  COUNT(*) FILTER(WHERE
    NOT COALESCE(
      "anon_class_size" >= 5 AND (
        "anon_class_0" < 1 OR "anon_measure_1" >= 2
      ),
      FALSE
    )
    AND GREATEST("anon_class_0") > 0) AS "classes"
FROM "anon_joint";

-- shared: read anon_joint_classes 2;

-- shared: create anon_persons 1;

DROP TABLE IF EXISTS "temp"."main"."anon_persons_of_0";

DROP TABLE IF EXISTS "temp"."main"."anon_joint_classes";

-- shared: create anon_coded_labels 2;

-- shared: read anon_coded_labels 1;

-- shared: create anon_labels 3;

DROP TABLE IF EXISTS "temp"."main"."anon_coded_labels";

-- shared: read anon_labels 1;

-- shared: create anon_keyed_rows 2;

-- shared: create anon_cells 4;

CREATE TEMPORARY TABLE "temp"."main"."anon_absent_persons" AS
SELECT
  anon_earlier,
  "anon_value_0_0",
  CAST(SUM(anon_rows) AS BIGINT) AS anon_absent
FROM (
  SELECT
    anon_earlier,
    "anon_value_0_0",
    anon_rows
  FROM "temp"."main"."anon_persons" AS anon_persons
  UNION ALL
  SELECT
    (
      (
        "anon_key_0" & 63
      ) >> 0
    ) AS "anon_earlier",
    "anon_sensitive_1" AS "anon_value_0_0",
    -anon_row_count
  FROM "temp"."main"."anon_cells" AS anon_cells
)
WHERE
  anon_earlier > 0
GROUP BY
  anon_earlier,
  "anon_value_0_0"
HAVING
  SUM(anon_rows) <> 0;

-- shared: read anon_cells 1;

-- shared: read anon_cells 7;

WITH "anon_measured" AS MATERIALIZED (
  SELECT
    *
    EXCLUDE (anon_hides_well)
    REPLACE (anon_is_met
    AND (
      anon_hides_well
      OR ROW_NUMBER() OVER (
        PARTITION BY (
          (
            "anon_classes"."anon_key_0" & 63
          ) >> 0
        ), anon_is_met
        ORDER BY anon_class_size ASC, "anon_key_0" ASC NULLS FIRST
      ) > 1
    ) AS anon_is_met)
  FROM (
    WITH "anon_measured" AS MATERIALIZED (
      SELECT
        *,
        COALESCE(
          (
            "anon_class_size" >= 5 AND "anon_measure_0" >= 2
          )
          AND (
            (
              (
                "anon_classes"."anon_key_0" & 63
              ) >> 0
            ) < 1
            OR "anon_measure_1" >= 2
          ),
          FALSE
        ) AS "anon_is_met"
      FROM (
        SELECT
          "anon_whole"."anon_key_0",
          "anon_whole"."anon_class_size",
          "anon_whole"."anon_measure_0",
          "anon_view_0"."anon_measure_1"
        FROM (
          SELECT
            "anon_key_0",
            CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_0"
          FROM (
            SELECT
              "anon_key_0",
              "anon_sensitive_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_key_0" & 63 AS "anon_key_0",
                "anon_sensitive_0",
                "anon_sensitive_1",
                "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY
              "anon_key_0",
              "anon_sensitive_0"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_whole"
        LEFT JOIN (
          SELECT
            "anon_key_0",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_key_0",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_key_0" & 63 AS "anon_key_0",
                "anon_sensitive_0",
                "anon_sensitive_1",
                "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY
              "anon_key_0",
              "anon_sensitive_1"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
      ) AS "anon_classes"
    )
    SELECT
      "anon_measured".*,
      COALESCE("anon_hidden"."anon_hides_well", TRUE) AS "anon_hides_well"
    FROM "anon_measured"
    LEFT JOIN (
      SELECT
        "anon_earlier",
        "anon_class_size" >= 5 AND (
          "anon_earlier" < 1 OR "anon_measure_1" >= 2
        ) AS "anon_hides_well"
      FROM (
        SELECT
          "anon_whole"."anon_earlier",
          "anon_whole"."anon_class_size",
          "anon_whole"."anon_measure_0",
          "anon_view_0"."anon_measure_1"
        FROM (
          SELECT
            "anon_earlier",
            CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_0"
          FROM (
            SELECT
              "anon_earlier",
              "anon_sensitive_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 63 AS "anon_key_0",
                  "anon_sensitive_0",
                  "anon_sensitive_1",
                  "anon_row_count"
                FROM "temp"."main"."anon_cells"
              ) AS "anon_cells"
              JOIN "anon_measured"
                ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
              WHERE
                NOT "anon_measured"."anon_is_met"
                AND GREATEST((
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                )) > 0
              UNION ALL
              SELECT
                "anon_earlier",
                NULL AS "anon_sensitive_0",
                "anon_value_0_0" AS "anon_sensitive_1",
                "anon_absent" AS "anon_row_count"
              FROM "temp"."main"."anon_absent_persons"
            ) AS "anon_hidden_cells"
            GROUP BY
              "anon_earlier",
              "anon_sensitive_0"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_whole"
        LEFT JOIN (
          SELECT
            "anon_earlier",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_earlier",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 63 AS "anon_key_0",
                  "anon_sensitive_0",
                  "anon_sensitive_1",
                  "anon_row_count"
                FROM "temp"."main"."anon_cells"
              ) AS "anon_cells"
              JOIN "anon_measured"
                ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
              WHERE
                NOT "anon_measured"."anon_is_met"
                AND GREATEST((
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                )) > 0
              UNION ALL
              SELECT
                "anon_earlier",
                NULL AS "anon_sensitive_0",
                "anon_value_0_0" AS "anon_sensitive_1",
                "anon_absent" AS "anon_row_count"
              FROM "temp"."main"."anon_absent_persons"
            ) AS "anon_hidden_cells"
            GROUP BY
              "anon_earlier",
              "anon_sensitive_1"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
      ) AS "anon_together"
    ) AS "anon_hidden"
      ON (
        (
          "anon_measured"."anon_key_0" & 63
        ) >> 0
      ) = "anon_hidden"."anon_earlier"
  ) AS "anon_classes"
), "anon_cells" AS (
  SELECT
    "anon_key_0" & 63 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    ) AS "anon_earlier",
    "anon_cells"."anon_sensitive_0",
    "anon_cells"."anon_sensitive_1",
    "anon_cells"."anon_row_count"
  FROM "anon_cells"
  JOIN "anon_measured"
    ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
  WHERE
    NOT "anon_measured"."anon_is_met"
    AND GREATEST((
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_values" AS (
  SELECT
    "anon_earlier",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_0"
), "anon_whole" AS (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_cells_2" AS (
  SELECT
    "anon_key_0" & 63 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells_2" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    ) AS "anon_earlier",
    "anon_cells"."anon_sensitive_0",
    "anon_cells"."anon_sensitive_1",
    "anon_cells"."anon_row_count"
  FROM "anon_cells_2" AS "anon_cells"
  JOIN "anon_measured"
    ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
  WHERE
    NOT "anon_measured"."anon_is_met"
    AND GREATEST((
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_values_2" AS (
  SELECT
    "anon_earlier",
    "anon_sensitive_1",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells_2" AS "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_1"
), "anon_view_0" AS (
  SELECT
    "anon_earlier",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_1"
  FROM "anon_values_2" AS "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_together" AS (
  SELECT
    "anon_whole"."anon_earlier",
    "anon_whole"."anon_class_size",
    "anon_whole"."anon_measure_0",
    "anon_view_0"."anon_measure_1"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
), "anon_hidden" AS (
  SELECT
    "anon_earlier",
    "anon_class_size" >= 5 AND (
      "anon_earlier" < 1 OR "anon_measure_1" >= 2
    ) AS "anon_hides_well"
  FROM "anon_together"
), "anon_classes" AS (
  SELECT
    "anon_measured".*,
    COALESCE("anon_hidden"."anon_hides_well", TRUE) AS "anon_hides_well"
  FROM "anon_measured"
  LEFT JOIN "anon_hidden"
    ON (
      (
        "anon_measured"."anon_key_0" & 63
      ) >> 0
    ) = "anon_hidden"."anon_earlier"
), "anon_labelled" AS (
  SELECT
    "anon_key_0",
    "anon_class_size",
    "anon_measure_0",
    "anon_measure_1",
    "anon_is_met" AND "anon_hides_well" AS "anon_is_shown"
  FROM "anon_classes"
), "anon_classes_2" AS (
  SELECT
    "anon_labelled"."anon_key_0",
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    "anon_labelled"."anon_measure_1",
    "anon_labelled"."anon_is_shown",
    (
      2.0e0
    ) / 2 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_3" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept",
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_certainly_kept"
  FROM "anon_classes_2" AS "anon_classes"
), "anon_jointly_kept" AS (
  SELECT
    *
    EXCLUDE (anon_is_shown)
    REPLACE (anon_kept AND anon_is_shown AS anon_kept),
    0 AS anon_withheld
  FROM "anon_classes_3" AS "anon_classes"
), "anon_classes_4" AS (
  SELECT
    *,
    "anon_class_size" AS "anon_class_weight"
  FROM "anon_jointly_kept"
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
    NOT anon_certainly_kept), 0) AS BIGINT) AS certain_suppressed_rows,
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm,
  (
    SUM(CAST("anon_class_size" AS INT128) * "anon_class_size")
  ) AS "dm_star",
  (
    SUM(
      CAST("anon_class_size" AS INT128) * CASE WHEN "anon_kept" THEN "anon_class_size" ELSE 975 END
    )
  ) AS "dm",
  (
    CAST(SUM("anon_class_size") AS DOUBLE) / (
      COUNT(*) FILTER(WHERE
        "anon_kept") + CAST(BOOL_OR(CAST(NOT "anon_kept" AS BOOLEAN)) AS INT)
    ) / 5
  ) AS "aecs"
FROM "anon_classes_4" AS "anon_classes";

-- shared: read anon_cells 3;

WITH "anon_cells" AS (
  SELECT
    "anon_key_0" & 8646911284551352320 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_values" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 6917529027641081856 AS "anon_bits_0_4_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    (
      0.0e0 + CASE
        WHEN "anon_bits_0_4_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_0_4_0" <= 2305843009213693952
        THEN 0.1919191919191919e0
        ELSE 0.3939393939393939e0
      END
    ) / 2 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept",
    "anon_class_size" AS "anon_class_weight"
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
    "anon_key_0" & 9151314442816847872 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_values" AS (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 7421932185906577408 AS "anon_bits_0_1_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    (
      0.0e0 + CASE WHEN "anon_bits_0_1_0" <= 0 THEN 0.0e0 ELSE 0.04040404040404041e0 END
    ) / 2 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_2" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept",
    "anon_class_size" AS "anon_class_weight"
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

CREATE TEMPORARY TABLE "temp"."main"."anon_kept" AS
WITH "anon_measured" AS MATERIALIZED (
  SELECT
    *
    EXCLUDE (anon_hides_well)
    REPLACE (anon_is_met
    AND (
      anon_hides_well
      OR ROW_NUMBER() OVER (
        PARTITION BY (
          (
            "anon_classes"."anon_key_0" & 63
          ) >> 0
        ), anon_is_met
        ORDER BY anon_class_size ASC, "anon_key_0" ASC NULLS FIRST
      ) > 1
    ) AS anon_is_met)
  FROM (
    WITH "anon_measured" AS MATERIALIZED (
      SELECT
        *,
        COALESCE(
          (
            "anon_class_size" >= 5 AND "anon_measure_0" >= 2
          )
          AND (
            (
              (
                "anon_classes"."anon_key_0" & 63
              ) >> 0
            ) < 1
            OR "anon_measure_1" >= 2
          ),
          FALSE
        ) AS "anon_is_met"
      FROM (
        SELECT
          "anon_whole"."anon_key_0",
          "anon_whole"."anon_class_size",
          "anon_whole"."anon_measure_0",
          "anon_view_0"."anon_measure_1"
        FROM (
          SELECT
            "anon_key_0",
            CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_0"
          FROM (
            SELECT
              "anon_key_0",
              "anon_sensitive_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_key_0" & 63 AS "anon_key_0",
                "anon_sensitive_0",
                "anon_sensitive_1",
                "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY
              "anon_key_0",
              "anon_sensitive_0"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_whole"
        LEFT JOIN (
          SELECT
            "anon_key_0",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_key_0",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_key_0" & 63 AS "anon_key_0",
                "anon_sensitive_0",
                "anon_sensitive_1",
                "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY
              "anon_key_0",
              "anon_sensitive_1"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
      ) AS "anon_classes"
    )
    SELECT
      "anon_measured".*,
      COALESCE("anon_hidden"."anon_hides_well", TRUE) AS "anon_hides_well"
    FROM "anon_measured"
    LEFT JOIN (
      SELECT
        "anon_earlier",
        "anon_class_size" >= 5 AND (
          "anon_earlier" < 1 OR "anon_measure_1" >= 2
        ) AS "anon_hides_well"
      FROM (
        SELECT
          "anon_whole"."anon_earlier",
          "anon_whole"."anon_class_size",
          "anon_whole"."anon_measure_0",
          "anon_view_0"."anon_measure_1"
        FROM (
          SELECT
            "anon_earlier",
            CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_0"
          FROM (
            SELECT
              "anon_earlier",
              "anon_sensitive_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 63 AS "anon_key_0",
                  "anon_sensitive_0",
                  "anon_sensitive_1",
                  "anon_row_count"
                FROM "temp"."main"."anon_cells"
              ) AS "anon_cells"
              JOIN "anon_measured"
                ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
              WHERE
                NOT "anon_measured"."anon_is_met"
                AND GREATEST((
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                )) > 0
              UNION ALL
              SELECT
                "anon_earlier",
                NULL AS "anon_sensitive_0",
                "anon_value_0_0" AS "anon_sensitive_1",
                "anon_absent" AS "anon_row_count"
              FROM "temp"."main"."anon_absent_persons"
            ) AS "anon_hidden_cells"
            GROUP BY
              "anon_earlier",
              "anon_sensitive_0"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_whole"
        LEFT JOIN (
          SELECT
            "anon_earlier",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_earlier",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 63 AS "anon_key_0",
                  "anon_sensitive_0",
                  "anon_sensitive_1",
                  "anon_row_count"
                FROM "temp"."main"."anon_cells"
              ) AS "anon_cells"
              JOIN "anon_measured"
                ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
              WHERE
                NOT "anon_measured"."anon_is_met"
                AND GREATEST((
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                )) > 0
              UNION ALL
              SELECT
                "anon_earlier",
                NULL AS "anon_sensitive_0",
                "anon_value_0_0" AS "anon_sensitive_1",
                "anon_absent" AS "anon_row_count"
              FROM "temp"."main"."anon_absent_persons"
            ) AS "anon_hidden_cells"
            GROUP BY
              "anon_earlier",
              "anon_sensitive_1"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
      ) AS "anon_together"
    ) AS "anon_hidden"
      ON (
        (
          "anon_measured"."anon_key_0" & 63
        ) >> 0
      ) = "anon_hidden"."anon_earlier"
  ) AS "anon_classes"
), "anon_cells" AS (
  SELECT
    "anon_key_0" & 63 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    ) AS "anon_earlier",
    "anon_cells"."anon_sensitive_0",
    "anon_cells"."anon_sensitive_1",
    "anon_cells"."anon_row_count"
  FROM "anon_cells"
  JOIN "anon_measured"
    ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
  WHERE
    NOT "anon_measured"."anon_is_met"
    AND GREATEST((
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_values" AS (
  SELECT
    "anon_earlier",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_0"
), "anon_whole" AS (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_cells_2" AS (
  SELECT
    "anon_key_0" & 63 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells_2" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    ) AS "anon_earlier",
    "anon_cells"."anon_sensitive_0",
    "anon_cells"."anon_sensitive_1",
    "anon_cells"."anon_row_count"
  FROM "anon_cells_2" AS "anon_cells"
  JOIN "anon_measured"
    ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
  WHERE
    NOT "anon_measured"."anon_is_met"
    AND GREATEST((
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_values_2" AS (
  SELECT
    "anon_earlier",
    "anon_sensitive_1",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells_2" AS "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_1"
), "anon_view_0" AS (
  SELECT
    "anon_earlier",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_1"
  FROM "anon_values_2" AS "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_together" AS (
  SELECT
    "anon_whole"."anon_earlier",
    "anon_whole"."anon_class_size",
    "anon_whole"."anon_measure_0",
    "anon_view_0"."anon_measure_1"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
), "anon_hidden" AS (
  SELECT
    "anon_earlier",
    "anon_class_size" >= 5 AND (
      "anon_earlier" < 1 OR "anon_measure_1" >= 2
    ) AS "anon_hides_well"
  FROM "anon_together"
), "anon_classes" AS (
  SELECT
    "anon_measured".*,
    COALESCE("anon_hidden"."anon_hides_well", TRUE) AS "anon_hides_well"
  FROM "anon_measured"
  LEFT JOIN "anon_hidden"
    ON (
      (
        "anon_measured"."anon_key_0" & 63
      ) >> 0
    ) = "anon_hidden"."anon_earlier"
), "anon_classes_2" AS (
  SELECT
    "anon_key_0",
    "anon_class_size",
    "anon_measure_0",
    "anon_measure_1",
    "anon_is_met" AND "anon_hides_well" AS "anon_is_shown"
  FROM "anon_classes"
), "anon_classes_3" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept"
  FROM "anon_classes_2" AS "anon_classes"
), "anon_jointly_kept" AS (
  SELECT
    *
    EXCLUDE (anon_is_shown)
    REPLACE (anon_kept AND anon_is_shown AS anon_kept),
    0 AS anon_withheld
  FROM "anon_classes_3" AS "anon_classes"
), "anon_judged" AS (
  SELECT
    *
  FROM "anon_jointly_kept"
), "anon_kept" AS (
  SELECT
    "anon_key_0",
    "anon_withheld"
  FROM "anon_judged"
  WHERE
    "anon_kept"
)
SELECT
  "anon_kept"."anon_withheld",
  (
    (
      "anon_kept"."anon_key_0" & 63
    ) >> 0
  ) AS "anon_earlier",
  "anon_kept"."anon_key_0"
FROM "anon_kept";

CREATE TEMPORARY TABLE "temp"."main"."anon_withheld_persons" AS
SELECT
  UNNEST(anon_first[1:anon_withheld]) AS anon_person_0
FROM (
  SELECT
    ARG_MIN(
      anon_persons.anon_person_0,
      MD5(CAST(COALESCE(anon_persons.anon_person_0, NULL) AS TEXT)),
      5
    ) AS anon_first,
    ANY_VALUE(anon_withholding.anon_withheld) AS anon_withheld
  FROM (
    SELECT
      "anon_person_0",
      "anon_key_0" & 63 AS "anon_key_0"
    FROM "temp"."main"."anon_keyed_rows"
  ) AS "anon_persons"
  INNER JOIN "temp"."main"."anon_kept" AS anon_withholding
    ON "anon_persons"."anon_key_0" = "anon_withholding"."anon_key_0"
  WHERE
    anon_withholding.anon_withheld > 0
  GROUP BY
    "anon_withholding"."anon_key_0"
);

UPDATE "temp"."main"."anon_persons" SET "anon_earlier" = -"anon_earlier" FROM "temp"."main"."anon_withheld_persons" AS anon_withheld WHERE "anon_withheld"."anon_person_0" = "anon_persons"."anon_person_0";

DROP TABLE IF EXISTS "temp"."main"."anon_withheld_persons";

WITH "anon_measured" AS MATERIALIZED (
  SELECT
    *
    EXCLUDE (anon_hides_well)
    REPLACE (anon_is_met
    AND (
      anon_hides_well
      OR ROW_NUMBER() OVER (
        PARTITION BY (
          (
            "anon_classes"."anon_key_0" & 63
          ) >> 0
        ), anon_is_met
        ORDER BY anon_class_size ASC, "anon_key_0" ASC NULLS FIRST
      ) > 1
    ) AS anon_is_met)
  FROM (
    WITH "anon_measured" AS MATERIALIZED (
      SELECT
        *,
        COALESCE(
          (
            "anon_class_size" >= 5 AND "anon_measure_0" >= 2
          )
          AND (
            (
              (
                "anon_classes"."anon_key_0" & 63
              ) >> 0
            ) < 1
            OR "anon_measure_1" >= 2
          ),
          FALSE
        ) AS "anon_is_met"
      FROM (
        SELECT
          "anon_whole"."anon_key_0",
          "anon_whole"."anon_class_size",
          "anon_whole"."anon_measure_0",
          "anon_view_0"."anon_measure_1"
        FROM (
          SELECT
            "anon_key_0",
            CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_0"
          FROM (
            SELECT
              "anon_key_0",
              "anon_sensitive_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_key_0" & 63 AS "anon_key_0",
                "anon_sensitive_0",
                "anon_sensitive_1",
                "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY
              "anon_key_0",
              "anon_sensitive_0"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_whole"
        LEFT JOIN (
          SELECT
            "anon_key_0",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_key_0",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_key_0" & 63 AS "anon_key_0",
                "anon_sensitive_0",
                "anon_sensitive_1",
                "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY
              "anon_key_0",
              "anon_sensitive_1"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
      ) AS "anon_classes"
    )
    SELECT
      "anon_measured".*,
      COALESCE("anon_hidden"."anon_hides_well", TRUE) AS "anon_hides_well"
    FROM "anon_measured"
    LEFT JOIN (
      SELECT
        "anon_earlier",
        "anon_class_size" >= 5 AND (
          "anon_earlier" < 1 OR "anon_measure_1" >= 2
        ) AS "anon_hides_well"
      FROM (
        SELECT
          "anon_whole"."anon_earlier",
          "anon_whole"."anon_class_size",
          "anon_whole"."anon_measure_0",
          "anon_view_0"."anon_measure_1"
        FROM (
          SELECT
            "anon_earlier",
            CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_0"
          FROM (
            SELECT
              "anon_earlier",
              "anon_sensitive_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 63 AS "anon_key_0",
                  "anon_sensitive_0",
                  "anon_sensitive_1",
                  "anon_row_count"
                FROM "temp"."main"."anon_cells"
              ) AS "anon_cells"
              JOIN "anon_measured"
                ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
              WHERE
                NOT "anon_measured"."anon_is_met"
                AND GREATEST((
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                )) > 0
              UNION ALL
              SELECT
                "anon_earlier",
                NULL AS "anon_sensitive_0",
                "anon_value_0_0" AS "anon_sensitive_1",
                "anon_absent" AS "anon_row_count"
              FROM "temp"."main"."anon_absent_persons"
            ) AS "anon_hidden_cells"
            GROUP BY
              "anon_earlier",
              "anon_sensitive_0"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_whole"
        LEFT JOIN (
          SELECT
            "anon_earlier",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_earlier",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 63 AS "anon_key_0",
                  "anon_sensitive_0",
                  "anon_sensitive_1",
                  "anon_row_count"
                FROM "temp"."main"."anon_cells"
              ) AS "anon_cells"
              JOIN "anon_measured"
                ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
              WHERE
                NOT "anon_measured"."anon_is_met"
                AND GREATEST((
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                )) > 0
              UNION ALL
              SELECT
                "anon_earlier",
                NULL AS "anon_sensitive_0",
                "anon_value_0_0" AS "anon_sensitive_1",
                "anon_absent" AS "anon_row_count"
              FROM "temp"."main"."anon_absent_persons"
            ) AS "anon_hidden_cells"
            GROUP BY
              "anon_earlier",
              "anon_sensitive_1"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
      ) AS "anon_together"
    ) AS "anon_hidden"
      ON (
        (
          "anon_measured"."anon_key_0" & 63
        ) >> 0
      ) = "anon_hidden"."anon_earlier"
  ) AS "anon_classes"
), "anon_cells" AS (
  SELECT
    "anon_key_0" & 63 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    ) AS "anon_earlier",
    "anon_cells"."anon_sensitive_0",
    "anon_cells"."anon_sensitive_1",
    "anon_cells"."anon_row_count"
  FROM "anon_cells"
  JOIN "anon_measured"
    ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
  WHERE
    NOT "anon_measured"."anon_is_met"
    AND GREATEST((
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_values" AS (
  SELECT
    "anon_earlier",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_0"
), "anon_whole" AS (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_cells_2" AS (
  SELECT
    "anon_key_0" & 63 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells_2" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    ) AS "anon_earlier",
    "anon_cells"."anon_sensitive_0",
    "anon_cells"."anon_sensitive_1",
    "anon_cells"."anon_row_count"
  FROM "anon_cells_2" AS "anon_cells"
  JOIN "anon_measured"
    ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
  WHERE
    NOT "anon_measured"."anon_is_met"
    AND GREATEST((
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_values_2" AS (
  SELECT
    "anon_earlier",
    "anon_sensitive_1",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells_2" AS "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_1"
), "anon_view_0" AS (
  SELECT
    "anon_earlier",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_1"
  FROM "anon_values_2" AS "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_together" AS (
  SELECT
    "anon_whole"."anon_earlier",
    "anon_whole"."anon_class_size",
    "anon_whole"."anon_measure_0",
    "anon_view_0"."anon_measure_1"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
), "anon_hidden" AS (
  SELECT
    "anon_earlier",
    "anon_class_size" >= 5 AND (
      "anon_earlier" < 1 OR "anon_measure_1" >= 2
    ) AS "anon_hides_well"
  FROM "anon_together"
), "anon_classes" AS (
  SELECT
    "anon_measured".*,
    COALESCE("anon_hidden"."anon_hides_well", TRUE) AS "anon_hides_well"
  FROM "anon_measured"
  LEFT JOIN "anon_hidden"
    ON (
      (
        "anon_measured"."anon_key_0" & 63
      ) >> 0
    ) = "anon_hidden"."anon_earlier"
), "anon_classes_2" AS (
  SELECT
    "anon_key_0",
    "anon_class_size",
    "anon_measure_0",
    "anon_measure_1",
    "anon_is_met" AND "anon_hides_well" AS "anon_is_shown"
  FROM "anon_classes"
), "anon_classes_3" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept"
  FROM "anon_classes_2" AS "anon_classes"
), "anon_jointly_kept" AS (
  SELECT
    *
    EXCLUDE (anon_is_shown)
    REPLACE (anon_kept AND anon_is_shown AS anon_kept),
    0 AS anon_withheld
  FROM "anon_classes_3" AS "anon_classes"
), "anon_judged" AS (
  SELECT
    *
  FROM "anon_jointly_kept"
)
SELECT
  MIN("anon_class_size") FILTER(WHERE
    "anon_kept") AS "attained_0",
  MIN("anon_measure_0") FILTER(WHERE
    "anon_kept") AS "attained_1"
FROM "anon_judged";

CREATE TEMPORARY TYPE "anon_label_type_0" AS ENUM(
SELECT
  "label"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 0 AND "depth" = 5 AND NOT "label" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

-- shared: create anon_label_type_1 2;

-- shared: read anon_kept 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labelled_rows" AS (
  SELECT
    CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    COALESCE("anon_persons"."anon_earlier", 0) AS "anon_earlier",
    1 AS "anon_row_count"
  FROM "memory"."main"."visits" AS anon_source
  LEFT JOIN "temp"."main"."anon_persons" AS anon_persons
    ON "anon_persons"."anon_person_0" IS NOT DISTINCT FROM "anon_source"."patient_id"
), "anon_rows" AS (
  SELECT
    "anon_earlier",
    "diagnosis",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "anon_labelled_rows"
  GROUP BY
    "anon_earlier",
    "diagnosis"
), "anon_kept" AS (
  SELECT
    TRUE AS "anon_is_kept",
    "anon_codes"."anon_earlier"
  FROM "temp"."main"."anon_kept" AS anon_codes
), "anon_labels_0" AS (
  SELECT DISTINCT
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 5
), "anon_labels_1" AS (
  SELECT DISTINCT
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 1
), "anon_published" AS (
  SELECT
    "anon_rows"."diagnosis",
    "anon_rows"."anon_row_count",
    "anon_labels_0"."anon_label_0" AS "anon_label_0",
    "anon_labels_1"."anon_label_1" AS "anon_label_1"
  FROM "anon_rows"
  JOIN "anon_kept"
    ON "anon_kept"."anon_earlier" IS NOT DISTINCT FROM "anon_rows"."anon_earlier"
  LEFT JOIN "anon_labels_0"
    ON TRUE
  LEFT JOIN "anon_labels_1"
    ON TRUE
)
SELECT
  "anon_label_0",
  "anon_label_1",
  "diagnosis",
  "anon_row_count"
FROM "anon_published"
ORDER BY
  "diagnosis" ASC;

-- shared: create released 3;

-- shared: read anon_equal_rows 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_few_rows" AS
WITH "anon_rows" AS (
  SELECT
    CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary" AS "anon_value_0",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "anon_value_1",
    "diagnosis" AS "anon_kept_0"
  FROM "memory"."main"."visits"
  LIMIT 5000
), "anon_labels_of_anon_finer_0" AS (
  SELECT
    "value",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 4
), "anon_labels_of_anon_finer_1" AS (
  SELECT
    "value",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
)
SELECT
  "anon_rows"."anon_value_0",
  "anon_rows"."anon_value_1",
  "anon_rows"."anon_kept_0",
  "anon_labels_of_anon_finer_0"."label" AS "anon_finer_0",
  "anon_labels_of_anon_finer_1"."label" AS "anon_finer_1"
FROM "anon_rows"
LEFT JOIN "anon_labels_of_anon_finer_0"
  ON "anon_labels_of_anon_finer_0"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_0"
LEFT JOIN "anon_labels_of_anon_finer_1"
  ON "anon_labels_of_anon_finer_1"."value" IS NOT DISTINCT FROM "anon_rows"."anon_value_1";

-- shared: read anon_few_rows 5;

-- shared: read anon_few_rows 6;

DROP TABLE IF EXISTS "temp"."main"."anon_few_rows";

CREATE TEMPORARY TABLE "temp"."main"."anon_judged_cells" AS
WITH "anon_measured" AS MATERIALIZED (
  SELECT
    *
    EXCLUDE (anon_hides_well)
    REPLACE (anon_is_met
    AND (
      anon_hides_well
      OR ROW_NUMBER() OVER (
        PARTITION BY (
          (
            "anon_classes"."anon_key_0" & 63
          ) >> 0
        ), anon_is_met
        ORDER BY anon_class_size ASC, "anon_key_0" ASC NULLS FIRST
      ) > 1
    ) AS anon_is_met)
  FROM (
    WITH "anon_measured" AS MATERIALIZED (
      SELECT
        *,
        COALESCE(
          (
            "anon_class_size" >= 5 AND "anon_measure_0" >= 2
          )
          AND (
            (
              (
                "anon_classes"."anon_key_0" & 63
              ) >> 0
            ) < 1
            OR "anon_measure_1" >= 2
          ),
          FALSE
        ) AS "anon_is_met"
      FROM (
        SELECT
          "anon_whole"."anon_key_0",
          "anon_whole"."anon_class_size",
          "anon_whole"."anon_measure_0",
          "anon_view_0"."anon_measure_1"
        FROM (
          SELECT
            "anon_key_0",
            CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_0"
          FROM (
            SELECT
              "anon_key_0",
              "anon_sensitive_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_key_0" & 63 AS "anon_key_0",
                "anon_sensitive_0",
                "anon_sensitive_1",
                "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY
              "anon_key_0",
              "anon_sensitive_0"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_whole"
        LEFT JOIN (
          SELECT
            "anon_key_0",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_key_0",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_key_0" & 63 AS "anon_key_0",
                "anon_sensitive_0",
                "anon_sensitive_1",
                "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY
              "anon_key_0",
              "anon_sensitive_1"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
      ) AS "anon_classes"
    )
    SELECT
      "anon_measured".*,
      COALESCE("anon_hidden"."anon_hides_well", TRUE) AS "anon_hides_well"
    FROM "anon_measured"
    LEFT JOIN (
      SELECT
        "anon_earlier",
        "anon_class_size" >= 5 AND (
          "anon_earlier" < 1 OR "anon_measure_1" >= 2
        ) AS "anon_hides_well"
      FROM (
        SELECT
          "anon_whole"."anon_earlier",
          "anon_whole"."anon_class_size",
          "anon_whole"."anon_measure_0",
          "anon_view_0"."anon_measure_1"
        FROM (
          SELECT
            "anon_earlier",
            CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_0"
          FROM (
            SELECT
              "anon_earlier",
              "anon_sensitive_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 63 AS "anon_key_0",
                  "anon_sensitive_0",
                  "anon_sensitive_1",
                  "anon_row_count"
                FROM "temp"."main"."anon_cells"
              ) AS "anon_cells"
              JOIN "anon_measured"
                ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
              WHERE
                NOT "anon_measured"."anon_is_met"
                AND GREATEST((
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                )) > 0
              UNION ALL
              SELECT
                "anon_earlier",
                NULL AS "anon_sensitive_0",
                "anon_value_0_0" AS "anon_sensitive_1",
                "anon_absent" AS "anon_row_count"
              FROM "temp"."main"."anon_absent_persons"
            ) AS "anon_hidden_cells"
            GROUP BY
              "anon_earlier",
              "anon_sensitive_0"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_whole"
        LEFT JOIN (
          SELECT
            "anon_earlier",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_earlier",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 63 AS "anon_key_0",
                  "anon_sensitive_0",
                  "anon_sensitive_1",
                  "anon_row_count"
                FROM "temp"."main"."anon_cells"
              ) AS "anon_cells"
              JOIN "anon_measured"
                ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
              WHERE
                NOT "anon_measured"."anon_is_met"
                AND GREATEST((
                  (
                    "anon_cells"."anon_key_0" & 63
                  ) >> 0
                )) > 0
              UNION ALL
              SELECT
                "anon_earlier",
                NULL AS "anon_sensitive_0",
                "anon_value_0_0" AS "anon_sensitive_1",
                "anon_absent" AS "anon_row_count"
              FROM "temp"."main"."anon_absent_persons"
            ) AS "anon_hidden_cells"
            GROUP BY
              "anon_earlier",
              "anon_sensitive_1"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
      ) AS "anon_together"
    ) AS "anon_hidden"
      ON (
        (
          "anon_measured"."anon_key_0" & 63
        ) >> 0
      ) = "anon_hidden"."anon_earlier"
  ) AS "anon_classes"
), "anon_cells" AS (
  SELECT
    "anon_key_0" & 63 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    ) AS "anon_earlier",
    "anon_cells"."anon_sensitive_0",
    "anon_cells"."anon_sensitive_1",
    "anon_cells"."anon_row_count"
  FROM "anon_cells"
  JOIN "anon_measured"
    ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
  WHERE
    NOT "anon_measured"."anon_is_met"
    AND GREATEST((
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_values" AS (
  SELECT
    "anon_earlier",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_0"
), "anon_whole" AS (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_cells_2" AS (
  SELECT
    "anon_key_0" & 63 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells_2" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    ) AS "anon_earlier",
    "anon_cells"."anon_sensitive_0",
    "anon_cells"."anon_sensitive_1",
    "anon_cells"."anon_row_count"
  FROM "anon_cells_2" AS "anon_cells"
  JOIN "anon_measured"
    ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
  WHERE
    NOT "anon_measured"."anon_is_met"
    AND GREATEST((
      (
        "anon_cells"."anon_key_0" & 63
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_values_2" AS (
  SELECT
    "anon_earlier",
    "anon_sensitive_1",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells_2" AS "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_1"
), "anon_view_0" AS (
  SELECT
    "anon_earlier",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_1"
  FROM "anon_values_2" AS "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_together" AS (
  SELECT
    "anon_whole"."anon_earlier",
    "anon_whole"."anon_class_size",
    "anon_whole"."anon_measure_0",
    "anon_view_0"."anon_measure_1"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
), "anon_hidden" AS (
  SELECT
    "anon_earlier",
    "anon_class_size" >= 5 AND (
      "anon_earlier" < 1 OR "anon_measure_1" >= 2
    ) AS "anon_hides_well"
  FROM "anon_together"
), "anon_classes" AS (
  SELECT
    "anon_measured".*,
    COALESCE("anon_hidden"."anon_hides_well", TRUE) AS "anon_hides_well"
  FROM "anon_measured"
  LEFT JOIN "anon_hidden"
    ON (
      (
        "anon_measured"."anon_key_0" & 63
      ) >> 0
    ) = "anon_hidden"."anon_earlier"
), "anon_classes_2" AS (
  SELECT
    "anon_key_0",
    "anon_class_size",
    "anon_measure_0",
    "anon_measure_1",
    "anon_is_met" AND "anon_hides_well" AS "anon_is_shown"
  FROM "anon_classes"
), "anon_classes_3" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept"
  FROM "anon_classes_2" AS "anon_classes"
), "anon_jointly_kept" AS (
  SELECT
    *
    EXCLUDE (anon_is_shown)
    REPLACE (anon_kept AND anon_is_shown AS anon_kept),
    0 AS anon_withheld
  FROM "anon_classes_3" AS "anon_classes"
), "anon_judged" AS (
  SELECT
    *
  FROM "anon_jointly_kept"
), "anon_kept" AS (
  SELECT
    "anon_key_0",
    "anon_withheld",
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
    "anon_cells"."anon_key_0" & 63
  ) = "anon_kept"."anon_key_0";

-- shared: read anon_judged_cells 2;

DROP TABLE IF EXISTS "temp"."main"."anon_judged_cells";

-- shared: read anon_cells 4;

-- shared: read taxonomy 1;

-- shared: read released 4;

-- shared: read released 5;

CREATE TEMPORARY TABLE "temp"."main"."anon_released_classes_1" AS
WITH "anon_counted" AS (
  SELECT
    COUNT(*) AS anon_released_rows
  FROM (
    SELECT
      TRUE AS anon_is_released
    FROM "memory"."main"."released" AS anon_released
  )
  HAVING
    COUNT(*) > 0
), "anon_labelled" AS (
  SELECT
    "anon_counted"."anon_released_rows"
  FROM "anon_counted"
)
SELECT
  *,
  CAST(ROW_NUMBER() OVER () AS UINTEGER) AS "anon_class_1"
FROM "anon_labelled";

CREATE TEMPORARY TABLE "temp"."main"."anon_persons_of_1" AS
WITH "anon_numbered" AS (
  SELECT
    (
      (
        "anon_keyed_rows"."anon_key_0" & 63
      ) >> 0
    ) AS "anon_class_0",
    "anon_keyed_rows"."diagnosis",
    "anon_keyed_rows"."anon_value_0_0",
    COALESCE("anon_released_classes_1"."anon_class_1", 0) AS "anon_class_1"
  FROM "temp"."main"."anon_keyed_rows" AS anon_keyed_rows
  LEFT JOIN "temp"."main"."anon_released_classes_1" AS anon_released_classes_1
    ON TRUE
)
SELECT
  "anon_class_0",
  "anon_class_1",
  "diagnosis",
  "anon_value_0_0",
  COUNT(*) AS anon_rows
FROM "anon_numbered"
GROUP BY
  "anon_class_0",
  "anon_class_1",
  "diagnosis",
  "anon_value_0_0"
UNION ALL BY NAME
SELECT
  anon_earlier AS "anon_class_0",
  0 AS "anon_class_1",
  "anon_value_0_0",
  anon_absent AS anon_rows
FROM "temp"."main"."anon_absent_persons" AS anon_absent_persons;

CREATE TEMPORARY TABLE "temp"."main"."anon_shown_groups" AS
WITH "anon_measured" AS MATERIALIZED (
  SELECT
    *
    EXCLUDE (anon_hides_well)
    REPLACE (anon_is_met
    AND (
      anon_hides_well
      OR ROW_NUMBER() OVER (
        PARTITION BY "anon_classes"."anon_class_0", anon_is_met
        ORDER BY anon_class_size ASC, "anon_class_0" ASC NULLS FIRST, "anon_class_1" ASC NULLS FIRST
      ) > 1
    ) AS anon_is_met)
  FROM (
    WITH "anon_measured" AS MATERIALIZED (
      SELECT
        *,
        COALESCE(
          (
            GREATEST("anon_class_1") > 0
            AND (
              "anon_class_size" >= 5 AND "anon_measure_0" >= 2
            )
          )
          AND (
            "anon_classes"."anon_class_0" < 1 OR "anon_measure_1" >= 2
          ),
          FALSE
        ) AS "anon_is_met"
      FROM (
        SELECT
          "anon_whole"."anon_class_0",
          "anon_whole"."anon_class_1",
          "anon_whole"."anon_class_size",
          "anon_whole"."anon_measure_0",
          "anon_view_0"."anon_measure_1"
        FROM (
          SELECT
            "anon_class_0",
            "anon_class_1",
            CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_0"
          FROM (
            SELECT
              "anon_class_0",
              "anon_class_1",
              "anon_sensitive_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_class_0",
                "anon_class_1",
                "diagnosis" AS "anon_sensitive_0",
                "anon_value_0_0" AS "anon_sensitive_1",
                "anon_rows" AS "anon_row_count"
              FROM "temp"."main"."anon_persons_of_1"
            ) AS "anon_person_cells"
            GROUP BY
              "anon_class_0",
              "anon_class_1",
              "anon_sensitive_0"
          ) AS "anon_values"
          GROUP BY
            "anon_class_0",
            "anon_class_1"
        ) AS "anon_whole"
        LEFT JOIN (
          SELECT
            "anon_class_0",
            "anon_class_1",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_class_0",
              "anon_class_1",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_class_0",
                "anon_class_1",
                "diagnosis" AS "anon_sensitive_0",
                "anon_value_0_0" AS "anon_sensitive_1",
                "anon_rows" AS "anon_row_count"
              FROM "temp"."main"."anon_persons_of_1"
            ) AS "anon_person_cells"
            GROUP BY
              "anon_class_0",
              "anon_class_1",
              "anon_sensitive_1"
          ) AS "anon_values"
          GROUP BY
            "anon_class_0",
            "anon_class_1"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_class_0" = "anon_view_0"."anon_class_0"
          AND "anon_whole"."anon_class_1" = "anon_view_0"."anon_class_1"
      ) AS "anon_classes"
    )
    SELECT
      "anon_measured".*,
      COALESCE("anon_hidden"."anon_hides_well", TRUE) AS "anon_hides_well"
    FROM "anon_measured"
    LEFT JOIN (
      SELECT
        "anon_class_0",
        "anon_class_size" >= 5 AND (
          "anon_class_0" < 1 OR "anon_measure_1" >= 2
        ) AS "anon_hides_well"
      FROM (
        SELECT
          "anon_whole"."anon_class_0",
          "anon_whole"."anon_class_size",
          "anon_whole"."anon_measure_0",
          "anon_view_0"."anon_measure_1"
        FROM (
          SELECT
            "anon_class_0",
            CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_0"
          FROM (
            SELECT
              "anon_class_0",
              "anon_sensitive_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_person_cells"."anon_class_0" AS "anon_class_0",
                "anon_person_cells"."anon_sensitive_0",
                "anon_person_cells"."anon_sensitive_1",
                "anon_person_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_class_0",
                  "anon_class_1",
                  "diagnosis" AS "anon_sensitive_0",
                  "anon_value_0_0" AS "anon_sensitive_1",
                  "anon_rows" AS "anon_row_count"
                FROM "temp"."main"."anon_persons_of_1"
              ) AS "anon_person_cells"
              JOIN "anon_measured"
                ON "anon_person_cells"."anon_class_0" = "anon_measured"."anon_class_0"
                AND "anon_person_cells"."anon_class_1" = "anon_measured"."anon_class_1"
              WHERE
                NOT "anon_measured"."anon_is_met"
                AND GREATEST("anon_person_cells"."anon_class_0") > 0
            ) AS "anon_hidden_cells"
            GROUP BY
              "anon_class_0",
              "anon_sensitive_0"
          ) AS "anon_values"
          GROUP BY
            "anon_class_0"
        ) AS "anon_whole"
        LEFT JOIN (
          SELECT
            "anon_class_0",
            (
              COUNT("anon_rows")
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_class_0",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_person_cells"."anon_class_0" AS "anon_class_0",
                "anon_person_cells"."anon_sensitive_0",
                "anon_person_cells"."anon_sensitive_1",
                "anon_person_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_class_0",
                  "anon_class_1",
                  "diagnosis" AS "anon_sensitive_0",
                  "anon_value_0_0" AS "anon_sensitive_1",
                  "anon_rows" AS "anon_row_count"
                FROM "temp"."main"."anon_persons_of_1"
              ) AS "anon_person_cells"
              JOIN "anon_measured"
                ON "anon_person_cells"."anon_class_0" = "anon_measured"."anon_class_0"
                AND "anon_person_cells"."anon_class_1" = "anon_measured"."anon_class_1"
              WHERE
                NOT "anon_measured"."anon_is_met"
                AND GREATEST("anon_person_cells"."anon_class_0") > 0
            ) AS "anon_hidden_cells"
            GROUP BY
              "anon_class_0",
              "anon_sensitive_1"
          ) AS "anon_values"
          GROUP BY
            "anon_class_0"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_class_0" = "anon_view_0"."anon_class_0"
      ) AS "anon_together"
    ) AS "anon_hidden"
      ON "anon_measured"."anon_class_0" = "anon_hidden"."anon_class_0"
  ) AS "anon_classes"
), "anon_person_cells" AS (
  SELECT
    "anon_class_0",
    "anon_class_1",
    "diagnosis" AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_rows" AS "anon_row_count"
  FROM "temp"."main"."anon_persons_of_1"
), "anon_hidden_cells" AS (
  SELECT
    "anon_person_cells"."anon_class_0" AS "anon_class_0",
    "anon_person_cells"."anon_sensitive_0",
    "anon_person_cells"."anon_sensitive_1",
    "anon_person_cells"."anon_row_count"
  FROM "anon_person_cells"
  JOIN "anon_measured"
    ON "anon_person_cells"."anon_class_0" = "anon_measured"."anon_class_0"
    AND "anon_person_cells"."anon_class_1" = "anon_measured"."anon_class_1"
  WHERE
    NOT "anon_measured"."anon_is_met"
    AND GREATEST("anon_person_cells"."anon_class_0") > 0
), "anon_values" AS (
  SELECT
    "anon_class_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells"
  GROUP BY
    "anon_class_0",
    "anon_sensitive_0"
), "anon_whole" AS (
  SELECT
    "anon_class_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_class_0"
), "anon_person_cells_2" AS (
  SELECT
    "anon_class_0",
    "anon_class_1",
    "diagnosis" AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_rows" AS "anon_row_count"
  FROM "temp"."main"."anon_persons_of_1"
), "anon_hidden_cells_2" AS (
  SELECT
    "anon_person_cells"."anon_class_0" AS "anon_class_0",
    "anon_person_cells"."anon_sensitive_0",
    "anon_person_cells"."anon_sensitive_1",
    "anon_person_cells"."anon_row_count"
  FROM "anon_person_cells_2" AS "anon_person_cells"
  JOIN "anon_measured"
    ON "anon_person_cells"."anon_class_0" = "anon_measured"."anon_class_0"
    AND "anon_person_cells"."anon_class_1" = "anon_measured"."anon_class_1"
  WHERE
    NOT "anon_measured"."anon_is_met"
    AND GREATEST("anon_person_cells"."anon_class_0") > 0
), "anon_values_2" AS (
  SELECT
    "anon_class_0",
    "anon_sensitive_1",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells_2" AS "anon_hidden_cells"
  GROUP BY
    "anon_class_0",
    "anon_sensitive_1"
), "anon_view_0" AS (
  SELECT
    "anon_class_0",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_1"
  FROM "anon_values_2" AS "anon_values"
  GROUP BY
    "anon_class_0"
), "anon_together" AS (
  SELECT
    "anon_whole"."anon_class_0",
    "anon_whole"."anon_class_size",
    "anon_whole"."anon_measure_0",
    "anon_view_0"."anon_measure_1"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_class_0" = "anon_view_0"."anon_class_0"
), "anon_hidden" AS (
  SELECT
    "anon_class_0",
    "anon_class_size" >= 5 AND (
      "anon_class_0" < 1 OR "anon_measure_1" >= 2
    ) AS "anon_hides_well"
  FROM "anon_together"
), "anon_classes" AS (
  SELECT
    "anon_measured".*,
    COALESCE("anon_hidden"."anon_hides_well", TRUE) AS "anon_hides_well"
  FROM "anon_measured"
  LEFT JOIN "anon_hidden"
    ON "anon_measured"."anon_class_0" = "anon_hidden"."anon_class_0"
), "anon_measured_classes" AS (
  SELECT
    "anon_class_0",
    "anon_class_1",
    "anon_class_size",
    "anon_measure_0",
    "anon_measure_1",
    "anon_is_met" AND "anon_hides_well" AS "anon_is_shown"
  FROM "anon_classes"
)
SELECT
  "anon_class_0",
  "anon_class_1",
  "anon_class_size",
  "anon_is_shown" AS "anon_kept",
  0 AS "anon_withheld"
FROM "anon_measured_classes";

-- shared: read anon_shown_groups 2;

-- shared: create anon_joint_classes 2;

-- shared: read anon_joint_classes 1;

WITH "anon_shown_persons" AS (
  SELECT
    "anon_persons_of_1"."anon_class_0",
    "anon_persons_of_1"."diagnosis",
    "anon_persons_of_1"."anon_value_0_0",
    "anon_persons_of_1"."anon_rows",
    CASE
      WHEN "anon_shown_groups"."anon_kept"
      THEN "anon_shown_groups"."anon_class_1"
      ELSE 0
    END AS "anon_class_1"
  FROM "temp"."main"."anon_persons_of_1" AS anon_persons_of_1
  JOIN "temp"."main"."anon_shown_groups" AS anon_shown_groups
    ON "anon_persons_of_1"."anon_class_0" = "anon_shown_groups"."anon_class_0"
    AND "anon_persons_of_1"."anon_class_1" = "anon_shown_groups"."anon_class_1"
), "anon_person_cells" AS (
  SELECT
    "anon_class_0",
    "anon_class_1",
    "diagnosis" AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_rows" AS "anon_row_count"
  FROM "anon_shown_persons"
), "anon_values" AS (
  SELECT
    "anon_class_0",
    "anon_class_1",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_person_cells"
  GROUP BY
    "anon_class_0",
    "anon_class_1",
    "anon_sensitive_0"
), "anon_whole" AS (
  SELECT
    "anon_class_0",
    "anon_class_1",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_class_0",
    "anon_class_1"
), "anon_shown_persons_2" AS (
  SELECT
    "anon_persons_of_1"."anon_class_0",
    "anon_persons_of_1"."diagnosis",
    "anon_persons_of_1"."anon_value_0_0",
    "anon_persons_of_1"."anon_rows",
    CASE
      WHEN "anon_shown_groups"."anon_kept"
      THEN "anon_shown_groups"."anon_class_1"
      ELSE 0
    END AS "anon_class_1"
  FROM "temp"."main"."anon_persons_of_1" AS anon_persons_of_1
  JOIN "temp"."main"."anon_shown_groups" AS anon_shown_groups
    ON "anon_persons_of_1"."anon_class_0" = "anon_shown_groups"."anon_class_0"
    AND "anon_persons_of_1"."anon_class_1" = "anon_shown_groups"."anon_class_1"
), "anon_person_cells_2" AS (
  SELECT
    "anon_class_0",
    "anon_class_1",
    "diagnosis" AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_rows" AS "anon_row_count"
  FROM "anon_shown_persons_2" AS "anon_shown_persons"
), "anon_values_2" AS (
  SELECT
    "anon_class_0",
    "anon_class_1",
    "anon_sensitive_1",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_person_cells_2" AS "anon_person_cells"
  GROUP BY
    "anon_class_0",
    "anon_class_1",
    "anon_sensitive_1"
), "anon_view_0" AS (
  SELECT
    "anon_class_0",
    "anon_class_1",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_1"
  FROM "anon_values_2" AS "anon_values"
  GROUP BY
    "anon_class_0",
    "anon_class_1"
), "anon_joint" AS (
  SELECT
    "anon_whole"."anon_class_0",
    "anon_whole"."anon_class_1",
    "anon_whole"."anon_class_size",
    "anon_whole"."anon_measure_0",
    "anon_view_0"."anon_measure_1"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_class_0" = "anon_view_0"."anon_class_0"
    AND "anon_whole"."anon_class_1" = "anon_view_0"."anon_class_1"
)
SELECT
  COUNT(*) FILTER(WHERE
    NOT COALESCE(
      "anon_class_size" >= 5
      AND (
        (
          "anon_class_0" < 1 OR "anon_measure_1" >= 2
        )
        AND (
          "anon_class_1" < 1 OR "anon_measure_0" >= 2
        )
      ),
      FALSE
    )
    AND GREATEST("anon_class_0", "anon_class_1") > 0) AS "classes"
FROM "anon_joint";

-- shared: read released 1;

DROP TABLE IF EXISTS "temp"."main"."anon_joint_classes";

DROP TABLE IF EXISTS "temp"."main"."anon_shown_groups";

DROP TABLE IF EXISTS "temp"."main"."anon_persons_of_1";

DROP TABLE IF EXISTS "temp"."main"."anon_released_classes_1";

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_absent_persons";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_keyed_rows";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

DROP TABLE IF EXISTS "temp"."main"."anon_persons";

DROP TABLE IF EXISTS "temp"."main"."anon_reference_of_anon_value_0_0";

DROP TABLE IF EXISTS "temp"."main"."anon_released_classes_0";

DROP TABLE IF EXISTS "temp"."main"."anon_labels_of_releases_0";

COMMIT;

