-- How many values of a class come before the ones that it does not have: the i-th of its values has place - i of the
-- latter before it.
SELECT anon_class, anon_place_of_value - anon_index AS anon_gap, max(anon_index) + 1 AS anon_shift
FROM anon_paper_present
GROUP BY anon_class, anon_place_of_value - anon_index
