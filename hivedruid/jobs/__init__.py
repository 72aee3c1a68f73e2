"""Jobs that write to Druid: staged rows, loads, and their records. Pure except for the catalog."""
