"""P4: when must weight decay act? What its figures and claims share."""
