"""Reasoning (sums) before memory (facts)? P2, the whole of its synthetic part.

  python launch/sweep.py --config configs/memory_reasoning.py[:preset]

preset           reproduces          what differs from the paper      cost on 2 cores
(default)        Figs 3A, 5, 6, 14   width 64; five anchors of a      17 minutes
                                     kind, so 2,500 facts and not
                                     10,000; 15 epochs, rate 1e-3
emb_mlp          Figs 3B, 4          30 epochs, rate 1e-3; labels     9 minutes
                                     that ignore the anchors' order
flow             - (beyond)          Emb-MLP of width 64, plain       3 minutes
                                     gradient descent
one_layer        Fig 5 C, D          P2 compares its theory of one    5 minutes
                                     layer with two layers; 9 tokens
                                     and 3
groups           Fig 8 right         16 memory anchors, 4 a group     3 minutes
near             Fig 8 left          two runs, not one data set;      6 minutes
                                     five anchors of a kind
paper            Figs 3A, 5, 6       what is unknown, see below       9 networks of
                                                                      2 million steps:
                                                                      a GPU
paper_emb_mlp    Figs 3B, 4          what is unknown, see below       6 networks: 5 h

The settings were chosen on seed 100, the rules of the claims with seeds 0 to 2 in view;
so the first preset, emb_mlp and flow have other seeds, 10 to 13; RESULTS.md reports 20
to 25, which are fresh again. With ten anchors of a kind and these few epochs the
transformer learned hardly any memory label at gamma 0.3 or 0.8 (rates 1e-3 to 6e-3):
there was nothing to compare reasoning to.

At width 64 the gammas 0.3, 0.5 and 0.8 start like 0.24, 0.39 and 0.63 at P2's 200.

Unknown of the paper, and what we take (PAPERS 2.1, 2.2): rate 1e-4, within the range of
its ablation; warm-up of a tenth, then a cosine; decay 0.01; d_k = d_m; d_f = 3 d_m, or
2 d_m in the Emb-MLP; ReLU with post-norm in the transformer, tanh in the two models of
the theory; whether the groups and the two memory tasks of Fig 8 share a data set;
positions and an output bias as in P1. P2 writes std = d1^-gamma for a matrix d1 x d2.
Read literally, that is 161^-gamma for the embedding; we take its width, as P1's code
does, so that at gamma 0.8 it starts 2.1 times as large at width 64, and 0.84 times at
P2's 200.

An Emb-MLP cannot see the order of the anchors, but P2's memory labels depend on it: the
best answer to a pair of different anchors is one of two labels. That limits it to an
accuracy of 0.555 on memory and to a loss of 0.62 nats, so that its train loss stays
above 0.31 and it never counts as converged. So the preset has task.ordered=False.
"""

from anchorjax import config
from anchorjax.config import ConfigDict

_EPOCH = 199_980 // 100  # steps of the paper
# Not seen when the rules of the claims were made.
_FRESH_SEEDS = (10, 11, 12, 13)
_MODELS = {'emb_mlp': 'emb_mlp', 'flow': 'emb_mlp', 'one_layer': 'one_layer'}


def get_config(preset: str = '') -> ConfigDict:
    task = 'memory_reasoning'
    model = _MODELS.get(preset.removeprefix('paper_'), 'transformer')
    c = config.begin(task, preset, PRESETS, task=task, model=model)
    PRESETS[preset](c)
    return c


def _small(c: ConfigDict, num_steps: int) -> None:
    """What two cores can train: an epoch is 390 steps of batch 512."""
    c.task.eval_examples = 2048
    c.train.batch_size = 512
    config.set_length(c, num_steps, num_records=40)
    c.train.snapshot_steps = (0, *config.log_spaced(num_steps, 20))
    c.optimizer.floor = 0.0
    c.grid.gamma = (0.3, 0.5, 0.8)
    c.grid.learning_rate = (1e-3,)
    c.grid.seed = (0, 1, 2)


def _small_transformer(c: ConfigDict, num_steps: int) -> None:
    _small(c, num_steps)
    c.model.width = c.model.head_dim = 64
    c.model.mlp_dim = 192


def _default(c: ConfigDict) -> None:
    _five_anchors(c)
    c.grid.seed = _FRESH_SEEDS


def _five_anchors(c: ConfigDict, num_steps: int = 12_000) -> None:
    """So few facts that some networks learn them."""
    _small_transformer(c, num_steps)
    c.task.memory_anchors = (1, 6)
    c.task.reasoning_anchors = (11, 16)
    c.train.batch_size = 256


def _emb_mlp(c: ConfigDict) -> None:
    """No noise: the sum of embeddings cannot tell the key from it."""
    _small(c, num_steps=12_000)
    c.task.seq_len = 3
    c.task.ordered = False
    c.grid.seed = _FRESH_SEEDS


def _flow(c: ConfigDict) -> None:
    """AdamW without moments and with a huge eps: gradient descent, rate 500 / 1,000.

    So the time of gradient flow is half the number of steps
    (analysis/theory/trajectories.py).
    """
    _small(c, num_steps=2_000)
    c.task.seq_len = 3
    c.model.width = 64
    c.model.mlp_dim = 128
    c.train.batch_size = 2048
    c.grid.seed = _FRESH_SEEDS
    c.optimizer.b1 = c.optimizer.b2 = 0.0
    c.optimizer.eps = 1e3
    c.optimizer.clip_norm = 1e9
    c.optimizer.shape = 'constant'
    c.grid.learning_rate = (500.0,)
    c.grid.weight_decay = (0.0,)


def _one_layer(c: ConfigDict) -> None:
    """Without positions it cannot tell the key from noise: 9 tokens stay unsolved."""
    _small(c, num_steps=1_500)
    c.task.vocab = 200  # d_m
    c.static_axes = (('task.seq_len', (9, 3)),)


def _groups(c: ConfigDict) -> None:
    _small_transformer(c, num_steps=2_000)
    c.task.memory_anchors = (161, 177)
    c.task.label_ranges = ((30, 50), (30, 70), (30, 90), (30, 110))
    c.task.vocab = 177
    c.grid.gamma = (0.3, 0.8)


def _near(c: ConfigDict) -> None:
    _five_anchors(c, num_steps=4_000)
    c.grid.gamma = (0.3, 0.8)
    c.static_axes = (('task.memory_labels', ('uniform', 'near')),)


def _paper(c: ConfigDict) -> None:
    c.model.width = c.model.head_dim = 200
    c.model.mlp_dim = 600
    _train_1000_epochs(c)


def _paper_emb_mlp(c: ConfigDict) -> None:
    c.task.seq_len = 3
    _train_1000_epochs(c)
    c.grid.gamma = (0.3, 0.8)


def _train_1000_epochs(c: ConfigDict) -> None:
    c.train.batch_size = 100
    c.train.num_steps = 1_000 * _EPOCH
    c.train.eval_every = 2 * _EPOCH
    # Epochs 50 and 900 are those of Fig 4.
    epochs = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 900)
    c.train.snapshot_steps = tuple(epoch * _EPOCH for epoch in epochs)
    c.optimizer.warmup_steps = 100 * _EPOCH
    c.optimizer.floor = 0.0
    c.grid.gamma = (0.3, 0.5, 0.8)
    c.grid.learning_rate = (1e-4,)
    c.grid.seed = (0, 1, 2)


PRESETS = {
    '': _default,
    'emb_mlp': _emb_mlp,
    'flow': _flow,
    'one_layer': _one_layer,
    'groups': _groups,
    'near': _near,
    'paper': _paper,
    'paper_emb_mlp': _paper_emb_mlp,
}
