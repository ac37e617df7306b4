-- Pictures of one column of a source: its values with their rows, a histogram, and the labels of a taxonomy.
-- :counts (anon_value INTEGER, anon_rows BIGINT)
-- :least 5

-- name: counted_values
-- values of a column with their rows
-- NULL is one of them.
-- :source (age INTEGER)
-- :value age
SELECT :value AS anon_value, count(*) AS anon_rows FROM :source GROUP BY :value;

-- name: value_figures
-- figures of the values of a column
-- The values are those of at least :least rows, the most frequent ones first; so are the counts of rows, without NULL.
-- :most 4
-- :bars 24
SELECT
    CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS row_count,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_value IS NULL), 0) AS BIGINT) AS missing_rows,
    count(anon_value) AS value_count,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_value IS NOT NULL AND anon_rows < :least), 0) AS BIGINT) AS rare_rows,
    coalesce(max(anon_rows, :bars) FILTER (WHERE anon_value IS NOT NULL), []) AS frequencies,
    coalesce(
        (
            SELECT list(struct_pack(value := anon.text_of(anon_frequent.anon_value), rows := anon_frequent.anon_rows))
            FROM (
                SELECT anon_value, anon_rows
                FROM :counts AS anon_others
                WHERE anon_value IS NOT NULL AND anon_rows >= :least
                ORDER BY anon_rows DESC, anon_value ASC
                LIMIT :most
            ) AS anon_frequent
        ),
        []
    ) AS frequent
FROM :counts AS anon_counts;

-- name: histogram
-- a histogram of numbers
-- Bins have a width of 1, 2 or 5 times a power of ten, and begin at its multiples.
-- No row without finite numbers.
-- :number CAST(anon_value AS DOUBLE)
-- :narrowest 1
-- :bars 24
-- :edge anon_number
WITH anon_numbers AS (
    SELECT anon_number, anon_rows
    FROM (SELECT :number AS anon_number, anon_rows FROM :counts AS anon_counts) AS anon_read
    WHERE isfinite(anon_number)
),
anon_ranges AS (
    SELECT
        min(anon_number) AS anon_first,
        max(anon_number) AS anon_last,
        greatest(max(anon_number) / (:bars - 2) - min(anon_number) / (:bars - 2), :narrowest) AS anon_share
    FROM anon_numbers
),
anon_powers AS (
    SELECT anon_first, anon_last, anon_share, CAST(floor(log10(anon_share)) AS INTEGER) AS anon_power
    FROM (SELECT anon_first, anon_last, CASE WHEN anon_share > 1e-300 THEN anon_share ELSE 1 END AS anon_share FROM anon_ranges)
        AS anon_widths
    WHERE anon_first IS NOT NULL
),
anon_scales AS (
    SELECT
        anon_first,
        anon_last,
        -- Powers of ten are exact, and those with a negative exponent are not.
        pow(10, greatest(anon_power, 0)) AS anon_factor,
        pow(10, greatest(-anon_power, 0)) AS anon_divisor,
        CASE
            WHEN anon_share <= pow(10, anon_power) THEN 1
            WHEN anon_share <= 2 * pow(10, anon_power) THEN 2
            WHEN anon_share <= 5 * pow(10, anon_power) THEN 5
            ELSE 10
        END AS anon_step
    FROM anon_powers
),
anon_filled AS (
    SELECT floor(anon_number / anon_factor * anon_divisor / anon_step) AS anon_place, sum(anon_rows) AS anon_rows
    FROM anon_numbers
    CROSS JOIN anon_scales
    GROUP BY anon_place
),
anon_bins AS (
    SELECT
        anon_start + anon_offset AS anon_place,
        (anon_start + anon_offset) * anon_step / anon_divisor * anon_factor AS anon_number,
        anon_offset < anon_count AS is_bin
    FROM (
        SELECT
            anon_step,
            anon_factor,
            anon_divisor,
            anon_start,
            anon_count,
            unnest(range(CAST(anon_count AS BIGINT) + 1)) AS anon_offset
        FROM (
            SELECT
                anon_step,
                anon_factor,
                anon_divisor,
                floor(anon_first / anon_factor * anon_divisor / anon_step) AS anon_start,
                floor(anon_last / anon_factor * anon_divisor / anon_step)
                - floor(anon_first / anon_factor * anon_divisor / anon_step) + 1 AS anon_count
            FROM anon_scales
        ) AS anon_counted
    ) AS anon_listed
)
SELECT
    :edge AS edge,
    CASE WHEN is_bin THEN CAST(coalesce(anon_filled.anon_rows, 0) AS BIGINT) END AS row_count
FROM anon_bins
LEFT JOIN anon_filled ON anon_filled.anon_place = anon_bins.anon_place
ORDER BY anon_bins.anon_place ASC;

-- name: counted_texts
-- values of a column, as taxonomies have them, with their rows
SELECT value, CAST(sum(anon_rows) AS BIGINT) AS anon_rows
FROM (SELECT anon.text_of(anon_value) COLLATE "binary" AS value, anon_rows FROM :counts AS anon_counts) AS anon_texts
GROUP BY value;

-- name: labelled_rows
-- rows with and without a value, and those whose value has no label
-- :texts (value VARCHAR, anon_rows BIGINT)
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
SELECT
    CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS row_count,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS missing_rows,
    count(value) AS value_count,
    count(*) FILTER (WHERE value IS NOT NULL AND value NOT IN (
        SELECT value FROM :taxonomy AS anon_taxonomy WHERE level = 0 AND value IS NOT NULL
    )) AS unlabelled_values
FROM :texts AS anon_texts;

-- name: previewed_labels
-- labels of the values of a column, with their rows
-- A label has the least of its values, and the least number among them, by which labels are ordered.
-- :texts (value VARCHAR, anon_rows BIGINT)
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
SELECT
    anon_taxonomy.level,
    anon_taxonomy.label,
    CAST(sum(anon_texts.anon_rows) AS BIGINT) AS anon_rows,
    min(TRY_CAST(anon_helpers.as_read(anon_texts.value) AS DOUBLE)) AS anon_number,
    min(anon_texts.value) AS anon_value
FROM :taxonomy AS anon_taxonomy
INNER JOIN :texts AS anon_texts ON anon_texts.value = anon_taxonomy.value
GROUP BY anon_taxonomy.level, anon_taxonomy.label;

-- name: level_figures
-- labels of each level
-- :labels (level INTEGER, label VARCHAR, anon_rows BIGINT, anon_number DOUBLE, anon_value VARCHAR)
SELECT
    level,
    count(*) AS label_count,
    min(anon_rows) AS smallest_rows,
    count(*) FILTER (WHERE anon_rows < :least) AS rare_labels,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_rows < :least), 0) AS BIGINT) AS rare_rows
FROM :labels AS anon_labels
GROUP BY level
ORDER BY level ASC;

-- name: shown_labels
-- labels of the levels that have few
-- Labels stand in the order of the labels above them.
-- :labels (level INTEGER, label VARCHAR, anon_rows BIGINT, anon_number DOUBLE, anon_value VARCHAR)
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
-- :most 80
SELECT
    anon_shown.level,
    anon_shown.label,
    anon_shown.anon_rows AS row_count
FROM (SELECT * FROM :labels AS anon_labels QUALIFY count(*) OVER (PARTITION BY level) <= :most) AS anon_shown
INNER JOIN :taxonomy AS anon_taxonomy
    ON anon_taxonomy.value = anon_shown.anon_value AND anon_taxonomy.level >= anon_shown.level
INNER JOIN :labels AS anon_above ON anon_above.level = anon_taxonomy.level AND anon_above.label = anon_taxonomy.label
GROUP BY anon_shown.level, anon_shown.label, anon_shown.anon_rows
ORDER BY
    anon_shown.level ASC,
    list(struct_pack(number := anon_above.anon_number, label := anon_above.label) ORDER BY anon_above.level DESC) ASC;

-- name: shown_values
-- values of a column with their labels
-- The first ones by number or text, in the order of their labels. Rare values and labels have no name unless :least is 0.
-- :labels (level INTEGER, label VARCHAR, anon_rows BIGINT, anon_number DOUBLE, anon_value VARCHAR)
-- :texts (value VARCHAR, anon_rows BIGINT)
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
-- :most 500
SELECT
    CASE WHEN anon_texts.anon_rows >= :least THEN anon_texts.value END AS value,
    anon_texts.anon_rows AS row_count,
    list(CASE WHEN anon_labels.anon_rows >= :least THEN anon_labels.label END ORDER BY anon_labels.level ASC)
        FILTER (WHERE anon_labels.level > 0) AS labels
FROM (
    SELECT value, anon_rows
    FROM :texts AS anon_all_texts
    WHERE value IS NOT NULL
    ORDER BY TRY_CAST(anon_helpers.as_read(value) AS DOUBLE) ASC NULLS LAST, value ASC
    LIMIT :most
) AS anon_texts
INNER JOIN :taxonomy AS anon_taxonomy ON anon_taxonomy.value = anon_texts.value
INNER JOIN :labels AS anon_labels ON anon_labels.level = anon_taxonomy.level AND anon_labels.label = anon_taxonomy.label
GROUP BY anon_texts.value, anon_texts.anon_rows
ORDER BY list(struct_pack(number := anon_labels.anon_number, label := anon_labels.label) ORDER BY anon_labels.level DESC) ASC;
