-- Releases that follow each other: the joint classes of their persons, and what a further release has to leave out.
--
-- A release has classes with numbers from 1 on. Of a person whom it does not show, left out or not in its source, the number
-- is 0: nobody who sees the release alone can distinguish these.

-- name: released_labels
-- labels of a release
-- The combinations of labels that a release has, as texts, with their rows.
-- :released ("sex" VARCHAR)
-- :names sex
-- :labels anon_label_0
SELECT :labels, count(*) AS anon_released_rows
FROM (
    SELECT TRUE AS anon_is_released, anon.text_of(:names) COLLATE "binary" AS :labels FROM :released AS anon_released
)
GROUP BY :labels
HAVING count(*) > 0;

-- name: released_classes
-- classes of a release as it is
-- The labels of a release by the keys that they make, with a number from 1 on (:name).
-- :labelled (anon_label_0 VARCHAR, anon_released_rows BIGINT, anon_key_0 BIGINT)
-- :keys anon_key_0
-- :name anon_class_1
SELECT *, CAST(row_number() OVER (ORDER BY :keys ASC NULLS FIRST) AS UINTEGER) AS :name
FROM :labelled AS anon_labelled;

-- name: persons_by_classes
-- persons of earlier releases by their classes
-- guarded: tests/unit/test_guarded_queries.py::TestJointClasses
-- The persons of the sources of all releases, each once: the numbers of their classes, codes of their values (0 for those
-- who are not in the source), and how many rows of a source they are; if that is not the same in each, then in those that
-- have more of them.
-- :rows (anon_person_0 VARCHAR, anon_class_0 UINTEGER, anon_value_0_0 UINTEGER)
-- :persons_by anon_person_0
-- :classes anon_class_0
-- :values anon_value_0_0
-- :sources count(anon_class_0)
SELECT
    :persons_by,
    coalesce(any_value(:classes), 0) AS :classes,
    coalesce(any_value(:values), 0) AS :values,
    CAST(ceil(count(*) / :sources) AS BIGINT) AS anon_rows
FROM :rows AS anon_sources
GROUP BY :persons_by;

-- name: persons_by_rows
-- persons by their classes in a release
-- The persons with the class in a release (:name) that their rows have been found in.
-- :persons (anon_person_0 VARCHAR, anon_class_0 UINTEGER, anon_class_1 UINTEGER)
-- :rows (anon_person_0 VARCHAR, anon_class_1 UINTEGER)
-- :persons_by anon_person_0
-- :name anon_class_1
SELECT anon_persons.* REPLACE (coalesce(anon_found.:name, 0) AS :name)
FROM :persons AS anon_persons
LEFT JOIN (SELECT DISTINCT :persons_by, :name FROM :rows AS anon_rows) AS anon_found
    ON anon_persons.:persons_by IS NOT DISTINCT FROM anon_found.:persons_by;

-- name: reference_of_persons
-- values of a source
-- How many persons of a source have each value (:value, by code): 0 stands for persons who are not in it. Where labels are
-- looked up, the text of each value stands beside it (:texts).
-- :persons (anon_value_0_0 UINTEGER, anon_text_of_anon_value_0_0 VARCHAR, anon_rows BIGINT)
-- :value anon_value_0_0
-- :texts any_value(anon_text_of_anon_value_0_0) AS anon_value
SELECT :value AS anon_code, :texts, CAST(sum(anon_rows) AS BIGINT) AS anon_rows
FROM :persons AS anon_persons
WHERE :value > 0
GROUP BY :value;

-- name: key_problems
-- keys of persons
-- guarded: tests/unit/test_guarded_queries.py::TestJointClasses
-- One row: the rows without a key, and the keys of several rows of a source.
-- :persons (anon_person_0 VARCHAR, anon_rows BIGINT)
-- :key anon_person_0
SELECT
    CAST(coalesce(sum(anon_rows) FILTER (WHERE :key IS NULL), 0) AS BIGINT) AS without_key,
    count(*) FILTER (WHERE anon_rows > 1 AND :key IS NOT NULL) AS repeated_keys
FROM :persons AS anon_persons;

-- name: persons_by_sources
-- persons by the sources that have them
-- guarded: tests/unit/test_guarded_queries.py::TestJointClasses
-- How many persons are in the same sources (anon_are_in). A row without a key stands for nobody.
-- :rows (anon_person_0 VARCHAR, anon_source INTEGER)
-- :key anon_person_0
-- :are_in bool_or(anon_source = 0), bool_or(anon_source = 1)
SELECT anon_are_in, count(*) AS anon_persons
FROM (SELECT [:are_in] AS anon_are_in FROM :rows AS anon_rows WHERE :key IS NOT NULL GROUP BY :key)
GROUP BY anon_are_in;

-- name: shown_groups
-- joint classes that a release shows
-- guarded: tests/unit/test_guarded_queries.py::TestJointClasses
-- The persons of each combination of classes of a release (:name) and of those that it was held together with, and whether
-- it may show them (anon_kept).
-- :persons (anon_class_0 UINTEGER, anon_class_1 UINTEGER, anon_rows BIGINT)
-- :classes anon_class_0
-- :name anon_class_1
-- :k 5
SELECT
    :classes,
    :name,
    CAST(sum(anon_rows) AS BIGINT) AS anon_class_size,
    :name > 0 AND sum(anon_rows) >= :k AS anon_kept
FROM :persons AS anon_persons
GROUP BY :classes, :name;

-- name: jointly_kept
-- classes that a release keeps beside earlier ones
-- guarded: tests/unit/test_guarded_queries.py::TestJointClasses
-- no mutants of anon_class_size - 1: k stay in a class that lends some
-- Joint classes without the persons whom others need (anon_withheld of a class that is kept): of a joint class of earlier
-- releases (anon_earlier), none or k persons at least are to be hidden in the present one. Those are hidden who have no row
-- any more (anon_absent), and those of classes that fall short. If they are too few, the largest class lends the others, so
-- that k of its own stay; if it has not as many, or if persons cannot be distinguished, the smallest class is hidden as a
-- whole. Whoever is withheld stands in a row of their own, which is not kept.
-- :classes (anon_node INTEGER, anon_key_0 BIGINT, anon_class_size BIGINT, anon_kept BOOLEAN)
-- :absent (anon_earlier UINTEGER, anon_absent BIGINT)
-- :number anon_key_0
-- :node anon_node
-- :keys anon_key_0
-- :k 5
-- :by_person TRUE
SELECT
    * EXCLUDE (anon_earlier, anon_hidden, anon_largest, anon_place, anon_last_place, anon_is_shown) REPLACE (
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
            WHEN NOT (anon_kept AND anon_earlier > 0 AND anon_hidden BETWEEN 1 AND :k - 1) THEN 0
            WHEN :by_person AND anon_largest >= :k + :k - anon_hidden
                THEN CASE WHEN anon_place = 1 THEN :k - anon_hidden ELSE 0 END
            WHEN anon_last_place = 1 THEN anon_class_size
            ELSE 0
        END AS anon_withheld
    FROM (
        SELECT
            anon_numbered.*,
            coalesce(anon_absent.anon_absent, 0) + coalesce(
                sum(CASE WHEN NOT anon_kept THEN anon_class_size END)
                    OVER (PARTITION BY :node, anon_numbered.anon_earlier),
                0
            ) AS anon_hidden,
            max(anon_class_size) OVER (PARTITION BY :node, anon_numbered.anon_earlier, anon_kept) AS anon_largest,
            row_number() OVER (
                PARTITION BY :node, anon_numbered.anon_earlier, anon_kept
                ORDER BY anon_class_size DESC NULLS LAST, :keys ASC NULLS FIRST
            ) AS anon_place,
            row_number() OVER (
                PARTITION BY :node, anon_numbered.anon_earlier, anon_kept
                ORDER BY anon_class_size ASC NULLS LAST, :keys ASC NULLS FIRST
            ) AS anon_last_place
        FROM (SELECT *, :number AS anon_earlier FROM :classes AS anon_classes) AS anon_numbered
        LEFT JOIN :absent AS anon_absent ON anon_absent.anon_earlier = anon_numbered.anon_earlier
    )
)
CROSS JOIN (VALUES (TRUE), (FALSE)) AS anon_parts (anon_is_shown)
WHERE anon_is_shown OR anon_withheld BETWEEN 1 AND anon_class_size - 1;

-- name: jointly_kept_by_values
-- classes that a release keeps beside earlier ones, by their values
-- The classes that may be shown beside what is hidden of their joint classes (anon_is_shown).
-- :classes (anon_key_0 BIGINT, anon_class_size BIGINT, anon_kept BOOLEAN, anon_is_shown BOOLEAN)
SELECT * EXCLUDE (anon_is_shown) REPLACE (anon_kept AND anon_is_shown AS anon_kept), 0 AS anon_withheld
FROM :classes AS anon_classes;

-- name: lent_classes
-- classes that are hidden with others
-- guarded: tests/unit/test_guarded_queries.py::TestJointClasses
-- Classes without the smallest one of each joint class whose hidden persons do not meet the privacy models alone.
-- :classes (anon_node INTEGER, anon_key_0 BIGINT, anon_class_size BIGINT, anon_is_met BOOLEAN, anon_hides_well BOOLEAN)
-- :node anon_node
-- :joint anon_key_0
-- :keys anon_key_0
SELECT
    * EXCLUDE (anon_hides_well) REPLACE (
        anon_is_met AND (
            anon_hides_well
            OR row_number() OVER (
                PARTITION BY :node, :joint, anon_is_met
                ORDER BY anon_class_size ASC NULLS LAST, :keys ASC NULLS FIRST
            ) > 1
        ) AS anon_is_met
    )
FROM :classes AS anon_classes;

-- name: classes_with_hidden
-- classes with those who are hidden
-- Classes of a node, and whether those who are hidden of their joint class meet the privacy models (:hides_well), if any are.
-- :measured (anon_node INTEGER, anon_key_0 BIGINT, anon_is_met BOOLEAN)
-- :together (anon_node INTEGER, anon_earlier BIGINT, anon_class_size BIGINT)
-- :hides_well anon_class_size >= 5
-- :names anon_node, anon_earlier
-- :joint anon_measured.anon_node, anon_measured.anon_key_0 & 3
SELECT anon_measured.*, coalesce(anon_hidden.anon_hides_well, TRUE) AS anon_hides_well
FROM :measured AS anon_measured
LEFT JOIN (SELECT :names, :hides_well AS anon_hides_well FROM :together AS anon_together) AS anon_hidden
    ON :joint = anon_hidden.:names;

-- name: absent_persons
-- persons of earlier releases without a row
-- guarded: tests/unit/test_guarded_queries.py::TestJointClasses
-- By joint class of the earlier releases (anon_earlier), and by the values that these show (:values), its persons who have
-- no row in the present source (anon_absent).
-- :persons (anon_earlier INTEGER, anon_value_0_0 UINTEGER, anon_rows BIGINT)
-- :cells (anon_key_0 BIGINT, anon_sensitive_1 UINTEGER, anon_row_count BIGINT)
-- :number anon_key_0 AS anon_earlier
-- :codes anon_sensitive_1 AS anon_value_0_0
-- :values anon_value_0_0
SELECT anon_earlier, :values, CAST(sum(anon_rows) AS BIGINT) AS anon_absent
FROM (
    SELECT anon_earlier, :values, anon_rows FROM :persons AS anon_persons
    UNION ALL
    SELECT :number, :codes, -anon_row_count FROM :cells AS anon_cells
)
WHERE anon_earlier > 0
GROUP BY anon_earlier, :values
HAVING sum(anon_rows) <> 0;

-- name: withheld_persons
-- persons who are withheld for others
-- guarded: tests/unit/test_guarded_queries.py::TestJointClasses
-- no mutants of WHERE anon_withholding.anon_withheld > 0: of none, nobody is withheld
-- The keys of the persons whom a class withholds: those whose MD5 come first, which no release shows.
-- :persons (anon_person_0 VARCHAR, anon_class_0 UINTEGER, anon_class_1 UINTEGER)
-- :withholding (anon_class_0 UINTEGER, anon_class_1 UINTEGER, anon_withheld BIGINT)
-- :grouped anon_class_0, anon_class_1
-- :k 5
SELECT unnest(anon_first[1:anon_withheld]) AS anon_person_0
FROM (
    SELECT
        arg_min(anon_persons.anon_person_0, md5(anon.text_of(anon_persons.anon_person_0)), :k) AS anon_first,
        any_value(anon_withholding.anon_withheld) AS anon_withheld
    FROM :persons AS anon_persons
    INNER JOIN :withholding AS anon_withholding ON anon_persons.:grouped = anon_withholding.:grouped
    WHERE anon_withholding.anon_withheld > 0
    GROUP BY anon_withholding.:grouped
);

-- name: release_mismatches
-- a release beside its source
-- guarded: tests/unit/test_guarded_queries.py::TestJointClasses
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

-- name: shown_persons
-- persons by the classes that a release shows
-- The persons with 0 for their class in a release (:name) where it withholds them or does not show their joint class.
-- :persons (anon_person_0 VARCHAR, anon_class_0 UINTEGER, anon_class_1 UINTEGER)
-- :judged (anon_class_0 UINTEGER, anon_class_1 UINTEGER, anon_kept BOOLEAN)
-- :grouped anon_class_0, anon_class_1
-- :name anon_class_1
-- :withheld (anon_person_0 VARCHAR)
SELECT
    anon_persons.* REPLACE (
        CASE WHEN anon_withheld.anon_person_0 IS NULL THEN coalesce(anon_shown.:name, 0) ELSE 0 END AS :name
    )
FROM :persons AS anon_persons
LEFT JOIN :judged AS anon_shown ON anon_persons.:grouped = anon_shown.:grouped
LEFT JOIN :withheld AS anon_withheld ON anon_withheld.anon_person_0 = anon_persons.anon_person_0;

-- name: persons_by_kept_classes
-- persons by the classes that a release shows of their values
-- The persons with 0 for their class in a release (:name) where it does not show their joint class.
-- :persons (anon_class_0 UINTEGER, anon_class_1 UINTEGER, anon_value_0_0 UINTEGER, anon_rows BIGINT)
-- :judged (anon_class_0 UINTEGER, anon_class_1 UINTEGER, anon_kept BOOLEAN)
-- :others anon_class_0, anon_value_0_0
-- :classes anon_class_0, anon_class_1
-- :name anon_class_1
SELECT
    anon_persons.:others,
    anon_persons.anon_rows,
    CASE WHEN anon_judged.anon_kept THEN anon_judged.:name ELSE 0 END AS :name
FROM :persons AS anon_persons
INNER JOIN :judged AS anon_judged ON anon_persons.:classes = anon_judged.:classes;

-- name: persons_beside
-- persons of earlier releases and of the present source
-- The rows of the present source with their class in the release (:name) and the number of their joint class in the earlier
-- ones (:number), and the persons of these who have no row any more.
-- :rows (anon_person_0 VARCHAR, anon_class_1 UINTEGER)
-- :persons (anon_person_0 VARCHAR, anon_earlier INTEGER, anon_rows BIGINT)
-- :persons_by anon_person_0
-- :number anon_class_0
-- :name anon_class_1
SELECT
    coalesce(anon_persons.anon_earlier, 0) AS :number,
    coalesce(anon_shown.:name, 0) AS :name,
    CASE WHEN anon_shown.:name IS NULL THEN anon_persons.anon_rows ELSE 1 END AS anon_rows
FROM :rows AS anon_shown
FULL JOIN :persons AS anon_persons ON anon_shown.:persons_by IS NOT DISTINCT FROM anon_persons.:persons_by;

-- name: persons_of_rows
-- persons of earlier releases and of the rows of the present source
-- The same of rows that have their numbers, as groups that have the same values; persons without a row have those that
-- earlier releases show (:coded).
-- :rows (anon_class_0 BIGINT, anon_class_1 UINTEGER, illness VARCHAR, anon_value_0_0 UINTEGER)
-- :absent (anon_earlier UINTEGER, anon_value_0_0 UINTEGER, anon_absent BIGINT)
-- :number anon_class_0
-- :name anon_class_1
-- :values illness, anon_value_0_0
-- :coded anon_value_0_0
SELECT :number, :name, :values, count(*) AS anon_rows
FROM :rows AS anon_numbered
GROUP BY :number, :name, :values
UNION ALL BY NAME
SELECT anon_earlier AS :number, 0 AS :name, :coded, anon_absent AS anon_rows
FROM :absent AS anon_absent_persons;

-- name: joint_classes
-- joint classes of releases
-- The joint classes that releases show, with numbers from 1 on (anon_earlier), and their persons. Those that the same
-- releases show follow each other.
-- :persons (anon_class_0 UINTEGER, anon_class_1 UINTEGER, anon_rows BIGINT)
-- :classes anon_class_0, anon_class_1
-- :are_shown anon_class_0 > 0, anon_class_1 > 0
SELECT
    :classes,
    CAST(row_number() OVER (ORDER BY [:are_shown] ASC, :classes ASC) AS UINTEGER) AS anon_earlier,
    CAST(sum(anon_rows) AS BIGINT) AS anon_persons
FROM :persons AS anon_persons
GROUP BY :classes
HAVING list_max([:classes]) > 0;

-- name: joint_class_ranges
-- numbers of joint classes by what shows them
-- The first and the last number of the joint classes that the same releases show (:are_shown).
-- :joint (anon_class_0 UINTEGER, anon_class_1 UINTEGER, anon_earlier UINTEGER)
-- :are_shown anon_class_0 > 0, anon_class_1 > 0
SELECT
    [:are_shown] AS shown_by,
    CAST(min(anon_earlier) AS BIGINT) AS first_number,
    CAST(max(anon_earlier) AS BIGINT) AS last_number
FROM :joint AS anon_joint
GROUP BY shown_by
ORDER BY first_number ASC;

-- name: numbered_persons
-- persons by their joint class in earlier releases
-- The persons with the number of their joint class, and with codes of their values.
-- :persons (anon_person_0 VARCHAR, anon_class_1 UINTEGER, anon_value_0_0 UINTEGER, anon_rows BIGINT)
-- :joint (anon_class_1 UINTEGER, anon_earlier UINTEGER)
-- :persons_by anon_person_0
-- :classes anon_class_1
-- :values anon_value_0_0
SELECT
    anon_persons.:persons_by,
    CAST(anon_joint.anon_earlier AS INTEGER) AS anon_earlier,
    anon_persons.:values,
    anon_persons.anon_rows
FROM :persons AS anon_persons
INNER JOIN :joint AS anon_joint ON anon_persons.:classes = anon_joint.:classes;

-- name: persons_at_risk
-- persons in joint classes that are too small
-- guarded: tests/unit/test_guarded_queries.py::TestJointClasses
-- One row: the persons in joint classes of fewer than k.
-- :joint (anon_persons BIGINT)
-- :k 5
SELECT CAST(coalesce(sum(anon_persons) FILTER (WHERE anon_persons < :k), 0) AS BIGINT) AS persons_at_risk
FROM :joint AS anon_joint;
