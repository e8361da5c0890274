"""The networks that answer in the page: which ones, their weights, their task."""
