"""Vectors inside a network: where they are read, their order, their neighbours."""
