-- Where to split intervals in two: of the scores of splits behind each value (anon_scored: candidate, value,
-- information_gain) the best of each interval, by the value that its second part begins with; of several the first.
-- Scores are compared to 12 digits: equal ones are to be equal, in whatever order their terms were added.
SELECT candidate, anon_at AS at
FROM (
    SELECT
        candidate,
        round(information_gain, 12) AS anon_gain,
        lead(value) OVER (PARTITION BY candidate ORDER BY value ASC) AS anon_at
    FROM anon_scored
) AS anon_splits
WHERE anon_at IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY candidate ORDER BY anon_gain DESC, anon_at ASC) = 1
