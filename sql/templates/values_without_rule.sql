-- How many values a rule has no label for, and how many of these are numbers with a decimal comma.
SELECT
    count(*) AS value_count,
    count(*) FILTER (WHERE regexp_full_match(value, '\s*[-+]?[0-9]{1,3}([.]?[0-9]{3})*,[0-9]+\s*')) AS comma_count
FROM anon_values
