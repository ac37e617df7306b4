-- h-ceiling: how general rows are, what classes lack, counterfeits that fill them up, and the catalog of these.
--
-- :cells (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_sensitive_0 UINTEGER, anon_raw_0 VARCHAR, anon_row_count BIGINT)
-- :labels (position INTEGER, depth INTEGER, value VARCHAR, label VARCHAR, lm DOUBLE, anon_key_0 BIGINT,
--     anon_key_1 BIGINT)
-- :keys anon_key_0, anon_key_1
-- :words anon_key_0, anon_key_1
-- :value anon_sensitive_0
-- :raw anon_raw_0
-- :k 3
-- :profiles (position INTEGER, anon_profile BIGINT, anon_losses DOUBLE[])
-- :known (anon_sensitive_0 UINTEGER, anon_raw_0 VARCHAR, anon_row_count BIGINT)
-- :lacking (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_class_size BIGINT, anon_missing BIGINT,
--     anon_missing_before BIGINT)
-- :drawn (anon_place BIGINT, anon_drawn_value DOUBLE)
-- :counterfeits (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_sensitive_0 UINTEGER, anon_row_count BIGINT)
-- :filled (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_sensitive_0 UINTEGER, anon_row_count BIGINT)
-- :classes (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_class_size BIGINT, anon_class_number BIGINT)
-- :class_values (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_sensitive_0 UINTEGER, anon_row_count BIGINT)
-- :groups (anon_group BIGINT, anon_class_number BIGINT)
-- :totals (anon_group BIGINT, anon_value_code UINTEGER, anon_counterfeit_count BIGINT)
-- :equal_rows (class_id BIGINT, anon_label_0 VARCHAR, anon_row_count BIGINT)
-- :urns (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_class_size BIGINT, anon_missing BIGINT, anon_missing_before BIGINT,
--     anon_own_rows BIGINT, anon_barred_codes UINTEGER[])
-- :chances (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_sensitive_0 UINTEGER, anon_chance DOUBLE)
-- :bounds (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_sensitive_0 UINTEGER, anon_low DOUBLE)
-- :entry_labels (anon_entry BIGINT, anon_entry_size BIGINT, position INTEGER, anon_entry_label VARCHAR)
-- :entry_values (anon_entry BIGINT, anon_entry_value VARCHAR)
-- :barred (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_barred_codes UINTEGER[])
-- :placed (anon_barred_codes UINTEGER[], anon_missing BIGINT)

-- name: profiles
-- what labels lose at all levels
-- The labels of level 1, with what they and the labels above lose, and a number for that.
SELECT *, dense_rank() OVER (PARTITION BY position ORDER BY anon_losses ASC) AS anon_profile
FROM (
    SELECT DISTINCT position, :words, anon_losses
    FROM (
        SELECT position, depth, :words, list(lm) OVER (
            PARTITION BY position, value ORDER BY depth ASC ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS anon_losses
        FROM :labels
    ) AS anon_whole
    WHERE depth = 1
) AS anon_labels_of_level;

-- name: distinct_profiles
-- what labels lose at all levels
SELECT DISTINCT position, anon_profile, anon_losses FROM :profiles;

-- name: kept_cells
-- cells of classes that are not suppressed
-- guarded: tests/unit/test_guarded_queries.py::TestCounterfeits
-- :cells_by_key (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_row_count BIGINT)
-- :is_of_class anon_classes.anon_key_0 = anon_all.anon_key_0 & 3
-- :fewest 2
-- no mutants of SUM(anon_row_count) AS anon_class_size: nothing reads it
SELECT anon_all.*
FROM :cells AS anon_all
INNER JOIN (
    SELECT :keys, sum(anon_row_count) AS anon_class_size
    FROM :cells_by_key
    GROUP BY :keys
    HAVING sum(anon_row_count) >= :fewest
) AS anon_classes ON :is_of_class;

-- name: row_count
-- rows of cells
SELECT coalesce(CAST(sum(anon_row_count) AS BIGINT), 0) AS rows FROM :cells;

-- name: lacking
-- classes that lack rows
-- How many rows each class lacks of k, and how many all those before it do.
SELECT *, CAST((sum(anon_missing) OVER (ORDER BY :keys ASC) - anon_missing) AS BIGINT) AS anon_missing_before
FROM (
    SELECT *, anon_helpers.missing_rows(anon_class_size, :k) AS anon_missing
    FROM (SELECT :keys, CAST(sum(anon_row_count) AS BIGINT) AS anon_class_size FROM :cells GROUP BY :keys) AS anon_sizes
) AS anon_classes
WHERE anon_missing > 0;

-- name: lacking_totals
-- classes that lack rows
SELECT count(*) AS classes, coalesce(CAST(sum(anon_missing) AS BIGINT), 0) AS missing, min(anon_class_size) AS smallest
FROM :lacking;

-- name: known_values
-- sensitive values
SELECT :value, any_value(:raw) AS :raw, CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count
FROM :cells
GROUP BY :value;

-- name: value_counts
-- sensitive values
SELECT :value AS value, anon_row_count AS rows FROM :known ORDER BY value ASC;

-- name: rows_without_value
-- rows without a value
SELECT coalesce(sum(anon_row_count), 0) AS rows FROM :cells WHERE :raw IS NULL;

-- name: counterfeits
-- counterfeits
-- Each counterfeit that a class lacks has a place, and the value that was drawn for it.
SELECT :keys, anon_drawn_value AS :value, CAST(count(*) AS BIGINT) AS anon_row_count
FROM (
    SELECT :keys, unnest(range(anon_missing_before, anon_missing_before + anon_missing)) AS anon_place FROM :lacking
) AS anon_places
INNER JOIN :drawn AS anon_drawn USING (anon_place)
GROUP BY :keys, anon_drawn_value;

-- name: filled_cells
-- cells with counterfeits
-- A cell for each class and value, true rows and counterfeits together; words that are no key of the node are 0.
SELECT :words, :value, :raw, FALSE AS anon_is_unmapped, anon_counts.anon_row_count
FROM (
    SELECT :keys, :value, CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count
    FROM (
        SELECT :keys, :value, anon_row_count FROM :cells
        UNION ALL
        SELECT :keys, :value, anon_row_count FROM :counterfeits
    ) AS anon_rows
    GROUP BY :keys, :value
) AS anon_counts
INNER JOIN :known AS anon_known USING (:value);

-- name: numbered_classes
-- classes with counterfeits
SELECT *, row_number() OVER (ORDER BY :keys ASC) AS anon_class_number
FROM (SELECT :keys, sum(anon_row_count) AS anon_class_size FROM :cells GROUP BY :keys) AS anon_sizes;

-- name: class_value_counts
-- values of classes with counterfeits
-- :is_asked anon_classes.anon_class_size = 3
SELECT
    anon_classes.anon_class_number AS class,
    anon_filled.:value AS value,
    anon_filled.anon_row_count AS published,
    coalesce(anon_invented.anon_row_count, 0) AS counterfeits
FROM :filled AS anon_filled
INNER JOIN :classes AS anon_classes ON anon_filled.:keys = anon_classes.:keys
LEFT JOIN :counterfeits AS anon_invented
    ON anon_invented.:keys = anon_filled.:keys AND anon_invented.:value = anon_filled.:value
WHERE :is_asked;

-- name: class_ids
-- rows with the ids of their classes
-- Groups of equal rows with the number of their class among all classes in the order of their labels.
-- :groups (anon_label_0 VARCHAR, disease VARCHAR)
-- :class_labels anon_label_0
-- :sensitive disease
SELECT dense_rank() OVER (ORDER BY :class_labels ASC) AS class_id, *
FROM :groups
ORDER BY class_id ASC, :sensitive ASC;

-- name: catalog
-- the catalog
-- The classes of a group by their ids, a value, and how many counterfeits of it they have.
-- :members (anon_group BIGINT, class_id BIGINT)
-- :sensitive disease
-- :published disease
SELECT class_ids, :published AS :sensitive, counterfeits
FROM (
    SELECT anon_ids.class_ids, anon_known.:raw AS :sensitive, anon_totals.anon_counterfeit_count AS counterfeits
    FROM :totals AS anon_totals
    INNER JOIN (
        SELECT anon_group, list(class_id ORDER BY class_id ASC) AS class_ids
        FROM :members AS anon_members
        GROUP BY anon_group
    ) AS anon_ids ON anon_ids.anon_group = anon_totals.anon_group
    INNER JOIN :known AS anon_known ON anon_known.:value = anon_totals.anon_value_code
) AS anon_catalog
ORDER BY class_ids ASC, :sensitive ASC;

-- name: members
-- the classes of each group by their ids in the release
-- :labelled (anon_group BIGINT, anon_label_0 VARCHAR)
-- :class_labels anon_label_0
SELECT anon_members.anon_group, anon_shown.class_id
FROM :labelled AS anon_members
INNER JOIN (SELECT DISTINCT :class_labels, class_id FROM :equal_rows) AS anon_shown
    ON anon_members.:class_labels IS NOT DISTINCT FROM anon_shown.:class_labels;

-- name: catalog_of_counts
-- the catalog
-- guarded: tests/unit/test_guarded_queries.py::TestCounterfeits
-- The ids of all classes of just k rows, and how many counterfeits they have together; no row without counterfeits.
SELECT class_ids, counterfeits
FROM (
    SELECT list(class_id ORDER BY class_id ASC) AS class_ids
    FROM (SELECT class_id FROM :equal_rows GROUP BY class_id HAVING sum(anon_row_count) = :k) AS anon_hosts
) AS anon_ids
CROSS JOIN (
    SELECT CAST(coalesce(sum(anon_row_count), 0) AS BIGINT) AS counterfeits FROM :counterfeits
) AS anon_total
WHERE counterfeits > 0;

-- name: catalog_mismatches
-- the catalog as it was written
-- :wanted (class_ids BIGINT[], disease VARCHAR, counterfeits BIGINT)
-- :written (class_ids BIGINT[], disease VARCHAR, counterfeits BIGINT)
-- :columns class_ids, disease, counterfeits
SELECT count(*) AS mismatches
FROM (
    SELECT * FROM (SELECT * FROM :wanted EXCEPT ALL SELECT :columns FROM :written) AS anon_missing
    UNION ALL
    SELECT * FROM (SELECT :columns FROM :written EXCEPT ALL SELECT * FROM :wanted) AS anon_added
) AS anon_differing;

-- name: more_counterfeits_than_rows
-- rows of the catalog
-- guarded: tests/unit/test_guarded_queries.py::TestCounterfeits
-- :release (class_id BIGINT, disease VARCHAR)
-- :written (class_ids BIGINT[], disease VARCHAR, counterfeits BIGINT)
-- :sensitive disease
SELECT count(*) AS rows
FROM (
    SELECT anon_catalog.counterfeits, count(anon_release.class_id) AS anon_row_count
    FROM :written AS anon_catalog
    LEFT JOIN :release AS anon_release
        ON anon_release.:sensitive IS NOT DISTINCT FROM anon_catalog.:sensitive
        AND list_contains(anon_catalog.class_ids, anon_release.class_id)
    GROUP BY anon_catalog.class_ids, anon_catalog.:sensitive, anon_catalog.counterfeits
) AS anon_counts
WHERE counterfeits > anon_row_count;

-- name: true_cells
-- cells with their true rows
-- The true rows of each class and value, and how true each row is by the catalog, which is NULL beyond its groups.
SELECT *, anon_helpers.row_truth(anon_counterfeit_count, anon_group_rows) AS anon_truth
FROM (
    SELECT
        anon_filled.:keys,
        anon_filled.anon_row_count - coalesce(anon_invented.anon_row_count, 0) AS anon_row_count,
        anon_totals.anon_counterfeit_count,
        sum(anon_filled.anon_row_count) OVER (PARTITION BY anon_groups.anon_group, anon_filled.:value)
            AS anon_group_rows
    FROM :filled AS anon_filled
    INNER JOIN :classes AS anon_classes ON anon_filled.:keys = anon_classes.:keys
    LEFT JOIN :groups AS anon_groups ON anon_groups.anon_class_number = anon_classes.anon_class_number
    LEFT JOIN :totals AS anon_totals
        ON anon_totals.anon_group = anon_groups.anon_group AND anon_totals.anon_value_code = anon_filled.:value
    LEFT JOIN :counterfeits AS anon_invented
        ON anon_invented.:keys = anon_filled.:keys AND anon_invented.:value = anon_filled.:value
) AS anon_true_cells;

-- name: class_values
-- values of classes
SELECT :keys, :value, CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count
FROM :cells
GROUP BY :keys, :value;

-- name: entropies
-- entropies of values by label
-- The entropy of the sensitive value where the label of one quasi-identifier is known, in nats.
-- :label_values (anon_node INTEGER, anon_key_0 BIGINT, anon_key_1 BIGINT, anon_row_count BIGINT)
SELECT anon_node AS node, fsum(anon_class_size * entropy) / sum(anon_class_size) AS entropy
FROM (
    SELECT
        anon_node,
        :keys,
        CAST(sum(anon_row_count) AS BIGINT) AS anon_class_size,
        ln(anon_helpers.entropy_diversity_of(anon_row_count)) AS entropy
    FROM :label_values
    GROUP BY anon_node, :keys
) AS anon_labels_of_node
GROUP BY anon_node;

-- name: urns
-- classes that are filled up
-- Classes that lack equally many rows, and have equally many to copy, come together.
-- :urns (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_own_rows BIGINT, anon_missing BIGINT)
SELECT
    *,
    CAST((sum(anon_missing) OVER (ORDER BY anon_own_rows ASC, anon_missing ASC, :keys ASC) - anon_missing) AS BIGINT)
        AS anon_missing_before
FROM :urns;

-- name: urn_sizes
-- classes by what they lack
-- How many classes have as many rows to copy, and lack as many, in the order of places.
SELECT anon_own_rows AS own, anon_missing AS missing, count(*) AS classes
FROM :urns
GROUP BY anon_own_rows, anon_missing
ORDER BY own ASC, missing ASC;

-- name: barred_rows
-- the true rows of each class whose values it never gets
SELECT anon_urns.:keys, CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count
FROM :barred AS anon_urns
INNER JOIN :class_values AS anon_own ON anon_own.:keys = anon_urns.:keys
WHERE coalesce(list_contains(anon_urns.anon_barred_codes, anon_own.:value), FALSE)
GROUP BY anon_urns.:keys;

-- name: seen_values
-- values that were seen with all labels of the class, or all values if none was
-- :expected (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_is_seen BOOLEAN)
SELECT * FROM :expected QUALIFY anon_is_seen = bool_or(anon_is_seen) OVER (PARTITION BY :keys);

-- name: chances
-- chances of values
-- Whole numbers up to 2^52, so that sums do not depend on the order in which a database adds.
-- :expected (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_sensitive_0 UINTEGER, anon_chance DOUBLE)
SELECT
    :keys,
    :value,
    CAST(
        round(anon_chance / max(anon_chance) OVER (PARTITION BY :keys) * 4503599627370496) AS BIGINT
    ) AS anon_chance
FROM :expected;

-- name: classes_without_chances
-- classes without a value
SELECT count(*) AS classes
FROM :urns AS anon_urns
ANTI JOIN :chances AS anon_chances ON anon_chances.:keys = anon_urns.:keys;

-- name: bounds
-- values to draw
-- Where each value begins in what is drawn: those of rows to copy from 0 on, those that are expected from -1 to 0.
-- :may_be_copied TRUE
SELECT
    :keys,
    :value,
    CAST((sum(anon_row_count) OVER (PARTITION BY :keys ORDER BY :value ASC) - anon_row_count) AS DOUBLE) AS anon_low
FROM (
    SELECT anon_urns.:keys, anon_own.:value, anon_own.anon_row_count
    FROM :urns AS anon_urns
    INNER JOIN :class_values AS anon_own ON anon_own.:keys = anon_urns.:keys
    WHERE :may_be_copied
) AS anon_copied
UNION ALL
SELECT
    :keys,
    :value,
    CAST((sum(anon_chance) OVER (PARTITION BY :keys ORDER BY :value ASC) - anon_chance) AS DOUBLE)
        / sum(anon_chance) OVER (PARTITION BY :keys) - 1 AS anon_low
FROM :chances
WHERE anon_chance > 0;

-- name: hidden_counterfeits
-- counterfeits
-- Each has the value that begins last before what was drawn for it.
SELECT anon_places.:keys, anon_bounds.:value, CAST(count(*) AS BIGINT) AS anon_row_count
FROM (
    SELECT anon_missing_rows.:keys, anon_drawn.anon_drawn_value
    FROM (
        SELECT :keys, unnest(range(anon_missing_before, anon_missing_before + anon_missing)) AS anon_place FROM :urns
    ) AS anon_missing_rows
    INNER JOIN :drawn AS anon_drawn ON anon_drawn.anon_place = anon_missing_rows.anon_place
) AS anon_places
ASOF JOIN :bounds AS anon_bounds
    ON anon_places.:keys = anon_bounds.:keys AND anon_places.anon_drawn_value >= anon_bounds.anon_low
GROUP BY anon_places.:keys, anon_bounds.:value;

-- name: unknown_labels
-- labels of impossible combinations
-- The labels of entries that are at no level of their taxonomy.
SELECT anon_entries.anon_entry AS entry, anon_entries.position AS position
FROM :entry_labels AS anon_entries
LEFT JOIN :labels AS anon_labels
    ON anon_labels.position = anon_entries.position
    AND anon.text_of(anon_labels.label) COLLATE "binary" = anon_entries.anon_entry_label
GROUP BY anon_entries.anon_entry, anon_entries.position
HAVING count(anon_labels.position) = 0
ORDER BY entry ASC, position ASC;

-- name: barring_labels
-- labels of impossible combinations
-- The labels of a node that are at a label of an entry or under it: all of their values are under that.
-- :node (position INTEGER, depth INTEGER)
SELECT anon_under.anon_entry, anon_under.anon_entry_size, anon_of_node.position, anon_of_node.:words
FROM (
    SELECT
        anon_labels.position,
        anon_labels.:words,
        anon_labels.value,
        count(*) OVER (PARTITION BY anon_labels.position, anon_labels.:words) AS anon_leaves
    FROM :labels AS anon_labels
    INNER JOIN :node AS anon_node ON anon_node.position = anon_labels.position AND anon_node.depth = anon_labels.depth
) AS anon_of_node
INNER JOIN (
    SELECT DISTINCT
        anon_entries.anon_entry,
        anon_entries.anon_entry_size,
        anon_labels.position,
        anon_labels.value
    FROM :labels AS anon_labels
    INNER JOIN :entry_labels AS anon_entries
        ON anon_labels.position = anon_entries.position
        AND anon.text_of(anon_labels.label) COLLATE "binary" = anon_entries.anon_entry_label
) AS anon_under
    ON anon_under.position = anon_of_node.position AND anon_under.value IS NOT DISTINCT FROM anon_of_node.value
GROUP BY anon_under.anon_entry, anon_under.anon_entry_size, anon_of_node.position, anon_of_node.:words
HAVING count(*) = any_value(anon_of_node.anon_leaves);

-- name: barred_values
-- values that classes never get
-- By class, the codes of the values of the entries of all of whose labels it has one.
-- :met (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_entry BIGINT, anon_entry_size BIGINT)
SELECT :keys, list(:value ORDER BY :value ASC) AS anon_barred_codes
FROM (
    SELECT DISTINCT anon_entries.:keys, anon_known.:value
    FROM (
        SELECT :keys, anon_entry, anon_entry_size
        FROM :met
        GROUP BY :keys, anon_entry, anon_entry_size
        HAVING count(*) = anon_entry_size
    ) AS anon_entries
    INNER JOIN :entry_values AS anon_values ON anon_values.anon_entry = anon_entries.anon_entry
    INNER JOIN :known AS anon_known
        ON anon.text_of(anon_known.:raw) COLLATE "binary" = anon_values.anon_entry_value
) AS anon_pairs
GROUP BY :keys;

-- name: placed
-- classes by what they never get
-- What is drawn for classes with equal sets of values comes together.
SELECT
    *,
    CAST(
        (sum(anon_missing) OVER (ORDER BY anon_barred_codes ASC, :keys ASC) - anon_missing) AS BIGINT
    ) AS anon_missing_before
FROM (
    SELECT
        anon_lacking.:keys,
        anon_lacking.anon_missing,
        coalesce(anon_barred.anon_barred_codes, []) AS anon_barred_codes
    FROM :lacking AS anon_lacking
    LEFT JOIN :barred AS anon_barred ON anon_barred.:keys = anon_lacking.:keys
) AS anon_classes;

-- name: barred_sets
-- sets of values that classes never get
SELECT anon_barred_codes AS barred, count(*) AS classes, CAST(sum(anon_missing) AS BIGINT) AS missing
FROM :placed
GROUP BY anon_barred_codes
ORDER BY anon_barred_codes ASC;

-- name: values_of_no_row
-- values of impossible combinations
SELECT anon_values.anon_entry AS entry
FROM :entry_values AS anon_values
LEFT JOIN :known AS anon_known ON anon.text_of(anon_known.:raw) COLLATE "binary" = anon_values.anon_entry_value
WHERE anon_known.:value IS NULL
ORDER BY entry ASC;
