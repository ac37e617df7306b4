-- What there is in schema anon.

-- The macros of schema anon by name: what each takes, whether it is called in FROM (table) or in SELECT (scalar), and the first
-- sentence of its documentation. Those with a job are for people, and come first; the others are what these are made of. The
-- rest of the documentation is `SELECT comment FROM duckdb_functions() WHERE function_name = 'lm';`.
--
-- Returns: job VARCHAR, name VARCHAR, parameters VARCHAR[], kind VARCHAR, description VARCHAR, one row per macro.
-- Example:
--   FROM anon.help() WHERE job = 'risk';
CREATE OR REPLACE MACRO anon.help() AS TABLE
SELECT DISTINCT
    nullif(regexp_extract(comment, '\nJob: (\w+)[.]', 1), '') AS job,
    function_name AS name,
    parameters,
    CASE function_type WHEN 'table_macro' THEN 'table' ELSE 'scalar' END AS kind,
    -- A sentence ends at a full stop before a capital letter, or at the end of a paragraph: "et al. 2007" has none.
    regexp_replace(
        regexp_extract(comment, '^(.*?[.])(\s+[A-Z`]|\n\n|\s*$)', 1, 's'), '\s+', ' ', 'g'
    ) AS description
FROM duckdb_functions()
WHERE schema_name = 'anon' AND function_type IN ('macro', 'table_macro')
ORDER BY job ASC NULLS LAST, name ASC;
