"""Whatever is wrong with P2's task: one clear line, or a task that can be traced."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from hypothesis import given
from hypothesis import strategies as st

from anchorjax import tasks
from anchorjax.tasks import MemoryReasoningConfig
from tests.support.fuzzing import NUMBERS, VALUES, fuzz, refused_or_right

DEFAULTS = dataclasses.asdict(MemoryReasoningConfig())
FIELDS = st.sampled_from([name for name in DEFAULTS if name != 'name'])
SHIFTS = st.sampled_from((-100, -10, -1, 1, 2, 10, 100, 10**4, 10**9))
ENDS = st.sampled_from((0, 1, 10, 21, 29, 30, 121, 161, 10**6, 2**62))
RANGES = st.tuples(ENDS, ENDS)
LISTS = st.lists(RANGES, max_size=3).map(tuple)


@st.composite
def mild_changes(draw: st.DrawFn) -> tuple[str, Any]:
    """(field, value) of the right type."""
    field = draw(FIELDS)
    value = DEFAULTS[field]
    if isinstance(value, bool):
        return field, not value
    if isinstance(value, int):
        return field, value + draw(SHIFTS)
    if field == 'memory_labels':
        return field, draw(st.sampled_from(('near', 'uniform')))
    if field in ('label_ranges', 'masked'):
        return field, draw(LISTS)
    return field, draw(RANGES)


CHANGES = mild_changes() | st.tuples(FIELDS, VALUES | st.sampled_from(NUMBERS))


def trace(config: MemoryReasoningConfig) -> None:
    """Shapes of a batch, the probes and the roles; nothing is computed."""
    task = tasks.make(config)

    def draw(key: jax.Array) -> Any:
        data = task.make_data(key)
        batch = task.batch(data, jnp.arange(2))
        return batch, task.probes(data), task.roles(batch.tokens_BT)

    batch, probes, _ = jax.eval_shape(draw, jax.random.key(0))
    assert batch.tokens_BT.shape == (2, config.seq_len)
    assert batch.targets_BQ.shape == (2, 1)
    num_probes = len(task.probe_names)
    assert probes.tokens_PBT.shape[0] == num_probes
    shape = (num_probes, 2, config.probe_examples, 1)
    assert probes.targets_PRBQ.shape == shape
    assert 1 <= task.num_train <= config.num_examples


def test_a_changed_task_is_one_line_or_can_be_traced():
    outcomes = []

    @fuzz(150)
    @given(st.lists(CHANGES, min_size=1, max_size=3))
    def check(changes):
        with refused_or_right():
            outcomes.append('refused')
            trace(MemoryReasoningConfig(**DEFAULTS | dict(changes)))
            outcomes[-1] = 'valid'

    check()
    assert outcomes.count('refused') >= 20
    assert outcomes.count('valid') >= 10
