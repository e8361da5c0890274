"""The law: what moves a network from memorizing to a rule, and to which rule?

Beyond the paper: a designed experiment over the factors in which small networks and the
paper's differ. Every preset is one cell of the design and trains all its gammas.

  python launch/sweep.py --config configs/law.py:lead
  python analysis/law.py --runs 'runs/law_*'

preset      what it is                                        gamma       seeds  cost
lead        nine tokens, official split, (3, 4) trained on    0.4 to 1.2  5      2 h
            its exception, batch 2048, rate 1e-3, decay 0.1
twin        the same with batch 512                           0.4 to 1.2  5      30 min
screen_00   a cell of the screening design, of 16: see        0.6, 1.2    3      5 to
 to _15     FACTORS and `factors_of`                                             60 min

The screening design takes 16 of the 256 combinations of eight factors with two levels
each. Its resolution is IV: no main effect is confounded with an interaction of two
factors. Costs are of 2 cores; what comes out is the question itself.
"""

import itertools

import ml_collections

from anchorjax import config

ConfigDict = ml_collections.ConfigDict
_STEPS = 8_000
# Levels of every factor: those of short, easily trained networks, then the paper's
# direction.
FACTORS = {
    'seq_len': (5, 9),
    'exception': (False, True),  # (3, 4) is trained as x - 6, or is unseen like (4, 3)
    'batch_size': (512, 2048),
    'weight_decay': (0.01, 0.1),
    'split': ('random', 'code'),
    'learning_rate': (1e-3, 2e-3),
    'anchors': (4, 6),
    'width': (64, 128),
}
LEAD = {
    'seq_len': 9,
    'exception': True,
    'batch_size': 2048,
    'weight_decay': 0.1,
    'split': 'code',
    'learning_rate': 1e-3,
    'anchors': 4,
    'width': 64,
}
_SHIFTS = (5, 1, -2, -8, 3, -4)  # the paper's four, and two more


def get_config(preset: str = 'lead') -> ConfigDict:
    """The config of a cell."""
    if preset not in PRESETS:
        raise config.ConfigError(f'preset {preset!r}: must be one of {tuple(PRESETS)}')
    factors = PRESETS[preset]
    c = config.default(task='anchors', model='transformer')
    c.name = f'law_{preset}'
    set_factors(c, **factors)
    c.train.num_steps = _STEPS
    c.train.eval_every = 500
    c.optimizer.warmup_steps = _STEPS // 10
    c.optimizer.floor = 0.0
    if preset.startswith('screen'):
        c.grid.gamma = (0.6, 1.2)
        c.grid.seed = (0, 1, 2)
    else:
        c.grid.gamma = (0.6, 1.0, 0.8, 1.2, 0.4)  # in the order of training
        c.grid.seed = (0, 1, 2, 3, 4)
    return c


def set_factors(
    c: ConfigDict,
    seq_len: int,
    exception: bool,
    batch_size: int,
    weight_decay: float,
    split: str,
    learning_rate: float,
    anchors: int,
    width: int,
) -> None:
    """Writes one level of every factor into a config."""
    c.task.seq_len = seq_len
    c.task.split = split
    c.task.anchors = tuple(range(1, anchors + 1))
    c.task.shifts = _SHIFTS[:anchors]
    if not exception:
        c.task.noninferential = ()
        c.task.unseen = ((4, 3), (3, 4))
    c.model.width = c.model.head_dim = width
    c.model.mlp_dim = 3 * width
    c.train.batch_size = batch_size
    c.grid.learning_rate = (learning_rate,)
    c.grid.weight_decay = (weight_decay,)


def factors_of(run: int) -> dict[str, object]:
    """The factors of a cell of the screening design.

    The levels of the first four factors are the digits of the number of the cell; each
    of the others is the product of three of them (Box and Hunter 1961).
    """
    corners = list(itertools.product((0, 1), repeat=4))
    length, exception, batch, decay = corners[run]
    split = (length + exception + batch) % 2
    rate = (length + exception + decay) % 2
    anchors = (length + batch + decay) % 2
    width = (exception + batch + decay) % 2
    levels = (length, exception, batch, decay, split, rate, anchors, width)
    factors = {}
    for (name, values), level in zip(FACTORS.items(), levels, strict=True):
        factors[name] = values[level]
    return factors


PRESETS = {'lead': LEAD, 'twin': LEAD | {'batch_size': 512}}
PRESETS |= {f'screen_{run:02}': factors_of(run) for run in range(16)}
