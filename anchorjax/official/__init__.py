"""The weights of the authors' own PyTorch code: reading and writing their files."""
