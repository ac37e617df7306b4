"""Rows on a server of Spark Connect, which are counted and released there."""

OFFERS = {"rows": {"spark": "sqlanon.spark.spark_rows:SparkRows"}}
