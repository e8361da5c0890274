"""Our speed beside that of others; `python launch/bench.py` prints it."""
