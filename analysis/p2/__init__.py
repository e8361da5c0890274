"""P2, "Reasoning Bias": does a small start learn reasoning before memory?"""

from analysis.papers import Paper

_ORDER = ('learning_order', 'anchor_cosines', 'embedding_pca', 'label_law')
_SOURCES = ('reasoning_bias', 'token_cosines')
PAPER = Paper(
    title='P2',
    name='An Analysis for Reasoning Bias of Language Models with Small Initialization',
    arxiv='2502.04375',
    figures={'memory_reasoning': _ORDER, 'mixture': _SOURCES},
)
