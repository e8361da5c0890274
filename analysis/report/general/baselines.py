"""What would be scored without generalizing, for the first screen."""

import numpy as np

from analysis.report.general.means import format_number
from analysis.report.general.shown import Shown
from analysis.report.pictures import Figure
from analysis.text_tasks import generalization

# In words, those of analysis/text_tasks/baselines.py that a reader understands alone.
NAMES = {
    'table': 'a table of the training data',
    'constant': 'always giving the most frequent answer',
    'recurrence': 'judging by how often words recur',
    'distance': 'judging by how far apart words are',
}


def describe_baselines(drawn: list[Figure], tested: Shown) -> str:
    """'For comparison: on “test” ... would score 0.02.'; '' for tasks without any."""
    scores = _find_scores(drawn, tested.measure.probe)
    parts = []
    for name, score in scores.items():
        if name in NAMES and not np.isnan(score):
            parts.append(f'{NAMES[name]} scores {format_number(score)}')
    if not parts:
        return ''
    return f'For comparison, on “{tested.label}”: {"; ".join(parts)}.'


def _find_scores(drawn: list[Figure], probe: str) -> dict[str, float]:
    """{baseline: mean over the members' own data}, of the figure that has them."""
    name = generalization.__name__.rpartition('.')[2]
    for figure in drawn:
        if figure.module == name and figure.result is not None:
            baselines = figure.result.baselines
            asked = baselines[baselines.probe == probe]
            return asked.groupby('baseline', sort=False).score.mean().to_dict()
    return {}
