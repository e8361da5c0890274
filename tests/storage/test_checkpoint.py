"""One member of a checkpoint is read alone; damage of any file is found."""

import os
import pathlib
from typing import Any, NamedTuple

import chex
import jax
import numpy as np
import pytest

from anchorjax.errors import CorruptFileError, StoreError
from anchorjax.storage import checkpoint
from tests.support.faults import find_arrays, flip, truncate
from tests.support.sweeps import describe_arrays

MEMBERS, STEP = 40, 7


class Saved(NamedTuple):
    """A checkpoint of 40 members."""

    folder: pathlib.Path
    tree: Any
    abstract: Any  # its shapes


@pytest.fixture
def saved(tmp_path) -> Saved:
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(MEMBERS, 30, 30))
    biases = rng.normal(size=(MEMBERS, 3))
    tree = {'W': weights, 'block': {'b': biases}}
    checkpoint.save(tmp_path, STEP, tree)
    return Saved(tmp_path, tree, describe_arrays(tree))


@pytest.mark.parametrize('row', [0, 17, 39])
def test_a_member_is_read_without_the_others(saved, row):
    expected = jax.tree.map(lambda x: x[row], saved.tree)
    member = checkpoint.load(saved.folder, STEP, saved.abstract, row)
    chex.assert_trees_all_equal(member, expected)


def test_another_shape_is_refused_by_the_name_of_the_leaf(saved):
    wrong = {'W': jax.ShapeDtypeStruct((MEMBERS, 30, 31), np.float64)}
    line = r"leaf \['W'\] is float64\[40, 30, 30\], expected float64\[40, 30, 31\]"
    with pytest.raises(StoreError, match=line):
        checkpoint.load(saved.folder, STEP, wrong)


def test_a_fork_is_told_so_and_does_not_wait_for_ever(saved, monkeypatch):
    monkeypatch.setattr(os, 'getpid', lambda: 1)
    with pytest.raises(StoreError, match=r'in a fork of .*spawn'):
        checkpoint.load(saved.folder, STEP, saved.abstract, 0)


@pytest.mark.parametrize('damage', [flip, truncate])
def test_a_damaged_file_is_found_though_it_was_read_before(saved, damage):
    checkpoint.load(saved.folder, STEP, saved.abstract)
    damage(find_arrays(saved.folder))
    with pytest.raises(CorruptFileError, match=r'/7 is damaged: tree/.* differs'):
        checkpoint.load(saved.folder, STEP, saved.abstract)
