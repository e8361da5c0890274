"""A CPU takes a large batch in slices, of which it keeps one at a time."""

import pytest

from anchorjax.training.devices import make_mesh
from anchorjax.training.members import count_slices


@pytest.mark.parametrize(
    ('batch_size', 'seq_len', 'size'),
    [(2048, 9, 128), (512, 4, 256), (3 * 512, 9, 96), (64, 4, 64), (999, 9, 999)],
)
def test_slices_are_halves_of_halves(batch_size, seq_len, size):
    assert count_slices(make_mesh(1), batch_size, seq_len) == batch_size // size
