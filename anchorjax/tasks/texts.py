"""Tasks whose examples are texts: a table of them, a split of its rows, a scorer.

Each text is a prompt, an answer and END. A text of L = T + 1 tokens gives T training
positions: position t reads token t and is asked for token t + 1. END also pads, as
GPT-2's end of text does in the authors' runs (DATASETS 1).
"""

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.tasks import Batch, EvalSets, Task

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
    group_N: np.ndarray  # of each text, an index into Task.group_names, int32


class Asked(NamedTuple):
    """An eval set: the rows of `count` numbers from `first` on."""

    find: Callable[[jax.Array, jax.Array], jax.Array]  # (key, number_B) -> row_B
    first: int
    count: int


class TextTask:
    """The config of a text task, which says what its examples are.

    `make_table` (or `read`) has its texts, `train` those that are trained, `list_asked`
    those that are asked, `score` what of an answer counts. The data of a seed is the
    random key that orders the texts.
    """

    # Fields or properties of every subclass.
    vocab: int
    seq_len: int
    num_train: int
    eval_examples: int
    loss_on: LossOn = 'text'
    score_end: bool = True  # whether END belongs to the answer
    last_only: bool = False  # the last token alone is the answer

    def make(self) -> Task:
        """Subclasses replace what else their task has: groups, files, ..."""
        return Task(
            vocab=self.vocab,
            seq_len=self.seq_len,
            num_train=self.num_train,
            eval_set_names=tuple(self.list_asked()),
            make_data=lambda key: key,
            batch=self.make_batch,
            eval_sets=self.make_eval_sets,
            last_only=self.last_only,
        )

    def make_table(self) -> Table:
        """All texts; it may read files."""
        raise NotImplementedError

    def read(self, row_B: jax.Array) -> Texts:
        """The texts of these rows of the table."""
        return read_table(self.make_table(), row_B, self.seq_len + 1)

    def train(self, key: jax.Array, number_B: jax.Array) -> jax.Array:
        """The rows [B] of the training examples with these numbers."""
        raise NotImplementedError

    def list_asked(self) -> dict[str, Asked]:
        """What each eval set asks."""
        raise NotImplementedError

    def score(self, eval_set: str, read: Texts) -> Batch:
        """What counts of these texts in an eval set."""
        return to_scored_batch(read, self.score_end)

    def find_groups(self, row_B: jax.Array) -> jax.Array:
        """The group of each row, [B], an index into Task.group_names."""
        return jnp.asarray(self.make_table().group_N)[row_B]

    def draw_asked(self, key: jax.Array) -> dict[str, tuple[jax.Array, jax.Array]]:
        """{eval set: (rows, whether each is real and not padding)}, both [B]."""
        drawn = {}
        for name, (find, first, count) in self.list_asked().items():
            number_B, is_real_B = count_up(count, self.eval_examples)
            drawn[name] = find(key, first + number_B), is_real_B
        return drawn

    def make_batch(self, key: jax.Array, number_B: jax.Array) -> Batch:
        """The training examples with these numbers."""
        read = self.read(self.train(key, number_B))
        batch = to_training_batch(read, self.loss_on)
        return keep_last(batch) if self.last_only else batch

    def make_eval_sets(self, key: jax.Array) -> EvalSets:
        asked, are_real, groups = [], [], []
        for name, (row_B, is_real_B) in self.draw_asked(key).items():
            read = self.read(row_B)
            batch = self.score(name, read)
            asked.append(keep_last(batch) if self.last_only else batch)
            are_real.append(is_real_B)
            groups.append(self.find_groups(row_B))
        return join_eval_sets(asked, are_real, groups)


def find_row(key: jax.Array, number_B: jax.Array) -> jax.Array:
    """Rows that are numbered as they stand, whatever the key."""
    return number_B


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


def keep_last(batch: Batch) -> Batch:
    """The same sequences, of which the last token alone is asked."""
    return Batch(batch.tokens_BT, batch.targets_BQ[:, -1:])


def read_table(table: Table, row_B: jax.Array, size: int) -> Texts:
    """The texts of these rows, [B, size], padded with END, or cut."""
    length_B = jnp.asarray(table.length_N)[row_B]
    place_L = jnp.arange(size)
    is_text_BL = place_L < length_B[:, None]
    address_BL = jnp.asarray(table.start_N)[row_B][:, None] + place_L
    address_BL = jnp.where(is_text_BL, address_BL, 0)
    tokens_BL = jnp.asarray(table.tokens)[address_BL].astype(jnp.int32)
    return Texts(
        jnp.where(is_text_BL, tokens_BL, int(table.tokens[-1])),
        jnp.asarray(table.begin_N)[row_B],
        length_B,
    )


def make_table(texts: Iterable[tuple[list[int], list[int], int]], end: int) -> Table:
    """The table of texts (prompt, answer, group); END is added to every answer."""
    tokens: list[int] = []
    rows = []
    for prompt, answer, group in texts:
        rows.append((len(tokens), len(prompt) + len(answer) + 1, len(prompt), group))
        tokens += [*prompt, *answer, end]
    columns = np.array(rows, np.int32).T
    return Table(np.array(tokens, np.min_scalar_type(max(tokens))), *columns)


def count_up(count: int, size: int) -> tuple[jax.Array, jax.Array]:
    """(the numbers from 0, whether each is below `count`), [size]; others are 0."""
    number_B = jnp.arange(size)
    is_real_B = number_B < count
    return jnp.where(is_real_B, number_B, 0), is_real_B


def join_eval_sets(
    asked: list[Batch], are_real: list[jax.Array], groups: list[jax.Array | None]
) -> EvalSets:
    """Eval sets of one mapping; what is not real, bool [B], gets no weight."""
    weights = []
    for batch, is_real_B in zip(asked, are_real, strict=True):
        is_real_B1 = is_real_B[:, None].astype(jnp.float32)
        own = batch.weights_BQ
        if own is None:
            own = jnp.ones(batch.targets_BQ.shape, jnp.float32)
        weights.append(own * is_real_B1)
    known = [group_B for group_B in groups if group_B is not None]
    return EvalSets(
        jnp.stack([batch.tokens_BT for batch in asked]),
        jnp.stack([batch.targets_BQ for batch in asked])[:, None],
        jnp.stack(weights),
        jnp.stack(known) if known else None,
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
