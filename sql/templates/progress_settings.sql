-- What must be as it was after statements were watched, whether it can be changed, and whether a statement looks for
-- variables of the Python functions that called it.
SELECT
    current_setting('enable_progress_bar') AS enable_progress_bar,
    current_setting('enable_progress_bar_print') AS enable_progress_bar_print,
    current_setting('lock_configuration') AS lock_configuration,
    current_setting('python_scan_all_frames') AS python_scan_all_frames
