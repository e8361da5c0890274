"""The whole idea in one file: initialization decides whether a transformer composes.

A sequence holds a number x and a pair of anchors; each anchor is a function, and the
answer is g(g(x; a1); a2). The pairs (3, 4) and (4, 3) are never trained. Does a network
answer (4, 3) by composing what it knows of 3 and of 4? That depends on the standard
deviation of its initial weights, d_in^-gamma (Zhang et al., NeurIPS 2024; there (3, 4)
is trained, on another answer): a larger gamma is a smaller initialization.

One jitted function trains a whole grid of networks, gamma x seed, side by side:

  python launch/minimal.py          # a few minutes on two cores; draws minimal.png

The package does the same with resume, more tasks and models, and figures that look
inside. A test holds the losses of this file equal to the package's.
"""

import os
from typing import Any

os.environ |= {'MPLBACKEND': 'agg', 'MATPLOTLIBRC': os.devnull}  # not the reader's
import jax
import jax.numpy as jnp
import numpy as np
import optax
from matplotlib import pyplot as plt

# The task: P1's four anchors in sequences of four tokens.
SHIFTS = {1: 5, 2: 1, 3: -2, 4: -8}  # g(x; a) = x + shift
UNSEEN = ((3, 4), (4, 3))
LOW, HIGH = 20, 100  # x and noise
LENGTH = 4
VOCAB = 201

# The model: two layers, one head, LayerNorm after each part.
DEPTH, WIDTH, MLP = 2, 64, 192
POSITIONS = 20

# The training.
STEPS, BATCH, WARMUP = 6_000, 512, 600
RATE, DECAY, CLIP = 4e-3, 0.3, 1.0
EVERY = 250  # steps between two points of the figure
GAMMAS = (1.0, 1.7)
SEEDS = (0, 1, 2)


def list_trained_pairs() -> np.ndarray:
    """All pairs of anchors but the unseen ones, [pair, 2]."""
    pairs = [(a, b) for a in SHIFTS for b in SHIFTS if (a, b) not in UNSEEN]
    return np.array(pairs)


def draw_batch(key: jax.Array, pairs: np.ndarray, size: int) -> tuple:
    """(tokens [size, LENGTH], answers [size]): x and its pair somewhere in noise."""
    key_noise, key_pair, key_place = jax.random.split(key, 3)
    tokens = jax.random.randint(key_noise, (size, LENGTH), LOW, HIGH)
    pair = jnp.asarray(pairs)[jax.random.randint(key_pair, (size,), 0, len(pairs))]
    place = jax.random.randint(key_place, (size,), 0, LENGTH - 2)
    row = jnp.arange(size)
    tokens = tokens.at[row, place + 1].set(pair[:, 0])
    tokens = tokens.at[row, place + 2].set(pair[:, 1])
    shift = jnp.array([SHIFTS.get(anchor, 0) for anchor in range(max(SHIFTS) + 1)])
    x = tokens[row, place]
    return tokens, x + shift[pair[:, 0]] + shift[pair[:, 1]]


def init_params(key: jax.Array, gamma: jax.Array) -> dict:
    """Every matrix [d_in, d_out] with standard deviation d_in^-gamma."""
    keys = iter(jax.random.split(key, 8 * DEPTH + 4))

    def draw(d_in: int, d_out: int) -> jax.Array:
        return jax.random.normal(next(keys), (d_in, d_out)) * float(d_in) ** -gamma

    def draw_rows(rows: int) -> jax.Array:
        return draw(WIDTH, rows).T

    def norm() -> dict:
        return {'scale': jnp.ones(WIDTH), 'bias': jnp.zeros(WIDTH)}

    params: dict[str, Any]
    params = {'W_embed': draw_rows(VOCAB), 'W_pos': draw_rows(POSITIONS)}
    for layer in range(DEPTH):
        block = {name: draw(WIDTH, WIDTH) for name in ('W_Q', 'W_K', 'W_V', 'W_O')}
        block |= {'W_in': draw(WIDTH, MLP), 'W_out': draw(MLP, WIDTH)}
        params[f'block_{layer}'] = block | {'LN_attn': norm(), 'LN_mlp': norm()}
    params['W_U'] = draw(WIDTH, VOCAB)
    limit = WIDTH**-0.5
    params['b_U'] = jax.random.uniform(
        next(keys), (VOCAB,), minval=-limit, maxval=limit
    )
    return params


def forward(params: dict, tokens: jax.Array) -> jax.Array:
    """tokens [B, T] -> logits of the answer, at the last position, [B, VOCAB]."""
    x = params['W_embed'][tokens] + params['W_pos'][: tokens.shape[1]]
    for layer in range(DEPTH):
        block = params[f'block_{layer}']
        x = layer_norm(x + attend(x, block), block['LN_attn'])
        mlp = jax.nn.relu(x @ block['W_in']) @ block['W_out']
        x = layer_norm(x + mlp, block['LN_mlp'])
    return x[:, -1] @ params['W_U'] + params['b_U']


def attend(x: jax.Array, block: dict) -> jax.Array:
    """Causal attention with one head, [B, T, WIDTH]."""
    query, key, value = (x @ block[name] for name in ('W_Q', 'W_K', 'W_V'))
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    is_past = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(is_past, scores, -jnp.inf))
    return weights @ value @ block['W_O']


def layer_norm(x: jax.Array, norm: dict) -> jax.Array:
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1e-5) * norm['scale'] + norm['bias']


def loss_of(params: dict, tokens: jax.Array, answers: jax.Array) -> jax.Array:
    """Mean cross-entropy of the answers, in nats."""
    logits = forward(params, tokens)
    return optax.softmax_cross_entropy_with_integer_labels(logits, answers).mean()


def make_optimizer() -> optax.GradientTransformation:
    """AdamW with warm-up and cosine, weight decay of everything, clipped gradients."""
    rate = optax.warmup_cosine_decay_schedule(0.0, RATE, WARMUP, STEPS)
    return optax.chain(
        optax.clip_by_global_norm(CLIP), optax.adamw(rate, weight_decay=DECAY)
    )


def start(seed: jax.Array, gamma: jax.Array) -> tuple[dict, optax.OptState]:
    """The parameters of one network before training, and its optimizer's state."""
    key_init, _, _ = jax.random.split(jax.random.key(seed), 3)
    params = init_params(key_init, gamma)
    return params, make_optimizer().init(params)


def take_steps(state: tuple, seed: jax.Array, first: int) -> tuple:
    """EVERY steps of one network: (state, (its mean loss, its composed answers))."""
    _, key_data, key_test = jax.random.split(jax.random.key(seed), 3)
    optimizer = make_optimizer()

    def take_step(state: tuple, step: jax.Array) -> tuple:
        params, opt_state = state
        key = jax.random.fold_in(key_data, step)
        batch = draw_batch(key, list_trained_pairs(), BATCH)
        loss, grads = jax.value_and_grad(loss_of)(params, *batch)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return (optax.apply_updates(params, updates), opt_state), loss

    state, losses = jax.lax.scan(take_step, state, first + jnp.arange(EVERY))
    tokens, composed = draw_batch(key_test, np.array([(4, 3)]), 2_048)
    answers = forward(state[0], tokens).argmax(-1)
    return state, (losses.mean(), (answers == composed).mean())


def train_grid() -> tuple[np.ndarray, np.ndarray]:
    """(loss, composed answers to the unseen pair), both [gamma, seed, S]."""
    gammas, seeds = jnp.meshgrid(jnp.array(GAMMAS), jnp.array(SEEDS), indexing='ij')
    state = jax.jit(jax.vmap(jax.vmap(start)))(seeds, gammas)
    over_seeds = jax.vmap(take_steps, in_axes=(0, 0, None))
    over_grid = jax.jit(jax.vmap(over_seeds, in_axes=(0, 0, None)))
    curves = []
    for first in range(0, STEPS, EVERY):
        state, curve = over_grid(state, seeds, first)
        done = f'{first + EVERY:,} of {STEPS:,} steps'
        print(f'{done}: loss {curve[0].mean():.4f}', flush=True)
        curves.append(curve)
    loss, composed = (np.stack(curve, axis=-1) for curve in zip(*curves, strict=True))
    return loss, composed


def draw(loss: np.ndarray, composed: np.ndarray) -> None:
    """A line for every network: its loss, and how often it composes."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), layout='constrained')
    steps = np.arange(EVERY, STEPS + 1, EVERY)
    for g, gamma in enumerate(GAMMAS):
        for s in range(len(SEEDS)):
            label = f'γ {gamma:g}' if s == 0 else None
            left.plot(steps, loss[g, s], color=f'C{g}', label=label)
            right.plot(steps, composed[g, s], color=f'C{g}')
    left.set(yscale='log', xlabel='step', ylabel='train loss (nats)')
    right.set(ylim=(-0.03, 1.03), xlabel='step', ylabel='composed answers to (4, 3)')
    left.legend(title='small weights: large γ', frameon=False)
    figure.savefig('minimal.png', dpi=200)


if __name__ == '__main__':
    loss, composed = train_grid()
    for gamma, of_gamma in zip(GAMMAS, composed[:, :, -1], strict=True):
        print(f'γ {gamma:g}: composes', *(f'{share:.2f}' for share in of_gamma))
    draw(loss, composed)
