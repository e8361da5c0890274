"""The page of a sweep of any task: what is left when nothing is about anchors."""
