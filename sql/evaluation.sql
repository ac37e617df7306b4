-- What a table is learnt from, and the answers that are compared.
--
-- :rows (anon_predictor_0 VARCHAR, anon_label VARCHAR, anon_weight DOUBLE)

-- name: contents
-- labels and weights
SELECT
    count(*) FILTER (WHERE anon_weight > 0) AS weighed_rows,
    count(*) FILTER (WHERE anon_label IS NULL) AS unlabelled_rows,
    count(*) FILTER (WHERE NOT coalesce(isfinite(anon_weight) AND anon_weight >= 0, FALSE)) AS unfit_rows,
    count(DISTINCT anon_label) FILTER (WHERE anon_weight > 0) AS label_count
FROM :rows AS anon_values;

-- name: combinations
-- combinations of values
-- :keys anon_predictor_0, anon_label
-- :total sum(anon_weight ORDER BY anon_weight ASC)
SELECT :keys, :total AS anon_weight
FROM :rows AS anon_values
WHERE anon_weight > 0
GROUP BY :keys
ORDER BY :keys ASC;

-- name: ordered_answers
-- answers in the order of their groups
-- :answers (group_label VARCHAR, group_start DOUBLE, truth DOUBLE, answer DOUBLE)
SELECT group_label, group_start, truth, answer
FROM :answers AS anon_answers
ORDER BY group_start ASC, group_label ASC;

-- name: shares_of_value
-- labels that may stand for a value
-- :spread (label VARCHAR, value VARCHAR, share DOUBLE)
-- :value 'flu'
SELECT label, share FROM :spread AS anon_spread WHERE value IS NOT DISTINCT FROM :value;
