"""SCAN as a task: its grammar and meaning, its splits, its files."""

from anchorjax.tasks.scan.task import ScanConfig, count_lines, make

__all__ = ['ScanConfig', 'count_lines', 'make']
