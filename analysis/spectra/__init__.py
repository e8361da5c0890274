"""How few directions a matrix uses."""
