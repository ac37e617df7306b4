-- One row if some Parquet files have other columns or types than the first of them: how the first that does is unlike it.
WITH layouts AS (
    SELECT
        file_name,
        list_sort(list(concat_ws(' ', '"' || replace(name, '"', '""') || '"', duckdb_type))) AS layout
    FROM parquet_schema($1)
    WHERE column_id > 0
    GROUP BY file_name
),
first_layout AS (
    SELECT file_name, layout
    FROM layouts
    ORDER BY file_name ASC NULLS LAST
    LIMIT 1
)
SELECT
    first_layout.file_name AS first_file,
    layouts.file_name AS other_file,
    list_filter(first_layout.layout, lambda anon_column: NOT list_contains(layouts.layout, anon_column)) AS first_alone,
    list_filter(layouts.layout, lambda anon_column: NOT list_contains(first_layout.layout, anon_column)) AS other_alone
FROM layouts
CROSS JOIN first_layout
WHERE layouts.layout <> first_layout.layout
ORDER BY layouts.file_name ASC NULLS LAST
LIMIT 1
