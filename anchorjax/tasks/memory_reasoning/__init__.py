"""Reasoning against memory as a task (P2 Sec 2): its options, its labels."""

from anchorjax.tasks.memory_reasoning.config import MemoryReasoningConfig
from anchorjax.tasks.memory_reasoning.task import make

__all__ = ['MemoryReasoningConfig', 'make']
