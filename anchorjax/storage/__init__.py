"""The files of a sweep: written whole, checked when read."""
