-- Every level of the taxonomies: how many labels and values it has, how many of them are NULL, and a
-- hash of its rows in a fixed order.
SELECT
    anon_taxonomy.attribute,
    anon_taxonomy.level,
    count(DISTINCT anon_taxonomy.label) + CAST(bool_or(anon_taxonomy.label IS NULL) AS BIGINT) AS label_count,
    count(*) AS value_count,
    count(*) - count(anon_taxonomy.value) AS null_value_count,
    count(*) - count(anon_taxonomy.label) AS null_label_count,
    coalesce(any_value(anon_domain.domain), 'observed') AS domain,
    sha256(string_agg(
        concat(coalesce(anon_taxonomy.value, ''), chr(31), coalesce(anon_taxonomy.label, ''), chr(30)), ''
        ORDER BY anon_taxonomy.value ASC NULLS FIRST, anon_taxonomy.label ASC NULLS FIRST
    )) AS sha256
FROM anon.taxonomy AS anon_taxonomy
LEFT JOIN anon.taxonomy_domain AS anon_domain ON anon_domain.attribute = anon_taxonomy.attribute
GROUP BY anon_taxonomy.attribute, anon_taxonomy.level
ORDER BY anon_taxonomy.attribute ASC, anon_taxonomy.level ASC
