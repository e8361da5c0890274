"""P1, "Initialization is Critical": the figures of the anchor task."""
