"""Data sets as files: fetched where they are public, or written by our own rules."""
