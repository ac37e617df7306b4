-- The nodes of a lattice as the page of them has them, and an example value for each column.

-- name: ranked_nodes
-- nodes in the order in which a run prefers them
-- The same sum of floats in another order is the same loss.
-- :nodes (place BIGINT, node MAP(VARCHAR, INTEGER), loss DOUBLE, entropy DOUBLE, suppressed_rows BIGINT, height INTEGER, best_k BIGINT, class_count BIGINT, pareto BOOLEAN)
SELECT
    place,
    node,
    loss,
    best_k,
    suppressed_rows,
    class_count,
    pareto,
    row_number() OVER (
        ORDER BY
            CAST(printf('%.10e', loss) AS DOUBLE) ASC,
            CAST(printf('%.10e', entropy) AS DOUBLE) ASC,
            suppressed_rows ASC,
            height ASC,
            place ASC
    ) AS anon_rank
FROM :nodes;

-- name: chosen_nodes
-- nodes of a lattice that is too large to be shown
-- The Pareto front; for each level of a column, and of two columns, the best node at each k that can be asked for; and a
-- sample of the rest, evenly over the losses.
-- :ranked (place BIGINT, node MAP(VARCHAR, INTEGER), loss DOUBLE, best_k BIGINT, suppressed_rows BIGINT, class_count BIGINT, pareto BOOLEAN, anon_rank BIGINT)
-- :asked 2, 5
-- :count 5
-- :sample 2
WITH anon_ranked AS MATERIALIZED (SELECT * FROM :ranked AS anon_all),

anon_levels AS (
    SELECT
        anon_ranked.anon_rank,
        anon_attained.anon_k,
        unnest(map_keys(anon_ranked.node)) AS anon_column,
        unnest(map_values(anon_ranked.node)) AS anon_level
    FROM anon_ranked
    INNER JOIN (
        SELECT anon_each.anon_rank, max(anon_asked.anon_k) AS anon_k
        FROM anon_ranked AS anon_each
        INNER JOIN (SELECT unnest([:asked]) AS anon_k) AS anon_asked ON anon_each.best_k >= anon_asked.anon_k
        GROUP BY anon_each.anon_rank
    ) AS anon_attained ON anon_ranked.anon_rank = anon_attained.anon_rank
),

anon_best AS (
    SELECT
        min(min(anon_one.anon_rank)) OVER (
            PARTITION BY
                anon_one.anon_column,
                anon_one.anon_level,
                anon_other.anon_column,
                anon_other.anon_level
            ORDER BY anon_one.anon_k DESC
        ) AS anon_rank
    FROM anon_levels AS anon_one
    INNER JOIN anon_levels AS anon_other
        ON anon_one.anon_rank = anon_other.anon_rank AND anon_one.anon_column <= anon_other.anon_column
    GROUP BY
        anon_one.anon_column,
        anon_one.anon_level,
        anon_other.anon_column,
        anon_other.anon_level,
        anon_one.anon_k
)

SELECT *
FROM anon_ranked
WHERE
    pareto
    OR anon_rank IN (SELECT anon_rank FROM anon_best)
    OR anon_rank * :sample // :count > (anon_rank - 1) * :sample // :count;

-- name: shown_nodes
-- nodes of a page
-- Without numbers of few rows that are left out.
-- :ranked (place BIGINT, loss DOUBLE, best_k BIGINT, suppressed_rows BIGINT, class_count BIGINT, anon_rank BIGINT)
-- :k 5
SELECT
    place,
    loss,
    coalesce(best_k, 0) AS best_k,
    CASE WHEN suppressed_rows = 0 OR suppressed_rows >= :k THEN suppressed_rows END AS suppressed_rows,
    class_count
FROM :ranked
ORDER BY anon_rank ASC;

-- name: examples
-- an example of each column
-- The labels of one value at each level: one that many rows have, with as many different labels as there are. Where no
-- value has enough rows, it is the least one of a declared domain.
-- :labels (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
-- :held (position INTEGER, label VARCHAR, rows BIGINT)
-- :attributes 'age', 'sex'
-- :declared 'age'
WITH anon_labels AS MATERIALIZED (
    SELECT DISTINCT
        attribute,
        level,
        value,
        label
    FROM :labels AS anon_all
    WHERE value IS NOT NULL
),

anon_values AS (
    SELECT
        anon_labels.attribute,
        anon_labels.value,
        count(DISTINCT anon_labels.label) AS anon_label_count,
        any_value(anon_held.rows) AS anon_rows,
        any_value(TRY_CAST(anon_helpers.as_read(anon_labels.value) AS DOUBLE)) AS anon_number
    FROM anon_labels
    LEFT JOIN :held AS anon_held
        ON list_position([:attributes], anon_labels.attribute) = anon_held.position + 1
        AND anon_labels.value = anon_held.label
    GROUP BY anon_labels.attribute, anon_labels.value
),

anon_examples AS (
    SELECT attribute, value
    FROM anon_values
    WHERE anon_rows IS NOT NULL OR attribute IN (:declared)
    QUALIFY row_number() OVER (
        PARTITION BY attribute
        ORDER BY
            anon_rows IS NULL ASC,
            CASE WHEN anon_rows IS NOT NULL THEN anon_label_count END DESC,
            anon_rows DESC,
            anon_number ASC NULLS LAST,
            value ASC
    ) = 1
)

SELECT anon_labels.attribute, anon_labels.level, anon_labels.label
FROM anon_labels
INNER JOIN anon_examples USING (attribute, value)
ORDER BY anon_labels.attribute ASC, anon_labels.level ASC;

-- name: nodes_at
-- nodes at another k
-- Those that attain it, in the order in which a run with that k prefers them, without numbers of few rows.
-- :nodes (place BIGINT, others STRUCT(loss DOUBLE, suppressed_rows BIGINT)[], entropy DOUBLE, height INTEGER, best_k BIGINT)
-- :position 1
-- :asked 10
-- :k 5
SELECT
    place,
    anon_loss AS loss,
    CASE WHEN anon_suppressed_rows = 0 OR anon_suppressed_rows >= :k THEN anon_suppressed_rows END AS suppressed_rows
FROM (
    SELECT
        place,
        entropy,
        height,
        struct_extract(list_extract(others, :position), 'loss') AS anon_loss,
        struct_extract(list_extract(others, :position), 'suppressed_rows') AS anon_suppressed_rows
    FROM :nodes
    WHERE best_k >= :asked
) AS anon_attaining
ORDER BY
    CAST(printf('%.10e', anon_loss) AS DOUBLE) ASC,
    CAST(printf('%.10e', entropy) AS DOUBLE) ASC,
    anon_suppressed_rows ASC,
    height ASC,
    place ASC;
