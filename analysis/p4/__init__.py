"""P4, "Critical Windows of Complexity Control": when must weight decay act?"""

from analysis.papers import Paper

_WINDOWS = ('decay_windows', 'decay_grid', 'decay_complexity', 'start_or_end')
PAPER = Paper(
    title='P4',
    name='Critical Windows of Complexity Control',
    arxiv='2605.04396',
    figures={'anchor_permutations': _WINDOWS, 'modular_addition': _WINDOWS, 'scan': ()},
)
