-- Per run, class and value, how many counterfeit rows there are: each has a number between 0 and 1, which falls among the
-- weights of all values, first those that the class has, then those that it does not have, which weigh the same.
WITH anon_aims AS (
    SELECT
        anon_classes.anon_run,
        anon_classes.anon_node,
        anon_classes.anon_class,
        anon_classes.anon_present_weight,
        anon_classes.anon_absent_values,
        anon_classes.anon_absent_weight,
        anon_uniforms.anon_uniform * (
            anon_classes.anon_present_weight
            + anon_classes.anon_absent_values * coalesce(anon_classes.anon_absent_weight, 0.0)
        ) AS anon_aim
    FROM anon_paper_uniforms AS anon_uniforms
    INNER JOIN anon_paper_perturbed_classes AS anon_classes
        ON anon_classes.anon_run = anon_uniforms.anon_run AND anon_classes.anon_class = anon_uniforms.anon_class
    WHERE anon_classes.anon_is_kept
),
anon_absent AS (
    SELECT
        *,
        CAST(
            least(floor((anon_aim - anon_present_weight) / anon_absent_weight), anon_absent_values - 1) AS BIGINT
        ) AS anon_rank
    FROM anon_aims
    WHERE anon_absent_values > 0 AND anon_aim >= anon_present_weight
),
anon_drawn AS (
    SELECT anon_aims.anon_run, anon_aims.anon_node, anon_aims.anon_class, anon_present.anon_place_of_value
    FROM anon_aims
    ASOF INNER JOIN anon_paper_present AS anon_present
        ON anon_present.anon_class = anon_aims.anon_class AND anon_aims.anon_aim >= anon_present.anon_start
    WHERE anon_aims.anon_absent_values = 0 OR anon_aims.anon_aim < anon_aims.anon_present_weight
    UNION ALL
    SELECT
        anon_absent.anon_run,
        anon_absent.anon_node,
        anon_absent.anon_class,
        anon_absent.anon_rank + coalesce(anon_gaps.anon_shift, 0) AS anon_place_of_value
    FROM anon_absent
    ASOF LEFT JOIN anon_paper_gaps AS anon_gaps
        ON anon_gaps.anon_class = anon_absent.anon_class AND anon_absent.anon_rank >= anon_gaps.anon_gap
)
SELECT anon_run, anon_node, anon_class, anon_place_of_value, count(*) AS anon_row_count
FROM anon_drawn
GROUP BY anon_run, anon_node, anon_class, anon_place_of_value
