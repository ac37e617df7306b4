-- A handful of rows to look at, always the same ones.
SELECT * FROM anon_table AS anon_row
ORDER BY hash(anon.text_of(anon_row)) ASC
LIMIT 6
