"""The run of synthetic rows, by name in policies."""

RUNS = {"synthetic": "sqlanon.methods.synthetic.synthetic_run:SyntheticRun"}
