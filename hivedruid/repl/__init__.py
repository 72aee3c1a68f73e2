"""The prompt: multi-line input, history, colours and completion on top of a session."""
