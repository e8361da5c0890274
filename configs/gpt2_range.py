"""Does a GPT-2-like network change its solution within a narrower range of gamma?

  python launch/sweep.py --config configs/gpt2_range.py[:preset]
  python -m analysis gamma_range --run runs/gpt2_range \\
      --baseline runs/gpt2_range_one_head

preset     reproduces      what differs from the paper               cost on 2 cores
(default)  P1 Fig 2 (c)    4 tokens, 2 layers of width 64 with four  6 minutes
                           heads; both pairs unseen
one_head   its comparison  P1's model at the same size, d_k = d,     2 minutes
                           where P1 has d / 2
paper      P1 Fig 2 (c)    gammas unknown; GPT-2 small's sizes are   48 networks of 12
                           inferred                                  layers: GPUs

As in P1 a GPT-2-like network is the transformer with GELU, with post-norm or pre-norm
(PAPERS 1.2), and no biases but the last; the model `gpt2` is GPT-2 itself, with tied
embeddings and pre-norm alone. P1 trains (3, 4) on its exception. At this size and decay
networks then answer (4, 3) as its reverse at small initialization, too (in 1.00 and
0.62 of answers at gamma 1.0 and 1.4: analysis/gallery/law/members.csv), so both pairs
are unseen here.
"""

from anchorjax import config
from anchorjax.config import ConfigDict


def get_config(preset: str = '') -> ConfigDict:
    c = config.begin('gpt2_range', preset, PRESETS, task='anchors')
    PRESETS[preset](c)
    return c


def _small(c: ConfigDict) -> None:
    """What two cores can train: both pairs unseen (see above)."""
    c.task.noninferential = ()
    c.task.unseen = ((4, 3), (3, 4))
    config.set_small_anchors(c)
    config.set_length(c, num_steps=1_000, num_records=10)
    c.grid.gamma = (0.3, 0.5, 0.7, 0.9, 1.1, 1.3)
    c.grid.learning_rate = (4e-3,)
    c.grid.seed = (0, 1, 2, 3)


def _default(c: ConfigDict) -> None:
    _small(c)
    c.model.heads = 4
    c.model.head_dim = 16
    c.model.activation = 'gelu'
    c.static_axes = (('model.norm', ('post', 'pre')),)


def _paper(c: ConfigDict) -> None:
    """GPT-2 small (PAPERS 1.6), P1's data and schedule (PAPERS 1.1, 1.3)."""
    c.model.depth = 12
    c.model.width = 768
    c.model.heads = 12
    c.model.head_dim = 64
    c.model.mlp_dim = 3072
    c.model.activation = 'gelu'
    c.grid.gamma = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    c.grid.seed = (1, 2, 3, 4)
    c.static_axes = (('model.norm', ('post', 'pre')),)


PRESETS = {'': _default, 'one_head': _small, 'paper': _paper}
