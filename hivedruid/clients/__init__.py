"""Clients of network services: the only modules that import requests and kafka-python."""
