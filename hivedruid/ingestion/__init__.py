"""Ingestion from Kafka: its state, its problems, and the steps of each verb. Pure values."""
