"""What a sweep of a real task says about a claim, by what the claim is about."""
