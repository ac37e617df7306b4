"""Policies suggested for tables: evidence on columns, roles and taxonomies by rules, and the policy file."""
