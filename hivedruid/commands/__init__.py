"""The commands other than `sql` and `test`, one module each; `cli` loads them on demand."""
