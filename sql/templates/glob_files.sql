-- The files that a path or a glob stands for.
SELECT file FROM glob($1) ORDER BY file ASC
