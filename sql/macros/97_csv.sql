-- Texts that a spreadsheet computes when it opens a CSV file.

-- Whether a spreadsheet may take a text for a formula: it begins with =, +, -, @, a tab or a line break (as OWASP lists
-- them, the wide forms included), and has a letter or a digit. A number with its sign, such as -5 or +3.2, is none.
--
-- Returns: BOOLEAN.
-- Example:
--   SELECT anon.is_formula('=1+1') AS is_formula;
CREATE OR REPLACE MACRO anon.is_formula(cell) AS
    regexp_matches(cell, '^[=+@\t\r\n＝＋－＠-](?s:.*)[\p{L}\p{N}]')
    AND NOT regexp_full_match(cell, '[+-]([0-9]+([.,][0-9]+)*|[.,][0-9]+)([eE][+-]?[0-9]+)?%?');

-- The text with an apostrophe before it if it would be taken for a formula, with which a spreadsheet shows it as text.
-- Texts that begin with apostrophes before a formula get one more, so that anon.unquoted_formula restores every text.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon.quoted_formula('=1+1') AS cell;
CREATE OR REPLACE MACRO anon.quoted_formula(cell) AS
    CASE WHEN anon.is_formula(ltrim(cell, '''')) THEN concat('''', cell) ELSE cell END;

-- The text that anon.quoted_formula was given.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon.unquoted_formula('''=1+1') AS cell;
CREATE OR REPLACE MACRO anon.unquoted_formula(cell) AS
    CASE WHEN cell LIKE '''%' AND anon.is_formula(ltrim(cell, '''')) THEN substr(cell, 2) ELSE cell END;
