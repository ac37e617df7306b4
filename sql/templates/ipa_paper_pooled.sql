-- Per run and value, the rows of the classes that are not kept.
SELECT
    anon_classes.anon_run,
    anon_present.anon_place_of_value,
    CAST(sum(anon_present.anon_row_count) AS BIGINT) AS anon_row_count
FROM anon_paper_perturbed_classes AS anon_classes
INNER JOIN anon_paper_present AS anon_present ON anon_present.anon_class = anon_classes.anon_class
WHERE NOT anon_classes.anon_is_kept
GROUP BY anon_classes.anon_run, anon_present.anon_place_of_value
