"""When does small initialization give inferential, and when symmetric, solutions?

One thing is changed at a time around the default preset of configs/phase.py (4 tokens, depth 2),
at a middle and a large gamma and three seeds. This goes beyond the paper, which varies gamma,
depth, learning rate and weight decay alone. RESULTS.md has the tables and what they say.

  python launch/sweep.py --config configs/map.py:PRESET     (5 to 20 minutes each on 2 cores)
  python analysis/solutions.py --run runs/map_PRESET

preset      what changes
seq_len     3, 4, 5 and 6 tokens (3 has no noise)
batch_size  128, 256 and 1024 sequences (512 is the default)
rates       learning rate x weight decay
schedule    warm-up then drop to the floor, and a constant rate (cosine is the default)
"""

from anchorjax import config


def get_config(preset: str = ''):
    if preset not in PRESETS:
        raise config.ConfigError(f'preset {preset!r}: must be one of {tuple(PRESETS)}')
    c = config.default()
    c.name = f'map_{preset}' if preset else 'map'
    c.task.seq_len, c.task.split = 4, 'random'
    c.model.width = c.model.head_dim = 64
    c.model.mlp_dim = 192
    c.train.batch_size, c.train.num_steps, c.train.eval_every = 512, 2_400, 200
    c.optimizer.warmup_steps, c.optimizer.floor = 240, 0.0
    c.grid.gamma = (0.6, 1.5)
    c.grid.learning_rate = (4e-3,)
    c.grid.weight_decay = (0.3,)
    c.grid.seed = (0, 1, 2)
    PRESETS[preset](c)
    return c


def _seq_len(c):
    c.loop = (('task.seq_len', (3, 4, 5, 6)),)


def _batch_size(c):
    c.loop = (('train.batch_size', (128, 256, 1024)),)


def _rates(c):
    c.grid.learning_rate, c.grid.weight_decay = (2e-3, 4e-3), (0.01, 0.3)


def _schedule(c):
    c.optimizer.floor = 4e-4
    c.loop = (('optimizer.shape', ('warmup_cosine', 'warmup_drop', 'constant')),)


PRESETS = {
    '': lambda c: None,
    'seq_len': _seq_len,
    'batch_size': _batch_size,
    'rates': _rates,
    'schedule': _schedule,
}
