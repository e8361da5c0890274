"""Does a network generalize by structure? COGS, 21 cases (P1 Fig 6 b, c).

  python launch/data.py cogs --out data/cogs --source public
  python launch/sweep.py --config configs/cogs.py[:preset]

preset     reproduces            what differs from the paper        members
(default)  500 and 1,000 rows,   cogs-like: rows of our own; a      2 sizes x 4 corners
           cogs-like             small transformer, a token a word
laptop     500 to 5,000 rows     the official rows, in data/cogs;   3 sizes x 4 corners
                                 else as the default                x 3 seeds
full       all 24,155 rows       the same                           4 corners x 3 seeds

The probe `seen_heldout` holds in-distribution sentences, `gen` the 21 cases, whose
agreement is in the results by case. Texts of more than 128 tokens are cut: 0.2 % of the
training rows, and a tenth of the cases, the deep recursions, which then count as wrong.
None of these has been run.
"""

import ml_collections

from anchorjax import config

ConfigDict = ml_collections.ConfigDict


def get_config(preset: str = '') -> ConfigDict:
    """The config of a preset."""
    if preset not in PRESETS:
        raise config.ConfigError(f'preset {preset!r}: must be one of {tuple(PRESETS)}')
    c = config.default(task='cogs', model='transformer')
    c.name = f'cogs_{preset}' if preset else 'cogs'
    c.task.seq_len = 128
    c.task.probe_examples = 210
    c.model.norm = 'pre'
    c.model.activation = 'gelu'
    c.model.max_len = 128
    c.model.width = c.model.head_dim = 64
    c.model.mlp_dim = 256
    c.train.batch_size = 32
    config.set_length(c, 4_000, num_records=10)
    c.optimizer.floor = 0.0
    c.grid.gamma = (0.5, 0.7)
    c.grid.learning_rate = (1e-3,)
    c.grid.weight_decay = (0.01, 0.1)
    PRESETS[preset](c)
    return c


def _default(c: ConfigDict) -> None:
    c.grid.seed = (0,)
    c.loop = (('task.num_examples', (500, 1_000)),)


def _laptop(c: ConfigDict) -> None:
    c.task.path = 'data/cogs'
    c.grid.seed = (0, 1, 2)
    c.loop = (('task.num_examples', (500, 1_000, 5_000)),)


def _full(c: ConfigDict) -> None:
    c.task.path = 'data/cogs'
    c.grid.seed = (0, 1, 2)


PRESETS = {'': _default, 'laptop': _laptop, 'full': _full}
