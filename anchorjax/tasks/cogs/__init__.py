"""COGS: its words, grammar and meanings; its 21 cases; its official files; the task."""

from anchorjax.tasks.cogs.task import CogsConfig, list_rows
