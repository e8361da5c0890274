"""P3, "Complexity Control": weight decay, γ and complexity."""
