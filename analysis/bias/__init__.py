"""P2: does a small start learn sums before facts? What its figures and claims share."""
