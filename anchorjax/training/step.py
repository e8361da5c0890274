"""One member's training as pure functions: no file, no print, no knowledge of its neighbours.

Every random draw hangs on (seed, its purpose, step), so a state carries no random state, and a
member resumed at any step sees the batches it would have seen.
"""

from collections.abc import Callable
from typing import Any

import chex
import jax
import jax.numpy as jnp
from flax import struct

from anchorjax import models, tasks
from anchorjax.config import Experiment
from anchorjax.config.grid import DATA, INIT, ORDER, HParams, random_key
from anchorjax.training import losses, optimizers
from anchorjax.training.curves import DEVIATION_LIMIT, Record


@struct.dataclass
class TrainState:
    """All that a member needs to go on."""

    step: jax.Array  # int32, steps done
    params: Any
    opt_state: Any
    diverged: (
        jax.Array
    )  # int32, first step whose loss or gradient was not finite; -1: none
    loss_sum: (
        jax.Array
    )  # [] of the losses since the last record, so a segment may be cut anywhere
    norm_sum: jax.Array  # [] of the gradient's norms, likewise


def init_member(experiment: Experiment, hparams: HParams) -> TrainState:
    """A new member; the same seed at another gamma is the same noise scaled."""
    module = models.make(experiment.model, experiment.task.vocab, hparams.gamma)
    tokens_BT = jnp.zeros((1, experiment.task.seq_len), jnp.int32)
    return new_state(
        experiment, module.init(random_key(hparams.seed, INIT), tokens_BT)['params']
    )


def new_state(experiment: Experiment, params) -> TrainState:
    """The state of a member that starts from these parameters."""
    opt_state = optimizers.make_tx(experiment.optimizer).init(params)
    zero = jnp.float32(0)
    return TrainState(jnp.int32(0), params, opt_state, jnp.int32(-1), zero, zero)


def forward(experiment: Experiment, params, tokens_BT, last_only: bool = True):
    """Activations of a member, [B, T] tokens in."""
    module = models.make(experiment.model, experiment.task.vocab, gamma=0.0)
    return module.apply({'params': params}, tokens_BT, last_only)


def train_step(
    experiment: Experiment,
    task: tasks.Task,
    data,
    state: TrainState,
    hparams: HParams,
    split: Callable = lambda batch: batch,
) -> tuple[TrainState, jax.Array, jax.Array]:
    """One AdamW step on the batch of `state.step`: (state, loss, norm of the gradient).

    Args:
      split: says where the rows of a batch are computed (sharding.batch_splitter).
    """
    num, size = task.num_train, experiment.train.batch_size
    index_B = tasks.epoch_batch(random_key(hparams.seed, ORDER), state.step, size, num)
    batch = split(task.batch(data, index_B))
    chex.assert_shape(batch.tokens_BT, (size, task.seq_len))
    chex.assert_shape(batch.labels_B, (size,))

    def loss_of(params):
        logits_BV = forward(experiment, params, batch.tokens_BT).logits[:, -1]
        chex.assert_shape(logits_BV, (size, task.vocab))
        return losses.cross_entropy(logits_BV, batch.labels_B)

    loss, grads = jax.value_and_grad(loss_of)(state.params)
    norm = optimizers.global_norm(grads)
    updates, opt_state = optimizers.make_tx(experiment.optimizer).update(
        grads, state.opt_state
    )
    rate = optimizers.learning_rate(
        experiment.optimizer, hparams.learning_rate, state.step
    )
    params = optimizers.apply(state.params, updates, rate, hparams.weight_decay)
    bad = (state.diverged < 0) & ~(jnp.isfinite(loss) & jnp.isfinite(norm))
    diverged = jnp.where(bad, state.step, state.diverged)
    next_state = TrainState(
        step=state.step + 1,
        params=params,
        opt_state=opt_state,
        diverged=diverged,
        loss_sum=state.loss_sum + loss,
        norm_sum=state.norm_sum + norm,
    )
    return next_state, loss, norm


def train_segment(
    experiment: Experiment,
    state: TrainState,
    hparams: HParams,
    num_steps,
    before=0,
    split: Callable = lambda batch: batch,
) -> tuple[TrainState, Record]:
    """`num_steps` steps (traced: one compilation for every length), then a Record.

    Args:
      before: steps done since the last record; the Record is the mean over them as well. A
        segment cut into pieces gives the bits of the whole one.
    """
    task = tasks.make(experiment.task)
    data = task.make_data(random_key(hparams.seed, DATA))
    fresh = lambda total: jnp.where(before == 0, jnp.float32(0), total)
    state = state.replace(
        loss_sum=fresh(state.loss_sum), norm_sum=fresh(state.norm_sum)
    )
    step = lambda _, state: train_step(experiment, task, data, state, hparams, split)[0]
    state = jax.lax.fori_loop(0, num_steps, step, state)
    total = before + num_steps
    scores = evaluate(experiment, task, data, state.params, split)
    return state, Record(state.loss_sum / total, state.norm_sum / total, *scores)


def evaluate(experiment: Experiment, task: tasks.Task, data, params, split: Callable):
    """(probe_loss [P], agreement [P, R], deviation) of a member on its probes."""
    tokens_PBT, labels_PRB = task.probes(data)
    shape = tokens_PBT.shape
    num_probes, num_mappings = len(task.probe_names), len(task.mapping_names)
    chex.assert_shape(tokens_PBT, (num_probes, None, task.seq_len))
    chex.assert_shape(labels_PRB, (num_probes, num_mappings, shape[1]))
    tokens_BT = split(tokens_PBT.reshape(-1, shape[-1]))
    logits_PBV = (
        forward(experiment, params, tokens_BT).logits[:, -1].reshape(*shape[:2], -1)
    )
    predicted_PB = logits_PBV.argmax(-1)
    names = task.mapping_names
    assigned_PB = labels_PRB[:, names.index('assigned')]
    loss_P = jax.vmap(losses.cross_entropy)(logits_PBV, assigned_PB)
    agreement_PR = jax.vmap(losses.agreement)(predicted_PB, labels_PRB)
    unseen = task.probe_names.index('unseen')
    off_B = predicted_PB[unseen] - labels_PRB[unseen, names.index('inferential')]
    return loss_P, agreement_PR, losses.histogram(off_B, DEVIATION_LIMIT)
