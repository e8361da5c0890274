"""Sweeps at the paper's own size, for a GPU (analysis/gallery/log/costs.md).

  python launch/sweep.py --config configs/paper_size.py:pair      # or another preset

preset    what                                                  networks
pair      P1's pair of gamma, rate 2e-4, nine seeds, 30 epochs  18: 6 minutes on an H100
paper_30  Fig 2 at depth 2, 30 of 210 epochs (phase.py)         54: not run; 17 minutes
full      gamma 0.5 and 0.8, rate 2e-4, all 210 epochs          2 (PAPERS 1.7)
depths    gamma 0.5 and 0.8 at depth 3 to 6, 30 epochs          8

With the cosine schedule, which is the published one. The rate 2e-4 is that of the
official runs (PAPERS 1.7); P1's text has 2.5e-4. Products are TF32: on a GPU that is
several times faster than float32. Which precision the official runs had is not known.
"""

import pathlib

from anchorjax import config
from anchorjax.config import ConfigDict

PRESETS = ('pair', 'paper_30', 'full', 'depths')
_PHASE = pathlib.Path(__file__).with_name('phase.py')


def get_config(preset: str) -> ConfigDict:
    """The config of a preset; there is no default."""
    config.require_preset(preset, PRESETS)
    c = config.load(f'{_PHASE}:paper_30')
    c.name = f'paper_size_{preset}'
    c.train.precision = 'tensorfloat32'
    c.train.snapshot_steps = ()
    c.train.resume_every = 120.0
    c.train.lanes = 9  # the rates and seeds of one gamma
    c.optimizer.shape = 'warmup_cosine'
    c.static_axes = ()
    if preset == 'pair':
        _select_two(c)
        c.grid.gamma = (0.8, 0.5)  # trained first: the one whose seeds differ
        c.grid.seed = tuple(range(301, 310))
    if preset == 'full':
        _select_two(c)
        c.train.num_steps = 210 * config.P1_EPOCH
        c.train.lanes = 1  # a chunk takes hours, and one state is easily taken along
    if preset == 'depths':
        _select_two(c)
        c.train.lanes = 2
        c.static_axes = (('model.depth', (3, 4, 5, 6)),)
    return c


def _select_two(c: ConfigDict) -> None:
    """The two members of which the official runs are known (PAPERS 1.7)."""
    c.grid.gamma = (0.5, 0.8)
    c.grid.learning_rate = (2e-4,)
    c.grid.weight_decay = (0.01,)
    c.grid.seed = (1,)
