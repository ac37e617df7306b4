-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 889 rows; the SHA-256 of them is 9fecd9e355215cbdf41aedc700298d19687c72adb100c333126d26e5223eedd6.

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
SELECT
  "anon_source"."patient_id" AS "anon_person_0",
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
  ) = "anon_released"."anon_key_0";

-- shared: create anon_persons_of_0 1;

DROP TABLE IF EXISTS "temp"."main"."anon_rows_of_0";

-- shared: read anon_persons_of_0 1;

-- shared: create anon_shown_groups 1;

-- shared: read anon_shown_groups 1;

DROP TABLE IF EXISTS "temp"."main"."anon_shown_groups";

-- shared: create anon_joint_classes 1;

-- shared: read anon_joint_classes 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_persons" AS
SELECT
  "anon_persons"."anon_person_0",
  CAST(anon_joint.anon_earlier AS INT) AS anon_earlier,
  anon_persons.anon_rows
FROM "temp"."main"."anon_persons_of_0" AS anon_persons
INNER JOIN "temp"."main"."anon_joint_classes" AS anon_joint
  ON "anon_persons"."anon_class_0" = "anon_joint"."anon_class_0";

DROP TABLE IF EXISTS "temp"."main"."anon_persons_of_0";

DROP TABLE IF EXISTS "temp"."main"."anon_joint_classes";

-- shared: create anon_coded_labels 2;

-- shared: read anon_coded_labels 1;

-- shared: create anon_labels 3;

DROP TABLE IF EXISTS "temp"."main"."anon_coded_labels";

-- shared: read anon_labels 1;

-- shared: create anon_keyed_rows 1;

-- shared: create anon_cells 3;

-- shared: create anon_absent_persons 1;

-- shared: read anon_cells 1;

-- shared: read anon_cells 7;

SELECT
  "anon_key_0",
  LEAST("anon_row_count", 10) AS "anon_row_count"
FROM "temp"."main"."anon_cells";

-- shared: read anon_absent_persons 1;

WITH "anon_jointly_kept" AS (
  SELECT
    *
    EXCLUDE (anon_earlier, anon_hidden, anon_largest, anon_place, anon_last_place, anon_is_shown)
    REPLACE (CASE
      WHEN NOT anon_is_shown
      THEN anon_withheld
      WHEN anon_class_size > anon_withheld
      THEN anon_class_size - anon_withheld
      ELSE anon_class_size
    END AS anon_class_size, anon_kept AND anon_is_shown AND anon_class_size > anon_withheld AS anon_kept)
  FROM (
    SELECT
      *,
      CASE
        WHEN NOT (
          anon_kept AND anon_earlier > 0 AND anon_hidden BETWEEN 1 AND 5 - 1
        )
        THEN 0
        WHEN TRUE AND anon_largest >= 5 + 5 - anon_hidden
        THEN CASE WHEN anon_place = 1 THEN 5 - anon_hidden ELSE 0 END
        WHEN anon_last_place = 1
        THEN anon_class_size
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
        SELECT
          *,
          (
            (
              "anon_key_0" & 63
            ) >> 0
          ) AS anon_earlier
        FROM (
          SELECT
            *,
            "anon_class_size" >= 5 AS "anon_kept",
            "anon_class_size" >= 5 AS "anon_certainly_kept"
          FROM (
            SELECT
              "anon_labelled"."anon_key_0",
              "anon_labelled"."anon_class_size",
              (
                0.0e0 + CASE
                  WHEN "anon_bits_0_4_0" <= 0
                  THEN 0.0e0
                  WHEN "anon_bits_0_4_0" <= 2305843009213693952
                  THEN 0.1919191919191919e0
                  ELSE 0.3939393939393939e0
                END
              ) / 2 AS "anon_lm"
            FROM (
              SELECT
                *,
                "anon_key_0" & 6917529027641081856 AS "anon_bits_0_4_0"
              FROM (
                SELECT
                  "anon_key_0",
                  CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
                FROM (
                  SELECT
                    "anon_key_0" & 8646911284551352383 AS "anon_key_0",
                    "anon_row_count"
                  FROM "temp"."main"."anon_cells"
                ) AS "anon_cells"
                GROUP BY
                  "anon_key_0"
              ) AS "anon_keyed"
            ) AS "anon_labelled"
          ) AS "anon_classes"
        ) AS "anon_classes"
      ) AS anon_numbered
      LEFT JOIN "temp"."main"."anon_absent_persons" AS anon_absent
        ON anon_absent.anon_earlier = anon_numbered.anon_earlier
    )
  )
  CROSS JOIN (VALUES
    (TRUE),
    (FALSE)) AS anon_parts(anon_is_shown)
  WHERE
    anon_is_shown OR anon_withheld BETWEEN 1 AND anon_class_size - 1
), "anon_classes" AS (
  SELECT
    *,
    "anon_class_size" AS "anon_class_weight"
  FROM "anon_jointly_kept"
)
SELECT
  0 AS node,
  COUNT(*) AS class_count,
  COUNT(*) FILTER(WHERE
    anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_certainly_kept), 0) AS BIGINT) AS certain_suppressed_rows,
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm
FROM "anon_classes";

WITH "anon_jointly_kept" AS (
  SELECT
    *
    EXCLUDE (anon_earlier, anon_hidden, anon_largest, anon_place, anon_last_place, anon_is_shown)
    REPLACE (CASE
      WHEN NOT anon_is_shown
      THEN anon_withheld
      WHEN anon_class_size > anon_withheld
      THEN anon_class_size - anon_withheld
      ELSE anon_class_size
    END AS anon_class_size, anon_kept AND anon_is_shown AND anon_class_size > anon_withheld AS anon_kept)
  FROM (
    SELECT
      *,
      CASE
        WHEN NOT (
          anon_kept AND anon_earlier > 0 AND anon_hidden BETWEEN 1 AND 5 - 1
        )
        THEN 0
        WHEN TRUE AND anon_largest >= 5 + 5 - anon_hidden
        THEN CASE WHEN anon_place = 1 THEN 5 - anon_hidden ELSE 0 END
        WHEN anon_last_place = 1
        THEN anon_class_size
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
        SELECT
          *,
          (
            (
              "anon_key_0" & 63
            ) >> 0
          ) AS anon_earlier
        FROM (
          SELECT
            *,
            "anon_class_size" >= 5 AS "anon_kept",
            "anon_class_size" >= 5 AS "anon_certainly_kept"
          FROM (
            SELECT
              "anon_labelled"."anon_key_0",
              "anon_labelled"."anon_class_size",
              (
                0.0e0 + CASE WHEN "anon_bits_0_1_0" <= 0 THEN 0.0e0 ELSE 0.04040404040404041e0 END
              ) / 2 AS "anon_lm"
            FROM (
              SELECT
                *,
                "anon_key_0" & 7421932185906577408 AS "anon_bits_0_1_0"
              FROM (
                SELECT
                  "anon_key_0",
                  CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
                FROM (
                  SELECT
                    "anon_key_0" & 9151314442816847935 AS "anon_key_0",
                    "anon_row_count"
                  FROM "temp"."main"."anon_cells"
                ) AS "anon_cells"
                GROUP BY
                  "anon_key_0"
              ) AS "anon_keyed"
            ) AS "anon_labelled"
          ) AS "anon_classes"
        ) AS "anon_classes"
      ) AS anon_numbered
      LEFT JOIN "temp"."main"."anon_absent_persons" AS anon_absent
        ON anon_absent.anon_earlier = anon_numbered.anon_earlier
    )
  )
  CROSS JOIN (VALUES
    (TRUE),
    (FALSE)) AS anon_parts(anon_is_shown)
  WHERE
    anon_is_shown OR anon_withheld BETWEEN 1 AND anon_class_size - 1
), "anon_classes" AS (
  SELECT
    *,
    "anon_class_size" AS "anon_class_weight"
  FROM "anon_jointly_kept"
)
SELECT
  0 AS node,
  COUNT(*) AS class_count,
  COUNT(*) FILTER(WHERE
    anon_kept) AS kept_class_count,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_kept), 0) AS BIGINT) AS suppressed_rows,
  CAST(COALESCE(SUM(anon_class_size) FILTER(WHERE
    NOT anon_certainly_kept), 0) AS BIGINT) AS certain_suppressed_rows,
  (
    SUM(anon_class_weight * CASE WHEN anon_kept THEN anon_lm ELSE 1.0 END) / SUM(anon_class_weight)
  ) AS lm
FROM "anon_classes";

-- shared: read anon_cells 8;

-- shared: read anon_cells 9;

-- shared: read anon_cells 10;

WITH "anon_jointly_kept" AS (
  SELECT
    *
    EXCLUDE (anon_earlier, anon_hidden, anon_largest, anon_place, anon_last_place, anon_is_shown)
    REPLACE (CASE
      WHEN NOT anon_is_shown
      THEN anon_withheld
      WHEN anon_class_size > anon_withheld
      THEN anon_class_size - anon_withheld
      ELSE anon_class_size
    END AS anon_class_size, anon_kept AND anon_is_shown AND anon_class_size > anon_withheld AS anon_kept)
  FROM (
    SELECT
      *,
      CASE
        WHEN NOT (
          anon_kept AND anon_earlier > 0 AND anon_hidden BETWEEN 1 AND 5 - 1
        )
        THEN 0
        WHEN TRUE AND anon_largest >= 5 + 5 - anon_hidden
        THEN CASE WHEN anon_place = 1 THEN 5 - anon_hidden ELSE 0 END
        WHEN anon_last_place = 1
        THEN anon_class_size
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
        SELECT
          *,
          (
            (
              "anon_key_0" & 63
            ) >> 0
          ) AS anon_earlier
        FROM (
          SELECT
            *,
            "anon_class_size" >= 5 AS "anon_kept",
            "anon_class_size" >= 5 AS "anon_certainly_kept"
          FROM (
            SELECT
              "anon_labelled"."anon_key_0",
              "anon_labelled"."anon_class_size",
              (
                0.0e0 + CASE WHEN "anon_bits_0_1_0" <= 0 THEN 0.0e0 ELSE 0.04040404040404041e0 END
              ) / 2 AS "anon_lm"
            FROM (
              SELECT
                *,
                "anon_key_0" & 7421932185906577408 AS "anon_bits_0_1_0"
              FROM (
                SELECT
                  "anon_key_0",
                  CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
                FROM (
                  SELECT
                    "anon_key_0" & 9151314442816847935 AS "anon_key_0",
                    "anon_row_count"
                  FROM "temp"."main"."anon_cells"
                ) AS "anon_cells"
                GROUP BY
                  "anon_key_0"
              ) AS "anon_keyed"
            ) AS "anon_labelled"
          ) AS "anon_classes"
        ) AS "anon_classes"
      ) AS anon_numbered
      LEFT JOIN "temp"."main"."anon_absent_persons" AS anon_absent
        ON anon_absent.anon_earlier = anon_numbered.anon_earlier
    )
  )
  CROSS JOIN (VALUES
    (TRUE),
    (FALSE)) AS anon_parts(anon_is_shown)
  WHERE
    anon_is_shown OR anon_withheld BETWEEN 1 AND anon_class_size - 1
), "anon_classes" AS (
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
FROM "anon_classes";

CREATE TEMPORARY TABLE "temp"."main"."anon_kept" AS
WITH "anon_jointly_kept" AS (
  SELECT
    *
    EXCLUDE (anon_earlier, anon_hidden, anon_largest, anon_place, anon_last_place, anon_is_shown)
    REPLACE (CASE
      WHEN NOT anon_is_shown
      THEN anon_withheld
      WHEN anon_class_size > anon_withheld
      THEN anon_class_size - anon_withheld
      ELSE anon_class_size
    END AS anon_class_size, anon_kept AND anon_is_shown AND anon_class_size > anon_withheld AS anon_kept)
  FROM (
    SELECT
      *,
      CASE
        WHEN NOT (
          anon_kept AND anon_earlier > 0 AND anon_hidden BETWEEN 1 AND 5 - 1
        )
        THEN 0
        WHEN TRUE AND anon_largest >= 5 + 5 - anon_hidden
        THEN CASE WHEN anon_place = 1 THEN 5 - anon_hidden ELSE 0 END
        WHEN anon_last_place = 1
        THEN anon_class_size
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
        SELECT
          *,
          (
            (
              "anon_key_0" & 63
            ) >> 0
          ) AS anon_earlier
        FROM (
          SELECT
            *,
            "anon_class_size" >= 5 AS "anon_kept"
          FROM (
            SELECT
              "anon_key_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
            FROM (
              SELECT
                "anon_key_0" & 9151314442816847935 AS "anon_key_0",
                "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY
              "anon_key_0"
          ) AS "anon_classes"
        ) AS "anon_classes"
      ) AS anon_numbered
      LEFT JOIN "temp"."main"."anon_absent_persons" AS anon_absent
        ON anon_absent.anon_earlier = anon_numbered.anon_earlier
    )
  )
  CROSS JOIN (VALUES
    (TRUE),
    (FALSE)) AS anon_parts(anon_is_shown)
  WHERE
    anon_is_shown OR anon_withheld BETWEEN 1 AND anon_class_size - 1
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
    "code" AS "anon_code_0_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 1
), "anon_labels_1" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_1_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
)
SELECT
  "anon_kept"."anon_withheld",
  (
    (
      "anon_kept"."anon_key_0" & 63
    ) >> 0
  ) AS "anon_earlier",
  "anon_kept"."anon_key_0",
  "anon_labels_0"."anon_code_0_1",
  "anon_labels_1"."anon_code_1_0"
FROM "anon_kept"
LEFT JOIN "anon_labels_0"
  ON (
    "anon_kept"."anon_key_0" & 7421932185906577408
  ) = "anon_labels_0"."anon_key_0"
LEFT JOIN "anon_labels_1"
  ON (
    "anon_kept"."anon_key_0" & 1729382256910270464
  ) = "anon_labels_1"."anon_key_0";

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
      "anon_key_0" & 9151314442816847935 AS "anon_key_0"
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

WITH "anon_jointly_kept" AS (
  SELECT
    *
    EXCLUDE (anon_earlier, anon_hidden, anon_largest, anon_place, anon_last_place, anon_is_shown)
    REPLACE (CASE
      WHEN NOT anon_is_shown
      THEN anon_withheld
      WHEN anon_class_size > anon_withheld
      THEN anon_class_size - anon_withheld
      ELSE anon_class_size
    END AS anon_class_size, anon_kept AND anon_is_shown AND anon_class_size > anon_withheld AS anon_kept)
  FROM (
    SELECT
      *,
      CASE
        WHEN NOT (
          anon_kept AND anon_earlier > 0 AND anon_hidden BETWEEN 1 AND 5 - 1
        )
        THEN 0
        WHEN TRUE AND anon_largest >= 5 + 5 - anon_hidden
        THEN CASE WHEN anon_place = 1 THEN 5 - anon_hidden ELSE 0 END
        WHEN anon_last_place = 1
        THEN anon_class_size
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
        SELECT
          *,
          (
            (
              "anon_key_0" & 63
            ) >> 0
          ) AS anon_earlier
        FROM (
          SELECT
            *,
            "anon_class_size" >= 5 AS "anon_kept"
          FROM (
            SELECT
              "anon_key_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
            FROM (
              SELECT
                "anon_key_0" & 9151314442816847935 AS "anon_key_0",
                "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY
              "anon_key_0"
          ) AS "anon_classes"
        ) AS "anon_classes"
      ) AS anon_numbered
      LEFT JOIN "temp"."main"."anon_absent_persons" AS anon_absent
        ON anon_absent.anon_earlier = anon_numbered.anon_earlier
    )
  )
  CROSS JOIN (VALUES
    (TRUE),
    (FALSE)) AS anon_parts(anon_is_shown)
  WHERE
    anon_is_shown OR anon_withheld BETWEEN 1 AND anon_class_size - 1
), "anon_judged" AS (
  SELECT
    *
  FROM "anon_jointly_kept"
)
SELECT
  MIN("anon_class_size") FILTER(WHERE
    "anon_kept") AS "attained_0"
FROM "anon_judged";

-- shared: create anon_label_type_0 1;

-- shared: create anon_label_type_1 1;

-- shared: read anon_kept 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_0" AS (
  SELECT
    "value",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 1
), "anon_labels_1" AS (
  SELECT
    "value",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_rows" AS (
  SELECT
    "anon_labels_0"."anon_label_0",
    "anon_labels_1"."anon_label_1",
    CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    COALESCE("anon_persons"."anon_earlier", 0) AS "anon_earlier",
    1 AS "anon_row_count"
  FROM "memory"."main"."visits" AS anon_source
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."age", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "anon_labels_1"
    ON "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."sex", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "temp"."main"."anon_persons" AS anon_persons
    ON "anon_persons"."anon_person_0" IS NOT DISTINCT FROM "anon_source"."patient_id"
), "anon_labels_0_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_0_1",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 1
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
    "anon_codes"."anon_earlier",
    "anon_labels_0"."anon_label_0",
    "anon_labels_1"."anon_label_1"
  FROM "temp"."main"."anon_kept" AS anon_codes
  LEFT JOIN "anon_labels_0_2" AS "anon_labels_0"
    ON "anon_labels_0"."anon_code_0_1" = "anon_codes"."anon_code_0_1"
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
    AND "anon_kept"."anon_earlier" IS NOT DISTINCT FROM "anon_rows"."anon_earlier"
)
SELECT
  "anon_label_0",
  "anon_label_1",
  "diagnosis",
  "anon_row_count"
FROM "anon_published"
ORDER BY
  (
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 21) AS BIGINT) << 58
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 3) AS BIGINT) << 56
  ) ASC,
  "diagnosis" ASC;

-- shared: create released 3;

-- shared: read anon_equal_rows 1;

-- shared: create anon_few_rows 1;

-- shared: read anon_few_rows 3;

-- shared: read anon_few_rows 4;

DROP TABLE IF EXISTS "temp"."main"."anon_few_rows";

-- shared: read anon_equal_rows 3;

CREATE TEMPORARY TABLE "temp"."main"."anon_judged_cells" AS
WITH "anon_jointly_kept" AS (
  SELECT
    *
    EXCLUDE (anon_earlier, anon_hidden, anon_largest, anon_place, anon_last_place, anon_is_shown)
    REPLACE (CASE
      WHEN NOT anon_is_shown
      THEN anon_withheld
      WHEN anon_class_size > anon_withheld
      THEN anon_class_size - anon_withheld
      ELSE anon_class_size
    END AS anon_class_size, anon_kept AND anon_is_shown AND anon_class_size > anon_withheld AS anon_kept)
  FROM (
    SELECT
      *,
      CASE
        WHEN NOT (
          anon_kept AND anon_earlier > 0 AND anon_hidden BETWEEN 1 AND 5 - 1
        )
        THEN 0
        WHEN TRUE AND anon_largest >= 5 + 5 - anon_hidden
        THEN CASE WHEN anon_place = 1 THEN 5 - anon_hidden ELSE 0 END
        WHEN anon_last_place = 1
        THEN anon_class_size
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
        SELECT
          *,
          (
            (
              "anon_key_0" & 63
            ) >> 0
          ) AS anon_earlier
        FROM (
          SELECT
            *,
            "anon_class_size" >= 5 AS "anon_kept"
          FROM (
            SELECT
              "anon_key_0",
              CAST(SUM("anon_row_count") AS BIGINT) AS "anon_class_size"
            FROM (
              SELECT
                "anon_key_0" & 9151314442816847935 AS "anon_key_0",
                "anon_row_count"
              FROM "temp"."main"."anon_cells"
            ) AS "anon_cells"
            GROUP BY
              "anon_key_0"
          ) AS "anon_classes"
        ) AS "anon_classes"
      ) AS anon_numbered
      LEFT JOIN "temp"."main"."anon_absent_persons" AS anon_absent
        ON anon_absent.anon_earlier = anon_numbered.anon_earlier
    )
  )
  CROSS JOIN (VALUES
    (TRUE),
    (FALSE)) AS anon_parts(anon_is_shown)
  WHERE
    anon_is_shown OR anon_withheld BETWEEN 1 AND anon_class_size - 1
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
    "anon_cells"."anon_key_0" & 9151314442816847935
  ) = "anon_kept"."anon_key_0";

-- shared: read anon_judged_cells 2;

DROP TABLE IF EXISTS "temp"."main"."anon_judged_cells";

-- shared: read anon_cells 4;

-- shared: read taxonomy 1;

-- shared: read released 4;

-- shared: create anon_released_classes_1 1;

CREATE TEMPORARY TABLE "temp"."main"."anon_persons_of_1" AS
WITH "anon_numbered" AS (
  SELECT
    (
      (
        "anon_keyed_rows"."anon_key_0" & 63
      ) >> 0
    ) AS "anon_class_0",
    COALESCE("anon_released_classes_1"."anon_class_1", 0) AS "anon_class_1"
  FROM "temp"."main"."anon_keyed_rows" AS anon_keyed_rows
  LEFT JOIN "temp"."main"."anon_released_classes_1" AS anon_released_classes_1
    ON (
      "anon_keyed_rows"."anon_key_0" & 9151314442816847872
    ) = "anon_released_classes_1"."anon_key_0"
)
SELECT
  "anon_class_0",
  "anon_class_1",
  COUNT(*) AS anon_rows
FROM "anon_numbered"
GROUP BY
  "anon_class_0",
  "anon_class_1"
UNION ALL BY NAME
SELECT
  anon_earlier AS "anon_class_0",
  0 AS "anon_class_1",
  anon_absent AS anon_rows
FROM "temp"."main"."anon_absent_persons" AS anon_absent_persons;

CREATE TEMPORARY TABLE "temp"."main"."anon_shown_groups" AS
SELECT
  *
  EXCLUDE (anon_earlier, anon_hidden, anon_largest, anon_place, anon_last_place, anon_is_shown)
  REPLACE (CASE
    WHEN NOT anon_is_shown
    THEN anon_withheld
    WHEN anon_class_size > anon_withheld
    THEN anon_class_size - anon_withheld
    ELSE anon_class_size
  END AS anon_class_size, anon_kept AND anon_is_shown AND anon_class_size > anon_withheld AS anon_kept)
FROM (
  SELECT
    *,
    CASE
      WHEN NOT (
        anon_kept AND anon_earlier > 0 AND anon_hidden BETWEEN 1 AND 5 - 1
      )
      THEN 0
      WHEN TRUE AND anon_largest >= 5 + 5 - anon_hidden
      THEN CASE WHEN anon_place = 1 THEN 5 - anon_hidden ELSE 0 END
      WHEN anon_last_place = 1
      THEN anon_class_size
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
        ORDER BY anon_class_size DESC, "anon_class_1" ASC NULLS FIRST
      ) AS anon_place,
      ROW_NUMBER() OVER (
        PARTITION BY anon_numbered.anon_earlier, anon_kept
        ORDER BY anon_class_size ASC, "anon_class_1" ASC NULLS FIRST
      ) AS anon_last_place
    FROM (
      SELECT
        *,
        CASE
          WHEN GREATEST("anon_class_0") > 0
          THEN DENSE_RANK() OVER (ORDER BY "anon_class_0" ASC NULLS FIRST)
          ELSE 0
        END AS anon_earlier
      FROM (
        SELECT
          "anon_class_0",
          "anon_class_1",
          CAST(SUM(anon_rows) AS BIGINT) AS anon_class_size,
          "anon_class_1" > 0 AND SUM(anon_rows) >= 5 AS anon_kept
        FROM "temp"."main"."anon_persons_of_1" AS anon_persons
        GROUP BY
          "anon_class_0",
          "anon_class_1"
      ) AS "anon_classes"
    ) AS anon_numbered
    LEFT JOIN (
      SELECT
        0 AS "anon_earlier",
        0 AS "anon_absent"
      LIMIT 0
    ) AS "anon_absent"
      ON anon_absent.anon_earlier = anon_numbered.anon_earlier
  )
)
CROSS JOIN (VALUES
  (TRUE),
  (FALSE)) AS anon_parts(anon_is_shown)
WHERE
  anon_is_shown OR anon_withheld BETWEEN 1 AND anon_class_size - 1;

-- shared: read anon_shown_groups 2;

-- shared: create anon_joint_classes 2;

-- shared: read anon_joint_classes 1;

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

DROP TABLE IF EXISTS "temp"."main"."anon_released_classes_0";

DROP TABLE IF EXISTS "temp"."main"."anon_labels_of_releases_0";

COMMIT;

