"""Fields that a task of the user's own may have, as no task of ours has."""

import dataclasses
from typing import Annotated

import pytest

from anchorjax import cli, config, tasks
from anchorjax.errors import ConfigError
from anchorjax.limits import at_least, check_fields
from anchorjax.tasks.modular_addition import ModularAdditionConfig


@dataclasses.dataclass(frozen=True)
class LimitedConfig(ModularAdditionConfig):
    name: str = 'limited'
    limit: Annotated[int, at_least(1)] | None = None
    group: int = 1

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


def test_an_axis_is_not_called_as_a_dim_of_the_results(limited):
    limited.static_axes = (('task.group', (1, 2)),)
    with pytest.raises(
        ConfigError, match="static_axes = 'group': must be the name of one"
    ):
        config.resolve(limited)
