"""Local evaluation: what is left of a query above small native results is computed in this process, exactly as Hive does."""
