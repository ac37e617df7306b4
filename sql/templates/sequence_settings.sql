-- The settings that are others while rows are written in their order, and whether they can be changed.
SELECT
    current_setting('threads') AS threads,
    current_setting('preserve_insertion_order') AS preserve_insertion_order,
    current_setting('lock_configuration') AS lock_configuration
