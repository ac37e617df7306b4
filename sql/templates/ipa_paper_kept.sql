-- Per run, class and value, the rows of the classes that are kept, with the counterfeit ones.
SELECT anon_run, anon_class, anon_place_of_value, CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count
FROM (
    SELECT
        anon_classes.anon_run,
        anon_classes.anon_class,
        anon_present.anon_place_of_value,
        anon_present.anon_row_count
    FROM anon_paper_perturbed_classes AS anon_classes
    INNER JOIN anon_paper_present AS anon_present ON anon_present.anon_class = anon_classes.anon_class
    WHERE anon_classes.anon_is_kept
    UNION ALL
    SELECT anon_run, anon_class, anon_place_of_value, anon_row_count FROM anon_paper_counterfeits
)
GROUP BY anon_run, anon_class, anon_place_of_value
