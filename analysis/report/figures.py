"""Which figures the page of a task has: their names, in the sections that fold them.

What a figure says and needs is in its own module (analysis/figure.py). A new figure of
a page is a name here.
"""

from types import MappingProxyType
from typing import NamedTuple

from analysis.members.point import Point


class Section(NamedTuple):
    """Figures that are opened together: of a sweep, or of one of its networks."""

    title: str
    names: tuple[str, ...]
    about: str = ''  # a sentence about the network
    point: Point = MappingProxyType({})  # of the network
    suffix: str = ''  # of the names of their files


# Of a sweep of anchors with an unseen pair, and of each network that stands for a
# solution there.
ANCHORS = (
    Section('Answers of all networks', ('answers', 'phase', 'complexity', 'lazy')),
    Section('Mechanisms of all networks', ('mechanisms', 'pair_order')),
    Section(
        'Weights of all networks',
        ('eigenvalues', 'condensation_grid', 'embedding_grid'),
    ),
)
ANCHORS_MEMBER = (
    'attention_flow',
    'causal',
    'tsne',
    'cosine',
    'condensation',
    'embedding',
    'curves',
)
# Of a sweep of any other task, of single tasks, and of the best and worst network.
ANY = ('accuracy', 'condensation_grid')
MEMBER = ('curves',)
_TEXT = ('generalization',)
_WINDOWS = ('decay_windows', 'decay_grid', 'decay_complexity', 'start_or_end')
OF_TASK = {
    'addition': _TEXT,
    'cogs': _TEXT,
    'prontoqa': _TEXT,
    'scan': _TEXT,
    'anchor_permutations': _WINDOWS,
    'modular_addition': _WINDOWS,
    'mixture': ('reasoning_bias',),
    'memory_reasoning': (
        'learning_order',
        'anchor_cosines',
        'embedding_pca',
        'label_law',
    ),
}
# A figure that compares needs several values of one of these axes.
VARYING = {
    'decay_windows': ('decay_window',),
    'decay_grid': ('gamma', 'weight_decay'),
    'decay_complexity': ('gamma', 'weight_decay', 'decay_window'),
    'start_or_end': ('decay_window',),
}
# Figures of a sweep that follow one network: the first of those that are shown.
FOLLOWING = ('eigenvalues',)
# Cheaper than what the command of the figure takes.
OPTIONS = {'tsne': {'map_number': 1_000}}
