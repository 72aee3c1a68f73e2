"""Durable operations: work that the catalog records, so that any process can finish or undo it."""
