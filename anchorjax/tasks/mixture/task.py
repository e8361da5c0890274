"""Next-token prediction on PrOntoQA with proofs and on stories (P2 Figs 1, 7).

Half of the sequences are of each source, and the loss of each is recorded: the probes
are trained and held-out sequences of both. P2 compares them by
Delta L = (L_stories - L_prontoqa) / L_prontoqa (PAPERS 2.3).
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp

from anchorjax.errors import ConfigError
from anchorjax.tasks import texts
from anchorjax.tasks.base import Batch, Probes, Task
from anchorjax.tasks.corpus.token_files import digest_corpora
from anchorjax.tasks.mixture.config import MixtureConfig
from anchorjax.tasks.mixture.sources import SOURCES, Mixture, make_mixture

PROBES = ('prontoqa', 'stories', 'prontoqa_heldout', 'stories_heldout')


def read_mixture(config: MixtureConfig) -> Mixture:
    """The sequences; they do not depend on what the probes show or the vocabulary.

    Raises:
      ConfigError: task.vocab is too small for them.
    """
    same = dataclasses.replace(config, vocab=2, probe_examples=1)
    mixture = make_mixture(same)
    if mixture.vocab > config.vocab:
        raise ConfigError(
            f'task.vocab = {config.vocab}: must be at least the {mixture.vocab} tokens '
            'of both sources'
        )
    return mixture


def describe_cut(config: MixtureConfig) -> str:
    """How many questions are longer than a sequence; most of them lose the judgement.

    Raises:
      UserError: as `read_mixture` and `make_mixture`.
    """
    num_cut = read_mixture(config).num_cut
    return (
        f'{num_cut:,} of {config.num_all:,} questions of PrOntoQA are longer than '
        f'task.seq_len, {config.seq_len} tokens, and are cut'
    )


def make_batch(config: MixtureConfig, index_B: jax.Array) -> Batch:
    """The training examples with these numbers, PrOntoQA's before the stories."""
    number = config.num_sequences
    of_sources = []
    for source in SOURCES:
        of_sources.append(_ask(config, source, index_B % number))
    is_first_B1 = index_B[:, None] < number

    def choose(first: jax.Array, second: jax.Array) -> jax.Array:
        return jnp.where(is_first_B1, first, second)

    return jax.tree.map(choose, *of_sources)


def make_probes(config: MixtureConfig) -> Probes:
    """The first trained sequences of each source, and the held-out ones."""
    size = config.probe_examples
    trained = (0, config.num_sequences)
    heldout = (config.num_sequences, config.num_heldout)
    asked = []
    are_real = []
    for first, count in (trained, heldout):
        chosen = texts.choose(first, count, size)
        for source in SOURCES:
            asked.append(_ask(config, source, chosen.row_B))
            are_real.append(chosen.is_real_B)
    return texts.join_probes(asked, are_real)


def _ask(config: MixtureConfig, source: str, row_B: jax.Array) -> Batch:
    """Sequences of a source; padding does not count."""
    tokens_NL, length_N = read_mixture(config).sequences[source]
    tokens_BL = jnp.asarray(tokens_NL)[row_B]
    length_B = jnp.asarray(length_N)[row_B]
    read = texts.Texts(tokens_BL, jnp.zeros_like(length_B), length_B)
    return texts.to_training_batch(read, 'text')


def make(config: MixtureConfig) -> Task:
    """The task of a config; seeds differ in initialization and order alone."""
    return Task(
        vocab=config.vocab,
        seq_len=config.seq_len,
        num_train=2 * config.num_sequences,
        probe_names=PROBES,
        make_data=lambda key: key,
        batch=lambda key, index_B: make_batch(config, index_B),
        probes=lambda key: make_probes(config),
        describe_data=functools.partial(describe_cut, config),
        digest_data=functools.partial(
            digest_corpora, config.story_path, config.reasoning_path
        ),
        last_only=False,
        is_text_alone=True,
    )
