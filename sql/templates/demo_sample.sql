-- A handful of rows to look at, always the same ones.
SELECT * FROM anon_table AS anon_row
ORDER BY hash(CAST(anon_row AS VARCHAR)) ASC
LIMIT 6
