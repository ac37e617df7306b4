-- Releases that follow each other: the joint classes of their persons, and what a further release has to leave out.
--
-- A release has classes with numbers from 1 on. Of a person whom it does not show, left out or not in its source, the number
-- is NULL: nobody who sees the release alone can distinguish these.

-- name: met_persons
-- persons of earlier releases beside those of the next source
-- The persons that earlier releases show or that the next source has (anon_is_present), each once: the numbers of their
-- classes, the key of the class that their row is in, and how many rows that is.
-- :persons (anon_person_0 VARCHAR, anon_class_1 UINTEGER, anon_rows BIGINT)
-- :keyed (anon_person_0 VARCHAR, anon_key_0 BIGINT)
-- :persons_by anon_person_0
-- :classes anon_class_1
-- :keys anon_key_0
-- :any_classes any_value(anon_class_1) AS anon_class_1
-- :any_keys any_value(anon_key_0) AS anon_key_0
SELECT
    :persons_by,
    :any_classes,
    :any_keys,
    greatest(coalesce(max(anon_rows), 0), count(*) FILTER (WHERE anon_is_present)) AS anon_rows,
    bool_or(anon_is_present) AS anon_is_present
FROM (
    SELECT :persons_by, :classes, anon_rows, FALSE AS anon_is_present FROM :persons AS anon_persons
    UNION ALL BY NAME
    SELECT :persons_by, :keys, TRUE AS anon_is_present FROM :keyed AS anon_keyed
)
GROUP BY :persons_by;

-- name: key_problems
-- keys of persons
-- One row: the rows of a source without a key, and the keys of several rows.
-- :persons (anon_person_0 VARCHAR, anon_rows BIGINT)
-- :persons_by anon_person_0
SELECT
    CAST(coalesce(sum(anon_rows) FILTER (WHERE list_max([:persons_by]) IS NULL), 0) AS BIGINT) AS without_key,
    count(*) FILTER (WHERE anon_rows > 1 AND list_max([:persons_by]) IS NOT NULL) AS repeated_keys
FROM :persons AS anon_persons;

-- name: joint_groups
-- joint classes of earlier releases and the next
-- The persons of each combination of classes in earlier releases and the key of a class in the next.
-- :met (anon_class_1 UINTEGER, anon_key_0 BIGINT, anon_rows BIGINT, anon_is_present BOOLEAN)
-- :classes anon_class_1
-- :keys anon_key_0
SELECT :classes, :keys, anon_is_present, CAST(sum(anon_rows) AS BIGINT) AS anon_class_size
FROM :met AS anon_met
GROUP BY :classes, :keys, anon_is_present;

-- name: released_classes
-- classes of a release as it is
-- The combinations of labels that a release has, as texts, with a number from 1 on (:name) and their rows.
-- :released ("sex" VARCHAR)
-- :texts sex AS anon_label_0
-- :labels anon_label_0
-- :name anon_class_2
SELECT
    :labels,
    CAST(row_number() OVER (ORDER BY :labels ASC NULLS FIRST) AS UINTEGER) AS :name,
    count(*) AS anon_released_rows
FROM (SELECT TRUE AS anon_is_released, :texts FROM :released AS anon_released)
GROUP BY :labels
HAVING count(*) > 0;

-- name: shown_groups
-- joint classes that a release shows
-- Joint groups with the number of their class, if the release has its labels, and whether it may show them (anon_kept): it
-- has the labels, and, where it was held together with earlier releases, the group has k persons.
-- :labelled (anon_class_1 UINTEGER, anon_key_0 BIGINT, anon_label_0 VARCHAR, anon_is_present BOOLEAN, anon_class_size BIGINT)
-- :released (anon_label_0 VARCHAR, anon_class_2 UINTEGER, anon_released_rows BIGINT)
-- :columns anon_class_1, anon_key_0, anon_is_present, anon_class_size
-- :labels anon_label_0
-- :name anon_class_2
-- :k 5
SELECT
    anon_labelled.:columns,
    anon_released.:name,
    anon_labelled.anon_is_present AND anon_released.:name IS NOT NULL AND anon_labelled.anon_class_size >= :k AS anon_kept
FROM :labelled AS anon_labelled
LEFT JOIN :released AS anon_released ON anon_labelled.:labels IS NOT DISTINCT FROM anon_released.:labels;

-- name: jointly_kept
-- classes that a release keeps beside earlier ones
-- Joint classes without the persons whom others need (anon_withheld of a class that is kept): of a joint class of earlier
-- releases (anon_earlier), none or k persons at least are to be hidden in the present one. Those are hidden who have no row
-- any more (anon_absent), and those of classes that fall short. If they are too few, the largest class lends the others, so
-- that k of its own stay; it is hidden as a whole if it has not as many, or if persons cannot be distinguished. Whoever is
-- withheld stands in a row of their own, which is not kept.
-- :classes (anon_node INTEGER, anon_key_0 BIGINT, anon_class_size BIGINT, anon_kept BOOLEAN)
-- :absent (anon_earlier UINTEGER, anon_absent BIGINT)
-- :number anon_key_0
-- :node anon_node
-- :keys anon_key_0
-- :k 5
-- :by_person TRUE
SELECT
    * EXCLUDE (anon_earlier, anon_hidden, anon_place, anon_is_shown) REPLACE (
        CASE
            WHEN NOT anon_is_shown THEN anon_withheld
            WHEN anon_class_size > anon_withheld THEN anon_class_size - anon_withheld
            ELSE anon_class_size
        END AS anon_class_size,
        anon_kept AND anon_is_shown AND anon_class_size > anon_withheld AS anon_kept
    )
FROM (
    SELECT
        *,
        CASE
            WHEN NOT (anon_kept AND anon_place = 1 AND anon_earlier > 0 AND anon_hidden BETWEEN 1 AND :k - 1) THEN 0
            WHEN :by_person AND anon_class_size >= :k + :k - anon_hidden THEN :k - anon_hidden
            ELSE anon_class_size
        END AS anon_withheld
    FROM (
        SELECT
            anon_numbered.*,
            coalesce(anon_absent.anon_absent, 0) + coalesce(
                sum(CASE WHEN NOT anon_kept THEN anon_class_size END)
                    OVER (PARTITION BY :node, anon_numbered.anon_earlier),
                0
            ) AS anon_hidden,
            row_number() OVER (
                PARTITION BY :node, anon_numbered.anon_earlier, anon_kept
                ORDER BY anon_class_size DESC NULLS LAST, :keys ASC NULLS FIRST
            ) AS anon_place
        FROM (SELECT *, :number AS anon_earlier FROM :classes AS anon_classes) AS anon_numbered
        LEFT JOIN :absent AS anon_absent ON anon_absent.anon_earlier = anon_numbered.anon_earlier
    )
)
CROSS JOIN (VALUES (TRUE), (FALSE)) AS anon_parts (anon_is_shown)
WHERE anon_is_shown OR anon_withheld BETWEEN 1 AND anon_class_size - 1;

-- name: absent_persons
-- persons of earlier releases without a row
-- By joint class of the earlier releases (anon_earlier), its persons who have no row in the present source (anon_absent).
-- :persons (anon_earlier INTEGER, anon_rows BIGINT)
-- :cells (anon_key_0 BIGINT, anon_row_count BIGINT)
-- :number anon_key_0 AS anon_earlier
SELECT anon_earlier, CAST(sum(anon_rows) AS BIGINT) AS anon_absent
FROM (
    SELECT anon_earlier, anon_rows FROM :persons AS anon_persons
    UNION ALL
    SELECT :number, -anon_row_count FROM :cells AS anon_cells
)
WHERE anon_earlier > 0
GROUP BY anon_earlier
HAVING sum(anon_rows) <> 0;

-- name: withheld_persons
-- persons who are withheld for others
-- The keys of the persons whom a class withholds: those whose MD5 come first, which no release shows.
-- :persons (anon_person_0 VARCHAR, anon_class_1 UINTEGER, anon_key_0 BIGINT)
-- :withholding (anon_class_1 UINTEGER, anon_key_0 BIGINT, anon_withheld BIGINT)
-- :grouped anon_class_1, anon_key_0
-- :k 5
SELECT unnest(anon_first[1:anon_withheld]) AS anon_person_0
FROM (
    SELECT
        arg_min(anon_persons.anon_person_0, md5(anon.text_of(anon_persons.anon_person_0)), :k) AS anon_first,
        any_value(anon_withholding.anon_withheld) AS anon_withheld
    FROM :persons AS anon_persons
    INNER JOIN :withholding AS anon_withholding ON anon_persons.:grouped IS NOT DISTINCT FROM anon_withholding.:grouped
    WHERE anon_withholding.anon_withheld > 0
    GROUP BY anon_withholding.:grouped
);

-- name: release_mismatches
-- a release beside its source
-- One row: the classes that a release has in another number of rows than it is to have.
-- :judged (anon_class_2 UINTEGER, anon_class_size BIGINT, anon_kept BOOLEAN)
-- :released (anon_class_2 UINTEGER, anon_released_rows BIGINT)
-- :name anon_class_2
SELECT count(*) AS classes
FROM :released AS anon_released
LEFT JOIN (
    SELECT :name, sum(anon_class_size) AS anon_class_size FROM :judged AS anon_judged WHERE anon_kept GROUP BY :name
) AS anon_made ON anon_made.:name = anon_released.:name
WHERE anon_made.anon_class_size IS DISTINCT FROM anon_released.anon_released_rows;

-- name: persons_in_classes
-- persons by their classes in earlier releases
-- The persons whom some release shows, with the numbers of their classes; the last is that of one more release.
-- :met (anon_person_0 VARCHAR, anon_class_1 UINTEGER, anon_key_0 BIGINT, anon_rows BIGINT, anon_is_present BOOLEAN)
-- :judged (anon_class_1 UINTEGER, anon_key_0 BIGINT, anon_is_present BOOLEAN, anon_class_2 UINTEGER, anon_kept BOOLEAN)
-- :withheld (anon_person_0 VARCHAR)
-- :columns anon_person_0, anon_class_1
-- :grouped anon_class_1, anon_key_0, anon_is_present
-- :classes anon_class_1, anon_class_2
-- :name anon_class_2
SELECT *
FROM (
    SELECT
        anon_met.:columns,
        CASE WHEN anon_withheld.anon_person_0 IS NULL THEN anon_shown.:name END AS :name,
        anon_met.anon_rows
    FROM :met AS anon_met
    LEFT JOIN (SELECT :grouped, :name FROM :judged AS anon_judged WHERE anon_kept) AS anon_shown
        ON anon_met.:grouped IS NOT DISTINCT FROM anon_shown.:grouped
    LEFT JOIN :withheld AS anon_withheld ON anon_withheld.anon_person_0 = anon_met.anon_person_0
)
WHERE list_max([:classes]) IS NOT NULL;

-- name: joint_classes
-- joint classes of releases
-- The joint classes that releases show, with numbers from 1 on (anon_earlier), and their persons.
-- :persons (anon_class_1 UINTEGER, anon_rows BIGINT)
-- :classes anon_class_1
SELECT
    :classes,
    CAST(row_number() OVER (ORDER BY :classes ASC NULLS FIRST) AS UINTEGER) AS anon_earlier,
    CAST(sum(anon_rows) AS BIGINT) AS anon_persons
FROM :persons AS anon_persons
GROUP BY :classes;

-- name: joint_sizes
-- persons of joint classes
-- One row: the fewest persons of a joint class, how many classes and persons there are, and the persons alone in one.
-- :joint (anon_persons BIGINT)
SELECT
    min(anon_persons) AS k,
    count(*) AS class_count,
    CAST(coalesce(sum(anon_persons), 0) AS BIGINT) AS person_count,
    count(*) FILTER (WHERE anon_persons = 1) AS unique_persons
FROM :joint AS anon_joint;

-- name: numbered_persons
-- persons by their joint class in earlier releases
-- The persons with the number of their joint class.
-- :persons (anon_person_0 VARCHAR, anon_class_1 UINTEGER, anon_rows BIGINT)
-- :joint (anon_class_1 UINTEGER, anon_earlier UINTEGER)
-- :persons_by anon_person_0
-- :classes anon_class_1
SELECT anon_persons.:persons_by, CAST(anon_joint.anon_earlier AS INTEGER) AS anon_earlier, anon_persons.anon_rows
FROM :persons AS anon_persons
INNER JOIN :joint AS anon_joint ON anon_persons.:classes IS NOT DISTINCT FROM anon_joint.:classes;

-- name: class_labels
-- labels of the classes of a release
-- The classes of a release by number, with their labels in the order of its quasi-identifiers (anon_labels).
-- :released (anon_label_0 VARCHAR, anon_class_2 UINTEGER)
-- :labels anon_label_0
-- :name anon_class_2
SELECT :name, [:labels] AS anon_labels FROM :released AS anon_released;

-- name: persons_at_risk
-- persons in joint classes that are too small
-- One row: the persons in joint classes of fewer than k.
-- :joint (anon_persons BIGINT)
-- :k 5
SELECT CAST(coalesce(sum(anon_persons) FILTER (WHERE anon_persons < :k), 0) AS BIGINT) AS persons_at_risk
FROM :joint AS anon_joint;
