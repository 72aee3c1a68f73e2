"""Services over the network, a module each: the only importers of requests and of kafka-python."""
