-- The macros and what each is for.

-- The macros of schema anon by job and name: what each takes, whether it is called in FROM (table) or in SELECT (scalar), and
-- the first sentence of its documentation. They are made of macros of schema anon_helpers, which are last and have no job. The
-- rest of the documentation is `SELECT comment FROM duckdb_functions() WHERE function_name = 'lm';`.
--
-- Job: help.
-- Returns: job VARCHAR, name VARCHAR, parameters VARCHAR[], kind VARCHAR, description VARCHAR, one row per macro.
-- Example:
--   FROM anon.help() WHERE job = 'risk';
CREATE OR REPLACE MACRO anon.help() AS TABLE
SELECT DISTINCT
    nullif(regexp_extract(comment, '\nJob: (\w+)[.]', 1), '') AS job,
    CASE schema_name WHEN 'anon' THEN function_name ELSE schema_name || '.' || function_name END AS name,
    parameters,
    CASE function_type WHEN 'table_macro' THEN 'table' ELSE 'scalar' END AS kind,
    -- A sentence ends at a full stop before a capital letter, or at the end of a paragraph: "et al. 2007" has none.
    regexp_replace(
        regexp_extract(comment, '^(.*?[.])(\s+[A-Z`]|\n\n|\s*$)', 1, 's'), '\s+', ' ', 'g'
    ) AS description
FROM duckdb_functions()
WHERE schema_name IN ('anon', 'anon_helpers') AND function_type IN ('macro', 'table_macro')
ORDER BY job ASC NULLS LAST, name ASC;
