-- How much of a plan EXPLAIN shows, and whether that can be changed.
SELECT current_setting('explain_output') AS explain_output, current_setting('lock_configuration') AS lock_configuration
