"""Loads of staged rows into Druid, as values for the engines. Pure."""
