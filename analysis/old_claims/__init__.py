"""Claims about runs: what one can come to, by which rule, and the tables of them."""
