-- Schema anon: the taxonomies that every macro reads, as plain tables.
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

-- An attribute without a row here counts as observed: its values were read off the data.
CREATE TABLE IF NOT EXISTS anon.taxonomy_domain (
    attribute VARCHAR NOT NULL PRIMARY KEY,
    domain VARCHAR NOT NULL CHECK (domain IN ('declared', 'observed'))
);
