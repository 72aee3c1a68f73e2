"""The process that runs streams: `hivedruid streams run`."""
