"""P2, "Reasoning Bias": does a small start learn reasoning before memory?"""
