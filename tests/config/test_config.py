"""From a file, a dict, JSON or overrides to one valid Experiment."""

import dataclasses
import json
import pathlib
import signal
from typing import Annotated

import ml_collections
import numpy as np
import pytest

from anchorjax import cli, config, tasks
from anchorjax.errors import ConfigError
from anchorjax.limits import at_least, check_fields
from anchorjax.tasks.modular_addition import ModularAdditionConfig
from tests.support import tiny
from tests.support.sweeps import experiment


def test_a_size_that_the_model_does_not_have_is_refused():
    for model, size in (('gpt2', 'large'), ('transformer', 'tiny')):
        with pytest.raises(ConfigError, match=f"size = '{size}': must be one of"):
            config.default(model=model, size=size)


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
        ('def get_config(preset): return {}', 'get_config returned {}, not a Conf'),
        ('get_confg = None', "has no attribute 'get_config'"),
        ('def get_config(preset', 'SyntaxError'),
        ('def get_config(preset): absent', "line 1: NameError: name 'absent'"),
    ],
)
def test_a_file_that_is_no_config_is_a_config_error(tmp_path, text, line):
    path = tmp_path / 'file.py'
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        config.load(str(path))
    message = str(caught.value)
    assert message.startswith(f'--config {path}') and line in message


@pytest.mark.parametrize('preset', ['', 'laptop'])
def test_a_folder_of_a_config_may_have_a_colon(tmp_path, preset):
    path = tmp_path / 'a:b' / 'file.py'
    path.parent.mkdir()
    path.write_text(
        'from anchorjax import config\n'
        "def get_config(preset): return config.ConfigDict({'got': preset})"
    )
    spec = f'{path}:{preset}' if preset else path
    assert config.load(spec).got == preset


@pytest.mark.parametrize(
    ('kind', 'options'),
    [
        (tuple, {'default_factory': tuple}),
        (int, {}),
        (tuple, {'default': (1, pathlib.Path('x'))}),
        (signal.Signals, {'default': signal.SIGINT}),  # an IntEnum, which JSON flattens
    ],
)
def test_a_field_that_is_not_plain_is_one_line(monkeypatch, kind, options):
    field = ('extra', kind, dataclasses.field(kw_only=True, **options))
    bases = (ModularAdditionConfig,)
    own = dataclasses.make_dataclass('Own', [field], bases=bases, frozen=True)
    monkeypatch.setitem(tasks.TASKS, 'own', own)
    with pytest.raises(ConfigError, match=r'task\.extra of Own = .*: must be a field'):
        config.default(task='own')


def test_a_class_that_is_not_frozen_is_one_line(monkeypatch):
    own = dataclasses.make_dataclass('Own', [('name', str, 'own')])
    monkeypatch.setitem(tasks.TASKS, 'own', own)
    line = "task: the class = 'Own': must be a frozen dataclass"
    with pytest.raises(ConfigError, match=line):
        config.default(task='own')


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
        static_axes=(('model.depth', tuple(np.arange(1, 3))),),
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
    del values['model']['gamma_overrides']
    assert config.from_dict(values) == experiment()


def test_the_schedule_is_as_long_as_training_unless_it_is_given():
    assert experiment().optimizer.schedule_steps == 40
    given_length = experiment(optimizer__schedule_steps=90)
    assert given_length.optimizer.schedule_steps == 90


def override_preset(spec: str, **texts: str) -> tuple[config.Experiment, list[str]]:
    """A config with fields of a command line, and the lines that say what follows."""
    loaded = config.load(spec)
    given = {path.replace('__', '.'): text for path, text in texts.items()}
    lines = config.override_all(loaded, given)
    return config.resolve(loaded), lines


def test_a_shorter_run_needs_no_other_flag():
    short, lines = override_preset('configs/phase.py', train__num_steps='300')
    (line,) = lines
    assert short.train.snapshot_steps == (0, 250) and '(0, 250)' in line
    warmup = short.optimizer.warmup_steps
    assert warmup == 20  # the share of before, 400 of 6,000
    assert f'optimizer.warmup_steps={warmup}' in line


def test_what_fits_or_was_given_stays():
    long, lines = override_preset('configs/phase.py', train__num_steps='7000')
    assert not lines and long.optimizer.warmup_steps == 400
    texts = {'train__snapshot_steps': '0,100', 'optimizer__warmup_steps': '50'}
    given, lines = override_preset('configs/phase.py', train__num_steps='300', **texts)
    assert not lines and given.train.snapshot_steps == (0, 100)
    assert given.optimizer.warmup_steps == 50


LENGTHS = {'train__snapshot_steps': '0,400', 'optimizer__warmup_steps': '350'}


@pytest.mark.parametrize(
    'texts',
    [
        {'train__num_steps': '300', **LENGTHS},
        {'train__snapshot_steps': '7000', 'optimizer__warmup_steps': '7000'},
        {'optimizer__schedule_steps': '100', 'grid__decay_window': '(0,7000),'},
    ],
)
def test_what_was_given_and_does_not_fit_is_one_line_with_every_flag(texts):
    with pytest.raises(config.ConfigError) as caught:
        override_preset('configs/phase.py', **texts)
    (line,) = str(caught.value).splitlines()
    for field in set(texts) - {'train__num_steps'}:
        assert f'--config.{field.replace("__", ".")}' in line


@pytest.mark.parametrize(
    ('spec', 'texts', 'head_dim', 'mlp_dim'),
    [
        ('configs/phase.py:paper', {'width': '32'}, 16, 96),
        ('configs/phase.py:laptop', {'width': '32', 'mlp_dim': '7'}, 16, 7),
    ],
)
def test_sizes_follow_a_width_alone(spec, texts, head_dim, mlp_dim):
    fields = {f'model__{name}': text for name, text in texts.items()}
    narrow, lines = override_preset(spec, **fields)
    assert (narrow.model.head_dim, narrow.model.mlp_dim) == (head_dim, mlp_dim)
    assert len(lines) == (not spec.endswith(':paper'))


@dataclasses.dataclass(frozen=True)
class LimitedConfig(ModularAdditionConfig):
    name: str = 'limited'
    limit: Annotated[int, at_least(1)] | None = None
    group: int = 1
    trained: int = 1
    agreement: int = 1
    loss_seen_train: int = 1

    def __post_init__(self) -> None:
        check_fields(self, 'task')


@pytest.fixture
def limited(monkeypatch):
    monkeypatch.setitem(tasks.TASKS, 'limited', LimitedConfig)
    c = config.default(task='limited')
    c.train.batch_size = 64
    return c


def test_a_field_may_be_none_or_be_set(limited):
    assert config.resolve(limited).task.limit is None
    lines = cli.describe_fields(config.resolve(limited)).splitlines()
    (line,) = [line for line in lines if 'limit=None' in line]
    assert line.endswith('int, at least 1 or None')
    config.override(limited, 'task.limit', '3')
    assert config.resolve(limited).task.limit == 3


@pytest.mark.parametrize(('text', 'part'), [('x', 'a Python value'), ('0', 'at least')])
def test_what_it_cannot_be_is_one_line(limited, text, part):
    with pytest.raises(ConfigError, match=f'task.limit = .*must be {part}'):
        config.override(limited, 'task.limit', text)
        config.resolve(limited)


def test_none_is_no_value_of_an_axis(limited):
    limited.static_axes = (('task.limit', (1, None)),)
    with pytest.raises(
        ConfigError, match=r'static_axes \(task.limit\) = .*without None'
    ):
        config.resolve(limited)


@pytest.mark.parametrize('name', ['group', 'trained', 'agreement', 'loss_seen_train'])
def test_an_axis_is_not_called_as_anything_in_the_results(limited, name):
    limited.static_axes = ((f'task.{name}', (1, 2)),)
    line = f"static_axes: the name = '{name}': must be none that"
    with pytest.raises(ConfigError, match=line):
        config.resolve(limited)
