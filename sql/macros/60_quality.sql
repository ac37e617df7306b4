-- Information loss. Measures ending in _of are aggregates over classes, labels or values, and the engine
-- uses them too; the table macros apply them to a source and a node.
--
-- In all of them "kept" says whether a class meets the privacy models and is published.

-- Rows in suppressed classes (an aggregate over classes).
--
-- Returns: BIGINT.
-- Example:
--   SELECT anon_helpers.suppressed_rows_of(class_size, class_size >= 2) AS suppressed FROM anon.class_sizes('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.suppressed_rows_of(class_size, kept) AS
CAST(coalesce(sum(class_size) FILTER (WHERE NOT kept), 0) AS BIGINT);

-- Discernibility DM*, before suppression: the sum of the squares of all class sizes (an aggregate over classes).
--
-- Returns: HUGEINT, between n and n^2.
-- Source: El Emam et al. 2009; Mazzone 2019, section 4.3.
-- Example:
--   SELECT anon_helpers.dm_star_of(class_size) AS dm_star FROM anon.class_sizes('visits', ['sex']);
CREATE OR REPLACE MACRO anon_helpers.dm_star_of(class_size) AS
sum(CAST(class_size AS HUGEINT) * class_size);

-- Discernibility DM: a kept row costs the size of its class, a suppressed row the size of the table (an
-- aggregate over classes). Not monotonic in the node.
--
-- Returns: HUGEINT, between n and n^2.
-- Source: Bayardo and Agrawal 2005, equation 1.
-- Example:
--   SELECT anon_helpers.dm_of(class_size, class_size >= 2, 12) AS dm FROM anon.class_sizes('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.dm_of(class_size, kept, row_count) AS
sum(CAST(class_size AS HUGEINT) * CASE WHEN kept THEN class_size ELSE row_count END);

-- Classification metric: the share of rows that are suppressed, or differ from the most frequent value of their class
-- (an aggregate over classes). `largest_share` is the share of that value in its class. Not monotonic in the node.
--
-- Returns: DOUBLE in [0, 1].
-- Source: Iyengar 2002, section 3.2.
-- Example:
--   SELECT anon_helpers.classification_metric_of(class_size, class_size >= 2, largest_share) AS cm
--   FROM (VALUES (4, 0.75), (1, 1.0)) AS classes (class_size, largest_share);
CREATE OR REPLACE MACRO anon_helpers.classification_metric_of(class_size, kept, largest_share) AS
sum(class_size - CASE WHEN kept THEN round(class_size * largest_share) ELSE 0 END) / sum(class_size);

-- Average equivalence class size over k; the suppressed rows are one more class, so that to suppress rows never
-- looks like a gain (an aggregate over classes). Not monotonic in the node. The average of the kept classes alone is
-- that of a table from which the others are gone, see anon.suppress.
--
-- Returns: DOUBLE; NULL without classes.
-- Source: LeFevre et al. 2006, equation C_AVG, in the form of ARX: suppressed records are one group.
-- Example:
--   SELECT anon_helpers.aecs_of(class_size, class_size >= 2, 2) AS aecs FROM anon.class_sizes('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.aecs_of(class_size, kept, k) AS
CAST(sum(class_size) AS DOUBLE) / (count(*) FILTER (WHERE kept) + CAST(bool_or(NOT kept) AS INTEGER)) / k;

-- Non-uniform entropy loss in bits of one attribute at one level, from the number of rows of each value
-- and of the label that the value falls under (an aggregate over values). Suppression is ignored. Summed in a fixed
-- order, so that equal tables give equal sums to the last bit.
--
-- Returns: DOUBLE, at least 0.
-- Source: El Emam et al. 2009; spec -sum log2(N(value) / N(label)) over rows.
-- Example:
--   SELECT anon_helpers.entropy_loss_of(value_rows, label_rows) AS bits
--   FROM (VALUES (2, 4), (1, 4), (1, 4)) AS counts (value_rows, label_rows);
CREATE OR REPLACE MACRO anon_helpers.entropy_loss_of(value_rows, label_rows) AS
sum(value_rows * log2(label_rows / value_rows) ORDER BY value_rows ASC, label_rows ASC);

-- Information of a label in bits, from the number of its rows and the number of all rows.
--
-- Returns: DOUBLE, at least 0.
-- Example:
--   SELECT anon_helpers.label_information(3, 12) AS bits;
CREATE OR REPLACE MACRO anon_helpers.label_information(label_rows, row_count) AS
log2(row_count / label_rows);

-- Loss of one label in LM: the share of the other leaves that the label also covers, (leaves - 1) / (domain - 1).
--
-- Returns: DOUBLE in [0, 1]; 0 for a domain of one value.
-- Source: Iyengar 2002; Lee et al. 2017, equation 2.
-- Example:
--   SELECT anon_helpers.lm_share_of(10, 100) AS share;
CREATE OR REPLACE MACRO anon_helpers.lm_share_of(leaf_count, domain_size) AS
CASE WHEN domain_size > 1 THEN (leaf_count - 1) / (domain_size - 1) ELSE 0.0 END;

-- Loss of one label in NCP: the share of the domain that it covers, leaves / domain, and 0 for a single leaf.
--
-- Returns: DOUBLE in [0, 1].
-- Source: Xu et al. 2006; Lee and Chung 2020, equation 6.
-- Example:
--   SELECT anon_helpers.ncp_share_of(10, 100) AS share;
CREATE OR REPLACE MACRO anon_helpers.ncp_share_of(leaf_count, domain_size) AS
CASE WHEN leaf_count = 1 THEN 0.0 ELSE leaf_count / domain_size END;

-- guarded: tests/sql/60_quality.test

-- Loss of one label by the logarithm of its leaves, over the mean logarithm of the values of all quasi-identifiers. The mean
-- of a class's labels is the information loss of Wan et al.: the sum of ln(leaves) over the sum of ln(values).
--
-- Returns: DOUBLE, at least 0, with a mean over the quasi-identifiers of at most 1; 0 where each has one value.
-- Source: Wan et al. 2015.
-- Example:
--   SELECT anon_helpers.log_share_of(10, (ln(100) + ln(2)) / 2) AS share;
CREATE OR REPLACE MACRO anon_helpers.log_share_of(leaf_count, mean_log) AS
CASE WHEN leaf_count > 1 THEN ln(leaf_count) / mean_log ELSE 0.0 END;

-- guarded: tests/sql/60_quality.test

-- What a publisher misses of the benefit of a row: the information that its labels lose, and the loss from an attack. An
-- adversary attacks if the gain over the rows of the class is above the cost, and finds the row with 1 / rows.
--
-- Returns: DOUBLE, at least 0; the payout of the row is the benefit without it.
-- Source: Wan et al. 2015.
-- Example:
--   SELECT 1200 - anon_helpers.missing_payout_of(50, 0.25, 300, 4, 1200, 300) AS payout;
CREATE OR REPLACE MACRO anon_helpers.missing_payout_of(class_size, log_share, gain, cost, benefit, loss) AS
benefit * log_share + CASE WHEN gain > cost * class_size THEN loss / class_size ELSE 0 END;

-- guarded: tests/sql/60_quality.test

-- What a publisher misses of the benefit of all rows: of a suppressed one everything (an aggregate over classes). Not
-- monotonic in the node: attacks on larger classes stop to pay.
--
-- Returns: DOUBLE, at least 0; NULL without classes.
-- Source: Wan et al. 2015; ARX, "Publisher payout (prosecutor)".
-- Example:
--   SELECT anon_helpers.publisher_payout_of(class_size, class_size >= 2, 0.25, 300, 4, 1200, 300) AS missing
--   FROM anon.class_sizes('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.publisher_payout_of(class_size, kept, log_share, gain, cost, benefit, loss) AS
sum(class_size * CASE
    WHEN kept THEN anon_helpers.missing_payout_of(class_size, log_share, gain, cost, benefit, loss)
    ELSE benefit
END);

-- Mean loss per row of classes whose rows each lose `share`; a suppressed row loses 1 (an aggregate over
-- classes; the row policy "real" of LM and NCP). Not monotonic in the node.
--
-- Returns: DOUBLE in [0, 1].
-- Example:
--   SELECT anon_helpers.mean_loss_of(class_size, class_size >= 2, share) AS lm
--   FROM (VALUES (3, 0.5), (1, 0.1)) AS classes (class_size, share);
CREATE OR REPLACE MACRO anon_helpers.mean_loss_of(class_size, kept, share) AS
sum(class_size * CASE WHEN kept THEN share ELSE 1.0 END) / sum(class_size);

-- What suppressed rows lose that each lose `share`; nothing for kept ones (an aggregate over classes).
--
-- Returns: DOUBLE, at least 0.
-- Example:
--   SELECT anon_helpers.suppressed_loss_of(class_size, class_size >= 2, bits) AS bits
--   FROM (VALUES (3, 0.5), (1, 4.5)) AS classes (class_size, bits);
CREATE OR REPLACE MACRO anon_helpers.suppressed_loss_of(class_size, kept, share) AS
coalesce(sum(class_size * share) FILTER (WHERE NOT kept), 0.0);

-- The losses of several attributes as one, the mean with weights that sum to 1.
--
-- Returns: DOUBLE.
-- Example:
--   SELECT anon_helpers.arithmetic_loss([0.5, 0.1], [0.75, 0.25]) AS loss;
CREATE OR REPLACE MACRO anon_helpers.arithmetic_loss(losses, weights) AS
list_sum(list_transform(
    list_zip(losses, weights), lambda anon_pair: struct_extract(anon_pair, 1) * struct_extract(anon_pair, 2)
));

-- The losses of several attributes as one: product((1 + loss)^weight) - 1, with weights that sum to 1.
--
-- Returns: DOUBLE.
-- Source: ARX, "Loss" with the aggregate function geometric mean.
-- Example:
--   SELECT anon_helpers.geometric_loss([0.5, 0.1], [0.5, 0.5]) AS loss;
CREATE OR REPLACE MACRO anon_helpers.geometric_loss(losses, weights) AS
exp(list_sum(list_transform(
    list_zip(losses, weights), lambda anon_pair: ln(1 + struct_extract(anon_pair, 1)) * struct_extract(anon_pair, 2)
))) - 1;

-- Precision loss (Prec) of a node: the mean over its quasi-identifiers of level / height. 0 at the bottom, 1
-- at the top; a taxonomy without levels above the values counts as 0.
--
-- Job: loss.
-- Returns: DOUBLE in [0, 1]. Sweeney's precision is 1 minus this.
-- Source: Sweeney 2002, section 4.3; Mazzone 2019, section 4.3.
-- Example:
--   SELECT anon.precision_loss(MAP {'age': 1, 'sex': 1}) AS prec;
CREATE OR REPLACE MACRO anon.precision_loss(node) AS (
    SELECT CASE count(*)
        WHEN len(map_keys(node)) THEN
            avg(CASE WHEN anon_height = 0 THEN 0.0 ELSE node[anon_attribute] / anon_height END)
        ELSE error('the node has a quasi-identifier without a taxonomy: see anon.taxonomy_heights')
    END
    FROM anon.taxonomy_heights() AS anon_heights (anon_attribute, anon_height, anon_value_count, anon_domain)
    WHERE list_contains(map_keys(node), anon_attribute)
);

-- Discernibility DM* of a source as it is.
--
-- Job: loss.
-- Returns: one row: dm_star HUGEINT.
-- Example:
--   FROM anon.dm_star('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon.dm_star(source, quasi_identifiers) AS TABLE
SELECT anon_helpers.dm_star_of(class_size) AS dm_star
FROM anon.class_sizes(source, quasi_identifiers);

-- Discernibility DM of a source as it is, if its classes of fewer than k rows were suppressed.
--
-- Job: loss.
-- Returns: one row: dm HUGEINT.
-- Example:
--   FROM anon.dm('visits', ['age', 'sex'], 2);
CREATE OR REPLACE MACRO anon.dm(source, quasi_identifiers, k) AS TABLE
SELECT anon_helpers.dm_of(class_size, class_size >= k, anon_rows) AS dm
FROM (
    SELECT class_size, sum(class_size) OVER () AS anon_rows
    FROM anon.class_sizes(source, quasi_identifiers)
);

-- Classification metric of a source as it is, if its classes of fewer than k rows were suppressed: the share of rows that
-- are suppressed, or differ from most of their class in a column.
--
-- Job: loss.
-- Returns: one row: classification_metric DOUBLE.
-- Source: Iyengar 2002, section 3.2.
-- Example:
--   FROM anon.classification_metric('visits', ['age', 'sex'], 'diagnosis', 2);
CREATE OR REPLACE MACRO anon.classification_metric(source, quasi_identifiers, target, k) AS TABLE
SELECT anon_helpers.classification_metric_of(class_size, class_size >= k, largest_share) AS classification_metric
FROM anon.class_diversity(source, quasi_identifiers, target);

-- Average equivalence class size of a source as it is, over k; the rows of its classes of fewer than k rows are one
-- class.
--
-- Job: loss.
-- Returns: one row: aecs DOUBLE.
-- Example:
--   FROM anon.aecs('visits', ['sex'], 2);
CREATE OR REPLACE MACRO anon.aecs(source, quasi_identifiers, k) AS TABLE
SELECT anon_helpers.aecs_of(class_size, class_size >= k, k) AS aecs
FROM anon.class_sizes(source, quasi_identifiers);

-- Non-uniform entropy loss in bits of a source generalized to a node. Suppression is ignored.
--
-- Job: loss.
-- Returns: one row: entropy DOUBLE.
-- Example:
--   FROM anon.entropy_loss('visits', MAP {'age': 1, 'sex': 0});
CREATE OR REPLACE MACRO anon.entropy_loss(source, node) AS TABLE
SELECT coalesce(anon_helpers.entropy_loss_of(anon_rows, anon_label_rows), 0.0) AS entropy
FROM (
    SELECT anon_rows, sum(anon_rows) OVER (PARTITION BY anon_attribute, anon_label) AS anon_label_rows
    FROM (
        SELECT
            anon_values.attribute AS anon_attribute,
            anon_helpers.checked_label(anon_values.attribute, node[anon_values.attribute], anon_labels.label) AS anon_label,
            anon_values.row_count AS anon_rows
        FROM anon_helpers.column_values(source, map_keys(node)) AS anon_values
        LEFT JOIN anon_helpers.node_labels(node) AS anon_labels
            ON anon_labels.attribute = anon_values.attribute AND anon_labels.value IS NOT DISTINCT FROM anon_values.value
    )
);

-- The labels of every class of a release with the labels of a node: a row per class and quasi-identifier, with the leaves under
-- the label, and the values of the quasi-identifier. Classes are numbered.
--
-- Returns: class BIGINT, class_size BIGINT, attribute VARCHAR, label VARCHAR, leaf_count BIGINT (NULL for a label that the
-- taxonomy does not have at the level), value_count BIGINT (NULL without a taxonomy).
-- Example:
--   WITH released AS (FROM anon.generalize('visits', MAP {'age': 1, 'sex': 1}))
--   FROM anon_helpers.class_labels('released', MAP {'age': 1, 'sex': 1}) ORDER BY attribute, label, class_size;
CREATE OR REPLACE MACRO anon_helpers.class_labels(release, node) AS TABLE
WITH anon_classes AS (
    SELECT anon.text_of(COLUMNS(map_keys(node))), count(*) AS anon_class_size, row_number() OVER () AS anon_class
    FROM query_table(anon_helpers.as_source(release))
    GROUP BY ALL
)
SELECT
    anon_labels.anon_class AS class,
    anon_labels.anon_class_size AS class_size,
    anon_labels.anon_attribute AS attribute,
    anon_labels.anon_label AS label,
    anon_leaves.anon_leaf_count AS leaf_count,
    anon_heights.value_count
FROM (
    FROM anon_classes UNPIVOT INCLUDE NULLS (
        anon_label FOR anon_attribute IN (COLUMNS(* EXCLUDE (anon_class, anon_class_size)))
    )
) AS anon_labels
LEFT JOIN anon.taxonomy_heights() AS anon_heights ON anon_heights.attribute = anon_labels.anon_attribute
LEFT JOIN (
    SELECT attribute, label, count(*) AS anon_leaf_count FROM anon.taxonomy WHERE level = node[attribute] GROUP BY ALL
) AS anon_leaves
    ON anon_leaves.attribute = anon_labels.anon_attribute AND anon_leaves.label IS NOT DISTINCT FROM anon_labels.anon_label;

-- Non-uniform entropy loss in bits of a source generalized to a node, where rows in classes of fewer than k lose all
-- their information, as if they were generalized to the top. Without such rows it is anon.entropy_loss.
--
-- Returns: one row: entropy DOUBLE.
-- Source: El Emam et al. 2009 for the loss; the charge for suppressed rows is ours.
-- Example:
--   FROM anon_helpers.charged_entropy_loss('visits', MAP {'age': 1, 'sex': 0}, 2);
CREATE OR REPLACE MACRO anon_helpers.charged_entropy_loss(source, node, k) AS TABLE
WITH anon_labelled AS (FROM anon.generalize(source, node)),
anon_informed AS (
    SELECT
        class_size AS anon_class_size,
        -- Every class has one label of an attribute, so that these are all rows.
        sum(class_size) OVER (PARTITION BY attribute) AS anon_row_count,
        sum(class_size) OVER (PARTITION BY attribute, label) AS anon_label_rows
    FROM anon_helpers.class_labels('anon_labelled', node)
)
SELECT anon_generalized.entropy + anon_suppressed.anon_bits AS entropy
FROM anon.entropy_loss(source, node) AS anon_generalized
CROSS JOIN (
    SELECT
        anon_helpers.suppressed_loss_of(
            anon_class_size, anon_class_size >= k, anon_helpers.label_information(anon_label_rows, anon_row_count)
        ) AS anon_bits
    FROM anon_informed
) AS anon_suppressed;

-- The loss of every label of every class at a node, in LM and in NCP: a row per class of the generalized source and
-- quasi-identifier. Classes are numbered.
--
-- Returns: class BIGINT, class_size BIGINT, attribute VARCHAR, lm_share DOUBLE, ncp_share DOUBLE.
-- Example:
--   FROM anon_helpers.label_losses('visits', MAP {'age': 1, 'sex': 1}) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.label_losses(source, node) AS TABLE
WITH anon_labelled AS (FROM anon.generalize(source, node))
SELECT
    class,
    class_size,
    attribute,
    anon_helpers.lm_share_of(coalesce(leaf_count, 1), value_count) AS lm_share,
    anon_helpers.ncp_share_of(coalesce(leaf_count, 1), value_count) AS ncp_share
FROM anon_helpers.class_labels('anon_labelled', node);

-- The loss that each row of a class bears at a node: the mean over the quasi-identifiers of the loss of their
-- labels, in LM and in NCP; a row per class of the generalized source.
--
-- Returns: class_size BIGINT, lm_share DOUBLE, ncp_share DOUBLE.
-- Example:
--   FROM anon_helpers.class_losses('visits', MAP {'age': 1, 'sex': 1}) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.class_losses(source, node) AS TABLE
SELECT any_value(class_size) AS class_size, avg(lm_share) AS lm_share, avg(ncp_share) AS ncp_share
FROM anon_helpers.label_losses(source, node)
GROUP BY class;

-- The loss of each quasi-identifier at a node, the mean over the rows of the source; rows in classes of fewer than k
-- lose 1. Combine them with weights by arithmetic_loss or geometric_loss.
--
-- Returns: attribute VARCHAR, lm DOUBLE, ncp DOUBLE, both in [0, 1].
-- Example:
--   SELECT anon_helpers.arithmetic_loss(list(lm), list(CASE attribute WHEN 'age' THEN 0.75 ELSE 0.25 END)) AS weighted_lm
--   FROM anon_helpers.attribute_losses('visits', MAP {'age': 1, 'sex': 0}, 2);
CREATE OR REPLACE MACRO anon_helpers.attribute_losses(source, node, k) AS TABLE
SELECT
    attribute,
    anon_helpers.mean_loss_of(class_size, class_size >= k, lm_share) AS lm,
    anon_helpers.mean_loss_of(class_size, class_size >= k, ncp_share) AS ncp
FROM anon_helpers.label_losses(source, node)
GROUP BY attribute;

-- Loss metric LM of a source generalized to a node; rows in classes of fewer than k lose 1.
--
-- Job: loss.
-- Returns: one row: lm DOUBLE in [0, 1].
-- Example:
--   FROM anon.lm('visits', MAP {'age': 1, 'sex': 0}, 2);
CREATE OR REPLACE MACRO anon.lm(source, node, k) AS TABLE
SELECT anon_helpers.mean_loss_of(class_size, class_size >= k, lm_share) AS lm
FROM anon_helpers.class_losses(source, node);

-- Normalized certainty penalty NCP of a source generalized to a node, divided by the number of
-- quasi-identifiers; rows in classes of fewer than k lose 1.
--
-- Job: loss.
-- Returns: one row: ncp DOUBLE in [0, 1].
-- Example:
--   FROM anon.ncp('visits', MAP {'age': 1, 'sex': 0}, 2);
CREATE OR REPLACE MACRO anon.ncp(source, node, k) AS TABLE
SELECT anon_helpers.mean_loss_of(class_size, class_size >= k, ncp_share) AS ncp
FROM anon_helpers.class_losses(source, node);

-- What a publisher may expect of each row of a release with the labels of a node, by its class, against an adversary who gains
-- `gain` from a row that is found, and pays `cost` for an attack on it. A row has the `benefit`, less the information that its
-- labels lose; if it is found it costs the `loss`.
--
-- The sum of class_size * payout is that of the release: rows that were left out have none. Classes with a payout of 0 or
-- less are not worth to be published.
--
-- The logarithms of the leaves under the labels of a class, over the mean logarithm of all values, have the information loss
-- as their mean.
--
-- Job: loss.
-- Returns: class_size BIGINT, information_loss DOUBLE, missing DOUBLE, what the payout lacks to the benefit, payout DOUBLE.
-- Source: Wan et al. 2015; ARX, "Publisher payout (prosecutor)".
-- Example:
--   WITH released AS (FROM anon.generalize('visits', MAP {'age': 1, 'sex': 0}))
--   FROM anon.publisher_payout('released', MAP {'age': 1, 'sex': 0}, 300, 4, 1200, 300);
CREATE OR REPLACE MACRO anon.publisher_payout(release, node, gain, cost, benefit, loss) AS TABLE
SELECT
    class_size,
    information_loss,
    anon_helpers.missing_payout_of(class_size, information_loss, gain, cost, benefit, loss) AS missing,
    benefit - missing AS payout
FROM (
    SELECT any_value(class_size) AS class_size, avg(anon_helpers.log_share_of(anon_leaf_count, anon_mean_log)) AS information_loss
    FROM (
        SELECT
            class,
            class_size,
            CASE
                WHEN value_count IS NULL
                    THEN error('the node has a quasi-identifier without a taxonomy: see anon.taxonomy_heights')
                WHEN leaf_count IS NULL AND label IS NOT NULL
                    THEN error('the release has labels that their taxonomy does not have at the level of the node')
                ELSE coalesce(leaf_count, 1)
            END AS anon_leaf_count,
            avg(ln(value_count)) OVER (PARTITION BY class) AS anon_mean_log
        FROM anon_helpers.class_labels(release, node)
    )
    GROUP BY class
);

-- Geometric loss metric of a source generalized to a node: product(1 + L)^(1 / q) - 1 of the losses L of its q
-- quasi-identifiers; rows in classes of fewer than k lose 1.
--
-- Job: loss.
-- Returns: one row: geometric_lm DOUBLE in [0, 1]; NULL for a table without rows.
-- Source: ARX, "Loss" with the aggregate function geometric mean.
-- Example:
--   FROM anon.geometric_lm('visits', MAP {'age': 1, 'sex': 0}, 2);
CREATE OR REPLACE MACRO anon.geometric_lm(source, node, k) AS TABLE
SELECT anon_helpers.geometric_loss(list(lm), list(anon_weight)) AS geometric_lm
FROM (SELECT lm, 1.0 / count(*) OVER () AS anon_weight FROM anon_helpers.attribute_losses(source, node, k));

-- Precision loss of a source generalized to a node: the mean over its rows, where rows in classes of fewer than k lose 1.
-- Without such rows it is anon.precision_loss.
--
-- Returns: one row: prec DOUBLE in [0, 1]; NULL for a table without rows.
-- Source: Sweeney 2002, section 4.3 for the loss; the charge for suppressed rows is ours.
-- Example:
--   FROM anon_helpers.charged_precision_loss('visits', MAP {'age': 1, 'sex': 0}, 2);
CREATE OR REPLACE MACRO anon_helpers.charged_precision_loss(source, node, k) AS TABLE
SELECT anon_helpers.mean_loss_of(anon_class_size, anon_class_size >= k, anon.precision_loss(node)) AS prec
FROM (
    SELECT COLUMNS(map_keys(node)), count(*) AS anon_class_size
    FROM anon.generalize(source, node)
    GROUP BY ALL
);

-- Precision loss of a node in which some quasi-identifiers matter more than others: the mean of level / height with
-- weights, a MAP from each quasi-identifier of the node to its weight.
--
-- Returns: DOUBLE in [0, 1].
-- Source: Mazzone 2019, section 4.4.
-- Example:
--   SELECT anon_helpers.weighted_precision_loss(MAP {'age': 1, 'sex': 1}, MAP {'age': 3, 'sex': 1}) AS prec;
CREATE OR REPLACE MACRO anon_helpers.weighted_precision_loss(node, weights) AS (
    SELECT CASE count(weights[anon_attribute])
        WHEN len(map_keys(node)) THEN
            sum(weights[anon_attribute] * CASE WHEN anon_height = 0 THEN 0.0 ELSE node[anon_attribute] / anon_height END)
            / sum(weights[anon_attribute])
        ELSE error('the node has a quasi-identifier without a taxonomy or a weight: see anon.taxonomy_heights')
    END
    FROM anon.taxonomy_heights() AS anon_heights (anon_attribute, anon_height, anon_value_count, anon_domain)
    WHERE list_contains(map_keys(node), anon_attribute)
);
