"""P2, "Reasoning Bias": does a small start learn sums before facts?"""
