"""What a run says about each claim: number, null, and the rule of the verdict."""
