"""Causal tests: what a network answers when attention is cut or a state is replaced."""
