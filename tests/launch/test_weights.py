"""launch/weights.py: a member out of a sweep, and into another one."""

import jax
import numpy as np
import pytest

from anchorjax import api, config
from anchorjax.storage.reader import open_run
from anchorjax.training.devices import make_mesh
from tests.support import cases
from tests.support.in_process import run

pytest.importorskip('safetensors')


@pytest.fixture
def say(monkeypatch, capsys):
    def say_words(*words):
        return run('weights.py', [str(word) for word in words], monkeypatch, capsys)

    return say_words


def test_bad_input_is_one_line(say, tmp_path, one_member):
    for words, line in (
        ((), "'': must be one of"),
        (('show', '--weights', tmp_path), 'config.json: No such file'),
        (('show', '--weights', tmp_path / 'a.bin'), 'must be a .safetensors file'),
        (('export', '--run', tmp_path, '--out', tmp_path), 'holds no sweep'),
        (('export', '--run', one_member, '--out', tmp_path), 'must be gpt2'),
        (
            ('export', '--run', one_member, '--out', tmp_path, '--step=True'),
            '--step=True: must be a snapshot step or last',
        ),
    ):
        done = say(*words)
        assert (done.code, done.errors.count('\n')) == (2, 1), done.errors
        assert line in done.errors, done.errors


@pytest.mark.slow
def test_a_sweep_starts_from_what_another_one_exports(say, tmp_path):
    changes = {'train__num_steps': 4, 'train__eval_every': 4, 'train__lanes': 1}
    experiment = cases.tiny_gpt2(**changes, grid__gamma=(0.3, 0.5), model__eps=1e-3)
    first = api.train(experiment, tmp_path / 'first', mesh=make_mesh(1))
    out = tmp_path / 'model'
    done = say('export', '--run', tmp_path / 'first', '--out', out, '--gamma=0.5')
    assert done.code == 0, done.errors
    assert (
        'exists; give another'
        in say(
            'export', '--run', tmp_path / 'first', '--out', out, '--gamma=0.5'
        ).errors
    )
    shown = say('show', '--weights', out).out
    values = config.to_dict(experiment)
    values['grid']['gamma'] = (0.5,)
    values['train']['snapshot_steps'] = (0,)
    for line in shown.splitlines()[2:]:
        field, _, value = line.strip().removeprefix('--config.model.').partition('=')
        kind = type(values['model'][field])
        values['model'][field] = kind(value)
    second = config.from_dict(values)
    api.train(second, tmp_path / 'second', mesh=make_mesh(1))
    begun = open_run(tmp_path / 'second').params(step=0)
    expected = first.params(gamma=0.5)
    jax.tree.map(np.testing.assert_array_equal, begun, expected)
