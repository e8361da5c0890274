"""What a member answers on the eval sets of its task: losses and agreements."""

from typing import Any

import chex
import jax
import jax.numpy as jnp

from anchorjax.experiment import Experiment
from anchorjax.tasks import EvalSets, Task
from anchorjax.training import losses
from anchorjax.training.curves import DEVIATION_LIMIT
from anchorjax.training.forward import Split, compute_logits, keep_whole


def evaluate(
    experiment: Experiment,
    task: Task,
    data: Any,
    params: Any,
    split: Split = keep_whole,
) -> dict[str, jax.Array]:
    """The fields of a Record, from eval_set_loss [P] on: the answers to eval sets."""
    eval_sets = task.eval_sets(data)
    num_eval_sets, size, length = eval_sets.tokens_PBT.shape
    num_scored = 1 if task.last_only else length
    num_mappings = len(task.mapping_names)
    chex.assert_shape(
        eval_sets.tokens_PBT, (len(task.eval_set_names), size, task.seq_len)
    )
    chex.assert_shape(
        eval_sets.targets_PRBQ, (num_eval_sets, num_mappings, size, num_scored)
    )

    trained = task.mapping_names.index(task.trained_mapping)
    trained_PBQ = eval_sets.targets_PRBQ[:, trained]
    predictions_BQ, loss_BQ = _answer(
        experiment,
        task,
        params,
        eval_sets.tokens_PBT.reshape(-1, length),
        trained_PBQ.reshape(-1, num_scored),
        split,
    )
    loss_PBQ = loss_BQ.reshape(trained_PBQ.shape)
    predictions_PBQ = predictions_BQ.reshape(trained_PBQ.shape)

    def score_eval_set(p: int) -> tuple[jax.Array, ...]:
        weights_BQ = None if eval_sets.weights_PBQ is None else eval_sets.weights_PBQ[p]
        right_RB = losses.exact_match(
            predictions_PBQ[p], eval_sets.targets_PRBQ[p], weights_BQ
        )
        counts_B = losses.is_scored(predictions_PBQ[p], weights_BQ)
        group_B = jnp.full(size, -1)  # of no group
        if eval_sets.groups_PB is not None:
            group_B = eval_sets.groups_PB[p]
        return (
            losses.weighted_mean(loss_PBQ[p], weights_BQ),
            losses.share(right_RB, counts_B),
            losses.token_share(
                predictions_PBQ[p], eval_sets.targets_PRBQ[p], weights_BQ
            ),
            losses.share_by_group(right_RB, counts_B, group_B, len(task.group_names)),
        )

    scores = [score_eval_set(p) for p in range(num_eval_sets)]
    loss, agreement, token_agreement, by_group = zip(*scores, strict=True)
    return {
        'eval_set_loss': jnp.stack(loss),
        'agreement': jnp.stack(agreement),
        'token_agreement': jnp.stack(token_agreement),
        'agreement_by_group': jnp.stack(by_group),
        'deviation': _deviation(task, predictions_PBQ, eval_sets),
    }


def _answer(
    experiment: Experiment,
    task: Task,
    params: Any,
    tokens_BT: jax.Array,
    targets_BQ: jax.Array,
    split: Split,
) -> tuple[jax.Array, jax.Array]:
    """(predictions, losses in nats) at the scored positions of any number of sequences.

    In pieces of the size of a batch, so that an evaluation takes no more memory than a
    training step.
    """
    total = len(tokens_BT)
    size = min(experiment.train.batch_size, total)
    num_pieces = -(-total // size)
    padding = num_pieces * size - total

    def cut(rows: jax.Array) -> jax.Array:
        padded = jnp.concatenate([rows, rows[:padding]])
        return padded.reshape(num_pieces, size, *rows.shape[1:])

    def answer(piece: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        tokens_BT, targets_BQ = split(piece)
        logits_BQV = compute_logits(experiment, params, tokens_BT, task.last_only)
        chex.assert_shape(logits_BQV, (*targets_BQ.shape, task.vocab))
        loss_BQ = losses.cross_entropy(logits_BQV, targets_BQ)
        return logits_BQV.argmax(-1), loss_BQ

    pieces = jax.lax.map(answer, (cut(tokens_BT), cut(targets_BQ)))

    def join(rows: jax.Array) -> jax.Array:
        return rows.reshape(num_pieces * size, *rows.shape[2:])[:total]

    return jax.tree.map(join, pieces)


def _deviation(
    task: Task, predictions_PBQ: jax.Array, eval_sets: EvalSets
) -> jax.Array:
    """Histogram of prediction minus answer at the last position, [offset] or [0]."""
    if task.deviation is None:
        return jnp.zeros(0, jnp.float32)
    eval_set = task.eval_set_names.index(task.deviation[0])
    mapping = task.mapping_names.index(task.deviation[1])
    deviation_B = predictions_PBQ[eval_set] - eval_sets.targets_PRBQ[eval_set, mapping]
    counts_B = None
    if eval_sets.weights_PBQ is not None:  # padding is no answer
        counts_B = losses.is_scored(
            predictions_PBQ[eval_set], eval_sets.weights_PBQ[eval_set]
        )
    return losses.histogram(deviation_B[:, -1], DEVIATION_LIMIT, counts_B)
