"""The task of reasoning against memory (P2 Sec 2; PAPERS 2.1).

A sequence holds a key x and then q anchors of one kind; the rest is noise, which looks
like keys. Reasoning anchors are added to the key. With memory anchors the label is
random: one draw for each key and combination of anchors, the same whatever the noise
and the position. Combinations that are masked are never trained: only the sum answers
them.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from anchorjax.tasks.base import Batch, Probes, Task
from anchorjax.tasks.examples import draw_bits
from anchorjax.tasks.memory_reasoning.config import MemoryReasoningConfig
from anchorjax.tasks.memory_reasoning.labels import (
    combinations,
    draw_labels,
    memory_groups,
)

# assigned: the training label. sum: key plus anchors, also of memory anchors.
MAPPINGS = ('assigned', 'sum')


class Data(NamedTuple):
    """The examples of a seed."""

    key: jax.Array  # random key of the examples
    label: jax.Array  # [combination, key]


class Probe(NamedTuple):
    """What a probe asks: so many combinations from a first one on."""

    first: int  # a row of `combinations`
    number: int
    is_trained: bool


def make_data(config: MemoryReasoningConfig, key: jax.Array) -> Data:
    """The labels of one seed, and the key of its examples."""
    label_key, example_key = jax.random.split(key)
    return Data(example_key, draw_labels(config, label_key))


class Sequences(NamedTuple):
    """Sequences of the task, and what they ask."""

    tokens_BT: jax.Array
    x_B: jax.Array  # keys
    row_B: jax.Array  # rows of `combinations`


def draw_sequences(
    config: MemoryReasoningConfig,
    key: jax.Array,
    row_B: jax.Array,
    number_B: jax.Array,
) -> Sequences:
    """Sequences with uniform position, key and noise.

    The example with a given number is always the same: its random bits depend on
    (key, number) alone.

    Args:
      key: a random key.
      row_B: rows of `combinations`.
      number_B: numbers of the examples.
    """
    low, _ = config.keys
    bits_BT = draw_bits(key, number_B, config.seq_len + 2)
    position_B = (bits_BT[:, 0] % config.num_positions).astype(jnp.int32)
    keys_BT = (low + bits_BT[:, 1:] % config.num_keys).astype(jnp.int32)
    x_B = keys_BT[:, 0]
    noise_BT = keys_BT[:, 1:]
    anchors_Bq = jnp.asarray(combinations(config))[row_B]
    tokens_BT = place(noise_BT, position_B, x_B, anchors_Bq)
    return Sequences(tokens_BT, x_B, row_B)


def place(
    tokens_BT: jax.Array,
    position_B: jax.Array,
    x_B: jax.Array,
    anchors_Bq: jax.Array,
) -> jax.Array:
    """The tokens [B, T] with key and anchors written from `position_B` on."""
    items_BI = jnp.concatenate([x_B[:, None], anchors_Bq], axis=1)
    offset_BT = jnp.arange(tokens_BT.shape[1]) - position_B[:, None]
    for offset in range(items_BI.shape[1]):
        item_B1 = items_BI[:, offset : offset + 1]
        tokens_BT = jnp.where(offset_BT == offset, item_B1, tokens_BT)
    return tokens_BT


def role_names(config: MemoryReasoningConfig) -> tuple[str, ...]:
    """What a position can be: the key, one of the anchors, the last, or noise."""
    anchors = [f'anchor_{i + 1}' for i in range(config.q)]
    return ('key', *anchors, 'last', 'noise')


def roles(config: MemoryReasoningConfig, tokens_BT: jax.Array) -> jax.Array:
    """Index into `role_names` for every position, [B, T].

    The last position is 'last' unless the key or an anchor stands there.
    """
    names = role_names(config)
    position_T = jnp.arange(tokens_BT.shape[1])
    is_anchor_BT = jnp.zeros(tokens_BT.shape, bool)
    for first, end in (config.memory_anchors, config.reasoning_anchors):
        is_anchor_BT |= (tokens_BT >= first) & (tokens_BT < end)
    key_position_B1 = is_anchor_BT.argmax(-1)[:, None] - 1
    offset_BT = position_T - key_position_B1
    is_last_T = position_T == tokens_BT.shape[1] - 1
    other_T = jnp.where(is_last_T, names.index('last'), names.index('noise'))
    is_item_BT = (offset_BT >= 0) & (offset_BT <= config.q)
    return jnp.where(is_item_BT, offset_BT, other_T)  # the items' names come first


def list_probes(config: MemoryReasoningConfig) -> dict[str, Probe]:
    """The probes by name; without masked combinations there is no reasoning_test."""
    num_memory, num_trained = config.num_memory, config.num_trained
    probes = {
        'memory': Probe(0, num_memory, is_trained=True),
        'reasoning_train': Probe(num_memory, num_trained - num_memory, is_trained=True),
    }
    if config.masked:
        probes['reasoning_test'] = Probe(
            num_trained, len(config.masked), is_trained=False
        )
    return probes


def _draw_probe(config: MemoryReasoningConfig, data: Data, probe: Probe) -> Sequences:
    """Training examples, or new ones of the masked combinations; evenly over these."""
    i_B = jnp.arange(config.probe_examples)
    row_B = probe.first + i_B % probe.number
    if probe.is_trained:
        round_B = (i_B // probe.number) % config.num_per_combination
        number_B = round_B * config.num_trained + row_B
        return draw_sequences(config, data.key, row_B, number_B)
    new_key = jax.random.fold_in(data.key, config.num_examples)
    return draw_sequences(config, new_key, row_B, i_B)


def _name_groups(config: MemoryReasoningConfig) -> tuple[str, ...]:
    """The memory groups by their labels, then all reasoning; (): there is one group."""
    if not config.label_ranges:
        return ()
    names = [f'labels_{first}_{end - 1}' for first, end in config.label_ranges]
    return (*names, 'reasoning')


def make(config: MemoryReasoningConfig) -> Task:
    """The task of a config: pure functions, to be jitted and vmapped over seeds."""
    asked = list_probes(config)
    # NumPy: making a task must not touch a device.
    sums_of = combinations(config).sum(-1)
    groups_of = memory_groups(config)
    group_names = _name_groups(config)

    def find_labels(data: Data, drawn: Sequences) -> jax.Array:
        return data.label[drawn.row_B, drawn.x_B - config.keys[0]]

    def batch(data: Data, index_B: jax.Array) -> Batch:
        row_B = index_B % config.num_trained
        drawn = draw_sequences(config, data.key, row_B, index_B)
        return Batch(drawn.tokens_BT, find_labels(data, drawn)[:, None])

    def probes(data: Data) -> Probes:
        tokens, answers, groups = [], [], []
        for probe in asked.values():
            drawn = _draw_probe(config, data, probe)
            label_B = find_labels(data, drawn)
            sum_B = drawn.x_B + jnp.asarray(sums_of)[drawn.row_B]
            tokens.append(drawn.tokens_BT)
            answers.append(jnp.stack([label_B, sum_B]))
            groups.append(jnp.asarray(groups_of)[drawn.row_B])
        tokens_PBT = jnp.stack(tokens)
        answers_PRB = jnp.stack(answers)
        groups_PB = jnp.stack(groups) if group_names else None
        return Probes(tokens_PBT, answers_PRB[..., None], groups_PB=groups_PB)

    return Task(
        vocab=config.vocab,
        seq_len=config.seq_len,
        num_train=config.num_per_combination * config.num_trained,
        probe_names=tuple(asked),
        mapping_names=MAPPINGS,
        deviation=('reasoning_test', 'sum') if config.masked else None,
        offset_names={0: 'sum'} if config.masked else {},
        group_names=group_names,
        role_names=role_names(config),
        make_data=functools.partial(make_data, config),
        batch=batch,
        probes=probes,
        roles=functools.partial(roles, config),
    )
