"""Audits: whether a mechanism keeps what it claims; :mod:`sqlanon.evaluation` has their public names."""

OFFERS = {"commands": {"Privacy budget/audit-privacy": "sqlanon.audits.audit_command:audit_privacy"}}
