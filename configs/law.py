"""The law: what moves a network from memorizing to a rule, and to which rule?

Beyond the paper: a designed experiment over the factors in which small networks and the
paper's differ. A preset is one setting of the design (`anchors`: three) and trains all
its gammas; a cell is one gamma of a setting, with all its seeds.

  python launch/sweep.py --config configs/law.py:lead
  python -m analysis law --runs 'runs/law_*' --out runs/law

preset                   settings  what they ask                       cost of a setting
lead, twin               2         batch 2048 and 512 at nine tokens,  3 h, 50 min
                                   five gammas, five seeds
anchors                  3         4, 8 or 12 anchors at a large and   20 min together
                                   a small initialization, five seeds
square_r<rate>_d<decay>  12        does the batch act at nine tokens   9 to 70 min
  _<tokens>_<batch>                only? {5, 9} tokens x batch {512,
                                   2048} at three rates and decays
                                   (r1_d10: rate 1e-3, decay 0.10)
short_<exception>        16        all combinations of four factors    5 to 10 min
  _a<anchors>_r<rate>              that short sequences can answer:
  _d<decay>                        exception, number of anchors,
                                   rate (in 1e-3), decay (in percent)
wide_<exception>         6         six of the short settings with      16 min
  _a<anchors>_r4_d<decay>          width 128 for 64

All have d_k = d, where P1 has d / 2, and a rate that starts and ends at 0, where P1's
does at 1e-5.

Within the squares and within the short settings every factor is varied with the others
fixed, so each effect has matched pairs, and no interaction of two factors is confounded
with a third. Costs are of 2 cores. The results are in RESULTS.md, "When does a network
compose?".
"""

import itertools

from anchorjax import config
from anchorjax.config import ConfigDict

_STEPS = 8_000
_SHORT_STEPS = 6_000  # enough at four tokens
# Of the anchors: the paper's four, and more.
_SHIFTS = (5, 1, -2, -8, 3, -4, 7, -6, 9, -1, 2, -3)
LEAD = {
    'seq_len': 9,
    'split': 'code',
    'exception': 'trained',  # (3, 4) as x - 6; or it is as 'unseen' as (4, 3)
    'anchors': 4,
    'batch_size': 2048,
    'learning_rate': 1e-3,
    'weight_decay': 0.1,
    'width': 64,
}
_SHORT = LEAD | {'seq_len': 4, 'split': 'random', 'batch_size': 512}
# Of the squares, by the part of a preset's name that stands for them.
_RATES_AND_DECAYS = {
    'r1_d10': (1e-3, 0.1),
    'r2_d10': (2e-3, 0.1),
    'r1_d1': (1e-3, 0.01),
}


def get_config(preset: str) -> ConfigDict:
    """The config of a preset; there is no default."""
    config.require_preset(preset, PRESETS)
    c = config.default(task='anchors', model='transformer')
    c.name = f'law_{preset}'
    _set_factors(c, PRESETS[preset])
    is_short = preset.startswith(('short', 'wide')) or preset == 'anchors'
    c.train.num_steps = _SHORT_STEPS if is_short else _STEPS
    c.train.eval_every = 500
    c.optimizer.warmup_steps = c.train.num_steps // 10
    c.optimizer.floor = 0.0
    if preset in ('lead', 'twin'):
        c.grid.gamma = (0.6, 1.0, 0.8, 1.2, 0.4)  # in the order of training
        c.grid.seed = (0, 1, 2, 3, 4)
    elif preset == 'anchors':
        _compare_anchors(c)
    else:
        c.grid.gamma = (0.6, 1.0, 1.4)
        c.grid.seed = (0, 1, 2)
    return c


def _compare_anchors(c: ConfigDict) -> None:
    """Axes of its own: the number of anchors, and two initializations."""
    c.task.last_token = 'noise'
    c.grid.gamma = (0.2, 1.0)
    c.grid.seed = (10, 11, 12, 13, 14)
    c.train.snapshot_steps = (0, 250, 500, 1_000, 2_000, 4_000)
    c.static_axes = (('task.num_anchors', (4, 8, 12)),)


def _set_factors(c: ConfigDict, factors: dict) -> None:
    """Writes one level of every factor into a config."""
    for field in ('seq_len', 'split', 'exception'):
        c.task[field] = factors[field]
    c.task.shifts = _SHIFTS[: factors['anchors']]
    c.task.anchors = tuple(range(1, factors['anchors'] + 1))
    c.model.width = c.model.head_dim = factors['width']
    c.model.mlp_dim = 3 * factors['width']
    c.train.batch_size = factors['batch_size']
    c.grid.learning_rate = (factors['learning_rate'],)
    c.grid.weight_decay = (factors['weight_decay'],)


def _make_squares() -> dict[str, dict]:
    """{preset: factors}: four corners at every rate and decay, all split by pair."""
    squares = {}
    for name, (rate, decay) in _RATES_AND_DECAYS.items():
        for seq_len, batch_size in itertools.product((5, 9), (512, 2048)):
            squares[f'square_{name}_{seq_len}_{batch_size}'] = LEAD | {
                'split': 'random',
                'seq_len': seq_len,
                'batch_size': batch_size,
                'learning_rate': rate,
                'weight_decay': decay,
            }
    return squares


def _make_short_settings() -> dict[str, dict]:
    """{preset: factors}: four tokens, batch 512, all combinations of the rest."""
    settings = {}
    for exception, anchors, rate, decay in itertools.product(
        ('trained', 'unseen'), (4, 6), (1e-3, 4e-3), (0.01, 0.15)
    ):
        name = f'short_{exception}_a{anchors}_r{1000 * rate:.0f}_d{100 * decay:.0f}'
        settings[name] = _SHORT | {
            'exception': exception,
            'anchors': anchors,
            'learning_rate': rate,
            'weight_decay': decay,
        }
    return settings


def _make_wide_settings() -> dict[str, dict]:
    """{preset: factors}: short settings that converge quickly, twice as wide."""
    settings = {}
    for anchors in (4, 6):
        for name in (
            f'trained_a{anchors}_r4_d15',
            f'trained_a{anchors}_r4_d1',
            f'unseen_a{anchors}_r4_d15',
        ):
            settings[f'wide_{name}'] = PRESETS[f'short_{name}'] | {'width': 128}
    return settings


PRESETS = {'lead': LEAD, 'twin': LEAD | {'batch_size': 512}}
PRESETS['anchors'] = _SHORT | {
    'anchors': len(_SHIFTS),
    'learning_rate': 4e-3,
    'weight_decay': 0.03,
}
PRESETS |= _make_squares()
PRESETS |= _make_short_settings()
PRESETS |= _make_wide_settings()
