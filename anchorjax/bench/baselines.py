"""What people use today, to be timed against: PyTorch eager, and a plain Flax/optax loop.

Both are the model of PAPERS 1.2 with every position computed, one member at a time, on batches
made beforehand: the way the authors' scripts and most notebooks do it.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

from anchorjax.config import Experiment


def batches(experiment: Experiment, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(tokens [count, B, T], labels [count, B]): uniform tokens; the time does not hang on them."""
    rng, (low, high) = np.random.default_rng(0), experiment.task.keys
    shape = (count, experiment.train.batch_size, experiment.task.seq_len)
    tokens = rng.integers(low, high, shape)
    return tokens, tokens[..., 0]


def torch_eager(experiment: Experiment) -> Callable[[int], None]:
    """A function that trains PyTorch's member for a number of steps; ImportError without torch."""
    import torch
    from torch import nn as tnn

    m, tokens_labels = experiment.model, batches(experiment, 8)
    tokens, labels = (torch.as_tensor(x) for x in tokens_labels)
    linear = lambda d_in, d_out: tnn.Linear(d_in, d_out, bias=False)
    inner = m.heads * m.head_dim

    class TorchBlock(tnn.Module):
        def __init__(self):
            super().__init__()
            self.W_Q, self.W_K, self.W_V = (linear(m.width, inner) for _ in range(3))
            self.W_O, self.W_in = linear(inner, m.width), linear(m.width, m.mlp_dim)
            self.W_out = linear(m.mlp_dim, m.width)
            self.LN_attn, self.LN_mlp = tnn.LayerNorm(m.width), tnn.LayerNorm(m.width)

        def forward(self, x, hidden):
            heads = lambda z: z.view(*z.shape[:2], m.heads, m.head_dim).transpose(1, 2)
            q, k, v = heads(self.W_Q(x)), heads(self.W_K(x)), heads(self.W_V(x))
            scores = (q @ k.transpose(-1, -2) / m.head_dim**0.5).masked_fill(
                hidden, -1e9
            )
            mixed = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
            x = self.LN_attn(x + self.W_O(mixed))
            return self.LN_mlp(x + self.W_out(torch.relu(self.W_in(x))))

    embed, pos = (
        tnn.Embedding(experiment.task.vocab, m.width),
        tnn.Embedding(m.max_len, m.width),
    )
    blocks = tnn.ModuleList(TorchBlock() for _ in range(m.depth))
    model = tnn.ModuleList(
        [embed, pos, blocks, tnn.Linear(m.width, experiment.task.vocab)]
    )
    adamw = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01)
    positions = torch.arange(experiment.task.seq_len)
    hidden = torch.ones(len(positions), len(positions), dtype=torch.bool).triu(1)

    def run(num_steps: int) -> None:
        for i in range(num_steps):
            adamw.zero_grad()
            x = embed(tokens[i % 8]) + pos(positions)
            for block in blocks:
                x = block(x, hidden)
            loss = tnn.functional.cross_entropy(model[-1](x)[:, -1], labels[i % 8])
            loss.backward()
            tnn.utils.clip_grad_norm_(
                model.parameters(), experiment.optimizer.clip_norm
            )
            adamw.step()

    return run


class FlaxModel(nn.Module):
    """The same model from Flax's own layers."""

    experiment: Experiment

    @nn.compact
    def __call__(self, tokens_BT):
        m, dense = self.experiment.model, lambda d: nn.Dense(d, use_bias=False)
        length = tokens_BT.shape[1]
        x = nn.Embed(self.experiment.task.vocab, m.width)(tokens_BT)
        x = x + nn.Embed(m.max_len, m.width)(jnp.arange(length))
        causal = nn.make_causal_mask(tokens_BT)
        for _ in range(m.depth):
            q, k, v = (
                nn.DenseGeneral((m.heads, m.head_dim), use_bias=False)(x)
                for _ in range(3)
            )
            mixed = nn.dot_product_attention(q, k, v, mask=causal).reshape(
                *x.shape[:2], -1
            )
            x = nn.LayerNorm(epsilon=m.eps)(x + dense(m.width)(mixed))
            x = nn.LayerNorm(epsilon=m.eps)(
                x + dense(m.width)(nn.relu(dense(m.mlp_dim)(x)))
            )
        return nn.Dense(self.experiment.task.vocab)(x)


def plain_flax(experiment: Experiment) -> Callable[[int], None]:
    """A function that trains one member by a jitted step in a Python loop."""
    tokens, labels = (jnp.asarray(x, jnp.int32) for x in batches(experiment, 8))
    model = FlaxModel(experiment)
    clip = optax.clip_by_global_norm(experiment.optimizer.clip_norm)
    tx = optax.chain(clip, optax.adamw(1e-4, weight_decay=0.01))
    params = model.init(jax.random.key(0), tokens[0])
    carry = [params, tx.init(params)]

    @jax.jit
    def step(params, opt_state, tokens_BT, labels_B):
        def loss_of(params):
            logits_BV = model.apply(params, tokens_BT)[:, -1]
            return optax.softmax_cross_entropy_with_integer_labels(
                logits_BV, labels_B
            ).mean()

        updates, opt_state = tx.update(jax.grad(loss_of)(params), opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    def run(num_steps: int) -> None:
        for i in range(num_steps):
            carry[:] = step(*carry, tokens[i % 8], labels[i % 8])
        jax.block_until_ready(carry)

    return run
