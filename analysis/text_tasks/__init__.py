"""P1's tasks whose answers are texts: addition, SCAN, COGS and PrOntoQA (PAPERS 1.6).

Axes of arrays besides those of the package: L is a token of a whole text.
"""

from analysis.papers import Paper

_TASKS = ('addition', 'cogs', 'prontoqa', 'scan')
PAPER = Paper("P1's text tasks", figures=dict.fromkeys(_TASKS, ('generalization',)))
