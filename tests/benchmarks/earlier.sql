-- A quarter after another one: 2 % of the persons leave, 3 % come, and 2 % are in another state than before. Who is who
-- follows from their numbers, so that nothing is drawn.
COPY (
    SELECT * EXCLUDE (other_age) REPLACE (CASE WHEN hash(id, $quarter) % 50 = 0 THEN other_age ELSE age END AS age)
    FROM (SELECT *, lead(age, 1, age) OVER (ORDER BY id) AS other_age FROM read_parquet($before))
    WHERE hash(id, $quarter + 100) % 50 <> 0
    UNION ALL BY NAME
    SELECT * REPLACE (id + $quarter * 100_000_000 AS id)
    FROM read_parquet($first)
    WHERE hash(id, $quarter + 200) % 33 = 0
) TO (getvariable('target')) (FORMAT parquet, COMPRESSION zstd);
