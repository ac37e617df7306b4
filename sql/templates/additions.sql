-- What was added to a table since CREATE TABLE AS made it: comments, defaults and constraints of columns, and indexes.
SELECT
    (
        SELECT count(*) FILTER (comment IS NOT NULL) FROM duckdb_columns()
        WHERE database_name = $1 AND schema_name = $2 AND table_name = $3
    ) AS comments,
    (
        SELECT count(*) FILTER (column_default IS NOT NULL) FROM duckdb_columns()
        WHERE database_name = $1 AND schema_name = $2 AND table_name = $3
    ) AS defaults,
    (
        SELECT count(*) FROM duckdb_constraints()
        WHERE database_name = $1 AND schema_name = $2 AND table_name = $3
    ) AS constraints,
    (
        SELECT count(*) FROM duckdb_indexes()
        WHERE database_name = $1 AND schema_name = $2 AND table_name = $3
    ) AS indexes
