"""What P1 says of the levels of a solution, and of GPT-2 (PAPERS 1.1, 1.4).

All rows are exploratory: three to five seeds, most of them of an initialization that is
not P1's, and γ 1.3 has not learned its data in the steps of `configs/levels.py`. The
levels are those of four anchors, as in P1; its slides say nothing of more.
"""

from functools import partial

import numpy as np
import pandas as pd

from analysis.claims import Claim, Group, at_gamma, difference, level
from analysis.members.selection import require_task
from analysis.p1 import levels
from anchorjax.storage.reader import Run
from anchorjax.tasks.anchors import AnchorsConfig

KNOWN = 0.9  # of the trained questions: the data are learned
WIDTH = 64  # of all networks here
COLUMNS = (*levels.LINES, 'heldout_when_known')


def add_levels(run: Run, members: pd.DataFrame) -> pd.DataFrame:
    """The members with what each level explains of their answers at the end.

    COLUMNS, their nulls and `num_train`; the members as they are if the sweep has no
    snapshots between start and end, or no unseen pair.

    Args:
      members: rows of `Run.members`, by their place in the sweep.
    """
    task = require_task(run.experiment.task, AnchorsConfig)
    if len(run.experiment.train.snapshot_steps) < 3 or not task.unseen_pairs:
        return members
    answers = levels.compute(run)
    last = answers[answers.step == answers.step.max()]
    nulls = [name for name in last if name.startswith('null_')]
    ends = last[[*levels.LINES, *nulls, 'num_train']]
    known = answers.groupby(level=0).apply(read_when_known)
    return members.join(ends).assign(heldout_when_known=known)


def read_when_known(answers: pd.DataFrame) -> float:
    """The share of held-out answers that are functions when KNOWN of the data are.

    On the line through the snapshots before and after; NaN: the data are never known.
    """
    trained = answers.trained_as_data.to_numpy()
    is_known = trained >= KNOWN
    if not is_known.any():
        return np.nan
    first = is_known.argmax()
    around = slice(max(first - 1, 0), first + 1)
    heldout = answers.heldout_as_function.to_numpy()
    return float(np.interp(KNOWN, trained[around], heldout[around]))


at = partial(at_gamma, width=WIDTH)
FOUR_ANCHORS = {'num_anchors': 4}
SMALL = at(1.0, **FOUR_ANCHORS)
LARGE = at(0.2, **FOUR_ANCHORS)
FEWEST = Group('400 examples', {'gamma': 1.3, 'num_examples': 400})
MOST = Group('40,000 examples', {'gamma': 1.3, 'num_examples': 40_000})

FAMILIES = (
    Claim(
        'p1.sec05.w64_d2.composed',
        'P1 Sec 5',
        'Small initialization: composed anchors explain the answers to unseen pairs.',
        ('law_anchors',),
        level('unseen_as_composed', SMALL),
    ),
    Claim(
        'p1.sec05.w64_d2.symmetric',
        'P1 Sec 5',
        'Large initialization: one function an unordered pair explains them.',
        ('law_anchors',),
        level('unseen_as_reverse', LARGE),
    ),
    Claim(
        'p1.slides.w64_d2.heldout_large',
        'P1 slides',
        'Large initialization: from memory to inference; few held-out answers are '
        'functions of the pair when 0.9 of the data are known.',
        ('law_anchors',),
        level('heldout_when_known', LARGE),
    ),
    Claim(
        'p1.slides.w64_d2.heldout_small',
        'P1 slides',
        'Small initialization: inference at once; most held-out answers are functions '
        'of the pair when 0.9 of the data are known.',
        ('law_anchors',),
        level('heldout_when_known', SMALL),
    ),
    Claim(
        'p1.slides.w64_d2.examples',
        'P1 slides',
        'Small initialization: more training examples turn memory into functions; more '
        'held-out answers are functions of the pair.',
        ('levels',),
        difference('heldout_as_function', MOST, FEWEST),
    ),
    Claim(
        'p1.slides.w64_d2.gamma',
        'P1 slides',
        'A small initialization needs fewer examples for it; over all numbers of '
        'examples more held-out answers are functions of the pair.',
        ('levels',),
        difference('heldout_as_function', at(1.3), at(0.3)),
    ),
    Claim(
        'p1.fig02c.w64_pre.composed',
        'P1 Fig 2 (c)',
        'GPT-2-like networks with pre-norm compose more at a small initialization.',
        ('gpt2_range',),
        difference('unseen_composed', at(1.1, norm='pre'), at(0.7, norm='pre')),
    ),
    Claim(
        'p1.fig02c.w64_post.composed',
        'P1 Fig 2 (c)',
        'GPT-2-like networks with post-norm compose more at a small initialization.',
        ('gpt2_range',),
        difference('unseen_composed', at(1.1, norm='post'), at(0.7, norm='post')),
    ),
)
