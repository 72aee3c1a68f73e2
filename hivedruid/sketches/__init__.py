"""Sketches of Apache DataSketches: their kinds (`kinds`, pure) and what can be computed of their bytes (`library`)."""
