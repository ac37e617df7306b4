-- How many connections of this program there are to the database.
SELECT count AS connection_count FROM duckdb_connection_count()
