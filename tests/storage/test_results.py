"""The labelled results are the curves on disk; the phase diagram is what one computes by hand."""

import itertools

import chex
import jax
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from analysis import phase
from anchorjax.errors import StoreError, UserError
from anchorjax.storage import checkpoint
from anchorjax.storage.reader import open_run, write_tables
from anchorjax.sweeps.run import chunk_hparams
from anchorjax.sweeps.trainer import get_trainer
from tests.support.sweeps import opened, tree_hash

AXES = {'depth': (1, 2), 'gamma': (0.3, 0.8), 'seed': (0, 1)}
MEMBERS = list(enumerate(itertools.product(*AXES.values())))


@pytest.mark.parametrize(('place', 'values'), MEMBERS)
def test_labels_agree_with_the_curves_on_disk(finished, place, values):
    depth, gamma, seed = values
    folder = (
        finished.sweep_dir.workdir
        / 'cohorts'
        / f'depth={depth}'
        / f'chunk_{place % 4:04d}'
    )
    disk = np.load(folder / 'curves.npz')
    with xr.open_dataset(finished.sweep_dir.workdir / 'results.nc') as cube:
        one = cube.sel(depth=depth, gamma=gamma, seed=seed).squeeze()
        np.testing.assert_array_equal(one.step, disk['steps'])
        np.testing.assert_array_equal(one.agreement, disk['agreement'][:, 0])
        np.testing.assert_array_equal(one.train_loss, disk['train_loss'][:, 0])
    table = pd.read_csv(finished.sweep_dir.workdir / 'members.csv')
    row = table[(table.depth == depth) & (table.gamma == gamma) & (table.seed == seed)]
    assert len(row) == 1
    assert row.unseen_symmetric.item() == pytest.approx(disk['agreement'][-1, 0, 2, 1])
    assert row.train_loss.item() == pytest.approx(disk['train_loss'][-1, 0])


def test_finalize_twice_gives_the_same(finished):
    before = open_run(finished.sweep_dir.workdir).curves
    csv = (finished.sweep_dir.workdir / 'members.csv').read_bytes()
    write_tables(finished.sweep_dir)
    with xr.open_dataset(finished.sweep_dir.workdir / 'results.nc') as after:
        np.testing.assert_array_equal(before.agreement, after.agreement)
    assert (finished.sweep_dir.workdir / 'members.csv').read_bytes() == csv


def test_a_partial_sweep_is_readable(tmp_path):
    there, mesh = opened(tmp_path)
    work = list(there.chunks)
    hparams = chunk_hparams(work[0].cohort, 0, 1)
    program = get_trainer(there.experiment.at(()), mesh, 1)
    program.run(work[0].chunk, hparams, 0, lambda *_: False, print)
    run = write_tables(there)
    assert run.results.trained.values.ravel().tolist() == [True, False, False, False]
    loss = run.results.train_loss.values.ravel()
    assert np.isfinite(loss[0]) and np.isnan(loss[1:]).all()
    with pytest.raises(StoreError, match='no snapshot yet'):
        run.params(gamma=0.8, seed=1)


def test_one_parameter_is_that_of_the_whole_tree(finished):
    point = {'depth': 2, 'gamma': 0.8, 'seed': 1}
    whole = finished.params(4, **point)
    np.testing.assert_array_equal(finished.parameter('W_U', 4, **point), whole['W_U'])
    found = finished.parameter('block_1/W_in', **point)
    np.testing.assert_array_equal(found, finished.params(**point)['block_1']['W_in'])
    with pytest.raises(UserError, match=r"no parameter 'block_2/W_in'; .*block_1/W_in"):
        finished.parameter('block_2/W_in', **point)
    assert (
        finished.steps(**point) == [0, 1, 4, 15, 40]
        and finished.at(**point).model.depth == 2
    )


@pytest.fixture
def rows(tmp_path):
    """A checkpoint of 40 members."""
    rng = np.random.default_rng(0)
    tree = {
        'W': rng.normal(size=(40, 30, 30)),
        'block': {'b': rng.normal(size=(40, 3))},
    }
    checkpoint.save(tmp_path, 7, tree)
    return (
        tmp_path,
        tree,
        jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), tree),
    )


def test_a_member_is_read_without_the_others(rows):
    folder, tree, abstract = rows
    for i in (0, 17, 39):
        one = checkpoint.load_row(folder, 7, i, abstract)
        chex.assert_trees_all_equal(one, jax.tree.map(lambda x, i=i: x[i], tree))
    part = checkpoint.load_row(folder, 7, 3, {'block': abstract['block']})
    np.testing.assert_array_equal(part['block']['b'], tree['block']['b'][3])
    wrong = {'W': jax.ShapeDtypeStruct((40, 30, 31), np.float64)}
    with pytest.raises(
        StoreError, match=r"leaf \['W'\] is .*30, 30\]\), needed .*30, 31\]"
    ):
        checkpoint.load_row(folder, 7, 0, wrong)


def test_a_flipped_byte_is_found_in_the_member_it_is_in(rows):
    folder, _, abstract = rows
    data = max(
        (p for p in folder.rglob('d/*') if p.is_file()), key=lambda p: p.stat().st_size
    )
    content = bytearray(data.read_bytes())
    content[len(content) // 2] ^= 0x55
    data.write_bytes(content)
    bad = 0
    for i in range(40):
        try:
            checkpoint.load_row(folder, 7, i, abstract)
        except StoreError as e:
            assert 'damaged' in str(e) or 'altered' in str(e)
            bad += 1
    assert 1 <= bad < 40


@pytest.mark.parametrize(
    ('point', 'line'),
    [
        (
            {'gamma': 0.4, 'seed': 0, 'depth': 1},
            r'gamma = 0.4; the sweep has \(0.3, 0.8\)',
        ),
        ({'gamma': 0.3, 'depth': 1}, r'seed is missing; the sweep has \(0, 1\)'),
        ({'gama': 0.3}, "unknown axis 'gama', did you mean 'gamma'?"),
    ],
)
def test_a_wrong_point_is_told_what_exists(finished, point, line):
    with pytest.raises(UserError, match=line):
        finished.params(**point)


def test_a_wrong_step_is_told_which_exist(finished):
    with pytest.raises(StoreError, match=r'steps here: \[0, 1, 4, 15, 40\]'):
        finished.params(7, gamma=0.3, seed=0, depth=1)


def planted() -> xr.Dataset:
    """One depth, gamma 0.3 and 0.8, rates 1 and 2, two seeds; gamma 0.8 at rate 1 untrained."""
    names = ('gamma', 'learning_rate', 'weight_decay', 'seed', 'probe', 'mapping')
    probes, mappings = (
        ('seen_heldout', 'unseen'),
        ('inferential', 'symmetric', 'assigned'),
    )
    values = np.zeros((1, 2, 2, 1, 2, 2, 3))
    values[0, 0, :, 0, :, 0, 2] = [
        [1.0, 1.0],
        [0.2, 0.4],
    ]  # seen pairs, by rate and seed
    values[0, 0, :, 0, :, 1, 0] = [[0.9, 0.1], [0.5, 0.3]]  # inferential
    values[0, 0, :, 0, :, 1, 1] = [[0.0, 0.95], [0.6, 0.6]]  # symmetric
    values[0, 1] = np.nan
    labels = ((2,), (0.3, 0.8), (1.0, 2.0), (0.0,), (0, 1), probes, mappings)
    coords = dict(zip(('depth', *names), labels, strict=True))
    trained = ~np.isnan(values[..., 0, 0])
    data = {
        'agreement': (('depth', *names), values),
        'trained': (('depth', *names[:4]), trained),
    }
    return xr.Dataset(data, {name: list(v) for name, v in coords.items()})


def test_the_phase_diagram_is_what_one_computes_by_hand():
    r = phase.compute(planted())
    assert (r.learning_rate, r.members, r.row_name) == (1.0, 4, 'depth')
    np.testing.assert_allclose(r.best[:, 0, 0], [(0.9 + 0.3) / 2, (0.6 + 0.95) / 2])
    np.testing.assert_allclose(r.fixed[:, 0, 0], [0.5, 0.475])
    np.testing.assert_allclose([r.seen_best[0, 0], r.seen_fixed[0, 0]], [1.0, 1.0])
    np.testing.assert_allclose(r.fraction[:, 0, 0], [0.5, 0.5, 0.0, 0.0])
    for values in (r.best, r.fixed, r.fraction):
        assert np.isnan(values[:, 0, 1]).all()


def test_drawing_twice_gives_the_same_bytes(finished, tmp_path):
    first, again = (phase.save(finished, tmp_path / name) for name in ('a', 'b'))
    assert {p.suffix for p in first} == {'.png', '.pdf', '.npz'}
    names = [p.name for p in first if p.suffix != '.npz']
    there = tree_hash(tmp_path)
    for name in names:
        assert there[str(tmp_path / 'a' / name)] == there[str(tmp_path / 'b' / name)]
    assert len(first) == len(again)
