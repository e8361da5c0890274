"""The weights of the authors' own code, in and out."""
