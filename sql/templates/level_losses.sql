-- The losses of every quasi-identifier (its position) at every level (its depth), from the rows of each value
-- (anon_value_rows), the code of the label that it falls under (anon_label) and the loss of that label; the largest loss
-- of a label, the least information of one, and how many labels of the level the data has, NULL among them. Suppression is
-- ignored.
SELECT
    position,
    depth,
    coalesce(anon.entropy_loss_of(anon_value_rows, anon_label_rows), 0.0) AS entropy,
    anon.mean_loss_of(anon_value_rows, TRUE, anon_lm) AS lm,
    anon.mean_loss_of(anon_value_rows, TRUE, anon_ncp) AS ncp,
    max(anon_lm) AS largest_lm,
    max(anon_ncp) AS largest_ncp,
    min(anon.label_information(anon_label_rows, anon_row_count)) AS least_information,
    count(DISTINCT anon_label) AS distinct_labels
FROM (
    SELECT
        *,
        sum(anon_value_rows) OVER (PARTITION BY position, depth, anon_label) AS anon_label_rows,
        sum(anon_value_rows) OVER (PARTITION BY position, depth) AS anon_row_count
    FROM anon_levels
) AS anon_weighed
GROUP BY position, depth
