"""Data sets as files: official ones, and corpora tokenized for training."""
