"""The run of h-ceiling, by name in policies."""

RUNS = {"h-ceiling": "sqlanon.methods.h_ceiling.h_ceiling_run:HCeilingRun"}
