"""x"""

from anchorjax import config


def get_config(preset: str = ''):
    c = config.default()
    c.name = 'phase'
    c.task.seq_len = 4
    c.task.split = 'random'
    c.model.width = 64
    c.model.head_dim = 64
    c.model.mlp_dim = 192
    c.train.batch_size = 256
    c.train.num_steps = 300
    c.train.eval_every = 100
    c.optimizer.warmup_steps = 30
    c.optimizer.floor = 0.0
    c.grid.learning_rate = (2e-3,)
    c.grid.seed = (0, 1)
    c.grid.weight_decay = (0.1,)
    c.loop = (('model.depth', (2, 3)),)
    return c
