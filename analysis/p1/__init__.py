"""P1, "Initialization is Critical": the figures of the anchor task."""

from analysis.papers import Paper

PAPER = Paper(
    title='P1',
    name='Initialization is Critical to Whether Transformers Fit Composite Functions '
    'by Reasoning or Memorizing',
    arxiv='2405.05409',
    figures={'anchors': ()},  # report/figures.py: they need an unseen pair
)
