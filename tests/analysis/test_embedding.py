"""Order put into an embedding by hand is found; in noise there is as much as chance gives."""

import numpy as np
import pytest

from analysis import embedding, embedding_grid
from analysis.drawing import grids, style
from analysis.vectors import order
from anchorjax.errors import UserError
from tests.support import planted

ITEMS, WIDTH = 40, 16
VALUE = np.arange(ITEMS)


def member(rows, first=5):
    """A network whose key items, tokens 5 to 44, have these rows; the others are noise."""
    W = np.random.default_rng(9).normal(size=(60, WIDTH)).astype(np.float32)
    W[first : first + ITEMS] = rows
    keys = {'task__keys': (first, first + ITEMS), 'task__vocab': 60}
    return planted.member(None, {'W_embed': W, 'b': np.zeros(60)}, **keys)


def along(*columns, noise=0.05, seed=0):
    """Rows with these coordinates in a random plane, and noise: [ITEMS, WIDTH]."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(WIDTH, len(columns))))[0]
    return np.stack(columns, 1) @ basis.T + noise * rng.normal(size=(ITEMS, WIDTH))


def circle(period):
    return along(np.cos(2 * np.pi * VALUE / period), np.sin(2 * np.pi * VALUE / period))


def quickly(rows, **given):
    return embedding.compute(member(rows), permutations=50, **given)


def test_a_line_is_in_order():
    result = quickly(along(VALUE / 10 - 2))
    assert result.items.tolist() == list(range(5, 45))
    assert (
        result.numbers['rho 1'] > 0.99
        and result.numbers['rho'] == result.numbers['rho 1']
    )
    assert result.numbers['line'] > 0.99 and result.numbers['curve'] > 0.95
    assert result.explained[0] > 0.9 > 2 * result.explained_null[0]
    assert result.numbers['strongest period'] == ITEMS
    assert np.corrcoef(result.scores[:, 0], VALUE)[0, 1] > 0.99  # turned to rise
    nearest = np.abs(np.diff(result.tsne, axis=0)).max()
    assert nearest < np.ptp(result.tsne, axis=0).max() / 4  # and the map is a curve


def test_a_bent_line_is_a_curve():
    """A parabola with more height than width: no order in component 1, all of it in two."""
    x = VALUE / 20 - 0.975
    result = quickly(along(x, 2.5 * (x**2 - np.mean(x**2))))
    assert result.numbers['rho 1'] < 0.4 and result.numbers['rho 2'] > 0.95
    assert result.numbers['curve'] > 0.95 and result.numbers['line'] > 0.95


@pytest.mark.parametrize('period, other', [(4, 3), (3, 4)])
def test_a_circle_is_its_period(period, other):
    result = quickly(circle(period))
    assert result.numbers['strongest period'] == pytest.approx(period, rel=0.03)
    assert (
        result.numbers[f'period {period}']
        > 0.8
        > 20 * result.numbers[f'period {other}']
    )
    assert result.numbers[f'similarity {period}'] > 0.95
    assert result.numbers[f'similarity {other}'] < 0.1
    assert result.numbers['line'] < 0.1 and result.numbers['curve'] < 0.1
    assert result.power.sum() == pytest.approx(1)


def test_noise_is_within_chance():
    """Every number of ten noises against its own null: about one in twenty lies above the 95 %."""
    above = []
    for seed in range(10):
        rows = np.random.default_rng(seed).normal(size=(ITEMS, WIDTH))
        found = order.numbers(rows)
        rng = np.random.default_rng(100 + seed)
        null = [order.numbers(rng.permutation(rows)) for _ in range(60)]
        for name in found.keys() - {'strongest period'}:
            above.append(found[name] > np.quantile([one[name] for one in null], 0.95))
    assert 0.0 < np.mean(above) < 0.12


def test_the_order_does_not_depend_on_scale_offset_or_basis():
    rows = along(VALUE / 10, noise=0.5)
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(WIDTH, WIDTH)))[0]
    moved = order.numbers(7 * rows @ basis + 3)
    assert moved == pytest.approx(order.numbers(rows))


@pytest.mark.parametrize(
    'given, complaint',
    [
        ({'matrix': 'W_X'}, r"no matrix 'W_X'; the model has \['W_embed'\]"),
        ({'matrix': 'b'}, "no matrix 'b'"),
        ({'items': (40, 80)}, r'items = \(40, 80\): must be FROM,TO in \[0, 60\]'),
        ({'items': (10, 14)}, 'at least 6 apart'),
        ({'items': (10,)}, r'items = \(10,\): must be FROM,TO'),
        ({'perplexity': 40.0}, 'perplexity = 40: must be below the 40 items'),
        ({'permutations': 0}, 'permutations = 0: must be at least 1'),
    ],
)
def test_bad_input_is_one_clear_line(given, complaint):
    with pytest.raises(UserError, match=complaint):
        embedding.compute(member(circle(4)), **given)
    with pytest.raises(UserError, match='all their rows are the same'):
        embedding.compute(member(np.ones((ITEMS, WIDTH))))


def test_computed_and_drawn_twice_is_the_same_bytes(tmp_path):
    for name in 'ab':
        result = quickly(circle(4), items=(5, 13), perplexity=3)
        style.drawn(result, embedding.draw, embedding.layout, tmp_path / name)
    for end in ('.png', '.pdf'):
        assert (tmp_path / f'a{end}').read_bytes() == (
            tmp_path / f'b{end}'
        ).read_bytes()


def test_the_grid_has_the_numbers_of_every_member(finished, tmp_path):
    result = embedding_grid.compute(finished, seed=1, step=15, permutations=5)
    first, end = finished.experiment.task.keys
    W = finished.parameter('W_embed', 15, depth=2, gamma=0.3, seed=1)
    for name, value in order.numbers(W[first:end]).items():
        assert result.numbers[name][1, 0] == pytest.approx(value)
    assert result.scores['1,0'].shape == (end - first, 2)
    assert result.chance['rho'].shape == (2, 2)
    style.drawn(result, embedding_grid.draw, grids.layout, tmp_path / 'grid')
