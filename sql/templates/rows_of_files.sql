-- Parquet files, in their order, with their numbers of rows from their footers.
SELECT file_name, num_rows FROM parquet_file_metadata($1)
