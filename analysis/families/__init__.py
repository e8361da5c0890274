"""The claims about the families of experiments on the anchor task."""
