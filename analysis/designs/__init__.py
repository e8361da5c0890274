"""The designed experiment: its factors, its cells, and what decides the solution."""
