"""The members of a sweep: which of them to analyze, and how to open one."""
