"""The anchor task by hand, and a tiny experiment with random parameters."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import ml_collections
import numpy as np

from anchorjax import config, models
from anchorjax.experiment import Experiment
from anchorjax.models import Activations

# pair: answer minus key by (composed, symmetric, assigned). The anchors shift by
# +5, +1, -2, -8; (3, 4) is trained on x - 6 and (4, 3) is never trained (P1 Sec 4).
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

# Sequences for a model of 20 tokens.
TOKENS_BT = np.array([[6, 1, 4, 9], [7, 3, 3, 12], [11, 5, 2, 2]], np.int32)


def forward(
    experiment: Experiment, params: Any, tokens_BT: jax.Array, last_only: bool = True
) -> Activations:
    """The activations of a member; logits at the last position, or at all."""
    module = experiment.model.module(experiment.task.vocab, gamma=0.0)
    return module.apply({'params': params}, tokens_BT, last_only)


# Compiled, because JAX compiles every operation of a function that is not, one by one.
run_forward = jax.jit(forward, static_argnames=('experiment', 'last_only'))


@functools.partial(jax.jit, static_argnames='experiment')
def run_both(
    experiment: Experiment, params: Any, tokens_BT: jax.Array
) -> list[Activations]:
    """Those of all positions, and those of the last, by one program."""
    return [forward(experiment, params, tokens_BT, last) for last in (False, True)]


def decode(
    tokens_BT: Any,
    anchors: Sequence[int] = (1, 2, 3, 4),
    order: str = 'key_first',
    q: int = 2,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(first position of key or anchors, key, anchors [B, q]) of every sequence.

    Fails unless every sequence holds q anchors, side by side, and a key beside them.
    """
    tokens_BT = np.asarray(tokens_BT)
    size, length = tokens_BT.shape
    rows, columns = np.nonzero(np.isin(tokens_BT, anchors))
    assert (rows == np.repeat(np.arange(size), q)).all(), f'not {q} anchors in a row'
    columns_Bq = columns.reshape(-1, q)
    first_B = columns_Bq[:, 0]
    assert (columns_Bq == first_B[:, None] + np.arange(q)).all()
    key_at_B = first_B - 1 if order == 'key_first' else first_B + q
    assert (key_at_B >= 0).all() and (key_at_B < length).all()
    row_B = np.arange(size)
    anchors_Bq = tokens_BT[row_B[:, None], columns_Bq]
    return np.minimum(key_at_B, first_B), tokens_BT[row_B, key_at_B], anchors_Bq


def tiny(**fields: Any) -> config.Experiment:
    """A valid experiment of 20 tokens and width 6: tiny(model__depth=1)."""
    c = config.default()
    c.model.update(width=6, head_dim=4, mlp_dim=9, max_len=5)
    return _make_tiny(c, fields)


def tiny_gpt2(**fields: Any) -> config.Experiment:
    """The same for GPT-2, of two blocks of two heads and width 8."""
    c = config.default(model='gpt2')
    c.model.update(depth=2, width=8, heads=2, max_len=5)
    return _make_tiny(c, fields)


def _make_tiny(
    c: ml_collections.ConfigDict, fields: dict[str, Any]
) -> config.Experiment:
    c.task.seq_len = 4
    c.task.keys = (5, 13)
    c.task.shifts = (3, 1, -1, -2)
    c.task.noninferential = ((3, 4, 2),)
    c.task.split = 'random'
    c.task.holdout = 0.25
    c.task.vocab = 20
    c.task.num_examples = 4_000
    c.task.eval_examples = 64
    c.optimizer.update(warmup_steps=4, floor=1e-4)
    c.train.update(batch_size=8, num_steps=20, eval_every=10)
    set_fields(c, fields)
    return config.resolve(c)


def set_fields(c: ml_collections.ConfigDict, fields: dict[str, Any]) -> None:
    """Changes fields by name: 'grid__seed' is of a group, 'static_axes' of none."""
    for path, value in fields.items():
        *groups, field = path.split('__')
        group = c[groups[0]] if groups else c
        with group.ignore_type():
            group[field] = value


def draw_member(**fields: Any) -> tuple[config.Experiment, Any]:
    """(tiny experiment, random parameters)."""
    experiment = tiny(**fields)
    return experiment, random_params(experiment)


def draw_gpt2(**fields: Any) -> tuple[config.Experiment, Any]:
    """The same of GPT-2."""
    experiment = tiny_gpt2(**fields)
    return experiment, random_params(experiment)


def random_params(
    experiment: config.Experiment, seed: int = 0, scale: float = 0.5
) -> Any:
    """Parameters that hide nothing: no bias is zero, no scale of a LayerNorm is one."""
    abstract = models.abstract_params(experiment.model, experiment.task.vocab)
    rng = np.random.default_rng(seed)

    def draw(path: Any, leaf: jax.ShapeDtypeStruct) -> np.ndarray:
        center = 1.0 if path[-1].key == 'scale' else 0.0
        noise = scale * rng.normal(size=leaf.shape)
        return (center + noise).astype(np.float32)

    return jax.tree_util.tree_map_with_path(draw, abstract)


def assert_same_but_rounding(
    found: Any, expected: Any, tolerance: float = 1e-5
) -> None:
    """Asserts that two trees of float32 are equal up to rounding.

    An error may be a share of the largest number in its leaf, not of the number
    itself: where large terms cancel, what is left has the error of the terms, and how
    large it is depends on the order of the sum, so on the CPU.
    The largest counts as 1e-2 where it is less: a leaf that is zero in exact
    arithmetic, as the gradient of a bias of keys, is all rounding.
    """

    def check(path: Any, a: np.ndarray, b: np.ndarray) -> None:
        name = jax.tree_util.keystr(path)
        largest = np.abs(b).max(initial=1e-2)
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * largest, err_msg=name)

    jax.tree_util.tree_map_with_path(check, found, expected)
