-- Rows that are counted, and not kept.

-- name: counted_rows
-- counted rows
-- The rows that were counted, each as often as it was counted. In batches, because a list of all rows of a large count
-- would be held in memory.
-- :counted (disease VARCHAR, anon_row_count BIGINT)
SELECT * EXCLUDE (anon_batch, anon_row)
FROM (
    SELECT *, unnest(range(anon_batch)) AS anon_row
    FROM (
        SELECT
            * EXCLUDE (anon_row_count),
            least(2048, anon_row_count - 2048 * unnest(range((anon_row_count + 2047) // 2048))) AS anon_batch
        FROM :counted
    ) AS anon_batches
) AS anon_numbered;

-- name: counts_of_rows
-- counts of rows
-- The rows of a published table by its counted columns.
-- :rows (age VARCHAR, disease VARCHAR)
-- :columns age, disease
SELECT :columns, count(*) AS anon_row_count FROM :rows GROUP BY :columns;

-- name: count_differences
-- counts that differ
-- How many counts two tables of counts do not share.
-- :counts (disease VARCHAR, anon_row_count BIGINT)
-- :others (disease VARCHAR, anon_row_count BIGINT)
SELECT count(*) AS differences
FROM (
    SELECT * FROM (SELECT * FROM :counts EXCEPT ALL SELECT * FROM :others) AS anon_missing
    UNION ALL
    SELECT * FROM (SELECT * FROM :others EXCEPT ALL SELECT * FROM :counts) AS anon_added
) AS anon_sides;

-- name: rows_with_counted
-- rows with those that were counted
-- Columns that were not counted are NULL there.
-- :rows (age VARCHAR, disease VARCHAR)
-- :counted (disease VARCHAR)
SELECT * FROM :rows
UNION ALL BY NAME
SELECT * FROM :counted;

-- name: fingerprint
-- a fingerprint of rows
-- How many rows a table has, and what they are, whatever their order.
-- :rows (age VARCHAR, disease VARCHAR)
-- :columns age, disease
SELECT
    count(*) AS rows,
    CAST(coalesce(sum(CAST(hash(:columns) AS HUGEINT)), 0) AS VARCHAR) AS fingerprint
FROM :rows;

-- name: coded_values
-- values of a protected column with codes
-- The distinct values with codes in their order, NULL last, as the cells of a source have them.
-- :rows (disease VARCHAR)
-- :name disease
-- :code anon_sensitive_0
SELECT :name AS value, CAST(dense_rank() OVER (ORDER BY :name ASC) AS UINTEGER) AS :code
FROM (SELECT DISTINCT :name FROM :rows AS anon_all) AS anon_distinct;

-- name: classes_kept_twice
-- classes that are kept together and alone
-- :kept (anon_code_0 UINTEGER, anon_code_1 UINTEGER)
-- :alone (anon_code_0 UINTEGER, anon_code_1 UINTEGER)
-- :keys anon_code_0, anon_code_1
SELECT anon_together.:keys
FROM :kept AS anon_together
INNER JOIN :alone AS anon_alone ON anon_alone.:keys = anon_together.:keys;

-- name: kept_cells
-- cells of kept classes
-- :cells (anon_code_0 UINTEGER, anon_code_1 UINTEGER, anon_row_count BIGINT)
-- :kept (anon_code_0 UINTEGER, anon_code_1 UINTEGER)
-- :keys anon_code_0, anon_code_1
-- :columns anon_code_0, anon_row_count
SELECT anon_cells.:columns
FROM :cells AS anon_cells
INNER JOIN :kept AS anon_kept_classes ON anon_kept_classes.:keys = anon_cells.:keys;

-- name: kept_rows
-- rows of kept classes
-- The rows of the partition, those of them in classes, and those in kept classes.
-- :cells (anon_row_count BIGINT)
-- :classed (anon_code_0 UINTEGER, anon_row_count BIGINT)
-- :kept_cells (anon_row_count BIGINT)
SELECT
    (SELECT coalesce(sum(anon_row_count), 0) FROM :cells AS anon_cells) AS new_rows,
    (SELECT coalesce(sum(anon_row_count), 0) FROM :classed) AS classed_rows,
    coalesce(sum(anon_row_count), 0) AS kept_rows
FROM :kept_cells;

-- name: blocked_rows
-- rows in classes that violate a model
-- :classes (anon_code_0 UINTEGER, anon_code_1 UINTEGER, anon_class_size BIGINT)
-- :cells (anon_code_0 UINTEGER, anon_code_1 UINTEGER, anon_row_count BIGINT)
-- :keys anon_code_0, anon_code_1
-- :blocked coalesce(sum(anon_new_rows) FILTER (WHERE NOT (anon_class_size >= 3)), 0) AS blocked_0
SELECT :blocked
FROM :classes AS anon_classes
INNER JOIN (
    SELECT :keys, sum(anon_row_count) AS anon_new_rows FROM :cells GROUP BY :keys
) AS anon_rows ON anon_rows.:keys = anon_classes.:keys;

-- name: left_short
-- classes that are to be published and violate a model
-- :classes (anon_code_0 UINTEGER, anon_class_size BIGINT)
-- :is_met anon_class_size >= 3
SELECT count(*) AS classes, coalesce(sum(anon_class_size), 0) AS rows FROM :classes WHERE NOT :is_met;

-- name: published_counts
-- counts of what was published
-- :counts (anon_release INTEGER, disease VARCHAR, anon_row_count BIGINT)
-- :columns disease
-- :is_chosen anon_release IN (1, 2)
SELECT :columns, CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count
FROM :counts
WHERE :is_chosen
GROUP BY :columns;

-- name: no_entries
-- the table of the entries of a sidecar
SELECT
    CAST(NULL AS INTEGER) AS number,
    CAST(NULL AS VARCHAR) AS release,
    CAST(NULL AS BOOLEAN) AS pending,
    CAST(NULL AS VARCHAR) AS place,
    CAST(NULL AS INTEGER) AS replaces,
    CAST(NULL AS BIGINT) AS rows,
    CAST(NULL AS BIGINT) AS released,
    CAST(NULL AS BIGINT) AS unknown,
    CAST(NULL AS VARCHAR) AS fingerprint
LIMIT 0;

-- name: no_counts
-- the table of the counts of a sidecar
-- :shape (age VARCHAR, disease VARCHAR)
SELECT CAST(0 AS INTEGER) AS anon_release, *, CAST(0 AS BIGINT) AS anon_row_count FROM :shape AS anon_shape LIMIT 0;

-- name: no_hashes
-- the table of the hashes of a sidecar
SELECT
    CAST(NULL AS VARCHAR) AS name,
    CAST(NULL AS VARCHAR) AS columns_sha256,
    CAST(NULL AS VARCHAR) AS rows_sha256
LIMIT 0;

-- name: hashes_of
-- the hashes of a table of a sidecar
-- :name 'counts'
-- :columns_sha256 'e3b0'
-- :content (content_hash VARCHAR)
SELECT :name AS name, :columns_sha256 AS columns_sha256, content_hash AS rows_sha256 FROM :content AS anon_content;

-- name: document
-- the document of a sidecar
-- :format 3
-- :document '{}'
SELECT :format AS format, :document AS document;

-- name: entry_count
-- the number of entries of a sidecar
-- :entries (number INTEGER)
SELECT count(*) AS entries FROM :entries;

-- name: other_parts
-- what a sidecar has beside plain tables
-- What DuckDB would execute where the tables are read or written: views, macros, triggers (which DuckDB 1.5 does not have),
-- indexes, which can be of expressions, and columns that are computed or checked.
-- :catalog 'memory'
SELECT count(*) AS part_count
FROM (
    SELECT database_name FROM duckdb_views() WHERE NOT internal
    UNION ALL
    SELECT database_name FROM duckdb_functions() WHERE NOT internal
    UNION ALL
    SELECT database_name FROM duckdb_indexes()
    UNION ALL
    SELECT database_name FROM duckdb_tables()
    WHERE regexp_matches(
        -- Without names and texts.
        regexp_replace(sql, '"([^"]|"")*"|''([^'']|'''')*''', '', 'g'), '(DEFAULT|CHECK) ?[(]|GENERATED ALWAYS AS'
    )
    UNION ALL
    SELECT * FROM query(
        'SELECT database_name FROM '
        || CASE WHEN version() < 'v2' THEN 'duckdb_databases() WHERE FALSE' ELSE 'duckdb_triggers()' END
    )
) AS anon_parts
WHERE database_name = :catalog;

-- name: unreadable_counts
-- counts that cannot be those of rows
-- :counts (anon_release INTEGER, anon_row_count BIGINT)
-- :reference (anon_row_count BIGINT)
SELECT count(*) AS unreadable
FROM (
    SELECT anon_release, anon_row_count FROM :counts AS anon_counts
    UNION ALL
    SELECT 0, anon_row_count FROM :reference AS anon_reference
) AS anon_all
WHERE anon_release IS NULL OR coalesce(anon_row_count, 0) < 1;
