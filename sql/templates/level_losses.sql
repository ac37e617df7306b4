-- The losses of one quasi-identifier at one level, from the rows of each value (anon_value_rows) and of the label
-- that it falls under (anon_label_rows), and the loss of that label; suppression is ignored.
SELECT
    coalesce(anon.entropy_loss_of(anon_value_rows, anon_label_rows), 0.0) AS entropy,
    anon.mean_loss_of(anon_value_rows, TRUE, anon_lm) AS lm,
    anon.mean_loss_of(anon_value_rows, TRUE, anon_ncp) AS ncp
FROM anon_level
