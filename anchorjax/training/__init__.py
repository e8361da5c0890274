"""Training: pure steps, and the members of a grid that take them side by side."""
