"""SCAN: its grammar, splits and meanings; its official files; the task."""

from anchorjax.tasks.scan.task import ScanConfig
