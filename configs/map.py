"""When does a small initialization end inferential, and when symmetric?

Beyond the paper, which varies gamma, depth, learning rate and weight decay alone.
Sequences of 4 tokens, width 64; one preset for everything else that turned out to
matter. For the results see RESULTS.md, "The map".

  python launch/sweep.py --config configs/map.py:PRESET
  python analysis/solutions.py --run runs/map_PRESET

Each preset takes 2 to 7 minutes on 2 otherwise idle cores.

preset     what it varies                       gamma, rate, weight decay, seeds
baseline   the whole range of gamma             0.3 to 1.8, 2e-3, 0.1, 2
code       the official split, x mod seq_len    0.6 to 1.5, two rates, 0.3 and 1, 1
decay      more weight decay, a higher rate     0.3 to 1.5, two rates, 0.3, 1
batch      batch 512 instead of 256             0.6 to 1.8, two rates, 0.3, 1
short      batch 512, 2,400 steps               0.6 and 1.5, two rates, 0.3, 2
seeds      batch 512, other seeds               1.35 to 1.65, 4e-3, 0.3, 2
position   held-out keys depend on position     0.6 to 1.5, two rates, 0.3, 2
position_batch   the same, batch 512            1.35 and 1.5, two rates, 0.3, 2
keys       as position, 40 keys instead of 80   0.6 to 1.5, two rates, 0.3, 2
eps        as position, Adam eps 1e-4 and 1e-3  0.6 to 1.5, 3e-3, 0.3, 2
width      as position_batch, width 32          0.6 to 2, 3e-3, 0.3, 2
           and 8,000 steps
"""

import ml_collections

from anchorjax import config

ConfigDict = ml_collections.ConfigDict


def get_config(preset: str = 'baseline') -> ConfigDict:
    """The config of a preset; '' is the baseline."""
    preset = preset or 'baseline'
    if preset not in PRESETS:
        raise config.ConfigError(f'preset {preset!r}: must be one of {tuple(PRESETS)}')
    c = config.default()
    c.name = f'map_{preset}'
    c.task.seq_len = 4
    c.task.split = 'random'
    c.model.width = c.model.head_dim = 64
    c.model.mlp_dim = 192
    c.train.batch_size = 256
    c.train.eval_every = 250
    c.optimizer.floor = 0.0
    _set_steps(c, 4_000)
    gammas, rates, decays, num_seeds, change = PRESETS[preset]
    c.grid.gamma = gammas
    c.grid.learning_rate = rates
    c.grid.weight_decay = decays
    c.grid.seed = tuple(range(num_seeds))
    change(c)
    return c


def _set_steps(c: ConfigDict, num_steps: int) -> None:
    c.train.num_steps = num_steps
    c.optimizer.warmup_steps = num_steps // 10


def _code(c: ConfigDict) -> None:
    c.task.split = 'code'
    _set_steps(c, 3_000)


def _batch(c: ConfigDict) -> None:
    c.train.batch_size = 512


def _short(c: ConfigDict) -> None:
    _batch(c)
    _set_steps(c, 2_400)


def _seeds(c: ConfigDict) -> None:
    _batch(c)
    c.grid.seed = (1, 2)


def _position(c: ConfigDict) -> None:
    c.task.split = 'random_position'


def _position_batch(c: ConfigDict) -> None:
    _position(c)
    _batch(c)


def _keys(c: ConfigDict) -> None:
    _position(c)
    c.task.keys = (20, 60)
    _set_steps(c, 3_000)


def _eps(c: ConfigDict) -> None:
    _position(c)
    _set_steps(c, 3_000)
    c.loop = (('optimizer.eps', (1e-4, 1e-3)),)


def _width(c: ConfigDict) -> None:
    _position_batch(c)
    c.model.width = c.model.head_dim = 32
    c.model.mlp_dim = 96
    _set_steps(c, 8_000)


def _none(c: ConfigDict) -> None:
    pass


# gamma, learning rate, weight decay, number of seeds, what else changes
PRESETS = {
    'baseline': ((0.3, 0.6, 0.9, 1.2, 1.5, 1.8), (2e-3,), (0.1,), 2, _none),
    'code': ((0.6, 1.2, 1.5), (2e-3, 4e-3), (0.3, 1.0), 1, _code),
    'decay': ((0.3, 0.6, 1.2, 1.5), (2e-3, 4e-3), (0.3,), 1, _none),
    'batch': ((0.6, 1.2, 1.5, 1.8), (2e-3, 4e-3), (0.3,), 1, _batch),
    'short': ((0.6, 1.5), (4e-3, 6e-3), (0.3,), 2, _short),
    'seeds': ((1.35, 1.5, 1.65), (4e-3,), (0.3,), 2, _seeds),
    'position': ((0.6, 1.2, 1.5), (2e-3, 3e-3), (0.3,), 2, _position),
    'position_batch': ((1.35, 1.5), (3e-3, 4e-3), (0.3,), 2, _position_batch),
    'keys': ((0.6, 1.2, 1.5), (2e-3, 3e-3), (0.3,), 2, _keys),
    'eps': ((0.6, 0.9, 1.2, 1.5), (3e-3,), (0.3,), 2, _eps),
    'width': ((0.6, 1.2, 1.6, 2.0), (3e-3,), (0.3,), 2, _width),
}
