"""The tasks by name. A new task is a new file, and its config a new entry here."""

from anchorjax.task import Batch, EvalSets, Task, TaskConfig
from anchorjax.tasks.addition import AdditionConfig
from anchorjax.tasks.anchor_permutations import AnchorPermutationsConfig
from anchorjax.tasks.anchors import AnchorsConfig
from anchorjax.tasks.cogs import CogsConfig
from anchorjax.tasks.corpus import CorpusConfig
from anchorjax.tasks.memory_reasoning import MemoryReasoningConfig
from anchorjax.tasks.mixture import MixtureConfig
from anchorjax.tasks.modular_addition import ModularAdditionConfig
from anchorjax.tasks.prontoqa import ProntoqaConfig
from anchorjax.tasks.scan import ScanConfig

TASKS: dict[str, type[TaskConfig]] = {
    'anchors': AnchorsConfig,
    'addition': AdditionConfig,
    'cogs': CogsConfig,
    'corpus': CorpusConfig,
    'mixture': MixtureConfig,
    'prontoqa': ProntoqaConfig,
    'scan': ScanConfig,
    'memory_reasoning': MemoryReasoningConfig,
    'anchor_permutations': AnchorPermutationsConfig,
    'modular_addition': ModularAdditionConfig,
}
