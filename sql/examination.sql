-- What stands in the way of a node: how strict its bounds can be, and the labels of the rows that it suppresses.

-- name: strictest_bounds
-- strictest bounds of nodes
-- The strictest bound that a node can meet: that of the least strict class which cannot be suppressed together with all that
-- are less strict, if it is above a floor. Classes of the same strictness are added up first: sorting all classes of a batch
-- would take longer than making them. Sums (:totals) are added up from each strictness on, for means.
-- :classes (anon_node INTEGER, anon_class_size BIGINT, anon_out_of_bounds BOOLEAN)
-- :strictness anon_class_size
-- :best max(anon_rows_up_to)
-- :floor coalesce(max(anon_strictest) FILTER (WHERE anon_rejected), 0)
-- :strictest max(anon_rows_up_to)
-- :sums sum(anon_class_size)
-- :totals anon_total_0
-- :totals_from anon_total_from_0
SELECT anon_node, CASE WHEN :best > :floor THEN :strictest END AS anon_strictest
FROM (
    SELECT
        *,
        sum(anon_class_size) OVER (PARTITION BY anon_node ORDER BY anon_strictest ASC) AS anon_rows_up_to,
        sum(:totals) OVER (PARTITION BY anon_node ORDER BY anon_strictest DESC) AS :totals_from
    FROM (
        SELECT
            anon_node,
            anon_strictest,
            sum(anon_class_size) AS anon_class_size,
            bool_or(anon_out_of_bounds) AS anon_rejected,
            :sums AS :totals
        FROM (SELECT *, :strictness AS anon_strictest FROM :classes) AS anon_all
        GROUP BY anon_node, anon_strictest
    ) AS anon_alike
) AS anon_sums
GROUP BY anon_node;

-- name: judged_cells
-- suppressed cells
-- The keys of cells with their rows, and those that are suppressed: all, unless their class is among the kept ones.
-- :cells (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_row_count BIGINT)
-- :kept (anon_key_0 BIGINT, anon_is_kept BOOLEAN)
-- :words anon_key_0, anon_key_1
-- :keys anon_key_0
-- :masks 3
SELECT
    anon_cells.:words,
    anon_cells.anon_row_count,
    CASE WHEN anon_kept.anon_is_kept THEN 0 ELSE anon_cells.anon_row_count END AS anon_suppressed_rows
FROM :cells AS anon_cells
LEFT JOIN :kept AS anon_kept ON (anon_cells.:keys & :masks) = anon_kept.:keys;

-- name: rows_by_label
-- rows by label
-- The rows of the labels of a level (their position), and those that are suppressed; of labels with enough rows.
-- :position 0
-- :cells (anon_key_0 BIGINT, anon_row_count BIGINT, anon_suppressed_rows BIGINT)
-- :words anon_key_0 & 3
-- :keys anon_key_0
-- :labels (anon_key_0 BIGINT, label VARCHAR)
-- :fewest 5
SELECT
    :position AS position,
    anon_labels.label,
    anon_groups.anon_row_count AS rows,
    anon_groups.anon_suppressed_rows AS suppressed_rows
FROM (
    SELECT
        :words AS :keys,
        CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count,
        CAST(sum(anon_suppressed_rows) AS BIGINT) AS anon_suppressed_rows
    FROM :cells
    GROUP BY :words
) AS anon_groups
LEFT JOIN :labels AS anon_labels ON anon_groups.:keys = anon_labels.:keys
WHERE anon_groups.anon_row_count >= :fewest;
