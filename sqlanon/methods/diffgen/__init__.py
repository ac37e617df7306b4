"""The run of DiffGen, by its name in policies."""

RUNS = {"diffgen": "sqlanon.methods.diffgen.diffgen_run:DiffGenRun"}
