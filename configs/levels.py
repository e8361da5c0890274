"""From memory to inference: over training, and over the number of training examples.

  python launch/sweep.py --config configs/levels.py[:preset]
  python -m analysis levels --run runs/levels

preset     reproduces       what differs from the paper                cost on 2 cores
(default)  P1 Sec 5 and     4 tokens, width 64, 1,500 steps; 1 % to    4 minutes
           its slides       100 % of 40,000 nominal examples
paper      the same         P1 varies no number of examples: 1 % to    30 networks: a
                            100 % of its own                           GPU

The smallest data set asks 303 of the 2,160 questions (pair, position and key) that can
be trained; P1's 900,000 hold every question many times, with other noise. Any sweep of
the anchor task with snapshots can be read as well, e.g. that of configs/law.py:anchors.
The default has d_k = d, where P1 has d / 2, and a rate that starts and ends at 0.
"""

from anchorjax import config
from anchorjax.config import ConfigDict


def get_config(preset: str = '') -> ConfigDict:
    c = config.begin('levels', preset, PRESETS, task='anchors')
    PRESETS[preset](c)
    return c


def _default(c: ConfigDict) -> None:
    config.set_small_anchors(c)
    config.set_length(c, num_steps=1_500, num_records=10)
    c.train.snapshot_steps = (0, 50, 100, 200, 300, 400, 600, 800, 1_000, 1_250)
    c.grid.gamma = (0.3, 1.3)
    c.grid.learning_rate = (4e-3,)
    c.grid.weight_decay = (0.1,)
    c.grid.seed = (0, 1, 2)
    c.static_axes = (('task.num_examples', (400, 1_200, 4_000, 12_000, 40_000)),)


def _paper(c: ConfigDict) -> None:
    """P1's data and model; every size is trained for as many steps."""
    epochs = (0, 1, 3, 10, 30, 100)
    c.train.snapshot_steps = tuple(epoch * config.P1_EPOCH for epoch in epochs)
    c.grid.gamma = (0.5, 0.8)
    c.grid.seed = (1, 2, 3)
    sizes = (9_000, 30_000, 90_000, 300_000, 900_000)
    c.static_axes = (('task.num_examples', sizes),)


PRESETS = {'': _default, 'paper': _paper}
