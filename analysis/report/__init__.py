"""One HTML page about a run: collect.py gathers the facts, page.py renders them."""
