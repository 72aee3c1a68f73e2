"""Local evaluation: computes the part of a query above small native results in this process, exactly as Hive does."""
