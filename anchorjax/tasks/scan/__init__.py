"""SCAN: its grammar, splits and meanings; its official files; the task."""

from anchorjax.tasks.scan.task import ScanConfig, count_lines

__all__ = ['ScanConfig', 'count_lines']
