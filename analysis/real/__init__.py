"""What figures and claims about real tasks share: addition, SCAN, COGS, PrOntoQA.

Shape suffixes that differ from those of the package: here G is a group of questions
(a case, a region), K a baseline or a measured share, L a token of a whole text, C a
combination of gamma and decay.
"""
