"""The run of top-down specialization, by its name in policies."""

RUNS = {"top-down-specialization": "sqlanon.methods.top_down.top_down_run:TopDownRun"}
