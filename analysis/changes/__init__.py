"""How far a network has moved in training, and when."""
