"""The tasks by name. A new task is a new file and a row here."""

from collections.abc import Callable
from typing import NamedTuple

from anchorjax.tasks import anchors
from anchorjax.tasks.anchors_config import AnchorsConfig
from anchorjax.tasks.base import Batch, Probes, Task, TaskConfig

__all__ = [
    'TASKS',
    'AnchorsConfig',
    'Batch',
    'Probes',
    'Task',
    'TaskConfig',
    'make',
]


class Row(NamedTuple):
    """What TASKS holds for each task."""

    config: type  # a TaskConfig; its defaults are the task's defaults
    make: Callable[..., Task]  # config -> Task


TASKS = {
    'anchors': Row(AnchorsConfig, anchors.make),
}


def make(config: TaskConfig) -> Task:
    """The Task that a config describes."""
    return TASKS[config.name].make(config)
