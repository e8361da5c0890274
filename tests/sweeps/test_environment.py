"""Bits are promised in one environment; in another, going on is refused or recorded."""

import dataclasses
import os
import pathlib
import signal
from typing import Any

import chex
import pandas as pd
import pytest
from jax.sharding import Mesh

from anchorjax.config import AUTO
from anchorjax.errors import StoreError
from anchorjax.storage.manifest import MANIFEST_FILE, Environment, read_manifest
from anchorjax.storage.reader import Run, open_run
from anchorjax.storage.sweep_folder import SweepFolder, create_folder, read_folder
from anchorjax.sweeps.environment import describe_environment
from anchorjax.sweeps.progress import Progress
from anchorjax.sweeps.publish import publish
from anchorjax.sweeps.run import run_sweep
from anchorjax.sweeps.signals import Preempted, catch_stop
from anchorjax.training.devices import make_mesh
from tests.support.sweeps import bits, experiment, opened, require_line, trained

SEEDS = (3, 4, 5, 6)
FOUR = {'grid__gamma': (0.5,), 'grid__seed': SEEDS, 'train__lanes': 2}  # two chunks


@pytest.fixture(scope='module')
def whole(train_once) -> Run:
    """The four members, trained in one environment."""
    return train_once('four', **FOUR)


def change_field(environment: Environment, path: str, value: Any) -> Environment:
    """The environment with one field changed: 'lanes', or 'versions.jaxlib'."""
    field, _, key = path.partition('.')
    if key:
        value = {**getattr(environment, field), key: value}
    return dataclasses.replace(environment, **{field: value})


def take_up(
    workdir: pathlib.Path,
    field: str = 'versions.jaxlib',
    value: Any = '0.0.1',
    allow_change: bool = False,
) -> tuple[SweepFolder, Mesh]:
    """The sweep of FOUR, taken up in an environment that differs in one field."""
    four, mesh = experiment(**FOUR), make_mesh(1)
    environment = change_field(describe_environment(four, mesh), field, value)
    return create_folder(workdir, four, environment, allow_change), mesh


def begin_and_stop(workdir: pathlib.Path) -> None:
    """Trains the first of two chunks to step 20 of 40."""
    folder, mesh = opened(workdir, **FOUR)

    def stop_at_step_20(progress: Progress) -> None:
        if progress.done >= 2 * 20:
            os.kill(os.getpid(), signal.SIGUSR2)

    with catch_stop() as should_stop, pytest.raises(Preempted):
        run_sweep(folder, mesh, should_stop=should_stop, report=stop_at_step_20)


CHANGES = [
    ('versions.jaxlib', '0.0.1'),
    ('lanes', 1),
    ('hardware.device', 'TPU v9'),
    ('flags.--xla_x', '1'),
]


@pytest.mark.parametrize(('field', 'value'), CHANGES)
def test_a_new_environment_is_refused_by_the_field_that_differs(tmp_path, field, value):
    opened(tmp_path, **FOUR)
    before = (tmp_path / MANIFEST_FILE).read_bytes()
    line = rf'with {field} = .*--allow_numerics_change'
    with pytest.raises(StoreError, match=line) as caught:
        take_up(tmp_path, field, value)
    require_line(caught.value, tmp_path)
    assert (tmp_path / MANIFEST_FILE).read_bytes() == before


@pytest.mark.slow
def test_an_allowed_change_is_recorded_for_the_sweep_and_for_each_member(tmp_path):
    begin_and_stop(tmp_path)
    early = read_folder(tmp_path)
    folder, mesh = take_up(tmp_path, allow_change=True)
    run_sweep(folder, mesh, allow_environment_change=True)
    # A shard that began in the first environment publishes what the others have done.
    publish(early)
    with pytest.raises(StoreError, match='open it again'):
        _ = Run(early).results

    known = read_manifest(tmp_path).environments
    jaxlibs = [entry.environment.versions['jaxlib'] for entry in known]
    assert [version == '0.0.1' for version in jaxlibs] == [False, True]
    first, second = folder.chunks
    assert first.folder.environments() == [(0, 0), (20, 1)]
    assert second.folder.environments() == [(0, 1)]
    table = pd.read_csv(tmp_path / 'members.csv')
    assert table.environment.tolist() == [1, 1, 1, 1]  # the last one
    assert table.environments.tolist() == [2, 2, 1, 1]  # how many


@pytest.mark.slow
def test_members_begun_elsewhere_are_refused_though_the_sweep_knows_both(tmp_path):
    begin_and_stop(tmp_path)
    take_up(tmp_path, allow_change=True)
    folder, mesh = take_up(tmp_path)  # the sweep knows it now, these members do not
    line = r'chunk_0000 was last trained with versions.jaxlib'
    with pytest.raises(StoreError, match=line):
        run_sweep(folder, mesh)


def test_lanes_that_were_chosen_at_the_beginning_are_kept(monkeypatch):
    """As on a GPU whose free memory is another one when the sweep goes on."""

    def replace(function: str, result: Any) -> None:
        monkeypatch.setattr(f'anchorjax.sweeps.{function}', lambda *_: result)

    auto, mesh = experiment(train__lanes=AUTO), make_mesh(1)
    replace('memory.choose_lanes', 3)
    before = [describe_environment(auto, mesh)]
    replace('memory.choose_lanes', 1)
    assert describe_environment(auto, mesh, before=before).lanes == 3
    assert describe_environment(auto, mesh).lanes == 1
    replace('environment.cpu_fingerprint', 'another CPU')
    assert describe_environment(auto, mesh, before=before).lanes == 1


@pytest.mark.slow
def test_a_chunk_of_two_groups_has_the_bits_of_two_chunks(whole, tmp_path):
    """So moving a sweep between machines of several devices costs nothing."""
    four, mesh = experiment(**FOUR), make_mesh(1)
    one_device = describe_environment(four, mesh)
    two_devices = dataclasses.replace(one_device, devices=2)
    create_folder(tmp_path, four, two_devices)  # chunks of 2 lanes on 2 devices
    folder = create_folder(tmp_path, four, one_device, allow_change=True)
    assert folder.chunk_size == 4
    run_sweep(folder, mesh)
    run = open_run(tmp_path)
    for seed in SEEDS:
        chex.assert_trees_all_equal(run.params(seed=seed), whole.params(seed=seed))


@pytest.mark.slow
def test_a_segment_cut_into_pieces_gives_the_same_bits(whole, tmp_path, monkeypatch):
    one_step_a_piece = 1e-9
    monkeypatch.setattr('anchorjax.sweeps.run._PATIENCE', one_step_a_piece)
    trained(tmp_path, **FOUR | {'grid__seed': SEEDS[:2]})
    first_chunk = ('all', 0)
    assert bits(tmp_path)[first_chunk] == bits(whole.folder.workdir)[first_chunk]
