"""Next-token prediction on a corpus: windows by hand, and both feeds alike."""

import pathlib

import chex
import jax
import numpy as np
import pytest

from anchorjax import api, caching, config
from anchorjax.errors import StoreError, UserError
from anchorjax.extras.corpora.tokenizers import make_bytes
from anchorjax.storage.manifest import MANIFEST_FILE, read_manifest
from anchorjax.storage.reader import open_run
from anchorjax.storage.sweep_folder import create_folder
from anchorjax.sweeps.environment import add_data, describe_environment
from anchorjax.sweeps.signals import Preempted
from anchorjax.tasks.corpus import CorpusConfig, sample
from anchorjax.tasks.corpus.token_files import open_corpus
from anchorjax.training.devices import make_mesh
from tests.support.corpora import write_corpora
from tests.support.sweeps import bits, require_line, run_on_devices

KEY = jax.random.key(0)
SMALL = {'seq_len': 8, 'vocab': 257, 'eval_examples': 4}


def test_the_windows_of_an_epoch_are_the_corpus_without_its_end():
    task = CorpusConfig(**SMALL).make()
    tokens = sample.make_tokens()
    chex.assert_type(tokens, np.uint16)
    batch = jax.jit(task.batch)(KEY, np.arange(task.num_train))
    np.testing.assert_array_equal(batch.tokens_BT[:, 1:], batch.targets_BQ[:, :-1])
    windows = np.concatenate([batch.tokens_BT, batch.targets_BQ[:, -1:]], axis=1)
    order = np.lexsort(windows.T[::-1])
    total = (len(tokens) - 1) // 8
    held_out = max(1, round(0.02 * total))
    assert task.num_train == total - held_out
    expected = np.stack([tokens[8 * i : 8 * i + 9] for i in range(task.num_train)])
    expected_order = np.lexsort(expected.T[::-1])
    np.testing.assert_array_equal(windows[order], expected[expected_order])
    eval_sets = jax.jit(task.eval_sets)(KEY)
    first = 8 * task.num_train
    np.testing.assert_array_equal(eval_sets.tokens_PBT[1, 0], tokens[first : first + 8])
    np.testing.assert_array_equal(eval_sets.tokens_PBT[0], batch.tokens_BT[:4])


def test_the_host_feeds_what_the_device_has():
    read_device = jax.jit(CorpusConfig(**SMALL, feed='device').make().batch)
    read_host = jax.jit(CorpusConfig(**SMALL, feed='host').make().batch)
    index = np.array([3, 0, 7])
    expected = read_device(KEY, index)
    jax.tree.map(np.testing.assert_array_equal, read_host(KEY, index), expected)
    both = np.stack([index, index + 1])
    several = jax.vmap(read_host, (None, 0))(KEY, both)
    for place, numbers in enumerate(both):
        tokens_BT = read_device(KEY, numbers).tokens_BT
        np.testing.assert_array_equal(several.tokens_BT[place], tokens_BT)


def make_experiment(batch_devices=1, static_axes=(), **task):
    c = config.default(task='corpus')
    c.task.update(**{**SMALL, **task})
    c.model.update(width=8, head_dim=4, mlp_dim=8, depth=1, max_len=8, norm='pre')
    c.train.update(batch_size=4, num_steps=9, eval_every=3, lanes=1, resume_every=0.0)
    c.train.batch_devices = batch_devices
    c.optimizer.warmup_steps = 0
    c.grid.gamma = (0.5,)
    c.static_axes = static_axes
    return config.resolve(c)


@pytest.mark.slow
def test_a_member_resumes_in_the_middle_of_an_epoch_with_the_same_bits(tmp_path):
    on_device = make_experiment(feed='device')
    whole = api.train(on_device, tmp_path / 'device', mesh=make_mesh(1))
    assert np.isfinite(whole.curves.eval_set_loss).all()
    expected = bits(tmp_path / 'device')
    for source in ('device', 'host'):
        experiment = make_experiment(feed=source)
        folder = tmp_path / f'{source}_cut'
        stops = iter([False, True])

        def stop(stops=stops):
            return next(stops)

        with pytest.raises(Preempted):
            api.train(experiment, folder, mesh=make_mesh(1), should_stop=stop)
        api.train(experiment, folder, mesh=make_mesh(1))
        assert bits(folder) == expected


_SHARED = """
import sys
from anchorjax import api
from anchorjax.training.devices import make_mesh
from tests.tasks.test_corpus import make_experiment

for feed in ('device', 'host'):
    experiment = make_experiment(2, feed=feed)
    mesh = make_mesh(2, batch_devices=2)
    run = api.train(experiment, f'{sys.argv[1]}/{feed}', mesh=mesh)
    print(run.curves.train_loss.values.ravel().tolist())
"""


@pytest.mark.slow
def test_devices_that_share_a_batch_each_read_their_part(tmp_path):
    printed = run_on_devices(2, _SHARED, tmp_path)
    lines = [line for line in printed.splitlines() if '%' not in line]  # no progress
    on_device, from_host = lines
    assert on_device == from_host


def begin(workdir, experiment):
    """The sweep of an experiment, begun or taken up, as `api.train` does it."""
    caching.forget_changed_files()
    environment = describe_environment(experiment, make_mesh(1), device_bytes=2**40)
    return create_folder(workdir, experiment, add_data(environment, experiment))


def test_a_sweep_is_not_continued_on_another_corpus_in_the_same_place(tmp_path):
    paths = []
    for name in ('first', 'second'):
        text = f'the {name} story. ' * 20
        paths.append(write_corpora(tmp_path / name, make_bytes(), [text]))
    experiment = make_experiment(static_axes=(('task.path', tuple(paths)),))
    run = tmp_path / 'run'
    begin(run, experiment)
    (entry,) = read_manifest(run).environments
    assert entry.environment.data == {path: open_corpus(path).digest for path in paths}
    begin(run, experiment)
    other = write_corpora(tmp_path / 'other', make_bytes(), ['another story. ' * 20])
    for name in ('tokens.bin', 'documents.bin', 'corpus.json'):
        (tmp_path / other / name).replace(tmp_path / paths[1] / name)
    before = (run / MANIFEST_FILE).read_bytes()
    line = r"last trained with data.*/second/out = '[0-9a-f]{64}', this process has '"
    with pytest.raises(StoreError, match=line) as caught:
        begin(run, experiment)
    require_line(caught.value, run)
    assert (run / MANIFEST_FILE).read_bytes() == before


@pytest.mark.parametrize('state', ['as it was', 'replaced', 'gone'])
def test_examples_are_drawn_again_from_what_was_trained_alone(tmp_path, state):
    path = write_corpora(tmp_path / 'first', make_bytes(), ['the first story. ' * 20])
    experiment = make_experiment(path=path)
    begin(tmp_path / 'run', experiment)
    folder = tmp_path / 'first' / 'out'
    if state == 'replaced':
        other = write_corpora(tmp_path / 'new', make_bytes(), ['another story. ' * 20])
        (tmp_path / 'new' / other).rename(tmp_path / 'there')
        folder.rename(tmp_path / 'former')
        (tmp_path / 'there').rename(folder)
    if state == 'gone':
        folder.rename(tmp_path / 'former')
    run = open_run(tmp_path / 'run')
    assert len(run.members) == 1  # a table needs no data
    if state != 'replaced':
        assert run.experiment_of(seed=0).task == experiment.task
        return
    with pytest.raises(UserError) as caught:
        run.experiment_of(seed=0)
    require_line(caught.value, path)


@pytest.fixture
def folder(tmp_path) -> pathlib.Path:
    texts = [f'story number {i}. ' * 20 for i in range(5)]
    return pathlib.Path(write_corpora(tmp_path / 'a', make_bytes(), texts))


def zero_middle(path: pathlib.Path) -> None:
    data = bytearray(path.read_bytes())
    third = len(data) // 3
    data[third : 2 * third] = bytes(third)
    path.write_bytes(data)


def move_a_document(path: pathlib.Path) -> None:
    start_N = np.fromfile(path, '<u8')
    start_N[2] += 1
    start_N.tofile(path)


DAMAGE = {'tokens.bin': zero_middle, 'documents.bin': move_a_document}


@pytest.mark.parametrize('name', DAMAGE)
def test_training_refuses_a_damaged_corpus(folder, tmp_path, name):
    DAMAGE[name](folder / name)
    line = rf'{name}: damaged, .* write it anew'
    with pytest.raises(UserError, match=line):
        experiment = make_experiment(path=str(folder))
        api.train(experiment, tmp_path / 'run', mesh=make_mesh(1))
