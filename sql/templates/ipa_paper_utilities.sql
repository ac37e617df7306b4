-- The utility of each node in each run: 3 minus NCP of all rows, the total variation distance of their values from those
-- of the source, and the mean share of counterfeit rows in the classes; the masked rows are a class. Values without
-- counterfeit rows have no larger share than in the source, so that they do not add to the distance.
WITH anon_grown AS (
    SELECT anon_run, anon_class, sum(anon_row_count) AS anon_counterfeits
    FROM anon_paper_counterfeits
    GROUP BY anon_run, anon_class
),
anon_totals AS (
    SELECT
        anon_run,
        anon_node,
        sum(anon_class_size) AS anon_rows,
        sum(anon_released_rows) AS anon_released_rows,
        fsum(CASE WHEN anon_is_kept THEN anon_released_rows * anon_ncp ELSE anon_released_rows END) AS anon_lost_rows,
        coalesce(fsum(anon.counterfeit_share_of(anon_class_size, anon_released_rows)), 0.0)
        / (count(*) FILTER (WHERE anon_is_kept) + CAST(bool_or(NOT anon_is_kept) AS INTEGER)) AS anon_rate
    FROM (
        SELECT
            anon_classes.*,
            anon_classes.anon_class_size + coalesce(anon_grown.anon_counterfeits, 0) AS anon_released_rows
        FROM anon_paper_perturbed_classes AS anon_classes
        LEFT JOIN anon_grown
            ON anon_grown.anon_run = anon_classes.anon_run AND anon_grown.anon_class = anon_classes.anon_class
    )
    GROUP BY anon_run, anon_node
),
anon_distances AS (
    SELECT
        anon_added.anon_run,
        anon_added.anon_node,
        anon.equal_distance_of(
            anon_values.anon_row_count + anon_added.anon_counterfeits,
            anon_totals.anon_released_rows,
            anon_values.anon_row_count / anon_totals.anon_rows
        ) AS anon_distance
    FROM (
        SELECT anon_run, anon_node, anon_place_of_value, sum(anon_row_count) AS anon_counterfeits
        FROM anon_paper_counterfeits
        GROUP BY anon_run, anon_node, anon_place_of_value
    ) AS anon_added
    INNER JOIN anon_paper_values AS anon_values ON anon_values.anon_place_of_value = anon_added.anon_place_of_value
    INNER JOIN anon_totals
        ON anon_totals.anon_run = anon_added.anon_run AND anon_totals.anon_node = anon_added.anon_node
    GROUP BY anon_added.anon_run, anon_added.anon_node
)
SELECT
    anon_totals.anon_run AS run,
    anon_totals.anon_node AS node,
    3 - (
        anon_totals.anon_lost_rows / anon_totals.anon_released_rows
        + coalesce(anon_distances.anon_distance, 0.0)
        + anon_totals.anon_rate
    ) AS utility
FROM anon_totals
LEFT JOIN anon_distances
    ON anon_distances.anon_run = anon_totals.anon_run AND anon_distances.anon_node = anon_totals.anon_node
