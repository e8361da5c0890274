"""Groups of neurons made by hand are found in any order; Gaussian ones are alone."""

import dataclasses

import numpy as np
import pytest
import xarray as xr

from analysis.drawing import grids
from analysis.p1 import condensation
from analysis.vectors.groups import find_groups
from anchorjax.network import Network
from tests.support.drawing import draw_pixels
from tests.support.networks import planted

RNG = np.random.default_rng(3)


def make_member(W) -> Network:
    block = {'W_Q': np.asarray(W, np.float32)}
    return planted.make_member(None, {'block_0': block, 'b': np.zeros(3)})


def make_two_clusters(order) -> np.ndarray:
    """12 neurons around one direction, 8 around another, of all norms: [30, 20]."""
    directions = np.linalg.qr(RNG.normal(size=(30, 2)))[0]
    W = np.repeat(directions, (12, 8), axis=1) + 0.03 * RNG.normal(size=(30, 20))
    norms = RNG.uniform(0.1, 5, 20)
    return (W * norms)[:, order]


def number(result: xr.Dataset, name: str) -> float:
    return float(result.value.sel(number=name))


@pytest.mark.parametrize('order', [range(20), range(19, -1, -1), RNG.permutation(20)])
def test_two_clusters_are_two_groups_in_any_order(order):
    result = condensation.compute(make_member(make_two_clusters(order)), draws=2)
    assert result['size'].values.tolist() == [12, 8]
    assert set(np.asarray(order)[result.place.values[:12]]) == set(range(12))
    pairs = 12 * 11 + 8 * 7  # of 20 * 19 ordered ones
    assert number(result, 'pairs parallel') == pytest.approx(pairs / 380)
    assert number(result, 'pairs opposite') == 0
    # The cosine matrix has eigenvalues 12 and 8, apart from a little noise:
    # (12 + 8)^2 / (12^2 + 8^2).
    assert number(result, 'directions') == pytest.approx(400 / 208, rel=0.1)
    assert (result.cosine[:12, :12] > 0.9).all()
    assert (result.cosine[:12, 12:] < 0.4).all()


@pytest.mark.parametrize(
    'signs, sizes', [(np.ones(10), [10]), (np.repeat((1, -1), 5), [5, 5])]
)
def test_a_matrix_of_rank_one_is_one_direction(signs, sizes):
    W = np.outer(RNG.normal(size=7), signs)
    result = condensation.compute(make_member(W), draws=2)
    assert result['size'].values.tolist() == sizes
    assert number(result, 'directions') == pytest.approx(1, abs=1e-5)
    assert number(result, 'stable rank') == pytest.approx(1, abs=1e-5)
    opposite = 2 * sizes[0] * (10 - sizes[0]) / 90
    assert number(result, 'pairs opposite') == pytest.approx(opposite)


def test_gaussian_neurons_are_alone_and_like_the_null():
    result = condensation.compute(make_member(RNG.normal(size=(50, 40))))
    assert result['size'].values.tolist() == [1] * 40
    assert number(result, 'pairs parallel') == number(result, 'pairs opposite') == 0
    null = result.null.mean('draw')
    np.testing.assert_allclose(result.value, null, rtol=0.1)
    assert float(result.density.sum()) == pytest.approx(1)


def list_groups(cosine: np.ndarray) -> list[list[int]]:
    return [group.tolist() for group in find_groups(cosine, 0.7)]


def test_the_rule_is_greedy_and_directed():
    """At 0, 40, 80 degrees: 1 takes 2 (cosine 0.77), but not 3 (cosine 0.17)."""
    angles = np.deg2rad([0, 40, 80])
    cosine = np.cos(angles[:, None] - angles)
    assert list_groups(cosine) == [[0, 1], [2]]
    second_first = [1, 0, 2]
    assert list_groups(cosine[np.ix_(second_first, second_first)]) == [[0, 1, 2]]


def test_a_neuron_of_zeros_is_a_group_of_its_own():
    W = np.c_[np.ones((4, 3)), np.zeros((4, 2))]
    result = condensation.compute(make_member(W), draws=2)
    assert result['size'].values.tolist() == [3, 1, 1]


def test_a_cell_says_why_it_is_blank(finished):
    """Depth 1 has no layer 2."""
    broken = dataclasses.replace(finished)  # the same run, read again
    broken.results.diverged.loc[{'depth': 1, 'gamma': 0.3, 'seed': 0}] = 7
    grid = grids.repeat(condensation)
    result = grid.compute(broken, matrix='block_1/W_in', draws=1)
    no_matrix = "no matrix 'block_1/W_in'"
    assert result.note.values.tolist() == [['diverged', no_matrix], ['', '']]
    groups = result.value.sel(number='groups').values
    assert np.isnan(groups[0]).all() and groups[1, 0] >= 1
    draw_pixels(result, grid)
