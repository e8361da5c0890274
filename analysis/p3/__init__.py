"""P3, "Complexity Control": weight decay, γ and complexity."""

from analysis.papers import Paper

PAPER = Paper(
    title='P3',
    name='Complexity Control Facilitates Reasoning-Based Compositional Generalization '
    'in Transformers',
    arxiv='2501.08537',
    figures={'anchors': ()},
)
