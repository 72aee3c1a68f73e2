"""The commands beside `sql` and `test`, a module each; `cli` loads the one that is asked for."""
