-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- rows, and NULL among them
SELECT
  COUNT(*) AS `rows`,
  COUNT(*) FILTER(WHERE
    `age` IS NULL) AS `null_0`,
  COUNT(*) FILTER(WHERE
    `sex` IS NULL) AS `null_1`,
  COUNT(*) FILTER(WHERE
    `zip` IS NULL) AS `null_2`,
  COUNT(*) FILTER(WHERE
    `diagnosis` IS NULL) AS `null_3`
FROM `sqlanon_1`;

-- numbers out of their ranges
SELECT
  COUNT(*) FILTER(WHERE
    CAST(COALESCE(`age`, NULL) AS DOUBLE) < CAST(0 AS DOUBLE)
    OR CAST(COALESCE(`age`, NULL) AS DOUBLE) >= CAST(1000000 AS DOUBLE)) AS `outside_0`
FROM `sqlanon_1`;

-- shared: rows as the places of their values 1;

-- shared: write the release 5;

-- shared: values of identifiers 1;

-- shared: measure the risks 2;

-- shared: what was written 1;

