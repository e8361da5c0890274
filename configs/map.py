"""When does small initialization give inferential, and when symmetric, solutions?

Beyond the paper, which varies gamma, depth, learning rate and weight decay alone: sequences of 4
tokens at width 64, one preset for everything else that turned out to matter. RESULTS.md, "The
map", has what each ended at and what they say together.

  python launch/sweep.py --config configs/map.py:PRESET     (2 to 7 minutes each on 2 quiet cores)
  python analysis/solutions.py --run runs/map_PRESET

preset     what it asks                            gamma, learning rate, weight decay, seeds
baseline   the whole range of gamma                0.3 to 1.8, 2e-3, 0.1, 2
code       the official split by x mod seq_len     0.6 to 1.5, two rates, 0.3 and 1, 1
decay      more weight decay, a higher rate        0.3 to 1.5, two rates, 0.3, 1
batch      batch 512 instead of 256                0.6 to 1.8, two rates, 0.3, 1
short      batch 512, 2,400 steps                  0.6 and 1.5, two rates, 0.3, 2
seeds      batch 512, other seeds                  1.35 to 1.65, 4e-3, 0.3, 2
position   other held-out keys at every position   0.6 to 1.5, two rates, 0.3, 2
position_batch   the same, batch 512               1.35 and 1.5, two rates, 0.3, 2
keys       40 keys instead of 80                   0.6 to 1.5, two rates, 0.3, 2
eps        Adam's eps 1e-4 and 1e-3                0.6 to 1.5, 3e-3, 0.3, 2
width      width 32, batch 512, 8,000 steps        0.6 to 2, 3e-3, 0.3, 2
"""

from anchorjax import config


def get_config(preset: str = 'baseline'):
    preset = preset or 'baseline'
    if preset not in PRESETS:
        raise config.ConfigError(f'preset {preset!r}: must be one of {tuple(PRESETS)}')
    c = config.default()
    c.name = f'map_{preset}'
    c.task.seq_len, c.task.split = 4, 'random'
    c.model.width = c.model.head_dim = 64
    c.model.mlp_dim = 192
    c.train.batch_size, c.train.eval_every = 256, 250
    c.optimizer.floor = 0.0
    _steps(c, 4_000)
    gammas, rates, decays, num_seeds, change = PRESETS[preset]
    c.grid.gamma, c.grid.learning_rate, c.grid.weight_decay = gammas, rates, decays
    c.grid.seed = tuple(range(num_seeds))
    change(c)
    return c


def _steps(c, num_steps: int):
    c.train.num_steps, c.optimizer.warmup_steps = num_steps, num_steps // 10


def _code(c):
    c.task.split = 'code'
    _steps(c, 3_000)


def _batch(c):
    c.train.batch_size = 512


def _short(c):
    _batch(c)
    _steps(c, 2_400)


def _seeds(c):
    _batch(c)
    c.grid.seed = (1, 2)


def _position(c):
    c.task.split = 'random_position'


def _position_batch(c):
    _position(c)
    _batch(c)


def _keys(c):
    _position(c)
    c.task.keys = (20, 60)
    _steps(c, 3_000)


def _eps(c):
    _position(c)
    _steps(c, 3_000)
    c.loop = (('optimizer.eps', (1e-4, 1e-3)),)


def _width(c):
    _position_batch(c)
    c.model.width = c.model.head_dim = 32
    c.model.mlp_dim = 96
    _steps(c, 8_000)


def _none(c):
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
