-- A post-hook of a Python model that has written a release to the temporary table of its name: the record of the release
-- goes to the table that dbt has made of it, and the temporary table is dropped.
{% macro keep_record() %}
{% if execute %}
    {% set problems = [] %}
    {% set name = sqlanon.text(this.identifier) %}
    {% set found = run_query("select comment from duckdb_tables() where temporary and comment is not null and table_name = " ~ name) %}
    {% if not found.rows %}
        {% do problems.append("the model wrote no release to temp." ~ this.identifier ~ ": give anonymize() that name, by into=") %}
    {% endif %}
    {% if config.get("materialized") != "table" %}
        {% do problems.append("a model that is materialized as " ~ config.get("materialized") ~ " keeps no record: materialize it as a table") %}
    {% endif %}
    {% if config.persist_relation_docs() %}
        {% do problems.append("persist_docs would replace the record of the release: set relation to false for this model") %}
    {% endif %}
    {% if problems %}{{ exceptions.raise_compiler_error(problems | join("; ")) }}{% endif %}
    comment on table {{ this }} is {{ sqlanon.text(found.rows[0][0]) }};
    drop table temp.main.{{ adapter.quote(this.identifier) }}
{% endif %}
{% endmacro %}
