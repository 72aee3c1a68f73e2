"""Streams as values: their properties, their position in the target table, and the records of a batch."""
