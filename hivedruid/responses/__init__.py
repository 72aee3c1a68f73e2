"""Responses of native queries, as rows and as Arrow record batches. Spark's executors get this package: it imports no
client library."""
