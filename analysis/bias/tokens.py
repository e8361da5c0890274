"""P2's task and the kinds of its tokens."""

import numpy as np

from anchorjax.tasks import MemoryReasoningConfig

TASK = 'memory_reasoning'
# 'both' is all anchors, to see whether the kinds differ from each other.
KINDS = ('memory', 'reasoning', 'both', 'keys')
SINGLE_KINDS = ('memory', 'reasoning', 'keys')
COLOURS = {
    'memory': '#0072B2',
    'reasoning': '#009E73',
    'both': '#777777',
    'keys': '#E69F00',
}


def list_tokens(config: MemoryReasoningConfig) -> dict[str, np.ndarray]:
    """The tokens of each of KINDS, in increasing order."""
    memory = np.arange(*config.memory_anchors)
    reasoning = np.arange(*config.reasoning_anchors)
    return {
        'memory': memory,
        'reasoning': reasoning,
        'both': np.union1d(memory, reasoning),
        'keys': np.arange(*config.keys),
    }
