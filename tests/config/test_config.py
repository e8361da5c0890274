"""From a file, a dict, JSON or overrides to one valid Experiment."""

import json

import ml_collections
import numpy as np
import pytest

from anchorjax import config
from anchorjax.errors import ConfigError
from tests.support import tiny
from tests.support.sweeps import experiment


def test_an_axis_is_a_tuple_and_never_a_list():
    values = config.to_dict(experiment())
    values['grid']['gamma'] = [0.3]
    with pytest.raises(ConfigError, match=r'grid.gamma = \[0.3\]: must be a tuple'):
        config.from_dict(values)


def test_a_width_alone_makes_a_sensible_model():
    """P1 has d_k = d / 2 with one head, and 3 d neurons (PAPERS 1.2)."""
    c = config.default()
    model = config.resolve(c).model
    assert (model.width, model.head_dim, model.mlp_dim) == (400, 200, 1200)
    c.model.width = 32
    model = config.resolve(c).model
    assert (model.head_dim, model.mlp_dim) == (16, 96)
    c.model.heads = 4
    assert config.resolve(c).model.head_dim == 8
    c.model.update(head_dim=5, mlp_dim=7)
    model = config.resolve(c).model
    assert (model.head_dim, model.mlp_dim) == (5, 7)


def test_overrides_read_tuples_of_any_length():
    c = tiny.get_config()
    config.override(c, 'grid.gamma', '0.3,0.5,1')
    config.override(c, 'grid.seed', '7')
    grid = config.resolve(c).grid
    assert grid.gamma == (0.3, 0.5, 1.0)
    assert grid.seed == (7,)
    assert all(type(gamma) is float for gamma in grid.gamma)


@pytest.mark.parametrize(
    ('spec', 'line'),
    [
        ('configs/phse.py', '--config configs/phse.py: no such Python file'),
        ('configs/scan.py:labtop', "preset 'labtop': there is none, did you mean 'la"),
        ('configs/law.py', 'give a preset, known: '),
        ('tests/support/tiny.py:broken', 'Did you mean "width" instead of "widht"'),
        ('README.md', '--config README.md: no such Python file'),
    ],
)
def test_a_bad_file_or_preset_is_a_config_error(spec, line):
    with pytest.raises(ConfigError) as caught:
        config.load(spec)
    assert line in str(caught.value)


@pytest.mark.parametrize(
    ('text', 'line'),
    [
        (
            'def get_config(preset): return {}',
            'get_config returned {}, not a ConfigDict',
        ),
        ('get_confg = None', "has no attribute 'get_config'"),
        ('def get_config(preset', 'SyntaxError'),
    ],
)
def test_a_file_that_is_no_config_is_a_config_error(tmp_path, text, line):
    path = tmp_path / 'file.py'
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        config.load(str(path))
    message = str(caught.value)
    assert message.startswith(f'--config {path}: ') and line in message


def test_unknown_names_have_a_hint():
    values = config.to_dict(experiment())
    with_typo = values | {'model': values['model'] | {'widht': 8}}
    line = r"model.widht: no such field, did you mean 'width'\?"
    with pytest.raises(ConfigError, match=line):
        config.from_dict(with_typo)
    line = r"modle: no such field, did you mean 'model'\?"
    with pytest.raises(ConfigError, match=line):
        config.from_dict(values | {'modle': {}})


def test_json_gives_the_experiment_back():
    original = experiment(
        loop=(('model.depth', tuple(np.arange(1, 3))),),
        task__unseen=((4, 3), (3, 4)),
        task__noninferential=(),
    )
    values = config.to_dict(original)
    assert config.from_json(json.loads(json.dumps(values))) == original
    resolved = config.resolve(ml_collections.ConfigDict(values))
    assert hash(resolved) == hash(original)


def test_a_manifest_from_before_a_field_is_read_with_its_default():
    values = config.to_dict(experiment())
    for group, name in (('task', 'complexity'), ('task', 'groups')):
        del values[group][name]
    del values['model']['own_gammas']
    assert config.from_dict(values) == experiment()


def test_the_schedule_is_as_long_as_training_unless_it_is_given():
    assert experiment().optimizer.schedule_steps == 40
    given_length = experiment(optimizer__schedule_steps=90)
    assert given_length.optimizer.schedule_steps == 90
