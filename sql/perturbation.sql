-- Perturbed columns: rows with numbers, and their new values.
--
-- :source (income BIGINT, region VARCHAR)
-- :rows (anon_row BIGINT, income BIGINT, region VARCHAR)
-- :columns income, region
-- :changed (anon_row BIGINT, income BIGINT, region VARCHAR)
-- :draws (anon_row BIGINT, anon_tie DOUBLE, anon_turn DOUBLE, anon_offset DOUBLE)
-- :stratum row(region)
-- :value income

-- name: numbered_rows
-- the rows of the source with numbers
SELECT row_number() OVER () AS anon_row, :columns
FROM :source;

-- name: row_count
-- the number of rows
SELECT count(*) AS rows FROM :rows;

-- name: changed_labels
-- how many rows show another value
-- :was anon_rows.region
-- :shown anon_changed.region
SELECT
    count(:was) AS rows,
    count(*) FILTER (WHERE :was IS DISTINCT FROM :shown) AS changed
FROM :rows AS anon_rows
JOIN :changed AS anon_changed ON anon_changed.anon_row = anon_rows.anon_row;

-- name: changed_values
-- how many rows show another number, and how far numbers are from their own
-- :was anon_rows.income
-- :shown anon_changed.income
SELECT
    count(:was) AS rows,
    count(*) FILTER (WHERE :was IS DISTINCT FROM :shown) AS changed,
    avg(abs(CAST(:shown AS DOUBLE) - CAST(:was AS DOUBLE))) / nullif(sqrt(2) * stddev_samp(:was), 0) AS il1s,
    avg((CAST(:shown AS DOUBLE) - CAST(:was AS DOUBLE)) ** 2) / nullif(var_pop(:was), 0) AS sse_share
FROM :rows AS anon_rows
JOIN :changed AS anon_changed ON anon_changed.anon_row = anon_rows.anon_row;

-- name: strata_of_one_rank
-- strata whose blocks of ranks have one rank
-- :share 0.05
SELECT count(*) AS strata, CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS rows
FROM (SELECT count(:value) AS anon_rows FROM :rows GROUP BY :stratum) AS anon_strata
WHERE anon_rows > 0 AND ceil(:share * anon_rows) < 2;

-- name: swapped_ranks
-- values that are permuted in blocks of ranks
-- The first block of a stratum is cut by a random offset. NULL has no rank, and stays where it is.
-- :share 0.05
WITH anon_ranked AS (
    SELECT
        anon_row,
        :stratum AS anon_stratum,
        row_number() OVER (PARTITION BY :stratum ORDER BY :value ASC, anon_tie ASC) AS anon_rank,
        first_value(anon_offset) OVER (PARTITION BY :stratum ORDER BY :value ASC, anon_tie ASC) AS anon_begin,
        greatest(ceil(:share * count(*) OVER (PARTITION BY :stratum)), 1) AS anon_width,
        anon_turn
    FROM :rows AS anon_rows
    JOIN :draws AS anon_draws USING (anon_row)
    WHERE :value IS NOT NULL
),
anon_blocks AS (
    SELECT *, floor((anon_rank - 1 + floor(anon_width * anon_begin)) / anon_width) AS anon_block
    FROM anon_ranked
),
anon_places AS (
    SELECT
        anon_row,
        anon_stratum,
        anon_block,
        row_number() OVER (PARTITION BY anon_stratum, anon_block ORDER BY anon_rank ASC) AS anon_place,
        row_number() OVER (PARTITION BY anon_stratum, anon_block ORDER BY anon_turn ASC, anon_row ASC) AS anon_turned
    FROM anon_blocks
),
anon_pairs AS (
    SELECT anon_shown.anon_row, anon_donors.anon_row AS anon_donor
    FROM anon_places AS anon_shown
    JOIN anon_places AS anon_donors
        ON anon_donors.anon_stratum IS NOT DISTINCT FROM anon_shown.anon_stratum
        AND anon_donors.anon_block = anon_shown.anon_block
        AND anon_donors.anon_turned = anon_shown.anon_place
)
SELECT anon_rows.anon_row, anon_donors.:columns
FROM :rows AS anon_rows
LEFT JOIN anon_pairs ON anon_pairs.anon_row = anon_rows.anon_row
JOIN :rows AS anon_donors ON anon_donors.anon_row = coalesce(anon_pairs.anon_donor, anon_rows.anon_row);
