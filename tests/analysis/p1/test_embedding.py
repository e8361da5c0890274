"""Order put into an embedding by hand is found; noise has as much order as chance."""

import numpy as np
import pytest
import xarray as xr

from analysis.drawing import grids
from analysis.p1 import embedding
from analysis.vectors.order import measure_order, power_spectrum
from anchorjax.errors import UserError
from anchorjax.network import Network
from tests.support.networks import planted

ITEMS = 40
WIDTH = 16
VALUE = np.arange(ITEMS)


def make_member(rows: np.ndarray, first: int = 5) -> Network:
    """A network whose keys, tokens 5 to 44, have these rows; the others are noise."""
    W = np.random.default_rng(9).normal(size=(60, WIDTH)).astype(np.float32)
    W[first : first + ITEMS] = rows
    keys = {'task__keys': (first, first + ITEMS), 'task__vocab': 60}
    return planted.make_member(None, {'W_embed': W, 'b': np.zeros(60)}, **keys)


def make_rows(*columns: np.ndarray, noise: float = 0.05) -> np.ndarray:
    """Rows with these coordinates in a random plane, and noise: [ITEMS, WIDTH]."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(WIDTH, len(columns))))[0]
    return np.stack(columns, 1) @ basis.T + noise * rng.normal(size=(ITEMS, WIDTH))


def make_circle(period: int) -> np.ndarray:
    angle = 2 * np.pi * VALUE / period
    return make_rows(np.cos(angle), np.sin(angle))


def compute_quickly(rows: np.ndarray, **options) -> xr.Dataset:
    return embedding.compute(make_member(rows), permutations=50, **options)


def test_a_line_is_in_order():
    result = compute_quickly(make_rows(VALUE / 10 - 2))
    numbers = result.value.to_series()
    assert result['item'].values.tolist() == list(range(5, 45))
    assert numbers['rho 1'] > 0.99
    assert numbers['rho'] == numbers['rho 1']
    assert numbers['line'] > 0.99 and numbers['curve'] > 0.95
    assert result.explained[0] > 0.9 > 2 * result.explained_null[0]
    assert numbers['strongest period'] == ITEMS
    # The sign of the component is chosen so that it rises.
    assert np.corrcoef(result.scores[:, 0], VALUE)[0, 1] > 0.99
    # The map is a curve: neighbours are close.
    points = result.tsne.values
    longest_step = np.abs(np.diff(points, axis=0)).max()
    assert longest_step < np.ptp(points, axis=0).max() / 4


def test_rows_that_are_equal_have_no_order():
    member = make_member(np.ones((ITEMS, WIDTH)))
    assert np.isnan(embedding.correlate_with_value(member))
    with pytest.raises(UserError, match='W_embed: all rows are equal'):
        embedding.compute(member)


def test_a_bent_line_is_a_curve():
    """A parabola higher than wide: only two components together have the order."""
    x = VALUE / 20 - 0.975
    result = compute_quickly(make_rows(x, 2.5 * (x**2 - np.mean(x**2))))
    numbers = result.value.to_series()
    assert numbers['rho 1'] < 0.4 and numbers['rho 2'] > 0.95
    assert numbers['curve'] > 0.95 and numbers['line'] > 0.95


@pytest.mark.parametrize('period, other', [(4, 3), (3, 4)])
def test_a_circle_is_its_period(period, other):
    result = compute_quickly(make_circle(period))
    numbers = result.value.to_series()
    assert numbers['strongest period'] == pytest.approx(period, rel=0.03)
    assert result.similarity.sel(step=period) > 0.95
    assert result.similarity.sel(step=other) < 0.1
    assert numbers['line'] < 0.1 and numbers['curve'] < 0.1
    assert float(result.power.sum()) == pytest.approx(1)


@pytest.mark.parametrize('count', [12, 15])
def test_power_is_a_share_of_the_variance(count):
    """Two columns of equal variance: the shortest period there is, and one of three."""
    items = np.arange(count)
    shortest = np.cos(2 * np.pi * (count // 2) * items / count)
    of_three = np.cos(2 * np.pi * items / 3)
    rows = np.stack([shortest / shortest.std(), of_three / of_three.std()], axis=1)
    expected = np.zeros(count // 2)
    expected[[count // 2 - 1, count // 3 - 1]] = 0.5
    np.testing.assert_allclose(power_spectrum(rows), expected, atol=1e-12)


def test_noise_is_within_chance():
    """Ten noises against their own null: about one number in twenty is above 95%."""
    above = []
    for seed in range(10):
        rows = np.random.default_rng(seed).normal(size=(ITEMS, WIDTH))
        numbers = measure_order(rows)
        rng = np.random.default_rng(100 + seed)
        null = [measure_order(rng.permutation(rows)) for _ in range(60)]
        for name in numbers.keys() - {'strongest period'}:
            bound = np.quantile([draw[name] for draw in null], 0.95)
            above.append(numbers[name] > bound)
    assert 0.0 < np.mean(above) < 0.12


def test_the_order_does_not_depend_on_scale_offset_or_basis():
    rows = make_rows(VALUE / 10, noise=0.5)
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(WIDTH, WIDTH)))[0]
    moved = measure_order(7 * rows @ basis + 3)
    assert moved == pytest.approx(measure_order(rows))


def test_the_grid_has_the_numbers_of_every_member(finished):
    grid = grids.repeat(embedding)
    result = grid.compute(finished, seed=1, step=15)
    first, end = finished.experiment.task.keys
    W = finished.params(15, depth=2, gamma=0.3, seed=1)['W_embed']
    for name, value in measure_order(W[first:end]).items():
        assert result.value.sel(number=name)[1, 0].item() == pytest.approx(value)
    assert result.scores.shape[:3] == (2, 2, end - first)
