"""Rows on a Spark Connect server, which counts and releases them."""

OFFERS = {"rows": {"spark": "sqlanon.spark.spark_rows:SparkRows"}}
