"""What gradient flow predicts of networks that start small (P2; PAPERS 2.4)."""
