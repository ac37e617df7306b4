-- Fails if an equivalence class has fewer rows than k. The failure is a row of counts: it has no value of the table.
{% test k_anonymous(model, quasi_identifiers, k) %}
{{ config(fail_calc="coalesce(sum(small_rows), 0)") }}
{% do sqlanon.check_test("class_sizes", quasi_identifiers, none, "k", k) %}
with anon_tested as (select * from {{ model }})
select min(class_size) as smallest_class, count(*) as small_classes, cast(sum(class_size) as bigint) as small_rows
from anon.class_sizes('anon_tested', {{ sqlanon.column_list(quasi_identifiers) }})
where class_size < {{ k }}
having count(*) > 0
{% endtest %}
