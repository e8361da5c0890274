"""Does a network compose commands? SCAN with turn left held out (P1 Fig 6 a).

  python launch/sweep.py --config configs/scan.py[:preset]

preset     reproduces            what differs from the paper        members
(default)  500 and 1,000 lines,  a small transformer, not GPT-2;    2 sizes x 4 corners
           turn left             a token a word; length, rate       of gamma and decay
laptop     500 to 10,000 lines,  as the default                     4 sizes x 4 corners
           turn left                                                x 3 seeds
jump       P4 E9: `jump` held    decay is constant, no windows; a   4 corners x 3
           out                   few lines are kept out             seeds

The paper compares gamma 0.5 and decay 0.01 with gamma 0.7 and decay 0.1: two changes at
once (PAPERS 1.6). The corners separate them. The probe `test` is the official one,
`seen_heldout` are commands of the split that are not in the training set. Accuracy is
exact match of the whole answer. None of these has been run.
"""

import ml_collections

from anchorjax import config

ConfigDict = ml_collections.ConfigDict


def get_config(preset: str = '') -> ConfigDict:
    """The config of a preset."""
    if preset not in PRESETS:
        raise config.ConfigError(f'preset {preset!r}: must be one of {tuple(PRESETS)}')
    c = config.default(task='scan', model='transformer')
    c.name = f'scan_{preset}' if preset else 'scan'
    c.task.probe_examples = 256
    c.model.norm = 'pre'
    c.model.activation = 'gelu'
    c.model.max_len = 59
    c.model.width = c.model.head_dim = 64
    c.model.mlp_dim = 256
    c.train.batch_size = 32
    c.optimizer.floor = 0.0
    c.grid.gamma = (0.5, 0.7)
    c.grid.learning_rate = (1e-3,)
    c.grid.weight_decay = (0.01, 0.1)
    c.loop = (('task.num_examples', (500, 1_000)),)
    config.set_length(c, 3_000, num_records=20)
    PRESETS[preset](c)
    return c


def _default(c: ConfigDict) -> None:
    c.grid.seed = (0,)


def _laptop(c: ConfigDict) -> None:
    c.grid.seed = (0, 1, 2)
    c.loop = (('task.num_examples', (500, 1_000, 5_000, 10_000)),)


def _jump(c: ConfigDict) -> None:
    """PAPERS, P4 E9; the windows of decay need a schedule of their own."""
    c.task.split = 'addprim_jump'
    c.task.num_examples = 14_000  # of 14,670
    c.model.width = 32
    c.model.head_dim = 16
    c.model.heads = 2
    c.model.mlp_dim = 128
    c.train.batch_size = 128
    c.grid.gamma = (0.5, 0.7)
    c.grid.learning_rate = (1e-4,)
    c.grid.weight_decay = (0.0, 5e-3)
    c.grid.seed = (0, 1, 2)
    c.loop = ()
    config.set_length(c, 12_000, num_records=20)


PRESETS = {'': _default, 'laptop': _laptop, 'jump': _jump}
