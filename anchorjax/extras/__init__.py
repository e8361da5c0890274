"""Tools around the library, each on packages of its own; only commands import them."""
