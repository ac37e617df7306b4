-- Schema anon: the taxonomies that every macro reads, and where their values come from, as plain tables.
--
-- There is deliberately no unique index on anon.taxonomy: NULL is a value of its own, which a primary
-- key cannot hold, and an index makes a million-value taxonomy 5 times slower to load and 11 times
-- larger on disk. anon.malformed_taxonomies() finds what an index would have refused.
CREATE SCHEMA IF NOT EXISTS anon;

CREATE TABLE IF NOT EXISTS anon.taxonomy (
    attribute VARCHAR NOT NULL,
    level INTEGER NOT NULL,
    value VARCHAR,
    label VARCHAR
);

-- Where the values of a taxonomy come from: they were declared, a file states them, or they were read off the data.
-- An attribute without a row here counts as observed.
CREATE TABLE IF NOT EXISTS anon.taxonomy_domain (
    attribute VARCHAR NOT NULL PRIMARY KEY,
    domain VARCHAR NOT NULL CHECK (domain IN ('declared', 'stated', 'observed'))
);

-- A row per time that a taxonomy was loaded, the newest last: where its values came from, which file stated them, and a
-- hash of the labels. A taxonomy that was changed in SQL since then has another hash, and counts as observed. So does a
-- file that is equal to a taxonomy whose values were read off the data.
CREATE TABLE IF NOT EXISTS anon.taxonomy_origin (
    attribute VARCHAR NOT NULL,
    domain VARCHAR NOT NULL,
    origin VARCHAR,
    sha256 VARCHAR NOT NULL
);
