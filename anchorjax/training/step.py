"""The training of one member as pure functions.

Every random draw depends on (seed, purpose, step) alone, so the state has no random
key, and a member that resumes at any step sees the batches it would have seen.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import chex
import jax
import jax.numpy as jnp
import optax
from flax import struct

from anchorjax.experiment import Experiment
from anchorjax.grid import DATA, INIT, ORDER, HParams, random_key
from anchorjax.models import init_params, mask_decay
from anchorjax.permutation import draw_epoch_batch
from anchorjax.tasks import Batch, Task
from anchorjax.training import losses, optimizers
from anchorjax.training.curves import Record, record_shapes
from anchorjax.training.evaluation import evaluate
from anchorjax.training.forward import Split, compute_logits, keep_whole


@struct.dataclass
class EarlyStop:
    """How near a member is to its stop (`TrainConfig.stop_loss`)."""

    # [] int32, rows in a row with a low loss; once they are stop_rows, all rows count.
    low_rows: jax.Array
    row_steps: jax.Array  # [] int32, steps of the last row, of which the sums are


@struct.dataclass
class TrainState:
    """All that a member needs to continue."""

    step: jax.Array  # [] int32, steps done
    params: Any
    opt_state: Any
    # [] int32, the first step whose loss or gradient is not finite; -1: none.
    diverged: jax.Array
    # Sums since the last record, so that a segment may be cut into pieces anywhere.
    loss_sum: jax.Array  # [] nats
    norm_sum: jax.Array  # []
    early_stop: EarlyStop | None  # None: it takes all steps


def init_member(experiment: Experiment, hparams: HParams) -> TrainState:
    """A new member; gamma scales the noise, which depends on the seed alone.

    Raises:
      UserError: it starts from a file that cannot be read.
    """
    key = random_key(hparams.seed, INIT)
    vocab = experiment.task.vocab
    params = init_params(experiment.model, vocab, hparams.gamma, key)
    return new_state(experiment, params)


def new_state(experiment: Experiment, params: Any) -> TrainState:
    """The state of a member that starts from these parameters, at step 0."""
    is_decayed = mask_decay(experiment.model, params)
    optimizer = optimizers.make_optimizer(experiment.optimizer, is_decayed)
    early_stop = EarlyStop(low_rows=jnp.int32(0), row_steps=jnp.int32(0))
    return TrainState(
        step=jnp.int32(0),
        params=params,
        opt_state=optimizer.init(params),
        diverged=jnp.int32(-1),
        loss_sum=jnp.float32(0),
        norm_sum=jnp.float32(0),
        early_stop=early_stop if experiment.train.stop_loss else None,
    )


def has_stopped(experiment: Experiment, state: TrainState) -> jax.Array:
    """Whether a member takes no more steps, []; of several members [M]."""
    if state.early_stop is None:
        return jnp.zeros(jnp.shape(state.step), bool)
    return state.early_stop.low_rows >= 2 * experiment.train.stop_rows


def train_step(
    experiment: Experiment,
    task: Task,
    data: Any,
    state: TrainState,
    hparams: HParams,
    split: Split = keep_whole,
    slices: int = 1,
) -> tuple[TrainState, jax.Array, jax.Array]:
    """One step of the optimizer on the batch of `state.step`.

    Args:
      slices: equal slices of the batch, taken one after the other. Their number changes
        the rounding alone.

    Returns:
      The new state, the loss [] in nats, and the gradient norm [] before clipping.
    """
    size = experiment.train.batch_size
    batch = split(_draw_batch(experiment, task, data, state.step, hparams))
    num_scored = 1 if task.last_only else task.seq_len
    chex.assert_shape(batch.tokens_BT, (size, task.seq_len))
    chex.assert_shape(batch.targets_BQ, (size, num_scored))

    is_mixed = experiment.train.precision == 'bfloat16'
    dtype = jnp.bfloat16 if is_mixed else jnp.float32

    def loss_of(params: Any, batch: Batch) -> jax.Array:
        logits_BQV = compute_logits(
            experiment, params, batch.tokens_BT, task.last_only, dtype
        )
        chex.assert_shape(logits_BQV, (*batch.targets_BQ.shape, task.vocab))
        loss_BQ = losses.cross_entropy(logits_BQV, batch.targets_BQ)
        return losses.weighted_mean(loss_BQ, batch.weights_BQ)

    loss, grads = _sum_slices(loss_of, state.params, batch, slices)
    norm = optax.tree.norm(grads)
    rate = optimizers.learning_rate(
        experiment.optimizer, hparams.learning_rate, state.step
    )
    is_decayed = mask_decay(experiment.model, state.params)
    decay = hparams.weight_decay
    if hparams.decay_window is not None:
        decay *= optimizers.decay_shape(
            experiment.optimizer,
            hparams.decay_window,
            state.step,
            experiment.train.num_steps,
        )
    optimizer = optimizers.make_optimizer(experiment.optimizer, is_decayed, rate, decay)
    updates, opt_state = optimizer.update(grads, state.opt_state, state.params)
    params = optax.apply_updates(state.params, updates)
    is_finite = jnp.isfinite(loss) & jnp.isfinite(norm)
    diverges_now = (state.diverged < 0) & ~is_finite
    next_state = dataclasses.replace(
        state,
        step=state.step + 1,
        params=params,
        opt_state=opt_state,
        diverged=jnp.where(diverges_now, state.step, state.diverged),
        loss_sum=state.loss_sum + loss,
        norm_sum=state.norm_sum + norm,
    )
    return next_state, loss, norm


def _sum_slices(
    loss_of: Callable[[Any, Batch], jax.Array], params: Any, batch: Batch, slices: int
) -> tuple[jax.Array, Any]:
    """Loss and gradient of a batch: sums over slices of it, one after the other."""
    if slices == 1:
        return jax.value_and_grad(loss_of)(params, batch)

    def loss_of_slice(params: Any, part: Batch) -> jax.Array:
        share = 1 / slices
        whole, own = batch.weights_BQ, part.weights_BQ
        if whole is not None and own is not None:
            share = own.sum() / jnp.maximum(whole.sum(), 1e-9)
        return share * loss_of(params, part)

    def add_slice(sums: tuple, part: Batch) -> tuple[tuple, None]:
        of_slice = jax.value_and_grad(loss_of_slice)(params, part)
        return jax.tree.map(jnp.add, sums, of_slice), None

    parts = jax.tree.map(lambda x: x.reshape(slices, -1, *x.shape[1:]), batch)
    zeros = jax.tree.map(jnp.zeros_like, (jnp.float32(0), params))
    sums, _ = jax.lax.scan(add_slice, zeros, parts)
    return sums


def _draw_batch(
    experiment: Experiment,
    task: Task,
    data: Any,
    step: jax.Array,
    hparams: HParams,
) -> Batch:
    """The training examples of a step."""
    size = experiment.train.batch_size
    order_key = random_key(hparams.seed, ORDER)
    return task.batch(data, draw_epoch_batch(order_key, step, size, task.num_train))


def train_segment(
    experiment: Experiment,
    state: TrainState,
    hparams: HParams,
    num_steps: jax.Array,
    before: jax.Array | int = 0,
    is_end: jax.Array | bool = True,
    split: Split = keep_whole,
    slices: int = 1,
) -> tuple[TrainState, Record]:
    """Takes `num_steps` steps and, if `is_end`, evaluates.

    Args:
      num_steps: [] int32, traced: one compilation serves any number.
      before: [] steps of the segment that earlier pieces took; the means of the Record
        include them. Cutting a segment into pieces changes no bit.
      is_end: [] whether the segment ends with this piece. If not, nothing is
        evaluated, and the scores of the Record are NaN.
      split: divides a batch among devices.
      slices: as in `train_step`.
    """
    task = experiment.task.make()
    data = task.make_data(random_key(hparams.seed, DATA))
    is_new_segment = before == 0
    total = before + num_steps
    if state.early_stop is not None:  # a row after the stop is like the one before
        stopped = has_stopped(experiment, state)
        num_steps = jnp.where(stopped, 0, num_steps)
        is_new_segment &= ~stopped
        total = jnp.where(stopped, state.early_stop.row_steps, total)
    state = dataclasses.replace(
        state,
        loss_sum=jnp.where(is_new_segment, jnp.float32(0), state.loss_sum),
        norm_sum=jnp.where(is_new_segment, jnp.float32(0), state.norm_sum),
    )

    def take_step(_: jax.Array, state: TrainState) -> TrainState:
        next_state, _, _ = train_step(
            experiment, task, data, state, hparams, split, slices
        )
        return next_state

    state = jax.lax.fori_loop(0, num_steps, take_step, state)
    mean_loss = state.loss_sum / total
    if state.early_stop is not None:
        early_stop = _count_low_rows(experiment, state.early_stop, mean_loss, total)
        early_stop = jax.tree.map(
            functools.partial(jnp.where, is_end), early_stop, state.early_stop
        )
        state = dataclasses.replace(state, early_stop=early_stop)

    def score() -> dict[str, jax.Array]:
        return evaluate(experiment, task, data, state.params, split)

    def skip() -> dict[str, jax.Array]:
        # Not the shapes of `score`: it would be traced, and its data placed, twice.
        shapes = record_shapes(task)._asdict()
        del shapes['train_loss'], shapes['grad_norm']
        empty = {}
        for name, shape in shapes.items():
            empty[name] = jnp.full(shape, jnp.nan, jnp.float32)
        return empty

    scores = jax.lax.cond(is_end, score, skip)
    record = Record(mean_loss, state.norm_sum / total, **scores)
    return state, record


def _count_low_rows(
    experiment: Experiment, before: EarlyStop, mean_loss: jax.Array, steps: jax.Array
) -> EarlyStop:
    """The EarlyStop after a row with this mean loss over so many steps."""
    train = experiment.train
    is_leaving = before.low_rows >= train.stop_rows
    counts = is_leaving | (mean_loss < train.stop_loss)
    low_rows = jnp.where(counts, before.low_rows + 1, 0)
    return EarlyStop(jnp.minimum(low_rows, 2 * train.stop_rows), jnp.int32(steps))
