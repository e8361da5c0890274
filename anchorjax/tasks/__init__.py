"""The tasks by name. A new task is a new file and a row here."""

from collections.abc import Callable
from typing import NamedTuple

from anchorjax.tasks import (
    addition,
    anchor_permutations,
    anchors,
    cogs,
    memory_reasoning,
    modular_addition,
    prontoqa,
    scan,
)
from anchorjax.tasks.addition_config import AdditionConfig
from anchorjax.tasks.anchor_permutations import AnchorPermutationsConfig
from anchorjax.tasks.anchors_config import AnchorsConfig
from anchorjax.tasks.base import Batch, Probes, Task, TaskConfig
from anchorjax.tasks.cogs import CogsConfig
from anchorjax.tasks.memory_reasoning.config import MemoryReasoningConfig
from anchorjax.tasks.modular_addition import ModularAdditionConfig
from anchorjax.tasks.prontoqa import ProntoqaConfig
from anchorjax.tasks.scan import ScanConfig

__all__ = [
    'TASKS',
    'AdditionConfig',
    'AnchorPermutationsConfig',
    'AnchorsConfig',
    'Batch',
    'CogsConfig',
    'MemoryReasoningConfig',
    'ModularAdditionConfig',
    'Probes',
    'ProntoqaConfig',
    'ScanConfig',
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
    'addition': Row(AdditionConfig, addition.make),
    'cogs': Row(CogsConfig, cogs.make),
    'prontoqa': Row(ProntoqaConfig, prontoqa.make),
    'scan': Row(ScanConfig, scan.make),
    'memory_reasoning': Row(MemoryReasoningConfig, memory_reasoning.make),
    'anchor_permutations': Row(AnchorPermutationsConfig, anchor_permutations.make),
    'modular_addition': Row(ModularAdditionConfig, modular_addition.make),
}


def make(config: TaskConfig) -> Task:
    """The Task that a config describes."""
    return TASKS[config.name].make(config)
