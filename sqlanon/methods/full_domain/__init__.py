"""The run of full-domain generalization, by name in policies."""

RUNS = {"full-domain": "sqlanon.methods.full_domain.full_domain_run:FullDomainRun"}
