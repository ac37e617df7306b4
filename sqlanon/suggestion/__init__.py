"""A policy for a table that has none: evidence on its columns, roles and taxonomies by rules, and the file of it."""
