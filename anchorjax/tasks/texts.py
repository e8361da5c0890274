"""Questions whose answer is a text: prompt, answer, END; what is trained and scored.

A text of L = T + 1 tokens gives T training positions: position t reads token t and is
asked for token t + 1. END also pads, as GPT-2's end of text does in the authors' runs
(DATASETS 1).
"""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.tasks import Batch, EvalSets

# Which positions count in the training loss.
#   answer              the answer and its END
#   answer_and_padding  all from the answer on, the padding too: the quirk of the
#                       authors' trainer, whose mean is dominated by padding
#   all                 every position: plain next-token prediction, padding too
#   text                every position of the text, without the padding
LossOn = Literal['answer', 'answer_and_padding', 'all', 'text']


class Texts(NamedTuple):
    """Texts of one length L, padded."""

    tokens_BL: jax.Array
    begin_B: jax.Array  # where the answer begins
    length_B: jax.Array  # tokens of the text, with its END


class Table(NamedTuple):
    """Many texts on the host, end to end in one array; each ends with its END."""

    tokens: np.ndarray  # [all tokens], of the smallest fitting type
    start_N: np.ndarray  # where each text starts, int32
    length_N: np.ndarray  # tokens of each text, int32
    begin_N: np.ndarray  # tokens of each text before its answer, int32


class Choice(NamedTuple):
    """Rows of a table or numbers of questions to evaluate."""

    row_B: jax.Array
    is_real_B: jax.Array  # False: padding of the eval set


def to_training_batch(texts: Texts, loss_on: LossOn) -> Batch:
    """Training sequences [B, T] and what counts in the loss."""
    return _ask(texts, _mark(texts, loss_on))


def to_scored_batch(texts: Texts, score_end: bool) -> Batch:
    """Sequences [B, T] to evaluate: scored is the answer, with END or without."""
    is_scored_BT = _mark(texts, 'answer')
    if not score_end:
        place_T = jnp.arange(1, texts.tokens_BL.shape[1])
        is_scored_BT &= place_T < texts.length_B[:, None] - 1
    return _ask(texts, is_scored_BT)


def read_table(table: Table, row_B: jax.Array, size: int, end: int) -> Texts:
    """The texts of these rows, [B, size], padded with END, or cut."""
    length_B = jnp.asarray(table.length_N)[row_B]
    place_L = jnp.arange(size)
    is_text_BL = place_L < length_B[:, None]
    address_BL = jnp.asarray(table.start_N)[row_B][:, None] + place_L
    address_BL = jnp.where(is_text_BL, address_BL, 0)
    tokens_BL = jnp.asarray(table.tokens)[address_BL].astype(jnp.int32)
    return Texts(
        jnp.where(is_text_BL, tokens_BL, end),
        jnp.asarray(table.begin_N)[row_B],
        length_B,
    )


def make_table(prompts: list[list[int]], answers: list[list[int]], end: int) -> Table:
    """The table of these texts; END is added to every answer."""
    tokens: list[int] = []
    starts, lengths, begins = [], [], []
    for prompt, answer in zip(prompts, answers, strict=True):
        starts.append(len(tokens))
        begins.append(len(prompt))
        lengths.append(len(prompt) + len(answer) + 1)
        tokens += prompt
        tokens += answer
        tokens.append(end)
    smallest = np.min_scalar_type(max(tokens))
    return Table(
        np.array(tokens, smallest),
        np.array(starts, np.int32),
        np.array(lengths, np.int32),
        np.array(begins, np.int32),
    )


def choose(first: int, count: int, size: int) -> Choice:
    """`size` consecutive numbers from `first`; at most `count` of them are real.

    Padding repeats the first number.
    """
    offset_B = jnp.arange(size)
    is_real_B = offset_B < count
    return Choice(first + jnp.where(is_real_B, offset_B, 0), is_real_B)


def join_eval_sets(
    asked: list[Batch], are_real: list[jax.Array], groups: list[jax.Array] | None = None
) -> EvalSets:
    """Eval sets of one mapping; what is not real, bool [B], gets no weight."""
    weights = []
    for batch, is_real_B in zip(asked, are_real, strict=True):
        is_real_B1 = is_real_B[:, None].astype(jnp.float32)
        own = batch.weights_BQ
        if own is None:
            own = jnp.ones(batch.targets_BQ.shape, jnp.float32)
        weights.append(own * is_real_B1)
    return EvalSets(
        jnp.stack([batch.tokens_BT for batch in asked]),
        jnp.stack([batch.targets_BQ for batch in asked])[:, None],
        jnp.stack(weights),
        None if groups is None else jnp.stack(groups),
    )


def _ask(texts: Texts, is_asked_BT: jax.Array) -> Batch:
    tokens_BL = texts.tokens_BL
    weights_BT = is_asked_BT.astype(jnp.float32)
    return Batch(tokens_BL[:, :-1], tokens_BL[:, 1:], weights_BT)


def _mark(texts: Texts, loss_on: LossOn) -> jax.Array:
    """Which positions count, bool [B, T]; position t is asked for token t + 1."""
    size = texts.tokens_BL.shape[1]
    place_BT = jnp.broadcast_to(jnp.arange(1, size), (len(texts.begin_B), size - 1))
    is_text_BT = place_BT < texts.length_B[:, None]
    is_behind_BT = place_BT >= texts.begin_B[:, None]
    if loss_on == 'all':
        return jnp.ones_like(is_text_BT)
    if loss_on == 'text':
        return is_text_BT
    if loss_on == 'answer_and_padding':
        return is_behind_BT
    return is_text_BT & is_behind_BT
