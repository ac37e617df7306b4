-- The classes of some nodes: their size, what their labels lose, the weight of all values that they have together, how
-- many values they do not have, and the weight of each of these.
SELECT
    anon_class,
    any_value(anon_node) AS anon_node,
    any_value(anon_ncp) AS anon_ncp,
    CAST(any_value(anon_class_size) AS BIGINT) AS anon_class_size,
    max(anon_start + anon_weight) AS anon_present_weight,
    any_value(anon_value_count - anon_class_values) AS anon_absent_values,
    any_value(
        anon.value_weight_of(
            anon.value_score_of(0, anon_class_size, anon_value_count, anon_class_values), anon_value_epsilon
        )
    ) AS anon_absent_weight
FROM anon_paper_present
GROUP BY anon_class
