"""The runs of DiffGen and top-down specialization, by name in policies."""

RUNS = {
    "diffgen": "sqlanon.methods.cuts.diffgen.diffgen_run:DiffGenRun",
    "top-down-specialization": "sqlanon.methods.cuts.top_down.top_down_run:TopDownRun",
}
