"""How a figure's numbers decide a claim. The limits are ours: the papers have none."""
