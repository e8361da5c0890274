"""What figures and claims about real tasks share: addition, SCAN, COGS, PrOntoQA."""
