"""How far a network moved, and when."""
