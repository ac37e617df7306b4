-- What stands under a key in the footer of a Parquet file.
SELECT decode(value) AS note FROM parquet_kv_metadata($1) WHERE decode(key) = $2
