"""Segment files from Arrow tables: `write_segment`."""
