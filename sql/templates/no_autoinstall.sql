-- DuckDB downloads no extension by itself.
SET GLOBAL autoinstall_known_extensions = FALSE
