"""A CPU takes a large batch in slices, of which it keeps one at a time."""

import pytest

from anchorjax.sweeps.trainer import Trainer
from anchorjax.training.devices import make_mesh
from anchorjax.training.members import count_slices
from tests.support import cases


@pytest.mark.parametrize(
    ('batch_size', 'seq_len', 'size'),
    [(2048, 9, 128), (512, 4, 256), (3 * 512, 9, 96), (64, 4, 64), (999, 9, 999)],
)
def test_slices_are_halves_of_halves(batch_size, seq_len, size):
    assert count_slices(make_mesh(1), batch_size, seq_len) == batch_size // size


@pytest.mark.slow
def test_memory_does_not_grow_with_the_batch():
    sizes = []
    for batch_size in (192, 3072):
        experiment = cases.tiny(train__batch_size=batch_size)
        program = Trainer(experiment, make_mesh(1), lanes=1).compile(1)
        sizes.append(program.memory_analysis().temp_size_in_bytes)
    assert sizes[1] < 2 * sizes[0]
