"""Tables of what runs show: the folders that they read, and how they are written."""
