"""A toy task whose answer is a sequence: copy a word, 'a b c | a b c'."""

import dataclasses
from typing import Annotated

import jax
import jax.numpy as jnp

from anchorjax import tasks
from anchorjax.limits import at_least, at_most, check_fields

PAD, SEPARATOR = 0, 1  # letters are 2, 3, ...


@dataclasses.dataclass(frozen=True)
class CopyConfig:
    name: str = 'copy'
    longest: Annotated[int, at_least(1), at_most(10)] = 3  # letters of a word
    num_letters: Annotated[int, at_least(2)] = 4
    num_examples: Annotated[int, at_least(1)] = 64

    def __post_init__(self) -> None:
        check_fields(self, 'task')

    def make(self) -> tasks.Task:
        return make_copy(self)

    @property
    def seq_len(self) -> int:
        return 2 * self.longest

    @property
    def vocab(self) -> int:
        return self.num_letters + 2


def spell(config: CopyConfig, words_BT: jax.Array, length_B: jax.Array) -> tasks.Batch:
    """The word, a separator, and the word without its last letter.

    Asked are the positions from the separator on: what follows them is the word again.
    """
    length_B1 = length_B[:, None]
    position_BT = jnp.arange(config.seq_len) - jnp.zeros_like(length_B1)
    again_BT = jnp.clip(position_BT - length_B1 - 1, 0)
    repeated_BT = jnp.take_along_axis(words_BT, again_BT, axis=1)
    tokens_BT = jnp.where(position_BT < length_B1, words_BT, repeated_BT)
    tokens_BT = jnp.where(position_BT == length_B1, SEPARATOR, tokens_BT)
    tokens_BT = jnp.where(position_BT >= 2 * length_B1, PAD, tokens_BT)
    is_asked_BT = (position_BT >= length_B1) & (position_BT < 2 * length_B1)
    answer_BT = jnp.clip(position_BT - length_B1, 0)
    targets_BT = jnp.take_along_axis(words_BT, answer_BT, axis=1)
    targets_BT = jnp.where(is_asked_BT, targets_BT, PAD)
    return tasks.Batch(tokens_BT, targets_BT, is_asked_BT.astype(jnp.float32))


def draw_words(
    config: CopyConfig, key: jax.Array, index_B: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """(letters [B, T], lengths [B]); an example depends on its number alone."""

    def draw(index: jax.Array) -> tuple[jax.Array, jax.Array]:
        letters_key, length_key = jax.random.split(jax.random.fold_in(key, index))
        letters_T = jax.random.randint(
            letters_key, (config.seq_len,), 2, config.num_letters + 2
        )
        return letters_T, jax.random.randint(length_key, (), 1, config.longest + 1)

    return jax.vmap(draw)(index_B)


def reverse_answers(batch: tasks.Batch) -> jax.Array:
    """The targets of a network that writes the word backwards."""
    position_T = jnp.arange(batch.targets_BQ.shape[1])
    length_B1 = batch.weights_BQ.sum(-1, keepdims=True).astype(jnp.int32)
    mirrored_BT = jnp.clip(3 * length_B1 - 1 - position_T, 0, len(position_T) - 1)
    reversed_BT = jnp.take_along_axis(batch.targets_BQ, mirrored_BT, axis=1)
    return jnp.where(batch.weights_BQ > 0, reversed_BT, PAD)


def make_copy(config: CopyConfig) -> tasks.Task:
    def batch(data: jax.Array, index_B: jax.Array) -> tasks.Batch:
        return spell(config, *draw_words(config, data, index_B))

    def probes(data: jax.Array) -> tasks.Probes:
        """Training words; new words, of which the last ones are padding."""
        number = config.num_examples
        trained = batch(data, jnp.arange(number))
        new = batch(data, number + jnp.arange(number))
        is_real_B1 = jnp.arange(number)[:, None] < number - 5
        new = new._replace(weights_BQ=new.weights_BQ * is_real_B1)
        both = (trained, new)
        targets = [jnp.stack([b.targets_BQ, reverse_answers(b)]) for b in both]
        return tasks.Probes(
            jnp.stack([b.tokens_BT for b in both]),
            jnp.stack(targets),
            jnp.stack([b.weights_BQ for b in both]),
        )

    return tasks.Task(
        vocab=config.vocab,
        seq_len=config.seq_len,
        num_train=config.num_examples,
        last_only=False,
        probe_names=('trained', 'new'),
        mapping_names=('copied', 'reversed'),
        trained_mapping='copied',
        deviation=None,
        role_names=('token',),
        make_data=lambda key: key,
        batch=batch,
        probes=probes,
        roles=jnp.zeros_like,
    )
