-- What one node is worth, from its classes: a row per node of the batch. The measures are the public macros.
SELECT
    anon_node AS node,
    count(*) AS class_count,
    min(anon_class_size) AS min_class_size,
    count(*) FILTER (WHERE anon_kept) AS kept_class_count,
    anon.suppressed_rows_of(anon_class_size, anon_kept) AS suppressed_rows,
    anon.suppressed_rows_of(anon_class_size, anon_certainly_kept) AS certain_suppressed_rows,
    coalesce(bool_or(anon_out_of_bounds) FILTER (WHERE anon_kept), FALSE) AS rejected,
    anon.mean_loss_of(anon_class_weight, anon_kept, anon_lm) AS lm,
    anon.mean_loss_of(anon_class_weight, anon_kept, anon_ncp) AS ncp,
    anon.mean_loss_of(anon_class_weight, anon_kept, 0.0) AS suppressed_share,
    anon.suppressed_loss_of(anon_class_weight, anon_kept, anon_information) AS suppressed_information,
    anon.best_k_of(anon_strictness, anon_rows_up_to, anon_allowed_rows) AS attainable
FROM anon_classes
GROUP BY anon_node
