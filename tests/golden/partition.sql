-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 446 rows; the SHA-256 of them is 3ada3c7eada74e883b73e2b495fa6d750967e080c27f41cac467d1130f6d45f3.

BEGIN;

COMMIT;

ATTACH '<folder>/fit' AS "anon_fit" (RECOVERY_MODE no_wal_writes);

-- shared: read fit 1;

-- shared: read releases 2;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 2;

-- shared: read taxonomy 13;

-- shared: read taxonomy 14;

-- shared: read taxonomy 15;

-- shared: read taxonomy 16;

SELECT
  COUNT(*) AS rows,
  CAST(COALESCE(
    SUM(
      CAST(HASH("patient_id", "ssn", "age", "sex", "zip", "admission", "diagnosis", "length_of_stay") AS INT128)
    ),
    0
  ) AS TEXT) AS fingerprint
FROM (
  SELECT
    *
  FROM visits
  WHERE
    admission >= CAST('2025-07-01' AS DATE)
);

-- shared: read releases 2;

SET explain_output = 'all';

EXPLAIN (FORMAT JSON) SELECT * FROM (SELECT * FROM visits WHERE admission >= CAST('2025-07-01' AS DATE));

SET explain_output = 'PHYSICAL_ONLY';

BEGIN;

-- shared: read taxonomy 14;

-- shared: create anon_coded_labels 3;

-- shared: read anon_coded_labels 1;

-- shared: create anon_labels 1;

DROP TABLE IF EXISTS "temp"."main"."anon_coded_labels";

CREATE TEMPORARY TABLE "temp"."main"."anon_cells" AS
WITH "anon_rows" AS MATERIALIZED (
  SELECT
    "age" AS "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "sex",
    CAST(COALESCE("zip", NULL) AS TEXT) COLLATE "binary" AS "zip",
    "admission" AS "admission",
    "diagnosis" AS "diagnosis",
    COUNT(*) AS "anon_row_count"
  FROM (
    SELECT
      *
    FROM visits
    WHERE
      admission >= CAST('2025-07-01' AS DATE)
  )
  GROUP BY
    "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary",
    CAST(COALESCE("zip", NULL) AS TEXT) COLLATE "binary",
    "admission",
    "diagnosis"
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
  "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" | "anon_labels_2"."anon_key_0" | "anon_labels_3"."anon_key_0" AS "anon_key_0",
  "anon_labels_0"."code" IS NULL
  OR "anon_labels_1"."code" IS NULL
  OR "anon_labels_2"."code" IS NULL
  OR "anon_labels_3"."code" IS NULL AS "anon_is_unmapped",
  "anon_sensitive_0_ranks"."anon_sensitive_0",
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
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_3
  ON "anon_labels_3"."position" = 3
  AND "anon_labels_3"."depth" = 0
  AND "anon_labels_3"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."admission", NULL) AS TEXT) COLLATE "binary"
JOIN "anon_sensitive_0_ranks"
  ON "anon_sensitive_0_ranks"."diagnosis" IS NOT DISTINCT FROM "anon_rows"."diagnosis"
ORDER BY
  "anon_key_0" ASC;

-- shared: read anon_cells 1;

-- shared: read anon_cells 2;

CREATE TEMPORARY TABLE "temp"."main"."anon_node_labels_0" AS
SELECT DISTINCT
  "label",
  "code" AS "anon_code_0_4"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 0 AND "depth" = 4;

CREATE TEMPORARY TABLE "temp"."main"."anon_node_labels_1" AS
SELECT DISTINCT
  "label",
  "code" AS "anon_code_1_0"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 1 AND "depth" = 0;

CREATE TEMPORARY TABLE "temp"."main"."anon_node_labels_2" AS
SELECT DISTINCT
  "label",
  "code" AS "anon_code_2_2"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 2 AND "depth" = 2;

CREATE TEMPORARY TABLE "temp"."main"."anon_node_labels_3" AS
SELECT DISTINCT
  "label",
  "code" AS "anon_code_3_2"
FROM "temp"."main"."anon_labels"
WHERE
  "position" = 3 AND "depth" = 2;

DROP TABLE IF EXISTS "temp"."main"."anon_partition_counts";

CREATE TEMPORARY TABLE "temp"."main"."anon_partition_counts" AS
WITH "anon_labels_0" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_0_4"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 4
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
    "code" AS "anon_code_2_2"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 2
), "anon_labels_3" AS (
  SELECT DISTINCT
    "anon_key_0",
    "code" AS "anon_code_3_2"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 3 AND "depth" = 2
), "anon_cells" AS (
  SELECT
    "anon_keyed"."anon_sensitive_0",
    "anon_keyed"."anon_row_count",
    "anon_labels_0"."anon_code_0_4",
    "anon_labels_1"."anon_code_1_0",
    "anon_labels_2"."anon_code_2_2",
    "anon_labels_3"."anon_code_3_2"
  FROM "temp"."main"."anon_cells" AS anon_keyed
  LEFT JOIN "anon_labels_0"
    ON (
      "anon_keyed"."anon_key_0" & 6917529027641081856
    ) = "anon_labels_0"."anon_key_0"
  LEFT JOIN "anon_labels_1"
    ON (
      "anon_keyed"."anon_key_0" & 1729382256910270464
    ) = "anon_labels_1"."anon_key_0"
  LEFT JOIN "anon_labels_2"
    ON (
      "anon_keyed"."anon_key_0" & 504403158265495552
    ) = "anon_labels_2"."anon_key_0"
  LEFT JOIN "anon_labels_3"
    ON (
      "anon_keyed"."anon_key_0" & 42784196460019712
    ) = "anon_labels_3"."anon_key_0"
), "anon_cells_2" AS (
  SELECT
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "anon_cells"
  GROUP BY
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0"
), "anon_all" AS (
  SELECT
    "diagnosis"
  FROM (
    SELECT
      *
    FROM visits
    WHERE
      admission >= CAST('2025-07-01' AS DATE)
  )
), "anon_distinct" AS (
  SELECT DISTINCT
    "diagnosis"
  FROM "anon_all"
), "anon_decoded_anon_sensitive_0" AS (
  SELECT
    "diagnosis" AS value,
    CAST(DENSE_RANK() OVER (ORDER BY "diagnosis" ASC) AS UINTEGER) AS "anon_sensitive_0"
  FROM "anon_distinct"
)
SELECT
  "anon_cells"."anon_code_0_4",
  "anon_cells"."anon_code_1_0",
  "anon_cells"."anon_code_2_2",
  "anon_cells"."anon_code_3_2",
  "anon_cells"."anon_row_count",
  "anon_node_labels_0"."label" AS "age",
  "anon_node_labels_1"."label" AS "sex",
  "anon_node_labels_2"."label" AS "zip",
  "anon_node_labels_3"."label" AS "admission",
  "anon_decoded_anon_sensitive_0"."value" AS "diagnosis"
FROM "anon_cells_2" AS "anon_cells"
JOIN "temp"."main"."anon_node_labels_0" AS anon_node_labels_0
  ON "anon_node_labels_0"."anon_code_0_4" = "anon_cells"."anon_code_0_4"
JOIN "temp"."main"."anon_node_labels_1" AS anon_node_labels_1
  ON "anon_node_labels_1"."anon_code_1_0" = "anon_cells"."anon_code_1_0"
JOIN "temp"."main"."anon_node_labels_2" AS anon_node_labels_2
  ON "anon_node_labels_2"."anon_code_2_2" = "anon_cells"."anon_code_2_2"
JOIN "temp"."main"."anon_node_labels_3" AS anon_node_labels_3
  ON "anon_node_labels_3"."anon_code_3_2" = "anon_cells"."anon_code_3_2"
JOIN "anon_decoded_anon_sensitive_0"
  ON "anon_decoded_anon_sensitive_0"."anon_sensitive_0" = "anon_cells"."anon_sensitive_0";

DROP TABLE IF EXISTS "temp"."main"."anon_union_values_0";

-- shared: create anon_union_values_0 1;

DROP TABLE IF EXISTS "temp"."main"."anon_new_cells";

CREATE TEMPORARY TABLE "temp"."main"."anon_new_cells" AS
SELECT
  "anon_counted"."anon_code_0_4",
  "anon_counted"."anon_code_1_0",
  "anon_counted"."anon_code_2_2",
  "anon_counted"."anon_code_3_2",
  "anon_union_values_0"."anon_sensitive_0",
  "anon_counted"."anon_row_count"
FROM "temp"."main"."anon_partition_counts" AS anon_counted
JOIN "temp"."main"."anon_union_values_0" AS anon_union_values_0
  ON "anon_union_values_0"."value" IS NOT DISTINCT FROM "anon_counted"."diagnosis";

DROP TABLE IF EXISTS "temp"."main"."anon_old_cells";

CREATE TEMPORARY TABLE "temp"."main"."anon_old_cells" AS
WITH "anon_counted" AS (
  SELECT
    "age",
    "sex",
    "zip",
    "admission",
    "diagnosis",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
  FROM "anon_fit"."main"."counts"
  WHERE
    FALSE
  GROUP BY
    "age",
    "sex",
    "zip",
    "admission",
    "diagnosis"
)
SELECT
  "anon_node_labels_0"."anon_code_0_4",
  "anon_node_labels_1"."anon_code_1_0",
  "anon_node_labels_2"."anon_code_2_2",
  "anon_node_labels_3"."anon_code_3_2",
  "anon_union_values_0"."anon_sensitive_0",
  "anon_counted"."anon_row_count"
FROM "anon_counted"
JOIN "temp"."main"."anon_node_labels_0" AS anon_node_labels_0
  ON "anon_node_labels_0"."label" IS NOT DISTINCT FROM "anon_counted"."age"
JOIN "temp"."main"."anon_node_labels_1" AS anon_node_labels_1
  ON "anon_node_labels_1"."label" IS NOT DISTINCT FROM "anon_counted"."sex"
JOIN "temp"."main"."anon_node_labels_2" AS anon_node_labels_2
  ON "anon_node_labels_2"."label" IS NOT DISTINCT FROM "anon_counted"."zip"
JOIN "temp"."main"."anon_node_labels_3" AS anon_node_labels_3
  ON "anon_node_labels_3"."label" IS NOT DISTINCT FROM "anon_counted"."admission"
JOIN "temp"."main"."anon_union_values_0" AS anon_union_values_0
  ON "anon_union_values_0"."value" IS NOT DISTINCT FROM "anon_counted"."diagnosis";

DROP TABLE IF EXISTS "temp"."main"."anon_union_cells";

-- shared: create anon_union_cells 1;

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

CREATE TEMPORARY TABLE "temp"."main"."anon_kept" AS
WITH "anon_values" AS (
  SELECT
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "temp"."main"."anon_union_cells"
  GROUP BY
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0"
), "anon_classes" AS (
  SELECT
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  "anon_code_0_4",
  "anon_code_1_0",
  "anon_code_2_2",
  "anon_code_3_2"
FROM "anon_judged"
WHERE
  "anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_published_cells";

CREATE TEMPORARY TABLE "temp"."main"."anon_published_cells" AS
SELECT
  *
FROM "temp"."main"."anon_old_cells"
UNION ALL BY NAME
SELECT
  "anon_cells"."anon_code_0_4",
  "anon_cells"."anon_code_1_0",
  "anon_cells"."anon_code_2_2",
  "anon_cells"."anon_code_3_2",
  "anon_cells"."anon_sensitive_0",
  "anon_cells"."anon_row_count"
FROM "temp"."main"."anon_new_cells" AS anon_cells
INNER JOIN "temp"."main"."anon_kept" AS anon_kept_classes
  ON "anon_kept_classes"."anon_code_0_4" = "anon_cells"."anon_code_0_4"
  AND "anon_kept_classes"."anon_code_1_0" = "anon_cells"."anon_code_1_0"
  AND "anon_kept_classes"."anon_code_2_2" = "anon_cells"."anon_code_2_2"
  AND "anon_kept_classes"."anon_code_3_2" = "anon_cells"."anon_code_3_2";

COMMIT;

WITH "anon_kept_cells" AS (
  SELECT
    "anon_cells"."anon_row_count"
  FROM "temp"."main"."anon_new_cells" AS anon_cells
  INNER JOIN "temp"."main"."anon_kept" AS anon_kept_classes
    ON "anon_kept_classes"."anon_code_0_4" = "anon_cells"."anon_code_0_4"
    AND "anon_kept_classes"."anon_code_1_0" = "anon_cells"."anon_code_1_0"
    AND "anon_kept_classes"."anon_code_2_2" = "anon_cells"."anon_code_2_2"
    AND "anon_kept_classes"."anon_code_3_2" = "anon_cells"."anon_code_3_2"
)
SELECT
  (
    SELECT
      COALESCE(SUM(anon_row_count), 0)
    FROM "temp"."main"."anon_cells" AS anon_cells
  ) AS new_rows,
  (
    SELECT
      COALESCE(SUM(anon_row_count), 0)
    FROM "temp"."main"."anon_new_cells"
  ) AS classed_rows,
  COALESCE(SUM(anon_row_count), 0) AS kept_rows
FROM "anon_kept_cells";

WITH "anon_values" AS (
  SELECT
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "temp"."main"."anon_published_cells"
  GROUP BY
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0"
), "anon_classes" AS (
  SELECT
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2"
)
SELECT
  COUNT(*) AS classes,
  COALESCE(SUM(anon_class_size), 0) AS rows
FROM "anon_classes"
WHERE
  NOT (
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2
  );

-- shared: read releases 2;

BEGIN;

INSERT INTO "anon_fit"."main"."releases" BY NAME SELECT 1 AS "number", CAST(UUID() AS TEXT) AS "release", TRUE AS "pending", '{"name":"released","file":null,"table":["memory","main","released"]}' AS "place", NULL AS "replaces", 489 AS "rows", 446 AS "released", 0 AS "unknown", '4554374780160131705327' AS "fingerprint";

INSERT INTO "anon_fit"."main"."counts" BY NAME WITH "anon_kept_counts" AS (SELECT "anon_cells"."age", "anon_cells"."sex", "anon_cells"."zip", "anon_cells"."admission", "anon_cells"."diagnosis", "anon_cells"."anon_row_count" FROM "temp"."main"."anon_partition_counts" AS anon_cells INNER JOIN "temp"."main"."anon_kept" AS anon_kept_classes ON "anon_kept_classes"."anon_code_0_4" = "anon_cells"."anon_code_0_4" AND "anon_kept_classes"."anon_code_1_0" = "anon_cells"."anon_code_1_0" AND "anon_kept_classes"."anon_code_2_2" = "anon_cells"."anon_code_2_2" AND "anon_kept_classes"."anon_code_3_2" = "anon_cells"."anon_code_3_2") SELECT 1 AS "anon_release", * FROM "anon_kept_counts";

COMMIT;

-- shared: read CHECKPOINT 1;

-- shared: read releases 2;

BEGIN;

-- shared: read taxonomy 14;

WITH "anon_values" AS (
  SELECT
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "temp"."main"."anon_published_cells"
  GROUP BY
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2",
    "anon_sensitive_0"
), "anon_classes" AS (
  SELECT
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_code_0_4",
    "anon_code_1_0",
    "anon_code_2_2",
    "anon_code_3_2"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  MIN("anon_class_size") FILTER(WHERE
    "anon_kept") AS "attained_0",
  MIN("anon_measure_0") FILTER(WHERE
    "anon_kept") AS "attained_1"
FROM "anon_judged";

-- shared: create anon_label_type_0 4;

-- shared: create anon_label_type_1 1;

-- shared: create anon_label_type_2 2;

-- shared: create anon_label_type_3 1;

SELECT
  LIST_PRODUCT(
    [
      CAST((
        SELECT
          COUNT(*)
        FROM "temp"."main"."anon_kept"
      ) AS DOUBLE),
      CAST(APPROX_COUNT_DISTINCT(CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary") AS DOUBLE),
      CAST(APPROX_COUNT_DISTINCT("anon_source"."length_of_stay") AS DOUBLE)
    ]
  ) AS "groups"
FROM (
  SELECT
    *
  FROM visits
  WHERE
    admission >= CAST('2025-07-01' AS DATE)
) AS anon_source;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_labels_0" AS (
  SELECT
    "value",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 4
), "anon_labels_1" AS (
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
    "position" = 2 AND "depth" = 2
), "anon_labels_3" AS (
  SELECT
    "value",
    CAST("label" AS anon_label_type_3) AS "anon_label_3"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 3 AND "depth" = 2
), "anon_rows" AS (
  SELECT
    "anon_labels_0"."anon_label_0",
    "anon_labels_1"."anon_label_1",
    "anon_labels_2"."anon_label_2",
    "anon_labels_3"."anon_label_3",
    CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    "anon_source"."length_of_stay" AS "length_of_stay",
    1 AS "anon_row_count"
  FROM (
    SELECT
      *
    FROM visits
    WHERE
      admission >= CAST('2025-07-01' AS DATE)
  ) AS anon_source
  LEFT JOIN "anon_labels_0"
    ON "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."age", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "anon_labels_1"
    ON "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."sex", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "anon_labels_2"
    ON "anon_labels_2"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."zip", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "anon_labels_3"
    ON "anon_labels_3"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."admission", NULL) AS TEXT) COLLATE "binary"
), "anon_labels_0_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_0_4",
    CAST("label" AS anon_label_type_0) AS "anon_label_0"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 0 AND "depth" = 4
), "anon_labels_1_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_1_0",
    CAST("label" AS anon_label_type_1) AS "anon_label_1"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 1 AND "depth" = 0
), "anon_labels_2_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_2_2",
    CAST("label" AS anon_label_type_2) AS "anon_label_2"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 2 AND "depth" = 2
), "anon_labels_3_2" AS (
  SELECT DISTINCT
    "code" AS "anon_code_3_2",
    CAST("label" AS anon_label_type_3) AS "anon_label_3"
  FROM "temp"."main"."anon_labels"
  WHERE
    "position" = 3 AND "depth" = 2
), "anon_kept" AS (
  SELECT
    TRUE AS "anon_is_kept",
    "anon_labels_0"."anon_label_0",
    "anon_labels_1"."anon_label_1",
    "anon_labels_2"."anon_label_2",
    "anon_labels_3"."anon_label_3"
  FROM "temp"."main"."anon_kept" AS anon_codes
  LEFT JOIN "anon_labels_0_2" AS "anon_labels_0"
    ON "anon_labels_0"."anon_code_0_4" = "anon_codes"."anon_code_0_4"
  LEFT JOIN "anon_labels_1_2" AS "anon_labels_1"
    ON "anon_labels_1"."anon_code_1_0" = "anon_codes"."anon_code_1_0"
  LEFT JOIN "anon_labels_2_2" AS "anon_labels_2"
    ON "anon_labels_2"."anon_code_2_2" = "anon_codes"."anon_code_2_2"
  LEFT JOIN "anon_labels_3_2" AS "anon_labels_3"
    ON "anon_labels_3"."anon_code_3_2" = "anon_codes"."anon_code_3_2"
), "anon_published" AS (
  SELECT
    "anon_rows"."diagnosis",
    "anon_rows"."length_of_stay",
    "anon_rows"."anon_row_count",
    "anon_rows"."anon_label_0" AS "anon_label_0",
    "anon_rows"."anon_label_1" AS "anon_label_1",
    "anon_rows"."anon_label_2" AS "anon_label_2",
    "anon_rows"."anon_label_3" AS "anon_label_3"
  FROM "anon_rows"
  JOIN "anon_kept"
    ON "anon_kept"."anon_label_0" IS NOT DISTINCT FROM "anon_rows"."anon_label_0"
    AND "anon_kept"."anon_label_1" IS NOT DISTINCT FROM "anon_rows"."anon_label_1"
    AND "anon_kept"."anon_label_2" IS NOT DISTINCT FROM "anon_rows"."anon_label_2"
    AND "anon_kept"."anon_label_3" IS NOT DISTINCT FROM "anon_rows"."anon_label_3"
)
SELECT
  "anon_label_0",
  "anon_label_1",
  "anon_label_2",
  "anon_label_3",
  "diagnosis",
  "length_of_stay",
  "anon_row_count"
FROM "anon_published"
ORDER BY
  (
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 4) AS BIGINT) << 60
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 3) AS BIGINT) << 58
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_2"), 5) AS BIGINT) << 55
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_3"), 5) AS BIGINT) << 52
  ) ASC,
  "diagnosis" ASC,
  "length_of_stay" ASC;

-- shared: create released 1;

-- shared: read released 1;

-- shared: read taxonomy 13;

-- shared: read LATERAL 1;

-- shared: read LATERAL 2;

-- shared: read released 6;

COMMIT;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_3";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_2";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_published_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_union_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_old_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_new_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_union_values_0";

DROP TABLE IF EXISTS "temp"."main"."anon_partition_counts";

DROP TABLE IF EXISTS "temp"."main"."anon_node_labels_3";

DROP TABLE IF EXISTS "temp"."main"."anon_node_labels_2";

DROP TABLE IF EXISTS "temp"."main"."anon_node_labels_1";

DROP TABLE IF EXISTS "temp"."main"."anon_node_labels_0";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

BEGIN;

UPDATE "anon_fit"."main"."releases" SET "pending" = FALSE WHERE "number" = 1;

COMMIT;

-- shared: read CHECKPOINT 1;

DETACH "anon_fit";

