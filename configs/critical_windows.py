"""Draft."""
from anchorjax import config

def get_config(preset: str = ''):
    c = config.default(task='anchor_permutations')
    c.name = 'critical_windows'
    c.model.width = 32
    c.model.heads = 2
    c.model.head_dim = 16
    c.model.mlp_dim = 128
    c.model.norm = 'pre'
    c.model.activation = 'gelu'
    c.model.init = 'scale'
    c.model.decayed = 'all_but_embeddings'
    c.model.max_len = 3
    c.optimizer.b2 = 0.98
    c.optimizer.clip_norm = 1e9
    c.optimizer.shape = 'constant'
    c.optimizer.floor = 0.0
    c.optimizer.equal_budget = True
    c.train.batch_size = 128
    c.train.num_steps = 5000
    c.train.eval_every = 250
    c.train.snapshot_steps = (1000,)
    c.train.resume_every = 60.
    c.grid.gamma = (0.8,)
    c.grid.learning_rate = (3e-3,)
    c.grid.weight_decay = (1 / 3,)
    c.grid.decay_window = ((), (0, 0))
    c.grid.seed = (100, 101)
    if preset == 'wide':
        c.model.width = 64
        c.model.head_dim = 32
        c.model.mlp_dim = 256
    return c

PRESETS = {'': None}
