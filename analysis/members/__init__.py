"""Which members of a sweep to look at, and one of them to look into."""
