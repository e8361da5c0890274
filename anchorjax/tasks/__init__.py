"""The tasks by name. A new task is a new file and a row here."""

from anchorjax.tasks import anchors
from anchorjax.tasks.anchors_config import AnchorsConfig
from anchorjax.tasks.base import Batch, Probes, Task
from anchorjax.tasks.permutation import epoch_batch

__all__ = ['TASKS', 'AnchorsConfig', 'Batch', 'Probes', 'Task', 'epoch_batch', 'make']

# name: (its config, config -> Task)
TASKS = {'anchors': (AnchorsConfig, anchors.make)}


def make(config):
    """The Task of a task config."""
    return TASKS[config.name][1](config)
