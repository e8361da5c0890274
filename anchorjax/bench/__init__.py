"""Measurements of speed and scale; `python launch/bench.py` prints them."""
