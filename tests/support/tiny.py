"""A sweep that trains in a second, for tests: python launch/sweep.py --config tests/support/tiny.py."""

from anchorjax import config


def get_config(preset: str = ''):
    c = config.default(task='anchors', model='transformer')
    c.name = 'tiny'
    c.task.seq_len, c.task.split, c.task.num_examples, c.task.probe_examples = (
        4,
        'random',
        320,
        32,
    )
    c.model.depth, c.model.width, c.model.head_dim, c.model.mlp_dim = 1, 8, 4, 8
    c.model.max_len = 4
    c.train.batch_size, c.train.num_steps, c.train.eval_every = 16, 40, 10
    c.train.resume_every, c.train.lanes = 0.0, 1
    c.optimizer.warmup_steps = 4
    c.grid.gamma, c.grid.learning_rate, c.grid.seed = (0.3, 0.8), (1e-2,), (0, 1)
    if preset == 'broken':
        c.model.widht = 8
    return c
