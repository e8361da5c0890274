"""Bits are promised at equal layout; elsewhere going on is refused, or allowed and recorded."""

import os

import jax
import numpy as np
import pandas as pd
import pytest

from anchorjax.errors import StoreError
from anchorjax.storage.manifest import MANIFEST_FILE, read_manifest
from anchorjax.storage.reader import open_run, write_tables
from anchorjax.storage.sweep_folder import create_folder
from anchorjax.sweeps import signals
from anchorjax.sweeps.run import describe_environment, run_sweep
from anchorjax.training.members import make_mesh
from tests.support.sweeps import bits, experiment, opened, trained

FOUR = {
    'grid__gamma': (0.5,),
    'grid__seed': (3, 4, 5, 6),
    'train__lanes': 2,
}  # two chunks


def elsewhere(
    workdir, allow: bool, change=lambda n: n['versions'].update(jaxlib='0.0.1')
):
    """The same sweep taken up with other numerics: (its folder, mesh)."""
    e, mesh = experiment(**FOUR), make_mesh(1)
    numerics = describe_environment(e, mesh)
    change(numerics)
    return create_folder(workdir, e, numerics, allow), mesh


def begun(workdir, steps: int = 20):
    """A sweep stopped in the middle of its first chunk."""
    there, mesh = opened(workdir, **FOUR)
    report = lambda p: p.done >= 2 * steps and os.kill(os.getpid(), 12)  # SIGUSR2
    with signals.catch_stop() as asked, pytest.raises(signals.Preempted):
        run_sweep(there, mesh, asked, report)
    return there


@pytest.mark.parametrize(
    ('change', 'field'),
    [
        (lambda n: n['versions'].update(jaxlib='0.0.1'), 'versions.jaxlib'),
        (lambda n: n['layout'].update(lanes=1), 'layout.lanes'),
        (lambda n: n['hardware'].update(device='TPU v9'), 'hardware.device'),
        (lambda n: n['flags'].update({'--xla_x': '1'}), 'flags.--xla_x'),
        (lambda n: n.update(precision='bfloat16'), 'precision'),
    ],
)
def test_new_numerics_are_refused_by_the_field_that_differs(tmp_path, change, field):
    opened(tmp_path, **FOUR)
    before = (tmp_path / MANIFEST_FILE).read_bytes()
    with pytest.raises(
        StoreError, match=rf'with {field} = .*--allow_numerics_change'
    ) as caught:
        elsewhere(tmp_path, False, change)
    assert '\n' not in str(caught.value)
    assert (tmp_path / MANIFEST_FILE).read_bytes() == before


def test_an_allowed_change_is_recorded_for_the_sweep_and_for_each_member(tmp_path):
    begun(tmp_path)
    there, mesh = elsewhere(tmp_path, allow=True)
    run_sweep(there, mesh, lambda: False, lambda p: None, allow=True)
    write_tables(there)
    table = pd.read_csv(tmp_path / 'members.csv')
    assert table.environments.tolist() == [
        2,
        2,
        1,
        1,
    ]  # the second chunk saw the new one alone
    assert table.numerics.tolist() == [1, 1, 1, 1]
    assert there.chunks[0].chunk.numerics() == [(0, 0), (20, 1)]
    known = read_manifest(tmp_path).numerics
    assert [n['versions']['jaxlib'] == '0.0.1' for n in known] == [False, True]


def test_members_begun_elsewhere_are_refused_even_when_the_sweep_knows_both(tmp_path):
    begun(tmp_path)
    elsewhere(tmp_path, allow=True)
    there, mesh = elsewhere(
        tmp_path, allow=False
    )  # known by now, but not to these members
    with pytest.raises(StoreError, match=r'chunk_0000 holds .* versions.jaxlib'):
        run_sweep(there, mesh, lambda: False, lambda p: None)


def test_a_sweep_moved_to_another_number_of_devices_goes_on(tmp_path):
    """Chunks of 2 x 1 members, later one by one: group by group, none lost, none twice."""
    whole = trained(tmp_path / 'whole', **FOUR)
    there = begun(tmp_path / 'moved')
    e, mesh = there.experiment, make_mesh(1)
    numerics = describe_environment(e, mesh)
    numerics['layout']['lanes'] = 1
    moved = create_folder(there.workdir, e, numerics, allow=True)
    assert moved.chunk_size == 2
    run_sweep(moved, mesh, lambda: False, lambda p: None, allow=True)
    run = write_tables(moved)
    assert bool(run.results.trained.all())
    for name in ('train_loss', 'agreement'):
        ours, theirs = run.curves[name].values, whole.curves[name].values
        np.testing.assert_allclose(ours, theirs, rtol=1e-2, atol=0.04)
    for seed in (3, 6):
        pair = zip(
            *(jax.tree.leaves(r.params(seed=seed)) for r in (run, whole)), strict=True
        )
        for a, b in pair:
            np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-3)


def test_groups_of_lanes_give_the_bits_of_chunks_of_lanes(tmp_path):
    """What makes moving between several devices free: a chunk of two groups is two chunks."""
    e, mesh = experiment(**FOUR), make_mesh(1)
    numerics = describe_environment(e, mesh)
    wide = {**numerics, 'layout': {**numerics['layout'], 'devices': 2}}  # chunks of 4
    create_folder(tmp_path / 'a', e, wide)
    at_once = create_folder(tmp_path / 'a', e, numerics, allow=True)
    assert at_once.chunk_size == 4
    run_sweep(at_once, mesh, lambda: False, lambda p: None)
    two = trained(tmp_path / 'b', **FOUR)
    for seed in (3, 4, 5, 6):
        leaves = [
            jax.tree.leaves(r.params(seed=seed))
            for r in (open_run(tmp_path / 'a'), two)
        ]
        assert all(np.array_equal(a, b) for a, b in zip(*leaves, strict=True))


def test_a_longer_segment_in_pieces_gives_the_same_bits(tmp_path, monkeypatch):
    whole = trained(tmp_path / 'whole', **FOUR)
    monkeypatch.setattr('anchorjax.sweeps.trainer._PATIENCE', 1e-9)  # one step a piece
    pieces = trained(tmp_path / 'pieces', **FOUR)
    assert bits(pieces.sweep_dir.workdir) == bits(whole.sweep_dir.workdir)
