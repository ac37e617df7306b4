-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 351 rows; the SHA-256 of them is d755397b41af97082410a2049d49b18176303259d28fb11c05198714919fd7b8.

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

CREATE TEMPORARY TABLE "temp"."main"."anon_released_classes_0" AS
WITH "anon_counted" AS (
  SELECT
    "anon_label_0",
    "anon_label_1",
    COUNT(*) AS anon_released_rows
  FROM (
    SELECT
      TRUE AS anon_is_released,
      CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary" AS "anon_label_0",
      CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "anon_label_1"
    FROM "memory"."main"."earlier_release" AS anon_released
  )
  GROUP BY
    "anon_label_0",
    "anon_label_1"
  HAVING
    COUNT(*) > 0
), "anon_labels_0" AS (
  SELECT DISTINCT
    "anon_key_0",
    "label"
  FROM "temp"."main"."anon_labels_of_releases_0"
  WHERE
    "position" = 0 AND "depth" = 4
), "anon_labels_1" AS (
  SELECT DISTINCT
    "anon_key_0",
    "label"
  FROM "temp"."main"."anon_labels_of_releases_0"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_labelled" AS (
  SELECT
    "anon_counted"."anon_label_0",
    "anon_counted"."anon_label_1",
    "anon_counted"."anon_released_rows",
    "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" AS "anon_key_0"
  FROM "anon_counted"
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."label" IS NOT DISTINCT FROM "anon_counted"."anon_label_0"
  LEFT JOIN "anon_labels_1"
    ON "anon_labels_1"."label" IS NOT DISTINCT FROM "anon_counted"."anon_label_1"
)
SELECT
  *,
  CAST(ROW_NUMBER() OVER (ORDER BY "anon_key_0" ASC NULLS FIRST) AS UINTEGER) AS "anon_class_0"
FROM "anon_labelled";

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
      ) & 8646911284551352320
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

CREATE TEMPORARY TABLE "temp"."main"."anon_person_values_0" AS
WITH "anon_counts" AS (
  SELECT
    "anon_code" AS "anon_sensitive_0",
    "anon_rows" AS "anon_rows"
  FROM "temp"."main"."anon_reference_of_anon_value_0_0"
)
SELECT
  "anon_sensitive_0",
  "anon_rows" / SUM("anon_rows") OVER () AS "anon_share"
FROM "anon_counts";

CREATE TEMPORARY TABLE "temp"."main"."anon_person_reference_work_0" AS
SELECT
  position,
  anon_all_rows AS reference_rows,
  anon_rows_up_to / NULLIF(anon_all_rows, 0e0) AS cumulative_share,
  position * anon_rows_up_to - anon_moment AS work_below,
  (
    anon_all_moment - anon_moment
  ) - position * (
    anon_all_rows - anon_rows_up_to
  ) AS work_above,
  anon_all_rows * (
    anon_positions - 1
  ) AS most_work
FROM (
  SELECT
    position,
    CAST(SUM(row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_rows_up_to,
    CAST(SUM(position * row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_moment,
    CAST(SUM(row_count) OVER () AS DOUBLE) AS anon_all_rows,
    CAST(SUM(position * row_count) OVER () AS DOUBLE) AS anon_all_moment,
    COUNT(*) OVER () AS anon_positions
  FROM (
    SELECT
      "anon_code" AS "position",
      "anon_rows" AS "row_count"
    FROM "temp"."main"."anon_reference_of_anon_value_0_0"
  ) AS "anon_positions"
);

-- shared: create anon_person_reference_crossings_0 1;

WITH "anon_person_cells" AS (
  SELECT
    "anon_class_0",
    "anon_value_0_0" AS "anon_sensitive_0",
    "anon_rows" AS "anon_row_count"
  FROM "temp"."main"."anon_persons_of_0"
), "anon_whole" AS (
  SELECT
    "anon_class_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_person_cells"
  GROUP BY
    "anon_class_0"
), "anon_person_cells_2" AS (
  SELECT
    "anon_class_0",
    "anon_value_0_0" AS "anon_sensitive_0",
    "anon_rows" AS "anon_row_count"
  FROM "temp"."main"."anon_persons_of_0"
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT
    "anon_class_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_person_cells_2" AS "anon_person_cells"
  GROUP BY
    "anon_class_0",
    "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_class_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_class_0"
), "anon_in_order" AS (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_share",
    "anon_work"."reference_rows",
    "anon_work"."position",
    "anon_work"."work_below",
    "anon_work"."work_above",
    "anon_work"."most_work",
    CAST(SUM("anon_values"."anon_rows") OVER (
      PARTITION BY "anon_values"."anon_class_0"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS "anon_rows_up_to",
    LEAD("anon_work"."position") OVER (
      PARTITION BY "anon_values"."anon_class_0"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_position",
    LEAD("anon_work"."work_below") OVER (
      PARTITION BY "anon_values"."anon_class_0"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_work_below"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_class_0" = "anon_values"."anon_class_0"
  JOIN "temp"."main"."anon_person_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
  JOIN "temp"."main"."anon_person_reference_work_0" AS anon_work
    ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
), "anon_values" AS (
  SELECT
    "anon_in_order".*,
    (
      "anon_rows_up_to" * "reference_rows" * (
        ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
      ) + "anon_value_size" * (
        ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
      )
    ) AS "anon_work_between"
  FROM "anon_in_order"
  LEFT JOIN "temp"."main"."anon_person_reference_crossings_0" AS anon_crossings
    ON "anon_crossings"."slot" = CAST(FLOOR((
      "anon_rows_up_to" / "anon_value_size"
    ) * 1024e0) AS BIGINT)
    AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
    AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
), "anon_view_0" AS (
  SELECT
    "anon_class_0",
    (
      (
        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
          MIN("work_below") + MIN("work_above")
        )
      ) / (
        SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
      )
    ) AS "anon_measure_2",
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE("anon_share", 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE "anon_rows" / "anon_share"
            END
          )
        ) / SUM("anon_rows") - 1,
        0.0
      )
    ) AS "anon_measure_3"
  FROM "anon_values"
  GROUP BY
    "anon_class_0"
), "anon_joint" AS (
  SELECT
    "anon_whole"."anon_class_0",
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_2",
    "anon_view_0"."anon_measure_3"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_class_0" = "anon_view_0"."anon_class_0"
)
SELECT
  COUNT(*) FILTER(WHERE
    NOT COALESCE(
      "anon_class_size" >= 5
      AND (
        "anon_class_0" < 1
        OR (
          "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
        )
      ),
      FALSE
    )
    AND GREATEST("anon_class_0") > 0) AS "classes"
FROM "anon_joint";

DROP TABLE IF EXISTS "temp"."main"."anon_person_values_0";

DROP TABLE IF EXISTS "temp"."main"."anon_person_reference_work_0";

DROP TABLE IF EXISTS "temp"."main"."anon_person_reference_crossings_0";

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

CREATE TEMPORARY TABLE "temp"."main"."anon_values_0" AS
WITH "anon_counts" AS (
  SELECT
    "anon_sensitive_0",
    SUM("anon_row_count") AS "anon_rows"
  FROM "temp"."main"."anon_cells"
  GROUP BY
    "anon_sensitive_0"
)
SELECT
  "anon_sensitive_0",
  "anon_rows" / SUM("anon_rows") OVER () AS "anon_share"
FROM "anon_counts";

CREATE TEMPORARY TABLE "temp"."main"."anon_values_1" AS
WITH "anon_counts" AS (
  SELECT
    "anon_code" AS "anon_sensitive_1",
    "anon_rows" AS "anon_rows"
  FROM "temp"."main"."anon_reference_of_anon_value_0_0"
)
SELECT
  "anon_sensitive_1",
  "anon_rows" / SUM("anon_rows") OVER () AS "anon_share"
FROM "anon_counts";

CREATE TEMPORARY TABLE "temp"."main"."anon_reference_work_0" AS
SELECT
  position,
  anon_all_rows AS reference_rows,
  anon_rows_up_to / NULLIF(anon_all_rows, 0e0) AS cumulative_share,
  position * anon_rows_up_to - anon_moment AS work_below,
  (
    anon_all_moment - anon_moment
  ) - position * (
    anon_all_rows - anon_rows_up_to
  ) AS work_above,
  anon_all_rows * (
    anon_positions - 1
  ) AS most_work
FROM (
  SELECT
    position,
    CAST(SUM(row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_rows_up_to,
    CAST(SUM(position * row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_moment,
    CAST(SUM(row_count) OVER () AS DOUBLE) AS anon_all_rows,
    CAST(SUM(position * row_count) OVER () AS DOUBLE) AS anon_all_moment,
    COUNT(*) OVER () AS anon_positions
  FROM (
    SELECT
      "anon_sensitive_0" AS "position",
      SUM("anon_row_count") AS "row_count"
    FROM "temp"."main"."anon_cells"
    GROUP BY
      "anon_sensitive_0"
  ) AS "anon_positions"
);

CREATE TEMPORARY TABLE "temp"."main"."anon_reference_crossings_0" AS
SELECT
  UNNEST(
    RANGE(
      CAST(FLOOR(anon_least_share * 1024e0) AS BIGINT),
      CAST(FLOOR(anon_next_share * 1024e0) AS BIGINT) + 1
    )
  ) AS slot,
  anon_least_share AS least_share,
  anon_next_share AS next_share,
  anon_position AS crossing,
  anon_work AS crossing_work
FROM (
  SELECT
    position AS anon_position,
    work_below AS anon_work,
    COALESCE(LAG(cumulative_share) OVER (ORDER BY position ASC), 0e0) AS anon_least_share,
    cumulative_share AS anon_next_share
  FROM "temp"."main"."anon_reference_work_0"
)
WHERE
  anon_least_share < anon_next_share;

CREATE TEMPORARY TABLE "temp"."main"."anon_reference_work_1" AS
SELECT
  position,
  anon_all_rows AS reference_rows,
  anon_rows_up_to / NULLIF(anon_all_rows, 0e0) AS cumulative_share,
  position * anon_rows_up_to - anon_moment AS work_below,
  (
    anon_all_moment - anon_moment
  ) - position * (
    anon_all_rows - anon_rows_up_to
  ) AS work_above,
  anon_all_rows * (
    anon_positions - 1
  ) AS most_work
FROM (
  SELECT
    position,
    CAST(SUM(row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_rows_up_to,
    CAST(SUM(position * row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_moment,
    CAST(SUM(row_count) OVER () AS DOUBLE) AS anon_all_rows,
    CAST(SUM(position * row_count) OVER () AS DOUBLE) AS anon_all_moment,
    COUNT(*) OVER () AS anon_positions
  FROM (
    SELECT
      "anon_code" AS "position",
      "anon_rows" AS "row_count"
    FROM "temp"."main"."anon_reference_of_anon_value_0_0"
  ) AS "anon_positions"
);

CREATE TEMPORARY TABLE "temp"."main"."anon_reference_crossings_1" AS
SELECT
  UNNEST(
    RANGE(
      CAST(FLOOR(anon_least_share * 1024e0) AS BIGINT),
      CAST(FLOOR(anon_next_share * 1024e0) AS BIGINT) + 1
    )
  ) AS slot,
  anon_least_share AS least_share,
  anon_next_share AS next_share,
  anon_position AS crossing,
  anon_work AS crossing_work
FROM (
  SELECT
    position AS anon_position,
    work_below AS anon_work,
    COALESCE(LAG(cumulative_share) OVER (ORDER BY position ASC), 0e0) AS anon_least_share,
    cumulative_share AS anon_next_share
  FROM "temp"."main"."anon_reference_work_1"
)
WHERE
  anon_least_share < anon_next_share;

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
        "anon_key_0" & 7
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
            "anon_classes"."anon_key_0" & 7
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
            "anon_class_size" >= 5
            AND "anon_measure_0" <= 0.40000000040000006
            AND "anon_measure_1" <= 5.000000005
          )
          AND (
            (
              (
                "anon_classes"."anon_key_0" & 7
              ) >> 0
            ) < 1
            OR (
              "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
            )
          ),
          FALSE
        ) AS "anon_is_met"
      FROM (
        WITH "anon_sensitive_0_rows" AS MATERIALIZED (
          SELECT
            "anon_key_0",
            "anon_sensitive_0",
            CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
          FROM (
            SELECT
              "anon_key_0" & 6917529027641081863 AS "anon_key_0",
              "anon_sensitive_0",
              "anon_sensitive_1",
              "anon_row_count"
            FROM "temp"."main"."anon_cells"
          ) AS "anon_cells"
          GROUP BY
            "anon_key_0",
            "anon_sensitive_0"
        ), "anon_sensitive_0_sizes" AS MATERIALIZED (
          SELECT
            "anon_key_0",
            CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
          FROM "anon_sensitive_0_rows"
          GROUP BY
            "anon_key_0"
        )
        SELECT
          "anon_whole"."anon_key_0",
          "anon_whole"."anon_class_size",
          "anon_view_0"."anon_measure_0",
          "anon_view_0"."anon_certain_share_0",
          "anon_view_0"."anon_measure_1",
          "anon_view_0"."anon_certain_share_1",
          "anon_view_1"."anon_measure_2",
          "anon_view_1"."anon_measure_3"
        FROM (
          SELECT
            "anon_key_0",
            "anon_value_size" AS "anon_class_size"
          FROM "anon_sensitive_0_sizes"
        ) AS "anon_whole"
        LEFT JOIN (
          SELECT
            "anon_key_0",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_0",
            (
              (
                CASE
                  WHEN (
                    (
                      (
                        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                          MIN("work_below") + MIN("work_above")
                        )
                      ) / (
                        SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
                      )
                    ) - 0.40000000040000006e0
                  ) > 1e-9
                  THEN (
                    (
                      (
                        (
                          COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                            MIN("work_below") + MIN("work_above")
                          )
                        ) / (
                          SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
                        )
                      ) - 0.40000000040000006e0
                    ) - 1e-9
                  ) / (
                    (
                      (
                        MAX("work_below" + "work_above") / GREATEST(MAX("most_work"), 1e0)
                      ) - 0.40000000040000006e0
                    ) + 1e-9
                  )
                  ELSE 0e0
                END
              )
            ) AS "anon_certain_share_0",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_1",
            (
              (
                (
                  CASE
                    WHEN SUM(
                      "anon_rows" / "anon_value_size" - (
                        (
                          1 + 5.000000005e0
                        ) * COALESCE("anon_share", 0.0)
                      )
                    ) FILTER(WHERE
                      "anon_rows" / "anon_value_size" > (
                        (
                          1 + 5.000000005e0
                        ) * COALESCE("anon_share", 0.0)
                      )) > 1e-9
                    THEN (
                      SUM(
                        "anon_rows" / "anon_value_size" - (
                          (
                            1 + 5.000000005e0
                          ) * COALESCE("anon_share", 0.0)
                        )
                      ) FILTER(WHERE
                        "anon_rows" / "anon_value_size" > (
                          (
                            1 + 5.000000005e0
                          ) * COALESCE("anon_share", 0.0)
                        )) - 1e-9
                    ) / (
                      (
                        1 - SUM((
                          (
                            1 + 5.000000005e0
                          ) * COALESCE("anon_share", 0.0)
                        )) FILTER(WHERE
                          "anon_rows" / "anon_value_size" > (
                            (
                              1 + 5.000000005e0
                            ) * COALESCE("anon_share", 0.0)
                          ))
                      ) + 1e-9
                    )
                    ELSE 0e0
                  END
                )
              )
            ) AS "anon_certain_share_1"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
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
              JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
              JOIN "temp"."main"."anon_values_0" AS anon_known
                ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
              JOIN "temp"."main"."anon_reference_work_0" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
              WHERE
                "anon_sizes"."anon_value_size" >= 5
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_0" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
        LEFT JOIN (
          WITH "anon_sensitive_1_rows" AS MATERIALIZED (
            SELECT
              "anon_key_0",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_key_0" & 6917529027641081863 AS "anon_key_0",
                "anon_sensitive_0",
                "anon_sensitive_1",
                "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY
              "anon_key_0",
              "anon_sensitive_1"
          ), "anon_sensitive_1_sizes" AS MATERIALIZED (
            SELECT
              "anon_key_0",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_1_rows"
            GROUP BY
              "anon_key_0"
          )
          SELECT
            "anon_key_0",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_2",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_3"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_key_0"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_key_0"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_key_0"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_1_rows" AS "anon_values"
              JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
              JOIN "temp"."main"."anon_values_1" AS anon_known
                ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
              JOIN "temp"."main"."anon_reference_work_1" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
              WHERE
                "anon_sizes"."anon_value_size" >= 5
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_1" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_view_1"
          ON "anon_whole"."anon_key_0" = "anon_view_1"."anon_key_0"
      ) AS "anon_classes"
    )
    SELECT
      "anon_measured".*,
      COALESCE("anon_hidden"."anon_hides_well", TRUE) AS "anon_hides_well"
    FROM "anon_measured"
    LEFT JOIN (
      SELECT
        "anon_earlier",
        "anon_class_size" >= 5
        AND (
          "anon_earlier" < 1
          OR (
            "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
          )
        ) AS "anon_hides_well"
      FROM (
        SELECT
          "anon_whole"."anon_earlier",
          "anon_whole"."anon_class_size",
          "anon_view_0"."anon_measure_0",
          "anon_view_0"."anon_measure_1",
          "anon_view_1"."anon_measure_2",
          "anon_view_1"."anon_measure_3"
        FROM (
          SELECT
            "anon_earlier",
            CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
          FROM (
            SELECT
              (
                (
                  "anon_cells"."anon_key_0" & 7
                ) >> 0
              ) AS "anon_earlier",
              "anon_cells"."anon_sensitive_0",
              "anon_cells"."anon_sensitive_1",
              "anon_cells"."anon_row_count"
            FROM (
              SELECT
                "anon_key_0" & 6917529027641081863 AS "anon_key_0",
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
                  "anon_cells"."anon_key_0" & 7
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
            "anon_earlier"
        ) AS "anon_whole"
        LEFT JOIN (
          WITH "anon_sensitive_0_rows" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              "anon_sensitive_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 7
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 6917529027641081863 AS "anon_key_0",
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
                    "anon_cells"."anon_key_0" & 7
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
          ), "anon_sensitive_0_sizes" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_0_rows"
            GROUP BY
              "anon_earlier"
          )
          SELECT
            "anon_earlier",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_0",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_0_rows" AS "anon_values"
              JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
              JOIN "temp"."main"."anon_values_0" AS anon_known
                ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
              JOIN "temp"."main"."anon_reference_work_0" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_0" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
        LEFT JOIN (
          WITH "anon_sensitive_1_rows" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 7
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 6917529027641081863 AS "anon_key_0",
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
                    "anon_cells"."anon_key_0" & 7
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
          ), "anon_sensitive_1_sizes" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_1_rows"
            GROUP BY
              "anon_earlier"
          )
          SELECT
            "anon_earlier",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_2",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_3"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_1_rows" AS "anon_values"
              JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
              JOIN "temp"."main"."anon_values_1" AS anon_known
                ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
              JOIN "temp"."main"."anon_reference_work_1" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_1" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_view_1"
          ON "anon_whole"."anon_earlier" = "anon_view_1"."anon_earlier"
      ) AS "anon_together"
    ) AS "anon_hidden"
      ON (
        (
          "anon_measured"."anon_key_0" & 7
        ) >> 0
      ) = "anon_hidden"."anon_earlier"
  ) AS "anon_classes"
), "anon_cells" AS (
  SELECT
    "anon_key_0" & 6917529027641081863 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 7
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
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_whole" AS (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_hidden_cells"
  GROUP BY
    "anon_earlier"
), "anon_cells_2" AS (
  SELECT
    "anon_key_0" & 6917529027641081863 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells_2" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 7
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
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells_2" AS "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_earlier"
), "anon_in_order" AS (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_share",
    "anon_work"."reference_rows",
    "anon_work"."position",
    "anon_work"."work_below",
    "anon_work"."work_above",
    "anon_work"."most_work",
    CAST(SUM("anon_values"."anon_rows") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS "anon_rows_up_to",
    LEAD("anon_work"."position") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_position",
    LEAD("anon_work"."work_below") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_work_below"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
  JOIN "temp"."main"."anon_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
  JOIN "temp"."main"."anon_reference_work_0" AS anon_work
    ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
), "anon_values" AS (
  SELECT
    "anon_in_order".*,
    (
      "anon_rows_up_to" * "reference_rows" * (
        ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
      ) + "anon_value_size" * (
        ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
      )
    ) AS "anon_work_between"
  FROM "anon_in_order"
  LEFT JOIN "temp"."main"."anon_reference_crossings_0" AS anon_crossings
    ON "anon_crossings"."slot" = CAST(FLOOR((
      "anon_rows_up_to" / "anon_value_size"
    ) * 1024e0) AS BIGINT)
    AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
    AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
), "anon_view_0" AS (
  SELECT
    "anon_earlier",
    (
      (
        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
          MIN("work_below") + MIN("work_above")
        )
      ) / (
        SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
      )
    ) AS "anon_measure_0",
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE("anon_share", 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE "anon_rows" / "anon_share"
            END
          )
        ) / SUM("anon_rows") - 1,
        0.0
      )
    ) AS "anon_measure_1"
  FROM "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_cells_3" AS (
  SELECT
    "anon_key_0" & 6917529027641081863 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells_3" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    ) AS "anon_earlier",
    "anon_cells"."anon_sensitive_0",
    "anon_cells"."anon_sensitive_1",
    "anon_cells"."anon_row_count"
  FROM "anon_cells_3" AS "anon_cells"
  JOIN "anon_measured"
    ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
  WHERE
    NOT "anon_measured"."anon_is_met"
    AND GREATEST((
      (
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_sensitive_1_rows" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    "anon_sensitive_1",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells_3" AS "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_1"
), "anon_sensitive_1_sizes" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_1_rows"
  GROUP BY
    "anon_earlier"
), "anon_in_order_2" AS (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_share",
    "anon_work"."reference_rows",
    "anon_work"."position",
    "anon_work"."work_below",
    "anon_work"."work_above",
    "anon_work"."most_work",
    CAST(SUM("anon_values"."anon_rows") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS "anon_rows_up_to",
    LEAD("anon_work"."position") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_position",
    LEAD("anon_work"."work_below") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_work_below"
  FROM "anon_sensitive_1_rows" AS "anon_values"
  JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
  JOIN "temp"."main"."anon_values_1" AS anon_known
    ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
  JOIN "temp"."main"."anon_reference_work_1" AS anon_work
    ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
), "anon_values_2" AS (
  SELECT
    "anon_in_order".*,
    (
      "anon_rows_up_to" * "reference_rows" * (
        ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
      ) + "anon_value_size" * (
        ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
      )
    ) AS "anon_work_between"
  FROM "anon_in_order_2" AS "anon_in_order"
  LEFT JOIN "temp"."main"."anon_reference_crossings_1" AS anon_crossings
    ON "anon_crossings"."slot" = CAST(FLOOR((
      "anon_rows_up_to" / "anon_value_size"
    ) * 1024e0) AS BIGINT)
    AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
    AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
), "anon_view_1" AS (
  SELECT
    "anon_earlier",
    (
      (
        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
          MIN("work_below") + MIN("work_above")
        )
      ) / (
        SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
      )
    ) AS "anon_measure_2",
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE("anon_share", 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE "anon_rows" / "anon_share"
            END
          )
        ) / SUM("anon_rows") - 1,
        0.0
      )
    ) AS "anon_measure_3"
  FROM "anon_values_2" AS "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_together" AS (
  SELECT
    "anon_whole"."anon_earlier",
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_0",
    "anon_view_0"."anon_measure_1",
    "anon_view_1"."anon_measure_2",
    "anon_view_1"."anon_measure_3"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
  LEFT JOIN "anon_view_1"
    ON "anon_whole"."anon_earlier" = "anon_view_1"."anon_earlier"
), "anon_hidden" AS (
  SELECT
    "anon_earlier",
    "anon_class_size" >= 5
    AND (
      "anon_earlier" < 1
      OR (
        "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
      )
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
        "anon_measured"."anon_key_0" & 7
      ) >> 0
    ) = "anon_hidden"."anon_earlier"
), "anon_keyed" AS (
  SELECT
    "anon_key_0",
    "anon_class_size",
    "anon_measure_0",
    "anon_certain_share_0",
    "anon_measure_1",
    "anon_certain_share_1",
    "anon_measure_2",
    "anon_measure_3",
    "anon_is_met" AND "anon_hides_well" AS "anon_is_shown"
  FROM "anon_classes"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 6917529027641081856 AS "anon_bits_0_4_0"
  FROM "anon_keyed"
), "anon_classes_2" AS (
  SELECT
    "anon_labelled"."anon_key_0",
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    "anon_labelled"."anon_certain_share_0",
    "anon_labelled"."anon_measure_1",
    "anon_labelled"."anon_certain_share_1",
    "anon_labelled"."anon_measure_2",
    "anon_labelled"."anon_measure_3",
    "anon_labelled"."anon_is_shown",
    (
      1.0e0 + CASE
        WHEN "anon_bits_0_4_0" <= 0
        THEN 0.0e0
        WHEN "anon_bits_0_4_0" <= 2305843009213693952
        THEN 0.1919191919191919e0
        ELSE 0.3939393939393939e0
      END
    ) / 2 AS "anon_lm"
  FROM "anon_labelled"
), "anon_classes_3" AS (
  SELECT
    *,
    "anon_class_size" >= 5
    AND "anon_measure_0" <= 0.40000000040000006
    AND "anon_measure_1" <= 5.000000005 AS "anon_kept",
    "anon_class_size" >= 5 AS "anon_certainly_kept",
    GREATEST("anon_certain_share_0", "anon_certain_share_1") AS "anon_certain_share"
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
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm,
  CAST(COALESCE(
    SUM(
      CASE
        WHEN "anon_certainly_kept"
        THEN CEIL("anon_class_size" * "anon_certain_share")
        ELSE "anon_class_size"
      END
    ),
    0
  ) AS BIGINT) AS "certain_suppressed_rows",
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
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_cells"
  GROUP BY
    "anon_key_0",
    "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_key_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_key_0"
), "anon_whole" AS (
  SELECT
    "anon_key_0",
    "anon_value_size" AS "anon_class_size"
  FROM "anon_sensitive_0_sizes"
), "anon_in_order" AS (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_share",
    "anon_work"."reference_rows",
    "anon_work"."position",
    "anon_work"."work_below",
    "anon_work"."work_above",
    "anon_work"."most_work",
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
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
  JOIN "temp"."main"."anon_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
  JOIN "temp"."main"."anon_reference_work_0" AS anon_work
    ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
  WHERE
    "anon_sizes"."anon_value_size" >= 5
), "anon_values" AS (
  SELECT
    "anon_in_order".*,
    (
      "anon_rows_up_to" * "reference_rows" * (
        ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
      ) + "anon_value_size" * (
        ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
      )
    ) AS "anon_work_between"
  FROM "anon_in_order"
  LEFT JOIN "temp"."main"."anon_reference_crossings_0" AS anon_crossings
    ON "anon_crossings"."slot" = CAST(FLOOR((
      "anon_rows_up_to" / "anon_value_size"
    ) * 1024e0) AS BIGINT)
    AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
    AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
), "anon_view_0" AS (
  SELECT
    "anon_key_0",
    (
      (
        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
          MIN("work_below") + MIN("work_above")
        )
      ) / (
        SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
      )
    ) AS "anon_measure_0",
    (
      (
        CASE
          WHEN (
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) - 0.40000000040000006e0
          ) > 1e-9
          THEN (
            (
              (
                (
                  COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                    MIN("work_below") + MIN("work_above")
                  )
                ) / (
                  SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
                )
              ) - 0.40000000040000006e0
            ) - 1e-9
          ) / (
            (
              (
                MAX("work_below" + "work_above") / GREATEST(MAX("most_work"), 1e0)
              ) - 0.40000000040000006e0
            ) + 1e-9
          )
          ELSE 0e0
        END
      )
    ) AS "anon_certain_share_0",
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE("anon_share", 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE "anon_rows" / "anon_share"
            END
          )
        ) / SUM("anon_rows") - 1,
        0.0
      )
    ) AS "anon_measure_1",
    (
      (
        (
          CASE
            WHEN SUM(
              "anon_rows" / "anon_value_size" - (
                (
                  1 + 5.000000005e0
                ) * COALESCE("anon_share", 0.0)
              )
            ) FILTER(WHERE
              "anon_rows" / "anon_value_size" > (
                (
                  1 + 5.000000005e0
                ) * COALESCE("anon_share", 0.0)
              )) > 1e-9
            THEN (
              SUM(
                "anon_rows" / "anon_value_size" - (
                  (
                    1 + 5.000000005e0
                  ) * COALESCE("anon_share", 0.0)
                )
              ) FILTER(WHERE
                "anon_rows" / "anon_value_size" > (
                  (
                    1 + 5.000000005e0
                  ) * COALESCE("anon_share", 0.0)
                )) - 1e-9
            ) / (
              (
                1 - SUM((
                  (
                    1 + 5.000000005e0
                  ) * COALESCE("anon_share", 0.0)
                )) FILTER(WHERE
                  "anon_rows" / "anon_value_size" > (
                    (
                      1 + 5.000000005e0
                    ) * COALESCE("anon_share", 0.0)
                  ))
              ) + 1e-9
            )
            ELSE 0e0
          END
        )
      )
    ) AS "anon_certain_share_1"
  FROM "anon_values"
  GROUP BY
    "anon_key_0"
), "anon_keyed" AS (
  SELECT
    "anon_whole"."anon_key_0",
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_0",
    "anon_view_0"."anon_certain_share_0",
    "anon_view_0"."anon_measure_1",
    "anon_view_0"."anon_certain_share_1"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
), "anon_labelled" AS (
  SELECT
    *,
    "anon_key_0" & 6917529027641081856 AS "anon_bits_0_4_0"
  FROM "anon_keyed"
), "anon_classes" AS (
  SELECT
    "anon_labelled"."anon_class_size",
    "anon_labelled"."anon_measure_0",
    "anon_labelled"."anon_certain_share_0",
    "anon_labelled"."anon_measure_1",
    "anon_labelled"."anon_certain_share_1",
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
    "anon_class_size" >= 5
    AND "anon_measure_0" <= 0.40000000040000006
    AND "anon_measure_1" <= 5.000000005 AS "anon_kept",
    "anon_class_size" >= 5 AS "anon_certainly_kept",
    GREATEST("anon_certain_share_0", "anon_certain_share_1") AS "anon_certain_share",
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
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm,
  CAST(COALESCE(
    SUM(
      CASE
        WHEN "anon_certainly_kept"
        THEN CEIL("anon_class_size" * "anon_certain_share")
        ELSE "anon_class_size"
      END
    ),
    0
  ) AS BIGINT) AS "certain_suppressed_rows"
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
            "anon_classes"."anon_key_0" & 7
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
            "anon_class_size" >= 5
            AND "anon_measure_0" <= 0.40000000040000006
            AND "anon_measure_1" <= 5.000000005
          )
          AND (
            (
              (
                "anon_classes"."anon_key_0" & 7
              ) >> 0
            ) < 1
            OR (
              "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
            )
          ),
          FALSE
        ) AS "anon_is_met"
      FROM (
        WITH "anon_sensitive_0_rows" AS MATERIALIZED (
          SELECT
            "anon_key_0",
            "anon_sensitive_0",
            CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
          FROM (
            SELECT
              "anon_key_0" & 6917529027641081863 AS "anon_key_0",
              "anon_sensitive_0",
              "anon_sensitive_1",
              "anon_row_count"
            FROM "temp"."main"."anon_cells"
          ) AS "anon_cells"
          GROUP BY
            "anon_key_0",
            "anon_sensitive_0"
        ), "anon_sensitive_0_sizes" AS MATERIALIZED (
          SELECT
            "anon_key_0",
            CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
          FROM "anon_sensitive_0_rows"
          GROUP BY
            "anon_key_0"
        )
        SELECT
          "anon_whole"."anon_key_0",
          "anon_whole"."anon_class_size",
          "anon_view_0"."anon_measure_0",
          "anon_view_0"."anon_measure_1",
          "anon_view_1"."anon_measure_2",
          "anon_view_1"."anon_measure_3"
        FROM (
          SELECT
            "anon_key_0",
            "anon_value_size" AS "anon_class_size"
          FROM "anon_sensitive_0_sizes"
        ) AS "anon_whole"
        LEFT JOIN (
          SELECT
            "anon_key_0",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_0",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
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
              JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
              JOIN "temp"."main"."anon_values_0" AS anon_known
                ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
              JOIN "temp"."main"."anon_reference_work_0" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_0" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
        LEFT JOIN (
          WITH "anon_sensitive_1_rows" AS MATERIALIZED (
            SELECT
              "anon_key_0",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_key_0" & 6917529027641081863 AS "anon_key_0",
                "anon_sensitive_0",
                "anon_sensitive_1",
                "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY
              "anon_key_0",
              "anon_sensitive_1"
          ), "anon_sensitive_1_sizes" AS MATERIALIZED (
            SELECT
              "anon_key_0",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_1_rows"
            GROUP BY
              "anon_key_0"
          )
          SELECT
            "anon_key_0",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_2",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_3"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_key_0"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_key_0"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_key_0"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_1_rows" AS "anon_values"
              JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
              JOIN "temp"."main"."anon_values_1" AS anon_known
                ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
              JOIN "temp"."main"."anon_reference_work_1" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_1" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_view_1"
          ON "anon_whole"."anon_key_0" = "anon_view_1"."anon_key_0"
      ) AS "anon_classes"
    )
    SELECT
      "anon_measured".*,
      COALESCE("anon_hidden"."anon_hides_well", TRUE) AS "anon_hides_well"
    FROM "anon_measured"
    LEFT JOIN (
      SELECT
        "anon_earlier",
        "anon_class_size" >= 5
        AND (
          "anon_earlier" < 1
          OR (
            "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
          )
        ) AS "anon_hides_well"
      FROM (
        SELECT
          "anon_whole"."anon_earlier",
          "anon_whole"."anon_class_size",
          "anon_view_0"."anon_measure_0",
          "anon_view_0"."anon_measure_1",
          "anon_view_1"."anon_measure_2",
          "anon_view_1"."anon_measure_3"
        FROM (
          SELECT
            "anon_earlier",
            CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
          FROM (
            SELECT
              (
                (
                  "anon_cells"."anon_key_0" & 7
                ) >> 0
              ) AS "anon_earlier",
              "anon_cells"."anon_sensitive_0",
              "anon_cells"."anon_sensitive_1",
              "anon_cells"."anon_row_count"
            FROM (
              SELECT
                "anon_key_0" & 6917529027641081863 AS "anon_key_0",
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
                  "anon_cells"."anon_key_0" & 7
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
            "anon_earlier"
        ) AS "anon_whole"
        LEFT JOIN (
          WITH "anon_sensitive_0_rows" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              "anon_sensitive_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 7
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 6917529027641081863 AS "anon_key_0",
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
                    "anon_cells"."anon_key_0" & 7
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
          ), "anon_sensitive_0_sizes" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_0_rows"
            GROUP BY
              "anon_earlier"
          )
          SELECT
            "anon_earlier",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_0",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_0_rows" AS "anon_values"
              JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
              JOIN "temp"."main"."anon_values_0" AS anon_known
                ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
              JOIN "temp"."main"."anon_reference_work_0" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_0" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
        LEFT JOIN (
          WITH "anon_sensitive_1_rows" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 7
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 6917529027641081863 AS "anon_key_0",
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
                    "anon_cells"."anon_key_0" & 7
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
          ), "anon_sensitive_1_sizes" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_1_rows"
            GROUP BY
              "anon_earlier"
          )
          SELECT
            "anon_earlier",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_2",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_3"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_1_rows" AS "anon_values"
              JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
              JOIN "temp"."main"."anon_values_1" AS anon_known
                ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
              JOIN "temp"."main"."anon_reference_work_1" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_1" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_view_1"
          ON "anon_whole"."anon_earlier" = "anon_view_1"."anon_earlier"
      ) AS "anon_together"
    ) AS "anon_hidden"
      ON (
        (
          "anon_measured"."anon_key_0" & 7
        ) >> 0
      ) = "anon_hidden"."anon_earlier"
  ) AS "anon_classes"
), "anon_cells" AS (
  SELECT
    "anon_key_0" & 6917529027641081863 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 7
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
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_whole" AS (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_hidden_cells"
  GROUP BY
    "anon_earlier"
), "anon_cells_2" AS (
  SELECT
    "anon_key_0" & 6917529027641081863 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells_2" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 7
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
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells_2" AS "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_earlier"
), "anon_in_order" AS (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_share",
    "anon_work"."reference_rows",
    "anon_work"."position",
    "anon_work"."work_below",
    "anon_work"."work_above",
    "anon_work"."most_work",
    CAST(SUM("anon_values"."anon_rows") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS "anon_rows_up_to",
    LEAD("anon_work"."position") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_position",
    LEAD("anon_work"."work_below") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_work_below"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
  JOIN "temp"."main"."anon_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
  JOIN "temp"."main"."anon_reference_work_0" AS anon_work
    ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
), "anon_values" AS (
  SELECT
    "anon_in_order".*,
    (
      "anon_rows_up_to" * "reference_rows" * (
        ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
      ) + "anon_value_size" * (
        ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
      )
    ) AS "anon_work_between"
  FROM "anon_in_order"
  LEFT JOIN "temp"."main"."anon_reference_crossings_0" AS anon_crossings
    ON "anon_crossings"."slot" = CAST(FLOOR((
      "anon_rows_up_to" / "anon_value_size"
    ) * 1024e0) AS BIGINT)
    AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
    AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
), "anon_view_0" AS (
  SELECT
    "anon_earlier",
    (
      (
        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
          MIN("work_below") + MIN("work_above")
        )
      ) / (
        SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
      )
    ) AS "anon_measure_0",
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE("anon_share", 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE "anon_rows" / "anon_share"
            END
          )
        ) / SUM("anon_rows") - 1,
        0.0
      )
    ) AS "anon_measure_1"
  FROM "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_cells_3" AS (
  SELECT
    "anon_key_0" & 6917529027641081863 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells_3" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    ) AS "anon_earlier",
    "anon_cells"."anon_sensitive_0",
    "anon_cells"."anon_sensitive_1",
    "anon_cells"."anon_row_count"
  FROM "anon_cells_3" AS "anon_cells"
  JOIN "anon_measured"
    ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
  WHERE
    NOT "anon_measured"."anon_is_met"
    AND GREATEST((
      (
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_sensitive_1_rows" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    "anon_sensitive_1",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells_3" AS "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_1"
), "anon_sensitive_1_sizes" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_1_rows"
  GROUP BY
    "anon_earlier"
), "anon_in_order_2" AS (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_share",
    "anon_work"."reference_rows",
    "anon_work"."position",
    "anon_work"."work_below",
    "anon_work"."work_above",
    "anon_work"."most_work",
    CAST(SUM("anon_values"."anon_rows") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS "anon_rows_up_to",
    LEAD("anon_work"."position") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_position",
    LEAD("anon_work"."work_below") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_work_below"
  FROM "anon_sensitive_1_rows" AS "anon_values"
  JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
  JOIN "temp"."main"."anon_values_1" AS anon_known
    ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
  JOIN "temp"."main"."anon_reference_work_1" AS anon_work
    ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
), "anon_values_2" AS (
  SELECT
    "anon_in_order".*,
    (
      "anon_rows_up_to" * "reference_rows" * (
        ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
      ) + "anon_value_size" * (
        ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
      )
    ) AS "anon_work_between"
  FROM "anon_in_order_2" AS "anon_in_order"
  LEFT JOIN "temp"."main"."anon_reference_crossings_1" AS anon_crossings
    ON "anon_crossings"."slot" = CAST(FLOOR((
      "anon_rows_up_to" / "anon_value_size"
    ) * 1024e0) AS BIGINT)
    AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
    AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
), "anon_view_1" AS (
  SELECT
    "anon_earlier",
    (
      (
        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
          MIN("work_below") + MIN("work_above")
        )
      ) / (
        SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
      )
    ) AS "anon_measure_2",
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE("anon_share", 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE "anon_rows" / "anon_share"
            END
          )
        ) / SUM("anon_rows") - 1,
        0.0
      )
    ) AS "anon_measure_3"
  FROM "anon_values_2" AS "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_together" AS (
  SELECT
    "anon_whole"."anon_earlier",
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_0",
    "anon_view_0"."anon_measure_1",
    "anon_view_1"."anon_measure_2",
    "anon_view_1"."anon_measure_3"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
  LEFT JOIN "anon_view_1"
    ON "anon_whole"."anon_earlier" = "anon_view_1"."anon_earlier"
), "anon_hidden" AS (
  SELECT
    "anon_earlier",
    "anon_class_size" >= 5
    AND (
      "anon_earlier" < 1
      OR (
        "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
      )
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
        "anon_measured"."anon_key_0" & 7
      ) >> 0
    ) = "anon_hidden"."anon_earlier"
), "anon_classes_2" AS (
  SELECT
    "anon_key_0",
    "anon_class_size",
    "anon_measure_0",
    "anon_measure_1",
    "anon_measure_2",
    "anon_measure_3",
    "anon_is_met" AND "anon_hides_well" AS "anon_is_shown"
  FROM "anon_classes"
), "anon_classes_3" AS (
  SELECT
    *,
    "anon_class_size" >= 5
    AND "anon_measure_0" <= 0.40000000040000006
    AND "anon_measure_1" <= 5.000000005 AS "anon_kept"
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
), "anon_labels_0" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_0_4"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 4
)
SELECT
  "anon_kept"."anon_withheld",
  (
    (
      "anon_kept"."anon_key_0" & 7
    ) >> 0
  ) AS "anon_earlier",
  "anon_kept"."anon_key_0",
  "anon_labels_0"."anon_code_0_4"
FROM "anon_kept"
LEFT JOIN "anon_labels_0"
  ON (
    "anon_kept"."anon_key_0" & 6917529027641081856
  ) = "anon_labels_0"."anon_key_0";

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
      "anon_key_0" & 6917529027641081863 AS "anon_key_0"
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
            "anon_classes"."anon_key_0" & 7
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
            "anon_class_size" >= 5
            AND "anon_measure_0" <= 0.40000000040000006
            AND "anon_measure_1" <= 5.000000005
          )
          AND (
            (
              (
                "anon_classes"."anon_key_0" & 7
              ) >> 0
            ) < 1
            OR (
              "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
            )
          ),
          FALSE
        ) AS "anon_is_met"
      FROM (
        WITH "anon_sensitive_0_rows" AS MATERIALIZED (
          SELECT
            "anon_key_0",
            "anon_sensitive_0",
            CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
          FROM (
            SELECT
              "anon_key_0" & 6917529027641081863 AS "anon_key_0",
              "anon_sensitive_0",
              "anon_sensitive_1",
              "anon_row_count"
            FROM "temp"."main"."anon_cells"
          ) AS "anon_cells"
          GROUP BY
            "anon_key_0",
            "anon_sensitive_0"
        ), "anon_sensitive_0_sizes" AS MATERIALIZED (
          SELECT
            "anon_key_0",
            CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
          FROM "anon_sensitive_0_rows"
          GROUP BY
            "anon_key_0"
        )
        SELECT
          "anon_whole"."anon_key_0",
          "anon_whole"."anon_class_size",
          "anon_view_0"."anon_measure_0",
          "anon_view_0"."anon_measure_1",
          "anon_view_1"."anon_measure_2",
          "anon_view_1"."anon_measure_3"
        FROM (
          SELECT
            "anon_key_0",
            "anon_value_size" AS "anon_class_size"
          FROM "anon_sensitive_0_sizes"
        ) AS "anon_whole"
        LEFT JOIN (
          SELECT
            "anon_key_0",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_0",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
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
              JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
              JOIN "temp"."main"."anon_values_0" AS anon_known
                ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
              JOIN "temp"."main"."anon_reference_work_0" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_0" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
        LEFT JOIN (
          WITH "anon_sensitive_1_rows" AS MATERIALIZED (
            SELECT
              "anon_key_0",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_key_0" & 6917529027641081863 AS "anon_key_0",
                "anon_sensitive_0",
                "anon_sensitive_1",
                "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY
              "anon_key_0",
              "anon_sensitive_1"
          ), "anon_sensitive_1_sizes" AS MATERIALIZED (
            SELECT
              "anon_key_0",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_1_rows"
            GROUP BY
              "anon_key_0"
          )
          SELECT
            "anon_key_0",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_2",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_3"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_key_0"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_key_0"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_key_0"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_1_rows" AS "anon_values"
              JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
              JOIN "temp"."main"."anon_values_1" AS anon_known
                ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
              JOIN "temp"."main"."anon_reference_work_1" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_1" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_view_1"
          ON "anon_whole"."anon_key_0" = "anon_view_1"."anon_key_0"
      ) AS "anon_classes"
    )
    SELECT
      "anon_measured".*,
      COALESCE("anon_hidden"."anon_hides_well", TRUE) AS "anon_hides_well"
    FROM "anon_measured"
    LEFT JOIN (
      SELECT
        "anon_earlier",
        "anon_class_size" >= 5
        AND (
          "anon_earlier" < 1
          OR (
            "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
          )
        ) AS "anon_hides_well"
      FROM (
        SELECT
          "anon_whole"."anon_earlier",
          "anon_whole"."anon_class_size",
          "anon_view_0"."anon_measure_0",
          "anon_view_0"."anon_measure_1",
          "anon_view_1"."anon_measure_2",
          "anon_view_1"."anon_measure_3"
        FROM (
          SELECT
            "anon_earlier",
            CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
          FROM (
            SELECT
              (
                (
                  "anon_cells"."anon_key_0" & 7
                ) >> 0
              ) AS "anon_earlier",
              "anon_cells"."anon_sensitive_0",
              "anon_cells"."anon_sensitive_1",
              "anon_cells"."anon_row_count"
            FROM (
              SELECT
                "anon_key_0" & 6917529027641081863 AS "anon_key_0",
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
                  "anon_cells"."anon_key_0" & 7
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
            "anon_earlier"
        ) AS "anon_whole"
        LEFT JOIN (
          WITH "anon_sensitive_0_rows" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              "anon_sensitive_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 7
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 6917529027641081863 AS "anon_key_0",
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
                    "anon_cells"."anon_key_0" & 7
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
          ), "anon_sensitive_0_sizes" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_0_rows"
            GROUP BY
              "anon_earlier"
          )
          SELECT
            "anon_earlier",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_0",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_0_rows" AS "anon_values"
              JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
              JOIN "temp"."main"."anon_values_0" AS anon_known
                ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
              JOIN "temp"."main"."anon_reference_work_0" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_0" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
        LEFT JOIN (
          WITH "anon_sensitive_1_rows" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 7
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 6917529027641081863 AS "anon_key_0",
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
                    "anon_cells"."anon_key_0" & 7
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
          ), "anon_sensitive_1_sizes" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_1_rows"
            GROUP BY
              "anon_earlier"
          )
          SELECT
            "anon_earlier",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_2",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_3"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_1_rows" AS "anon_values"
              JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
              JOIN "temp"."main"."anon_values_1" AS anon_known
                ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
              JOIN "temp"."main"."anon_reference_work_1" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_1" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_view_1"
          ON "anon_whole"."anon_earlier" = "anon_view_1"."anon_earlier"
      ) AS "anon_together"
    ) AS "anon_hidden"
      ON (
        (
          "anon_measured"."anon_key_0" & 7
        ) >> 0
      ) = "anon_hidden"."anon_earlier"
  ) AS "anon_classes"
), "anon_cells" AS (
  SELECT
    "anon_key_0" & 6917529027641081863 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 7
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
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_whole" AS (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_hidden_cells"
  GROUP BY
    "anon_earlier"
), "anon_cells_2" AS (
  SELECT
    "anon_key_0" & 6917529027641081863 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells_2" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 7
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
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells_2" AS "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_earlier"
), "anon_in_order" AS (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_share",
    "anon_work"."reference_rows",
    "anon_work"."position",
    "anon_work"."work_below",
    "anon_work"."work_above",
    "anon_work"."most_work",
    CAST(SUM("anon_values"."anon_rows") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS "anon_rows_up_to",
    LEAD("anon_work"."position") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_position",
    LEAD("anon_work"."work_below") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_work_below"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
  JOIN "temp"."main"."anon_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
  JOIN "temp"."main"."anon_reference_work_0" AS anon_work
    ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
), "anon_values" AS (
  SELECT
    "anon_in_order".*,
    (
      "anon_rows_up_to" * "reference_rows" * (
        ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
      ) + "anon_value_size" * (
        ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
      )
    ) AS "anon_work_between"
  FROM "anon_in_order"
  LEFT JOIN "temp"."main"."anon_reference_crossings_0" AS anon_crossings
    ON "anon_crossings"."slot" = CAST(FLOOR((
      "anon_rows_up_to" / "anon_value_size"
    ) * 1024e0) AS BIGINT)
    AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
    AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
), "anon_view_0" AS (
  SELECT
    "anon_earlier",
    (
      (
        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
          MIN("work_below") + MIN("work_above")
        )
      ) / (
        SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
      )
    ) AS "anon_measure_0",
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE("anon_share", 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE "anon_rows" / "anon_share"
            END
          )
        ) / SUM("anon_rows") - 1,
        0.0
      )
    ) AS "anon_measure_1"
  FROM "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_cells_3" AS (
  SELECT
    "anon_key_0" & 6917529027641081863 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells_3" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    ) AS "anon_earlier",
    "anon_cells"."anon_sensitive_0",
    "anon_cells"."anon_sensitive_1",
    "anon_cells"."anon_row_count"
  FROM "anon_cells_3" AS "anon_cells"
  JOIN "anon_measured"
    ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
  WHERE
    NOT "anon_measured"."anon_is_met"
    AND GREATEST((
      (
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_sensitive_1_rows" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    "anon_sensitive_1",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells_3" AS "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_1"
), "anon_sensitive_1_sizes" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_1_rows"
  GROUP BY
    "anon_earlier"
), "anon_in_order_2" AS (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_share",
    "anon_work"."reference_rows",
    "anon_work"."position",
    "anon_work"."work_below",
    "anon_work"."work_above",
    "anon_work"."most_work",
    CAST(SUM("anon_values"."anon_rows") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS "anon_rows_up_to",
    LEAD("anon_work"."position") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_position",
    LEAD("anon_work"."work_below") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_work_below"
  FROM "anon_sensitive_1_rows" AS "anon_values"
  JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
  JOIN "temp"."main"."anon_values_1" AS anon_known
    ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
  JOIN "temp"."main"."anon_reference_work_1" AS anon_work
    ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
), "anon_values_2" AS (
  SELECT
    "anon_in_order".*,
    (
      "anon_rows_up_to" * "reference_rows" * (
        ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
      ) + "anon_value_size" * (
        ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
      )
    ) AS "anon_work_between"
  FROM "anon_in_order_2" AS "anon_in_order"
  LEFT JOIN "temp"."main"."anon_reference_crossings_1" AS anon_crossings
    ON "anon_crossings"."slot" = CAST(FLOOR((
      "anon_rows_up_to" / "anon_value_size"
    ) * 1024e0) AS BIGINT)
    AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
    AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
), "anon_view_1" AS (
  SELECT
    "anon_earlier",
    (
      (
        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
          MIN("work_below") + MIN("work_above")
        )
      ) / (
        SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
      )
    ) AS "anon_measure_2",
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE("anon_share", 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE "anon_rows" / "anon_share"
            END
          )
        ) / SUM("anon_rows") - 1,
        0.0
      )
    ) AS "anon_measure_3"
  FROM "anon_values_2" AS "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_together" AS (
  SELECT
    "anon_whole"."anon_earlier",
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_0",
    "anon_view_0"."anon_measure_1",
    "anon_view_1"."anon_measure_2",
    "anon_view_1"."anon_measure_3"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
  LEFT JOIN "anon_view_1"
    ON "anon_whole"."anon_earlier" = "anon_view_1"."anon_earlier"
), "anon_hidden" AS (
  SELECT
    "anon_earlier",
    "anon_class_size" >= 5
    AND (
      "anon_earlier" < 1
      OR (
        "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
      )
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
        "anon_measured"."anon_key_0" & 7
      ) >> 0
    ) = "anon_hidden"."anon_earlier"
), "anon_classes_2" AS (
  SELECT
    "anon_key_0",
    "anon_class_size",
    "anon_measure_0",
    "anon_measure_1",
    "anon_measure_2",
    "anon_measure_3",
    "anon_is_met" AND "anon_hides_well" AS "anon_is_shown"
  FROM "anon_classes"
), "anon_classes_3" AS (
  SELECT
    *,
    "anon_class_size" >= 5
    AND "anon_measure_0" <= 0.40000000040000006
    AND "anon_measure_1" <= 5.000000005 AS "anon_kept"
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
  MAX("anon_measure_0") FILTER(WHERE
    "anon_kept") AS "attained_1",
  MAX("anon_measure_1") FILTER(WHERE
    "anon_kept") AS "attained_2"
FROM "anon_judged";

-- shared: create anon_label_type_0 4;

-- shared: create anon_label_type_1 2;

-- shared: read anon_kept 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_0" AS (
  SELECT
    "value",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 4
), "anon_labelled_rows" AS (
  SELECT
    "anon_labels_0"."anon_label_0",
    CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    COALESCE("anon_persons"."anon_earlier", 0) AS "anon_earlier",
    1 AS "anon_row_count"
  FROM "memory"."main"."visits" AS anon_source
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."age", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "temp"."main"."anon_persons" AS anon_persons
    ON "anon_persons"."anon_person_0" IS NOT DISTINCT FROM "anon_source"."patient_id"
), "anon_rows" AS (
  SELECT
    "anon_label_0",
    "anon_earlier",
    "diagnosis",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "anon_labelled_rows"
  GROUP BY
    "anon_label_0",
    "anon_earlier",
    "diagnosis"
), "anon_labels_0_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_0_4",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 4
), "anon_kept" AS (
  SELECT
    TRUE AS "anon_is_kept",
    "anon_codes"."anon_earlier",
    "anon_labels_0"."anon_label_0"
  FROM "temp"."main"."anon_kept" AS anon_codes
  LEFT JOIN "anon_labels_0_2" AS "anon_labels_0"
    ON "anon_labels_0"."anon_code_0_4" = "anon_codes"."anon_code_0_4"
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
    "anon_rows"."anon_label_0" AS "anon_label_0",
    "anon_labels_1"."anon_label_1" AS "anon_label_1"
  FROM "anon_rows"
  JOIN "anon_kept"
    ON "anon_kept"."anon_label_0" IS NOT DISTINCT FROM "anon_rows"."anon_label_0"
    AND "anon_kept"."anon_earlier" IS NOT DISTINCT FROM "anon_rows"."anon_earlier"
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
  (
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 4) AS BIGINT) << 60
  ) ASC,
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
    "position" = 0 AND "depth" = 3
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
            "anon_classes"."anon_key_0" & 7
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
            "anon_class_size" >= 5
            AND "anon_measure_0" <= 0.40000000040000006
            AND "anon_measure_1" <= 5.000000005
          )
          AND (
            (
              (
                "anon_classes"."anon_key_0" & 7
              ) >> 0
            ) < 1
            OR (
              "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
            )
          ),
          FALSE
        ) AS "anon_is_met"
      FROM (
        WITH "anon_sensitive_0_rows" AS MATERIALIZED (
          SELECT
            "anon_key_0",
            "anon_sensitive_0",
            CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
          FROM (
            SELECT
              "anon_key_0" & 6917529027641081863 AS "anon_key_0",
              "anon_sensitive_0",
              "anon_sensitive_1",
              "anon_row_count"
            FROM "temp"."main"."anon_cells"
          ) AS "anon_cells"
          GROUP BY
            "anon_key_0",
            "anon_sensitive_0"
        ), "anon_sensitive_0_sizes" AS MATERIALIZED (
          SELECT
            "anon_key_0",
            CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
          FROM "anon_sensitive_0_rows"
          GROUP BY
            "anon_key_0"
        )
        SELECT
          "anon_whole"."anon_key_0",
          "anon_whole"."anon_class_size",
          "anon_view_0"."anon_measure_0",
          "anon_view_0"."anon_measure_1",
          "anon_view_1"."anon_measure_2",
          "anon_view_1"."anon_measure_3"
        FROM (
          SELECT
            "anon_key_0",
            "anon_value_size" AS "anon_class_size"
          FROM "anon_sensitive_0_sizes"
        ) AS "anon_whole"
        LEFT JOIN (
          SELECT
            "anon_key_0",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_0",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
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
              JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
              JOIN "temp"."main"."anon_values_0" AS anon_known
                ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
              JOIN "temp"."main"."anon_reference_work_0" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_0" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_key_0" = "anon_view_0"."anon_key_0"
        LEFT JOIN (
          WITH "anon_sensitive_1_rows" AS MATERIALIZED (
            SELECT
              "anon_key_0",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                "anon_key_0" & 6917529027641081863 AS "anon_key_0",
                "anon_sensitive_0",
                "anon_sensitive_1",
                "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY
              "anon_key_0",
              "anon_sensitive_1"
          ), "anon_sensitive_1_sizes" AS MATERIALIZED (
            SELECT
              "anon_key_0",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_1_rows"
            GROUP BY
              "anon_key_0"
          )
          SELECT
            "anon_key_0",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_2",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_3"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_key_0"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_key_0"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_key_0"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_1_rows" AS "anon_values"
              JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_key_0" = "anon_values"."anon_key_0"
              JOIN "temp"."main"."anon_values_1" AS anon_known
                ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
              JOIN "temp"."main"."anon_reference_work_1" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_1" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_key_0"
        ) AS "anon_view_1"
          ON "anon_whole"."anon_key_0" = "anon_view_1"."anon_key_0"
      ) AS "anon_classes"
    )
    SELECT
      "anon_measured".*,
      COALESCE("anon_hidden"."anon_hides_well", TRUE) AS "anon_hides_well"
    FROM "anon_measured"
    LEFT JOIN (
      SELECT
        "anon_earlier",
        "anon_class_size" >= 5
        AND (
          "anon_earlier" < 1
          OR (
            "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
          )
        ) AS "anon_hides_well"
      FROM (
        SELECT
          "anon_whole"."anon_earlier",
          "anon_whole"."anon_class_size",
          "anon_view_0"."anon_measure_0",
          "anon_view_0"."anon_measure_1",
          "anon_view_1"."anon_measure_2",
          "anon_view_1"."anon_measure_3"
        FROM (
          SELECT
            "anon_earlier",
            CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
          FROM (
            SELECT
              (
                (
                  "anon_cells"."anon_key_0" & 7
                ) >> 0
              ) AS "anon_earlier",
              "anon_cells"."anon_sensitive_0",
              "anon_cells"."anon_sensitive_1",
              "anon_cells"."anon_row_count"
            FROM (
              SELECT
                "anon_key_0" & 6917529027641081863 AS "anon_key_0",
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
                  "anon_cells"."anon_key_0" & 7
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
            "anon_earlier"
        ) AS "anon_whole"
        LEFT JOIN (
          WITH "anon_sensitive_0_rows" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              "anon_sensitive_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 7
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 6917529027641081863 AS "anon_key_0",
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
                    "anon_cells"."anon_key_0" & 7
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
          ), "anon_sensitive_0_sizes" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_0_rows"
            GROUP BY
              "anon_earlier"
          )
          SELECT
            "anon_earlier",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_0",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_0_rows" AS "anon_values"
              JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
              JOIN "temp"."main"."anon_values_0" AS anon_known
                ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
              JOIN "temp"."main"."anon_reference_work_0" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_0" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
        LEFT JOIN (
          WITH "anon_sensitive_1_rows" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              "anon_sensitive_1",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
            FROM (
              SELECT
                (
                  (
                    "anon_cells"."anon_key_0" & 7
                  ) >> 0
                ) AS "anon_earlier",
                "anon_cells"."anon_sensitive_0",
                "anon_cells"."anon_sensitive_1",
                "anon_cells"."anon_row_count"
              FROM (
                SELECT
                  "anon_key_0" & 6917529027641081863 AS "anon_key_0",
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
                    "anon_cells"."anon_key_0" & 7
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
          ), "anon_sensitive_1_sizes" AS MATERIALIZED (
            SELECT
              "anon_earlier",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_1_rows"
            GROUP BY
              "anon_earlier"
          )
          SELECT
            "anon_earlier",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_2",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_3"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_earlier"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_1_rows" AS "anon_values"
              JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
              JOIN "temp"."main"."anon_values_1" AS anon_known
                ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
              JOIN "temp"."main"."anon_reference_work_1" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_reference_crossings_1" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_earlier"
        ) AS "anon_view_1"
          ON "anon_whole"."anon_earlier" = "anon_view_1"."anon_earlier"
      ) AS "anon_together"
    ) AS "anon_hidden"
      ON (
        (
          "anon_measured"."anon_key_0" & 7
        ) >> 0
      ) = "anon_hidden"."anon_earlier"
  ) AS "anon_classes"
), "anon_cells" AS (
  SELECT
    "anon_key_0" & 6917529027641081863 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 7
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
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_whole" AS (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_hidden_cells"
  GROUP BY
    "anon_earlier"
), "anon_cells_2" AS (
  SELECT
    "anon_key_0" & 6917529027641081863 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells_2" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 7
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
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells_2" AS "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_earlier"
), "anon_in_order" AS (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_share",
    "anon_work"."reference_rows",
    "anon_work"."position",
    "anon_work"."work_below",
    "anon_work"."work_above",
    "anon_work"."most_work",
    CAST(SUM("anon_values"."anon_rows") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS "anon_rows_up_to",
    LEAD("anon_work"."position") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_position",
    LEAD("anon_work"."work_below") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_work_below"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
  JOIN "temp"."main"."anon_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
  JOIN "temp"."main"."anon_reference_work_0" AS anon_work
    ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
), "anon_values" AS (
  SELECT
    "anon_in_order".*,
    (
      "anon_rows_up_to" * "reference_rows" * (
        ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
      ) + "anon_value_size" * (
        ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
      )
    ) AS "anon_work_between"
  FROM "anon_in_order"
  LEFT JOIN "temp"."main"."anon_reference_crossings_0" AS anon_crossings
    ON "anon_crossings"."slot" = CAST(FLOOR((
      "anon_rows_up_to" / "anon_value_size"
    ) * 1024e0) AS BIGINT)
    AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
    AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
), "anon_view_0" AS (
  SELECT
    "anon_earlier",
    (
      (
        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
          MIN("work_below") + MIN("work_above")
        )
      ) / (
        SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
      )
    ) AS "anon_measure_0",
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE("anon_share", 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE "anon_rows" / "anon_share"
            END
          )
        ) / SUM("anon_rows") - 1,
        0.0
      )
    ) AS "anon_measure_1"
  FROM "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_cells_3" AS (
  SELECT
    "anon_key_0" & 6917529027641081863 AS "anon_key_0",
    "anon_sensitive_0",
    "anon_sensitive_1",
    "anon_row_count"
  FROM "temp"."main"."anon_cells"
), "anon_hidden_cells_3" AS (
  SELECT
    (
      (
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    ) AS "anon_earlier",
    "anon_cells"."anon_sensitive_0",
    "anon_cells"."anon_sensitive_1",
    "anon_cells"."anon_row_count"
  FROM "anon_cells_3" AS "anon_cells"
  JOIN "anon_measured"
    ON "anon_cells"."anon_key_0" = "anon_measured"."anon_key_0"
  WHERE
    NOT "anon_measured"."anon_is_met"
    AND GREATEST((
      (
        "anon_cells"."anon_key_0" & 7
      ) >> 0
    )) > 0
  UNION ALL
  SELECT
    "anon_earlier",
    NULL AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_absent" AS "anon_row_count"
  FROM "temp"."main"."anon_absent_persons"
), "anon_sensitive_1_rows" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    "anon_sensitive_1",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells_3" AS "anon_hidden_cells"
  GROUP BY
    "anon_earlier",
    "anon_sensitive_1"
), "anon_sensitive_1_sizes" AS MATERIALIZED (
  SELECT
    "anon_earlier",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_1_rows"
  GROUP BY
    "anon_earlier"
), "anon_in_order_2" AS (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_share",
    "anon_work"."reference_rows",
    "anon_work"."position",
    "anon_work"."work_below",
    "anon_work"."work_above",
    "anon_work"."most_work",
    CAST(SUM("anon_values"."anon_rows") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS "anon_rows_up_to",
    LEAD("anon_work"."position") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_position",
    LEAD("anon_work"."work_below") OVER (
      PARTITION BY "anon_values"."anon_earlier"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_work_below"
  FROM "anon_sensitive_1_rows" AS "anon_values"
  JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_earlier" = "anon_values"."anon_earlier"
  JOIN "temp"."main"."anon_values_1" AS anon_known
    ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
  JOIN "temp"."main"."anon_reference_work_1" AS anon_work
    ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
), "anon_values_2" AS (
  SELECT
    "anon_in_order".*,
    (
      "anon_rows_up_to" * "reference_rows" * (
        ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
      ) + "anon_value_size" * (
        ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
      )
    ) AS "anon_work_between"
  FROM "anon_in_order_2" AS "anon_in_order"
  LEFT JOIN "temp"."main"."anon_reference_crossings_1" AS anon_crossings
    ON "anon_crossings"."slot" = CAST(FLOOR((
      "anon_rows_up_to" / "anon_value_size"
    ) * 1024e0) AS BIGINT)
    AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
    AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
), "anon_view_1" AS (
  SELECT
    "anon_earlier",
    (
      (
        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
          MIN("work_below") + MIN("work_above")
        )
      ) / (
        SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
      )
    ) AS "anon_measure_2",
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE("anon_share", 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE "anon_rows" / "anon_share"
            END
          )
        ) / SUM("anon_rows") - 1,
        0.0
      )
    ) AS "anon_measure_3"
  FROM "anon_values_2" AS "anon_values"
  GROUP BY
    "anon_earlier"
), "anon_together" AS (
  SELECT
    "anon_whole"."anon_earlier",
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_0",
    "anon_view_0"."anon_measure_1",
    "anon_view_1"."anon_measure_2",
    "anon_view_1"."anon_measure_3"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_earlier" = "anon_view_0"."anon_earlier"
  LEFT JOIN "anon_view_1"
    ON "anon_whole"."anon_earlier" = "anon_view_1"."anon_earlier"
), "anon_hidden" AS (
  SELECT
    "anon_earlier",
    "anon_class_size" >= 5
    AND (
      "anon_earlier" < 1
      OR (
        "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
      )
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
        "anon_measured"."anon_key_0" & 7
      ) >> 0
    ) = "anon_hidden"."anon_earlier"
), "anon_classes_2" AS (
  SELECT
    "anon_key_0",
    "anon_class_size",
    "anon_measure_0",
    "anon_measure_1",
    "anon_measure_2",
    "anon_measure_3",
    "anon_is_met" AND "anon_hides_well" AS "anon_is_shown"
  FROM "anon_classes"
), "anon_classes_3" AS (
  SELECT
    *,
    "anon_class_size" >= 5
    AND "anon_measure_0" <= 0.40000000040000006
    AND "anon_measure_1" <= 5.000000005 AS "anon_kept"
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
    "anon_cells"."anon_key_0" & 6917529027641081863
  ) = "anon_kept"."anon_key_0";

-- shared: read anon_judged_cells 2;

DROP TABLE IF EXISTS "temp"."main"."anon_judged_cells";

-- shared: read anon_cells 4;

-- shared: read taxonomy 1;

-- shared: read released 4;

WITH "anon_measured" AS (
  SELECT
    MAX(anon_distance) AS t
  FROM (
    SELECT
      (
        (
          COALESCE(FSUM(work_between), 0e0) + SUM(row_count) * (
            MIN(work_below) + MIN(work_above)
          )
        ) / (
          SUM(row_count) * GREATEST(MAX(most_work), 1e0)
        )
      ) AS anon_distance
    FROM (
      WITH anon_positions AS MATERIALIZED (
        SELECT
          *
        FROM (
          SELECT
            anon_value AS sensitive_value,
            ROW_NUMBER() OVER (ORDER BY MIN(anon_order) IS NULL ASC, MIN(anon_order) ASC, anon_value ASC) AS position,
            ANY_VALUE(anon_rows) AS row_count
          FROM (
            SELECT
              sensitive_value AS anon_value,
              value AS anon_order,
              reference_rows AS anon_rows
            FROM (
              SELECT
                value_text,
                sensitive_value,
                value,
                reference_rows,
                reference_rows / anon_all_rows AS share
              FROM (
                SELECT
                  anon_text AS value_text,
                  MAX(anon_text) OVER (PARTITION BY anon_value) AS sensitive_value,
                  anon_value AS value,
                  CASE
                    WHEN SUM(anon_known_rows) OVER () = 0
                    THEN ERROR('the reference has no row')
                    ELSE CAST(SUM(anon_known_rows) OVER (PARTITION BY anon_value) AS BIGINT)
                  END AS reference_rows,
                  SUM(anon_known_rows) OVER () AS anon_all_rows
                FROM (
                  SELECT
                    anon_text,
                    ANY_VALUE(anon_value) AS anon_value,
                    SUM(anon_is_known) AS anon_known_rows
                  FROM (
                    SELECT
                      CAST(COALESCE("diagnosis", NULL) AS TEXT) AS anon_text,
                      "diagnosis" AS anon_value,
                      0 AS anon_is_known
                    FROM "memory"."main"."released"
                    UNION ALL
                    SELECT
                      CAST(COALESCE("diagnosis", NULL) AS TEXT) AS anon_text,
                      "diagnosis" AS anon_value,
                      1 AS anon_is_known
                    FROM "memory"."main"."visits"
                  )
                  GROUP BY
                    anon_text
                )
              )
            ) AS anon_value_texts
          )
          GROUP BY
            anon_value
        ) AS anon_value_positions
      ), anon_work AS MATERIALIZED (
        SELECT
          *
        FROM (
          SELECT
            position,
            anon_all_rows AS reference_rows,
            anon_rows_up_to / NULLIF(anon_all_rows, 0e0) AS cumulative_share,
            position * anon_rows_up_to - anon_moment AS work_below,
            (
              anon_all_moment - anon_moment
            ) - position * (
              anon_all_rows - anon_rows_up_to
            ) AS work_above,
            anon_all_rows * (
              anon_positions - 1
            ) AS most_work
          FROM (
            SELECT
              position,
              CAST(SUM(row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_rows_up_to,
              CAST(SUM(position * row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_moment,
              CAST(SUM(row_count) OVER () AS DOUBLE) AS anon_all_rows,
              CAST(SUM(position * row_count) OVER () AS DOUBLE) AS anon_all_moment,
              COUNT(*) OVER () AS anon_positions
            FROM QUERY_TABLE(
              (
                CASE
                  WHEN TYPEOF('anon_positions') = 'VARCHAR'
                  THEN CAST_TO_TYPE(
                    (
                      CASE
                        WHEN REGEXP_FULL_MATCH(
                          CAST('anon_positions' AS TEXT),
                          '("([^"]|"")*"|[^"./]+)([.]("([^"]|"")*"|[^"./]+))*'
                        )
                        OR NOT REGEXP_MATCHES(CAST('anon_positions' AS TEXT), '["/]')
                        THEN CAST('anon_positions' AS TEXT)
                        WHEN CONTAINS(CAST('anon_positions' AS TEXT), '"') AND VERSION() < 'v2'
                        THEN ERROR(
                          CONCAT(
                            'DuckDB 1.5 finds no path with a double quote here: make a view, CREATE VIEW visits AS FROM read_csv(''...''), ',
                            'or read_parquet, and name that'
                          )
                        )
                        ELSE CONCAT('"', REPLACE(CAST('anon_positions' AS TEXT), '"', '""'), '"')
                      END
                    ),
                    'anon_positions'
                  )
                  WHEN TYPEOF('anon_positions') LIKE 'VARCHAR[%'
                  THEN CAST_TO_TYPE(
                    LIST_TRANSFORM(
                      CAST('anon_positions' AS TEXT[]),
                      LAMBDA anon_name : (
                        CASE
                          WHEN REGEXP_FULL_MATCH(anon_name, '("([^"]|"")*"|[^"./]+)([.]("([^"]|"")*"|[^"./]+))*')
                          OR NOT REGEXP_MATCHES(anon_name, '["/]')
                          THEN anon_name
                          WHEN CONTAINS(anon_name, '"') AND VERSION() < 'v2'
                          THEN ERROR(
                            CONCAT(
                              'DuckDB 1.5 finds no path with a double quote here: make a view, CREATE VIEW visits AS FROM read_csv(''...''), ',
                              'or read_parquet, and name that'
                            )
                          )
                          ELSE CONCAT('"', REPLACE(anon_name, '"', '""'), '"')
                        END
                      )
                    ),
                    'anon_positions'
                  )
                  ELSE 'anon_positions'
                END
              )
            )
          )
        ) AS anon_reference_work
      ), anon_values AS (
        SELECT
          anon_counts.class AS anon_class,
          anon_counts.class_size AS anon_size,
          anon_counts.row_count AS anon_rows,
          SUM(anon_counts.row_count) OVER anon_up_to_here AS anon_rows_up_to,
          LEAD(anon_work.position) OVER anon_up_to_here AS anon_next_position,
          LEAD(anon_work.work_below) OVER anon_up_to_here AS anon_next_work,
          anon_work.*
        FROM (
          SELECT
            anon_counts.class,
            CAST(SUM(SUM(anon_counts.row_count)) OVER (PARTITION BY anon_counts.class) AS BIGINT) AS class_size,
            anon_texts.sensitive_value,
            CAST(SUM(anon_counts.row_count) AS BIGINT) AS row_count,
            ANY_VALUE(anon_texts.share) AS reference_share
          FROM (
            SELECT
              ROW("age", "sex") AS class,
              "diagnosis" AS sensitive_value,
              COUNT(*) AS row_count
            FROM "memory"."main"."released"
            GROUP BY ALL
          ) AS anon_counts
          INNER JOIN (
            SELECT
              value_text,
              sensitive_value,
              value,
              reference_rows,
              reference_rows / anon_all_rows AS share
            FROM (
              SELECT
                anon_text AS value_text,
                MAX(anon_text) OVER (PARTITION BY anon_value) AS sensitive_value,
                anon_value AS value,
                CASE
                  WHEN SUM(anon_known_rows) OVER () = 0
                  THEN ERROR('the reference has no row')
                  ELSE CAST(SUM(anon_known_rows) OVER (PARTITION BY anon_value) AS BIGINT)
                END AS reference_rows,
                SUM(anon_known_rows) OVER () AS anon_all_rows
              FROM (
                SELECT
                  anon_text,
                  ANY_VALUE(anon_value) AS anon_value,
                  SUM(anon_is_known) AS anon_known_rows
                FROM (
                  SELECT
                    CAST(COALESCE("diagnosis", NULL) AS TEXT) AS anon_text,
                    "diagnosis" AS anon_value,
                    0 AS anon_is_known
                  FROM "memory"."main"."released"
                  UNION ALL
                  SELECT
                    CAST(COALESCE("diagnosis", NULL) AS TEXT) AS anon_text,
                    "diagnosis" AS anon_value,
                    1 AS anon_is_known
                  FROM "memory"."main"."visits"
                )
                GROUP BY
                  anon_text
              )
            )
          ) AS anon_texts
            ON anon_texts.value_text IS NOT DISTINCT FROM CAST(COALESCE(anon_counts.sensitive_value, NULL) AS TEXT)
          GROUP BY
            anon_counts.class,
            anon_texts.sensitive_value
        ) AS anon_counts
        INNER JOIN anon_positions
          ON anon_positions.sensitive_value IS NOT DISTINCT FROM anon_counts.sensitive_value
        INNER JOIN anon_work
          ON anon_work.position = anon_positions.position
        WINDOW anon_up_to_here AS (
          PARTITION BY anon_counts.class
          ORDER BY anon_work.position ASC
          ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
      )
      SELECT
        anon_values.anon_class AS class,
        anon_values.position,
        anon_values.anon_rows AS row_count,
        (
          anon_values.anon_rows_up_to * anon_values.reference_rows * (
            ABS(CAST(anon_crossings.crossing AS DOUBLE) - anon_values.position) - ABS(CAST(anon_values.anon_next_position AS DOUBLE) - anon_crossings.crossing)
          ) + anon_values.anon_size * (
            ABS(anon_values.anon_next_work - anon_crossings.crossing_work) - ABS(anon_crossings.crossing_work - anon_values.work_below)
          )
        ) AS work_between,
        anon_values.work_below,
        anon_values.work_above,
        anon_values.most_work
      FROM anon_values
      LEFT JOIN (
        SELECT
          UNNEST(
            RANGE(
              CAST(FLOOR(anon_least_share * 1024e0) AS BIGINT),
              CAST(FLOOR(anon_next_share * 1024e0) AS BIGINT) + 1
            )
          ) AS slot,
          anon_least_share AS least_share,
          anon_next_share AS next_share,
          anon_position AS crossing,
          anon_work AS crossing_work
        FROM (
          SELECT
            position AS anon_position,
            work_below AS anon_work,
            COALESCE(LAG(cumulative_share) OVER (ORDER BY position ASC), 0e0) AS anon_least_share,
            cumulative_share AS anon_next_share
          FROM QUERY_TABLE(
            (
              CASE
                WHEN TYPEOF('anon_work') = 'VARCHAR'
                THEN CAST_TO_TYPE(
                  (
                    CASE
                      WHEN REGEXP_FULL_MATCH(CAST('anon_work' AS TEXT), '("([^"]|"")*"|[^"./]+)([.]("([^"]|"")*"|[^"./]+))*')
                      OR NOT REGEXP_MATCHES(CAST('anon_work' AS TEXT), '["/]')
                      THEN CAST('anon_work' AS TEXT)
                      WHEN CONTAINS(CAST('anon_work' AS TEXT), '"') AND VERSION() < 'v2'
                      THEN ERROR(
                        CONCAT(
                          'DuckDB 1.5 finds no path with a double quote here: make a view, CREATE VIEW visits AS FROM read_csv(''...''), ',
                          'or read_parquet, and name that'
                        )
                      )
                      ELSE CONCAT('"', REPLACE(CAST('anon_work' AS TEXT), '"', '""'), '"')
                    END
                  ),
                  'anon_work'
                )
                WHEN TYPEOF('anon_work') LIKE 'VARCHAR[%'
                THEN CAST_TO_TYPE(
                  LIST_TRANSFORM(
                    CAST('anon_work' AS TEXT[]),
                    LAMBDA anon_name : (
                      CASE
                        WHEN REGEXP_FULL_MATCH(anon_name, '("([^"]|"")*"|[^"./]+)([.]("([^"]|"")*"|[^"./]+))*')
                        OR NOT REGEXP_MATCHES(anon_name, '["/]')
                        THEN anon_name
                        WHEN CONTAINS(anon_name, '"') AND VERSION() < 'v2'
                        THEN ERROR(
                          CONCAT(
                            'DuckDB 1.5 finds no path with a double quote here: make a view, CREATE VIEW visits AS FROM read_csv(''...''), ',
                            'or read_parquet, and name that'
                          )
                        )
                        ELSE CONCAT('"', REPLACE(anon_name, '"', '""'), '"')
                      END
                    )
                  ),
                  'anon_work'
                )
                ELSE 'anon_work'
              END
            )
          )
        )
        WHERE
          anon_least_share < anon_next_share
      ) AS anon_crossings
        ON anon_crossings.slot = CAST(FLOOR((
          anon_values.anon_rows_up_to / anon_values.anon_size
        ) * 1024e0) AS BIGINT)
        AND anon_crossings.least_share <= anon_values.anon_rows_up_to / anon_values.anon_size
        AND anon_crossings.next_share > anon_values.anon_rows_up_to / anon_values.anon_size
    ) AS anon_class_distributions
    GROUP BY
      class
  )
)
SELECT
  "t" AS "attained"
FROM "anon_measured";

WITH "anon_counts" AS (
  SELECT
    ROW("age", "sex") AS class,
    "diagnosis" AS sensitive_value,
    COUNT(*) AS row_count
  FROM "memory"."main"."released"
  GROUP BY ALL
), "anon_texts" AS (
  SELECT
    value_text,
    sensitive_value,
    value,
    reference_rows,
    reference_rows / anon_all_rows AS share
  FROM (
    SELECT
      anon_text AS value_text,
      MAX(anon_text) OVER (PARTITION BY anon_value) AS sensitive_value,
      anon_value AS value,
      CASE
        WHEN SUM(anon_known_rows) OVER () = 0
        THEN ERROR('the reference has no row')
        ELSE CAST(SUM(anon_known_rows) OVER (PARTITION BY anon_value) AS BIGINT)
      END AS reference_rows,
      SUM(anon_known_rows) OVER () AS anon_all_rows
    FROM (
      SELECT
        anon_text,
        ANY_VALUE(anon_value) AS anon_value,
        SUM(anon_is_known) AS anon_known_rows
      FROM (
        SELECT
          CAST(COALESCE("diagnosis", NULL) AS TEXT) AS anon_text,
          "diagnosis" AS anon_value,
          0 AS anon_is_known
        FROM "memory"."main"."released"
        UNION ALL
        SELECT
          CAST(COALESCE("diagnosis", NULL) AS TEXT) AS anon_text,
          "diagnosis" AS anon_value,
          1 AS anon_is_known
        FROM "memory"."main"."visits"
      )
      GROUP BY
        anon_text
    )
  )
), "anon_class_frequencies" AS (
  SELECT
    anon_counts.class,
    CAST(SUM(SUM(anon_counts.row_count)) OVER (PARTITION BY anon_counts.class) AS BIGINT) AS class_size,
    anon_texts.sensitive_value,
    CAST(SUM(anon_counts.row_count) AS BIGINT) AS row_count,
    ANY_VALUE(anon_texts.share) AS reference_share
  FROM "anon_counts"
  INNER JOIN "anon_texts"
    ON anon_texts.value_text IS NOT DISTINCT FROM CAST(COALESCE(anon_counts.sensitive_value, NULL) AS TEXT)
  GROUP BY
    anon_counts.class,
    anon_texts.sensitive_value
), "anon_class_closeness" AS (
  SELECT
    ANY_VALUE(class_size) AS class_size,
    (
      FSUM(GREATEST(row_count / class_size - COALESCE(reference_share, 0.0), 0.0))
    ) AS equal_distance,
    (
      GREATEST(
        LN(
          MAX(
            (
              CASE
                WHEN COALESCE(reference_share, 0.0) = 0.0
                THEN CAST('infinity' AS DOUBLE)
                ELSE row_count / reference_share
              END
            )
          ) / SUM(row_count)
        ),
        -LN(
          MIN(
            (
              CASE
                WHEN COALESCE(reference_share, 0.0) = 0.0
                THEN CAST('infinity' AS DOUBLE)
                ELSE row_count / reference_share
              END
            )
          ) / SUM(row_count)
        )
      ) / LN(2.0)
    ) AS disclosure,
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE(reference_share, 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE row_count / reference_share
            END
          )
        ) / SUM(row_count) - 1,
        0.0
      )
    ) AS basic_likeness,
    (
      CASE
        WHEN MAX(
          (
            CASE
              WHEN COALESCE(reference_share, 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE row_count / reference_share
            END
          ) / (
            1 - LN(NULLIF(reference_share, 0.0))
          )
        ) > SUM(row_count)
        THEN CAST('infinity' AS DOUBLE)
        ELSE (
          GREATEST(
            MAX(
              (
                CASE
                  WHEN COALESCE(reference_share, 0.0) = 0.0
                  THEN CAST('infinity' AS DOUBLE)
                  ELSE row_count / reference_share
                END
              )
            ) / SUM(row_count) - 1,
            0.0
          )
        )
      END
    ) AS enhanced_likeness
  FROM "anon_class_frequencies"
  GROUP BY
    class
), "anon_measured" AS (
  SELECT
    MAX(basic_likeness) AS basic,
    MAX(enhanced_likeness) AS enhanced
  FROM "anon_class_closeness"
)
SELECT
  "basic" AS "attained"
FROM "anon_measured";

CREATE TEMPORARY TABLE "temp"."main"."anon_released_classes_1" AS
WITH "anon_counted" AS (
  SELECT
    "anon_label_0",
    COUNT(*) AS anon_released_rows
  FROM (
    SELECT
      TRUE AS anon_is_released,
      CAST(COALESCE("age", NULL) AS TEXT) COLLATE "binary" AS "anon_label_0"
    FROM "memory"."main"."released" AS anon_released
  )
  GROUP BY
    "anon_label_0"
  HAVING
    COUNT(*) > 0
), "anon_labels_0" AS (
  SELECT DISTINCT
    "anon_key_0",
    "label"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 4
), "anon_labelled" AS (
  SELECT
    "anon_counted"."anon_label_0",
    "anon_counted"."anon_released_rows",
    "anon_labels_0"."anon_key_0" AS "anon_key_0"
  FROM "anon_counted"
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."label" IS NOT DISTINCT FROM "anon_counted"."anon_label_0"
)
SELECT
  *,
  CAST(ROW_NUMBER() OVER (ORDER BY "anon_key_0" ASC NULLS FIRST) AS UINTEGER) AS "anon_class_1"
FROM "anon_labelled";

CREATE TEMPORARY TABLE "temp"."main"."anon_persons_of_1" AS
WITH "anon_numbered" AS (
  SELECT
    (
      (
        "anon_keyed_rows"."anon_key_0" & 7
      ) >> 0
    ) AS "anon_class_0",
    CAST(DENSE_RANK() OVER (ORDER BY "anon_keyed_rows"."diagnosis" ASC) AS UINTEGER) AS "diagnosis",
    "anon_keyed_rows"."anon_value_0_0",
    COALESCE("anon_released_classes_1"."anon_class_1", 0) AS "anon_class_1"
  FROM "temp"."main"."anon_keyed_rows" AS anon_keyed_rows
  LEFT JOIN "temp"."main"."anon_released_classes_1" AS anon_released_classes_1
    ON (
      "anon_keyed_rows"."anon_key_0" & 6917529027641081856
    ) = "anon_released_classes_1"."anon_key_0"
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

CREATE TEMPORARY TABLE "temp"."main"."anon_reference_of_diagnosis" AS
SELECT
  "diagnosis" AS anon_code,
  CAST(SUM(anon_rows) AS BIGINT) AS anon_rows
FROM "temp"."main"."anon_persons_of_1" AS anon_persons
WHERE
  "diagnosis" > 0
GROUP BY
  "diagnosis";

-- shared: create anon_person_values_0 1;

-- shared: create anon_person_values_1 1;

-- shared: create anon_person_reference_work_0 1;

-- shared: create anon_person_reference_crossings_0 1;

-- shared: create anon_person_reference_work_1 1;

-- shared: create anon_person_reference_crossings_1 1;

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
              "anon_class_size" >= 5
              AND "anon_measure_0" <= 0.40000000040000006
              AND "anon_measure_1" <= 5.000000005
            )
          )
          AND (
            "anon_classes"."anon_class_0" < 1
            OR (
              "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
            )
          ),
          FALSE
        ) AS "anon_is_met"
      FROM (
        SELECT
          "anon_whole"."anon_class_0",
          "anon_whole"."anon_class_1",
          "anon_whole"."anon_class_size",
          "anon_view_0"."anon_measure_0",
          "anon_view_0"."anon_measure_1",
          "anon_view_1"."anon_measure_2",
          "anon_view_1"."anon_measure_3"
        FROM (
          SELECT
            "anon_class_0",
            "anon_class_1",
            CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
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
            "anon_class_1"
        ) AS "anon_whole"
        LEFT JOIN (
          WITH "anon_sensitive_0_rows" AS MATERIALIZED (
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
          ), "anon_sensitive_0_sizes" AS MATERIALIZED (
            SELECT
              "anon_class_0",
              "anon_class_1",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_0_rows"
            GROUP BY
              "anon_class_0",
              "anon_class_1"
          )
          SELECT
            "anon_class_0",
            "anon_class_1",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_0",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_class_0", "anon_values"."anon_class_1"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_class_0", "anon_values"."anon_class_1"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_class_0", "anon_values"."anon_class_1"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_0_rows" AS "anon_values"
              JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_class_0" = "anon_values"."anon_class_0"
                AND "anon_sizes"."anon_class_1" = "anon_values"."anon_class_1"
              JOIN "temp"."main"."anon_person_values_0" AS anon_known
                ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
              JOIN "temp"."main"."anon_person_reference_work_0" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_person_reference_crossings_0" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_class_0",
            "anon_class_1"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_class_0" = "anon_view_0"."anon_class_0"
          AND "anon_whole"."anon_class_1" = "anon_view_0"."anon_class_1"
        LEFT JOIN (
          WITH "anon_sensitive_1_rows" AS MATERIALIZED (
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
          ), "anon_sensitive_1_sizes" AS MATERIALIZED (
            SELECT
              "anon_class_0",
              "anon_class_1",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_1_rows"
            GROUP BY
              "anon_class_0",
              "anon_class_1"
          )
          SELECT
            "anon_class_0",
            "anon_class_1",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_2",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_3"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_class_0", "anon_values"."anon_class_1"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_class_0", "anon_values"."anon_class_1"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_class_0", "anon_values"."anon_class_1"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_1_rows" AS "anon_values"
              JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_class_0" = "anon_values"."anon_class_0"
                AND "anon_sizes"."anon_class_1" = "anon_values"."anon_class_1"
              JOIN "temp"."main"."anon_person_values_1" AS anon_known
                ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
              JOIN "temp"."main"."anon_person_reference_work_1" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_person_reference_crossings_1" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_class_0",
            "anon_class_1"
        ) AS "anon_view_1"
          ON "anon_whole"."anon_class_0" = "anon_view_1"."anon_class_0"
          AND "anon_whole"."anon_class_1" = "anon_view_1"."anon_class_1"
      ) AS "anon_classes"
    )
    SELECT
      "anon_measured".*,
      COALESCE("anon_hidden"."anon_hides_well", TRUE) AS "anon_hides_well"
    FROM "anon_measured"
    LEFT JOIN (
      SELECT
        "anon_class_0",
        "anon_class_size" >= 5
        AND (
          "anon_class_0" < 1
          OR (
            "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
          )
        ) AS "anon_hides_well"
      FROM (
        SELECT
          "anon_whole"."anon_class_0",
          "anon_whole"."anon_class_size",
          "anon_view_0"."anon_measure_0",
          "anon_view_0"."anon_measure_1",
          "anon_view_1"."anon_measure_2",
          "anon_view_1"."anon_measure_3"
        FROM (
          SELECT
            "anon_class_0",
            CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
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
            "anon_class_0"
        ) AS "anon_whole"
        LEFT JOIN (
          WITH "anon_sensitive_0_rows" AS MATERIALIZED (
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
          ), "anon_sensitive_0_sizes" AS MATERIALIZED (
            SELECT
              "anon_class_0",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_0_rows"
            GROUP BY
              "anon_class_0"
          )
          SELECT
            "anon_class_0",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_0",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_1"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_class_0"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_class_0"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_class_0"
                  ORDER BY "anon_values"."anon_sensitive_0" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_0_rows" AS "anon_values"
              JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_class_0" = "anon_values"."anon_class_0"
              JOIN "temp"."main"."anon_person_values_0" AS anon_known
                ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
              JOIN "temp"."main"."anon_person_reference_work_0" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_person_reference_crossings_0" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_class_0"
        ) AS "anon_view_0"
          ON "anon_whole"."anon_class_0" = "anon_view_0"."anon_class_0"
        LEFT JOIN (
          WITH "anon_sensitive_1_rows" AS MATERIALIZED (
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
          ), "anon_sensitive_1_sizes" AS MATERIALIZED (
            SELECT
              "anon_class_0",
              CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
            FROM "anon_sensitive_1_rows"
            GROUP BY
              "anon_class_0"
          )
          SELECT
            "anon_class_0",
            (
              (
                COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
                  MIN("work_below") + MIN("work_above")
                )
              ) / (
                SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
              )
            ) AS "anon_measure_2",
            (
              GREATEST(
                MAX(
                  (
                    CASE
                      WHEN COALESCE("anon_share", 0.0) = 0.0
                      THEN CAST('infinity' AS DOUBLE)
                      ELSE "anon_rows" / "anon_share"
                    END
                  )
                ) / SUM("anon_rows") - 1,
                0.0
              )
            ) AS "anon_measure_3"
          FROM (
            SELECT
              "anon_in_order".*,
              (
                "anon_rows_up_to" * "reference_rows" * (
                  ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
                ) + "anon_value_size" * (
                  ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
                )
              ) AS "anon_work_between"
            FROM (
              SELECT
                "anon_values".*,
                "anon_sizes"."anon_value_size",
                "anon_known"."anon_share",
                "anon_work"."reference_rows",
                "anon_work"."position",
                "anon_work"."work_below",
                "anon_work"."work_above",
                "anon_work"."most_work",
                CAST(SUM("anon_values"."anon_rows") OVER (
                  PARTITION BY "anon_values"."anon_class_0"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS BIGINT) AS "anon_rows_up_to",
                LEAD("anon_work"."position") OVER (
                  PARTITION BY "anon_values"."anon_class_0"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_position",
                LEAD("anon_work"."work_below") OVER (
                  PARTITION BY "anon_values"."anon_class_0"
                  ORDER BY "anon_values"."anon_sensitive_1" ASC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS "anon_next_work_below"
              FROM "anon_sensitive_1_rows" AS "anon_values"
              JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
                ON "anon_sizes"."anon_class_0" = "anon_values"."anon_class_0"
              JOIN "temp"."main"."anon_person_values_1" AS anon_known
                ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
              JOIN "temp"."main"."anon_person_reference_work_1" AS anon_work
                ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
            ) AS "anon_in_order"
            LEFT JOIN "temp"."main"."anon_person_reference_crossings_1" AS anon_crossings
              ON "anon_crossings"."slot" = CAST(FLOOR((
                "anon_rows_up_to" / "anon_value_size"
              ) * 1024e0) AS BIGINT)
              AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
              AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
          ) AS "anon_values"
          GROUP BY
            "anon_class_0"
        ) AS "anon_view_1"
          ON "anon_whole"."anon_class_0" = "anon_view_1"."anon_class_0"
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
), "anon_whole" AS (
  SELECT
    "anon_class_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_hidden_cells"
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
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT
    "anon_class_0",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells_2" AS "anon_hidden_cells"
  GROUP BY
    "anon_class_0",
    "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_class_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_class_0"
), "anon_in_order" AS (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_share",
    "anon_work"."reference_rows",
    "anon_work"."position",
    "anon_work"."work_below",
    "anon_work"."work_above",
    "anon_work"."most_work",
    CAST(SUM("anon_values"."anon_rows") OVER (
      PARTITION BY "anon_values"."anon_class_0"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS "anon_rows_up_to",
    LEAD("anon_work"."position") OVER (
      PARTITION BY "anon_values"."anon_class_0"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_position",
    LEAD("anon_work"."work_below") OVER (
      PARTITION BY "anon_values"."anon_class_0"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_work_below"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_class_0" = "anon_values"."anon_class_0"
  JOIN "temp"."main"."anon_person_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
  JOIN "temp"."main"."anon_person_reference_work_0" AS anon_work
    ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
), "anon_values" AS (
  SELECT
    "anon_in_order".*,
    (
      "anon_rows_up_to" * "reference_rows" * (
        ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
      ) + "anon_value_size" * (
        ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
      )
    ) AS "anon_work_between"
  FROM "anon_in_order"
  LEFT JOIN "temp"."main"."anon_person_reference_crossings_0" AS anon_crossings
    ON "anon_crossings"."slot" = CAST(FLOOR((
      "anon_rows_up_to" / "anon_value_size"
    ) * 1024e0) AS BIGINT)
    AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
    AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
), "anon_view_0" AS (
  SELECT
    "anon_class_0",
    (
      (
        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
          MIN("work_below") + MIN("work_above")
        )
      ) / (
        SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
      )
    ) AS "anon_measure_0",
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE("anon_share", 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE "anon_rows" / "anon_share"
            END
          )
        ) / SUM("anon_rows") - 1,
        0.0
      )
    ) AS "anon_measure_1"
  FROM "anon_values"
  GROUP BY
    "anon_class_0"
), "anon_person_cells_3" AS (
  SELECT
    "anon_class_0",
    "anon_class_1",
    "diagnosis" AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_rows" AS "anon_row_count"
  FROM "temp"."main"."anon_persons_of_1"
), "anon_hidden_cells_3" AS (
  SELECT
    "anon_person_cells"."anon_class_0" AS "anon_class_0",
    "anon_person_cells"."anon_sensitive_0",
    "anon_person_cells"."anon_sensitive_1",
    "anon_person_cells"."anon_row_count"
  FROM "anon_person_cells_3" AS "anon_person_cells"
  JOIN "anon_measured"
    ON "anon_person_cells"."anon_class_0" = "anon_measured"."anon_class_0"
    AND "anon_person_cells"."anon_class_1" = "anon_measured"."anon_class_1"
  WHERE
    NOT "anon_measured"."anon_is_met"
    AND GREATEST("anon_person_cells"."anon_class_0") > 0
), "anon_sensitive_1_rows" AS MATERIALIZED (
  SELECT
    "anon_class_0",
    "anon_sensitive_1",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_hidden_cells_3" AS "anon_hidden_cells"
  GROUP BY
    "anon_class_0",
    "anon_sensitive_1"
), "anon_sensitive_1_sizes" AS MATERIALIZED (
  SELECT
    "anon_class_0",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_1_rows"
  GROUP BY
    "anon_class_0"
), "anon_in_order_2" AS (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_share",
    "anon_work"."reference_rows",
    "anon_work"."position",
    "anon_work"."work_below",
    "anon_work"."work_above",
    "anon_work"."most_work",
    CAST(SUM("anon_values"."anon_rows") OVER (
      PARTITION BY "anon_values"."anon_class_0"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS "anon_rows_up_to",
    LEAD("anon_work"."position") OVER (
      PARTITION BY "anon_values"."anon_class_0"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_position",
    LEAD("anon_work"."work_below") OVER (
      PARTITION BY "anon_values"."anon_class_0"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_work_below"
  FROM "anon_sensitive_1_rows" AS "anon_values"
  JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_class_0" = "anon_values"."anon_class_0"
  JOIN "temp"."main"."anon_person_values_1" AS anon_known
    ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
  JOIN "temp"."main"."anon_person_reference_work_1" AS anon_work
    ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
), "anon_values_2" AS (
  SELECT
    "anon_in_order".*,
    (
      "anon_rows_up_to" * "reference_rows" * (
        ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
      ) + "anon_value_size" * (
        ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
      )
    ) AS "anon_work_between"
  FROM "anon_in_order_2" AS "anon_in_order"
  LEFT JOIN "temp"."main"."anon_person_reference_crossings_1" AS anon_crossings
    ON "anon_crossings"."slot" = CAST(FLOOR((
      "anon_rows_up_to" / "anon_value_size"
    ) * 1024e0) AS BIGINT)
    AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
    AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
), "anon_view_1" AS (
  SELECT
    "anon_class_0",
    (
      (
        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
          MIN("work_below") + MIN("work_above")
        )
      ) / (
        SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
      )
    ) AS "anon_measure_2",
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE("anon_share", 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE "anon_rows" / "anon_share"
            END
          )
        ) / SUM("anon_rows") - 1,
        0.0
      )
    ) AS "anon_measure_3"
  FROM "anon_values_2" AS "anon_values"
  GROUP BY
    "anon_class_0"
), "anon_together" AS (
  SELECT
    "anon_whole"."anon_class_0",
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_0",
    "anon_view_0"."anon_measure_1",
    "anon_view_1"."anon_measure_2",
    "anon_view_1"."anon_measure_3"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_class_0" = "anon_view_0"."anon_class_0"
  LEFT JOIN "anon_view_1"
    ON "anon_whole"."anon_class_0" = "anon_view_1"."anon_class_0"
), "anon_hidden" AS (
  SELECT
    "anon_class_0",
    "anon_class_size" >= 5
    AND (
      "anon_class_0" < 1
      OR (
        "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
      )
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
    "anon_measure_2",
    "anon_measure_3",
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

DROP TABLE IF EXISTS "temp"."main"."anon_person_values_0";

DROP TABLE IF EXISTS "temp"."main"."anon_person_values_1";

DROP TABLE IF EXISTS "temp"."main"."anon_person_reference_work_0";

DROP TABLE IF EXISTS "temp"."main"."anon_person_reference_crossings_0";

DROP TABLE IF EXISTS "temp"."main"."anon_person_reference_work_1";

DROP TABLE IF EXISTS "temp"."main"."anon_person_reference_crossings_1";

-- shared: read anon_shown_groups 2;

-- shared: create anon_joint_classes 2;

-- shared: read anon_joint_classes 1;

-- shared: create anon_person_values_0 1;

-- shared: create anon_person_values_1 1;

-- shared: create anon_person_reference_work_0 1;

-- shared: create anon_person_reference_crossings_0 1;

-- shared: create anon_person_reference_work_1 1;

-- shared: create anon_person_reference_crossings_1 1;

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
), "anon_whole" AS (
  SELECT
    "anon_class_0",
    "anon_class_1",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
  FROM "anon_person_cells"
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
), "anon_sensitive_0_rows" AS MATERIALIZED (
  SELECT
    "anon_class_0",
    "anon_class_1",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_person_cells_2" AS "anon_person_cells"
  GROUP BY
    "anon_class_0",
    "anon_class_1",
    "anon_sensitive_0"
), "anon_sensitive_0_sizes" AS MATERIALIZED (
  SELECT
    "anon_class_0",
    "anon_class_1",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_0_rows"
  GROUP BY
    "anon_class_0",
    "anon_class_1"
), "anon_in_order" AS (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_share",
    "anon_work"."reference_rows",
    "anon_work"."position",
    "anon_work"."work_below",
    "anon_work"."work_above",
    "anon_work"."most_work",
    CAST(SUM("anon_values"."anon_rows") OVER (
      PARTITION BY "anon_values"."anon_class_0", "anon_values"."anon_class_1"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS "anon_rows_up_to",
    LEAD("anon_work"."position") OVER (
      PARTITION BY "anon_values"."anon_class_0", "anon_values"."anon_class_1"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_position",
    LEAD("anon_work"."work_below") OVER (
      PARTITION BY "anon_values"."anon_class_0", "anon_values"."anon_class_1"
      ORDER BY "anon_values"."anon_sensitive_0" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_work_below"
  FROM "anon_sensitive_0_rows" AS "anon_values"
  JOIN "anon_sensitive_0_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_class_0" = "anon_values"."anon_class_0"
    AND "anon_sizes"."anon_class_1" = "anon_values"."anon_class_1"
  JOIN "temp"."main"."anon_person_values_0" AS anon_known
    ON "anon_known"."anon_sensitive_0" = "anon_values"."anon_sensitive_0"
  JOIN "temp"."main"."anon_person_reference_work_0" AS anon_work
    ON "anon_work"."position" = "anon_values"."anon_sensitive_0"
), "anon_values" AS (
  SELECT
    "anon_in_order".*,
    (
      "anon_rows_up_to" * "reference_rows" * (
        ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
      ) + "anon_value_size" * (
        ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
      )
    ) AS "anon_work_between"
  FROM "anon_in_order"
  LEFT JOIN "temp"."main"."anon_person_reference_crossings_0" AS anon_crossings
    ON "anon_crossings"."slot" = CAST(FLOOR((
      "anon_rows_up_to" / "anon_value_size"
    ) * 1024e0) AS BIGINT)
    AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
    AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
), "anon_view_0" AS (
  SELECT
    "anon_class_0",
    "anon_class_1",
    (
      (
        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
          MIN("work_below") + MIN("work_above")
        )
      ) / (
        SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
      )
    ) AS "anon_measure_0",
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE("anon_share", 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE "anon_rows" / "anon_share"
            END
          )
        ) / SUM("anon_rows") - 1,
        0.0
      )
    ) AS "anon_measure_1"
  FROM "anon_values"
  GROUP BY
    "anon_class_0",
    "anon_class_1"
), "anon_shown_persons_3" AS (
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
), "anon_person_cells_3" AS (
  SELECT
    "anon_class_0",
    "anon_class_1",
    "diagnosis" AS "anon_sensitive_0",
    "anon_value_0_0" AS "anon_sensitive_1",
    "anon_rows" AS "anon_row_count"
  FROM "anon_shown_persons_3" AS "anon_shown_persons"
), "anon_sensitive_1_rows" AS MATERIALIZED (
  SELECT
    "anon_class_0",
    "anon_class_1",
    "anon_sensitive_1",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "anon_person_cells_3" AS "anon_person_cells"
  GROUP BY
    "anon_class_0",
    "anon_class_1",
    "anon_sensitive_1"
), "anon_sensitive_1_sizes" AS MATERIALIZED (
  SELECT
    "anon_class_0",
    "anon_class_1",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_value_size"
  FROM "anon_sensitive_1_rows"
  GROUP BY
    "anon_class_0",
    "anon_class_1"
), "anon_in_order_2" AS (
  SELECT
    "anon_values".*,
    "anon_sizes"."anon_value_size",
    "anon_known"."anon_share",
    "anon_work"."reference_rows",
    "anon_work"."position",
    "anon_work"."work_below",
    "anon_work"."work_above",
    "anon_work"."most_work",
    CAST(SUM("anon_values"."anon_rows") OVER (
      PARTITION BY "anon_values"."anon_class_0", "anon_values"."anon_class_1"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS "anon_rows_up_to",
    LEAD("anon_work"."position") OVER (
      PARTITION BY "anon_values"."anon_class_0", "anon_values"."anon_class_1"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_position",
    LEAD("anon_work"."work_below") OVER (
      PARTITION BY "anon_values"."anon_class_0", "anon_values"."anon_class_1"
      ORDER BY "anon_values"."anon_sensitive_1" ASC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS "anon_next_work_below"
  FROM "anon_sensitive_1_rows" AS "anon_values"
  JOIN "anon_sensitive_1_sizes" AS "anon_sizes"
    ON "anon_sizes"."anon_class_0" = "anon_values"."anon_class_0"
    AND "anon_sizes"."anon_class_1" = "anon_values"."anon_class_1"
  JOIN "temp"."main"."anon_person_values_1" AS anon_known
    ON "anon_known"."anon_sensitive_1" = "anon_values"."anon_sensitive_1"
  JOIN "temp"."main"."anon_person_reference_work_1" AS anon_work
    ON "anon_work"."position" = "anon_values"."anon_sensitive_1"
), "anon_values_2" AS (
  SELECT
    "anon_in_order".*,
    (
      "anon_rows_up_to" * "reference_rows" * (
        ABS(CAST("crossing" AS DOUBLE) - "position") - ABS(CAST("anon_next_position" AS DOUBLE) - "crossing")
      ) + "anon_value_size" * (
        ABS("anon_next_work_below" - "crossing_work") - ABS("crossing_work" - "work_below")
      )
    ) AS "anon_work_between"
  FROM "anon_in_order_2" AS "anon_in_order"
  LEFT JOIN "temp"."main"."anon_person_reference_crossings_1" AS anon_crossings
    ON "anon_crossings"."slot" = CAST(FLOOR((
      "anon_rows_up_to" / "anon_value_size"
    ) * 1024e0) AS BIGINT)
    AND "anon_crossings"."least_share" <= "anon_rows_up_to" / "anon_value_size"
    AND "anon_crossings"."next_share" > "anon_rows_up_to" / "anon_value_size"
), "anon_view_1" AS (
  SELECT
    "anon_class_0",
    "anon_class_1",
    (
      (
        COALESCE(FSUM("anon_work_between"), 0e0) + SUM("anon_rows") * (
          MIN("work_below") + MIN("work_above")
        )
      ) / (
        SUM("anon_rows") * GREATEST(MAX("most_work"), 1e0)
      )
    ) AS "anon_measure_2",
    (
      GREATEST(
        MAX(
          (
            CASE
              WHEN COALESCE("anon_share", 0.0) = 0.0
              THEN CAST('infinity' AS DOUBLE)
              ELSE "anon_rows" / "anon_share"
            END
          )
        ) / SUM("anon_rows") - 1,
        0.0
      )
    ) AS "anon_measure_3"
  FROM "anon_values_2" AS "anon_values"
  GROUP BY
    "anon_class_0",
    "anon_class_1"
), "anon_joint" AS (
  SELECT
    "anon_whole"."anon_class_0",
    "anon_whole"."anon_class_1",
    "anon_whole"."anon_class_size",
    "anon_view_0"."anon_measure_0",
    "anon_view_0"."anon_measure_1",
    "anon_view_1"."anon_measure_2",
    "anon_view_1"."anon_measure_3"
  FROM "anon_whole"
  LEFT JOIN "anon_view_0"
    ON "anon_whole"."anon_class_0" = "anon_view_0"."anon_class_0"
    AND "anon_whole"."anon_class_1" = "anon_view_0"."anon_class_1"
  LEFT JOIN "anon_view_1"
    ON "anon_whole"."anon_class_0" = "anon_view_1"."anon_class_0"
    AND "anon_whole"."anon_class_1" = "anon_view_1"."anon_class_1"
)
SELECT
  COUNT(*) FILTER(WHERE
    NOT COALESCE(
      "anon_class_size" >= 5
      AND (
        (
          "anon_class_0" < 1
          OR (
            "anon_measure_2" <= 0.40000000040000006 AND "anon_measure_3" <= 5.000000005
          )
        )
        AND (
          "anon_class_1" < 1
          OR (
            "anon_measure_0" <= 0.40000000040000006 AND "anon_measure_1" <= 5.000000005
          )
        )
      ),
      FALSE
    )
    AND GREATEST("anon_class_0", "anon_class_1") > 0) AS "classes"
FROM "anon_joint";

DROP TABLE IF EXISTS "temp"."main"."anon_person_values_0";

DROP TABLE IF EXISTS "temp"."main"."anon_person_values_1";

DROP TABLE IF EXISTS "temp"."main"."anon_person_reference_work_0";

DROP TABLE IF EXISTS "temp"."main"."anon_person_reference_crossings_0";

DROP TABLE IF EXISTS "temp"."main"."anon_person_reference_work_1";

DROP TABLE IF EXISTS "temp"."main"."anon_person_reference_crossings_1";

-- shared: read released 1;

DROP TABLE IF EXISTS "temp"."main"."anon_joint_classes";

DROP TABLE IF EXISTS "temp"."main"."anon_shown_groups";

DROP TABLE IF EXISTS "temp"."main"."anon_reference_of_diagnosis";

DROP TABLE IF EXISTS "temp"."main"."anon_persons_of_1";

DROP TABLE IF EXISTS "temp"."main"."anon_released_classes_1";

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_absent_persons";

DROP TABLE IF EXISTS "temp"."main"."anon_reference_crossings_1";

DROP TABLE IF EXISTS "temp"."main"."anon_reference_work_1";

DROP TABLE IF EXISTS "temp"."main"."anon_reference_crossings_0";

DROP TABLE IF EXISTS "temp"."main"."anon_reference_work_0";

DROP TABLE IF EXISTS "temp"."main"."anon_values_1";

DROP TABLE IF EXISTS "temp"."main"."anon_values_0";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_keyed_rows";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

DROP TABLE IF EXISTS "temp"."main"."anon_persons";

DROP TABLE IF EXISTS "temp"."main"."anon_reference_of_anon_value_0_0";

DROP TABLE IF EXISTS "temp"."main"."anon_released_classes_0";

DROP TABLE IF EXISTS "temp"."main"."anon_labels_of_releases_0";

COMMIT;

