"""SCAN: its grammar, splits and meanings; the task."""

from anchorjax.tasks.scan.task import ScanConfig
