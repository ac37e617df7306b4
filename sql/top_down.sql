-- Top-down specialization: the classes of a cut, by numbers, and what they would be after another step.
--
-- :rows (anon_part BIGINT, anon_value_0 BIGINT, anon_class BIGINT, anon_row_count BIGINT)
-- :value anon_value_0
-- :last 7

-- name: first_parts
-- rows in one class
-- Beside earlier releases, in one for each joint class that these show.
-- :points (anon_value_0 BIGINT, anon_class BIGINT, anon_row_count BIGINT)
-- :part 0
SELECT *, CAST(:part AS BIGINT) AS anon_part FROM :points;

-- name: joint_parts
-- joint classes while each predictor has one label
-- One row: the rows of the smallest class, the classes of fewer than k rows, and the joint classes of earlier releases of
-- whose persons a few have no row, fewer than k.
-- :absent (anon_earlier UINTEGER, anon_absent BIGINT)
-- :k 5
SELECT
    CAST(coalesce(min(rows), 0) AS BIGINT) AS smallest,
    count(*) FILTER (WHERE rows < :k) AS short_classes,
    (SELECT count(*) FROM :absent AS anon_absent_persons WHERE anon_absent < :k) AS left_classes
FROM (SELECT sum(anon_row_count) AS rows FROM :rows GROUP BY anon_part) AS anon_parts;

-- name: last_part
-- the largest number of a class
SELECT coalesce(max(anon_part), 0) AS part FROM :rows;

-- name: set_parts
-- rows of a label in the classes of its children
-- The numbers of the new classes come behind the largest so far.
-- :children (value BIGINT, child BIGINT)
UPDATE :rows AS anon_changed
SET anon_part = anon_numbered.new
FROM (
    SELECT anon_part AS old, value, dense_rank() OVER (ORDER BY anon_part ASC, child ASC) + :last AS new
    FROM (
        SELECT DISTINCT anon_rows.anon_part, anon_rows.:value AS value, anon_children.child
        FROM :rows AS anon_rows
        INNER JOIN :children AS anon_children ON anon_children.value = anon_rows.:value
    ) AS anon_placed
) AS anon_numbered
WHERE anon_changed.anon_part = anon_numbered.old AND anon_changed.:value = anon_numbered.value;

-- name: classes_after
-- classes under candidates
-- guarded: tests/unit/test_guarded_queries.py::TestCuts
-- The rows of each class that there would be under the candidates of a predictor.
-- :children (value BIGINT, candidate BIGINT, child BIGINT)
SELECT anon_children.candidate, CAST(sum(anon_rows.anon_row_count) AS BIGINT) AS rows
FROM :rows AS anon_rows
INNER JOIN :children AS anon_children ON anon_children.value = anon_rows.:value
WHERE anon_rows.anon_part > :last
GROUP BY anon_rows.anon_part, anon_children.candidate, anon_children.child;

-- name: least_rows
-- rows of the smallest class of each candidate
-- guarded: tests/unit/test_guarded_queries.py::TestCuts
-- :classes (candidate BIGINT, rows BIGINT)
SELECT candidate, min(rows) AS rows FROM :classes GROUP BY candidate;

-- name: gains
-- bits that children give about the class of a row
-- Without candidates whose rows are all alike. Equal gains are to be equal, in whatever order terms were added.
-- :scored (candidate BIGINT, information_gain DOUBLE)
-- :counts (candidate BIGINT, child BIGINT, class BIGINT, row_count BIGINT)
SELECT candidate, round(information_gain, 12) AS gain
FROM :scored
WHERE candidate IN (SELECT candidate FROM :counts GROUP BY candidate HAVING count(DISTINCT class) > 1);

-- name: rows_of_pieces
-- rows of the pieces of the cut
-- :marginals (position INTEGER, value BIGINT, row_count BIGINT)
-- :cut (position INTEGER, first BIGINT, "end" BIGINT)
SELECT anon_pieces.position, anon_pieces.first, CAST(sum(anon_rows.row_count) AS BIGINT) AS rows
FROM :marginals AS anon_rows
INNER JOIN :cut AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
GROUP BY anon_pieces.position, anon_pieces.first;
