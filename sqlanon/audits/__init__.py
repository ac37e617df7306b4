"""Audits of a mechanism's privacy claim; :mod:`sqlanon.evaluation` has their public names."""

OFFERS = {"commands": {"Privacy budget/audit-privacy": "sqlanon.audits.audit_command:audit_privacy"}}
