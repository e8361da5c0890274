"""Training: pure steps, and many members that take them side by side."""
