-- What the method for synthetic rows counts of a table, and how the rows that it draws are written and compared.

-- name: label_codes
-- labels of the modelled columns, by number
-- The values of each column with the label at which it is modelled; labels are numbered from 0 in the order of their values.
-- :leaves (position INTEGER, depth INTEGER, value VARCHAR, label VARCHAR, leaf BIGINT)
-- :levels (position INTEGER, depth INTEGER)
SELECT
    position,
    leaf,
    value,
    label,
    dense_rank() OVER (PARTITION BY position ORDER BY first_leaf ASC) - 1 AS code
FROM (
    SELECT
        anon_leaves.position,
        anon_leaves.leaf,
        anon_leaves.value,
        anon_leaves.label,
        min(anon_leaves.leaf) OVER (PARTITION BY anon_leaves.position, anon_leaves.label) AS first_leaf
    FROM :leaves AS anon_leaves
    INNER JOIN :levels AS anon_levels
        ON anon_levels.position = anon_leaves.position AND anon_levels.depth = anon_leaves.depth
) AS anon_labels;

-- name: labels
-- the labels in the order of their numbers
-- :codes (position INTEGER, leaf BIGINT, label VARCHAR, code BIGINT)
SELECT position, code, any_value(label) AS label
FROM :codes
GROUP BY position, code
ORDER BY position ASC, code ASC;

-- name: listed_labels
-- the labels of a column as a list, in the order of their numbers
-- :codes (position INTEGER, leaf BIGINT, value VARCHAR, label VARCHAR, code BIGINT)
-- :position 0
SELECT list(label ORDER BY code ASC)
FROM (SELECT DISTINCT code, label FROM :codes WHERE position = :position) AS anon_labels;

-- name: listed_values
-- the single values of a column as a list
-- :codes (position INTEGER, leaf BIGINT, value VARCHAR, label VARCHAR, code BIGINT)
-- :position 0
SELECT list(value ORDER BY leaf ASC) FROM :codes WHERE position = :position;

-- name: values_by_code
-- the single values of a column, with the numbers of their labels
-- :codes (position INTEGER, leaf BIGINT, value VARCHAR, label VARCHAR, code BIGINT)
-- :position 0
SELECT value, code FROM :codes WHERE position = :position ORDER BY leaf ASC;

-- name: codes_of_leaves
-- the number of the label of each value of a column, in the order of its values
-- :codes (position INTEGER, leaf BIGINT, label VARCHAR, code BIGINT)
-- :position 0
SELECT list(code ORDER BY leaf ASC) FROM :codes WHERE position = :position;

-- name: values_of_no_type
-- how many single values of a column its type does not hold
-- :codes (position INTEGER, leaf BIGINT, value VARCHAR, label VARCHAR, code BIGINT)
-- :position 0
-- :held TRY_CAST(value AS INTEGER)
SELECT count(*) FROM :codes WHERE position = :position AND :held IS NULL;

-- name: cells
-- rows as the numbers of their labels and bins
-- :rows (anon_code_0 UTINYINT, anon_code_1 UTINYINT)
-- :codes [anon_code_0, anon_code_1]
SELECT :codes, count(*) AS anon_row_count
FROM :rows
GROUP BY :codes;

-- name: marginal
-- a marginal: rows by the combinations of values of some columns
-- :cells (anon_code_0 UTINYINT, anon_code_1 UTINYINT, anon_row_count BIGINT)
-- :combination anon_code_0 * 5 + anon_code_1
SELECT CAST(:combination AS BIGINT) AS combination, CAST(sum(anon_row_count) AS BIGINT) AS row_count
FROM :cells
GROUP BY combination;

-- name: content
-- the number of rows, and the sum of the hashes of these
-- :rows (sex VARCHAR, age INTEGER)
-- :row_hash hash(sex, age)
SELECT count(*) AS row_count, CAST(coalesce(sum(:row_hash), 0) AS VARCHAR) AS content
FROM :rows;
