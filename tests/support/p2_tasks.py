"""Small experiments on P2's task, and the loss of a model on a whole data set."""

import functools
import pathlib
from typing import Any

import jax
import numpy as np

from analysis.theory.label_law import Examples
from anchorjax import api, config
from anchorjax.training import losses
from anchorjax.training.devices import make_mesh
from tests.support.cases import forward, set_fields

SIZES = {
    'emb_mlp': {'width': 6, 'mlp_dim': 9},
    'one_layer': {'head_dim': 5, 'mlp_dim': 9},
    'transformer': {'depth': 2, 'width': 8, 'head_dim': 4, 'mlp_dim': 8},
}


def make_experiment(name: str, **fields: Any) -> config.Experiment:
    """A model on 20 tokens: make_experiment('emb_mlp', task__seq_len=3)."""
    c = config.default(task='memory_reasoning', model=name)
    c.task.update(
        seq_len=5,
        keys=(5, 12),
        memory_anchors=(1, 3),
        reasoning_anchors=(3, 5),
        masked=((3, 4),),
        num_examples=400,
        vocab=20,
        eval_examples=16,
    )
    c.model.update(SIZES[name])
    c.train.update(batch_size=8, num_steps=20, eval_every=10)
    c.optimizer.update(warmup_steps=4, floor=1e-4)
    set_fields(c, fields)
    return config.resolve(c)


@functools.partial(jax.jit, static_argnames='experiment')  # once for all parameters
def _differentiate(
    experiment: config.Experiment,
    params: Any,
    tokens_BT: jax.Array,
    targets_BQ: jax.Array,
) -> tuple[jax.Array, Any]:
    def loss(params: Any) -> jax.Array:
        logits_BQV = forward(experiment, params, tokens_BT).logits
        return losses.cross_entropy(logits_BQV, targets_BQ).mean()

    return jax.value_and_grad(loss)(params)


def loss_and_gradient(
    experiment: config.Experiment, params: Any, examples: Examples
) -> tuple[float, Any]:
    """The mean loss over a data set, in nats, and its gradient, by jax.grad."""
    targets_BQ = examples.label_B[:, None]
    value, gradient = _differentiate(experiment, params, examples.tokens_BT, targets_BQ)
    return float(value), jax.tree.map(np.asarray, gradient)


def relative_error(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Norm of the difference by the norm of what is expected."""
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))


# A sweep with four anchors of each kind, two gammas and three seeds.
SWEEP = {
    'task__keys': (21, 33),
    'task__memory_anchors': (1, 5),
    'task__reasoning_anchors': (11, 15),
    'task__masked': ((11, 12),),
    'task__num_examples': 4_000,
    'task__vocab': 64,
    'task__eval_examples': 64,
    'train__snapshot_steps': (0, 1, 5, 10),
    'grid__gamma': (0.3, 0.8),
    'grid__learning_rate': (1e-2,),
    'grid__seed': (0, 1, 2),
    'train__lanes': 6,  # all in one chunk, so that few files are saved
}
# AdamW that is gradient descent, as in configs/memory_reasoning.py:flow.
PLAIN = {
    'optimizer__b1': 0.0,
    'optimizer__b2': 0.0,
    'optimizer__eps': 1e3,
    'optimizer__clip_norm': 1e9,
    'optimizer__shape': 'constant',
    'optimizer__floor': 0.0,
    'grid__weight_decay': (0.0,),
    'grid__learning_rate': (250.0,),
}
SHORT = {'task__seq_len': 3}
NEAR = (('task.memory_labels', ('uniform', 'near')),)
GROUPS = {'task__label_ranges': ((21, 25), (21, 33))}
# Name of a sweep: its model and what differs from SWEEP.
SWEEPS = {
    'transformer': ('transformer', {}),
    'flow': ('emb_mlp', SHORT | PLAIN),
    'groups': ('emb_mlp', SHORT | GROUPS),
    'near': ('emb_mlp', SHORT | {'static_axes': NEAR}),
}


def train_sweep(name: str, folder: pathlib.Path) -> None:
    """Trains one of SWEEPS for 20 steps, or the mixture."""
    if name == 'mixture':
        api.train(make_mixture(), folder, mesh=make_mesh(1))
        return
    model, fields = SWEEPS[name]
    api.train(make_experiment(model, **SWEEP | fields), folder)


def make_mixture() -> config.Experiment:
    """Two gammas on a few questions and stories, for four steps."""
    c = config.default(task='mixture')
    c.task.update(hops=1, num_sequences=6, num_heldout=2, seq_len=140, vocab=320)
    c.task.eval_examples = 2
    c.model.update(width=8, head_dim=4, mlp_dim=8, depth=1, max_len=140)
    c.train.update(batch_size=4, num_steps=4, eval_every=2, lanes=2)
    c.train.snapshot_steps = (2,)
    c.optimizer.warmup_steps = 0
    c.grid.gamma = (0.3, 0.8)
    return config.resolve(c)
