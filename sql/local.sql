-- Local recoding: the cells and the labels that are handed over as arrays.

-- name: cells
-- cells as arrays
-- The cells with the words of their keys, the codes that classes are judged by, and their rows.
-- :cells (anon_key_0 BIGINT, anon_sensitive_0 UINTEGER, anon_row_count BIGINT)
-- :columns anon_key_0, anon_sensitive_0, anon_row_count
SELECT :columns FROM :cells AS anon_cells;

-- name: labels
-- labels as arrays
-- The number of every value of a quasi-identifier (position) and, at every level (depth), the number of its label, what the
-- label loses, and the words of its key. Numbers begin at 0; labels of equal text have equal numbers at all levels.
-- :labels (position INTEGER, depth INTEGER, value VARCHAR, label VARCHAR, ncp DOUBLE, anon_key_0 BIGINT, anon_key_1 BIGINT)
-- :loss ncp
-- :keys anon_key_0, anon_key_1
SELECT
    position,
    depth,
    dense_rank() OVER (PARTITION BY position ORDER BY value ASC NULLS FIRST) - 1 AS value_number,
    dense_rank() OVER (PARTITION BY position ORDER BY label ASC NULLS FIRST) - 1 AS label_number,
    :loss AS loss,
    :keys
FROM :labels AS anon_labels;
