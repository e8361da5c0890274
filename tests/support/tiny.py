"""A sweep that trains in a second: launch/sweep.py --config tests/support/tiny.py."""

import ml_collections

from anchorjax import config


def get_config(preset: str = '') -> ml_collections.ConfigDict:
    """Four members of one layer; the preset 'broken' sets a field there is not."""
    c = config.default(task='anchors', model='transformer')
    c.name = 'tiny'
    c.task.seq_len = 4
    c.task.split = 'random'
    c.task.num_examples = 320
    c.task.eval_examples = 32
    c.model.depth = 1
    c.model.width = 8
    c.model.head_dim = 4
    c.model.mlp_dim = 8
    c.model.max_len = 4
    c.train.batch_size = 16
    c.train.num_steps = 40
    c.train.eval_every = 10
    c.train.resume_every = 0.0
    c.train.lanes = 1
    c.optimizer.warmup_steps = 4
    c.grid.gamma = (0.3, 0.8)
    c.grid.learning_rate = (1e-2,)
    c.grid.seed = (0, 1)
    if preset == 'broken':
        c.model.widht = 8
    return c
