"""How a figure's numbers decide a claim of P2. The limits are ours: P2 has none."""
