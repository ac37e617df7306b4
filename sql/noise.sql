-- Counts with noise: combinations of labels and a sensitive value, those that nobody has, and scores of nodes.
--
-- :combinations (anon_code_0_0 UINTEGER, anon_raw_0 VARCHAR, anon_row_count BIGINT, anon_place BIGINT)
-- :values (value VARCHAR, anon_place_of_value BIGINT)
-- :value anon_sensitive_0
-- :raw anon_raw_0
-- :cells (anon_key_0 BIGINT, anon_sensitive_0 UINTEGER, anon_raw_0 VARCHAR, anon_row_count BIGINT)
-- :labels (position INTEGER, depth INTEGER, code UINTEGER)
-- :threshold 5

-- name: placed
-- rows with their places
-- The rows of a relation with their place in the order of some columns, from 0; without any there is one row.
-- :rows (anon_key_0 BIGINT, anon_sensitive_0 UINTEGER)
-- :keys anon_key_0, anon_sensitive_0
SELECT *, row_number() OVER (ORDER BY :keys ASC) - 1 AS anon_place FROM :rows AS anon_unplaced;

-- name: noisy
-- counts with noise
-- guarded: tests/unit/test_guarded_queries.py::TestNoise
-- Counts with the noise of their place, and whether the sum reaches the threshold.
-- :counts (anon_code_0_0 UINTEGER, anon_row_count BIGINT, anon_place BIGINT)
-- :noise (anon_run BIGINT, anon_place BIGINT, anon_noise BIGINT)
SELECT *, anon_noisy_rows >= :threshold AS anon_is_shown
FROM (
    SELECT *, anon_row_count + anon_noise AS anon_noisy_rows
    FROM (SELECT * FROM :counts INNER JOIN :noise USING (anon_place)) AS anon_sums
) AS anon_noisy;

-- name: left_over
-- rows of combinations that are not shown
-- guarded: tests/unit/test_guarded_queries.py::TestNoise
-- :noisy_combinations (anon_run BIGINT, anon_raw_0 VARCHAR, anon_row_count BIGINT, anon_is_shown BOOLEAN)
-- :raw_values anon_raw_0
SELECT anon_run, :raw_values, CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count
FROM :noisy_combinations
WHERE NOT anon_is_shown
GROUP BY anon_run, :raw_values;

-- name: runs_by_outcome
-- outcomes
-- Lists of what runs show, in the order of the place, and how many runs show the same; none of those that show nothing.
-- :items (anon_run BIGINT, anon_place BIGINT, anon_noisy_rows BIGINT)
-- :place anon_place
-- :item {'anon_place': anon_place, 'anon_noisy_rows': anon_noisy_rows}
SELECT shown, count(*) AS runs
FROM (
    SELECT list(:item ORDER BY :place ASC) AS shown FROM :items AS anon_items GROUP BY anon_run
) AS anon_of_runs
GROUP BY shown;

-- name: domain_sizes
-- labels of every level
SELECT position, depth, max(code) AS labels FROM :labels GROUP BY position, depth;

-- name: domain_values
-- values of the domain
-- :declared (value VARCHAR)
SELECT value, row_number() OVER (ORDER BY value ASC) - 1 AS anon_place_of_value FROM :declared;

-- name: numbered
-- combinations by their numbers in the domain
-- :index anon_values.anon_place_of_value + (CAST(anon_cells.anon_code_0_0 AS BIGINT) - 1) * 3
SELECT :index AS anon_index
FROM :combinations AS anon_cells
INNER JOIN :values AS anon_values
    ON anon.text_of(anon_cells.:raw) COLLATE "binary" IS NOT DISTINCT FROM anon_values.value;

-- name: gaps
-- combinations that are there
-- guarded: tests/unit/test_guarded_queries.py::TestNoise
-- For numbers that are there, each once: a place among the numbers that are not there, from 0, and how many that are
-- there come before the number at that place, and before those up to the next one.
-- :numbered (anon_index BIGINT)
SELECT anon_gap, max(anon_shift) AS anon_shift
FROM (
    SELECT
        anon_index - (row_number() OVER (ORDER BY anon_index ASC) - 1) AS anon_gap,
        row_number() OVER (ORDER BY anon_index ASC) AS anon_shift
    FROM :numbered AS anon_numbered
) AS anon_gaps
GROUP BY anon_gap;

-- name: unseen_numbers
-- numbers of what is drawn among those that are not there
-- guarded: tests/unit/test_guarded_queries.py::TestNoise
-- :drawn (anon_run BIGINT, anon_rank BIGINT, anon_noisy_rows BIGINT)
-- :seen (anon_gap BIGINT, anon_shift BIGINT)
SELECT
    anon_drawn.anon_run,
    anon_drawn.anon_noisy_rows,
    anon_drawn.anon_rank + coalesce(anon_seen.anon_shift, 0) AS anon_index
FROM :drawn AS anon_drawn
ASOF LEFT JOIN :seen AS anon_seen ON anon_drawn.anon_rank >= anon_seen.anon_gap;

-- name: unseen
-- combinations that nobody has
-- :numbered (anon_run BIGINT, anon_noisy_rows BIGINT, anon_index BIGINT)
-- :codes anon_numbered.anon_index // 3 % 7 + 1 AS anon_code_0_0
-- :value_count 3
SELECT
    :codes,
    anon_values.value AS :raw,
    anon_numbered.anon_run,
    anon_numbered.anon_noisy_rows,
    TRUE AS anon_is_shown
FROM :numbered AS anon_numbered
INNER JOIN :values AS anon_values ON anon_values.anon_place_of_value = anon_numbered.anon_index % :value_count;

-- name: every_value
-- what is left over of every value
-- What is left over of every declared value in every run, also where nothing is left.
-- :left_over (anon_run BIGINT, anon_raw_0 VARCHAR, anon_row_count BIGINT)
-- :runs 1
SELECT
    anon_wanted.anon_run,
    anon_wanted.value AS :raw,
    CAST(coalesce(anon_left.anon_row_count, 0) AS BIGINT) AS anon_row_count
FROM (SELECT value, unnest(range(:runs)) AS anon_run FROM :values) AS anon_wanted
LEFT JOIN :left_over AS anon_left
    ON anon.text_of(anon_left.:raw) COLLATE "binary" IS NOT DISTINCT FROM anon_wanted.value
    AND anon_left.anon_run = anon_wanted.anon_run;

-- name: largest_value
-- the largest code of a sensitive value
SELECT coalesce(max(:value), 0) AS largest FROM :cells;

-- name: keyed_cells
-- cells with their values in their keys
-- One number is grouped faster than two. In the order of keys.
-- :words anon_key_0 | CAST(anon_sensitive_0 AS BIGINT) AS anon_key_0
-- :keys anon_key_0
SELECT :words, anon_row_count FROM :cells ORDER BY :keys ASC;

-- name: level_losses
-- losses of levels
-- What the rows lose by their labels at every level, and the most that a row does.
-- :levels (position INTEGER, depth INTEGER, anon_value_rows BIGINT, anon_ncp DOUBLE)
-- :part CAST(round(anon_ncp * 1024) AS BIGINT)
SELECT position, depth, CAST(sum(anon_value_rows * anon_part) AS BIGINT) AS lost, max(anon_part) AS most
FROM (SELECT *, :part AS anon_part FROM :levels) AS anon_parts
GROUP BY position, depth;

-- name: node_scores
-- scores of nodes
-- From the combinations that reach the threshold, at each node of a batch; all rows of the others are at risk.
-- :scored (anon_node INTEGER, anon_rows BIGINT, anon_ncp BIGINT)
-- :whole 1073741824
SELECT
    anon_node AS node,
    CAST(sum(anon_rows) AS BIGINT) AS row_count,
    anon_helpers.node_score_of(anon_rows, anon_ncp, anon_whole, anon_threshold) AS score
FROM (SELECT *, :whole AS anon_whole, :threshold AS anon_threshold FROM :scored) AS anon_combinations
GROUP BY anon_node;

-- name: diagnostics
-- diagnostics
-- How far a private release is from its data, without noise; NULL where there are no rows.
-- :loss (ncp DOUBLE, total_variation DOUBLE, rate DOUBLE, information_loss DOUBLE)
-- :changes (deletion_rate DOUBLE)
SELECT
    anon_information_loss.ncp,
    anon_information_loss.total_variation,
    anon_information_loss.rate,
    anon_information_loss.information_loss,
    anon_class_changes.deletion_rate
FROM :loss AS anon_information_loss
CROSS JOIN :changes AS anon_class_changes;
