-- What must be as it was after rows were written one after the other, and whether it can be changed.
SELECT
    current_setting('threads') AS threads,
    current_setting('preserve_insertion_order') AS preserve_insertion_order,
    current_setting('lock_configuration') AS lock_configuration
