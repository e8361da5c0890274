"""Vectors inside a network: how to read them, their order, their groups."""
