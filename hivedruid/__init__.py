"""hivedruid: Hive's Druid, Kafka and ORC SQL without Hive."""

__version__ = "0.1.0"
