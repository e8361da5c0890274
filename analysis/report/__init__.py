"""One HTML page about a run: write.py gathers the facts, page.py renders them."""
