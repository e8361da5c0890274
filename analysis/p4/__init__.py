"""P4, "Critical Windows of Complexity Control": when must weight decay act?"""
