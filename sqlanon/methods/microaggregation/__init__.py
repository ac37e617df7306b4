"""The run of microaggregation, by its name in policies."""

RUNS = {"microaggregation": "sqlanon.methods.microaggregation.microaggregation_run:MicroaggregationRun"}
