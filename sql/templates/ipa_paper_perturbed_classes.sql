-- The classes of each run, and whether they are kept: their rows must exceed their noisy threshold.
SELECT
    anon_thresholds.anon_run,
    anon_classes.*,
    anon_classes.anon_class_size > anon_thresholds.anon_threshold AS anon_is_kept
FROM anon_paper_thresholds AS anon_thresholds
INNER JOIN anon_paper_classes AS anon_classes ON anon_classes.anon_class = anon_thresholds.anon_class
