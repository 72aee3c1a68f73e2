"""Ingestion from Kafka: what is known of it, what is wrong with it, and what its verbs come down to. Pure values."""
