"""Jobs that write to Druid: what is staged, what is handed over, and what is remembered of it. Pure but for the catalog."""
