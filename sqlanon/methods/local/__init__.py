"""The runs of local recoding and of Mondrian, by name in policies."""

RUNS = {
    "local-recoding": "sqlanon.methods.local.local_run:LocalRun",
    "mondrian": "sqlanon.methods.local.mondrian_run:MondrianRun",
}
