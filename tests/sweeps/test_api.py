"""The public functions, used as in a notebook."""

import dataclasses
import json
import os
import pathlib
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from anchorjax import api
from anchorjax.errors import ConfigError, StoreError, UserError
from anchorjax.storage.reader import Run
from anchorjax.sweeps.jobs import read_jobs
from anchorjax.sweeps.prepare import prepare
from anchorjax.sweeps.progress import Progress
from anchorjax.sweeps.shards import Shard
from anchorjax.training.devices import make_mesh
from tests.support import tiny
from tests.support.faults import ONE
from tests.support.sweeps import FINISHED, ROOT, TINY_FILE, experiment, tree_hash

NOTEBOOK = f"""
import sys
from anchorjax import api, config

experiment = config.resolve(config.load('{TINY_FILE}'))
run = api.train(experiment, sys.argv[1])
print(run.folder.environments[0].devices, bool(run.results.trained.all()))
"""


def test_a_second_call_returns_the_same_without_training(finished):
    def refuse(progress: Progress) -> None:
        raise AssertionError('it trains')

    workdir = finished.folder.workdir
    trained_before = tree_hash(workdir / 'cohorts')
    second = api.train(finished.experiment, workdir, report=refuse)
    for run in (second, api.open(str(workdir))):
        assert run.experiment == finished.experiment
        assert run.curves.identical(finished.curves)
    assert tree_hash(workdir / 'cohorts') == trained_before


def test_the_folder_of_another_experiment_is_refused_and_kept(finished):
    workdir = finished.folder.workdir
    changed = experiment(optimizer__b2=0.9, **FINISHED)
    before = tree_hash(workdir)
    line = r'b2 = 0.999, the config has 0.9; use --workdir .*_b2=0.9'
    with pytest.raises(StoreError, match=line):
        api.train(changed, workdir)
    assert tree_hash(workdir) == before


@pytest.mark.slow
def test_a_cohort_is_drawn_when_it_is_trained_and_a_bad_picture_stops_nothing(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(api, '_BETWEEN_PICTURES', 0.0)
    seen: list[list[bool]] = []
    lines: list[str] = []

    def draw(run: Run, figures: pathlib.Path) -> None:
        assert figures == tmp_path / 'run' / 'figures'
        seen.append(run.members.trained.tolist())
        raise UserError('no picture')

    two = experiment(**ONE, static_axes=(('model.depth', (1, 2)),))
    sweep = prepare(two, tmp_path / 'run')
    run = api.train_prepared(
        sweep, mesh=make_mesh(1), draw_cohort=draw, warn=lines.append
    )
    assert seen == [[True, False]] and lines == ['no picture']
    assert run.members.trained.all()


def test_a_config_that_is_not_resolved_is_refused(tmp_path):
    line = r'experiment: is a ConfigDict; give config.resolve\(config\)'
    with pytest.raises(ConfigError, match=line):
        api.train(tiny.get_config(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_experiment_that_was_changed_after_it_was_resolved_is_refused(tmp_path):
    """A wider model: sizes that follow the width would stay as they were."""
    changed = experiment()
    model = dataclasses.replace(changed.model, width=16)
    changed = dataclasses.replace(changed, model=model)
    for one in (changed, changed.for_cohort(changed.cohorts()[0])):
        with pytest.raises(ConfigError, match='experiment: was changed after config'):
            api.train(one, tmp_path)
    assert list(tmp_path.iterdir()) == []
    resolved = pickle.loads(pickle.dumps(experiment()))  # as for another process
    assert resolved.is_resolved
    assert resolved.for_cohort(resolved.cohorts()[0]).is_resolved


@pytest.mark.parametrize('shard', [Shard(4, 4), Shard(-1, 4), '0/4', (0, 4)])
def test_a_shard_that_is_none_is_refused_and_does_not_train_nothing(tmp_path, shard):
    with pytest.raises(UserError, match=r'shard = .*: must be Shard\(index, count\)'):
        api.train(experiment(), tmp_path / 'run', shard=shard)
    assert not list(tmp_path.iterdir())


def test_a_training_is_reported_and_its_figures_are_drawn(tmp_path):
    """To the caller, and to whoever holds the chunks or reads their metrics."""
    lines, drawn = {}, []

    def note(progress: Progress) -> None:
        assert progress.total == 40
        lines[progress.done] = (progress.loss, progress.held_out)

    def draw(run: Run, figures: pathlib.Path) -> list[pathlib.Path]:
        drawn.append((bool(run.results.trained.all()), figures))
        return []

    run = api.train(experiment(**ONE), tmp_path, report=note, draw=draw)
    assert run.folder.workdir == tmp_path
    assert drawn == [(True, tmp_path / 'figures')]
    ends = [10, 20, 30, 40]  # of segments, which may be reported in pieces
    assert {*ends} <= {*lines}
    (job,) = read_jobs(tmp_path)
    assert (job.state, job.done) == ('done', 40)
    records = read_metrics(tmp_path)
    assert [record['step'] for record in records] == ends
    found = []
    for record in records:
        found.append((record['train_loss'], record['seen_heldout_assigned']))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, [lines[step] for step in ends])


def read_metrics(workdir: pathlib.Path) -> list[dict[str, Any]]:
    text = (workdir / 'metrics.jsonl').read_text()
    return list(map(json.loads, text.splitlines()))


@pytest.mark.slow
def test_a_new_notebook_trains_on_every_core(tmp_path):
    done = subprocess.run(
        [sys.executable, '-c', NOTEBOOK, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()[-1]  # below the progress
    assert printed.split() == [str(len(os.sched_getaffinity(0))), 'True']
