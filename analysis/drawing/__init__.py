"""How figures look, and the command lines that draw them."""
