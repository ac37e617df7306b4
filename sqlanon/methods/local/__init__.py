"""The run of local recoding, by name in policies."""

RUNS = {"local-recoding": "sqlanon.methods.local.local_run:LocalRun"}
