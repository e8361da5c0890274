"""Which solution does a network end at? The phase diagram of P1 Fig 2 (a, b).

  python launch/sweep.py --config configs/phase.py[:preset]

preset      reproduces           what differs from the paper        cost
(default)   Fig 2: gamma and     4 tokens, width 32, random split,  5 to 8 minutes
            depth                batch 512, 6,000 steps of rate     on 2 cores
                                 8e-3, decay 0.05; depths 2 and 3
depths      the same             depths 2 to 4                      10 minutes
unseen      the same             (3, 4) is as unseen as (4, 3)      8 minutes
two_layers  Fig 2, from middle   width 64, depth 2, rate 4e-3,      8 minutes
            to small             decay 0.3
            initializations
laptop      Fig 2, 9 tokens      width 64; 30 of 210 epochs; P1's   70 minutes
                                 standard deviations of gamma 0.5
                                 and 0.8 where d_in is the width;
                                 rate and decay that go with the
                                 width
width_64    Fig 2, 9 tokens:     width 64 as laptop, TF32; seven     84 networks: 8
            gamma and depth      gammas, depths 2 to 5; 24 epochs    minutes on an H100
half_width  Fig 2, 9 tokens      width 200; 24 of 210 epochs        5 hours
anchors     what the number of   the default's; 4 or 8 anchors,     9 minutes
            anchors does (ours)  gamma 0.2 and 1.0, 4,000 steps
noise       what noise after     like anchors, the exception        7 minutes
            the pair does        trained; noise before the key
            (ours)               alone, or anywhere
attention   gamma of W_Q and     like anchors, eight of them;       5 minutes
            W_K alone (ours)     gamma 0.6, W_Q and W_K at 0.6 or
                                 -0.2
paper       Fig 2 (a, b)         the key split is the code's, not   1,782 networks:
                                 the text's (PAPERS quirk 1); the   a machine with GPUs
                                 range of gamma is inferred
paper_30    Fig 2, depth 2       stopped after 30 of 210 epochs     54 networks: a GPU
                                 (PAPERS 1.7); 3 of the 9 rates
p3          P3 Fig 3, (3, 4) and evaluated every 5 epochs, where    108 networks of 10
            (4, 3) both unseen   P3's score is the largest of all   layers: GPUs
                                 epochs; no stop at a loss of 1e-7

Expected of the default: at gamma 0.84 (0.49 at width 400) symmetric answers; from there
to 2.04 (1.18) composed answers rise and symmetric ones fall, by 0.4 or more in the mean
at each depth. It cannot show P1 Fig 5 (a, b): with so much decay W_Q has few directions
at every gamma. What fresh seeds gave, of this and of all other presets: RESULTS.md and
analysis/gallery.

Presets of four tokens have d_k = d, where P1 has d / 2, and a rate that starts and ends
at 0, where P1's does at 1e-5.
"""

from anchorjax import config
from anchorjax.config import ConfigDict


def get_config(preset: str = '') -> ConfigDict:
    """The config of a preset."""
    c = config.begin('phase', preset, PRESETS)
    PRESETS[preset](c)
    return c


def _four_tokens(c: ConfigDict) -> None:
    """A task and a width that two cores can train; decay makes it settle soon."""
    c.task.seq_len = 4
    c.task.split = 'random'
    c.model.width = c.model.head_dim = 64
    c.model.mlp_dim = 192
    c.optimizer.floor = 0.0
    c.train.batch_size = 512
    c.train.eval_every = 500
    c.grid.learning_rate = (4e-3,)
    c.grid.weight_decay = (0.3,)


def _default(c: ConfigDict) -> None:
    """The diagram, small; chosen on seeds 911, 912, 921 and 922."""
    _two_layers(c)
    c.model.width = c.model.head_dim = 32
    c.model.mlp_dim = 96
    c.grid.gamma = (0.84, 1.44, 2.04)
    c.grid.learning_rate = (8e-3,)
    c.grid.weight_decay = (0.05,)
    c.grid.seed = (0, 1)
    c.static_axes = (('model.depth', (2, 3)),)


def _depths(c: ConfigDict) -> None:
    _default(c)
    c.static_axes = (('model.depth', (2, 3, 4)),)


def _two_layers(c: ConfigDict) -> None:
    """From P1's middle regime to small initializations; chosen on seeds 104 to 319."""
    _four_tokens(c)
    c.train.num_steps = 6_000
    c.train.snapshot_steps = (0, 250, 500, 1_000, 2_000, 3_000)
    c.optimizer.warmup_steps = 400
    c.grid.gamma = (0.7, 1.7)
    c.grid.seed = (0, 1, 2, 3, 4, 5)


def _unseen(c: ConfigDict) -> None:
    """Nothing names the pair (3, 4): composing has no exception to fit."""
    _default(c)
    c.task.exception = 'unseen'


def _anchors(c: ConfigDict) -> None:
    """The number of anchors and the exception decide, beside the initialization."""
    _four_tokens(c)
    c.task.anchors = (1, 2, 3, 4, 5, 6, 7, 8)
    c.task.shifts = (5, 1, -2, -8, 3, -4, 7, -6)  # the paper's four come first
    c.train.num_steps = 4_000
    c.train.snapshot_steps = (0, 250, 500, 1_000, 2_000, 3_000)
    c.optimizer.warmup_steps = 400
    c.grid.gamma = (0.2, 1.0)
    c.grid.seed = (0, 1)
    # (3, 4) is trained on its exception, or it is as unseen as (4, 3).
    c.static_axes = (
        ('task.num_anchors', (4, 8)),
        ('task.exception', ('trained', 'unseen')),
    )


def _noise(c: ConfigDict) -> None:
    """One of four tokens is noise: before the key, or (as in the paper) anywhere."""
    _anchors(c)
    c.grid.gamma = (0.2, 0.6)
    c.grid.weight_decay = (0.15,)
    c.static_axes = (('task.num_anchors', (4, 8)), ('task.last_token', ('any', 'pair')))


def _attention(c: ConfigDict) -> None:
    """With W_Q and W_K drawn large, attention is as uneven at first as at γ 0.2."""
    _anchors(c)
    c.task.num_anchors = 8
    c.grid.gamma = (0.6,)
    c.grid.weight_decay = (0.15,)
    c.grid.seed = (0, 1, 2, 3, 4)
    c.static_axes = (('model.gamma_overrides', ((), (('qk', -0.2),))),)


def _paper(c: ConfigDict) -> None:
    c.grid.gamma = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
    # The base rate 1e-5 times 10 to 30.
    c.grid.learning_rate = tuple(round(i * 2.5e-5, 7) for i in range(4, 13))
    c.grid.seed = (1, 2, 3)
    c.train.num_steps = 210 * config.P1_EPOCH
    c.train.snapshot_steps = _count_epochs(0, 1, 3, 10, 30, 100)
    c.optimizer.warmup_steps = 10 * config.P1_EPOCH
    c.static_axes = (('model.depth', (2, 3, 4, 5, 6, 7)),)


def _paper_30(c: ConfigDict) -> None:
    _paper(c)
    c.train.num_steps = 30 * config.P1_EPOCH
    c.train.snapshot_steps = _count_epochs(0, 1, 3, 10)
    c.optimizer.schedule_steps = 210 * config.P1_EPOCH
    c.grid.gamma = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    c.grid.learning_rate = (1e-4, 2e-4, 3e-4)
    c.static_axes = ()


def _laptop(c: ConfigDict) -> None:
    """P1's pair at width 64: the same d_k / d, rate * d and rate * decay.

    The std of matrices with d_in = d is the same, too. With this gamma W_O starts 1.17
    and 1.29 times as large as at P1's width, W_out 0.79 and 0.69 times.
    """
    _paper_30(c)
    c.model.width = 64
    c.model.head_dim = 32
    c.model.mlp_dim = 192
    c.grid.gamma = (0.72, 1.15)
    c.grid.learning_rate = (1.25e-3,)
    c.grid.weight_decay = (0.0016,)
    c.grid.seed = (61, 62, 63, 64, 65, 66)


def _width_64(c: ConfigDict) -> None:
    """Gammas for which 64^-gamma is 400^-gamma of 0.3, 0.4, 0.5, 0.65, 0.8, 0.9, 1."""
    _laptop(c)
    c.train.num_steps = 24 * config.P1_EPOCH
    c.train.snapshot_steps = _count_epochs(0, 1, 2, 3, 5, 8, 12, 16, 20)
    c.train.precision = 'tensorfloat32'
    c.train.lanes = 21  # all networks of a depth
    c.grid.gamma = (0.43, 0.58, 0.72, 0.94, 1.15, 1.3, 1.44)
    c.grid.seed = (621, 622, 623)
    c.static_axes = (('model.depth', (2, 3, 4, 5)),)


def _half_width(c: ConfigDict) -> None:
    """Gammas for which 200^-gamma is about the paper's 400^-0.5 and 400^-0.8."""
    _paper_30(c)
    c.model.width = 200
    c.model.head_dim = 100
    c.model.mlp_dim = 600
    c.train.num_steps = 24 * config.P1_EPOCH
    c.train.eval_every = config.P1_EPOCH
    c.grid.gamma = (0.57, 0.9)
    c.grid.learning_rate = (2e-4,)


def _p3(c: ConfigDict) -> None:
    """PAPERS 3.1 (the active block) and 3.2: 157,500 sequences, 76 steps an epoch."""
    c.task.num_examples = 200_000
    c.task.noninferential = ()
    c.task.unseen = ((4, 3), (3, 4))
    c.model.depth = 10
    c.model.width = 640
    c.model.mlp_dim = 1280
    c.model.heads = 10
    c.model.head_dim = 64
    c.model.norm = 'pre_query'
    c.model.activation = 'gelu'
    c.model.biases = True
    c.model.init = 'd_model'
    c.model.residual_scale = True
    c.train.num_steps = 1050 * 76
    c.train.eval_every = 380
    c.optimizer.warmup_steps = 50 * 76
    c.grid.gamma = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
    c.grid.learning_rate = (3e-5,)
    c.grid.weight_decay = (0.0, 0.01, 0.1, 1.0)
    c.grid.seed = (1, 2, 3)


def _count_epochs(*epochs: int) -> tuple[int, ...]:
    """The steps after which so many of the paper's epochs are done."""
    return tuple(epoch * config.P1_EPOCH for epoch in epochs)


PRESETS = {
    '': _default,
    'depths': _depths,
    'unseen': _unseen,
    'two_layers': _two_layers,
    'laptop': _laptop,
    'width_64': _width_64,
    'half_width': _half_width,
    'anchors': _anchors,
    'noise': _noise,
    'attention': _attention,
    'paper': _paper,
    'paper_30': _paper_30,
    'p3': _p3,
}
