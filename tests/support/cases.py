"""The anchor task by hand: truth table, the paper's examples, a decoder; a tiny experiment."""

import jax
import numpy as np

from anchorjax import config, models

# pair: answer minus key by (inferential, symmetric, assigned). Shifts 1: +5, 2: +1, 3: -2,
# 4: -8; (3, 4) is trained on x - 6 and (4, 3) is never trained (P1 Sec 4).
TABLE = {
    (1, 1): (10, 10, 10),
    (1, 2): (6, 6, 6),
    (1, 3): (3, 3, 3),
    (1, 4): (-3, -3, -3),
    (2, 1): (6, 6, 6),
    (2, 2): (2, 2, 2),
    (2, 3): (-1, -1, -1),
    (2, 4): (-7, -7, -7),
    (3, 1): (3, 3, 3),
    (3, 2): (-1, -1, -1),
    (3, 3): (-4, -4, -4),
    (3, 4): (-10, -10, -6),
    (4, 1): (-3, -3, -3),
    (4, 2): (-7, -7, -7),
    (4, 3): (-10, -6, -10),
    (4, 4): (-16, -16, -16),
}

# (sequence, key, pair, answer), P1 App B.
EXAMPLES = (
    ((52, 33, 36, 2, 4, 78, 92, 24, 58), 36, (2, 4), 29),
    ((23, 1, 2, 43, 46, 74, 54, 44, 72), 23, (1, 2), 29),
)


def decode(tokens_BT, anchors=(1, 2, 3, 4)):
    """(position of the key, key, pair [B, 2]); fails unless two anchors stand side by side."""
    tokens_BT = np.asarray(tokens_BT)
    rows, columns = np.nonzero(np.isin(tokens_BT, anchors))
    assert (rows == np.repeat(np.arange(len(tokens_BT)), 2)).all(), (
        'not two anchors in a row'
    )
    first, second = columns.reshape(-1, 2).T
    assert (second == first + 1).all() and (first >= 1).all()
    at = np.arange(len(tokens_BT))
    pair_B2 = np.stack([tokens_BT[at, first], tokens_BT[at, second]], 1)
    return first - 1, tokens_BT[at, first - 1], pair_B2


def tiny(**fields):
    """A valid experiment of 20 tokens and width 6, with `group__field=value` overrides."""
    c = config.default()
    c.task.update(
        seq_len=4, keys=(5, 13), shifts=(3, 1, -1, -2), split='random', holdout=0.25
    )
    c.task.update(
        noninferential=((3, 4, 2),), vocab=20, num_examples=4_000, probe_examples=64
    )
    c.model.update(width=6, head_dim=4, mlp_dim=9, max_len=5)
    c.optimizer.update(warmup_steps=4, floor=1e-4)
    c.train.update(batch_size=8, num_steps=20, eval_every=10)
    for path, value in fields.items():
        group, field = path.split('__')
        c[group][field] = value
    return config.resolve(c)


def random_params(experiment, seed=0, scale=0.5):
    """Parameters that hide nothing: LayerNorm and every bias away from ones and zeros."""
    abstract = models.abstract_params(experiment.model, experiment.task.vocab)
    rng = np.random.default_rng(seed)

    def draw(path, leaf):
        centre = 1.0 if path[-1].key == 'scale' else 0.0
        return (centre + scale * rng.normal(size=leaf.shape)).astype(np.float32)

    return jax.tree_util.tree_map_with_path(draw, abstract)
