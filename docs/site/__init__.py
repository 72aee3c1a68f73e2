"""Builds the pages of the documentation that are generated, for mkdocs (`mkdocs.yml`)."""
