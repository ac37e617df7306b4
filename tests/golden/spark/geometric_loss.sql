-- What a run of tests/golden/sent.py sends to a server of Spark Connect, each statement under its purpose. There
-- relations of rows are views, sqlanon_1 and so on; all other relations are small, and are sent before the statement.
-- The rows that are written are sorted by all of their columns besides.
-- Written by `python -m tests.golden`: review it as a diff. A title stands for a statement of shared.sql.

-- shared: cells 1;

-- shared: equal rows 1;

-- shared: write the release 1;

-- shared: values of kept columns 1;

-- shared: rows of rare values 1;

-- shared: some rows of the source 1;

-- shared: dependent columns 1;

-- shared: determining columns 1;

-- shared: values of identifiers 1;

-- shared: classes with a single value 1;

-- shared: measure the risks 1;

