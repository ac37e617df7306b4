-- The share of the rows that no longer have a published class of their own: 0 if every row is one, close to 1 if all are
-- in one class (an aggregate over classes).
--
-- Returns: DOUBLE in [0, 1).
-- Example:
--   SELECT anon.merged_of(class_size, class_size >= 2, 12) AS merged FROM anon.class_sizes('visits', ['sex']);
CREATE OR REPLACE MACRO anon.merged_of(class_size, kept, row_count) AS
1 - count_if(kept) / row_count;
