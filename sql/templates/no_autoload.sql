-- DuckDB loads no extension by itself.
SET GLOBAL autoload_known_extensions = FALSE
