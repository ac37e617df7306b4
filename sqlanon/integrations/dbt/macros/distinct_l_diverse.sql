-- Fails if the rows of an equivalence class have fewer than l distinct values of the sensitive column, NULL being one.
-- The failure is a row of counts: it has no value of the table.
{% test distinct_l_diverse(model, quasi_identifiers, sensitive, l) %}
{{ config(fail_calc="coalesce(sum(uniform_rows), 0)") }}
{% do sqlanon.check_test("class_diversity", quasi_identifiers, sensitive, "l", l) %}
with anon_tested as (select * from {{ model }})
select
    min(distinct_diversity) as smallest_diversity,
    count(*) as uniform_classes,
    cast(sum(class_size) as bigint) as uniform_rows
from anon.class_diversity('anon_tested', {{ sqlanon.column_list(quasi_identifiers) }}, {{ sqlanon.text(sensitive) }})
where distinct_diversity < {{ l }}
having count(*) > 0
{% endtest %}
