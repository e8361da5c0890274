"""Figures from a sweep on disk: compute(...) -> Result (arrays), draw(result, axes)."""
