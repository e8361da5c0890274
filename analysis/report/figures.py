"""Which figures a page has: their names, in the sections that fold them.

What a figure says and needs is in its own module (analysis/figure.py); which ones a
task has besides those here, in the record of its paper.
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
    Section('Mechanisms of all networks', ('mechanisms',)),
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
# Figures of a sweep that follow one network: the first of those that are shown.
FOLLOWING = ('eigenvalues',)
# Cheaper than what the command of the figure takes.
OPTIONS = {'tsne': {'map_number': 500}}
