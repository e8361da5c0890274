"""A task to time language models: the next token of random text, at every position."""

import contextlib
import dataclasses
from collections.abc import Iterator

import jax
import jax.numpy as jnp

from anchorjax import tasks
from anchorjax.tasks import Batch, Probes, Task

NUM_TEXTS = 8_192


@dataclasses.dataclass(frozen=True)
class NextTokenConfig:
    """By default as long as SCAN in words: at most 60 tokens (DATASETS 2)."""

    name: str = 'next_token'
    seq_len: int = 64
    vocab: int = 64

    def make(self) -> Task:
        """Every position but the last is asked for its successor."""
        return Task(
            vocab=self.vocab,
            seq_len=self.seq_len,
            num_train=NUM_TEXTS,
            probe_names=('first',),
            make_data=self.draw_texts,
            batch=make_batch,
            probes=make_probes,
            last_only=False,
        )

    def draw_texts(self, key: jax.Array) -> jax.Array:
        return jax.random.randint(key, (NUM_TEXTS, self.seq_len), 0, self.vocab)


def make_batch(texts: jax.Array, index_B: jax.Array) -> Batch:
    tokens_BT = texts[index_B]
    targets_BT = jnp.roll(tokens_BT, -1, axis=1)
    weights_BT = jnp.ones(tokens_BT.shape).at[:, -1].set(0)
    return Batch(tokens_BT, targets_BT, weights_BT)


def make_probes(texts: jax.Array) -> Probes:
    """A single text: an evaluation ends every timed segment."""
    batch = make_batch(texts, jnp.zeros(1, jnp.int32))
    return Probes(
        batch.tokens_BT[None], batch.targets_BQ[None, None], batch.weights_BQ[None]
    )


@contextlib.contextmanager
def add_next_token_task() -> Iterator[None]:
    """Enters the task in TASKS while a measurement needs it."""
    tasks.TASKS['next_token'] = NextTokenConfig
    try:
        yield
    finally:
        del tasks.TASKS['next_token']
