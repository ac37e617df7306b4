-- The values that each class has, in the order of their places among all values: their number of rows, the weight with
-- which a counterfeit row gets them, and the weight of those before them.
SELECT
    anon_class,
    anon_node,
    anon_ncp,
    anon_class_size,
    anon_class_values,
    anon_value_count,
    anon_value_epsilon,
    anon_place_of_value,
    anon_row_count,
    anon_weight,
    coalesce(sum(anon_weight) OVER (anon_in_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0.0) AS anon_start,
    row_number() OVER anon_in_order - 1 AS anon_index
FROM (
    SELECT
        *,
        anon.value_weight_of(
            anon.value_score_of(anon_row_count, anon_class_size, anon_value_count, anon_class_values), anon_value_epsilon
        ) AS anon_weight
    FROM (
        SELECT
            *,
            sum(anon_row_count) OVER (PARTITION BY anon_class) AS anon_class_size,
            count(*) OVER (PARTITION BY anon_class) AS anon_class_values
        FROM anon_paper_cells
    )
)
WINDOW anon_in_order AS (PARTITION BY anon_class ORDER BY anon_place_of_value ASC)
