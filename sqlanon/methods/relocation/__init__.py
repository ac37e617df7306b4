"""The run of relocation, by name in policies."""

RUNS = {"relocation": "sqlanon.methods.relocation.relocation_run:RelocationRun"}
