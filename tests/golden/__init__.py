"""Golden SQL: what a whole run sends to the database, kept as files that a plain DuckDB executes."""
