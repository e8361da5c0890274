"""The phase diagram of P1 Fig 2 (a, b): gamma x depth, which solution does a network end at?

  python launch/sweep.py --config configs/phase.py[:preset]

preset     reproduces                what differs from the paper          cost
(default)  the three solutions       4 tokens, width 64, random split,    9 minutes on 2 cores
                                     rate 4e-3, decay 0.3, depth 1 and 2
laptop     Fig 2, 9 tokens           width 64, batch 512, 6,000 steps,    1 hour on 2 cores
                                     gamma to 2, rate 4e-3, decay 0.3     (depth 2: 20 minutes)
paper      Fig 2 (a, b)              nothing known; gamma range inferred  1,782 networks: a GPU box
paper_30   Fig 2, depth 2            stopped after 30 of 210 epochs;      108 networks: a GPU
                                     both schedules (PAPERS 1.3, 1.7)
p3         P3 Fig 3, both (3, 4)     nothing known                        108 networks of 10 layers:
           and (4, 3) unseen                                              a GPU box

Result to expect: a small gamma memorizes, a middle one answers (4, 3) as (3, 4) was trained
(symmetric), a large one composes (inferential, or nearly so): the default does this. The laptop
preset so far ends the other way round, inferential at gamma 0.3 and symmetric at 1.6 (RESULTS.md
says why we think so). paper, paper_30 and p3 have not been run.
"""

from anchorjax import config

_EPOCH = (
    370  # steps: 759,375 training sequences, batch 2048, the last partial batch dropped
)


def get_config(preset: str = ''):
    if preset not in PRESETS:
        raise config.ConfigError(f'preset {preset!r}: must be one of {tuple(PRESETS)}')
    c = config.default(task='anchors', model='transformer')
    c.name = f'phase_{preset}' if preset else 'phase'
    PRESETS[preset](c)
    return c


def _small(c):
    """A width that two cores can train by the dozen; the transition moves to larger gamma."""
    c.model.width = c.model.head_dim = 64
    c.model.mlp_dim = 192
    c.train.batch_size = 512
    c.optimizer.floor = 0.0


def _default(c):
    _small(c)
    c.task.seq_len, c.task.split = 4, 'random'
    c.train.num_steps, c.optimizer.warmup_steps, c.train.eval_every = 4_000, 400, 250
    c.train.snapshot_steps = (0, 250, 500, 1_000, 1_500, 2_000, 3_000)
    c.grid.gamma = (0.3, 0.6, 0.9, 1.2, 1.5)
    c.grid.learning_rate = (4e-3,)
    c.grid.weight_decay = (0.3,)
    c.grid.seed = (0, 1)  # not typical: a third seed is not inferential (RESULTS.md)
    c.loop = (('model.depth', (1, 2)),)


def _laptop(c):
    _small(c)
    c.train.num_steps, c.optimizer.warmup_steps, c.train.eval_every = 6_000, 600, 500
    c.train.snapshot_steps = config.log_spaced(c.train.num_steps, 8)
    c.grid.gamma = (0.3, 0.6, 1.2, 1.6, 2.0)
    c.grid.learning_rate = (4e-3,)
    c.grid.weight_decay = (0.3,)
    c.grid.seed = (0, 1)
    c.loop = (('model.depth', (2, 3)),)


def _paper(c):
    c.grid.gamma = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
    c.grid.learning_rate = tuple(
        round(i * 2.5e-5, 7) for i in range(4, 13)
    )  # x 10 to x 30
    c.grid.seed = (1, 2, 3)
    c.train.num_steps, c.optimizer.warmup_steps = 210 * _EPOCH, 10 * _EPOCH
    c.train.snapshot_steps = tuple(e * _EPOCH for e in (0, 1, 3, 10, 30, 100))
    c.loop = (('model.depth', (2, 3, 4, 5, 6, 7)),)


def _paper_30(c):
    _paper(c)
    c.train.num_steps, c.optimizer.schedule_steps = 30 * _EPOCH, 210 * _EPOCH
    c.train.snapshot_steps = tuple(e * _EPOCH for e in (0, 1, 3, 10))
    c.grid.gamma = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    c.grid.learning_rate = (1e-4, 2e-4, 3e-4)
    c.loop = (('optimizer.shape', ('warmup_cosine', 'warmup_drop')),)


def _p3(c):
    """PAPERS 3.1 (the active block) and 3.2: 157,500 sequences, 76 steps an epoch."""
    c.task.num_examples, c.task.noninferential, c.task.unseen = (
        200_000,
        (),
        ((4, 3), (3, 4)),
    )
    c.model.depth, c.model.width, c.model.mlp_dim = 10, 640, 1280
    c.model.heads, c.model.head_dim = 10, 64
    c.model.norm, c.model.activation, c.model.biases = 'pre_query', 'gelu', True
    c.model.init, c.model.residual_scale = 'd_model', True
    c.train.num_steps, c.optimizer.warmup_steps, c.train.eval_every = (
        1050 * 76,
        50 * 76,
        380,
    )
    c.grid.gamma = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
    c.grid.learning_rate = (3e-5,)
    c.grid.weight_decay = (0.0, 0.01, 0.1, 1.0)
    c.grid.seed = (1, 2, 3)


PRESETS = {
    '': _default,
    'laptop': _laptop,
    'paper': _paper,
    'paper_30': _paper_30,
    'p3': _p3,
}
