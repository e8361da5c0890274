"""Causal tests: edges of attention are cut, or activations replaced."""
