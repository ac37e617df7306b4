-- A text as a literal of SQL.
{% macro text(value) %}{{ dbt.string_literal(dbt.escape_single_quotes(value | string)) }}{% endmacro %}

-- Names of columns as a list of texts, as the macros of schema anon take them.
{% macro column_list(columns) %}[{% for column in columns %}{{ sqlanon.text(column) }}{{ ", " if not loop.last }}{% endfor %}]{% endmacro %}

-- Refuses a test that cannot run, with all that is wrong: its arguments, and a database without the macro that it calls.
-- Without a sensitive column, that is none. A test that is parsed is not checked: one that is wrong stops no other.
{% macro check_test(anon_macro, quasi_identifiers, sensitive, parameter, required) %}
{% if execute %}
    {% set problems = [] %}
    {% if quasi_identifiers is string or quasi_identifiers is not sequence or not quasi_identifiers %}
        {% do problems.append("quasi_identifiers is a list of columns, such as [age, sex]") %}
    {% elif quasi_identifiers | reject("string") | list %}
        {% do problems.append("quasi_identifiers has a name that is not a text: put it in quotes") %}
    {% endif %}
    {% if sensitive is not none and (sensitive is not string or not sensitive) %}
        {% do problems.append("sensitive is the name of a column") %}
    {% endif %}
    {% if required is not integer or required < 1 %}
        {% do problems.append(parameter ~ " is a whole number of at least 1") %}
    {% endif %}
    {% set found = run_query("select 1 from duckdb_functions() where schema_name = 'anon' and function_name = " ~ sqlanon.text(anon_macro)) %}
    {% if not found.rows %}
        {% do problems.append("the database has no macro anon." ~ anon_macro ~ ": name the plugin sqlanon.integrations.dbt in profiles.yml, or run sqlanon install --db FILE") %}
    {% endif %}
    {% if problems %}{{ exceptions.raise_compiler_error(problems | join("; ")) }}{% endif %}
{% endif %}
{% endmacro %}
