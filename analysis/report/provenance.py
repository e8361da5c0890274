"""Where the numbers come from: the experiment, and what it was trained on."""

import dataclasses
import json
from typing import Any

from flax.traverse_util import flatten_dict

from anchorjax import config
from anchorjax.hashing import digest_json
from anchorjax.storage.manifest import Entry, read_manifest
from anchorjax.storage.reader import Run

Table = tuple[str, list[tuple[str, str]]]  # a name, and the rows that it opens


def collect_provenance(run: Run) -> list[Table]:
    """The experiment and every environment that members were trained in."""
    tables = [_flatten('experiment', config.to_dict(run.experiment))]
    entries = read_manifest(run.folder.workdir).environments
    for number, entry in enumerate(entries, start=1):
        name = 'environment'
        if len(entries) > 1:
            name = f'environment {number} of {len(entries)}'
        tables.append(_flatten(name, _describe_entry(entry)))
    return tables


def _describe_entry(entry: Entry) -> dict[str, Any]:
    start = {'since': entry.since, 'git_commit': entry.git_commit}
    if entry.device:
        start['device'] = entry.device
    environment = dataclasses.asdict(entry.environment)
    # Of some 80 files, which the manifest lists.
    environment['code'] = digest_json(environment['code'])
    if not environment['data']:
        del environment['data']
    return start | environment


def _flatten(name: str, tree: dict[str, Any]) -> Table:
    """(dotted path, value) of every leaf, as on the command line."""
    rows = []
    for path, value in flatten_dict(tree, sep='.').items():
        if not isinstance(value, str):
            value = json.dumps(value, default=str)
        rows.append((path, value))
    return name, rows
