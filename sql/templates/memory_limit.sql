-- How much memory the database may take, as it spells it.
SELECT current_setting('memory_limit') AS memory_limit
