"""COGS as a task: its words, its grammar and meaning, its cases, its files."""

from anchorjax.tasks.cogs.task import CogsConfig, list_rows, make

__all__ = ['CogsConfig', 'list_rows', 'make']
