"""The weights of the authors' own PyTorch code, read from their files."""
