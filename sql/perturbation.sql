-- Perturbed columns: rows with numbers, and their new values.
--
-- :source (income BIGINT, region VARCHAR)
-- :rows (anon_row BIGINT, income BIGINT, region VARCHAR)
-- :columns income, region
-- :changed (anon_row BIGINT, income BIGINT, region VARCHAR)
-- :draws (anon_row BIGINT, anon_tie DOUBLE, anon_turn DOUBLE, anon_offset DOUBLE, anon_draw DOUBLE)
-- :stratum {'anon_0': region}
-- :shares (region VARCHAR, anon_stratum INT, anon_value INT, anon_text TEXT, anon_label INT, anon_count INT, anon_values INT, anon_stratum_count INT)
-- :edges (anon_value BIGINT, anon_shown BIGINT, anon_probability DOUBLE, anon_edge DOUBLE)
-- :within region
-- :value income

-- name: numbered_rows
-- the rows of the source with numbers
SELECT row_number() OVER () AS anon_row, :columns
FROM :source;

-- name: changed_values
-- how many rows show another value, and how far numbers are from their own
-- Infinities, NaN and numbers beyond 1e100 have no distance, and neither have labels, whose numbers are NULL.
-- :was anon_rows.income
-- :shown anon_changed.income
-- :before CAST(anon_rows.income AS DOUBLE)
-- :after CAST(anon_changed.income AS DOUBLE)
SELECT
    count(*) FILTER (WHERE anon_has_value) AS rows,
    count(*) FILTER (WHERE anon_is_changed) AS changed,
    avg(abs(anon_after - anon_before)) / nullif(sqrt(2) * stddev_samp(anon_before), 0) AS il1s,
    avg((anon_after - anon_before) ** 2) / nullif(var_pop(anon_before), 0) AS sse_share
FROM (
    SELECT
        :was IS NOT NULL AS anon_has_value,
        :was IS DISTINCT FROM :shown AS anon_is_changed,
        CASE WHEN abs(:before) <= 1e100 THEN :before END AS anon_before,
        CASE WHEN abs(:after) <= 1e100 THEN :after END AS anon_after
    FROM :rows AS anon_rows
    JOIN :changed AS anon_changed ON anon_changed.anon_row = anon_rows.anon_row
) AS anon_compared;

-- name: ranked_numbers
-- numbers by their rank in a stratum
-- :source (income BIGINT, region VARCHAR)
-- :number TRY_CAST(income AS BIGINT)
SELECT
    :stratum AS anon_stratum,
    :number AS anon_value,
    row_number() OVER (PARTITION BY :stratum ORDER BY :number ASC) AS anon_rank,
    count(*) OVER (PARTITION BY :stratum) AS anon_count
FROM :source AS anon_rows
WHERE :value IS NOT NULL;

-- name: ungrouped_values
-- rows that show a number of no group
-- Groups are of neighbours, so that the numbers of a stratum have the order of their values: those that show a number have
-- the values at its ranks. Where rows are left out, or a stratum is not shown, a number is at least within the range.
-- :true (anon_stratum INT, anon_value BIGINT, anon_rank BIGINT, anon_count BIGINT)
-- :shown (anon_stratum INT, anon_value BIGINT, anon_rank BIGINT, anon_count BIGINT)
-- :has_groups TRUE
-- :fewest 3
-- :expected TRY_CAST(anon_mean AS BIGINT)
WITH anon_true AS (
    SELECT * FROM :true AS anon_ranked
),
anon_ranges AS (
    SELECT anon_stratum, min(anon_value) AS anon_least, max(anon_value) AS anon_most
    FROM anon_true
    GROUP BY anon_stratum
),
anon_groups AS (
    SELECT
        anon_shown.anon_value AS anon_number,
        count(*) AS anon_rows,
        count(anon_true.anon_value) AS anon_known,
        coalesce(min(anon_true.anon_value), any_value(anon_ranges.anon_least)) AS anon_low,
        coalesce(max(anon_true.anon_value), any_value(anon_ranges.anon_most)) AS anon_high,
        avg(CAST(anon_true.anon_value AS DOUBLE)) AS anon_mean,
        median(CAST(anon_true.anon_value AS DOUBLE)) AS anon_median
    FROM :shown AS anon_shown
    LEFT JOIN anon_ranges ON anon_ranges.anon_stratum IS NOT DISTINCT FROM anon_shown.anon_stratum
    LEFT JOIN anon_true
        ON :has_groups
        AND anon_true.anon_stratum IS NOT DISTINCT FROM anon_shown.anon_stratum
        AND anon_true.anon_rank = anon_shown.anon_rank
        AND anon_true.anon_count = anon_shown.anon_count
    GROUP BY anon_shown.anon_stratum, anon_shown.anon_value
)
SELECT CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS rows
FROM anon_groups
WHERE coalesce(anon_number NOT BETWEEN anon_low AND anon_high, TRUE)
    OR anon_known BETWEEN 1 AND :fewest - 1
    OR abs(CAST(:expected AS DOUBLE) - CAST(anon_number AS DOUBLE))
    > 1e-9 * greatest(abs(CAST(anon_low AS DOUBLE)), abs(CAST(anon_high AS DOUBLE)));

-- name: swapped_ranks
-- values that are permuted in blocks of ranks
-- The first block of a stratum is cut by a random offset. NULL has no rank, and stays where it is.
-- :share 0.05
WITH anon_blocks AS (
    SELECT
        anon_row,
        :stratum AS anon_stratum,
        row_number() OVER (PARTITION BY :stratum ORDER BY :value ASC, anon_tie ASC) AS anon_rank,
        first_value(anon_offset) OVER (PARTITION BY :stratum ORDER BY :value ASC, anon_tie ASC) AS anon_begin,
        greatest(ceil(:share * count(*) OVER (PARTITION BY :stratum)), 1) AS anon_width,
        floor((anon_rank - 1 + floor(anon_width * anon_begin)) / anon_width) AS anon_block,
        anon_turn
    FROM :rows AS anon_rows
    JOIN :draws AS anon_draws USING (anon_row)
    WHERE :value IS NOT NULL
),
anon_turned AS (
    SELECT
        unnest(list(anon_row ORDER BY anon_rank ASC)) AS anon_row,
        unnest(list(anon_row ORDER BY anon_turn ASC, anon_row ASC)) AS anon_donor
    FROM anon_blocks
    GROUP BY anon_stratum, anon_block
)
SELECT anon_rows.anon_row, anon_donors.:columns
FROM :rows AS anon_rows
LEFT JOIN anon_turned ON anon_turned.anon_row = anon_rows.anon_row
JOIN :rows AS anon_donors ON anon_donors.anon_row = coalesce(anon_turned.anon_donor, anon_rows.anon_row);

-- name: unfit_strata
-- values that cannot be changed as the policy says
-- Beyond 1e100, squares could exceed the numbers of a machine; NaN is beyond all.
-- :number CAST(income AS DOUBLE)
-- :least 3
SELECT
    CAST(coalesce(sum(anon_wild), 0) AS BIGINT) AS wild,
    bool_and(anon_low = anon_high) FILTER (WHERE anon_values > 0) AS are_alike,
    count(*) FILTER (WHERE anon_values BETWEEN 1 AND :least - 1) AS strata,
    CAST(coalesce(sum(anon_values) FILTER (WHERE anon_values < :least), 0) AS BIGINT) AS rows,
    coalesce(min(anon_low) = max(anon_high), FALSE) AS is_constant,
    count(*) FILTER (WHERE anon_low = anon_high) AS alike,
    CAST(coalesce(sum(anon_values) FILTER (WHERE anon_low = anon_high), 0) AS BIGINT) AS alike_rows
FROM (
    SELECT
        count(:value) AS anon_values,
        count(:value) FILTER (WHERE NOT abs(:number) <= 1e100) AS anon_wild,
        min(:value) AS anon_low,
        max(:value) AS anon_high
    FROM :rows AS anon_rows
    GROUP BY :stratum
) AS anon_strata;

-- name: stretches
-- values in order, cut into stretches
-- The stretches of a stratum are as long as possible alike, and hold :length values at least unless it has fewer. Sums
-- up to each place are of distances to the mean of the stretch, so that their squares keep their digits.
-- :length 2000
WITH anon_ranked AS (
    SELECT
        anon_row,
        :value AS anon_value,
        CAST(:value AS DOUBLE) AS anon_number,
        :stratum AS anon_stratum,
        row_number() OVER (PARTITION BY :stratum ORDER BY :value ASC, anon_row ASC) AS anon_rank,
        count(*) OVER (PARTITION BY :stratum) AS anon_count
    FROM :rows AS anon_rows
    WHERE :value IS NOT NULL
),
anon_cut AS (
    SELECT *, (anon_rank - 1) * greatest(anon_count // :length, 1) // anon_count AS anon_stretch
    FROM anon_ranked
),
anon_centred AS (
    SELECT *, anon_number - avg(anon_number) OVER (PARTITION BY anon_stratum, anon_stretch) AS anon_distance
    FROM anon_cut
),
anon_summed AS (
    SELECT
        *,
        sum(anon_distance) OVER anon_before AS anon_sum,
        sum(anon_distance ** 2) OVER anon_before AS anon_squares
    FROM anon_centred
    WINDOW anon_before AS (PARTITION BY anon_stratum, anon_stretch ORDER BY anon_rank ASC)
)
SELECT
    count(*) AS anon_length,
    list(anon_row ORDER BY anon_rank ASC) AS anon_rows,
    list(anon_value ORDER BY anon_rank ASC) AS anon_values,
    list(anon_sum ORDER BY anon_rank ASC) AS anon_sums,
    list(anon_squares ORDER BY anon_rank ASC) AS anon_squares
FROM anon_summed
GROUP BY anon_stratum, anon_stretch;

-- name: least_squares_groups
-- groups of neighbours
-- Those with the least sum of squares. Place by place, the best last group of the values up to there: its own squares, and
-- the cost of the values before it, which is the item of the state at its size. The path spells the size at each place
-- as a character, and the walk back along it the ends of groups: joining texts copies no lists. The first state is an
-- item of the list: given beside it, DuckDB 1.5 mixes up the columns of lists of several lengths.
-- :stretches (anon_length BIGINT, anon_rows BIGINT[], anon_values BIGINT[], anon_sums DOUBLE[], anon_squares DOUBLE[])
-- :least 3
WITH anon_paths AS (
    SELECT
        *,
        list_reduce(
            list_prepend(
                struct_pack(
                    anon_at := CAST(0 AS BIGINT),
                    anon_costs := list_transform(
                        range(1, 2 * :least),
                        lambda anon_size: CASE WHEN anon_size = 1 THEN CAST(0 AS DOUBLE) ELSE CAST('inf' AS DOUBLE) END
                    ),
                    anon_path := ''
                ),
                list_transform(
                    range(1, anon_length + 1),
                    lambda anon_at: struct_pack(anon_at := anon_at, anon_costs := CAST([] AS DOUBLE[]), anon_path := '')
                )
            ),
            lambda anon_state, anon_next: list_transform(
                [list_min(list_transform(
                    range(:least, 2 * :least),
                    lambda anon_size: struct_pack(
                        anon_cost := anon_state.anon_costs[anon_size]
                        + anon_squares[anon_next.anon_at] - coalesce(anon_squares[anon_next.anon_at - anon_size], 0)
                        - (anon_sums[anon_next.anon_at] - coalesce(anon_sums[anon_next.anon_at - anon_size], 0)) ** 2 / anon_size,
                        anon_size := anon_size
                    )
                ))],
                lambda anon_best: struct_pack(
                    anon_at := anon_next.anon_at,
                    anon_costs := list_prepend(anon_best.anon_cost, anon_state.anon_costs[:2 * :least - 2]),
                    anon_path := anon_state.anon_path || chr(CAST(anon_best.anon_size AS INTEGER))
                )
            )[1]
        ).anon_path AS anon_path
    FROM :stretches AS anon_stretches
),
anon_sized AS (
    SELECT *, list_transform(string_split(anon_path, ''), lambda anon_each: CAST(unicode(anon_each) AS BIGINT)) AS anon_sizes
    FROM anon_paths
),
anon_walks AS (
    SELECT
        anon_rows,
        anon_values,
        list_reduce(
            list_transform(
                range(0, anon_length // :least + 1), lambda anon_turn: struct_pack(anon_at := anon_length, anon_ends := '')
            ),
            lambda anon_state, anon_turn: CASE
                WHEN anon_state.anon_at = 0 THEN anon_state
                ELSE struct_pack(
                    anon_at := anon_state.anon_at - anon_sizes[anon_state.anon_at],
                    anon_ends := chr(CAST(anon_state.anon_at AS INTEGER)) || anon_state.anon_ends
                )
            END
        ).anon_ends AS anon_ends
    FROM anon_sized
),
anon_cuts AS (
    SELECT
        row_number() OVER () AS anon_stretch,
        anon_rows,
        anon_values,
        list_transform(string_split(anon_ends, ''), lambda anon_each: CAST(unicode(anon_each) AS BIGINT)) AS anon_ends
    FROM anon_walks
)
SELECT
    anon_stretch,
    unnest(anon_rows) AS anon_row,
    unnest(anon_values) AS anon_value,
    unnest(flatten(list_transform(
        anon_ends,
        lambda anon_end, anon_turn: list_resize(
            CAST([] AS BIGINT[]), anon_end - coalesce(anon_ends[anon_turn - 1], 0), anon_end
        )
    ))) AS anon_end
FROM anon_cuts;

-- name: unfit_weights
-- rows without a weight that fits
-- :weight anon_rows.income
SELECT count(*) AS rows
FROM :rows AS anon_rows
WHERE :value IS NOT NULL AND (:weight BETWEEN 1e-12 AND 1e12) IS NOT TRUE;

-- name: plain_groups
-- groups, with their means
-- :grouped (anon_stretch BIGINT, anon_row BIGINT, anon_value BIGINT, anon_end BIGINT)
SELECT
    anon_stretch,
    anon_end,
    min(anon_value) AS anon_low,
    max(anon_value) AS anon_high,
    avg(CAST(anon_value AS DOUBLE) ORDER BY anon_value ASC) AS anon_mean,
    median(CAST(anon_value AS DOUBLE)) AS anon_median
FROM :grouped AS anon_grouped
GROUP BY anon_stretch, anon_end;

-- name: weighted_groups
-- groups, with their weighted means
-- :grouped (anon_stretch BIGINT, anon_row BIGINT, anon_value BIGINT, anon_end BIGINT)
-- :weight anon_rows.income
SELECT
    anon_stretch,
    anon_end,
    min(anon_value) AS anon_low,
    max(anon_value) AS anon_high,
    sum(:weight * CAST(anon_value AS DOUBLE) ORDER BY anon_value ASC, :weight ASC) / sum(:weight ORDER BY :weight ASC) AS anon_mean
FROM :grouped AS anon_grouped
INNER JOIN :rows AS anon_rows USING (anon_row)
GROUP BY anon_stretch, anon_end;

-- name: group_values
-- what groups show
-- No rounding leaves the range of the group, nor that of the type.
-- :summed (anon_stretch BIGINT, anon_end BIGINT, anon_low BIGINT, anon_high BIGINT, anon_mean DOUBLE)
-- :number TRY_CAST(round(anon_mean) AS BIGINT)
SELECT
    anon_stretch,
    anon_end,
    anon_low,
    anon_high,
    greatest(
        anon_low, least(anon_high, coalesce(:number, CASE WHEN anon_low < 0 THEN anon_low ELSE anon_high END))
    ) AS anon_shown
FROM :summed AS anon_summed;

-- name: grouped_values
-- values of groups by row
-- :grouped (anon_stretch BIGINT, anon_row BIGINT, anon_value BIGINT, anon_end BIGINT)
-- :groups (anon_stretch BIGINT, anon_end BIGINT, anon_low BIGINT, anon_high BIGINT, anon_shown BIGINT)
SELECT anon_rows.anon_row, anon_groups.anon_shown AS :value
FROM :rows AS anon_rows
LEFT JOIN :grouped AS anon_grouped USING (anon_row)
LEFT JOIN :groups AS anon_groups USING (anon_stretch, anon_end);

-- name: equal_groups
-- groups, and those of one value
-- :groups (anon_stretch BIGINT, anon_end BIGINT, anon_low BIGINT, anon_high BIGINT, anon_shown BIGINT)
SELECT count(*) AS groups, count(*) FILTER (WHERE anon_low = anon_high) AS equal
FROM :groups AS anon_groups;

-- name: pram_shares
-- values of each stratum with their shares
-- NULL is left out: it stays. Strata and values get numbers, for matrices.
-- guarded: tests/property/test_perturbation_pram.py
-- :text CAST(anon_rows.income AS VARCHAR)
-- :keep 0.9
SELECT
    :within,
    dense_rank() OVER (ORDER BY :within ASC) AS anon_stratum,
    row_number() OVER (ORDER BY :within ASC, anon_text ASC) AS anon_value,
    :text AS anon_text,
    any_value(:value) AS anon_label,
    count(*) AS anon_count,
    sum(anon_count) OVER (PARTITION BY :within) AS anon_stratum_count,
    anon_count / anon_stratum_count AS anon_share,
    count(*) OVER (PARTITION BY :within) AS anon_values,
    :keep AS anon_keep
FROM :rows AS anon_rows
WHERE :value IS NOT NULL
GROUP BY :within, anon_text;

-- name: pram_strata
-- strata whose values cannot be randomized, or whose shares cannot be published
-- guarded: tests/property/test_perturbation_pram.py
-- :most_values 1000
-- :least_stratum 100
-- :least_count 5
SELECT
    count(DISTINCT anon_stratum) AS strata,
    count(*) FILTER (WHERE anon_values = 1) AS of_one_value,
    count(DISTINCT anon_stratum) FILTER (WHERE anon_values > :most_values) AS of_many_values,
    CAST(coalesce(sum(anon_values), 0) AS BIGINT) AS cells,
    count(DISTINCT anon_stratum) FILTER (WHERE anon_stratum_count < :least_stratum) AS small_strata,
    count(*) FILTER (WHERE anon_count < :least_count) AS rare_values
FROM :shares;

-- name: pram_edges
-- what each value may be shown as, with the least number that chooses it
-- The first is the value itself.
-- guarded: tests/property/test_perturbation_pram.py
-- :matrices (anon_stratum BIGINT, anon_value BIGINT, anon_shown BIGINT, anon_probability DOUBLE)
SELECT
    *,
    coalesce(sum(anon_probability) OVER (
        PARTITION BY anon_value
        ORDER BY anon_shown <> anon_value ASC, anon_shown ASC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS anon_edge
FROM :matrices AS anon_matrices;

-- name: pram_chances
-- how likely values stay, and shown ones are true
-- guarded: tests/property/test_perturbation_pram.py
-- :least_stay 0.5
SELECT
    min(anon_stays) AS least_stay,
    count(*) FILTER (WHERE anon_stays < :least_stay) AS values_below,
    sum(anon_count * anon_stays) / sum(anon_count) AS mean_stay,
    ceil(100 * max(anon_true) - 1e-9) / 100 AS most_true,
    min(anon_values) AS least_values,
    max(anon_values) AS most_values
FROM (
    SELECT
        anon_shares.anon_count,
        anon_shares.anon_values,
        anon_edges.anon_probability AS anon_stays,
        anon_shares.anon_count * anon_edges.anon_probability
        / sum(anon_shares.anon_count * anon_edges.anon_probability) OVER (PARTITION BY anon_edges.anon_shown) AS anon_true,
        anon_edges.anon_value = anon_edges.anon_shown AS anon_is_own
    FROM :edges AS anon_edges
    JOIN :shares AS anon_shares ON anon_shares.anon_value = anon_edges.anon_value
) AS anon_cells
WHERE anon_is_own;

-- name: randomized_values
-- values that became others by their draws
-- guarded: tests/property/test_perturbation_pram.py
-- :text CAST(anon_rows.income AS VARCHAR)
SELECT
    anon_drawn.anon_row,
    CASE WHEN anon_edges.anon_shown = anon_edges.anon_value THEN anon_drawn.anon_own ELSE anon_others.anon_label END AS :value
FROM (
    SELECT anon_rows.anon_row, :value AS anon_own, anon_shares.anon_value, anon_draws.anon_draw
    FROM :rows AS anon_rows
    JOIN :draws AS anon_draws ON anon_draws.anon_row = anon_rows.anon_row
    LEFT JOIN :shares AS anon_shares
        ON anon_shares.:within IS NOT DISTINCT FROM anon_rows.:within AND anon_shares.anon_text = :text
) AS anon_drawn
ASOF LEFT JOIN :edges AS anon_edges
    ON anon_edges.anon_value = anon_drawn.anon_value AND anon_drawn.anon_draw >= anon_edges.anon_edge
LEFT JOIN :shares AS anon_others ON anon_others.anon_value = anon_edges.anon_shown;

-- name: pram_matrix
-- the matrices of strata
-- guarded: tests/property/test_perturbation_pram.py
SELECT
    anon_from.:within,
    anon_from.anon_label AS value,
    anon_to.anon_label AS shown_value,
    anon_edges.anon_probability AS probability
FROM :edges AS anon_edges
JOIN :shares AS anon_from ON anon_from.anon_value = anon_edges.anon_value
JOIN :shares AS anon_to ON anon_to.anon_value = anon_edges.anon_shown
ORDER BY anon_edges.anon_value ASC, anon_edges.anon_shown ASC;

-- name: moments
-- means, standard deviations and correlations by stratum
-- :numbers CAST(income AS DOUBLE)
-- :means anon_mean_1
-- :deviations anon_deviation_1
-- :ones CAST(income AS DOUBLE)
-- :others CAST(income AS DOUBLE)
-- :correlations anon_correlation_1_1
SELECT
    row_number() OVER () AS anon_place,
    :stratum AS anon_stratum,
    avg(:numbers) AS :means,
    stddev_samp(:numbers) AS :deviations,
    corr(:ones, :others) AS :correlations
FROM :rows AS anon_rows
GROUP BY :stratum;

-- name: noisy_numbers
-- numbers with noise
-- The roots of a stratum give the normal numbers of a row its correlations.
-- :moments (anon_place BIGINT, anon_stratum STRUCT(anon_0 VARCHAR), anon_mean_1 DOUBLE, anon_deviation_1 DOUBLE)
-- :roots (anon_place BIGINT, anon_root_1 DOUBLE[])
-- :draws (anon_row BIGINT, anon_normal_1 DOUBLE)
-- :normals anon_normal_1
-- :numbers CAST(income AS DOUBLE)
-- :means anon_mean_1
-- :deviations anon_deviation_1
-- :weights anon_root_1
-- :noisy anon_noisy_1
-- :values income
-- :shown CAST(anon_noisy_1 AS BIGINT)
-- :relative 0.1
-- :shift 0.005
-- :kept 0
WITH anon_drawn AS (
    SELECT anon_row, [:normals] AS anon_normals
    FROM :draws AS anon_draws
),
anon_moved AS (
    SELECT
        anon_row,
        :values,
        :numbers + :shift * (:means - :numbers)
        + coalesce(:relative * :deviations * list_dot_product(:weights, anon_normals), 0) AS :noisy
    FROM :rows AS anon_rows
    JOIN anon_drawn USING (anon_row)
    JOIN :moments AS anon_moments ON anon_moments.anon_stratum IS NOT DISTINCT FROM :stratum
    JOIN :roots AS anon_roots USING (anon_place)
)
SELECT anon_row, CASE WHEN nullif(:numbers, :kept) IS NULL THEN :values ELSE :shown END AS :values
FROM anon_moved;
